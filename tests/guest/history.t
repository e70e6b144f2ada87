#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap history`: a program grows and is killed while nobody looks; afterwards the history says
# who it was, also when the module was not loaded, and over a service that was killed.
# guest: -m 640
# check: all
# dmesg: allow Call Trace
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
dir=$T/history
root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
if grep -qw memory /sys/fs/cgroup/unified/cgroup.controllers 2>/dev/null; then
	root=/sys/fs/cgroup/unified limit=memory.max
	echo +memory > $root/cgroup.subtree_control
fi

samples() { memtap history status --dir "$dir" | sed -n 's/.*; \([0-9]*\) samples .*/\1/p'; }
# at_least N: there are so many samples
at_least() { [ "$(samples || echo 0)" -ge "$1" ] 2> /dev/null; }
begin() {
	memtap history start 1 --dir "$dir" 2> "$T/said" &
	service=$!
}
now() { date '+%Y-%m-%d %H:%M:%S'; }

begin
ok "history: samples are taken" wait_for 60 at_least 3
run memtap history start --dir "$dir"
is "$status" 1 "history: a second service is refused"
like "$err" 'another `memtap history start` writes there' "history: and that is said"
awk '/^VmRSS:/ { exit $2 > 24576 }' /proc/$service/status
ok "history: the service is small" [ $? = 0 ]
grep '^VmRSS\|^VmLck\|^RssAnon' /proc/$service/status | sed 's/^/# /'

# --- a program grows
from=$(now)
was=$(samples)
start_until "$T/ready" ready ./wl_triage leak 200
hog=$started
ok "history: samples of a program that grows" wait_for 60 at_least $((was + 6))
middle=$(date -d '-2 seconds' '+%Y-%m-%d %H:%M:%S')
kill $hog
wait $hog 2> /dev/null

# --- a process is killed at a cgroup's limit
mkdir -p $root/past
echo $((16 << 20)) > $root/past/$limit
[ ! -e $root/past/memory.swap.max ] || echo 0 > $root/past/memory.swap.max
bash -c "echo \$\$ > $root/past/cgroup.procs; exec ./wl_oom eat 40" > /dev/null 2>&1
was=$(samples)
ok "history: samples after the kill" wait_for 60 at_least $((was + 3))

# --- the service is killed
kill -KILL $service
wait $service 2> /dev/null
was=$(samples)
begin
ok "history: the service goes on after SIGKILL" wait_for 60 at_least $((was + 2))
kill -INT $service
wait $service
is $? 0 "history: it ends in order"
is "$(cat "$T/said")" "" "history: it had nothing to complain about"
until=$(now)

run memtap triage --at "$middle" --dir "$dir"
is "$status" 0 "triage --at: there is such a moment"
like "$out" "[Pp]rocess wl_triage \($hog\) grew by" "triage --at: names the program"
unlike "$out" "leaks -p $hog" "triage --at: no command for a process that is gone"
run memtap triage --between "$from,$middle" --dir "$dir" --json
ok "triage --between: the same over some time" python3 -c '
import json, sys
d = json.load(sys.stdin)
pid = int(sys.argv[1])
assert any(h.get("pid") == pid and h["bytes"] > 10 << 20 for h in d["processes"]), d["processes"]
' $hog <<< "$out"
run memtap top --at "$middle" --dir "$dir"
like "$out" " $hog wl_triage" "top --at: has it"
run memtap oom --between "$from,$until" --dir "$dir"
is "$status" 0 "oom --between: answers"
like "$out" 'wl_oom' "oom --between: names the victim"
like "$out" '/past' "oom --between: names the cgroup"
run memtap history list --dir "$dir"
like "$out" 'ended without stopping' "history list: the service that was killed is a gap"
run memtap triage --at '2001-01-01 00:00' --dir "$dir"
is "$status" 1 "triage --at: a time without samples is an error"
like "$err" 'nothing was recorded at 2001-01-01 00:00:00: the history begins at' \
	"triage --at: and says what there is"
wait_for 20 rmdir $root/past
done_testing
