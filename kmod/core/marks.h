/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_MARKS_H
#define _MEMTAP_MARKS_H

/*
 * Moments of a session that have names.  Births of blocks are told in ticks since the session
 * began; a mark makes that clock go ahead by one, so that a block of the same tick was born
 * before it or after it for sure.  The clock then stands until the ticks have come up.
 *
 * Who names one holds a lock; events that set one need none, and readers neither.
 */
#include "port.h"
#include "uapi.h"

/* Events come as they like: they may bring the clock so far ahead, and no farther. */
#define MARKS_AHEAD	16
#define MARKS_FARTHEST	(MARKS_AHEAD + MEMTAP_MAX_MARKS)
#define MARKS_TRIES	8

struct mark {
	char name[MEMTAP_MARK_LEN];
	u32 birth;		/* of who is born from then on; 0: not set yet */
	u32 flags;		/* MEMTAP_MARK_DRAIN, EVENT, COARSE */
};

struct marks {
	unsigned long start;	/* jiffies, as of the session's start_ns */
	u32 nr;
	u32 draining;		/* what is born from now on is not kept */
	u32 clock;		/* births are not below it */
	struct mark at[MEMTAP_MAX_MARKS];
};

static inline int marks_is_ahead(u32 clock, u32 ticks)
{
	return clock - ticks - 1 < MARKS_FARTHEST;
}

/* What is born now, at @ticks, has. */
static inline u32 marks_time(const struct marks *m, u32 ticks)
{
	const u32 clock = READ_ONCE(m->clock);

	return unlikely(marks_is_ahead(clock, ticks)) ? clock : ticks;
}

/* By its name; m->nr: there is none. */
static inline u32 marks_find(const struct marks *m, const char *name)
{
	u32 i;

	for (i = 0; i < m->nr; i++)
		if (!strcmp(m->at[i].name, name))
			break;
	return i;
}

/* The clock goes ahead; what is born from now on has at least what is returned. */
static inline u32 marks_advance(struct marks *m, u32 ticks)
{
	u32 was, now;

	do {
		was = READ_ONCE(m->clock);
		now = (marks_is_ahead(was, ticks) ? was : ticks) + 1;
	} while (port_cmpxchg(&m->clock, was, now) != was);
	return now;
}

/* @name ends within MEMTAP_MARK_LEN.  0: there is no room. */
static inline int marks_add(struct marks *m, const char *name, u32 flags, u32 birth)
{
	struct mark *to = &m->at[m->nr];
	size_t i;

	if (m->nr == MEMTAP_MAX_MARKS)
		return 0;
	for (i = 0; i < sizeof(to->name); i++)
		to->name[i] = 0;
	for (i = 0; name[i] && i < sizeof(to->name) - 1; i++)
		to->name[i] = name[i];
	to->flags = flags;
	to->birth = birth;
	smp_store_release(&m->nr, m->nr + 1);
	return 1;
}

/* This moment.  0: there is no room, and the clock does not go ahead. */
static inline int marks_set(struct marks *m, const char *name, u32 flags, u32 ticks)
{
	return m->nr < MEMTAP_MAX_MARKS && marks_add(m, name, flags, marks_advance(m, ticks));
}

/* Of several CPUs at once the last one's is it. */
static inline void marks_move(struct mark *to, u32 birth)
{
	u32 was = READ_ONCE(to->birth), is;

	while (!was || (s32)(birth - was) > 0) {
		is = port_cmpxchg(&to->birth, was, birth);
		if (is == was)
			break;
		was = is;
	}
}

/*
 * An event sets this mark anew; any context.  The clock goes ahead for MARKS_AHEAD of them in a
 * tick at most; where more come, what the same few ticks have is born after it.
 */
static inline void marks_hit(struct marks *m, u32 nr, u32 ticks)
{
	struct mark *to = &m->at[nr];
	u32 tries, was, now;

	for (tries = 0; tries < MARKS_TRIES; tries++) {
		was = READ_ONCE(m->clock);
		now = marks_is_ahead(was, ticks) ? was : ticks;
		if (now - ticks >= MARKS_AHEAD)
			break;
		if (port_cmpxchg(&m->clock, was, now + 1) == was) {
			marks_move(to, now + 1);
			if (unlikely(to->flags & MEMTAP_MARK_COARSE))
				WRITE_ONCE(to->flags, to->flags & ~MEMTAP_MARK_COARSE);
			return;
		}
	}
	WRITE_ONCE(to->flags, to->flags | MEMTAP_MARK_COARSE);
	now = marks_time(m, ticks);
	marks_move(to, now ? now : 1);
}

#endif
