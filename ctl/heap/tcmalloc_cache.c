// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tcmalloc's sizes of small blocks, and the blocks that its caches keep.  A cache of a thread is an
 * array of lists, each with the size of its blocks: by that it is recognized.  Between caches and
 * spans is one record for each size, with chains of blocks that go from thread to thread.
 */
#include <errno.h>

#include "heap/tcmalloc_int.h"

#define LIST		4		/* words of a cache's list: first, counts, counts, size */
#define RECORD		(1216 / WORD)	/* words of a record for one size, */
#define SLOTS_AT	15		/* and where its slots are, from its size class on */
#define SLOTS		64
#define MOST		65536U		/* blocks in a list */
#define BIGGEST		(256 << 10)
#define MOST_PAGES	256ULL		/* of a span of small blocks */

/* ---- sizes ---- */

/*
 * 128 sizes of 32 bits, as many numbers of pages of 64, and how many there are; before that, since
 * 2.11, how many pages a span has at least.
 */
static bool is_sizes(struct tc *t, __u64 at)
{
	__u64 pages[TC_CLASSES + 2];
	size_t n = 1;

	if (!words_at(t->w, at, t->sizes, sizeof(t->sizes)) ||
	    !words_at(t->w, (at + sizeof(t->sizes) + WORD - 1) & ~(WORD - 1), pages,
		      sizeof(pages)))
		return false;
	while (n < TC_CLASSES && t->sizes[n] > t->sizes[n - 1] && t->sizes[n] <= BIGGEST &&
	       t->sizes[n] % 8 == 0 && pages[n] && pages[n] <= MOST_PAGES)
		n++;
	t->nr_sizes = n;
	return n > 16 && t->sizes[n - 1] == BIGGEST && !pages[0] &&
	       (pages[TC_CLASSES] == n || (pages[TC_CLASSES] <= MOST_PAGES &&
					   pages[TC_CLASSES + 1] == n));
}

int tc_find_sizes(struct tc *t)
{
	for (__u64 page = words_page(t->w, t->data.start, t->data.end); page < t->data.end;
	     page = words_page(t->w, page + PAGE, t->data.end)) {
		if (!words_at(t->w, page, t->table, PAGE))
			continue;
		/* (numbers of 32 bits, which need not begin with a word) */
		for (size_t i = 0; i + 1 < PAGE / 4; i++) {
			const __u32 *two = (const __u32 *)t->table + i;

			if (!two[0] && (two[1] == 8 || two[1] == 16) && is_sizes(t, page + i * 4))
				return 0;
		}
	}
	return -ENOENT;
}

/* ---- lists ---- */

/*
 * A list of about @nr blocks, or of any number.  A thread that is just putting one in or taking one
 * out has not counted it yet.
 */
static void take(struct tc *t, __u64 first, __u64 nr, bool any, size_t class)
{
	__u64 at = first, n = 0;

	for (; at && n < MOST; n++) {
		struct heap_chunk *c = heap_find(t->h, at - HEAP_HEAD);

		if (!c || c->state != HEAP_USED || c->tail != HEAP_NO_TAIL ||
		    c->size != (__u64)t->sizes[class] || !word_at(t->w, at, &at))
			break;
		c->state = HEAP_CACHED;
	}
	if (at || (!any && n + 1 < nr) || (!any && n > nr + 1))
		heap_miss(t->h, "a list of free blocks in a cache is inconsistent",
			  at ? at : first);
}

/* Does a cache begin with these words? */
static bool is_cache(const struct tc *t, const __u64 *words)
{
	for (size_t i = 1; i < t->nr_sizes; i++)
		if ((__u32)words[LIST * i + 3] != (__u32)t->sizes[i] ||
		    (__u32)words[LIST * i + 1] > MOST || words[LIST * i] >> 47)
			return false;
	return true;
}

static int look_for_caches(void *ctx, __u64 from, __u64 limit)
{
	__u64 words[PAGE / WORD + LIST * TC_CLASSES];
	struct tc *t = ctx;
	const size_t needs = LIST * t->nr_sizes;

	for (__u64 page = words_page(t->w, from, limit); page < limit;
	     page = words_page(t->w, page + PAGE, limit)) {
		size_t nr = PAGE / WORD;

		if (!words_at(t->w, page, words, PAGE))
			continue;
		while (nr < PAGE / WORD + needs && page + nr * WORD < limit &&
		       word_at(t->w, page + nr * WORD, &words[nr]))
			nr++;
		for (size_t i = 0; i < PAGE / WORD && i + needs <= nr; i++) {
			if ((__u32)words[i + LIST + 3] != (__u32)t->sizes[1] ||
			    !is_cache(t, words + i))
				continue;
			for (size_t c = 1; c < t->nr_sizes; c++)
				take(t, words[i + LIST * c], (__u32)words[i + LIST * c + 1],
				     false, c);
			t->h->other_caches++;
		}
	}
	return 0;
}

/* ---- between caches and spans ---- */

static bool is_records(struct tc *t, __u64 at)
{
	__u64 class;

	for (size_t i = 1; i < t->nr_sizes; i++)
		if (!word_at(t->w, at + (i - 1) * RECORD * WORD, &class) || class != i)
			return false;
	return true;
}

static void take_records(struct tc *t, __u64 at)
{
	__u64 slots[2 * SLOTS + 1];

	for (size_t i = 1; i < t->nr_sizes; i++) {
		const __u64 place = at + (i - 1) * RECORD * WORD + SLOTS_AT * WORD;

		if (!words_at(t->w, place, slots, sizeof(slots)))
			continue;
		for (size_t k = 0; k < SLOTS && k < (__u32)slots[2 * SLOTS]; k++)
			take(t, slots[2 * k], 0, true, i);
	}
}

static void look_for_records(struct tc *t)
{
	for (__u64 page = words_page(t->w, t->data.start, t->data.end); page < t->data.end;
	     page = words_page(t->w, page + PAGE, t->data.end)) {
		if (!words_at(t->w, page, t->table, PAGE))
			continue;
		for (size_t i = 0; i < PAGE / WORD; i++)
			if (t->table[i] == 1 && is_records(t, page + i * WORD)) {
				take_records(t, page + i * WORD);
				return;
			}
	}
	heap_miss(t->h, "its lists of free blocks by size were not found", t->root);
}

int tc_caches(struct tc *t)
{
	look_for_records(t);
	t->h->cache_most = BIGGEST;
	return heap_each_beside(t->h, t->areas, t->nr_areas, true, look_for_caches, t);
}
