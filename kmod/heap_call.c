// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of allocators: from the entry, which knows the arguments and the stack,
 * to the return, which knows the result.  The outermost call of a thread counts,
 * those that it makes itself do not.
 */
#include <linux/ktime.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/uaccess.h>

#include "arch.h"
#include "heap.h"
#include "record.h"
#include "session.h"

#include "compat/task.h"
#include "compat/uprobe.h"

/* Pages of a stack that are brought in for one call, at most. */
#define BRING_IN	4

/* One probe's hit, under memtap_enter(). */
struct heap_visit {
	const struct memtap_heap_probe *p;
	struct memtap_session *s;
	struct memtap_heap *h;
	struct memtap_scratch *sc;
	struct memtap_heap_cpu *cpu;
	struct memtap_account *accounts;
	struct memtap_heap_thread *th;
	struct pt_regs *regs;
	u64 sp;
	u32 event;		/* whose call it is: the mark's, if there is one */
	u32 ustack;
	bool marked;
	u64 size, ptr;
};

static struct memtap_heap_account *heap_account(const struct heap_visit *v, u32 event)
{
	return &v->cpu->account[event];
}

static void seen(const struct heap_visit *v, u32 event)
{
	port_add64(&v->accounts[event].seen, 1);
}

static void counted(const struct heap_visit *v, u32 event)
{
	port_add64(&v->accounts[event].counted, 1);
}

static void filtered(const struct heap_visit *v, u32 event)
{
	port_add64(&v->accounts[event].filtered, 1);
}

static void lost(const struct heap_visit *v, u32 event, u32 reason)
{
	port_add64(&v->accounts[event].lost[reason], 1);
	v->h->exact = false;
}

/* 32-bit programs have their arguments on the stack, above the return address. */
static u64 compat_arg(const struct heap_visit *v, u32 n)
{
	u32 arg = 0;

	if (!IS_ENABLED(CONFIG_X86))
		return (u32)memtap_karg(v->regs, n);
	if (copy_from_user_nofault(&arg, (void __user *)(unsigned long)(v->sp + 4 + 4 * n),
				   sizeof(arg)))
		return 0;
	return arg;
}

static u64 user_arg(const struct heap_visit *v, u32 n)
{
	return unlikely(memtap_task_compat(current)) ? compat_arg(v, n) :
						       memtap_karg(v->regs, n);
}

/* What is asked for, as the C library computes it: false: more than there is. */
static bool size_of(struct heap_visit *v)
{
	u64 n;

	v->size = v->p->size_arg > MEMTAP_ARG_MAX ? 0 : user_arg(v, v->p->size_arg);
	if (v->p->size2_arg > MEMTAP_ARG_MAX)
		return true;
	n = user_arg(v, v->p->size2_arg);
	if (v->size && n > div64_u64(~0ULL, v->size)) {
		v->size = ~0ULL;
		return false;
	}
	v->size *= n;
	return true;
}

static bool size_filtered(const struct heap_visit *v)
{
	return v->h->filtering && !filter_event(v->s->filter, 1, 1, (s64)v->size);
}

static void trace(const struct heap_visit *v, u32 event, u64 addr, u64 size, u64 old,
		  u32 ustack, u32 flags)
{
	struct memtap_call c;

	if (likely(!v->h->ring.at))
		return;
	memset(&c, 0, sizeof(c));
	c.ns = ktime_get_ns();
	c.addr = addr;
	c.size = size;
	c.old = old;
	c.pid = current->tgid;
	c.tid = current->pid;
	c.event = event;
	c.flags = flags;
	c.ustack = ustack;
	c.cpu = smp_processor_id();
	memcpy(c.comm, current->comm, sizeof(c.comm));
	memtap_heap_trace(v->h, &c);
}

/* --- taking back --------------------------------------------------------- */

static void remember(const struct heap_visit *v, const struct live *b)
{
	struct recent r;

	memset(&r, 0, sizeof(r));
	r.block = *b;
	r.ustack = v->ustack;
	r.task = v->th->task_id;
	r.event = v->event;
	recents_put(&v->h->recents, &r);
}

