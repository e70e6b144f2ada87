// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From chunk to chunk.  Each has its size before it; the lowest bit of the next one's size says
 * whether it is in use, and if it is not, its size stands at its end, too.  The last one is the
 * arena's top, at which a walk must arrive, and which must end where the piece does.
 *
 * The main arena's memory is [heap].  Who else took some of that by sbrk() has it between two
 * pieces, of which the former ends with two chunks of 16 bytes.  Other arenas have pieces in
 * aligned regions, each with who it belongs to, the piece before it, and how long it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/int.h"

#define TRIES		(1UL << 20)	/* places where a piece may begin */
#define PASSING_TRIES	64UL		/* of the first one, where it may just be used */
#define IN_STEP		8		/* chunks that fit together: that is no chance */
#define MAX_PIECES	(1U << 20)	/* of an arena: 64 TiB */

static const char not_whole[] = "its chunks do not add up";
static const char elsewhere[] = "its memory is not in [heap]";
static const char unread[] = "a piece of it has no valid head";

struct walk {
	struct heap *h;
	struct heap_words *w;
	size_t arena;
	__u64 top;			/* where the last chunk begins */
	__u64 end;			/* no piece goes beyond it */
	__u64 top_size;			/* out */
	__u64 heads;			/* out: of what ends pieces */
};

enum ending { BROKEN, AT_FENCE, AT_THE_TOP, NO_MEMORY };

static bool head_at(const struct walk *k, __u64 at, __u64 head[2])
{
	return at <= k->end && k->end - at >= HEAP_HEAD && words_at(k->w, at, head, HEAP_HEAD);
}

static bool is_size(const struct walk *k, __u64 at, __u64 size)
{
	const __u64 len = size & ~FLAGS;

	if (size & IS_MAPPED || (!k->arena && size & OF_OTHERS))
		return false;
	return len % ALIGN == 0 && len >= FENCE && len <= k->end - at;
}

/* A chunk whose successor's head is @next: known to be in use, or free. */
static enum ending take(struct walk *k, __u64 at, __u64 len, const __u64 next[2], bool after_free)
{
	struct heap_chunk c = { .at = at, .size = len, .arena = k->arena, .state = HEAP_USED };

	if (len < SMALLEST)
		return BROKEN;
	if (!(next[1] & IN_USE_BEFORE)) {
		/* two free ones would be one */
		if (next[0] != len || after_free)
			return BROKEN;
		c.state = HEAP_FREE;
	}
	return heap_add(k->h, &c) ? NO_MEMORY : AT_FENCE;
}

/*
 * What ends a piece: in the main arena two chunks of 16 bytes, in another one a chunk of no
 * size, with one before it that nobody has.
 */
static bool is_end(const struct walk *k, __u64 at, __u64 len, const __u64 next[2])
{
	if (!k->arena)
		return len == FENCE && (next[1] & ~FLAGS) == FENCE;
	return (next[1] & ~FLAGS) == 0 && at + len + FENCE == k->end && len <= SMALLEST;
}

/* *@to: where it ended */
static enum ending walk(struct walk *k, __u64 at, __u64 *to)
{
	__u64 head[2], next[2], len;
	bool after_free = false;
	enum ending e;

	if (!head_at(k, at, head) || !(head[1] & IN_USE_BEFORE))
		return BROKEN;
	for (;;) {
		len = head[1] & ~FLAGS;
		if (!is_size(k, at, head[1]))
			return BROKEN;
		if (at == k->top) {
			k->top_size = len;
			*to = at + len;
			return after_free ? BROKEN : AT_THE_TOP;
		}
		if (k->top > at && k->top - at < len)	/* it would have to pass it */
			return BROKEN;
		if (!head_at(k, at + len, next))
			return BROKEN;
		if (is_end(k, at, len, next)) {
			k->heads += len + FENCE;
			*to = at + len + FENCE;
			return AT_FENCE;
		}
		e = take(k, at, len, next, after_free);
		if (e != AT_FENCE)
			return e;
		after_free = !(next[1] & IN_USE_BEFORE);
		at += len;
		memcpy(head, next, sizeof(head));
	}
}

/* ---- the main arena ---- */

