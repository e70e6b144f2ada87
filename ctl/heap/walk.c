// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walk all arenas, and report what does not add up.  Arenas other than the main one have pieces in
 * aligned regions.  Each piece's header names its arena, the previous piece and its length.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/int.h"

#define MAX_PIECES	(1U << 20)	/* of an arena: 64 TiB */

static const char not_whole[] = "its chunks are inconsistent";
static const char unread[] = "one of its segments has no valid header";

/* ---- other arenas than the main one ---- */

static int walk_other(struct heap *h, size_t nr, __u64 top, struct heap_words *w)
{
	struct heap_arena *a = &h->arenas[nr];
	const __u64 first = a->at & ~(PAGE - 1), info = a->at - first;
	struct walk k = { .h = h, .w = w, .arena = nr, .of_others = true, .top = top };
	struct heap_head head;
	__u64 base = arena_piece(w, a->at, top, &head), at, to;
	enum ending e;

	a->why = base ? NULL : unread;
	while (base && a->pieces < MAX_PIECES) {
		at = base == first ? arena_chunks(a) : base + info;
		k.end = base + head.len;
		e = at < k.end ? walk_try(&k, at, &to) : BROKEN;
		if (e == NO_MEMORY)
			return -ENOMEM;
		if (e == BROKEN || to != k.end || (e == AT_THE_TOP) == !!a->pieces) {
			a->why = not_whole;
			return 0;
		}
		if (heap_add_piece(h, nr, base, k.end))
			return -ENOMEM;
		k.top = 0;
		k.heads += at - base;
		a->pieces++;
		if (base == first)
			break;
		base = head.before;
		if (base && (!words_at(w, base, &head, sizeof(head)) ||
			     !arena_is_head(&head, a->at, base)))
			base = 0;
	}
	if (base != first)
		a->why = unread;
	a->top = k.top_size;
	a->heads = k.heads;
	return 0;
}

/* ---- all ---- */

/* Of one that is not looked into: where it is, as far as that is known. */
static int name_unknown(struct heap *h, size_t nr, struct heap_words *w)
{
	struct heap_arena *a = &h->arenas[nr];
	const __u64 base = a->at & ~(PAGE - 1);
	struct heap_head head;

	a->unknown = a->system;
	if (!a->number || !words_at(w, base, &head, sizeof(head)) ||
	    !arena_is_head(&head, a->at, base))
		return 0;
	return heap_add_gap(h, nr, base, base + head.len, a->why);
}

static int walk_arena(struct heap *h, size_t nr, struct heap_place *place,
		      const struct heap_spans *spans, struct heap_words *w)
{
	struct heap_arena *a = &h->arenas[nr];
	const size_t chunks = h->nr_chunks, pieces = h->nr_pieces;
	const __u64 lists = a->at + a->lists;
	int err;

	if (a->why)
		return name_unknown(h, nr, w);
	/* nothing was ever taken: the top is a list of its own */
	if (a->top_at == lists - 16) {
		a->top_at = 0;
		return 0;
	}
	err = a->number ? walk_other(h, nr, a->top_at, w) : main_walk(h, nr, place, spans, w);
	if (!err && !a->why) {
		const __u64 more = a->system - walk_has(h, a, chunks);

		/* some bytes from where brk() was, to where chunks can be */
		if (!a->number && more < ALIGN) {
			a->heads += more;
			place->base -= more;
		} else if (more) {
			a->why = "its chunks do not match its recorded size";
		}
	}
	if (!a->why)
		return err;
	h->nr_chunks = chunks;
	h->nr_pieces = pieces;
	return err ? err : salvage(h, nr, place, spans, w);
}

/* Mappings of one kind that follow each other: fork(), mprotect() and others divide them. */
static int find_spans(struct heap_spans *s, const struct heap_area *areas, size_t nr)
{
	s->nr = 0;
	s->at = calloc(nr + 1, sizeof(*s->at));
	if (!s->at)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct heap_area *last = s->nr ? &s->at[s->nr - 1] : NULL;

		if (!areas[i].brk && !areas[i].anonymous)
			continue;
		if (last && last->end == areas[i].start && last->brk == areas[i].brk)
			last->end = areas[i].end;
		else
			s->at[s->nr++] = areas[i];
	}
	return 0;
}

