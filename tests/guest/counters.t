#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Counters of perf as events: their overflows, with stacks and values; what is not there.
# check: all
. "$(dirname "$0")/lib.sh"

accounts() {
	python3 -c '
import json, sys
for e in json.load(open(sys.argv[1]))["events"]:
    lost = e["lost"]
    assert e["seen"] == e["counted"] + e["filtered"] + sum(lost.values()), e
    assert not [k for k in lost if lost[k] and k != "nmi"], e
    print(e["unit"], e["counted"] + lost.get("nmi", 0))' "$1"
}

# the same page faults, by the event that is built in and by the counter
run memtap stacks minor-fault perf:minor-faults -U --folded --top 0 -o "$T/got" \
	-- ./wl_calls fault "$T" "$T/truth"
is "$status" 0 "a software counter: exit status"
unlike "$err" 'missing' "nothing is lost"
like "$(< "$T/got")" '^perf:minor-faults;.*;main;faults;fill' "with stacks"
run memtap stat minor-fault perf:minor-faults --json -- ./wl_calls fault "$T" "$T/truth"
is "$(python3 -c '
import json, sys
e = [json.loads(l) for l in sys.stdin.read().split("\n") if l.strip().startswith("{")]
n = {x["event"]: x for x in e if "event" in x}
print(n["minor-fault"]["count"] == n["perf:minor-faults"]["count"],
      n["perf:minor-faults"]["value"] == n["perf:minor-faults"]["count"])' <<< "$out" 2>&1)" \
	"True True" "as many as the built-in event, and the value is what was counted"

# a period: one overflow for each ten
run memtap stat perf:page-faults,period=10 perf:page-faults --json \
	-- ./wl_calls fault "$T" "$T/truth"
is "$(python3 -c '
import json, sys
e = [json.loads(l) for l in sys.stdin.read().split("\n") if l.strip().startswith("{")]
n = {x["event"]: x for x in e if "event" in x}
one, ten = n["perf:page-faults"], n["perf:page-faults,period=10"]
print(ten["value"] == 10 * ten["count"], 0 < ten["count"] < one["count"])' \
	<<< "$out" 2>&1)" "True True" "overflows, and what they stand for"

# time: where it is spent
run memtap stacks perf:cpu-clock,period=200000 --json -U -K -o "$T/json" -- ./wl_calls many 20000
is "$status" 0 "time: exit status"
like "$(accounts "$T/json" 2>&1)" '^ns [1-9][0-9]+$' "its unit is ns, and the accounts add up"
if [ -z "${SMOKE:-}" ]; then
	run memtap trace perf:context-switches,period=1 -d 0.5
	like "$out" 'perf:context-switches,period=1 value=1$' "single overflows"
	run memtap hist perf:cpu-clock,freq=200 -d 0.5
	like "$out" '^ +[0-9,]+ -> [0-9,]+ : ' "a histogram of what lies between"
	run memtap record -o "$T/rec" perf:task-clock -- ./wl_calls many 20000
	run memtap report "$T/rec" --top 1
	like "$out" '^perf:task-clock: ' "recorded, and reported"
fi

# the seconds are those in which events were counted: to take many probes away takes longer
run memtap stat 'k:vfs_[a-m]*' --json -T -d 1.4 1
is "$status" 0 "many events: exit status"
is "$(python3 -c '
import json, sys
e = [json.loads(l) for l in sys.stdin.read().split("\n") if l.strip().startswith("{")]
first = [x for x in e if not x["final"]][0]
last = [x for x in e if x["final"]][0]
by = last["time"] - first["time"] - (last["seconds"] - first["seconds"])
print(abs(by) < 0.01 or by)' <<< "$out" 2>&1)" "True" \
	"seconds go by as the time of day does between two reports"

# what there is
like "$(memtap list perf)" '^perf:cpu-clock +$' "list perf"
if memtap list perf | grep -q '^perf:cache-misses .*not on'; then
	run memtap stacks perf:cache-misses -q -d 0.1
	is "$status" 1 "a counter that the machine has not: exit status"
	one_sentence "a sentence"
	like "$err" 'no counter perf:cache-misses .*memtap list perf' "which says what is there"
else
	run memtap stacks perf:cache-misses,period=100 -d 0.5
	is "$status" 0 "a counter of the processor"
fi
run memtap stacks perf:cash-misses
is "$status" 2 "a name that perf does not have: exit status"
one_sentence "a sentence"
run memtap stacks perf:cpu-clock,perod=3
like "$err" ',period=N .*,freq=N' "wrong words behind it"
done_testing
