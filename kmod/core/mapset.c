// SPDX-License-Identifier: GPL-2.0-only
/* The set of live mappings, a treap over preallocated nodes. */
#include "mapset.h"

void mapset_init(struct mapset *t, struct mapping *nodes, u32 nr, u32 seed)
{
	t->nodes = nodes;
	t->nr = nr;
	t->root = 0;
	t->free = 0;
	t->next_node = 1;
	t->used = 0;
	t->most = 0;
	t->random = seed;
}

/* Priorities that whoever maps memory cannot foresee; any seed will do. */
static u32 next_random(struct mapset *t)
{
	u32 z = t->random += 0x9e3779b9U;

	z = (z ^ z >> 16) * 0x85ebca6bU;
	z = (z ^ z >> 13) * 0xc2b2ae35U;
	return z ^ z >> 16;
}

static int starts_before(const struct mapping *m, u32 space, u64 start)
{
	return m->space < space || (m->space == space && m->start < start);
}

static int ends_before(const struct mapping *m, u32 space, u64 addr)
{
	return m->space < space || (m->space == space && m->end <= addr);
}

static u32 new_node(struct mapset *t)
{
	u32 node = t->free;

	if (node)
		t->free = t->nodes[node].left;
	else if (t->next_node < t->nr)
		node = t->next_node++;
	else
		return 0;
	if (++t->used > t->most)
		t->most = t->used;
	return node;
}

/* The node at which one with @priority goes in, and how much is below or at it. */
static u32 *place_of(struct mapset *t, const struct mapping *m, u32 priority, u32 *depth)
{
	u32 *link = &t->root, *place = NULL;
	struct mapping *at;

	for (*depth = 0; *link; ++*depth) {
		at = &t->nodes[*link];
		if (!place && at->priority < priority)
			place = link;
		link = starts_before(at, m->space, m->start) ? &at->right : &at->left;
	}
	return place ? place : link;
}

/* What starts before (space, start) to *@left, everything else to *@right. */
static void split(struct mapset *t, u32 node, const struct mapping *m, u32 *left,
		  u32 *right)
{
	while (node) {
		if (starts_before(&t->nodes[node], m->space, m->start)) {
			*left = node;
			left = &t->nodes[node].right;
			node = *left;
		} else {
			*right = node;
			right = &t->nodes[node].left;
			node = *right;
		}
	}
	*left = 0;
	*right = 0;
}

/* Nothing lies where @m goes. */
static int insert(struct mapset *t, const struct mapping *m)
{
	u32 priority = next_random(t);
	u32 depth, node, *place = place_of(t, m, priority, &depth);
	struct mapping *to;

	if (depth >= MAPSET_DEPTH)
		return 0;
	node = new_node(t);
	if (!node)
		return 0;
	to = &t->nodes[node];
	*to = *m;
	to->priority = priority;
	split(t, *place, m, &to->left, &to->right);
	*place = node;
	return 1;
}

/* Take the node that @link leads to out of the tree: its halves take its place. */
static void unlink_node(struct mapset *t, u32 *link)
{
	u32 node = *link;
	u32 left = t->nodes[node].left, right = t->nodes[node].right;

	while (left && right) {
		if (t->nodes[left].priority > t->nodes[right].priority) {
			*link = left;
			link = &t->nodes[left].right;
			left = *link;
		} else {
			*link = right;
			link = &t->nodes[right].left;
			right = *link;
		}
	}
	*link = left ? left : right;
	t->nodes[node].left = t->free;
	t->free = node;
	t->used--;
}

/* The link to the first range of @space that has a byte at or after @addr. */
static u32 *first_from(struct mapset *t, u32 space, u64 addr)
{
	u32 *link = &t->root, *found = NULL;

	while (*link) {
		if (ends_before(&t->nodes[*link], space, addr)) {
			link = &t->nodes[*link].right;
		} else {
			found = link;
			link = &t->nodes[*link].left;
		}
	}
	return found && t->nodes[*found].space == space ? found : NULL;
}

static void drop(struct mapset *t, u32 *link, u32 kind, struct mapset_gone *gone)
{
	const struct mapping *m = &t->nodes[*link];

	gone->bytes[kind] += m->end - m->start;
	gone->ranges[kind]++;
	unlink_node(t, link);
}

/* @m has something on both sides of what goes. */
static void punch(struct mapset *t, struct mapping *m, u64 start, u64 end, u32 kind,
		  struct mapset_gone *gone)
{
	struct mapping rest = *m;

	gone->bytes[kind] += end - start;
	m->end = start;
	rest.start = end;
	if (!insert(t, &rest))
		gone->lost += rest.end - end;
}

void mapset_remove(struct mapset *t, u32 space, u64 start, u64 end, u32 mark,
		   struct mapset_gone *gone)
{
	struct mapping *m;
	u32 *link, kind;

	while (start < end) {
		link = first_from(t, space, start);
		if (!link || t->nodes[*link].start >= end)
			return;
		m = &t->nodes[*link];
		kind = !!(m->flags & mark);
		if (m->start < start && m->end > end) {
			punch(t, m, start, end, kind, gone);
			return;
		}
		if (m->start < start) {
			gone->bytes[kind] += m->end - start;
			m->end = start;
		} else if (m->end > end) {
			gone->bytes[kind] += end - m->start;
			m->start = end;
			return;
		} else {
			drop(t, link, kind, gone);
		}
	}
}

int mapset_add(struct mapset *t, const struct mapping *m, u32 mark,
	       struct mapset_gone *gone)
{
	mapset_remove(t, m->space, m->start, m->end, mark, gone);
	return insert(t, m);
}

u32 mapset_purge(struct mapset *t, u32 space, u32 max, u32 mark,
		 struct mapset_gone *gone)
{
	u32 *link, nr;

	for (nr = 0; nr < max; nr++) {
		link = first_from(t, space, 0);
		if (!link)
			break;
		drop(t, link, !!(t->nodes[*link].flags & mark), gone);
	}
	return nr;
}

const struct mapping *mapset_from(const struct mapset *t, u32 space, u64 start)
{
	const struct mapping *found = NULL, *m;
	u32 node = t->root;

	while (node) {
		m = &t->nodes[node];
		if (starts_before(m, space, start)) {
			node = m->right;
		} else {
			found = m;
			node = m->left;
		}
	}
	return found;
}

const struct mapping *mapset_at(struct mapset *t, u32 space, u64 addr)
{
	u32 *link = first_from(t, space, addr);

	return link ? &t->nodes[*link] : NULL;
}
