/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_HEAP_VISIT_H
#define _MEMTAP_HEAP_VISIT_H

#include "live/live.h"
#include "record/record.h"
#include "record/recording.h"

static inline struct memtap_account *heap_event(const struct memtap_heap_cpu *v, u32 event)
{
	return &v->events[event].account;
}

static inline struct memtap_heap_account *heap_account(struct memtap_heap_cpu *v, u32 event)
{
	return &v->account[event];
}

static inline void heap_lost(const struct memtap_heap_cpu *v, u32 event, u32 reason)
{
	port_add64(&heap_event(v, event)->lost[reason], 1);
	v->h->exact = false;
}

/* block.c: the same where the stack has moved since the entry */
void heap_free_moved(struct memtap_heap_cpu *v);

static inline void heap_take_stack(struct memtap_heap_cpu *v)
{
	if (v->ustack != MEMTAP_STACK_NONE)
		return;
	if (unlikely(v->p->moved))
		heap_free_moved(v);
	else
		v->ustack = memtap_record_user_stack(v->s, heap_event(v, v->event), v->sc,
						     v->regs, true, v->th->task_space);
}

/* --- block.c: what calls do to blocks */
/* a call that takes back what v->ptr is */
void heap_free_block(struct memtap_heap_cpu *v);
/* one that is to hand something out begins, and ends with @result */
void heap_begin_call(struct memtap_heap_cpu *v);
void heap_end_call(struct memtap_heap_cpu *v, u64 result);

#endif
