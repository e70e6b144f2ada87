// SPDX-License-Identifier: GPL-2.0-or-later
/* Resolve user addresses: mapping, object, symbol, source line. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "sym/dwarf.h"
#include "sym/int.h"

#define NR_OBJECT_HEADS	1024

/* A file that is mapped, under its identity; or the vdso. */
struct sym_object {
	struct sym_object *next;
	struct snap_file id;	/* path interned */
	bool vdso;
	bool foreign;		/* of a snapshot from elsewhere */
	const char *base;	/* last part of the path */
	struct sym_elf *elf;	/* NULL: no such file here */
};

static unsigned int hash_file(const struct snap_file *f)
{
	__u64 h = f->inode * 0x9e3779b97f4a7c15ULL;

	for (const char *p = f->path; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ULL;
	return (h >> 32) % NR_OBJECT_HEADS;
}

static bool same_file(const struct snap_file *a, const struct snap_file *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len) &&
	       !strcmp(a->path, b->path);
}

static void open_object(struct sym *s, struct sym_object *o, const struct snap *snap,
			const struct memtap_rec_task *task, const struct snap_map *map)
{
	static const char offsets[] = ": its functions are shown as offsets";
	char path[4096];
	int fd = -1;

	if (o->vdso) {
		/* ours is like any other, but not like that of a 32-bit task */
		if (!o->foreign && !(task->flags & MEMTAP_TASK_COMPAT))
			fd = sym_vdso_fd();
		strcpy(path, "[vdso]");
	} else {
		switch (sym_find_file(s, snap, task, map, &o->id, &fd, path)) {
		case FOUND_OTHER:
			sym_note(s, "%s is not the file that was mapped (replaced since then?)%s",
				 o->id.path, offsets);
			return;
		case FOUND_NONE:
			if (o->id.path[0] == '/')
				sym_note(s, "%s no longer exists on this machine%s",
					 o->id.path, offsets);
			return;
		case FOUND:
			break;
		}
	}
	if (fd >= 0)
		o->elf = sym_elf_open(fd, path, s->opts.debug_dir);
}

static struct sym_object *find_object(struct sym *s, const struct snap *snap,
				      const struct memtap_rec_task *task,
				      const struct snap_map *map,
				      const struct snap_file *file, bool vdso)
{
	bool foreign = (vdso || !file->build_id_len) && !sym_is_local(snap);
	struct sym_object **head, *o;

	if (!s->objects)
		s->objects = calloc(NR_OBJECT_HEADS, sizeof(*s->objects));
	if (!s->objects)
		return NULL;
	head = &s->objects[hash_file(file)];
	for (o = *head; o; o = o->next)
		if (same_file(&o->id, file) && o->vdso == vdso && o->foreign == foreign)
			return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->id = *file;
	o->id.path = sym_intern(s, file->path);
	o->base = base_name(o->id.path);
	o->vdso = vdso;
	o->foreign = foreign;
	open_object(s, o, snap, task, map);
	o->next = *head;
	*head = o;
	return o;
}

void sym_objects_free(struct sym *s)
{
	for (int i = 0; s->objects && i < NR_OBJECT_HEADS; i++) {
		struct sym_object *o;

		while ((o = s->objects[i])) {
			s->objects[i] = o->next;
			sym_elf_close(o->elf);
			free(o);
		}
	}
	free(s->objects);
}

/* Source frames of an address in an ELF file. */
static size_t elf_frames(struct sym *s, const struct sym_object *o, __u64 addr,
			 bool call, struct sym_frame *out)
{
	struct sym_dwarf_frame d[SYM_MAX_INLINE];
	const char *symbol;
	__u64 start = addr;
	size_t nr = s->opts.no_lines ? 0 :
		    sym_dwarf_frames(o->elf, addr, s->opts.no_inline, d);

	if (!s->opts.no_lines && sym_dwarf_gave_up(o->elf))
		sym_note(s, "%s: source lines and inlined calls are not shown: not enough memory "
			 "to read them", o->base);
	symbol = sym_elf_symbol(o->elf, addr, &start);
	if (!nr) {
		memset(d, 0, sizeof(d[0]));
		nr = 1;
	}
	if (symbol)
		d[nr - 1].name = symbol;
	for (size_t i = 0; i < nr; i++) {
		memset(&out[i], 0, sizeof(out[i]));
		out[i].name = d[i].name ? sym_demangle(s, d[i].name) : NULL;
		out[i].linkage = out[i].name != d[i].name ? d[i].name : NULL;
		out[i].object = o->base;
		out[i].file = d[i].file;
		out[i].line = d[i].line;
		out[i].offset = symbol ? addr + call - start : 0;
		out[i].addr = addr;
		out[i].inlined = i + 1 < nr;
	}
	return nr;
}

