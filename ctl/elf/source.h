/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SOURCE_H
#define _SOURCE_H

#include "elf/c_type.h"

struct elfsym;

/*
 * Source lines and variables, from a file's DWARF or that of its separate debug file: where code
 * of a line begins, and where a variable is at such a place.  Hostile files are expected.
 */
struct source;

/* @e must outlive it.  -ENODATA: there is no DWARF. */
int source_open(struct elfsym *e, struct source **s);
void source_close(struct source *s);

struct source_place {
	__u64 vaddr, offset;		/* offset in the file */
	char function[64];		/* that has the code, or whose code was inlined; or "" */
	bool inlined;
};

struct source_lines {
	struct source_place *at;	/* in order of addresses */
	size_t nr;
	char file[256];			/* the name that answered */
	char other[256];		/* -ENOTUNIQ: another one */
	int before, after;		/* -ENODATA: nearest lines with code; 0: none */
};

/*
 * The places where an instruction is recommended for a breakpoint at @line of @file, which is the
 * end of a path.  -ENOENT: there is no such source file; -ENOTUNIQ: there are several; -ENODATA: no
 * code begins at this line; -E2BIG: the file has more DWARF than is read.
 */
int source_find(struct source *s, const char *file, int line, struct source_lines *l);
void source_free_lines(struct source_lines *l);

enum source_how {
	SOURCE_READ,		/* it can be read */
	SOURCE_NONE,		/* no variable of this name is visible there */
	SOURCE_GONE,		/* it is optimized out there */
	SOURCE_EARLY,		/* an argument that the function has not stored yet */
	SOURCE_CONSTANT,	/* optimized to a constant */
	SOURCE_FORM,		/* its place is described in a form that is not read */
	SOURCE_TYPE,		/* it is no number, pointer or string; with @reg: there it is */
};

/* Its value is that of register @reg + @offset; with @load what lies at this address. */
struct source_var {
	enum source_how how;
	bool load;
	const char *reg;
	__s64 offset;
	const char *type;	/* as arguments have it: "s32" */
	char words[64];		/* as the source has it: "unsigned int" */
	bool array;		/* of characters */
	struct ctype of;	/* numbers of types are source_types() */
};

/* Variable @name, as the code at @vaddr sees it. */
void source_var(struct source *s, __u64 vaddr, const char *name, struct source_var *v);

/*
 * The type of argument @n, from 0, of the function that begins at @vaddr, if that has it in the
 * register where arguments are; or of what it returns, -1.
 */
bool source_argument(struct source *s, __u64 vaddr, int n, struct ctype *type);

/* Types of variables, and their members. */
struct ctypes source_types(struct source *s);

/* Call @fn for each variable of the functions' blocks that is visible at @vaddr. */
void source_for_each_var(struct source *s, __u64 vaddr,
			 void (*fn)(const char *name, const struct source_var *v, void *ctx),
			 void *ctx);

#endif
