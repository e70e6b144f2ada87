/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KINDS_H
#define _KINDS_H

#include "base/ids.h"
#include "heap/graph.h"

/*
 * What blocks are, by what is in them.  An object's first word names its class; most of the rest is
 * said with "looks like".  The contents may be anything, also made to mislead.
 */
enum kind_what {
	KIND_SIZE,			/* nothing is known but the size */
	KIND_CLASS,			/* begins with the table of a C++ class */
	KIND_CLASSES,			/* looks like several such objects */
	KIND_SYMBOL,			/* one of the first words points to a function or table */
	KIND_STRING,			/* text that somebody has with its length: std::string */
	KIND_TEXT,
	KIND_VECTOR,			/* that somebody has by begin, end, end of room */
	KIND_POINTERS,			/* an array of them */
	KIND_TREE,			/* nodes of std::map and its like, by size, */
	KIND_LIST,			/* of doubly linked lists, by size */
	KIND_ZERO,
	KIND_OBJECT,			/* of Python; and */
	KIND_PART,			/* what belongs to one, such as the items of a list; */
	KIND_FREED,			/* as it looks, one that was freed, and its memory kept */
	NR_KIND_WHATS
};

/* The name of such for JSON. */
const char *kind_what_name(enum kind_what what);

struct kind {
	enum kind_what what;
	__u32 of;			/* POINTERS: kind of what they lead to, or KIND_NONE */
	__u64 word;			/* CLASS, CLASSES, SYMBOL, OBJECT: the address */
	__u64 size;			/* SIZE, TREE, LIST: usable bytes at most; SYMBOL: where the
					 * word stands */
	__u64 blocks, bytes;		/* bytes of the heap, with their heads */
	__u64 example[2];		/* addresses; 0: none */
	const char *symbol;		/* of .word; kept by .words */
};

#define KIND_NONE	IDS_NONE

enum kind_word { KIND_WORD_OTHER, KIND_WORD_CLASS, KIND_WORD_SYMBOL };

struct kind_names {
	/* Is @word in a file that the process has mapped?  Asked often. */
	bool (*is_file)(void *ctx, __u64 word);
	/* What is there; its name for free(), or NULL: it is OTHER.  Asked once for each. */
	enum kind_word (*look)(void *ctx, __u64 word, char **name);
	void *ctx;
	/* Or NULL: of blocks whose kind is known otherwise, its key; .symbol is not freed. */
	bool (*known)(void *ctx, __u32 block, struct kind *key);
	void *known_ctx;
};

struct kind_word_name;

struct kinds {
	struct graph *g;
	const struct kind_names *names;
	__u16 *of;			/* by chunk; of blocks alone */
	struct kind *at;
	size_t room;
	struct ids ids;
	struct kind_word_name *words;	/* that were looked up */
	size_t room_words;
	struct ids word_ids;
	bool many;			/* more than there is room for: by size alone */
};

/*
 * Needs the index of @g, and the edges of roots.  Blocks that look like text are opaque then,
 * and what is behind the end of a std::vector: there stands what was left there before.
 */
int kinds_find(struct kinds *k, struct graph *g, const struct kind_names *names);
void kinds_free(struct kinds *k);
/* "Session", "looks like text"; in @text if it has to be made up. */
const char *kind_name(const struct kinds *k, __u32 kind, char *text, size_t len);

static inline size_t kinds_nr(const struct kinds *k)
{
	return k->ids.nr;
}

#endif
