// SPDX-License-Identifier: GPL-2.0-or-later
/* Attribute resident pages to the code that mapped them, page by page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "core/touchtab.h"
#include "core/wire.h"
#include "rss/rss.h"

#define PARENTS		8	/* generations that forked, and did nothing else */

const char *rss_kind_name(enum rss_kind kind)
{
	static const char *const names[NR_RSS] = {
		[RSS_ANON] = "anonymous", [RSS_FILE] = "file", [RSS_SHMEM] = "shared-memory",
		[RSS_SWAP] = "swapped",
	};

	return names[kind];
}

/* What rows are told apart by, of one process: who is a counter's number, or NOBODY + a mark. */
#define NOBODY	(1ULL << 32)

struct cell {
	__u64 who, addr;
	__u32 kind;
	__u64 pages;
};

struct joiner {
	const struct snap *snap;
	const struct rss_ask *ask;
	struct rss_sums *sums;
	struct memtap_rec_touched_sum table;
	const struct memtap_place **places;	/* sorted */
	size_t nr_places;
	const struct memtap_rec_counter **counters;	/* by number */
	size_t nr_counters;
	__u32 first_event, next_file, next_task;
	const struct memtap_place *small, *huge;	/* that were found last, */
	__u64 small_at, huge_at;	/* or were not: page | 1; of this space */
	__u32 found_space;
	struct ids ids;
	struct cell *cells;
	size_t room_cells;
	char *out;
	size_t len, room;
	struct wire_sum sum;
	int err;
};

/* --- records -------------------------------------------------------------------------- */

static void *put(struct joiner *j, __u32 type, size_t len)
{
	const size_t more = 2 * j->room + len + 65536;
	char *p;

	if (j->room - j->len < len + 8) {
		p = realloc(j->out, more);
		if (!p) {
			j->err = -ENOMEM;
			return NULL;
		}
		j->out = p;
		j->room = more;
	}
	return wire_begin(j->out + j->len, j->room - j->len, type, len);
}

static void done(struct joiner *j, const void *rec)
{
	const struct memtap_rec *r = rec;

	wire_sum_add(&j->sum, r);
	j->len += r->len;
}

static void copy(struct joiner *j, const struct memtap_rec *rec)
{
	void *to = put(j, rec->type, rec->len);

	if (!to)
		return;
	memcpy(to, rec, rec->len);
	if (rec->type == MEMTAP_REC_HEADER)
		((struct memtap_rec_header *)to)->flags |= j->ask->flags;
	done(j, to);
}

static void put_events(struct joiner *j)
{
	for (enum rss_kind kind = 0; kind < NR_RSS; kind++) {
		struct memtap_rec_event *e = put(j, MEMTAP_REC_EVENT, sizeof(*e));

		if (!e)
			return;
		e->id = j->first_event + kind;
		e->unit = MEMTAP_UNIT_PAGES;
		strcpy(e->group, "rss");
		strcpy(e->name, rss_kind_name(kind));
		done(j, e);
	}
}

static __u32 put_file(struct joiner *j, const char *path)
{
	const size_t len = strlen(path) + 1;
	struct memtap_rec_file *f = put(j, MEMTAP_REC_FILE, sizeof(*f) + len);

	if (!f)
		return 0;
	f->id = j->next_file++;
	memcpy(f->path, path, len);
	done(j, f);
	return j->next_file - 1;
}

/* Of a process that had no event. */
static __u32 put_task(struct joiner *j, const struct rss_process *p)
{
	struct memtap_rec_task *t = put(j, MEMTAP_REC_TASK, sizeof(*t));

	if (!t)
		return 0;
	t->id = j->next_task++;
	t->space = t->id;
	t->pid = t->tid = t->ns_pid = t->ns_tid = (__s32)p->pid;
	memcpy(t->comm, p->comm, sizeof(t->comm));
	t->cgroup1 = p->cgroup1;
	t->cgroup2 = p->cgroup2;
	done(j, t);
	return j->next_task - 1;
}

static void put_cell(struct joiner *j, const struct rss_process *p, const struct cell *c)
{
	const struct memtap_rec_counter *by = c->who & NOBODY ? NULL : j->counters[c->who];
	struct memtap_rec_counter *r = put(j, MEMTAP_REC_COUNTER, sizeof(*r));
	const struct memtap_rec_task *t = by ? snap_task(j->snap, by->task) : NULL;

	if (!r)
		return;
	r->event = j->first_event + c->kind;
	r->task = t && t->space == p->space ? by->task : p->space;
	if (by) {
		r->kstack = by->kstack;
		r->ustack = by->ustack;
		r->flags = by->flags & MEMTAP_KEY_KERNEL;
	} else {
		r->ustack = (__u32)c->who;
	}
	r->addr = c->addr;
	r->count = c->pages;
	r->sum = (__s64)c->pages;
	r->max = 1;
	done(j, r);
}

