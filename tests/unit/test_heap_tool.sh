#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap heap` of programs of this machine: a page, JSON as it is described, refusals.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=build/memtap
work=$(mktemp -d)
mkfifo "$work/never"
start_until "$work/said" ready \
	bash -c 'exec 2>&1; x=$(seq 10000); echo ready; read -r _ <> "$1"' - "$work/never"
pid=$started
trap 'kill $pid ${large:-} ${case:-} ${meant:-} 2> /dev/null; rm -r "$work"' EXIT

if ! $tool heap $pid -o "$work/page" 2> "$work/err" &&
	grep -q 'ptrace() is not allowed' "$work/err"; then
	check 0 "nobody can be stopped here # SKIP no ptrace()"
	checked
	exit
fi
grep -q "^bash\[$pid\]: glibc's malloc" "$work/page" && grep -q '^main ' "$work/page"
check $? "a page of bash"
$tool heap $pid --json --top 3 -q > "$work/json" && tests/json-check "$work/json"
check $? "JSON as it is described"
$tool heap $pid --json --no-unreachable -q > "$work/json" && tests/json-check "$work/json" &&
	! grep -q reachable "$work/json"
check $? "also without what is reachable"
grep -q '"method":"\(changed\|again\)"' "$work/json"
check $? "of a copy"

# ---- heaps of all kinds: see heap_cases.c ----

# begin KIND: $case is the program, $meant the process whose heap it is
begin() {
	start_until "$work/said" '^ready' "$work/cases" "$1"
	case=$started
	meant=$(sed -n 's/^ready //p' "$work/said")
}
end() {
	kill $case $meant 2> /dev/null
	wait $case 2> /dev/null
	case='' meant=''
}
# look KIND STATUS EXPRESSION NAME: what `memtap heap --json` says, as d
look() {
	local status

	begin "$1"
	$tool heap "$meant" --json -q --max-pause 20000 > "$work/json" 2> "$work/err"
	status=$?
	[ $status = "$2" ] && tests/json-check "$work/json" &&
		python3 -c "import json; d = json.load(open('$work/json')); a = d['arenas']
assert ($3), d" 2> "$work/why"
	check $? "$4"
	[ $status = "$2" ] || echo "# exit status $status: $(< "$work/err")"
	end
}

${CC:-cc} -O1 -g -pthread -o "$work/cases" tests/unit/heap_cases.c -ldl
check $? "heaps of all kinds are made"
lost="d['unreachable_blocks'] == 50"
look plain 0 "d['complete'] and $lost" "50 blocks are lost"
look fork 0 "d['complete'] and $lost and len(a) == 1" \
	"of a worker that was forked, whose heap is two mappings"
look protected 0 "d['complete'] and $lost" "where a page of the heap is protected"
look spoiled 1 "$lost and not a[0].get('reason') and 'overwritten' in a[1]['reason'] and
	d['not_walked'][0]['bytes'] == d['unknown_bytes'] == a[1]['system_bytes']" \
	"where another arena was written over: the main one, and where the other one is"
look broken 1 "$lost and 0 < d['unknown_bytes'] < 4096 and not a[0].get('reason') and
	sum(g['bytes'] for g in d['not_walked']) == d['unknown_bytes']" \
	"where a chunk was written over: all but that"
look mapped 0 "d['mapped_blocks'] == 5 and d['unreachable_blocks'] == 55" \
	"below 100 MiB of the program's, mappings of single blocks are found"
look sparse 0 "d['complete'] and $lost and d['method'] != 'held' and d['read_bytes'] < 4 << 20" \
	"64 GiB that were never touched are no work"
look tls 0 "d['unreachable_blocks'] == 55" "what threads that ended had in their own memory"
look main-ended 0 "d['complete'] and $lost" "where the first thread has ended before the others"
look again 0 "d['complete'] and $lost and len(a) == 2 and {x.get('libc') for x in a} == {None, 2}" \
	"of two libcs, one by dlmopen()"
export GLIBC_TUNABLES=glibc.malloc.hugetlb=2
look plain 0 "d['complete'] and $lost" "where malloc has huge pages, and not [heap]"
export GLIBC_TUNABLES=glibc.malloc.mmap_threshold=0
look plain 0 "d['unreachable_blocks'] == 50 and not a[0]['system_bytes']" \
	"where each block has its own mapping"
unset GLIBC_TUNABLES
begin vfork
! $tool heap "$meant" -q --max-pause 300 > "$work/page" 2> "$work/err" &&
	grep -q 'waits in vfork() and cannot be stopped' "$work/err"
check $? "a process that waits in vfork() cannot be stopped, which is said"
end

# (of an address space that memtap itself may not have)
start_until "$work/said" ready python3 -c 'import mmap, time
m = mmap.mmap(-1, 1 << 32)
print("ready", flush=True)
time.sleep(600)'
large=$started
(ulimit -v 1000000; $tool heap $large --top 1 --max-pause 20000 -q > "$work/page")
grep -q 'searched during the stop: there is not enough memory for a copy' "$work/page"
check $? "where there is no memory for a copy it is searched while it is stopped, which is said"
kill $large
large=
kill -0 $pid
check $? "and it goes on"
# an allocator that is a part of the program
printf '%s\n' '#include <stdio.h>' '#include <unistd.h>' 'int mallctl(void) { return 0; }' \
	'int main(void) { puts("ready"); fflush(stdout); return pause() + mallctl(); }' \
	> "$work/own.c"
${CC:-cc} -o "$work/own" "$work/own.c"
start_until "$work/said" ready "$work/own"
case=$started
$tool heap $case -q > "$work/page" 2> "$work/err"
grep -q 'jemalloc' "$work/page" "$work/err"
check $? "an allocator that is linked into the program is named"
kill $case
case=
! $tool heap 1 2 3 4 2> "$work/err" && grep -q 'one PID only' "$work/err"
check $? "one process only"
! $tool heap x 2> "$work/err" && grep -q 'x is no PID, and no file' "$work/err"
check $? "which is a number"
! timeout 10 $tool heap $$ --max-pause 1 -q > "$work/page" 2> "$work/err" || [ -s "$work/page" ]
check $? "a page or a sentence, however short the pause"
checked
