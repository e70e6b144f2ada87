// SPDX-License-Identifier: GPL-2.0-only
/* STATS: sum up a session's accounts. */
#include <linux/cpumask.h>
#include <linux/kernel.h>

#include "session/int.h"

u64 memtap_session_missed(struct memtap_session_event *e, u32 j)
{
	u64 now = memtap_hook_missed(e->hooks[j]);

	return now > e->missed_base[j] ? now - e->missed_base[j] : 0;
}

static bool is_perf(u32 way)
{
	return way == MEMTAP_WAY_PERF_SW || way == MEMTAP_WAY_PERF_TP || way == MEMTAP_WAY_PERF;
}

/* Of a pair's two hooks one may be a counter of perf, and the other none. */
static bool counts_by_perf(const struct memtap_session *s)
{
	const struct memtap_session_event *e;
	u32 i, j;

	for (i = 0; i < s->nr_events; i++) {
		e = s->events[i];
		for (j = 0; j < e->nr_hooks; j++)
			if (is_perf(e->hooks[j]->way))
				return true;
	}
	return false;
}

u64 memtap_session_cpus_late(struct memtap_session *s)
{
	if (s->state == MEMTAP_STOPPED)
		return s->cpus_came;
	return counts_by_perf(s) ? memtap_perf_came() - s->cpus_came : 0;
}

static void add_account(struct memtap_stats *st, const struct memtap_account *a)
{
	u32 i;

	st->seen += READ_ONCE(a->seen);
	st->counted += READ_ONCE(a->counted);
	st->filtered += READ_ONCE(a->filtered);
	st->own += READ_ONCE(a->own);
	for (i = 0; i < MEMTAP_NR_LOST; i++)
		st->lost[i] += READ_ONCE(a->lost[i]);
	for (i = 0; i < MEMTAP_NR_PART; i++)
		st->part[i] += READ_ONCE(a->part[i]);
}

/*
 * What is not on the CPUs' accounts: probes that the kernel did not run, NMIs,
 * and returns that did not come, which are what is left over.
 */
static void add_absent(struct memtap_session *s, struct memtap_stats *st)
{
	struct memtap_session_event *e = s->events[st->event];
	u64 nmi = atomic64_read(&e->nmi), recursion = atomic64_read(&e->recursion);
	u64 missed = e->missed, known;
	u32 i;

	if (s->state == MEMTAP_RUNNING)
		for (i = 0; i < e->nr_hooks; i++)
			missed += memtap_session_missed(e, i);
	st->lost[MEMTAP_LOST_MISSED] += missed;
	st->lost[MEMTAP_LOST_NMI] += nmi;
	st->lost[MEMTAP_LOST_RECURSION] += recursion;
	st->seen += missed + nmi + recursion;
	if (!(e->flags & MEMTAP_ATTACH_RETURN) && !e->heap && !e->pair)
		return;
	known = st->counted + st->filtered;
	for (i = 0; i < MEMTAP_NR_LOST; i++)
		known += st->lost[i];
	if (st->seen > known)
		st->lost[MEMTAP_LOST_RETURN] += st->seen - known;
}

int memtap_session_stats(struct memtap_session *s, struct memtap_stats *st)
{
	u32 cpu, event = st->event, size = st->size;

	if (event >= s->nr_events)
		return -ENOENT;
	memset(st, 0, sizeof(*st));
	st->size = size;
	st->event = event;
	if (s->state < MEMTAP_RUNNING)
		return 0;
	for_each_possible_cpu(cpu)
		add_account(st, &s->cpus[cpu]->events[event].account);
	add_absent(s, st);
	return 0;
}

void memtap_session_totals(struct memtap_session *s, u64 *counted, u64 *lost)
{
	const struct memtap_account *a;
	u32 cpu, i, j, nr;

	*counted = 0;
	*lost = 0;
	/* whoever has the session may start it meanwhile */
	if (smp_load_acquire(&s->state) < MEMTAP_RUNNING)
		return;
	nr = smp_load_acquire(&s->nr_events);
	for_each_possible_cpu(cpu) {
		for (i = 0; i < nr; i++) {
			a = &s->cpus[cpu]->events[i].account;
			*counted += READ_ONCE(a->counted);
			for (j = 0; j < MEMTAP_NR_LOST; j++)
				*lost += READ_ONCE(a->lost[j]);
		}
	}
}