/* --- what the module knows ---------------------------------------------------------------- */

static int compare(const void *va, const void *vb)
{
	const struct memtap_place *a = *(const struct memtap_place *const *)va;
	const struct memtap_place *b = *(const struct memtap_place *const *)vb;

	if (a->space != b->space)
		return a->space < b->space ? -1 : 1;
	if (a->page != b->page)
		return a->page < b->page ? -1 : 1;
	return (a->huge > b->huge) - (a->huge < b->huge);
}

static const struct memtap_place *find(const struct joiner *j, __u32 space, __u64 page,
				       __u32 huge)
{
	const struct memtap_place key = { .page = page, .space = space, .huge = huge };
	const struct memtap_place *k = &key, **at;

	at = j->nr_places ? bsearch(&k, j->places, j->nr_places, sizeof(k), compare) : NULL;
	return at ? *at : NULL;
}

/* The counter of who mapped it last, or 0. */
static __u32 mapper_counter(struct joiner *j, __u32 space, __u64 page)
{
	const __u64 first = page - page % MEMTAP_PLACE_PAGES;
	const __u64 region = page - page % MEMTAP_REGION_PAGES;
	__u32 who;

	if (j->found_space != space || j->small_at != (first | 1)) {
		j->small = find(j, space, first, 0);
		j->small_at = first | 1;
	}
	if (j->found_space != space || j->huge_at != (region | 1)) {
		j->huge = find(j, space, region, 1);
		j->huge_at = region | 1;
	}
	j->found_space = space;
	who = j->small ? j->small->who[page - first] : 0;
	if (!who && j->huge)
		who = j->huge->who[0];
	return who < j->nr_counters && j->counters[who] ? who : 0;
}

/* The process that this one began as a copy of, and has been since; 0: none that is known. */
static __u32 parent_of(const struct snap *s, __u32 space)
{
	const struct memtap_rec_task *t = snap_task(s, space), *best = NULL;

	for (size_t i = 0; t && i < s->nr_tasks; i++) {
		const struct memtap_rec_task *p = &s->tasks[i];

		if (p->id == p->space && p->pid == t->ppid && p->exec == t->exec &&
		    p->id != space && p->start_ns <= t->start_ns &&
		    (!best || p->start_ns >= best->start_ns))
			best = p;
	}
	return best ? best->id : 0;
}

static size_t count_places(const struct snap *s, size_t *numbers)
{
	const struct memtap_rec *rec;
	size_t nr = 0;
	u64 pos = 0;
	u32 bad;

	*numbers = 1;
	while ((rec = wire_next(s->bytes, s->len, &pos, &bad))) {
		const struct memtap_rec_touched *t = (const void *)rec;
		const struct memtap_rec_counter *c = (const void *)rec;

		if (rec->type == MEMTAP_REC_TOUCHED)
			nr += t->nr;
		else if (rec->type == MEMTAP_REC_COUNTER && c->number >= *numbers)
			*numbers = (size_t)c->number + 1;
	}
	return nr;
}

/* The device's numbers are of its table: so many as it has records, about. */
#define MOST_NUMBERS	(1ULL << 28)

static int take_records(struct joiner *j)
{
	const struct snap *s = j->snap;
	const struct memtap_rec *rec;
	size_t room = count_places(s, &j->nr_counters);
	u64 pos = 0;
	u32 bad;

	if (room > s->len / sizeof(struct memtap_place) || j->nr_counters > MOST_NUMBERS)
		return -EBADMSG;
	j->places = calloc(room + 1, sizeof(*j->places));
	j->counters = calloc(j->nr_counters, sizeof(*j->counters));
	if (!j->places || !j->counters)
		return -ENOMEM;
	while ((rec = wire_next(s->bytes, s->len, &pos, &bad))) {
		const struct memtap_rec_touched *t = (const void *)rec;
		const struct memtap_rec_counter *c = (const void *)rec;

		if (rec->type == MEMTAP_REC_COUNTER)
			j->counters[c->number] = c;
		else if (rec->type == MEMTAP_REC_TOUCHED_SUM)
			memcpy(&j->table, rec, sizeof(j->table));
		else if (rec->type == MEMTAP_REC_TOUCHED &&
			 t->nr <= (rec->len - sizeof(*t)) / sizeof(t->at[0]))
			for (__u32 i = 0; i < t->nr; i++)
				j->places[j->nr_places++] = &t->at[i];
	}
	qsort(j->places, j->nr_places, sizeof(*j->places), compare);
	for (size_t i = 0; i < s->nr_events; i++)
		if (s->events[i].id >= j->first_event)
			j->first_event = s->events[i].id + 1;
	j->next_task = MEMTAP_TASK_FIRST;
	for (size_t i = 0; i < s->nr_tasks; i++)
		if (s->tasks[i].id >= j->next_task)
			j->next_task = s->tasks[i].id + 1;
	j->next_file = MEMTAP_FILE_FIRST;
	for (size_t i = 0; i < s->nr_files; i++)
		if (s->files[i].id >= j->next_file)
			j->next_file = s->files[i].id + 1;
	return 0;
}

