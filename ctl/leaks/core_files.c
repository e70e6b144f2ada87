// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files that a process of a core file had mapped.  They may be gone, or other ones by now: one
 * is read only if its build ID is that of the mapped one, or if its first page is.
 */
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/openreg.h"
#include "leaks/core_int.h"

#define MOST_HEADERS	64
#define MOST_NOTE	1024

struct text {
	const char *at;
	size_t len;
};

static bool same_path(const void *things, __u32 id, const void *key)
{
	const struct core_mapped *f = (const struct core_mapped *)things + id;
	const struct text *t = key;

	return !strncmp(f->path, t->at, t->len) && !f->path[t->len];
}

static __u64 hash_of(const struct text *t)
{
	__u64 hash = 0;

	for (size_t i = 0; i < t->len; i++)
		hash = ids_mix(hash, (unsigned char)t->at[i]);
	return hash;
}

static __u32 find_file(const struct core *c, const struct text *t)
{
	return ids_find(&c->file_ids, hash_of(t), same_path, c->files, t);
}

struct core_mapped *core_find_file(const struct core *c, const char *path)
{
	const struct text t = { path, strlen(path) };
	const __u32 id = find_file(c, &t);

	return id == IDS_NONE ? NULL : &c->files[id];
}

int core_add_file(struct core *c, const char *path, size_t len, size_t *file)
{
	const struct text t = { path, len };
	struct core_mapped *more;
	__u32 id = find_file(c, &t);

	*file = id;
	if (id != IDS_NONE)
		return 0;
	more = ids_grow(c->files, c->nr_files, &c->room_files, sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->files = more;
	c->files[c->nr_files] = (struct core_mapped){ .path = strndup(path, len), .fd = -1 };
	if (!c->files[c->nr_files].path)
		return -ENOMEM;
	c->files[c->nr_files].at = c->files[c->nr_files].path;
	*file = c->nr_files++;
	id = ids_add(&c->file_ids, hash_of(&t));
	return id == IDS_NONE ? -ENOMEM : 0;
}

void core_free_files(struct core *c)
{
	for (size_t i = 0; i < c->nr_files; i++) {
		free(c->files[i].path);
		if (c->files[i].fd >= 0)
			close(c->files[i].fd);
	}
	free(c->files);
	ids_free(&c->file_ids);
}

/* ---- what the core says ---- */

static size_t unhex(const char *text, unsigned char *to, size_t room)
{
	unsigned int v;
	size_t nr = 0;

	while (nr < room && sscanf(text + 2 * nr, "%2x", &v) == 1 && text[2 * nr + 1])
		to[nr++] = (unsigned char)v;
	return nr;
}

void core_read_files(struct core *c)
{
	const struct core_note *n = &c->saved[CORE_SAVED_FILES];
	char *text = n->len ? strndup((const char *)n->at, n->len) : NULL, *rest, id[130];
	unsigned long long size;
	struct core_mapped *f;
	int at;

	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (sscanf(line, "%llu %128[0-9a-f-] %n", &size, id, &at) != 2)
			continue;
		f = core_find_file(c, line + at);
		if (!f)
			continue;
		f->size = size;
		f->id_len = id[0] == '-' ? 0 : unhex(id, f->id, sizeof(f->id));
	}
	free(text);
}

static bool read_at(const struct core *c, __u64 addr, void *buf, size_t len)
{
	/* (of the core alone: the file is not known to be the same yet) */
	return pages_read(&((struct core *)(unsigned long)c)->pages, addr, buf, len) == len;
}

static size_t padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

static void find_id(struct core_mapped *f, const unsigned char *at, size_t left)
{
	Elf64_Nhdr n;

	while (left >= sizeof(n)) {
		memcpy(&n, at, sizeof(n));
		at += sizeof(n);
		left -= sizeof(n);
		if (n.n_namesz > left || n.n_descsz > left ||
		    padded(n.n_namesz) + padded(n.n_descsz) > left)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(at, "GNU", 4) &&
		    n.n_descsz && n.n_descsz <= sizeof(f->id)) {
			memcpy(f->id, at + 4, n.n_descsz);
			f->id_len = n.n_descsz;
			return;
		}
		at += padded(n.n_namesz) + padded(n.n_descsz);
		left -= padded(n.n_namesz) + padded(n.n_descsz);
	}
}

