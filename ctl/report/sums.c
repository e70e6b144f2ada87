// SPDX-License-Identifier: GPL-2.0-or-later
/* Sum up how user stacks were unwound, and how many are complete. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/int.h"

/* The files in which stacks that were cut for one reason end. */
static void add_end(const struct snap *s, __u64 *weights, const struct snap_stack *st,
		    const struct memtap_rec_task *task, __u64 count)
{
	const struct snap_map *map;

	if (!task || !st->nr)
		return;
	/* a return address may be the first one behind the caller */
	map = snap_map(s, task->space, st->era, st->ip[st->nr - 1] - (st->nr > 1));
	if (map && map->file)
		weights[snap_file(s, map->file) - s->files] += count;
}

static const char *most_of(const struct snap *s, const __u64 *weights)
{
	size_t best = 0;

	for (size_t i = 1; i < s->nr_files; i++)
		if (weights[i] > weights[best])
			best = i;
	return s->nr_files && weights[best] ? s->files[best].path : NULL;
}

static int cut_of(__u32 flags)
{
	for (int i = 0; i < NR_CUTS; i++)
		if (flags & report_cuts[i].flag)
			return i;
	return NR_CUTS;
}

/* @weights: of files, for each reason; or NULL */
static void sum_stack(const struct snap *s, struct rsums *sums, __u64 *weights,
		      __u32 ustack, __u32 task, __u64 count)
{
	const struct snap_stack *st = snap_stack(s, ustack);
	int cut;

	if (!st)
		return;
	cut = cut_of(st->flags);
	sums->all += count;
	if (!(st->flags & MEMTAP_STACK_ROWS)) {
		sums->others += count;
	} else if (cut == NR_CUTS) {
		sums->whole += count;
	} else {
		sums->cut[cut] += count;
		if (weights)
			add_end(s, weights + (size_t)cut * s->nr_files, st,
				snap_task(s, task), count);
	}
}

/* Where rows are live blocks, theirs and not those of all calls. */
static void sum_rows(const struct report *r, struct rsums *sums)
{
	const struct snap *s = r->snap;
	__u64 *weights = calloc(s->nr_files + 1, NR_CUTS * sizeof(*weights));
	struct snap_walk w = { .snap = s };

	for (size_t i = 0; !r->leaks && i < s->nr_counters; i++) {
		const struct snap_counter *c = &s->counters[i];

		sum_stack(s, sums, weights, c->ustack, c->task, c->count);
	}
	while (r->leaks && snap_next_block(&w))
		if (!(w.block->flags & MEMTAP_BLOCK_INNER))
			sum_stack(s, sums, weights, w.block->ustack, w.block->task, 1);
	for (size_t i = 0; weights && i < NR_CUTS; i++)
		sums->most[i] = most_of(s, weights + i * s->nr_files);
	free(weights);
}

static void sum_chains(const struct report *r, struct rsums *sums)
{
	for (size_t i = 0; i < r->nr_rows; i++) {
		const __u32 flags = r->stacks[r->rows[i].ustack].flags;

		if (!(flags & MEMTAP_STACK_USER))
			continue;
		sums->all += r->rows[i].count;
		if (!(flags & STACK_CUTS))
			sums->whole += r->rows[i].count;
	}
}

static bool is_unnamed(const struct rframe *f)
{
	return f->sym && !f->sym->name && !f->sym->kernel && !strcmp(f->text, "[jit]");
}

static bool has_unnamed(const struct report *r, const struct rstack *st)
{
	for (__u32 i = 0; i < st->nr; i++)
		if (is_unnamed(&r->frames[st->frames[i]]))
			return true;
	return false;
}

static void sum_unnamed(const struct report *r, struct rsums *sums)
{
	for (size_t i = 0; i < r->nr_rows; i++)
		if (has_unnamed(r, &r->stacks[r->rows[i].ustack]))
			sums->unnamed += r->rows[i].count;
}

static int add_sums(struct maker *m)
{
	const __u32 flags = m->r.snap->header.flags;
	struct rsums *sums;

	if (!(flags & MEMTAP_CFG_USTACK) || m->r.o->no_user)
		return 0;
	sums = arena_alloc(&m->arena, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	sums->rows = flags & MEMTAP_CFG_ROWS;
	if (sums->rows)
		sum_rows(&m->r, sums);
	else
		sum_chains(&m->r, sums);
	sum_unnamed(&m->r, sums);
	m->r.sums = sums;
	return 0;
}

__u64 report_sums_cut(const struct rsums *s, __u32 flag)
{
	for (size_t i = 0; i < NR_CUTS; i++)
		if (report_cuts[i].flag == flag)
			return s->cut[i];
	return 0;
}

/* ---- what these do not tell ---- */

static void subtract_part(struct rparts *p, __u32 part, __u64 count)
{
	/* the account may be read a moment before the counters */
	p->part[part] -= count < p->part[part] ? count : p->part[part];
}

/* Stacks that were followed by rows are among the sums. */
static void take_told(struct maker *m)
{
	const struct snap *s = m->r.snap;

	for (size_t i = 0; i < s->nr_counters; i++) {
		const struct snap_counter *c = &s->counters[i];
		const struct snap_stack *st = snap_stack(s, c->ustack);
		struct rparts *p = &m->r.parts[snap_event(s, c->event) - s->events];

		for (size_t k = 0; st && st->flags & MEMTAP_STACK_ROWS && k < NR_CUTS; k++)
			if (st->flags & report_cuts[k].flag)
				subtract_part(p, report_cuts[k].part, c->count);
	}
}

static int add_parts(struct maker *m)
{
	const struct snap *s = m->r.snap;

	m->r.parts = arena_alloc(&m->arena, (s->nr_events + 1) * sizeof(*m->r.parts));
	if (!m->r.parts)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr_events; i++)
		memcpy(m->r.parts[i].part, s->events[i].part, sizeof(s->events[i].part));
	if (m->r.sums && m->r.sums->rows)
		take_told(m);
	return 0;
}

int report_sums(struct maker *m)
{
	const int err = add_sums(m);

	return err ? err : add_parts(m);
}
