/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _GRAPH_H
#define _GRAPH_H

#include "base/addr_index.h"
#include "heap/heap.h"

/*
 * The blocks of a heap as a graph: each aligned word that is an address in a block is an edge.
 * Roots are what the caller says: variables, stacks.  Memory is looked at where it lies in ours,
 * a copy; edges between blocks are not stored, but found again.
 *
 * A node is the number of a chunk, or .nr_chunks and the number of a root.
 */
struct graph_view {
	/*
	 * The memory at @addr, in ours: *@len bytes of it follow, at most as many as it was.
	 * NULL: it is not there, and so many bytes from there on.
	 */
	const void *(*at)(void *ctx, __u64 addr, size_t *len);
	void *ctx;
};

/*
 * Better roots first: what one of them leads to does not count as held by a later one.  A stack
 * that also has the address of what a variable holds does not keep it any longer than that.
 */
enum graph_tier {
	GRAPH_NAMED,			/* attributes of Python's modules */
	GRAPH_LASTING,			/* variables, thread-local ones, other memory */
	GRAPH_VARIABLE,			/* variables of Python's functions that run */
	GRAPH_RUNNING,			/* live frames of stacks, registers */
	GRAPH_INTERPRETER,		/* what an interpreter keeps of the program's objects */
	GRAPH_DOUBTFUL,			/* left behind in text and vectors, as it looks */
	GRAPH_STALE,			/* where stacks were, below their stack pointers */
	NR_GRAPH_TIERS
};

/* Of a block only the first part is in use, as it looks: of a std::vector. */
struct graph_end {
	__u32 block;
	__u64 end;			/* address */
};

/* Of some blocks not all words are edges: those of a shape have the same ones. */
struct graph_shape {
	__u64 skip;			/* of the first 64 words, by bit: none */
	__u64 end;			/* bytes, behind which there is none; 0: all of it */
	__u64 from, stride;		/* from so many bytes on, the first word of each so many
					 * bytes is none; stride 0: all are */
};

/* An address in a root. */
struct graph_edge {
	__u64 at;			/* where it stands */
	__u32 root, block;
};

#define GRAPH_NONE	ADDR_INDEX_NONE
#define GRAPH_ADDRESS	((1ULL << 48) - 1)	/* of a word: the rest may say something else */

struct graph {
	const struct heap *heap;
	const struct heap_chunk *chunks;
	__u32 nr_chunks, nr_blocks;	/* blocks: those in use */
	struct graph_view view;
	bool *is_sure;			/* by arena: which of its chunks are in use is known */
	__u64 *opaque;			/* by chunk, a bit; or NULL: not all words are edges */
	__u8 *begins;			/* by chunk; or NULL: which word of it is the only one that
					 * addresses in blocks point to, from 1 on; 0: any */
	__u64 *rooted;			/* by chunk, a bit; or NULL: only roots lead there */
	struct graph_end *ends;		/* by block, once sorted: words behind are no edges */
	size_t nr_ends, room_ends;
	__u8 *shape;			/* by chunk: its number, from 1 on; or NULL */
	struct graph_shape *shapes;
	size_t nr_shapes;
	struct addr_index index;
	__u64 low, high;		/* all chunks are there */
	struct graph_edge *edges;	/* by graph_search(): by root, the better tier first */
	size_t nr_edges, room_edges;
	__u8 *tiers;			/* of roots */
	__u32 nr_roots;
	size_t room_roots;
	/* graph_search(): nodes in preorder; number 0 is above all roots, and is none */
	__u32 nr;
	__u32 *node, *parent;
	__u32 *number;			/* of a node; 0: nothing leads there */
	__u32 tier_from[NR_GRAPH_TIERS + 1];
	__u64 scanned;			/* edges that are no tree's */
	/* graph_dominate() */
	__u32 *dom;			/* by number */
};

/* -ENOMEM; -E2BIG: more than 4 billion chunks */
int graph_begin(struct graph *g, const struct heap *h, const struct graph_view *view);
void graph_free(struct graph *g);

static inline bool graph_is_block(const struct graph *g, __u32 chunk)
{
	const struct heap_chunk *c = &g->chunks[chunk];

	return c->state == HEAP_USED && (c->mapped || c->pooled || g->is_sure[c->arena]);
}

static inline bool graph_is_opaque(const struct graph *g, __u32 chunk)
{
	return g->opaque && g->opaque[chunk / 64] >> chunk % 64 & 1;
}

/*
 * Of addresses in other blocks, only those of the thing in @block that begins at @addr are edges,
 * whatever the lower bits say.  -ENOMEM
 */
int graph_set_begin(struct graph *g, __u32 block, __u64 addr);
/* May @word in a block lead to @block? */
static inline bool graph_leads(const struct graph *g, __u64 word, __u32 block)
{
	const __u64 first = g->chunks[block].at + HEAP_HEAD;

	if (g->rooted && g->rooted[block / 64] >> block % 64 & 1)
		return false;
	return !g->begins || !g->begins[block] ||
	       ((word & GRAPH_ADDRESS) - first) / 8 + 1 == g->begins[block];
}

