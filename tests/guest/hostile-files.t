#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files that look like programs, mapped by a process that is watched, and asked about:
# a report or a sentence, before long, and within bounds of memory.
# timeout: 1200
# kernels: 6.1 7.2
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/hostile.sh"

hostile_files small
diag "${#files[@]} files"
watched "files of all kinds" "${files[@]/#/$T/f/}"
# tried COMMAND...: a report or a sentence, or it goes to $wrong
tried() {
	run timeout $((600 * ${SLOW:-1})) "$@"
	case $status in
		0) ;;
		1) [ -n "$err" ] || wrong+="$*: no sentence; " ;;
		*) wrong+="$*: exit status $status; " ;;
	esac
}
wrong='' nr=0
every=$(rounds 3 1)
for file in "${files[@]}"; do
	# in make check tests/unit/test_hostile_files.sh asks these two
	if thorough; then
		tried memtap unwind "$T/f/$file" --no-cache
		tried memtap list "$T/f/$file"
	fi
	[ $((nr++ % every)) != 0 ] || tried memtap stacks "u:$T/f/$file:wl_load_sum" -d 0.1
done
is "$wrong" '' "of each a report or a sentence, by unwind, list, and as a probe's place"

# Another thing has the name of what is mapped.  A watchdog is one that tells of its being
# opened; this one does nothing but tell.
others=(fifo directory)
modprobe softdog soft_noboot=1 || diag "this kernel has no softdog"
softdog=$(grep -lsx 'Software Watchdog' /sys/class/watchdog/*/identity)
softdog=${softdog%/identity}
if [ -n "$softdog" ]; then
	others+=(watchdog)
	IFS=: read -r major minor < "$softdog/dev"
else
	skip "a watchdog's name"
fi
unopened() {
	[ $other != watchdog ] || is "$(< "$softdog/state")" inactive "nobody opened it $1"
}
for other in "${others[@]}"; do
	cp wl_load_lib.so "$T/f/gone"
	hostile ./wl_hostile files "$T/f/gone"
	rm "$T/f/gone"
	case $other in
		fifo) mkfifo "$T/f/gone" ;;
		directory) mkdir "$T/f/gone" ;;
		watchdog) mknod "$T/f/gone" c "$major" "$minor" ;;
	esac
	tool_begin memtap record -q -o "$T/r.memtap" fault brk -U -p "$pid"
	unopened "before it is recorded"
	kill -USR1 "$pid"
	wait "$pid" || true
	# the program itself did
	[ $other != watchdog ] || printf V > "$T/f/gone"
	over "a $other of the same name"
	bounded "a $other of the same name: the report" 0 -- memtap report "$T/r.memtap" -o "$T/out"
	bounded "unwind a $other" 0 1 -- memtap unwind "$T/f/gone"
	bounded "list a $other" 0 1 -- memtap list "$T/f/gone"
	bounded "a probe in a $other" 1 -- memtap stacks "u:$T/f/gone:main" -d 0.1
	bounded "to run a $other" 1 -- memtap stacks fault -- "$T/f/gone"
	unopened "afterwards"
	rm -rf "$T/f/gone"
done
probes_clean "nothing is left attached"
done_testing
