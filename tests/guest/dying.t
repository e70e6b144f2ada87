#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Whatever becomes of the tool or of what it watches, nothing stays attached and
# nobody is hurt.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

kernel_fn=$(awk '$3 ~ /^(__x64_)?(sys|SyS)_getppid$/ { print $3; exit }' /proc/kallsyms)
# where wl_nap is in its file: by the segment that is executable
address=0x$(nm wl_nap | awk '$3 == "wl_nap" { print $1 }')
read -r seg_offset seg_address < <(readelf -lW wl_nap |
	awk '$1 == "LOAD" && / R E / { print $2, $3 }')
offset=$((address - seg_address + seg_offset))

open_sessions() { grep -Evc '^#|flight' /sys/kernel/debug/memtap/sessions; }
no_sessions() { [ "$(open_sessions)" = 0 ]; }
unattached() { no_sessions && [ -z "$(probes_left)" ] && text_clean "$nap"; }
released() {
	ok "$1: nothing stays attached" wait_for 300 unattached
	probes_clean "$1: kprobes/list is empty, the text is the file's" "$nap"
}
start_nap() {
	./wl_nap &
	nap=$!
	wait_for 300 grep -q wl_nap /proc/$nap/comm
}
# It comes back from every call, with the right results.
nap_lives() {
	kill -TERM "$nap"
	wait "$nap"
	is $? 0 "$1: the process runs on, and ends as it would have"
}

start_nap
for when in 0 0.1 0.4 $(also 0.05 0.2 0.8); do
	memtap stacks "k:$kernel_fn" "kr:$kernel_fn" "ur:$PWD/wl_nap:wl_nap" \
		"u:$PWD/wl_nap:wl_nap_twice" t:task:task_rename fault brk mmap \
		-p "$nap" > /dev/null 2>&1 &
	tool=$!
	sleep $when
	kill -KILL $tool
	wait $tool 2>/dev/null
	released "SIGKILL after $when s"
done
memtap stacks "ur:$PWD/wl_nap:wl_nap" "ur:$PWD/wl_nap:wl_nap_twice" brk -p "$nap" > /dev/null 2>&1 &
tool=$!
ok "a session stands" ready $tool
not_ok "its breakpoint is there" text_clean "$nap"
sleep 0.2
kill -KILL $tool
wait $tool 2>/dev/null
released "SIGKILL while calls have yet to return"
nap_lives "SIGKILL while calls have yet to return"

start_nap
for how in wait exec fork; do
	start_until "$T/hold" ready ./t_hold "$PWD/wl_nap" "$offset" $how
	holder=$(awk '/ready/ { print $2 }' "$T/hold")
	[ $how != fork ] || wait $!
	sleep 0.3
	is "$(open_sessions)" 1 "$how: the session lives as long as its descriptor"
	not_ok "$how: the module cannot be removed meanwhile" rmmod memtap
	kill -KILL "$holder"
	released "$how: SIGKILL of who holds the descriptor"
done
nap_lives "three sessions were killed"

# The process that is watched ends while the tool attaches, or while it counts.
start_nap
for when in 0.02 0.1 $(also 0 0.05 0.2); do
	./wl_nap &
	victim=$!
	memtap stacks "u:$PWD/wl_nap:wl_nap" "k:$kernel_fn" fault -p $victim -d 1 \
		> /dev/null 2> "$T/err" &
	tool=$!
	sleep $when
	kill -KILL $victim
	wait $victim 2>/dev/null
	wait $tool
	cmp_ok $? -le 1 "the process ends after $when s: a report, or an error"
	released "the process ends after $when s"
done
nap_lives "its twin"

# The program that was launched kills itself, the tool, or runs another.
start_nap
run memtap stacks fault -- sh -c 'kill -KILL $$'
is "$status" 137 "a program that dies by a signal: the exit status says which"
# twice: whose rows they need is found out the first time
for _ in 1 2; do
	run memtap stacks fault --by comm --folded -- sh -c 'exec ./wl_heap -e /dev/null'
done
is "$status" 0 "a program that runs another"
like "$out" '^minor-fault;wl_heap;.*main' "is watched on, under its new name"
released "launched programs"
nap_lives "a bystander"

noise 1
failures=0
limit=$((300 * ${SLOW:-1}))
times=$(rounds 4 20)
for i in $(seq "$times"); do
	[ $((i % 4)) != 0 ] || timeout "$limit" memtap stacks fault brk -d 0.1 > /dev/null 2>&1 ||
		failures=$((failures + 1))
	rmmod memtap && [ ! -e /dev/memtap ] && modprobe memtap && [ -c /dev/memtap ] ||
		failures=$((failures + 1))
done
is $failures 0 "the module unloads and loads $times times, beside noise"
quiet
done_testing
