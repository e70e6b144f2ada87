// SPDX-License-Identifier: GPL-2.0-or-later
/* Build rows of what lived at the peak, and of what was allocated: snap->peaks. */
#include <errno.h>

#include "report/int.h"

/* Each process at a peak of its own; else all at that of all. */
bool report_own_peaks(const struct report_opts *o)
{
	return o->by == BY_PROCESS && o->by_given;
}

static struct leaks_sum of_event(const struct maker *m, const struct memtap_peak_stack *p,
				 __u32 event)
{
	struct leaks_sum sum = { 0 };

	switch (event) {
	case RLEAKS_PEAK:
		sum.kept = report_own_peaks(m->r.o) ? p->peak_blocks : p->all_peak_blocks;
		sum.kept_bytes = report_own_peaks(m->r.o) ? p->peak_bytes : p->all_peak_bytes;
		break;
	case RLEAKS_ALLOCATED:
		sum.kept = p->allocs;
		sum.kept_bytes = p->bytes;
		break;
	case RLEAKS_TEMPORARY:
		sum.kept = p->temporary;
		sum.kept_bytes = p->temporary_bytes;
		break;
	}
	sum.blocks = (double)sum.kept;
	sum.bytes = (double)sum.kept_bytes;
	return sum;
}

static int add_row(struct maker *m, const struct memtap_peak_stack *p, struct rrow *key,
		   const struct leaks_sum *sum)
{
	struct rrow *row = report_row(m, key);

	if (row && !row->leak)
		row->leak = arena_alloc(&m->arena, sizeof(*row->leak));
	if (!row || !row->leak)
		return -ENOMEM;
	leaks_add_sum(&row->leak->sum, sum);
	leaks_add_sum(&m->r.leaks->sums[key->event], sum);
	row->leak->allocs += p->allocs;
	row->leak->alloc_bytes += p->bytes;
	row->count += sum->kept;
	row->sum = (__s64)((__u64)row->sum + sum->kept_bytes);
	return 0;
}

static int add_stack(struct maker *m, const struct memtap_peak_stack *p,
		     struct leaks_known *known)
{
	const struct memtap_block b = {
		.ustack = p->ustack, .task = p->task, .space = p->space,
	};
	struct rleaks *l = m->r.leaks;
	struct rrow key = { .event = 0 };
	int by;

	l->allocs += p->allocs;
	l->alloc_bytes += p->bytes;
	l->temporary += p->temporary;
	by = leaks_known_by(known, p->ustack, p->task, LEAK_UNKNOWN);
	if (by == -ENOMEM || report_block_key(m, &b, &key))
		return -ENOMEM;
	for (__u32 event = RLEAKS_PEAK; event < RLEAKS_EVENTS; event++) {
		const struct leaks_sum sum = of_event(m, p, event);
		int err = 0;

		if (event == RLEAKS_PEAK)
			l->peak_bytes += sum.kept_bytes;
		if (!sum.kept || !(report_of(m->r.o) & 1U << event))
			continue;
		key.event = event;
		if (by != LEAKS_NOT_KNOWN) {
			leaks_add_sum(&l->suppressed, &sum);
			leaks_add_sum(&l->patterns[by], &sum);
		} else {
			err = add_row(m, p, &key, &sum);
		}
		if (err)
			return err;
	}
	return 0;
}

int report_peaks(struct maker *m, struct leaks_known *known)
{
	const struct snap *s = m->r.snap;
	int err = 0;

	for (size_t i = 0; !err && i < s->nr_peaks; i++) {
		for (__u32 k = 0; !err && k < s->peaks[i].nr; k++)
			err = add_stack(m, &s->peaks[i].at[k], known);
		report_progress(m, i, s->nr_peaks);
	}
	return err;
}
