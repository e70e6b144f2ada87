/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_LISTEN_H
#define _MEMTAP_LISTEN_H

#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct inode;
struct memtap_session;
struct pt_regs;

/* How a session takes an event. */
enum memtap_listens {
	MEMTAP_COUNTS,			/* record.c does */
	MEMTAP_FOLLOWS_MAPS,		/* live/map.c does, and accounts for it */
	MEMTAP_COUNTS_STEPS,		/* record.c does, after the event's steps */
	MEMTAP_COUNTS_BEGIN,		/* the same, of a pair: this is its begin, */
	MEMTAP_COUNTS_END,		/* or its end */
	MEMTAP_FOLLOWS_OBJECTS,		/* live/objects.c does, and accounts for it */
	MEMTAP_FOLLOWS_MOVES,		/* record/touched.c does, and accounts for it */
	MEMTAP_MARKS,			/* record.c sets a mark, and counts no stacks */
};

struct memtap_listener {
	struct memtap_session *session;
	u32 event;			/* its id in the session */
	u32 depth;			/* of the stacks that it wants */
	enum memtap_listens how;
};

/* Who is told when a hook fires.  Replaced as a whole, read under RCU. */
struct memtap_listeners {
	struct rcu_head rcu;
	u32 nr;
	u32 depth;			/* deepest stack that one of them wants */
	struct memtap_listener at[];
};

/* What recording knows of a hook. */
struct memtap_source {
	struct memtap_listeners __rcu *listeners;
	u64 __percpu *hits;
	bool counting;			/* somebody else than live/objects.c listens */
	bool has_steps;			/* somebody's event has steps: what they read is
					 * to be told, see memtap_source_has_steps() */
	bool has_files;			/* somebody tells files apart */
	bool has_touched;		/* somebody remembers who mapped pages */
};

/* Has this event to bring its record? */
static inline bool memtap_source_has_steps(const struct memtap_source *src)
{
	return READ_ONCE(src->has_steps);
}

/* What tells files apart; the generation because inodes are used again. */
struct memtap_file_key {
	dev_t dev;
	u64 inode, gen;
	u32 data;			/* an event is about it: its path is another one */
};

#define MEMTAP_HIT_USER		(1U << 0)	/* caused in user mode */
#define MEMTAP_HIT_ENTRY	(1U << 1)	/* user regs at a function's entry */
#define MEMTAP_HIT_SYSCALL	(1U << 2)	/* the kernel stack is @addr_sym only */
#define MEMTAP_HIT_VALUE	(1U << 3)	/* @value means something */
#define MEMTAP_HIT_SLEEP	(1U << 4)	/* the hook may sleep: a stack that was
						 * swapped out is brought in */
#define MEMTAP_HIT_TASK		(1U << 5)	/* current does it itself, its address
						 * space is the one that is mapped */
#define MEMTAP_HIT_SAMPLE	(1U << 6)	/* of what was interrupted, whoever it is */
#define MEMTAP_HIT_PAGES	(1U << 7)	/* @value is in pages: steps know it, the filter's
						 * sizes are not about it */
#define MEMTAP_HIT_CALLED	(1U << 8)	/* kernel regs at a function's entry */

/* Pages that a fault mapped: of the 64 from @first on those in @mask; or a huge page. */
struct memtap_touched_pages {
	u64 first, mask;
	bool huge;
	bool keep;			/* a page that was there was copied, or made writable */
};

#define MEMTAP_OBJECT_SESSIONS	2	/* stacks are taken at the beginning for so many */

/* Kernel stacks at the beginning of a call: at its return a trampoline hides who called. */
struct memtap_object_stacks {
	struct {
		const struct memtap_session *session;
		u32 nr, stack;
	} of[MEMTAP_OBJECT_SESSIONS];
};

/**
 * struct memtap_hit - what a hook knows of one event
 * @regs:	where it happened, user or kernel mode; NULL: in the kernel, here
 * @value:	bytes or whatever the event's unit is
 * @addr:	address that the event is about, or 0
 * @inode:	file that the event is about, or NULL
 * @file:	the same, of a file that may be gone and was seen: memtap_note_file()
 * @sym:	MEMTAP_HIT_SYSCALL: address of the call's function
 * @flags:	MEMTAP_HIT_*
 * @key:	MEMTAP_KEY_FAILED, HUGE ..., or 0
 * @frame:	where @regs is NULL: __builtin_frame_address(0) of the handler that the
 *		kernel called, so that its stack need not be searched for; or NULL
 * @record, @record_len: what steps read: a tracepoint's, or the hook's own; or NULL
 * @touched:	what it mapped, of page faults; or NULL: not known
 * @site:	what tells apart kernel stacks of one place, so that more of them are remembered:
 *		who called the function that tells; or 0
 * @stacks:	of an event that is told when a call returns: as it began; or NULL
 * @mapping:	MEMTAP_FILE_* of what is in no file, and MEMTAP_MAPPING_* << 8; or 0
 */
struct memtap_hit {
	struct pt_regs *regs;
	s64 value;
	u64 addr;
	const struct inode *inode;
	u64 sym;
	u32 flags;
	u32 key;
	const unsigned long *frame;
	const struct memtap_file_key *file;
	const void *record;
	u32 record_len;
	u32 mapping;
	const struct memtap_touched_pages *touched;
	u64 site;
	const struct memtap_object_stacks *stacks;
};

#endif
