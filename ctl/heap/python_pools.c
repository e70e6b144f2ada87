// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pymalloc: blocks of up to 512 bytes in pools, pools in arenas.  An array that malloc has
 * describes the arenas; only a static variable leads to it, which stripped programs do not name.
 * It is found by its contents: each pool begins with the number of its arena.  The structures are
 * the same in all versions; sizes of pools and the alignment are found out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "heap/python_int.h"

#define POOLS		64ULL		/* of an arena */
#define POOL_HEAD	48ULL
#define MOST_POOL	16384ULL
#define LEAST_ARENAS	16ULL		/* that there is room for; then twice as many, ... */
#define MOST_ARENAS	(1U << 22)
#define MOST_TRIES	(1U << 24)	/* entries of what may be an array */
#define LOOKED_AT	4096U		/* of one */
#define TRIED		16U		/* pools by which an array is believed */
#define LARGEST		512ULL		/* block */
#define DEBUG_HEAD	16ULL		/* of debug hooks */

static const __u64 pool_sizes[] = { 16384, 4096 };

struct arena {
	__u64 address, next_pool;	/* next_pool: the first that was not begun */
	__u32 nr_free, nr;
	__u64 list, next, before;
};

struct pool {
	__u32 count, unused;
	__u64 first_free, next, before;
	__u32 arena, class, begun, last;	/* begun: blocks before that have been used */
};

struct array {
	struct python *py;
	struct heap *h;
	__u64 at, nr;
	__u64 pool;			/* bytes */
	__u32 tries;
};

/* ---- one pool ---- */

struct blocks {
	__u64 size, nr;			/* bytes of each; that were ever used */
	__u64 free[MOST_POOL / 8 / 64];	/* by bit: the smallest have 8 bytes */
};

/* Blocks that are free, by the list of them; false: they are not those that the pool counts. */
static bool read_free(const unsigned char *bytes, const struct pool *p, __u64 at, __u64 size,
		      struct blocks *b)
{
	__u64 left = b->nr - p->count, next = p->first_free, i;

	for (; next; left--) {
		const __u64 in = next - at;

		if (!left || in < POOL_HEAD || in >= POOL_HEAD + b->nr * size ||
		    (in - POOL_HEAD) % size)
			return false;
		i = (in - POOL_HEAD) / size;
		if (b->free[i / 64] >> i % 64 & 1)
			return false;
		b->free[i / 64] |= 1ULL << i % 64;
		memcpy(&next, bytes + in, sizeof(next));
	}
	return !left;
}

static bool check_pool(const struct array *a, const unsigned char *bytes, __u64 at, __u64 arena,
		       struct pool *p, struct blocks *b)
{
	__u64 align;

	memcpy(p, bytes, sizeof(*p));
	memset(b, 0, sizeof(*b));
	b->size = a->pool - p->last;
	if (p->arena != arena || p->last >= a->pool || b->size > LARGEST || p->class >= 64 ||
	    b->size % (p->class + 1))
		return false;
	align = b->size / (p->class + 1);
	if ((align != 8 && align != 16) || p->begun < POOL_HEAD || p->begun > a->pool ||
	    (p->begun - POOL_HEAD) % b->size)
		return false;
	b->nr = (p->begun - POOL_HEAD) / b->size;
	return p->count <= b->nr && (!p->count || read_free(bytes, p, at, b->size, b));
}

/* Pages that the process has not touched yet are zeros; the first one has the pool's head. */
static bool read_pool(const struct array *a, __u64 at, unsigned char *bytes)
{
	if (!python_read(a->py, at, bytes, PAGE))
		return false;
	for (__u64 page = PAGE; page < a->pool; page += PAGE)
		if (!python_read(a->py, at + page, bytes + page, PAGE))
			memset(bytes + page, 0, PAGE);
	return true;
}

