/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_HEAP_PEAK_H
#define _MEMTAP_HEAP_PEAK_H

/* What block.c does to blocks with MEMTAP_CFG_PEAK, to be compiled into it. */
#include "core/peaktab_run.h"
#include "live/visit.h"

/*
 * peak.c: a block is gone; one has come, and with it what realloc() was given is gone: its slot
 * goes into @b
 */
void heap_peak_gone(const struct memtap_heap_cpu *v, const struct live *b);
void heap_peak_keep(const struct memtap_heap_cpu *v, struct live *b);

/* Was nothing allocated by this thread since? */
static __always_inline bool heap_peak_temporary(const struct memtap_heap_thread *th,
						const struct live *b)
{
	return th->given == b->addr && b->flags == th->tag;
}

static __always_inline void heap_peak_freed(const struct memtap_heap_cpu *v, const struct live *b)
{
	const struct memtap_heap_thread *th = v->th;
	struct peaktab *t = v->h->peaks;

	if (likely(b->flags & LIVE_STACK) && likely(port_trylock_quick(&t->lock))) {
		if (peaktab_saved(t, b->task)) {
			peaktab_went(t, th->owner.space, b->task, b->size,
				     heap_peak_temporary(th, b));
			port_unlock_quick(&t->lock);
			return;
		}
		port_unlock_quick(&t->lock);
	}
	heap_peak_gone(v, b);
}

/* The block is in no other thread's hands yet: @b has the slot of its stack. */
static __always_inline void heap_peak_came(const struct memtap_heap_cpu *v, struct live *b,
					   u64 addr)
{
	struct memtap_heap_thread *th = v->th;
	struct peaktab *t = v->h->peaks;
	u32 slot;

	if (likely(!(th->flags & CALL_OLD)) && likely(port_trylock_quick(&t->lock))) {
		if (peaktab_ready(t, &th->owner, th->ustack, th->size, &slot)) {
			peaktab_came(t, th->owner.space, slot, th->size);
			port_unlock_quick(&t->lock);
			b->task = slot;
			b->flags = th->tag;
			th->given = addr;
			return;
		}
		port_unlock_quick(&t->lock);
	}
	heap_peak_keep(v, b);
}

#endif