static void sum_up(struct heap *h)
{
	for (size_t i = 0; i < h->nr_chunks; i++) {
		const struct heap_chunk *c = &h->chunks[i];
		struct heap_arena *a = &h->arenas[c->arena];
		struct heap_sums *s = c->mapped ? &h->mapped : &a->sums;
		const __u64 from = (c->at + SMALLEST + HEAP_HEAD + PAGE - 1) & ~(PAGE - 1);
		const __u64 to = (c->at + c->size) & ~(PAGE - 1);

		s->blocks[c->state]++;
		s->bytes[c->state] += c->size;
		if (c->state != HEAP_FREE)
			continue;
		if (c->size > a->largest)
			a->largest = c->size;
		if (to > from)
			a->pages += to - from;
	}
}

static int walk_glibc(struct heap *h, struct heap_places *places, const struct heap_area *areas,
		      size_t nr, struct heap_words *w)
{
	struct heap_spans spans;
	int err = find_spans(&spans, areas, nr);

	if (!err)
		err = arenas_find(h, places, areas, nr, w);
	for (size_t i = 0; !err && i < h->nr_arenas; i++)
		err = walk_arena(h, i, &places->at[h->arenas[i].libc], &spans, w);
	heap_sort(h);
	if (!err)
		err = mapped_find(h, places, &spans, w);
	heap_sort(h);
	if (!err)
		err = cached_find(h, w);
	free(spans.at);
	return err;
}

/* A program that has another malloc does not use libc's; or some of its libraries do. */
static bool is_used(const struct heap *h)
{
	for (size_t i = 0; i < h->nr_arenas; i++)
		if (h->arenas[i].system || h->arenas[i].why)
			return true;
	return false;
}

/* All that there are, beside what is there; -ENOENT: there is none. */
static int walk_others(struct heap *h, const struct heap_area *areas, size_t nr,
		       struct heap_words *w)
{
	static int (*const others[])(struct heap *h, const struct heap_area *areas, size_t nr,
				     struct heap_words *w) = { jemalloc_walk, jemalloc_old_walk,
							       tcmalloc_walk, mimalloc_walk };
	int err = -ENOENT, one;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		one = others[i](h, areas, nr, w);
		if (one && one != -ENOENT)
			return one;
		err = one ? err : 0;
	}
	return err;
}

static int walk_all(struct heap *h, struct heap_places *places, const struct heap_area *areas,
		    size_t nr, struct heap_words *w)
{
	struct heap instead = { .nr_arenas = 0 };
	int err = walk_glibc(h, places, areas, nr, w), other;

	if ((err && err != -ENOENT) || !w->m->others || w->m->passing)
		return err;
	if (err)
		err = mallocng_walk(h, areas, nr, w);
	if (err == -ENOENT)
		err = oldmalloc_walk(h, areas, nr, w);
	if (err && err != -ENOENT)
		return err;
	if (err || is_used(h)) {
		other = walk_others(h, areas, nr, w);
		return other == -ENOENT ? err : other;
	}
	other = walk_others(&instead, areas, nr, w);
	if (other) {
		heap_free(&instead);
		return other == -ENOENT ? 0 : other;
	}
	heap_free(h);
	*h = instead;
	return 0;
}

int heap_walk(struct heap *h, const struct heap_area *areas, size_t nr,
	      const struct heap_memory *m)
{
	struct heap_words *w = calloc(1, sizeof(*w));
	struct heap_places places = { NULL, 0, 0 };
	int err;

	memset(h, 0, sizeof(*h));
	if (!w)
		return -ENOMEM;
	w->m = m;
	err = walk_all(h, &places, areas, nr, w);
	free(places.at);
	free(w);
	if (err) {
		heap_free(h);
		return err;
	}
	sum_up(h);
	h->allocator = h->nr_arenas ? h->arenas[0].allocator : HEAP_GLIBC;
	h->whole = !h->arenas_missing && !h->others_missing;
	for (size_t i = 0; i < h->nr_arenas; i++)
		h->whole &= !h->arenas[i].why && !h->arenas[i].changed && !h->arenas[i].unknown;
	h->complete = h->whole && !h->mapped_why && !h->mapped_unknown;
	return 0;
}
