/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ALLOC_H
#define _ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "uapi/memtap.h"

/*
 * Allocators: find the functions of a file that allocate or free memory, the meaning of their
 * arguments, and the instruction where a probe costs least.
 *
 * One table (table.c) has the names: libc's, C++'s in all forms, jemalloc's, tcmalloc's and
 * mimalloc's.
 */

/* --alloc and --free: a function of somebody's own. */
struct alloc_spec {
	char path[256];			/* file, or name of a library; "": the program */
	char function[128];
	__u32 op, family;		/* MEMTAP_HEAP_*; a family of its own for each
					 * path */
	__u8 size_arg, size2_arg, ptr_arg, result_arg;
};

/*
 * "PATH:fn(size=arg1,ptr=ret)", "PATH:fn(ptr=arg1)"; arguments are arg1 .. arg6,
 * size may be argN*argM, ptr=*argN is where the block's address is stored;
 * "old=argN" makes it a realloc.  -EINVAL: says why in @err.
 */
int alloc_spec_parse(const char *text, bool frees, struct alloc_spec *spec,
		     char err[256]);

struct alloc_opts {
	bool push;			/* MEMTAP_FEATURE_PUSH */
	bool moved;			/* the module can be told that rsp has moved */
	bool free_stacks;		/* MEMTAP_ATTACH_FREE_STACK for what frees */
	bool once;			/* MEMTAP_FEATURE_ONCE */
	const char *prefix;		/* --symbols-prefix: also names that begin so */
	const char *obj;		/* --obj: only files of that name; NULL: all */
	const struct alloc_spec *specs;
	size_t nr_specs;
	struct alloc_wanted *wanted;	/* alloc_scan()'s own: begin with NULL */
};

struct alloc_probe {
	struct memtap_attach attach;	/* all but fd, which is -1 */
	bool one_trap;			/* this kernel emulates the instruction */
	bool is_go;			/* a Go function: no return probe may be put */
	__u32 moved;			/* bytes that rsp went down before @offset: 0
					 * unless alloc_opts.moved */
	int spec;			/* index of the --alloc or --free, or -1 */
	char function[128];		/* the symbol */
	char insn[64];			/* the instruction, "push %r12"; "": not known */
	char text[320];			/* "FILE:function", for messages */
};

struct alloc_probes {
	struct alloc_probe *at;
	size_t nr, room;
};

/*
 * Append what a file has; distinct places only, aliases once.  @path is how the
 * target calls the file.  Returns 0 (also where it has none), or a negative
 * errno: -ENOEXEC, -EBADMSG as elfsym_open(), -ENOTSUP for x32, -ENOMEM.
 *
 * Events: "malloc", "calloc", "realloc", "memalign", "free", "new", "new[]",
 * "delete", "delete[]"; the last four are MEMTAP_HEAP_ENTER in C++'s runtime.
 * Where functions of several families are the same code, as tcmalloc's, the event
 * has all their names, "free/delete/delete[]", and goes with all families.
 */
int alloc_scan(struct alloc_probes *p, int fd, const char *path,
	       struct alloc_opts *o);
void alloc_probes_free(struct alloc_probes *p);
void alloc_opts_free(struct alloc_opts *o);	/* what alloc_scan() has put there */

/*
 * Where a function begins, for MEMTAP_ATTACH_HOLD: "_dl_debug_state" of a dynamic
 * linker, "_exit" of a libc.  -ENOENT
 */
int alloc_hold_place(int fd, const char *function, __u64 *offset);

/*
 * place.c: the best instruction for a probe on the function at @offset of
 * the file, whose code is @code, @len bytes of it, all of the function if known.
 * It is passed by every call that matters (of one that frees, those with NULL
 * need not), with arguments in their registers and the stack pointer as at the
 * entry, and nothing in the function jumps to it.  Falls back to the first
 * instruction (after endbr64).
 */
struct alloc_place {
	__u64 offset;			/* in the file */
	__u32 moved;			/* bytes that rsp went down since the entry */
	bool one_trap;
	char insn[64];
};

struct alloc_place_opts {
	bool push;			/* this kernel emulates push */
	bool frees;			/* a call with NULL in @ptr_arg does nothing */
	bool narrow;			/* i386: arguments are on the stack */
	bool moved;			/* rsp may have moved, if nothing else is good:
					 * not where a return probe is put */
	unsigned int args;		/* mask: arguments that have to be intact */
	unsigned int ptr_arg;
};

void alloc_place(struct alloc_place *out, const void *code, size_t len,
		 __u64 offset, const struct alloc_place_opts *o);

#endif
