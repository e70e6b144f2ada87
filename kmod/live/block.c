// SPDX-License-Identifier: GPL-2.0-only
/* Update live blocks for allocator calls: allocate, free, reallocate. */
#include "record/arch.h"
#include "record/ring.h"
#include "live/peak.h"

#include "compat/task.h"

/*
 * Rows describe each instruction; frame pointers only the first one, so there the
 * stack is taken as it was then.
 */
void heap_free_moved(struct memtap_heap_cpu *v)
{
	struct memtap_account *acc = heap_event(v, v->event);
	struct pt_regs then = *v->regs;
	const bool rows = v->s->spaces;

	if (!rows)
		memtap_move_stack(&then, v->p->moved);
	v->ustack = memtap_record_user_stack(v->s, acc, v->sc, rows ? v->regs : &then, !rows,
					     v->th->task_space);
}

static inline void counted(const struct memtap_heap_cpu *v)
{
	struct memtap_account *acc = heap_event(v, v->event);

	port_add64(&acc->counted, 1);
	if (unlikely(v->th->task_id == MEMTAP_TASK_LOST))
		port_add64(&acc->part[MEMTAP_PART_TASKS_FULL], 1);
}

static void trace(const struct memtap_heap_cpu *v, u64 addr, u64 size, u64 old, u32 ustack,
		  u32 flags)
{
	const u64 args[] = { addr, size, old, flags };
	struct memtap_one what;

	memset(&what, 0, sizeof(what));
	what.event = v->event;
	what.known = (1U << ARRAY_SIZE(args)) - 1;
	what.ustack = ustack;
	what.task = v->th->task_id;
	what.value = size;
	memtap_ring_put(v->s, &what, args, sizeof(args));
}

/* --- taking back --------------------------------------------------------- */

static void remember(const struct memtap_heap_cpu *v, const struct live *b)
{
	struct recent r;

	memset(&r, 0, sizeof(r));
	r.block = *b;
	r.ustack = v->ustack;
	r.task = v->th->task_id;
	r.event = v->event;
	recents_put(&v->h->recents, &r);
}

/* A block that is not known: from before, or a mistake of the program. */
static noinline u32 not_known(struct memtap_heap_cpu *v)
{
	port_add64(&heap_account(v, v->event)->unknown, 1);
	atomic64_inc(&memtap_heap_space_of(v->h, v->th->space)->unknown);
	if (!memtap_heap_suspect(v->h, v->th, v->ptr))
		return MEMTAP_CALL_UNKNOWN;
	/* the stack is taken only where it may be needed */
	heap_take_stack(v);
	return MEMTAP_CALL_UNKNOWN |
	       (memtap_heap_unknown(v->s, v->th, v->event, v->ptr, v->ustack) ?
		MEMTAP_CALL_MISMATCH : 0);
}

static noinline u32 wrong_family(struct memtap_heap_cpu *v, const struct live *b)
{
	heap_take_stack(v);
	return memtap_heap_family(v->s, v->th, v->event, b, v->ustack) ?
	       MEMTAP_CALL_MISMATCH : 0;
}

static inline u32 known(struct memtap_heap_cpu *v, const struct live *b)
{
	struct memtap_heap_account *a = heap_account(v, v->event);
	u32 flags = 0;

	port_add64(&a->frees, 1);
	port_add64(&a->freed_bytes, b->size);
	if (unlikely(!memtap_heap_same_family(v->h, v->event, b->event)))
		flags = wrong_family(v, b);
	if (v->h->remembering)
		remember(v, b);
	return flags;
}

/*
 * A function over others, whose counterpart the compiler has put into its callers: what
 * was handed out is what that one was given from below, and so is what will be taken back.
 */
static bool is_unowned(const struct memtap_heap_cpu *v)
{
	struct recent r;

	return v->p->op == MEMTAP_HEAP_GIVE &&
	       !recents_get(&v->h->recents, v->th->space, v->ptr, &r);
}

static void begin_give(struct memtap_heap_cpu *v)
{
	struct memtap_heap_thread *th = v->th;

	th->probe = v->p;
	th->sp = v->sp;
	th->event = v->event;
	th->flags = CALL_GIVES;
}

