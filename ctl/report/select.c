// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Filter a recording: leave out of a snapshot the counters and blocks that are not wanted, before
 * rows are made of it.  So all formats show the same rows, and sums are of these.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "base/path.h"
#include "base/text.h"
#include "core/names.h"
#include "machine/container.h"
#include "report/int.h"
#include "report/select.h"

#define NAMES		8		/* in a sentence */

struct stack_key {
	__u32 id, space;
	__s32 pid;			/* names of JIT-compiled code differ by process */
	__u32 pad;
};

#define HAS_DSO		1		/* a frame of a file that is wanted */
#define HAS_SYMBOL	2

struct selector {
	struct snap *s;
	struct sym *sym;
	const struct select *sel;
	const struct opts *o;
	unsigned char *tasks;		/* by number in s->tasks: 1 no, 2 yes; 0 not known yet */
	unsigned char *files;		/* by number in s->files, the same */
	struct ids ids;			/* of stacks, and what they have */
	struct stack_key *keys;
	unsigned char *has;
	size_t room_keys, room_has;
};

static bool selects_tasks(const struct opts *o)
{
	return o->pids.nr || o->tids.nr || o->comms.nr || o->cgroups.nr || o->containers.nr ||
	       o->pods.nr;
}

bool report_selects(const struct select *sel)
{
	const struct opts *o = sel->o;

	return selects_tasks(o) || o->dsos.nr || o->symbols.nr || o->events.nr || sel->from_ns ||
	       sel->until_ns;
}

/* ---- conditions ---- */

static bool is_in(const struct opt_nums *list, __s32 id)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->at[i] == (__u32)id)
			return true;
	return false;
}

/* A name as it is, or a pattern. */
static bool matches(const char *pattern, const char *text)
{
	return !strcmp(pattern, text) || !fnmatch(pattern, text, 0);
}

static bool any_matches(const struct opt_strs *list, const char *text)
{
	for (size_t i = 0; i < list->nr; i++)
		if (matches(list->at[i], text))
			return true;
	return false;
}

/* A C++ function is also found without its arguments: "f(int)" by "f". */
static bool symbol_matches(const struct opt_strs *list, const char *name)
{
	const char *arguments = strchr(name, '(');
	char plain[256];

	if (any_matches(list, name))
		return true;
	if (!arguments || arguments == name || (size_t)(arguments - name) >= sizeof(plain))
		return false;
	snprintf(plain, sizeof(plain), "%.*s", (int)(arguments - name), name);
	return any_matches(list, plain);
}

/* By its path, or its last part. */
static bool file_matches(const struct opt_strs *list, const char *path)
{
	const char *slash = strrchr(path, '/');

	return any_matches(list, path) || (slash && slash[1] && any_matches(list, slash + 1));
}

static bool cgroup_matches(const struct selector *x, const struct memtap_rec_task *t)
{
	const char *path = sym_cgroup(x->sym, x->s, snap_cgroup(t));

	for (size_t i = 0; i < x->o->cgroups.nr; i++) {
		const char *of = x->o->cgroups.at[i];
		__u64 inode;

		if (opt_u64(of, &inode) ? inode && (inode == t->cgroup1 || inode == t->cgroup2) :
		    path && (path_is_below(path, of) || matches(of, path)))
			return true;
	}
	return false;
}

static bool container_matches(const struct selector *x, const struct memtap_rec_task *t)
{
	const char *path = sym_cgroup(x->sym, x->s, snap_cgroup(t));

	return path && container_wanted(x->o, path);
}

static bool task_matches(const struct selector *x, const struct memtap_rec_task *t)
{
	const struct opts *o = x->o;

	return (!o->pids.nr || is_in(&o->pids, t->pid)) &&
	       (!o->tids.nr || is_in(&o->tids, t->tid)) &&
	       (!o->comms.nr || any_matches(&o->comms, t->comm)) &&
	       (!o->cgroups.nr || cgroup_matches(x, t)) &&
	       (!(o->containers.nr || o->pods.nr) || container_matches(x, t));
}

static bool task_passes(struct selector *x, __u32 id)
{
	const struct memtap_rec_task *t = snap_task(x->s, id);
	unsigned char *known;

	if (!selects_tasks(x->o))
		return true;
	if (!t)
		return false;
	known = &x->tasks[t - x->s->tasks];
	if (!*known)
		*known = task_matches(x, t) ? 2 : 1;
	return *known == 2;
}

/* ---- stacks ---- */

