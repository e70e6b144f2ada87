// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep a slot for each thread seen in an allocator, found by its task.
 *
 * Only the thread itself uses its slot.  The slot is freed when the task is freed, so that no
 * other thread can have the same task.
 */
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "live/live.h"
#include "record/record.h"
#include "record/recording.h"

#include "compat/task.h"
#include "compat/user_words.h"

#define PROBES	64		/* slots that are looked at */

static u32 place(const struct memtap_heap_threads *t, const struct task_struct *task)
{
	return hash_ptr((void *)task, 32) & (t->nr - 1);
}

static bool claim(struct memtap_heap_thread *th, struct task_struct *was,
		  struct task_struct *task)
{
	return READ_ONCE(th->task) == was && cmpxchg(&th->task, was, task) == was;
}

static struct memtap_heap_thread *find_in(const struct memtap_heap_threads *t,
					  struct task_struct *task)
{
	struct memtap_heap_thread *th;
	u32 i, at = place(t, task);

	for (i = 0; i < PROBES; i++, at = (at + 1) & (t->nr - 1)) {
		th = &t->at[at];
		if (READ_ONCE(th->task) == task)
			return th;
		if (!READ_ONCE(th->task))
			break;
	}
	return NULL;
}

static struct memtap_heap_thread *find(struct memtap_heap *h,
				       struct task_struct *task)
{
	u32 i, nr = smp_load_acquire(&h->nr_tables);
	struct memtap_heap_thread *th = NULL;

	for (i = 0; !th && i < nr; i++)
		th = find_in(&h->threads[i], task);
	return th;
}

static struct memtap_heap_thread *add_to(const struct memtap_heap_threads *t,
					 struct task_struct *task)
{
	struct memtap_heap_thread *th;
	u32 i, at = place(t, task);

	for (i = 0; i < PROBES; i++, at = (at + 1) & (t->nr - 1)) {
		th = &t->at[at];
		if (claim(th, HEAP_THREAD_GONE, task) || claim(th, NULL, task))
			return th;
	}
	return NULL;
}

/* Before they are all taken: it cannot be done here. */
static void want_more(struct memtap_heap *h)
{
	if (READ_ONCE(h->want_threads) || READ_ONCE(h->nr_tables) >= HEAP_THREAD_TABLES)
		return;
	WRITE_ONCE(h->want_threads, true);
	irq_work_queue(&h->kick);
}

/* Nobody else adds this task: it is current, and interrupts are off. */
static struct memtap_heap_thread *add(struct memtap_heap *h,
				      struct task_struct *task)
{
	u32 i, nr = smp_load_acquire(&h->nr_tables);
	struct memtap_heap_thread *th = NULL;

	for (i = 0; !th && i < nr; i++)
		th = add_to(&h->threads[i], task);
	if (th)
		port_fetch_add(&h->used_threads, 1);
	if (!th || READ_ONCE(h->used_threads) > READ_ONCE(h->nr_threads) / 2)
		want_more(h);
	return th;
}

static void begin(struct memtap_heap *h, struct memtap_heap_thread *th)
{
	u64 seed = h->seed ^ ((u64)task_pid_nr(current) << 32) ^ ktime_get_ns();

	memset((u8 *)th + sizeof(th->task), 0, sizeof(*th) - sizeof(th->task));
	th->start = memtap_task_start_ns(current);
	sampler_begin(&h->sampler, &th->sampler, seed);
	th->tag = memtap_heap_peak_tag(h);
}

#define VFORKS	8		/* one within the other */

/* The process whose the address space is: until execve() it is not that of a vfork()ed child. */
static pid_t whose_space(void)
{
	struct task_struct *task = current, *parent;
	pid_t pid;
	u32 i;

	rcu_read_lock();
	for (i = 0; i < VFORKS; i++) {
		parent = rcu_dereference(task->real_parent);
		if (READ_ONCE(parent->mm) != current->mm)
			break;
		task = parent;
	}
	pid = task->tgid;
	rcu_read_unlock();
	return pid;
}

