#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The module is unloaded while each allocation of rmmod fails: rmmod waits until its probes are
# gone, and a later OOM kill does not run into memory that was the module's.  For kernels that
# can inject faults; kprobes that cannot be disarmed are warned about.  After that the kernel's own
# count of probes is wrong (kmod/hooks/kprobes.c): single ones may stay silent.
# timeout: 600
# needs: last
# dmesg: allow Call Trace|arm_kprobe_ftrace|RIP: 0010|oom-killer|cannot be taken away
. "$(dirname "$0")/lib.sh"

fail=/sys/kernel/debug/failslab
[ -d $fail ] || skip_all "this kernel cannot let allocations fail (CONFIG_FAILSLAB)"
list=/sys/kernel/debug/kprobes/list
panic=/proc/sys/kernel/panic_on_warn
was=$(< $panic)
echo 0 > $panic

# unload_failing TIMES: delete_module(), of which so many allocations fail
unload_failing() {
	echo N > $fail/ignore-gfp-wait
	echo Y > $fail/task-filter
	echo "$1" > $fail/times
	echo 1 > $fail/interval
	echo 0 > $fail/verbose
	echo 100 > $fail/probability
	# (by the system call alone: an exec() would fail, too)
	timeout 300 python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
fail = open("/proc/self/make-it-fail", "w")
fail.write("1")
fail.flush()
os._exit(1 if libc.syscall(176, b"memtap", os.O_NONBLOCK) else 0)'
	status=$?
	left=$(< $fail/times)
	echo 0 > $fail/probability
}

ok "the module has probes of its own" grep -q oom_kill_process $list
for times in 1 3 40; do
	unload_failing $times
	is "$status" 0 "$times allocations fail: the call ends well"
	cmp_ok "$left" -lt "$times" "$times: some did fail"
	not_ok "$times: the module is gone" grep -q '^memtap ' /proc/modules
	is "$(grep -c oom_kill_process $list)" 0 "$times: its probes, too"
	# what a probe that was left behind would not survive
	sleep 1000 &
	victim=$!
	echo 1000 > /proc/$victim/oom_score_adj
	echo f > /proc/sysrq-trigger
	ok "$times: a process is killed for memory afterwards" wait_gone 60 $victim
	ok "$times: that probes may be silent since is in the log" \
		grep -q 'memtap: removing a probe failed .*may stay silent' <(dmesg)
	ok "$times: the module can be loaded again" modprobe memtap
done
echo "$was" > $panic
done_testing
