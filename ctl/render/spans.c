// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the intervals of a recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/save.h"

int save_halve(struct save_part at[SAVE_SPANS], size_t *nr, size_t row)
{
	for (size_t i = 0; i < *nr / 2; i++) {
		struct save_part *a = &at[2 * i], *b = a + 1;
		char *rows = reallocarray(a->rows, a->nr + b->nr + 1, row);

		if (!rows)
			return -ENOMEM;
		if (b->nr)
			memcpy(rows + a->nr * row, b->rows, b->nr * row);
		free(b->rows);
		b->rows = NULL;
		a->rows = NULL;
		at[i] = (struct save_part){ a->start_ns, b->end_ns, rows, a->nr + b->nr };
		b->nr = 0;
	}
	*nr /= 2;
	return 0;
}

int save_spans_add(struct save_spans *all, const struct snap *now, const struct snap *before)
{
	struct snap *diff = before ? snap_diff(now, before) : NULL;
	const struct snap *s = before ? diff : now;
	struct memtap_span_row *rows = NULL;
	struct save_part *to;
	int err = s ? 0 : -ENOMEM;

	if (!err && all->nr == SAVE_SPANS)
		err = save_halve(all->at, &all->nr, sizeof(*rows));
	to = &all->at[all->nr];
	if (!err) {
		rows = calloc(s->nr_counters + 1, sizeof(*rows));
		*to = (struct save_part){
			before ? before->header.now_ns : now->header.start_ns,
			now->header.now_ns, rows, 0
		};
		err = rows ? 0 : -ENOMEM;
	}
	for (size_t i = 0; !err && i < s->nr_counters; i++) {
		const struct snap_counter *c = &s->counters[i];

		rows[to->nr++] = (struct memtap_span_row){
			.event = c->event, .flags = c->flags, .task = c->task,
			.kstack = c->kstack, .ustack = c->ustack, .addr = c->addr,
			.count = c->count, .sum = c->sum,
		};
	}
	/* (a part without length is none) */
	if (!err && to->start_ns < to->end_ns)
		all->nr++;
	else if (!err)
		free(rows);
	snap_free(diff);
	return err;
}

void save_spans_free(struct save_spans *all)
{
	for (size_t i = 0; i < all->nr; i++)
		free(all->at[i].rows);
	all->nr = 0;
}
