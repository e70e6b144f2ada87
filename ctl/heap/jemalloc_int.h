/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _JEMALLOC_INT_H
#define _JEMALLOC_INT_H

/*
 * What jemalloc.c (find the tree), jemalloc_entry.c (read an extent), jemalloc_extents.c (walk the
 * tree) and jemalloc_cache.c (caches of threads) share.  One struct je is one jemalloc: a program
 * may have its own beside a library's.
 */
#include "heap/int.h"

#define CLASS_SHIFT	48			/* of an entry of a leaf */
#define ENTRY_MASK	(((1ULL << CLASS_SHIFT) - 1) & ~63ULL)
#define JE_BITS		18			/* of an address, for each level of the tree */
#define JE_SLOTS	(1ULL << JE_BITS)	/* of the root, and of each leaf */
#define JE_TABLE	(JE_SLOTS * WORD)	/* bytes of either */
#define JE_LEAF_SPAN	(JE_SLOTS * PAGE)	/* bytes of addresses that a leaf describes */
#define JE_REGIONS	512			/* the most of a slab */
#define JE_ARENAS	4096
#define JE_LARGE	36		/* the first class that is never in slabs, or three later */
#define JE_STATES	6			/* of an extent */

enum je_state { JE_ACTIVE, JE_DIRTY, JE_MUZZY, JE_RETAINED };

/* Where the first word of an extent's structure has what. */
struct je_layout {
	unsigned int state, state_bits, class, free;
	unsigned int lg_quantum;	/* log2 of the distance of small sizes */
};

struct je_extent {
	__u64 base, len;		/* whole pages */
	__u64 addr;			/* the block's, if it is one: in its first page */
	unsigned int arena, state, class, nr_free;
	bool slab;
	__u64 bitmap[JE_REGIONS / 64];	/* of a slab: 1: free */
};

struct je_large {
	size_t chunk;
	__u64 class_size;
};

struct je {
	struct heap *h;
	struct heap_words *w;
	const struct heap_area *areas;
	size_t nr_areas;
	struct je_layout layout;
	__u64 root;
	__u32 number;			/* which jemalloc of the process */
	__u64 end;			/* of the last extent */
	__u64 leaf;			/* address that the leaf describes which is walked */
	size_t last_arena;
	__u64 last_start, last_end;	/* the last piece, which may grow */
	struct je_large *larges;
	size_t nr_larges, room_larges;
	bool padded;			/* a page is added to large blocks */
	__u16 arenas[JE_ARENAS];	/* number in the heap, + 1; 0: none yet */
};

/* ---- jemalloc_entry.c ---- */

/* Bytes of a size class; 0: there is no such class. */
__u64 je_class_size(const struct je_layout *l, unsigned int class);
/* Is what it counts as free what its bitmap has as free? */
bool je_slab_adds_up(const struct je_layout *l, const struct je_extent *e);
/* The extent that @entry of a leaf describes, if it has the page at @key, and adds up. */
bool je_extent_at(struct heap_words *w, const struct je_layout *l, __u64 entry, __u64 key,
		  struct je_extent *e);

/* ---- jemalloc_extents.c ---- */

int je_walk(struct je *j);

/* ---- jemalloc_cache.c ---- */

/* All chunks are known, and sorted. */
int je_caches(struct je *j);

#endif
