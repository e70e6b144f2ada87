// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hot path: guard -> filter -> unwind -> intern -> count.  Every way out
 * that drops an event counts it, by reason, in each session that wanted it.
 *
 * No allocation, no sleeping lock, no printk; interrupts are off from
 * memtap_enter() to memtap_leave(), so that an interrupt's events wait instead
 * of being dropped, and a CPU's tables have one writer.  An NMI is recorded like
 * anything else (a kprobe's breakpoint looks like one, too), because it runs to
 * its end before what it interrupted goes on; unless that was us.
 */
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/hardirq.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/uaccess.h>

#include "record/arch.h"
#include "record/filter.h"
#include "record/record.h"
#include "record/recording.h"
#include "record/ring.h"
#include "record/touched.h"
#include "record/verify.h"

#include "compat/clock.h"
#include "compat/task.h"
#include "compat/user_copy.h"

#define TOOK_KSTACK	1U
#define TOOK_USTACK	2U
#define TOOK_TRAIL	4U		/* and what that depended on */

static __always_inline bool event_passes(const struct memtap_visit *v)
{
	return filter_event(v->s->filter, v->user,
			    !!(v->hit->flags & MEMTAP_HIT_VALUE), v->hit->value);
}

static __always_inline bool passes(const struct memtap_visit *v)
{
	struct memtap_session *s = v->s;

	if (!(v->same && v->cpu->task_passes) && s->filter_set &&
	    !memtap_filter_task(s->filter, current))
		return false;
	return event_passes(v);
}

static noinline void note_own(const struct memtap_visit *v)
{
	if (memtap_filter_own(v->s->filter) && event_passes(v))
		port_add64(&v->acc->own, 1);
}

void memtap_note_cut(struct memtap_account *acc, u32 flags)
{
	/* by frame pointers most stacks end so: it is first */
	static const struct { u32 flag, part; } parts[] = {
		{ MEMTAP_STACK_CHAIN, MEMTAP_PART_CHAIN },
		{ MEMTAP_STACK_DEPTH, MEMTAP_PART_DEPTH },
		{ MEMTAP_STACK_FAULT, MEMTAP_PART_FAULT },
		{ MEMTAP_STACK_TRAMPOLINE, MEMTAP_PART_TRAMPOLINE },
		{ MEMTAP_STACK_NOMAP, MEMTAP_PART_NOMAP },
		{ MEMTAP_STACK_NOTABLE, MEMTAP_PART_NOTABLE },
		{ MEMTAP_STACK_NOROW, MEMTAP_PART_NOROW },
	};
	u32 i;

	flags &= MEMTAP_STACK_CUTS;
	for (i = 0; flags && i < ARRAY_SIZE(parts); i++) {
		if (!(flags & parts[i].flag))
			continue;
		port_add64(&acc->part[parts[i].part], 1);
		flags &= ~parts[i].flag;
	}
}

static __always_inline u32 intern(const struct memtap_visit *v, const u64 *ips, u32 nr,
				  u32 flags, u32 space)
{
	u32 id, is_new, era = 0;

	if (!nr)
		return MEMTAP_STACK_NONE;
	if (nr > v->s->depth) {
		nr = v->s->depth;
		flags |= MEMTAP_STACK_DEPTH;
	}
	memtap_note_partial(v->acc, flags);
	if (space)
		era = codemap_era(&v->s->tasks.maps, &v->s->tasks.slots[space].code, ips, nr,
				  flags);
	id = stackstore_add(&v->s->stacks, ips, nr, flags, era, &is_new);
	if (unlikely(!id)) {
		port_add64(&v->acc->part[MEMTAP_PART_STACKS_FULL], 1);
		return MEMTAP_STACK_LOST;
	}
	if (space && is_new)
		memtap_tasks_dirty(v->s, space);
	else if (space && unlikely(memtap_maps_begin(&v->s->tasks, space)))
		memtap_maps_missed(v->s, space);
	return id;
}

/* The stack of a system call: what it is; who called it is the user's stack. */
static void take_kernel_stack(const struct memtap_visit *v, u32 max)
{
	struct memtap_scratch *sc = v->sc;
	struct pt_regs *regs = v->hit->regs;

	if (sc->took & TOOK_KSTACK)
		return;
	sc->took |= TOOK_KSTACK;
	sc->kflags = 0;
	if (v->hit->flags & MEMTAP_HIT_SYSCALL) {
		sc->kips[0] = v->hit->sym;
		sc->knr = 1;
		sc->kflags = MEMTAP_STACK_ENTRY;
	} else if (regs && user_mode(regs)) {
		sc->knr = 0;
	} else {
		sc->knr = memtap_unwind_kernel(sc, v->hit,
					       min_t(u32, max, MEMTAP_DEFAULT_DEPTH),
					       &sc->kflags);
		if (unlikely(READ_ONCE(memtap_verifies)) && sc->kfound)
			memtap_verified(MEMTAP_VERIFY_KERNEL,
					memtap_kernel_stack_is(sc, v->hit, sc->kips, sc->knr));
	}
}

static noinline u32 kernel_stack(const struct memtap_visit *v, u32 max)
{
	struct memtap_scratch *sc = v->sc;

	take_kernel_stack(v, max);
	return intern(v, sc->kips, sc->knr, sc->kflags, 0);
}

static __always_inline void take_user_stack(const struct memtap_visit *v, u32 max, bool trail)
{
	struct memtap_session *rows = v->s->spaces ? v->s : NULL;
	const u32 want = TOOK_USTACK | (trail ? TOOK_TRAIL : 0);
	struct memtap_scratch *sc = v->sc;

	/* which tables there are, and where, differs between sessions */
	if ((sc->took & want) == want && sc->urows == rows)
		return;
	sc->took = (sc->took & ~TOOK_TRAIL) | want;
	sc->trailing = trail;
	sc->urows = rows;
	sc->uflags = 0;
	sc->unr = memtap_unwind_user(sc, v->hit->regs,
				     !!(v->hit->flags & MEMTAP_HIT_ENTRY),
				     rows, max, &sc->uflags);
}

static u32 keep_user_stack(const struct memtap_visit *v, u32 space)
{
	struct memtap_scratch *sc = v->sc;
	u32 id = intern(v, sc->uips, sc->unr, sc->uflags, space);

	if (unlikely(sc->uflags & MEMTAP_STACK_NOMAP) && space)
		memtap_maps_missed(v->s, space);
	return id;
}

/* @w: where, if it can be remembered; or NULL. */
static noinline u32 walk_user_stack(const struct memtap_visit *v, u32 max, u32 space,
				    const struct memtap_stack_where *w)
{
	struct memtap_scratch *sc = v->sc;
	u32 id, cut;

	take_user_stack(v, max, w != NULL);
	if (unlikely(sc->patient && sc->ufault))
		return MEMTAP_STACK_NONE;
	id = keep_user_stack(v, space);
	/* others may have wanted more of it */
	cut = sc->unr > v->s->depth ? MEMTAP_STACK_DEPTH : 0;
	if (w)
		memtap_stack_keep(&v->cpu->memo, w, &sc->trail, id, sc->uflags | cut);
	return id;
}

/* Where this is, if that can be remembered. */
static __always_inline bool where(const struct memtap_visit *v, u32 space)
{
	struct memtap_stack_where *w = &v->sc->where;
	struct memtap_uregs *u = &v->sc->uregs;

	if (!(v->hit->flags & MEMTAP_HIT_TASK) || !memtap_stack_memo_pays(&v->cpu->memo) ||
	    !memtap_user_regs(u, v->hit->regs))
		return false;
	w->sp = u->sp;
	w->ip = u->ip;
	w->fp = u->fp;
	w->how = u->known | (v->hit->flags & MEMTAP_HIT_ENTRY ? STACK_MEMO_ENTRY : 0);
	return memtap_stack_where(w, v->s, &v->cpu->memo, space);
}

static noinline void verify_user_stack(const struct memtap_visit *v, u32 max, u32 space, u32 id)
{
	u32 walked = walk_user_stack(v, max, space, NULL);

	memtap_verified(MEMTAP_VERIFY_USER, walked == id || walked == MEMTAP_STACK_LOST);
}

static __always_inline u32 user_stack(struct memtap_visit *v, u32 max, u32 space)
{
	struct memtap_stack_where *w = &v->sc->where;
	struct memtap_known_stack *st;

	if (!where(v, space))
		return walk_user_stack(v, max, space, NULL);
	st = memtap_stack_find(&v->cpu->memo, w);
	if (unlikely(!st))
		return walk_user_stack(v, max, space, w);
	if (unlikely(READ_ONCE(memtap_verifies)))
		verify_user_stack(v, max, space, st->id);
	v->slot = &st->slot;
	memtap_note_partial(v->acc, st->flags);
	return st->id;
}

/* Of a call that began before: as it was then. */
static noinline u32 early_stack(struct memtap_visit *v, u32 max)
{
	const struct memtap_object_stacks *st = v->hit->stacks;
	u32 i;

	for (i = 0; i < MEMTAP_OBJECT_SESSIONS; i++)
		if (st->of[i].session == v->s && st->of[i].nr == v->s->nr)
			return st->of[i].stack;
	return kernel_stack(v, max);
}

static __always_inline void take_stacks(struct memtap_visit *v, u32 max, u32 space,
					u32 *kstack, u32 *ustack)
{
	*kstack = MEMTAP_STACK_NONE;
	*ustack = MEMTAP_STACK_NONE;
	if (v->s->flags & MEMTAP_CFG_KSTACK)
		*kstack = unlikely(v->hit->stacks) ? early_stack(v, max) : kernel_stack(v, max);
	if (v->s->flags & MEMTAP_CFG_USTACK)
		*ustack = user_stack(v, max, space);
}

u32 memtap_record_user_stack(struct memtap_session *s, struct memtap_account *acc,
			     struct memtap_scratch *sc, struct pt_regs *regs,
			     bool entry, u32 space)
{
	struct memtap_visit *v = &sc->visit;
	struct memtap_hit *hit = &sc->hit;

	if (!(s->flags & MEMTAP_CFG_USTACK))
		return MEMTAP_STACK_NONE;
	hit->regs = regs;
	hit->flags = MEMTAP_HIT_TASK | (entry ? MEMTAP_HIT_ENTRY : 0);
	v->s = s;
	v->cpu = s->cpus[smp_processor_id()];
	v->acc = acc;
	v->sc = sc;
	v->hit = hit;
	return user_stack(v, s->depth, space);
}

static struct memtap_visit *kernel_visit(struct memtap_session *s, struct memtap_account *acc,
					 struct memtap_scratch *sc)
{
	struct memtap_visit *v = &sc->visit;

	v->s = s;
	v->acc = acc;
	v->sc = sc;
	return v;
}

u32 memtap_record_kernel_stack(struct memtap_session *s, struct memtap_account *acc,
			       struct memtap_scratch *sc, const struct memtap_hit *hit)
{
	struct memtap_visit *v = kernel_visit(s, acc, sc);

	v->hit = hit;
	v->cpu = s->cpus[smp_processor_id()];
	return kernel_stack(v, MEMTAP_DEFAULT_DEPTH);
}

u32 memtap_record_call_site(struct memtap_session *s, struct memtap_account *acc, u64 ip)
{
	struct memtap_visit v = { .s = s, .acc = acc };

	return intern(&v, &ip, ip != 0, 0, 0);
}

static u32 new_task(const struct memtap_visit *v, u32 *space)
{
	struct memtap_session_cpu *c = v->cpu;
	u32 id = memtap_tasks_current(v->s, c, space);

	if (id != MEMTAP_TASK_NONE)
		c->task_passes = !v->s->filter_varies;
	return id;
}

static __always_inline u32 take_task(const struct memtap_visit *v, u32 *space)
{
	u32 id = v->cpu->task_id;

	*space = v->cpu->task_space;
	if (unlikely(!v->same))
		id = new_task(v, space);
	if (unlikely(id == MEMTAP_TASK_LOST))
		port_add64(&v->acc->part[MEMTAP_PART_TASKS_FULL], 1);
	return id;
}

/* The file that this is about, or the mapping, where they are told apart. */
static noinline u64 file_of(const struct memtap_visit *v)
{
	u64 id = MEMTAP_FILE_NONE;

	if (v->hit->inode)
		id = memtap_files_of_inode(&v->s->tasks, v->hit->inode);
	else if (v->hit->file)
		id = memtap_files_of_key(&v->s->tasks, v->hit->file);
	if (!(v->s->flags & MEMTAP_CFG_MAPPINGS))
		return id;
	if (id == MEMTAP_FILE_NONE)
		id = v->hit->mapping & 0xff;
	return id | (u64)(v->hit->mapping >> 8) << 32;
}

static __always_inline void count(const struct memtap_visit *v, struct counter_key *key)
{
	const struct memtap_hit *hit = v->hit;

	key->event = v->event;
	if (v->s->flags & MEMTAP_CFG_ADDR)
		key->addr = hit->addr >> v->s->addr_shift;
	else if (unlikely(v->s->flags & MEMTAP_CFG_FILES))
		key->addr = file_of(v);
	if (counters_add_at(&v->cpu->counters, key, hit->value, v->slot))
		port_add64(&v->acc->counted, 1);
	else
		port_add64(&v->acc->lost[MEMTAP_LOST_TABLE], 1);
}

static u32 key_flags(const struct memtap_visit *v)
{
	u32 flags = v->hit->key;

	if (!v->user)
		flags |= MEMTAP_KEY_KERNEL;
	if (!(v->hit->flags & MEMTAP_HIT_SAMPLE) && (in_hardirq() || in_serving_softirq()))
		flags |= MEMTAP_KEY_IRQ;
	return flags;
}

static noinline void visit_builtin(struct memtap_visit *v, const struct memtap_listeners *ls,
				   u32 i, const struct memtap_hit *hit,
				   struct memtap_scratch *sc);
static noinline void visit_mark(struct memtap_visit *v, const struct memtap_listener *l,
				const struct memtap_hit *hit, struct memtap_scratch *sc);

/* Fills in @v; false where this event ends, accounted for. */
static __always_inline bool visit(struct memtap_visit *v, const struct memtap_listeners *ls,
				  u32 i, const struct memtap_hit *hit, struct memtap_scratch *sc)
{
	const struct memtap_listener *l = &ls->at[i];
	struct memtap_session *s = l->session;

	if (unlikely(l->how != MEMTAP_COUNTS)) {
		if (l->how == MEMTAP_COUNTS_STEPS)
			visit_builtin(v, ls, i, hit, sc);
		else if (l->how == MEMTAP_MARKS)
			visit_mark(v, l, hit, sc);
		return false;
	}
	if (!smp_load_acquire(&s->running))
		return false;	/* if it runs its tables are there */
	v->s = s;
	v->cpu = s->cpus[smp_processor_id()];
	v->acc = &v->cpu->events[l->event].account;
	v->event = l->event;
	v->hit = hit;
	v->sc = sc;
	v->user = !!(hit->flags & MEMTAP_HIT_USER);
	v->same = memtap_same_task(v->cpu);
	port_add64(&v->acc->seen, 1);
	if (!passes(v)) {
		port_add64(&v->acc->filtered, 1);
		if (unlikely(READ_ONCE(s->filter->not_pid)))
			note_own(v);
		return false;
	}
	return true;
}

static __always_inline void visit_hit(struct memtap_visit *v, u32 max)
{
	struct counter_key key;
	u32 space;

	v->slot = &v->cpu->events[v->event].slot;
	key.addr = 0;
	key.flags = key_flags(v);
	key.task = take_task(v, &space);
	take_stacks(v, max, space, &key.kstack, &key.ustack);
	count(v, &key);
	if (unlikely(v->s->touched) && v->hit->touched && *v->slot)
		memtap_touch(v->s, &v->cpu->touch_hint, space, v->hit->touched, *v->slot);
}

static noinline void visit_entry(struct memtap_visit *v, u32 max, const struct pair_key *pair)
{
	struct pair p;
	u32 space;

	memset(&p, 0, sizeof(p));
	p.key = *pair;
	p.event = v->event;
	p.task = take_task(v, &space);
	take_stacks(v, max, space, &p.kstack, &p.ustack);
	p.arg = key_flags(v);
	if (!pairtab_put(&v->s->pairs, &p))
		port_add64(&v->acc->lost[MEMTAP_LOST_PAIR], 1);
}

/*
 * This CPU is at work on its tables already: the event was caused by that work,
 * or is an NMI's that came in between.  Nothing but an atomic add is safe; not even
 * rcu_read_lock(), which is an event itself in kernels with lockdep.  Interrupts have
 * been off since that work began, and no grace period ends before they are on.
 */
static void refuse(const struct memtap_source *src, bool objects)
{
	const struct memtap_listeners *ls = rcu_dereference_raw(src->listeners);
	struct memtap_session_event *e;
	u32 i;

	for (i = 0; ls && i < ls->nr; i++) {
		if (!READ_ONCE(ls->at[i].session->running) ||
		    ls->at[i].how == MEMTAP_COUNTS_END ||
		    (ls->at[i].how == MEMTAP_FOLLOWS_OBJECTS) != objects)
			continue;
		e = ls->at[i].session->events[ls->at[i].event];
		atomic64_inc(in_nmi() ? &e->nmi : &e->recursion);
	}
}

void memtap_refuse(const struct memtap_source *src, enum memtap_listens how)
{
	refuse(src, how == MEMTAP_FOLLOWS_OBJECTS);
}

/* Where the user stack that somebody wants cannot be read just now, or 0. */
static noinline u64 unreadable(const struct memtap_listeners *ls,
			       const struct memtap_hit *hit, struct memtap_scratch *sc)
{
	struct memtap_visit v;
	u32 i;

	memset(&v, 0, sizeof(v));
	v.hit = hit;
	v.sc = sc;
	v.user = !!(hit->flags & MEMTAP_HIT_USER);
	for (i = 0; ls && i < ls->nr; i++) {
		v.s = ls->at[i].session;
		if (!smp_load_acquire(&v.s->running) ||
		    !(v.s->flags & MEMTAP_CFG_USTACK) || ls->at[i].how == MEMTAP_MARKS)
			continue;
		v.cpu = v.s->cpus[smp_processor_id()];
		v.same = memtap_same_task(v.cpu);
		if (!passes(&v))
			continue;
		take_user_stack(&v, ls->depth, false);
		if (sc->uflags & MEMTAP_STACK_FAULT)
			return sc->ufault;
	}
	return 0;
}

/*
 * Entered before RCU's read side begins: that is an event, too, in such kernels.
 * Counts the event in all sessions that want it; or, with @retry, does nothing
 * and returns where the user stack is to be brought in first.
 */
static __always_inline u64 count_all(struct memtap_source *src, const struct memtap_hit *hit,
				     const struct pair_key *pair, bool retry)
{
	const struct memtap_listeners *ls;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	struct memtap_visit *v;
	u64 fault = 0;
	u32 i;

	sc = memtap_enter(&irqflags);
	if (unlikely(!sc)) {
		refuse(src, false);
		return 0;
	}
	memtap_irqs_off_read();
	ls = rcu_dereference(src->listeners);
	if (unlikely(retry)) {
		fault = unreadable(ls, hit, sc);
		if (fault)
			goto leave;
	}
	v = &sc->visit;
	for (i = 0; ls && i < ls->nr; i++) {
		if (!visit(v, ls, i, hit, sc))
			continue;
		if (pair)
			visit_entry(v, ls->depth, pair);
		else
			visit_hit(v, ls->depth);
	}
leave:
	memtap_irqs_off_read_end();
	memtap_leave(sc, irqflags);
	return fault;
}

/* Pages of a stack that are brought in for one event, at most. */
#define BRING_IN	4

static noinline void count_waiting(struct memtap_source *src, const struct memtap_hit *hit,
				   const struct pair_key *pair)
{
	u32 tries = hit->flags & MEMTAP_HIT_SLEEP ? BRING_IN : 0;
	u64 fault;
	char c;

	while ((fault = count_all(src, hit, pair, tries > 0)) != 0) {
		if (memtap_user_copy(&c, fault, 1))
			tries = 0;
		else
			tries--;
	}
}

void memtap_note_file(struct memtap_source *src, const struct inode *inode)
{
	const struct memtap_listeners *ls;
	struct memtap_scratch *sc;
	struct memtap_session *s;
	unsigned long irqflags;
	u32 i;

	sc = memtap_enter(&irqflags);
	if (unlikely(!sc))
		return;
	memtap_irqs_off_read();
	ls = rcu_dereference(src->listeners);
	for (i = 0; ls && i < ls->nr; i++) {
		s = ls->at[i].session;
		if (smp_load_acquire(&s->running) && (s->flags & MEMTAP_CFG_FILES) &&
		    (!s->filter_set || memtap_filter_task(s->filter, current)))
			memtap_files_of_inode(&s->tasks, inode);
	}
	memtap_irqs_off_read_end();
	memtap_leave(sc, irqflags);
}

void memtap_hit(struct memtap_source *src, const struct memtap_hit *hit)
{
	this_cpu_inc(*src->hits);
	if (hit->flags & MEMTAP_HIT_SLEEP)
		count_waiting(src, hit, NULL);
	else
		count_all(src, hit, NULL, false);
}

void memtap_hit_entry(struct memtap_source *src, const struct memtap_hit *hit,
		      const struct pair_key *pair)
{
	this_cpu_inc(*src->hits);
	count_waiting(src, hit, pair);
}

/*
 * A return whose entry is not found was seen by nobody: it was filtered, or
 * entered before START.  One whose entry was evicted stays "not returned".
 */
static void visit_return(const struct memtap_listener *l,
			 const struct pair_key *pair)
{
	static const struct memtap_hit none;
	struct memtap_session *s = l->session;
	struct counter_key key;
	struct memtap_visit v;
	struct pair p;

	if (!smp_load_acquire(&s->running) ||
	    !pairtab_take(&s->pairs, pair, l->event, &p))
		return;
	v.s = s;
	v.cpu = s->cpus[smp_processor_id()];
	v.acc = &v.cpu->events[l->event].account;
	v.event = l->event;
	v.hit = &none;
	v.slot = &v.cpu->events[l->event].slot;
	key.addr = 0;
	key.flags = p.arg;
	key.task = p.task;
	key.kstack = p.kstack;
	key.ustack = p.ustack;
	count(&v, &key);
}

void memtap_hit_return(struct memtap_source *src, const struct pair_key *pair)
{
	const struct memtap_listeners *ls;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 i;

	sc = memtap_enter(&irqflags);
	if (unlikely(!sc))
		return;
	memtap_irqs_off_read();
	ls = rcu_dereference(src->listeners);
	for (i = 0; ls && i < ls->nr; i++)
		visit_return(&ls->at[i], pair);
	memtap_irqs_off_read_end();
	memtap_leave(sc, irqflags);
}

/* --- events that have steps ------------------------------------------------ */

#define NR_SHOWN_MASK(st)	((1U << (st)->nr_shown) - 1)

/* The id of these @nr words, of which there is one. */
static u64 intern_keys(const struct memtap_visit *v, const u64 *words, u32 nr, u32 flags)
{
	u32 is_new, id = stackstore_add(&v->s->stacks, words, nr, flags, 0, &is_new);

	if (likely(id))
		return id;
	port_add64(&v->acc->part[MEMTAP_PART_STACKS_FULL], 1);
	return MEMTAP_STACK_LOST;
}

/* By several at once. */
static u64 told_apart_by_all(const struct memtap_visit *v, const struct steps *st)
{
	u64 *words = v->sc->kept.keys;
	u32 len;

	words[0] = v->sc->args.known & st->by_mask;
	len = steps_pack(st, &v->sc->args, st->by_mask, words + 1);
	return intern_keys(v, words, 1 + len / sizeof(u64), MEMTAP_STACK_KEYS);
}

/* What events are told apart by, as a counter's address. */
static u64 told_apart(const struct memtap_visit *v, const struct steps *st,
		      struct counter_key *key)
{
	const struct steps_values *a = &v->sc->args;
	u32 slot = st->by_slot - 1, nr;
	u64 *words = v->sc->kept.keys;

	if (!(a->known >> slot & 1)) {
		key->flags |= MEMTAP_KEY_UNKNOWN;
		return 0;
	}
	if (!(st->text >> slot & 1))
		return a->number[slot];
	nr = a->len[slot] / sizeof(u64) + 1;
	words[nr - 1] = 0;
	memcpy(words, steps_text(a, slot), a->len[slot]);
	return intern_keys(v, words, nr, MEMTAP_STACK_TEXT);
}

/* One event into this CPU's ring. */
static bool write_one(const struct memtap_visit *v, const struct steps *st,
		      const struct counter_key *key)
{
	struct memtap_ring *r = v->s->rings[smp_processor_id()];
	const u32 shown = NR_SHOWN_MASK(st);
	struct memtap_one *one;

	one = memtap_ring_begin(r, sizeof(*one) + steps_packed_max(st, shown));
	if (one) {
		one->event = v->event;
		one->known = v->sc->args.known & shown;
		one->kstack = key->kstack;
		one->ustack = key->ustack;
		one->flags = key->flags;
		one->task = key->task;
		one->reserved = 0;
		one->value = v->value;
		memtap_ring_sign(one);
		one->len = sizeof(*one) + steps_pack(st, &v->sc->args, shown, one + 1);
	}
	if (memtap_ring_end(r, one))
		irq_work_queue(&v->s->ring_kick);
	return one;
}

/* The event passed; @key has the stacks. */
static void count_args(struct memtap_visit *v, const struct steps *st, struct counter_key *key)
{
	u32 needed = NR_SHOWN_MASK(st);
	bool kept;

	if (st->value_slot)
		needed |= 1U << (st->value_slot - 1);
	if ((v->sc->args.known & needed) != needed)
		port_add64(&v->acc->part[MEMTAP_PART_ARGS], 1);
	if (v->s->flags & MEMTAP_CFG_RING) {
		kept = write_one(v, st, key);
		port_add64(kept ? &v->acc->counted : &v->acc->lost[MEMTAP_LOST_RING], 1);
		return;
	}
	key->event = v->event;
	key->addr = 0;
	if (v->s->flags & MEMTAP_CFG_ADDR)
		key->addr = v->hit->addr >> v->s->addr_shift;
	else if (v->s->flags & MEMTAP_CFG_FILES)
		key->addr = file_of(v);
	if (st->by_slot)
		key->addr = told_apart(v, st, key);
	else if (st->by_mask)
		key->addr = told_apart_by_all(v, st);
	kept = counters_add_at(&v->cpu->counters, key, v->value, v->slot);
	port_add64(kept ? &v->acc->counted : &v->acc->lost[MEMTAP_LOST_TABLE], 1);
}

/* An argument that was made the value is one, as if the hook knew it. */
static bool value_passes(struct memtap_visit *v, const struct steps *st)
{
	const struct steps_values *a = &v->sc->args;
	u32 slot = st->value_slot - 1;

	if (!st->value_slot || !(a->known >> slot & 1))
		return true;
	v->value = a->number[slot];
	return filter_event(v->s->filter, v->user, 1, v->value);
}

static void begin_visit(struct memtap_visit *v, const struct memtap_listener *l,
			const struct memtap_hit *hit, struct memtap_scratch *sc)
{
	v->s = l->session;
	v->cpu = v->s->cpus[smp_processor_id()];
	v->acc = &v->cpu->events[l->event].account;
	v->event = l->event;
	v->sc = sc;
	v->slot = &v->cpu->events[l->event].slot;
	v->hit = hit;
	v->value = hit->value;
	v->user = !!(hit->flags & MEMTAP_HIT_USER);
	v->same = memtap_same_task(v->cpu);
}

static void filtered(const struct memtap_visit *v)
{
	port_add64(&v->acc->filtered, 1);
	if (unlikely(READ_ONCE(v->s->filter->not_pid)))
		note_own(v);
}

static noinline void visit_mark(struct memtap_visit *v, const struct memtap_listener *l,
				const struct memtap_hit *hit, struct memtap_scratch *sc)
{
	struct memtap_session *s = l->session;
	const u32 mark = s->events[l->event]->mark;

	if (!smp_load_acquire(&s->running))
		return;
	begin_visit(v, l, hit, sc);
	port_add64(&v->acc->seen, 1);
	if (!mark || !passes(v)) {
		filtered(v);
		return;
	}
	marks_hit(&s->marks, mark - 1, (u32)(jiffies - s->marks.start));
	port_add64(&v->acc->counted, 1);
}

/* @once: nobody has the key again. */
static void put_entry(struct memtap_visit *v, const struct steps *st, const struct pair *p,
		      bool once)
{
	struct memtap_args_kept *kept = &v->sc->kept;
	struct pairtab *tab = &v->s->arg_pairs;
	u32 len = offsetof(struct memtap_args_kept, packed);
	int put;

	kept->known = 0;
	kept->len = 0;
	if (st->kept_entry) {
		kept->known = v->sc->args.known;
		kept->len = steps_pack(st, &v->sc->args, st->kept_entry, kept->packed);
		len += kept->len;
	}
	kept->ns = memtap_clock_ns();
	put = v->hint ? pairtab_put_at(tab, p, kept, len, v->hint, once) :
			pairtab_put_with(tab, p, kept, len);
	if (!put)
		port_add64(&v->acc->lost[MEMTAP_LOST_PAIR], 1);
}

static void keep_entry(struct memtap_visit *v, const struct steps *st,
		       const struct pair_key *pair, u32 max)
{
	struct pair *p = &v->sc->pair;
	u32 space;

	p->key = *pair;
	p->event = v->event;
	p->task = take_task(v, &space);
	take_stacks(v, max, space, &p->kstack, &p->ustack);
	p->arg = key_flags(v);
	put_entry(v, st, p, true);
}

static noinline bool early_passes(struct memtap_visit *v, const struct steps *st,
				  const struct memtap_args_hit *ah)
{
	struct memtap_args_run *run = &v->sc->run;

	run->at = ah;
	run->fault = 0;
	run->has_value = false;
	return memtap_args_do(st, 0, st->nr_entry, &v->sc->args, run);
}

static noinline bool late_steps_pass(struct memtap_visit *v, const struct steps *st,
				     const struct memtap_args_hit *ah, u64 latency)
{
	struct memtap_scratch *sc = v->sc;
	struct memtap_args_run *run = &sc->run;

	run->at = ah;
	run->fault = 0;
	run->has_value = false;
	run->latency = latency;
	steps_clear(&sc->args);
	if (st->kept_entry &&
	    !steps_unpack(st, &sc->args, st->kept_entry, sc->kept.known, sc->kept.packed,
			  sc->kept.len))
		steps_clear(&sc->args);
	return memtap_args_do(st, st->nr_entry, st->nr, &sc->args, run) && value_passes(v, st);
}

/* Behind the entry, whose slots are in sc->kept: does it pass? */
static __always_inline bool late_passes(struct memtap_visit *v, const struct steps *st,
					const struct memtap_args_hit *ah)
{
	struct memtap_scratch *sc = v->sc;
	const u64 latency = memtap_clock_ns() - sc->kept.ns;
	const u32 slot = st->value_slot - 1;

	if (!st->only_latency)
		return late_steps_pass(v, st, ah, latency);
	v->value = (s64)latency;
	sc->args.known = 1U << slot;
	sc->args.number[slot] = latency;
	return filter_event(v->s->filter, v->user, 1, v->value);
}

/*
 * An event that has steps, in one session.  With @retry, where the user's memory that it
 * needs is not there, nothing is done but that its address is returned.
 */
static u64 visit_args(struct memtap_visit *v, const struct memtap_listener *l,
		      const struct memtap_args_hit *ah, struct memtap_scratch *sc, u32 max,
		      const struct pair_key *pair, bool retry)
{
	struct memtap_args_run *run = &sc->run;
	const struct steps *st;
	struct counter_key key;
	u32 space, nr;
	bool pass;

	/* (a session that does not run may have no steps) */
	if (!smp_load_acquire(&l->session->running))
		return 0;
	st = l->session->events[l->event]->steps;
	nr = pair ? st->nr_entry : st->nr;
	begin_visit(v, l, &ah->hit, sc);
	steps_clear(&sc->args);
	pass = passes(v);
	if (pass && nr) {
		run->at = ah;
		run->fault = 0;
		run->value = ah->hit.value;
		run->has_value = ah->hit.flags & (MEMTAP_HIT_VALUE | MEMTAP_HIT_PAGES);
		pass = memtap_args_do(st, 0, nr, &sc->args, run);
		if (run->fault && retry)
			return run->fault;
	}
	if (pass && retry && (v->s->flags & MEMTAP_CFG_USTACK)) {
		take_user_stack(v, max, false);
		if (sc->uflags & MEMTAP_STACK_FAULT)
			return sc->ufault;
	}
	port_add64(&v->acc->seen, 1);
	if (!pass || (!pair && !value_passes(v, st))) {
		filtered(v);
		return 0;
	}
	if (pair) {
		keep_entry(v, st, pair, max);
		return 0;
	}
	key.flags = key_flags(v);
	key.task = take_task(v, &space);
	take_stacks(v, max, space, &key.kstack, &key.ustack);
	count_args(v, st, &key);
	return 0;
}

/*
 * Which two events are a pair: of one task, and in it of the same kind of interrupt, or
 * of none.  A task's memory may be another's later; when that began is not the same.
 */
static struct pair_key pair_of_current(void)
{
	const u32 level = in_nmi() ? 3 : hardirq_count() ? 2 : in_serving_softirq() ? 1 : 0;
	struct pair_key key;

	key.a = (unsigned long)current;
	key.b = memtap_task_start_ns(current) << 2 | level;
	return key;
}

/* The stack is taken at the end, of what passes. */
static void visit_begin(struct memtap_visit *v, const struct memtap_listener *l,
			const struct memtap_args_hit *ah, struct memtap_scratch *sc)
{
	const struct steps *st;
	struct pair *p = &sc->pair;
	u32 space;

	if (!smp_load_acquire(&l->session->running))
		return;
	st = l->session->events[l->event]->steps;
	begin_visit(v, l, &ah->hit, sc);
	v->hint = &v->cpu->events[l->event].hint;
	steps_clear(&sc->args);
	port_add64(&v->acc->seen, 1);
	if (!passes(v) || (st->nr_entry && !early_passes(v, st, ah))) {
		filtered(v);
		return;
	}
	p->key = pair_of_current();
	p->event = v->event;
	p->task = take_task(v, &space);
	p->kstack = MEMTAP_STACK_NONE;
	p->ustack = MEMTAP_STACK_NONE;
	p->arg = 0;
	put_entry(v, st, p, false);
}

/* An end whose begin is not found was seen by nobody: see visit_return(). */
static void visit_end(struct memtap_visit *v, const struct memtap_listener *l,
		      const struct memtap_args_hit *ah, struct memtap_scratch *sc, u32 max)
{
	const struct pair_key pair = pair_of_current();
	struct memtap_session *s = l->session;
	const struct pair_hint *hint;
	const struct steps *st;
	struct counter_key key;
	u32 space;

	if (!smp_load_acquire(&s->running))
		return;
	st = s->events[l->event]->steps;
	hint = &s->cpus[smp_processor_id()]->events[l->event].hint;
	if (!pairtab_take_at(&s->arg_pairs, &pair, l->event, &sc->pair, &sc->kept, hint, 0))
		return;
	begin_visit(v, l, &ah->hit, sc);
	if (!late_passes(v, st, ah)) {
		filtered(v);
		return;
	}
	key.flags = key_flags(v);
	key.task = take_task(v, &space);
	take_stacks(v, max, space, &key.kstack, &key.ustack);
	count_args(v, st, &key);
}

static noinline void visit_builtin(struct memtap_visit *v, const struct memtap_listeners *ls,
				   u32 i, const struct memtap_hit *hit, struct memtap_scratch *sc)
{
	struct memtap_args_hit ah = { .hit = *hit };

	visit_args(v, &ls->at[i], &ah, sc, ls->depth, NULL, false);
}

/* As count_all(). */
static u64 count_args_all(struct memtap_source *src, const struct memtap_args_hit *ah,
			  const struct pair_key *pair, bool retry)
{
	const struct memtap_listeners *ls;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u64 fault = 0;
	u32 i;

	sc = memtap_enter(&irqflags);
	if (unlikely(!sc)) {
		refuse(src, false);
		return 0;
	}
	memtap_irqs_off_read();
	ls = rcu_dereference(src->listeners);
	for (i = 0; ls && !fault && i < ls->nr; i++)
		switch (ls->at[i].how) {
		case MEMTAP_COUNTS_STEPS:
			sc->visit.hint = i ? NULL : ah->hint;
			fault = visit_args(&sc->visit, &ls->at[i], ah, sc, ls->depth, pair,
					   retry);
			break;
		case MEMTAP_COUNTS_BEGIN:
			visit_begin(&sc->visit, &ls->at[i], ah, sc);
			break;
		case MEMTAP_COUNTS_END:
			visit_end(&sc->visit, &ls->at[i], ah, sc, ls->depth);
			break;
		default:
			break;
		}
	memtap_irqs_off_read_end();
	memtap_leave(sc, irqflags);
	return fault;
}

/* Hooks that may sleep have one listener; what failed for lack of memory is retried. */
static void count_args_waiting(struct memtap_source *src, const struct memtap_args_hit *ah,
			       const struct pair_key *pair)
{
	u32 tries = ah->hit.flags & MEMTAP_HIT_SLEEP ? BRING_IN : 0;
	u64 fault;
	char c;

	this_cpu_inc(*src->hits);
	while ((fault = count_args_all(src, ah, pair, tries > 0)) != 0) {
		if (memtap_user_copy(&c, fault, 1))
			tries = 0;
		else
			tries--;
	}
}

void memtap_args_hit(struct memtap_source *src, const struct memtap_args_hit *ah)
{
	count_args_waiting(src, ah, NULL);
}

void memtap_args_hit_entry(struct memtap_source *src, const struct memtap_args_hit *ah,
			   const struct pair_key *pair)
{
	count_args_waiting(src, ah, pair);
}

static int take_entry(const struct memtap_visit *v, const struct memtap_listener *l,
		      const struct pair_key *pair, struct pair *p, struct memtap_args_kept *kept)
{
	struct pairtab *tab = &l->session->arg_pairs;

	return v->hint ? pairtab_take_at(tab, pair, l->event, p, kept, v->hint, 1) :
			 pairtab_take_with(tab, pair, l->event, p, kept);
}

static void visit_args_return(struct memtap_visit *v, const struct memtap_listener *l,
			      const struct memtap_args_hit *ah, struct memtap_scratch *sc,
			      const struct pair_key *pair)
{
	const struct pair *p = &sc->pair;
	const struct steps *st;
	struct counter_key key;

	if (!smp_load_acquire(&l->session->running) ||
	    !take_entry(v, l, pair, &sc->pair, &sc->kept))
		return;
	st = l->session->events[l->event]->steps;
	begin_visit(v, l, &ah->hit, sc);
	if (!late_passes(v, st, ah)) {
		filtered(v);
		return;
	}
	key.flags = p->arg;
	key.task = p->task;
	key.kstack = p->kstack;
	key.ustack = p->ustack;
	count_args(v, st, &key);
}

void memtap_args_hit_return(struct memtap_source *src, const struct memtap_args_hit *ah,
			    const struct pair_key *pair)
{
	const struct memtap_listeners *ls;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 i;

	sc = memtap_enter(&irqflags);
	if (unlikely(!sc))
		return;
	memtap_irqs_off_read();
	ls = rcu_dereference(src->listeners);
	for (i = 0; ls && i < ls->nr; i++) {
		if (ls->at[i].how != MEMTAP_COUNTS_STEPS)
			continue;
		sc->visit.hint = i ? NULL : ah->hint;
		visit_args_return(&sc->visit, &ls->at[i], ah, sc, pair);
	}
	memtap_irqs_off_read_end();
	memtap_leave(sc, irqflags);
}
