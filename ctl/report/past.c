// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a report of live blocks leaves behind for the next one, so that this can say what
 * grew.  Stacks and tasks keep their numbers as long as the session runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/int.h"

struct past_key {
	__u32 flags;		/* MEMTAP_BLOCK_MAPPING, MEMTAP_BLOCK_KERNEL */
	__u32 ustack, task;
	__u32 cache;		/* of the kernel's */
	__u32 kind;		/* enum leak_kind, where rows are told apart by it */
};

struct past {
	struct past_key key;
	double blocks, bytes;
};

struct report_past {
	struct ids ids;
	struct past *at;
	size_t room;
};

struct report_past *report_past_new(void)
{
	return calloc(1, sizeof(struct report_past));
}

void report_past_free(struct report_past *p)
{
	if (!p)
		return;
	ids_free(&p->ids);
	free(p->at);
	free(p);
}

static bool same_past(const void *things, __u32 id, const void *key)
{
	return !memcmp(&((const struct past *)things)[id].key, key, sizeof(struct past_key));
}

int report_past_add(struct report_past *p, const struct memtap_block *b, __u32 kind,
		    double weight)
{
	const bool kernel = b->flags & MEMTAP_BLOCK_KERNEL;
	const struct past_key key = {
		b->flags & (MEMTAP_BLOCK_MAPPING | MEMTAP_BLOCK_KERNEL), b->ustack, b->task,
		kernel ? b->space : 0, kind,
	};
	const __u64 hash = ids_mix(ids_mix((__u64)key.flags << 32 | b->ustack,
					   (__u64)key.cache << 32 | b->task), kind);
	__u32 id = ids_find(&p->ids, hash, same_past, p->at, &key);
	struct past *more;

	if (id == IDS_NONE) {
		more = ids_room(p->at, p->ids.nr, &p->room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->at = more;
		id = ids_add(&p->ids, hash);
		if (id == IDS_NONE)
			return -ENOMEM;
		p->at[id] = (struct past){ .key = key };
	}
	p->at[id].blocks += weight;
	p->at[id].bytes += weight * (double)b->size;
	return 0;
}

/* Nothing of it lives any more: that is an answer where changes are asked for. */
static struct rrow *gone_row(struct maker *m, const struct rrow *key, const struct past *x)
{
	struct rrow *row = report_row(m, key);

	if (!row || row->leak)
		return row;
	row->leak = arena_alloc(&m->arena, sizeof(*row->leak));
	if (!row->leak)
		return NULL;
	row->leak->birth = m->r.snap->header.now_ns;
	row->leak->cache = x->key.cache;
	row->leak->gone = true;
	return row;
}

int report_past_compare(struct maker *m)
{
	const struct report_past *p = m->r.o->past;

	for (size_t i = 0; p && i < p->ids.nr; i++) {
		const struct past *x = &p->at[i];
		const struct memtap_block was = {
			.ustack = x->key.ustack, .task = x->key.task, .space = x->key.cache,
			.flags = (__u16)x->key.flags,
		};
		struct rrow key = { .event = 0 }, *row;

		if (report_block_key(m, &was, &key))
			return -ENOMEM;
		key.flags = x->key.kind;
		row = m->r.o->changes ? gone_row(m, &key, x) : report_find_row(m, &key);
		if (!row && m->r.o->changes)
			return -ENOMEM;
		if (!row || !row->leak)
			continue;
		row->leak->before_blocks += x->blocks;
		row->leak->before_bytes += x->bytes;
	}
	return 0;
}
