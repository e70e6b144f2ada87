#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How a watching run ends: times that nobody waits for, pipes that nobody reads.
# check: ends
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

# --- times beyond what a clock of 64 bits has
for options in "99999999999" "-d 99999999999"; do
	# shellcheck disable=SC2086
	memtap stat fault $options > "$T/out" 2>&1 &
	tool=$!
	ready $tool
	end
	is $? 0 "stat $options: Ctrl-C ends it"
done
run memtap stat fault 99999999999 -- ./wl_call -n 2
is "$status" 0 "an interval of thousands of years: the program ends it"
# --- a pipe that nobody reads any more: one sentence, status 1, the program is ended
# unread NAME LINES COMMAND...: only so many lines of what it prints are read
unread() {
	local name=$1 lines=$2
	shift 2
	# shellcheck disable=SC2016  # the inner shell's
	"$@" -- sh -c 'echo $$ > "$1"; exec ./wl_leak_spin' sh "$T/pid" 2> "$T/err" |
		head -n "$lines" > "$T/head"
	status=${PIPESTATUS[0]}
	is "$status" 1 "$name: status 1"
	is "$(grep -c 'standard output: Broken pipe' "$T/err")" 1 "$name: says so"
	ok "$name: the program is ended" wait_gone 300 "$(cat "$T/pid")"
}
unread "faults" 3 memtap faults 0.2
unread "stat" 2 memtap stat fault 0.2
unread "stat --json" 2 memtap stat --json fault 0.2
unread "leaks --trace" 2 memtap leaks --trace
unread "leaks" 2 memtap leaks 0.2

# --- what is launched finds the signal as we did
is "$(memtap stat fault -o /dev/null -- grep SigIgn /proc/self/status)" \
	"$(grep SigIgn /proc/self/status)" "the program's signals are as they were"
trap '' PIPE
is "$(memtap stat fault -o /dev/null -- grep SigIgn /proc/self/status)" \
	"$(grep SigIgn /proc/self/status)" "also where it was ignored before"
probes_clean "nothing is left attached"
done_testing
