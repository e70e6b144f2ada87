#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# brk, mmap, mremap and munmap, of 64-bit and 32-bit programs: stacks, counts and
# bytes are those that the program causes.
# timeout: 600
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

# all_of WHAT COMMAND...: each event by calls
all_of() {
	local what=$1 event
	shift
	for event in brk mmap mremap munmap; do
		watch $event -- "$@"
		truth "$what: $event" $event "$T/got" "$T/truth"
	done
}

for program in wl_heap wl_heap32; do
	for threads in 1 2 4; do
		all_of "$program, $threads threads" -- "./$program" -t $threads -n 2 -e "$T/truth"
	done
	noise 2
	all_of "$program beside noise" -- "./$program" -n 3 -e "$T/truth"
	quiet

	# bytes; what shrinks or grows by nothing is no part of a picture of growth
	for event in mmap mremap munmap; do
		run memtap stacks $event -U --by comm --folded -o "$T/got" -- "./$program" -n 2 -e "$T/truth"
		folded "$T/got" > "$T/bytes.got"
		wanted "$T/truth" $event sum | awk '$NF > 0' > "$T/bytes.wanted"
		same_file "$T/bytes.got" "$T/bytes.wanted" "$program: $event in bytes"
	done
done

# All in one session, by the command that asks for them.
run memtap mmap --all -U --by comm --folded --calls -o "$T/got" -- ./wl_heap -n 2 -e "$T/truth"
is "$status" 0 "memtap mmap --all works"
folded "$T/got" roots > "$T/all.got"
{ wanted "$T/truth" mmap; wanted "$T/truth" mremap; wanted "$T/truth" munmap; } |
	LC_ALL=C sort > "$T/all.wanted"
same_file "$T/all.got" "$T/all.wanted" "memtap mmap --all: all three"
run memtap brk -U --by comm --folded --calls -o "$T/got" -- ./wl_heap -n 2 -e "$T/truth"
truth "memtap brk" brk "$T/got" "$T/truth"

run memtap stacks brk -K --by comm --folded --calls -- ./wl_heap -n 2 -e "$T/truth"
like "$out" '^wl_heap;[a-z0-9_]*sys_brk_\[k\] [0-9]+$' "the kernel's part of a brk() is the call's name"
run memtap stacks brk --by comm --folded --calls -- ./wl_heap -n 2 -e "$T/truth"
like "$out" ';wl_worker;wl_brk_top;wl_brk_a;wl_brk_by;[a-z0-9_]*sys_brk_\[k\] 6$' \
	"user and kernel frames are one chain"
done_testing
