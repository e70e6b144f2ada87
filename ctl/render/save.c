// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write the tool's part of a .memtap file: names of addresses, resolved while the programs and the
 * kernel are still there.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "base/out.h"
#include "core/wire.h"
#include "render/oom_int.h"
#include "render/save.h"

/* Where the records of the tool go, with their own account. */
struct writer {
	FILE *f;
	struct wire_sum sum;
};

static int put_record(struct writer *w, __u32 type, const void *fixed,
		      size_t fixed_len, const char *text)
{
	size_t text_len = text ? strlen(text) + 1 : 0;
	size_t len = sizeof(struct memtap_rec) + fixed_len + text_len;
	char *rec;

	len = (len + 7) & ~(size_t)7;
	rec = malloc(len);
	if (!rec)
		return -ENOMEM;
	wire_begin(rec, len, type, len);
	if (fixed_len)
		memcpy(rec + sizeof(struct memtap_rec), fixed, fixed_len);
	if (text_len)
		memcpy(rec + sizeof(struct memtap_rec) + fixed_len, text, text_len);
	wire_sum_add(&w->sum, (const void *)rec);
	fwrite(rec, 1, len, w->f);
	free(rec);
	return 0;
}

struct kaddr {
	__u64 ip;
	bool call;
};

static int cmp_kaddr(const void *a, const void *b)
{
	const struct kaddr *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return y->call - x->call;
}

/* Those of a file that is saved again come first; @r has room for one. */
static const struct memtap_oom_record *get_oom(const struct snap *s,
					       const struct save_more *more, size_t i,
					       struct memtap_oom_record *r)
{
	if (i >= s->nr_ooms)
		return &more->ooms[i - s->nr_ooms];
	render_oom_of(s, (__u32)i, r);
	return r;
}

static size_t oom_kaddrs(const struct memtap_oom_record *r, struct kaddr *to)
{
	for (__u32 i = 0; i < r->nr_kstack; i++) {
		to[i].ip = r->kstack[i];
		to[i].call = i || !(r->kflags & MEMTAP_STACK_ENTRY);
	}
	return r->nr_kstack;
}

/* All kernel addresses of all stacks, each once. */
static int collect_kaddrs(const struct snap *s, const struct save_more *more,
			  struct kaddr **out, size_t *nr)
{
	const size_t nr_ooms = s->nr_ooms + more->nr_ooms;
	struct memtap_oom_record *r = malloc(sizeof(*r));
	size_t n = nr_ooms * MEMTAP_OOM_FRAMES, kept = 0;

	for (size_t i = 0; i < s->nr_stacks; i++)
		if (!(s->stacks[i].flags & MEMTAP_STACK_USER))
			n += s->stacks[i].nr;
	*out = malloc((n + 1) * sizeof(**out));
	if (!*out || !r) {
		free(*out);
		free(r);
		return -ENOMEM;
	}
	n = 0;
	for (size_t i = 0; i < s->nr_stacks; i++) {
		const struct snap_stack *st = &s->stacks[i];

		for (__u32 k = 0; !(st->flags & MEMTAP_STACK_USER) && k < st->nr; k++) {
			(*out)[n].ip = st->ip[k];
			(*out)[n++].call = k || !(st->flags & MEMTAP_STACK_ENTRY);
		}
	}
	for (size_t i = 0; i < nr_ooms; i++)
		n += oom_kaddrs(get_oom(s, more, i, r), *out + n);
	free(r);
	if (n)
		qsort(*out, n, sizeof(**out), cmp_kaddr);
	for (size_t i = 0; i < n; i++)
		if (!i || (*out)[i].ip != (*out)[i - 1].ip)
			(*out)[kept++] = (*out)[i];
	*nr = kept;
	return 0;
}

static int put_ksym(struct writer *w, const struct snap *s, struct sym *sym,
		    const struct kaddr *k)
{
	const struct sym_frame *f;
	char name[512];
	__u64 fixed[2];

	if (!sym_kernel(sym, s, k->ip, k->call, &f) || !f->name)
		return 0;
	if (f->object && strcmp(f->object, "kernel"))
		snprintf(name, sizeof(name), "%s [%s]", f->name, f->object);
	else
		snprintf(name, sizeof(name), "%s", f->name);
	fixed[0] = k->ip;
	fixed[1] = f->offset;
	return put_record(w, MEMTAP_REC_KSYM, fixed, sizeof(fixed), name);
}

/* ---- user addresses ---- */

struct ukey {
	__u32 space;
	__u32 id;		/* of a stack; 0 and 1 for an address */
	__u64 ip;
	__u64 era;		/* of an address */
};

