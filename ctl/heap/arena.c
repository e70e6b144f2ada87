// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where arenas are.  The main one's structure lies among the data of libc, or of a static
 * program, and has no name there without debug symbols: but its 127 lists of free chunks show
 * it, since each that is empty points to itself.  From it a circle leads to all others.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/ids.h"
#include "heap/int.h"

#define LEAST_EMPTY	8		/* lists */
#define LAST_LIST	((NR_LISTS - 1) * 16ULL)
#define MAX_ARENAS	65536U		/* that a chunk's number of it has room for */

/* Of the lists in it: glibc 2.27 to 2.42; since 2.43, without those of small chunks; before */
static const unsigned int places[] = { 112, 24, 104 };

/* How large is what stands before an arena in its first piece: since 2.35, before */
static bool is_head(__u64 len)
{
	return len == 48 || len == 32;
}

static bool is_lists(struct heap_words *w, __u64 lists)
{
	__u64 pairs[2 * NR_LISTS], top, says[2];
	size_t empty = 0;

	if (!words_at(w, lists, pairs, sizeof(pairs)) || !word_at(w, lists + AT_TOP, &top) ||
	    !words_at(w, lists + AT_SYSTEM, says, sizeof(says)))
		return false;
	for (size_t i = 0; i < NR_LISTS; i++) {
		const __u64 self = lists + 16 * i - 16;

		if (pairs[2 * i] == self && pairs[2 * i + 1] == self)
			empty++;
		else if (pairs[2 * i] % ALIGN || pairs[2 * i + 1] % ALIGN || !pairs[2 * i] ||
			 !pairs[2 * i + 1] || pairs[2 * i] == self || pairs[2 * i + 1] == self)
			return false;
	}
	return empty >= LEAST_EMPTY && top && top % WORD == 0 && says[0] <= says[1];
}

/* The last list is always empty. */
static __u64 find_lists(struct heap_words *w, const struct heap_area *a)
{
	const __u64 start = (a->start + WORD - 1) & ~(WORD - 1);
	__u64 pair[2];

	for (__u64 at = start; at + sizeof(pair) <= a->end; at += WORD) {
		if (!words_at(w, at, pair, sizeof(pair))) {
			at = (at | (PAGE - 1)) + 1 - WORD;
			continue;
		}
		if (pair[0] != at - 16 || pair[1] != at - 16 || at - a->start < LAST_LIST)
			continue;
		if (is_lists(w, at - LAST_LIST))
			return at - LAST_LIST;
	}
	return 0;
}

static int add_arena(struct heap *h, struct heap_words *w, __u64 at, unsigned int lists)
{
	struct heap_arena *more, *a;
	__u64 head;

	if (h->nr_arenas == MAX_ARENAS)
		return -E2BIG;
	more = ids_room(h->arenas, h->nr_arenas, &h->room_arenas, sizeof(*more));
	if (!more)
		return -ENOMEM;
	h->arenas = more;
	a = &h->arenas[h->nr_arenas];
	*a = (struct heap_arena){ .at = at };
	if (!word_at(w, at, &head) || !word_at(w, at + lists + AT_SYSTEM, &a->system))
		return -ENOENT;
	a->busy = (__u32)head;
	h->nr_arenas++;
	return 0;
}

static bool is_other(struct heap_words *w, __u64 at, unsigned int lists)
{
	__u64 owner;

	return is_head(at % REGION) && word_at(w, at & ~(REGION - 1), &owner) && owner == at &&
	       is_lists(w, at + lists);
}

/* 0: it ends where it began */
static int follow(struct heap *h, struct heap_words *w, __u64 first, unsigned int lists)
{
	__u64 at = first;
	int err;

	h->nr_arenas = 0;
	do {
		if (at != first && !is_other(w, at, lists))
			return -ENOENT;
		err = add_arena(h, w, at, lists);
		if (!err && !word_at(w, at + lists + AT_NEXT, &at))
			err = -ENOENT;
	} while (!err && at != first);
	return err;
}

int arenas_find(struct heap *h, struct heap_place *place, const struct heap_area *areas,
		size_t nr, struct heap_words *w)
{
	int err = -ENOENT;

	for (size_t i = 0; i < nr; i++) {
		const __u64 lists = areas[i].data ? find_lists(w, &areas[i]) : 0;

		for (size_t k = 0; lists && k < sizeof(places) / sizeof(places[0]); k++) {
			place->data = &areas[i];
			place->lists = places[k];
			err = follow(h, w, lists - places[k], places[k]);
			if (!err || err == -ENOMEM)
				return err;
		}
	}
	return -ENOENT;
}
