// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/heap/arena.c ctl/heap/cached.c ctl/heap/mapped.c ctl/heap/step.c ctl/heap/walk.c */
/* LINK: ctl/heap/main_arena.c ctl/heap/salvage.c */
/* LINK: ctl/base/ids.c ctl/heap/chunks.c ctl/heap/words.c ctl/heap/mallocng.c */
/* LINK: ctl/heap/other.c ctl/heap/jemalloc.c ctl/heap/jemalloc_extents.c */
/* LINK: ctl/heap/jemalloc_entry.c */
/* LINK: ctl/heap/jemalloc_old.c ctl/heap/jemalloc_old_walk.c ctl/heap/jemalloc_old_cache.c */
/* LINK: ctl/heap/jemalloc_chunk.c ctl/heap/jemalloc_huge.c */
/* LINK: ctl/heap/jemalloc_cache.c ctl/heap/tcmalloc.c ctl/heap/tcmalloc_cache.c */
/* LINK: ctl/heap/mimalloc.c ctl/heap/oldmalloc.c ctl/heap/tree.c */
/*
 * Heaps of glibc's malloc that were made up: what is in them is found, and what does not add
 * up is said.
 */
#include <errno.h>
#include <string.h>

#include "heap/heap.h"
#include "tap.h"

#define DATA		0x7f0000200000ULL
#define BRK		0x555555559000ULL
#define OTHER		0x7f1000000000ULL	/* aligned to 64 MiB */
#define MAPPED		0x7f2000000000ULL
#define LEN		(1UL << 16)

static struct region {
	__u64 at;
	__u64 words[LEN / 8];
} regions[4] = { { .at = DATA }, { .at = BRK }, { .at = OTHER }, { .at = MAPPED } };

static const struct heap_area areas[] = {
	{ DATA, DATA + LEN, .data = true },
	{ BRK, BRK + LEN, .brk = true, .anonymous = true },
	{ OTHER, OTHER + LEN, .anonymous = true },
	{ MAPPED, MAPPED + LEN, .anonymous = true },
};

static __u64 *word(__u64 addr)
{
	for (size_t i = 0; i < 4; i++)
		if (addr - regions[i].at < LEN)
			return &regions[i].words[(addr - regions[i].at) / 8];
	return NULL;
}

/* What the process does when it is read there. */
static void (*goes_on)(void);
static __u64 goes_on_at;

static size_t read_words(void *ctx, __u64 addr, void *buf, size_t len)
{
	const __u64 *from = word(addr);
	const __u64 at = addr % LEN;

	(void)ctx;
	if (goes_on && addr >= goes_on_at) {
		goes_on();
		goes_on = NULL;
	}
	if (!from)
		return 0;
	/* (regions are aligned to pages, and not all to their length) */
	for (size_t i = 0; i < 4; i++)
		if (addr - regions[i].at < LEN && len > LEN - (addr - regions[i].at))
			len = LEN - (addr - regions[i].at);
	memcpy(buf, (const char *)from + at % 8, len);
	return len;
}

static const struct heap_memory memory = { read_words, NULL };
static struct heap heap;

/* ---- to make one ---- */

#define MAIN	(DATA + 0x400)
#define SECOND	(OTHER + 48)
#define PARAMS	(DATA + 0x2000)

static unsigned int lists;		/* offset in an arena */
static __u64 at, begin;
static bool of_others;

static void arena(__u64 addr, __u64 next)
{
	for (__u64 i = 0; i < 127; i++)
		*word(addr + lists + 16 * i) = *word(addr + lists + 16 * i + 8) =
			addr + lists + 16 * i - 16;
	*word(addr + lists - 16) = addr + lists - 16;
	*word(addr + lists + 2048) = next;
}

static void holds(__u64 addr, __u64 top, __u64 system)
{
	*word(addr + lists - 16) = top;
	*word(addr + lists + 2072) = *word(addr + lists + 2080) = system;
}

/* The block of it. */
static __u64 chunk(__u64 size)
{
	const __u64 block = at + 16;

	*word(at + 8) = size | (*word(at + 8) & 1) | (of_others ? 4 : 0);
	at += size;
	if (word(at + 8))		/* (else the region ends) */
		*word(at + 8) = 1;
	return block;
}

