/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _NEEDED_H
#define _NEEDED_H

#include <stdbool.h>
#include <stddef.h>

/* Called with a path and the file, open for reading until it returns; 0 or more. */
typedef int (*needed_fn)(const char *path, int fd, void *ctx);

/*
 * The files that a program will bring into its process when it is executed, as
 * far as they can be told beforehand: the interpreters that a script names, the
 * program, its dynamic linker, its libraries and theirs.  Each once, the program
 * first; what is not found is left out.  Ends when @fn returns more than 0, and
 * returns that.
 */
int needed_walk(const char *path, needed_fn fn, void *ctx);

/*
 * The same for a command that runs @path: also of the programs that it leads to (wrapper.h).
 * @argv may be NULL.
 */
int needed_walk_command(const char *path, char *const *argv, needed_fn fn, void *ctx);

/* ---- its parts, for each other and for tests ---- */

/*
 * "#!/usr/bin/env -S prog": the first word and, where it is env, the program
 * that env will look for ("": none).  False: no such line.
 */
bool needed_script(const char *text, size_t len, char *interpreter, char *program,
		   size_t room);

struct arena;

/* What the program headers of an ELF file of this machine say. */
struct needed_elf {
	const char *interpreter;	/* or NULL */
	const char *rpath, *runpath;	/* or NULL */
	const char **names;		/* DT_NEEDED */
	size_t nr;
};

/* Everything in @e is in @arena.  -ENOEXEC: no ELF file of this kind. */
int needed_elf_read(int fd, struct needed_elf *e, struct arena *arena);

/* The libraries of ld.so.cache, by name. */
struct needed_lib {
	const char *path;
	size_t order;			/* in the cache: which is preferred */
};

struct needed_libs {
	char *bytes;
	struct needed_lib *libs;
	size_t nr;
};

void needed_libs_load(struct needed_libs *l);
/* Those of this name: how many, from *first on. */
size_t needed_libs_find(const struct needed_libs *l, const char *name,
			const struct needed_lib **first);
void needed_libs_free(struct needed_libs *l);

#endif