/* --- a process ------------------------------------------------------------------------------ */

static bool same_cell(const void *things, __u32 id, const void *key)
{
	const struct cell *a = (const struct cell *)things + id, *b = key;

	return a->who == b->who && a->addr == b->addr && a->kind == b->kind;
}

static void tally(struct joiner *j, __u64 who, __u64 addr, __u32 kind, __u64 pages)
{
	const struct cell key = { who, addr, kind, 0 };
	const __u64 hash = ids_mix(ids_mix(who, addr), kind);
	__u32 id = ids_find(&j->ids, hash, same_cell, j->cells, &key);
	struct cell *cells;

	if (id == IDS_NONE) {
		cells = ids_grow(j->cells, j->ids.nr, &j->room_cells, sizeof(*cells));
		if (cells) {
			j->cells = cells;
			id = ids_add(&j->ids, hash);
		}
		if (id == IDS_NONE) {
			j->err = -ENOMEM;
			return;
		}
		cells[id] = key;
	}
	j->cells[id].pages += pages;
}

/* Of what is in no file. */
static __u32 kind_of(const struct rss_map *m, const struct rss_part *part)
{
	if (!part)
		return m->kind;
	return part->what == RSS_FOR_THREAD ? MEMTAP_FILE_THREAD : MEMTAP_FILE_MALLOC;
}

/* What is in it stands for a file. */
static __u64 addr_of_name(struct joiner *j, const struct rss_process *p, __u32 *ids, __u32 name)
{
	__u32 *id = &ids[p->nr_paths + 1 + name];

	if (!*id)
		*id = put_file(j, p->names[name]);
	return *id;
}

static __u64 addr_of(struct joiner *j, const struct rss_map *m, const struct rss_process *p,
		     __u32 *ids, const struct rss_part *part, unsigned int marks)
{
	const __u64 allowed = m->allowed | (marks & RSS_MARK_HUGE ? MEMTAP_MAPPING_HUGE : 0) |
			      (marks & RSS_MARK_LAZY ? MEMTAP_MAPPING_LAZY : 0) |
			      (marks & RSS_MARK_MERGED ? MEMTAP_MAPPING_MERGED : 0);
	__u64 addr = 0;

	if (!(j->ask->flags & MEMTAP_CFG_FILES))
		return 0;
	if (m->path) {
		if (!ids[m->path])
			ids[m->path] = put_file(j, p->paths[m->path - 1]);
		addr = ids[m->path];
	} else if (j->ask->flags & MEMTAP_CFG_MAPPINGS) {
		addr = kind_of(m, part);
	}
	return j->ask->flags & MEMTAP_CFG_MAPPINGS ? addr | allowed << 32 : addr;
}

/* A process whose pages these may be: the one that is looked at, or one that it is a copy of. */
struct origin {
	__u32 space;			/* 0: no event of it was seen */
	const struct rss_process *then;	/* what it had when the session started */
	bool old;			/* that is not known, and it was there */
};

struct visit {
	const struct rss_process *p;
	struct origin own, parents[PARENTS];
	size_t nr_parents;
	bool orphan;			/* a copy of a process that is not known */
};

/* Has it executed another program since the session started? */
static bool executed(const struct snap *s, const struct memtap_rec_task *t)
{
	for (size_t i = 0; i < s->nr_tasks; i++)
		if (s->tasks[i].pid == t->pid && s->tasks[i].exec < t->exec)
			return true;
	return false;
}

/* Of the same number it may have been another process, or another program. */
static bool was_running(const struct snap *s, const struct memtap_rec_task *t)
{
	return t->start_ns <= s->header.start_ns && !executed(s, t);
}

static const struct rss_process *had_then(const struct joiner *j, __u32 pid)
{
	for (size_t i = 0; j->ask->then && i < j->ask->then->nr; i++)
		if (j->ask->then->at[i].pid == pid)
			return &j->ask->then->at[i];
	return NULL;
}

