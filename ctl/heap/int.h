/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HEAP_INT_H
#define _HEAP_INT_H

/*
 *	walk.c		from arena to arena, and from chunk to chunk
 *	arena.c		where arenas are
 *	mapped.c	blocks with mappings of their own
 *	cached.c	what is in use by its chunks, and free by malloc's lists
 *	chunks.c	what was found
 *	words.c		memory, word by word
 */
#include "heap/heap.h"

#define WORD		8ULL
#define ALIGN		16ULL
#define PAGE		4096ULL
#define SMALLEST	32ULL		/* chunk */
#define FENCE		16ULL		/* chunk that ends a piece */

/* the lower bits of a size */
#define IN_USE_BEFORE	1ULL
#define IS_MAPPED	2ULL
#define OF_OTHERS	4ULL		/* another arena than the main one */
#define FLAGS		7ULL

#define REGION		(64ULL << 20)	/* that each other arena's pieces are aligned to */

/* From an arena's lists on */
#define NR_LISTS	127
#define AT_TOP		(-16LL)
#define AT_FAST		(-96LL)
#define NR_FAST		10
#define AT_NEXT		2048
#define AT_SYSTEM	2072

/* ---- words.c ---- */

#define WINDOW		(64UL << 10)

struct heap_words {
	const struct heap_memory *m;
	__u64 start;			/* of what was read last */
	size_t got;			/* bytes */
	__u64 buf[WINDOW / WORD];
};

/* False: it cannot be read. */
bool words_at(struct heap_words *w, __u64 addr, void *to, size_t len);
bool word_at(struct heap_words *w, __u64 addr, __u64 *to);

/* ---- arena.c ---- */

struct heap_place {
	const struct heap_area *data;	/* where the main arena's structure is */
	unsigned int lists;		/* offset of them in an arena */
};

/* Finds all arenas, with what they say of themselves.  -ENOENT: there is none */
int arenas_find(struct heap *h, struct heap_place *place, const struct heap_area *areas,
		size_t nr, struct heap_words *w);

/* ---- chunks.c ---- */

int heap_add(struct heap *h, const struct heap_chunk *c);
int heap_add_piece(struct heap *h, __u64 start, __u64 end);
void heap_sort(struct heap *h);

/* ---- mapped.c ---- */

/* @base: where the main arena's memory begins, by which malloc's count of them is found. */
int mapped_find(struct heap *h, const struct heap_place *place, __u64 base,
		const struct heap_area *areas, size_t nr, struct heap_words *w);

/* ---- cached.c ---- */

/* All chunks are known, and sorted. */
int cached_find(struct heap *h, const struct heap_place *place, struct heap_words *w);

#endif
