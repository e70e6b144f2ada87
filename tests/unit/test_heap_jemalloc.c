// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/heap/arena.c ctl/heap/cached.c ctl/heap/mapped.c ctl/heap/step.c ctl/heap/walk.c */
/* LINK: ctl/heap/main_arena.c ctl/heap/salvage.c */
/* LINK: ctl/base/ids.c ctl/heap/chunks.c ctl/heap/words.c ctl/heap/mallocng.c */
/* LINK: ctl/heap/other.c ctl/heap/jemalloc.c ctl/heap/jemalloc_extents.c */
/* LINK: ctl/heap/jemalloc_entry.c */
/* LINK: ctl/heap/jemalloc_cache.c ctl/heap/tcmalloc.c ctl/heap/tcmalloc_cache.c */
/* LINK: ctl/heap/mimalloc.c ctl/heap/oldmalloc.c ctl/heap/tree.c */
/* LINK: ctl/heap/jemalloc_old.c ctl/heap/jemalloc_old_walk.c ctl/heap/jemalloc_old_cache.c */
/* LINK: ctl/heap/jemalloc_chunk.c ctl/heap/jemalloc_huge.c */
/*
 * Heaps of jemalloc 3.6 to 4.5 that were made up: what is in them is found, and what does not add
 * up is said.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/int.h"
#include "old_jemalloc.h"
#include "tap.h"

#define DATA		0x7f0000000000ULL
#define ANON		0x7f1000000000ULL
#define PAGES		32

static struct page {
	uint64_t at, words[512];
} pages[PAGES];
static size_t nr_pages;

static const struct heap_area areas[] = {
	{ DATA, DATA + (1 << 20), .data = true },
	{ ANON, ANON + (16 << 20), .anonymous = true },
};

static struct page *page_of(uint64_t addr)
{
	for (size_t i = 0; i < nr_pages; i++)
		if (pages[i].at == (addr & ~4095ULL))
			return &pages[i];
	return NULL;
}

static uint64_t *word(uint64_t addr)
{
	struct page *p = page_of(addr);

	if (!p) {
		if (nr_pages == PAGES)
			abort();
		p = &pages[nr_pages++];
		memset(p, 0, sizeof(*p));
		p->at = addr & ~4095ULL;
	}
	return &p->words[addr % 4096 / 8];
}

static void put(uint64_t addr, uint64_t value)
{
	*word(addr) = value;
}

static size_t read_words(void *ctx, __u64 addr, void *buf, size_t len)
{
	const struct page *p = page_of(addr);

	(void)ctx;
	if (!p)
		return 0;
	if (len > 4096 - addr % 4096)
		len = 4096 - addr % 4096;
	memcpy(buf, (const char *)p->words + addr % 4096, len);
	return len;
}

static const struct heap_memory memory = { read_words, NULL, .others = true };
static struct heap heap;

static void make(const struct old_version *o)
{
	nr_pages = 0;
	old_put = put;
	old_begin(o, DATA, ANON);
}

static int look(void)
{
	heap_free(&heap);
	return heap_walk(&heap, areas, 2, &memory);
}

static const struct heap_chunk *block(uint64_t at)
{
	return heap_find(&heap, at - HEAP_HEAD);
}

static uint64_t usable(uint64_t at)
{
	const struct heap_chunk *c = block(at);

	return c ? heap_usable(c) : 0;
}

static bool adds_up(void)
{
	const struct heap_arena *a = heap.arenas;
	uint64_t sum = a->top + a->heads + a->foreign + a->unknown;

	for (int s = 0; s < NR_HEAP_STATES; s++)
		sum += a->sums.bytes[s];
	return heap.nr_arenas == 1 && sum == a->system;
}

static bool misses(const char *what)
{
	return !look() && !heap.complete && heap.others_missing &&
	       strstr(heap.others_missing, what) && adds_up();
}

/* All as it was made. */
static void test_whole(const struct old_version *o)
{
	const bool new = o->record;
	const uint64_t run = old_run(o, ANON, 0), large = old_run(o, ANON, 1);
	const uint64_t huge = new ? 0x280000 : o->chunk;
	const struct heap_sums *s;

	make(o);
	is(look(), 0, "%s is found", o->name);
	ok(heap.complete && heap.allocator == HEAP_JEMALLOC && adds_up(), "and all of it adds up");
	s = &heap.arenas[0].sums;
	is(s->blocks[HEAP_USED], new ? 5 : 6, "blocks in use");
	is(s->bytes[HEAP_USED], (new ? 3 : 4) * 256 + (new ? 4 : 5) * 4096 + huge, "their bytes");
	is(s->blocks[HEAP_CACHED], 2, "blocks in the thread's cache");
	is(s->bytes[HEAP_CACHED], 256 + (new ? 4 : 5) * 4096, "their bytes");
	is(s->blocks[HEAP_FREE], new ? 12 : 11, "free ones, with dirty pages");
	is(s->blocks[HEAP_OWN], new ? 2 : 1, "the cache, and what describes the largest block");
	is(heap.other_caches, 1, "one cache");
	is(usable(run + 3 * 256), 256, "a small block");
	is(usable(large), (new ? 4 : 5) * 4096, "a large one");
	ok(block(large) && heap_span(block(large)) == 5 * 4096 &&
	   heap_block_of(&heap, large + 5 * 4096 - 1) == block(large) &&
	   heap_block_of(&heap, large + 5 * 4096) != block(large),
	   "which may end anywhere in its last page");
	is(usable(ANON + OLD_HUGE), huge, "one with chunks of its own");
	ok(!block(run + 2 * 256) || block(run + 2 * 256)->state == HEAP_CACHED, "a cached one");
}

