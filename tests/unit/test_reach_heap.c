// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/leaks/reach_heap.c ctl/leaks/reach_roots.c ctl/leaks/reach_glibc.c */
/* LINK: ctl/leaks/reach_ranges.c ctl/leaks/reach_threads.c ctl/leaks/reach_memory.c */
/* LINK: ctl/leaks/reach_force.c ctl/leaks/reach_kernel.c ctl/leaks/reach_shared.c */
/* LINK: ctl/leaks/copy_pages.c ctl/base/ids.c ctl/base/limit.c */
/* LINK: ctl/base/openreg.c ctl/target/ldcache.c ctl/target/maps.c ctl/target/procmaps.c */
/*
 * What of [heap] glibc's malloc has, by its chunks, and what somebody took by sbrk().
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leaks/reach_int.h"
#include "target/procmaps.h"
#include "tap.h"

#define HEAP	0x555555559000ULL
#define NR	(1UL << 16)		/* words */
#define LEN	(NR * 8)

static __u64 words[NR];
static struct reach_block blocks[64];
static size_t nr;
static __u64 at, top;			/* where the next chunk goes; the last one */
static struct ranges foreign;

static size_t read_heap(void *ctx, __u64 addr, void *buf, size_t len)
{
	if (addr - HEAP >= LEN)
		return 0;
	if (len > HEAP + LEN - addr)
		len = HEAP + LEN - addr;
	memcpy(buf, (const char *)words + (addr - HEAP), len);
	return len;
}

static const struct reach_memory memory = { read_heap, NULL, NULL };

static void begin(void)
{
	memset(words, 0, sizeof(words));
	nr = 0;
	at = HEAP;
	top = 0;
}

static void chunk(__u64 size)
{
	words[(at - HEAP) / 8 + 1] = size | 1;
	at += size;
}

static void block(__u64 size)
{
	blocks[nr++] = (struct reach_block){ .addr = at + 16, .size = size - 24 };
	chunk(size);
}

static void last(__u64 size)
{
	top = at;
	chunk(size);
}

/* Words of a program's own, among them some that could be sizes. */
static void taken(__u64 len)
{
	for (__u64 i = 0; i < len / 8; i++)
		words[(at - HEAP) / 8 + i] = i % 3 ? HEAP + 64 * i : 33;
	at += len;
}

static void fence(void)
{
	chunk(16);
	chunk(16);
}

static bool is_foreign(__u64 addr)
{
	return ranges_have(&foreign, addr);
}

static void look(void)
{
	const struct area heap = { .start = HEAP, .end = HEAP + LEN };

	foreign.nr = 0;
	if (heap_foreign(&foreign, &heap, top, blocks, nr, &memory))
		ok(0, "there is memory");
	ranges_merge(&foreign);
}

static void test_all_malloc(void)
{
	begin();
	chunk(0x290);
	for (int i = 0; i < 10; i++)
		block(112);
	chunk(4096);
	last(HEAP + LEN - at);
	look();
	is(foreign.nr, 0, "a heap that is malloc's is nobody else's");
	top = HEAP + 8;
	look();
	is(foreign.nr, 0, "nor is one that cannot be read");
}

static void test_behind(void)
{
	__u64 mine;

	begin();
	chunk(0x290);
	block(112);
	last(8192);
	mine = at;
	taken(HEAP + LEN - at);
	look();
	ok(is_foreign(mine) && is_foreign(HEAP + LEN - 8), "what lies behind malloc's is");
	ok(!is_foreign(HEAP) && !is_foreign(top) && !is_foreign(mine - 1), "and nothing else");
}

static void test_between(void)
{
	__u64 mine, theirs;

	begin();
	chunk(0x290);
	block(112);
	chunk(64);
	fence();
	mine = at;
	taken(4096);
	theirs = at;
	block(1024);
	block(48);
	last(HEAP + LEN - at);
	look();
	ok(is_foreign(mine) && is_foreign(theirs - 8), "what lies between is");
	ok(!is_foreign(mine - 1) && !is_foreign(theirs) && !is_foreign(top), "and nothing else");
	is(foreign.nr, 1, "as one range");
}

static void test_before(void)
{
	__u64 theirs;

	begin();
	taken(4096);
	theirs = at;
	chunk(0x290);
	block(48);
	last(HEAP + LEN - at);
	look();
	ok(is_foreign(HEAP) && is_foreign(theirs - 8), "what lies before is");
	ok(!is_foreign(theirs) && !is_foreign(top), "and nothing else");
}

static void test_others(void)
{
	begin();
	taken(LEN);
	look();
	ok(is_foreign(HEAP) && is_foreign(HEAP + LEN - 8),
	   "a heap without blocks is the program's, when libc's malloc has none");
	blocks[0] = (struct reach_block){ .addr = HEAP + 4096, .size = 64 };
	nr = 1;
	look();
	is(foreign.nr, 0, "blocks of another allocator may lie anywhere");
	top = HEAP + 0x100000000ULL;
	nr = 0;
	look();
	ok(is_foreign(HEAP), "malloc may have gone elsewhere");
}

/*
 * Where addresses are not made by chance, brk() begins where a program's variables end, and both
 * are one mapping, which the kernel calls [heap].
 */
static void test_variables_before_it(void)
{
	struct layout l = { .nr = 4, .areas = calloc(4, sizeof(struct area)), .room = 4 };

	l.areas[0] = (struct area){ .start = 0x1000, .end = 0x3000, .is_file = true };
	l.areas[1] = (struct area){ .start = 0x3000, .end = 0x4000, .is_heap = true };
	l.areas[2] = (struct area){ .start = 0x4000, .end = 0x9000, .is_heap = true,
				    .writable = true };
	l.areas[3] = (struct area){ .start = 0xa000, .end = 0xb000 };
	is(layout_cut_heap(&l, 0), 0, "where brk() began is not known");
	is(l.nr, 4, "all stays as the kernel has it");
	is(layout_cut_heap(&l, 0x5000), 0, "where brk() began is known");
	is(l.nr, 5, "what lies before it is a mapping of its own");
	ok(!l.areas[1].is_heap && !l.areas[2].is_heap && l.areas[3].is_heap,
	   "and not the heap's");
	ok(l.areas[2].start == 0x4000 && l.areas[2].end == 0x5000 && l.areas[2].writable &&
	   l.areas[3].start == 0x5000 && l.areas[3].end == 0x9000 && l.areas[3].writable,
	   "they meet where it began");
	is(l.areas[4].start, 0xa000, "and what follows is there");
	is(layout_cut_heap(&l, 0x5000), 0, "once more");
	is(l.nr, 5, "nothing is to be cut");
	layout_free(&l);
	is(procmaps_parse_brk("7 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22"
			      " 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 4096"
			      " 45\n"), 4096, "it is told in /proc/PID/stat");
	is(procmaps_parse_brk("7 (a) S 1 2\n"), 0, "or not");
	ok(procmaps_brk(getpid()) > 4096, "of a process, too");
}

int main(void)
{
	test_variables_before_it();
	test_all_malloc();
	test_behind();
	test_between();
	test_before();
	test_others();
	return tap_done();
}
