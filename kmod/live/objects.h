/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_OBJECTS_H
#define _MEMTAP_OBJECTS_H

#include <linux/gfp.h>

#include "core/cachetab.h"
#include "core/livetab.h"
#include "core/pagetab.h"
#include "core/sampler.h"
#include "live/live.h"
#include "port/uapi.h"
#include "record/listen.h"
#include "record/recording.h"

/*
 * Objects of the kernel that are allocated and not freed: a session with
 * MEMTAP_CFG_OBJECTS.  Those of its slab allocators, pages, memory for each processor, areas
 * of vmalloc() and vmap().
 *
 * One table of addresses for all.  Whoever frees an object takes it out, whatever the filter
 * says of him; one that was not kept is not known then, and nothing is subtracted.  An
 * address that is handed out again while it is in the table was freed unseen.
 */

struct memtap_objects_table;

/*
 * The CPU that a slab's object was allocated on is kept beside its size: no object is so large.
 * Blocks of other kinds have 0 there.
 */
#define MEMTAP_OBJECT_CPU	48

static inline u64 memtap_object_bytes(const struct live *b)
{
	return b->size & ((1ULL << MEMTAP_OBJECT_CPU) - 1);
}

/* What became of objects of one cache, on one CPU; only that CPU writes it. */
struct memtap_object_sums {
	u64 allocs, bytes, frees, freed_bytes, unknown, unknown_bytes, lost, lost_bytes;
	u64 replaced, replaced_bytes;
	u64 reclaimable, movable;	/* of .allocs, asked for as such */
	u64 waste;			/* of .bytes, beyond what was asked for */
	u64 remote;			/* of .frees, not on the CPU that allocated */
};

/* Stacks of one address, as --call-site takes them. */
struct memtap_object_site {
	u64 ip;
	u32 stack;
};

#define MEMTAP_OBJECT_SITES	512	/* a power of two */

struct memtap_object_cpu {
	struct sampler_state sampler;
	struct live was;		/* of the event that is under way */
	gfp_t gfp;			/* of the last one, */
	u32 gfp_flags;			/* and what these are as MEMTAP_BLOCK_*; 0: none yet */
	struct memtap_heap_account account[MEMTAP_MAX_LIVE_EVENTS];
	struct memtap_object_sums sums[CACHETAB_MAX];
	struct memtap_object_site sites[MEMTAP_OBJECT_SITES];
};

struct memtap_objects_table {
	struct livetab table;
	struct pagetab pages;
	struct cachetab caches;
	struct sampler sampler;
	bool sampling;
	bool chooses;			/* by more than tasks and caches: sizes, stacks, samples */
	bool movable;			/* pages that may be moved are kept, too */
	u64 start, end;			/* a stack has to have an address in here; 0: any */
	u32 op[MEMTAP_MAX_LIVE_EVENTS];	/* MEMTAP_HEAP_*, of each event */
	struct memtap_object_cpu **cpus;
};

/* May sleep.  At CONFIGURE, and again; at START; bytes that this will take. */
int memtap_objects_new(struct memtap_session *s, const struct memtap_config *c);
int memtap_objects_choose(struct memtap_session *s, const struct memtap_objects *a);
u64 memtap_objects_layout(u64 bytes);
int memtap_objects_init(struct memtap_session *s);
/* What _init() made; all. */
void memtap_objects_empty(struct memtap_session *s);
void memtap_objects_free(struct memtap_session *s);

void memtap_objects_sum(const struct memtap_objects_table *t, u32 event,
			struct memtap_heap_account *sum);
void memtap_objects_sum_cache(const struct memtap_objects_table *t, u32 cache,
			      struct memtap_object_sums *sum);
void memtap_objects_memory(const struct memtap_objects_table *t, struct memtap_rec_memory *r);

/*
 * What is there now in chain @head of the table: how many, into @out, which has room for
 * LIVETAB_CHAIN.  Not under memtap_enter().
 */
u32 memtap_objects_read(struct memtap_objects_table *t, u32 head, struct live *out);

/* similar.c: MEMTAP_SIMILAR.  May sleep. */
int memtap_objects_similar(struct memtap_session *s, struct memtap_similar *a);

/* What addresses are told apart in the table; and its first kind has caches. */
enum memtap_object_kind {
	MEMTAP_OBJECT_SLAB,
	MEMTAP_OBJECT_PAGES,
	MEMTAP_OBJECT_PERCPU,
	MEMTAP_OBJECT_AREA,
};

/**
 * struct memtap_object - one that was handed out, or is about to be freed
 * @ptr:	NULL or less than a page's address: none; of pages the physical address
 * @cache:	struct kmem_cache, or NULL: to be found out
 * @bytes:	what it takes, or 0: what objects of its cache do
 * @call_site:	of one that was handed out, or 0
 * @frame, @regs: for its stack, as of struct memtap_hit; regs are those of a function's entry
 * @stacks:	of some that were handed out by one call, the stack that was taken when it
 *		began, by memtap_objects_stacks(); or NULL: it is to be taken here
 * @kind:	what it is
 * @id:		of all but SLAB: CACHETAB_*; else 0
 * @order:	of pages
 * @again:	it may have been told of already, and then that counts
 * @gfp:	of one that was handed out
 * @asked:	bytes that were asked for, or 0: what it takes
 *
 * There are no holes, and where many are made all members are named: else it is cleared first.
 */
struct memtap_object {
	const void *ptr, *cache;
	u64 bytes, call_site;
	const unsigned long *frame;
	struct pt_regs *regs;
	const struct memtap_object_stacks *stacks;
	enum memtap_object_kind kind;
	u32 id;
	u32 order;
	u32 again;
	gfp_t gfp;
	u32 asked;
};

/* Any context. */
void memtap_object_alloc(struct memtap_source *src, const struct memtap_object *o);
void memtap_object_freed(struct memtap_source *src, const struct memtap_object *o);
/* The same for @nr objects of one call; @o->ptr is set to each. */
void memtap_objects_alloc(struct memtap_source *src, struct memtap_object *o, void *const *ptrs,
			  size_t nr);
void memtap_objects_freed(struct memtap_source *src, struct memtap_object *o, void *const *ptrs,
			  size_t nr);
/* By far the most, so these are not in memory on their way.  @sizes: KMEM_SIZES() or 0 */
void memtap_slab_alloc(struct memtap_source *src, const unsigned long *frame,
		       unsigned long call_site, const void *ptr, const void *cache, u64 sizes,
		       gfp_t gfp);
void memtap_slab_freed(struct memtap_source *src, const void *ptr);
/* For a call whose objects are told, and counted, when it returns. */
void memtap_objects_stacks(struct memtap_source *src, const struct memtap_hit *hit,
			   struct memtap_object_stacks *stacks);

#endif
