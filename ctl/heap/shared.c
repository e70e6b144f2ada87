// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What several roots hold together: of the largest blocks that no single root is needed for, which
 * roots lead there.  See graph.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/graph.h"

#define MOST_SHARED	64U

struct share {
	struct graph *g;
	struct graph_shared *of;
	__u32 nr;
	__u32 *top;			/* by number: what holds it: a root, or such a block */
	__u8 *place;			/* by chunk: which of them it is, from 1 on */
	__u64 links[MOST_SHARED];	/* by bit: which other ones lead to it */
	__u32 from;			/* number of the block that is looked at */
	enum graph_tier tier;
};

static bool is_root(const struct graph *g, __u32 number)
{
	return g->node[number] >= g->nr_chunks;
}

/* ---- which blocks ---- */

static int find_tops(struct share *s)
{
	const struct graph *g = s->g;

	s->top = malloc(g->nr * sizeof(*s->top));
	if (!s->top)
		return -ENOMEM;
	s->top[0] = 0;
	/* (a dominator has a lower number) */
	for (__u32 v = 1; v < g->nr; v++)
		s->top[v] = g->dom[v] ? s->top[g->dom[v]] : v;
	return 0;
}

/* The largest ones, sorted. */
static void keep_largest(struct share *s, __u32 number, __u64 bytes)
{
	__u32 i = s->nr < MOST_SHARED ? s->nr++ : s->nr;

	if (i == MOST_SHARED && s->of[--i].bytes >= bytes)
		return;
	for (; i && s->of[i - 1].bytes < bytes; i--)
		s->of[i] = s->of[i - 1];
	s->of[i] = (struct graph_shared){ .number = number, .bytes = bytes };
}

static int find_largest(struct share *s, __u64 least)
{
	const struct graph *g = s->g;
	__u64 *bytes = calloc(g->nr + 1UL, sizeof(*bytes));

	if (!bytes)
		return -ENOMEM;
	for (__u32 v = 1; v < g->nr; v++)
		if (!is_root(g, v))
			bytes[s->top[v]] += g->chunks[g->node[v]].size;
	for (__u32 v = 1; v < g->nr; v++)
		if (!is_root(g, v) && s->top[v] == v && bytes[v] >= least)
			keep_largest(s, v, bytes[v]);
	free(bytes);
	return 0;
}

/* ---- which roots ---- */

static void add_root(struct graph_shared *to, __u32 root)
{
	for (__u32 i = 0; i < to->nr; i++)
		if (to->roots[i] == root)
			return;
	if (to->nr == GRAPH_SHARERS)
		to->more = true;
	else
		to->roots[to->nr++] = root;
}

static struct graph_shared *shared_at(const struct share *s, __u32 block)
{
	return s->place[block] ? &s->of[s->place[block] - 1] : NULL;
}

static void take_roots(struct share *s)
{
	const struct graph *g = s->g;
	struct graph_shared *to;

	for (size_t i = 0; i < g->nr_edges; i++) {
		to = shared_at(s, g->edges[i].block);
		if (to && g->tiers[g->edges[i].root] == graph_tier_of(g, to->number))
			add_root(to, g->edges[i].root);
	}
}

static int take_edge(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct share *s = ctx;
	struct graph_shared *to = shared_at(s, block), *other;
	const __u32 top = s->top[s->from];

	(void)at;
	(void)word;
	if (!to || top == to->number || graph_tier_of(s->g, to->number) != s->tier)
		return 0;
	if (is_root(s->g, top)) {
		add_root(to, s->g->node[top] - s->g->nr_chunks);
		return 0;
	}
	other = shared_at(s, s->g->node[top]);
	if (other)
		s->links[to - s->of] |= 1ULL << (other - s->of);
	else
		to->more = true;
	return 0;
}

static void take_blocks(struct share *s)
{
	const struct graph *g = s->g;

	s->tier = 0;
	for (__u32 v = 1; v < g->nr; v++) {
		while (v >= g->tier_from[s->tier + 1])
			s->tier++;
		if (is_root(g, v))
			continue;
		s->from = v;
		graph_scan_block(g, g->node[v], take_edge, s);
	}
}

/* What leads to one that leads to another leads there, too. */
static void follow_links(struct share *s)
{
	for (__u32 k = 0; k < s->nr; k++)
		for (__u32 i = 0; i < s->nr; i++)
			if (s->links[i] >> k & 1)
				s->links[i] |= s->links[k];
	for (__u32 i = 0; i < s->nr; i++)
		for (__u32 k = 0; k < s->nr; k++) {
			if (k == i || !(s->links[i] >> k & 1))
				continue;
			s->of[i].more |= s->of[k].more;
			for (__u32 n = 0; n < s->of[k].nr; n++)
				add_root(&s->of[i], s->of[k].roots[n]);
		}
}

static int find_sharers(struct share *s)
{
	struct graph *g = s->g;
	int err = addr_index_make(&g->index, g->chunks, g->nr_chunks, sizeof(*g->chunks));

	s->place = err ? NULL : calloc(g->nr_chunks + 1UL, sizeof(*s->place));
	if (!err && !s->place)
		err = -ENOMEM;
	if (!err) {
		for (__u32 i = 0; i < s->nr; i++)
			s->place[g->node[s->of[i].number]] = (__u8)(i + 1);
		take_roots(s);
		take_blocks(s);
		follow_links(s);
	}
	free(s->place);
	addr_index_free(&g->index);
	return err;
}

int graph_find_shared(struct graph *g, __u64 least, struct graph_shared **shared, __u32 *nr)
{
	struct share s = { .g = g };
	int err;

	*nr = 0;
	s.of = *shared = calloc(MOST_SHARED, sizeof(**shared));
	if (!s.of)
		return -ENOMEM;
	err = find_tops(&s);
	if (!err)
		err = find_largest(&s, least);
	if (!err && s.nr)
		err = find_sharers(&s);
	free(s.top);
	if (!err)
		*nr = s.nr;
	return err;
}