static void take_stack(struct heap_visit *v)
{
	if (v->ustack == MEMTAP_STACK_NONE)
		v->ustack = memtap_record_user_stack(v->s, &v->accounts[v->event], v->sc,
						     v->regs, true,
						     v->th->task_space);
}

/* A block that is not known: from before, or a mistake of the program. */
static u32 not_known(struct heap_visit *v)
{
	struct memtap_heap_account *a = heap_account(v, v->event);

	port_add64(&a->unknown, 1);
	atomic64_inc(&v->h->spaces[v->th->space].unknown);
	if (!v->h->exact)
		return MEMTAP_CALL_UNKNOWN;
	/* the stack is taken only where it may be needed */
	if (!memtap_heap_suspect(v->h, v->th, v->ptr))
		return MEMTAP_CALL_UNKNOWN;
	take_stack(v);
	return MEMTAP_CALL_UNKNOWN |
	       (memtap_heap_unknown(v->s, v->th, v->event, v->ptr, v->ustack) ?
		MEMTAP_CALL_MISMATCH : 0);
}

static u32 known(struct heap_visit *v, const struct live *b)
{
	struct memtap_heap_account *a = heap_account(v, v->event);
	u32 flags = 0;

	port_add64(&a->frees, 1);
	port_add64(&a->freed_bytes, b->size);
	if (unlikely(!memtap_heap_same_family(v->h, v->event, b->event))) {
		take_stack(v);
		if (memtap_heap_family(v->s, v->th, v->event, b, v->ustack))
			flags = MEMTAP_CALL_MISMATCH;
	}
	remember(v, b);
	return flags;
}

static void take_back(struct heap_visit *v)
{
	struct live b;
	u32 flags;

	b.size = 0;
	if (livetab_take(&v->h->table, v->th->space, v->ptr, &b))
		flags = known(v, &b);
	else
		flags = not_known(v);
	counted(v, v->event);
	if (v->marked)
		v->th->mark_sp = 0;
	trace(v, v->event, 0, b.size, v->ptr, v->ustack, flags);
}

static void on_free(struct heap_visit *v)
{
	if (unlikely(!v->ptr)) {
		port_add64(&heap_account(v, v->event)->null, 1);
		counted(v, v->event);
		return;
	}
	take_back(v);
}

/* --- handing out ---------------------------------------------------------- */

static void on_alloc(struct heap_visit *v)
{
	struct memtap_heap_thread *th = v->th;
	struct live *old = &th->old;

	th->probe = v->p;
	th->sp = v->sp;
	th->size = v->size;
	th->event = v->event;
	th->ustack = v->ustack;
	th->via = v->p->result_arg <= MEMTAP_ARG_MAX ? user_arg(v, v->p->result_arg) : 0;
	if (v->p->op != MEMTAP_HEAP_REALLOC || !v->ptr)
		return;
	/* gone from now on: another thread may get the address before we return */
	if (livetab_take(&v->h->table, th->space, v->ptr, old)) {
		th->flags |= CALL_OLD;
		return;
	}
	old->addr = v->ptr;
	old->size = 0;
	th->flags |= CALL_UNKNOWN;
}

static bool keep(const struct heap_visit *v, u64 addr)
{
	struct memtap_heap_thread *th = v->th;
	struct live b, was;

	b.addr = addr;
	b.size = th->size;
	b.space = th->space;
	b.ustack = th->ustack;
	b.task = th->task_id;
	b.birth = memtap_heap_now(v->h, ktime_get_ns(), v->s->start_ns);
	b.event = th->event;
	b.flags = 0;
	switch (livetab_put(&v->h->table, &b, &was)) {
	case LIVETAB_FULL:
		return false;
	case LIVETAB_REPLACED:
		atomic64_inc(&v->h->spaces[th->space].replaced);
		break;
	}
	return true;
}

