// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose what is asked about, and follow how much memory it is. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "triage/diagnose.h"
#include "triage/int.h"

/* --- the scope --------------------------------------------------------------------- */

/* Is @path @dir, or below it? */
static bool in_cgroup(const struct machine_at *at, __u32 pid, const char *cgroup)
{
	char path[PATH_MAX];

	return machine_cgroup(at, (__s32)pid, path, sizeof(path)) && path_is_below(path, cgroup);
}

void diagnose_narrow(const struct machine_at *at, const struct diagnose_scope *s,
		     struct machine *m)
{
	struct machine_list *l = &m->processes, *g = &m->cgroups;
	size_t kept = 0;

	for (size_t i = 0; i < l->nr && (s->pid || s->cgroup); i++)
		if (s->pid ? l->at[i].pid == s->pid : in_cgroup(at, l->at[i].pid, s->cgroup))
			l->at[kept++] = l->at[i];
	l->nr = s->pid || s->cgroup ? kept : l->nr;
	kept = 0;
	for (size_t i = 0; i < g->nr && (s->pid || s->cgroup); i++)
		if (s->pid ? in_cgroup(at, s->pid, g->at[i].name) && strcmp(g->at[i].name, "/") :
		    path_is_below(g->at[i].name, s->cgroup))
			g->at[kept++] = g->at[i];
	g->nr = s->pid || s->cgroup ? kept : g->nr;
}

/* --- the questions ------------------------------------------------------------------- */

static bool is_idle(enum triage_what what)
{
	return what == FOUND_NOTHING || what == FOUND_NO_KERNEL;
}

static bool is_kernel(enum triage_what what)
{
	return what == FOUND_KERNEL || what == FOUND_KERNEL_HOLDS;
}

/* Of a part of the machine: what names it; lists have nothing else any more. */
static bool is_in_scope(const struct triage_finding *f, const struct diagnose_scope *s)
{
	if (!s->pid && !s->cgroup)
		return true;
	switch (f->what) {
	case FOUND_LEAK:
	case FOUND_OOM_LEAK:
	case FOUND_PROGRAM:
	case FOUND_OOM_CGROUP:
	case FOUND_LIMIT:
	case FOUND_LIMIT_FILES:
	case FOUND_HIGH:
	case FOUND_HOLDS_PROCESS:
	case FOUND_NOTHING:
		return true;
	case FOUND_SHMEM:
	case FOUND_SWAPPING:
	case FOUND_UNDEAD:
	case FOUND_ZOMBIES:
	case FOUND_COMMIT:
	case FOUND_PAGE_TABLES:
		return f->pid != 0;
	case FOUND_RECLAIM_CGROUP:
		return *f->name;
	default:
		return false;
	}
}

/* The same cause in other words: its symptom is not asked about once more. */
static bool is_same(const struct triage_finding *a, const struct triage_finding *b)
{
	if (!strcmp(a->command, b->command))
		return true;
	/* what a cgroup at its limit, or slowed down, brings with it */
	return (a->what == FOUND_LIMIT_FILES || a->what == FOUND_LIMIT || a->what == FOUND_HIGH) &&
	       b->what == FOUND_RECLAIM_CGROUP && !strcmp(a->name, b->name);
}

#define MATTERS	40		/* score; what is below it is asked about if nothing else is */

static size_t add(struct triage_finding *out, size_t nr, size_t room,
		  const struct triage_finding *f)
{
	if (nr == room || (nr && f->score < MATTERS))
		return nr;
	for (size_t i = 0; i < nr; i++)
		if (is_same(&out[i], f))
			return nr;
	out[nr] = *f;
	return nr + 1;
}