/* Addresses of @block in other blocks are no edges: only roots lead there.  -ENOMEM */
int graph_set_rooted(struct graph *g, __u32 block);

/* Of many shapes, the last ones are all edges.  -ENOMEM */
int graph_set_shape(struct graph *g, __u32 block, const struct graph_shape *s);
/* May the word at @at in @block be an edge, by its shape? */
static inline bool graph_is_edge(const struct graph *g, __u32 block, __u64 at)
{
	const struct graph_shape *s;
	__u64 offset;

	if (!g->shape || !g->shape[block])
		return true;
	s = &g->shapes[g->shape[block] - 1];
	offset = at - (g->chunks[block].at + HEAP_HEAD);
	if (s->end && offset >= s->end)
		return false;
	if (offset < 64 * 8 && s->skip >> offset / 8 & 1)
		return false;
	return !s->stride || offset < s->from || (offset - s->from) % s->stride;
}

/* -ENOMEM; of many, some are left out */
int graph_add_end(struct graph *g, __u32 block, __u64 end);
void graph_sort_ends(struct graph *g);
/* Where the words of a block end that are edges, and all of them. */
__u64 graph_used_end(const struct graph *g, __u32 block);
__u64 graph_block_end(const struct graph *g, __u32 block);

static inline __u64 graph_addr(const struct graph *g, __u32 chunk)
{
	return g->chunks[chunk].at + HEAP_HEAD;
}

/* May @chunk begin at @addr?  Of some it is not known exactly: at a line of the cache. */
static inline bool graph_begins(const struct graph *g, __u32 chunk, __u64 addr)
{
	const __u64 into = addr - graph_addr(g, chunk);

	return !into || (g->chunks[chunk].tail == HEAP_LOOSE_TAIL && into < HEAP_LOOSE &&
			 into % 64 == 0);
}

/* Which block has @addr in it, or GRAPH_NONE. */
__u32 graph_at(const struct graph *g, __u64 addr);
/*
 * The block that @word is the address of, or GRAPH_NONE: of its beginning or into it.  The upper
 * 16 bits may say something else, if the rest is its beginning.
 */
__u32 graph_target(const struct graph *g, __u64 word);

/*
 * Each address of a block in [@start, @end), until @fn returns other than 0, and returns that.
 * @starts_only: none that points into one.
 */
typedef int (*graph_word_fn)(void *ctx, __u64 at, __u64 word, __u32 block);
int graph_scan(const struct graph *g, __u64 start, __u64 end, bool starts_only, graph_word_fn fn,
	       void *ctx);
/* All of one block's edges. */
int graph_scan_block(const struct graph *g, __u32 block, graph_word_fn fn, void *ctx);
/* @len bytes of memory into @to; those that are not there are zeros.  False: none is there. */
bool graph_read(const struct graph *g, __u64 addr, void *to, size_t len);

/* GRAPH_NONE: no memory. */
__u32 graph_add_root(struct graph *g, enum graph_tier tier);
int graph_add_edge(struct graph *g, __u32 root, __u64 at, __u32 block);

/* Which nodes can be reached, in preorder.  No roots are added after that. */
int graph_search(struct graph *g);
enum graph_tier graph_tier_of(const struct graph *g, __u32 number);
/* The dominator tree of what graph_search() found.  .index, .parent and .number are gone then. */
int graph_dominate(struct graph *g);

/* ---- shared.c: what several roots hold together ---- */

#define GRAPH_SHARERS	8U		/* roots of one row; of more, some */

struct graph_shared {
	__u64 bytes;			/* that these roots hold together */
	__u32 nr, roots[GRAPH_SHARERS];	/* the one that holds most alone first */
	bool more;			/* there are others, or may be */
};

/*
 * After graph_dominate(): what no single root is needed for, by the roots that lead there; those
 * with @least bytes or more, the largest first.  @top: by number, which child of number 0 in the
 * dominator tree it is, or is below.  *@of: by number, of a child that is a block: its place in
 * *@shared, or GRAPH_NONE.  Both are malloc'ed, also if there is an error.  -ENOMEM
 */
int graph_find_shared(struct graph *g, const __u32 *top, __u64 least,
		      struct graph_shared **shared, __u32 *nr, __u32 **of);

/* How many bytes all of that takes for so many chunks, blocks and addresses, the copy excluded. */
__u64 graph_bytes(__u64 chunks, __u64 blocks, __u64 more_edges);

/* ---- path.c: one shortest way from a root ---- */

struct graph_step {
	__u32 node;			/* the first is a root's */
	__u64 at, word;			/* where in it the address of the next one stands */
};

/*
 * To the nearest block for which @want says so, of the best tier that leads to one; malloc'ed, nr
 * 0: there is none.  After graph_begin() and all roots; needs the index.
 */
int graph_path(struct graph *g, bool (*want)(void *ctx, __u32 block), void *ctx,
	       struct graph_step **steps, size_t *nr);
/* Sorts the edges of roots, once. */
void graph_sort_edges(struct graph *g);

#endif
