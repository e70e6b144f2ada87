#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap history` while the module is loaded: waits by process, and the flight recorder's sums, are
# in it; each once, over a recorder that starts anew and a module that is removed and loaded again.
# check: ends
# dmesg: allow Call Trace
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
debug=/sys/kernel/debug/memtap
params=/sys/module/memtap/parameters
dir=$T/history
root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
if grep -qw memory /sys/fs/cgroup/unified/cgroup.controllers 2>/dev/null; then
	root=/sys/fs/cgroup/unified limit=memory.max
	echo +memory > $root/cgroup.subtree_control
fi
mkdir -p $root/waits
echo $((16 << 20)) > $root/waits/$limit
dd if=/dev/zero of="$T/file" bs=1M count=64 conv=fsync status=none

samples() { memtap history status --dir "$dir" | sed -n 's/.*; \([0-9]*\) samples .*/\1/p'; }
at_least() { [ "$(samples || echo 0)" -ge "$1" ] 2> /dev/null; }
more() {
	local was

	was=$(samples)
	wait_for 120 at_least $((was + $1))
}
# what a cgroup has to reclaim for: pages of a file that is larger than its limit
reclaims() {
	echo 1 > /proc/sys/vm/drop_caches
	(echo "$BASHPID" > $root/waits/cgroup.procs && exec cat "$T/file" > /dev/null)
}
kernel_has() { sed -n 's/^memcg-reclaim: \([0-9]*\) stalls .*/\1/p' $debug/reclaim; }
now() { date '+%Y-%m-%d %H:%M:%S'; }
# recorded FROM PYTHON: of `triage --between FROM,now --json`, r is "recorded", or None
recorded() {
	memtap triage --between "$1,$(date -d '+2 seconds' '+%F %T')" --dir "$dir" --json \
		> "$T/json" 2> "$T/err" || { cat "$T/err"; return 1; }
	python3 -c '
import json, sys
r = json.load(open(sys.argv[1])).get("recorded")
print('"$2"')' "$T/json" 2>&1
}
waits='sum(w["count"] for w in (r or {"waits": []})["waits"] if w["event"] == "memcg-reclaim")'

echo > $params/watch
from=$(now)
memtap history start 1 --dir "$dir" 2> "$T/said" &
service=$!
ok "samples are taken" wait_for 120 at_least 3
is "$(recorded "$from" r)" None "nothing is said where nothing was recorded"

echo reclaim,mmap > $params/watch
reclaims
ok "samples of it" more 2
first=$(kernel_has)
cmp_ok "$first" -gt 0 "(there were waits for a cgroup's memory)"
is "$(recorded "$from" "$waits")" "$first" "the history has as many as the module"
is "$(recorded "$from" '[w["comm"] for w in r["waiters"] if w["event"] == "memcg-reclaim"][0]')" \
	cat "and whose they were"
is "$(recorded "$from" 'sum(w["count"] for w in r["waiters"] if w["event"] == "memcg-reclaim")')" \
	"$first" "by process it is the same sum"
is "$(recorded "$from" '[c["count"] > 0 for c in r["counted"] if c["event"] == "mmap"]')" \
	'[True]' "what the flight recorder counts is there"
is "$(recorded "$from" '[c for c in r["counted"] if "reclaim" in c["event"]]')" \
	'[]' "waits are not told twice"
run memtap triage --between "$from,$(now)" --dir "$dir"
like "$out" '^  waits     memcg-reclaim [0-9,]+ times?, [0-9.]+ (ms|s)' \
	"triage says it: how often, how long"
like "$out" '^ +cat \([0-9]+\) [0-9,]+ times?, ' "and who"
like "$out" '^ +[0-9,]+ +-?[0-9].* +mmap$' "and what else was counted"

# --- the recorder begins anew: its hooks too
echo mmap > $params/watch
ok "samples without" more 2
echo reclaim > $params/watch
reclaims
ok "samples with it again" more 2
second=$(kernel_has)
is "$(recorded "$from" "$waits")" $((first + second)) \
	"a recorder that begins anew: the sum of both, and nothing twice"

# --- the module is removed while the service runs
ok "the module can be removed while the service runs" wait_for 20 rmmod memtap
ok "samples without the module" more 2
is "$(recorded "$from" "$waits")" $((first + second)) "what was recorded is still there"
modprobe memtap
echo reclaim > $params/watch
reclaims
ok "samples with the module again" more 2
third=$(kernel_has)
is "$(recorded "$from" "$waits")" $((first + second + third)) "a module that was loaded again"
ok "no number is negative, or wrapped" python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))["recorded"]
rows = [x for part in r.values() for x in part]
assert rows
for x in rows:
    for v in x.values():
        assert isinstance(v, str) or 0 <= v < 1 << 50, x
' "$T/json"

# --- the service begins anew: what it had is not told again
kill -KILL $service
wait $service 2> /dev/null
memtap history start 1 --dir "$dir" 2>> "$T/said" &
service=$!
ok "the service begins anew" more 3
is "$(recorded "$from" "$waits")" $((first + second + third)) "and tells nothing again"

# --- a stall is an event of the time line: many wait at the same time, in whole samples
many_reclaim() {
	local i
	local -a readers=()

	for i in 0 1 2 3 4 5 6 7; do
		(echo "$BASHPID" > $root/waits/cgroup.procs &&
			exec dd if="$T/file" of=/dev/null bs=1M \
				skip=$((8 * i)) count=8 status=none) &
		readers+=($!)
	done
	wait "${readers[@]}"
}
stalled() {
	local from

	from=$(samples)
	until at_least $((from + 2)); do
		many_reclaim
	done
	memtap report --history --dir "$dir" --json > "$T/json" 2> /dev/null &&
		grep -q '"stall": *true' "$T/json"
}
ok "report --history: a stall" wait_for 300 stalled
ok "and which waits it was" python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))["events"]
waits = [w for e in events if e["stall"] for w in e.get("recorded", {}).get("waits", [])]
assert [w for w in waits if w["event"] == "memcg-reclaim"], events
' "$T/json"
run memtap report --history --dir "$dir"
like "$out" '  tasks waited for memory: memcg-reclaim .* longest in all (cat|dd) \([0-9]+\) ' \
	"in the table, too"
ok "the page" memtap report --history --dir "$dir" --page "$T/page.html"
like "$(grep -o 'waits     memcg-reclaim [0-9,]* time' "$T/page.html" | head -n 1)" memcg \
	"has them in the triage of that moment"
kill -INT $service
wait $service
is $? 0 "the service ends in order"
is "$(cat "$T/said")" "" "and had nothing to complain about" || cat "$T/said"
echo > $params/watch
wait_for 20 rmdir $root/waits
probes_clean "nothing is left attached"
done_testing
