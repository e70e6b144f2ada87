// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compute dominators; see dominators.h.
 *
 * Vertices are taken in reverse preorder.  Those that were taken form a forest: each points to its
 * parent (->parent), until that is compressed to an older ancestor.  A vertex is in the forest if
 * its number is at least ->last.  Trees may be millions of vertices high, so nothing recurses.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "heap/dominators.h"

#define NONE	UINT32_MAX

struct work {
	struct dominators *d;
	__u32 *semi;			/* semidominator */
	__u32 *label;			/* of those up to the ancestor, which has the least semi */
	__u32 *bucket;			/* whose semidominator it is: the first; others by ->dom */
	__u32 last;			/* from here on, all are in the forest */
};

/*
 * All on the way from @v to its tree's root get that as ancestor.  On the way up each is made to
 * point back, to find the way down.
 */
static void compress(struct work *k, __u32 v)
{
	__u32 *up = k->d->parent, back = NONE, at = v, above, next;

	while (at >= k->last) {
		next = up[at];
		up[at] = back;
		back = at;
		at = next;
	}
	/* @at is the root, and @back below it */
	above = back;
	back = up[above];
	up[above] = at;
	while (back != NONE) {
		next = up[back];
		up[back] = at;
		if (k->semi[k->label[above]] < k->semi[k->label[back]])
			k->label[back] = k->label[above];
		above = back;
		back = next;
	}
}

/* Of @v and those above it in its tree but the root: which has the least semidominator? */
static __u32 eval(struct work *k, __u32 v)
{
	if (v < k->last)
		return v;
	if (k->d->parent[v] >= k->last)
		compress(k, v);
	return k->label[v];
}

/* Those whose semidominator is @p, of which all that lie on the way are in the forest now. */
static void empty_bucket(struct work *k, __u32 p)
{
	__u32 *dom = k->d->dom, v = k->bucket[p], u, next;

	for (; v != NONE; v = next) {
		next = dom[v];
		u = eval(k, v);
		dom[v] = k->semi[u] < k->semi[v] ? u : p;
	}
	k->bucket[p] = NONE;
}

static void take(struct work *k, __u32 w)
{
	struct dominators *d = k->d;
	const __u32 p = d->parent[w];
	__u32 least = p, u;

	for (__u32 i = d->first[w]; i < d->first[w + 1]; i++) {
		u = k->semi[eval(k, d->before[i])];
		if (u < least)
			least = u;
	}
	k->semi[w] = least;
	d->dom[w] = k->bucket[least];
	k->bucket[least] = w;
	k->last = w;
	empty_bucket(k, p);
}

static void find(struct work *k)
{
	struct dominators *d = k->d;

	for (__u32 v = 0; v < d->nr; v++) {
		k->semi[v] = k->label[v] = v;
		k->bucket[v] = NONE;
	}
	k->last = d->nr;
	for (__u32 w = d->nr; --w;)
		take(k, w);
	d->dom[0] = 0;
	for (__u32 w = 1; w < d->nr; w++)
		if (d->dom[w] != k->semi[w])
			d->dom[w] = d->dom[d->dom[w]];
}

int dominators_find(struct dominators *d)
{
	struct work k = { .d = d };
	int err = -ENOMEM;

	if (!d->nr)
		return 0;
	k.semi = malloc(d->nr * sizeof(*k.semi));
	k.label = malloc(d->nr * sizeof(*k.label));
	k.bucket = malloc(d->nr * sizeof(*k.bucket));
	if (k.semi && k.label && k.bucket) {
		find(&k);
		err = 0;
	}
	free(k.semi);
	free(k.label);
	free(k.bucket);
	return err;
}
