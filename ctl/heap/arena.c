// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the arenas of glibc's malloc.  The main arena's structure is part of the data of libc or of
 * a static program, and has no symbol without debug information.  It is recognized by its 127
 * lists of free chunks: an empty list points to itself.  All other arenas are linked to it in a
 * ring.  A process has several main arenas if dlmopen() mapped libc again.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/ids.h"
#include "heap/int.h"

#define LEAST_EMPTY	8		/* lists */
#define MOST_BAD	8		/* lists, of a main arena that was written over */
#define LAST_LIST	((NR_LISTS - 1) * 16ULL)

/* Of the lists in it: glibc 2.27 to 2.42; since 2.43, without those of small chunks; before */
static const unsigned int places[] = { 112, 24, 104 };
#define NR_PLACES	(sizeof(places) / sizeof(places[0]))

static const char overwritten[] = "one of its lists of free chunks was overwritten";

/* How large is what stands before an arena in its first piece: since 2.35, before */
static bool is_head_len(__u64 len)
{
	return len == 48 || len == 32;
}

static bool is_lists(struct heap_words *w, __u64 lists, size_t most_bad)
{
	__u64 pairs[2 * NR_LISTS], top, says[2];
	size_t empty = 0, bad = 0;

	if (!words_at(w, lists, pairs, sizeof(pairs)) || !word_at(w, lists + AT_TOP, &top) ||
	    !words_at(w, lists + AT_SYSTEM, says, sizeof(says)))
		return false;
	for (size_t i = 0; i < NR_LISTS; i++) {
		const __u64 self = lists + 16 * i - 16;

		if (pairs[2 * i] == self && pairs[2 * i + 1] == self)
			empty++;
		else if (pairs[2 * i] % ALIGN || pairs[2 * i + 1] % ALIGN || !pairs[2 * i] ||
			 !pairs[2 * i + 1] || pairs[2 * i] == self || pairs[2 * i + 1] == self)
			bad++;
	}
	return bad <= most_bad && empty >= LEAST_EMPTY && top && top % WORD == 0 &&
	       says[0] <= says[1];
}

/* The last list is always empty. */
static __u64 find_lists(struct heap_words *w, const struct heap_area *a, size_t most_bad)
{
	const __u64 start = (a->start + WORD - 1) & ~(WORD - 1);
	__u64 pair[2];

	for (__u64 at = start; at + sizeof(pair) <= a->end; at += WORD) {
		if (!words_at(w, at, pair, sizeof(pair))) {
			at = words_next(w, (at | (PAGE - 1)) + 1, a->end) - WORD;
			continue;
		}
		if (pair[0] != at - 16 || pair[1] != at - 16 || at - a->start < LAST_LIST)
			continue;
		if (is_lists(w, at - LAST_LIST, most_bad))
			return at - LAST_LIST;
	}
	return 0;
}

/* ---- pieces of other arenas ---- */

bool arena_is_head(const struct heap_head *head, __u64 arena, __u64 base)
{
	return head->arena == arena && head->len && head->len <= MAX_REGION &&
	       head->len % ALIGN == 0 && head->before % PAGE == 0 && head->before != base;
}

__u64 arena_piece(struct heap_words *w, __u64 arena, __u64 addr, struct heap_head *head)
{
	/* 64 MiB, or four huge pages (glibc.malloc.hugetlb=2): of 2 MiB, 32 MiB, 1 GiB */
	static const __u64 regions[] = { REGION, 8ULL << 20, 128ULL << 20, MAX_REGION };

	for (size_t i = 0; i < sizeof(regions) / sizeof(regions[0]); i++) {
		const __u64 base = addr & ~(regions[i] - 1);

		if (words_at(w, base, head, sizeof(*head)) && arena_is_head(head, arena, base) &&
		    addr - base < head->len)
			return base;
	}
	return 0;
}

static bool is_owned(struct heap_words *w, __u64 at)
{
	__u64 owner;

	return is_head_len(at % PAGE) && word_at(w, at & ~(PAGE - 1), &owner) && owner == at;
}

/* ---- the circle ---- */

static struct heap_arena *add_arena(struct heap *h)
{
	struct heap_arena *more = ids_grow(h->arenas, h->nr_arenas, &h->room_arenas,
					   sizeof(*more));

	if (!more)
		return NULL;
	h->arenas = more;
	h->arenas[h->nr_arenas] = (struct heap_arena){ .number = 0 };
	return &h->arenas[h->nr_arenas++];
}