size_t diagnose_pick(const struct triage *t, const struct triage *census,
		     const struct diagnose_scope *s, struct triage_finding *out, size_t room)
{
	const struct triage_finding *f;
	size_t nr = 0, before;

	for (size_t i = 0; i < t->nr_found; i++) {
		f = &t->found[i];
		if (is_idle(f->what) || !is_in_scope(f, s))
			continue;
		before = nr;
		/* which kind it is, is known at once */
		for (size_t k = 0; census && is_kernel(f->what) && k < census->nr_found; k++)
			if (!is_idle(census->found[k].what) &&
			    (nr == before || census->found[k].grew * 4 >= f->grew))
				nr = add(out, nr, room, &census->found[k]);
		if (!is_kernel(f->what) || nr == before)
			nr = add(out, nr, room, f);
	}
	if (!nr && room) {
		memset(out, 0, sizeof(*out));
		out->what = FOUND_NOTHING;
		nr = 1;
	}
	return nr;
}

/* --- the budget ------------------------------------------------------------------------- */

#define MOST_COST	0.05		/* of a CPU */
#define FIRST		3.0		/* seconds; too short to say what it costs in general */
#define LEAST_COST	0.25		/* seconds of a CPU */

bool diagnose_dear(double cost, double seconds, double planned)
{
	const double all = planned * MOST_COST > LEAST_COST ? planned * MOST_COST : LEAST_COST;

	return cost > all || (seconds >= FIRST && cost > seconds * MOST_COST);
}

/* --- how it develops -------------------------------------------------------------------- */

static __s64 named(const struct machine_list *l, const char *name)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->at[i].name, name))
			return (__s64)l->at[i].bytes;
	return -1;
}

/* Of its process, or of all that have its name. */
static __s64 own_of(const struct machine_list *l, const struct triage_finding *f)
{
	__s64 sum = -1;

	for (size_t i = 0; i < l->nr; i++)
		if (f->pid ? l->at[i].pid == f->pid : !strcmp(l->at[i].name, f->name))
			sum = (sum < 0 ? 0 : sum) + triage_own(&l->at[i]);
	return sum;
}

static __s64 kind_of(const struct machine *m, enum machine_kind kind)
{
	struct machine_account a;

	machine_account(m, &a);
	return a.has[kind] || kind == KIND_UNACCOUNTED ? a.bytes[kind] : -1;
}

__s64 diagnose_bytes(const struct triage_finding *f, const struct machine *m)
{
	/* what it had goes with it */
	if (f->pid && own_of(&m->processes, f) < 0)
		return -1;
	switch (f->what) {
	case FOUND_PROGRAM:
		/* of some of them it is another sum */
		if (m->processes.late)
			return -1;
		return own_of(&m->processes, f);
	case FOUND_LEAK:
	case FOUND_OOM_LEAK:
		return own_of(&m->processes, f);
	case FOUND_TMPFS:
		return named(&m->tmpfs, f->name);
	case FOUND_SHMEM:
		return (__s64)m->f.mem[MEM_SHMEM];
	case FOUND_SLAB:
	case FOUND_RECLAIMABLE:
		return *f->name ? named(&m->slabs, f->name) :
		       (__s64)m->f.mem[f->what == FOUND_SLAB ? MEM_SUNRECLAIM : MEM_SRECLAIMABLE];
	case FOUND_LIMIT:
	case FOUND_LIMIT_FILES:
	case FOUND_HIGH:
	case FOUND_OOM_CGROUP:
	case FOUND_RECLAIM_CGROUP:
		return named(&m->cgroups, f->name);
	case FOUND_VMALLOC:
		return kind_of(m, KIND_VMALLOC);
	case FOUND_PAGE_TABLES:
		return kind_of(m, KIND_PAGE_TABLES);
	case FOUND_STACKS:
		return kind_of(m, KIND_STACKS);
	case FOUND_PERCPU:
		return kind_of(m, KIND_PERCPU);
	case FOUND_PAGES:
		return kind_of(m, KIND_UNACCOUNTED);
	case FOUND_SOCKETS:
		return (__s64)(m->socket_pages * m->page);
	case FOUND_UNEVICTABLE:
		return (__s64)m->f.mem[MEM_UNEVICTABLE];
	default:
		return -1;
	}
}

