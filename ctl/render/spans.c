// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts of the time of a recording, as they come. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/save.h"

/* Each two that are neighbours become one. */
static int halve(struct save_spans *all)
{
	for (size_t i = 0; i < all->nr / 2; i++) {
		struct save_span *a = &all->at[2 * i], *b = a + 1;
		struct memtap_span_row *rows = reallocarray(a->rows, a->nr + b->nr + 1,
							    sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		if (b->nr)
			memcpy(rows + a->nr, b->rows, b->nr * sizeof(*rows));
		free(b->rows);
		b->rows = NULL;
		a->rows = NULL;
		all->at[i] = (struct save_span){ a->start_ns, b->end_ns, rows, a->nr + b->nr };
		b->nr = 0;
	}
	all->nr /= 2;
	return 0;
}

int save_spans_add(struct save_spans *all, const struct snap *now, const struct snap *before)
{
	struct snap *diff = before ? snap_diff(now, before) : NULL;
	const struct snap *s = before ? diff : now;
	struct save_span *to;
	int err = s ? 0 : -ENOMEM;

	if (!err && all->nr == SAVE_SPANS)
		err = halve(all);
	to = &all->at[all->nr];
	if (!err) {
		*to = (struct save_span){
			before ? before->header.now_ns : now->header.start_ns,
			now->header.now_ns, calloc(s->nr_counters + 1, sizeof(*to->rows)), 0
		};
		err = to->rows ? 0 : -ENOMEM;
	}
	for (size_t i = 0; !err && i < s->nr_counters; i++) {
		const struct snap_counter *c = &s->counters[i];

		to->rows[to->nr++] = (struct memtap_span_row){
			.event = c->event, .flags = c->flags, .task = c->task,
			.kstack = c->kstack, .ustack = c->ustack, .addr = c->addr,
			.count = c->count, .sum = c->sum,
		};
	}
	/* (a part without length is none) */
	if (!err && to->start_ns < to->end_ns)
		all->nr++;
	else if (!err)
		free(to->rows);
	snap_free(diff);
	return err;
}

void save_spans_free(struct save_spans *all)
{
	for (size_t i = 0; i < all->nr; i++)
		free(all->at[i].rows);
	all->nr = 0;
}
