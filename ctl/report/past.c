// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keep data of a report of live blocks for the next one, which reports growth.  Stacks and tasks
 * keep their numbers as long as the session runs.
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
	struct past_parts *parts;	/* of a cohort */
};

/* By birth: what lived at the moment of a cohort, and what of it is there still. */
struct past_parts {
	double then[TREND_PARTS], then_bytes[TREND_PARTS];
	double left[TREND_PARTS], left_bytes[TREND_PARTS];
	double all;		/* of any age, born since as well, that are there now */
};

struct past_space {
	__u32 id;
	__u64 unknown;
};

struct report_past {
	__u64 start_ns, now_ns;		/* of a cohort */
	struct report_past *before;	/* an earlier one, or NULL */
	struct past_space *spaces;	/* by their numbers */
	size_t nr_spaces;
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
	for (size_t i = 0; i < p->ids.nr; i++)
		free(p->at[i].parts);
	ids_free(&p->ids);
	free(p->spaces);
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

static struct past *add_past(struct report_past *p, const struct memtap_block *b, __u32 kind,
			     double weight)
{
	const struct past_key key = key_of(b, kind);
	const __u64 hash = hash_of(&key);
	__u32 id = ids_find(&p->ids, hash, same_past, p->at, &key);
	struct past *more;

	if (id == IDS_NONE) {
		more = ids_grow(p->at, p->ids.nr, &p->room, sizeof(*more));
		if (!more)
			return NULL;
		p->at = more;
		id = ids_add(&p->ids, hash);
		if (id == IDS_NONE)
			return NULL;
		p->at[id] = (struct past){ .key = key };
	}
	p->at[id].blocks += weight;
	p->at[id].bytes += weight * (double)b->size;
	return &p->at[id];
}

int report_past_add(struct report_past *p, const struct memtap_block *b, __u32 kind,
		    double weight)
{
	return add_past(p, b, kind, weight) ? 0 : -ENOMEM;
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

static size_t part_of(const struct report_past *p, __u64 birth_ns)
{
	const double span = (double)(p->now_ns - p->start_ns);
	const double at = birth_ns > p->start_ns ? (double)(birth_ns - p->start_ns) : 0;
	const size_t part = span > 0 ? (size_t)(at * TREND_PARTS / span) : 0;

	return part < TREND_PARTS ? part : TREND_PARTS - 1;
}

static int add_to_cohort(struct report_past *p, const struct memtap_block *b, double weight)
{
	const size_t part = part_of(p, b->birth_ns);
	struct past *x = add_past(p, b, 0, weight);

	if (!x)
		return -ENOMEM;
	if (!x->parts)
		x->parts = calloc(1, sizeof(*x->parts));
	if (!x->parts)
		return -ENOMEM;
	x->parts->then[part] += weight;
	x->parts->then_bytes[part] += weight * (double)b->size;
	return 0;
}

static int keep_spaces(struct report_past *p, const struct snap *s)
{
	p->spaces = calloc(s->nr_spaces + 1, sizeof(*p->spaces));
	if (!p->spaces)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr_spaces; i++)
		p->spaces[p->nr_spaces++] =
			(struct past_space){ s->spaces[i].id, s->spaces[i].unknown };
	return 0;
}

struct report_past *report_cohort_new(const struct snap *s)
{
	struct report_past *p = report_past_new();
	struct snap_walk w = { .snap = s };
	int err;

	if (!p)
		return NULL;
	p->now_ns = s->header.now_ns;
	p->start_ns = s->header.start_ns < p->now_ns ? s->header.start_ns : p->now_ns;
	err = keep_spaces(p, s);
	while (!err && snap_next_block(&w))
		if (!(w.block->flags & MEMTAP_BLOCK_INNER))
			err = add_to_cohort(p, w.block, leaks_weight(s, w.block));
	if (!err)
		return p;
	report_past_free(p);
	return NULL;
}

struct report_past *report_cohort_best(struct report_past *const of[2], const struct snap *now)
{
	const __u64 end = now->header.now_ns, quarter = (end - now->header.start_ns) / 4;

	for (int i = 0; i < 2; i++)
		if (of[i] && end - of[i]->now_ns >= quarter) {
			of[i]->before = i ? NULL : of[1];
			return of[i];
		}
	return NULL;
}

static struct past *find_cohort(const struct report_past *p, const struct memtap_block *b)
{
	const struct past_key key = key_of(b, 0);
	const __u32 id = ids_find(&p->ids, hash_of(&key), same_past, p->at, &key);

