// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/heap/dominators.c */
/*
 * Dominators of random graphs against the definition: d dominates w if w cannot be reached any
 * more when d is taken away.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "heap/dominators.h"
#include "tap.h"

#define MOST	40
#define EDGES	(MOST * MOST)

struct graph {
	int nr;
	bool edge[MOST][MOST];
};

struct searched {
	__u32 nr, number[MOST], node[MOST], parent[MOST];
};

static void visit(const struct graph *g, struct searched *s, int v, __u32 parent)
{
	const __u32 me = s->nr++;

	s->number[v] = me;
	s->node[me] = (__u32)v;
	s->parent[me] = parent;
	for (int w = 0; w < g->nr; w++)
		if (g->edge[v][w] && s->number[w] == UINT32_MAX)
			visit(g, s, w, me);
}

static void reach(const struct graph *g, int v, int without, bool *seen)
{
	if (v == without || seen[v])
		return;
	seen[v] = true;
	for (int w = 0; w < g->nr; w++)
		if (g->edge[v][w])
			reach(g, w, without, seen);
}

/* Of all that dominate @w but itself, the one that all others dominate: numbered highest. */
static __u32 plainly(const struct graph *g, const struct searched *s, __u32 w)
{
	__u32 found = 0;

	for (__u32 d = 1; d < s->nr; d++) {
		bool seen[MOST] = { false };

		if (d == w)
			continue;
		reach(g, 0, (int)s->node[d], seen);
		if (!seen[s->node[w]] && d > found)
			found = d;
	}
	return found;
}

static bool is_right(const struct graph *g)
{
	__u32 first[MOST + 1], before[EDGES], dom[MOST], parent[MOST], nr = 0;
	struct searched s = { 0 };
	struct dominators d = { .first = first, .before = before, .dom = dom, .parent = parent };

	memset(s.number, 0xff, sizeof(s.number));
	visit(g, &s, 0, 0);
	for (__u32 w = 0; w < s.nr; w++) {
		first[w] = nr;
		for (int v = 0; v < g->nr; v++)
			if (g->edge[v][s.node[w]] && s.number[v] != UINT32_MAX &&
			    s.number[v] != s.parent[w] && s.number[v] != w)
				before[nr++] = s.number[v];
	}
	first[s.nr] = nr;
	memcpy(parent, s.parent, sizeof(parent));
	d.nr = s.nr;
	if (dominators_find(&d))
		return false;
	for (__u32 w = 1; w < s.nr; w++)
		if (dom[w] != plainly(g, &s, w))
			return false;
	return dom[0] == 0;
}

/* Some are sparse, some dense, some mostly lists with ways back. */
static void make(struct graph *g, int round)
{
	const int of = 1 + rand() % (round % 3 ? 12 : 3);

	memset(g, 0, sizeof(*g));
	g->nr = 1 + rand() % MOST;
	for (int v = 0; v < g->nr; v++)
		for (int w = 0; w < g->nr; w++)
			g->edge[v][w] = rand() % (g->nr * of) < 4;
	for (int v = 0; round % 2 && v + 1 < g->nr; v++)
		g->edge[v][v + 1] = rand() % 8 != 0;
}

static void test_random(void)
{
	enum { ROUNDS = 4000 };
	struct graph *g = malloc(sizeof(*g));
	int wrong = 0;

	srand(42);
	for (int i = 0; i < ROUNDS; i++) {
		make(g, i);
		wrong += !is_right(g);
	}
	is(wrong, 0, "as by the definition, in all of %d graphs", ROUNDS);
	free(g);
}

/*
 * A list of a million, each of which points back to the first, to the one before, and to what is
 * common to all: no recursion, and no square of a million steps.
 */
static void test_long(void)
{
	enum { NR = 1000000, COMMON = NR + 1 };
	__u32 *parent = malloc((NR + 2) * sizeof(*parent)), nr = 0;
	__u32 *first = malloc((NR + 3) * sizeof(*first)), *dom = malloc((NR + 2) * sizeof(*dom));
	__u32 *before = malloc(4UL * NR * sizeof(*before)), wrong = 0;
	struct dominators d = { NR + 2, parent, first, before, dom };

	for (__u32 w = 0; w < NR + 2; w++) {
		first[w] = nr;
		parent[w] = w ? w - 1 : 0;
		if (w && w < NR)
			before[nr++] = w + 1;
		for (__u32 v = 2; w == 1 && v <= NR; v++)
			before[nr++] = v;
		for (__u32 v = 1; w == COMMON && v < NR; v++)
			before[nr++] = v;
	}
	first[NR + 2] = nr;
	ok(!dominators_find(&d), "a list of a million");
	for (__u32 w = 1; w <= NR; w++)
		wrong += dom[w] != w - 1;
	is(wrong, 0, "each is dominated by the one before");
	is(dom[COMMON], 1, "what is common to all, by the first");
	free(parent);
	free(first);
	free(before);
	free(dom);
}

int main(void)
{
	test_random();
	test_long();
	return tap_done();
}
