#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap ps --map`: stacks of threads and malloc's memory have names; what is not known has none.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
work=$(mktemp -d)
case=''
trap 'kill $case 2> /dev/null; rm -r "$work"' EXIT

cat > "$work/case.c" << 'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_barrier_t made;

static void *work(void *name)
{
	char *block = malloc(1000);

	memset(block, 1, 1000);
	pthread_setname_np(pthread_self(), name);
	printf("[stack of thread %ld %s]\t%lx\n", syscall(SYS_gettid), (char *)name,
	       (unsigned long)__builtin_frame_address(0));
	printf("[malloc arena]\t%lx\n", (unsigned long)block);
	pthread_barrier_wait(&made);
	pause();
	return block;
}

int main(void)
{
	const size_t mib = 1 << 20;
	pthread_t thread;
	char *block, *own;

	pthread_barrier_init(&made, NULL, 3);
	block = malloc(2 * mib);
	memset(block, 1, 2 * mib);
	/* (a page that cannot be touched keeps what follows in a mapping of its own) */
	own = mmap(NULL, 3 * mib, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	own += mib;
	mprotect(own, mib, PROT_READ | PROT_WRITE);
	memset(own, 1, mib);
	pthread_create(&thread, NULL, work, "first");
	pthread_create(&thread, NULL, work, "second");
	pthread_barrier_wait(&made);
	printf("[malloc block]\t%lx\n", (unsigned long)block);
	printf("[anon]\t%lx\n", (unsigned long)own);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
C
${CC:-gcc} -pthread -O1 -o "$work/case" "$work/case.c" || {
	echo "Bail out! the program does not build"; exit 1; }
start_until "$work/said" '^ready' "$work/case"
case=$started
build/memtap ps --map "$case" --json > "$work/json"
check $? "ps --map"
python3 - "$work/json" "$work/said" > "$work/result" << 'PY'
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
for line in open(sys.argv[2]):
    name, _, at = line.strip().partition("\t")
    if not at:
        continue
    at = int(at, 16)
    got = [r["name"] for r in rows if int(r["start"], 16) <= at < int(r["end"], 16)]
    # (what the kernel puts beside it may be in the same mapping)
    same = len(got) == 1 and (got[0] == name or got[0].startswith(name[:-1] + ","))
    print(0 if same else 1, "this is", name, "and it is called", got)
PY
check $? "the mappings of the program"
while read -r bad text; do
	check "$bad" "$text"
done < "$work/result"
[[ $(wc -l < "$work/result") == 6 ]]
check $? "two stacks, two arenas, a block, and a mapping of its own"
build/memtap ps --map "$case" '*malloc*' > "$work/out"
grep -q 'malloc block' "$work/out"
check $? "a pattern keeps rows of these names"
checked
