// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write a fleet as a .memtap file that all readers understand: every distinct place gets an
 * address of its own, and the file names it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/int.h"
#include "leaks/leaks.h"

#define SPACE		1U			/* all tasks are in it */
#define USER_BASE	0x100000ULL
#define KERNEL_BASE	0xffff800000000000ULL
#define PLACE_STEP	16			/* no two places touch */

#define USED_FIRST	1			/* a place that is the first of a user stack, */
#define USED_CALL	2			/* and one that is a caller */
#define USED_KERNEL	4

struct writer {
	const struct fleet *f;
	FILE *out;
	struct wire_sum sum;
	void *rec;
	size_t room;
	unsigned char *used;		/* of places */
};

/* A record, zeroed, that put() writes; NULL: no memory. */
static void *record(struct writer *w, __u32 type, size_t len)
{
	len = (len + 7) & ~(size_t)7;
	if (w->room < len) {
		void *more = realloc(w->rec, 2 * len);

		if (!more)
			return NULL;
		w->rec = more;
		w->room = 2 * len;
	}
	return wire_begin(w->rec, w->room, type, len);
}

static void put(struct writer *w)
{
	const struct memtap_rec *rec = w->rec;

	wire_sum_add(&w->sum, rec);
	fwrite(rec, 1, rec->len, w->out);
}

static void put_end(struct writer *w)
{
	struct memtap_rec_end end = { .records = 0 };

	wire_end(&w->sum, &end);
	fwrite(&end, 1, sizeof(end), w->out);
	wire_sum_init(&w->sum);
}

static bool is_kernel(const struct tables *t, __u32 place)
{
	__u32 pos = 0;

	return fleet_unpack(&t->places[place], &pos).kernel;
}

static __u64 address(const struct tables *t, __u32 place)
{
	return (is_kernel(t, place) ? KERNEL_BASE : USER_BASE) + (__u64)PLACE_STEP * place;
}

/* ---- the device's half ---- */