static struct origin origin_of(const struct joiner *j, __u32 space, __u32 pid)
{
	const struct memtap_rec_task *t = snap_task(j->snap, space);
	struct origin o = { .space = space };

	if (!t || was_running(j->snap, t)) {
		o.old = !j->ask->then;
		o.then = had_then(j, pid);
	}
	return o;
}

/* One that was there has nothing of a parent that it did not have then. */
static void find_parents(struct joiner *j, struct visit *v)
{
	const struct snap *s = j->snap;
	const struct memtap_rec_task *t = snap_task(s, v->p->space);
	struct origin *o;
	__u32 parent;

	while (t && !was_running(s, t) && v->nr_parents < PARENTS) {
		o = &v->parents[v->nr_parents];
		parent = parent_of(s, t->id);
		if (parent) {
			t = snap_task(s, parent);
			*o = origin_of(j, parent, (__u32)t->pid);
		} else {
			/* one that did nothing since but fork() */
			o->then = executed(s, t) ? NULL : had_then(j, (__u32)t->ppid);
			v->orphan = !executed(s, t) && !o->then;
			t = NULL;
		}
		v->nr_parents += parent || o->then;
	}
}

static bool had(const struct origin *o, __u64 page)
{
	return o->old || (o->then && rss_process_run(o->then, page));
}

/* Of a share of all regions each process has its own. */
static bool is_kept(const struct joiner *j, __u32 space, __u64 page)
{
	return !j->table.share || touchtab_of_share(j->table.seed, j->table.share, space, page);
}

/* Before its own memory was that of a parent. */
static __u64 inherited(struct joiner *j, const struct visit *v, __u64 page, __u64 weight)
{
	bool kept = true;
	__u32 who;

	for (size_t i = 0; i < v->nr_parents; i++) {
		const struct origin *o = &v->parents[i];

		who = o->space ? mapper_counter(j, o->space, page) : 0;
		if (who) {
			j->sums->inherited += weight;
			return who;
		}
		if (had(o, page)) {
			j->sums->inherited_before += weight;
			return NOBODY | MEMTAP_STACK_BEFORE;
		}
		kept = kept && (!o->space || is_kept(j, o->space, page));
	}
	return kept ? NOBODY | MEMTAP_STACK_UNSEEN : NOBODY | MEMTAP_STACK_LOST;
}

static __u64 mapper_of_page(struct joiner *j, const struct visit *v, __u64 page, __u64 weight)
{
	__u64 who = mapper_counter(j, v->p->space, page);

	if (who)
		return who;
	who = had(&v->own, page) ? NOBODY | MEMTAP_STACK_BEFORE : inherited(j, v, page, weight);
	if (who == (NOBODY | MEMTAP_STACK_BEFORE))
		j->sums->before += weight;
	else if (who == (NOBODY | MEMTAP_STACK_LOST))
		j->sums->not_kept += weight;
	else if (who == (NOBODY | MEMTAP_STACK_UNSEEN))
		j->sums->unseen += weight;
	j->sums->orphans |= v->orphan && who == (NOBODY | MEMTAP_STACK_UNSEEN);
	return who;
}

static void take_run(struct joiner *j, const struct visit *v, const struct rss_run *run,
		     __u64 addr)
{
	const __u64 weight = 1ULL << j->table.share;
	__u64 who, last = 0, nr = 0;
	const bool in_rss = run->kind != RSS_SWAP;

	for (__u64 page = run->page; page < run->page + run->nr; page++) {
		if (!is_kept(j, v->p->space, page))
			continue;
		if (j->ask->is_stale && !j->ask->is_stale(j->ask->ctx, v->p->pid, page)) {
			j->sums->used += in_rss ? weight : 0;
			continue;
		}
		who = mapper_of_page(j, v, page, weight);
		if (j->ask->since && who == (NOBODY | MEMTAP_STACK_BEFORE)) {
			j->sums->left_out += in_rss ? weight : 0;
			continue;
		}
		if (nr && who != last) {
			tally(j, last, addr, run->kind, nr);
			nr = 0;
		}
		last = who;
		nr += weight;
		j->sums->pages[run->kind] += weight;
		j->sums->shared += run->marks & RSS_MARK_SHARED ? weight : 0;
		j->sums->merged += run->marks & RSS_MARK_MERGED ? weight : 0;
	}
	if (nr)
		tally(j, last, addr, run->kind, nr);
}