/* Another address space: by execve(), or vfork() and its end. */
static bool enter_space(struct memtap_session *s, struct memtap_heap_thread *th)
{
	struct memtap_session_cpu *cpu = s->cpus[smp_processor_id()];
	struct memtap_heap_space *sp;
	u32 space;

	memtap_heap_left(s, th);
	space = memtap_heap_space(s->heap, current->mm, whose_space(), 0, true);
	th->space = space;
	th->mm = current->mm;
	th->exec = memtap_task_exec_id(current);
	th->given = 0;
	if (!space)
		return false;
	th->task_id = memtap_tasks_current(s, cpu, &th->task_space);
	memtap_heap_peak_enter(s->heap, th);
	sp = memtap_heap_space_of(s->heap, space);
	if (sp->pid == current->tgid || !sp->task)
		sp->task = th->task_id;
	return true;
}

/* current is in the address space that the slot says. */
static bool stays(const struct memtap_heap_thread *th)
{
	return likely(th->mm == current->mm && th->exec == memtap_task_exec_id(current));
}

static void here_last(struct memtap_heap_cpu *c, struct memtap_heap_thread *th)
{
	c->th = th;
	c->task = current;
	c->start = th->start;
}

struct memtap_heap_thread *memtap_heap_thread_slow(struct memtap_session *s,
						   struct memtap_heap_cpu *c)
{
	struct memtap_heap *h = s->heap;
	struct memtap_heap_thread *th = find(h, current);

	if (!th) {
		th = add(h, current);
		if (!th) {
			c->no_slot = MEMTAP_LOST_THREADS;
			return NULL;
		}
		begin(h, th);
	} else if (th->start != memtap_task_start_ns(current)) {
		memtap_heap_left(s, th);	/* its end was not seen */
		begin(h, th);
	}
	/* one that has no space is asked for here again, so it is not remembered */
	if (stays(th) ? !th->space : !enter_space(s, th)) {
		c->no_slot = MEMTAP_LOST_LIVE;
		return NULL;
	}
	here_last(c, th);
	return th;
}

struct memtap_heap_thread *memtap_heap_thread_find(struct memtap_heap_cpu *c)
{
	struct memtap_heap_thread *th = find(c->h, current);

	if (!th || th->start != memtap_task_start_ns(current) || !stays(th))
		return NULL;
	if (th->space)
		here_last(c, th);
	return th;
}

/*
 * What realloc() was given, when nobody will see it return: who knows; better too
 * much.  But not what went with its address space.
 */
static void put_back(struct memtap_heap *h, const struct memtap_heap_thread *th)
{
	const struct memtap_heap_space *sp = memtap_heap_space_of(h, th->old.space);
	struct live was;

	if (!(th->flags & CALL_OLD) || sp->id != th->old.space || READ_ONCE(sp->purge))
		return;
	livetab_put(&h->table, &th->old, &was);
	if (READ_ONCE(sp->purge))
		livetab_take(&h->table, th->old.space, th->old.addr, &was);
}

/* new that has asked nobody for memory has none, and says so to its caller. */
static void left_mark(struct memtap_session *s, const struct memtap_heap_thread *th)
{
	const u32 cpu = smp_processor_id(), event = th->mark_event;
	struct memtap_account *account = &s->cpus[cpu]->events[event].account;

	if (th->mark_sized) {
		port_add64(&s->heap->cpus[cpu]->account[event].failed, 1);
		port_add64(&account->seen, 1);
		port_add64(&account->counted, 1);
		return;
	}
	port_add64(&account->lost[MEMTAP_LOST_LEFT], 1);
	s->heap->exact = false;
}

/*
 * realloc() of what was never handed out did not return: the allocator ended the program
 * there.  What was known when it was called is said, as of a free.
 */
static void report_unknown(struct memtap_session *s, struct memtap_heap_thread *th)
{
	if ((th->flags & CALL_UNKNOWN) && th->size &&
	    memtap_heap_suspect(s->heap, th, th->old.addr))
		memtap_heap_unknown(s, th, th->event, th->old.addr, th->ustack);
}

void memtap_heap_left(struct memtap_session *s, struct memtap_heap_thread *th)
{
	struct memtap_cpu_event *events = s->cpus[smp_processor_id()]->events;
	struct memtap_heap *h = s->heap;

	/* one that gives back has done so at its beginning */
	if (th->sp && !(th->flags & CALL_GIVES)) {
		report_unknown(s, th);
		put_back(h, th);
		port_add64(&events[th->event].account.lost[MEMTAP_LOST_LEFT], 1);
		h->exact = false;
	}
	th->sp = 0;
	if (th->mark_sp && !th->mark_used)
		left_mark(s, th);
	th->mark_sp = 0;
}