static int read_arena(struct heap *h, struct heap_words *w, __u64 at, unsigned int lists,
		      __u32 number)
{
	struct heap_arena *a;
	__u64 head;

	if (h->nr_arenas == HEAP_ARENAS)
		return -E2BIG;
	a = add_arena(h);
	if (!a)
		return -ENOMEM;
	a->at = at;
	a->lists = lists;
	a->number = number;
	a->libc = (__u32)h->nr_libcs;
	if (!word_at(w, at, &head) || !word_at(w, at + lists + AT_SYSTEM, &a->system) ||
	    !word_at(w, at + lists + AT_TOP, &a->top_at)) {
		a->why = words_why(w, at, "its structure could not be read");
		a->system = 0;
		return 0;
	}
	a->busy = (__u32)head;
	if (!is_lists(w, at + lists, 0))
		a->why = overwritten;
	return 0;
}

static bool has_arena(const struct heap *h, __u64 at)
{
	for (size_t i = 0; i < h->nr_arenas; i++)
		if (h->arenas[i].at == at)
			return true;
	return false;
}

/* -ENOENT: it does not end where it began; what was found of it is there. */
static int follow(struct heap *h, struct heap_words *w, __u64 first, unsigned int lists)
{
	const size_t before = h->nr_arenas;
	__u64 at = first;
	int err;

	do {
		if (at != first && !is_owned(w, at))
			return -ENOENT;
		err = read_arena(h, w, at, lists, (__u32)(h->nr_arenas - before));
		if (err)
			return err == -E2BIG ? -ENOENT : err;
		if (!word_at(w, at + lists + AT_NEXT, &at))
			return -ENOENT;
	} while (at != first);
	return 0;
}

/* Those to which the circle does not lead any more: their first pieces name them. */
static int find_strays(struct heap *h, struct heap_words *w, const struct heap_area *areas,
		       size_t nr, const struct heap_arena *main_one)
{
	const unsigned int lists = main_one->lists;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		__u64 base = (areas[i].start + REGION - 1) & ~(REGION - 1), owner;

		for (; areas[i].anonymous && base < areas[i].end && !err; base += REGION)
			if (word_at(w, base, &owner) && owner - base < PAGE &&
			    is_owned(w, owner) && is_lists(w, owner + lists, MOST_BAD) &&
			    !has_arena(h, owner))
				err = read_arena(h, w, owner, lists,
						 h->arenas[h->nr_arenas - 1].number + 1);
	}
	return err == -E2BIG ? 0 : err;
}

/*
 * Which glibc it is of is known by which word leads on.  @sure: one is sure where the circle
 * ends, or leads to another arena at least.
 */
static int find_circle(struct heap *h, struct heap_words *w, __u64 lists, bool sure)
{
	const size_t before = h->nr_arenas;
	int err = -ENOENT;

	for (size_t k = 0; k < NR_PLACES; k++) {
		h->nr_arenas = before;
		err = follow(h, w, lists - places[k], places[k]);
		if (err != -ENOENT || (!sure && h->nr_arenas > before + 1))
			return err;
	}
	h->nr_arenas = before;
	return err;
}

static int add_libc(struct heap *h, struct heap_places *to, const struct heap_area *areas,
		    size_t nr, const struct heap_area *data, __u64 lists, struct heap_words *w)
{
	const size_t before = h->nr_arenas;
	struct heap_place *more;
	struct heap_arena first;
	int err = find_circle(h, w, lists, true);

	if (err == -ENOENT) {
		err = find_circle(h, w, lists, false);
		/* nothing leads on from the main one */
		if (err == -ENOENT && h->nr_arenas == before)
			err = read_arena(h, w, lists - places[0], places[0], 0);
		if (err && err != -ENOENT)
			return err;
		h->arenas_missing = true;
		first = h->arenas[before];
		err = find_strays(h, w, areas, nr, &first);
	}
	if (err)
		return err;
	more = ids_grow(to->at, to->nr, &to->room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	to->at = more;
	to->at[to->nr++] = (struct heap_place){ .data = data };
	h->nr_libcs++;
	return 0;
}

/* A libc that was never asked for memory has nothing to say. */
static bool is_used(struct heap_words *w, __u64 lists)
{
	__u64 top;

	return word_at(w, lists + AT_TOP, &top) && top != lists - 16;
}

int arenas_find(struct heap *h, struct heap_places *to, const struct heap_area *areas,
		size_t nr, struct heap_words *w)
{
	int err = 0;

	/* the unused ones, and those that were written over, only where there is nothing else */
	for (int pass = 0; pass < 3 && !to->nr && !err; pass++)
		for (size_t i = 0; i < nr && !err; i++) {
			const __u64 lists = areas[i].data ?
				find_lists(w, &areas[i], pass == 2 ? MOST_BAD : 0) : 0;

			if (lists && (pass == 1 ? !to->nr : is_used(w, lists)))
				err = add_libc(h, to, areas, nr, &areas[i], lists, w);
		}
	return err ? err : to->nr ? 0 : -ENOENT;
}
