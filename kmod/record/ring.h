/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_RING_H
#define _MEMTAP_RING_H

#include "port/uapi.h"

struct memtap_session;
struct irq_work;

/*
 * Each event as it was, for who reads them: a ring for each CPU.  That CPU writes, under
 * memtap_enter(); who has the session's lock reads.  Neither waits for the other.
 */
struct memtap_ring {
	u32 head;			/* bytes that were written, */
	u32 tail;			/* and read; both wrap */
	u32 next;			/* memtap_ring_read(): where it ended */
	u32 mask;
	u32 writing;
	u32 skip;			/* before the one that is being written */
	u64 last_ns;			/* of the last one that was written */
	u64 safe_ns;			/* nothing that is still to be read is older */
	u32 woken;			/* who waits was told that it is half full */
	u64 lost;			/* no room */
	u32 settled;			/* times up to there are CLOCK_MONOTONIC's, */
	u64 told_ns;			/* and nothing that comes may be before this */
	u8 data[] __aligned(8);
};

/* Bytes that a CPU's ring has, of what all may take. */
u32 memtap_ring_size(u64 all);
struct memtap_ring *memtap_ring_new(u32 size, u32 cpu);

/*
 * Room for an event of @len bytes on this CPU, with its @ns; NULL: there is none.  It is
 * there for who reads from memtap_ring_end() on, which comes in any case.
 */
struct memtap_one *memtap_ring_begin(struct memtap_ring *r, u32 len);
/* Whether who waits is to be woken. */
bool memtap_ring_end(struct memtap_ring *r, struct memtap_one *one);
/* Who did it, and where: current, on this CPU. */
void memtap_ring_sign(struct memtap_one *one);
/*
 * An event with @len bytes of @args, as @what says, into this CPU's ring of @s; false: there is
 * no room.
 */
bool memtap_ring_put(struct memtap_session *s, const struct memtap_one *what, const void *args,
		     u32 len);

/*
 * Where probes have another clock, whose times become CLOCK_MONOTONIC's by adding @offset: those
 * that are there now do.  Under the session's lock, before they are read.
 */
void memtap_ring_settle(struct memtap_ring *r, s64 offset);

/*
 * Copies what fits of @room bytes to @out, under the session's lock: bytes, a negative errno.
 * @more: there is more than fits.  They were read from memtap_ring_done() on.
 */
int memtap_ring_read(struct memtap_ring *r, void __user *out, u32 room, bool *more,
		     u64 *safe_ns, s64 offset);
void memtap_ring_done(struct memtap_ring *r);
/*
 * The same one by one: the event at *pos, which begins with @tail and becomes where the next
 * one is; NULL: no more.
 */
const struct memtap_one *memtap_ring_next(struct memtap_ring *r, u32 *pos);
bool memtap_ring_empty(const struct memtap_ring *r);

#endif
