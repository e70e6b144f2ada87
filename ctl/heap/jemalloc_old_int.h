/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _JEMALLOC_OLD_INT_H
#define _JEMALLOC_OLD_INT_H

/*
 * What jemalloc_old.c (find it), jemalloc_chunk.c (read chunks), jemalloc_huge.c (large extents),
 * jemalloc_old_walk.c (blocks) and jemalloc_old_cache.c (caches of threads) share, for jemalloc
 * 3.6 to 4.5.
 */
#include "heap/int.h"

#define JO_CLASSES	48		/* of small blocks, at most */
#define JO_REGIONS	2048		/* blocks of a run, at most */
#define JO_STEPS	(1U << 22)	/* nodes that are looked at, in all */
#define JO_NONE		255		/* class of a run that is a large block or free */

/* A chunk's header. */
struct jo_chunk_layout {
	__u16 stride, first;		/* of the table of classes: one to the next; first block */
	__u16 last_size;		/* the largest small class */
	__u8 lg_chunk;			/* log2 of a chunk's bytes, unless configured */
	__u8 shift;			/* of the class in an entry of the map of pages */
	__u16 map, step, bits;		/* the map: where; one to the next; where in an entry */
	__u16 record, run;		/* records of runs: bytes; where in it.  0: in the run */
	__u16 nr_free, bitmap;		/* in the head of a run */
	__u16 flags;			/* of the node that a chunk begins with; 0: there is none */
};

/* An arena, and a thread's cache. */
struct jo_layout {
	__u8 chunk;			/* number of its layout */
	bool down;			/* stacks of caches grow downwards */
	__u16 bins, bin;		/* where the first one is; bytes.  0: runs do not say */
	__u16 caches, active, large;	/* list; pages in use; bytes of large blocks */
	__u16 huge, dirty;		/* lists of extents, and links in their nodes: */
	__u16 huge_link, dirty_link;
	__u16 cache_bins;		/* in a cache */
};

struct jo_class {
	__u64 size, step;		/* of a block; from one to the next */
	__u32 first, nr;		/* where in a run; how many */
	__u32 pages;			/* of a run */
};

struct jo_chunk {
	__u64 at, arena;
	__u32 active;			/* pages in use */
	bool good;
};

struct jo_arena {
	__u64 at;
	__u32 number;
	size_t index;			/* in the heap, + 1; 0: not there yet */
	__u64 active;			/* pages */
	__u64 large, nr_large;		/* bytes of large runs */
};

/* Chunks that are one large block, or free. */
struct jo_extent {
	__u64 start, end, size;
	__u64 node;			/* that describes it */
	size_t arena;			/* number in .arenas */
	bool free;
};

struct jo_run {
	__u64 at;
	size_t page, pages;		/* in the chunk */
	unsigned int class;		/* JO_NONE: a large or free one */
	bool used, large, dirty;
};

/* One jemalloc. */
struct jo {
	struct heap *h;
	struct heap_words *w;
	const struct heap_area *areas;
	size_t nr_areas;
	struct heap_area data;		/* of its program or library */
	const struct jo_chunk_layout *c;
	const struct jo_layout *l;
	__u32 number;			/* which jemalloc of the process */
	__u64 chunk;			/* bytes of one; */
	size_t pages, bias;		/* pages of it, and of its header */
	bool padded;			/* a large block begins anywhere in its first page */
	struct jo_class classes[JO_CLASSES];
	size_t nr_classes;
	struct jo_chunk *chunks;	/* sorted */
	size_t nr_chunks, room_chunks;
	struct jo_arena *arenas;
	size_t nr_arenas, room_arenas;
	struct jo_extent *extents;
	size_t nr_extents, room_extents;
	__u64 *own;			/* chunks that have its own structures */
	size_t nr_own, room_own;
	__u32 steps;
	__u64 page_at;			/* what is in .page */
	int page_is;
	__u64 page[PAGE / WORD];
};

/* ---- jemalloc_chunk.c ---- */

/* By .c and the bytes of a chunk. */
void jo_set_chunk(struct jo *j, const struct jo_chunk_layout *c, __u64 bytes);
/* Does the header of a chunk begin at @at?  Which arena it names. */
bool jo_is_head(struct jo *j, __u64 at, __u64 *arena);
/* The run that begins at page @page of the chunk; false: the map of pages is inconsistent. */
bool jo_run_at(struct jo *j, __u64 chunk, size_t page, struct jo_run *r);
/* Which blocks of a run are free, a bit each; false: its head is inconsistent. */
bool jo_bitmap(struct jo *j, const struct jo_chunk *c, const struct jo_run *r,
	       __u64 bits[JO_REGIONS / 64]);
/* Do all its runs follow each other to its end?  .active; with @deep also what is in them. */
bool jo_check_chunk(struct jo *j, struct jo_chunk *c, bool deep);
/* A word; of memory that was never touched 0.  False: it is not known. */
bool jo_word(struct jo *j, __u64 addr, __u64 *to);

/* ---- jemalloc_huge.c ---- */

/* Pages of large extents that its arenas list, by the layout @l. */
__u64 jo_huge_pages(struct jo *j, const struct jo_layout *l, const struct jo_arena *a);
/* All into .extents, sorted and apart. */
int jo_find_extents(struct jo *j);
/* Is a part of the chunk at @at in an extent? */
bool jo_in_extent(const struct jo *j, __u64 at);
/* The chunk that has @addr is jemalloc's own. */
int jo_add_own(struct jo *j, __u64 addr);

/* ---- jemalloc_old_walk.c ---- */

int jo_walk(struct jo *j);

/* ---- jemalloc_old_cache.c ---- */

/* All chunks are known, and sorted. */
void jo_caches(struct jo *j);

#endif
