#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# brk, mmap, mremap and munmap, of 64-bit and 32-bit programs: stacks, counts and
# bytes are those that the program causes.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

# heap NAME COMMAND...: all four events in one session
heap() {
	local what=$1 event
	shift
	watch brk mmap mremap munmap -- -- "$@" -e "$T/truth"
	for event in brk mmap mremap munmap; do
		truth "$what: $event" $event $event
	done
}

for program in wl_heap wl_heap32; do
	for threads in $(also 1 2) 4; do
		heap "$program, $threads threads" "./$program" -t $threads -n 2
	done
	noise 2
	heap "$program beside noise" "./$program" -t 2 -n 3
	quiet

	# in bytes; growth by nothing is no part of a picture of growth
	run memtap stacks mmap mremap munmap -U --by comm --folded -o "$T/got" \
		-- "./$program" -n 2 -e "$T/truth"
	for event in mmap mremap munmap; do
		folded "$T/got" $event > "$T/bytes.got"
		wanted "$T/truth" $event sum | awk '$NF > 0' > "$T/bytes.wanted"
		same_file "$T/bytes.got" "$T/bytes.wanted" "$program: $event in bytes"
	done
done

# Each by the command that asks for it, alone.
watch brk -- -- ./wl_heap -n 2 -e "$T/truth"
truth "brk alone" brk
run memtap brk -U --by comm --folded --calls -o "$T/got" -- ./wl_heap -n 2 -e "$T/truth"
truth "memtap brk" brk
run memtap mmap --all -U --by comm --folded --calls -o "$T/got" -- ./wl_heap -n 2 -e "$T/truth"
for event in mmap mremap munmap; do
	truth "memtap mmap --all: $event" $event $event
done

run memtap stacks brk -K --by comm --folded --calls -- ./wl_heap -n 2 -e "$T/truth"
like "$out" '^wl_heap;([a-z0-9_]*sys|SyS)_brk_\[k\] [0-9]+$' \
	"the kernel's part of a brk() is the call's name"
run memtap stacks brk --by comm --folded --calls -- ./wl_heap -n 2 -e "$T/truth"
like "$out" ';wl_worker;wl_work;wl_brk_top;wl_brk_a;wl_brk_by;([a-z0-9_]*sys|SyS)_brk_\[k\] 6$' \
	"user and kernel frames are one chain"

# What shrank is told in numbers that have a sign.
run memtap stacks brk -U --json --top 0 -o "$T/json" -- ./wl_heap -n 2 -e "$T/truth"
sum=$(python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
print(sum(row["sum"] for row in rows
	if any(frame.get("name") == "wl_brk_shrink" for frame in row.get("user") or [])))' \
	< "$T/json")
is "$sum" "$(wanted "$T/truth" brk sum | awk '/shrink/ { print $2 }')" \
	"a heap that shrinks grows by less than nothing"
probes_clean "nothing is left attached"
done_testing
