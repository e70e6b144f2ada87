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

void save_spans_last(struct save_spans *all)
{
	for (size_t i = 0; i + 1 < all->nr; i++)
		free(all->at[i].rows);
	if (all->nr)
		all->at[0] = all->at[all->nr - 1];
	all->nr = all->nr ? 1 : 0;
}

static bool same_counter(const void *things, __u32 id, const void *key)
{
	const struct snap_counter *c = (const struct snap_counter *)things + id;
	const struct memtap_span_row *r = key;

	return c->event == r->event && c->flags == r->flags && c->task == r->task &&
	       c->kstack == r->kstack && c->ustack == r->ustack && c->addr == r->addr;
}

static __u64 hash_row(const struct memtap_span_row *r)
{
	const __u64 h = ids_mix(ids_mix(r->event, r->flags), r->task);

	return ids_mix(ids_mix(ids_mix(h, r->kstack), r->ustack), r->addr);
}

/* Counters of a snapshot have different keys. */
static int index_counters(struct ids *ids, const struct snap *s)
{
	for (size_t i = 0; i < s->nr_counters; i++) {
		const struct snap_counter *c = &s->counters[i];
		const struct memtap_span_row r = {
			.event = c->event, .flags = c->flags, .task = c->task,
			.kstack = c->kstack, .ustack = c->ustack, .addr = c->addr,
		};

		if (ids_add(ids, hash_row(&r)) == IDS_NONE)
			return -ENOMEM;
	}
	return 0;
}

int save_spans_of(const struct save_spans *all, const struct snap *s, struct save_spans *to)
{
	struct ids ids = { 0 };
	int err = all->nr ? index_counters(&ids, s) : 0;

	to->nr = 0;
	for (size_t i = 0; !err && i < all->nr; i++) {
		const struct memtap_span_row *from = all->at[i].rows;
		struct memtap_span_row *rows = calloc(all->at[i].nr + 1, sizeof(*rows));

		if (!rows) {
			err = -ENOMEM;
			break;
		}
		to->at[i] = all->at[i];
		to->at[i].rows = rows;
		to->at[i].nr = 0;
		to->nr++;
		for (__u32 k = 0; k < all->at[i].nr; k++)
			if (ids_find(&ids, hash_row(&from[k]), same_counter, s->counters,
				     &from[k]) != IDS_NONE)
				rows[to->at[i].nr++] = from[k];
	}
	ids_free(&ids);
	return err;
}
