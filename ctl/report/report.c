// SPDX-License-Identifier: GPL-2.0-or-later
/* Build rows from counters: resolve names, group, sum. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/int.h"

static int add_hist(struct maker *m, struct rrow *row, const __u64 *hist)
{
	if (!row->hist)
		row->hist = arena_alloc(&m->arena, MEMTAP_HIST_BUCKETS * sizeof(__u64));
	if (!row->hist)
		return -ENOMEM;
	for (int i = 0; i < MEMTAP_HIST_BUCKETS; i++)
		row->hist[i] += hist[i];
	return 0;
}

/* Mappings that the dynamic linker makes are of no interest to who asks what grows. */
static bool is_loaders(const struct maker *m, const struct snap_counter *c,
		       const struct snap_event *e)
{
	static const char *const names[] = { "mmap", "mremap", "munmap", "mprotect" };

	for (size_t i = 0; m->r.o->no_loader && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(e->name, names[i]))
			return leaks_in_loader(m->r.snap, c->ustack, c->task);
	return false;
}

/* What is no file; NULL: nothing. */
static const char *kind_of(const struct maker *m, __u64 id)
{
	static const char *const kinds[MEMTAP_FILE_FIRST] = {
		[MEMTAP_FILE_NONE] = "[unknown mapping]", [MEMTAP_FILE_HEAP] = "[heap]",
		[MEMTAP_FILE_STACK] = "[stack]", [MEMTAP_FILE_ANON] = "[anonymous]",
		[MEMTAP_FILE_KERNEL] = "[of the kernel]",
		[MEMTAP_FILE_THREAD] = "[stacks of threads]",
		[MEMTAP_FILE_MALLOC] = "[malloc]",
	};

	if (!(m->r.snap->header.flags & MEMTAP_CFG_MAPPINGS) && !id)
		return NULL;
	return id < MEMTAP_FILE_FIRST && kinds[id] ? kinds[id] : "[file not recorded]";
}

/* The number of a file's path, which several may have; 0: none.  Or -ENOMEM. */
static __s64 file_number(struct maker *m, __u64 id)
{
	const bool kinds = m->r.snap->header.flags & MEMTAP_CFG_MAPPINGS;
	const struct snap_file *f = id > ~0U || (kinds && id < MEMTAP_FILE_FIRST) ? NULL :
				    snap_file(m->r.snap, (__u32)id);
	const char *path = !f ? NULL : *f->path ? f->path : "[file without a name]";
	const char **files;

	if (!path)
		path = kind_of(m, id);
	if (!path)
		return 0;
	for (size_t i = 0; i < m->nr_files; i++)
		if (!strcmp(m->files[i], path))
			return (__s64)i + 1;
	files = ids_grow(m->files, m->nr_files, &m->room_files, sizeof(*files));
	if (!files)
		return -ENOMEM;
	m->files = files;
	files[m->nr_files++] = path;
	return (__s64)m->nr_files;
}

/* The row that a counter is of; NULL: no memory. */
static struct rrow *row_of(struct maker *m, const struct snap_counter *c)
{
	const struct memtap_rec_task *task = snap_task(m->r.snap, c->task);
	struct rrow key = { .flags = c->flags, .addr = c->addr };
	__s64 group = report_group(m, c->task), kstack = 0, ustack = 0, file = 0;

	if (m->r.snap->header.flags & MEMTAP_CFG_MAPPINGS)
		key.allowed = (__u32)(c->addr >> 32);
	if (m->r.snap->header.flags & MEMTAP_CFG_FILES) {
		file = file_number(m, m->r.snap->header.flags & MEMTAP_CFG_MAPPINGS ?
				   (__u32)c->addr : c->addr);
		key.addr = (__u64)file | (__u64)key.allowed << 32;
		key.file = file > 0 ? m->files[file - 1] : NULL;
	}
	if (!m->r.o->no_kernel)
		kstack = report_stack(m, c->kstack, task);
	if (!m->r.o->no_user)
		ustack = report_stack(m, c->ustack, task);
	if (group < 0 || kstack < 0 || ustack < 0 || file < 0)
		return NULL;
	key.event = snap_event(m->r.snap, c->event) - m->r.snap->events;
	if (m->event_of)
		key.event = m->event_of[key.event];
	key.group = group;
	key.kstack = kstack;
	key.ustack = ustack;
	if (m->r.o->detail == DETAIL_NAMES) {	/* has no place to say it */
		key.flags &= REPORT_NO_GROWTH;
		key.addr = 0;
		key.allowed = 0;
		key.file = NULL;
	}
	return report_row(m, &key);
}