void heap_free_block(struct memtap_heap_cpu *v)
{
	struct live b;
	u32 flags;

	b.size = 0;
	if (likely(livetab_take(&v->h->table, v->th->space, v->ptr, &b))) {
		flags = known(v, &b);
		if (unlikely(v->h->peaks))
			heap_peak_freed(v, &b);
	} else if (is_unowned(v)) {
		port_add64(&heap_event(v, v->event)->filtered, 1);
		port_add64(&heap_account(v, v->event)->inner, 1);
		return;
	} else if (memtap_heap_again(v->th, v->p, v->sp, v->ptr)) {
		/* free(), that operator delete goes on with: seen already */
		port_add64(&heap_event(v, v->event)->filtered, 1);
		port_add64(&heap_account(v, v->event)->inner, 1);
		return;
	} else {
		flags = not_known(v);
	}
	v->th->last_ptr = v->ptr;
	v->th->last_sp = v->sp;
	v->th->chain[0] = v->p;
	v->th->nr_chain = 1;
	v->th->begun_again = 0;
	if (unlikely(v->th->frees < 2))
		v->th->frees++;
	v->th->last_probe = flags & MEMTAP_CALL_UNKNOWN && !memtap_heap_all_known(v->h) ?
			    v->p : NULL;
	memtap_heap_word(v->sp, &v->th->last_ra);
	counted(v);
	if (v->marked)
		v->th->mark_sp = 0;
	if (unlikely(v->p->op == MEMTAP_HEAP_GIVE))
		begin_give(v);
	if (unlikely(v->s->rings))
		trace(v, 0, b.size, v->ptr, v->ustack, flags);
}

/* --- handing out ---------------------------------------------------------- */

/* Gone from now on: another thread may get the address before this call returns. */
static void take_old(struct memtap_heap_cpu *v)
{
	struct memtap_heap_thread *th = v->th;

	if (livetab_take(&v->h->table, th->space, v->ptr, &th->old)) {
		th->flags |= CALL_OLD;
		if (unlikely(th->flags & CALL_DRAIN)) {
			th->flags &= ~CALL_FILTER;
			th->ustack = th->old.ustack;
		}
		return;
	}
	th->old.addr = v->ptr;
	th->old.size = 0;
	th->flags |= CALL_UNKNOWN;
}

void heap_begin_call(struct memtap_heap_cpu *v)
{
	struct memtap_heap_thread *th = v->th;

	th->probe = v->p;
	th->sp = v->sp;
	th->size = v->size;
	th->event = v->event;
	th->ustack = v->ustack;
	th->last_ptr = 0;
	if (unlikely(v->marked))
		th->flags |= CALL_MARKED;
	if (unlikely(v->p->op == MEMTAP_HEAP_REALLOC && v->ptr))
		take_old(v);
}

/*
 * One whose end was not seen is taken out of the table of peaks behind the one that takes its
 * place, so that a peak may have both.
 */
static noinline void not_new(const struct memtap_heap_cpu *v, int how, const struct live *b,
			     const struct live *was)
{
	if (how == LIVETAB_REPLACED)
		atomic64_inc(&memtap_heap_space_of(v->h, v->th->space)->replaced);
	if (v->h->peaks)
		heap_peak_gone(v, how == LIVETAB_REPLACED ? was : b);
}

static inline bool keep(const struct memtap_heap_cpu *v, u64 addr)
{
	struct memtap_heap_thread *th = v->th;
	struct live b, was;
	int how;

	b.addr = addr;
	b.size = th->size;
	b.space = th->space;
	b.ustack = th->ustack;
	b.task = th->task_id;
	/* a block that realloc() moves or makes larger has lived before */
	b.birth = unlikely(th->flags & CALL_OLD) ? th->old.birth : memtap_heap_now(v->h);
	b.event = th->event;
	b.flags = 0;
	if (unlikely(v->h->peaks))
		heap_peak_came(v, &b, addr);
	how = livetab_put(&v->h->table, &b, &was);
	if (unlikely(how != LIVETAB_NEW))
		not_new(v, how, &b, &was);
	return how != LIVETAB_FULL;
}

