/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HEAP_TREE_H
#define _HEAP_TREE_H

/*
 * Trees of two levels, by which jemalloc 5 and tcmalloc find what lies at an address: a root among
 * the zeros of a library or program, and leaves, which describe so many bytes of addresses each.
 */
#include "heap/int.h"

#define TREE_SPANS	256U		/* leaves' shares of addresses in which a heap may begin */

struct heap_tree {
	struct heap_words *w;
	const struct heap_area *areas;
	size_t nr_areas;
	__u64 root_len, leaf_len;	/* bytes of either */
	__u64 span;			/* bytes of addresses that a leaf describes */
	__u64 align;			/* of a leaf */
	/* Does what this leaf describes lie where leaf number @span has it? */
	bool (*is_leaf)(void *ctx, __u64 leaf, __u64 span);
	void *ctx;
	/* for tree.c */
	__u32 spans[TREE_SPANS];
	size_t nr_spans;
	unsigned int tries;
};

/* The memory of the process, which may begin in .spans. */
void tree_begin(struct heap_tree *t);
/* The first root in @data from @from on; or 0. */
__u64 tree_find(struct heap_tree *t, const struct heap_area *data, __u64 from);

/*
 * Each entry of a table that is not 0: its number, and where it is; until @fn returns other than 0,
 * and returns that.  What cannot be read is missed in @h, unless that is NULL.
 */
typedef int (*tree_entry_fn)(void *ctx, __u64 entry, __u64 number, __u64 at);
int tree_each(struct heap *h, struct heap_words *w, __u64 table, __u64 len, tree_entry_fn fn,
	      void *ctx);

#endif
