#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The programs of the articles, as one meets them: they run, memtap attaches, looks a
# while, and names who leaks; of the repaired ones it says that there is nothing.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

# article PROGRAM: memleak's way, three reports while it runs; then one in JSON
article() {
	./wl_leak_int "$1" 1000000 50000 &
	pid=$!
	run memtap leaks -p $pid 1 3
	is "$status" 0 "$1: reports at intervals"
	text=$out
	attach "$1" --older 100 -p $pid
	wait_for 300 some $tool
	sleep 1		# they are to be older than that
	detach
	kill $pid
	wait $pid 2> /dev/null
}
# so much that it counted
some() { [ "$(counted "$1")" -ge 12 ]; }
# stack LINES FUNCTIONS...: are they in the report, one below the other?
stack() {
	local text=$1
	shift
	awk -v list="$*" 'BEGIN { n = split(list, f, " "); i = 1 }
		i <= n && $0 ~ "(^|[^a-zA-Z0-9_])" f[i] "([^a-zA-Z0-9_]|$)" { i++ }
		END { exit i <= n }' <<< "$text"
}
article loop
ok "loop: leak() under someFunc()" stack "$text" leak someFunc main
cmp_ok "$(j blocks_of leak)" -ge 3 "loop: some, while we looked"
is "$(j bytes_of leak)" "$((4 * $(j blocks_of leak)))" "loop: an int each time"
article loop-repaired
not_ok "loop, repaired: nothing" stack "$text" leak
cmp_ok "$(j blocks_of main)" -le 1 "loop, repaired: no more than it works with"

article thread
ok "thread: fibonacci() under child()" stack "$text" fibonacci child
cmp_ok "$(j blocks_of fibonacci)" -ge 3 "thread: some, while we looked"
is "$(j bytes_of fibonacci)" "$((8192 * $(j blocks_of fibonacci)))" "thread: 8 KiB each time"
article thread-repaired
cmp_ok "$(j blocks_of fibonacci)" -le 3 "thread, repaired: no more than it works with"

# To their end: exactly.
for case in loop:leak:4 thread:fibonacci:8192; do
	IFS=: read -r program function size <<< "$case"
	leaks "$program to its end" -- ./wl_leak_int $program 20 1000
	is "$(j blocks_of $function) $(j bytes_of $function)" "20 $((20 * size))" \
		"$program to its end: 20 times $size bytes"
	leaks "$program-repaired to its end" -- ./wl_leak_int $program-repaired 20 1000
	is "$(j blocks_of $function)" 0 "$program-repaired to its end: nothing"
done
probes_clean "nothing is left attached"
done_testing