static __u64 free_chunk(__u64 size)
{
	const __u64 block = chunk(size);

	*word(at) = size;
	*word(at + 8) = 0;
	return block;
}

static void start(__u64 addr)
{
	at = begin = addr;
	*word(at + 8) = 1;
}

static void make(unsigned int place)
{
	for (size_t i = 0; i < 4; i++)
		memset(regions[i].words, 0, LEN);
	lists = place;
	of_others = false;
	arena(MAIN, MAIN);
	start(BRK);
}

static void finish(__u64 top)
{
	const __u64 block = chunk(top);

	holds(MAIN, block - 16, at - begin);
}

static int look(void)
{
	heap_free(&heap);
	return heap_walk(&heap, areas, 4, &memory);
}

#define ADDS_UP(name) \
	ok(!look() && heap.whole && !heap.arenas[0].why && !heap.mapped_why, name)
/* What was not walked is known by its place, and all together is what malloc says. */
#define SAYS(from, bytes, name) \
	ok(!look() && !heap.whole && !heap.arenas[0].why && heap.arenas[0].unknown == (bytes) && \
	   heap.nr_gaps == 1 && heap.gaps[0].start == (from) && \
	   heap.gaps[0].end - heap.gaps[0].start == (bytes) && all_of(0), name)

static const struct heap_sums *sums(size_t nr)
{
	return &heap.arenas[nr].sums;
}

static bool all_of(size_t nr)
{
	const struct heap_arena *a = &heap.arenas[nr];
	__u64 bytes = a->top + a->heads + a->foreign + a->unknown;

	for (int i = 0; i < NR_HEAP_STATES; i++)
		bytes += a->sums.bytes[i];
	return bytes == a->system;
}

/* ---- */

static void make_some(void)
{
	make(112);
	chunk(48);
	free_chunk(4096 * 3);
	chunk(64);
	free_chunk(128);
	for (int i = 0; i < 9; i++)
		chunk(48);
	finish(1000 * 16);
}

static void test_main(void)
{
	make(112);
	chunk(48);
	free_chunk(4096 * 3);
	chunk(64);
	free_chunk(128);
	chunk(48);
	finish(1000 * 16);
	ADDS_UP("a heap adds up");
	ok(sums(0)->blocks[HEAP_USED] == 3 && sums(0)->bytes[HEAP_USED] == 160, "what is in use");
	ok(sums(0)->blocks[HEAP_FREE] == 2 && sums(0)->bytes[HEAP_FREE] == 4096 * 3 + 128,
	   "what is free");
	ok(heap.arenas[0].top == 16000, "the top");
	ok(heap.arenas[0].largest == 4096 * 3 && heap.arenas[0].pages == 2 * 4096,
	   "the largest free one, and whole pages of it");
	ok(heap.nr_pieces == 1 && heap.pieces[0].start == BRK, "all of it is malloc's");

	make_some();
	*word(BRK + 8) = 49 + 16;
	SAYS(BRK, 48, "a size that leads elsewhere");
	is(heap.arenas[0].sums.blocks[HEAP_USED], 10, "behind it the walk goes on");
	*word(BRK + 8) = 1;
	SAYS(BRK, 48, "a chunk of no size");
	*word(BRK + 8) = 49 | 2;
	SAYS(BRK, 48, "a chunk that has a mapping, and is in the heap");
	*word(BRK + 8) = 49;
	ADDS_UP("and as it was");
	*word(BRK + 48 + 4096 * 3) = 5;
	SAYS(BRK + 48, 4096 * 3, "a free chunk has another size at its end");
	*word(BRK + 48 + 4096 * 3) = 4096 * 3;
	*word(MAIN + lists + 2072) += 8;
	*word(MAIN + lists + 2080) += 8;
	ADDS_UP("brk() was not aligned: what it left is part of what it has");
	*word(MAIN + lists + 2072) += 8;
	*word(MAIN + lists + 2080) += 8;
	ok(!look() && !heap.whole && heap.arenas[0].unknown == 16, "it says that it has more");
	*word(MAIN + lists - 16) += 16;
	ok(!look() && !heap.whole && heap.arenas[0].unknown, "a top where no chunk begins");

	make(112);
	ADDS_UP("of a heap that was never used nothing is expected");
	memset(regions[0].words, 0, LEN);
	is(-look(), ENOENT, "there is no malloc");
}

