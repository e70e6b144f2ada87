#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Frees that cannot be right are told with all their stacks, and no other.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

wrong() {
	local case=$1
	shift
	leaks "$case" "$@" -- ./wl_leak_bad "$case"
	./wl_leak_bad "$case" 2> /dev/null | sort > "$T/bad.wanted"
	j mismatches bad_ 2>&1 | sort > "$T/bad.got"
	same_file "$T/bad.got" "$T/bad.wanted" "$case: kind, stacks"
}
wrong double
wrong unknown
wrong own --alloc ./wl_leak_bad:own_take'(size=arg1,ptr=ret)' \
	--free ./wl_leak_bad:own_give'(ptr=arg1)'
wrong family
wrong first
wrong wrapped
wrong moved
# libc ends the program in there
run memtap leaks "${leak_all[@]}" -- ./wl_leak_bad dies
is "$status" 134 "dies: by SIGABRT"
is "$(j mismatches bad_)" "unknown bad_realloc bad_malloc -" \
	"dies: what realloc() was given is told"

run memtap leaks -- ./wl_leak_bad double
like "$out" 'bad_free_again' "text: the second free"
like "$out" 'bad_malloc' "text: who had asked for it"
like "$out" 'bad_free$|bad_free ' "text: the first free"

# C++ that is right, in all forms, and with allocators that have new of their own
libs=("")
for lib in /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 /usr/lib/x86_64-linux-gnu/libtcmalloc.so.4; do
	[ -e "$lib" ] && libs+=("$lib")
done
is ${#libs[@]} 3 "there are jemalloc and tcmalloc"
for lib in "${libs[@]}"; do
	name=${lib##*/}
	name=${name:-glibc}
	for program in "./wl_leak_mem_cxx clean" \
		"./wl_leak -f no-pvalloc -n 1 -t 2 -e /dev/null"; do
		# shellcheck disable=SC2086
		LD_PRELOAD=$lib leaks "$name: $program" -- $program
		no_mismatch "$name: $program: nothing wrong"
	done
done

# and programs as they are shipped, unless leak-memcheck runs them
. ./leak-programs
[ -d memcheck.d ] || leak_repository
while [ ! -d memcheck.d ] && read -r name _ command; do
	[[ $command = /usr/bin/* || $command = /bin/* ]] || continue
	# shellcheck disable=SC2086
	leaks "$name" -- $command
	no_mismatch "$name: nothing wrong"
done < <(leak_programs)

probes_clean "nothing is left attached"
done_testing