static unsigned char frame_has(const struct selector *x, const struct sym_frame *f)
{
	const char *object = f->object && *f->object ? f->object : f->kernel ? "kernel" : "";

	return (x->o->dsos.nr && *object && file_matches(&x->o->dsos, object) ? HAS_DSO : 0) |
	       (x->o->symbols.nr && f->name && symbol_matches(&x->o->symbols, f->name) ?
		HAS_SYMBOL : 0);
}

static unsigned char stack_has(const struct selector *x, const struct snap_stack *st,
			       const struct memtap_rec_task *task)
{
	const bool user = st->flags & MEMTAP_STACK_USER;
	const struct sym_frame *f;
	unsigned char has = 0;
	size_t nr;

	for (__u32 i = 0; i < st->nr; i++) {
		if (user)
			nr = sym_user(x->sym, x->s, task, st->era, st->ip[i], i, &f);
		else
			nr = sym_kernel(x->sym, x->s, st->ip[i],
					i || !(st->flags & MEMTAP_STACK_ENTRY), &f);
		for (size_t k = 0; k < nr; k++)
			has |= frame_has(x, &f[k]);
	}
	return has;
}

static bool same_stack(const void *things, __u32 id, const void *key)
{
	return !memcmp((const struct stack_key *)things + id, key, sizeof(struct stack_key));
}

/* HAS_*, or -ENOMEM. */
static int known_stack(struct selector *x, __u32 id, const struct memtap_rec_task *task)
{
	const struct snap_stack *st = snap_stack(x->s, id);
	const bool user = st && st->flags & MEMTAP_STACK_USER;
	const struct stack_key key = { id, user && task ? task->space : 0,
				       user && task ? task->pid : 0, 0 };
	const __u64 hash = ids_mix(ids_mix(id, key.space), (__u32)key.pid);
	struct stack_key *keys;
	unsigned char *has;
	__u32 at;

	if (!st)
		return 0;
	at = ids_find(&x->ids, hash, same_stack, x->keys, &key);
	if (at != IDS_NONE)
		return x->has[at];
	keys = ids_grow(x->keys, x->ids.nr, &x->room_keys, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	x->keys = keys;
	has = ids_grow(x->has, x->ids.nr, &x->room_has, sizeof(*has));
	if (!has)
		return -ENOMEM;
	x->has = has;
	at = ids_add(&x->ids, hash);
	if (at == IDS_NONE)
		return -ENOMEM;
	keys[at] = key;
	has[at] = stack_has(x, st, task);
	return has[at];
}

/* The file that a counter is about. */
static bool about_file(struct selector *x, __u64 addr)
{
	const __u32 flags = x->s->header.flags;
	const struct snap_file *f;
	unsigned char *known;

	if (flags & MEMTAP_CFG_MAPPINGS)
		addr = (__u32)addr < MEMTAP_FILE_FIRST ? 0 : (__u32)addr;
	f = flags & MEMTAP_CFG_FILES && addr && addr <= ~0U ? snap_file(x->s, (__u32)addr) : NULL;
	if (!f)
		return false;
	known = &x->files[f - x->s->files];
	if (!*known)
		*known = file_matches(&x->o->dsos, f->path) ? 2 : 1;
	return *known == 2;
}

/* 1: yes, 0: no; or -ENOMEM. */
static int stacks_pass(struct selector *x, __u32 task, __u32 kstack, __u32 ustack, bool about)
{
	const struct memtap_rec_task *t = snap_task(x->s, task);
	int k, u, has;

	if (!x->o->dsos.nr && !x->o->symbols.nr)
		return 1;
	k = known_stack(x, kstack, t);
	u = k < 0 ? k : known_stack(x, ustack, t);
	if (u < 0)
		return u;
	has = k | u | (about ? HAS_DSO : 0);
	return (!x->o->dsos.nr || has & HAS_DSO) && (!x->o->symbols.nr || has & HAS_SYMBOL);
}

static int counter_passes(struct selector *x, const struct snap_counter *c)
{
	if (!task_passes(x, c->task))
		return 0;
	return stacks_pass(x, c->task, c->kstack, c->ustack,
			   x->o->dsos.nr && about_file(x, c->addr));
}

/* ---- events ---- */

/* As it is called in a report, or with the prefix by which it was asked for. */
static bool event_matches(const struct opt_strs *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++) {
		const char *pattern = list->at[i];

		if (matches(pattern, name))
			return true;
		if (!strncmp(pattern, "t:", 2) && matches(pattern + 2, name))
			return true;
	}
	return false;
}

