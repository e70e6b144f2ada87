#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# memtap is killed, at whatever moment; its target ends or becomes another program
# meanwhile: the target lives and is as it was, and nothing is left.
# check: newest
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

leaked=$(dmesg | grep -c 'leaking uprobe')
alive() { kill -0 "$1" 2> /dev/null; }

./wl_leak_spin 500 &
pid=$!
times=${TIMES:-$(rounds 8 30)}
clean=0 lives=0
for i in $(seq "$times"); do
	memtap leaks -p $pid -d 0.3 --json -o "$T/json" > /dev/null 2>&1 &
	tool=$!
	# from before it attaches to after it reports
	after=$((i * 1200 / times))
	sleep "$((after / 1000)).$(printf %03d $((after % 1000)))"
	kill -KILL $tool 2> /dev/null
	wait $tool 2> /dev/null
	if wait_for 300 text_clean $pid; then
		clean=$((clean + 1))
	else
		diag "the ${i}th time: $(text_clean $pid 2>&1 | head -n 5)"
	fi
	alive $pid && lives=$((lives + 1))
done
is $clean "$times" "$times times killed: no byte of the target is changed"
is $lives "$times" "$times times killed: it lives"

# In the middle of taking probes away: a signal that is pending must not stop that.
times=$(rounds 2 6)
clean=0
for i in $(seq "$times"); do
	memtap leaks -p $pid --json -o "$T/json" > /dev/null 2>&1 &
	tool=$!
	ready $tool
	kill -INT $tool
	sleep "0.$(printf %02d $((i * 30 / times)))"
	kill -KILL $tool 2> /dev/null
	wait $tool 2> /dev/null
	wait_for 300 text_clean $pid && clean=$((clean + 1))
done
is $clean "$times" "killed while it detaches: no byte of the target is changed"
is "$(dmesg | grep -c 'leaking uprobe')" "$leaked" "the kernel knows of no probe that is left"
kill -TERM $pid
wait $pid
is $? 0 "and all that it wrote is there"
probes_clean "nothing is left attached"

# A launched one, held at its start or while it loads.
times=$(rounds 2 5)
for i in $(seq "$times"); do
	memtap leaks --json -o "$T/json" -- ./wl_leak_spin 500 > "$T/out" 2>&1 &
	tool=$!
	after=$((100 + i * 1500 / times))
	sleep "$((after / 1000)).$(printf %03d $((after % 1000)))"
	kill -KILL $tool 2> /dev/null
	wait $tool 2> /dev/null
done
left=$(pgrep -x wl_leak_spin)
sleep 1
stuck=0
for pid in $left; do
	wait_for 300 text_clean "$pid" || stuck=$((stuck + 1))
	kill -TERM "$pid"
	wait_gone 300 "$pid" || stuck=$((stuck + 1))
done
is $stuck 0 "who was held goes on, and is clean ($(wc -w <<< "$left") were there)"

# It ends, or becomes another, while it is watched, reported, detached.
ends() {
	./wl_leak_spin "$@" &
	pid=$!
	sleep 0.3
}
ends 500
attach "ends" -p $pid
kill -TERM $pid
wait $pid
wait_gone 20 $tool || kill -INT $tool 2> /dev/null
status=0
wait $tool || status=$?
leak_books "a target that ends"

ends 500
attach "dies" -p $pid
kill -KILL $pid
wait $pid 2> /dev/null
wait_gone 20 $tool || kill -INT $tool 2> /dev/null
status=0
wait $tool || status=$?
leak_books "a target that is killed"

# Returns that nobody sees any more: what realloc() was given is there still.
ends 0
for i in $(seq "$(rounds 3 8)"); do
	attach "detached from a busy one, time $i" -p $pid
	detach
done
kill -TERM $pid
wait $pid

ends 500 ./wl_leak_spin 500
attach "becomes another" -p $pid
kill -USR1 $pid
# it can be told to end again when it has a handler for that
handles() { grep -q '^SigCgt:.*[4-7c-f]...$' "/proc/$1/status"; }
names() { tr '\0' '\n' < "/proc/$1/cmdline" | grep -c wl_leak_spin; }
became() { [ "$(names "$1")" = 1 ] && handles "$1"; }
wait_for 300 became $pid
detach
ok "a target that calls execve() is clean" text_clean $pid
kill -TERM $pid
wait $pid
is $? 0 "and lives"

./wl_leak_spin 500 &
pid=$!
run memtap leaks -p $pid -d 0.5
like "$err" 'probes removed, text verified in 1 process' "the end is verified, and said"
kill -TERM $pid
wait $pid
probes_clean "nothing is left attached"
done_testing
