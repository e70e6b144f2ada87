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
 * The memory of a process that has a heap of jemalloc 5 or an older one, tcmalloc, mimalloc or
 * musl's old malloc, into which any words were written.  Without them, all blocks are found.
 * Whatever they are, chunks lie apart, and what is said to add up does.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heap/heap.h"
#include "old_jemalloc.h"

#define DATA		0x7f0000000000ULL
#define DATA_LEN	(4ULL << 20)
#define ANON		0x7f1000000000ULL
#define ANON_LEN	(64ULL << 20)
#define NR_PAGES	24
#define WORDS		512
#define MADE_HERE	5U		/* heaps, before those of old_jemalloc.h */

static struct {
	uint64_t at;			/* 0: none */
	uint64_t words[WORDS];
} pages[NR_PAGES];
static size_t nr;
static uint32_t gone;			/* a bit a page */

static const struct heap_area areas[] = {
	{ DATA, DATA + DATA_LEN, .data = true },
	{ ANON, ANON + ANON_LEN, .anonymous = true },
};

static size_t find(uint64_t addr)
{
	size_t i = 0;

	while (i < nr && pages[i].at != (addr & ~4095ULL))
		i++;
	return i;
}

static size_t read_image(void *ctx, __u64 addr, void *buf, size_t len)
{
	const size_t i = find(addr);
	const size_t left = 4096 - addr % 4096;

	(void)ctx;
	if (i == nr || gone >> i & 1)
		return 0;
	if (len > left)
		len = left;
	memcpy(buf, (char *)pages[i].words + addr % 4096, len);
	return len;
}

static __u64 next_image(void *ctx, __u64 addr, __u64 end)
{
	uint64_t best = end;

	(void)ctx;
	for (size_t i = 0; i < nr; i++) {
		const uint64_t at = pages[i].at;

		if (gone >> i & 1 || at + 4096 <= addr)
			continue;
		if (at <= addr)
			return addr;
		if (at < best)
			best = at;
	}
	return best;
}

static const char *why_image(void *ctx, __u64 addr)
{
	const size_t i = find(addr);

	(void)ctx;
	return i < nr && gone >> i & 1 ? "it is swapped out" : NULL;
}

static const struct heap_memory memory = {
	.read = read_image, .next = next_image, .why = why_image, .others = true,
};

static void put(uint64_t addr, uint64_t value)
{
	size_t i = find(addr);

	if (i == nr) {
		if (nr == NR_PAGES)
			abort();
		pages[nr].at = addr & ~4095ULL;
		memset(pages[nr].words, 0, sizeof(pages[nr].words));
		nr++;
	}
	pages[i].words[addr % 4096 / 8] = value;
}

/* ---- jemalloc 5.3 (or before): a slab, a large block, free pages; a thread's cache ---- */

static void extent(int old, uint64_t number, uint64_t at, uint64_t len, uint64_t class, int state,
		   uint64_t slab, uint64_t nr_free)
{
	const uint64_t where = ANON + 0x300000 + number * 128;
	const uint64_t entry = class << 48 | where | slab | (old ? 0 : (uint64_t)state << 2);
	const uint64_t leaf = ANON + 0x80;

	put(where, old ? slab << 12 | (uint64_t)state << 16 | class << 18 | nr_free << 26 :
	    slab << 12 | (uint64_t)state << 17 | class << 20 | nr_free << 28);
	put(where + 8, at);
	put(where + 16, len);
	for (uint64_t i = 0; i < len; i += 4096)
		if (slab || !i || i + 4096 == len)
			put(leaf + (at - ANON + i) / 4096 * 8, entry);
}

static void begin_jemalloc(int old)
{
	const uint64_t stack = ANON + 0x480000, tls = ANON + 0x700000;

	put(DATA + 0x140 + (ANON >> 30) * 8, ANON + 0x80);
	extent(old, 0, ANON + 0x400000, 0x1000, 12, 0, 1, 10);
	put(ANON + 0x300000 + 64, 0xffc0);
	extent(old, 1, stack, 0x5000, 36, 0, 0, 0);
	extent(old, 2, ANON + 0x600000, 0x9000, 232, 1, 0, 0);
	extent(old, 3, ANON + 0x609000, 0x2000, 232, 3, 0, 0);
	for (uint64_t i = 0; i < 40; i++) {
		const uint64_t full = stack + 8 + 64 * i, end = full + 64;
		const uint64_t cached = i == 12;

		put(tls + 24 * i, old ? cached << 32 : end - 8 * cached);
		put(tls + 24 * i + 16, old ? end : (full & 0xffff) << 16 | (end & 0xffff) << 32);
	}
	put(stack + 8 + 64 * 13 - 8, ANON + 0x400000 + 256);
	/* its own memory */
	put(ANON, 2ULL << 20);
	put(ANON + 24, ANON + (2ULL << 20));
}

