/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _DOMINATORS_H
#define _DOMINATORS_H

#include <linux/types.h>

/*
 * The dominator tree of a graph (Lengauer and Tarjan, with path compression): vertex d dominates w
 * if each path from vertex 0 to w leads through d.
 *
 * Vertices are numbered in preorder of a depth-first search from 0: .parent[w] < w.  The other
 * vertices with an edge to w are .before[.first[w]] to .before[.first[w + 1] - 1].  .parent is
 * needed for the work and spoiled.
 */
struct dominators {
	__u32 nr;
	__u32 *parent;
	const __u32 *first;		/* nr + 1 */
	const __u32 *before;
	__u32 *dom;			/* out: the immediate dominator, which is less; of 0: 0 */
};

/* Takes 12 bytes a vertex meanwhile.  -ENOMEM */
int dominators_find(struct dominators *d);

#endif
