// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The blocks of jemalloc 3.6 to 4.5; see jemalloc_old.c.  Since 4.0 a large block begins at a
 * random line of the cache in the first page of its run, which is one page longer for that.  No
 * structure of jemalloc has the address: free() gets it from the program.
 */
#include <errno.h>
#include <string.h>

#include "heap/jemalloc_old_int.h"

static const char bad_map[] = "the map of its pages is inconsistent";
static const char bad_bitmap[] = "the bitmap of its blocks is inconsistent";

static struct heap_arena *arena_of(struct jo *j, struct jo_arena *from, size_t *index)
{
	const struct heap_arena a = { .at = from->at, .allocator = HEAP_JEMALLOC,
				      .libc = j->number, .number = from->number };

	if (!from->index) {
		if (heap_add_arena(j->h, &a, index))
			return NULL;
		from->index = *index + 1;
	}
	*index = from->index - 1;
	return &j->h->arenas[*index];
}

static struct jo_arena *by_address(struct jo *j, __u64 at)
{
	for (size_t i = 0; i < j->nr_arenas; i++)
		if (j->arenas[i].at == at)
			return &j->arenas[i];
	return NULL;
}

/* ---- chunks ---- */

static int add_gap(struct jo *j, size_t arena, __u64 start, __u64 len, const char *why)
{
	j->h->arenas[arena].unknown += len;
	return heap_add_gap(j->h, arena, start, start + len, words_why(j->w, start, why));
}

static int add_small(struct jo *j, size_t arena, const struct jo_chunk *c, const struct jo_run *r)
{
	const struct jo_class *class = &j->classes[r->class];
	__u64 bits[JO_REGIONS / 64];
	int err = 0;

	if (!jo_bitmap(j, c, r, bits))
		return add_gap(j, arena, r->at, r->pages * PAGE, bad_bitmap);
	for (__u32 i = 0; i < class->nr && !err; i++)
		err = heap_add_block(j->h, arena, r->at + class->first + i * class->step,
				     class->size,
				     bits[i / 64] >> i % 64 & 1 ? HEAP_FREE : HEAP_USED);
	return err;
}

static int add_large(struct jo *j, size_t arena, const struct jo_run *r)
{
	const bool loose = j->padded && r->pages > 1;
	const __u64 len = (r->pages - loose) * PAGE;
	int err = heap_add_block(j->h, arena, r->at,
				 r->class == JO_NONE ? len : j->classes[r->class].size, HEAP_USED);

	if (!err && loose)
		j->h->chunks[j->h->nr_chunks - 1].tail = HEAP_LOOSE_TAIL;
	return err;
}

/* Free pages that are not dirty have no memory. */
static int add_run(struct jo *j, size_t arena, const struct jo_chunk *c, const struct jo_run *r)
{
	if (!r->used && !r->dirty)
		return 0;
	j->h->arenas[arena].system += r->pages * PAGE;
	if (!r->used)
		return heap_add_block(j->h, arena, r->at, r->pages * PAGE, HEAP_FREE);
	return r->large ? add_large(j, arena, r) : add_small(j, arena, c, r);
}

static int add_chunk(struct jo *j, const struct jo_chunk *c)
{
	struct jo_arena *of = by_address(j, c->arena);
	struct heap_arena *a;
	struct jo_run r;
	size_t index = 0;
	int err;

	if (!of || jo_in_extent(j, c->at))
		return 0;
	a = arena_of(j, of, &index);
	if (!a)
		return -ENOMEM;
	a->pieces++;
	err = heap_add_piece(j->h, index, c->at, c->at + j->chunk);
	if (!err && !c->good) {
		a->system += j->chunk;
		return add_gap(j, index, c->at, j->chunk, bad_map);
	}
	a->system += j->bias * PAGE;
	for (size_t page = j->bias; page < j->pages && !err; page += r.pages)
		err = jo_run_at(j, c->at, page, &r) ? add_run(j, index, c, &r) : -EINVAL;
	return err == -EINVAL ? 0 : err;
}

