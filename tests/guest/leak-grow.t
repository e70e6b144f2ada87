#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What becomes more is said of the blocks that it is true of: a leak behind a cache of the same
# stack, beside a cache that was full before, by realloc(), of workers that exit, of many threads.
# check: ends
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

start() {
	start_until "$T/said" '^ready$' ./wl_leak_grow "$@"
	pid=$started
}
# main_of FUNCTION: the verdict of its row with most blocks
main_of() { j trends_of "$1" | sort -n | tail -n 1 | cut -d' ' -f3-; }
# trend FUNCTION FIELD: of that row's trend
trend() {
	python3 -c '
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"] if r["event"] == "heap" and
        any(f.get("name") == sys.argv[2] for f in r["user"])]
print(max(rows, key=lambda r: r["count"])["trend"].get(sys.argv[3], "none"))' "$T/json" "$1" "$2"
}

# watch NAME [old]: for so long that each part of the time has some blocks
watch() {
	start ${2:+"$2"}
	attach "$1" -p $pid --children --unreachable --max-pause 20000 -d 32
	kill -USR1 $pid
	status=0
	wait $tool || status=$?
	leak_books "$1"
	kill -KILL $pid
	wait $pid 2> /dev/null
}

watch "side by side"
is "$(main_of grow_behind)" 'growing, maybe a cache' "behind a cache of the same stack: growing" ||
	diag "$(j trends_of grow_behind; trend grow_behind survivors)"
isnt "$(trend grow_behind settled_ns)" none "from some age on"
is "$(main_of grow_lost)" leaking "lost: leaking"
# (where it was moved once more since its process was looked at, nobody knows who has it)
like "$(main_of grow_buffer)" '^growing(, maybe a cache)?$' \
	"a buffer that realloc() makes larger" || diag "$(j trends_of grow_buffer)"
cmp_ok "$(trend grow_buffer larger_bytes)" -gt 65536 "by how much is told"
is "$(j trends_of grow_worker)" '' "workers that have exited are in no row"
cmp_ok "$(j value leaks exited blocks)" -ge 500 "but in a sum"

watch "beside a cache that was full before" old
is "$(main_of grow_lost)" leaking "beside a cache that was full before: leaking" ||
	diag "$(j trends_of grow_lost; trend grow_lost survivors)"
is "$(main_of grow_old)" 'growing or replacing' "that cache: new blocks may be for old ones" ||
	diag "$(j trends_of grow_old; trend grow_old survivors)"

# more threads than there were slots for
start 1500
run memtap leaks --json --older 0 -p $pid -d 8 -o "$T/json"
is "$status" 0 "many threads" || diag "$err"
is "$(j lost no-thread)" 0 "many threads: each has a slot" || diag "$(j value memory threads_used)"
cmp_ok "$(j value memory threads_used)" -ge 1500 "all are known"
kill -KILL $pid
wait $pid 2> /dev/null
run memtap leaks --json --older 0 --max-mem 8M -p $$ -d 0.1 -o "$T/json"
cmp_ok "$(j value memory total)" -le $((8 << 20)) "what is asked for is kept within"

probes_clean "nothing is left attached"
done_testing
