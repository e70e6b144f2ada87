#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where memory is short, a session is refused with one sentence, and no process is killed for
# it: on the whole machine, in a memory cgroup, and where the ioctls are called without a look.
# guest: -m 512
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
swapoff -a

kills() { dmesg | grep -c 'invoked oom-killer'; }
# works or says why not: COMMAND...
works_or_says() {
	run timeout 120 "$@"
	if [ "$status" = 0 ]; then
		pass "$left KiB left: $* works"
	else
		is "$status" 1 "$left KiB left: $* ends with 1" &&
			one_sentence "$left KiB left: $* says why"
	fi
}

# What is said to fit does.  Others may have taken memory since it was said: then what is said
# now does, or what is said after that.
what_fits() {
	local fits

	for _ in 1 2 3; do
		fits=$(sed -n 's/.*--max-mem \([0-9]*K\) fits.*/\1/p' "$T/run.err")
		[ -n "$fits" ] || return 0
		run memtap leaks -k --max-mem "$fits" 1 1
		[ "$status" != 0 ] || break
		diag "$fits do not fit: $err"
	done
	is "$status" 0 "$left KiB left: --max-mem fits, as it is said"
}

# what they read from disk is there
memtap status > "$T/warm" 2>&1
memtap leaks -k 1 1 > "$T/warm" 2>&1
is "$(./t_start 32 1)" started "with memory a session of 32 MiB starts"

for left in $(rounds "30000" "40000 30000 20000"); do
	ok "$left KiB left: the machine is full" start_until "$T/fill" ready ./wl_fill "$left"
	victim=$started
	./t_start 32 3 > "$T/start"
	is "$(sort -u "$T/start")" "start: Cannot allocate memory" \
		"$left KiB left: START of 32 MiB says that there is no memory"
	works_or_says memtap leaks -k 1 1
	what_fits
	works_or_says memtap leaks -p "$victim" 1 1
	works_or_says memtap rss -p "$victim" 1 1
	# (what the tool copies of a process is more than there is room for)
	works_or_says memtap heap "$victim"
	thorough && works_or_says memtap leaks -p "$victim" --unreachable 1 1
	ok "$left KiB left: the largest process lives" kill -0 "$victim"
	kill "$victim"
	wait "$victim" 2> /dev/null
done
is "$(kills)" 0 "the kernel's OOM killer was never called"

# --- a cgroup with a small limit ---
root=/sys/fs/cgroup limit=memory.max
[ ! -d /sys/fs/cgroup/memory ] || root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
[ ! -d /sys/fs/cgroup/unified ] || grep -qw memory /proc/cgroups
if ! mkdir "$root/short" 2> /dev/null || [ ! -e "$root/short/$limit" ]; then
	echo +memory > "$root/cgroup.subtree_control" 2> /dev/null || true
fi
if [ -e "$root/short/$limit" ]; then
	echo $((24 << 20)) > "$root/short/$limit"
	inside() { (echo "$BASHPID" > "$root/short/cgroup.procs" && exec "$@"); }
	inside ./t_start 40 2 > "$T/start"
	is "$(sort -u "$T/start")" "start: Cannot allocate memory" \
		"a cgroup of 24 MiB: START of 40 MiB says that there is no memory"
	run inside memtap leaks -k 1 1
	is "$status" 1 "a cgroup of 24 MiB: memtap refuses"
	like "$err" "limit of its cgroup" "and says whose limit it is"
	is "$(kills)" 0 "nobody was killed in the cgroup"
	rmdir "$root/short"
else
	skip "a cgroup of 24 MiB" "this guest has no memory controller"
fi
done_testing
