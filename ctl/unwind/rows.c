// SPDX-License-Identifier: GPL-2.0-or-later
/* Sort rows from several sources into one strictly ascending table without contradictions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/int.h"

#define HASH_FIRST	1024

/* Room for one more at *p. */
static int grow(void *p, size_t nr, size_t *room, size_t size)
{
	const size_t more = *room ? 2 * *room : 256;
	void *q;

	if (nr < *room)
		return 0;
	if (nr >= MEMTAP_MAX_ROWS)
		return -EFBIG;
	memcpy(&q, p, sizeof(q));
	q = reallocarray(q, more, size);
	if (!q)
		return -ENOMEM;
	memcpy(p, &q, sizeof(q));
	*room = more;
	return 0;
}

static __u32 hash_of(const struct memtap_rule *rule)
{
	const unsigned char *p = (const unsigned char *)rule;
	__u32 h = 2166136261u;		/* FNV-1a; a rule has no padding */

	for (size_t i = 0; i < sizeof(*rule); i++)
		h = (h ^ p[i]) * 16777619u;
	return h;
}

static __u32 *hash_slot(const struct unwind_rows *r, const struct memtap_rule *rule)
{
	size_t i = hash_of(rule) & (r->hash_size - 1);

	while (r->hash[i] && memcmp(&r->rules[r->hash[i] - 1], rule, sizeof(*rule)))
		i = (i + 1) & (r->hash_size - 1);
	return &r->hash[i];
}

static int rehash(struct unwind_rows *r, size_t size)
{
	__u32 *hash = calloc(size, sizeof(*hash));

	if (!hash)
		return -ENOMEM;
	free(r->hash);
	r->hash = hash;
	r->hash_size = size;
	for (size_t i = 0; i < r->nr_rules; i++)
		*hash_slot(r, &r->rules[i]) = (__u32)i + 1;
	return 0;
}

static int kind_of(struct unwind_rows *r, const struct memtap_rule *rule, __u16 *kind)
{
	__u32 *slot = hash_slot(r, rule);
	int err;

	if (*slot) {
		*kind = (__u16)(*slot - 1);
		return 0;
	}
	if (r->nr_rules == MEMTAP_MAX_RULES)
		return -EFBIG;
	err = grow(&r->rules, r->nr_rules, &r->room_rules, sizeof(*r->rules));
	if (err)
		return err;
	*kind = (__u16)r->nr_rules;
	r->rules[r->nr_rules++] = *rule;
	*slot = (__u32)r->nr_rules;
	return r->nr_rules * 2 > r->hash_size ? rehash(r, 2 * r->hash_size) : 0;
}

int unwind_rows_init(struct unwind_rows *r)
{
	const struct memtap_rule gap = { .kind = MEMTAP_RULE_GAP, .ra = -8 };
	__u16 kind;
	int err;

	memset(r, 0, sizeof(*r));
	err = rehash(r, HASH_FIRST);
	return err ? err : kind_of(r, &gap, &kind);
}

void unwind_rows_free(struct unwind_rows *r)
{
	free(r->rows);
	free(r->spans);
	free(r->pieces);
	free(r->rules);
	free(r->hash);
}

int unwind_rows_begin(struct unwind_rows *r, __u32 start, __u32 end, enum unwind_layer layer)
{
	int err = grow(&r->spans, r->nr_spans, &r->room_spans, sizeof(*r->spans));

	if (err)
		return err;
	r->spans[r->nr_spans] = (struct unwind_span) {
		.start = start,
		.end = end,
		.first = (__u32)r->nr_rows,
		.order = (__u32)r->nr_spans,
		.layer = layer,
	};
	r->nr_spans++;
	return 0;
}