static size_t object_frames(struct sym *s, const struct sym_object *o, __u64 offset,
			    bool call, const struct sym_frame **frames)
{
	struct sym_frame out[SYM_MAX_INLINE] = { { .object = o->base, .addr = offset } };
	__u64 addr;
	size_t nr;

	nr = sym_cache_get(s, o, offset << 1 | call, frames);
	if (nr)
		return nr;
	nr = 1;
	if (o->elf && sym_elf_address(o->elf, offset, &addr))
		nr = elf_frames(s, o, addr, call, out);
	return sym_cache_put(s, o, offset << 1 | call, out, nr, frames);
}

/* An address in no file: unknown, or of a JIT compiler. */
static size_t loose_frame(struct sym *s, const char *object, __u64 ip, bool call,
			  const char *name, __u64 start, const void *owner,
			  const struct sym_frame **frames)
{
	struct sym_frame f = { .object = object, .addr = ip - call };
	size_t nr = sym_cache_get(s, owner, ip << 1 | call, frames);

	if (nr)
		return nr;
	if (name) {
		f.name = sym_intern(s, name);
		f.offset = ip - start;
	}
	return sym_cache_put(s, owner, ip << 1 | call, &f, 1, frames);
}

static size_t anon_frame(struct sym *s, const struct snap *snap,
			 const struct memtap_rec_task *task, __u64 ip, bool call,
			 const struct sym_frame **frames)
{
	static const char jit[] = "[jit]";
	const void *owner = NULL;
	char name[1024];
	__u64 start = 0;

	if (sym_perfmap(s, snap, task, ip - call, &start, &owner, name, sizeof(name)))
		return loose_frame(s, jit, ip, call, name, start, owner, frames);
	return loose_frame(s, jit, ip, call, NULL, 0, jit, frames);
}

static bool has_jit_name(const struct snap_file *f)
{
	return !strncmp(f->path, "/memfd:", 7) || !strncmp(f->path, "/dev/zero", 9) ||
	       !strncmp(f->path, "//anon", 6);
}

/* What the file says; found under all that it says, as files may differ. */
static size_t saved_frames(struct sym *s, const struct snap *snap, __u32 space, __u32 era,
			   __u64 ip, bool call, const struct sym_frame **frames)
{
	struct sym_frame out[SYM_MAX_INLINE];
	const struct snap_usym *u;
	size_t nr = snap_usyms(snap, space, era, ip, call, &u), known;
	char id[1024];
	const char *owner;

	if (!nr)
		return 0;
	if (nr > SYM_MAX_INLINE)
		nr = SYM_MAX_INLINE;
	snprintf(id, sizeof(id), "%llx %llx %u %.400s %.200s %.300s",
		 (unsigned long long)u->addr, (unsigned long long)u->offset,
		 u->line, u->object, u->file, u->name);
	owner = sym_intern(s, id);
	known = sym_cache_get(s, owner, ip << 1 | call, frames);
	if (known)
		return known;
	for (size_t i = 0; i < nr; i++) {
		out[i] = (struct sym_frame){
			.name = *u[i].name ? sym_intern(s, u[i].name) : NULL,
			.linkage = *u[i].linkage ? sym_intern(s, u[i].linkage) : NULL,
			.object = sym_intern(s, u[i].object),
			.file = *u[i].file ? sym_intern(s, u[i].file) : NULL,
			.line = u[i].line, .offset = u[i].offset, .addr = u[i].addr,
			.inlined = u[i].flags & MEMTAP_USYM_INLINED,
		};
	}
	return sym_cache_put(s, owner, ip << 1 | call, out, nr, frames);
}

size_t sym_user(struct sym *s, const struct snap *snap,
		const struct memtap_rec_task *task, __u32 era, __u64 ip, bool call,
		const struct sym_frame **frames)
{
	static const struct snap_file vdso = { .path = "[vdso]" };
	static const char nowhere[] = "";
	const struct snap_file *file = NULL;
	const struct snap_map *map;
	struct sym_object *o;
	bool is_vdso;

	map = task ? snap_map(snap, task->space, era, ip - call) : NULL;
	if (task && snap->nr_usyms && (map || era != MEMTAP_ERA_LOST)) {
		size_t nr = saved_frames(s, snap, task->space, map ? map->era : 0, ip, call,
					 frames);

		if (nr)
			return nr;
	}
	if (!map)
		return loose_frame(s, nowhere, ip, call, NULL, 0, nowhere, frames);
	is_vdso = map->flags & MEMTAP_MAP_VDSO;
	if (map->file)
		file = snap_file(snap, map->file);
	if (!is_vdso && (!file || has_jit_name(file)))
		return anon_frame(s, snap, task, ip, call, frames);
	o = find_object(s, snap, task, map, is_vdso ? &vdso : file, is_vdso);
	if (!o)
		return loose_frame(s, nowhere, ip, call, NULL, 0, nowhere, frames);
	return object_frames(s, o, ip - call - map->start + map->offset, call, frames);
}
