# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests of memtap leaks:  . "$(dirname "$0")/leak.sh"  after lib.sh and truth.sh.
#
#	leaks NAME ARGS...	memtap leaks into $T/json, all rows; NAME: its accounts
#				add up.  ARGS are options and the command
#	attach NAME ARGS...	the same in the background; returns when it counts
#	detach			SIGINT to it; then the test of NAME
#	j WHAT ARGS...		leak-json of $T/json
#	leak_truth NAME [EVENT [WHAT]]	paths, blocks and bytes are those of $T/truth's
#				lines for EVENT ("leak"); WHAT: "heap", "mappings"
#	leak_folded FILE	the workload's part of folded stacks, as leak_truth takes it
#	no_mismatch NAME	no free was found that cannot be right

leak_skip=	# paths that are not the workload's business, an extended regular expression
leak_all=(--json --top 0 --older 0 --show-reachable -o "$T/json")
j() {
	local what=$1 rc said
	shift
	if [ ! -p "$T/j.ask" ]; then
		mkfifo "$T/j.answer" "$T/j.ask"
		"$here/leak-json" serve "$T" < /dev/null > /dev/null 2>&1 &
		echo $! > "$T/j.pid"
	fi
	printf '%s\0' "$what" "$T/json" "$@" > "$T/j.ask"
	{
		IFS= read -r -d '' rc
		IFS= read -r -d '' said
		cat
	} < "$T/j.answer"
	printf '%s' "$said" >&2
	return "$rc"
}
here=$(cd "$(dirname "$0")" && pwd)

leak_books() {
	local wrong
	if [ "$status" != 0 ]; then
		fail "$1: memtap ends well"
		diag "exit status $status: memtap leaks ${leak_args[*]}"
		diag "$(tail -n 20 "$T/run.err")"
		: > "$T/json"
		return
	fi
	if wrong=$(j books 2>&1); then
		pass "$1: the accounts add up"
	else
		fail "$1: the accounts add up"
		diag "$wrong"
	fi
}
leaks() {
	local name=$1
	shift
	leak_args=("$@")
	rm -f "$T/json"
	run memtap leaks "${leak_all[@]}" "$@"
	leak_books "$name"
}
attach() {
	leak_name=$1
	shift
	leak_args=("$@")
	rm -f "$T/json"
	memtap leaks "${leak_all[@]}" "$@" \
		> "$T/run.out" 2> "$T/run.err" &
	tool=$!
	ready $tool || { diag "memtap leaks $* runs no session"; diag "$(cat "$T/run.err")"; }
}
detach() {
	status=0
	end || status=$?
	leak_books "$leak_name"
}

leak_truth() {
	j paths "${3:-heap}" > "$T/leak.got" 2>&1
	awk -F '\t' -v OFS='\t' -v event="${2:-leak}" '$1 == event { print $2, $3, $4 }' \
		"$T/truth" | LC_ALL=C sort > "$T/leak.wanted"
	if [ ! -s "$T/leak.wanted" ]; then
		fail "$1"
		diag "the workload has nothing to say of ${2:-leak}"
		return
	fi
	[ -z "$leak_skip" ] || sed -i -E "/$leak_skip/d" "$T/leak.got"
	same_file "$T/leak.got" "$T/leak.wanted" "$1"
}
# Folded stacks as leak-json does it: ours alone, from wl_worker on.
leak_folded() {
	sed -n 's/^heap;//p' "$1" | awk '{
		n = split($0, f, ";")
		value = $NF
		sub(/ [0-9]+$/, "", f[n])
		line = f[1]
		on = 0
		for (i = 2; i <= n; i++) {
			on = on || f[i] == "wl_worker"
			if (on && f[i] ~ /^wl_/ && f[i] !~ /_\[i\]$/)
				line = line ";" f[i]
		}
		if (on)
			sum[line] += value
	}
	END { for (line in sum) print line, sum[line] }' | LC_ALL=C sort
}
no_mismatch() {
	is "$(j mismatches '' 2>&1)" "" "$1"
}
# fact NAME GOT FACT: the workload says so
fact() {
	is "$2" "$(awk -F '\t' -v fact="$3" '$1 == fact { split($2, of, ";"); n += $3 }
		END { print n + 0 }' "$T/truth")" "$1"
}
