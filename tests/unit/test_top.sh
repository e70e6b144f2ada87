#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap top` on a terminal, and without one: the part that needs no module.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=build/memtap
work=$(mktemp -d)
sleep 1000 &
other=$!
trap 'kill $other; rm -rf "$work"' EXIT
export LC_ALL=C

# drive NAME SIZE STEP... -- COMMAND: see pty_screen
drive() {
	local name=$1
	shift
	out=$(timeout 120 tests/guest/pty_screen "$@" 2>&1)
	local rc=$?
	[ $rc = 0 ] || sed 's/^/# /' <<< "$out"
	check $rc "$name"
}
has() {
	grep -Eq -- "$1" <<< "$out"
	check $? "$2"
}

if ! $tool top --help | grep -q Enter; then
	check 1 "top: there is such a command"
fi
if TERM=vt100 tests/guest/pty_screen 80x24 'end 20' show -- $tool top |
	grep -q 'without ncurses'; then
	check 0 "on a terminal # SKIP built without ncurses"
else
	for term in vt100 xterm-256color; do
		export TERM=$term
		drive "$term: looks, orders, helps, quits" 80x24 'wait 20 KERNEL CACHE' \
			'wait 20 MiB' 'key M' 'wait 20 \*RSS' 'key >' 'wait 20 \*\+HEAP' 'key N' \
			'wait 20 \*PID' 'key ?' 'wait 20 any key goes back' 'key x' \
			'wait 20 COMMAND' 'key s' 'wait 20 seconds between' 'key 0.5\r' \
			'wait 20 every 0.5 s' 'key s' 'key x\r' 'wait 20 seconds: 0.1 or more' \
			'key q' 'end 20' -- $tool top
		has '^exit 0' "$term: with status 0"
		drive "$term: a filter, and a terminal that shrinks and grows" 80x24 \
			'wait 20 COMMAND' "key p$other\\r" "wait 20 $other sleep" \
			'key p' 'key \unobody_is\r' 'wait 20 no process matches the filter' \
			'size 40x10' 'wait 20 avail' 'show' 'size 120x40' 'wait 20 SWAP' 'key q' \
			'end 20' -- $tool top
	done
	export TERM=vt100
	drive "a process by -p, and no module" 80x24 "wait 20 $other sleep" 'key \r' \
		'wait 20 (module is not loaded|not permitted)' 'key w' 'wait 20 Enter on one' \
		'key q' 'end 20' -- $tool top -p "$other" 1
	for signal in INT TERM HUP; do
		drive "SIG$signal: ends it" 80x24 'wait 20 COMMAND' "signal $signal" 'end 20' \
			-- $tool top
		has '^exit 0' "SIG$signal: as q does"
	done
	drive "a terminal that goes away ends it" 80x24 'wait 20 COMMAND' hangup 'end 20' \
		-- $tool top
	for term in dumb no-such; do
		TERM=$term drive "$term: a terminal without a cursor" 100x100 'end 20' show \
			-- $tool top 0.2 2
		has "^memtap: the terminal '$term' has no cursor control" "$term: says so"
		[ "$(grep -c '^memtap top: ' <<< "$out")" = 2 ]
		check $? "$term: and prints text, as often as was asked"
		has '^exit 0' "$term: with status 0"
	done
fi

# --- no terminal
$tool top 0.2 2 > "$work/out" 2> "$work/err" < /dev/null
check $? "batch: two looks"
[ "$(grep -c '^memtap top: ' "$work/out")" = 2 ] && [ ! -s "$work/err" ] &&
	! grep -q "$(printf '\033')" "$work/out"
check $? "batch: plain text, as often as was asked"
$tool top --json 0.2 3 < /dev/null | python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
assert len(lines) == 3
for look in lines:
    assert look["total"] >= look["free"] and look["processes"]
'
check $? "batch: JSON, a line for each look"
$tool top -p "$other" 0.2 1 < /dev/null | grep -q "$other sleep"
check $? "batch: -p"
timeout 20 $tool top 0.1 < /dev/null 2> "$work/err" | head -n 1 > /dev/null
[ "$(wc -l < "$work/err")" = 1 ]
check $? "batch: nobody reads on: one sentence"
checked
