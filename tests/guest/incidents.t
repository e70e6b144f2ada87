#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# More than twenty staged incidents (stages.sh), each run unattended while the history records
# and the rules of memtap.conf hold.  Those that last are diagnosed while they do; all are asked
# about afterwards: `memtap triage --at`, and `memtap oom` where something was killed.  Each must
# name the cause that the stage knows, and nobody is accused in the two that are healthy.
# Lines "# table: " are the rows of the table in docs/history.md.
#
# STAGES=leak,huge: these alone.  PAGES=DIR: all answers are kept there.
# guest: -m 652
# check: long
# timeout: 5400
# dmesg: allow Call Trace|page allocation failure
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/guest/stages.sh
. "$(dirname "$0")/stages.sh"

D=${D:-12}		# seconds of each diagnosis
BEFORE=${BEFORE:-8}	# it has gone on for so long when it is asked about
pages=${PAGES:-$T/pages}
mkdir -p "$pages"
accused='allocated in .* and did not free|At this rate|^[2-9]\. |malloc'
# (packaging/etc/memtap.conf has these; tests/unit/test_docs.sh compares)
cat > "$T/conf" << 'RULES'
RULE_low="available < 5% for 20s do faults 30s most 2/h 10/d"
RULE_cgroup="cgroup * > 95% do faults 30s most 2/h 10/d"
RULE_slab="cache * grows > 2M/s for 5m do leaks -k 60s most 1/h 4/d"
RULES
moments=()
declare -A right_at right_oom right_diagnose

now() { date '+%F %T'; }
# has TEXT PATTERN...: TEXT has all of them
has() {
	local text=$1 pattern

	shift
	for pattern; do
		grep -Eq -- "$pattern" <<< "$text" || return 1
	done
}
fired() { grep -c '^memtap: rule \|^rule ' "$T/history.err"; }

# ask_diagnose NAME: while it lasts
ask_diagnose() {
	local conclusions one

	[ -n "$first${said[*]}" ] || { right_diagnose[$1]='over by then'; return; }
	# (an emulated processor is slow, and soon above 5 %)
	run memtap diagnose -q --deep -d "$D" "${options[@]}"
	printf '%s\n' "$out" "$err" > "$pages/$1-diagnose.txt"
	conclusions=$(grep -E '^([1-9]\.|   -) ' <<< "$out")
	one=$(grep -E '^1\. ' <<< "$out")
	right_diagnose[$1]=right
	if [ "$status" != 0 ] || ! has "$one" "$first" ||
		! has "$conclusions" "${said[@]}" ||
		{ [ "$healthy" ] && grep -Eq "$accused" <<< "$out"; }; then
		right_diagnose[$1]='**wrong**'
	fi
	is "${right_diagnose[$1]}" right "diagnose: $1" || diag "$out"
}
# ask_triage NAME WHEN OVER PATTERN: afterwards
ask_triage() {
	local name=$1 when=$2 over=$3 pattern=$4 near s

	right_at[$name]='**wrong**'
	for near in 0 -1 1 -2 2; do
		s=$((when + near))
		if [ -n "$over" ]; then
			run memtap triage --between \
				"$(date -d "@$((s - over))" '+%F %T'),$(date -d "@$s" '+%F %T')" \
				--dir "$T/history"
		else
			run memtap triage --at "$(date -d "@$s" '+%F %T')" --dir "$T/history"
		fi
		printf '%s\n' "$out" "$err" > "$pages/$name-triage.txt"
		[ "$status" = 0 ] || continue
		if [[ $pattern = !* ]]; then
			has "$out" "${pattern#!}" || right_at[$name]=right
			break
		elif has "$out" "$pattern"; then
			right_at[$name]=right
			break
		fi
	done
	is "${right_at[$name]}" right "triage: $name" || diag "$out"
}
ask_oom() {
	local name=$1 from=$2 until=$3

	shift 3
	right_oom[$name]='no kill'
	[ $# -gt 0 ] || return
	run memtap oom --between "$from,$until" --dir "$T/history"
	printf '%s\n' "$out" "$err" > "$pages/$name-oom.txt"
	right_oom[$name]=right
	has "$out" "$@" || right_oom[$name]='**wrong**'
	is "${right_oom[$name]}" right "oom: $name" || diag "$out"
}

one() {
	local name=$1 rules from when

	from=$(now)
	rules=$(fired)
	if ! stage "$name"; then
		skip "$name" "$why_not"
		right_at[$name]="$why_not"
		relief
		return
	fi
	sleep "$BEFORE"
	when=$(date -d '-1 seconds' +%s)
	ask_diagnose "$name"
	[ -z "$healthy" ] || is "$(fired)" "$rules" "rules: none acts on $name"
	relief
	# (a sample or two more)
	sleep 2
	moments+=("$name|$when|$over|$from|$(now)|$(printf '%s\t' "${killed[@]}")|$at")
}

memtap history start 1 --dir "$T/history" --config "$T/conf" 2> "$T/history.err" &
service=$!
# (processes of before are known by then)
sleep 5
while IFS='|' read -r name title; do
	[ -z "${STAGES:-}" ] || [[ ",$STAGES," = *",$name,"* ]] || continue
	diag "$(date +%T) $name: $title"
	one "$name"
done <<< "$stages"
kill "$service"
wait "$service"
is $? 0 "history: it ends in order" || diag "$(cat "$T/history.err")"
diag "what the rules did:"$'\n'"$(grep rule "$T/history.err")"

for moment in "${moments[@]}"; do
	IFS='|' read -r name when over from until killed at <<< "$moment"
	mapfile -t killed < <(tr '\t' '\n' <<< "$killed" | grep .)
	ask_triage "$name" "$when" "$over" "$at"
	ask_oom "$name" "$from" "$until" "${killed[@]}"
done
if [ -n "${right_at[limit]}${right_at[cache]}" ]; then
	ok "rules: a cgroup near its limit is recorded" grep -q 'rule cgroup: cgroup /staged has' \
		"$T/history.err"
	ok "rules: what was recorded can be read" memtap report --top 1 \
		"$(find "$T/history/actions" -name '*-cgroup.memtap' | sort | head -n 1)"
fi
while IFS='|' read -r name title; do
	[ -n "${right_at[$name]}" ] || continue
	diag "table: | $title | ${right_at[$name]} | ${right_oom[$name]:-–} |" \
		"${right_diagnose[$name]:-–} |"
done <<< "$stages"
probes_clean "nothing is attached at the end"
ok "no file is left" test -z "$(ls -d /tmp/memtap-diagnose.* 2> /dev/null)"
done_testing
