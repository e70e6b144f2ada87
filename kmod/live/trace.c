// SPDX-License-Identifier: GPL-2.0-only
/* Each call of an allocator, for who wants to see them all: a ring. */
#include "live/live.h"
#include "record/record.h"

void memtap_heap_trace(struct memtap_heap *h, const struct memtap_call *call)
{
	struct memtap_heap_ring *r = &h->ring;

	raw_spin_lock(&r->lock);
	if (r->head - r->tail > r->mask) {
		r->tail++;
		r->lost++;
	}
	r->at[r->head++ & r->mask] = *call;
	raw_spin_unlock(&r->lock);
}

void memtap_heap_trace_unread(struct memtap_heap *h, u32 nr)
{
	struct memtap_heap_ring *r = &h->ring;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 room;

	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&r->lock);
	room = r->mask + 1 - (r->head - r->tail);
	r->tail -= min(nr, room);
	r->lost += nr - min(nr, room);
	raw_spin_unlock(&r->lock);
	memtap_leave(sc, irqflags);
}

/* A few at a time: interrupts are off meanwhile. */
#define PIECE	32

u32 memtap_heap_trace_read(struct memtap_heap *h, struct memtap_call *out, u32 nr)
{
	struct memtap_heap_ring *r = &h->ring;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 done = 0, end;
	bool more = true;

	while (more && done < nr) {
		end = min(nr, done + PIECE);
		sc = memtap_enter(&irqflags);
		if (!sc)
			break;
		raw_spin_lock(&r->lock);
		while (done < end && r->tail != r->head)
			out[done++] = r->at[r->tail++ & r->mask];
		more = r->tail != r->head;
		raw_spin_unlock(&r->lock);
		memtap_leave(sc, irqflags);
	}
	return done;
}