static int add_counter(struct maker *m, const struct snap_counter *c)
{
	struct rrow *row = row_of(m, c);

	if (!row)
		return -ENOMEM;
	row->loader = (row->loader || !row->count) && is_loaders(m, c, &m->r.events[row->event]);
	row->count += c->count;
	row->sum = (__s64)((__u64)row->sum + (__u64)c->sum);
	if (c->max > row->max)
		row->max = c->max;
	return c->hist ? add_hist(m, row, c->hist) : 0;
}

static int add_span(struct maker *m, __u32 nr)
{
	const struct memtap_rec_span *span = m->r.snap->spans[nr];

	for (__u32 i = 0; i < span->nr; i++) {
		const struct snap_counter c = snap_span_counter(&span->at[i]);
		struct rrow *row = row_of(m, &c);
		struct rseries *s = row ? report_series(m, row, nr) : NULL;

		if (!s)
			return -ENOMEM;
		s->count += c.count;
		s->sum = (__s64)((__u64)s->sum + (__u64)c.sum);
	}
	return 0;
}

static int make_rows(struct maker *m)
{
	int err = 0;

	if (leaks_kept(m->r.snap)) {	/* counters tell where threads were held: no answer */
		err = report_leaks_init(m);
		if (!err)
			err = report_leaks(m);
	}
	for (size_t i = 0; !err && !m->r.leaks && i < m->r.snap->nr_counters; i++) {
		err = add_counter(m, &m->r.snap->counters[i]);
		report_progress(m, i, m->r.snap->nr_counters);
	}
	for (size_t i = 0; !err && m->r.o->spans && !m->r.leaks && i < m->r.snap->nr_spans; i++)
		err = add_span(m, (__u32)i);
	if (m->r.o->progress)
		fputs("\r\033[K", stderr);
	return err;
}

void report_free(struct report *r)
{
	struct maker *m = (struct maker *)r;

	if (!m)
		return;
	report_stack_free(m);
	report_merge_free(m);
	report_leaks_free(m);
	ids_free(&m->group_ids);
	ids_free(&m->row_ids);
	free(r->groups);
	free(m->group_keys);
	free(m->programs);
	free(m->files);
	free(r->rows);
	free(r->series);
	free(r->sections);
	free(r->merged);
	arena_free(&m->arena);
	free(m);
}

/* @was and its names: NULL, or compared with. */
static struct report *make(const struct snap *was, struct sym *was_sym, const struct snap *snap,
			   struct sym *sym, const struct report_opts *o)
{
	struct maker *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return NULL;
	m->sym = was ? was_sym : sym;
	m->r.snap = snap;
	m->r.o = o;
	m->r.events = snap->events;
	m->r.nr_events = snap->nr_events;
	err = report_stack_init(m);
	if (!err && was) {
		err = report_diff_begin(m, was, snap);
		if (!err)
			err = make_rows(m);
		if (!err)
			report_diff_turn(m, snap, sym);
	}
	if (!err)
		err = make_rows(m);
	if (!err)
		err = report_order(m);
	if (!err)
		err = report_sums(m);
	if (!err)
		report_mapped(&m->r);
	m->r.notes = sym_notes(sym);
	if (!err)
		return &m->r;
	report_free(&m->r);
	return NULL;
}

struct report *report_make(const struct snap *snap, struct sym *sym,
			   const struct report_opts *o)
{
	return make(NULL, NULL, snap, sym, o);
}

struct report *report_make_diff(const struct snap *was, struct sym *was_sym,
				const struct snap *now, struct sym *sym,
				const struct report_opts *o)
{
	return make(was, was_sym, now, sym, o);
}