static void say_event_names(const struct snap *s, char why[SELECT_WHY])
{
	size_t len = strlen(why);

	for (size_t i = 0; i < s->nr_events && i < NAMES && len < SELECT_WHY; i++)
		len += (size_t)snprintf(why + len, SELECT_WHY - len, "%s%s", i ? ", " : "",
					s->events[i].name);
	if (s->nr_events > NAMES && len < SELECT_WHY)
		snprintf(why + len, SELECT_WHY - len, ", and %zu more", s->nr_events - NAMES);
}

static size_t keep_hooks(struct snap *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_hooks; i++)
		if (snap_event(s, s->hooks[i].event))
			s->hooks[nr++] = s->hooks[i];
	return nr;
}

static size_t keep_pendings(struct snap *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_pendings; i++)
		if (snap_event(s, s->pendings[i].event))
			s->pendings[nr++] = s->pendings[i];
	return nr;
}

/* Events that are not wanted are not there at all: neither are their accounts. */
static int select_events(struct selector *x, char why[SELECT_WHY])
{
	struct snap *s = x->s;
	size_t nr = 0;

	if (!x->o->events.nr || leaks_kept(s))
		return 0;
	for (size_t i = 0; i < x->o->events.nr; i++) {
		const struct opt_strs one = { 1, { x->o->events.at[i] } };
		bool found = false;

		for (size_t k = 0; k < s->nr_events && !found; k++)
			found = event_matches(&one, s->events[k].name);
		if (found)
			continue;
		snprintf(why, SELECT_WHY, "this recording has no event '%.64s'; it has: ",
			 x->o->events.at[i]);
		say_event_names(s, why);
		return -EINVAL;
	}
	for (size_t i = 0; i < s->nr_events; i++)
		if (event_matches(&x->o->events, s->events[i].name))
			s->events[nr++] = s->events[i];
	s->left_events = s->nr_events - nr;
	s->nr_events = nr;
	s->nr_hooks = keep_hooks(s);
	s->nr_pendings = keep_pendings(s);
	return 0;
}

/* ---- what is left out ---- */

/* Parts of counted events: what sums.c takes from them for stacks that are there, is gone. */
static void leave_out(struct snap *s, const struct snap_counter *c, struct snap_event *e)
{
	const struct snap_stack *st = snap_stack(s, c->ustack);

	e->left_count += c->count;
	e->left_sum = (__s64)((__u64)e->left_sum + (__u64)c->sum);
	for (size_t k = 0; st && st->flags & MEMTAP_STACK_ROWS && k < NR_CUTS; k++)
		if (st->flags & report_cuts[k].flag) {
			__u64 *part = &e->part[report_cuts[k].part];

			*part -= c->count < *part ? c->count : *part;
		}
}

static int select_counters(struct selector *x)
{
	struct snap *s = x->s;
	size_t nr = 0;
	int pass;

	for (size_t i = 0; i < s->nr_counters; i++) {
		const struct snap_counter c = s->counters[i];
		struct snap_event *e = (struct snap_event *)snap_event(s, c.event);

		if (!e)
			continue;
		pass = counter_passes(x, &c);
		if (pass < 0)
			return pass;
		if (pass)
			s->counters[nr++] = c;
		else
			leave_out(s, &c, e);
	}
	s->nr_counters = nr;
	return 0;
}

static int select_spans(struct selector *x)
{
	struct snap *s = x->s;
	size_t room = 1;
	char *to;

	for (size_t i = 0; i < s->nr_spans; i++)
		room += sizeof(*s->spans[i]) + s->spans[i]->nr * sizeof(s->spans[i]->at[0]);
	to = malloc(room);
	if (!to)
		return -ENOMEM;
	s->kept_spans = to;
	for (size_t i = 0; i < s->nr_spans; i++) {
		const struct memtap_rec_span *from = s->spans[i];
		struct memtap_rec_span *span = (void *)to;

		memcpy(span, from, sizeof(*span));
		span->nr = 0;
		for (__u32 k = 0; k < from->nr; k++) {
			const struct snap_counter c = snap_span_counter(&from->at[k]);
			const int pass = snap_event(s, c.event) ? counter_passes(x, &c) : 0;

			if (pass < 0)
				return pass;
			if (pass)
				span->at[span->nr++] = from->at[k];
		}
		s->spans[i] = span;
		to += sizeof(*span) + span->nr * sizeof(span->at[0]);
	}
	return 0;
}

