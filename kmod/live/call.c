// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of allocators: from the entry, which knows the arguments and the stack,
 * to the return, which knows the result.  The outermost call of a thread counts,
 * those that it makes itself do not.
 *
 * Interrupts are off under memtap_enter(): RCU's readers need no more than that,
 * see memtap_irqs_off_read().
 */
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/uaccess.h>

#include "record/arch.h"
#include "live/visit.h"

#include "compat/task.h"
#include "compat/uprobe.h"
#include "compat/user_copy.h"

/* Pages of a stack that are brought in for one call, at most. */
#define BRING_IN	4

static void count_inner(struct memtap_heap_cpu *v, u32 event)
{
	struct memtap_account *acc = heap_event(v, event);

	port_add64(&acc->seen, 1);
	port_add64(&acc->filtered, 1);
	port_add64(&heap_account(v, event)->inner, 1);
}

/* --- arguments ------------------------------------------------------------- */

/* 32-bit programs have their arguments on the stack, above the return address. */
static noinline u64 compat_arg(const struct memtap_heap_cpu *v, u32 n)
{
	u32 arg = 0;

	if (!IS_ENABLED(CONFIG_X86))
		return (u32)memtap_karg(v->regs, n);
	if (copy_from_user_nofault(&arg, (void __user *)(unsigned long)(v->sp + 4 + 4 * n),
				   sizeof(arg)))
		return 0;
	return arg;
}

static inline u64 user_arg(const struct memtap_heap_cpu *v, u32 at, u32 n)
{
	if (unlikely(memtap_task_compat(current)))
		return compat_arg(v, n);
	return *(const unsigned long *)((const u8 *)v->regs + at);
}

/* What is asked for; more than there is cannot be said, and fails. */
static inline void get_size(struct memtap_heap_cpu *v)
{
	u64 n;

	v->size = user_arg(v, v->p->size_at, v->p->size_arg);
	if (likely(!v->p->has_size2))
		return;
	n = user_arg(v, v->p->size2_at, v->p->size2_arg);
	if (unlikely((v->size | n) >> 32) && v->size && n > div64_u64(~0ULL, v->size))
		v->size = ~0ULL;
	else
		v->size *= n;
}

/* --- within another call? --------------------------------------------------- */

/*
 * Is this what new was asked for?  What else it calls does not hand that out: the memory
 * of an exception, where there is none to be had.  Allocators may be asked for more.
 */
static bool is_asked_for(struct memtap_heap_cpu *v)
{
	const struct memtap_heap_thread *th = v->th;

	if (!th->mark_sized || v->p->op != MEMTAP_HEAP_ALLOC)
		return true;
	get_size(v);
	if (th->mark_aligned)		/* one that has an alignment has it first */
		return v->p->size_arg && v->size >= th->mark_size;
	return v->size == th->mark_size || (!th->mark_size && v->size == 1);
}

/*
 * Then it is that one's matter; what a mark says of it is taken over.  A mark
 * that does not hold any more was left.
 */
static noinline bool look_inside(struct memtap_heap_cpu *v)
{
	struct memtap_heap_thread *th = v->th;
	u64 ra;

	if (th->sp) {
		if (memtap_heap_inside(th, v->sp))
			return true;
		memtap_heap_left(v->s, th);
	}
	if (!th->mark_sp)
		return false;
	if (!memtap_heap_marked(th, v->sp)) {
		memtap_heap_left(v->s, th);
		return false;
	}
	if (v->p->op == MEMTAP_HEAP_ENTER)
		return true;
	/* new takes memory, delete gives back: what else they do is their own */
	if (th->mark_frees != memtap_heap_frees(v->p->op) ||
	    (th->mark_frees && th->mark_ptr != v->ptr) || !is_asked_for(v))
		return false;
	/* the handler of new may make room: then it is called again, there */
	memtap_heap_word(v->sp, &ra);
	if (th->mark_used && ra != th->mark_inner)
		return false;
	th->mark_inner = ra;
	v->event = th->mark_event;
	v->marked = true;
	return false;
}

