// SPDX-License-Identifier: GPL-2.0-or-later
/* Record the last sample at which each page was used; see ages.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/ids.h"
#include "rss/ages.h"

#define PAGE_BYTES	4096ULL

/* Of each page the number of the sample, plus one; 0: it was not seen. */
struct region {
	__u64 number;
	__u32 last[AGES_REGION];
};

struct process {
	pid_t pid;
	bool gone;
	struct ids ids;
	struct region *at;
	size_t room;
};

struct ages {
	struct ages_way way;
	struct process *processes;
	size_t nr, room;
	__u64 *times;
	size_t nr_times, room_times;
};

struct ages *ages_new(const struct ages_way *way)
{
	struct ages *a = calloc(1, sizeof(*a));

	if (a)
		a->way = *way;
	return a;
}

void ages_free(struct ages *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->nr; i++) {
		ids_free(&a->processes[i].ids);
		free(a->processes[i].at);
	}
	free(a->processes);
	free(a->times);
	free(a);
}

static struct process *find(const struct ages *a, pid_t pid)
{
	for (size_t i = 0; i < a->nr; i++)
		if (a->processes[i].pid == pid)
			return &a->processes[i];
	return NULL;
}

bool ages_has(const struct ages *a, pid_t pid)
{
	const struct process *p = find(a, pid);

	return p && !p->gone;
}

int ages_add(struct ages *a, pid_t pid)
{
	struct process *p = find(a, pid);

	if (p)
		return 0;
	p = ids_grow(a->processes, a->nr, &a->room, sizeof(*p));
	if (!p)
		return -ENOMEM;
	a->processes = p;
	p[a->nr++] = (struct process){ .pid = pid };
	return 0;
}

size_t ages_processes(const struct ages *a)
{
	size_t nr = 0;

	for (size_t i = 0; i < a->nr; i++)
		nr += !a->processes[i].gone;
	return nr;
}

size_t ages_samples(const struct ages *a)
{
	return a->nr_times;
}

/* ---- regions ---- */

static bool same_region(const void *things, __u32 id, const void *key)
{
	return ((const struct region *)things)[id].number == *(const __u64 *)key;
}

static struct region *region_of(const struct process *p, __u64 number)
{
	const __u32 id = ids_find(&p->ids, ids_mix(0, number), same_region, p->at, &number);

	return id == IDS_NONE ? NULL : &p->at[id];
}

static struct region *new_region(struct process *p, __u64 number)
{
	struct region *all = ids_grow(p->at, p->ids.nr, &p->room, sizeof(*all));
	__u32 id;

	if (!all)
		return NULL;
	p->at = all;
	id = ids_add(&p->ids, ids_mix(0, number));
	if (id == IDS_NONE)
		return NULL;
	all[id] = (struct region){ .number = number };
	return &all[id];
}

/* ---- samples ---- */

struct taker {
	struct process *p;
	__u32 now;			/* as in region.last */
	int err;
};

static bool bit(const __u64 *of, unsigned int i)
{
	return of[i / 64] >> i % 64 & 1;
}

static void take(void *to, __u64 page, const __u64 *present, const __u64 *touched)
{
	struct taker *t = to;
	const __u64 number = page / AGES_REGION;
	struct region *r = region_of(t->p, number);

	if (!r)
		r = new_region(t->p, number);
	if (!r) {
		t->err = -ENOMEM;
		return;
	}
	for (unsigned int i = 0; i < AGES_REGION; i++)
		if (bit(present, i) && (!r->last[i] || bit(touched, i)))
			r->last[i] = t->now;
}

static int sample(struct ages *a, struct process *p, bool forget)
{
	struct taker t = { .p = p, .now = (__u32)a->nr_times };
	int err = a->way.read(a->way.ctx, p->pid, take, &t);

	if (!err)
		err = t.err;
	if (!err && forget)
		err = a->way.forget(a->way.ctx, p->pid);
	if (err == -ESRCH) {
		p->gone = true;
		err = 0;
	}
	return err;
}

int ages_sample(struct ages *a, __u64 now, bool forget)
{
	__u64 *times = ids_grow(a->times, a->nr_times, &a->room_times, sizeof(*times));
	int err = 0;

	if (!times)
		return -ENOMEM;
	a->times = times;
	times[a->nr_times++] = now;
	for (size_t i = 0; !err && i < a->nr; i++)
		if (!a->processes[i].gone)
			err = sample(a, &a->processes[i], forget);
	if (!err && forget && a->way.done)
		err = a->way.done(a->way.ctx);
	return err;
}

__u64 ages_idle(const struct ages *a, pid_t pid, __u64 start, __u64 end)
{
	const struct process *p = find(a, pid);
	const __u64 last_page = end ? (end - 1) / PAGE_BYTES : 0;
	__u32 last = 0;

	if (!p || p->gone || !a->nr_times || end <= start)
		return 0;
	for (__u64 page = start / PAGE_BYTES; page <= last_page; page++) {
		const struct region *r = region_of(p, page / AGES_REGION);
		const __u32 seen = r ? r->last[page % AGES_REGION] : 0;

		if (!seen)
			return 0;
		if (seen > last)
			last = seen;
	}
	return a->times[a->nr_times - 1] - a->times[last - 1];
}