static void take_map(struct joiner *j, const struct visit *v, const struct rss_map *m, __u32 *ids)
{
	for (size_t i = 0; i < m->nr_runs; i++) {
		struct rss_run run = v->p->runs[m->first_run + i];
		const __u64 last = run.page + run.nr;

		for (; run.page < last; run.page += run.nr) {
			__u64 end = last;
			const struct rss_part *part = rss_process_part(v->p, run.page, &end);
			const struct rss_named *named = rss_process_named(v->p, run.page, &end);

			run.nr = (__u32)(end - run.page);
			take_run(j, v, &run, named ? addr_of_name(j, v->p, ids, named->name) :
				 addr_of(j, m, v->p, ids, part, run.marks));
		}
	}
}

static void add_sums(struct rss_sums *s, const struct rss_process *p)
{
	s->rss += p->rss;
	s->swap += p->swap;
	s->pss += p->pss;
	s->uss += p->uss;
	s->huge += p->huge;
	s->lazy += p->lazy;
	s->hugetlb += p->hugetlb;
	s->hugetlb_there += p->hugetlb_there;
	s->has_hugetlb_there |= p->has_hugetlb_there;
	s->may_be_merged |= p->may_be_merged;
	s->unread += p->unread;
	s->processes++;
}

static int take_process(struct joiner *j, const struct rss_process *seen)
{
	struct rss_process here = *seen;
	const struct rss_process *p = &here;
	struct visit v = { .p = p };
	__u32 *ids = calloc(p->nr_paths + 1 + p->nr_names, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	if (!here.space)
		here.space = put_task(j, p);
	v.own = origin_of(j, p->space, p->pid);
	find_parents(j, &v);
	j->found_space = 0;
	for (size_t i = 0; i < p->nr_maps; i++)
		take_map(j, &v, &p->maps[i], ids);
	for (__u32 i = 0; i < j->ids.nr; i++)
		put_cell(j, p, &j->cells[i]);
	ids_free(&j->ids);
	free(ids);
	add_sums(j->sums, p);
	return j->err;
}

/* --- all of it ---------------------------------------------------------------------------- */

/* Where a program is held at its end, that is no event for people. */
static bool is_told(const struct joiner *j, const struct memtap_rec *rec)
{
	const struct snap_event *e;

	if (rec->type == MEMTAP_REC_EVENT)
		e = snap_event(j->snap, ((const struct memtap_rec_event *)rec)->id);
	else if (rec->type == MEMTAP_REC_HOOK)
		e = snap_event(j->snap, ((const struct memtap_rec_hook *)rec)->event);
	else
		return true;
	return e && !strcmp(e->group, "fault");
}

static void copy_records(struct joiner *j, bool head)
{
	const struct memtap_rec *rec;
	u64 pos = 0;
	u32 bad;

	while ((rec = wire_next(j->snap->bytes, j->snap->len, &pos, &bad))) {
		switch (rec->type) {
		case MEMTAP_REC_COUNTER:
		case MEMTAP_REC_TOUCHED:
		case MEMTAP_REC_TOUCHED_SUM:
		case MEMTAP_REC_END:
			break;
		case MEMTAP_REC_HEADER:
			if (head)
				copy(j, rec);
			break;
		default:
			if (!head && is_told(j, rec))
				copy(j, rec);
		}
	}
}

static void put_end(struct joiner *j)
{
	struct memtap_rec_end *r = put(j, MEMTAP_REC_END, sizeof(*r));

	if (!r)
		return;
	wire_end(&j->sum, r);
	j->len += r->rec.len;
}

static int join(struct joiner *j)
{
	const struct rss_look *now = j->ask->now;
	int err = take_records(j);

	if (err)
		return err;
	wire_sum_init(&j->sum);
	copy_records(j, true);
	put_events(j);
	for (size_t i = 0; !err && i < now->nr; i++)
		if (!now->at[i].space || snap_task(j->snap, now->at[i].space))
			err = take_process(j, &now->at[i]);
	copy_records(j, false);
	put_end(j);
	j->sums->refused = j->table.refused;
	j->sums->skipped = j->table.skipped;
	j->sums->share = j->table.share;
	j->sums->moved = j->table.moved;
	j->sums->unmoved = j->table.unmoved;
	return err ? err : j->err;
}

int rss_join(const struct snap *snap, const struct rss_ask *ask, struct rss_sums *sums,
	     void **bytes, size_t *len)
{
	struct joiner j = { .snap = snap, .ask = ask, .sums = sums };
	int err;

	*sums = (struct rss_sums){ 0 };
	err = join(&j);
	ids_free(&j.ids);
	free(j.cells);
	free(j.places);
	free(j.counters);
	*bytes = j.out;
	*len = j.len;
	if (err) {
		free(j.out);
		*bytes = NULL;
	}
	return err;
}