static void test_foreign(void)
{
	make(112);
	*word(at + 8) = 0;
	for (int i = 0; i < 64; i++)
		*word(BRK + 8ULL * (__u64)i) = i % 3 ? BRK + 64ULL * (__u64)i : 33;
	start(BRK + 512);
	chunk(64);
	free_chunk(320);
	*word(at + 8) = 16;			/* (what is before it is free) */
	at += 16;
	*word(at + 8) = 17;
	at += 16;
	for (int i = 0; i < 1024; i++)
		*word(at + 8ULL * (__u64)i) = 0x2020202020202020ULL;
	at += 8192;
	*word(at + 8) = 1;
	chunk(64);
	finish(4096);
	ADDS_UP("others had the beginning, and some of the middle");
	ok(heap.arenas[0].foreign == 8192, "how much of the middle");
	ok(heap.nr_pieces == 2 && heap.pieces[0].start == BRK + 512, "which is none of malloc's");
	ok(sums(0)->blocks[HEAP_USED] == 2 && sums(0)->blocks[HEAP_FREE] == 1,
	   "both pieces count");
}

static void link_to(__u64 where, __u64 to, bool mixed)
{
	*word(where) = mixed ? to ^ (where >> 12) : to;
}

/* Lists of 48 and 64 bytes in a cache, one in fastbins. */
static void make_cached(unsigned int place, bool mixed)
{
	const bool room = place == 24;
	__u64 cache, blocks[4];

	make(place);
	cache = chunk(room ? 0x300 : 0x290);
	for (int i = 0; i < 4; i++)
		blocks[i] = chunk(i < 3 ? 48 : 64);
	link_to(blocks[0], blocks[1], mixed);
	link_to(blocks[1], 0, mixed);
	link_to(blocks[3], 0, mixed);
	if (room) {
		for (__u64 i = 0; i < 76 / 4; i++)
			*word(cache + 8 * i) = 0x0010001000100010ULL;
		*word(cache) = 0x0010000f000e0010ULL;
		*word(cache + 152 + 8) = blocks[0];
		*word(cache + 152 + 16) = blocks[3];
	} else {
		*word(cache) = 0x0000000100020000ULL;
		*word(cache + 128 + 8) = blocks[0];
		*word(cache + 128 + 16) = blocks[3];
		*word(MAIN + lists - 96 + 8) = blocks[2] - 16;
		link_to(blocks[2], 0, mixed);
	}
	finish(4096);
}

#define KEY	0x1234567890abcdefULL

/* The block behind @nr chunks of 48 bytes that follow a cache's. */
static void is_maybe(size_t nr, bool wanted, const char *what)
{
	const __u64 place = BRK + 0x290 + 48 * nr;
	const struct heap_chunk *c = heap_find(&heap, place);
	const __u64 words[] = { *word(place + 16), *word(place + 24) };

	ok(c && heap_maybe_cached(&heap, c, words) == wanted, "%s", what);
}

