// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Make the stream of a part of a session: what was counted between two snapshots, with the
 * stacks, tasks and mappings of that alone, as if a session of its own had recorded it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snap/int.h"

/* Numbers that records refer to; sorted before they are asked for. */
struct used {
	__u32 *at;
	size_t nr;
};

struct part {
	char *bytes;
	size_t len, room;
	struct wire_sum sum;
	const struct snap *new, *diff;
	struct used stacks, tasks, spaces, files;
};

static int cmp_u32(const void *a, const void *b)
{
	const __u32 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void used_sort(struct used *u)
{
	size_t kept = 0;

	if (u->nr)
		qsort(u->at, u->nr, sizeof(*u->at), cmp_u32);
	for (size_t i = 0; i < u->nr; i++)
		if (!i || u->at[i] != u->at[i - 1])
			u->at[kept++] = u->at[i];
	u->nr = kept;
}

static bool is_used(const struct used *u, __u32 id)
{
	return u->nr && bsearch(&id, u->at, u->nr, sizeof(id), cmp_u32);
}

static void use(struct part *p, __u32 task, __u32 kstack, __u32 ustack)
{
	p->stacks.at[p->stacks.nr++] = kstack;
	p->stacks.at[p->stacks.nr++] = ustack;
	p->tasks.at[p->tasks.nr++] = task;
}

/* What the part's counters and calls under way refer to, directly or not. */
static int find_used(struct part *p)
{
	const struct snap *s = p->new;
	const size_t nr = p->diff->nr_counters + s->nr_pendings;

	p->stacks.at = calloc(2 * nr + 1, sizeof(__u32));
	p->tasks.at = calloc(nr + 1, sizeof(__u32));
	p->spaces.at = calloc(s->nr_tasks + 1, sizeof(__u32));
	p->files.at = calloc(s->nr_maps + 1, sizeof(__u32));
	if (!p->stacks.at || !p->tasks.at || !p->spaces.at || !p->files.at)
		return -ENOMEM;
	for (size_t i = 0; i < p->diff->nr_counters; i++) {
		const struct snap_counter *c = &p->diff->counters[i];

		use(p, c->task, c->kstack, c->ustack);
	}
	for (size_t i = 0; i < s->nr_pendings; i++)
		use(p, s->pendings[i].task, s->pendings[i].kstack, s->pendings[i].ustack);
	used_sort(&p->stacks);
	used_sort(&p->tasks);
	for (size_t i = 0; i < s->nr_tasks; i++)
		if (is_used(&p->tasks, s->tasks[i].id))
			p->spaces.at[p->spaces.nr++] = s->tasks[i].space;
	used_sort(&p->spaces);
	for (size_t i = 0; i < s->nr_maps; i++)
		if (is_used(&p->spaces, s->maps[i].space))
			p->files.at[p->files.nr++] = s->maps[i].file;
	used_sort(&p->files);
	return 0;
}

/* Room for a record of @len bytes, which ends what is there; or NULL. */
static void *room_for(struct part *p, size_t len)
{
	if (p->room - p->len < len) {
		const size_t room = 2 * p->room + len;
		char *bytes = realloc(p->bytes, room);

		if (!bytes)
			return NULL;
		p->bytes = bytes;
		p->room = room;
	}
	p->len += len;
	return p->bytes + p->len - len;
}

static int copy_record(struct part *p, const struct memtap_rec *rec)
{
	struct memtap_rec *to = room_for(p, rec->len);

	if (!to)
		return -ENOMEM;
	memcpy(to, rec, rec->len);
	if (rec->type == MEMTAP_REC_HEADER)
		((struct memtap_rec_header *)to)->start_ns = p->diff->header.start_ns;
	wire_sum_add(&p->sum, to);
	return 0;
}

static int put_event(struct part *p, const struct memtap_rec_event *from)
{
	const struct snap_event *e = snap_event(p->diff, from->id);
	struct memtap_rec_event *to = room_for(p, from->rec.len);

	if (!to)
		return -ENOMEM;
	memcpy(to, from, from->rec.len);
	to->seen = e->seen;
	to->counted = e->counted;
	to->filtered = e->filtered;
	memcpy(to->lost, e->lost, sizeof(to->lost));
	memcpy(to->part, e->part, sizeof(to->part));
	if (from->rec.len >= sizeof(*to))
		to->own = e->own;
	wire_sum_add(&p->sum, &to->rec);
	return 0;
}

static int put_counter(struct part *p, const struct snap_counter *c)
{
	const __u32 nr = c->hist ? MEMTAP_HIST_BUCKETS : 0;
	const size_t len = sizeof(struct memtap_rec_counter) +
			   (nr + (c->ranged ? 2 : 0)) * sizeof(__u64);
	struct memtap_rec_counter *to = room_for(p, len);

	if (!to || !wire_begin(to, len, MEMTAP_REC_COUNTER, len))
		return -ENOMEM;
	to->event = c->event;
	to->flags = c->flags;
	to->task = c->task;
	to->kstack = c->kstack;
	to->ustack = c->ustack;
	to->addr = c->addr;
	to->count = c->count;
	to->sum = c->sum;
	to->max = c->max;
	to->nr_hist = nr;
	if (nr)
		memcpy(to->hist, c->hist, nr * sizeof(__u64));
	if (c->ranged) {
		to->hist[nr] = (__u64)c->least;
		to->hist[nr + 1] = (__u64)c->greatest;
	}
	wire_sum_add(&p->sum, &to->rec);
	return 0;
}

/* Stacks, tasks and mappings of others are left out. */
static bool is_wanted(const struct part *p, const struct memtap_rec *rec)
{
	switch (rec->type) {
	case MEMTAP_REC_STACK:
		return is_used(&p->stacks, ((const struct memtap_rec_stack *)rec)->id);
	case MEMTAP_REC_TASK:
		return is_used(&p->tasks, ((const struct memtap_rec_task *)rec)->id);
	case MEMTAP_REC_MAP:
		return is_used(&p->spaces, ((const struct memtap_rec_map *)rec)->space);
	case MEMTAP_REC_FILE:
		/* (those that events are about are named by counters' addresses) */
		return p->new->header.flags & MEMTAP_CFG_FILES ||
		       is_used(&p->files, ((const struct memtap_rec_file *)rec)->id);
	case MEMTAP_REC_COUNTER:
		return false;
	}
	return true;
}

static int put_all(struct part *p)
{
	const struct memtap_rec *rec;
	struct memtap_rec_end *end;
	u64 pos = 0;
	u32 bad;
	int err = 0;

	wire_sum_init(&p->sum);
	while (!err && (rec = wire_next(p->new->bytes, p->new->len, &pos, &bad)) &&
	       rec->type != MEMTAP_REC_END) {
		if (rec->type == MEMTAP_REC_EVENT)
			err = put_event(p, (const void *)rec);
		else if (is_wanted(p, rec))
			err = copy_record(p, rec);
	}
	for (size_t i = 0; !err && i < p->diff->nr_counters; i++)
		err = put_counter(p, &p->diff->counters[i]);
	if (err)
		return err;
	end = room_for(p, sizeof(*end));
	if (!end)
		return -ENOMEM;
	memset(end, 0, sizeof(*end));
	wire_end(&p->sum, end);
	return 0;
}

/* What was counted by counters, of this event. */
static __u64 counted_by(const struct snap_counter *c, size_t nr, __u32 event)
{
	__u64 sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += c[i].event == event ? c[i].count : 0;
	return sum;
}

/* These counters alone; the first share has what was lost, and whatever else no counter has. */
static void take_share(struct snap *d, const struct snap_share *share)
{
	const size_t end = share->first + share->nr;

	for (size_t i = 0; i < d->nr_events; i++) {
		struct snap_event *e = &d->events[i];

		if (share->first) {
			const __u64 n = counted_by(d->counters + share->first, share->nr, e->id);

			e->seen = n;
			e->counted = n;
			e->filtered = 0;
			e->own = 0;
			memset(e->lost, 0, sizeof(e->lost));
			memset(e->part, 0, sizeof(e->part));
		} else {
			const __u64 n = counted_by(d->counters + end, d->nr_counters - end, e->id);

			e->seen -= n;
			e->counted -= n;
		}
	}
	memmove(d->counters, d->counters + share->first, share->nr * sizeof(*d->counters));
	d->nr_counters = share->nr;
}

int snap_part(const struct snap *new, const struct snap *old, const struct snap_share *share,
	      struct snap **out)
{
	struct snap *diff = old ? snap_diff(new, old) : snap_counts(new);
	struct part p = { .new = new, .diff = diff };
	char why[SNAP_ERR_LEN];
	int err = diff ? 0 : -ENOMEM;

	*out = NULL;
	if (!err && share)
		take_share(diff, share);
	if (!err)
		err = find_used(&p);
	if (!err)
		err = put_all(&p);
	if (err)
		free(p.bytes);
	else
		err = snap_decode(p.bytes, p.len, out, why);
	free(p.stacks.at);
	free(p.tasks.at);
	free(p.spaces.at);
	free(p.files.at);
	snap_free(diff);
	return err;
}

struct snap *snap_counts(const struct snap *s)
{
	static const struct snap nothing;
	struct snap *counts = snap_diff(s, &nothing);

	if (counts)
		counts->header.start_ns = s->header.start_ns;
	return counts;
}
