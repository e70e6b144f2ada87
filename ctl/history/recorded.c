// SPDX-License-Identifier: GPL-2.0-or-later
/* What the module recorded from one sample to the next: see history/recorded.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ids.h"
#include "history/leb.h"
#include "history/recorded.h"

enum number {
	KIND, UNIT, PID, SINCE, START, COUNT, SUM, FREED, FREED_SUM, LOST, LONGEST,
	NR_NUMBERS
};

static bool same(const struct memtap_recorded_row *a, const struct memtap_recorded_row *b)
{
	return a->kind == b->kind && a->pid == b->pid && a->start_ns == b->start_ns &&
	       !strncmp(a->name, b->name, sizeof(a->name));
}

/* --- from one look to the next ------------------------------------------------------- */

/* Rows stay about where they are: the search begins behind the last one that was found. */
static const struct memtap_recorded_row *find(const struct recorded_look *l,
					      const struct memtap_recorded_row *r, size_t *hint)
{
	for (size_t n = 0; n < l->nr; n++) {
		const size_t i = (*hint + n) % l->nr;

		if (same(&l->rows[i], r)) {
			*hint = i + 1;
			return &l->rows[i];
		}
	}
	return NULL;
}

/*
 * What came to @is.  False: nothing, or it is not known how much of it is new: sums that are older
 * than the last look, which did not have them.
 */
static bool difference(const struct recorded_look *was, const struct memtap_recorded_row *is,
		       size_t *hint, struct memtap_recorded_row *d)
{
	const struct memtap_recorded_row *b = find(was, is, hint);

	*d = *is;
	d->since_ns = 0;
	if (!b || b->since_ns != is->since_ns) {
		if (is->since_ns <= was->ns)
			return false;
		if (is->kind != MEMTAP_RECORDED_WAITER)
			d->since_ns = is->since_ns - was->ns;
	} else {
		/* (sums of all CPUs are not read at one moment) */
		if (is->count < b->count || is->freed < b->freed)
			return false;
		d->count -= b->count;
		d->sum = (__s64)((__u64)is->sum - (__u64)b->sum);
		d->freed -= b->freed;
		d->freed_sum -= b->freed_sum;
		d->lost = is->lost > b->lost ? is->lost - b->lost : 0;
		if (is->longest_at_ns == b->longest_at_ns)
			d->longest_ns = 0;
	}
	return d->count || d->freed || d->lost;
}

static __u64 size(const struct memtap_recorded_row *r)
{
	const __s64 grew = (__s64)((__u64)r->sum - r->freed_sum);

	return r->kind == MEMTAP_RECORDED_OBJECTS && grew < 0 ? 0 - (__u64)grew : (__u64)grew;
}

/* Is row @i one of those of its kind that are kept? */
static bool is_kept(const struct memtap_recorded_row *rows, size_t nr, size_t i)
{
	const struct memtap_recorded_row *r = &rows[i];
	const bool waiter = r->kind == MEMTAP_RECORDED_WAITER;
	size_t larger = 0;

	if (!waiter && r->kind != MEMTAP_RECORDED_OBJECTS)
		return true;
	for (size_t k = 0; k < nr; k++)
		if (k != i && rows[k].kind == r->kind &&
		    (!waiter || !strncmp(rows[k].name, r->name, sizeof(r->name))))
			larger += size(&rows[k]) > size(r) || (size(&rows[k]) == size(r) && k < i);
	return larger < (waiter ? RECORDED_PROCESSES : RECORDED_CACHES);
}

static void put_row(struct to *to, const struct memtap_recorded_row *r)
{
	const __u64 numbers[NR_NUMBERS] = {
		[KIND] = r->kind, [UNIT] = r->unit, [PID] = (__u32)r->pid, [SINCE] = r->since_ns,
		[START] = r->start_ns, [COUNT] = r->count, [SUM] = zigzag((__u64)r->sum),
		[FREED] = r->freed, [FREED_SUM] = r->freed_sum, [LOST] = r->lost,
		[LONGEST] = r->longest_ns,
	};
	char text[MEMTAP_CACHE_LEN + 1];

	put(to, NR_NUMBERS);
	for (int i = 0; i < NR_NUMBERS; i++)
		put(to, numbers[i]);
	snprintf(text, sizeof(text), "%.*s", MEMTAP_COMM_LEN, r->comm);
	put_text(to, text);
	snprintf(text, sizeof(text), "%.*s", MEMTAP_CACHE_LEN, r->name);
	put_text(to, text);
}

size_t recorded_put(const struct recorded_look *was, const struct recorded_look *is,
		    struct memtap_recorded_row *scratch, struct memtap_rec_recorded *rec,
		    size_t room)
{
	struct to to = { .at = rec->data, .room = room - sizeof(*rec) - 7 };
	size_t nr = 0, hint = 0, len;

	if (!was->ns || room < sizeof(*rec) + 8)
		return 0;
	for (size_t i = 0; i < is->nr; i++)
		nr += difference(was, &is->rows[i], &hint, &scratch[nr]);
	memset(rec, 0, sizeof(*rec));
	for (size_t i = 0; i < nr; i++)
		if (is_kept(scratch, nr, i)) {
			put_row(&to, &scratch[i]);
			rec->nr++;
		}
	if (!nr || to.full)
		return 0;
	len = (sizeof(*rec) + to.len + 7) & ~7UL;
	memset(rec->data + to.len, 0, len - sizeof(*rec) - to.len);
	rec->rec.type = MEMTAP_REC_RECORDED;
	rec->rec.len = (__u32)len;
	rec->from_ns = was->ns;
	rec->until_ns = is->ns;
	rec->used = (__u32)to.len;
	return len;
}

