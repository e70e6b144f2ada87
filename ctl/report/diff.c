// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare two snapshots in one report.  Rows are matched by names.  The older snapshot's rows are
 * built first; the newer one's rows are then compared with them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/int.h"

static size_t find_event(const struct snap *s, const char *name)
{
	size_t i = 0;

	while (i < s->nr_events && strcmp(s->events[i].name, name))
		i++;
	return i;
}

/* Events of @now, then those which only @was has: nothing of these was seen now. */
int report_diff_begin(struct maker *m, const struct snap *was, const struct snap *now)
{
	struct snap_event *events;
	__u32 *event_of;
	size_t nr = now->nr_events;

	m->comparing = true;
	m->r.snap = was;
	events = arena_alloc(&m->arena, (nr + was->nr_events + 1) * sizeof(*events));
	event_of = arena_alloc(&m->arena, (was->nr_events + 1) * sizeof(*event_of));
	if (!events || !event_of)
		return -ENOMEM;
	if (nr)
		memcpy(events, now->events, nr * sizeof(*events));
	for (size_t i = 0; i < was->nr_events; i++) {
		const struct snap_event *e = &was->events[i];
		size_t at = find_event(now, e->name);

		if (at == now->nr_events) {
			at = nr++;
			events[at].unit = e->unit;
			strcpy(events[at].group, e->group);
			strcpy(events[at].name, e->name);
		}
		event_of[i] = (__u32)at;
	}
	m->event_of = event_of;
	m->r.events = events;
	m->r.nr_events = nr;
	return 0;
}

void report_diff_turn(struct maker *m, const struct snap *now, struct sym *sym)
{
	for (size_t i = 0; i < m->r.nr_rows; i++) {
		struct rrow *row = &m->r.rows[i];

		row->was_count = row->count;
		row->was_sum = row->sum;
		row->count = 0;
		row->sum = 0;
		row->max = 0;
		row->hist = NULL;
		row->leak = NULL;
	}
	report_leaks_free(m);
	m->r.leaks = NULL;
	report_stack_forget(m);
	free(m->programs);
	m->programs = NULL;
	m->event_of = NULL;
	m->r.was = m->r.snap;
	m->r.snap = now;
	m->sym = sym;
}
