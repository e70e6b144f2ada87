#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is called lost and is not, what is called reachable and is lost, who is accused and
# has done nothing wrong: places where a program keeps addresses that are easily
# overlooked, or where it left some; allocators over allocators; and what the summary and
# the exit status make of it.
# check: newest
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

# verdict NAME WANTED CASE: what became of the forty blocks; nothing else is lost
verdict() {
	local name=$1 wanted=$2
	leaks "$name" --error-exitcode 9 -- ./wl_leak_roots "$3"
	is "$(j kinds_of take_forty)" "$wanted" "$name"
	[ "$wanted" != 'reachable 40 4000' ] ||
		is "$(j kinds | grep -v '^reachable')" '' "$name: nothing is lost"
}
all='reachable 40 4000'

verdict "a thread that runs" "$all" busy
if kver_ge 4.1; then
	verdict "a register of a thread that runs" "$all" busy-register
else
	skip "a register of a thread that runs" "an interrupt does not save all of them here"
fi
verdict "a register of a thread that sleeps" "$all" asleep-register
verdict "sbrk() behind malloc's memory" "$all" sbrk-behind
verdict "sbrk() between two pieces of it" "$all" sbrk-between
verdict "sbrk() before it" "$all" sbrk-before
verdict "shared memory in no page table" "$all" shared
verdict "a shared file's" "$all" shared-file
verdict "a memfd's" "$all" shared-memfd
verdict "System V's" "$all" shared-sysv
# since 6.12 a kernel may be built so that this takes a debugger, or cannot be done
if grep -qs 'CONFIG_PROC_MEM_NO_FORCE=y' "/boot/config-$(uname -r)"; then
	skip "a block that nobody may read" "this kernel lets nobody read it"
else
	verdict "a block that nobody may read" "$all" protected
fi
verdict "a register of who calls exit()" "$all" in-register
verdict "the stack of a handler that ends the program" "$all" in-handler
verdict "beside libraries that came by dlopen()" "$all" dlopen

exits 9 "left on the stack below exit(): lost" memtap leaks "${leak_all[@]}" \
	--error-exitcode 9 -- ./wl_leak_roots stale
is "$(j kinds_of take_forty)" 'definite 40 4000' "all of it"

exits 9 "a mapping that is lost: --error-exitcode" \
	memtap leaks --error-exitcode 9 -- ./wl_leak_roots mapping
like "$out" 'definitely lost: 1,048,576 bytes in 1 mapping' "a line of the summary"
unlike "$out" 'nothing has leaked' "which does not say that nothing was"
exits 0 "none that is lost" memtap leaks --error-exitcode 9 -- ./wl_leak_int loop-repaired 3 10

run memtap leaks -- ./wl_leak_roots inside
like "$out" '16 bytes inside a block of 64' "free() inside a block says so"

# by another name of its file
ln -s "$here/wl_leak_roots" "$T/another"
run memtap leaks -- "$T/another" stale
like "$out" 'take_forty\+0x[0-9a-f]+ \[another\]' "a program goes by the name it was started by"
like "$out" 'LEAK SUMMARY of another ' "also in the summary"

for case in header pool; do
	leaks "own operator new: $case" --error-exitcode 9 -- ./wl_leak_new "$case"
	no_mismatch "own operator new: $case: nothing is wrong"
	is "$(j call allocs new new[]) $(j call frees delete delete[])" "6 6" \
		"own operator new: $case: what is handed out is taken back"
	is "$(j kinds | grep -v '^reachable')" '' "own operator new: $case: nothing is lost"
done
leaks "new throws" --error-exitcode 9 -- ./wl_leak_aligned throws
no_mismatch "new throws: nothing is wrong"
is "$(j call allocs new) $(j call failed new) $(j lost left)" "0 13 0" \
	"new throws: it hands out nothing, and nothing is lost"
exits 9 "aligned new" memtap leaks "${leak_all[@]}" --error-exitcode 9 -- \
	./wl_leak_aligned sizes
is "$(j kinds | grep -v '^reachable')" 'definite 10 10' "aligned new: what was asked for counts"

probes_clean "nothing is left attached"
done_testing
