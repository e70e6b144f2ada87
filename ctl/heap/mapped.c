// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find blocks that malloc mapped one by one because of their size.  No pointer leads to
 * them.  Each has its size at the beginning of a page, and fills whole pages.  The candidates are
 * accepted only if they add up to malloc's own total of mapped blocks.
 */
#include "heap/int.h"

/* Where the mapping of the chunk at @at ends, if it begins at @start; or 0. */
static __u64 end_of(struct heap_words *w, __u64 at, __u64 start, __u64 limit)
{
	__u64 head[2], len, end;

	if (at >= limit || !words_at(w, at, head, sizeof(head)))
		return 0;
	len = head[1] & ~FLAGS;
	if ((head[1] & FLAGS) != IS_MAPPED || head[0] != at - start || len < SMALLEST ||
	    len > limit - at)
		return 0;
	/* since 2.42 its size is without its own head */
	end = at + len;
	if (end % PAGE == PAGE - HEAP_HEAD)
		end += HEAP_HEAD;
	return end % PAGE || end > limit ? 0 : end;
}

/* An aligned block has its own head later, of what the first one had: and that stays there. */
static __u64 find_at(struct heap_words *w, __u64 page, __u64 limit, __u64 *at)
{
	const __u64 end = end_of(w, page, page, limit);

	*at = page;
	for (__u64 align = 2 * ALIGN; end && align < end - page; align *= 2) {
		const __u64 later = ((page + HEAP_HEAD + align - 1) & ~(align - 1)) - HEAP_HEAD;

		if (later < end && end_of(w, later, page, limit) == end) {
			*at = later;
			break;
		}
	}
	return end;
}

static int add(struct heap *h, __u64 at, __u64 before, __u64 end)
{
	/* all of the mapping, as malloc counts it */
	const struct heap_chunk c = { .at = at, .size = end - at, .state = HEAP_USED, .mapped = 1 };

	h->mapped_says += end - at + before;
	return heap_add(h, &c);
}

static int look_through(struct heap *h, __u64 from, __u64 limit, struct heap_words *w)
{
	__u64 at, end, page = words_next(w, from, limit) & ~(PAGE - 1);
	int err = 0;

	while (!err && page < limit) {
		end = find_at(w, page, limit, &at);
		if (end)
			err = add(h, at, at - page, end);
		page = words_next(w, end ? end : page + PAGE, limit) & ~(PAGE - 1);
	}
	return err;
}

/* What pieces of arenas are in, and all else. */
static int look_beside(struct heap *h, const struct heap_area *a, struct heap_words *w)
{
	__u64 from = a->start;
	int err = 0;

	for (size_t i = 0; !err && i < h->nr_pieces; i++) {
		const struct heap_piece *p = &h->pieces[i];

		if (p->end <= from || p->start >= a->end)
			continue;
		if (p->start > from)
			err = look_through(h, from, p->start, w);
		from = (p->end + PAGE - 1) & ~(PAGE - 1);
	}
	return err || from >= a->end ? err : look_through(h, from, a->end, w);
}

/*
 * What malloc takes ahead stands among its parameters, too, before its sums: four numbers, since
 * 2.35 a fifth and two sizes of pages (since 2.43 perhaps more), the most arenas there may be, the
 * number of them at which it counts processors (8, and nobody changes that), the size from which
 * on a block is mapped, and what is asked for.
 */
static bool is_params(__u64 sums, struct heap_words *w, __u64 *top_pad)
{
	static const unsigned int ahead[] = { 24 + 16, 16, 24 + 24 };
	__u64 words[4];			/* top_pad, mmap_threshold, arena_test, arena_max */

	for (size_t i = 0; i < sizeof(ahead) / sizeof(ahead[0]); i++)
		if (words_at(w, sums - ahead[i] - sizeof(words), words, sizeof(words)) &&
		    words[2] == 8 && words[3] <= 65536 && words[1] <= REGION) {
			*top_pad = words[0];
			return true;
		}
	return false;
}

/*
 * Malloc's own sum, among its parameters: before the address at which its memory began, and
 * the highest sum that there was.  Where that address is not known, or none, they are known by
 * others.
 */
static bool find_sum(const struct heap_place *place, struct heap_words *w, __u64 *sum,
		     __u64 *where)
{
	const struct heap_area *a = place->data;
	__u64 words[3], pad;

	for (__u64 at = a->start; at + sizeof(words) <= a->end; at += WORD) {
		if (!words_at(w, at, words, sizeof(words))) {
			at = words_next(w, (at | (PAGE - 1)) + 1, a->end) - WORD;
			continue;
		}
		if (words[0] > words[1] || words[0] % PAGE || words[1] % PAGE)
			continue;
		if (place->base ? words[2] != place->base :
		    !words[1] || words[2] % ALIGN || !is_params(at, w, &pad))
			continue;
		*sum = words[0];
		*where = at;
		return true;
	}
	return false;
}

static void find_top_pad(struct heap *h, __u64 sums, struct heap_words *w)
{
	if (!h->knows_top_pad)
		h->knows_top_pad = is_params(sums, w, &h->top_pad);
}

int mapped_find(struct heap *h, const struct heap_places *places, const struct heap_spans *spans,
		struct heap_words *w)
{
	const size_t before = h->nr_chunks;
	__u64 says = 0, found, sum, where;
	bool told = true;
	int err = 0;

	h->mapped_says = 0;
	for (size_t i = 0; !err && i < spans->nr; i++)
		if (!spans->at[i].brk)
			err = look_beside(h, &spans->at[i], w);
	if (err)
		return err;
	for (size_t i = 0; i < places->nr; i++) {
		if (!find_sum(&places->at[i], w, &sum, &where)) {
			told = false;
			continue;
		}
		says += sum;
		find_top_pad(h, where, w);
	}
	found = h->mapped_says;
	h->mapped_says = says;
	if (told && found < says)
		h->mapped_unknown = says - found;
	if (told ? found <= says : !found)
		return 0;
	h->nr_chunks = before;
	h->mapped_why = told ? "more was found than malloc's counter says" :
			       "malloc's counter of them was not found";
	return 0;
}
