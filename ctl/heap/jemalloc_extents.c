// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Walk jemalloc's extents in the order of their addresses.  An active extent is a large block, or a
 * slab of small blocks of one size; its bitmap says which are allocated.  The others are free.
 * What does not add up is a gap, and not counted.
 *
 * jemalloc's own structures lie in blocks of their own, which no leaf describes.  Pointers in them
 * are no roots.
 */
#include <errno.h>
#include <string.h>

#include "base/ids.h"
#include "heap/jemalloc_int.h"
#include "heap/tree.h"

#define BASE_ALIGN	(2ULL << 20)
#define BASE_STEPS	(1ULL << 16)	/* blocks of its own that are looked for in one mapping */

static const char bad_entry[] = "an entry of its tree is inconsistent";
static const char bad_bitmap[] = "the bitmap of its blocks is inconsistent";
static const char bad_state[] = "a thread is just changing it";

/* ---- arenas ---- */

static struct heap_arena *arena_of(struct je *j, unsigned int number, size_t *index)
{
	const struct heap_arena a = { .at = j->root, .allocator = HEAP_JEMALLOC,
				      .libc = j->number, .number = number };

	if (j->arenas[number])
		*index = j->arenas[number] - 1U;
	else if (heap_add_arena(j->h, &a, index))
		return NULL;
	j->arenas[number] = (__u16)(*index + 1);
	return &j->h->arenas[*index];
}

/* Extents that follow each other, and are one arena's, are one piece. */
static int flush_piece(struct je *j)
{
	int err = 0;

	if (j->last_end > j->last_start) {
		err = heap_add_piece(j->h, j->last_arena, j->last_start, j->last_end);
		j->h->arenas[j->last_arena].pieces++;
	}
	j->last_start = j->last_end = 0;
	return err;
}

static int add_piece(struct je *j, size_t arena, __u64 start, __u64 end)
{
	int err = 0;

	if (arena != j->last_arena || start != j->last_end)
		err = flush_piece(j);
	if (!j->last_end)
		j->last_start = start;
	j->last_arena = arena;
	j->last_end = end;
	return err;
}

/* ---- extents ---- */

static int add_gap(struct je *j, size_t arena, __u64 start, __u64 len, const char *why)
{
	j->h->arenas[arena].unknown += len;
	return heap_add_gap(j->h, arena, start, start + len, words_why(j->w, start, why));
}

static int add_slab(struct je *j, size_t arena, const struct je_extent *e)
{
	const __u64 size = je_class_size(&j->layout, e->class);
	const __u64 nr = size ? e->len / size : 0;
	unsigned int nr_free = 0;
	int err = 0;

	for (__u64 i = 0; i < nr && nr <= JE_REGIONS; i++)
		nr_free += e->bitmap[i / 64] >> i % 64 & 1;
	if (!nr || nr > JE_REGIONS || nr * size != e->len || nr_free != e->nr_free)
		return add_gap(j, arena, e->base, e->len, bad_bitmap);
	for (__u64 i = 0; i < nr && !err; i++)
		err = heap_add_block(j->h, arena, e->base + i * size, size,
				     e->bitmap[i / 64] >> i % 64 & 1 ? HEAP_FREE : HEAP_USED);
	return err;
}

/* Its size is that of its class; of classes without a table (5.3.1) that of its pages. */
static int add_large(struct je *j, size_t arena, const struct je_extent *e)
{
	const __u64 size = je_class_size(&j->layout, e->class), at = e->addr - e->base;
	struct je_large *more;

	if (e->class < JE_LARGE)		/* small, and sampled by its profiler */
		return heap_add_block(j->h, arena, e->addr, size, HEAP_USED);
	j->padded |= at || e->len == size + PAGE;
	more = ids_grow(j->larges, j->nr_larges, &j->room_larges, sizeof(*more));
	if (!more)
		return -ENOMEM;
	j->larges = more;
	j->larges[j->nr_larges++] = (struct je_large){ j->h->nr_chunks, size };
	return heap_add_block(j->h, arena, e->addr, e->len - at, HEAP_USED);
}