static const struct heap_area *area_of(const struct heap_area *areas, size_t nr, __u64 addr)
{
	for (size_t i = 0; i < nr; i++)
		if (areas[i].brk && addr >= areas[i].start && addr < areas[i].end)
			return &areas[i];
	return NULL;
}

/* What a wrong way added goes away again. */
static enum ending try_walk(struct walk *k, __u64 at, __u64 *to)
{
	const size_t nr = k->h->nr_chunks;
	const __u64 heads = k->heads;
	const enum ending e = walk(k, at, to);

	if (e == BROKEN) {
		k->h->nr_chunks = nr;
		k->heads = heads;
	}
	return e;
}

static enum ending next_piece(struct walk *k, __u64 from, size_t most, __u64 *start, __u64 *to)
{
	enum ending e = BROKEN;
	size_t tries = 0;

	for (__u64 at = (from + ALIGN - 1) & ~(ALIGN - 1); at <= k->top && tries < most;
	     at += ALIGN, tries++) {
		e = try_walk(k, at, to);
		if (e == BROKEN)
			continue;
		*start = at;
		return e;
	}
	return BROKEN;
}

static int walk_main(struct heap *h, struct heap_arena *a, __u64 top, __u64 *base,
		     const struct heap_area *areas, size_t nr, struct heap_words *w)
{
	const struct heap_area *area = area_of(areas, nr, top);
	struct walk k = { .h = h, .w = w, .top = top };
	__u64 from, start = 0, to = 0;
	enum ending e = BROKEN;
	int err = 0;

	if (!area) {
		a->why = elsewhere;
		return 0;
	}
	k.end = area->end;
	from = area->start;
	do {
		e = next_piece(&k, from, w->m->passing && !a->pieces ? PASSING_TRIES : TRIES,
			       &start, &to);
		if (e == BROKEN || e == NO_MEMORY)
			break;
		if (a->pieces++)
			a->foreign += start - from;
		else
			*base = start;
		err = heap_add_piece(h, start, to);
		from = to;
	} while (!err && e == AT_FENCE);
	if (err || e == NO_MEMORY)
		return -ENOMEM;
	a->top = k.top_size;
	a->heads = k.heads;
	if (e != AT_THE_TOP)
		a->why = not_whole;
	return 0;
}

/* ---- others ---- */

struct head {
	__u64 arena, before, len, may;
};

static bool is_head(const struct head *head, __u64 at, __u64 base)
{
	return head->arena == at && head->len <= REGION && head->len % ALIGN == 0 &&
	       head->before % REGION == 0 && head->before != base && head->len;
}

/* Where they begin: after its structure, which ends two words and five more behind its lists. */
static __u64 chunks_of(const struct heap_arena *a, unsigned int lists)
{
	return (a->at + lists + AT_SYSTEM + 2 * WORD + ALIGN - 1) & ~(ALIGN - 1);
}

static int walk_other(struct heap *h, struct heap_arena *a, size_t nr, __u64 top,
		      unsigned int lists, struct heap_words *w)
{
	const __u64 first = a->at & ~(REGION - 1), info = a->at - first;
	struct walk k = { .h = h, .w = w, .arena = nr, .top = top };
	__u64 base = top & ~(REGION - 1), at, to;
	struct head head;
	enum ending e;

	for (; base && a->pieces < MAX_PIECES; base = head.before) {
		if (!words_at(w, base, &head, sizeof(head)) || !is_head(&head, a->at, base)) {
			a->why = unread;
			return 0;
		}
		at = base == first ? chunks_of(a, lists) : base + info;
		k.end = base + head.len;
		e = at < k.end ? walk(&k, at, &to) : BROKEN;
		if (e == NO_MEMORY)
			return -ENOMEM;
		if (e == BROKEN || to != k.end || (e == AT_THE_TOP) == !!a->pieces) {
			a->why = not_whole;
			return 0;
		}
		if (heap_add_piece(h, base, k.end))
			return -ENOMEM;
		k.top = 0;
		k.heads += at - base;
		a->pieces++;
		if (base == first)
			break;
	}
	if (base != first)
		a->why = unread;
	a->top = k.top_size;
	a->heads = k.heads;
	return 0;
}

/* What was found of it, from this chunk on. */
static __u64 has(const struct heap *h, const struct heap_arena *a, size_t first)
{
	__u64 bytes = a->top + a->heads + a->foreign;

	for (size_t i = first; i < h->nr_chunks; i++)
		bytes += h->chunks[i].size;
	return bytes;
}

