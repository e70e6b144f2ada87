#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A kernel that is locked down with the module in it: what it still lets us do, and
# what it says of the rest.
# guest: -c 4
# needs: last
. "$(dirname "$0")/lib.sh"

lock=/sys/kernel/security/lockdown
mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
[ -w $lock ] || skip_all "this kernel has no lockdown"

works() {
	local name=$1
	shift
	exits 0 "$name" timeout 6000 "$@"
	like "$out" '^(seen = counted|[0-9,]+ events?: )' "$name: there is a report"
}
# the signature is asked for before the name
refused_load() {
	exits 1 "$1: the module is refused" memtap load "$(modinfo -n memtap)"
	one_sentence "$1: in one sentence"
	like "$err" "locked down \($1\).*signed" "$1: which says why, and what to do"
}

for level in integrity confidentiality; do
	ok "(the kernel is locked down: $level)" sh -c "echo $level > $lock"
	like "$(memtap status)" "^lockdown: +$level\$" "$level: status says so"
	ok "$level: debugfs is still there" grep -q '^minor-fault' /sys/kernel/debug/memtap/hooks
	works "$level: built-in events" memtap stacks fault brk mmap -- ./wl_heap -e /dev/null
	works "$level: user functions" memtap stacks u:./wl_call:wl_outer -- ./wl_call -e /dev/null
	works "$level: leaks' probes" memtap stacks ur:./wl_call:wl_outer -- ./wl_call -e /dev/null
	run timeout 600 memtap stacks k:vfs_read -d 1
	if [ $level = integrity ]; then
		is "$status" 0 "integrity: functions of the kernel"
	else
		is "$status" 1 "confidentiality: no functions of the kernel"
		like "$err" '^memtap: .*locked down' "confidentiality: with a sentence"
	fi
	refused_load $level
done
umount /sys/kernel/security
run memtap load "$(modinfo -n memtap)"
is "$status" 1 "where lockdown's file is not mounted: refused"
one_sentence "where it is not mounted: one sentence"
like "$err" 'locked down.*dmesg' "which says where to look"
# (for the runner, which would load the module once more)
mount -t securityfs securityfs /sys/kernel/security
done_testing