/* Whether a page is added to each large block is known when all were seen. */
static void settle_larges(struct je *j)
{
	for (size_t i = 0; i < j->nr_larges; i++) {
		const struct je_large *l = &j->larges[i];
		struct heap_chunk *c = &j->h->chunks[l->chunk];
		const __u64 at = (c->at + HEAP_HEAD) % PAGE, pad = j->padded ? PAGE : 0;
		const __u64 size = c->size + at > pad ? c->size + at - pad : c->size;

		c->size = l->class_size < size ? l->class_size : size;
	}
}

static int add_extent(struct je *j, const struct je_extent *e)
{
	struct heap_arena *a;
	size_t arena = 0;
	int err;

	a = arena_of(j, e->arena, &arena);
	if (!a)
		return -ENOMEM;
	err = add_piece(j, arena, e->base, e->base + e->len);
	/* reserved, without memory */
	if (err || e->state == JE_RETAINED)
		return err;
	a->system += e->len;
	if (e->state == JE_DIRTY || e->state == JE_MUZZY)
		return heap_add_block(j->h, arena, e->base, e->len, HEAP_FREE);
	if (e->state != JE_ACTIVE)
		return add_gap(j, arena, e->base, e->len, bad_state);
	return e->slab ? add_slab(j, arena, e) : add_large(j, arena, e);
}

/* ---- the tree ---- */

static int take_entry(void *ctx, __u64 entry, __u64 number, __u64 at)
{
	struct je *j = ctx;
	const __u64 key = j->leaf + number * PAGE;
	struct je_extent e;

	if (key < j->end || !(entry << 16 >> 22))
		return 0;
	if (!je_extent_at(j->w, &j->layout, entry, key, &e) || e.base != key) {
		heap_miss(j->h, bad_entry, at);
		return 0;
	}
	j->end = e.base + e.len;
	return add_extent(j, &e);
}

static int take_leaf(void *ctx, __u64 leaf, __u64 number, __u64 at)
{
	struct je *j = ctx;

	j->leaf = number * JE_LEAF_SPAN;
	if (!(leaf % 64) && !(leaf >> 47))
		return tree_each(j->h, j->w, leaf, JE_TABLE, take_entry, j);
	heap_miss(j->h, bad_entry, at);
	return 0;
}

/* ---- its own memory ---- */

/* Blocks of its own begin with their length and the next one, and say what is left of them. */
static __u64 base_block(struct je *j, __u64 at, __u64 limit, __u64 *used)
{
	__u64 words[5];

	if (!words_at(j->w, at, words, sizeof(words)) || !words[0] || words[0] % BASE_ALIGN ||
	    words[0] > limit - at || words[1] % BASE_ALIGN || words[1] >> 47 ||
	    words[3] < at + sizeof(words) || words[3] > at + words[0] ||
	    words[4] != at + words[0] - words[3])
		return 0;
	*used = words[3] - at;
	return words[0];
}

static int take_base(struct je *j)
{
	struct heap_arena *a;
	size_t arena = 0;
	int err = 0;

	a = arena_of(j, 0, &arena);
	if (!a)
		return -ENOMEM;
	for (size_t i = 0; i < j->nr_areas && !err; i++) {
		const struct heap_area *in = &j->areas[i];
		__u64 at = (in->start + BASE_ALIGN - 1) & ~(BASE_ALIGN - 1), used, len;

		for (__u64 n = 0; in->anonymous && at < in->end && !err && n < BASE_STEPS; n++) {
			len = base_block(j, at, in->end, &used);
			if (len) {
				err = heap_add_piece(j->h, arena, at, at + len);
				a->system += used;
			}
			at += len ? len : BASE_ALIGN;
		}
	}
	return err;
}

int je_walk(struct je *j)
{
	const size_t chunks = j->h->nr_chunks, arenas = j->h->nr_arenas;
	int err = tree_each(j->h, j->w, j->root, JE_TABLE, take_leaf, j);

	if (!err)
		err = flush_piece(j);

	if (!err)
		settle_larges(j);
	if (!err)
		err = take_base(j);
	if (!err)
		heap_sum_rest(j->h, arenas, chunks);
	return err;
}