/* ---- tcmalloc: a span of small blocks, a large one, a free one; a thread's cache ---- */

static void span(uint64_t number, uint64_t at, uint64_t len, uint64_t bits, uint64_t objects)
{
	const uint64_t where = ANON + 0x300000 + number * 48;
	const uint64_t leaf = ANON + (ANON & 0x7fffffff) / 8192 * 8;

	put(where, at / 8192);
	put(where + 8, len / 8192);
	put(where + 32, objects);
	put(where + 40, bits);
	for (uint64_t i = 0; i < len; i += 8192)
		put(leaf + (at - ANON + i) / 8192 * 8, where);
}

static void begin_tcmalloc(uint64_t since_2_11)
{
	const uint64_t sizes = DATA + 0x300000, records = DATA + 0x200000;
	const uint64_t small = ANON + 0x400000, cache = ANON + 0x700000;

	put(DATA + 0x140 + (ANON >> 31) * 8, ANON);
	for (uint64_t i = 0; i < 18; i += 2) {
		const uint64_t one = i ? 1024 * i : 0, two = i == 16 ? 262144 : i ? one + 512 : 8;

		put(sizes + i * 4, one | two << 32);
		put(sizes + 512 + i * 8, i ? 1 : 0);
		put(sizes + 512 + i * 8 + 8, 1);
		put(cache + 32 * i + 24, one);
		put(cache + 32 * i + 56, two);
	}
	put(sizes + 512 + 1024, since_2_11 ? 1 : 18);
	put(sizes + 512 + 1032, since_2_11 ? 18 : 0);
	for (uint64_t i = 1; i < 18; i++)
		put(records + (i - 1) * 1216, i);
	span(0, small, 0x2000, 3 | 2 << 16, small);
	put(small, 0);
	put(cache + 64, small + 2048);
	put(cache + 72, 1);
	put(small + 2048, 0);
	span(1, ANON + 0x402000, 0x8000, 0, 0);
	/* (joined of others, whose entries within it are still there) */
	put(ANON + (ANON & 0x7fffffff) / 8192 * 8 + 0x404000 / 8192 * 8, ANON + 0x300400);
	put(ANON + (ANON & 0x7fffffff) / 8192 * 8 + 0x406000 / 8192 * 8, ANON + 0x300400);
	span(2, ANON + 0x40a000, 0x4000, 1 << 24, 0);
}

/* ---- mimalloc: a page of blocks, one huge one ---- */

static void begin_mimalloc(void)
{
	const uint64_t at = ANON, page = at + 264 + 80, blocks = at + 65536;

	put(at + 224, 512);
	put(at + 232, 1);
	put(at + 248, 512);
	put(at + 256, 1);
	put(at + 264, 1);
	put(page, 1);
	put(page + 8, 2 << 16 | 32ULL << 32);	/* capacity 2, reserved 32 */
	put(page + 16, blocks + 2048);
	put(page + 24, 1 | 2048ULL << 32);
	put(page + 80, 510);
	put(blocks, 0);
	put(blocks + 2048, 0);
	put(at + (32 << 20) + 224, 512);
	put(at + (32 << 20) + 232, 1);
	put(at + (32 << 20) + 240, 1);
	put(at + (32 << 20) + 248, 512);
	put(at + (32 << 20) + 264, 1);
	put(at + (32 << 20) + 264 + 80, 511);
	put(at + (32 << 20) + 264 + 88, 1 << 16 | 1ULL << 32);
	put(at + (32 << 20) + 264 + 104, 1 | (511ULL << 16) << 32);
}

/* ---- musl's: two chunks in use, a free one, a mapped block ---- */