/* ---- those that are used meanwhile ---- */

/*
 * Nobody stops, so that words which were read one after the other may not be of the same moment.
 * But a piece is read a window at a time, in which there are many chunks: where two do not fit
 * together, the next ones that do are found a little further on.
 */
struct passing {
	struct walk k;
	__u64 top_word;			/* where the arena has its top */
	__u64 unknown;			/* bytes that were passed over */
};

static bool word_now(const struct walk *k, __u64 addr, __u64 *to)
{
	return k->w->m->read(k->w->m->ctx, addr, to, sizeof(*to)) == sizeof(*to);
}

/* The top is where it is now; what was read before is not. */
static bool look_again(struct passing *p)
{
	p->k.w->got = 0;
	return word_now(&p->k, p->top_word, &p->k.top);
}

/* Bytes of the chunk that begins here, as what follows says, too; 0: none does. */
static __u64 step(const struct walk *k, __u64 at, bool *is_free)
{
	__u64 head[2], next[2], len;

	if (!head_at(k, at, head) || !is_size(k, at, head[1]))
		return 0;
	len = head[1] & ~FLAGS;
	if (len < SMALLEST || !head_at(k, at + len, next))
		return 0;
	*is_free = !(next[1] & IN_USE_BEFORE);
	return *is_free && next[0] != len ? 0 : len;
}

static bool in_step(const struct walk *k, __u64 at)
{
	bool is_free;
	__u64 len;

	for (int i = 0; i < IN_STEP && at != k->top; i++, at += len) {
		len = step(k, at, &is_free);
		if (!len)
			return false;
	}
	return true;
}

static __u64 pass_over(struct passing *p, __u64 at)
{
	const __u64 from = at;
	size_t tries = 0;

	do
		at += ALIGN;
	while (at < p->k.end && at != p->k.top && tries++ < TRIES && !in_step(&p->k, at));
	if (tries >= TRIES)
		at = p->k.end;
	p->unknown += at - from;
	return at;
}

/* One piece, from its first chunk on: to the top, if that is in it, or its end. */
static int pass_through(struct passing *p, __u64 at)
{
	struct walk *k = &p->k;
	__u64 size, len;
	bool is_free, again = false;

	while (k->end - at > SMALLEST + FENCE) {
		if (at == k->top) {
			if (look_again(p) && at == k->top && word_now(k, at + WORD, &size)) {
				k->top_size = size & ~FLAGS;
				return 0;
			}
			again = true;
		}
		len = step(k, at, &is_free);
		if (len) {
			if (heap_add(k->h, &(struct heap_chunk){ .at = at, .size = len,
				     .arena = k->arena, .state = is_free ? HEAP_FREE : HEAP_USED }))
				return -ENOMEM;
			at += len;
			again = false;
		} else if (!again) {
			again = look_again(p);
			if (!again)
				return 0;
		} else {
			at = pass_over(p, at);
			again = false;
		}
	}
	k->heads += k->end - at;
	return 0;
}

static int pass_main(struct passing *p, struct heap_arena *a, __u64 *base,
		     const struct heap_area *areas, size_t nr)
{
	const struct heap_area *area = area_of(areas, nr, p->k.top);

	/* it may have grown beyond where it ended before */
	for (size_t i = 0; !area && i < nr; i++)
		if (areas[i].brk)
			area = &areas[i];
	if (!area) {
		a->why = elsewhere;
		return 0;
	}
	p->k.end = area->end;
	*base = area->start;
	a->pieces = 1;
	return heap_add_piece(p->k.h, area->start, area->end) ? -ENOMEM :
	       pass_through(p, (area->start + ALIGN - 1) & ~(ALIGN - 1));
}

/* From @first on; a circle is none of malloc's. */
static bool has_piece(const struct heap *h, size_t first, __u64 start)
{
	for (size_t i = first; i < h->nr_pieces; i++)
		if (h->pieces[i].start == start)
			return true;
	return false;
}

