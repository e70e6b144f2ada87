#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap top` on a terminal: nothing is attached until a key asks for it; Enter shows the stacks
# of a process that faults, g and l those of its growth and of what it keeps; and however
# it ends, no session is left.
# check: newest
. "$(dirname "$0")/lib.sh"

export LC_ALL=C TERM=vt100
sessions='memtap status | grep ^sessions:'
none='^sessions: +0, not counting'

# drive NAME STEP... -- COMMAND: on a terminal of 100 x 30
drive() {
	local name=$1
	shift
	run ./pty_screen 100x30 "$@"
	is "$status" 0 "$name: the screens come"
	[ "$status" = 0 ] || diag "$out"
}
# nobody NAME: no session, no probe
nobody() {
	run bash -c "$sessions"
	like "$out" "$none" "$1: no session"
	probes_clean "$1: no probe" "${@:2}"
}

# before all: can it run here?
exits 0 "doctor: memtap can run here" memtap doctor
like "$out" '^ok +module +loaded' "doctor: sees the module"
unlike "$out" '^problem' "doctor: no problem"

./wl_noise &
noise=$!
drive "a process" 'wait 60 wl_noise' 'wait 60 KERNEL CACHE' "run $sessions" 'key \r' \
	'wait 90 wl_fault' "run $sessions" 'show' 'key w' 'wait 20 write to: memtap-' \
	'key \u' "key $T/seen.memtap\r" 'wait 60 written to' \
	'key g' 'wait 90 wl_heap' 'show' "run $sessions" 'key q' \
	'wait 60 COMMAND' "run $sessions" 'key q' 'end 60' -- memtap top -p $noise 1
screen=$out
is "$(grep -Ec "$none" <<< "$screen")" 2 "no session before Enter, and none after q"
is "$(grep -c '^sessions: *1, not counting' <<< "$screen")" 2 "one while a process is looked at"
like "$screen" "page faults of wl_noise \\($noise\\)" "whose stacks these are is said"
like "$screen" 'a counter at each page fault; tables take' "and what it costs"
like "$screen" '[0-9]+ pages?$' "pages of each stack"
like "$screen" 'growth of heap and mappings of wl_noise' "g: what it grows by"
like "$screen" 'exit 0' "q ends it"
nobody "after q" $noise
run memtap report "$T/seen.memtap"
like "$out" 'wl_fault' "w: the file has what was seen"
like "$out" "page faults: wl_noise \[$noise\]" "w: and whose it is"

# what ends a program from outside, in the middle of it
drive "SIGTERM" 'wait 60 wl_noise' 'key \r' 'wait 90 wl_fault' 'signal TERM' 'end 60' \
	-- memtap top -p $noise
like "$out" 'exit 0' "SIGTERM: as q"
nobody "after SIGTERM" $noise
drive "no terminal any more" 'wait 60 wl_noise' 'key f' 'wait 90 wl_fault' 'hangup' 'end 60' \
	-- memtap top -p $noise
nobody "after the terminal went" $noise
kill $noise

# shellcheck disable=SC2016  # perl's
perl -e 'while (1) { push @kept, "x" x 5000; select undef, undef, undef, 0.05 }' &
keeper=$!
drive "leaks" 'wait 60 perl' 'key l' 'wait 120 allocated and not freed of perl' \
	'wait 120 malloc' 'wait 60 in [0-9]+ block' 'show' 'key q' 'wait 90 COMMAND' 'key q' \
	'end 60' -- memtap top -p $keeper
like "$out" 'two traps a call of malloc and free' "l: what it costs is said"
nobody "after leaks" $keeper
drive "a process that ends" 'wait 60 perl' 'key \r' 'wait 90 a counter at each .*tables' \
	"run kill $keeper" 'wait 60 has exited' 'key q' 'wait 60 COMMAND' 'key q' 'end 60' \
	-- memtap top -p $keeper
wait $keeper 2>/dev/null
nobody "after it ended"

memtap unload
drive "without the module" 'wait 60 1 init' 'key M' 'wait 20 \*RSS' 'key \r' \
	'wait 60 not loaded; run .memtap load' 'key q' 'end 60' -- memtap top
memtap load
done_testing