static inline bool is_inner(struct memtap_heap_cpu *v)
{
	return (v->th->sp | v->th->mark_sp) && look_inside(v);
}

/* --- entry ------------------------------------------------------------------ */

/* @s runs: so it has a table. */
static inline struct memtap_heap_cpu *begin(const struct memtap_heap_probe *p,
					    struct pt_regs *regs, struct memtap_scratch *sc)
{
	struct memtap_heap_cpu *v = p->session->heap->cpus[smp_processor_id()];

	v->p = p;
	v->sc = sc;
	v->regs = regs;
	v->event = p->event;
	v->ustack = MEMTAP_STACK_NONE;
	v->marked = false;
	return v;
}

/* No memory was there to give back, or so it seems. */
static void no_block(struct memtap_heap_cpu *v)
{
	port_add64(&heap_account(v, v->event)->null, 1);
	port_add64(&heap_event(v, v->event)->counted, 1);
}

static void on_enter(struct memtap_heap_cpu *v)
{
	struct memtap_heap_thread *th = v->th;
	u64 ra;

	if (v->p->has_ptr && !v->ptr) {
		no_block(v);
		return;
	}
	if (!memtap_heap_word(v->sp, &ra)) {
		heap_lost(v, v->event, MEMTAP_LOST_LEFT);
		return;
	}
	th->mark_sp = v->sp;
	th->mark_ra = ra;
	th->mark_ptr = v->ptr;
	th->mark_event = v->event;
	th->mark_ustack = v->ustack;
	th->mark_used = 0;
	th->mark_frees = v->p->has_ptr;
	th->mark_sized = v->p->has_size;
	th->mark_aligned = v->p->has_size2;
	th->mark_size = v->p->has_size ? user_arg(v, v->p->size_at, v->p->size_arg) : 0;
}

/* Once for a call: a draw by sampling is not to be repeated. */
static void decide(struct memtap_heap_cpu *v)
{
	struct memtap_heap_thread *th = v->th;

	th->flags = 0;
	if (v->size == ~0ULL)
		return;			/* it will fail */
	if (v->h->filtering && !filter_event(v->s->filter, 1, 1, (s64)v->size))
		th->flags = CALL_FILTER;
	else if (unlikely(READ_ONCE(v->s->marks.draining)))
		th->flags = CALL_FILTER | CALL_DRAIN;
	else if (v->h->sampling && !sampler_keeps(&v->h->sampler, &th->sampler, v->size))
		th->flags = CALL_SKIP;
}

static __always_inline bool wants_stack(struct memtap_heap_cpu *v, bool again)
{
	if (memtap_heap_frees(v->p->op))
		return v->p->free_stack && v->ptr;
	/*
	 * Frame pointers tell who called new only here: within it, its own return
	 * address is in no chain of them.
	 */
	if (unlikely(v->p->op == MEMTAP_HEAP_ENTER))
		return !v->s->spaces && !v->p->has_ptr;
	get_size(v);
	if (unlikely(v->marked && v->th->mark_sized))
		v->size = v->th->mark_size;
	if (likely(!again))
		decide(v);
	if (unlikely(v->marked && v->th->mark_ustack))
		v->ustack = v->th->mark_ustack;
	return !v->th->flags && !v->ustack;
}

static inline void entered(struct memtap_heap_cpu *v)
{
	struct memtap_heap_thread *th = v->th;

	if (unlikely(v->marked))
		count_inner(v, v->p->event);
	/* again, after the handler of new made room: a call of its own */
	if (!v->marked || th->mark_used)
		port_add64(&heap_event(v, v->event)->seen, 1);
	if (v->marked)
		th->mark_used = 1;
	if (memtap_heap_frees(v->p->op)) {
		if (likely(v->ptr))
			heap_free_block(v);
		else
			no_block(v);
	} else if (unlikely(v->p->op == MEMTAP_HEAP_ENTER)) {
		on_enter(v);
	} else {
		heap_begin_call(v);
		if (unlikely(v->p->result_arg <= MEMTAP_ARG_MAX))
			th->via = user_arg(v, memtap_arg_place(v->p->result_arg),
					   v->p->result_arg);
	}
}

