/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HEAP_H
#define _HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * The heap of glibc's malloc, by its own chunks, or of other allocators by their structures, for
 * 64-bit processes, from memory contents alone.  Everything is checked against other data of
 * malloc.  What does not add up is reported, and not counted.
 *
 * This code does not access processes: memory is read through a callback.
 */
struct heap_memory {
	/* Bytes from @addr on; how many could be read, 0: none of this page. */
	size_t (*read)(void *ctx, __u64 addr, void *buf, size_t len);
	void *ctx;
	/* The first address of [@addr, @end) that can be read, or @end.  NULL: all can. */
	__u64 (*next)(void *ctx, __u64 addr, __u64 end);
	/* Why @addr cannot be read; NULL, also as a function: it can, or nobody knows. */
	const char *(*why)(void *ctx, __u64 addr);
	/*
	 * It goes on meanwhile: of an arena that does not add up what could be followed counts,
	 * and the rest is said (.unknown).
	 */
	bool passing;
	bool others;			/* other allocators than glibc's, too */
};

struct heap_area {
	__u64 start, end;
	bool data;			/* writable data of a program or library, or zeros of it */
	bool brk;			/* [heap], whatever may be done with it now, */
	bool anonymous;			/* private, and of no file: the same */
};

enum heap_state {
	HEAP_USED,
	HEAP_FREE,
	HEAP_CACHED,			/* free, for the thread that freed it: tcache */
	HEAP_FAST,			/* free, and not merged with its neighbours */
	HEAP_OWN,			/* of malloc's own needs */
	NR_HEAP_STATES
};

/* Sorted by address; free ones, too, but not what is at the top. */
struct heap_chunk {
	__u64 at;			/* of its head; 16 bytes before what malloc returned */
	__u64 size : 43;		/* bytes of the heap that it takes */
	__u64 state : 3;		/* enum heap_state */
	__u64 mapped : 1;		/* it has a mapping of its own, and no arena */
	__u64 tail : 3;			/* enum heap_tail */
	__u64 pooled : 1;		/* in a pool of another allocator's (python.h): no head */
	__u64 arena : 13;		/* number, 0: the main one */
};

#define HEAP_HEAD	16ULL		/* bytes before a block */
#define HEAP_ARENAS	8192U		/* that a chunk's number of it has room for */

/* What is between a block and the next one: */
enum heap_tail {
	HEAP_HEAD_TAIL,			/* the size of the next one, 8 bytes */
	HEAP_TIGHT_TAIL,		/* mallocng's: 4 bytes */
	HEAP_NO_TAIL,			/* nothing: sizes are known from elsewhere */
	HEAP_FULL_TAIL,			/* 16 bytes */
	HEAP_LOOSE_TAIL,		/* a page: it begins anywhere in its first one */
};

#define HEAP_LOOSE	4096ULL		/* bytes of that page */

/* What malloc_usable_size() says: what was asked for, and of glibc's some bytes more. */
static inline __u64 heap_usable(const struct heap_chunk *c)
{
	static const __u8 tails[] = { HEAP_HEAD / 2, HEAP_HEAD / 4, 0, HEAP_HEAD, 0 };

	return c->size - (c->mapped ? HEAP_HEAD : tails[c->tail]);
}

/* In how many bytes from its beginning on the block is: more only if that is not known exactly. */
static inline __u64 heap_span(const struct heap_chunk *c)
{
	return heap_usable(c) + (c->tail == HEAP_LOOSE_TAIL ? HEAP_LOOSE : 0);
}

struct heap_sums {
	__u64 blocks[NR_HEAP_STATES], bytes[NR_HEAP_STATES];
};

enum heap_allocator {
	HEAP_GLIBC,
	HEAP_MALLOCNG,			/* musl's, since 1.2.1 */
	HEAP_JEMALLOC,
	HEAP_TCMALLOC,
	HEAP_MIMALLOC,
	HEAP_OLDMALLOC,			/* musl's, before 1.2.1 */
	NR_HEAP_ALLOCATORS
};

