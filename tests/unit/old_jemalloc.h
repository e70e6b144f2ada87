/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _OLD_JEMALLOC_H
#define _OLD_JEMALLOC_H

/*
 * The memory of a process with jemalloc 3.6 to 4.5, made up.  Numbers are those that gdb's "ptype
 * /o" says of builds of each version.  By old_put(), what is not put was never touched.
 *
 * One arena.  A chunk of its own, with the arena and nodes of extents; a chunk of runs: 15 blocks
 * of 256 bytes, five of them allocated, of which one is cached; two large blocks, one of them
 * cached; the thread's cache; free pages.  Then a block of 2.5 or 4 MiB, and a free extent.
 */
#include <stdbool.h>
#include <stdint.h>

struct old_version {
	const char *name;
	bool grows_down;
	uint64_t table_step, table_first, last_size, chunk, shift;
	uint64_t map, map_step, map_bits, record, run, nr_free, bitmap, flags;
	uint64_t bins, bin, caches, active, large, huge, dirty, huge_link, dirty_link, cache_bins;
};

static const struct old_version old_versions[] = {
	{ "3.6", false, 104, 100, 3584, 4 << 20, 4, 48, 24, 16, 0, 0, 12, 16, 0,
	  288, 152, 120, 232, 0, 0, 0, 0, 0, 40 },
	{ "3.6 with --enable-prof", false, 104, 100, 3584, 4 << 20, 4, 48, 32, 24, 0, 0, 12, 16, 0,
	  304, 160, 120, 240, 0, 0, 0, 0, 0, 40 },
	{ "4.0", false, 96, 88, 14336, 2 << 20, 5, 104, 8, 0, 96, 16, 4, 8, 24,
	  0, 0, 168, 224, 96, 464, 360, 72, 56, 32 },
	{ "4.1", true, 64, 56, 14336, 2 << 20, 5, 104, 8, 0, 88, 16, 4, 8, 24,
	  0, 0, 168, 224, 96, 2016, 256, 72, 56, 40 },
	{ "4.2", true, 64, 56, 14336, 2 << 20, 5, 104, 8, 0, 96, 24, 4, 8, 24,
	  0, 0, 224, 288, 152, 2080, 320, 72, 56, 40 },
	{ "4.3", true, 64, 56, 14336, 2 << 20, 5, 104, 8, 0, 96, 24, 4, 8, 24,
	  0, 0, 224, 288, 152, 2072, 320, 72, 56, 40 },
	{ "4.4 and 4.5", true, 64, 56, 14336, 2 << 20, 5, 120, 8, 0, 96, 24, 4, 8, 32,
	  0, 0, 224, 296, 152, 2088, 328, 80, 64, 40 },
};

#define OLD_VERSIONS	(sizeof(old_versions) / sizeof(old_versions[0]))

/* Where everything is, from @data and @anon on, which are multiples of 4 MiB. */
#define OLD_TABLE	0x1000		/* of classes */
#define OLD_DATA	0x2000
#define OLD_ARENA	0x1000
#define OLD_ARENAS	0x2000		/* array of them */
#define OLD_NODE	0x2800		/* of the large block, up to 3.6 */
#define OLD_FREE_NODE	0x2900
#define OLD_CHUNK	0x400000
#define OLD_HUGE	0x800000
#define OLD_FREE	0xc00000
#define OLD_CLASS	16ULL		/* of blocks of 256 bytes */
#define OLD_CLASSES	28ULL

static void (*old_put)(uint64_t addr, uint64_t value);

static uint64_t old_bias(const struct old_version *o)
{
	const uint64_t each = o->record ? 8 + o->record : o->map_step;
	uint64_t bias = 0;

	for (int i = 0; i < 3; i++)
		bias = (o->map + each * (o->chunk / 4096 - bias) + 4095) / 4096;
	return bias;
}

static uint64_t old_entry(const struct old_version *o, uint64_t anon, uint64_t page)
{
	return anon + OLD_CHUNK + o->map + page * o->map_step + o->map_bits;
}

static uint64_t old_run(const struct old_version *o, uint64_t anon, uint64_t page)
{
	return anon + OLD_CHUNK + (old_bias(o) + page) * 4096;
}

static uint64_t old_run_head(const struct old_version *o, uint64_t anon)
{
	const uint64_t records = anon + OLD_CHUNK + o->map + (o->chunk / 4096 - old_bias(o)) * 8;

	return o->record ? records + o->run : old_run(o, anon, 0);
}

static void old_table(const struct old_version *o, uint64_t data)
{
	for (uint64_t i = 0; i < OLD_CLASSES; i++) {
		const uint64_t at = data + OLD_TABLE + i * o->table_step;
		const uint64_t size = !i ? 8 : i == OLD_CLASSES - 1 ? o->last_size : 16 * i;
		const uint64_t run = size > 3584 ? 16384 : 4096, nr = (run - 256) / size;

		old_put(at, size);
		old_put(at + 16, size);
		old_put(at + 24, run);
		old_put(at + 32, nr | (o->record ? 0 : o->bitmap << 32));
		old_put(at + 40, nr);
		old_put(at + o->table_first / 8 * 8, 256ULL << o->table_first % 8 * 8);
	}
}

