// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks of jemalloc 3.6 to 4.5 that have chunks of their own; see jemalloc_old.c.
 *
 * Since 4.0 each arena has a ring of nodes for its large extents, and one for free extents whose
 * memory was not given back.  Up to 3.6 the process has one tree of them.  Other trees have the
 * free ones: one by address, as that of blocks, and a second one of the same nodes by size.  So a
 * tree by address that has no second one is that of blocks.  Instead of 0, the last links of a tree
 * lead to a node in the tree's own structure, by which trees are found.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/ids.h"
#include "heap/jemalloc_old_int.h"

#define NODE_WORDS	8
#define MOST_DEEP	64U
#define MOST_TREES	64U
#define MOST_OWN	256U

/* Words of a node. */
enum { NODE_ARENA, NODE_ADDR, NODE_SIZE };		/* since 4.0 */
enum { OLD_ADDR = 5, OLD_SIZE };			/* up to 3.6 */

#define BY_SIZE		0U		/* links in a node of a tree */
#define BY_ADDR		16U

static const char bad_list[] = "a list of its large extents is inconsistent";
static const char no_tree[] = "its tree of large blocks was not found";

int jo_add_own(struct jo *j, __u64 addr)
{
	__u64 *more;

	addr &= ~(j->chunk - 1);
	for (size_t i = 0; i < j->nr_own; i++)
		if (j->own[i] == addr)
			return 0;
	if (j->nr_own == MOST_OWN)
		return 0;
	more = ids_grow(j->own, j->nr_own, &j->room_own, sizeof(*more));
	if (!more)
		return -ENOMEM;
	j->own = more;
	j->own[j->nr_own++] = addr;
	return 0;
}

static bool is_extent(const struct jo *j, __u64 addr, __u64 size)
{
	return addr && addr % j->chunk == 0 && size && size % PAGE == 0 && !(addr >> 47) &&
	       size < 1ULL << 42;
}

static int add_extent(struct jo *j, const struct jo_extent *e)
{
	struct jo_extent *more;

	more = ids_grow(j->extents, j->nr_extents, &j->room_extents, sizeof(*more));
	if (!more)
		return -ENOMEM;
	j->extents = more;
	j->extents[j->nr_extents++] = *e;
	return 0;
}

/* ---- since 4.0: rings ---- */

/*
 * Nodes from @at on, until @end comes again; @link: of the next one in a node.  Into .extents, or,
 * with @pages, only their pages.  -EINVAL: it is no such ring
 */
static int follow(struct jo *j, size_t arena, __u64 at, __u64 end, __u64 link, bool free,
		  __u64 *pages)
{
	__u64 node[3], flags = 0;
	int err = 0;

	for (size_t n = 0; !err && (at != end || !n); n++) {
		if (j->steps++ > JO_STEPS || at % WORD || !words_at(j->w, at, node, sizeof(node)) ||
		    node[NODE_ARENA] != j->arenas[arena].at ||
		    !is_extent(j, node[NODE_ADDR], node[NODE_SIZE]) ||
		    !word_at(j->w, at + j->c->flags, &flags) || flags >> 16 & 0xff)
			return -EINVAL;
		if (pages)
			*pages += node[NODE_SIZE] / PAGE;
		else
			err = add_extent(j, &(struct jo_extent){
				node[NODE_ADDR], node[NODE_ADDR] +
				((node[NODE_SIZE] + j->chunk - 1) & ~(j->chunk - 1)),
				node[NODE_SIZE], at, arena, free });
		if (!err && !word_at(j->w, at + link, &at))
			return -EINVAL;
	}
	return err;
}

__u64 jo_huge_pages(struct jo *j, const struct jo_layout *l, const struct jo_arena *a)
{
	__u64 pages = 0, first = 0;

	if (l->huge && word_at(j->w, a->at + l->huge, &first) && first &&
	    follow(j, (size_t)(a - j->arenas), first, first, l->huge_link, false, &pages))
		return 0;
	return pages;
}

static int take_rings(struct jo *j, size_t arena)
{
	const __u64 at = j->arenas[arena].at, head = at + j->l->dirty;
	__u64 first = 0;
	int err = 0;

	if (!word_at(j->w, at + j->l->huge, &first))
		err = -EINVAL;
	else if (first)
		err = follow(j, arena, first, first, j->l->huge_link, false, NULL);
	if (err == -EINVAL)
		heap_miss(j->h, bad_list, at + j->l->huge);
	if (err && err != -EINVAL)
		return err;
	/* the ring of free ones begins and ends with the arena's own node */
	err = 0;
	if (!word_at(j->w, head + j->l->dirty_link, &first))
		err = -EINVAL;
	else if (first != head)
		err = follow(j, arena, first, head, j->l->dirty_link, true, NULL);
	if (err == -EINVAL)
		heap_miss(j->h, bad_list, head);
	return err == -EINVAL ? 0 : err;
}

/* ---- up to 3.6: trees ---- */

struct tree {
	__u64 nil, root, link;
	size_t nr;			/* nodes, */
	__u64 sum;			/* and the sum of their addresses */
};

