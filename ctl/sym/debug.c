// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the debug file of a program.  The program's author chooses the names, and elfutils opens
 * whatever has them, which may be a FIFO (it would block) or a device.  So memtap looks for the
 * file itself, by the names that distributions and debuggers use.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "elf/build_id.h"
#include "base/openreg.h"
#include "base/path.h"
#include "sym/debug.h"

#define NR_WAYS		4
#define SUMMED_MAX	(1LL << 30)	/* bytes of a file that only its sum tells */

struct wanted {
	const char *debug_dir;
	const char *program;
	const char *dir;	/* its, */
	int dir_len;
	const char *name;	/* of the debug file; NULL: not to be opened */
	const char *suffix;
	const unsigned char *id;
	int id_len;		/* 0: none, and then the sum tells */
	const GElf_Word *sum;
};

static int path_to(const struct wanted *w, int way, char **path)
{
	if (!way)
		return build_id_path(path, w->debug_dir, w->id, (size_t)w->id_len, ".debug");
	if (!w->name)
		return -1;
	switch (way) {
	case 1:
		return asprintf(path, "%.*s/%s%s", w->dir_len, w->dir, w->name, w->suffix);
	case 2:
		return asprintf(path, "%.*s/.debug/%s%s", w->dir_len, w->dir, w->name,
				w->suffix);
	default:
		return asprintf(path, "%s/%.*s/%s%s", w->debug_dir, w->dir_len, w->dir,
				w->name, w->suffix);
	}
}

static bool has_id(int fd, const struct wanted *w)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	const bool yes = elf && build_id_is(elf, w->id, (size_t)w->id_len);

	elf_end(elf);
	return yes;
}

static bool has_sum(int fd, GElf_Word sum)
{
	unsigned char buf[16384];
	uLong crc = crc32(0, NULL, 0);
	struct stat st;
	off_t at = 0;
	ssize_t n;

	/* one that is mostly holes would take hours */
	if (fstat(fd, &st) || st.st_size > SUMMED_MAX)
		return false;
	while (at <= st.st_size && (n = pread(fd, buf, sizeof(buf), at)) > 0) {
		crc = crc32(crc, buf, (uInt)n);
		at += n;
	}
	return at && at == st.st_size && crc == sum;
}

/* A link may lead back. */
static bool is_program(int fd, const struct wanted *w)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(w->program, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static bool is_debug_file(int fd, const struct wanted *w)
{
	if (is_program(fd, w))
		return false;
	if (w->id_len)
		return has_id(fd, w);
	return w->sum && has_sum(fd, *w->sum);
}

static int try_way(const struct wanted *w, int way, char **found)
{
	char *path;
	int fd;

	if (path_to(w, way, &path) < 0)
		return -1;
	fd = open_regular(path);
	if (fd >= 0 && is_debug_file(fd, w)) {
		*found = path;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return -1;
}

int sym_debug_find(Dwfl_Module *mod, void **userdata,
		   const char *modname __attribute__((unused)),
		   Dwarf_Addr base __attribute__((unused)), const char *file_name,
		   const char *link, GElf_Word crc, char **found)
{
	const char *slash = file_name ? strrchr(file_name, '/') : NULL;
	struct wanted w = {
		.debug_dir = *userdata,
		.program = file_name,
		.dir = slash ? file_name : ".",
		.dir_len = slash ? (int)(slash - file_name) : 1,
		.name = link ? link : file_name ? base_name(file_name) : NULL,
		.suffix = link ? "" : ".debug",
		.sum = link ? &crc : NULL,
	};
	GElf_Addr where;
	int fd = -1;

	/* a link without a sum is one to DWARF of several programs: see alt.c */
	if (!file_name || (link && !crc))
		return -1;
	if (strchr(w.name, '/'))
		w.name = NULL;
	w.id_len = dwfl_module_build_id(mod, &w.id, &where);
	if (w.id_len < 0)
		w.id_len = 0;
	for (int way = 0; fd < 0 && way < NR_WAYS; way++)
		fd = try_way(&w, way, found);
	return fd;
}