static void test_cached(void)
{
	for (int mixed = 0; mixed < 2; mixed++) {
		make_cached(112, mixed);
		ADDS_UP("with lists of free chunks that are in use");
		ok(sums(0)->blocks[HEAP_CACHED] == 3 && sums(0)->bytes[HEAP_CACHED] == 160,
		   "a thread's cache, %s", mixed ? "mixed" : "plain");
		ok(sums(0)->blocks[HEAP_FAST] == 1 && sums(0)->blocks[HEAP_OWN] == 1,
		   "a list of small ones, and the cache itself");
		is(heap.caches, 1, "of one thread");
	}
	make_cached(24, true);
	ADDS_UP("as glibc 2.43 has it");
	ok(sums(0)->blocks[HEAP_CACHED] == 3 && sums(0)->blocks[HEAP_USED] == 1,
	   "whose caches count what there is room for");

	/* a cache that cannot be read: what is in it looks like what is in one that can */
	make_cached(112, true);
	for (__u64 i = 0; i < 4; i++)
		*word(BRK + 0x290 + 16 + 8 + (i < 3 ? 48 * i : 144)) = i < 3 ? KEY : 0;
	*word(BRK + 0x290 + 16 + 144 + 8) = KEY;
	*word(BRK + 16 + 128 + 16) = 0;			/* the list of the fourth */
	*word(BRK + 16) = 0x0000000000020000ULL;
	ok(!look() && heap.caches == 1 && heap.cache_key == KEY, "what is left in cached blocks");
	is_maybe(3, true, "a block that has that, and is in no list, may be cached");
	*word(BRK + 0x290 + 16 + 144 + 8) = KEY + 1;
	is_maybe(3, false, "one that has something else is not");
	make_cached(112, true);
	*word(BRK + 0x290 + 16 + 8) = BRK + 16;
	*word(BRK + 0x290 + 16 + 48 + 8) = BRK + 16;
	ok(!look() && heap.keyed_by_place, "as glibc 2.29 to 2.33 have it: where the cache is");
	*word(BRK + 0x290 + 16 + 144 + 8) = BRK + 16;
	is_maybe(3, true, "a block that leads to a cache may be cached");
	*word(BRK + 0x290 + 16 + 144 + 8) = BRK + 0x290 + 16;
	is_maybe(3, false, "one that leads to something else is not");
	make(112);
	chunk(0x290);
	chunk(48);
	finish(4096);
	ok(!look() && heap.empty_caches == 1 && !heap.caches, "a cache that has nothing yet");
	is_maybe(0, false, "then no block is in doubt");
	*word(BRK + 16 + 64) = 1;
	ok(!look() && !heap.empty_caches, "where no cache is recognised,");
	is_maybe(0, true, "each small block is");

	make(24);
	chunk(48);
	chunk(0x300);
	chunk(48);
	finish(4096);
	ok(!look() && !heap.caches && heap.no_caches, "glibc 2.43 makes one at the first free()");
	ok(!heap_maybe_cached(&heap, &heap.chunks[2], (const __u64 [2]){ 0, 0 }),
	   "before that no block is in doubt");
	*word(BRK + 48 + 16 + 152 + 8) = BRK + 48 + 0x300 + 16;
	ok(!look() && !heap.caches && heap.no_caches &&
	   !heap_maybe_cached(&heap, &heap.chunks[2], (const __u64 [2]){ 0, 0 }),
	   "a block that leads to another, and does not count as a cache does, is none");
	for (__u64 i = 0; i < 76 / 4; i++)
		*word(BRK + 48 + 16 + 8 * i) = 0x0010001000100010ULL;
	*word(BRK + 48 + 16) = 0x00100010000e0010ULL;	/* two, and the second is no block */
	*word(BRK + 48 + 0x300 + 16) = BRK + 8;
	ok(!look() && !heap.caches && !heap.no_caches &&
	   heap_maybe_cached(&heap, &heap.chunks[2], (const __u64 [2]){ 0, 0 }),
	   "a cache with a list that cannot be followed may be one");
	*word(BRK + 48 + 16 + 152 + 16) = BRK + 16;
	*word(BRK + 48 + 16 + 152 + 24) = BRK + 16;
	ok(!look() && heap.no_caches, "what leads to blocks of other sizes is none");

	/* it leads to a block of another size */
	make_cached(112, true);
	*word(BRK + 16 + 128 + 24) = BRK + 0x290 + 16;
	ok(!look() && !sums(0)->blocks[HEAP_CACHED] && sums(0)->blocks[HEAP_USED] == 4,
	   "a list of other sizes makes no cache");
	make_cached(112, true);
	link_to(BRK + 0x290 + 16, BRK + 0x290 + 16, true);
	ok(!look() && !sums(0)->blocks[HEAP_CACHED], "a list that is a circle makes none");
	make_cached(112, true);
	*word(MAIN + lists - 96) = BRK + 0x290;
	ok(!look() && heap.arenas[0].why, "and small ones of another size are said");
}

