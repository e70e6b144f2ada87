#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# scripts/bench-check fails where an event became dearer than docs/cost.json says, and only
# there.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
nr=0
export COSTS=$T/cost.json
# result WORK TOOL ADDED [SPREAD]: a line of scripts/bench's results
result() {
	local clock='"base":1000,"tool":1900,"ratio":1.9,"drift":0,"spread":0'

	printf '{"kind":"measured","work":"%s","group":"faults","tool":"%s","wall":{%s,%s,%s}}\n' \
		"$1" "$2" "$clock" "\"added\":$3" "\"tool_spread\":${4:-20}"
}
the_run='{"kind":"run","kernel":"6.1.0","commit":"abc","rounds":3}'
# compares STATUS NAME PATTERN < results: what is printed of them
compares() {
	local status=0 what=ok

	{ echo "$the_run"; cat; } > "$T/results"
	scripts/bench-check --results "$T/results" > "$T/out" 2>&1 || status=$?
	nr=$((nr + 1))
	if [ $status != "$1" ] || ! grep -Eq "$3" "$T/out"; then
		what='not ok'
		sed "s/^/# (status $status) /" "$T/out"
	fi
	echo "$what $nr - $2"
}

{ echo "$the_run"; result faults memtap 900; result idle floor-empty -30; } > "$T/results"
scripts/bench-check --update --results "$T/results" || echo "Bail out! it writes nothing"
both() { result faults memtap "$1" "${2:-20}"; result idle floor-empty -30; }
compares 0 "the same" '^ok 1 - faults memtap: 900 instructions' < <(both 900)
compares 0 "a tenth more, and the spread of both" '^ok 1 ' < <(both 1010)
compares 1 "more than that" '^not ok 1 - faults memtap: 1011 .* were 900 .*more than 1010' < <(
	both 1011)
compares 0 "more, of rounds that differ" '^ok 1 ' < <(both 1050 120)
compares 0 "less" '^ok 1 ' < <(both 500)
compares 1 "a floor that rose" '^not ok 2 - idle floor-empty: 0 ' < <(
	result faults memtap 900; result idle floor-empty 0 2)
compares 1 "one that was not measured" '^not ok 1 - faults memtap was not measured' < <(
	result idle floor-empty -30)
compares 1 "one that nobody knew" '^not ok 3 - more memtap adds 5 .*not in docs/cost.json' < <(
	both 900; result more memtap 5)
compares 1 "a tool that did not start" '^not ok 1 - faults memtap it ended' < <(
	echo '{"kind":"absent","work":"faults","group":"faults","tool":"memtap","why":"it ended"}'
	result idle floor-empty -30)
compares 1 "results that are none" 'bench-check: .*results' < <(echo '{')
before=$(cat "$COSTS")
{ echo "$the_run"; echo '{"kind":"absent","work":"a","tool":"memtap","why":"it ended"}'; } \
	> "$T/results"
scripts/bench-check --update --results "$T/results" 2> /dev/null && echo "not ok - it is written"
nr=$((nr + 1))
[ "$before" = "$(cat "$COSTS")" ] || printf 'not '
echo "ok $nr - a tool that did not start is not written down"
COSTS=docs/cost.json
nr=$((nr + 1))
python3 -c 'import json; assert json.load(open("docs/cost.json"))["costs"]' || printf 'not '
echo "ok $nr - docs/cost.json has costs"
echo "1..$nr"