static void handed_out(struct heap_visit *v, u64 addr)
{
	struct memtap_heap_thread *th = v->th;
	struct memtap_heap_account *a = heap_account(v, th->event);

	recents_forget(&v->h->recents, th->space, addr);
	if (th->flags & CALL_FILTER) {
		filtered(v, th->event);
		return;
	}
	port_add64(&a->allocs, 1);
	port_add64(&a->bytes, th->size);
	if (!(th->flags & CALL_SKIP)) {
		if (!keep(v, addr)) {
			lost(v, th->event, MEMTAP_LOST_LIVE);
			return;
		}
		port_add64(&a->kept, 1);
		port_add64(&a->kept_bytes, th->size);
	}
	counted(v, th->event);
}

/* What a realloc() was given is gone, unless it failed. */
static u32 settle_old(struct heap_visit *v, bool failed)
{
	struct memtap_heap_thread *th = v->th;
	struct live was;

	v->ustack = th->ustack;
	v->event = th->event;
	v->ptr = th->old.addr;
	if (failed) {
		if (th->flags & CALL_OLD)
			livetab_put(&v->h->table, &th->old, &was);
		return 0;
	}
	if (th->flags & CALL_OLD)
		return known(v, &th->old);
	return th->flags & CALL_UNKNOWN ? not_known(v) : 0;
}

static void finish_call(struct heap_visit *v, u64 result)
{
	struct memtap_heap_thread *th = v->th;
	bool realloc = th->flags & (CALL_OLD | CALL_UNKNOWN);
	bool failed = !result || result == (memtap_task_compat(current) ? ~0U : ~0ULL);
	u32 flags = 0;

	th->sp = 0;
	/* realloc(p, 0) frees and returns NULL */
	if (realloc)
		flags = settle_old(v, failed && th->size);
	if (failed) {
		flags |= MEMTAP_CALL_FAILED;
		if (!realloc || th->size)
			port_add64(&heap_account(v, th->event)->failed, 1);
		if (th->flags & CALL_FILTER)
			filtered(v, th->event);
		else
			counted(v, th->event);
	} else {
		handed_out(v, result);
		th->mark_sp = 0;	/* what called us is done, too */
	}
	trace(v, th->event, failed ? 0 : result, th->size, realloc ? th->old.addr : 0,
	      th->ustack, flags | (th->flags & CALL_SKIP ? MEMTAP_CALL_SKIPPED : 0));
}

/* --- entry ---------------------------------------------------------------- */

static bool begin(struct heap_visit *v, const struct memtap_heap_probe *p,
		  struct pt_regs *regs, struct memtap_scratch *sc)
{
	struct memtap_session *s = p->session;
	u32 cpu = smp_processor_id();

	v->p = p;
	v->s = s;
	v->h = s->heap;
	v->sc = sc;
	v->cpu = s->heap->cpus[cpu];
	v->accounts = s->cpus[cpu]->account;
	v->regs = regs;
	v->event = p->event;
	v->ustack = MEMTAP_STACK_NONE;
	v->marked = false;
	v->th = memtap_heap_thread(s, v->cpu);
	return v->th;
}

/*
 * Within another call?  Then it is that one's matter; what a mark says of it is
 * taken over.  A mark that does not hold any more was left.
 */
static bool is_inner(struct heap_visit *v)
{
	struct memtap_heap_thread *th = v->th;

	if (unlikely(th->sp)) {
		if (memtap_heap_inside(th, v->sp))
			return true;
		memtap_heap_left(v->s, th);
	}
	if (likely(!th->mark_sp))
		return false;
	if (!memtap_heap_marked(th, v->sp)) {
		memtap_heap_left(v->s, th);
		return false;
	}
	if (v->p->op == MEMTAP_HEAP_ENTER)
		return true;
	/* new takes memory, delete gives back: what else they do is their own */
	if (th->mark_frees != (v->p->op == MEMTAP_HEAP_FREE) ||
	    (th->mark_frees && th->mark_ptr != v->ptr))
		return false;
	v->event = th->mark_event;
	v->marked = true;
	return false;
}

