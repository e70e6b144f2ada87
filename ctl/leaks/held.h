/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HELD_H
#define _HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <linux/types.h>

#include "base/ids.h"

/*
 * What the blocks of a process are, and what keeps them: kinds, and the dominator tree of the heap
 * from variables, stacks and registers, with its blocks merged by kind.
 */
struct held_ask {
	bool kinds, holders;
	const char *path;		/* an address, or a part of a kind's name; or NULL */
	__u64 max_mem;			/* bytes for that; 0: no limit */
	bool progress;			/* of many blocks, say what is done */
	/* with holders: these addresses of blocks, of which it is told in .of */
	const __u64 *blocks;
	size_t nr_blocks;
	bool each;			/* or all: .of is by number of heap.chunks */
};

struct held_kind {
	const char *what;		/* one word, as JSON has it */
	char *name;
	__u64 blocks, bytes;
	__u64 example[2];		/* addresses; 0: none */
};

enum holder_what {
	HOLDER_GLOBAL,
	HOLDER_PYTHON,			/* attribute .name of module .object */
	HOLDER_THREAD_LOCAL,
	HOLDER_FRAMES,			/* of Python's functions, where they are apart (3.11) */
	HOLDER_INTERPRETER,		/* of Python: what it keeps for its own work, in blocks */
	HOLDER_STACK,			/* a live frame */
	HOLDER_REGISTERS,
	HOLDER_KERNEL,			/* arguments of epoll_ctl(), timer_create() */
	HOLDER_MAPPING,
	HOLDER_SBRK,			/* what is in [heap], and not malloc's */
	HOLDER_ARENA,			/* what malloc has, and was not walked */
	HOLDER_TEXT,			/* left behind in text and vectors, as it looks */
	HOLDER_STALE,			/* words of stacks that nobody uses any more */
	HOLDER_SHARED,			/* several of these, none of which is needed */
	HOLDER_LOST,			/* nothing */
	HOLDER_OTHERS,			/* many that hold less */
	NR_HOLDER_WHATS
};

const char *holder_what_name(enum holder_what what);

struct holder {
	enum holder_what what;
	pid_t tid;			/* of a thread, or 0 */
	__u64 addr;			/* where it is, or 0 */
	char *name;			/* of the variable, the function, the mapping */
	char *object;			/* the file's, or NULL */
	char *source;			/* "server.c:41", or NULL */
	__u64 count;			/* OTHERS: how many; PYTHON: attributes with this value;
					 * SHARED: enum holder_what; of threads: so many, that tid
					 * is 0 */
};

/* What a holder keeps, by the kinds that lead there.  Children are sorted, most bytes first. */
struct held_node {
	__u32 parent, child, sibling;	/* 0: none */
	__u32 kind;			/* or HELD_HOLDER: the number of a holder */
	__u32 holder;
	__u32 attribute;		/* of Python, by which it is held; 0: not known; else its
					 * place in .names, and 1 */
	__u64 blocks, bytes;		/* of this kind, here */
	__u64 all_blocks, all_bytes;	/* with all below */
};

#define HELD_HOLDER	0xffffffffU

/* A block: its kind, and the holder that keeps it; both HELD_HOLDER: none has that address. */
struct held_of {
	__u32 kind, holder;
};

struct held_step {
	__u32 kind;			/* or HELD_HOLDER: .holder */
	struct holder holder;
	__u64 addr, size;		/* of the block */
	__u64 at, word;			/* of the pointer to the next one, and its value */
	char *slot;			/* what Python calls that place, or NULL */
	bool is_attribute, is_variable;	/* and that is such a one, else an item */
};

struct held_name {
	char *text;
	bool is_variable;		/* of a function, else an attribute */
};

struct held {
	struct held_kind *kinds;	/* most bytes first */
	size_t nr_kinds;
	bool many_kinds;
	__u64 blocks, bytes;		/* all in use */
	/* asked for holders */
	bool has_holders;
	struct holder *holders;
	size_t nr_holders;
	struct held_node *nodes;	/* [0] is above the holders */
	size_t nr_nodes;
	struct held_name *names;	/* of attributes and variables */
	size_t nr_names;
	struct held_of *of;		/* as ask.blocks, or each chunk; NULL: not asked for */
	/* asked for a path */
	bool has_path;
	struct held_step *steps;	/* from a holder to the block; none: nothing leads there */
	size_t nr_steps;
	const char *no_path;		/* why there is none */
	char why[256];			/* what is missing, and what to do; "": nothing */
};

void held_free(struct held *h);
const char *held_kind_name(const struct held *h, __u32 kind);

/* held_words.c: numbers of different pairs of kind and holder, in the order they were met */
struct held_pairs {
	struct held_of *at;
	struct ids ids;
	size_t room;
};

/* The number; that of a new pair is .ids.nr before.  IDS_NONE: no memory, or there are @most. */
__u32 held_pairs_get(struct held_pairs *p, const struct held_of *of, size_t most);
void held_pairs_free(struct held_pairs *p);

/* "global `table` in server (server.c:41)"; malloc'ed, or NULL */
char *held_holder_text(const struct holder *h);
/* "attribute `table`: dict", or the name of the kind alone */
void held_put_node(const struct held *h, const struct held_node *n, FILE *out);

#endif
