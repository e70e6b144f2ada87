/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_USERSTACK_H
#define _CORE_USERSTACK_H

#include "port.h"
#include "uapi.h"

/*
 * A user stack, read in pieces through a callback that cannot fault: fewer reads
 * than frames.  What the walks by frame pointers and by rows have in common.
 */
#define USERSTACK_CHUNK		512	/* bytes read at once */
#define USERSTACK_PIECE		4096U	/* the callback takes no more: every page
					 * size is a multiple of it */
#define USERSTACK_MAX_FRAME	(16ULL << 20)	/* bytes; more is taken for nonsense */
/*
 * How much higher a frame's or record's slot lies has none of these bits, or it is too much,
 * or not aligned: rbp is whatever a program has there.
 */
#define USERSTACK_NOT_FAR	(~(USERSTACK_MAX_FRAME - 8))
#define USERSTACK_LEAST_CODE	4096	/* nothing is mapped below, so no code is */
/* of the limit: differences do not wrap */
#define USERSTACK_HIGHEST	(~0ULL - USERSTACK_MAX_FRAME)

/* Of the limit, where words are had one by one: no address has this bit. */
#define USERSTACK_HIGH_BIT	(1ULL << 63)

/*
 * Read @len bytes of user memory at @addr, which does not cross a page.
 * Returns 0, or non-zero if it is not there.
 */
typedef int (*userstack_read_fn)(void *ctx, u64 addr, void *buf, u32 len);

/*
 * A return address was found in the stack slot at @slot: the place to replace
 * a return trampoline.  Returns the true address, or 0 if it is a trampoline
 * whose address is not known.
 */
typedef u64 (*userstack_fix_fn)(void *ctx, u64 slot, u64 ip);

/*
 * What the outcome of a walk depended on: whoever finds all of it unchanged, and
 * the same code in the same places, need not walk again.
 */
#define USERSTACK_TRAIL		192

struct userstack_trail {
	u32 nr;
	u32 uses_fp;		/* the innermost frame's rbp; the stack pointer and
				 * the address always are */
	u32 partial;		/* it depended on more than can be told here */
	u32 most;		/* in: more words are of no use to anybody */
	u64 slot[USERSTACK_TRAIL];
	u64 value[USERSTACK_TRAIL];
};

struct userstack {
	userstack_read_fn read;
	userstack_fix_fn fix;	/* NULL: nothing to replace */
	void *ctx;
	u64 limit;		/* user addresses are below */
	u64 end;		/* of what can be read, in the piece where it ends; 0: everywhere */
	u64 fault;		/* out: where it could not be read, or 0 */
	u64 addr;		/* of the piece in buf */
	u32 len;
	u8 *buf;		/* USERSTACK_CHUNK bytes, 8-aligned */
	struct userstack_trail *trail;	/* filled in; or NULL */
};

/* The word at @slot was @value, and mattered. */
static __always_inline void userstack_note(struct userstack_trail *t, u64 slot, u64 value)
{
	u64 *slots = t->slot, *values = t->value;

	if (unlikely(t->nr == USERSTACK_TRAIL)) {
		t->partial = 1;
		return;
	}
	slots[t->nr] = slot;
	values[t->nr++] = value;
}

/* What every walk begins with. */
static inline void userstack_begin(struct userstack *us)
{
	us->len = 0;
	us->fault = 0;
	if (us->trail) {
		us->trail->nr = 0;
		us->trail->uses_fp = 0;
		us->trail->partial = 0;
	}
	if (us->limit > USERSTACK_HIGHEST)
		us->limit = USERSTACK_HIGHEST;
}

/* Make @addr the first byte of the buffer.  0, or -1: not there. */
int userstack_fetch(struct userstack *us, u64 addr);

/* Are @len bytes at @addr in the buffer? */
static inline int userstack_has(const struct userstack *us, u64 addr, u32 len)
{
	u64 off = addr - us->addr;

	return off < us->len && us->len - off >= len;
}

/* The 8 bytes at @addr, an aligned address of any value.  0, or -1: not there. */
static inline int userstack_u64(struct userstack *us, u64 addr, u64 *v)
{
	if (unlikely(!userstack_has(us, addr, 8)) &&
	    (userstack_fetch(us, addr) || us->len < 8))
		return -1;
	memcpy(v, us->buf + (addr - us->addr), 8);
	return 0;
}

#endif
