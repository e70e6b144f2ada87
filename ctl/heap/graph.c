// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the edges of a graph of blocks, and search it; see graph.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "heap/dominators.h"
#include "heap/graph.h"
#include "heap/int.h"

#define RUN		(64UL << 10)	/* bytes that are looked at in one piece */

/* ---- blocks and words ---- */

int graph_begin(struct graph *g, const struct heap *h, const struct graph_view *view)
{
	int err;

	memset(g, 0, sizeof(*g));
	g->heap = h;
	g->chunks = h->chunks;
	g->view = *view;
	/* (numbers of nodes are 32 bits, with roots) */
	if (h->nr_chunks >= UINT32_MAX / 2)
		return -E2BIG;
	g->nr_chunks = (__u32)h->nr_chunks;
	g->is_sure = calloc(h->nr_arenas + 1, sizeof(*g->is_sure));
	if (!g->is_sure)
		return -ENOMEM;
	for (size_t i = 0; i < h->nr_arenas; i++)
		g->is_sure[i] = heap_is_sure(h, i);
	for (__u32 i = 0; i < g->nr_chunks; i++)
		g->nr_blocks += graph_is_block(g, i);
	err = addr_index_make(&g->index, h->chunks, h->nr_chunks, sizeof(*h->chunks));
	if (err) {
		graph_free(g);
		return err;
	}
	if (g->nr_chunks) {
		g->low = h->chunks[0].at;
		g->high = h->chunks[g->nr_chunks - 1].at + h->chunks[g->nr_chunks - 1].size;
	}
	return 0;
}

void graph_free(struct graph *g)
{
	addr_index_free(&g->index);
	free(g->is_sure);
	free(g->shape);
	free(g->shapes);
	free(g->opaque);
	free(g->begins);
	free(g->rooted);
	free(g->ends);
	free(g->edges);
	free(g->tiers);
	free(g->node);
	free(g->parent);
	free(g->number);
	free(g->dom);
	memset(g, 0, sizeof(*g));
}

__u32 graph_at(const struct graph *g, __u64 addr)
{
	__u32 i;

	if (addr - g->low >= g->high - g->low)
		return GRAPH_NONE;
	i = addr_index_find(&g->index, addr - HEAP_HEAD);
	if (i == ADDR_INDEX_NONE || !graph_is_block(g, i) ||
	    addr - graph_addr(g, i) >= heap_span(&g->chunks[i]))
		return GRAPH_NONE;
	return i;
}

__u32 graph_target(const struct graph *g, __u64 word)
{
	__u32 i;

	if (word - g->low < g->high - g->low)
		return graph_at(g, word);
	if (!(word >> 48) || (word & GRAPH_ADDRESS) - g->low >= g->high - g->low)
		return GRAPH_NONE;
	word &= GRAPH_ADDRESS;
	i = graph_at(g, word);
	return i != GRAPH_NONE && graph_addr(g, i) == word ? i : GRAPH_NONE;
}

int graph_scan(const struct graph *g, __u64 start, __u64 end, bool starts_only, graph_word_fn fn,
	       void *ctx)
{
	const __u64 *words;
	__u64 at = (start + WORD - 1) & ~(WORD - 1);
	size_t len;
	__u32 block;
	int ret = 0;

	end &= ~(WORD - 1);
	while (!ret && at < end) {
		len = end - at < RUN ? (size_t)(end - at) : RUN;
		words = g->view.at(g->view.ctx, at, &len);
		for (size_t i = 0; words && !ret && i < len / WORD; i++) {
			block = graph_target(g, words[i]);
			if (block != GRAPH_NONE &&
			    (!starts_only || graph_begins(g, block, words[i] & GRAPH_ADDRESS)))
				ret = fn(ctx, at + i * WORD, words[i], block);
		}
		at += len >= WORD ? len & ~(WORD - 1) : WORD;
	}
	return ret;
}

struct of_block {
	const struct graph *g;
	__u32 block;
	graph_word_fn fn;
	void *ctx;
};

static int not_itself(void *ctx, __u64 at, __u64 word, __u32 block)
{
	const struct of_block *o = ctx;

	if (block == o->block || !graph_leads(o->g, word, block) ||
	    !graph_is_edge(o->g, o->block, at))
		return 0;
	return o->fn(o->ctx, at, word, block);
}