/* All nodes, from left to right; @take: into .extents. */
static int walk_tree(struct jo *j, struct tree *t, bool take)
{
	__u64 stack[MOST_DEEP] = { 0 }, node[NODE_WORDS], at = t->root, last = 0;
	struct jo_extent e;
	size_t deep = 0;
	int err = 0;

	t->nr = 0;
	t->sum = 0;
	while (at != t->nil || deep) {
		for (; at != t->nil; at = node[t->link / WORD]) {
			if (deep == MOST_DEEP || j->steps++ > JO_STEPS || at % 64 || at >> 47 ||
			    !words_at(j->w, at, node, sizeof(node)))
				return -EINVAL;
			stack[deep++] = at;
		}
		at = stack[--deep];
		if (!words_at(j->w, at, node, sizeof(node)) ||
		    !is_extent(j, node[OLD_ADDR], node[OLD_SIZE]) ||
		    node[OLD_SIZE] % j->chunk ||
		    (t->link == BY_ADDR ? node[OLD_ADDR] < last : node[OLD_SIZE] < last))
			return -EINVAL;
		last = t->link == BY_ADDR ? node[OLD_ADDR] + node[OLD_SIZE] : node[OLD_SIZE];
		t->nr++;
		t->sum += at;
		if (take)
			err = jo_add_own(j, at);
		e = (struct jo_extent){ node[OLD_ADDR], node[OLD_ADDR] + node[OLD_SIZE],
					node[OLD_SIZE], at, 0, false };
		if (take && !err)
			err = add_extent(j, &e);
		if (err)
			return err;
		at = node[t->link / WORD + 1] & ~1ULL;
	}
	return 0;
}

/* A tree whose own node has, at @at, two links of this kind to itself. */
static bool is_tree(struct jo *j, __u64 at, __u64 link, struct tree *t)
{
	__u64 right;

	*t = (struct tree){ .nil = at - link, .link = link };
	return word_at(j->w, at + WORD, &right) && (right & ~1ULL) == t->nil &&
	       word_at(j->w, t->nil - WORD, &t->root) && !walk_tree(j, t, false);
}

/* Each tree by size goes with one by address; the one that is left. */
static struct tree *left_over(struct tree *trees, size_t nr)
{
	struct tree *left = NULL;
	size_t lefts = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t k = 0;

		if (trees[i].link != BY_SIZE)
			continue;
		while (k < nr && (trees[k].link != BY_ADDR || !trees[k].root ||
				  trees[k].nr != trees[i].nr || trees[k].sum != trees[i].sum))
			k++;
		if (k == nr)
			return NULL;
		trees[k].root = 0;
	}
	for (size_t i = 0; i < nr; i++)
		if (trees[i].link == BY_ADDR && trees[i].root) {
			left = &trees[i];
			lefts++;
		}
	return lefts == 1 ? left : NULL;
}

static int take_trees(struct jo *j)
{
	struct tree trees[MOST_TREES], *huge;
	__u64 words[PAGE / WORD];
	size_t nr = 0;
	int err = 0;

	for (__u64 page = words_page(j->w, j->data.start, j->data.end); page < j->data.end;
	     page = words_page(j->w, page + PAGE, j->data.end)) {
		if (!words_at(j->w, page, words, sizeof(words)))
			continue;
		for (size_t i = 0; i < PAGE / WORD && nr < MOST_TREES; i++) {
			const __u64 at = page + i * WORD;

			if ((words[i] == at && is_tree(j, at, BY_SIZE, &trees[nr])) ||
			    (words[i] == at - BY_ADDR && is_tree(j, at, BY_ADDR, &trees[nr])))
				nr++;
		}
	}
	huge = left_over(trees, nr);
	if (!huge)
		heap_miss(j->h, no_tree, j->data.start);
	else
		err = walk_tree(j, huge, true);
	return err == -EINVAL ? 0 : err;
}

/* ---- both ---- */

static int by_start(const void *x, const void *y)
{
	const struct jo_extent *a = x, *b = y;

	return (a->start > b->start) - (a->start < b->start);
}

int jo_find_extents(struct jo *j)
{
	size_t nr = 0;
	int err = 0;

	if (!j->l->huge)
		err = take_trees(j);
	for (size_t i = 0; j->l->huge && i < j->nr_arenas && !err; i++)
		err = take_rings(j, i);
	if (j->nr_extents)
		qsort(j->extents, j->nr_extents, sizeof(*j->extents), by_start);
	for (size_t i = 0; i < j->nr_extents; i++) {
		if (nr && j->extents[i].start < j->extents[nr - 1].end)
			heap_miss(j->h, bad_list, j->extents[i].node);
		else
			j->extents[nr++] = j->extents[i];
	}
	j->nr_extents = nr;
	return err;
}

bool jo_in_extent(const struct jo *j, __u64 at)
{
	size_t lo = 0, hi = j->nr_extents;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;

		if (j->extents[mid].end <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < j->nr_extents && j->extents[lo].start < at + j->chunk;
}
