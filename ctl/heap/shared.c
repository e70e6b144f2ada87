// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What several roots hold together: of the blocks that no single root is needed for, which roots
 * lead there, however far.  See graph.h.
 *
 * Each such block has a set of roots, by number.  What another one leads to has that one's, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "heap/graph.h"

#define MOST_SETS	(1U << 18)
#define MOST_SHARED	64U		/* sets that are told */
#define MOST_PASSES	16		/* usual are two or three */

/* Roots in order of their numbers.  Set 0 is empty, set 1 has more than can be said. */
struct set {
	__u32 nr, roots[GRAPH_SHARERS];
	bool more;
};

#define SET_ANY		1U

struct share {
	struct graph *g;
	const __u32 *top;
	__u32 *number;			/* by chunk; 0: nothing leads there */
	__u32 *of;			/* by number: its set */
	struct set *sets;
	size_t room;
	struct ids ids;
	__u32 from;			/* number of the block that is looked at */
	enum graph_tier tier;
	bool changed;
	int err;
};

static bool is_root(const struct graph *g, __u32 number)
{
	return g->node[number] >= g->nr_chunks;
}

static bool is_shared(const struct graph *g, __u32 number)
{
	return number && !g->dom[number] && !is_root(g, number);
}

/* ---- sets ---- */

static bool same_set(const void *things, __u32 id, const void *key)
{
	const struct set *a = (const struct set *)things + id, *b = key;

	return a->nr == b->nr && a->more == b->more &&
	       !memcmp(a->roots, b->roots, a->nr * sizeof(a->roots[0]));
}

static __u32 get_set(struct share *s, const struct set *set)
{
	__u64 hash = ids_mix(set->nr, set->more);
	struct set *more;
	__u32 id;

	for (__u32 i = 0; i < set->nr; i++)
		hash = ids_mix(hash, set->roots[i]);
	id = ids_find(&s->ids, hash, same_set, s->sets, set);
	if (id != IDS_NONE)
		return id;
	if (s->ids.nr >= MOST_SETS)
		return SET_ANY;
	more = ids_grow(s->sets, s->ids.nr, &s->room, sizeof(*more));
	id = more ? ids_add(&s->ids, hash) : IDS_NONE;
	if (more)
		s->sets = more;
	if (id == IDS_NONE) {
		s->err = -ENOMEM;
		return SET_ANY;
	}
	s->sets[id] = *set;
	return id;
}

static void put_root(struct set *to, __u32 root)
{
	if (to->nr == GRAPH_SHARERS)
		to->more = true;
	else
		to->roots[to->nr++] = root;
}

static __u32 unite(struct share *s, __u32 one, __u32 other)
{
	const struct set *a = &s->sets[one], *b = &s->sets[other];
	struct set u = { .more = a->more || b->more };
	__u32 i = 0, k = 0;

	if (one == other || one == SET_ANY || !other)
		return one;
	if (!one || other == SET_ANY)
		return other;
	while (i < a->nr || k < b->nr) {
		if (k == b->nr || (i < a->nr && a->roots[i] <= b->roots[k])) {
			k += k < b->nr && a->roots[i] == b->roots[k];
			put_root(&u, a->roots[i++]);
		} else {
			put_root(&u, b->roots[k++]);
		}
	}
	return get_set(s, &u);
}

static void add_to(struct share *s, __u32 number, __u32 set)
{
	const __u32 now = unite(s, s->of[number], set);

	s->changed |= now != s->of[number];
	s->of[number] = now;
}

static __u32 set_of_root(struct share *s, __u32 root)
{
	return get_set(s, &(struct set){ .nr = 1, .roots = { root } });
}

/* ---- which roots ---- */

static void take_roots(struct share *s)
{
	const struct graph *g = s->g;
	__u32 to;

	for (size_t i = 0; i < g->nr_edges; i++) {
		to = s->number[g->edges[i].block];
		if (is_shared(g, to) && g->tiers[g->edges[i].root] == graph_tier_of(g, to))
			add_to(s, to, set_of_root(s, g->edges[i].root));
	}
}

static int take_edge(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct share *s = ctx;
	const struct graph *g = s->g;
	const __u32 to = s->number[block], top = s->top[s->from];

	(void)at;
	(void)word;
	if (!is_shared(g, to) || top == to || graph_tier_of(g, to) != s->tier)
		return 0;
	add_to(s, to, is_root(g, top) ? set_of_root(s, g->node[top] - g->nr_chunks) : s->of[top]);
	return s->err;
}

static void take_block(struct share *s, __u32 v)
{
	const struct graph *g = s->g;

	if (is_root(g, v))
		return;
	s->from = v;
	s->tier = graph_tier_of(g, v);
	graph_scan_block(g, g->node[v], take_edge, s);
}

static void take_blocks(struct share *s, bool from_end)
{
	for (__u32 v = 1; !s->err && v < s->g->nr; v++)
		take_block(s, from_end ? s->g->nr - v : v);
}