/* Stacks and addresses that are done, by address space. */
struct done {
	struct ids ids;
	struct ukey *keys;
	size_t room;
};

static bool same_ukey(const void *things, __u32 id, const void *key)
{
	return !memcmp((const struct ukey *)things + id, key, sizeof(struct ukey));
}

/* 1: it is new; 0: it was there; or -ENOMEM. */
static int remember(struct done *d, const struct ukey *key)
{
	__u64 hash = ids_mix(ids_mix(ids_mix(key->space, key->id), key->ip), key->era);

	if (ids_find(&d->ids, hash, same_ukey, d->keys, key) != IDS_NONE)
		return 0;
	if (d->ids.nr == d->room) {
		size_t room = d->room ? 2 * d->room : 1024;
		struct ukey *keys = reallocarray(d->keys, room, sizeof(*keys));

		if (!keys)
			return -ENOMEM;
		d->keys = keys;
		d->room = room;
	}
	d->keys[d->ids.nr] = *key;
	return ids_add(&d->ids, hash) == IDS_NONE ? -ENOMEM : 1;
}

static int put_usym(struct writer *w, const struct ukey *key, const struct sym_frame *f)
{
	const char *words[] = { f->name, f->object, f->file, f->linkage };
	const int nr = sizeof(words) / sizeof(words[0]);
	struct memtap_rec_usym *u;
	size_t len = sizeof(*u);
	char *to;
	int err = -ENOMEM;

	for (int i = 0; i < nr; i++)
		len += (words[i] ? strlen(words[i]) : 0) + 1;
	len = (len + 7) & ~(size_t)7;
	u = malloc(len);
	if (u && wire_begin(u, len, MEMTAP_REC_USYM, len)) {
		u->space = key->space;
		u->era = key->era;
		u->flags = (key->id ? MEMTAP_USYM_CALL : 0) |
			   (f->inlined ? MEMTAP_USYM_INLINED : 0);
		u->ip = key->ip;
		u->addr = f->addr;
		u->offset = f->offset;
		u->line = f->line;
		to = u->text;
		for (int i = 0; i < nr; i++)
			to = stpcpy(to, words[i] ? words[i] : "") + 1;
		wire_sum_add(&w->sum, &u->rec);
		fwrite(u, 1, len, w->f);
		err = 0;
	}
	free(u);
	return err;
}

/* Of the mapping that a frame is in: what was mapped elsewhere since is no matter. */
static __u32 era_of(const struct snap *s, const struct memtap_rec_task *task,
		    const struct snap_stack *st, __u32 frame)
{
	const struct snap_map *map = snap_map(s, task->space, st->era, st->ip[frame] - !!frame);

	return map ? map->era : 0;
}

static int put_ustack(struct writer *w, const struct snap *s, struct sym *sym,
		      const struct memtap_rec_task *task,
		      const struct snap_stack *st, struct done *d)
{
	int err = 0;

	for (__u32 i = 0; !err && i < st->nr; i++) {
		/* the first frame is no return address, and not the same */
		struct ukey key = { task->space, i ? 1 : 0, st->ip[i],
				    era_of(s, task, st, i) };
		const struct sym_frame *frames;
		size_t nr;
		int new = remember(d, &key);

		if (new <= 0) {
			err = new;
			continue;
		}
		nr = sym_user(sym, s, task, st->era, st->ip[i], i, &frames);
		if (!frames->name && !*frames->object)
			continue;
		for (size_t k = 0; !err && k < nr; k++)
			err = put_usym(w, &key, &frames[k]);
	}
	return err;
}

/* All addresses of a stack as the task sees them, unless it was there. */
static int put_stack_once(struct writer *w, const struct snap *s, struct sym *sym,
			  __u32 ustack, __u32 task_id, struct done *d)
{
	const struct snap_stack *st = snap_stack(s, ustack);
	const struct memtap_rec_task *task = snap_task(s, task_id);
	struct ukey key;
	int new;

	if (!st || !task || !(st->flags & MEMTAP_STACK_USER))
		return 0;
	key = (struct ukey){ task->space, st->id, 0, 0 };
	new = remember(d, &key);
	return new > 0 ? put_ustack(w, s, sym, task, st, d) : new;
}

static int put_mismatch(struct writer *w, const struct snap *s, struct sym *sym,
			const struct memtap_rec_mismatch *m, struct done *d)
{
	const __u32 stacks[] = { m->stack, m->alloc_stack, m->free_stack };
	int err = 0;

	for (int i = 0; !err && i < 3; i++)
		err = put_stack_once(w, s, sym, stacks[i], m->task, d);
	return err;
}

