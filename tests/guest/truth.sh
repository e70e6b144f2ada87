# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests that compare what memtap reports with what a workload says that it
# did (see workload.h):  . "$(dirname "$0")/truth.sh"  after lib.sh.
#
#	folded FILE [ROOT]	the workload's part of folded stacks: "comm;path N",
#				cut where libc begins, sorted.  ROOT: the event, where
#				the report has several
#	wanted FILE EVENT [sum]	the same of a workload's own account
#	truth NAME EVENT [ROOT]	$T/got and $T/truth are equal for that event
#	watch EVENT... -- ARGS	memtap stacks, user stacks, folded, into $T/got;
#				ARGS are options and the command
#	target WORKLOAD ARGS...	starts it, up to where its window opens;
#				then $pid is its process
#	window			lets it through its window
#	finish			lets it end and write its account, $T/truth
#	begin ARGS...		memtap stacks in the background, as watch does; returns
#				when it counts
#	end			SIGINT to it; its exit status

# ours(line, root): the workload's part of it is in way, how often in times; 0: it has none
# shellcheck disable=SC2016
folded_awk='function ours(line, root,   nr, frame, i, from) {
		if (root) {
			if (index(line, root ";") != 1)
				return 0
			line = substr(line, length(root) + 2)
		}
		# functions inlined into ours are no frames of the workload
		gsub(/;[^;]*_\[i\]/, "", line)
		times = line
		sub(/.* /, "", times)
		sub(/ [^ ]*$/, "", line)
		nr = split(line, frame, ";")
		from = 0
		for (i = 2; i <= nr && !from; i++)
			if (frame[i] == "wl_worker")
				from = i
		# a path that does not reach that far; what main() does before is none
		for (i = 2; i <= nr && !from &&
		     frame[i] !~ /^(main|wl_prepare|wl_locked)$/; i++)
			if (frame[i] ~ /^wl_/)
				from = i
		if (!from)
			return 0
		way = frame[1]
		for (i = from; i <= nr; i++)
			way = way ";" frame[i]
		return 1
	}'
folded() {
	awk -v root="${2:-}" "$folded_awk"'
		ours($0, root) { sum[way] += times }
		END { for (way in sum) print way, sum[way] }' "$1" | LC_ALL=C sort
}

wanted() {
	awk -F '\t' -v event="$2" -v what="${3:-count}" \
		'$1 == event { print $2, what == "sum" ? $4 : $3 }' "$1" | LC_ALL=C sort
}

# (by one process while all is well: it is asked for often)
same_as_truth() {
	awk -v root="${2:-}" -v event="$1" "$folded_awk"'
		FNR == 1 { file++ }
		file == 1 { if (ours($0, root)) sum[way] += times; next }
		{ split($0, f, "\t") }
		f[1] == event && f[2] in wanted { twice = 1 }
		f[1] == event { wanted[f[2]] = f[3]; n++ }
		END {
			if (!n)
				exit 1
			for (way in wanted)
				n -= sum[way] == wanted[way]
			for (way in sum)
				n += !(way in wanted)
			exit twice || n
		}' "$T/got" "$T/truth"
}
truth() {
	if [ -s "$T/got" ] && [ -s "$T/truth" ] && same_as_truth "$2" "${3:-}"; then
		pass "$1"
		return
	fi
	folded "$T/got" "${3:-}" > "$T/truth.got"
	wanted "$T/truth" "$2" > "$T/truth.wanted"
	if [ ! -s "$T/truth.wanted" ]; then
		fail "$1"
		diag "the workload has nothing to say of $2"
		return
	fi
	same_file "$T/truth.got" "$T/truth.wanted" "$1"
}

watch() {
	local -a events=()
	while [ "$1" != -- ]; do
		events+=("$1")
		shift
	done
	shift
	rm -f "$T/got"
	run memtap stacks "${events[@]}" -U --by comm --folded --calls -o "$T/got" "$@"
	if [ "$status" != 0 ]; then
		diag "exit status $status: memtap stacks ${events[*]} $*"
		diag "$(tail -n 20 "$T/run.err")"
	fi
	[ -e "$T/got" ] || : > "$T/got"
}

target() {
	rm -f "$T/truth"
	"$@" -s -e "$T/truth" &
	pid=$!
	wait_for 300 stopped $pid || diag "process $pid does not come to its window"
}
stopped() {
	local -a told
	mapfile -t told < "/proc/$1/status"
	[[ "${told[*]}" =~ State:[[:blank:]]T ]]
}
window() {
	kill -CONT "$pid"
	wait_for 600 stopped "$pid"
}
finish() {
	kill -CONT "$pid"
	wait "$pid"
}

# counted [PID]: what the sessions have counted so far, those of PID; a line for each
counted() {
	sed -nE "s/^ *[0-9]+ +${1:-[0-9]+} .* counted ([0-9]+) lost .*/\1/p" \
		/sys/kernel/debug/memtap/sessions
}
begin() {
	rm -f "$T/got"
	memtap stacks -U --by comm --folded --calls -o "$T/got" "$@" &
	tool=$!
	ready $tool || diag "memtap stacks $* does not run a session"
}
end() {
	kill -INT "$tool"
	wait "$tool"
}
# noise [N]: other processes that do the same; ends with the test
noise() {
	local i
	noises=()
	for ((i = 0; i < ${1:-1}; i++)); do
		./wl_noise &
		noises+=($!)
	done
}
quiet() {
	kill "${noises[@]}" 2>/dev/null
	wait "${noises[@]}" 2>/dev/null
	noises=()
}