/* ---- is a page added to large blocks? ---- */

/* There are four classes from one power of two to the next. */
static bool is_class(__u64 size)
{
	__u64 step = PAGE;

	while (size / step >= 8)
		step *= 2;
	return size % step == 0;
}

/* By what arenas say of their large blocks; else if without the page all have a class. */
static void find_padding(struct jo *j)
{
	bool all_classes = true, some = false;
	struct jo_run r;
	__u64 says, sum = 0, nr = 0;

	j->padded = false;
	if (!j->l->large)
		return;
	for (size_t i = 0; i < j->nr_chunks; i++) {
		const struct jo_chunk *c = &j->chunks[i];
		struct jo_arena *a = by_address(j, c->arena);

		if (!a || !c->good || jo_in_extent(j, c->at))
			continue;
		for (size_t page = j->bias; page < j->pages; page += r.pages) {
			if (!jo_run_at(j, c->at, page, &r))
				break;
			if (!r.used || !r.large)
				continue;
			a->large += r.pages * PAGE;
			a->nr_large++;
			some = true;
			all_classes &= r.pages > 1 && is_class((r.pages - 1) * PAGE);
		}
	}
	for (size_t i = 0; i < j->nr_arenas; i++) {
		const struct jo_arena *a = &j->arenas[i];

		if (!a->nr_large || !word_at(j->w, a->at + j->l->large, &says))
			continue;
		sum += says == a->large - a->nr_large * PAGE;
		nr += says == a->large;
	}
	j->padded = sum == nr ? some && all_classes : sum > nr;
}

/* ---- large extents, and its own memory ---- */

static int add_extent(struct jo *j, const struct jo_extent *e)
{
	struct heap_arena *a;
	size_t index = 0;
	int err;

	a = arena_of(j, &j->arenas[e->arena], &index);
	if (!a)
		return -ENOMEM;
	a->pieces++;
	a->system += e->size;
	err = heap_add_piece(j->h, index, e->start, e->end);
	return err ? err : heap_add_block(j->h, index, e->start, e->size,
					  e->free ? HEAP_FREE : HEAP_USED);
}

static bool is_empty(const __u64 page[PAGE / WORD])
{
	for (size_t i = 0; i < PAGE / WORD; i++)
		if (page[i])
			return false;
	return true;
}

/* A chunk of its own has no header: it takes the pages that have something. */
static int add_own(struct jo *j, __u64 at)
{
	__u64 words[PAGE / WORD];
	struct heap_arena *a;
	size_t index = 0;

	a = arena_of(j, &j->arenas[0], &index);
	if (!a)
		return -ENOMEM;
	for (size_t i = 0; i < j->nr_chunks; i++)
		if (j->chunks[i].at == at)
			return 0;
	if (jo_in_extent(j, at))
		return 0;
	for (__u64 page = words_page(j->w, at, at + j->chunk); page < at + j->chunk;
	     page = words_page(j->w, page + PAGE, at + j->chunk))
		if (words_at(j->w, page, words, PAGE) && !is_empty(words))
			a->system += PAGE;
	return heap_add_piece(j->h, index, at, at + j->chunk);
}

int jo_walk(struct jo *j)
{
	const size_t chunks = j->h->nr_chunks, arenas = j->h->nr_arenas;
	int err = jo_find_extents(j);

	find_padding(j);
	for (size_t i = 0; i < j->nr_chunks && !err; i++)
		err = add_chunk(j, &j->chunks[i]);
	for (size_t i = 0; i < j->nr_extents && !err; i++)
		err = add_extent(j, &j->extents[i]);
	for (size_t i = 0; i < j->nr_own && !err; i++)
		err = add_own(j, j->own[i]);
	if (!err)
		heap_sum_rest(j->h, arenas, chunks);
	return err;
}
