#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What an allocator reserves is no memory that it keeps: what it made writable counts.
. "$(dirname "$0")/lib.sh"

run memtap leaks --json --show-reachable -o "$T/json" -- ./wl_leak_reserved
is "$status" 0 "a report"
read -r _ arena _ own _ reserve < "$T/run.out"
space() {
	python3 -c '
import json, sys
s = max(json.load(open(sys.argv[1]))["leaks"]["spaces"], key=lambda s: s["vm_after"])
print(eval(sys.argv[2], {}, s))' "$T/json" "$1"
}
is "$(space 'allocator_bytes >> 20')" 64 "the arena is address space,"
is "$(space 'allocator_bytes - allocator_reserved')" "$arena" "and memory as far as it is writable"
# the thread's stack may have a page that nobody may touch, as libc makes it
case $(($(space maps_reserved) - reserve + own)) in
	0 | 4096) pass "so is the program's reservation" ;;
	*) is "$(space maps_reserved)" $((reserve - own)) "so is the program's reservation" ;;
esac

run memtap leaks --show-reachable -- ./wl_leak_reserved
part='[0-9.]+ [KM]iB'
like "$out" "its allocators mapped $part(, together $part)? \(and 6[0-9]\.[0-9] MiB only reserved" \
	"the foot says so"
like "$out" 'the program mapped [0-9.]+ MiB in [0-9]+ ranges, 62\.0 MiB of it only reserved' \
	"of the program's mappings, too"
row='67108864 bytes in 1 mapping from stack'
like "$out" "$row, [a-z ]+; 1048576 bytes resident, 66060288 only reserved" \
	"a row tells what is resident from what is only reserved"
is "$(python3 -c '
import json, sys
for row in json.load(open(sys.argv[1]))["rows"]:
    if row["event"] == "mappings" and row["sum"] == 64 << 20:
        print(row["resident"], row["swapped"])' "$T/json")" '1048576 0' "so does JSON"
run memtap leaks --show-reachable -- sh -c 'exec ./wl_leak_reserved'
like "$out" "; 1048576 bytes resident, 66060288 only reserved" "also behind execve()"
unlike "$out" 'keep the other 6[0-9]' "it is not what allocators keep"
# an arena that was there before memtap came, and grows
start_until "$T/said" '^ready$' ./wl_leak_reserved before
pid=$started
memtap leaks --json --older 0 -p $pid -o "$T/json" 2> "$T/err" &
tool=$!
ready $tool 60
kill -USR1 $pid
wait_for 60 grep -q grew "$T/said"
kill -INT $tool
wait $tool
grew=$(awk '$1 == "grew" { print $2 }' "$T/said")
cmp_ok "${grew:-0}" -gt 700000 "an arena from before grew"
is "$(space earlier_arenas_grew)" "$grew" "by what the program says"
kill -USR1 $pid
wait $pid

probes_clean "nothing is left attached"
done_testing