/* The main arena, and another one, whose chunks begin after its structure. */
static void make_two_arenas(void)
{
	make(112);
	chunk(48);
	finish(4096);
	arena(MAIN, SECOND);
	holds(MAIN, BRK + 48, 48 + 4096);
	arena(SECOND, MAIN);
	*word(OTHER) = SECOND;
	*word(OTHER + 16) = LEN;
	of_others = true;
	start(SECOND + 2208);		/* to a multiple of 16 */
}

static void test_others(void)
{
	make_two_arenas();
	chunk(96);
	free_chunk(256);
	chunk(32);
	chunk(OTHER + LEN - at);
	holds(SECOND, BRK, 0);
	holds(SECOND, OTHER + LEN - (LEN - 48 - 2208 - 96 - 256 - 32), LEN);
	ADDS_UP("two arenas add up");
	ok(heap.nr_arenas == 2 && !heap.arenas[1].why, "the other one, too");
	ok(sums(1)->blocks[HEAP_USED] == 2 && sums(1)->bytes[HEAP_FREE] == 256,
	   "what it has is found");
	*word(OTHER + 16) = LEN - 16;
	ok(!look() && !heap.whole && (heap.arenas[1].why || heap.arenas[1].unknown ||
				      heap.arenas[1].changed) && !heap.arenas[0].why,
	   "its piece ends elsewhere");
	*word(OTHER + 16) = LEN;
	*word(OTHER) = SECOND + 16;
	ok(!look() && !heap.whole && heap.arenas_missing && heap.nr_arenas == 1 &&
	   heap.arenas[0].sums.blocks[HEAP_USED] == 1,
	   "a piece that belongs to nobody is not in the circle: the main one is known");
	*word(OTHER) = SECOND;
	*word(SECOND + lists + 800) = 0x4141414141414141ULL;
	ok(!look() && !heap.whole && heap.nr_arenas == 2 && !heap.arenas[0].why &&
	   heap.arenas[1].why, "a list of the other one was written over: the main one is known");
	ok(heap.arenas[1].unknown == LEN && heap.nr_gaps == 1 && heap.gaps[0].start == OTHER &&
	   heap.gaps[0].end == OTHER + LEN, "of the other one, where and how large it is");
}

/* --- what no block has --- */

static __u64 unused_bytes, unused_chunk, unused_word;

static int see_unused(__u64 from, __u64 end, void *ctx)
{
	(void)ctx;
	unused_bytes += end - from;
	unused_chunk |= from <= BRK + 48 + 16 && end >= BRK + 48 + 4096;
	unused_word |= from < BRK + 48 + 8;
	return 0;
}

static void test_unused(void)
{
	make(112);
	chunk(48);
	free_chunk(4096);
	chunk(64);
	finish(4096);
	ADDS_UP("a heap with one free block");
	unused_bytes = unused_chunk = unused_word = 0;
	is(heap_each_unused(&heap, see_unused, NULL), 0, "what no block has");
	is(unused_bytes, 48 + 4096 + 64 + 4096 - heap_usable(&heap.chunks[0]) -
	   heap_usable(&heap.chunks[2]), "all but what blocks can use");
	ok(unused_chunk, "the links of a free chunk are among it");
	/* (the first chunk's head is before its block) */
	ok(unused_word, "and heads");
	*word(BRK + 8) = 1;
	ok(!look() && !heap.whole, "a heap that does not add up,");
	heap.arenas[0].busy = true;
	unused_bytes = 0;
	ok(!heap_each_unused(&heap, see_unused, NULL) && !unused_bytes,
	   "and is in use just now, says nothing of what is not");
}

/* --- what is not there --- */

static __u64 hole_start, hole_end;

static size_t read_around(void *ctx, __u64 addr, void *buf, size_t len)
{
	if (addr >= hole_start && addr < hole_end)
		return 0;
	if (addr < hole_start && len > hole_start - addr)
		len = hole_start - addr;
	return read_words(ctx, addr, buf, len);
}

static __u64 next_around(void *ctx, __u64 addr, __u64 end)
{
	(void)ctx;
	if (addr >= hole_start && addr < hole_end)
		addr = hole_end;
	return addr < end ? addr : end;
}

static const char *why_around(void *ctx, __u64 addr)
{
	(void)ctx;
	return addr >= hole_start && addr < hole_end ? "it is not there" : NULL;
}