/* ---- parts of the time ---- */

static bool is_within(const struct select *sel, const struct memtap_rec_span *span)
{
	const __u64 middle = span->start_ns + (span->end_ns - span->start_ns) / 2;

	return middle >= sel->from_ns && middle < sel->until_ns;
}

/* Counters of a part of the time: what was counted before and after is left out. */
static int select_time(struct selector *x, char why[SELECT_WHY])
{
	struct snap *s = x->s;
	struct snap_counter *all;
	size_t nr = 0, first = s->nr_spans, last = 0, room = 0;

	if (!x->sel->from_ns && !x->sel->until_ns)
		return 0;
	if (!s->nr_spans) {
		snprintf(why, SELECT_WHY, "--between needs a recording with intervals: `memtap "
			 "record -o FILE 1` has one a second");
		return -EINVAL;
	}
	for (size_t i = 0; i < s->nr_spans; i++) {
		if (!is_within(x->sel, s->spans[i]))
			continue;
		first = i < first ? i : first;
		last = i;
		room += s->spans[i]->nr;
	}
	if (first == s->nr_spans) {
		snprintf(why, SELECT_WHY, "--between: no interval of this recording lies there; "
			 "they are from 0 s to %.3f s after its start, %.3f s each",
			 (double)(s->spans[s->nr_spans - 1]->end_ns - s->header.start_ns) / 1e9,
			 (double)(s->spans[0]->end_ns - s->spans[0]->start_ns) / 1e9);
		return -EINVAL;
	}
	all = calloc(room + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (size_t i = first; i <= last; i++)
		for (__u32 k = 0; k < s->spans[i]->nr; k++)
			all[nr++] = snap_span_counter(&s->spans[i]->at[k]);
	for (size_t i = 0; i < s->nr_counters; i++) {
		struct snap_event *e = (struct snap_event *)snap_event(s, s->counters[i].event);

		if (e)
			leave_out(s, &s->counters[i], e);
	}
	for (size_t i = 0; i < nr; i++) {
		struct snap_event *e = (struct snap_event *)snap_event(s, all[i].event);

		if (!e)
			continue;
		e->left_count -= all[i].count;
		e->left_sum = (__s64)((__u64)e->left_sum - (__u64)all[i].sum);
	}
	free(s->counters);
	s->counters = all;
	s->nr_counters = nr;
	s->header.real_ns -= s->header.now_ns - s->spans[last]->end_ns;
	s->header.start_ns = s->spans[first]->start_ns;
	s->header.now_ns = s->spans[last]->end_ns;
	s->nr_spans = last + 1 - first;
	memmove(s->spans, s->spans + first, s->nr_spans * sizeof(*s->spans));
	return 0;
}

/* ---- live blocks ---- */

static int block_passes(struct selector *x, const struct memtap_block *b)
{
	const char *event = report_leaks_event(x->s, report_block_event(x->s, b));

	if (x->o->events.nr && !event_matches(&x->o->events, event))
		return 0;
	if (!task_passes(x, b->task))
		return 0;
	return stacks_pass(x, b->task, MEMTAP_STACK_NONE, b->ustack, false);
}

/* Those of a run that pass and follow one another are a run: numbers stay as they are. */
static int select_run(struct selector *x, const struct snap_run *run, struct snap_run **runs,
		      size_t *nr, size_t *room)
{
	bool open = false;

	for (__u32 i = 0; i < run->nr; i++) {
		const struct memtap_block *b = &run->at[i];
		const int pass = block_passes(x, b);
		struct snap_run *more;

		if (pass < 0)
			return pass;
		if (!pass) {
			open = false;
			if (b->flags & MEMTAP_BLOCK_INNER)
				continue;
			x->s->left_blocks += leaks_weight(x->s, b);
			x->s->left_bytes += leaks_weight(x->s, b) * (double)b->size;
			continue;
		}
		if (!open) {
			more = ids_grow(*runs, *nr, room, sizeof(*more));
			if (!more)
				return -ENOMEM;
			*runs = more;
			more[(*nr)++] = (struct snap_run){ b, 0, run->first + i };
			open = true;
		}
		(*runs)[*nr - 1].nr++;
	}
	return 0;
}

static int select_blocks(struct selector *x)
{
	struct snap *s = x->s;
	struct snap_run *runs = NULL;
	size_t nr = 0, room = 0;
	int err = 0;

	for (size_t i = 0; !err && i < s->nr_runs; i++)
		err = select_run(x, &s->runs[i], &runs, &nr, &room);
	if (err) {
		free(runs);
		return err;
	}
	free(s->runs);
	s->runs = runs;
	s->nr_runs = nr;
	return 0;
}

static int select_liveds(struct selector *x)
{
	struct snap *s = x->s;
	size_t room = 1;
	char *to;

	for (size_t i = 0; i < s->nr_liveds; i++)
		room += sizeof(*s->liveds[i]) + s->liveds[i]->nr * sizeof(s->liveds[i]->at[0]);
	to = malloc(room);
	if (!to)
		return -ENOMEM;
	s->kept_liveds = to;
	for (size_t i = 0; i < s->nr_liveds; i++) {
		const struct memtap_rec_lived *from = s->liveds[i];
		struct memtap_rec_lived *part = (void *)to;

		memcpy(part, from, sizeof(*part));
		part->nr = 0;
		for (__u32 k = 0; k < from->nr; k++) {
			const struct memtap_block b = {
				.flags = from->at[k].flags & MEMTAP_BLOCK_MAPPING,
				.task = from->at[k].task, .ustack = from->at[k].ustack,
			};
			const int pass = block_passes(x, &b);

			if (pass < 0)
				return pass;
			if (pass)
				part->at[part->nr++] = from->at[k];
		}
		s->liveds[i] = part;
		to += sizeof(*part) + part->nr * sizeof(part->at[0]);
	}
	return 0;
}

static int select_mismatches(struct selector *x)
{
	struct snap *s = x->s;
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_mismatches; i++) {
		const struct memtap_rec_mismatch *m = &s->mismatches[i];
		const int pass = task_passes(x, m->task) ?
			stacks_pass(x, m->task, MEMTAP_STACK_NONE, m->stack, false) : 0;

		if (pass < 0)
			return pass;
		if (pass)
			s->mismatches[nr++] = *m;
	}
	s->nr_mismatches = nr;
	return 0;
}

