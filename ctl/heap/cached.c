// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find free blocks that their chunks show as in use: the per-thread caches (tcache), and small
 * chunks that are not merged yet (fastbins).  Both are linked lists.  Since glibc 2.32 each
 * pointer in them is XORed with its own address.
 *
 * A thread's cache is itself a malloc block.  It is recognized by its size and contents: one list
 * of free chunks for each size, and a count per list.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "heap/int.h"

#define SMALL_LISTS	64
#define MAX_LISTS	76
#define LONGEST		65535U		/* list of a cache, by glibc's own limit */

static const struct layout {
	unsigned int chunk, lists, number;	/* bytes; how many; bytes of a number */
	bool room;			/* numbers are of what there still is room for */
} layouts[] = {
	{ 0x290, 64, 2, false },	/* 2.30 to 2.41 */
	{ 0x300, 76, 2, true },		/* since 2.42 */
	{ 0x250, 64, 1, false },	/* 2.26 to 2.29 */
};

struct found {
	struct heap_chunk **at;
	size_t nr, room;
};

static int add(struct found *f, struct heap_chunk *c)
{
	struct heap_chunk **more;

	more = ids_grow(f->at, f->nr, &f->room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	f->at = more;
	f->at[f->nr++] = c;
	return 0;
}

/* Those that are in use count as something else from now on. */
static void settle(struct found *f, enum heap_state state)
{
	for (size_t i = 0; i < f->nr; i++)
		f->at[i]->state = state;
	f->nr = 0;
}

static struct heap_chunk *used_at(const struct heap *h, __u64 at)
{
	struct heap_chunk *c = heap_find(h, at);

	return c && c->state == HEAP_USED && !c->mapped ? c : NULL;
}

/* @size: of the list that it is in; 0: more than those of other lists. */
static bool is_size_of(const struct heap_chunk *c, __u64 size)
{
	return c && (size ? c->size == size : c->size >= SMALLEST + 16 * SMALL_LISTS);
}

/*
 * From @first, the address of what links chunks, which lies @ahead of their beginnings; @size 0:
 * more than those of other lists.  How many, into @f; -EINVAL: it is no such list.
 */
static long follow(const struct heap *h, struct heap_words *w, __u64 first, __u64 ahead,
		   __u64 size, bool mixed, struct found *f)
{
	/* addresses in a list are of what links, or of beginnings */
	const __u64 back = ahead ? 0 : HEAP_HEAD;
	const size_t begin = f->nr;
	__u64 at = first;

	while (at) {
		struct heap_chunk *c = at % ALIGN ? NULL : used_at(h, at - back);
		const __u64 link = at + ahead;
		__u64 next;

		if (!is_size_of(c, size) || f->nr - begin == LONGEST ||
		    !word_at(w, link, &next))
			return -EINVAL;
		if (add(f, c))
			return -ENOMEM;
		at = mixed ? next ^ (link >> 12) : next;
	}
	return (long)(f->nr - begin);
}

static long follow_any(const struct heap *h, struct heap_words *w, __u64 first, __u64 ahead,
		       __u64 size, struct found *f)
{
	const size_t begin = f->nr;
	long n;

	n = follow(h, w, first, ahead, size, true, f);
	if (n != -EINVAL)
		return n;
	f->nr = begin;
	return follow(h, w, first, ahead, size, false, f);
}

static unsigned int number(const unsigned char *from, const struct layout *l, size_t i)
{
	return l->number == 1 ? from[i] : from[2 * i] | (unsigned int)from[2 * i + 1] << 8;
}

/* 1: it is one; 0: it is not */
static int look_into(const struct heap *h, struct heap_words *w, const struct heap_chunk *c,
		     const struct layout *l, struct found *f)
{
	unsigned char body[MAX_LISTS * (2 + WORD)];
	const size_t numbers = (size_t)l->lists * l->number;
	unsigned int room = 0, off = 0;
	bool any = false;
	__u64 first;

	if (!words_at(w, c->at + HEAP_HEAD, body, numbers + l->lists * WORD))
		return 0;
	for (size_t i = 0; i < l->lists; i++) {
		const unsigned int n = number(body, l, i);
		long len = 0;

		memcpy(&first, body + numbers + WORD * i, sizeof(first));
		if (first)
			len = follow_any(h, w, first, 0, i < SMALL_LISTS ? SMALLEST + 16 * i : 0,
					 f);
		if (len < 0)
			return len == -ENOMEM ? -ENOMEM : 0;
		any |= len > 0;
		/* whoever is just putting one in or taking one out has not counted it yet */
		if (!l->room)
			off += n > len ? n - (unsigned int)len : (unsigned int)len - n;
		else if (!i)
			room = n + (unsigned int)len;
		else
			off += n + (unsigned int)len != room;
		if (off > 1)
			return 0;
	}
	return l->room ? room != 0 : any;
}

/* What malloc leaves in a block that it keeps for a thread, after the address of the next one. */
static void learn_key(struct heap *h, struct heap_words *w, const struct heap_chunk *cache,
		      const struct found *f)
{
	__u64 key;

	if (h->cache_key || h->keyed_by_place || !f->nr ||
	    !word_at(w, f->at[0]->at + HEAP_HEAD + WORD, &key))
		return;
	if (key == cache->at + HEAP_HEAD) {
		h->keyed_by_place = true;
		return;
	}
	for (size_t i = 1; i < f->nr; i++) {
		__u64 other;

		if (!word_at(w, f->at[i]->at + HEAP_HEAD + WORD, &other) || other != key)
			return;
	}
	h->cache_key = key;
}

/* One that is made and not used yet: malloc's very first block in a piece of memory. */
static bool is_empty_cache(const struct heap *h, struct heap_words *w, const struct heap_chunk *c,
			   const struct layout *l)
{
	__u64 body[MAX_LISTS * (2 + WORD) / WORD];
	const size_t words = l->lists * (l->number + WORD) / WORD;
	bool first = false;

	for (size_t i = 0; !first && i < h->nr_pieces; i++)
		first = h->pieces[i].start <= c->at && c->at - h->pieces[i].start < PAGE &&
			(c == h->chunks || c[-1].at < h->pieces[i].start);
	if (!first || !words_at(w, c->at + HEAP_HEAD, body, words * WORD))
		return false;
	for (size_t i = 0; i < words; i++)
		if (body[i])
			return false;
	return true;
}

bool heap_maybe_cached(const struct heap *h, const struct heap_chunk *c, const __u64 words[2])
{
	const struct heap_chunk *cache;

	if (!c->mapped && h->arenas[c->arena].allocator != HEAP_GLIBC)
		return !h->other_caches && heap_usable(c) <= h->cache_most;
	if (c->mapped || h->no_caches)
		return false;
	if (!h->caches && !h->empty_caches)
		return c->size <= SMALLEST + 16 * (SMALL_LISTS - 1);
	if (h->cache_key)
		return words[1] == h->cache_key;
	if (!h->keyed_by_place || words[1] % ALIGN)
		return false;
	cache = heap_find(h, words[1] - HEAP_HEAD);
	for (size_t k = 0; cache && k < sizeof(layouts) / sizeof(layouts[0]); k++)
		if (cache->size == layouts[k].chunk)
			return true;
	return false;
}

/* Since glibc 2.43, which has no lists of small chunks, a cache is made at the first free(). */
#define MADE_LATE	24

/*
 * Is it a cache that cannot be followed?  Its lists begin with free blocks of their sizes.  Where
 * a list is empty there is room for as many as in any other: of all but one, which a thread may
 * just change.  A block of a program that merely leads to others is none.
 */
static bool may_be_cache(const struct heap *h, struct heap_words *w, const struct heap_chunk *c,
			 const struct layout *l)
{
	unsigned char body[MAX_LISTS * (2 + WORD)];
	const size_t numbers = (size_t)l->lists * l->number;
	unsigned int room = 0, odd = 0;
	bool leads = false;
	__u64 first;

	if (c->size != l->chunk || c->state != HEAP_USED)
		return false;
	if (!words_at(w, c->at + HEAP_HEAD, body, numbers + l->lists * WORD))
		return true;
	for (size_t i = 0; i < l->lists && odd <= 1; i++) {
		const unsigned int n = number(body, l, i);

		memcpy(&first, body + numbers + WORD * i, sizeof(first));
		if (first && is_size_of(used_at(h, first - HEAP_HEAD),
					i < SMALL_LISTS ? SMALLEST + 16 * i : 0)) {
			leads = true;
		} else if (first || !n || (room && n != room)) {
			odd++;
		} else {
			room = n;
		}
	}
	return leads && odd <= 1;
}

static bool has_no_caches(const struct heap *h, struct heap_words *w)
{
	for (size_t i = 0; i < h->nr_arenas; i++)
		if (h->arenas[i].lists != MADE_LATE || h->arenas[i].why || h->arenas[i].unknown)
			return false;
	for (size_t i = 0; i < h->nr_chunks; i++)
		for (size_t k = 0; k < sizeof(layouts) / sizeof(layouts[0]); k++)
			if (layouts[k].room && may_be_cache(h, w, &h->chunks[i], &layouts[k]))
				return false;
	return true;
}

static int find_caches(struct heap *h, struct heap_words *w, struct found *f)
{
	int is;

	for (size_t i = 0; i < h->nr_chunks; i++) {
		struct heap_chunk *c = &h->chunks[i];

		for (size_t k = 0; k < sizeof(layouts) / sizeof(layouts[0]); k++) {
			if (c->size != layouts[k].chunk || c->state != HEAP_USED)
				continue;
			f->nr = 0;
			is = look_into(h, w, c, &layouts[k], f);
			if (is < 0)
				return is;
			if (!is) {
				h->empty_caches += is_empty_cache(h, w, c, &layouts[k]);
				continue;
			}
			h->caches += f->nr != 0;
			h->empty_caches += !f->nr;
			learn_key(h, w, c, f);
			settle(f, HEAP_CACHED);
			c->state = HEAP_OWN;
		}
	}
	return 0;
}

static int find_fast(struct heap *h, size_t arena, __u64 lists, struct heap_words *w,
		     struct found *f)
{
	__u64 first[NR_FAST];
	long n;

	if (!words_at(w, lists + AT_FAST, first, sizeof(first)))
		return 0;
	for (size_t i = 0; i < NR_FAST; i++) {
		f->nr = 0;
		n = follow_any(h, w, first[i], HEAP_HEAD, SMALLEST + 16 * i, f);
		if (n == -ENOMEM)
			return -ENOMEM;
		if (n < 0 && w->m->passing)
			h->arenas[arena].changed = true;
		else if (n < 0 && !h->arenas[arena].why)
			h->arenas[arena].why = "a list of small free blocks is inconsistent";
		else if (n >= 0)
			settle(f, HEAP_FAST);
	}
	return 0;
}

int cached_find(struct heap *h, struct heap_words *w)
{
	struct found f = { NULL, 0, 0 };
	int err = find_caches(h, w, &f);

	h->no_caches = !err && !h->caches && !h->empty_caches && has_no_caches(h, w);
	/* since 2.43 there are no such lists, and no room for them before the others */
	for (size_t i = 0; !err && i < h->nr_arenas; i++)
		if (!h->arenas[i].why && (long long)h->arenas[i].lists + AT_FAST >= 0)
			err = find_fast(h, i, h->arenas[i].at + h->arenas[i].lists, w, &f);
	free(f.at);
	return err;
}