int graph_scan_block(const struct graph *g, __u32 block, graph_word_fn fn, void *ctx)
{
	struct of_block o = { g, block, fn, ctx };

	return graph_scan(g, graph_addr(g, block), graph_used_end(g, block), false, not_itself,
			  &o);
}

bool graph_read(const struct graph *g, __u64 addr, void *to, size_t len)
{
	bool any = false;
	const void *from;
	size_t n;

	for (size_t done = 0; done < len; done += n) {
		n = len - done;
		from = g->view.at(g->view.ctx, addr + done, &n);
		if (!n)
			n = len - done;
		if (from)
			memcpy((char *)to + done, from, n);
		else
			memset((char *)to + done, 0, n);
		any |= from != NULL;
	}
	return any;
}

/* ---- which words of blocks are edges ---- */

#define MOST_SHAPES	255U

static bool same_shape(const struct graph_shape *a, const struct graph_shape *b)
{
	return a->skip == b->skip && a->end == b->end && a->from == b->from &&
	       a->stride == b->stride;
}

int graph_set_shape(struct graph *g, __u32 block, const struct graph_shape *s)
{
	size_t i = 0;

	if (!g->shape) {
		g->shape = calloc(g->nr_chunks + 1UL, sizeof(*g->shape));
		g->shapes = calloc(MOST_SHAPES, sizeof(*g->shapes));
		if (!g->shape || !g->shapes)
			return -ENOMEM;
	}
	while (i < g->nr_shapes && !same_shape(&g->shapes[i], s))
		i++;
	if (i == MOST_SHAPES)
		return 0;
	if (i == g->nr_shapes)
		g->shapes[g->nr_shapes++] = *s;
	g->shape[block] = (__u8)(i + 1);
	return 0;
}

int graph_set_begin(struct graph *g, __u32 block, __u64 addr)
{
	const __u64 word = (addr - graph_addr(g, block)) / WORD;

	if (!g->begins)
		g->begins = calloc(g->nr_chunks + 1UL, sizeof(*g->begins));
	if (!g->begins)
		return -ENOMEM;
	g->begins[block] = word < UINT8_MAX ? (__u8)(word + 1) : 0;
	return 0;
}

int graph_set_rooted(struct graph *g, __u32 block)
{
	if (!g->rooted)
		g->rooted = calloc(g->nr_chunks / 64 + 1UL, sizeof(*g->rooted));
	if (!g->rooted)
		return -ENOMEM;
	g->rooted[block / 64] |= 1ULL << block % 64;
	return 0;
}

/* ---- how far blocks are in use ---- */

#define MOST_ENDS	(1U << 20)

int graph_add_end(struct graph *g, __u32 block, __u64 end)
{
	struct graph_end *more;

	if (g->nr_ends >= MOST_ENDS)
		return 0;
	more = ids_grow(g->ends, g->nr_ends, &g->room_ends, sizeof(*more));
	if (!more)
		return -ENOMEM;
	g->ends = more;
	g->ends[g->nr_ends++] = (struct graph_end){ block, end };
	return 0;
}

/* Of one block that several have, the last one is first. */
static int by_block(const void *x, const void *y)
{
	const struct graph_end *a = x, *b = y;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
}

void graph_sort_ends(struct graph *g)
{
	size_t nr = 0;

	if (g->nr_ends)
		qsort(g->ends, g->nr_ends, sizeof(*g->ends), by_block);
	for (size_t i = 0; i < g->nr_ends; i++)
		if (!nr || g->ends[nr - 1].block != g->ends[i].block)
			g->ends[nr++] = g->ends[i];
	g->nr_ends = nr;
}

__u64 graph_block_end(const struct graph *g, __u32 block)
{
	return graph_addr(g, block) + heap_span(&g->chunks[block]);
}

__u64 graph_used_end(const struct graph *g, __u32 block)
{
	size_t low = 0, high = g->nr_ends;

	if (!graph_is_opaque(g, block))
		return graph_block_end(g, block);
	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (g->ends[middle].block < block)
			low = middle + 1;
		else
			high = middle;
	}
	return low < g->nr_ends && g->ends[low].block == block ? g->ends[low].end :
	       graph_addr(g, block);
}

/* ---- roots ---- */

