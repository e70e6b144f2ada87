// SPDX-License-Identifier: GPL-2.0-only
/* Match tasks against a session's filter. */
#include "filter.h"

/*
 * Slots looked at for one PID.  Tombstones never become empty again, so in a
 * set that much has passed through only this ends the search for a stranger.
 * A set that is half full has no run of this length.
 */
#define PROBES		64

void pidset_init(struct pidset *s, u32 *slots, u32 nr)
{
	s->slots = slots;
	s->mask = nr - 1;
	s->used = 0;
}

static inline u32 nr_probes(const struct pidset *s)
{
	return s->mask < PROBES ? s->mask + 1 : PROBES;
}

static inline u32 *slot_at(const struct pidset *s, u32 pos)
{
	return &s->slots[pos & s->mask];
}

static int is_pid(u32 pid)
{
	return pid && pid != PIDSET_TOMBSTONE;
}

int pidset_has(const struct pidset *s, u32 pid)
{
	u32 nr = nr_probes(s), pos = pidset_first(pid), v;

	if (!is_pid(pid))
		return 0;
	for (; nr; nr--, pos++) {
		v = READ_ONCE(*slot_at(s, pos));
		if (v == pid)
			return 1;
		if (!v)
			return 0;
	}
	return 0;
}

/* Where @pid is, or else could go; NULL: nowhere.  *@seen is what is there. */
static u32 *find_place(const struct pidset *s, u32 pid, u32 *seen)
{
	u32 nr = nr_probes(s), pos = pidset_first(pid), v;
	u32 *place = NULL;

	for (; nr; nr--, pos++) {
		v = READ_ONCE(*slot_at(s, pos));
		if (v == pid || !v) {
			if (v || !place) {
				place = slot_at(s, pos);
				*seen = v;
			}
			return place;
		}
		if (v == PIDSET_TOMBSTONE && !place) {
			place = slot_at(s, pos);
			*seen = v;
		}
	}
	return place;
}

int pidset_add(struct pidset *s, u32 pid)
{
	u32 tries, seen = 0;
	u32 *place;

	if (!is_pid(pid))
		return 0;
	for (tries = 0; tries < PROBES; tries++) {
		place = find_place(s, pid, &seen);
		if (!place)
			return 0;
		if (seen == pid)
			return 1;
		if (port_cmpxchg(place, seen, pid) == seen) {
			port_fetch_add(&s->used, 1);
			return 1;
		}
	}
	return 0;
}

/* Goes on after a hit: two adds at once may have used two slots. */
void pidset_del(struct pidset *s, u32 pid)
{
	u32 nr = nr_probes(s), pos = pidset_first(pid), v;

	if (!is_pid(pid))
		return;
	for (; nr; nr--, pos++) {
		v = READ_ONCE(*slot_at(s, pos));
		if (!v)
			return;
		if (v == pid && port_cmpxchg(slot_at(s, pos), pid,
					     PIDSET_TOMBSTONE) == pid)
			port_fetch_add(&s->used, ~0U);
	}
}

/* The kernel leaves old bytes behind the end of a name. */
static int same_comm(const char *a, const char *b)
{
	u32 i;

	for (i = 0; i < FILTER_COMM_LEN; i++) {
		if (a[i] != b[i])
			return 0;
		if (!a[i])
			return 1;
	}
	return 1;
}

static int comm_passes(const struct filter *f, const char *comm)
{
	u32 i;

	for (i = 0; i < f->nr_comms; i++)
		if (same_comm(f->comms[i], comm))
			return 1;
	return 0;
}

static int one_of(u64 id, const u64 *ids, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (ids[i] == id)
			return 1;
	return 0;
}

/* Items of one cgroup version; without any, everything passes. */
static int cgroup_passes(const struct filter *f, const struct filter_task *t,
			 u32 v2)
{
	u64 ids[FILTER_CGROUP_DEPTH];
	u32 i, nr = 0, asked = 0;

	for (i = 0; i < f->nr_cgroups; i++) {
		if (!f->cgroup_v2[i] != !v2)
			continue;
		if (!asked) {
			nr = t->cgroups(t->ctx, v2, ids);
			if (nr > FILTER_CGROUP_DEPTH)
				nr = FILTER_CGROUP_DEPTH;
			asked = 1;
		}
		if (one_of(f->cgroups[i], ids, nr))
			return 1;
	}
	return !asked;
}

static int is_not(const struct filter *f, const struct filter_task *t)
{
	u32 pid = READ_ONCE(f->not_pid);

	return pid && t->pid == pid;
}

static int items_pass(const struct filter *f, const struct filter_task *t)
{
	if (f->has_pids && !pidset_has(&f->pids, t->pid) &&
	    !pidset_has(&f->tids, t->tid))
		return 0;
	if (f->nr_comms && !comm_passes(f, t->comm))
		return 0;
	return !f->nr_cgroups ||
	       (cgroup_passes(f, t, 0) && cgroup_passes(f, t, 1));
}

int filter_task(const struct filter *f, const struct filter_task *t)
{
	return !is_not(f, t) && items_pass(f, t);
}

int filter_not_task(const struct filter *f, const struct filter_task *t)
{
	return is_not(f, t) && items_pass(f, t);
}
