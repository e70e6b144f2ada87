/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_PAIRTAB_H
#define _CORE_PAIRTAB_H

#include "port.h"

/*
 * From the entry of a call to its return: what the entry found (stacks, an
 * argument) is kept until the return claims it.
 *
 * A small fixed table, set-associative, lock-free: a slot is claimed by cmpxchg
 * of its state word.  The key is two words that entry and return agree on (task
 * and stack pointer; or a token).  A call left by longjmp never returns; its
 * slot is reused when an entry with the same key comes, or when its set is full
 * and it is the oldest of it (counted in @evicted).
 */
struct pair_key {
	u64 a;
	u64 b;
};

struct pair {
	u32 state;		/* 0 free, 1 busy, 2 full; atomic */
	u32 birth;		/* order of insertion */
	struct pair_key key;
	u32 kstack;
	u32 ustack;
	u32 task;
	u32 event;
	u64 arg;
};

#define PAIRTAB_WAYS	8

struct pairtab {
	struct pair *slots;
	u32 mask;		/* sets - 1 */
	u32 seed;
	u32 clock;		/* atomic */
	u32 evicted;		/* atomic */
	u8 *data;		/* pairtab_put_with(): @data_size bytes for each slot */
	u32 data_size;
};

/* @slots zeroed; @nr a power of two >= PAIRTAB_WAYS. */
void pairtab_init(struct pairtab *t, struct pair *slots, u32 nr, u32 seed);

/* Keep @p (its key and payload).  1 kept; 0 all slots busy right now. */
int pairtab_put(struct pairtab *t, const struct pair *p);

/* Take out what was kept under key.  1 found, and copied to @out; 0 not. */
int pairtab_take(struct pairtab *t, const struct pair_key *key, u32 event,
		 struct pair *out);

/* The same with @len bytes more, t->data_size at most; taken are as many as there is room. */
int pairtab_put_with(struct pairtab *t, const struct pair *p, const void *data, u32 len);
int pairtab_take_with(struct pairtab *t, const struct pair_key *key, u32 event,
		      struct pair *out, void *data);

/*
 * The same, with what is known of the slot: nobody searches where it is right.  What a hint
 * says may be anything: 0, or of another table.  @once: nobody ever has the key again, so that
 * the slot may be any; who takes such a pair without the hint may not find it.
 */
struct pair_hint {
	u32 slot;		/* 1 + its number */
	u32 birth;
};

int pairtab_put_at(struct pairtab *t, const struct pair *p, const void *data, u32 len,
		   struct pair_hint *hint, u32 once);
int pairtab_take_at(struct pairtab *t, const struct pair_key *key, u32 event, struct pair *out,
		    void *data, const struct pair_hint *hint, u32 once);

/*
 * Looks at slot @i while others may write: 1, and what it holds in @out, with the first @len
 * of its bytes in @data; 0: it holds nothing just now.
 */
int pairtab_peek(const struct pairtab *t, u32 i, struct pair *out, void *data, u32 len);

#endif