/* ---- what a recording does not hold ---- */

static bool has_cgroups(const struct snap *s)
{
	for (size_t i = 0; i < s->nr_tasks; i++)
		if (snap_cgroup(&s->tasks[i]))
			return true;
	return false;
}

static const char *not_held(const struct snap *s, const struct opts *o)
{
	const bool stacks = s->header.flags & (MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK);
	const bool files = s->header.flags & MEMTAP_CFG_FILES;

	if ((o->pids.nr || o->tids.nr) && s->nr_hosts)
		return "--pid, --tid: a merged recording does not tell processes of a program "
		       "apart; --comm selects programs";
	if (o->tids.nr && !(s->header.flags & MEMTAP_CFG_THREADS))
		return "--tid: this recording does not tell threads apart: record it with --by "
		       "thread";
	if ((o->cgroups.nr || o->containers.nr || o->pods.nr) && !has_cgroups(s))
		return "--cgroup, --container, --pod: this recording has no cgroups: the kernel "
		       "that was recorded did not have them";
	if (o->symbols.nr && !stacks)
		return "--symbol: this recording has no stacks: record it without --by file or "
		       "mapping, or with -U or -K";
	if (o->dsos.nr && !stacks && !files)
		return "--file: this recording has neither stacks nor files";
	return NULL;
}

/* Nothing is left: which condition of tasks is it, and what is there? */
static void say_tasks(const struct snap *s, const struct opts *o, char why[SELECT_WHY])
{
	const char *shown[NAMES];
	size_t nr = 0, len;

	snprintf(why, SELECT_WHY, "nothing in this recording is by %s%s; it has: ",
		 o->comms.nr ? "--comm " : o->pids.nr ? "these processes" : o->tids.nr ?
		 "these threads" : "--cgroup ", o->comms.nr ? o->comms.at[0] : o->cgroups.nr &&
		 !o->pids.nr && !o->tids.nr ? o->cgroups.at[0] : "");
	for (size_t i = 0; i < s->nr_tasks && nr < NAMES; i++) {
		size_t k = 0;

		while (k < nr && strcmp(shown[k], s->tasks[i].comm))
			k++;
		if (k < nr && (o->comms.nr || o->cgroups.nr))
			continue;
		len = strlen(why);
		if (o->comms.nr || o->cgroups.nr)
			snprintf(why + len, SELECT_WHY - len, "%s%s", nr ? ", " : "",
				 s->tasks[i].comm);
		else
			snprintf(why + len, SELECT_WHY - len, "%s%s [%d]", nr ? ", " : "",
				 s->tasks[i].comm, o->tids.nr ? s->tasks[i].tid : s->tasks[i].pid);
		shown[nr++] = s->tasks[i].comm;
	}
}