static int pass_other(struct passing *p, struct heap_arena *a, unsigned int lists)
{
	const __u64 first = a->at & ~(REGION - 1), info = a->at - first;
	const size_t pieces = p->k.h->nr_pieces;
	__u64 base = p->k.top & ~(REGION - 1);
	struct head head;
	int err = 0;

	while (!err && base && words_at(p->k.w, base, &head, sizeof(head)) &&
	       is_head(&head, a->at, base) && !has_piece(p->k.h, pieces, base)) {
		const __u64 begin = base == first ? chunks_of(a, lists) : base + info;

		p->k.end = base + head.len;
		p->k.heads += begin - base;
		if (heap_add_piece(p->k.h, base, p->k.end))
			return -ENOMEM;
		a->pieces++;
		if (begin < p->k.end)
			err = pass_through(p, begin);
		base = base == first ? 0 : head.before;
	}
	return err;
}

static int pass(struct heap *h, size_t nr, const struct heap_place *place, __u64 *base,
		const struct heap_area *areas, size_t nr_areas, struct heap_words *w)
{
	struct heap_arena *a = &h->arenas[nr];
	const __u64 lists = a->at + place->lists;
	const size_t chunks = h->nr_chunks;
	struct passing p = { .k = { .h = h, .w = w, .arena = nr }, .top_word = lists + AT_TOP };
	__u64 known;
	int err;

	a->why = NULL;
	a->pieces = 0;
	a->foreign = 0;
	if (!look_again(&p)) {
		a->why = unread;
		return 0;
	}
	a->top_at = p.k.top;
	err = nr ? pass_other(&p, a, place->lists) : pass_main(&p, a, base, areas, nr_areas);
	if (err || a->why)
		return err;
	a->changed = true;
	a->top = p.k.top_size;
	a->top_at = p.k.top;
	a->heads = p.k.heads;
	a->unknown = p.unknown;
	word_now(&p.k, lists + AT_SYSTEM, &a->system);
	known = has(h, a, chunks) + a->unknown;
	if (a->system > known)
		a->unknown += a->system - known;
	return 0;
}

/* ---- all ---- */

static int walk_arena(struct heap *h, size_t nr, const struct heap_place *place, __u64 *base,
		      const struct heap_area *areas, size_t nr_areas, struct heap_words *w)
{
	struct heap_arena *a = &h->arenas[nr];
	const __u64 lists = a->at + place->lists;
	const size_t chunks = h->nr_chunks, pieces = h->nr_pieces;
	__u64 top;
	int err;

	if (!word_at(w, lists + AT_TOP, &top)) {
		a->why = unread;
		return 0;
	}
	/* nothing was ever taken: the top is a list of its own */
	if (top == lists - 16)
		return 0;
	a->top_at = top;
	if (nr)
		err = walk_other(h, a, nr, top, place->lists, w);
	else
		err = walk_main(h, a, top, base, areas, nr_areas, w);
	if (!err && !a->why) {
		const __u64 more = a->system - has(h, a, chunks);

		/* some bytes from where brk() was, to where chunks can be */
		if (!nr && more < ALIGN) {
			a->heads += more;
			*base -= more;
		} else if (more) {
			a->why = "its chunks are not what it says it has";
		}
	}
	if (!a->why)
		return err;
	h->nr_chunks = chunks;
	h->nr_pieces = pieces;
	if (!err && w->m->passing)
		err = pass(h, nr, place, base, areas, nr_areas, w);
	return err;
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

int heap_walk(struct heap *h, const struct heap_area *areas, size_t nr,
	      const struct heap_memory *m)
{
	struct heap_words *w = calloc(1, sizeof(*w));
	struct heap_place place;
	__u64 base = 0;
	int err;

	memset(h, 0, sizeof(*h));
	if (!w)
		return -ENOMEM;
	w->m = m;
	err = arenas_find(h, &place, areas, nr, w);
	for (size_t i = 0; !err && i < h->nr_arenas; i++)
		err = walk_arena(h, i, &place, &base, areas, nr, w);
	heap_sort(h);
	if (!err)
		err = mapped_find(h, &place, base, areas, nr, w);
	heap_sort(h);
	if (!err)
		err = cached_find(h, &place, w);
	free(w);
	if (err) {
		heap_free(h);
		return err;
	}
	sum_up(h);
	h->whole = true;
	for (size_t i = 0; i < h->nr_arenas; i++)
		h->whole &= !h->arenas[i].why && !h->arenas[i].changed;
	return 0;
}
