// SPDX-License-Identifier: GPL-2.0-or-later
/* One shortest way from a root to a block: a breadth-first search, see graph.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/graph.h"

struct walk {
	struct graph *g;
	__u32 *from;			/* by chunk: the node that led there first, and 1 more */
	__u32 *queue;			/* chunks */
	__u32 nr, done;
	__u32 at;			/* whose words are looked at: a node */
};

static int reach(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct walk *w = ctx;

	(void)at;
	(void)word;
	if (w->from[block])
		return 0;
	w->from[block] = w->at + 1;
	w->queue[w->nr++] = block;
	return 0;
}

static __u32 search(struct walk *w, bool (*want)(void *ctx, __u32 block), void *ctx)
{
	struct graph *g = w->g;
	size_t i = 0;

	for (enum graph_tier tier = 0; tier < NR_GRAPH_TIERS; tier++) {
		for (; i < g->nr_edges && g->tiers[g->edges[i].root] == tier; i++) {
			w->at = g->nr_chunks + g->edges[i].root;
			reach(w, 0, 0, g->edges[i].block);
		}
		while (w->done < w->nr) {
			w->at = w->queue[w->done++];
			if (want(ctx, w->at))
				return w->at;
			graph_scan_block(g, w->at, reach, w);
		}
	}
	return GRAPH_NONE;
}

struct place {
	__u32 block;
	__u64 at, word;
};

/* The first address of it; that of its beginning is better. */
static int see(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct place *p = ctx;

	if (block != p->block || p->at)
		return 0;
	p->at = at;
	p->word = word;
	return 1;
}

static void find_place(const struct graph *g, __u32 from, struct graph_step *step, __u32 to)
{
	struct place p = { .block = to };

	step->node = from;
	if (from < g->nr_chunks) {
		graph_scan_block(g, from, see, &p);
	} else {
		for (size_t i = 0; i < g->nr_edges && !p.at; i++)
			if (g->edges[i].root == from - g->nr_chunks && g->edges[i].block == to)
				p.at = g->edges[i].at;
		graph_read(g, p.at, &p.word, sizeof(p.word));
	}
	step->at = p.at;
	step->word = p.word;
}

static int make_steps(const struct walk *w, __u32 found, struct graph_step **steps, size_t *nr)
{
	size_t len = 1, i;
	__u32 node;

	for (node = found; node < w->g->nr_chunks; node = w->from[node] - 1)
		len++;
	*steps = calloc(len, sizeof(**steps));
	if (!*steps)
		return -ENOMEM;
	*nr = i = len;
	(*steps)[--i].node = found;
	for (node = found; i--; node = w->from[node] - 1)
		find_place(w->g, w->from[node] - 1, &(*steps)[i], node);
	return 0;
}

int graph_path(struct graph *g, bool (*want)(void *ctx, __u32 block), void *ctx,
	       struct graph_step **steps, size_t *nr)
{
	struct walk w = { .g = g };
	__u32 found;
	int err = -ENOMEM;

	*steps = NULL;
	*nr = 0;
	graph_sort_edges(g);
	w.from = calloc(g->nr_chunks + 1UL, sizeof(*w.from));
	w.queue = malloc((g->nr_blocks + 1UL) * sizeof(*w.queue));
	if (w.from && w.queue) {
		found = search(&w, want, ctx);
		err = found == GRAPH_NONE ? 0 : make_steps(&w, found, steps, nr);
	}
	free(w.from);
	free(w.queue);
	return err;
}
