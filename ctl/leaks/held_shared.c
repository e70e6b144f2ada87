// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows for what several roots hold together, by the roots that lead there.  All others of a step,
 * which are less, are one row.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaks/held_int.h"

#define NAMED		3		/* of the roots of a row */
#define LEAST_PART	100		/* of all bytes: the 100th part is a row */

static const enum holder_what of_tier[NR_GRAPH_TIERS] = {
	[GRAPH_NAMED] = HOLDER_PYTHON,
	[GRAPH_LASTING] = HOLDER_GLOBAL, [GRAPH_INTERPRETER] = HOLDER_INTERPRETER,
	[GRAPH_VARIABLE] = HOLDER_FRAMES, [GRAPH_RUNNING] = HOLDER_STACK,
	[GRAPH_DOUBTFUL] = HOLDER_TEXT, [GRAPH_STALE] = HOLDER_STALE,
};

/* ---- names ---- */

static int add_name(FILE *out, struct find *f, __u32 root, bool first)
{
	struct holder h;
	int err = roots_name(&f->roots, root, &h);

	if (err)
		goto out;
	fputs(first ? "" : ", ", out);
	if (h.object && (h.what == HOLDER_PYTHON || h.what == HOLDER_FRAMES))
		fprintf(out, "`%s%s%s`", h.object, h.name ? "." : "", h.name ? h.name : "");
	else if (h.name && h.name[0] == '+')
		fprintf(out, "%s%s", h.object, h.name);
	else if (h.name)
		fprintf(out, "`%s`", h.name);
	else
		fputs(holder_what_name(h.what), out);
out:
	holder_free(&h);
	return err;
}

struct names {
	FILE *out;
	char *text;
	size_t len;
	__u32 nr;
	int err;
};

static void begin_names(struct names *n)
{
	*n = (struct names){ .out = NULL };
	n->out = open_memstream(&n->text, &n->len);
	n->err = n->out ? 0 : -ENOMEM;
}

static void put_name(struct names *n, struct find *f, __u32 root)
{
	if (!n->err)
		n->err = add_name(n->out, f, root, !n->nr++);
}

/* Frees what there is if there is no memory for all. */
static char *end_names(struct names *n)
{
	if (n->out && fclose(n->out))
		n->err = -ENOMEM;
	if (!n->err)
		return n->text;
	free(n->text);
	return NULL;
}

static int add_row(struct find *f, enum graph_tier tier, char *name, __u32 *node)
{
	const struct holder h = { .what = HOLDER_SHARED, .count = of_tier[tier], .name = name };
	__s64 at = name ? held_add_holder(f, &h) : -ENOMEM;

	if (at < 0)
		return (int)at;
	*node = (__u32)at;
	return 0;
}

/* ---- the largest ones ---- */

static int add_group(struct find *f, const struct graph_shared *of, __u32 *node)
{
	struct names n;

	begin_names(&n);
	for (__u32 i = 0; i < of->nr && i < NAMED; i++)
		put_name(&n, f, of->roots[i]);
	if (!n.err && of->nr > NAMED)
		fprintf(n.out, ", and %u%s more", of->nr - NAMED, of->more ? " or" : "");
	else if (!n.err && of->more)
		fputs(", and others", n.out);
	return add_row(f, (enum graph_tier)f->g.tiers[of->roots[0]], end_names(&n), node);
}

static int add_groups(struct find *f, struct held_shared *s)
{
	int err = 0;

	for (__u32 i = 0; !err && i < s->nr; i++)
		err = add_group(f, &s->rows[i], &s->node[i]);
	return err;
}

/* ---- all others ---- */

struct sum {
	__u64 bytes;
	__u32 root;
};

static int by_bytes(const void *x, const void *y)
{
	const struct sum *a = x, *b = y;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return (a->root > b->root) - (a->root < b->root);
}

/* Bytes of such blocks that roots point to directly: by root. */
static struct sum *sum_rest(const struct graph *g, const __u64 *rest)
{
	struct sum *sums = calloc(g->nr_roots + 1UL, sizeof(*sums));

	for (__u32 i = 0; sums && i < g->nr_roots; i++)
		sums[i].root = i;
	for (size_t i = 0; sums && i < g->nr_edges; i++)
		if (rest[g->edges[i].block / 64] >> g->edges[i].block % 64 & 1)
			sums[g->edges[i].root].bytes += g->chunks[g->edges[i].block].size;
	if (sums)
		qsort(sums, g->nr_roots, sizeof(*sums), by_bytes);
	return sums;
}

static __u64 *find_rest(const struct graph *g, const struct held_shared *s,
			bool any[NR_GRAPH_TIERS])
{
	__u64 *rest = calloc(g->nr_chunks / 64 + 1UL, sizeof(*rest));

	for (__u32 v = 1; rest && v < g->nr; v++)
		if (!g->dom[v] && g->node[v] < g->nr_chunks && s->of[v] == GRAPH_NONE) {
			rest[g->node[v] / 64] |= 1ULL << g->node[v] % 64;
			any[graph_tier_of(g, v)] = true;
		}
	return rest;
}

/* "`list`, `table`": those of this tier that point to the most */
static int add_tier(struct find *f, const struct sum *sums, enum graph_tier tier, __u32 *node)
{
	struct names n;

	begin_names(&n);
	for (__u32 i = 0; i < f->g.nr_roots && sums[i].bytes && n.nr < NAMED; i++)
		if (f->g.tiers[sums[i].root] == tier)
			put_name(&n, f, sums[i].root);
	if (!n.err && n.nr)
		fputs(", and others", n.out);
	return add_row(f, tier, end_names(&n), node);
}

static int add_rest(struct find *f, struct held_shared *s)
{
	bool any[NR_GRAPH_TIERS] = { false };
	__u64 *rest = find_rest(&f->g, s, any);
	struct sum *sums = rest ? sum_rest(&f->g, rest) : NULL;
	int err = sums ? 0 : -ENOMEM;

	for (enum graph_tier tier = 0; !err && tier < NR_GRAPH_TIERS; tier++)
		if (any[tier])
			err = add_tier(f, sums, tier, &s->rest[tier]);
	free(rest);
	free(sums);
	return err;
}

int held_shared_add(struct find *f, struct held_shared *s)
{
	int err = graph_find_shared(&f->g, f->at, f->out->bytes / LEAST_PART + 1, &s->rows, &s->nr,
				    &s->of);

	s->node = err ? NULL : calloc(s->nr + 1UL, sizeof(*s->node));
	if (!err && !s->node)
		err = -ENOMEM;
	if (!err)
		err = add_groups(f, s);
	return err ? err : add_rest(f, s);
}

__u32 held_shared_node(const struct held_shared *s, const struct graph *g, __u32 number)
{
	return s->of[number] == GRAPH_NONE ? s->rest[graph_tier_of(g, number)] :
	       s->node[s->of[number]];
}

void held_shared_free(struct held_shared *s)
{
	free(s->rows);
	free(s->of);
	free(s->node);
}
