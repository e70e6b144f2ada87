#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A program that a signal ends is looked at as one that calls exit(): by its own fault or
# from outside, whichever thread has the blocks; it ends by that signal all the same.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

# died CASE SIGNAL
died() {
	run memtap leaks "${leak_all[@]}" -- ./wl_leak_died "$1"
	is "$status" $((128 + $2)) "$1: the program's exit status"
	status=0
	leak_books "$1"
	if [ "$held" ]; then
		is "$(j kinds_of take_forty)" 'reachable 40 4000' \
			"$1: what a stack has is reachable"
		is "$(j kinds_of drop_twenty)" 'definite 20 1000' "$1: what nobody has is lost"
	else
		is "$(j kinds_of take_forty) $(j kinds_of drop_twenty)" \
			'unknown 40 4000 unknown 20 1000' \
			"$1: of no block it is said that it is lost"
		skip "$1: which are lost" \
			"this kernel lets nobody wait at a signal (task_work_add)"
	fi
}
held=$(memtap status | grep '^features:.*ended by a signal')

died abort 6
died fault 11
[ "$SMOKE" ] || {
	died trap 4
	died itself 15
	died waits 14
	died runs 14
}
died sleeping-thread 15
died running-thread 14
died thread-aborts 6

# SIGKILL waits for nobody
run memtap leaks -- ./wl_leak_died killed
is "$status" 137 "SIGKILL: the program's exit status"
like "$out" 'killed by SIGKILL' "and what was lost is not known"
unlike "$out" 'definitely lost' "so that nothing is said of it"

# who survives is looked at when it ends
leaks saved -- ./wl_leak_died saved
is "$status" 0 "a handler that goes on"
is "$(j kinds_of take_forty)" 'definite 40 4000' "the end counts"

exits 134 "--no-pause" memtap leaks --no-pause -- ./wl_leak_died abort
unlike "$out" 'definitely lost' "--no-pause: it is not held"

# Who dies while the tool dies goes on dying; nobody has the module any more.
memtap leaks -o "$T/out" -- ./wl_leak_died runs > /dev/null 2>&1 &
tool=$!
ready $tool
kill -KILL $tool
wait $tool
no_program() { ! pgrep -x wl_leak_died; }
ok "the tool is killed: the program ends" wait_for 60 no_program
probes_clean "nothing is left attached"
done_testing
