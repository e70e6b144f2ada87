/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_HEAP_VISIT_H
#define _MEMTAP_HEAP_VISIT_H

#include "heap.h"
#include "record.h"
#include "session.h"

/* One probe's hit, under memtap_enter(). */
struct heap_visit {
	const struct memtap_heap_probe *p;
	struct memtap_session *s;
	struct memtap_heap *h;
	struct memtap_scratch *sc;
	struct memtap_heap_cpu *cpu;
	struct memtap_heap_thread *th;
	struct pt_regs *regs;
	u64 sp;
	u64 size, ptr;
	u32 event;		/* whose call it is: the mark's, if there is one */
	u32 ustack;
	bool marked;
};

static inline struct memtap_account *heap_event(const struct heap_visit *v, u32 event)
{
	return &v->cpu->accounts[event];
}

static inline struct memtap_heap_account *heap_account(const struct heap_visit *v, u32 event)
{
	return &v->cpu->account[event];
}

static inline void heap_lost(const struct heap_visit *v, u32 event, u32 reason)
{
	port_add64(&heap_event(v, event)->lost[reason], 1);
	v->h->exact = false;
}

static inline void heap_take_stack(struct heap_visit *v)
{
	if (unlikely(v->p->moved))
		v->ustack = memtap_heap_stack_moved(v->s, heap_event(v, v->event), v->sc,
						    v->regs, v->p->moved,
						    v->th->task_space);
	else if (v->ustack == MEMTAP_STACK_NONE)
		v->ustack = memtap_heap_stack(v->s, v->cpu, heap_event(v, v->event),
					      v->sc, v->regs, v->th->task_space);
}

/* heap_block.c: what calls do to blocks */
/* a call that takes back what v->ptr is */
void heap_take_back(struct heap_visit *v);
/* one that is to hand something out begins, and ends with @result */
void heap_begin_call(struct heap_visit *v);
void heap_end_call(struct heap_visit *v, u64 result);

#endif