void diagnose_sample(struct pace *p, __u64 ns, __s64 bytes)
{
	if (bytes < 0)
		return;
	if (p->nr == PACE_MOST) {
		for (size_t i = 0; i < PACE_MOST / 2; i++)
			p->at[i] = p->at[i * 2];
		p->nr = PACE_MOST / 2;
	}
	p->at[p->nr++] = (struct pace_sample){ ns, bytes };
}

#define FEW		5		/* samples */
#define FLOOR		(1LL << 20)	/* as triage_floor() */
#define FLOOR_SECOND	65536

__s64 diagnose_bytes_at(const struct pace *p, __u64 ns)
{
	size_t i = 0;

	while (i < p->nr && p->at[i].ns < ns)
		i++;
	if (!p->nr || !i || i == p->nr || p->at[i].ns == p->at[i - 1].ns)
		return p->nr ? p->at[i == p->nr ? i - 1 : i].bytes : 0;
	return p->at[i - 1].bytes +
	       (__s64)((double)(p->at[i].bytes - p->at[i - 1].bytes) *
		       (double)(ns - p->at[i - 1].ns) / (double)(p->at[i].ns - p->at[i - 1].ns));
}

static __u64 middle_of(const struct pace *p)
{
	return p->at[0].ns + (p->at[p->nr - 1].ns - p->at[0].ns) / 2;
}

/* Does it still rise and fall in the second half, by a tenth of what came in the first? */
static bool late_steps(const struct pace *p, __s64 first)
{
	__s64 least = -1, most = -1;

	for (size_t i = 0; i < p->nr; i++) {
		if (p->at[i].ns < middle_of(p))
			continue;
		least = least < 0 || p->at[i].bytes < least ? p->at[i].bytes : least;
		most = p->at[i].bytes > most ? p->at[i].bytes : most;
	}
	return (most - least) * 10 > first;
}

void diagnose_pace(struct pace *p)
{
	__s64 fell = 0, first, second, floor;

	p->kind = PACE_NONE;
	if (p->nr < 2)
		return;
	p->least = p->most = p->at[0].bytes;
	for (size_t i = 1; i < p->nr; i++) {
		p->least = p->at[i].bytes < p->least ? p->at[i].bytes : p->least;
		p->most = p->at[i].bytes > p->most ? p->at[i].bytes : p->most;
		/* from the highest so far */
		fell = p->most - p->at[i].bytes > fell ? p->most - p->at[i].bytes : fell;
	}
	p->seconds = (double)(p->at[p->nr - 1].ns - p->at[0].ns) / 1e9;
	p->grew = p->at[p->nr - 1].bytes - p->at[0].bytes;
	floor = (__s64)(p->seconds * FLOOR_SECOND);
	floor = floor > FLOOR ? floor : FLOOR;
	first = diagnose_bytes_at(p, middle_of(p)) - p->at[0].bytes;
	second = p->grew - first;
	/* (figures that are read one after the other fall a little in between) */
	if (fell >= floor && fell * 4 > p->most - p->least)
		p->kind = PACE_WAVES;
	else if (p->grew < floor)
		p->kind = PACE_FLAT;
	else if (p->nr < FEW)
		p->kind = PACE_SHORT;
	else if (second * 10 < first && !late_steps(p, first))
		p->kind = PACE_ENDED;
	else if (first * 2 >= second && second * 2 >= first)
		p->kind = PACE_STEADY;
	else
		p->kind = PACE_UNEVEN;
}

/* --- one more question --------------------------------------------------------------------- */

bool diagnose_follow(const struct ask *ask, const struct machine_at *at,
		     struct triage_finding *f)
{
	if (ask->found.what != FOUND_LEAK || ask->end == ASK_NO_MODULE || !ask->answer.has ||
	    ask->grew < FLOOR / 4 || (__s64)ask->answer.total * 2 >= ask->grew)
		return false;
	*f = ask->found;
	f->what = FOUND_LEAK_TOUCHED;
	triage_advise(f, at);
	return true;
}
