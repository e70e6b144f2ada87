#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Pages that go from one node to another, by a system call: what memtap migrate says of them is
# what the kernel and the process say.
# guest: --nodes 2
# check: newest
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
[ -d /sys/devices/system/node/node1 ] || skip_all "this kernel has no second node"
# counter NAME...: of /proc/vmstat, or 0
counter() {
	awk -v names=" $* " 'index(names, " " $1 " ") { s += $2 } END { print s + 0 }' /proc/vmstat
}
# begin NAME PID: memtap migrate of it, until finish; the first line is there when it counts
begin() {
	memtap migrate -p "$2" > "$T/$1" 2> "$T/$1.err" &
	tap=$!
	wait_for 60 test -s "$T/$1"
}
finish() {
	kill -INT $tap
	wait $tap
	is $? 0 "$1: exit status" || diag "$(cat "$T/$1.err")"
}
# pages NAME REASON: that were moved for it
pages() { awk -v why="$2" '$1 ~ /^[0-9.]+$/ && $7 == why { n += $4 } END { print n + 0 }' "$T/$1"; }

./wl_numa move 16 > "$T/work" &
work=$!
wait_for 60 grep -q ready "$T/work"
begin moved $work
before=$(counter pgmigrate_success)
kill -USR1 $work
wait_for 60 grep -q node1 "$T/work"
after=$(counter pgmigrate_success)
wait $work
finish moved
read -r _ _ _ there < <(tail -n 1 "$T/work")
cmp_ok "$there" -gt 4000 "(its 16 MiB are on the other node)"
moved=$(pages moved syscall_or_cpuset)
diag "$moved pages, $there of them counted there, $((after - before)) by the kernel"
# (code and libraries go along)
cmp_ok "$moved" -ge "$there" "migrate_pages(): all that are on the other node"
cmp_ok "$moved" -le $((after - before)) "migrate_pages(): no more than the kernel has moved"
unlike "$(< "$T/moved.err")" 'missing' "migrate_pages(): none is missing"

done_testing
