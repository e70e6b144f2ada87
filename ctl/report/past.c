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
	double left;		/* of a cohort: blocks that are there still */
};

struct report_past {
	__u64 now_ns, before_ns;	/* of a cohort */
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

static struct past_key key_of(const struct memtap_block *b, __u32 kind)
{
	const bool kernel = b->flags & MEMTAP_BLOCK_KERNEL;

	return (struct past_key){
		b->flags & (MEMTAP_BLOCK_MAPPING | MEMTAP_BLOCK_KERNEL), b->ustack, b->task,
		kernel ? b->space : 0, kind,
	};
}

static __u64 hash_of(const struct past_key *key)
{
	return ids_mix(ids_mix((__u64)key->flags << 32 | key->ustack,
			       (__u64)key->cache << 32 | key->task), key->kind);
}

int report_past_add(struct report_past *p, const struct memtap_block *b, __u32 kind,
		    double weight)
{
	const struct past_key key = key_of(b, kind);
	const __u64 hash = hash_of(&key);
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

/* ---- cohorts ---- */

/* What was in use for a moment is left out: a sixteenth of the time, as in a trend. */
struct report_past *report_cohort_new(const struct snap *s)
{
	const __u64 now = s->header.now_ns, start = s->header.start_ns;
	struct report_past *p = report_past_new();
	struct snap_walk w = { .snap = s };

	if (!p)
		return NULL;
	p->now_ns = now;
	p->before_ns = now - (now > start ? (now - start) / TREND_PARTS : 0);
	while (snap_next_block(&w)) {
		if (w.block->flags & MEMTAP_BLOCK_INNER || w.block->birth_ns >= p->before_ns)
			continue;
		if (report_past_add(p, w.block, 0, leaks_weight(s, w.block))) {
			report_past_free(p);
			return NULL;
		}
	}
	return p;
}

struct report_past *report_cohort_best(struct report_past *const of[2], const struct snap *now)
{
	const __u64 end = now->header.now_ns, quarter = (end - now->header.start_ns) / 4;

	for (int i = 0; i < 2; i++)
		if (of[i] && end - of[i]->now_ns >= quarter)
			return of[i];
	return NULL;
}

static struct past *find_cohort(const struct report_past *p, const struct memtap_block *b)
{
	const struct past_key key = key_of(b, 0);
	const __u32 id = ids_find(&p->ids, hash_of(&key), same_past, p->at, &key);

	return id == IDS_NONE ? NULL : &p->at[id];
}

void report_cohort_count(struct report_past *p, const struct snap *s)
{
	struct snap_walk w = { .snap = s };
	struct past *x;

	for (size_t i = 0; i < p->ids.nr; i++)
		p->at[i].left = 0;
	while (snap_next_block(&w)) {
		if (w.block->flags & MEMTAP_BLOCK_INNER || w.block->birth_ns >= p->before_ns)
			continue;
		x = find_cohort(p, w.block);
		if (x)
			x->left += leaks_weight(s, w.block);
	}
}

/* Rows may have some of a stack's blocks: who went is shared among those who are left. */
void report_cohort_add(const struct report_past *p, const struct memtap_block *b, double weight,
		       struct trend *t)
{
	const struct past *x = b->birth_ns < p->before_ns ? find_cohort(p, b) : NULL;

	t->then_ns = p->now_ns;
	if (!x || x->left <= 0)
		return;
	t->left += weight;
	t->then += weight * (x->blocks > x->left ? x->blocks / x->left : 1);
}
