// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the machine for a sample: what triage reads, by less work. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
