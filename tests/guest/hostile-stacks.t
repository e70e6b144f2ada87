#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks where nobody would have them, and pages that never come: the walk ends, the
# program runs on, and memtap comes back.
# timeout: 1200
# check: newest
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/hostile.sh"
export XDG_CACHE_HOME=$T/cache

books() {
	./wl_load_books "$2" > "$T/books"
	is $? 0 "$1: the accounts add up"
	diag "$(cat "$T/books")"
}

# (a process's last page is one of its stack, where nothing is left to chance)
aslr=/proc/sys/kernel/randomize_va_space
was=$(< $aslr)
echo 2 > $aslr
echo 4 > /proc/sys/vm/nr_hugepages
modprobe fuse
mkdir "$T/fuse"
hostile ./wl_hostile_fuse "$T/fuse"
fuse=$pid

sites=("u:$PWD/wl_hostile:wl_by_sp_here" "u:$PWD/wl_hostile:wl_by_bp_here")
for how in fp rows; do
	hostile ./wl_hostile stacks "$T/fuse/file"
	tool_begin memtap record -q -o "$T/f.memtap" fault brk -U -K --unwind $how -p "$pid"
	lives "bad stacks, by $how"
	over "bad stacks, by $how"
	books "bad stacks, by $how" "$T/f.memtap"
	diag "$(./unwind_share "$T/f.memtap" | grep -v ok | tr '\n' ' ')"
done
hostile ./wl_hostile32 stacks "$T/fuse/file"
tool_begin memtap record -q -o "$T/f.memtap" fault brk -U -K -p "$pid"
lives "bad stacks of 32 bits"
over "bad stacks of 32 bits"
books "bad stacks of 32 bits" "$T/f.memtap"

# What is walked is changed by others.
for mode in "shared $(rounds 4000 20000)" "maps $(rounds 4000 20000)" \
	"signals $(rounds 60 300)" "deep $(rounds 1 3)"; do
	# shellcheck disable=SC2086
	hostile ./wl_hostile_change $mode
	tool_begin memtap record -q -o "$T/f.memtap" fault brk mmap mremap munmap -U \
		--unwind dwarf -p "$pid"
	lives "$mode"
	over "$mode"
	books "$mode" "$T/f.memtap"
	diag "$(./unwind_share "$T/f.memtap" | grep -v ok | tr '\n' ' ')"
done

# Where a probe may sleep, it must not wait for what never comes.
for never in uffd fuse; do
	for how in fp rows; do
		# each of both, and each by one
		[ "$never $how" = "uffd fp" ] || [ "$never $how" = "fuse rows" ] || thorough ||
			continue
		hostile ./wl_hostile wait "$T/fuse/file" $never
		tool_begin memtap record -q -o "$T/f.memtap" "${sites[@]}" -U --unwind $how \
			-p "$pid"
		lives "a probe, the stack in a page that never comes ($never, $how)"
		over "a page that never comes ($never, $how)"
		books "a page that never comes ($never, $how)" "$T/f.memtap"
	done
	hostile ./wl_hostile wait "$T/fuse/file" $never
	tool_begin memtap leaks --free "$PWD/wl_hostile:wl_by_sp_here(ptr=arg1)" --free-stacks \
		--json -o "$T/json" -p "$pid"
	lives "leaks, the stack in a page that never comes ($never)"
	over "leaks, a page that never comes ($never)"
done

hostile ./wl_hostile stacks "$T/fuse/file"
tool_begin memtap record -q -o "$T/f.memtap" "${sites[@]}" -U -p "$pid"
lives "probes on bad stacks"
over "probes on bad stacks"
books "probes on bad stacks" "$T/f.memtap"

# Memory that is read at the end, where something is to come that does not.
run timeout -s KILL $((600 * ${SLOW:-1})) memtap leaks --show-reachable -- ./wl_hostile exit
is "$status" 0 "leaks of a program that has such pages: a report"
like "$out" 'LEAK SUMMARY' "and a verdict"

kill $fuse
wait $fuse
echo "$was" > $aslr
probes_clean "nothing is left attached"
done_testing
