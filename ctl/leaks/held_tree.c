// SPDX-License-Identifier: GPL-2.0-or-later
/* The tree of what is shown: holders, and below each the kinds through which it holds blocks. */
#include <errno.h>
#include <stdlib.h>

#include "leaks/held_int.h"

#define MOST_NODES	250000		/* of holders and kinds below them */
#define DEEPEST		32

static const char *const what_names[NR_HOLDER_WHATS] = {
	[HOLDER_GLOBAL] = "global", [HOLDER_PYTHON] = "python",
	[HOLDER_FRAMES] = "python-frames", [HOLDER_INTERPRETER] = "python-state",
	[HOLDER_THREAD_LOCAL] = "thread-local",
	[HOLDER_STACK] = "stack", [HOLDER_REGISTERS] = "registers", [HOLDER_KERNEL] = "kernel",
	[HOLDER_MAPPING] = "mapping", [HOLDER_SBRK] = "sbrk", [HOLDER_ARENA] = "arena",
	[HOLDER_TEXT] = "text", [HOLDER_STALE] = "stale", [HOLDER_SHARED] = "several",
	[HOLDER_LOST] = "nothing",
	[HOLDER_OTHERS] = "others",
};

const char *holder_what_name(enum holder_what what)
{
	return what_names[what];
}

void holder_free(struct holder *h)
{
	free(h->name);
	free(h->object);
	free(h->source);
}

static bool same_node(const void *things, __u32 id, const void *key)
{
	const struct held_node *a = (const struct held_node *)things + id, *b = key;

	return a->parent == b->parent && a->kind == b->kind && a->holder == b->holder &&
	       a->attribute == b->attribute;
}

__s64 held_get_node(struct find *f, const struct held_node *key)
{
	const __u64 hash = ids_mix(ids_mix(ids_mix(key->parent, key->kind), key->holder),
				   key->attribute);
	struct held *out = f->out;
	struct held_node *more;
	__u32 id = ids_find(&f->node_ids, hash, same_node, out->nodes, key);

	if (id != IDS_NONE)
		return id;
	more = ids_grow(out->nodes, out->nr_nodes, &f->room_nodes, sizeof(*more));
	if (!more)
		return -ENOMEM;
	out->nodes = more;
	id = ids_add(&f->node_ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	out->nodes[out->nr_nodes++] = *key;
	return id;
}

__s64 held_node_below(struct find *f, __u32 parent, __u32 kind, __u32 attribute, bool is_part)
{
	const struct held_node key = { .parent = parent, .kind = kind, .attribute = attribute };
	const struct held_node *nodes = f->out->nodes;
	__u32 at = parent, deep = 0;

	for (; at && nodes[at].kind != HELD_HOLDER; at = nodes[at].parent, deep++)
		if (nodes[at].kind == kind && nodes[at].attribute == attribute &&
		    (!is_part || at == parent))
			return at;
	if (deep >= DEEPEST || f->out->nr_nodes >= MOST_NODES)
		return nodes[parent].kind == HELD_HOLDER ? held_get_node(f, &key) : (__s64)parent;
	return held_get_node(f, &key);
}

__s64 held_add_holder(struct find *f, const struct holder *h)
{
	struct held *out = f->out;
	struct holder *more = ids_grow(out->holders, out->nr_holders, &f->room_holders,
				       sizeof(*more));

	if (!more)
		return -ENOMEM;
	out->holders = more;
	out->holders[out->nr_holders] = *h;
	return held_get_node(f, &(struct held_node){ .kind = HELD_HOLDER,
						     .holder = (__u32)out->nr_holders++ });
}
