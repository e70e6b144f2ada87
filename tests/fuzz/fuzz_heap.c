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
/* FUZZ: -max_len=2048 */
/*
 * The memory of a process that has a heap, or has made something that looks like one: a heap
 * that adds up, into which any words were written.  Whatever they are, chunks lie apart in
 * what is malloc's, and what is said to add up does; where it goes on meanwhile, with what is
 * said to be unknown.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heap/heap.h"

#define DATA		0x7f0000200000ULL
#define BRK		0x555555560000ULL
#define OTHER		0x7f1000000000ULL
#define MAPPED		0x7f2000000000ULL
#define LEN		0x8000UL
#define NR		4

static const uint64_t bases[NR] = { DATA, BRK, OTHER, MAPPED };
static uint64_t image[NR][LEN / 8];
static uint32_t gone[NR];		/* a bit a page */

static const struct heap_area areas[NR] = {
	{ DATA, DATA + LEN, .data = true },
	{ BRK, BRK + LEN, .brk = true, .anonymous = true },
	{ OTHER, OTHER + LEN, .anonymous = true },
	{ MAPPED, MAPPED + LEN, .anonymous = true },
};

static size_t read_image(void *ctx, __u64 addr, void *buf, size_t len)
{
	(void)ctx;
	for (size_t i = 0; i < NR; i++) {
		const uint64_t at = addr - bases[i];
		size_t left = 4096 - addr % 4096;

		if (at >= LEN)
			continue;
		if (gone[i] >> at / 4096 & 1)
			return 0;
		while (left < len && at + left < LEN && !(gone[i] >> (at + left) / 4096 & 1))
			left += 4096;
		if (left < len)
			len = left;
		memcpy(buf, (char *)image[i] + at, len);
		return len;
	}
	return 0;
}

static const struct heap_memory memory = { .read = read_image, .others = true }, passing = {
	.read = read_image, .passing = true,
};

static void put(uint64_t addr, uint64_t value)
{
	for (size_t i = 0; i < NR; i++)
		if (addr - bases[i] < LEN)
			image[i][(addr - bases[i]) / 8] = value;
}

static void arena(uint64_t at, unsigned int lists, uint64_t next, uint64_t top, uint64_t has)
{
	for (uint64_t i = 0; i < 127; i++) {
		put(at + lists + 16 * i, at + lists + 16 * i - 16);
		put(at + lists + 16 * i + 8, at + lists + 16 * i - 16);
	}
	put(at + lists - 16, top);
	put(at + lists + 2048, next);
	put(at + lists + 2072, has);
	put(at + lists + 2080, has);
}

/* One that adds up. */
static void begin(unsigned int lists, int others)
{
	const uint64_t one = DATA + 0x400, two = OTHER + 48, first = two + lists + 2096;

	memset(image, 0, sizeof(image));
	arena(one, lists, others ? two : one, BRK + 0x2000, LEN);
	put(BRK + 8, 0x291);
	put(BRK + 0x298, 0x31);
	put(BRK + 0x2c8, 0x31);
	put(BRK + 0x2f8, (0x2000 - 0x2f0) | 1);
	put(BRK + 0x2000, others ? 0 : 0x1d10);
	put(BRK + 0x2008, (LEN - 0x2000) | (others ? 1 : 0));
	arena(two, lists, one, first + 64, LEN);
	put(OTHER, two);
	put(OTHER + 16, LEN);
	put(first + 8, 64 | 5);
	put(first + 72, (OTHER + LEN - first - 64) | 1);
	put(MAPPED + 8, 0x3002);
	put(DATA + 0x3000, 0x3000);
	put(DATA + 0x3008, 0x3000);
	put(DATA + 0x3010, BRK);
}

#define SECRET	0x5ec12e75ec12e7ULL

/* musl's: its structure, a page of records, two groups of which one is in a slot of the other */
static void begin_musl(void)
{
	const uint64_t inner = OTHER + 16 + 0x1f0;

	memset(image, 0, sizeof(image));
	put(DATA + 0x100, SECRET);
	put(DATA + 0x108, 1);
	put(DATA + 0x138, BRK);
	put(DATA + 0x140, BRK);
	put(BRK, SECRET);
	put(BRK + 16, 101);
	put(BRK + 24 + 16, OTHER);
	put(BRK + 24 + 24, 0xfcULL);
	put(BRK + 24 + 32, 7 | 15 << 6 | 4 << 12);
	put(OTHER, BRK + 24);
	put(BRK + 64 + 16, inner);
	put(BRK + 64 + 32, 9 | 2 << 6);
	put(inner, BRK + 64);
	/* heads of blocks: slot, unused bytes; from the group's beginning */
	put(OTHER + 8, 3ULL << 45);
	put(OTHER + 16 + 0x1f0 - 8, 0x1fULL << 48 | 0xc1ULL << 40);
	for (uint64_t i = 0; i < 10; i++)
		put(inner + 16 + 48 * i - 8, 3 * i << 48 | (i | 4 << 5) << 40);
	put(BRK + 104 + 16, MAPPED);
	put(BRK + 104 + 32, 63 << 6 | 8 << 12);
	put(MAPPED, BRK + 104);
	put(MAPPED + 8, 5ULL << 45);
	put(MAPPED + LEN - 8, 100);
}

static void check(const struct heap *h)
{
	const struct heap_chunk *last = NULL;

	for (size_t i = 0; i < h->nr_chunks; i++) {
		const struct heap_chunk *c = &h->chunks[i];

		if (c->arena >= h->nr_arenas || !c->size || (last && c->at < last->at + last->size))
			abort();
		if (heap_find(h, c->at) != c)
			abort();
		last = c;
	}
	for (size_t i = 0; i < h->nr_arenas; i++) {
		const struct heap_arena *a = &h->arenas[i];
		uint64_t sum = a->top + a->heads + a->foreign;

		for (int s = 0; s < NR_HEAP_STATES; s++)
			sum += a->sums.bytes[s];
		if (!a->why && !a->changed && sum + a->unknown != a->system)
			abort();
		if (!a->why && sum + a->unknown < a->system)
			abort();
	}
}

/* Input: which heap; pages that are gone; then words: where, how, what. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned int places[] = { 112, 24, 104, 112 };
	struct heap h;

	if (size < 6)
		return 0;
	if (data[0] & 16)
		begin_musl();
	else
		begin(places[data[0] % 4], data[0] & 4);
	for (size_t i = 0; i < NR; i++)
		gone[i] = data[0] & 8 ? data[1 + i] : 0;
	for (data += 5, size -= 5; size >= 5; data += 5, size -= 5) {
		uint64_t *at = &image[data[0] % NR][(data[1] | data[2] << 8) % (LEN / 8)];
		const uint64_t v = data[3] | (uint64_t)data[4] << 8;

		*at = data[0] & 128 ? bases[data[0] >> 2 & 3] + v : data[0] & 64 ?
		      (bases[data[0] >> 2 & 3] + v) ^ (BRK >> 12) : data[0] & 32 ? *at ^ v : v;
	}
	if (!heap_walk(&h, areas, NR, &memory)) {
		check(&h);
		heap_free(&h);
	}
	if (!heap_walk(&h, areas, NR, &passing)) {
		check(&h);
		heap_free(&h);
	}
	return 0;
}
