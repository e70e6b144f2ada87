#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap triage` and `memtap leaks -k --census` on a machine that really suffers: idle, a
# program that leaks, a kernel that does, a tmpfs that fills up, memory in fragments,
# swapping, the OOM killer.  Each names the command to run next, and that command runs.
# check: all
# dmesg: allow Call Trace
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
pages=${PAGES:-$T}	# a directory in which the screens are kept, to be looked at
mkdir -p "$pages"

# suffer WHAT...: the workload, until relief
suffer() {
	start_until "$T/ready" ready ./wl_triage "$@"
	pid=$started
}
relief() {
	kill $pid 2>/dev/null
	wait $pid 2>/dev/null
}
# first TEXT: the command after "Next:"
first() { sed -n 's/^Next: //p' <<< "$1"; }
# look NAME PATTERN [SECONDS]: triage names a command like this
look() {
	run memtap triage "${3:-2}" 1
	printf '%s\n' "$out" > "$pages/$1.txt"
	is "$status" 0 "$1: triage answers"
	next=$(first "$out")
	like "$next" "$2" "$1: the command to run next"
	[ "$next" ] && grep -Eq "$2" <<< "$next" || diag "$out"
}
# and it can be run
runs() {
	local shorter=${1/-d 10/-d 1}
	run bash -c "${shorter/ 60 10/ 1 1}"
	is "$status" 0 "$2: $1"
	[ "$status" = 0 ] || diag "$err"
}
census() {
	run memtap leaks -k --census 2 1
	printf '%s\n' "$out" > "$pages/census-$1.txt"
	is "$status" 0 "$1: the census answers"
	next=$(first "$out")
	like "$next" "$2" "$1: the census' command to run next"
	[ "$next" ] && grep -Eq "$2" <<< "$next" || diag "$out"
}
json() { python3 -c "import json, sys; d = json.load(sys.stdin); $1" <<< "$out"; }

# --- idle
sleep 1
if dmesg | grep -q 'Killed process'; then
	skip "idle: the command to run next" "somebody was killed before"
else
	look idle '^memtap triage 60 10$'
fi
census idle '^memtap leaks -k --census 60 10$'
run memtap triage --json
is "$status" 0 "--json"
ok "JSON: MemTotal is the sum of its parts" json \
	'a = d["account"]; t = a.pop("total"); assert t == sum(v["bytes"] for v in a.values())'
ok "JSON: what it says of all memory is what /proc/meminfo says" json \
	'assert d["memory"]["total"] == int(open("/proc/meminfo").readline().split()[1]) * 1024'
ok "JSON: little is unaccounted" json \
	'a = d["account"]; u = a["unaccounted"]["bytes"]; assert abs(u) < a["total"] / 10, u'
unlike "$(memtap triage 0.1 1)" $'\033' "no colors where no terminal is"
on_terminal() { python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' env TERM=xterm "$@"; }
like "$(on_terminal memtap triage 0.1 1)" $'\033\\[32m' "colors on a terminal"
unlike "$(on_terminal NO_COLOR=1 memtap triage 0.1 1)" $'\033' "NO_COLOR"
# who may not read all of it is told what is missing
run setpriv --reuid=65534 --clear-groups "$(command -v memtap)" triage 0.1 1
is "$status" 0 "without privileges"
like "$out" '^not read  /proc/slabinfo: Permission denied; ' "without privileges: what is missing"

# --- a program leaks
suffer leak 200
look leak "^memtap leaks -p $pid -d 10\$"
like "$out" "wl_triage \($pid\) .*\+[0-9.]+ MiB" "leak: who grows is on the page"
runs "$next" "leak"
relief

# --- the kernel leaks: messages that nobody receives
suffer kernel 200
look kernel '^memtap leaks -k --census 10 1$'
# since v6.11 messages have caches of their own
census kernel "^memtap leaks -k --cache (kmalloc|msg_msg)-[^ ]* -d 10\$"
like "$out" 'slab  *(kmalloc|msg_msg)-.*\+[0-9.]+ MiB' "kernel: the cache that grows is on the page"
runs "$next" "kernel"
relief

if [ "${SMOKE:-}" ]; then
	done_testing
	exit
fi

# --- a tmpfs fills up
mkdir "$T/tmpfs"
mount -t tmpfs -o size=300m tmpfs "$T/tmpfs"
suffer tmpfs "$T/tmpfs" 200
look tmpfs '^memtap shmem -d 10$'
like "$out" "files in .*/tmpfs grew by [0-9.]+ MiB|Files in .*/tmpfs grew by [0-9.]+ MiB" \
	"tmpfs: which one"
runs "$next" "tmpfs"
like "$out" "more_file" "tmpfs: who fills it is shown"
relief
umount "$T/tmpfs"

# --- in fragments: how soon it is there, depends on what ran before
if thorough; then
	min_free=$(cat /proc/sys/vm/min_free_kbytes)
	echo 4096 > /proc/sys/vm/min_free_kbytes
	suffer fragment
	# (the workload's page tables may grow, which comes first then)
	look fragment '^memtap (compact --stacks -d 10|leaks -k --census 10 1)$'
	like "$out" 'memtap compact --stacks -d 10' "fragments: what shows who waits"
	# 5.10 puts compaction off for long after it failed, and nobody waits
	like "$out" 'waits for compaction [1-9]|(9[5-9]|100) % of free memory' \
		"fragments: how bad it is"
	runs "$next" "fragments"
	relief
	echo "$min_free" > /proc/sys/vm/min_free_kbytes
fi

# --- cgroups: of v1 or v2, whichever has the controller here
root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
if grep -qw memory /sys/fs/cgroup/unified/cgroup.controllers 2>/dev/null; then
	root=/sys/fs/cgroup/unified limit=memory.max
	echo +memory > $root/cgroup.subtree_control
fi
# confined MIB WHAT...: the workload in a cgroup with a limit
confined() {
	mkdir -p $root/triage
	echo $(($1 << 20)) > $root/triage/$limit
	shift
	start_until "$T/ready" ready in_cgroup $root/triage ./wl_triage "$@" || true
	pid=$started
}
released() {
	relief
	wait_for 10 rmdir $root/triage
}
if [ -e $root/cgroup.procs ]; then
	# --- swapping
	dd if=/dev/zero of=/swap bs=1M count=128 status=none
	chmod 600 /swap
	if mkswap /swap > /dev/null && swapon /swap; then
		confined 40 cycle 80
		look swap '^memtap swap (-p [0-9]+ )?-d 10$'
		like "$out" 'swap +\[[#.]+\]' "swap: how full it is"
		runs "$next" "swap"
		released
		swapoff /swap
	else
		skip "swap: the command to run next" "no swap file here"
	fi
	rm -f /swap
	# --- killed at a limit
	confined 24 leak 100
	wait_gone 60 $pid
	sleep 1
	look oom '^memtap oom --last 1$'
	like "$out" 'ago: wl_triage \([0-9]+\), .*at the limit of /triage' "oom: who was killed"
	runs "$next" "oom"
	cp "$pages/oom.txt" "$T/oom"
	released
else
	skip "swap, oom" "no memory cgroup here"
fi

done_testing
