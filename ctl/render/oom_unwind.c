// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Complete the user stack of an OOM kill's trigger from the copy of its stack.  What is found goes
 * into the record: the bytes of the copy are contents of a process's memory, and are not kept.
 */
#include <stdlib.h>
#include <string.h>

#include "render/oom_int.h"
#include "unwind/unwind.h"

/* The files of the copy as those of a snapshot, which is what files are found by. */
struct finder {
	struct oom_stack *s;
	const struct memtap_oom_stack *copied;
};

static int open_file(void *ctx, const struct memtap_oom_map *map)
{
	const struct finder *f = ctx;
	const struct memtap_oom_file *of = &f->copied->files[map->file - 1];
	const struct snap_map m = { .start = map->start, .end = map->end, .offset = map->offset };
	const struct snap_file file = {
		.inode = of->inode, .dev_major = of->dev_major, .dev_minor = of->dev_minor,
		.path = of->path,
	};

	return sym_open_file(&f->s->snap, &f->s->task, &m, &file);
}

static const struct memtap_oom_map *map_of(const struct memtap_oom_stack *c, __u64 ip)
{
	for (__u32 i = 0; i < c->nr_maps; i++)
		if (ip >= c->maps[i].start && ip < c->maps[i].end)
			return &c->maps[i];
	return NULL;
}

/* 1 + its index in the record; 0: no room. */
static __u32 add_file(struct memtap_oom_record *r, const struct memtap_oom_file *f)
{
	for (__u32 i = 0; i < r->nr_files; i++)
		if (r->files[i].inode == f->inode && r->files[i].dev_major == f->dev_major &&
		    r->files[i].dev_minor == f->dev_minor)
			return i + 1;
	if (r->nr_files == MEMTAP_OOM_FILES)
		return 0;
	r->files[r->nr_files++] = *f;
	return r->nr_files;
}

static void take_frames(struct memtap_oom_record *r, const struct memtap_oom_stack *c,
			const struct unwind_copy *u)
{
	r->nr_files = 0;
	memset(r->files, 0, sizeof(r->files));
	memset(r->ustack, 0, sizeof(r->ustack));
	r->nr_ustack = u->nr;
	r->uflags = u->flags | MEMTAP_STACK_USER | MEMTAP_STACK_ENTRY | MEMTAP_STACK_ROWS;
	for (__u32 i = 0; i < u->nr; i++) {
		struct memtap_oom_frame *f = &r->ustack[i];
		const struct memtap_oom_map *m = map_of(c, u->ips[i]);

		f->ip = u->ips[i];
		if (!m || !m->file || m->file > c->nr_files)
			continue;
		f->file = add_file(r, &c->files[m->file - 1]);
		f->offset = f->ip - m->start + m->offset;
	}
}

static void clean(struct memtap_oom_stack *c)
{
	if (c->nr_maps > MEMTAP_OOM_MAPS)
		c->nr_maps = MEMTAP_OOM_MAPS;
	if (c->nr_files > MEMTAP_OOM_MAP_FILES)
		c->nr_files = MEMTAP_OOM_MAP_FILES;
	for (__u32 i = 0; i < c->nr_maps; i++)
		if (c->maps[i].file != MEMTAP_OOM_MAP_VDSO && c->maps[i].file > c->nr_files)
			c->maps[i].file = 0;
	for (__u32 i = 0; i < c->nr_files; i++)
		c->files[i].path[MEMTAP_OOM_PATH - 1] = '\0';
}

void oom_unwind(struct memtap_oom_record *r, struct memtap_oom_stack *copied)
{
	const bool by_rows = r->uflags & MEMTAP_STACK_ROWS;
	const struct oom_opts o = { .sym = NULL };
	__u64 ips[MEMTAP_OOM_FRAMES];
	struct oom_stack *s;
	struct finder f = { .copied = copied };
	struct unwind_copy u = {
		.stack = copied, .open = open_file, .ctx = &f, .max = MEMTAP_OOM_FRAMES,
		.ips = ips,
	};
	__u32 rest;

	/* of another kill, or of none; the module's walk by rows lacks nothing */
	if (copied->nr != r->nr || (!copied->ip && !copied->flags) || (by_rows && !oom_is_cut(r)))
		return;
	s = calloc(1, sizeof(*s));
	if (!s)
		return;
	clean(copied);
	oom_stack_init(s, r, &o);
	f.s = s;
	rest = unwind_copied(&u);
	if (u.nr && (!rest || u.nr >= r->nr_ustack)) {
		take_frames(r, copied, &u);
		r->urest = rest;
	} else if (oom_is_cut(r)) {
		r->urest = rest;
	}
	free(s);
}
