/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HEAP_INT_H
#define _HEAP_INT_H

/*
 *	walk.c		from arena to arena, and from chunk to chunk
 *	salvage.c	the same for arenas that do not add up
 *	main_arena.c	the pieces of a main arena
 *	arena.c		find arenas
 *	other.c		what walkers of other allocators share
 *	mapped.c	blocks with mappings of their own
 *	cached.c	chunks marked in use, but free by malloc's lists
 *	chunks.c	store the results
 *	mallocng.c	another allocator: musl's
 *	jemalloc*.c	another one: jemalloc 5
 *			jemalloc 3.6 to 4.5: jemalloc_old*.c, jemalloc_chunk.c, jemalloc_huge.c
 *	tcmalloc*.c	another one: tcmalloc of gperftools
 *	tree.c		what jemalloc 5 and tcmalloc find blocks by
 *	mimalloc.c	another one: mimalloc
 *	oldmalloc.c	another one: musl's before mallocng
 *	words.c		read memory by words
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
#define MAX_REGION	(4ULL << 30)	/* with huge pages of 1 GiB */

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

/* Can be read from here on, as far as is known; or @end. */
__u64 words_next(struct heap_words *w, __u64 addr, __u64 end);
/* The same, by pages: that of it, which may begin before @addr; or @end. */
__u64 words_page(struct heap_words *w, __u64 addr, __u64 end);
/* Why it cannot be read, or @other. */
const char *words_why(struct heap_words *w, __u64 addr, const char *other);

/* A page of a table.  1: it was read; 0: it was never touched, and is zero; -1: it is not known. */
int words_page_at(struct heap_words *w, __u64 addr, __u64 page[PAGE / WORD]);

/* ---- other.c: for allocators that have no heads of blocks ---- */

/* The mapping that has @addr, or NULL.  They are sorted. */
const struct heap_area *heap_area_of(const struct heap_area *areas, size_t nr, __u64 addr);
/* Data of a file from the mapping *@i on, with the zeros behind it; *@i: the last one of it. */
struct heap_area heap_data_at(const struct heap_area *areas, size_t nr, size_t *i);
int heap_add_arena(struct heap *h, const struct heap_arena *a, size_t *index);
int heap_add_block(struct heap *h, size_t arena, __u64 block, __u64 size, enum heap_state state);
/* The chunk, of any state, whose block has @addr in it; or NULL.  They are sorted. */
struct heap_chunk *heap_block_of(const struct heap *h, __u64 addr);
/* What leads to blocks, or says that they are free, is inconsistent; the first one is kept. */
void heap_miss(struct heap *h, const char *what, __u64 at);
/* What of arenas from number @arena on no chunk from number @chunk on has is the allocator's. */
void heap_sum_rest(struct heap *h, size_t arena, size_t chunk);
/* All memory that is not @h's, of all mappings, or of one kind only. */
int heap_each_beside(struct heap *h, const struct heap_area *areas, size_t nr, bool anonymous,
		     int (*fn)(void *ctx, __u64 start, __u64 end), void *ctx);

/* ---- arena.c ---- */

struct heap_place {
	const struct heap_area *data;	/* where the main arena's structure is */
	__u64 base;			/* where its memory begins, by which its parameters are
					 * found; 0: not known */
};

/* One for each libc. */
struct heap_places {
	struct heap_place *at;
	size_t nr, room;
};

/* Where one may be, of what the kernel has: mappings that follow each other are one. */
struct heap_spans {
	struct heap_area *at;
	size_t nr;
};

/* The first words of each piece of an arena that is not a main one. */
struct heap_head {
	__u64 arena, before, len, may;
};

/* Finds all arenas, with what they say of themselves.  -ENOENT: there is none */
int arenas_find(struct heap *h, struct heap_places *places, const struct heap_area *areas,
		size_t nr, struct heap_words *w);
/* The piece of the arena at @arena that has @addr: where it begins, or 0. */
__u64 arena_piece(struct heap_words *w, __u64 arena, __u64 addr, struct heap_head *head);
/* Is what was read at @base the head of a piece of it? */
bool arena_is_head(const struct heap_head *head, __u64 arena, __u64 base);
/* Where its chunks begin: after its structure, which ends two words and five more behind lists. */
static inline __u64 arena_chunks(const struct heap_arena *a)
{
	return (a->at + a->lists + AT_SYSTEM + 2 * WORD + ALIGN - 1) & ~(ALIGN - 1);
}

/* ---- walk.c ---- */

struct walk {
	struct heap *h;
	struct heap_words *w;
	size_t arena;
	bool of_others;			/* it is no main one */
	__u64 top;			/* where the last chunk begins */
	__u64 end;			/* no piece goes beyond it */
	__u64 top_size;			/* out */
	__u64 heads;			/* out: of what ends pieces */
	size_t in_vain;			/* chunks on wrong ways */
};

enum ending { BROKEN, AT_FENCE, AT_THE_TOP, NO_MEMORY };

bool walk_head_at(const struct walk *k, __u64 at, __u64 head[2]);
bool walk_is_size(const struct walk *k, __u64 at, __u64 size);
bool walk_is_end(const struct walk *k, __u64 at, __u64 len, const __u64 next[2]);
/* *@to: where it ended.  What was added of one that is BROKEN goes away again. */
enum ending walk_try(struct walk *k, __u64 at, __u64 *to);
/* What was found of it, from this chunk on. */
__u64 walk_has(const struct heap *h, const struct heap_arena *a, size_t first);

/* ---- main_arena.c ---- */

int main_walk(struct heap *h, size_t nr, struct heap_place *place, const struct heap_spans *spans,
	      struct heap_words *w);

/* ---- salvage.c ---- */

/* What can be known of an arena that does not add up. */
int salvage(struct heap *h, size_t nr, struct heap_place *place, const struct heap_spans *spans,
	    struct heap_words *w);

/* ---- chunks.c ---- */

int heap_add(struct heap *h, const struct heap_chunk *c);
int heap_add_piece(struct heap *h, size_t arena, __u64 start, __u64 end);
int heap_add_gap(struct heap *h, size_t arena, __u64 start, __u64 end, const char *why);
void heap_sort(struct heap *h);

/* ---- mapped.c ---- */

int mapped_find(struct heap *h, const struct heap_places *places, const struct heap_spans *spans,
		struct heap_words *w);

/* ---- mallocng.c ---- */

/* musl's; -ENOENT: it is not there */
int mallocng_walk(struct heap *h, const struct heap_area *areas, size_t nr, struct heap_words *w);

/* ---- jemalloc.c ---- */

/* All that there are; -ENOENT: there is none.  What was found before stays. */
int jemalloc_walk(struct heap *h, const struct heap_area *areas, size_t nr, struct heap_words *w);

/* ---- jemalloc_old.c, tcmalloc.c, mimalloc.c, oldmalloc.c: the same ---- */

int jemalloc_old_walk(struct heap *h, const struct heap_area *areas, size_t nr,
		      struct heap_words *w);
int tcmalloc_walk(struct heap *h, const struct heap_area *areas, size_t nr, struct heap_words *w);
int oldmalloc_walk(struct heap *h, const struct heap_area *areas, size_t nr, struct heap_words *w);
int mimalloc_walk(struct heap *h, const struct heap_area *areas, size_t nr, struct heap_words *w);

/* ---- cached.c ---- */

/* All chunks are known, and sorted. */
int cached_find(struct heap *h, struct heap_words *w);

#endif