/* Also who is gone meanwhile. */
static int put_live_stacks(struct writer *w, const struct snap *s, struct sym *sym,
			   const struct memtap_lived_row *rows, __u32 nr, struct done *d)
{
	int err = 0;

	for (__u32 i = 0; !err && i < nr; i++)
		err = put_stack_once(w, s, sym, rows[i].ustack, rows[i].task, d);
	return err;
}

static int put_usyms(struct writer *w, const struct snap *s, struct sym *sym,
		     const struct save_liveds *liveds)
{
	struct snap_walk walk = { .snap = s };
	struct done d = { 0 };
	int err = 0;

	for (size_t i = 0; !err && i < s->nr_counters; i++)
		err = put_stack_once(w, s, sym, s->counters[i].ustack, s->counters[i].task, &d);
	while (!err && snap_next_block(&walk))
		err = put_stack_once(w, s, sym, walk.block->ustack, walk.block->task, &d);
	for (size_t i = 0; !err && i < s->nr_mismatches; i++)
		err = put_mismatch(w, s, sym, &s->mismatches[i], &d);
	for (size_t i = 0; !err && i < s->nr_liveds; i++)
		err = put_live_stacks(w, s, sym, s->liveds[i]->at, s->liveds[i]->nr, &d);
	for (size_t i = 0; !err && i < s->nr_peaks; i++)
		for (__u32 k = 0; !err && k < s->peaks[i].nr; k++)
			err = put_stack_once(w, s, sym, s->peaks[i].at[k].ustack,
					     s->peaks[i].at[k].task, &d);
	for (size_t i = 0; liveds && !err && i < liveds->nr; i++)
		err = put_live_stacks(w, s, sym, liveds->at[i].rows, liveds->at[i].nr, &d);
	ids_free(&d.ids);
	free(d.keys);
	return err;
}

/* ---- OOM kills ---- */

/* The same address may be in a stack more than once. */
static bool is_new(const struct memtap_oom_record *r, __u32 at)
{
	for (__u32 i = 0; i < at; i++)
		if (r->ustack[i].ip == r->ustack[at].ip && !!i == !!at)
			return false;
	return true;
}

static int put_oom_names(struct writer *w, const struct memtap_oom_record *r, struct sym *sym,
			 const struct snap *file, __u32 number)
{
	const struct oom_opts o = { .sym = sym, .file = file, .number = number };
	struct oom_stack *st = malloc(sizeof(*st));
	int err = st ? 0 : -ENOMEM;

	if (st)
		oom_stack_init(st, r, &o);
	for (__u32 i = 0; !err && i < r->nr_ustack; i++) {
		const struct ukey key = { MEMTAP_OOM_SPACE(number), i > 0, r->ustack[i].ip, 0 };
		const struct sym_frame *frames;
		const size_t nr = oom_stack_user(st, i, &frames);

		if (!is_new(r, i) || (!frames->name && !*frames->object))
			continue;
		for (size_t k = 0; !err && k < nr; k++)
			err = put_usym(w, &key, &frames[k]);
	}
	free(st);
	return err;
}

static int put_ooms(struct writer *w, const struct snap *s, const struct save_more *more,
		    struct sym *sym)
{
	struct memtap_oom_record *room = malloc(sizeof(*room));
	const struct memtap_oom_record *r;
	int err = room ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < s->nr_ooms + more->nr_ooms; i++) {
		r = get_oom(s, more, i, room);
		err = put_record(w, MEMTAP_REC_OOM, r, sizeof(*r), NULL);
		if (!err)
			err = put_oom_names(w, r, sym, i < s->nr_ooms ? s : NULL, (__u32)i);
	}
	free(room);
	return err;
}

/* ---- kinds of blocks; or what they are, and what holds them ---- */

#define REACH_MAX	1024	/* addresses in a record */

