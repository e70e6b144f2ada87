// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the machine for a sample: what triage reads, by less work. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history/int.h"

/* Holders of shared memory are looked for anew when it changed by so much, or after so long. */
#define SHARED_CHANGED	(4LL << 20)
#define SHARED_SAMPLES	30
#define GROUPS_NS	(600ULL * 1000000000)	/* a process may move to another cgroup */

static bool has(const struct machine_list *list, const struct machine_holder *h)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->at[i].start == h->start)
			return true;
	return false;
}

/* As they were at the last look. */
static int keep_shared(struct machine *m, const struct machine *last)
{
	static const enum rows_table tables[] = { ROWS_DELETED, ROWS_TMPFS };
	struct rows_row r;
	int err = 0;

	for (int t = 0; t < 2; t++) {
		const struct machine_list *was = t ? &last->tmpfs : &last->deleted;
		const struct machine_list *is = t ? &m->tmpfs : &m->deleted;

		for (size_t i = 0; !err && i < was->nr; i++) {
			if (has(is, &was->at[i]))
				continue;
			/* of our own mounts one that is not there now is gone */
			if (t && !strstr(was->at[i].name, " in the mounts of "))
				continue;
			rows_get(last, tables[t], i, &r);
			err = rows_add(m, tables[t], &r);
		}
	}
	m->deleted.has |= last->deleted.has;
	return err == -E2BIG ? 0 : err;
}

/* --- which processes are kept ----------------------------------------------------- */

/* By what it holds, and how much that changed; one that is new is always told. */
static __u64 worth(const struct machine_holder *h, const struct machine_list *was, size_t *from)
{
	__u64 changed;

	while (was && *from < was->nr && was->at[*from].pid < h->pid)
		++*from;
	if (!was || *from == was->nr || was->at[*from].start != h->start)
		return was && (double)h->start / (double)sysconf(_SC_CLK_TCK) >= was->uptime ?
		       ~0ULL : h->bytes;
	changed = h->bytes > was->at[*from].bytes ? h->bytes - was->at[*from].bytes :
		  was->at[*from].bytes - h->bytes;
	return h->bytes / 2 + (changed < 1ULL << 60 ? changed * 8 : changed);
}

static int by_worth(const void *a, const void *b)
{
	const __u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x > y ? -1 : x < y;
}

void sample_select(struct machine *m, const struct machine *before, __u64 *scratch, size_t room)
{
	const struct machine_list *was = before ? &before->processes : NULL;
	struct machine_list *all = &m->processes;
	size_t from = 0, nr = all->nr < room ? all->nr : room, left = 0;
	__u64 least;

	if (all->nr <= HISTORY_PROCESSES)
		return;
	for (size_t i = 0; i < nr; i++)
		scratch[i] = worth(&all->at[i], was, &from);
	qsort(scratch, nr, sizeof(*scratch), by_worth);
	least = scratch[HISTORY_PROCESSES - 1];
	from = 0;
	for (size_t i = 0; i < all->nr; i++) {
		all->at[i].left_out = worth(&all->at[i], was, &from) < least;
		left += all->at[i].left_out;
	}
	all->late += left;
	if (left)
		machine_gap(m, "%zu processes are not in the history: they hold and changed less "
			    "than those that are", left);
}

void sample_drop(struct machine *m)
{
	struct machine_list *all = &m->processes;
	size_t kept = 0;

	for (size_t i = 0; i < all->nr; i++)
		if (!all->at[i].left_out)
			all->at[kept++] = all->at[i];
	all->nr = kept;
}

int history_sample(const struct machine_at *at, struct machine *m, const struct machine *last,
		   struct history_shared *shared)
{
	unsigned int what = MACHINE_SLAB | MACHINE_LOG;
	struct machine_fields now;
	bool look;
	__s64 changed;
	int err;

	err = machine_fields(at, &now);
	changed = (__s64)(now.mem[MEM_SHMEM] - shared->bytes);
	look = !last || ++shared->samples >= SHARED_SAMPLES || changed >= SHARED_CHANGED ||
	       changed <= -SHARED_CHANGED;
	if (look)
		what |= MACHINE_SHARED;
	memset(m, 0, sizeof(*m));
	if (!err)
		err = machine_read(at, what, m);
	if (!err && look) {
		shared->bytes = m->f.mem[MEM_SHMEM];
		shared->samples = 0;
	} else if (!err) {
		err = keep_shared(m, last);
	}
	if (!err)
		err = machine_read_groups(at, m, last && last->ns / GROUPS_NS ==
					  m->ns / GROUPS_NS ? last : NULL);
	return err;
}
