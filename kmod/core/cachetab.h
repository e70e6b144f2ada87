/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_CACHETAB_H
#define _CORE_CACHETAB_H

#include "port.h"

/*
 * What the kernel's caches of objects are called: a small number for each name.
 *
 * Looked up without a lock by a cache's address and that of its name, so that another cache
 * at the same address is told from it; added under one.  Caches of equal names have one
 * number, and so have those of one name for several control groups ("dentry(12:foo)").
 * Nothing is ever taken out.
 */
#define CACHETAB_NAME		48	/* with the 0 */
#define CACHETAB_SLOTS		4096	/* caches by address; a power of two */
#define CACHETAB_PROBES		16	/* slots that are looked at, at most */
#define CACHETAB_MAX		512	/* names */
#define CACHETAB_MIX		0x9e3779b97f4a7c15ULL

#define CACHETAB_LARGE		1	/* no cache: whole pages, by kmalloc() */
#define CACHETAB_OTHER	2	/* no room, or the name is not known */
/* No caches, but told apart in the same way: */
#define CACHETAB_PERCPU		3
#define CACHETAB_VMALLOC	4
#define CACHETAB_VMAP		5
#define CACHETAB_PAGES		8	/* blocks of order 0, 1 ... */
#define CACHETAB_ORDERS		14
#define CACHETAB_FIRST		24

struct cachetab_slot {
	const void *cache;		/* NULL: free */
	const void *name;
	u32 id;
};

struct cachetab_entry {
	char name[CACHETAB_NAME];
	u32 passes;			/* it matches the pattern */
	u32 size;			/* of an object, the last that was seen */
	u64 reserved;			/* a line each */
};

struct cachetab {
	port_lock_t lock;
	u32 used;			/* entries, those before CACHETAB_FIRST included */
	u64 lost;			/* caches that are CACHETAB_OTHER */
	char pattern[CACHETAB_NAME];	/* "": all pass */
	u32 orders;			/* of pages, that pass; 0: all */
	struct cachetab_slot slots[CACHETAB_SLOTS];
	struct cachetab_entry entries[CACHETAB_MAX];
};

/* @t is zeroed but for .pattern and .orders. */
void cachetab_init(struct cachetab *t);

/* Where it is looked for first, and whether it is not there. */
static __always_inline u32 cachetab_first(const void *cache, const void *name)
{
	u64 h = ((u64)(unsigned long)cache ^ (u64)(unsigned long)name << 7) * CACHETAB_MIX;

	return (u32)(h >> 40) & (CACHETAB_SLOTS - 1);
}

u32 cachetab_find_near(const struct cachetab *t, const void *cache, const void *name);

/* Its number, or 0: it was not seen yet. */
static __always_inline u32 cachetab_find(const struct cachetab *t, const void *cache,
					 const void *name)
{
	const struct cachetab_slot *s = &t->slots[cachetab_first(cache, name)];

	/* who sees the cache sees the rest */
	if (likely(smp_load_acquire(&s->cache) == cache && s->name == name))
		return s->id;
	return cachetab_find_near(t, cache, name);
}

/*
 * The same, added if it is new; @text is what it is called.  Nobody may interrupt who is in
 * here to come here on the same CPU.
 */
u32 cachetab_add(struct cachetab *t, const void *cache, const void *name, const char *text);

/* Does @name match @pattern: * any letters, ? any one?  Both end with 0. */
int cachetab_match(const char *pattern, const char *name);

#endif