static int take_pool(const struct array *a, __u64 at, const struct pool *p, const struct blocks *b)
{
	struct python_pools *sums = &a->py->pools;
	const __u64 room = (a->pool - POOL_HEAD) / b->size;
	int err = 0;

	sums->pools++;
	if (!p->count) {
		sums->empty++;
		sums->empty_bytes += a->pool;
		return 0;
	}
	sums->blocks += p->count;
	sums->bytes += p->count * b->size;
	sums->free_bytes += (room - p->count) * b->size;
	for (__u64 i = 0; !err && i < b->nr; i++)
		if (!(b->free[i / 64] >> i % 64 & 1))
			err = heap_add(a->h, &(struct heap_chunk){
				.at = at + POOL_HEAD + i * b->size - HEAP_HEAD, .size = b->size,
				.state = HEAP_USED, .tail = HEAP_NO_TAIL, .pooled = 1 });
	return err;
}

static int add_range(struct python *py, __u64 start, __u64 end)
{
	struct python_range *last = py->nr_ranges ? &py->ranges[py->nr_ranges - 1] : NULL, *more;

	if (last && last->end == start) {
		last->end = end;
		return 0;
	}
	more = ids_grow(py->ranges, py->nr_ranges, &py->room_ranges, sizeof(*more));
	if (!more)
		return -ENOMEM;
	py->ranges = more;
	py->ranges[py->nr_ranges++] = (struct python_range){ start, end };
	return 0;
}

/* ---- arenas ---- */

static bool is_arena(const struct array *a, const struct arena *at)
{
	const __u64 end = at->address + POOLS * a->pool;

	return at->address % PAGE == 0 && end > at->address && at->next_pool >= at->address &&
	       at->next_pool <= end && at->nr_free <= at->nr && at->nr >= POOLS - 1 &&
	       at->nr <= POOLS;
}

static __u64 first_pool(const struct array *a, const struct arena *at)
{
	return (at->address + a->pool - 1) & ~(a->pool - 1);
}

static int walk_arena(const struct array *a, const struct arena *at, __u64 nr)
{
	struct python_pools *sums = &a->py->pools;
	const __u64 end = at->address + POOLS * a->pool;
	unsigned char bytes[MOST_POOL];
	struct blocks b;
	struct pool p;
	__u64 pool = first_pool(a, at);
	int err = 0;

	sums->arenas++;
	sums->arena_bytes += POOLS * a->pool;
	for (; !err && pool < at->next_pool && pool + a->pool <= end; pool += a->pool) {
		if (!read_pool(a, pool, bytes) ||
		    !check_pool(a, bytes, pool, nr, &p, &b)) {
			sums->bad++;
			sums->bad_bytes += a->pool;
			continue;
		}
		err = take_pool(a, pool, &p, &b);
		if (!err)
			err = add_range(a->py, pool, pool + a->pool);
	}
	if (pool < end)
		sums->empty_bytes += end - pool;
	return err;
}

/* Do pools of this size say in which arena they are? */
static bool try_pools(struct array *a)
{
	unsigned char bytes[MOST_POOL];
	__u32 good = 0, bad = 0;
	struct arena at;
	struct blocks b;
	struct pool p;

	for (__u64 i = 0; i < a->nr && i < LOOKED_AT && good + bad < TRIED; i++) {
		if (a->tries++ > MOST_TRIES ||
		    !python_read(a->py, a->at + i * sizeof(at), &at, sizeof(at)))
			return false;
		if (!at.address)
			continue;
		if (!is_arena(a, &at))
			return false;
		for (__u64 pool = first_pool(a, &at); pool < at.next_pool && good + bad < TRIED;
		     pool += a->pool)
			if (read_pool(a, pool, bytes) &&
			    check_pool(a, bytes, pool, i, &p, &b))
				good++;
			else
				bad++;
	}
	return good > bad;
}