/* In the first page of what was mapped, which a core has mostly. */
static void read_id(const struct core *c, struct core_mapped *f)
{
	unsigned char note[MOST_NOTE];
	Elf64_Ehdr e;
	Elf64_Phdr p;

	if (f->id_len || !f->base || !read_at(c, f->base, &e, sizeof(e)) ||
	    memcmp(e.e_ident, ELFMAG, SELFMAG) || e.e_phentsize != sizeof(p) ||
	    e.e_phnum > MOST_HEADERS || e.e_phoff > PAGES_SIZE)
		return;
	for (size_t i = 0; i < e.e_phnum && !f->id_len; i++)
		if (read_at(c, f->base + e.e_phoff + i * sizeof(p), &p, sizeof(p)) &&
		    p.p_type == PT_NOTE && p.p_filesz <= sizeof(note) &&
		    p.p_offset <= PAGES_SIZE &&
		    read_at(c, f->base + p.p_offset, note, (size_t)p.p_filesz))
			find_id(f, note, (size_t)p.p_filesz);
}

/* ---- is it still the same? ---- */

static enum core_file_state by_id(const struct core_mapped *f)
{
	enum core_file_state state = CORE_FILE_OTHER;
	Elf *elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
	const void *id;
	ssize_t len = elf ? dwelf_elf_gnu_build_id(elf, &id) : -1;

	if (len == (ssize_t)f->id_len && !memcmp(id, f->id, f->id_len))
		state = CORE_FILE_SAME;
	elf_end(elf);
	return state;
}

static enum core_file_state by_contents(const struct core *c, const struct core_mapped *f)
{
	unsigned char mapped[PAGES_SIZE], now[PAGES_SIZE];
	struct stat st;
	ssize_t n;

	if (fstat(f->fd, &st) || (f->size && (__u64)st.st_size != f->size) ||
	    (((__u64)st.st_size + PAGES_SIZE - 1) & ~(PAGES_SIZE - 1)) < f->end)
		return CORE_FILE_OTHER;
	if (!f->base || !read_at(c, f->base, mapped, sizeof(mapped)))
		return CORE_FILE_SIZE;
	memset(now, 0, sizeof(now));
	n = pread(f->fd, now, sizeof(now), 0);
	return n > 0 && !memcmp(now, mapped, sizeof(now)) ? CORE_FILE_SAME : CORE_FILE_OTHER;
}

static void try_file(const struct core *c, struct core_mapped *f)
{
	elf_version(EV_CURRENT);
	f->fd = open_regular(f->at);
	if (f->fd < 0) {
		f->state = CORE_FILE_GONE;
		f->err = f->fd;
		f->fd = -1;
		return;
	}
	read_id(c, f);
	f->state = f->id_len ? by_id(f) : by_contents(c, f);
}

struct core_mapped *core_file_of(struct core *c, const char *path)
{
	struct core_mapped *f = core_find_file(c, path);

	if (f && f->state == CORE_FILE_NEW)
		try_file(c, f);
	return f;
}

bool core_file_is_good(const struct core_mapped *f)
{
	return f->state == CORE_FILE_SAME || f->state == CORE_FILE_SIZE;
}

/* The segment in which @offset is. */
static bool segment_at(const struct core_mapped *f, __u64 offset, GElf_Phdr *p)
{
	Elf *elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
	bool found = false;
	size_t nr;

	if (elf && !elf_getphdrnum(elf, &nr))
		for (size_t i = 0; i < nr && !found; i++)
			found = gelf_getphdr(elf, (int)i, p) && p->p_type == PT_LOAD &&
				offset >= (p->p_offset & ~(PAGES_SIZE - 1)) &&
				offset < p->p_offset + p->p_filesz;
	elf_end(elf);
	return found;
}

bool core_file_has_data(const struct core_mapped *f, __u64 offset)
{
	GElf_Phdr p;

	return segment_at(f, offset, &p) && p.p_flags & PF_W;
}

bool core_file_rights(const struct core_mapped *f, __u64 offset, struct procmap *m)
{
	GElf_Phdr p;

	if (!segment_at(f, offset, &p))
		return false;
	m->readable = p.p_flags & PF_R;
	m->writable = p.p_flags & PF_W;
	m->executable = p.p_flags & PF_X;
	return true;
}

/* ---- as struct image has it ---- */

static struct core *core_of(const struct image *i)
{
	return (struct core *)(unsigned long)i;
}

int core_image_open(const struct image *i, const struct maps_file *f)
{
	const struct core_mapped *m = core_file_of(core_of(i), f->path);
	int fd;

	if (!m || !core_file_is_good(m))
		return m && m->err ? m->err : -ENOENT;
	fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

bool core_image_is_program(const struct image *i, const struct maps_file *f)
{
	const struct core_mapped *m = core_find_file(core_of(i), f->path);

	return m && m->is_program;
}