/* Counts it; or does nothing, and returns where the stack is to be brought in. */
static __always_inline u64 enter_once(struct memtap_heap_cpu *v, bool again, bool retry)
{
	v->sp = user_stack_pointer(v->regs) + v->p->moved;
	v->ptr = v->p->has_ptr ? user_arg(v, v->p->ptr_at, v->p->ptr_arg) : 0;
	if (unlikely(is_inner(v))) {
		count_inner(v, v->p->event);
		return 0;
	}
	if (wants_stack(v, again)) {
		v->sc->ufault = 0;
		v->sc->patient = retry;
		heap_take_stack(v);
		v->sc->patient = false;
		if (unlikely(v->sc->ufault) && retry)
			return v->sc->ufault;
	}
	entered(v);
	return 0;
}

static noinline void refuse(const struct memtap_heap_probe *p)
{
	if (!smp_load_acquire(&p->session->running))
		return;
	atomic64_inc(&p->session->events[p->event]->recursion);
	p->session->heap->exact = false;
}

static noinline bool find_thread(struct memtap_heap_cpu *v, bool *wanted)
{
	struct memtap_account *acc = heap_event(v, v->event);

	if (!memtap_heap_passes(v->s)) {
		port_add64(&acc->seen, 1);
		port_add64(&acc->filtered, 1);
		*wanted = false;
		return false;
	}
	if (memtap_heap_thread(v->s, v))
		return true;
	port_add64(&acc->seen, 1);
	heap_lost(v, v->event, v->no_slot);
	return false;
}

/*
 * The thread's slot; false where the call ends before anything is known of it.
 * Whoever has a slot has passed the filter, and still does, unless it is about
 * what can change.
 */
static inline bool get_thread(struct memtap_heap_cpu *v, bool *wanted)
{
	return likely(memtap_heap_thread_same(v) && !v->h->renamed) ||
	       find_thread(v, wanted);
}

static __always_inline u64 try_entry(const struct memtap_heap_probe *p,
				     struct pt_regs *regs, bool again, bool retry,
				     bool *wanted)
{
	struct memtap_scratch *sc;
	struct memtap_heap_cpu *v;
	unsigned long irqflags;
	u64 fault = 0;

	sc = memtap_enter(&irqflags);
	if (unlikely(!sc)) {
		refuse(p);
		return 0;
	}
	memtap_irqs_off_read();
	if (likely(smp_load_acquire(&p->session->running))) {
		v = begin(p, regs, sc);
		if (likely(get_thread(v, wanted)))
			fault = enter_once(v, again, retry);
	}
	memtap_irqs_off_read_end();
	memtap_leave(sc, irqflags);
	return fault;
}

static noinline void bring_in(const struct memtap_heap_probe *p, struct pt_regs *regs,
			      u64 fault)
{
	bool wanted = true;
	u32 tries = BRING_IN;
	char c;

	while (fault) {
		tries--;
		if (memtap_user_copy(&c, fault, 1))
			tries = 0;
		fault = try_entry(p, regs, true, tries > 0, &wanted);
	}
}

static noinline void unwind_left(const struct memtap_heap_probe *p)
{
	struct memtap_scratch *sc;
	struct memtap_heap_cpu *v;
	unsigned long irqflags;
	bool wanted = true;

	sc = memtap_enter(&irqflags);
	if (!sc) {
		refuse(p);
		return;
	}
	memtap_irqs_off_read();
	if (smp_load_acquire(&p->session->running)) {
		v = begin(p, NULL, sc);
		if (get_thread(v, &wanted)) {
			port_add64(&heap_event(v, v->event)->seen, 1);
			port_add64(&heap_event(v, v->event)->counted, 1);
			memtap_heap_left(p->session, v->th);
		}
	}
	memtap_irqs_off_read_end();
	memtap_leave(sc, irqflags);
}