/* Blocks of processes that have exited are told only as long as there is room. */
static noinline void no_room(struct memtap_heap_cpu *v)
{
	heap_lost(v, v->event, MEMTAP_LOST_LIVE);
	if (READ_ONCE(v->h->dead) < 2 || READ_ONCE(v->h->want_room))
		return;
	WRITE_ONCE(v->h->want_room, true);
	irq_work_queue(&v->h->kick);
}

/* It is an allocation, and takes back what a realloc() was given. */
static noinline void filtered(struct memtap_heap_cpu *v)
{
	port_add64(&heap_event(v, v->event)->filtered, 1);
	if (!v->h->peaks)
		return;
	if (v->th->flags & CALL_OLD)
		heap_peak_gone(v, &v->th->old);
	v->th->given = 0;
}

/* Returns whether the block is kept. */
static inline bool handed_out(struct memtap_heap_cpu *v, u64 addr)
{
	struct memtap_heap_thread *th = v->th;
	struct memtap_heap_account *a = heap_account(v, v->event);

	if (v->h->remembering)
		recents_forget(&v->h->recents, th->space, addr);
	if (unlikely(th->flags & CALL_FILTER)) {
		filtered(v);
		return false;
	}
	port_add64(&a->allocs, 1);
	port_add64(&a->bytes, th->size);
	if (!(th->flags & CALL_SKIP)) {
		if (unlikely(!keep(v, addr))) {
			no_room(v);
			return false;
		}
		port_add64(&a->kept, 1);
		port_add64(&a->kept_bytes, th->size);
	}
	counted(v);
	return !(th->flags & CALL_SKIP);
}

/* What a realloc() was given is gone, unless it failed. */
static u32 settle_old(struct memtap_heap_cpu *v, bool failed)
{
	struct memtap_heap_thread *th = v->th;
	struct live was;

	v->ptr = th->old.addr;
	if (failed) {
		if ((th->flags & CALL_OLD) &&
		    livetab_put(&v->h->table, &th->old, &was) == LIVETAB_FULL)
			th->flags |= CALL_NO_ROOM;
		return 0;
	}
	return th->flags & CALL_OLD ? known(v, &th->old) : not_known(v);
}

static void failed_call(struct memtap_heap_cpu *v, bool realloc)
{
	struct memtap_account *acc = heap_event(v, v->event);
	const struct memtap_heap_thread *th = v->th;

	if (v->h->peaks && th->flags & CALL_OLD && (!th->size || th->flags & CALL_NO_ROOM))
		heap_peak_gone(v, &th->old);
	/* realloc(p, 0) frees and returns NULL */
	if (!realloc || v->th->size)
		port_add64(&heap_account(v, v->event)->failed, 1);
	if (unlikely(v->th->flags & CALL_NO_ROOM))
		heap_lost(v, v->event, MEMTAP_LOST_LIVE);
	else if (v->th->flags & CALL_FILTER)
		port_add64(&acc->filtered, 1);
	else
		port_add64(&acc->counted, 1);
}

void heap_end_call(struct memtap_heap_cpu *v, u64 result)
{
	struct memtap_heap_thread *th = v->th;
	bool realloc = th->flags & (CALL_OLD | CALL_UNKNOWN);
	bool failed = !result || result == ~0ULL;
	u32 flags = 0;

	th->sp = 0;
	v->event = th->event;
	v->ustack = th->ustack;
	if (unlikely(realloc))
		flags = settle_old(v, failed && th->size);
	if (likely(!failed)) {
		if (!handed_out(v, result) && !(th->flags & CALL_FILTER))
			flags |= MEMTAP_CALL_SKIPPED;
		if (th->flags & CALL_MARKED)
			th->mark_sp = 0;	/* what called us is done, too */
	} else {
		failed_call(v, realloc);
		flags |= MEMTAP_CALL_FAILED;
		result = 0;
		if (th->flags & CALL_SKIP)
			flags |= MEMTAP_CALL_SKIPPED;
	}
	if (unlikely(v->s->rings))
		trace(v, result, th->size, realloc ? th->old.addr : 0, th->ustack, flags);
}