struct heap_arena {
	__u64 at;			/* its structure, */
	__u32 lists;			/* and how far in it the lists of free chunks are */
	__u32 libc;			/* number, 0: the first one; dlmopen() makes more */
	__u32 number;			/* among its libc's, 0: its main one */
	enum heap_allocator allocator;
	__u64 system;			/* bytes that it says it has of the kernel */
	__u64 top, top_at;		/* bytes at its end that nobody has, and where */
	__u64 heads;			/* of malloc's own needs, beside blocks */
	__u64 foreign;			/* taken by others between its pieces: sbrk() */
	__u64 largest;			/* free block */
	__u64 pages;			/* bytes of whole pages in free blocks */
	__u32 pieces;
	bool busy;			/* a thread is in it */
	bool changed;			/* it was used while it was read, or has more than it says;
					 * it is told about: */
	__u64 unknown;			/* bytes of which nothing is known, see heap.gaps */
	const char *why;		/* nothing of it is known; NULL: something is */
	struct heap_sums sums;
};

struct heap_piece {
	__u64 start, end;		/* all of it is malloc's */
	size_t arena;
};

/* What was not walked. */
struct heap_gap {
	__u64 start, end;
	size_t arena;
	const char *why;
};

struct heap {
	enum heap_allocator allocator;	/* of the first arena */
	struct heap_arena *arenas;	/* [0] is the main one */
	size_t nr_arenas, room_arenas;
	struct heap_chunk *chunks;
	size_t nr_chunks, room_chunks;
	struct heap_piece *pieces;	/* that were walked; sorted */
	size_t nr_pieces, room_pieces;
	struct heap_gap *gaps;		/* between them; sorted */
	size_t nr_gaps, room_gaps;
	size_t nr_libcs;
	bool arenas_missing;		/* the circle of arenas is broken: there may be more */
	const char *others_missing;	/* what is inconsistent of another allocator, so that some
					 * of its blocks are not known; NULL: nothing; and where: */
	__u64 others_missing_at;
	struct heap_sums mapped;	/* blocks with mappings of their own */
	__u64 mapped_says;		/* bytes of them, as malloc counts them, */
	__u64 mapped_unknown;		/* of which these were not found */
	const char *mapped_why;		/* they are not counted; NULL: they are */
	size_t caches;			/* of threads, in which something is, */
	size_t empty_caches;		/* and those that have nothing yet */
	__u64 cache_key;		/* second word of each block in one; 0: not known */
	size_t other_caches;		/* of threads, of other allocators than glibc's; if 0: */
	__u64 cache_most;		/* bytes that a block in one of them may have */
	bool no_caches;			/* there is none, since nothing was freed yet */
	bool keyed_by_place;		/* it is the cache that it is in */
	__u64 top_pad;			/* bytes that it takes ahead, and keeps (M_TOP_PAD); */
	bool knows_top_pad;		/* if that was found */
	bool whole;			/* all arenas add up, and nothing was changed meanwhile; */
	bool complete;			/* and so do blocks with mappings of their own */
};

/* 0; -ENOENT: no such malloc was found; -ENOMEM. */
int heap_walk(struct heap *h, const struct heap_area *areas, size_t nr,
	      const struct heap_memory *m);
void heap_free(struct heap *h);

/*
 * Is it known of @arena's blocks which are in use?  Not while a thread is in it, and it does not
 * add up.
 */
bool heap_is_sure(const struct heap *h, size_t arena);

/* What malloc has, and no block that is in use; until @fn returns other than 0. */
int heap_each_unused(const struct heap *h, int (*fn)(__u64 start, __u64 end, void *ctx), void *ctx);
/* Bytes of malloc's of which nothing is known. */
__u64 heap_unknown(const struct heap *h);
/* The chunk that begins at @at, or NULL. */
struct heap_chunk *heap_find(const struct heap *h, __u64 at);

/*
 * May this block, which seems to be in use, be in a thread's cache that was not recognised?  It
 * begins with @words.  Where no cache was recognised any small block may, if there is one.
 */
bool heap_maybe_cached(const struct heap *h, const struct heap_chunk *c, const __u64 words[2]);

#endif
