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

#define ROOT_SLOTS	(1ULL << 17)
#define ROOT_BYTES	(ROOT_SLOTS * WORD)
#define LEAF_SLOTS	(1ULL << 18)
#define LEAF_BYTES	(LEAF_SLOTS * WORD)
#define LEAF_SPAN	(LEAF_SLOTS * TC_PAGE)
#define SAMPLE		64
#define MAX_TRIES	4096U
#define MAX_LEN		(1ULL << 42)
#define MOST_OBJECTS	65536ULL

static const char bad_entry[] = "an entry of its tree is inconsistent";
static const char no_page[] = "a part of its tree was not read";
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

static bool is_leaf(struct tc *t, __u64 leaf, __u64 span)
{
	size_t seen = 0, good = 0;
	struct span s;

	for (__u64 page = words_page(t->w, leaf, leaf + LEAF_BYTES);
	     page < leaf + LEAF_BYTES && seen < SAMPLE;
	     page = words_page(t->w, page + PAGE, leaf + LEAF_BYTES)) {
		if (words_page_at(t->w, page, t->leaf) <= 0)
			continue;
		for (size_t i = 0; i < PAGE / WORD && seen < SAMPLE; i++) {
			const __u64 at = page + i * WORD;

			if (at < leaf || at >= leaf + LEAF_BYTES || !t->leaf[i])
				continue;
			seen++;
			good += span_at(t, t->leaf[i],
					span * LEAF_SPAN + (at - leaf) / WORD * TC_PAGE, &s);
			if (seen == 8 && !good)
				return false;
		}
	}
	return good && good + 1 >= seen;
}

/* Is @leaf at @at an entry of a root?  Then it describes memory that the kernel gave. */
static bool is_entry(struct tc *t, __u64 at, __u64 leaf, unsigned int *tries)
{
	const struct heap_area *in = heap_area_of(t->areas, t->nr_areas, leaf);
	__u64 last = ~0ULL;

	if (!in || !in->anonymous || in->end - leaf < LEAF_BYTES)
		return false;
	for (size_t i = 0; i < t->nr_areas && *tries < MAX_TRIES; i++) {
		const __u64 span = t->areas[i].start / LEAF_SPAN;

		if ((!t->areas[i].anonymous && !t->areas[i].brk) || span == last ||
		    span >= ROOT_SLOTS)
			continue;
		last = span;
		if (at - t->data.start < span * WORD ||
		    at - span * WORD + ROOT_BYTES > t->data.end)
			continue;
		++*tries;
		if (!is_leaf(t, leaf, span))
			continue;
		t->root = at - span * WORD;
		return true;
	}
	return false;
}

static bool find_root(struct tc *t)
{
	unsigned int tries = 0;

	for (__u64 page = words_page(t->w, t->data.start, t->data.end); page < t->data.end;
	     page = words_page(t->w, page + PAGE, t->data.end)) {
		if (!words_at(t->w, page, t->table, PAGE))
			continue;
		for (size_t i = 0; i < PAGE / WORD; i++)
			if (t->table[i] && t->table[i] % WORD == 0 && !(t->table[i] >> 47) &&
			    page + i * WORD >= t->data.start &&
			    is_entry(t, page + i * WORD, t->table[i], &tries))
				return true;
	}
	return false;
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

static int take_leaf(struct tc *t, __u64 leaf, __u64 span)
{
	struct span s;
	int err = 0;

	for (__u64 page = leaf & ~(PAGE - 1); page < leaf + LEAF_BYTES && !err; page += PAGE) {
		const int is = words_page_at(t->w, page, t->leaf);

		if (is < 0)
			heap_miss(t->h, no_page, page);
		if (is <= 0)
			continue;
		for (size_t i = 0; i < PAGE / WORD && !err; i++) {
			const __u64 at = page + i * WORD;
			const __u64 key = span * LEAF_SPAN + (at - leaf) / WORD * TC_PAGE;

			if (at < leaf || at >= leaf + LEAF_BYTES || !t->leaf[i] || key < t->end)
				continue;
			/* (where spans were joined, entries within them stay as they were) */
			if (!span_at(t, t->leaf[i], key, &s) || s.start != key) {
				heap_miss(t->h, bad_entry, at);
				continue;
			}
			t->end = s.start + s.len;
			err = add_span(t, &s);
		}
	}
	return err;
}

static int take_root(struct tc *t)
{
	const __u64 end = t->root + ROOT_BYTES;
	int err = 0;

	for (__u64 page = t->root & ~(PAGE - 1); page < end && !err; page += PAGE) {
		const int is = words_page_at(t->w, page, t->table);

		if (is < 0)
			heap_miss(t->h, no_page, page);
		if (is <= 0)
			continue;
		for (size_t i = 0; i < PAGE / WORD && !err; i++) {
			const __u64 at = page + i * WORD;

			if (at >= t->root && at < end && t->table[i] && !(t->table[i] >> 47))
				err = take_leaf(t, t->table[i], (at - t->root) / WORD);
		}
	}
	return err;
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
		err = take_root(t);
	free(t->taken);
	if (!err)
		heap_sum_rest(t->h, arenas, chunks);
	heap_sort(t->h);
	return err ? err : tc_caches(t);
}

int tcmalloc_walk(struct heap *h, const struct heap_area *areas, size_t nr, struct heap_words *w)
{
	struct tc *t = calloc(1, sizeof(*t));
	int err = -ENOENT;

	if (!t)
		return -ENOMEM;
	*t = (struct tc){ .h = h, .w = w, .areas = areas, .nr_areas = nr };
	for (size_t i = 0; i < nr && err == -ENOENT; i++) {
		if (!areas[i].data)
			continue;
		t->data = heap_data_at(areas, nr, &i);
		if (t->data.end - t->data.start < ROOT_BYTES || tc_find_sizes(t) || !find_root(t))
			continue;
		err = walk_one(t);
	}
	free(t);
	return err;
}