static bool has_task(struct selector *x)
{
	for (size_t i = 0; i < x->s->nr_tasks; i++)
		if (task_passes(x, x->s->tasks[i].id))
			return true;
	return !selects_tasks(x->o);
}

static void say_empty(struct selector *x, char why[SELECT_WHY])
{
	const struct opts *o = x->o;

	if (!has_task(x))
		say_tasks(x->s, o, why);
	else
		snprintf(why, SELECT_WHY, "nothing in this recording meets all of the conditions: "
			 "%s%s%s%s%s%s%s",
			 selects_tasks(o) ? "processes or threads" : "",
			 selects_tasks(o) && (o->dsos.nr || o->symbols.nr) ? ", " : "",
			 o->dsos.nr ? "--file " : "", o->dsos.nr ? o->dsos.at[0] : "",
			 o->dsos.nr && o->symbols.nr ? ", " : "",
			 o->symbols.nr ? "--symbol " : "", o->symbols.nr ? o->symbols.at[0] : "");
}

/* ---- all of it ---- */

static int select_all(struct selector *x, char why[SELECT_WHY])
{
	struct snap *s = x->s;
	const bool any = leaks_kept(s) ? s->nr_runs : s->nr_counters;
	int err = select_events(x, why);

	if (!err && !leaks_kept(s))
		err = select_time(x, why);
	if (!err)
		err = select_counters(x);
	if (!err)
		err = select_spans(x);
	if (!err && leaks_kept(s))
		err = select_blocks(x);
	if (!err && leaks_kept(s))
		err = select_liveds(x);
	if (!err)
		err = select_mismatches(x);
	if (err || !any || (leaks_kept(s) ? s->nr_runs : s->nr_counters))
		return err;
	if (!selects_tasks(x->o) && !x->o->dsos.nr && !x->o->symbols.nr && !leaks_kept(s))
		return 0;	/* an event, or a time, without any is an answer */
	say_empty(x, why);
	return -EINVAL;
}

int report_select(struct snap *s, struct sym *sym, const struct select *sel,
		  char why[SELECT_WHY])
{
	struct selector x = { .s = s, .sym = sym, .sel = sel, .o = sel->o };
	const char *not = not_held(s, sel->o);
	int err = -ENOMEM;

	why[0] = '\0';
	if (!report_selects(sel))
		return 0;
	if (not) {
		snprintf(why, SELECT_WHY, "%s", not);
		return -EINVAL;
	}
	x.tasks = calloc(s->nr_tasks + 1, 1);
	x.files = calloc(s->nr_files + 1, 1);
	if (x.tasks && x.files)
		err = select_all(&x, why);
	s->selected = true;
	ids_free(&x.ids);
	free(x.keys);
	free(x.has);
	free(x.tasks);
	free(x.files);
	return err;
}

bool report_left_out(const struct snap *s, size_t i, char line[SELECT_WHY])
{
	char n[TEXT_LEN], all[TEXT_LEN], value[TEXT_LEN] = "";
	const struct snap_event *e;

	if (leaks_kept(s)) {
		if (i || !s->selected)
			return false;
		snprintf(line, SELECT_WHY, "left out by the filter: %s live block%s, %s",
			 text_count(n, (__u64)leaks_round(s->left_blocks)),
			 text_s((__u64)leaks_round(s->left_blocks)),
			 text_bytes(value, leaks_round(s->left_bytes), false));
		return true;
	}
	if (s->left_events && i-- == 0) {
		snprintf(line, SELECT_WHY, "left out by the filter: %zu other event%s",
			 s->left_events, text_s(s->left_events));
		return true;
	}
	for (size_t k = 0; s->selected && k < s->nr_events; k++) {
		e = &s->events[k];
		if (!e->left_count || i-- > 0)
			continue;
		snprintf(line, SELECT_WHY, "left out by the filter: %s: %s of %s event%s%s%s",
			 e->name, text_count(n, e->left_count), text_count(all, e->counted),
			 text_s(e->counted),
			 *unit_name(e->unit) ? ", " : "",
			 *unit_name(e->unit) ? text_value(value, e->left_sum, e->unit, false) : "");
		return true;
	}
	return false;
}