int unwind_rows_add(struct unwind_rows *r, __u32 start, const struct memtap_rule *rule)
{
	struct unwind_span *s = &r->spans[r->nr_spans - 1];
	__u16 kind;
	int err;

	err = kind_of(r, rule, &kind);
	if (err)
		return err;
	if (s->nr && r->rows[r->nr_rows - 1].kind == kind)
		return 0;
	err = grow(&r->rows, r->nr_rows, &r->room_rows, sizeof(*r->rows));
	if (err)
		return err;
	r->rows[r->nr_rows++] = (struct unwind_row) { start, kind };
	s->nr++;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct unwind_span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static int piece_by_start(const void *a, const void *b)
{
	const struct unwind_piece *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int add_piece(struct unwind_rows *r, __u32 start, __u32 end, __u32 span)
{
	int err = grow(&r->pieces, r->nr_pieces, &r->room_pieces, sizeof(*r->pieces));

	if (!err)
		r->pieces[r->nr_pieces++] = (struct unwind_piece) { start, end, span };
	return err;
}

/* What pieces [*i, nr) leave of a span from @pos on; *i never goes back. */
static int fill_span(struct unwind_rows *r, const struct unwind_span *s, __u32 pos,
		     size_t *i, size_t nr)
{
	__u32 stop;
	int err = 0;

	while (!err && pos < s->end) {
		while (*i < nr && r->pieces[*i].end <= pos)
			++*i;
		if (*i < nr && r->pieces[*i].start <= pos) {
			pos = r->pieces[*i].end;
			continue;
		}
		stop = s->end;
		if (*i < nr && r->pieces[*i].start < stop)
			stop = r->pieces[*i].start;
		err = add_piece(r, pos, stop, s->order);
		pos = stop;
	}
	return err;
}

int unwind_rows_fill(struct unwind_rows *r, enum unwind_layer layer)
{
	struct unwind_span *sorted = NULL;
	size_t nr = 0, i = 0, old = r->nr_pieces;
	__u32 done = 0;
	int err = 0;

	sorted = calloc(r->nr_spans + 1, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t s = 0; s < r->nr_spans; s++)
		if (r->spans[s].layer == layer)
			sorted[nr++] = r->spans[s];
	qsort(sorted, nr, sizeof(*sorted), by_start);
	for (size_t s = 0; !err && s < nr; s++) {
		if (sorted[s].end <= done)
			continue;
		err = fill_span(r, &sorted[s],
				sorted[s].start > done ? sorted[s].start : done, &i, old);
		done = sorted[s].end;
	}
	free(sorted);
	if (r->nr_pieces)
		qsort(r->pieces, r->nr_pieces, sizeof(*r->pieces), piece_by_start);
	return err;
}

/* Where a row begins like the one before it, the later one holds. */
static void put(struct unwind_table *t, __u32 start, __u16 kind)
{
	if (t->nr_rows && t->rows[t->nr_rows - 1] == start)
		t->nr_rows--;
	if (t->nr_rows ? t->kinds[t->nr_rows - 1] == kind : !kind)
		return;
	t->rows[t->nr_rows] = start;
	t->kinds[t->nr_rows++] = kind;
}

static void put_piece(const struct unwind_rows *r, const struct unwind_piece *p,
		      struct unwind_table *t)
{
	const struct unwind_span *s = &r->spans[p->span];
	const struct unwind_row *row = r->rows + s->first, *end = row + s->nr;

	if (row == end)
		return;
	while (row + 1 < end && row[1].start <= p->start)
		row++;
	put(t, p->start, row->kind);
	while (++row < end && row->start < p->end)
		put(t, row->start, row->kind);
	put(t, p->end, 0);
}

int unwind_rows_finish(const struct unwind_rows *r, struct unwind_table *t)
{
	size_t most = 1;

	for (size_t i = 0; i < r->nr_pieces; i++)
		most += r->spans[r->pieces[i].span].nr + 1;
	if (most > 2 * (size_t)MEMTAP_MAX_ROWS)
		return -EFBIG;
	t->rows = calloc(most, sizeof(*t->rows));
	t->kinds = calloc(most, sizeof(*t->kinds));
	t->rules = calloc(r->nr_rules, sizeof(*t->rules));
	if (!t->rows || !t->kinds || !t->rules)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_pieces; i++)
		put_piece(r, &r->pieces[i], t);
	if (!t->nr_rows)
		t->nr_rows = 1;		/* one gap */
	if (t->nr_rows > MEMTAP_MAX_ROWS)
		return -EFBIG;
	memcpy(t->rules, r->rules, r->nr_rules * sizeof(*t->rules));
	t->nr_rules = (__u32)r->nr_rules;
	return 0;
}
