// SPDX-License-Identifier: GPL-2.0-only
/*
 * MEMTAP_RECORDED: what is summed up without a session of the caller's: waits, and what the flight
 * recorder counts and tracks.  It only reads.
 *
 * A session of the recorder is there while the sessions' lock is held.  Its own lock is tried, not
 * taken: who starts or stops a session has that lock, and takes the other one.
 */
#include <linux/cpumask.h>
#include <linux/sched.h>

#include "core/counters.h"
#include "hooks/reclaim.h"
#include "live/objects.h"
#include "session/int.h"

#include "compat/valloc.h"

/* @nr: rows there are; those behind @room are only counted. */
struct filling {
	struct memtap_recorded_row *rows;
	u32 room, nr;
	s64 *sums;			/* by event; MEMTAP_MAX_BUILTINS */
	struct memtap_waits *waits;
};

/* NULL: there is no room for it. */
static struct memtap_recorded_row *add(struct filling *f, u32 kind, const char *name)
{
	struct memtap_recorded_row *r;

	if (f->nr++ >= f->room)
		return NULL;
	r = &f->rows[f->nr - 1];
	r->kind = kind;
	strscpy(r->name, name, sizeof(r->name));
	return r;
}

/* --- waits --------------------------------------------------------------- */

static void add_waiter(struct filling *f, const char *event, const struct memtap_waiter *w)
{
	struct memtap_recorded_row *r = add(f, MEMTAP_RECORDED_WAITER, event);

	if (!r)
		return;
	r->unit = MEMTAP_UNIT_NS;
	r->pid = w->pid;
	r->since_ns = w->since_ns;
	r->start_ns = w->start_ns;
	r->count = w->count;
	r->sum = (s64)w->ns;
	r->longest_ns = w->longest_ns;
	r->longest_at_ns = w->longest_at_ns;
	memcpy(r->comm, w->comm, sizeof(r->comm));
	r->comm[sizeof(r->comm) - 1] = 0;
}

static void add_waits(struct filling *f)
{
	const struct memtap_waits *w = f->waits;
	struct memtap_recorded_row *r;
	const char *event;
	u32 which, i;
	bool on;

	for (which = 0; which < MEMTAP_WAITS_KINDS; which++) {
		event = memtap_waits_get(which, f->waits, &on);
		if (!event || !w->since_ns)
			continue;
		r = add(f, MEMTAP_RECORDED_WAITS, event);
		if (r) {
			r->unit = MEMTAP_UNIT_NS;
			r->since_ns = w->since_ns;
			r->count = w->count;
			r->sum = (s64)w->ns;
			r->lost = w->missed;
			r->longest_ns = w->nr_worst ? w->worst[0].ns : 0;
			r->longest_at_ns = w->nr_worst ? w->worst[0].at_ns : 0;
		}
		for (i = 0; i < w->nr_waiters; i++)
			add_waiter(f, event, &w->waiters[i]);
	}
}

/* --- the flight recorder --------------------------------------------------- */

static void sum_values(struct memtap_session *s, s64 *sums)
{
	const struct counter *c;
	struct counters_iter it;
	u32 cpu;

	memset(sums, 0, MEMTAP_MAX_BUILTINS * sizeof(*sums));
	for_each_possible_cpu(cpu) {
		memset(&it, 0, sizeof(it));
		while ((c = counters_next(&s->cpus[cpu]->counters, &it)) != NULL) {
			if (c->key.event < MEMTAP_MAX_BUILTINS)
				sums[c->key.event] += READ_ONCE(c->sum);
			cond_resched();
		}
	}
}

static void add_event(struct filling *f, struct memtap_session *s, u32 event)
{
	struct memtap_stats st = { .size = sizeof(st), .event = event };
	const struct memtap_session_event *e = s->events[event];
	struct memtap_recorded_row *r = add(f, MEMTAP_RECORDED_EVENT, e->name);
	u32 i;

	if (!r || memtap_session_stats(s, &st))
		return;
	r->unit = e->builtin ? e->builtin->unit : MEMTAP_UNIT_NONE;
	r->since_ns = s->start_ns;
	r->count = st.counted;
	r->sum = event < MEMTAP_MAX_BUILTINS ? f->sums[event] : 0;
	for (i = 0; i < MEMTAP_NR_LOST; i++)
		r->lost += st.lost[i];
}

static void add_objects(struct filling *f, struct memtap_session *s)
{
	const struct memtap_objects_table *t = s->objects;
	struct memtap_object_sums sums;
	struct memtap_recorded_row *r;
	u32 id;

	for (id = CACHETAB_LARGE; id < CACHETAB_MAX; id++) {
		memtap_objects_sum_cache(t, id, &sums);
		if (!sums.allocs && !sums.frees && !sums.unknown && !sums.lost)
			continue;
		r = add(f, MEMTAP_RECORDED_OBJECTS, t->caches.entries[id].name);
		if (!r)
			continue;
		r->unit = MEMTAP_UNIT_BYTES;
		r->since_ns = s->start_ns;
		r->count = sums.allocs;
		r->sum = (s64)sums.bytes;
		/* frees of objects from before the start count, too */
		r->freed = sums.frees + sums.unknown;
		r->freed_sum = sums.freed_bytes + sums.unknown_bytes;
		r->lost = sums.lost;
	}
}

static void add_session(struct memtap_session *s, void *ctx)
{
	struct filling *f = ctx;
	u32 i;

	if (!s->recorder || !mutex_trylock(&s->lock))
		return;
	if (s->state == MEMTAP_RUNNING && smp_load_acquire(&s->running)) {
		if (s->objects) {
			add_objects(f, s);
		} else {
			sum_values(s, f->sums);
			for (i = 0; i < s->nr_events; i++)
				add_event(f, s, i);
		}
	}
	mutex_unlock(&s->lock);
}

u32 memtap_recorded_read(struct memtap_recorded_row *rows, u32 room, int *err)
{
	struct filling f = { .rows = rows, .room = room };

	f.waits = memtap_vzalloc(sizeof(*f.waits));
	f.sums = memtap_vzalloc(MEMTAP_MAX_BUILTINS * sizeof(*f.sums));
	*err = f.waits && f.sums ? 0 : -ENOMEM;
	if (!*err) {
		add_waits(&f);
		memtap_for_each_session(add_session, &f);
	}
	memtap_vfree(f.sums);
	memtap_vfree(f.waits);
	return f.nr;
}