/* --- reading --------------------------------------------------------------------------- */

static void get_name(struct from *f, char *to, size_t room)
{
	const __u64 len = get(f);

	if (f->bad || len >= room || len > (__u64)(f->end - f->at)) {
		f->bad = true;
		return;
	}
	memcpy(to, f->at, len);
	f->at += len;
}

static void get_row(struct from *f, struct memtap_recorded_row *r)
{
	__u64 v[NR_NUMBERS] = { 0 };
	const __u64 nr = get(f);

	memset(r, 0, sizeof(*r));
	if (nr > 64)
		f->bad = true;
	for (__u64 i = 0; i < nr && !f->bad; i++) {
		const __u64 n = get(f);

		if (i < NR_NUMBERS)
			v[i] = n;
	}
	r->kind = (__u32)v[KIND];
	r->unit = (__u32)v[UNIT];
	r->pid = (__s32)v[PID];
	r->since_ns = v[SINCE];
	r->start_ns = v[START];
	r->count = v[COUNT];
	r->sum = (__s64)unzigzag(v[SUM]);
	r->freed = v[FREED];
	r->freed_sum = v[FREED_SUM];
	r->lost = v[LOST];
	r->longest_ns = v[LONGEST];
	get_name(f, r->comm, sizeof(r->comm));
	get_name(f, r->name, sizeof(r->name));
}

static int sum_up(struct recorded *to, const struct memtap_recorded_row *r)
{
	struct memtap_recorded_row *at = NULL;

	for (size_t i = 0; i < to->nr && !at; i++)
		if (same(&to->at[i], r))
			at = &to->at[i];
	if (!at) {
		struct memtap_recorded_row *more = ids_grow(to->at, to->nr, &to->room,
							    sizeof(*more));

		if (!more)
			return -ENOMEM;
		to->at = more;
		more[to->nr++] = *r;
		return 0;
	}
	at->count += r->count;
	at->sum = (__s64)((__u64)at->sum + (__u64)r->sum);
	at->freed += r->freed;
	at->freed_sum += r->freed_sum;
	at->lost += r->lost;
	if (r->longest_ns > at->longest_ns)
		at->longest_ns = r->longest_ns;
	memcpy(at->comm, r->comm, sizeof(at->comm));
	return 0;
}

static bool is_whole(const struct memtap_rec_recorded *rec)
{
	return rec->rec.len >= sizeof(*rec) && rec->used <= rec->rec.len - sizeof(*rec) &&
	       rec->nr <= MEMTAP_MAX_RECORDED;
}

int recorded_get(const struct memtap_rec_recorded *rec, struct recorded *to)
{
	struct from f = { .at = rec->data };
	struct memtap_recorded_row r;
	int err = is_whole(rec) ? 0 : -EBADMSG;

	if (err)
		return err;
	f.end = f.at + rec->used;
	for (__u32 i = 0; !err && i < rec->nr; i++) {
		get_row(&f, &r);
		if (f.bad)
			return -EBADMSG;
		if (r.kind >= MEMTAP_RECORDED_WAITS && r.kind <= MEMTAP_RECORDED_OBJECTS)
			err = sum_up(to, &r);
	}
	to->records++;
	return err;
}

/* Events are in the order of samples: the first one that belongs to @sample or a later one. */
static size_t first_event(const struct history *h, size_t sample)
{
	size_t from = 0, to = h->nr_events;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (h->events[middle].sample < sample)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

int recorded_between(const struct history *h, size_t first, size_t last, struct recorded *to)
{
	int err = 0;

	memset(to, 0, sizeof(*to));
	for (size_t i = first_event(h, first + 1); err != -ENOMEM && i < h->nr_events &&
	     h->events[i].sample <= last; i++)
		if (h->events[i].rec->type == MEMTAP_REC_RECORDED)
			err = recorded_get((const void *)h->events[i].rec, to);
	return err == -ENOMEM ? err : 0;
}

void recorded_free(struct recorded *r)
{
	free(r->at);
	memset(r, 0, sizeof(*r));
}

/* Events that are waits are also waits. */
bool recorded_is_own(const struct recorded *r, size_t i)
{
	const struct memtap_recorded_row *row = &r->at[i];

	for (size_t k = 0; row->kind == MEMTAP_RECORDED_EVENT && k < r->nr; k++)
		if (r->at[k].kind == MEMTAP_RECORDED_WAITS && !strcmp(r->at[k].name, row->name))
			return false;
	return true;
}

bool recorded_stalled(const struct history *h, size_t i)
{
	__u64 waited = 0, time = 0;

	for (size_t k = first_event(h, i); k < h->nr_events && h->events[k].sample == i; k++) {
		const struct memtap_rec_recorded *rec = (const void *)h->events[k].rec;
		struct recorded r = { 0 };

		if (rec->rec.type != MEMTAP_REC_RECORDED)
			continue;
		if (!recorded_get(rec, &r) && rec->until_ns > rec->from_ns) {
			time += rec->until_ns - rec->from_ns;
			for (size_t n = 0; n < r.nr; n++)
				if (r.at[n].kind == MEMTAP_RECORDED_WAITS && r.at[n].sum > 0)
					waited += (__u64)r.at[n].sum;
		}
		recorded_free(&r);
	}
	return time && waited >= time / 10;
}
