#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In tests of other programs: what the exit status says, what can be left out, and
# the summary that Memcheck's readers know.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

exits 0 "leaks alone are no failure" memtap leaks -- ./wl_leak_int loop 3 10
exits 42 "--error-exitcode: there are leaks" \
	memtap leaks --error-exitcode 42 -- ./wl_leak_int loop 3 10
exits 0 "--error-exitcode: there are none" \
	memtap leaks --error-exitcode 42 -- ./wl_leak_int loop-repaired 3 10
exits 42 "--error-exitcode: frees that cannot be right" \
	memtap leaks --error-exitcode 42 -- ./wl_leak_bad family

printf '# known\nleak:someFunc\n' > "$T/suppressions"
exits 0 "suppressed" memtap leaks --suppressions "$T/suppressions" \
	--error-exitcode 42 -- ./wl_leak_int loop 3 10
like "$out" 'someFunc' "suppressed: by which line"
unlike "$out" '^[[:space:]]+(0x[0-9a-f]+[[:space:]]+)?leak\+' "suppressed: not in the report"
printf 'leak:otherFunc\n' > "$T/suppressions"
exits 42 "another's suppression" memtap leaks --suppressions "$T/suppressions" \
	--error-exitcode 42 -- ./wl_leak_int loop 3 10

run memtap leaks -- ./wl_leak_mem plain
like "$out" 'LEAK SUMMARY' "there is a summary"
like "$out" 'definitely lost: 114 bytes in 5 blocks' "definitely lost"
like "$out" 'indirectly lost: 160 bytes in 5 blocks' "indirectly lost"
like "$out" 'possibly lost: 100 bytes in 1 block' "possibly lost"
like "$out" 'still reachable: 161 bytes in 6 blocks' "still reachable"

# What the program says with its exit status and its output stays the program's.
exits 2 "the program's own exit status" memtap leaks -- ./wl_leak_mem no-such-case

# What is not followed may hide what it points to.
run memtap leaks --obj c -- ./wl_leak_mem plain
like "$out" 'not all blocks are followed' "--obj: what is lost is not claimed to be known"

# Recorded, it is the same afterwards.
run memtap record --leaks -o "$T/f.memtap" -- ./wl_leak_mem plain
is "$status" 0 "record"
run memtap report "$T/f.memtap"
like "$out" 'definitely lost: 114 bytes in 5 blocks' "report: the same summary"
run memtap report --json --top 0 -o "$T/json" "$T/f.memtap"
leak_books "report"
[ -d memcheck.d ] && {
	j memcheck > "$T/got"
	same_file "$T/got" memcheck.d/plain "report: the same numbers"
}

exits 2 "the kernel, and a process" memtap leaks -k -p 1
one_sentence "no target: says what to do"
exits 2 "--alloc without a size" memtap leaks --alloc 'f(ptr=ret)' -- true
probes_clean "nothing is left attached"
done_testing