static void settle(struct memtap_heap *h, struct memtap_heap_thread *th)
{
	const struct memtap_heap_space *sp = memtap_heap_space_of(h, th->space);

	/* who is in a call now is not guilty yet */
	if (sp->id == th->space && sp->flags & MEMTAP_SPACE_EXITED)
		report_unknown(h->session, th);
	put_back(h, th);
	th->sp = 0;
}

void memtap_heap_settle(struct memtap_heap *h)
{
	struct memtap_scratch *sc;
	unsigned long flags;
	u32 t, i;

	for (t = 0; t < h->nr_tables; t++)
		for (i = 0; i < h->threads[t].nr; i++) {
			if (!h->threads[t].at[i].sp)
				continue;
			sc = memtap_enter(&flags);
			if (!sc)
				return;
			settle(h, &h->threads[t].at[i]);
			memtap_leave(sc, flags);
		}
}

void memtap_heap_thread_gone(struct memtap_session *s, struct task_struct *task)
{
	struct memtap_heap_thread *th;
	struct memtap_scratch *sc;
	struct memtap_heap_cpu *c;
	unsigned long flags;

	th = find(s->heap, task);
	if (!th)
		return;
	sc = memtap_enter(&flags);
	if (!sc)
		return;
	memtap_heap_left(s, th);
	c = s->heap->cpus[smp_processor_id()];
	if (c->th == th)
		c->task = NULL;
	smp_store_release(&th->task, HEAP_THREAD_GONE);
	port_fetch_add(&s->heap->used_threads, (u32)-1);
	memtap_leave(sc, flags);
}

/* --- where is it? -------------------------------------------------------- */

bool memtap_heap_word(u64 addr, u64 *v)
{
	*v = 0;
	if (likely(!memtap_task_compat(current)))
		return memtap_user_word(addr, v);
	return !copy_from_user_nofault(v, (void __user *)(unsigned long)addr, 4);
}

/*
 * The kernel has put its trampoline, which begins a page, where the call's return
 * address was.  What is there otherwise was written by a call since then.
 */
bool memtap_heap_inside(const struct memtap_heap_thread *th, u64 sp)
{
	u64 v;

	if (!th->sp || sp > th->sp)
		return false;
	if (IS_ENABLED(CONFIG_ARM64))	/* it is not on the stack yet */
		return sp < th->sp;
	return memtap_heap_word(th->sp, &v) && v && PAGE_ALIGNED((unsigned long)v);
}

bool memtap_heap_marked(const struct memtap_heap_thread *th, u64 sp)
{
	u64 v;

	if (!th->mark_sp || sp > th->mark_sp)
		return false;
	if (IS_ENABLED(CONFIG_ARM64))
		return sp < th->mark_sp;
	return memtap_heap_word(th->mark_sp, &v) && v == th->mark_ra;
}

/*
 * Was @p among what this free has gone on with so far?  Then another call has begun, but
 * for glibc 2.43's free(), which jumps to its own beginning, once, when it has made a
 * thread's cache: in the thread's first one.
 */
static bool is_another(struct memtap_heap_thread *th, const struct memtap_heap_probe *p)
{
	u32 i;

	for (i = 0; i < th->nr_chain; i++)
		if (th->chain[i] == p) {
			if (p->once || th->frees > 1 || th->begun_again)
				return true;
			th->begun_again = 1;
			return false;
		}
	if (th->nr_chain < HEAP_CHAIN)
		th->chain[th->nr_chain++] = p;
	return false;
}

/*
 * A jump at its end leaves the stack and the caller as they are.  Where many blocks are
 * not known, a loop that frees what others have allocated, again and again at the same
 * address, looks the same, and is meant.
 */
bool memtap_heap_again(struct memtap_heap_thread *th,
		       const struct memtap_heap_probe *p, u64 sp, u64 ptr)
{
	u64 v;

	if (ptr != th->last_ptr || sp > th->last_sp || p == th->last_probe)
		return false;
	if (IS_ENABLED(CONFIG_ARM64)) {
		if (sp >= th->last_sp)
			return false;
	} else if (!memtap_heap_word(th->last_sp, &v) || v != th->last_ra) {
		return false;
	}
	return !is_another(th, p);
}