static void on_enter(struct heap_visit *v)
{
	struct memtap_heap_thread *th = v->th;
	u32 word = memtap_task_compat(current) ? 4 : sizeof(long);
	u64 ra = 0;

	if (v->p->ptr_arg <= MEMTAP_ARG_MAX && !v->ptr) {
		on_free(v);
		return;
	}
	if (copy_from_user_nofault(&ra, (void __user *)(unsigned long)v->sp, word)) {
		lost(v, v->event, MEMTAP_LOST_LEFT);
		return;
	}
	th->mark_sp = v->sp;
	th->mark_ra = ra;
	th->mark_ptr = v->ptr;
	th->mark_event = v->event;
	th->mark_used = 0;
	th->mark_frees = v->p->ptr_arg <= MEMTAP_ARG_MAX;
}

/* @again: it was decided already */
static bool wants_stack(struct heap_visit *v, bool again)
{
	struct memtap_heap_thread *th = v->th;
	bool fits;

	if (v->p->op == MEMTAP_HEAP_ENTER)
		return false;
	if (v->p->op == MEMTAP_HEAP_FREE)
		return v->p->free_stack && v->ptr;
	fits = size_of(v);
	if (again)
		return !th->flags;
	th->flags = 0;
	if (!fits)
		return true;		/* it will fail */
	if (size_filtered(v))
		th->flags |= CALL_FILTER;
	else if (v->h->sampling && !sampler_keeps(&v->h->sampler, &th->sampler, v->size))
		th->flags |= CALL_SKIP;
	return !th->flags;
}

static void inner(struct heap_visit *v)
{
	seen(v, v->p->event);
	filtered(v, v->p->event);
	port_add64(&heap_account(v, v->p->event)->inner, 1);
}

static void entered(struct heap_visit *v)
{
	struct memtap_heap_thread *th = v->th;

	if (v->marked)
		inner(v);
	/* again, after the handler of new made room: a call of its own */
	if (!v->marked || th->mark_used)
		seen(v, v->event);
	th->mark_used |= v->marked;
	switch (v->p->op) {
	case MEMTAP_HEAP_ENTER:
		on_enter(v);
		break;
	case MEMTAP_HEAP_FREE:
		on_free(v);
		break;
	default:
		on_alloc(v);
	}
}

/* Counts it; or does nothing, and returns where the stack is to be brought in. */
static u64 enter_once(struct heap_visit *v, bool again, bool retry)
{
	u64 fault;

	v->sp = user_stack_pointer(v->regs);
	v->ptr = v->p->ptr_arg <= MEMTAP_ARG_MAX ? user_arg(v, v->p->ptr_arg) : 0;
	if (is_inner(v)) {
		inner(v);
		return 0;
	}
	if (wants_stack(v, again)) {
		take_stack(v);
		fault = v->sc->ufault;
		if (unlikely(fault && (v->sc->uflags & MEMTAP_STACK_FAULT) && retry))
			return fault;
	}
	entered(v);
	return 0;
}

static bool passes(const struct memtap_session *s)
{
	return !s->filter_set || memtap_filter_task(s->filter, current);
}

static void refuse(struct memtap_session *s, u32 event)
{
	atomic64_inc(&s->events[event].recursion);
	s->heap->exact = false;
}

/* What ends before anything is known of the call. */
static bool turned_away(const struct memtap_heap_probe *p)
{
	struct memtap_account *a;

	if (likely(passes(p->session)))
		return false;
	a = &p->session->cpus[smp_processor_id()]->account[p->event];
	port_add64(&a->seen, 1);
	port_add64(&a->filtered, 1);
	return true;
}

static u64 try_entry(const struct memtap_heap_probe *p, struct pt_regs *regs, bool again,
		     bool retry)
{
	struct memtap_session *s = p->session;
	struct memtap_scratch *sc;
	struct heap_visit v;
	unsigned long irqflags;
	u64 fault = 0;

	sc = memtap_enter(&irqflags);
	if (unlikely(!sc)) {
		refuse(s, p->event);
		return 0;
	}
	if (turned_away(p))
		goto leave;
	if (begin(&v, p, regs, sc)) {
		fault = enter_once(&v, again, retry);
	} else {
		seen(&v, p->event);
		lost(&v, p->event, MEMTAP_LOST_THREADS);
	}
leave:
	memtap_leave(sc, irqflags);
	return fault;
}