/* (of kinds .held is 0, and the other way round) */
static int cmp_reach(const void *a, const void *b)
{
	const struct snap_reach *x = a, *y = b;

	if (x->held != y->held)
		return x->held < y->held ? -1 : 1;
	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool is_one_record(const struct snap_reach *a, const struct snap_reach *b)
{
	return a->held == b->held && a->space == b->space && a->kind == b->kind;
}

/* @of: of .held; or NULL: kinds */
static int put_reach(struct writer *w, const struct snap_held *of, const struct snap_reach *r,
		     __u32 nr)
{
	const size_t head = of ? sizeof(struct memtap_rec_held) : sizeof(struct memtap_rec_reach);
	const size_t len = head + nr * sizeof(__u64);
	void *rec = calloc(1, len);
	struct memtap_rec_reach *kind = rec;
	struct memtap_rec_held *held = rec;
	__u64 *addr;

	if (!rec)
		return -ENOMEM;
	wire_begin(rec, len, of ? MEMTAP_REC_HELD : MEMTAP_REC_REACH, len);
	if (of) {
		held->space = r->space;
		held->nr = nr;
		strcpy(held->kind, of->kind);
		strcpy(held->holder, of->holder);
		addr = held->addr;
	} else {
		kind->space = r->space;
		kind->kind = r->kind;
		kind->nr = nr;
		addr = kind->addr;
	}
	for (__u32 i = 0; i < nr; i++)
		addr[i] = r[i].addr;
	wire_sum_add(&w->sum, rec);
	fwrite(rec, 1, len, w->f);
	free(rec);
	return 0;
}

/* @held: what holds them, else kinds */
static int put_reaches(struct writer *w, const struct snap *s, bool held)
{
	struct snap_walk walk = { .snap = s };
	struct snap_reach *all;
	size_t nr = 0, next;
	int err = 0;

	if (held ? !s->held : !s->kinds)
		return 0;
	all = malloc((s->nr_blocks + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	while (snap_next_block(&walk))
		if (held ? walk.held != 0 : walk.kind != LEAK_UNKNOWN)
			all[nr++] = (struct snap_reach){ .addr = walk.block->addr,
							 .space = walk.block->space,
							 .kind = held ? 0 : walk.kind,
							 .held = held ? walk.held : 0 };
	if (nr)
		qsort(all, nr, sizeof(*all), cmp_reach);
	for (size_t i = 0; !err && i < nr; i = next) {
		for (next = i + 1; next < nr && next - i < REACH_MAX; next++)
			if (!is_one_record(&all[next], &all[i]))
				break;
		err = put_reach(w, held ? &s->helds[all[i].held - 1] : NULL, &all[i], next - i);
	}
	free(all);
	return err;
}

/* ---- parts of the time ---- */

_Static_assert(offsetof(struct memtap_rec_span, at) == offsetof(struct memtap_rec_lived, at) &&
	       offsetof(struct memtap_rec_span, nr) == offsetof(struct memtap_rec_lived, nr),
	       "records of parts of the time differ in their rows alone");

/* @type: MEMTAP_REC_SPAN or LIVED, with rows of this size */
static int put_part(struct writer *w, __u16 type, const struct save_part *s, size_t row)
{
	const size_t len = sizeof(struct memtap_rec_span) + s->nr * row;
	struct memtap_rec_span *rec = malloc(len);

	if (!rec)
		return -ENOMEM;
	wire_begin(rec, len, type, len);
	rec->start_ns = s->start_ns;
	rec->end_ns = s->end_ns;
	rec->nr = s->nr;
	if (s->nr)
		memcpy(rec->at, s->rows, s->nr * row);
	wire_sum_add(&w->sum, &rec->rec);
	fwrite(rec, 1, len, w->f);
	free(rec);
	return 0;
}

static void put_again(struct writer *w, const struct memtap_rec *rec)
{
	wire_sum_add(&w->sum, rec);
	fwrite(rec, 1, rec->len, w->f);
}

/* Those of a file that is saved again come first. */
static int put_spans(struct writer *w, const struct snap *s, const struct save_spans *more)
{
	int err = 0;

	for (size_t i = 0; i < s->nr_spans; i++)
		put_again(w, &s->spans[i]->rec);
	for (size_t i = 0; more && !err && i < more->nr; i++)
		err = put_part(w, MEMTAP_REC_SPAN, &more->at[i], sizeof(struct memtap_span_row));
	return err;
}

static int put_liveds(struct writer *w, const struct snap *s, const struct save_liveds *more)
{
	int err = 0;

	for (size_t i = 0; i < s->nr_liveds; i++)
		put_again(w, &s->liveds[i]->rec);
	for (size_t i = 0; more && !err && i < more->nr; i++)
		err = put_part(w, MEMTAP_REC_LIVED, &more->at[i],
			       sizeof(struct memtap_lived_row));
	return err;
}

/* ---- the rest ---- */

static int cmp_u64(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The paths of the control groups of all tasks. */
static int put_cgroups(struct writer *w, const struct snap *s, struct sym *sym)
{
	__u64 *inodes = calloc(s->nr_tasks + 1, sizeof(*inodes));
	char note[4096 + 64];
	int err = inodes ? 0 : -ENOMEM;

	for (size_t i = 0; inodes && i < s->nr_tasks; i++)
		inodes[i] = snap_cgroup(&s->tasks[i]);
	if (inodes)
		qsort(inodes, s->nr_tasks, sizeof(*inodes), cmp_u64);
	for (size_t i = 0; !err && i < s->nr_tasks; i++) {
		const char *path;

		if (!inodes[i] || (i && inodes[i] == inodes[i - 1]))
			continue;
		path = sym_cgroup(sym, s, inodes[i]);
		if (!path)
			continue;
		snprintf(note, sizeof(note), "cgroup.%llu=%s",
			 (unsigned long long)inodes[i], path);
		err = put_record(w, MEMTAP_REC_NOTE, NULL, 0, note);
	}
	free(inodes);
	return err;
}

/* Why some names are missing: the reader cannot find out. */
static int put_sym_notes(struct writer *w, struct sym *sym)
{
	const char *const *notes = sym_notes(sym);
	char note[600];
	int err = 0;

	for (size_t i = 0; !err && notes[i]; i++) {
		snprintf(note, sizeof(note), "note=%s", notes[i]);
		err = put_record(w, MEMTAP_REC_NOTE, NULL, 0, note);
	}
	return err;
}

/* What the tool knows of address spaces: their records are the module's. */
static int put_not_followed(struct writer *w, const struct snap *s)
{
	char note[64];
	int err = 0;

	for (size_t i = 0; !err && i < s->nr_spaces; i++) {
		if (!(s->spaces[i].flags & MEMTAP_SPACE_NOT_FOLLOWED))
			continue;
		snprintf(note, sizeof(note), SNAP_NOT_FOLLOWED "%u", s->spaces[i].id);
		err = put_record(w, MEMTAP_REC_NOTE, NULL, 0, note);
	}
	return err;
}

/* Of a file that is saved again. */
static bool is_made_here(const char *note, const struct save_more *more)
{
	if (more->again && strstr(note, SYM_AS_OFFSETS))
		return true;
	return !strncmp(note, "cgroup.", 7) ||
	       !strncmp(note, SNAP_NOT_FOLLOWED, sizeof(SNAP_NOT_FOLLOWED) - 1);
}

static int put_names(FILE *f, const struct snap *s, struct sym *sym,
		     const struct save_more *more)
{
	const char *const *notes = more->notes;
	struct writer w = { .f = f };
	struct memtap_rec_end end;
	struct kaddr *kaddrs;
	size_t nr;
	int err;

	wire_sum_init(&w.sum);
	err = collect_kaddrs(s, more, &kaddrs, &nr);
	if (err)
		return err;
	err = put_record(&w, MEMTAP_REC_TOOL, NULL, 0, NULL);
	for (size_t i = 0; !err && i < nr; i++)
		err = put_ksym(&w, s, sym, &kaddrs[i]);
	if (!err)
		err = put_usyms(&w, s, sym, more->liveds);
	if (!err)
		err = put_ooms(&w, s, more, sym);
	if (!err)
		err = put_reaches(&w, s, false);
	if (!err)
		err = put_reaches(&w, s, true);
	if (!err)
		err = put_spans(&w, s, more->spans);
	if (!err)
		err = put_liveds(&w, s, more->liveds);
	if (!err)
		err = put_cgroups(&w, s, sym);
	if (!err)
		err = put_sym_notes(&w, sym);
	if (!err)
		err = put_not_followed(&w, s);
	for (size_t i = 0; !err && i < s->nr_notes; i++)
		if (!is_made_here(s->notes[i], more))
			err = put_record(&w, MEMTAP_REC_NOTE, NULL, 0, s->notes[i]);
	for (size_t i = 0; !err && notes && notes[i]; i++)
		err = put_record(&w, MEMTAP_REC_NOTE, NULL, 0, notes[i]);
	free(kaddrs);
	wire_end(&w.sum, &end);
	fwrite(&end, 1, sizeof(end), f);
	return err;
}

int save_stream(const struct snap *s, struct sym *sym, const struct save_more *more, FILE *f)
{
	if (!s->bytes)
		return -EINVAL;		/* a difference has no bytes of its own */
	fwrite(s->bytes, 1, s->device_len, f);
	return put_names(f, s, sym, more);
}

int save_snap(const struct snap *s, struct sym *sym, const struct save_more *more,
	      const char *path)
{
	struct out out = { 0 };
	int err = out_open_own(&out, path);

	if (err)
		return err;
	errno = 0;
	err = save_stream(s, sym, more, out.f);
	if (!err)
		return out_commit(&out);
	out_abort(&out);
	return err;
}
