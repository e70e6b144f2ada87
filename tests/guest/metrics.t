#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap metrics` where sessions run: live bytes by program, and memtap's own accounts.
# check: ends
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

says() { wait_for 20 grep -qx "$2" "$1" || diag "no '$2' of the workload"; }
metrics() { memtap metrics > "$T/metrics" 2> "$T/metrics.err" || cat "$T/metrics.err"; }
# value NAME [LABEL]: of the sample; "" if there is none
value() {
	awk -v name="$1${2:+{$2\}}" 'index($0, name " ") == 1 { print $NF }' "$T/metrics"
}
# sum NAME: of the samples of a family
sum() { awk -v name="$1{" 'index($0, name) == 1 { n += $NF } END { print n + 0 }' "$T/metrics"; }
program='program="wl_leak_live"'

metrics
is "$(value memtap_module_loaded)" 1 "the module is loaded"
is "$(value memtap_sessions)" 0 "no session is open but the one that reads"
is "$(grep -c '^memtap_live' "$T/metrics")" 0 "and nothing is said of live blocks"

start_until "$T/said" '^ready$' ./wl_leak_live
pid=$started
attach "one session" -p $pid
kill -USR1 $pid
says "$T/said" taken
metrics
blocks=$(value memtap_live_blocks "$program") bytes=$(value memtap_live_bytes "$program")
cmp_ok "${blocks:-0}" -ge 280 "live blocks of the program: all that it took"
cmp_ok "${bytes:-0}" -ge 28000 "and their bytes"
is "$(value memtap_sessions)" 1 "one session"
is "$(value memtap_sessions_unread)" 0 "whose accounts are known"
is "$(value memtap_live_sampling_sessions)" 0 "and which keeps all blocks"
is "$(value memtap_live_programs_left_out)" 0 "no program is left out"
is "$(sum memtap_session_events_seen_total)" \
	$(($(sum memtap_session_events_counted_total) +
		$(sum memtap_session_events_filtered_total) +
		$(sum memtap_session_events_lost_total))) "seen: counted, filtered or lost"
cmp_ok "$(sum memtap_session_events_counted_total)" -ge 280 "each call was counted"
cmp_ok "$(sum memtap_session_memory_bytes)" -gt 1000000 "the tables' memory"

# another one follows the same process: what it knows is less, and is not added
memtap leaks -p $pid --json -o "$T/second" 2> "$T/second.err" &
second=$!
ready $second
metrics
is "$(value memtap_sessions)" 2 "two sessions"
is "$(value memtap_live_blocks "$program") $(value memtap_live_bytes "$program")" \
	"$blocks $bytes" "a process that two sessions follow counts once"
kill -INT $second
wait $second
detach
is "$(j space blocks) $(j space bytes)" "$blocks $bytes" "the session's own report has the same"
kill -USR2 $pid
wait $pid

# a sample, of blocks that are all alike: each stands for as many as one is kept of
start_until "$T/said" '^ready$' ./wl_leak_live
pid=$started
attach "a sample" -p $pid --sample-rate 4
kill -USR1 $pid
says "$T/said" taken
metrics
is "$(value memtap_live_sampling_sessions)" 1 "a session that samples is told"
detach
kept=$(j space blocks)
is "$(value memtap_live_blocks "$program")" $((kept * 4)) "the number of blocks is an estimate"
is "$(value memtap_live_bytes "$program")" $(($(j space bytes) * 4)) "that of bytes, too"
kill -USR2 $pid
wait $pid
metrics
is "$(value memtap_sessions)" 0 "afterwards there is no session"

echo fault > /sys/module/memtap/parameters/watch
metrics
is "$(value memtap_sessions)" 1 "the flight recorder is a session"
wait_for 20 eval 'metrics; [ "$(sum memtap_session_events_counted_total)" -gt 0 ]'
ok "and its events are counted" [ $? = 0 ]
echo > /sys/module/memtap/parameters/watch

rmmod memtap
metrics
is "$(value memtap_module_loaded)" 0 "without the module"
is "$(grep -c '^memtap_session' "$T/metrics")" 0 "nothing is said of sessions"
modprobe memtap
done_testing
