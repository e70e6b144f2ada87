// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The heap of gperftools' tcmalloc (2.7 and later, with its usual pages of 8 KiB).  Memory is
 * divided into spans.  A tree of two levels, whose root of 1 MiB is among the zeros of the library
 * or program, leads from pages to spans.  It is found like jemalloc's (jemalloc.c): each pointer is
 * tried as an entry, and spans must lie where the tree says.
 *
 * A span is free, or one large block, or has small blocks of one size: some of them in its list of
 * free ones, and as many as it says elsewhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/tcmalloc_int.h"
#include "heap/tree.h"

#define ROOT_SLOTS	(1ULL << 17)
#define ROOT_BYTES	(ROOT_SLOTS * WORD)
#define LEAF_SLOTS	(1ULL << 18)
#define LEAF_BYTES	(LEAF_SLOTS * WORD)
#define LEAF_SPAN	(LEAF_SLOTS * TC_PAGE)
#define SAMPLE		64
#define MAX_LEN		(1ULL << 42)
#define MOST_OBJECTS	65536ULL

static const char bad_entry[] = "an entry of its tree is inconsistent";
static const char bad_list[] = "its list of free blocks is inconsistent";

enum { SPAN_USED, SPAN_FREE, SPAN_RETURNED };

struct span {
	__u64 start, len;		/* bytes */
	__u64 objects;
	unsigned int refs, class, where;
};

/* The span at @at, if it has the page at @key. */
static bool span_at(struct tc *t, __u64 at, __u64 key, struct span *s)
{
	__u64 words[6];

	if (!at || at % WORD || at >> 47 || !words_at(t->w, at, words, sizeof(words)))
		return false;
	if (!words[0] || words[0] >= 1ULL << 34 || !words[1] || words[1] > MAX_LEN / TC_PAGE)
		return false;
	*s = (struct span){ words[0] * TC_PAGE, words[1] * TC_PAGE, words[4],
			    words[5] & 0xffff, words[5] >> 16 & 0xff, words[5] >> 24 & 3 };
	return key >= s->start && key - s->start < s->len && s->where <= SPAN_RETURNED &&
	       s->class < TC_CLASSES && (s->where == SPAN_USED || !s->refs);
}

/* ---- the tree ---- */

struct sample {
	struct tc *t;
	__u64 first;			/* address that the leaf describes */
	__u64 end;			/* of the last span */
	size_t seen, good;
};

static int sample_span(void *ctx, __u64 entry, __u64 number, __u64 at)
{
	struct sample *of = ctx;
	const __u64 key = of->first + number * TC_PAGE;
	struct span s;

	(void)at;
	/* (where spans were joined, entries within them stay as they were) */
	if (key < of->end)
		return 0;
	of->seen++;
	if (span_at(of->t, entry, key, &s)) {
		of->good++;
		of->end = s.start + s.len;
	}
	return of->seen == SAMPLE || (of->seen == 8 && !of->good);
}

static bool is_leaf(void *ctx, __u64 leaf, __u64 span)
{
	struct sample s = { .t = ctx, .first = span * LEAF_SPAN };

	tree_each(NULL, s.t->w, leaf, LEAF_BYTES, sample_span, &s);
	return s.good && s.good + 1 >= s.seen;
}

/* ---- spans ---- */

static int add_gap(struct tc *t, const struct span *s)
{
	t->h->arenas[t->arena].unknown += s->len;
	return heap_add_gap(t->h, t->arena, s->start, s->start + s->len,
			    words_why(t->w, s->start, bad_list));
}

/* Which objects are in the span's own list; false: it makes no sense. */
static bool follow(struct tc *t, const struct span *s, __u64 size, __u64 nr)
{
	__u64 at = s->objects, found = 0;

	memset(t->taken, 0, (nr + 63) / 64 * WORD);
	while (at && found <= nr) {
		const __u64 i = (at - s->start) / size;

		if (at < s->start || i >= nr || (at - s->start) % size ||
		    t->taken[i / 64] >> i % 64 & 1)
			return false;
		t->taken[i / 64] |= 1ULL << i % 64;
		found++;
		if (!word_at(t->w, at, &at))
			return false;
	}
	return found + s->refs == nr;
}

