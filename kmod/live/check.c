// SPDX-License-Identifier: GPL-2.0-only
/*
 * Detect invalid frees: of a block just freed, of an address never allocated, of a block from
 * another allocator family.
 */
#include <linux/ktime.h>

#include "live/live.h"
#include "record/record.h"
#include "record/recording.h"

/* What is not known may be a mistake only where everything else is. */
bool memtap_heap_all_known(const struct memtap_heap *h)
{
	return h->exact && !h->sampling && !h->filtering;
}

bool memtap_heap_suspect(struct memtap_heap *h, const struct memtap_heap_thread *th,
			 u64 addr)
{
	struct recent r;

	if (!memtap_heap_all_known(h))
		return false;
	return (memtap_heap_space_of(h, th->space)->flags & MEMTAP_SPACE_START) ||
	       recents_get(&h->recents, th->space, addr, &r);
}

static bool same(const struct memtap_heap_mismatch *a,
		 const struct memtap_heap_mismatch *b)
{
	return a->kind == b->kind && a->event == b->event && a->task == b->task &&
	       a->alloc_event == b->alloc_event && a->stack == b->stack &&
	       a->alloc_stack == b->alloc_stack && a->free_stack == b->free_stack;
}

static bool add(struct memtap_heap *h, const struct memtap_heap_mismatch *m)
{
	bool added = true;
	u32 i;

	raw_spin_lock(&h->lock);
	for (i = 0; i < h->nr_mismatches; i++)
		if (same(&h->mismatches[i], m))
			break;
	if (i < h->nr_mismatches) {
		WRITE_ONCE(h->mismatches[i].count, h->mismatches[i].count + 1);
	} else if (i < HEAP_MISMATCHES) {
		h->mismatches[i] = *m;
		smp_store_release(&h->nr_mismatches, i + 1);
	} else {
		h->mismatches_lost++;
		added = false;
	}
	raw_spin_unlock(&h->lock);
	return added;
}

static void describe(struct memtap_heap_mismatch *m, u32 kind,
		     const struct memtap_heap_thread *th, u32 event, u64 addr, u32 stack)
{
	memset(m, 0, sizeof(*m));
	m->kind = kind;
	m->event = event;
	m->task = th->task_id;
	m->alloc_event = ~0U;
	m->stack = stack;
	m->addr = addr;
	m->count = 1;
	m->ns = ktime_get_ns();
}

bool memtap_heap_unknown(struct memtap_session *s, const struct memtap_heap_thread *th,
			 u32 event, u64 addr, u32 stack)
{
	struct memtap_heap_mismatch m;
	struct recent r;

	if (recents_get(&s->heap->recents, th->space, addr, &r)) {
		describe(&m, MEMTAP_MISMATCH_DOUBLE, th, event, addr, stack);
		m.alloc_event = r.block.event;
		m.alloc_stack = r.block.ustack;
		m.free_stack = r.ustack;
		m.size = r.block.size;
	} else {
		describe(&m, MEMTAP_MISMATCH_UNKNOWN, th, event, addr, stack);
	}
	return add(s->heap, &m);
}

bool memtap_heap_same_family(const struct memtap_heap *h, u32 event, u32 alloc_event)
{
	u32 a = h->events[event].family, b = h->events[alloc_event].family;

	return a == b || a == MEMTAP_FAMILY_ANY || b == MEMTAP_FAMILY_ANY;
}

bool memtap_heap_family(struct memtap_session *s, const struct memtap_heap_thread *th,
			u32 event, const struct live *block, u32 stack)
{
	struct memtap_heap_mismatch m;

	describe(&m, MEMTAP_MISMATCH_FAMILY, th, event, block->addr, stack);
	m.alloc_event = block->event;
	m.alloc_stack = block->ustack;
	m.size = block->size;
	return add(s->heap, &m);
}
