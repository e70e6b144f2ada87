/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_STACKSTORE_H
#define _CORE_STACKSTORE_H

#include "port.h"

/**
 * struct stackstore - interned stacks: append-only, any number of writers
 *
 * A stack goes in once and gets an id; memory grows with distinct stacks, not
 * with events or CPUs.  Entries are compared frame by frame, so two stacks
 * never share an id.  Nothing is ever removed, so readers need no lock.
 *
 * Writers take no lock either: an entry is written into space that was reserved
 * by an atomic add, then linked with cmpxchg.  Two writers of the same new
 * stack: one wins, the other's words stay unused (counted in @wasted).  Every
 * loop is bounded: a chain by STACKSTORE_CHAIN, retries by STACKSTORE_RETRY.
 *
 * The caller provides the memory (see stackstore_bytes()), and keeps writers
 * from being interrupted by writers on the same CPU only if it minds the
 * retries; correctness does not need it.
 */
struct stackstore {
	u64 *words;		/* the arena; entry id = index of its first word */
	u32 *heads;		/* hash -> id of the newest entry, 0 none */
	u32 nr_words;
	u32 mask;		/* nr of heads - 1 */
	u32 seed;		/* differs per session: chains cannot be forced */
	u32 pos;		/* next free word; may run past nr_words when full */
	u32 wasted;		/* words lost to races */
};

/* One entry; in the arena it is followed by its frames. */
struct stackstore_entry {
	u32 hash;
	u32 next;		/* id of an older entry with the same head, or 0 */
	u16 nr;
	u16 flags;		/* MEMTAP_STACK_* */
	u32 era;		/* see struct codemap_space */
	u64 ip[];
};

#define STACKSTORE_FIRST	8	/* ids below are reserved by the contract */
#define STACKSTORE_CHAIN	1024
#define STACKSTORE_RETRY	64

/* How @bytes are divided: words and heads.  Returns bytes really used. */
u64 stackstore_layout(u64 bytes, u32 *nr_words, u32 *nr_heads);

/* @words and @heads must be zeroed; @nr_heads is a power of two. */
void stackstore_init(struct stackstore *s, u64 *words, u32 nr_words,
		     u32 *heads, u32 nr_heads, u32 seed);

/* Hash of a stack; nr == 0 is fine. */
u32 stackstore_hash(const struct stackstore *s, const u64 *ip, u32 nr, u32 flags,
		    u32 era);

/**
 * stackstore_add() - id of this stack, new or known
 * @era:	tells stacks of the same addresses apart
 * @is_new:	set to 1 if this call put it in, else to 0
 *
 * Return: the id, or 0 when there is no room (and it is not there already).
 * Any context; never waits.
 */
u32 stackstore_add(struct stackstore *s, const u64 *ip, u32 nr, u32 flags, u32 era,
		   u32 *is_new);

/* The entry of an id that stackstore_add() or stackstore_next() returned. */
static inline const struct stackstore_entry *
stackstore_get(const struct stackstore *s, u32 id)
{
	return (const struct stackstore_entry *)&s->words[id];
}

struct stackstore_iter {
	u32 head;
	u32 id;
};

/*
 * Walk all entries; start with a zeroed iterator.  Returns the id, 0 at the
 * end.  Every entry that was there when the walk began is met exactly once;
 * one that is added meanwhile may be met or not.
 */
u32 stackstore_next(const struct stackstore *s, struct stackstore_iter *it);

/* Bytes of the arena in use, for the reports. */
u64 stackstore_used(const struct stackstore *s);

#endif