	return id == IDS_NONE ? NULL : &p->at[id];
}

static void count_left(struct report_past *p, const struct snap *s)
{
	struct snap_walk w = { .snap = s };

	for (size_t i = 0; i < p->ids.nr; i++) {
		struct past_parts *x = p->at[i].parts;

		memset(x->left, 0, sizeof(x->left));
		memset(x->left_bytes, 0, sizeof(x->left_bytes));
		x->all = 0;
	}
	while (snap_next_block(&w)) {
		struct past *x = w.block->flags & MEMTAP_BLOCK_INNER ? NULL :
				 find_cohort(p, w.block);
		const double weight = leaks_weight(s, w.block);
		size_t part;

		if (!x)
			continue;
		x->parts->all += weight;
		if (w.block->birth_ns >= p->now_ns)
			continue;
		part = part_of(p, w.block->birth_ns);
		x->parts->left[part] += weight;
		x->parts->left_bytes[part] += weight * (double)w.block->size;
	}
}

void report_cohort_count(struct report_past *p, const struct snap *s)
{
	count_left(p, s);
	if (p->before)
		count_left(p->before, s);
}

/*
 * realloc() leaves a block's birth as it was: what is there now of what was born then takes
 * more than all of that took.  Not so where others have come to the stack by it.
 */
static void add_larger(const struct report_past *p, const struct past_parts *x,
		       const struct cohort_block *c, struct trend_then *then)
{
	const size_t part = part_of(p, c->block->birth_ns);
	const double larger = x->left_bytes[part] - x->then_bytes[part];
	const double bytes = c->weight * (double)c->block->size;

	if (c->sampled || larger <= 0 || x->left[part] > x->then[part] + 0.5 ||
	    c->end_ns <= p->now_ns)
		return;
	then->grown_ns = c->end_ns - p->now_ns;
	then->grown += larger * bytes / x->left_bytes[part];
	then->grown_to += bytes;
}

/* Rows may have some of a stack's blocks: who went is shared among those who are left. */
static void add_freed(const struct past_parts *x, double weight, struct trend_then *then)
{
	const double share = weight / x->all;

	for (int i = 0; i < TREND_PARTS; i++) {
		if (x->then[i] > x->left[i])
			then->blocks[i] += share * (x->then[i] - x->left[i]);
		then->all += share * x->then[i];
	}
}

static void add_before(const struct report_past *p, const struct cohort_block *c,
		       struct trend_then *then)
{
	const struct report_past *before = p->before;
	const struct past *x = before ? find_cohort(before, c->block) : NULL;

	if (x && c->block->birth_ns < before->now_ns)
		add_larger(before, x->parts, c, then);
}

void report_cohort_add(const struct report_past *p, const struct cohort_block *c,
		       struct trend *t)
{
	const struct memtap_block *b = c->block;
	const struct past *x = find_cohort(p, b);
	struct trend_then *then = &t->then;
	size_t part;

	then->span_ns = p->now_ns - p->start_ns;
	if (c->end_ns > p->now_ns && c->end_ns - p->now_ns > then->since_ns)
		then->since_ns = c->end_ns - p->now_ns;
	if (b->birth_ns >= p->now_ns)
		then->born += c->weight;
	if (!x)		/* in the middle of realloc() then? */
		add_before(p, c, then);
	if (!x || x->parts->all <= 0)
		return;
	add_freed(x->parts, c->weight, then);
	if (b->birth_ns >= p->now_ns)
		return;
	part = part_of(p, b->birth_ns);
	then->blocks[part] += c->weight;
	then->left[part] += c->weight;
	add_larger(p, x->parts, c, then);
}

bool report_cohort_within(const struct report_past *p, __u64 begin_ns, __u64 end_ns)
{
	return end_ns > begin_ns && p->now_ns + (end_ns - begin_ns) / 8 <= end_ns;
}

static int cmp_id(const void *key, const void *at)
{
	const __u32 id = *(const __u32 *)key, other = ((const struct past_space *)at)->id;

	return id < other ? -1 : id > other;
}

__u64 report_cohort_unknown(const struct report_past *p, const struct memtap_rec_space *space)
{
	const struct past_space *x = p->nr_spaces ?
		bsearch(&space->id, p->spaces, p->nr_spaces, sizeof(*x), cmp_id) : NULL;

	return x ? space->unknown - x->unknown : space->unknown;
}
