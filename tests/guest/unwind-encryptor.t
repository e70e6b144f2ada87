#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A program that grows, written with streams and containers, without frame pointers
# and with libraries as they are shipped: memtap names who is at fault, through them.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

export XDG_CACHE_HOME=$T/cache
MIB=8
CHUNKS=$((MIB * 4))
head -c ${MIB}M /dev/urandom > "$T/in"
./wl_unwind_encryptor "$T/in" "$T/out" 2> /dev/null
./wl_unwind_repaired "$T/in" "$T/repaired" 2> /dev/null
same_file "$T/repaired" "$T/out" "both encrypt to the same"

# of PROGRAM COMMAND: folded calls, into $T/got
of() {
	run memtap "$2" -U --by comm --folded --calls -o "$T/got" -- "./$1" "$T/in" "$T/out"
	[ "$status" = 0 ] || diag "exit status $status: $(tail -n 5 "$T/run.err")"
}
calls() { awk -v re="${1:-.}" '$0 ~ re { n += $NF } END { print n + 0 }' "$T/got"; }
# names LEAST NAME REGEXP: so many calls are under these names
names() {
	cmp_ok "$(calls "$3")" -ge "$1" "$2"
	[ "$(calls "$3")" -ge "$1" ] || diag "$(sort -t' ' -k2 "$T/got" | tail -n 8 | cut -c1-700)"
}
# newer ones of libc's malloc() have the rest in a function of its own, of whose name only
# debuginfo knows
malloc='(malloc|__libc_malloc2|.libc)'
way=';main;.*encrypt_file.*;.*'

for command in brk mmap faults; do
	of wl_unwind_encryptor $command
	broken=$(calls)
	case $command in
		brk)
			names 2 "brk: the tags, in read_in_chunks through malloc" \
				"${way}read_in_chunks.*;operator new.*;$malloc.*brk [0-9]+$"
			names 1 "brk: the sums, in process_chunk through malloc" \
				"${way}process_chunk.*;operator new.*;$malloc.*brk [0-9]+$" ;;
		mmap)
			names $((CHUNKS - 2)) "mmap: the chunks, in read_in_chunks through malloc" \
				"${way}read_in_chunks.*;operator new.*;$malloc.*mmap.* [0-9]+$"
			names 3 "mmap: the output, in process_chunk through a stream and malloc" \
				"${way}process_chunk.*::write.*;operator new.*;$malloc.*mmap" ;;
		faults)
			names $((MIB * 200)) "faults: the chunks, in read_in_chunks" \
				"${way}read_in_chunks"
			names $((MIB * 200)) "faults: the output, in process_chunk by a stream" \
				"${way}process_chunk.*::write.*;.*buf.*xsputn" ;;
	esac
	cmp_ok "$(calls 'stack truncated')" -le $((broken / 200)) "$command: stacks are complete"
	of wl_unwind_repaired $command
	cmp_ok "$(calls)" -lt $((broken / 2)) "$command: the repaired one grows less"
	cmp_ok "$(calls "${way}(read_in_chunks|process_chunk)")" -gt 0 \
		"$command: what is left there has its names, too"
done
probes_clean "nothing is left attached"
done_testing
