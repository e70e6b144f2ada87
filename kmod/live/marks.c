// SPDX-License-Identifier: GPL-2.0-only
/* MEMTAP_MARK: set a named mark in a session. */
#include <linux/jiffies.h>

#include "core/wire.h"
#include "live/marks.h"
#include "live/objects.h"
#include "record/recording.h"

static u32 ticks(const struct memtap_session *s)
{
	return (u32)(jiffies - s->marks.start);
}

int memtap_mark_set(struct memtap_session *s, const char *name, u32 flags)
{
	unsigned long irqflags;
	int err = 0;

	if (!smp_load_acquire(&s->running) || (!s->heap && !s->objects))
		return -EBUSY;
	raw_spin_lock_irqsave(&s->marks_lock, irqflags);
	if (!(flags & MEMTAP_MARK_DRAIN) && marks_find(&s->marks, name) < s->marks.nr)
		err = -EEXIST;
	else if (!marks_set(&s->marks, name, flags, ticks(s)))
		err = -ENOSPC;
	/* what is freed from now on may be what is not kept: no mistake of the program */
	if (!err && (flags & MEMTAP_MARK_DRAIN) && s->heap)
		WRITE_ONCE(s->heap->exact, false);
	if (!err && (flags & MEMTAP_MARK_DRAIN))
		smp_store_release(&s->marks.draining, 1);
	raw_spin_unlock_irqrestore(&s->marks_lock, irqflags);
	return err;
}

u64 memtap_alloc_time_ns(const struct memtap_session *s, u32 birth)
{
	return s->start_ns + (u64)birth * (NSEC_PER_SEC / HZ);
}

int memtap_mark_by_event(struct memtap_session *s, const char *name, u32 event)
{
	struct marks *m = &s->marks;
	struct memtap_session_event *e;
	u32 nr = marks_find(m, name);

	if (s->state != MEMTAP_CONFIGURED || (!s->heap && !s->objects))
		return -EBUSY;
	if (event >= s->nr_events)
		return -ENOENT;
	e = s->events[event];
	if (!(e->flags & MEMTAP_ATTACH_MARK))
		return -EINVAL;
	if (e->mark)
		return -EEXIST;
	if (nr == m->nr && !marks_add(m, name, MEMTAP_MARK_EVENT, 0))
		return -ENOSPC;
	e->mark = nr + 1;
	return 0;
}

MEMTAP_HEAP_PUT(marks)
{
	const struct marks *m = &s->marks;
	const struct mark *from;
	struct memtap_rec_mark *r;
	u32 birth;

	if (*pos >= smp_load_acquire(&m->nr))
		return NULL;
	from = &m->at[(*pos)++];
	r = wire_begin(buf, room, MEMTAP_REC_MARK, sizeof(*r));
	birth = READ_ONCE(from->birth);
	r->ns = birth ? memtap_alloc_time_ns(s, birth) : 0;
	r->flags = READ_ONCE(from->flags);
	memcpy(r->name, from->name, sizeof(r->name));
	return r;
}
