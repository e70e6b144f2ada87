#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# C++ with frame pointers, on libraries that have none: whoever asked operator new is
# in the stack; and exceptions come through, whatever allocator is below.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

# named HOW: each function has the blocks and bytes that it told; DIRECT: only those
# that call operator new themselves
named() {
	local function blocks bytes way
	while read -r function blocks bytes way; do
		[ -n "$bytes" ] || continue
		[ "$2" = all ] || [ "$way" = "$2" ] || continue
		# where operator new is an allocator of its own, what is called there is its matter
		[ "$way" != handler ] || [ -z "$LD_PRELOAD" ] || continue
		is "$(j blocks_of "$function") $(j bytes_of "$function")" "$blocks $bytes" \
			"$1: $function"
	done < "$T/told"
}
survives() {
	is "$(tail -n 1 "$T/told")" "done" "$1: an exception comes through"
}
cxx() {
	local name=$1
	shift
	leaks "$name" "$@" -- ./wl_leak_cxx
	cp "$T/run.out" "$T/told"
	survives "$name"
}

for lib in "" libjemalloc.so.2 libtcmalloc.so.4; do
	export LD_PRELOAD=${lib:+/usr/lib/x86_64-linux-gnu/$lib}
	cxx "${lib:-glibc} by rows"
	named "${lib:-glibc} by rows" all
	no_mismatch "${lib:-glibc}: nothing wrong"
done
unset LD_PRELOAD
cxx "by frame pointers" --unwind fp
named "by frame pointers" direct
probes_clean "nothing is left attached"
done_testing
