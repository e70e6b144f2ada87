#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A program sleeps because its cgroup is above memory.high: the waits that memtap shows add up to
# what the kernel accounts as the cgroup's memory pressure (PSI).
# check: newest
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
# The guests' kernels that have version 1 of the memory controller have it mounted. It goes to
# version 2 only where no cgroup was made in it since boot.
root=/sys/fs/cgroup/unified
if [ -d /sys/fs/cgroup/memory ]; then
	umount /sys/fs/cgroup/memory && rmdir /sys/fs/cgroup/memory
fi
is_v2() { grep -qw memory $root/cgroup.controllers; }
wait_for 5 is_v2 || skip_all "the memory controller is version 1's here: there is no memory.high"
echo +memory > $root/cgroup.subtree_control
mkdir $root/high
cat $root/high/memory.pressure > /dev/null 2>&1 || skip_all "this kernel accounts no pressure (PSI)"
grep -Eq ' (__)?mem_cgroup_handle_over_high$' /proc/kallsyms ||
	skip_all "this kernel does not sleep for memory.high in a function of its own"

# pressure: us that a task of the cgroup was stalled
pressure() { sed -n 's/^some.*total=//p' $root/high/memory.pressure; }
echo 16M > $root/high/memory.high
echo 0 > $root/high/memory.swap.max 2> /dev/null
start_until "$T/ready" ready in_cgroup $root/high ./wl_triage churn 18 500
work=$started
stalls() { [ "$(pressure)" -gt 1000000 ]; }
ok "(the program is stalled)" wait_for 60 stalls

memtap reclaim -p $work > "$T/out" 2> "$T/err" &
pid=$!
wait_for 60 test -s "$T/out"
ready $pid
before=$(pressure)
sleep 10
after=$(pressure)
kill -INT $pid
wait $pid
is $? 0 "reclaim: exit status" || diag "$(cat "$T/err")"
unlike "$(cat "$T/err")" 'sleeps above memory.high' "reclaim: this kernel has all that is asked"
like "$(cat "$T/out")" "^ +[0-9.]+ wl_triage +$work high +[0-9.]+ +- +- +- +- +[0-9]+ +- +/high\$" \
	"reclaim: a line for each sleep"
# of the lines: ms by TYPE
of_type() { awk -v type="$1" '$4 == type { s += $5 } END { printf "%d\n", s }' "$T/out"; }
high=$(of_type high) memcg=$(of_type memcg) psi=$(((after - before) / 1000))
diag "slept $high ms, reclaimed $memcg ms, stalled $psi ms"
cmp_ok "$high" -gt 0 "reclaim: and how long it was"
cmp_ok $((2 * (high + memcg))) -ge $psi "reclaim: at least half of the cgroup's pressure is seen"
cmp_ok $((2 * (high + memcg))) -le $((3 * psi)) "and no time is counted twice"
is "$(awk '/ CGROUP$/ && NF == 5 { on = 1; next }
	on && $NF == "/high" { print int($2) }' "$T/out")" \
	"$(awk '$4 ~ /^(high|memcg)$/ { s += $5 } END { print int(s) }' "$T/out")" \
	"reclaim: the cgroup's sum has both"

run memtap reclaim --stacks -p $work -d 5
like "$out" '^  _*mem_cgroup_handle_over_high$' "reclaim --stacks: where the kernel sleeps"
like "$out" '^  touch|^  churn' "reclaim --stacks: and where the program was"
run memtap vmscan --json -d 5
ok "vmscan: the sleeps are in a column" python3 -c '
import json, sys
rows = [r for r in map(json.loads, open(sys.argv[1])) if r["document"] == "vmscan"]
assert any(r["final"] and r["high_ns"] > 0 for r in rows), rows' "$T/run.out"

# without the tool
debug=/sys/kernel/debug/memtap
watch=/sys/module/memtap/parameters/watch
echo reclaim > $watch
slept() { grep -Eq '^memcg-high: [1-9][0-9]* stalls' $debug/reclaim; }
ok "debugfs: reclaim has the sleeps" wait_for 30 slept
like "$(cat $debug/reclaim)" "^ +[0-9]+ us  wl_triage \[$work\], [0-9]+ s ago" \
	"debugfs: the longest"
like "$(cat $debug/stacks/memcg-high)" "wl_triage \[$work\]" "debugfs: by stack"
like "$(cat $debug/hooks)" '^memcg-high +kretprobe +attached' "debugfs: the hook is attached"
echo > $watch
kill $work
wait $work 2> /dev/null
wait_for 20 rmdir $root/high
probes_clean "nothing is left attached"
done_testing