static void test_hole(void)
{
	const struct heap_memory m = { read_around, NULL, next_around, why_around, false };

	make(112);
	for (int i = 0; i < 64; i++)
		chunk(256);
	finish(4096);
	hole_start = BRK + 4096;
	hole_end = BRK + 8192;
	heap_free(&heap);
	ok(!heap_walk(&heap, areas, 4, &m) && !heap.whole && !heap.arenas[0].why,
	   "a page of the heap is not there");
	ok(heap.nr_gaps == 1 && !strcmp(heap.gaps[0].why, "it is not there") &&
	   heap.gaps[0].start <= hole_start && heap.gaps[0].end >= hole_end,
	   "where that is, and why");
	is(heap.arenas[0].unknown, heap.gaps[0].end - heap.gaps[0].start, "how much");
	is(heap.arenas[0].sums.bytes[HEAP_USED] + heap.arenas[0].unknown, 64 * 256,
	   "all else is known");

	/* one that is in the middle of a block is none of malloc's business */
	make(112);
	chunk(256);
	chunk(16384);
	chunk(256);
	finish(4096);
	heap_free(&heap);
	ok(!heap_walk(&heap, areas, 4, &m) && heap.whole && !heap.nr_gaps,
	   "a page within a block is not needed");
}

/* --- of a process that goes on --- */

static int look_in_passing(void)
{
	const struct heap_memory passing = { read_words, NULL, .passing = true };

	heap_free(&heap);
	return heap_walk(&heap, areas, 4, &passing);
}

static void make_many(void)
{
	make(112);
	for (int i = 0; i < 40; i++) {
		chunk(48);
		free_chunk(64);
	}
	chunk(48);
	finish(4096);
}

/* The top becomes a block, and what is left is the top. */
static void take_of_top(void)
{
	const __u64 top = *word(MAIN + lists - 16);

	*word(top + 8) = 1024 | 1;
	*word(top + 1024 + 8) = (4096 - 1024) | 1;
	*word(MAIN + lists - 16) = top + 1024;
}

static void test_passing(void)
{
	const __u64 end = BRK + 40 * 112 + 48;
	__u64 whole;

	make_many();
	ok(!look_in_passing() && heap.whole && !heap.arenas[0].changed, "nobody used it meanwhile");
	is(heap.arenas[0].sums.bytes[HEAP_FREE], 40 * 64, "and all of it is known");
	whole = heap.arenas[0].system;

	/* a free chunk that is just taken in two: its old end is not what it was */
	*word(BRK + 10 * 112 + 48 + 8) = 32 | 1;
	SAYS(BRK + 10 * 112 + 48, 64, "of who is stopped what does not add up is left out");
	ok(!look_in_passing() && !heap.whole && heap.arenas[0].changed && !heap.arenas[0].why,
	   "of who goes on it is told about");
	is(heap.arenas[0].unknown, 64, "but what did not fit together");
	is(heap.arenas[0].sums.bytes[HEAP_FREE], 39 * 64, "the other free ones are found");
	is(heap.arenas[0].sums.bytes[HEAP_USED], 41 * 48, "and those in use");
	is(heap.arenas[0].top, 4096, "up to the top");
	is(heap.arenas[0].sums.bytes[HEAP_FREE] + heap.arenas[0].sums.bytes[HEAP_USED] +
	   heap.arenas[0].top + heap.arenas[0].heads + heap.arenas[0].unknown, whole,
	   "all together are what malloc says that it has");

	/* its words are read once it is known where the top is */
	make_many();
	goes_on = take_of_top;
	goes_on_at = BRK;
	*word(BRK + 8) = 17;			/* so that it is not tried the other way */
	ok(!look_in_passing() && heap.arenas[0].changed, "the top moves meanwhile");
	ok(!goes_on && heap.arenas[0].top == 4096 - 1024, "it is found where it is then");
	ok(heap_find(&heap, end) && heap_find(&heap, end)->size == 1024,
	   "what was taken of it counts");
	is(heap.arenas[0].unknown, 48, "and only what was made wrong is not known");
}