/* There are long lists of such blocks in this order, and in the other one. */
static void take_all(struct share *s)
{
	const struct graph *g = s->g;

	take_roots(s);
	s->changed = true;
	for (int i = 0; !s->err && s->changed && i < MOST_PASSES; i++) {
		s->changed = false;
		take_blocks(s, i % 2);
	}
	for (__u32 v = 1; !s->err && s->changed && v < g->nr; v++)
		if (is_shared(g, v))
			add_to(s, v, SET_ANY);
}

/* ---- the largest ones ---- */

struct sums {
	__u64 *of;			/* by set */
	__u64 *alone;			/* by root */
};

static void sum_up(const struct share *s, struct sums *sums)
{
	const struct graph *g = s->g;

	for (__u32 v = 1; v < g->nr; v++) {
		const __u32 top = s->top[v];

		if (is_root(g, v))
			continue;
		if (is_root(g, top))
			sums->alone[g->node[top] - g->nr_chunks] += g->chunks[g->node[v]].size;
		else
			sums->of[s->of[top]] += g->chunks[g->node[v]].size;
	}
}

/* What holds more alone comes first. */
static void sort_roots(struct graph_shared *of, const __u64 *alone)
{
	for (__u32 i = 1; i < of->nr; i++)
		for (__u32 k = i; k && alone[of->roots[k - 1]] < alone[of->roots[k]]; k--) {
			const __u32 root = of->roots[k];

			of->roots[k] = of->roots[k - 1];
			of->roots[k - 1] = root;
		}
}

static void keep_largest(const struct share *s, const struct sums *sums, __u64 least,
			 struct graph_shared *shared, __u32 *nr, __u32 *sets)
{
	for (__u32 set = SET_ANY + 1; set < s->ids.nr; set++) {
		__u32 i;

		if (sums->of[set] < least || !sums->of[set])
			continue;
		i = *nr < MOST_SHARED ? (*nr)++ : *nr;
		if (i == MOST_SHARED && shared[--i].bytes >= sums->of[set])
			continue;
		for (; i && shared[i - 1].bytes < sums->of[set]; i--) {
			shared[i] = shared[i - 1];
			sets[i] = sets[i - 1];
		}
		sets[i] = set;
		shared[i] = (struct graph_shared){ .bytes = sums->of[set],
						   .nr = s->sets[set].nr,
						   .more = s->sets[set].more };
		memcpy(shared[i].roots, s->sets[set].roots, sizeof(shared[i].roots));
	}
}

/* From sets to numbers of the rows that are kept. */
static int make_rows(struct share *s, __u64 least, struct graph_shared *shared, __u32 *nr)
{
	const struct graph *g = s->g;
	struct sums sums = { calloc(s->ids.nr + 1, sizeof(__u64)),
			     calloc(g->nr_roots + 1UL, sizeof(__u64)) };
	__u32 sets[MOST_SHARED], *row = malloc((s->ids.nr + 1) * sizeof(*row));
	int err = sums.of && sums.alone && row ? 0 : -ENOMEM;

	if (!err) {
		sum_up(s, &sums);
		keep_largest(s, &sums, least, shared, nr, sets);
		memset(row, 0xff, (s->ids.nr + 1) * sizeof(*row));
		for (__u32 i = 0; i < *nr; i++) {
			sort_roots(&shared[i], sums.alone);
			row[sets[i]] = i;
		}
		for (__u32 v = 0; v < g->nr; v++)
			s->of[v] = is_shared(g, v) ? row[s->of[v]] : GRAPH_NONE;
	}
	free(sums.of);
	free(sums.alone);
	free(row);
	return err;
}

static int find_sets(struct share *s)
{
	struct graph *g = s->g;
	const struct set none = { 0 }, any = { .more = true };
	int err = addr_index_make(&g->index, g->chunks, g->nr_chunks, sizeof(*g->chunks));

	s->number = err ? NULL : calloc(g->nr_chunks + 1UL, sizeof(*s->number));
	if (!err && s->number && !get_set(s, &none) && get_set(s, &any) == SET_ANY && !s->err) {
		for (__u32 v = 1; v < g->nr; v++)
			if (!is_root(g, v))
				s->number[g->node[v]] = v;
		take_all(s);
	} else if (!err) {
		err = -ENOMEM;
	}
	free(s->number);
	addr_index_free(&g->index);
	return err ? err : s->err;
}

int graph_find_shared(struct graph *g, const __u32 *top, __u64 least,
		      struct graph_shared **shared, __u32 *nr, __u32 **of)
{
	struct share s = { .g = g, .top = top };
	__u64 bytes = 0;
	int err = 0;

	*nr = 0;
	*shared = calloc(MOST_SHARED, sizeof(**shared));
	*of = s.of = calloc(g->nr + 1UL, sizeof(*s.of));
	if (!*shared || !s.of)
		return -ENOMEM;
	for (__u32 v = 1; v < g->nr; v++)
		if (!is_root(g, v) && !is_root(g, top[v]))
			bytes += g->chunks[g->node[v]].size;
	if (bytes >= least && bytes) {
		err = find_sets(&s);
		if (!err)
			err = make_rows(&s, least, *shared, nr);
	} else {
		memset(s.of, 0xff, (g->nr + 1UL) * sizeof(*s.of));
	}
	free(s.sets);
	ids_free(&s.ids);
	return err;
}