/* One thing is wrong. */
static void test_broken(const struct old_version *o)
{
	const uint64_t head = old_run_head(o, ANON), arena = ANON + OLD_ARENA;

	make(o);
	*word(head + o->bitmap) ^= 1 << 7;
	/* (the only run with a bitmap by which the chunk can be believed) */
	is(look(), -ENOENT, "%s: a bitmap that does not fit is not believed", o->name);
	make(o);
	*word(old_entry(o, ANON, 1)) += 1ULL << (o->shift + 8);
	is(look(), -ENOENT, "nor runs that do not follow each other");
	make(o);
	*word(arena + o->active) += 1;
	ok(misses("pages in use"), "a page too much is said");
	make(o);
	*word(arena + o->active) += 1000;
	is(look(), -ENOENT, "with many nothing is believed");
	make(o);
	*word(ANON + OLD_ARENAS) = 0;
	ok(misses("table of arenas"), "without the table of arenas that is said");
	make(o);
	*word(old_run(o, ANON, 6)) += 8;
	ok(misses("threads' caches"), "a ring of caches that is none is said");
	make(o);
	*word(o->record ? arena + o->huge : DATA + OLD_DATA + 0x200) += 8;
	ok(o->record ? look() == -ENOENT : misses("large"),
	   "a list of large blocks that is none does not explain pages in use");
	make(o);
	*word(DATA + OLD_TABLE + 24) = 1;
	is(look(), -ENOENT, "without the table of classes nothing is believed");
}

/* A chunk that cannot be read beside one that can. */
static void test_second(const struct old_version *o)
{
	const uint64_t second = ANON + OLD_FREE;

	make(o);
	if (o->record)
		*word(ANON + OLD_ARENA + o->dirty + o->dirty_link) = ANON + OLD_ARENA + o->dirty;
	put(second, ANON + OLD_ARENA);
	if (o->flags) {
		put(second + 8, second);
		put(second + 16, o->chunk);
		put(second + o->flags, 1 << 16);
	}
	ok(!look() && !heap.complete && heap.nr_gaps == 1 && adds_up() &&
	   heap.gaps[0].start == second && heap.arenas[0].unknown == o->chunk,
	   "%s: a chunk whose map is gone is said", o->name);
	is(heap.arenas[0].sums.blocks[HEAP_USED], o->record ? 5 : 6, "the rest is known");
}

int main(void)
{
	for (size_t i = 0; i < OLD_VERSIONS; i++) {
		test_whole(&old_versions[i]);
		test_broken(&old_versions[i]);
		test_second(&old_versions[i]);
	}
	heap_free(&heap);
	return tap_done();
}
