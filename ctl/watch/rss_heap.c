// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find resident pages that malloc holds but are free, by malloc's own chunks, read while the
 * process runs.  Pages that are not resident are not counted.
 */
#include <errno.h>
#include <stdlib.h>

#include "leaks/heap.h"
#include "rss/rss.h"
#include "watch/watch.h"

#define MAX_NS	5000000000ULL		/* each time; nobody waits for it but us */

struct cursor {
	const struct rss_process *p;
	unsigned int page;
	size_t at;			/* run */
};

static bool is_there(const struct rss_run *r)
{
	return r->kind == RSS_ANON;
}

/* Bytes of [@start, @end) that are there.  Asked in the order of addresses. */
static __u64 resident(struct cursor *c, __u64 start, __u64 end)
{
	__u64 bytes = 0;

	for (size_t i = c->at; i < c->p->nr_runs; i++) {
		const struct rss_run *r = &c->p->runs[i];
		const __u64 from = r->page * c->page, to = from + (__u64)r->nr * c->page;

		if (to <= start) {
			c->at = i + 1;
			continue;
		}
		if (from >= end)
			break;
		if (is_there(r))
			bytes += (to < end ? to : end) - (from > start ? from : start);
	}
	return bytes;
}

static bool is_free(const struct heap_chunk *c)
{
	return c->state == HEAP_FREE || c->state == HEAP_CACHED || c->state == HEAP_FAST;
}

/* Tops are between chunks: a walk of their own. */
static void add_tops(const struct heap *h, struct cursor c, __u64 *free_of)
{
	for (size_t i = 0; i < h->nr_arenas; i++) {
		c.at = 0;
		if (!h->arenas[i].why && h->arenas[i].top)
			free_of[i] += resident(&c, h->arenas[i].top_at,
					       h->arenas[i].top_at + h->arenas[i].top);
	}
}

static int add_heap(struct watch_rss_heap *to, const struct heap *h, struct cursor c)
{
	__u64 *free_of = calloc(h->nr_arenas + 1, sizeof(*free_of)), bytes;

	if (!free_of)
		return -ENOMEM;
	add_tops(h, c, free_of);
	for (size_t i = 0; i < h->nr_chunks; i++) {
		const struct heap_chunk *k = &h->chunks[i];

		bytes = resident(&c, k->at, k->at + k->size);
		if (is_free(k))
			free_of[k->arena] += bytes;
		else
			to->used += bytes;
	}
	for (size_t i = 0; i < h->nr_arenas; i++) {
		to->free += free_of[i];
		to->changed |= h->arenas[i].changed;
		to->missing += h->arenas[i].unknown;
		to->with_free += free_of[i] != 0;
		if (free_of[i] > to->most)
			to->most = free_of[i];
	}
	to->arenas += h->nr_arenas;
	to->unmapped |= !!h->mapped_why;
	free(free_of);
	return 0;
}

/* Of a heap of which nothing is known; or NULL. */
static const char *why_not(const struct heap_look *l)
{
	const char *why = NULL;

	for (size_t i = 0; i < l->heap.nr_arenas; i++) {
		if (!l->heap.arenas[i].why)
			return NULL;
		why = l->heap.arenas[i].why;
	}
	return why;
}

void watch_rss_heap(struct watch_rss_heap *to, const struct rss_process *p, unsigned int page)
{
	struct heap_look l;
	const int err = heap_look_running(&l, (pid_t)p->pid, MAX_NS);

	/* another allocator, a program of 32 bits, or one that ended */
	if (err == -ENOENT || err == -ESRCH)
		return;
	if (err || why_not(&l)) {
		to->unknown++;
		to->why = err == -ETIMEDOUT ? "it took too long to read" :
			  err ? "it could not be read" :
			  p->swap ? "a part of it is swapped out" : why_not(&l);
	} else if (add_heap(to, &l.heap, (struct cursor){ p, page, 0 })) {
		to->unknown++;
		to->why = "no memory";
	}
	if (!err)
		heap_look_free(&l);
}