static int add_small(struct tc *t, const struct span *s)
{
	const __u64 size = s->class < t->nr_sizes ? (__u64)t->sizes[s->class] : 0;
	const __u64 nr = size ? s->len / size : 0;
	int err = 0;

	if (!nr || nr > MOST_OBJECTS || !follow(t, s, size, nr))
		return add_gap(t, s);
	for (__u64 i = 0; i < nr && !err; i++)
		err = heap_add_block(t->h, t->arena, s->start + i * size, size,
				     t->taken[i / 64] >> i % 64 & 1 ? HEAP_FREE : HEAP_USED);
	return err;
}

static int add_span(struct tc *t, const struct span *s)
{
	int err = heap_add_piece(t->h, t->arena, s->start, s->start + s->len);

	t->h->arenas[t->arena].pieces++;
	/* given back to the kernel, and reserved */
	if (err || s->where == SPAN_RETURNED)
		return err;
	t->h->arenas[t->arena].system += s->len;
	if (s->where == SPAN_FREE)
		return heap_add_block(t->h, t->arena, s->start, s->len, HEAP_FREE);
	return s->class ? add_small(t, s) :
	       heap_add_block(t->h, t->arena, s->start, s->len, HEAP_USED);
}

static int take_entry(void *ctx, __u64 entry, __u64 number, __u64 at)
{
	struct tc *t = ctx;
	const __u64 key = t->leaf + number * TC_PAGE;
	struct span s;

	if (key < t->end)
		return 0;
	if (!span_at(t, entry, key, &s) || s.start != key) {
		heap_miss(t->h, bad_entry, at);
		return 0;
	}
	t->end = s.start + s.len;
	return add_span(t, &s);
}

static int take_leaf(void *ctx, __u64 leaf, __u64 number, __u64 at)
{
	struct tc *t = ctx;

	(void)at;
	t->leaf = number * LEAF_SPAN;
	return leaf >> 47 ? 0 : tree_each(t->h, t->w, leaf, LEAF_BYTES, take_entry, t);
}

static int walk_one(struct tc *t)
{
	const struct heap_arena arena = { .at = t->root, .allocator = HEAP_TCMALLOC };
	const size_t chunks = t->h->nr_chunks, arenas = t->h->nr_arenas;
	int err;

	t->taken = calloc(MOST_OBJECTS / 64, WORD);
	if (!t->taken)
		return -ENOMEM;
	err = heap_add_arena(t->h, &arena, &t->arena);
	if (!err)
		err = tree_each(t->h, t->w, t->root, ROOT_BYTES, take_leaf, t);
	free(t->taken);
	if (!err)
		heap_sum_rest(t->h, arenas, chunks);
	heap_sort(t->h);
	return err ? err : tc_caches(t);
}

int tcmalloc_walk(struct heap *h, const struct heap_area *areas, size_t nr, struct heap_words *w)
{
	struct tc *t = calloc(1, sizeof(*t));
	struct heap_tree tree = { .w = w, .areas = areas, .nr_areas = nr, .root_len = ROOT_BYTES,
				  .leaf_len = LEAF_BYTES, .span = LEAF_SPAN, .align = WORD,
				  .is_leaf = is_leaf, .ctx = t };
	int err = -ENOENT;

	if (!t)
		return -ENOMEM;
	*t = (struct tc){ .h = h, .w = w, .areas = areas, .nr_areas = nr };
	tree_begin(&tree);
	for (size_t i = 0; i < nr && err == -ENOENT; i++) {
		if (!areas[i].data)
			continue;
		t->data = heap_data_at(areas, nr, &i);
		if (tc_find_sizes(t))
			continue;
		t->root = tree_find(&tree, &t->data, t->data.start);
		if (t->root)
			err = walk_one(t);
	}
	free(t);
	return err;
}