static void begin_oldmalloc(void)
{
	const uint64_t at = ANON + 16, mapped = ANON + 0x100000, list = DATA + 0x400;

	put(at, 1);
	put(at + 8, 0x61);
	put(at + 0x60, 0x61);
	put(at + 0x68, 0x80);
	put(at + 0x70, list);
	put(at + 0x78, list);
	put(list + 16, at + 0x60);
	put(list + 24, at + 0x60);
	put(at + 0xe0, 0x80);
	put(at + 0xe8, 0x1000 - 0xe0 - 32 + 1);
	put(ANON + 0xff0, 0x1000 - 0xe0 - 32 + 1);
	put(ANON + 0xff8, 1);
	put(mapped + 16, 16);
	put(mapped + 24, 0x40000 - 16);
}

static void check(const struct heap *h)
{
	const struct heap_chunk *last = NULL;

	for (size_t i = 0; i < h->nr_chunks; i++) {
		const struct heap_chunk *c = &h->chunks[i];

		if (c->arena >= h->nr_arenas || !c->size ||
		    (last && c->at < last->at + last->size + heap_span(last) - heap_usable(last)))
			abort();
		last = c;
	}
	for (size_t i = 0; i < h->nr_arenas; i++) {
		const struct heap_arena *a = &h->arenas[i];
		uint64_t sum = a->top + a->heads + a->foreign + a->unknown;

		for (int s = 0; s < NR_HEAP_STATES; s++)
			sum += a->sums.bytes[s];
		if (a->allocator != HEAP_GLIBC && sum != a->system)
			abort();
	}
}

/* Nothing was changed: what each of them has. */
static void is_as_made(const struct heap *h, unsigned int which)
{
	static const struct made {
		enum heap_allocator allocator;
		uint64_t used, cached, free;
	} made[] = {
		{ HEAP_JEMALLOC, 5, 1, 11 }, { HEAP_JEMALLOC, 5, 1, 11 },
		{ HEAP_TCMALLOC, 3, 1, 2 }, { HEAP_MIMALLOC, 2, 0, 1 }, { HEAP_OLDMALLOC, 2, 0, 1 },
		{ HEAP_JEMALLOC, 6, 2, 11 }, { HEAP_JEMALLOC, 6, 2, 11 },
		{ HEAP_JEMALLOC, 5, 2, 12 }, { HEAP_TCMALLOC, 3, 1, 2 },
	};
	const unsigned int old = MADE_HERE, last = MADE_HERE + OLD_VERSIONS;
	const struct made *m = &made[which < old ? which : which < old + 2 ? old :
				     which < last ? old + 2 : old + 3];
	uint64_t n[NR_HEAP_STATES] = { 0 };

	for (size_t i = 0; i < h->nr_chunks; i++)
		n[h->chunks[i].state] += !h->chunks[i].mapped;
	if (!h->complete || h->allocator != m->allocator ||
	    n[HEAP_USED] != m->used || n[HEAP_CACHED] != m->cached ||
	    n[HEAP_FREE] != m->free)
		abort();
}

/* Input: which heap; pages that are gone; then words: where, how, what. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const unsigned int which = size ? data[0] % (MADE_HERE + OLD_VERSIONS + 1) : 0;
	const bool as_made = size < 10;
	struct heap h;

	if (!size)
		return 0;
	nr = 0;
	old_put = put;
	if (which < 2)
		begin_jemalloc((int)which);
	else if (which == 2)
		begin_tcmalloc(0);
	else if (which == 3)
		begin_mimalloc();
	else if (which == 4)
		begin_oldmalloc();
	else if (which < MADE_HERE + OLD_VERSIONS)
		old_begin(&old_versions[which - MADE_HERE], DATA, ANON);
	else
		begin_tcmalloc(1);
	gone = 0;
	if (!as_made && data[0] & 128)
		memcpy(&gone, data + 1, 4);
	for (data += 5, size -= size < 5 ? size : 5; size >= 5; data += 5, size -= 5) {
		uint64_t *at = &pages[data[0] % nr].words[(data[1] | data[2] << 8) % WORDS];
		const uint64_t v = data[3] | (uint64_t)data[4] << 8;

		*at = data[2] & 128 ? pages[v % nr].at + (v >> 4) :
		      data[2] & 64 ? *at ^ v << 16 : data[2] & 32 ? *at + v : v;
	}
	if (!heap_walk(&h, areas, sizeof(areas) / sizeof(areas[0]), &memory)) {
		check(&h);
		if (as_made)
			is_as_made(&h, which);
		heap_free(&h);
	} else if (as_made) {
		abort();
	}
	return 0;
}