static void test_passing_others(void)
{
	make_two_arenas();
	for (int i = 0; i < 20; i++) {
		chunk(96);
		free_chunk(256);
	}
	chunk(OTHER + LEN - at);
	holds(SECOND, OTHER + LEN - (LEN - 48 - 2208 - 20 * 352), LEN);
	*word(OTHER + 48 + 2208 + 352 + 8) = 0;
	ok(!look_in_passing() && !heap.arenas[0].changed && heap.arenas[1].changed &&
	   !heap.arenas[1].why, "another arena is in use meanwhile");
	is(heap.arenas[1].unknown, 96, "what does not fit together is not known");
	is(sums(1)->bytes[HEAP_FREE], 20 * 256, "all else is");
	*word(OTHER + 16) = LEN + 16;
	ok(!look_in_passing() && heap.arenas[1].unknown && !heap.arenas[1].why,
	   "a piece that ends elsewhere");
}

static void test_mapped(void)
{
	make(112);
	chunk(48);
	finish(4096);
	*word(MAPPED + 8) = 8192 | 2;
	*word(MAPPED + 8192 + 8) = 4096 | 2;	/* its stale head */
	*word(MAPPED + 8192 + 48) = 48;
	*word(MAPPED + 8192 + 56) = (4096 - 48) | 2;
	*word(MAPPED + 16384 + 8) = (8192 - 16) | 2;
	*word(PARAMS) = 8192 + 4096 + 8192;
	*word(PARAMS + 8) = 1 << 20;
	*word(PARAMS + 16) = BRK;
	ADDS_UP("blocks with mappings of their own");
	ok(!heap.knows_top_pad, "what is taken ahead is not guessed");
	*word(PARAMS - 24 - 16 - 16) = 8;		/* glibc since 2.35 */
	*word(PARAMS - 24 - 16 - 24) = 128 << 10;
	*word(PARAMS - 24 - 16 - 32) = 192 << 10;
	ok(!look() && heap.knows_top_pad && heap.top_pad == 192 << 10,
	   "where it stands it is told");
	*word(PARAMS - 24 - 16 - 16) = 0;
	*word(PARAMS - 16 - 16) = 8;			/* before */
	*word(PARAMS - 16 - 24) = 128 << 10;
	*word(PARAMS - 16 - 32) = 0;
	ok(!look() && heap.knows_top_pad && !heap.top_pad, "as older ones have it, too");
	is(heap.mapped.blocks[HEAP_USED], 3, "all of them");
	ok(heap_find(&heap, MAPPED + 8192 + 48) && !heap_find(&heap, MAPPED + 8192),
	   "an aligned one begins later");
	*word(PARAMS) = 8192 + 4096;
	ok(!look() && heap.mapped_why && heap.whole && !heap.mapped.blocks[HEAP_USED],
	   "malloc says that it has less: none of them is believed");
	*word(PARAMS + 16) = 0;
	ok(!look() && heap.mapped_why, "nor without what malloc says");
}

/* ---- musl's ---- */

#define SECRET	0x5ec12e75ec12e7ULL
#define RECORD(i) (BRK + 24 + 40ULL * (i))

static void byte(__u64 addr, unsigned int value)
{
	((unsigned char *)word(addr & ~7ULL))[addr % 8] = (unsigned char)value;
}

/* Before a block: how far it is from its group's beginning, its slot, what it leaves unused. */
static void head(__u64 group, __u64 block, unsigned int slot, unsigned int unused)
{
	const __u64 back = (block - group) / 16 - 1;

	byte(block - 4, 0);
	byte(block - 3, slot | unused << 5);
	byte(block - 2, (unsigned int)back & 255);
	byte(block - 1, (unsigned int)back >> 8);
}

static void record(unsigned int i, __u64 group, __u64 available, __u64 freed, __u64 about)
{
	*word(RECORD(i) + 16) = group;
	*word(RECORD(i) + 24) = available | freed << 32;
	*word(RECORD(i) + 32) = about;
	*word(group) = RECORD(i);
}