/* A large or free run: its first entry and its last one. */
static void old_pages(const struct old_version *o, uint64_t anon, uint64_t page, uint64_t nr,
		      uint64_t flags)
{
	const uint64_t last = flags & 1 ? 0 : nr;

	old_put(old_entry(o, anon, page + nr - 1), (last << 8 | 255) << o->shift | flags);
	old_put(old_entry(o, anon, page), (nr << 8 | 255) << o->shift | flags);
}

static void old_cache(const struct old_version *o, uint64_t anon, uint64_t arena)
{
	const uint64_t at = old_run(o, anon, 6), bins = at + o->cache_bins;
	const uint64_t small = old_run(o, anon, 0) + 2 * 256, large = old_run(o, anon, 9);

	old_put(arena + o->caches, at);
	old_put(at, at);
	old_put(at + 8, at);
	if (!o->record)
		old_put(at + 24, arena);
	for (uint64_t i = 0; i < OLD_CLASSES + 2; i++) {
		const uint64_t stack = bins + (OLD_CLASSES + 2) * 32 + 64 * i;
		const uint64_t end = o->grows_down ? stack + 64 : stack;

		old_put(bins + 32 * i + 24, end);
		if (i != OLD_CLASS && i != OLD_CLASSES)
			continue;
		old_put(bins + 32 * i + 16, 1);
		old_put(end - (o->grows_down ? 8 : 0),
			i == OLD_CLASS ? small : large + (o->record ? 640 : 0));
	}
}

/* A tree of one node. */
static void old_tree(uint64_t at, uint64_t node, uint64_t link)
{
	old_put(at, node);
	old_put(at + 8 + link, at + 8);
	old_put(at + 16 + link, at + 8);
	old_put(node + link, at + 8);
	old_put(node + link + 8, at + 8);
}

static void old_extents(const struct old_version *o, uint64_t data, uint64_t anon, uint64_t arena)
{
	const uint64_t free_node = anon + OLD_FREE_NODE;
	const uint64_t node = o->record ? old_run(o, anon, 0) + 256 : anon + OLD_NODE;

	if (!o->record) {
		old_tree(data + OLD_DATA + 0x100, free_node, 0);
		old_tree(data + OLD_DATA + 0x180, free_node, 16);
		old_tree(data + OLD_DATA + 0x200, node, 16);
		old_put(node + 40, anon + OLD_HUGE);
		old_put(node + 48, o->chunk);
		old_put(free_node + 40, anon + OLD_FREE);
		old_put(free_node + 48, o->chunk);
		return;
	}
	old_put(arena + o->huge, node);
	old_put(node, arena);
	old_put(node + 8, anon + OLD_HUGE);
	old_put(node + 16, 0x280000);
	old_put(node + o->huge_link, node);
	old_put(arena + o->dirty + o->dirty_link, free_node);
	old_put(free_node, arena);
	old_put(free_node + 8, anon + OLD_FREE);
	old_put(free_node + 16, o->chunk);
	old_put(free_node + o->dirty_link, arena + o->dirty);
}

static inline void old_begin(const struct old_version *o, uint64_t data, uint64_t anon)
{
	const uint64_t arena = anon + OLD_ARENA, chunk = anon + OLD_CHUNK, bias = old_bias(o);
	const uint64_t head = old_run_head(o, anon);

	old_table(o, data);
	old_put(data + OLD_DATA, anon + OLD_ARENAS);
	old_put(anon + OLD_ARENAS, arena);
	old_put(arena, 1ULL << 32);
	old_put(arena + o->active, 14 + (o->record ? 0x280 : 0));
	if (o->large)
		old_put(arena + o->large, (4 + 2 + 4) * 4096);
	old_put(chunk, arena);
	if (o->flags) {
		old_put(chunk + 8, chunk);
		old_put(chunk + 16, o->chunk);
		old_put(chunk + o->flags, 1 << 16);
	}
	old_put(old_entry(o, anon, 0), OLD_CLASS << o->shift | 1);
	old_pages(o, anon, 1, 5, 3);
	old_pages(o, anon, 6, 3, 3);
	old_pages(o, anon, 9, 5, 3);
	old_pages(o, anon, 14, 2, 1 << (o->shift - 1));
	old_pages(o, anon, 16, o->chunk / 4096 - bias - 16, 0);
	old_put(head, o->record ? OLD_CLASS | 10ULL << 32 : arena + o->bins + OLD_CLASS * o->bin);
	if (!o->record)
		old_put(head + 8, 15 | 10ULL << 32);
	old_put(head + o->bitmap, 0x7fe0);
	old_cache(o, anon, arena);
	old_extents(o, data, anon, arena);
}

#endif
