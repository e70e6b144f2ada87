// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Record in which processes the allocators were probed, by the files that these mapped.  Files are
 * compared by device and inode: in another root the same path may be another libc.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "elf/build_id.h"
#include "leaks/leaks.h"
#include "leaks/run.h"

/* What is known of a file that processes map. */
enum seen {
	SEEN_NOT,			/* nobody looked at it */
	SEEN_PLAIN,			/* it has no allocator */
	SEEN_ALLOCATOR,
	SEEN_REFUSED,			/* it has, and not all of it could be probed */
};

struct code {
	__u32 space;			/* of mappings, */
	struct memtap_rec_space *of;	/* and of blocks */
};

static bool same_build_id(const struct verify_file *v, const struct snap_file *f)
{
	Elf *elf;
	bool same;

	if (v->fd < 0 || !f->build_id_len)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(v->fd, ELF_C_READ, NULL);
	same = elf && build_id_begins(elf, f->build_id, f->build_id_len);
	elf_end(elf);
	return same;
}

/* Some file systems have other devices in stat() than the kernel has. */
static bool is_file(const struct verify_file *v, const struct snap_file *f)
{
	const dev_t dev = makedev(f->dev_major, f->dev_minor);

	return v->ino == f->inode && (v->dev == dev || v->map_dev == dev || same_build_id(v, f));
}

static enum seen look_up(const struct leaks_run *r, const struct snap_file *f)
{
	for (size_t i = 0; i < r->nr_files; i++) {
		const struct verify_file *v = &r->files[i];

		if (!is_file(v, f))
			continue;
		if (v->refused)
			return SEEN_REFUSED;
		return v->functions ? SEEN_ALLOCATOR : SEEN_PLAIN;
	}
	return SEEN_NOT;
}

static int cmp_code(const void *a, const void *b)
{
	const struct code *x = a, *y = b;

	return (x->space > y->space) - (x->space < y->space);
}

static bool follows_maps(const struct snap *s)
{
	for (size_t i = 0; i < s->nr_heaps; i++)
		if (s->heaps[i].family == MEMTAP_FAMILY_MMAP)
			return true;
	return false;
}

/*
 * The spaces that are watched from their beginning, by the number of their mappings.  Who has
 * ended, and made no call that is followed, did not even have a dynamic linker.
 */
static size_t list_code(const struct snap *s, struct code *code)
{
	const bool maps = follows_maps(s);
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_spaces; i++) {
		struct memtap_rec_space *x = &s->spaces[i];
		const struct memtap_rec_task *t = snap_task(s, x->task);

		if (!(x->flags & MEMTAP_SPACE_START))
			continue;
		if (t && t->pid == x->pid)
			code[nr++] = (struct code){ t->space, x };
		else if (!t && maps && x->flags & MEMTAP_SPACE_EXITED)
			x->flags |= MEMTAP_SPACE_NOT_FOLLOWED;
	}
	if (nr)
		qsort(code, nr, sizeof(*code), cmp_code);
	return nr;
}

/* Mappings @first to the returned number are those of one space: do they show a hole? */
static size_t see_space(const struct snap *s, size_t first, const unsigned char *seen,
			bool *followed)
{
	bool any = false, hole = false;
	size_t i = first;

	for (; i < s->nr_maps && s->maps[i].space == s->maps[first].space; i++) {
		const struct snap_file *f = s->maps[i].file ? snap_file(s, s->maps[i].file) : NULL;
		const enum seen what = f ? seen[f - s->files] : SEEN_PLAIN;

		any |= what == SEEN_ALLOCATOR;
		hole |= what == SEEN_REFUSED || (what == SEEN_NOT && leaks_is_libc(f->path));
	}
	*followed = any && !hole;
	return i;
}

static void mark(struct code *code, size_t nr, __u32 space)
{
	for (size_t i = 0; i < nr; i++)
		if (code[i].space == space)
			code[i].of->flags |= MEMTAP_SPACE_NOT_FOLLOWED;
}

int leaks_set_followed(struct leaks_run *r, struct snap *s)
{
	struct code *code = calloc(s->nr_spaces + 1, sizeof(*code));
	unsigned char *seen = calloc(s->nr_files + 1, sizeof(*seen));
	size_t nr, end;
	bool followed;

	if (!code || !seen) {
		free(code);
		free(seen);
		return -ENOMEM;
	}
	nr = list_code(s, code);
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; nr && i < s->nr_files; i++)
		seen[i] = (unsigned char)look_up(r, &s->files[i]);
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; nr && i < s->nr_maps; i = end) {
		const struct code key = { s->maps[i].space, NULL };

		end = see_space(s, i, seen, &followed);
		if (!followed && bsearch(&key, code, nr, sizeof(*code), cmp_code))
			mark(code, nr, key.space);
	}
	free(code);
	free(seen);
	return 0;
}
