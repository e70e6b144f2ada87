#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Pages that go from one node to another, by a system call or because who uses them is there: what
# memtap migrate says of them is what the kernel and the process say.
# guest: --nodes 2
# check: ends
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

start_until "$T/work" ready ./wl_numa move 16
work=$started
begin moved $work
before=$(counter pgmigrate_success)
kill -USR1 $work
wait_for 60 grep -q node1 "$T/work"
after=$(counter pgmigrate_success)
wait $work
finish moved
read -r _ _ _ there < <(tail -n 1 "$T/work")
cmp_ok "$there" -gt 4000 "(its 16 MiB are on the other node)"
# (before v4.1 an event's format has names of numbers, and not which these are)
why=syscall_or_cpuset format=/sys/kernel/debug/tracing/events/migrate/mm_migrate_pages/format
! grep -q '{ *MIGRATE_ASYNC' $format || why=3
moved=$(pages moved $why)
diag "$moved pages, $there of them counted there, $((after - before)) by the kernel"
# (code and libraries go along)
cmp_ok "$moved" -ge "$there" "migrate_pages(): all that are on the other node"
cmp_ok "$moved" -le $((after - before)) "migrate_pages(): no more than the kernel has moved"
unlike "$(< "$T/moved.err")" 'missing' "migrate_pages(): none is missing"

# --- NUMA balancing
balancing=/proc/sys/kernel/numa_balancing
if ! [ -e $balancing ]; then
	skip "NUMA balancing" "this kernel has none"
	done_testing
	exit
fi
was=$(< $balancing)
echo 0 > $balancing
run memtap migrate --numa --json --filter 'comm != "x"' -d 0.1
is "$status" 0 "where it is off: exit status"
like "$err" 'NUMA balancing is off; sysctl kernel.numa_balancing=1 turns it on' "and it is said"
echo 1 > $balancing
# setting NAME VALUE: how eager it is
setting() {
	local at=/sys/kernel/debug/sched/numa_balancing/$1_ms
	[ -e "$at" ] || at=/proc/sys/kernel/numa_balancing_$1_ms
	echo "$2" > "$at"
}
setting scan_delay 50
setting scan_period_min 50
setting scan_period_max 200
start_until "$T/follow" ready ./wl_numa follow 16
work=$started
moved=$(counter numa_pages_migrated) hints=$(counter numa_hint_faults)
marked=$(counter numa_pte_updates)
memtap migrate --numa -p $work --filter 'comm == "wl_numa" && cpu >= 0' --json \
	> "$T/numa" 2> "$T/numa.err" &
tap=$!
wait_for 60 grep -q " $tap .* running" /sys/kernel/debug/memtap/sessions
kill -USR1 $work
wait_for 300 grep -q node1 "$T/follow"
wait $work
moved=$(($(counter numa_pages_migrated) - moved)) hints=$(($(counter numa_hint_faults) - hints))
marked=$(($(counter numa_pte_updates) - marked))
wait_gone 60 $tap || kill -INT $tap
wait $tap
is $? 0 "migrate --numa: exit status" || diag "$(cat "$T/numa.err")"
read -r _ _ _ there < <(tail -n 1 "$T/follow")
# numa EXPRESSION: of the last object of the process
numa() {
	python3 -c '
import json, sys
r = [r for r in map(json.loads, open(sys.argv[1])) if r["final"]][-1]
print(eval(sys.argv[2]))' "$T/numa" "$1"
}
diag "$there followed; $(numa r)"
diag "the kernel: moved $moved, faults $hints, marked $marked"
cmp_ok "$there" -ge 3072 "(three quarters of its 16 MiB followed it)"
cmp_ok "$(numa 'r["pages_moved"]')" -ge "$there" "balancing: all that is on the other node"
cmp_ok "$(numa 'r["pages_moved"]')" -le "$moved" "balancing: no more than the kernel has moved"
cmp_ok "$(numa 'r["hinting_faults"]')" -ge "$(numa 'r["pages_moved"] + r["pages_failed"]')" \
	"balancing: each of them by a fault"
cmp_ok "$(numa 'r["hinting_faults"]')" -le "$hints" \
	"balancing: no more faults than the kernel counts"
cmp_ok "$(numa 'r["pages_marked"]')" -ge "$(numa 'r["hinting_faults"]')" \
	"balancing: for which pages were marked"
cmp_ok "$(numa 'r["pages_marked"]')" -le "$marked" "balancing: no more than the kernel marks"
is "$(numa '0 < r["move_max_ns"] <= r["move_ns"] and r["mark_ns"] > 0')" True \
	"balancing: and how long that took"
echo "$was" > $balancing

done_testing
