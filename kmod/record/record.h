/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_RECORD_H
#define _MEMTAP_RECORD_H

#include "core/pairtab.h"
#include "record/args.h"
#include "record/guard.h"
#include "record/listen.h"
#include "record/recording.h"

/* Count one event in all sessions that listen to @src and count.  Any context. */
void memtap_hit(struct memtap_source *src, const struct memtap_hit *hit);

/*
 * Before anything is looked at of an event that current causes.  true: only one session listens,
 * and current is certainly none of the processes that it asked for: counted as memtap_hit() would,
 * with next to nothing.  false: nothing is done yet.
 *
 * Under rcu_read_lock(), with preemption off, where nothing that comes in between is an event of
 * @src: so that its account has one writer, as in memtap_enter().
 */
static __always_inline bool memtap_hit_filtered(struct memtap_source *src)
{
	const struct memtap_listeners *ls = rcu_dereference(src->listeners);
	struct memtap_account *acc;
	struct memtap_session *s;
	const struct filter *f;

	if (unlikely(!ls) || ls->nr != 1 || ls->at[0].how != MEMTAP_COUNTS)
		return false;
	s = ls->at[0].session;
	if (unlikely(!smp_load_acquire(&s->running)))
		return false;
	f = s->filter;
	if (!f->has_pids || !pidset_lacks(&f->pids, current->tgid) ||
	    (READ_ONCE(f->tids.used) && !pidset_lacks(&f->tids, current->pid)))
		return false;
	acc = &s->cpus[smp_processor_id()]->events[ls->at[0].event].account;
	port_add64(&acc->seen, 1);
	port_add64(&acc->filtered, 1);
	this_cpu_inc(*src->hits);
	return true;
}

/*
 * The same in two steps, for probes on returns: the entry takes the stacks, the
 * return counts.  @pair: what entry and return agree on.
 */
void memtap_hit_entry(struct memtap_source *src, const struct memtap_hit *hit,
		      const struct pair_key *pair);
void memtap_hit_return(struct memtap_source *src, const struct pair_key *pair);

/* The same three of events that have steps, whose sessions listen with COUNTS_STEPS. */
void memtap_args_hit(struct memtap_source *src, const struct memtap_args_hit *hit);
void memtap_args_hit_entry(struct memtap_source *src, const struct memtap_args_hit *hit,
			   const struct pair_key *pair);
void memtap_args_hit_return(struct memtap_source *src, const struct memtap_args_hit *hit,
			    const struct pair_key *pair);

/* Sessions that tell files apart keep this one, which an event will be about. */
void memtap_note_file(struct memtap_source *src, const struct inode *inode);

/*
 * The interned user stack of current, MEMTAP_STACK_*; what is not whole of it is
 * accounted in @acc.  @entry: as of memtap_unwind_user(); @space: of its task.
 * Under memtap_enter().
 */
u32 memtap_record_user_stack(struct memtap_session *s, struct memtap_account *acc,
			     struct memtap_scratch *sc, struct pt_regs *regs,
			     bool entry, u32 space);

/*
 * The same of a kernel stack: of here, or of @hit's registers; or only who called.  For several
 * sessions of one event it is walked once.
 */
u32 memtap_record_kernel_stack(struct memtap_session *s, struct memtap_account *acc,
			       struct memtap_scratch *sc, const struct memtap_hit *hit);
u32 memtap_record_call_site(struct memtap_session *s, struct memtap_account *acc, u64 ip);

/*
 * memtap_enter() gave nothing: accounted as recursion, or NMI, for those who listen in
 * this way.
 */
void memtap_refuse(const struct memtap_source *src, enum memtap_listens how);

/* Accounts what is not whole of a stack with these MEMTAP_STACK_*. */
#define MEMTAP_STACK_CUTS	(MEMTAP_STACK_DEPTH | MEMTAP_STACK_FAULT |	\
				 MEMTAP_STACK_CHAIN | MEMTAP_STACK_TRAMPOLINE |	\
				 MEMTAP_STACK_NOMAP | MEMTAP_STACK_NOTABLE |	\
				 MEMTAP_STACK_NOROW)
void memtap_note_cut(struct memtap_account *acc, u32 flags);

static inline void memtap_note_partial(struct memtap_account *acc, u32 flags)
{
	if (unlikely(flags & MEMTAP_STACK_CUTS))
		memtap_note_cut(acc, flags);
}

/*
 * unwind_kernel.c: the kernel stack of here, or of @hit's registers (kernel mode),
 * without our own frames and the probe's.  @trail: with its base; filled in, or NULL.  Returns
 * the number of frames, MEMTAP_STACK_* in *flags.  Under memtap_enter().
 */
u32 memtap_unwind_kernel(struct memtap_scratch *sc, const struct memtap_hit *hit,
			 u32 max, u32 *flags);

/*
 * The same frames, by stack_trace_save() alone: is what was found again without a walk what
 * the kernel says?  Where it does not say so much, it is not asked.
 */
bool memtap_kernel_stack_is(struct memtap_scratch *sc, const struct memtap_hit *hit,
			    const u64 *ips, u32 nr);

/*
 * unwind_user.c: the user stack of current.  @regs: its registers if they are
 * user mode ones, else (or NULL) those it entered the kernel with are taken.
 * @entry: they are at a function's first instruction.  @rows: the session whose
 * tables are used, or NULL: frame pointers.  Returns the number of frames,
 * MEMTAP_STACK_* in *flags.  Under memtap_enter().
 */
u32 memtap_unwind_user(struct memtap_scratch *sc, struct pt_regs *regs,
		       bool entry, struct memtap_session *rows, u32 max,
		       u32 *flags);

#endif
