// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The heap of musl's mallocng (1.2.1 and later).  Groups of up to 32 slots of one size lie apart
 * from what describes them: records of 40 bytes, whose pages begin with a secret that the
 * allocator's structure has, too.  By that the structure is found among the data of a program or
 * library.  Each group points back to its record, and each slot in use to its group: what does not
 * is reported, and not counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "heap/int.h"

#define UNIT		16ULL		/* of sizes, and before the first slot */
#define TAIL		4ULL		/* bytes behind each block, at least */
#define RECORDS_HEAD	24		/* of a page of records */
#define MOST_RECORDS	((PAGE - RECORDS_HEAD) / sizeof(struct record))
#define STRUCT_WORDS	9		/* of the structure, which are looked at */
#define MOST_BYTES	(1ULL << 43)

static const char no_head[] = "the head of a block in it is inconsistent";

/* In units */
static const __u16 classes[] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20, 25, 31, 36, 42, 50, 63, 72, 84, 102, 127,
	146, 170, 204, 255, 292, 340, 409, 511, 584, 682, 818, 1023, 1169, 1364, 1637, 2047,
	2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191,
};

#define NR_CLASSES	(sizeof(classes) / sizeof(classes[0]))

struct record {
	__u64 before, next, group;
	__u32 available, freed;		/* slots, by bit */
	__u64 about;			/* last slot: 5 bits; may be freed; class: 6; pages */
};

/* What the structure has that is looked at. */
struct known {
	__u64 secret;
	__u64 first, last;		/* pages of records */
};

struct group {
	__u64 start, end;
};

struct groups {
	struct heap *h;
	struct heap_words *w;
	struct group *at;
	size_t nr, room;
	__u64 unknown;
};

/* ---- the structure ---- */

static bool has_secret(struct heap_words *w, __u64 page, __u64 secret)
{
	__u64 word;

	return page && !(page % PAGE) && word_at(w, page, &word) && word == secret;
}

/* secret; init_done, mmap_counter; free, available records; three counts; first, last page */
static bool is_structure(struct heap_words *w, const __u64 *words, struct known *k)
{
	if (!words[0] || (__u32)words[1] != 1 || !words[7] || words[7] % PAGE || words[8] % PAGE)
		return false;
	*k = (struct known){ words[0], words[7], words[8] };
	return has_secret(w, k->first, k->secret) && has_secret(w, k->last, k->secret);
}

static __u64 find_in(struct heap_words *w, const struct heap_area *a, struct known *k)
{
	/* (what is looked at elsewhere in between changes the window) */
	__u64 words[PAGE / WORD + STRUCT_WORDS];

	for (__u64 page = words_next(w, a->start, a->end) & ~(PAGE - 1); page < a->end;
	     page = words_next(w, page + PAGE, a->end) & ~(PAGE - 1)) {
		size_t nr = sizeof(words) / WORD;

		if (a->end - page < sizeof(words) || !words_at(w, page, words, sizeof(words))) {
			nr = PAGE / WORD;
			if (!words_at(w, page, words, PAGE))
				continue;
		}
		for (size_t i = 0; i + STRUCT_WORDS <= nr; i++)
			if (is_structure(w, words + i, k))
				return page + i * WORD;
	}
	return 0;
}

/* ---- slots ---- */

static __u64 stride_of(const struct record *r)
{
	const __u64 pages = r->about >> 12;
	const unsigned int class = r->about >> 6 & 63, last = r->about & 31;

	if (!last && pages)
		return pages < MOST_BYTES / PAGE ? pages * PAGE - UNIT : 0;
	return class < NR_CLASSES ? classes[class] * UNIT : 0;
}

static int add_chunk(struct groups *g, __u64 block, __u64 usable, enum heap_state state)
{
	return heap_add(g->h, &(struct heap_chunk){ .at = block - HEAP_HEAD,
						    .size = usable + TAIL, .tail = HEAP_TIGHT_TAIL,
						    .state = state });
}

/* Where the block of a slot begins, which need not be where the slot does; 0: inconsistent. */
static __u64 block_of(struct groups *g, __u64 group, unsigned int slot, __u64 start, __u64 end,
		      unsigned char head[8])
{
	__u64 block = start, back;

	if (!words_at(g->w, start - 8, head, 8))
		return 0;
	if (head[5] == 7 << 5) {
		block += UNIT * (head[6] | (__u64)head[7] << 8);
		if (block >= end || !words_at(g->w, block - 8, head, 8))
			return 0;
	}
	back = head[6] | (__u64)head[7] << 8;
	if (head[4])			/* far from the group's beginning */
		back = head[0] | (__u64)head[1] << 8 | (__u64)head[2] << 16 |
		       (__u64)head[3] << 24;
	return (head[5] & 31) == slot && block == group + UNIT + UNIT * back ? block : 0;
}

static int add_used(struct groups *g, __u64 group, unsigned int slot, __u64 start, __u64 stride)
{
	const __u64 end = start + stride - TAIL;
	unsigned char head[8] = { 0 };
	const __u64 block = block_of(g, group, slot, start, end, head);
	__u64 unused = head[5] >> 5;
	__u32 tail;

	if (block && unused == 6)	/* smaller slots are in it */
		return 0;
	if (block && unused == 5) {
		if (!words_at(g->w, end - TAIL, &tail, sizeof(tail)))
			unused = ~0ULL;
		else
			unused = tail;
	}
	if (!block || unused > end - block) {
		g->unknown += stride;
		return heap_add_gap(g->h, 0, start, start + stride,
				    words_why(g->w, start, no_head));
	}
	return add_chunk(g, block, end - unused - block, HEAP_USED);
}