static bool try_array(struct array *a, __u64 usable)
{
	struct arena at;

	for (a->nr = LEAST_ARENAS; 2 * a->nr * sizeof(at) <= usable && a->nr < MOST_ARENAS;)
		a->nr *= 2;
	if (a->nr * sizeof(at) > usable || !python_read(a->py, a->at, &at, sizeof(at)))
		return false;
	for (size_t i = 0; i < sizeof(pool_sizes) / sizeof(pool_sizes[0]); i++) {
		a->pool = pool_sizes[i];
		if (try_pools(a))
			return true;
	}
	return false;
}

static int walk_array(struct array *a)
{
	struct arena at;
	int err = 0;

	a->py->pools.found = true;
	for (__u64 i = 0; !err && i < a->nr; i++)
		if (python_read(a->py, a->at + i * sizeof(at), &at, sizeof(at)) && at.address &&
		    is_arena(a, &at))
			err = walk_arena(a, &at, i);
	return err;
}

/* ---- the array ---- */

/* The block of malloc's that begins at @word, or behind what debug hooks put before it. */
static __u64 room_at(const struct heap *h, __u64 word)
{
	const struct heap_chunk *c = heap_find(h, word - HEAP_HEAD);
	__u64 head = 0;

	if (!c) {
		c = heap_find(h, word - HEAP_HEAD - DEBUG_HEAD);
		head = DEBUG_HEAD;
	}
	return c && c->state == HEAP_USED && !c->pooled && heap_usable(c) > head ?
	       heap_usable(c) - head : 0;
}

static bool find_array(struct array *a, const struct heap_area *area)
{
	__u64 words[PAGE / WORD], usable;

	for (__u64 at = area->start & ~(PAGE - 1); at < area->end; at += PAGE) {
		if (!python_read(a->py, at, words, sizeof(words)))
			continue;
		for (size_t i = 0; i < PAGE / WORD; i++) {
			if (words[i] % ALIGN || words[i] < PAGE)
				continue;
			usable = room_at(a->h, words[i]);
			a->at = words[i];
			if (usable >= LEAST_ARENAS * sizeof(struct arena) && try_array(a, usable))
				return true;
		}
	}
	return false;
}

static int by_start(const void *x, const void *y)
{
	const struct python_range *a = x, *b = y;

	return (a->start > b->start) - (a->start < b->start);
}

static void give_up(struct python *py, struct heap *h, const char *why)
{
	size_t nr = 0;

	for (size_t i = 0; i < h->nr_chunks; i++)
		if (!h->chunks[i].pooled)
			h->chunks[nr++] = h->chunks[i];
	h->nr_chunks = nr;
	py->nr_ranges = 0;
	py->pools = (struct python_pools){ .found = false };
	snprintf(py->why, sizeof(py->why), "%s", why);
	py->layout = NULL;
}

/* No block is in another one, or in what malloc has. */
static bool is_apart(const struct python *py, const struct heap *h)
{
	size_t k = 0;

	for (size_t i = 1; i < h->nr_chunks; i++)
		if ((h->chunks[i].pooled || h->chunks[i - 1].pooled) &&
		    h->chunks[i].at - h->chunks[i - 1].at < h->chunks[i - 1].size)
			return false;
	for (size_t i = 0; i < py->nr_ranges; i++) {
		if (i && py->ranges[i].start < py->ranges[i - 1].end)
			return false;
		while (k < h->nr_pieces && h->pieces[k].end <= py->ranges[i].start)
			k++;
		if (k < h->nr_pieces && h->pieces[k].start < py->ranges[i].end)
			return false;
	}
	return true;
}

int python_find_pools(struct python *py, struct heap *h)
{
	struct array a = { .py = py, .h = h };
	bool found = false;
	int err;

	if (!py->layout)
		return 0;
	for (size_t i = 0; !found && i < py->place.nr_data; i++)
		found = find_array(&a, &py->place.data[i]);
	if (!found)
		return 0;
	err = walk_array(&a);
	if (err)
		return err;
	heap_sort(h);
	if (py->nr_ranges)
		qsort(py->ranges, py->nr_ranges, sizeof(*py->ranges), by_start);
	if (!is_apart(py, h))
		give_up(py, h, "its pools overlap other blocks");
	return 0;
}