static void unwind_left(const struct memtap_heap_probe *p)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	struct heap_visit v;

	sc = memtap_enter(&irqflags);
	if (!sc) {
		refuse(p->session, p->event);
		return;
	}
	if (!turned_away(p) && begin(&v, p, NULL, sc)) {
		seen(&v, p->event);
		counted(&v, p->event);
		memtap_heap_left(p->session, v.th);
	}
	memtap_leave(sc, irqflags);
}

/*
 * Frames are about to be left: so are the calls that they are in.  The addresses
 * are put back also for those whom the session does not count: a child that was
 * forked has inherited them.
 */
static void on_unwind(const struct memtap_heap_probe *p)
{
	memtap_uretprobe_restore();
	rcu_read_lock();
	if (smp_load_acquire(&p->session->running))
		unwind_left(p);
	rcu_read_unlock();
}

void memtap_heap_entry(const struct memtap_heap_probe *p, struct pt_regs *regs)
{
	u32 tries = BRING_IN;
	u64 fault = 0;
	bool again = false;
	char c;

	if (unlikely(!current->mm))
		return;
	if (p->op == MEMTAP_HEAP_UNWIND) {
		on_unwind(p);
		return;
	}
	for (;;) {
		rcu_read_lock();
		fault = 0;
		if (smp_load_acquire(&p->session->running))
			fault = try_entry(p, regs, again, tries > 0);
		rcu_read_unlock();
		if (likely(!fault))
			return;
		again = true;
		tries--;
		if (copy_from_user(&c, (void __user *)(unsigned long)fault, 1))
			tries = 0;
	}
}

/* --- return --------------------------------------------------------------- */

/* Is this the return of the call that the thread is in? */
static bool returns(const struct heap_visit *v)
{
	u32 word = memtap_task_compat(current) ? 4 : sizeof(long);

	return v->th->sp && v->th->probe == v->p &&
	       v->th->sp == memtap_entry_sp(v->regs, word);
}

/* posix_memalign(): the block's address is where the caller wanted it. */
static u64 read_result(u64 via)
{
	u32 word = memtap_task_compat(current) ? 4 : sizeof(long);
	u64 result = 0;

	if (copy_from_user(&result, (void __user *)(unsigned long)via, word))
		return 0;
	return result;
}

/*
 * Returns 1 when the call was completed, or was none of ours; 0, and *via, when
 * the result has to be read first, where that may sleep.
 */
static int try_return(const struct memtap_heap_probe *p, struct pt_regs *regs, u64 *via,
		      u64 stored)
{
	struct memtap_scratch *sc;
	struct heap_visit v;
	unsigned long irqflags;
	u64 result = regs_return_value(regs);
	int done = 1;

	sc = memtap_enter(&irqflags);
	if (!sc)
		return 1;	/* found out at the thread's next call */
	if (memtap_task_compat(current))
		result = (u32)result;
	if (!begin(&v, p, regs, sc) || !returns(&v))
		goto leave;
	if (p->result_arg == MEMTAP_ARG_RETURN) {
		finish_call(&v, result);
	} else if ((u32)result) {
		finish_call(&v, 0);
	} else if (*via) {
		finish_call(&v, stored);
	} else {
		*via = v.th->via;
		done = !*via;
	}
leave:
	memtap_leave(sc, irqflags);
	return done;
}

void memtap_heap_return(const struct memtap_heap_probe *p, struct pt_regs *regs)
{
	u64 via = 0, stored = 0;
	int tries, done = 0;

	if (unlikely(!current->mm))
		return;
	for (tries = 0; !done && tries < 2; tries++) {
		if (via)
			stored = read_result(via);
		rcu_read_lock();
		done = 1;
		if (smp_load_acquire(&p->session->running))
			done = try_return(p, regs, &via, stored);
		rcu_read_unlock();
	}
}