__u32 graph_add_root(struct graph *g, enum graph_tier tier)
{
	__u8 *more = ids_grow(g->tiers, g->nr_roots, &g->room_roots, sizeof(*more));

	if (!more || g->nr_roots >= UINT32_MAX / 4)
		return GRAPH_NONE;
	g->tiers = more;
	g->tiers[g->nr_roots] = (__u8)tier;
	return g->nr_roots++;
}

int graph_add_edge(struct graph *g, __u32 root, __u64 at, __u32 block)
{
	struct graph_edge *more = ids_grow(g->edges, g->nr_edges, &g->room_edges, sizeof(*more));

	if (!more || g->nr_edges >= UINT32_MAX - 1)
		return -ENOMEM;
	g->edges = more;
	g->edges[g->nr_edges++] = (struct graph_edge){ at, root, block };
	return 0;
}

/* (a tier is kept with a root's number while they are sorted) */
#define WITH_TIER(g, root)	((__u64)(g)->tiers[root] << 32 | (root))

static int by_root(const void *x, const void *y, void *ctx)
{
	const struct graph_edge *a = x, *b = y;
	const struct graph *g = ctx;
	const __u64 one = WITH_TIER(g, a->root), other = WITH_TIER(g, b->root);

	if (one != other)
		return one < other ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

void graph_sort_edges(struct graph *g)
{
	if (g->nr_edges)
		qsort_r(g->edges, g->nr_edges, sizeof(*g->edges), by_root, g);
}

/* ---- the search ---- */

struct search {
	struct graph *g;
	__u32 *next;			/* word of a block that is looked at next, by number */
	__u32 from;			/* whose words these are */
	__u32 found;
	__u64 found_at;
};

static int is_new(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct search *s = ctx;

	if (s->g->number[block] || !graph_leads(s->g, word, block) ||
	    !graph_is_edge(s->g, s->from, at))
		return 0;
	s->found = block;
	s->found_at = at;
	return 1;
}

/* The next block that nothing led to before, from what number @at stands for. */
static bool go_on(struct search *s, __u32 at)
{
	struct graph *g = s->g;
	const __u32 node = g->node[at];
	const __u64 addr = graph_addr(g, node);
	const __u64 end = graph_used_end(g, node);
	__u64 next;

	s->from = node;
	if (!graph_scan(g, addr + WORD * (__u64)s->next[at], end, false, is_new, s)) {
		s->next[at] = UINT32_MAX;
		return false;
	}
	/* (of more than 32 GiB, the end is looked at again and again) */
	next = (s->found_at - addr) / WORD + 1;
	s->next[at] = next < UINT32_MAX ? (__u32)next : UINT32_MAX - 1;
	return true;
}

static __u32 visit(struct search *s, __u32 node, __u32 parent)
{
	struct graph *g = s->g;

	g->node[g->nr] = node;
	g->parent[g->nr] = parent;
	s->next[g->nr] = 0;
	if (node != GRAPH_NONE)
		g->number[node] = g->nr;
	return g->nr++;
}

/* All that can be reached from @block, which is new; @root: the number of who has it. */
static void dive(struct search *s, __u32 block, __u32 root)
{
	__u32 at = visit(s, block, root);

	while (at != root)
		at = go_on(s, at) ? visit(s, s->found, at) : s->g->parent[at];
}

static void search_roots(struct search *s)
{
	struct graph *g = s->g;
	enum graph_tier tier = 0;
	__u32 last = GRAPH_NONE, root = 0;

	g->tier_from[0] = 1;
	for (size_t i = 0; i < g->nr_edges; i++) {
		const struct graph_edge *e = &g->edges[i];

		while (tier < g->tiers[e->root])
			g->tier_from[++tier] = g->nr;
		if (g->number[e->block])
			continue;
		/* (a root that leads to nothing new has no number: it is not in the way) */
		if (e->root != last && !g->number[g->nr_chunks + e->root])
			root = visit(s, g->nr_chunks + e->root, 0);
		last = e->root;
		dive(s, e->block, root);
	}
	while (tier < NR_GRAPH_TIERS)
		g->tier_from[++tier] = g->nr;
}

int graph_search(struct graph *g)
{
	const size_t most = (size_t)g->nr_blocks + g->nr_roots + 1;
	struct search s = { .g = g };

	graph_sort_edges(g);
	g->node = malloc(most * sizeof(*g->node));
	g->parent = malloc(most * sizeof(*g->parent));
	g->number = calloc((size_t)g->nr_chunks + g->nr_roots + 1, sizeof(*g->number));
	s.next = malloc(most * sizeof(*s.next));
	if (!g->node || !g->parent || !g->number || !s.next) {
		free(s.next);
		return -ENOMEM;
	}
	visit(&s, GRAPH_NONE, 0);
	search_roots(&s);
	free(s.next);
	return 0;
}

enum graph_tier graph_tier_of(const struct graph *g, __u32 number)
{
	enum graph_tier tier = NR_GRAPH_TIERS - 1;

	while (tier && number < g->tier_from[tier])
		tier--;
	return tier;
}

/* ---- dominators ---- */

/* Of one vertex after the other, to which others it has edges. */
struct edges {
	struct graph *g;
	__u32 from, tier_from;		/* numbers */
	__u32 *seen;			/* by number: it was the last with an edge there */
	__u32 *first, *before;		/* before NULL: they are counted */
};

static int take_edge(void *ctx, __u64 at, __u64 word, __u32 block)
{
	struct edges *e = ctx;
	const __u32 to = e->g->number[block];

	(void)at;
	(void)word;
	/* what a better root leads to is not held by this one */
	if (to < e->tier_from || e->g->parent[to] == e->from || e->seen[to] == e->from)
		return 0;
	e->seen[to] = e->from;
	if (e->before)
		e->before[e->first[to]++] = e->from;
	else
		e->first[to + 1]++;
	return 0;
}

/* Roots that lead to nothing new have none: the one above all stands for them. */
static void take_roots(struct edges *e)
{
	struct graph *g = e->g;

	for (size_t i = 0; i < g->nr_edges; i++) {
		const struct graph_edge *edge = &g->edges[i];

		e->from = g->number[g->nr_chunks + edge->root];
		e->tier_from = g->tier_from[g->tiers[edge->root]];
		/* (children of 0 are roots alone, so it is never their parent) */
		take_edge(e, edge->at, 0, edge->block);
	}
}

static void take_all(struct edges *e)
{
	const struct graph *g = e->g;
	enum graph_tier tier = 0;

	memset(e->seen, 0xff, g->nr * sizeof(*e->seen));
	take_roots(e);
	for (__u32 v = 1; v < g->nr; v++) {
		while (v >= g->tier_from[tier + 1])
			tier++;
		if (g->node[v] >= g->nr_chunks)
			continue;
		e->from = v;
		e->tier_from = g->tier_from[tier];
		graph_scan_block(g, g->node[v], take_edge, e);
	}
}

static int find_edges(struct graph *g, struct edges *e)
{
	__u64 sum = 0;

	e->g = g;
	e->seen = malloc(g->nr * sizeof(*e->seen));
	e->first = calloc(g->nr + 2UL, sizeof(*e->first));
	if (!e->seen || !e->first)
		return -ENOMEM;
	take_all(e);
	/* where those of each begin; while they are filled in, one place ahead */
	for (__u32 v = 0; v <= g->nr; v++) {
		sum += e->first[v];
		if (sum >= UINT32_MAX)
			return -E2BIG;
		e->first[v] = (__u32)sum;
	}
	g->scanned = sum;
	e->before = malloc((sum + 1) * sizeof(*e->before));
	if (!e->before)
		return -ENOMEM;
	take_all(e);
	memmove(e->first + 1, e->first, g->nr * sizeof(*e->first));
	e->first[0] = 0;
	return 0;
}

int graph_dominate(struct graph *g)
{
	struct edges e = { .g = g };
	struct dominators d;
	int err = find_edges(g, &e);

	free(e.seen);
	addr_index_free(&g->index);
	free(g->number);
	g->number = NULL;
	g->dom = err ? NULL : malloc(g->nr * sizeof(*g->dom));
	if (!err && !g->dom)
		err = -ENOMEM;
	d = (struct dominators){ g->nr, g->parent, e.first, e.before, g->dom };
	if (!err)
		err = dominators_find(&d);
	free(e.first);
	free(e.before);
	free(g->parent);
	g->parent = NULL;
	return err;
}

/*
 * A chunk, its kind and its entry in the index; then of a block: at first number, node, parent,
 * seen, first; later node, parent, first, dom and 12 bytes of dominators_find().
 */
__u64 graph_bytes(__u64 chunks, __u64 blocks, __u64 more_edges)
{
	return chunks * (sizeof(struct heap_chunk) + 2 + 8) + blocks * 28 + more_edges * 4;
}
