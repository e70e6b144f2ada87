// SPDX-License-Identifier: GPL-2.0-or-later
/* Sort and check the tables of a snapshot, and look up entries. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snap/int.h"

/*
 * Mappings of one space overlap where code was mapped over other code: the search goes
 * back over this many that begin before an address.
 */
#define MAP_BACKTRACK	4096

static int cmp_u64(__u64 a, __u64 b)
{
	return a < b ? -1 : a > b;
}

/* Events, stacks, tasks and files begin with or contain an __u32 id. */
#define DEFINE_BY_ID(_name, _type)					\
static int cmp_##_name(const void *a, const void *b)			\
{									\
	return cmp_u64(((const _type *)a)->id, ((const _type *)b)->id);	\
}									\
static const _type *find_##_name(const _type *t, size_t nr, __u32 id)	\
{									\
	size_t lo = 0, hi = nr;						\
									\
	while (lo < hi) {						\
		size_t mid = lo + (hi - lo) / 2;			\
									\
		if (t[mid].id < id)					\
			lo = mid + 1;					\
		else							\
			hi = mid;					\
	}								\
	return lo < nr && t[lo].id == id ? &t[lo] : NULL;		\
}									\
static bool sort_##_name(_type *t, size_t nr)				\
{									\
	if (nr)								\
		qsort(t, nr, sizeof(*t), cmp_##_name);			\
	for (size_t i = 1; i < nr; i++)					\
		if (t[i].id == t[i - 1].id)				\
			return false;					\
	return true;							\
}

DEFINE_BY_ID(event, struct snap_event)
DEFINE_BY_ID(stack, struct snap_stack)
DEFINE_BY_ID(task, struct memtap_rec_task)
DEFINE_BY_ID(file, struct snap_file)

/* Later records of equal ranges come last: they are what holds now. */
static int cmp_map(const void *a, const void *b)
{
	const struct snap_map *x = a, *y = b;
	int c = cmp_u64(x->space, y->space);

	return c ? c : cmp_u64(x->start, y->start);
}

static int cmp_ksym(const void *a, const void *b)
{
	return cmp_u64(((const struct snap_ksym *)a)->addr,
		       ((const struct snap_ksym *)b)->addr);
}

static __u32 usym_call(const struct snap_usym *u)
{
	return u->flags & MEMTAP_USYM_CALL;
}

static int cmp_usym(const void *a, const void *b)
{
	const struct snap_usym *x = a, *y = b;

	if (x->space != y->space)
		return cmp_u64(x->space, y->space);
	if (x->era != y->era)
		return cmp_u64(x->era, y->era);
	if (x->ip != y->ip)
		return cmp_u64(x->ip, y->ip);
	if (usym_call(x) != usym_call(y))
		return cmp_u64(usym_call(x), usym_call(y));
	return cmp_u64(x->order, y->order);
}

/* qsort() is not promised to be stable: a merge sort that is. */
static bool sort_maps(struct snap_map *m, size_t nr)
{
	struct snap_map *tmp = malloc((nr + 1) * sizeof(*m));

	if (!tmp)
		return false;
	for (size_t width = 1; width < nr; width *= 2) {
		for (size_t lo = 0; lo < nr; lo += 2 * width) {
			size_t mid = lo + width < nr ? lo + width : nr;
			size_t hi = lo + 2 * width < nr ? lo + 2 * width : nr;
			size_t i = lo, j = mid;

			for (size_t k = lo; k < hi; k++)
				if (i < mid && (j == hi || cmp_map(&m[i], &m[j]) <= 0))
					tmp[k] = m[i++];
				else
					tmp[k] = m[j++];
		}
		memcpy(m, tmp, nr * sizeof(*m));
	}
	free(tmp);
	return true;
}

static bool note_ends(struct snap *s)
{
	s->map_ends = malloc((s->nr_maps + 1) * sizeof(*s->map_ends));
	for (size_t i = 0; s->map_ends && i < s->nr_maps; i++) {
		const struct snap_map *m = &s->maps[i];

		s->map_ends[i] = m->end;
		if (i && m[-1].space == m->space && s->map_ends[i - 1] > m->end)
			s->map_ends[i] = s->map_ends[i - 1];
	}
	return s->map_ends;
}

#define NO_HOST		(~0U)

/* Each task of a merged file is of one machine. */
static int index_hosts(struct snap *s, char *err)
{
	if (!s->nr_hosts)
		return 0;
	s->task_hosts = malloc((s->nr_tasks + 1) * sizeof(*s->task_hosts));
	if (!s->task_hosts)
		return snap_bad(err, -ENOMEM, "not enough memory to decode it");
	memset(s->task_hosts, 0xff, (s->nr_tasks + 1) * sizeof(*s->task_hosts));
	for (size_t i = 0; i < s->nr_hosts; i++)
		for (__u32 k = 0; k < s->hosts[i]->nr; k++) {
			const struct memtap_rec_task *t = snap_task(s, s->hosts[i]->task[k]);

			if (!t || s->task_hosts[t - s->tasks] != NO_HOST)
				return snap_bad(err, -EBADMSG, "task %u of a host %s",
						s->hosts[i]->task[k],
						t ? "is another one's, too" : "does not exist");
			s->task_hosts[t - s->tasks] = (__u32)i;
		}
	return 0;
}

const struct memtap_rec_host *snap_host(const struct snap *s, const struct memtap_rec_task *t)
{
	const __u32 at = s->task_hosts && t ? s->task_hosts[t - s->tasks] : NO_HOST;

	return at == NO_HOST ? NULL : s->hosts[at];
}

int snap_index(struct snap *s, char *err)
{
	if (!sort_event(s->events, s->nr_events))
		return snap_bad(err, -EBADMSG, "it has two events with the same id");
	if (!sort_stack(s->stacks, s->nr_stacks))
		return snap_bad(err, -EBADMSG, "it has two stacks with the same id");
	if (!sort_task(s->tasks, s->nr_tasks))
		return snap_bad(err, -EBADMSG, "it has two tasks with the same id");
	if (!sort_file(s->files, s->nr_files))
		return snap_bad(err, -EBADMSG, "it has two files with the same id");
	if (!sort_maps(s->maps, s->nr_maps) || !note_ends(s))
		return snap_bad(err, -ENOMEM, "not enough memory to decode it");
	if (s->nr_ksyms)
		qsort(s->ksyms, s->nr_ksyms, sizeof(*s->ksyms), cmp_ksym);
	if (s->nr_gones)
		qsort(s->gones, s->nr_gones, sizeof(*s->gones), cmp_ksym);
	if (s->nr_usyms)
		qsort(s->usyms, s->nr_usyms, sizeof(*s->usyms), cmp_usym);
	for (size_t i = 0; i < s->nr_maps; i++)
		if (s->maps[i].file && !snap_file(s, s->maps[i].file))
			return snap_bad(err, -EBADMSG,
				"a mapping refers to file %u, which does not exist",
				s->maps[i].file);
	for (size_t i = 0; i < s->nr_hooks; i++)
		if (!snap_event(s, s->hooks[i].event))
			return snap_bad(err, -EBADMSG,
				"a hook refers to event %u, which does not exist",
				s->hooks[i].event);
	return index_hosts(s, err);
}

bool snap_hook_leaves_out(const struct memtap_rec_hook *h)
{
	return h->state == MEMTAP_HOOK_ATTACHED && h->error == ENOEXEC;
}

bool snap_leaves_out(const struct snap *s)
{
	for (size_t i = 0; i < s->nr_hooks; i++)
		if (snap_hook_leaves_out(&s->hooks[i]))
			return true;
	return false;
}

const struct snap_event *snap_event(const struct snap *s, __u32 id)
{
	return find_event(s->events, s->nr_events, id);
}

/* They joined at START, behind all others. */
const struct snap_event *snap_builtin(const struct snap *s, const char *name)
{
	for (size_t i = s->nr_events; i--;)
		if (!strcmp(s->events[i].name, name))
			return &s->events[i];
	return NULL;
}

const struct snap_stack *snap_stack(const struct snap *s, __u32 id)
{
	return find_stack(s->stacks, s->nr_stacks, id);
}

const struct memtap_rec_task *snap_task(const struct snap *s, __u32 id)
{
	return find_task(s->tasks, s->nr_tasks, id);
}

const struct snap_file *snap_file(const struct snap *s, __u32 id)
{
	return find_file(s->files, s->nr_files, id);
}

/* How many mappings come before what follows @addr in @space. */
static size_t maps_until(const struct snap *s, __u32 space, __u64 addr)
{
	size_t lo = 0, hi = s->nr_maps;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct snap_map *m = &s->maps[mid];

		if (m->space < space || (m->space == space && m->start <= addr))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Did it hold, whatever was mapped where when nobody could keep it? */
static bool is_certain(const struct snap_map *m)
{
	return !(m->flags & (MEMTAP_MAP_GONE | MEMTAP_MAP_REUSED));
}

const struct snap_map *snap_map(const struct snap *s, __u32 space, __u32 era, __u64 addr)
{
	size_t lo = maps_until(s, space, addr);
	const struct snap_map *best = NULL;

	for (int i = 0; i < MAP_BACKTRACK && lo--; i++) {
		const struct snap_map *m = &s->maps[lo];

		if (m->space != space || (s->map_ends && s->map_ends[lo] <= addr))
			break;
		if (addr < m->end && m->era <= era && (!best || m->era > best->era))
			best = m;
	}
	return best && era == MEMTAP_ERA_LOST && !is_certain(best) ? NULL : best;
}

static bool has_maps(const struct snap *s, __u32 space)
{
	const size_t until = maps_until(s, space, ~0ULL);

	return until && s->maps[until - 1].space == space;
}

bool snap_mapped(const struct snap *s, __u32 task_id)
{
	const struct memtap_rec_task *t = snap_task(s, task_id);

	return !s->header.running || !t || has_maps(s, t->space) ||
		t->flags & (MEMTAP_TASK_KTHREAD | MEMTAP_TASK_NOMAPS);
}

/* Notes the space of a task that has a user stack, if nothing is known of it; once. */
static void note_unread(const struct snap *s, __u32 task_id, __u32 *spaces, size_t *nr)
{
	const struct memtap_rec_task *t = snap_task(s, task_id);

	if (*nr == SNAP_UNREAD_MAX || snap_mapped(s, task_id))
		return;
	for (size_t i = *nr; i--;)
		if (spaces[i] == t->space)
			return;
	spaces[(*nr)++] = t->space;
}

size_t snap_unread(const struct snap *s)
{
	__u32 spaces[SNAP_UNREAD_MAX], last = MEMTAP_TASK_NONE;
	struct snap_walk w = { .snap = s };
	size_t nr = 0;

	if (!s->header.running)
		return 0;
	for (size_t i = 0; i < s->nr_counters; i++)
		if (s->counters[i].ustack >= MEMTAP_STACK_FIRST)
			note_unread(s, s->counters[i].task, spaces, &nr);
	while (snap_next_block(&w)) {
		if (w.block->task != last)
			note_unread(s, w.block->task, spaces, &nr);
		last = w.block->task;
	}
	return nr;
}

size_t snap_usyms(const struct snap *s, __u32 space, __u32 era, __u64 ip, bool call,
		  const struct snap_usym **first)
{
	struct snap_usym key = { .space = space, .era = era, .ip = ip,
				 .flags = call ? MEMTAP_USYM_CALL : 0 };
	size_t lo = 0, hi = s->nr_usyms, nr = 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (cmp_usym(&s->usyms[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = &s->usyms[lo];
	while (lo + nr < s->nr_usyms && s->usyms[lo + nr].space == space &&
	       s->usyms[lo + nr].era == era && s->usyms[lo + nr].ip == ip &&
	       usym_call(&s->usyms[lo + nr]) == usym_call(&key))
		nr++;
	return nr;
}