/*
 * Frames are about to be left: so are the calls that they are in.  The addresses
 * are put back also for those whom the session does not count: a child that was
 * forked has inherited them.
 */
static noinline void on_unwind(const struct memtap_heap_probe *p)
{
	memtap_uretprobe_restore();
	unwind_left(p);
}

bool memtap_heap_entry(const struct memtap_heap_probe *p, struct pt_regs *regs)
{
	bool wanted = true;
	u64 fault;

	if (unlikely(!current->mm))
		return true;
	if (unlikely(p->op == MEMTAP_HEAP_UNWIND)) {
		on_unwind(p);
		return true;
	}
	fault = try_entry(p, regs, false, true, &wanted);
	if (unlikely(fault))
		bring_in(p, regs, fault);
	return wanted;
}

/* --- return ----------------------------------------------------------------- */

/* Is this the return of the call that the thread is in? */
static inline bool returns(const struct memtap_heap_cpu *v)
{
	const struct memtap_heap_thread *th = v->th;

	return th->sp && th->probe == v->p &&
	       th->sp == memtap_entry_sp(v->regs, memtap_task_compat(current) ? 4 :
					 sizeof(long));
}

static u64 result_of(const struct pt_regs *regs)
{
	u64 result = regs_return_value((struct pt_regs *)regs);

	if (unlikely(memtap_task_compat(current)))
		return (u32)result == ~0U ? ~0ULL : (u32)result;
	return result;
}

/*
 * posix_memalign(): where the block's address was stored has to be read where
 * that may sleep, so this goes two ways: the first one says in *via where.
 */
static void end_stored(struct memtap_heap_cpu *v, u64 *via, u64 stored)
{
	if ((u32)regs_return_value(v->regs)) {
		heap_end_call(v, 0);
	} else if (*via) {
		heap_end_call(v, stored);
		*via = 0;
	} else if (v->th->via) {
		*via = v->th->via;
	} else {
		heap_end_call(v, 0);
	}
}

static __always_inline void try_return(const struct memtap_heap_probe *p,
				       struct pt_regs *regs, u64 *via, u64 stored)
{
	struct memtap_scratch *sc;
	struct memtap_heap_cpu *v;
	unsigned long irqflags;

	sc = memtap_enter(&irqflags);
	if (unlikely(!sc))
		return;		/* found out at the thread's next call */
	memtap_irqs_off_read();
	if (likely(smp_load_acquire(&p->session->running))) {
		v = begin(p, regs, sc);
		if (likely(memtap_heap_thread_known(v) && returns(v))) {
			if (unlikely(v->th->flags & CALL_GIVES))
				v->th->sp = 0;
			else if (likely(p->result_arg == MEMTAP_ARG_RETURN))
				heap_end_call(v, result_of(regs));
			else
				end_stored(v, via, stored);
		}
	}
	memtap_irqs_off_read_end();
	memtap_leave(sc, irqflags);
}

/* The block's address was stored where it may have to be brought in first. */
static noinline void return_stored(const struct memtap_heap_probe *p, struct pt_regs *regs,
				   u64 via)
{
	u32 word = memtap_task_compat(current) ? 4 : sizeof(long);
	u64 stored = 0;

	if (memtap_user_copy(&stored, via, word))
		stored = 0;
	try_return(p, regs, &via, stored);
}

void memtap_heap_return(const struct memtap_heap_probe *p, struct pt_regs *regs)
{
	u64 via = 0;

	if (unlikely(!current->mm))
		return;
	try_return(p, regs, &via, 0);
	if (unlikely(via))
		return_stored(p, regs, via);
}
