/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_CODEMAP_H
#define _CORE_CODEMAP_H

#include "port.h"
#include "uapi.h"

/*
 * Which code was where in an address space, for as long as a session runs: what was
 * unloaded is kept, since stacks have its addresses.
 *
 * An address can be one file's now and another's later.  So a space has eras: it is in
 * another one when code was mapped over an address where other code was known before,
 * and in a former one again when that is what is mapped again (a plugin that comes and
 * goes).  An entry holds from its era on, until the next one that has its address; the
 * first one of all there has era 0, and holds before, too.  The era of a stack is the
 * highest of the entries that its addresses are in: what was mapped elsewhere meanwhile
 * does not make another stack of it.
 *
 * Writers exclude each other; readers need no lock.  Every loop is bounded.
 */
struct codemap {
	u32 next;			/* older one of the same space; 0 none */
	u32 next_listed;		/* see struct codemap_space */
	u32 file;			/* 0: anonymous */
	u16 flags;			/* MEMTAP_MAP_*, and one of ours */
	u16 era;
	u64 start, end, offset;
};

struct codemap_space {
	u32 maps;			/* the newest one */
	u32 listed;			/* the newest one of those that are mapped now, but
					 * where there was other code, too */
	u16 era, last_era;		/* now, and the highest one so far */
	u16 nr_reused;
	u16 lost;			/* it is in an era that there was no room for */
	u32 turn;			/* raised when its code changed in a way that a
					 * stack may have to be named otherwise for */
};

struct codemaps {
	struct codemap *at;		/* from 1 */
	u32 nr, used;
	u64 lost;			/* what there was no room for */
};

#define CODEMAP_CHAIN	4096		/* entries of a space that are looked at */
#define CODEMAP_FRESH	16	/* pieces of a mapping that lie where nothing was */
#define CODEMAP_REUSED	512		/* with MEMTAP_MAP_REUSED */
#define CODEMAP_STEPS	16384		/* of codemap_era() */

/* @at zeroed */
void codemaps_init(struct codemaps *t, struct codemap *at, u32 nr);

/* All that is mapped, by its addresses. */
struct codemap_walk {
	u32 at;				/* the last one's entry */
	u32 looked;			/* at how many, so far */
};

/**
 * codemap_add() - this is mapped now
 * @m:		start, end, offset, file, and MEMTAP_MAP_VDSO in flags
 * @w:		zeroed before the first of several, all in one go
 *
 * What of other code was known where it is cannot be there any more, and what is
 * taken from now on is of another era.
 */
void codemap_add(struct codemaps *t, struct codemap_space *sp, const struct codemap *m,
		 struct codemap_walk *w);

/*
 * The same, just when it is mapped, and perhaps not yet as far as it will be: it is only
 * taken note of where that changes what is known.
 */
void codemap_note(struct codemaps *t, struct codemap_space *sp, const struct codemap *m);

/*
 * What is mapped as @m says is going to be no more, between @start and @end, but is
 * kept.  What of it was not known is added.
 */
void codemap_remove(struct codemaps *t, struct codemap_space *sp, const struct codemap *m,
		    u64 start, u64 end);

/* What held at @addr in that era; or NULL.  Not for MEMTAP_ERA_LOST. */
const struct codemap *codemap_find(const struct codemaps *t, const struct codemap_space *sp,
				   u32 era, u64 addr);

/*
 * The era of a stack that was just taken, with MEMTAP_STACK_* in @flags.  Nothing to do
 * but where code was mapped over other code, or a stack ended in unknown code.
 */
u32 codemap_era_of(const struct codemaps *t, const struct codemap_space *sp, const u64 *ip,
		   u32 nr, u32 flags);

static inline u32 codemap_era(const struct codemaps *t, const struct codemap_space *sp,
			      const u64 *ip, u32 nr, u32 flags)
{
	if (likely(!READ_ONCE(sp->last_era) && !(flags & MEMTAP_STACK_NOMAP)))
		return 0;
	return codemap_era_of(t, sp, ip, nr, flags);
}

#endif
