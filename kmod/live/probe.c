// SPDX-License-Identifier: GPL-2.0-only
/* The probes on allocator functions: check their settings, and keep their data. */
#include "record/arch.h"
#include "live/live.h"
#include "record/record.h"
#include "record/recording.h"

/* Which arguments an op has, and may have. */
#define HAS_SIZE	(1U << 0)
#define HAS_PTR		(1U << 1)
#define MAY_PTR		(1U << 2)
#define MAY_SIZE	(1U << 3)

static const u8 shapes[MEMTAP_NR_HEAP] = {
	[MEMTAP_HEAP_ALLOC] = HAS_SIZE,
	[MEMTAP_HEAP_FREE] = HAS_PTR,
	[MEMTAP_HEAP_REALLOC] = HAS_SIZE | HAS_PTR,
	[MEMTAP_HEAP_ENTER] = MAY_PTR | MAY_SIZE,
	[MEMTAP_HEAP_UNWIND] = 0,
	[MEMTAP_HEAP_GIVE] = HAS_PTR,
};

static bool is_arg(u32 arg)
{
	return arg <= MEMTAP_ARG_MAX;
}

static bool fits(u32 arg, bool has, bool may)
{
	return is_arg(arg) ? has || may : arg == MEMTAP_ARG_NONE && !has;
}

int memtap_heap_check(const struct memtap_session *s, const struct memtap_attach *a)
{
	const u32 known = MEMTAP_ATTACH_FREE_STACK | MEMTAP_ATTACH_ONCE;
	u32 shape;

	if (!s->heap)
		return -EBUSY;
	if (!a->op || a->op >= MEMTAP_NR_HEAP || a->family > 255 || a->ref_ctr ||
	    (a->flags & ~known) || a->moved >= 65536 || a->by_mask || a->text_max ||
	    (a->moved && a->op != MEMTAP_HEAP_FREE))
		return -EINVAL;
	shape = shapes[a->op];
	if ((a->flags & MEMTAP_ATTACH_ONCE) && !(shape & (HAS_PTR | MAY_PTR)))
		return -EINVAL;
	if (!fits(a->size_arg, shape & HAS_SIZE, shape & MAY_SIZE) ||
	    !fits(a->size2_arg, false, (shape & HAS_SIZE) ||
		  ((shape & MAY_SIZE) && is_arg(a->size_arg))) ||
	    !fits(a->ptr_arg, shape & HAS_PTR, shape & MAY_PTR))
		return -EINVAL;
	if (a->result_arg == MEMTAP_ARG_RETURN ? !(shape & HAS_SIZE) :
	    !fits(a->result_arg, shape & HAS_SIZE, false))
		return -EINVAL;
	return s->nr_probes < HEAP_MAX_PROBES ? 0 : -ENOSPC;
}

void memtap_heap_probe(struct memtap_heap_probe *p, struct memtap_session *s,
		       const struct memtap_attach *a)
{
	p->session = s;
	p->event = a->event;
	p->op = a->op;
	p->size_arg = a->size_arg;
	p->size2_arg = a->size2_arg;
	p->ptr_arg = a->ptr_arg;
	p->result_arg = a->result_arg;
	p->has_size2 = is_arg(a->size2_arg);
	p->has_size = is_arg(a->size_arg);
	p->has_ptr = is_arg(a->ptr_arg);
	p->size_at = is_arg(a->size_arg) ? memtap_arg_place(a->size_arg) : 0;
	p->size2_at = p->has_size2 ? memtap_arg_place(a->size2_arg) : 0;
	p->ptr_at = p->has_ptr ? memtap_arg_place(a->ptr_arg) : 0;
	p->moved = a->moved;
	p->free_stack = a->flags & MEMTAP_ATTACH_FREE_STACK;
	p->once = a->flags & MEMTAP_ATTACH_ONCE;
	/* from now on what is freed may be wanted again */
	if (p->free_stack)
		s->heap->remembering = true;
}

void memtap_heap_event(struct memtap_heap *h, u32 event, u32 op, u32 family)
{
	h->events[event].op = op;
	h->events[event].family = family;
	h->events[event].probes = 0;
}

/*
 * The functions of a file that nobody waits with were perhaps called already:
 * what they handed out may be freed, and is no mistake.
 */
void memtap_heap_late(struct memtap_session *s)
{
	struct memtap_heap *h = s->heap;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 id;

	if (READ_ONCE(s->holds.nr))
		return;
	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&h->lock);
	for (id = 1; id < h->used_spaces; id++)
		h->spaces[id].flags &= ~MEMTAP_SPACE_START;
	raw_spin_unlock(&h->lock);
	memtap_leave(sc, irqflags);
}