static int put_header(struct writer *w)
{
	const __u32 kept = MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK | MEMTAP_CFG_HIST |
			   MEMTAP_CFG_ONLY_USER | MEMTAP_CFG_ONLY_KERNEL | MEMTAP_CFG_ROWS |
			   MEMTAP_CFG_FILES | MEMTAP_CFG_MAPPINGS | MEMTAP_CFG_CHILDREN |
			   MEMTAP_CFG_TOUCHED;
	const struct memtap_rec_header *from = &w->f->header;
	struct memtap_rec_header *h = record(w, MEMTAP_REC_HEADER, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->magic = MEMTAP_MAGIC;
	h->flags = from->flags & kept;
	h->depth = from->depth;
	h->page_size = from->page_size;
	h->nr_cpus = from->nr_cpus;
	h->machine = from->machine;
	h->real_ns = from->real_ns;
	for (size_t i = 0; i < w->f->host_ids.nr; i++)
		h->now_ns += w->f->hosts[i].ns;
	memcpy(h->release, from->release, sizeof(h->release));
	memcpy(h->version, from->version, sizeof(h->version));
	if (w->f->host_ids.nr == 1)
		snprintf(h->host, sizeof(h->host), "%s", w->f->hosts[0].name);
	put(w);
	return 0;
}

static __u64 row_count(const struct frow *r)
{
	return r->count + (__u64)leaks_round(r->blocks);
}

static __s64 row_sum(const struct frow *r)
{
	return (__s64)((__u64)r->sum + (__u64)leaks_round(r->bytes));
}

/* Live blocks are counted by their rows alone. */
static int put_events(struct writer *w)
{
	const struct tables *t = &w->f->t;
	__u64 *live = calloc(w->f->nr_events + 1, sizeof(*live));
	const size_t end = strlen(SNAP_RETURN);
	int err = live ? 0 : -ENOMEM;

	for (size_t i = 0; live && i < t->row_ids.nr; i++)
		live[t->rows[i].event] += (__u64)leaks_round(t->rows[i].blocks);
	for (size_t i = 0; !err && i < w->f->nr_events; i++) {
		const struct snap_event *from = &w->f->events[i];
		struct memtap_rec_event *e = record(w, MEMTAP_REC_EVENT, sizeof(*e));
		size_t len = strlen(from->name);

		if (!e) {
			err = -ENOMEM;
			break;
		}
		e->id = (__u32)i;
		e->unit = from->unit;
		e->way = from->way;
		e->seen = from->seen + live[i];
		e->counted = from->counted + live[i];
		e->filtered = from->filtered;
		e->own = from->own;
		memcpy(e->lost, from->lost, sizeof(e->lost));
		memcpy(e->part, from->part, sizeof(e->part));
		memcpy(e->group, from->group, sizeof(e->group));
		if (len > end && !strcmp(from->name + len - end, SNAP_RETURN)) {
			e->flags = MEMTAP_ATTACH_RETURN;
			len -= end;
		}
		snprintf(e->name, sizeof(e->name), "%.*s", (int)len, from->name);
		put(w);
	}
	free(live);
	return err;
}

static int put_hooks(struct writer *w)
{
	for (size_t i = 0; i < w->f->nr_hooks; i++) {
		struct memtap_rec_hook *h = record(w, MEMTAP_REC_HOOK, sizeof(*h));

		if (!h)
			return -ENOMEM;
		*h = w->f->hooks[i];
		put(w);
	}
	return 0;
}

static __u64 row_addr(const struct fleet *f, const struct frow *r)
{
	if (!(f->header.flags & MEMTAP_CFG_FILES))
		return 0;
	return (r->file & FILE_KIND ? r->file & ~FILE_KIND : r->file - 1 + MEMTAP_FILE_FIRST) |
	       (f->header.flags & MEMTAP_CFG_MAPPINGS ? (__u64)r->allowed << 32 : 0);
}

static int put_counter(struct writer *w, const struct frow *r)
{
	const __u32 nr = r->hist ? MEMTAP_HIST_BUCKETS : 0;
	struct memtap_rec_counter *c = record(w, MEMTAP_REC_COUNTER, sizeof(*c) +
					      (nr + (r->ranged ? 2 : 0)) * sizeof(__u64));

	if (!c)
		return -ENOMEM;
	c->event = r->event;
	c->flags = r->flags;
	c->task = r->task + MEMTAP_TASK_FIRST;
	c->kstack = r->kstack;
	c->ustack = r->ustack;
	c->addr = row_addr(w->f, r);
	c->count = row_count(r);
	c->sum = row_sum(r);
	c->max = r->max;
	c->nr_hist = nr;
	if (nr)
		memcpy(c->hist, r->hist, nr * sizeof(__u64));
	if (r->ranged) {
		c->hist[nr] = (__u64)r->least;
		c->hist[nr + 1] = (__u64)r->greatest;
	}
	put(w);
	return 0;
}

static int put_stack(struct writer *w, __u32 number)
{
	const struct tables *t = &w->f->t;
	const struct fstack *st = &t->stacks[number];
	struct memtap_rec_stack *s = record(w, MEMTAP_REC_STACK,
					    sizeof(*s) + st->nr * sizeof(__u64));

	if (!s)
		return -ENOMEM;
	s->id = number + MEMTAP_STACK_FIRST;
	s->flags = st->flags;
	s->nr = st->nr;
	for (__u32 i = 0; i < st->nr; i++) {
		s->ip[i] = address(t, st->places[i]);
		w->used[st->places[i]] |= is_kernel(t, st->places[i]) ? USED_KERNEL :
					  i ? USED_CALL : USED_FIRST;
	}
	put(w);
	return 0;
}

static int put_task(struct writer *w, __u32 number)
{
	const struct ftask *from = &w->f->t.tasks[number];
	struct memtap_rec_task *t = record(w, MEMTAP_REC_TASK, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->id = number + MEMTAP_TASK_FIRST;
	t->flags = from->flags;
	t->space = SPACE;
	t->cgroup2 = from->cgroup;
	memcpy(t->comm, from->comm, sizeof(t->comm));
	put(w);
	return 0;
}

static int put_file(struct writer *w, __u32 number)
{
	const char *path = w->f->t.texts[number];
	struct memtap_rec_file *r = record(w, MEMTAP_REC_FILE, sizeof(*r) + strlen(path) + 1);

	if (!r)
		return -ENOMEM;
	r->id = number + MEMTAP_FILE_FIRST;
	strcpy(r->path, path);
	put(w);
	return 0;
}

/* Texts are files, or paths of control groups. */
static int put_files(struct writer *w)
{
	const struct tables *t = &w->f->t;
	unsigned char *wanted = calloc(t->text_ids.nr + 1, 1);
	int err = wanted ? 0 : -ENOMEM;

	for (size_t i = 0; wanted && i < t->row_ids.nr; i++)
		if (!(t->rows[i].file & FILE_KIND))
			wanted[t->rows[i].file - 1] = 1;
	for (size_t i = 0; !err && i < t->text_ids.nr; i++)
		if (wanted[i])
			err = put_file(w, (__u32)i);
	free(wanted);
	return err;
}

static int put_memory(struct writer *w)
{
	struct memtap_rec_memory *m;

	if (!w->f->memory.rec.len)
		return 0;
	m = record(w, MEMTAP_REC_MEMORY, sizeof(*m));
	if (!m)
		return -ENOMEM;
	*m = w->f->memory;
	put(w);
	return 0;
}

static int put_device(struct writer *w)
{
	const struct tables *t = &w->f->t;
	int err = put_header(w);

	if (!err)
		err = put_events(w);
	if (!err)
		err = put_hooks(w);
	for (size_t i = 0; !err && i < t->row_ids.nr; i++)
		err = put_counter(w, &t->rows[i]);
	for (size_t i = 0; !err && i < t->stack_ids.nr; i++)
		err = put_stack(w, (__u32)i);
	for (size_t i = 0; !err && i < t->task_ids.nr; i++)
		err = put_task(w, (__u32)i);
	if (!err)
		err = put_files(w);
	if (!err)
		err = put_memory(w);
	if (!err)
		put_end(w);
	return err;
}

/* ---- the tool's half ---- */

static int put_ksym(struct writer *w, __u32 place)
{
	__u32 pos = 0;
	const struct sym_frame f = fleet_unpack(&w->f->t.places[place], &pos);
	const bool module = f.object && *f.object && strcmp(f.object, "kernel");
	struct memtap_rec_ksym *k;
	size_t len;

	if (!f.name)
		return 0;
	len = sizeof(*k) + strlen(f.name) + (module ? strlen(f.object) + 3 : 0) + 1;
	k = record(w, MEMTAP_REC_KSYM, len);
	if (!k)
		return -ENOMEM;
	k->addr = address(&w->f->t, place);
	if (module)
		sprintf(k->name, "%s [%s]", f.name, f.object);
	else
		strcpy(k->name, f.name);
	put(w);
	return 0;
}

static int put_usym(struct writer *w, __u32 place, const struct sym_frame *f, __u32 call)
{
	const char *words[] = { f->name, f->object, f->file, f->linkage };
	const int nr = sizeof(words) / sizeof(words[0]);
	struct memtap_rec_usym *u;
	size_t len = sizeof(*u);
	char *to;

	for (int i = 0; i < nr; i++)
		len += (words[i] ? strlen(words[i]) : 0) + 1;
	u = record(w, MEMTAP_REC_USYM, len);
	if (!u)
		return -ENOMEM;
	u->space = SPACE;
	u->flags = call | (f->inlined ? MEMTAP_USYM_INLINED : 0);
	u->ip = address(&w->f->t, place);
	u->addr = f->name ? u->ip : f->addr;
	u->line = (__u32)f->line;
	to = u->text;
	for (int i = 0; i < nr; i++)
		to = stpcpy(to, words[i] ? words[i] : "") + 1;
	put(w);
	return 0;
}

static int put_usyms(struct writer *w, __u32 place, __u32 call)
{
	const struct fplace *p = &w->f->t.places[place];
	int err = 0;

	for (__u32 pos = 0; !err && pos < p->len;) {
		const struct sym_frame f = fleet_unpack(p, &pos);

		if (f.name || *f.object)
			err = put_usym(w, place, &f, call);
	}
	return err;
}

static int put_names(struct writer *w)
{
	int err = 0;

	for (size_t i = 0; !err && i < w->f->t.place_ids.nr; i++) {
		if (w->used[i] & USED_KERNEL)
			err = put_ksym(w, (__u32)i);
		if (!err && w->used[i] & USED_FIRST)
			err = put_usyms(w, (__u32)i, 0);
		if (!err && w->used[i] & USED_CALL)
			err = put_usyms(w, (__u32)i, MEMTAP_USYM_CALL);
	}
	return err;
}

static int put_host(struct writer *w, __u32 number, const __u32 *tasks, __u32 nr)
{
	const struct fleet_host *from = &w->f->hosts[number];
	struct memtap_rec_host *h = record(w, MEMTAP_REC_HOST, sizeof(*h) + nr * sizeof(__u32));

	if (!h)
		return -ENOMEM;
	h->files = from->files;
	h->running = from->running;
	h->nr = nr;
	h->ns = from->ns;
	h->least_ns = from->least_ns;
	h->most_ns = from->most_ns;
	h->first_ns = from->first_ns;
	h->last_ns = from->last_ns;
	snprintf(h->name, sizeof(h->name), "%s", from->name);
	memcpy(h->release, from->release, sizeof(h->release));
	for (__u32 i = 0; i < nr; i++)
		h->task[i] = tasks[i] + MEMTAP_TASK_FIRST;
	put(w);
	return 0;
}

/* Tasks in the order of their hosts: of each host where its tasks begin. */
static int put_hosts(struct writer *w)
{
	const struct tables *t = &w->f->t;
	const size_t nr = w->f->host_ids.nr;
	__u32 *first = calloc(nr + 2, sizeof(*first));
	__u32 *tasks = calloc(t->task_ids.nr + 1, sizeof(*tasks));
	int err = first && tasks ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < t->task_ids.nr; i++)
		first[t->tasks[i].host + 2]++;
	for (size_t i = 1; !err && i < nr; i++)
		first[i + 1] += first[i];
	for (size_t i = 0; !err && i < t->task_ids.nr; i++)
		tasks[first[t->tasks[i].host + 1]++] = (__u32)i;
	for (size_t i = 0; !err && i < nr; i++)
		err = put_host(w, (__u32)i, tasks + first[i], first[i + 1] - first[i]);
	free(first);
	free(tasks);
	return err;
}

static int put_note(struct writer *w, const char *text)
{
	struct memtap_rec_note *n = record(w, MEMTAP_REC_NOTE, sizeof(*n) + strlen(text) + 1);

	if (!n)
		return -ENOMEM;
	strcpy(n->text, text);
	put(w);
	return 0;
}

static int put_cgroups(struct writer *w)
{
	const struct tables *t = &w->f->t;
	unsigned char *wanted = calloc(t->text_ids.nr + 1, 1);
	char note[4096 + 64];
	int err = wanted ? 0 : -ENOMEM;

	for (size_t i = 0; wanted && i < t->task_ids.nr; i++)
		if (t->tasks[i].cgroup)
			wanted[t->tasks[i].cgroup - 1] = 1;
	for (size_t i = 0; !err && i < t->text_ids.nr; i++) {
		if (!wanted[i])
			continue;
		snprintf(note, sizeof(note), "cgroup.%zu=%s", i + 1, t->texts[i]);
		err = put_note(w, note);
	}
	free(wanted);
	return err;
}

static int put_sentences(struct writer *w)
{
	const struct fleet *f = w->f;
	char note[1024];
	int err = 0;

	for (size_t i = 0; !err && i < f->nr_notes; i++) {
		/* (of one among several it is not true of all) */
		if (!f->notes[i].files || (f->known_ids.nr == 1 && f->notes[i].files == 1 &&
					   !f->notes[i].counted))
			snprintf(note, sizeof(note), "%.960s", f->notes[i].text);
		else
			snprintf(note, sizeof(note), "%.960s (in %llu recording%s)",
				 f->notes[i].text, (unsigned long long)f->notes[i].files,
				 f->notes[i].files == 1 ? "" : "s");
		err = put_note(w, note);
	}
	if (!err && f->more_notes)
		err = put_note(w, "foot=further notes of recordings are not kept here");
	return err;
}

/* What recordings have, and this file has not. */
static int put_left(struct writer *w)
{
	const struct fleet *f = w->f;
	char note[256];
	int err = 0;

	if (f->kills) {
		snprintf(note, sizeof(note), "foot=OOM kills in recordings, which are not merged: "
			 "%llu", (unsigned long long)f->kills);
		err = put_note(w, note);
	}
	if (!err && f->lost_calls) {
		snprintf(note, sizeof(note), "foot=calls of allocators that were lost: %llu; live "
			 "memory is incomplete", (unsigned long long)f->lost_calls);
		err = put_note(w, note);
	}
	if (!err && f->folded) {
		snprintf(note, sizeof(note), "foot=not kept for want of memory (--max-mem): the "
			 "stacks of %zu rows; their counts are in [stack not recorded]",
			 f->folded);
		err = put_note(w, note);
	}
	if (!err && f->sampled)
		err = put_note(w, "foot=live blocks were sampled: their numbers are estimates");
	return err;
}

static int put_tool(struct writer *w, const char *const *notes)
{
	char note[1024];
	int err;

	if (!record(w, MEMTAP_REC_TOOL, sizeof(struct memtap_rec)))
		return -ENOMEM;
	put(w);
	err = put_names(w);
	if (!err)
		err = put_hosts(w);
	snprintf(note, sizeof(note), "merged=%s", fleet_kinds[w->f->kind]);
	if (!err)
		err = put_note(w, note);
	snprintf(note, sizeof(note), "title=%.900s", w->f->title);
	if (!err && *w->f->title)
		err = put_note(w, note);
	if (!err)
		err = put_cgroups(w);
	if (!err)
		err = put_sentences(w);
	if (!err)
		err = put_left(w);
	for (size_t i = 0; !err && notes && notes[i]; i++)
		err = put_note(w, notes[i]);
	if (!err)
		put_end(w);
	return err;
}

int fleet_write(struct fleet *f, const char *const *notes, FILE *out)
{
	struct writer w = { .f = f, .out = out };
	int err;

	wire_sum_init(&w.sum);
	w.used = calloc(f->t.place_ids.nr + 1, 1);
	err = w.used ? put_device(&w) : -ENOMEM;
	if (!err)
		err = put_tool(&w, notes);
	free(w.used);
	free(w.rec);
	return err;
}
