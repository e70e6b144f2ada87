// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What gc tracks: three lists, one for each generation, side by side.  They are found by what they
 * are: each list comes back to its head, and has objects of types that gc may track.  The head
 * is in the library's data, in _PyRuntime, or in the interpreter that _PyRuntime leads to.
 */
#include <stdlib.h>
#include <string.h>

#include "heap/python_int.h"

#define LINK_BITS	3ULL		/* of a link: what gc remembers of an object */
#define LINK_ALIGN	4ULL		/* of the heads of lists, since 3.13 */
#define CHECKED		8U		/* objects of a list, whose types are looked at */
#define LEAST_INTERP	1024U		/* bytes */
#define MOST_INTERP	(1U << 20)
#define MOST_STEPS	(1ULL << 29)	/* from object to object, in all */

struct lists {
	struct python *py;
	__u32 head;			/* bytes of gc's head */
	__u32 stride;			/* from one list's head to the next one's */
	__u64 steps;			/* from object to object, so far */
};

static bool links(const struct python *py, __u64 at, __u64 *next, __u64 *before)
{
	__u64 words[2];

	if (at % LINK_ALIGN || !python_read(py, at, words, sizeof(words)))
		return false;
	*next = words[0] & ~LINK_BITS;
	*before = words[1] & ~LINK_BITS;
	return true;
}

static bool is_tracked(struct python *py, __u64 at, __u32 head)
{
	const struct python_type *t = python_type_of(py, at + head);

	return t && t->flags & FLAG_GC;
}

/*
 * How many there are from the head at @at back to it; -1: it is no list.  (Each one's link back is
 * checked: so a circle has the head in it.)
 */
static long long count_list(struct lists *l, __u64 at)
{
	__u64 next, before, last = at, node;
	long long nr = 0;

	if (!links(l->py, at, &node, &before))
		return -1;
	for (; node != at; node = next, nr++) {
		if (l->steps++ > MOST_STEPS || !links(l->py, node, &next, &before) ||
		    before != last || (nr < CHECKED && !is_tracked(l->py, node, l->head)))
			return -1;
		last = node;
	}
	return links(l->py, at, &next, &before) && before == last ? nr : -1;
}

/* Are there three of them at @at?  The first words alone say no, nearly always. */
static bool try_lists(struct lists *l, __u64 at, __u64 *nr)
{
	const __u64 stride = l->stride;
	__u64 next, before, of;
	long long n;

	*nr = 0;
	for (__u64 i = 0; i < 3; i++)
		if (!links(l->py, at + i * stride, &next, &before) || !next || !before ||
		    !links(l->py, next, &of, &before) || before != at + i * stride)
			return false;
	for (__u64 i = 0; i < 3; i++) {
		n = count_list(l, at + i * stride);
		if (n < 0)
			return false;
		*nr += (__u64)n;
	}
	return *nr > 0;
}

static bool is_new(struct lists *l, __u64 at)
{
	struct python_gc *gc = &l->py->gc;

	for (__u32 i = 0; i < gc->interpreters; i++)
		if (gc->at[i] == at)
			return false;
	return gc->interpreters < PYTHON_INTERPS;
}

static bool find_in(struct lists *l, __u64 start, __u64 end)
{
	struct python_gc *gc = &l->py->gc;
	__u64 words[2], nr;

	if (end < start || end > 1ULL << 57)
		return false;
	if (end - start > MOST_INTERP)
		end = start + MOST_INTERP;
	for (__u64 at = (start + WORD - 1) & ~(WORD - 1); at < end; at += LINK_ALIGN) {
		if (!python_read(l->py, at, words, sizeof(words))) {
			at = (at | (PAGE - 1)) + 1 - LINK_ALIGN;
			continue;
		}
		if (!words[0] || !words[1] || (words[0] | words[1]) & (LINK_ALIGN - 1) ||
		    words[0] < PAGE || words[1] < PAGE || !try_lists(l, at, &nr) || !is_new(l, at))
			continue;
		gc->at[gc->interpreters++] = at;
		gc->tracked += nr;
		gc->found = true;
		gc->head = l->head;
		return true;
	}
	return false;
}

/* Interpreters are blocks of malloc's, where the main one is not in _PyRuntime. */
static void find_blocks(struct python *py, const struct heap *h)
{
	const struct python_place *p = &py->place;
	const __u64 len = p->runtime_len < MOST_INTERP ? p->runtime_len : MOST_INTERP;
	struct python_gc *gc = &py->gc;
	const struct heap_chunk *c;
	__u64 word;
	size_t k;

	for (__u64 at = 0; at + WORD <= len && gc->nr_blocks < PYTHON_INTERPS; at += WORD) {
		if (!python_word(py, p->runtime + at, &word) || word % ALIGN || word < PAGE)
			continue;
		c = heap_find(h, word - HEAP_HEAD);
		if (!c || c->state != HEAP_USED || c->pooled || heap_usable(c) < LEAST_INTERP)
			continue;
		for (k = 0; k < gc->nr_blocks && gc->blocks[k] != word; k++)
			;
		if (k == gc->nr_blocks)
			gc->blocks[gc->nr_blocks++] = word;
	}
}

static void find_interpreters(struct lists *l, const struct heap *h)
{
	const struct python_gc *gc = &l->py->gc;
	const struct heap_chunk *c;
	__u64 len;

	for (__u32 i = 0; i < gc->nr_blocks; i++) {
		c = heap_find(h, gc->blocks[i] - HEAP_HEAD);
		len = c ? heap_usable(c) : 0;
		find_in(l, gc->blocks[i], gc->blocks[i] + (len < MOST_INTERP ? len : MOST_INTERP));
	}
}

static void find_lists(struct lists *l, const struct heap *h)
{
	const struct python_place *p = &l->py->place;
	__u64 first;

	if (p->generation0 && python_word(l->py, p->generation0, &first))
		find_in(l, first, first + WORD);
	if (!l->py->gc.found && p->runtime)
		find_in(l, p->runtime, p->runtime + p->runtime_len);
	if (p->runtime && p->version >= 0x0309)
		find_interpreters(l, h);
}

/* A list's head is followed by two numbers, and by padding if it is aligned to 16 bytes. */
void python_find_tracked(struct python *py, const struct heap *h)
{
	struct lists l = { .py = py };

	if (!py->layout)
		return;
	find_blocks(py, h);
	for (size_t i = 0; i < 3 && !py->gc.found && py->layout->heads[i]; i++) {
		l.head = py->layout->heads[i];
		for (l.stride = l.head + 8; !py->gc.found && l.stride <= l.head + 16;
		     l.stride += 8)
			find_lists(&l, h);
	}
}