/* ---- groups ---- */

static int add_group(struct groups *g, __u64 start, __u64 end)
{
	struct group *more = ids_grow(g->at, g->nr, &g->room, sizeof(*more));

	if (!more)
		return -ENOMEM;
	g->at = more;
	g->at[g->nr++] = (struct group){ start, end };
	return 0;
}

static int take_record(struct groups *g, __u64 at, const struct record *r)
{
	const __u64 stride = stride_of(r), pages = r->about >> 12;
	const unsigned int last = r->about & 31;
	__u64 owner, end;
	int err;

	/* one that is free has no group */
	if (!r->group)
		return 0;
	if (!stride || (pages && UNIT + (last + 1) * stride > pages * PAGE) ||
	    pages >= MOST_BYTES / PAGE || r->group % UNIT || r->group >> 47 ||
	    !word_at(g->w, r->group, &owner) || owner != at) {
		g->h->arenas_missing = true;
		return 0;
	}
	end = pages ? r->group + pages * PAGE : r->group + UNIT + (last + 1) * stride;
	err = add_group(g, r->group, end);
	for (unsigned int i = 0; i <= last && !err; i++) {
		const __u64 start = r->group + UNIT + i * stride;

		if ((r->available | r->freed) >> i & 1)
			err = add_chunk(g, start, stride - TAIL, HEAP_FREE);
		else
			err = add_used(g, r->group, i, start, stride);
	}
	return err;
}

static unsigned int records_of(const unsigned char *page)
{
	__u32 nr;

	memcpy(&nr, page + 2 * WORD, sizeof(nr));
	return nr < MOST_RECORDS ? nr : MOST_RECORDS;
}

/* From page to page of records: a circle is left when it comes to where it once was. */
static int take_all(struct groups *g, const struct known *k)
{
	unsigned char *page = malloc(PAGE);
	__u64 at = k->first, seen = 0, next;
	size_t steps = 0, power = 1;
	int err = page ? 0 : -ENOMEM;

	while (!err && at && at != seen) {
		if (!has_secret(g->w, at, k->secret) || !words_at(g->w, at, page, PAGE)) {
			g->h->arenas_missing = true;
			break;
		}
		for (unsigned int i = 0, nr = records_of(page); i < nr && !err; i++) {
			const __u64 offset = RECORDS_HEAD + i * sizeof(struct record);
			struct record r;

			memcpy(&r, page + offset, sizeof(r));
			err = take_record(g, at + offset, &r);
		}
		if (++steps == power) {
			seen = at;
			power *= 2;
		}
		memcpy(&next, page + WORD, sizeof(next));
		if (!next && at != k->last)
			g->h->arenas_missing = true;
		at = next;
	}
	g->h->arenas_missing |= at && at == seen;
	free(page);
	return err;
}

/* ---- what came of it ---- */

static int by_start(const void *x, const void *y)
{
	const struct group *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
}

/* Those that lie in a slot of another one are a part of that. */
static int add_pieces(struct groups *g)
{
	struct heap_arena *a = &g->h->arenas[0];
	__u64 last = 0;
	int err = 0;

	if (g->nr)
		qsort(g->at, g->nr, sizeof(*g->at), by_start);
	for (size_t i = 0; i < g->nr && !err; i++) {
		const __u64 start = g->at[i].start > last ? g->at[i].start : last;

		if (g->at[i].end <= last)
			continue;
		err = heap_add_piece(g->h, 0, start, g->at[i].end);
		a->system += g->at[i].end - start;
		a->pieces++;
		last = g->at[i].end;
	}
	return err;
}

/* No block begins where another one has not ended yet; a page that was changed may say so. */
static void drop_overlaps(struct groups *g)
{
	struct heap *h = g->h;
	__u64 end = 0;
	size_t nr = 0;

	for (size_t i = 0; i < h->nr_chunks; i++) {
		const struct heap_chunk c = h->chunks[i];

		if (c.at < end) {
			g->unknown += c.size;
			continue;
		}
		end = c.at + c.size;
		h->chunks[nr++] = c;
	}
	h->nr_chunks = nr;
}

/* The rest is what the allocator needs itself, and what blocks do not fill of their slots. */
static void sum_rest(struct groups *g)
{
	struct heap_arena *a = &g->h->arenas[0];
	__u64 chunks = 0;

	for (size_t i = 0; i < g->h->nr_chunks; i++)
		chunks += g->h->chunks[i].size;
	a->unknown = g->unknown < a->system ? g->unknown : a->system;
	a->heads = a->system > chunks + a->unknown ? a->system - chunks - a->unknown : 0;
}

int mallocng_walk(struct heap *h, const struct heap_area *areas, size_t nr, struct heap_words *w)
{
	struct groups g = { .h = h, .w = w };
	struct known k = { 0 };
	__u64 at = 0;
	int err;

	for (size_t i = 0; i < nr && !at; i++)
		if (areas[i].data)
			at = find_in(w, &areas[i], &k);
	if (!at)
		return -ENOENT;
	h->arenas = calloc(1, sizeof(*h->arenas));
	if (!h->arenas)
		return -ENOMEM;
	h->nr_arenas = h->room_arenas = h->nr_libcs = 1;
	h->arenas[0].at = at;
	h->arenas[0].allocator = HEAP_MALLOCNG;
	h->no_caches = true;
	err = take_all(&g, &k);
	heap_sort(h);
	if (!err) {
		drop_overlaps(&g);
		err = add_pieces(&g);
		sum_rest(&g);
	}
	heap_sort(h);
	free(g.at);
	return err;
}
