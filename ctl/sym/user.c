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
	enum sym_found found;
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

/* What the reader needs to look for it elsewhere. */
static const char *id_text(const struct snap_file *f, char text[64])
{
	char *to = text;

	for (__u32 i = 0; i < f->build_id_len && i < sizeof(f->build_id); i++)
		to += sprintf(to, "%02x", f->build_id[i]);
	*to = '\0';
	return text;
}

static void note_missing(struct sym *s, const struct sym_object *o)
{
	const bool no_id = !o->id.build_id_len && o->foreign;
	char id[64];

	if (o->id.path[0] != '/')
		return;
	if (no_id && (s->opts.again || o->found == FOUND_OTHER))
		sym_note(s, "%s has no build ID in the recording, and cannot be compared"
			 SYM_AS_OFFSETS, o->id.path);
	else if (s->opts.again)
		sym_note(s, "%s, build ID %s, is not on this machine" SYM_AS_OFFSETS, o->id.path,
			 id_text(&o->id, id));
	else if (o->found == FOUND_OTHER)
		sym_note(s, "%s is not the file that was mapped (replaced since then?)"
			 SYM_AS_OFFSETS, o->id.path);
	else
		sym_note(s, "%s no longer exists on this machine" SYM_AS_OFFSETS, o->id.path);
}

static void open_object(struct sym *s, struct sym_object *o, const struct snap *snap,
			const struct memtap_rec_task *task, const struct snap_map *map)
{
	char path[4096];
	int fd = -1;

	if (o->vdso) {
		/* ours is like any other, but not like that of a 32-bit task */
		if (!o->foreign && !(task->flags & MEMTAP_TASK_COMPAT))
			fd = sym_vdso_fd();
		strcpy(path, "[vdso]");
	} else {
		o->found = sym_find_file(s, snap, task, map, &o->id, &fd, path);
		if (o->found != FOUND && o->found != FOUND_DEBUG)
			note_missing(s, o);
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

static const struct sym_place *place_of(struct sym *s, const struct snap_file *file,
					const struct snap_map *map, __u64 offset)
{
	struct sym_place *p = file->build_id_len ? arena_alloc(&s->arena, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	p->path = sym_intern(s, file->path);
	p->offset = offset;
	p->map_offset = map->offset;
	p->map_len = map->end - map->start;
	p->build_id_len = file->build_id_len;
	memcpy(p->build_id, file->build_id, sizeof(p->build_id));
	return p;
}

static bool object_address(const struct sym_object *o, const struct snap_map *map, __u64 offset,
			   __u64 *addr)
{
	if (!o->elf)
		return false;
	if (o->found == FOUND_DEBUG && !o->vdso)
		return sym_elf_debug_address(o->elf, offset, map->offset,
					     map->end - map->start, addr);
	return sym_elf_address(o->elf, offset, addr);
}

static size_t object_frames(struct sym *s, const struct sym_object *o, const struct snap_map *map,
			    __u64 offset, bool call, const struct sym_frame **frames)
{
	struct sym_frame out[SYM_MAX_INLINE] = { { .object = o->base, .addr = offset } };
	__u64 addr;
	size_t nr;

	nr = sym_cache_get(s, o, offset << 1 | call, frames);
	if (nr)
		return nr;
	nr = 1;
	if (object_address(o, map, offset, &addr))
		nr = elf_frames(s, o, addr, call, out);
	if (!o->vdso && nr == 1 && !out[0].name)
		out[0].place = place_of(s, &o->id, map, offset);
	return sym_cache_put(s, o, offset << 1 | call, out, nr, frames);
}

static void count_again(struct sym *s, const struct sym_object *o, const struct sym_frame *f)
{
	struct sym_again *a = &s->again;

	if (f->name)
		a->named++;
	else if (o->found == FOUND || o->found == FOUND_DEBUG)
		a->no_symbol++;
	else if (!o->id.build_id_len && o->foreign)
		a->no_id++;
	else
		a->no_file++;
}

/* sym_opts.again: of what a file said, @saved, or said nothing (NULL); @nr: as it returns. */
static size_t look_again(struct sym *s, const struct sym_object *o, const struct snap_map *map,
			 __u64 offset, bool call, size_t nr, const struct sym_frame **frames)
{
	const struct sym_frame *saved = *frames, *found;
	const bool known = sym_cache_get(s, o, offset << 1 | call, &found);
	const size_t n = object_frames(s, o, map, offset, call, &found);

	if (!known && (!saved || !saved->name))
		count_again(s, o, found);
	if (saved && (!found->name || (saved->name && !found->file)))
		return nr;
	*frames = found;
	return n;
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
static size_t saved_frames(struct sym *s, const struct snap *snap, __u32 space,
			   const struct snap_map *map, const struct snap_file *file, __u64 ip,
			   bool call, const struct sym_frame **frames)
{
	struct sym_frame out[SYM_MAX_INLINE];
	const struct snap_usym *u;
	size_t nr = snap_usyms(snap, space, map ? map->era : 0, ip, call, &u), known;
	char id[1024], hex[64] = "";
	const char *owner;
	bool placed;

	if (!nr)
		return 0;
	if (nr > SYM_MAX_INLINE)
		nr = SYM_MAX_INLINE;
	placed = nr == 1 && !*u->name && file;
	snprintf(id, sizeof(id), "%llx %llx %u %.400s %.200s %.200s %s %llx",
		 (unsigned long long)u->addr, (unsigned long long)u->offset,
		 u->line, u->object, u->file, u->name, placed ? id_text(file, hex) : "",
		 placed ? (unsigned long long)(map->offset - map->start) : 0);
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
	if (placed)
		out[0].place = place_of(s, file, map, ip - call - map->start + map->offset);
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
	size_t nr = 0;
	bool is_vdso, mapped;

	map = task ? snap_map(snap, task->space, era, ip - call) : NULL;
	is_vdso = map && (map->flags & MEMTAP_MAP_VDSO);
	if (map && map->file)
		file = snap_file(snap, map->file);
	mapped = is_vdso || (file && !has_jit_name(file));
	if (task && snap->nr_usyms && (map || era != MEMTAP_ERA_LOST))
		nr = saved_frames(s, snap, task->space, map, mapped && !is_vdso ? file : NULL, ip,
				  call, frames);
	if (nr && !(s->opts.again && mapped && !is_vdso && !(*frames)->file))
		return nr;
	if (!map)
		return loose_frame(s, nowhere, ip, call, NULL, 0, nowhere, frames);
	if (!mapped)
		return anon_frame(s, snap, task, ip, call, frames);
	o = find_object(s, snap, task, map, is_vdso ? &vdso : file, is_vdso);
	if (!o)
		return nr ? nr : loose_frame(s, nowhere, ip, call, NULL, 0, nowhere, frames);
	if (!nr)
		*frames = NULL;
	if (s->opts.again && !is_vdso)
		return look_again(s, o, map, ip - call - map->start + map->offset, call, nr,
				  frames);
	return object_frames(s, o, map, ip - call - map->start + map->offset, call, frames);
}
