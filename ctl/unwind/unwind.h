/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _UNWIND_H
#define _UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "uapi/memtap.h"

/*
 * Build rows for the kernel's unwinder from a file's call frame information (.eh_frame,
 * .debug_frame, also of a separate debug file); see struct memtap_rule.  Hostile files are
 * expected.
 */
struct unwind_coverage {
	__u64 functions;	/* FDEs that gave rows */
	__u64 bytes;		/* of code in executable segments */
	__u64 covered;		/* of it, by rows that lead on, or end a stack */
	__u64 none;		/* of it, by rows that are not supported */
	__u64 none_rows;
	__u64 damaged;		/* FDEs that could not be read */
	bool frame_pointers;	/* no CFI at all: one rule, MEMTAP_RULE_FP */
};

struct unwind_table {
	__u32 nr_rows, nr_rules;
	__u32 *rows;		/* as struct memtap_table has them */
	__u16 *kinds;
	struct memtap_rule *rules;
	struct unwind_coverage coverage;
	bool cached;		/* read from the cache */
};

/*
 * Make the table of an open file, without looking into the cache.  @fd stays the
 * caller's.  -ENOEXEC: no ELF file of this machine; -EBADMSG: damaged; -EFBIG:
 * code beyond 4 GiB of the file, or more rows or rules than a table can have.
 */
int unwind_compile(int fd, struct unwind_table *t);

/*
 * The same through the cache: read from there if it is sound, else made and kept
 * there.  A cache that cannot be read or written costs time, and is no error.
 */
int unwind_get(int fd, struct unwind_table *t);

/* The code that the kernel maps into each process.  -ENOENT: there is none. */
int unwind_vdso(struct unwind_table *t);

void unwind_free(struct unwind_table *t);

/* Will the module take it?  By the check that the module makes. */
bool unwind_is_sound(const struct unwind_table *t);

/* The rule at an offset of the file, NULL in a gap; *row its row's index. */
const struct memtap_rule *unwind_find(const struct unwind_table *t, __u64 offset,
				      __u32 *row);

/* "CFA=rsp+16 rbp=[CFA-16]" */
void unwind_rule_text(const struct memtap_rule *r, char *text, size_t len);

#define UNWIND_SAVED_REGS	6

/* How a caller's registers are found from a place in its callee, by DWARF's numbers. */
struct unwind_saved {
	bool outermost;			/* nobody has called it */
	__u32 cfa_reg;			/* the caller's stack pointer: this register, */
	__s64 cfa_offset;		/* and so much */
	__u32 nr;
	struct {
		__u32 reg;
		__s64 at;		/* from there */
	} saved[UNWIND_SAVED_REGS];	/* the others are what they are now */
};

/* -ENOENT: nothing is said of this place; -ENOTSUP: something less simple. */
int unwind_saved_at(int fd, __u64 offset, struct unwind_saved *s);

/*
 * Unwind a copy of a user stack (struct memtap_oom_stack) by the module's own walk.  @open: opens
 * the file that a mapping of the copy is of, or a negative errno; @nr: of frames, out, at most
 * @max; @flags: MEMTAP_STACK_*.  Returns MEMTAP_OOM_REST_*.  The copy may be hostile.
 */
struct unwind_copy {
	const struct memtap_oom_stack *stack;
	int (*open)(void *ctx, const struct memtap_oom_map *map);
	void *ctx;
	__u32 max, nr, flags;
	__u64 *ips;
};

__u32 unwind_copied(struct unwind_copy *c);

/*
 * Which files a program brought into its process the last times (companions),
 * kept in the cache by the program's identity, so that they can be prepared
 * before it starts.  Calls fn with paths, most recently seen first, until it
 * returns other than 0.
 */
int unwind_companions(int fd, int (*fn)(const char *path, void *ctx), void *ctx);
/* Adds paths to them; a failure is no error. */
void unwind_remember(int fd, const char *const *paths, size_t nr);

#endif