/* A group of 4 slots of 240 bytes; one of 3 of 48 in the first slot; a mapping for one block. */
static void make_musl(void)
{
	const __u64 inner = OTHER + 16;

	for (size_t i = 0; i < 4; i++)
		memset(regions[i].words, 0, LEN);
	*word(DATA + 0x100) = SECRET;
	*word(DATA + 0x108) = 1;
	*word(DATA + 0x138) = *word(DATA + 0x140) = BRK;
	*word(BRK) = SECRET;
	*word(BRK + 16) = 101;
	/* (15 units are class 11) */
	record(0, OTHER, 1 << 3, 1 << 2, 3 | 11 << 6 | 1 << 12);
	head(OTHER, inner, 0, 6);
	head(OTHER, OTHER + 16 + 240, 1, 7);		/* it begins two units later */
	byte(OTHER + 16 + 240 - 3, 7 << 5);
	byte(OTHER + 16 + 240 - 2, 2);
	byte(OTHER + 16 + 240 - 1, 0);
	head(OTHER, OTHER + 16 + 240 + 32, 1, 4);
	record(1, inner, 0, 1 << 1, 2 | 2 << 6);
	head(inner, inner + 16, 0, 0);
	head(inner, inner + 16 + 96, 2, 3);
	record(2, MAPPED, 0, 0, 63 << 6 | 2 << 12);
	head(MAPPED, MAPPED + 16, 0, 5);
	*word(MAPPED + 8192 - 8) = 2000;
}

static int look_musl(void)
{
	const struct heap_memory m = { .read = read_words, .others = true };

	heap_free(&heap);
	return heap_walk(&heap, areas, 4, &m);
}

static __u64 usable_at(__u64 block)
{
	const struct heap_chunk *c = heap_find(&heap, block - HEAP_HEAD);

	return c && c->state == HEAP_USED ? heap_usable(c) : 0;
}

static bool musl_adds_up(void)
{
	const struct heap_arena *a = &heap.arenas[0];

	return a->heads + a->unknown + a->sums.bytes[HEAP_USED] + a->sums.bytes[HEAP_FREE] ==
	       a->system;
}

static void test_musl(void)
{
	make_musl();
	is(look(), -ENOENT, "musl's malloc is looked for where it is wanted alone");
	ok(!look_musl() && heap.allocator == HEAP_MALLOCNG && heap.complete && musl_adds_up(),
	   "it adds up");
	is(sums(0)->blocks[HEAP_USED], 4, "blocks, without the slot that has smaller ones");
	is(sums(0)->blocks[HEAP_FREE], 3, "free slots, and those that were never used");
	is(usable_at(OTHER + 32), 44, "a block that fills its slot");
	is(usable_at(OTHER + 32 + 96), 41, "and one that does not");
	is(usable_at(OTHER + 16 + 240 + 32), 240 - 32 - 4 - 4, "one that begins later");
	is(usable_at(MAPPED + 16), 8192 - 16 - 4 - 2000, "one with a mapping of its own");
	is(heap.arenas[0].system, 4096 + 8192, "a group in another one's slot is no new memory");
	byte(OTHER + 32 - 3, 1);
	ok(!look_musl() && !heap.complete && heap.nr_gaps == 1 && musl_adds_up() &&
	   heap.gaps[0].start == OTHER + 32 && heap.arenas[0].unknown == 48,
	   "a block whose head was written over is said");
	is(sums(0)->blocks[HEAP_USED], 3, "all others are known");
	make_musl();
	*word(OTHER) = 0;
	ok(!look_musl() && heap.arenas_missing && !heap.complete && musl_adds_up(),
	   "a group that does not point back is said");
	make_musl();
	*word(BRK + 8) = BRK;
	ok(!look_musl() && heap.arenas_missing, "a circle ends");
	make_musl();
	*word(BRK) = SECRET + 1;
	is(look_musl(), -ENOENT, "without the secret nothing is believed");
	make_musl();
	*word(MAPPED + 8192 - 8) = 20000;
	ok(!look_musl() && !heap.complete && usable_at(MAPPED + 16) == 0,
	   "a block cannot leave more unused than it has");
}

int main(void)
{
	test_main();
	test_foreign();
	test_cached();
	test_others();
	test_unused();
	test_hole();
	test_passing();
	test_passing_others();
	test_mapped();
	test_musl();
	heap_free(&heap);
	return tap_done();
}
