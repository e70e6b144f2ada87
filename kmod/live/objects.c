// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects of the kernel, as they come and go: what the hooks on allocators call.  Any
 * context, also interrupts and what other hooks of ours do; under memtap_enter().
 *
 * Objects of slabs come and go by the million.  So what is on the way of one is compiled into
 * one function, where a block and what is known of it are in registers; what is seldom wanted
 * is not inlined, and gets values, no pointers to them.
 */
#include <linux/hardirq.h>
#include <linux/sched.h>

#include "core/livetab_run.h"
#include "live/objects.h"
#include "record/filter.h"
#include "record/record.h"
#include "record/ring.h"

#include "compat/kernel_read.h"
#include "compat/slab.h"

#define EVENT_SHIFT	8	/* a block's flags: MEMTAP_BLOCK_*, and behind them its event */

/* One object's way through one session. */
struct visit {
	struct memtap_session *s;
	struct memtap_objects_table *t;
	struct memtap_object_cpu *c;
	struct memtap_session_cpu *own;
	struct memtap_account *acc;
	struct memtap_heap_account *a;
	struct memtap_scratch *sc;
	u32 event, cpu;
	bool irq;
};

/* An object's address: not NULL, nor what kmalloc(0) returns. */
static bool is_object(const void *ptr)
{
	return (unsigned long)ptr >= PAGE_SIZE;
}

static __always_inline struct visit begin(const struct memtap_listener *l, u32 cpu,
					  struct memtap_scratch *sc)
{
	struct memtap_session *s = l->session;
	struct memtap_objects_table *t = s->objects;
	struct memtap_object_cpu *c = t->cpus[cpu];
	struct memtap_session_cpu *own = s->cpus[cpu];
	const u32 event = l->event;
	const struct visit v = {
		.s = s, .t = t, .c = c, .own = own, .acc = &own->events[event].account,
		.a = &c->account[event], .sc = sc, .event = event, .cpu = cpu,
		.irq = (in_hardirq() | in_serving_softirq()) != 0,
	};

	port_add64(&v.acc->seen, 1);
	return v;
}

/* --- caches ---------------------------------------------------------------- */

static noinline u32 new_cache(struct cachetab *t, const void *cache, const char *name)
{
	char text[CACHETAB_NAME];
	u32 i;

	for (i = 0; i + 1 < sizeof(text); i++)
		if (!memtap_kernel_bytes(&text[i], (unsigned long)name + i, 1) || !text[i])
			break;
	text[i] = 0;
	return cachetab_add(t, cache, name, text);
}

/* The table's spaces are from 1 on. */
static __always_inline u32 space_of(enum memtap_object_kind kind)
{
	return kind + 1;
}

static __always_inline u32 slab_id(struct cachetab *t, const void *cache)
{
	const char *name;
	u32 id;

	if (!cache)
		return memtap_slab_places.page_cache ? CACHETAB_LARGE : CACHETAB_OTHER;
	name = memtap_slab_name(cache);
	id = cachetab_find(t, cache, name);
	return likely(id) ? id : new_cache(t, cache, name);
}

/* --- it came ---------------------------------------------------------------- */

static noinline bool task_passes(struct memtap_session *s, struct memtap_account *acc)
{
	if (memtap_filter_task(s->filter, current))
		return true;
	if (memtap_filter_own(s->filter))
		port_add64(&acc->own, 1);
	return false;
}

static noinline u32 new_gfp(struct memtap_object_cpu *c, gfp_t gfp)
{
	u32 flags = MEMTAP_BLOCK_KERNEL;

	if (gfp & __GFP_RECLAIMABLE)
		flags |= MEMTAP_BLOCK_RECLAIMABLE;
	if (gfp & __GFP_MOVABLE)
		flags |= MEMTAP_BLOCK_MOVABLE;
	if (memtap_gfp_atomic(gfp))
		flags |= MEMTAP_BLOCK_ATOMIC;
	c->gfp = gfp;
	c->gfp_flags = flags;
	return flags;
}

/* Most ask as who asked before. */
static __always_inline u32 gfp_flags(struct memtap_object_cpu *c, gfp_t gfp)
{
	return likely(c->gfp == gfp && c->gfp_flags) ? c->gfp_flags : new_gfp(c, gfp);
}

/* Somebody else than the last time, who passes. */
static noinline u32 other_task(struct memtap_session *s, struct memtap_session_cpu *own,
			       struct memtap_account *acc)
{
	u32 space;
	const u32 id = memtap_tasks_current(s, own, &space);

	if (id != MEMTAP_TASK_NONE)
		own->task_passes = !s->filter_varies;
	if (unlikely(id == MEMTAP_TASK_LOST))
		port_add64(&acc->part[MEMTAP_PART_TASKS_FULL], 1);
	return id;
}

static __always_inline u32 task_of(const struct visit *v, bool same)
{
	if (v->irq)
		return MEMTAP_TASK_NONE;
	if (likely(same && v->own->task_id != MEMTAP_TASK_LOST))
		return v->own->task_id;
	return other_task(v->s, v->own, v->acc);
}

static noinline u32 new_site(struct memtap_session *s, struct memtap_account *acc,
			     struct memtap_object_site *at, u64 ip)
{
	const u32 stack = memtap_record_call_site(s, acc, ip);

	if (stack >= MEMTAP_STACK_FIRST) {
		at->ip = ip;
		at->stack = stack;
	}
	return stack;
}

static __always_inline u32 site_of(const struct visit *v, u64 ip)
{
	struct memtap_object_site *at;

	at = &v->c->sites[(ip * 0x9e3779b97f4a7c15ULL >> 32) & (MEMTAP_OBJECT_SITES - 1)];
	return likely(at->ip == ip) ? at->stack : new_site(v->s, v->acc, at, ip);
}

static noinline u32 walk(struct memtap_session *s, struct memtap_account *acc,
			 struct memtap_scratch *sc, const unsigned long *frame,
			 struct pt_regs *regs, u64 site)
{
	struct memtap_hit *hit = &sc->hit;

	/* what is looked at for a stack of the kernel */
	hit->frame = frame;
	hit->regs = regs;
	hit->flags = regs ? MEMTAP_HIT_CALLED : 0;
	hit->site = site;
	return memtap_record_kernel_stack(s, acc, sc, hit);
}

static __always_inline u32 stack_of(const struct visit *v, const struct memtap_object *o)
{
	const struct memtap_object_stacks *st = o->stacks;
	u32 i;

	if (unlikely(!(v->s->flags & MEMTAP_CFG_KSTACK)))
		return MEMTAP_STACK_NONE;
	if ((v->s->flags & MEMTAP_CFG_CALL_SITE) && o->call_site)
		return site_of(v, o->call_site);
	for (i = 0; st && i < MEMTAP_OBJECT_SESSIONS; i++)
		if (st->of[i].session == v->s && st->of[i].nr == v->s->nr)
			return st->of[i].stack;
	return walk(v->s, v->acc, v->sc, o->frame, o->regs, o->call_site);
}

static noinline bool is_from(const struct stackstore *stacks, u32 stack, u64 start, u64 end)
{
	const struct stackstore_entry *e;
	u32 i;

	if (stack < MEMTAP_STACK_FIRST)
		return false;
	e = stackstore_get(stacks, stack);
	for (i = 0; i < e->nr; i++)
		if (e->ip[i] >= start && e->ip[i] < end)
			return true;
	return false;
}

static void replaced(struct memtap_object_cpu *c)
{
	struct memtap_object_sums *sums = &c->sums[c->was.event];

	port_add64(&sums->replaced, 1);
	port_add64(&sums->replaced_bytes, memtap_object_bytes(&c->was));
}

/* What is handed out and not kept: if its address is known, that is another object's. */
static noinline void forget(struct memtap_objects_table *t, struct memtap_object_cpu *c,
			    u32 space, u64 addr)
{
	if (livetab_take(&t->table, space, addr, &c->was))
		replaced(c);
}

/* MEMTAP_CFG_TRACE: @addr was handed out, or @old is taken back. */
static noinline void trace(struct memtap_session *s, u32 event, u64 addr, u64 size, u64 old,
			   u32 stack, u32 flags)
{
	const u64 args[] = { addr, size, old, flags };
	struct memtap_one what;

	memset(&what, 0, sizeof(what));
	what.event = event;
	what.known = (1U << ARRAY_SIZE(args)) - 1;
	what.kstack = stack;
	what.task = MEMTAP_TASK_NONE;
	what.value = size;
	memtap_ring_put(s, &what, args, sizeof(args));
}

static u32 trace_flags(const struct visit *v)
{
	return v->irq ? MEMTAP_CALL_IRQ : 0;
}

static __always_inline void keep(const struct visit *v, const struct memtap_object *o, u32 cache,
				 u64 bytes, u32 stack, u32 task, u32 flags)
{
	const u64 cpu = o->kind == MEMTAP_OBJECT_SLAB ? (u64)v->cpu << MEMTAP_OBJECT_CPU : 0;
	const struct live b = {
		.addr = (unsigned long)o->ptr, .size = bytes | cpu, .space = space_of(o->kind),
		.ustack = stack, .task = task, .birth = memtap_alloc_time_now(v->s),
		.event = cache, .next = 0,
		.flags = flags | v->event << EVENT_SHIFT | (v->irq ? MEMTAP_BLOCK_IRQ : 0),
	};
	struct memtap_object_sums *sums;
	int how;

	if (o->kind == MEMTAP_OBJECT_PAGES && o->order)
		pagetab_may_cut(&v->t->pages, o->order);
	how = livetab_put_here(&v->t->table, &b, &v->c->was);
	if (unlikely(v->s->rings))
		trace(v->s, v->event, (unsigned long)o->ptr, bytes, 0, stack, trace_flags(v) |
		      (how == LIVETAB_FULL ? MEMTAP_CALL_SKIPPED : 0));
	if (unlikely(how == LIVETAB_FULL)) {
		sums = &v->c->sums[cache];
		port_add64(&v->acc->lost[MEMTAP_LOST_LIVE], 1);
		port_add64(&sums->lost, 1);
		port_add64(&sums->lost_bytes, bytes);
		return;
	}
	if (unlikely(how == LIVETAB_REPLACED))
		replaced(v->c);
	port_add64(&v->a->kept, 1);
	port_add64(&v->a->kept_bytes, bytes);
	port_add64(&v->acc->counted, 1);
}

static noinline void filtered(struct memtap_objects_table *t, struct memtap_object_cpu *c,
			      struct memtap_account *acc, u32 space, u64 addr)
{
	forget(t, c, space, addr);
	port_add64(&acc->filtered, 1);
}

static __always_inline void filter_out(const struct visit *v, const struct memtap_object *o)
{
	filtered(v->t, v->c, v->acc, space_of(o->kind), (unsigned long)o->ptr);
}

/* Not the first time that it is told of: that one counts. */
static noinline bool is_known(struct memtap_objects_table *t, struct memtap_object_cpu *c,
			      u32 space, u64 addr)
{
	return livetab_get(&t->table, space, addr, &c->was);
}

/* Programs' pages, and those of files: by far the most, and seldom the question. */
static __always_inline bool is_movable(const struct visit *v, const struct memtap_object *o)
{
	return o->kind == MEMTAP_OBJECT_PAGES && (o->gfp & __GFP_MOVABLE) && !v->t->movable;
}

static __always_inline void sum_up(const struct visit *v, u32 id, struct cachetab_entry *e,
				   u64 bytes, u32 asked, u32 flags)
{
	struct memtap_object_sums *sums = &v->c->sums[id];

	/* all CPUs read it: written, the line goes from one to the other */
	if (unlikely(READ_ONCE(e->size) != bytes))
		WRITE_ONCE(e->size, (u32)bytes);
	port_add64(&sums->allocs, 1);
	port_add64(&sums->bytes, bytes);
	if (asked && asked < bytes)
		port_add64(&sums->waste, bytes - asked);
	if (flags & MEMTAP_BLOCK_MOVABLE)
		port_add64(&sums->movable, 1);
	else if (flags & MEMTAP_BLOCK_RECLAIMABLE)
		port_add64(&sums->reclaimable, 1);
	port_add64(&v->a->allocs, 1);
	port_add64(&v->a->bytes, bytes);
}

static __always_inline void came(const struct memtap_listener *l, u32 cpu,
				 struct memtap_scratch *sc, const struct memtap_object *o)
{
	const struct visit visit = begin(l, cpu, sc), *v = &visit;
	u32 id = o->id, stack = MEMTAP_STACK_NONE, flags;
	struct cachetab_entry *e;
	u64 bytes = o->bytes;
	const void *cache;
	bool same;

	if (unlikely(!is_object(o->ptr))) {
		port_add64(&v->a->failed, 1);
		port_add64(&v->acc->counted, 1);
		return;
	}
	if (is_movable(v, o) || unlikely(READ_ONCE(v->s->marks.draining))) {
		filter_out(v, o);
		return;
	}
	if (unlikely(o->again) &&
	    is_known(v->t, v->c, space_of(o->kind), (unsigned long)o->ptr)) {
		port_add64(&v->acc->counted, 1);
		return;
	}
	if (o->kind == MEMTAP_OBJECT_SLAB) {
		cache = o->cache ? o->cache : memtap_slab_cache(o->ptr);
		if (!bytes && cache)
			bytes = memtap_slab_size(cache);
		id = slab_id(&v->t->caches, cache);
	}
	e = &v->t->caches.entries[id];
	same = memtap_same_task(v->own);
	/* who was interrupted has nothing to do with it */
	if ((!(same && v->own->task_passes) && v->s->filter_set && !v->irq &&
	     !task_passes(v->s, v->acc)) || !e->passes) {
		filter_out(v, o);
		return;
	}
	if (unlikely(v->t->chooses)) {
		if (v->t->end)
			stack = stack_of(v, o);
		if (!filter_event(v->s->filter, 0, 1, (s64)bytes) ||
		    (v->t->end &&
		     !is_from(&v->s->stacks, stack, v->t->start, v->t->end))) {
			filter_out(v, o);
			return;
		}
	}
	flags = gfp_flags(v->c, o->gfp);
	sum_up(v, id, e, bytes, o->asked, flags);
	if (unlikely(v->t->chooses) && v->t->sampling &&
	    !sampler_keeps(&v->t->sampler, &v->c->sampler, bytes)) {
		forget(v->t, v->c, space_of(o->kind), (unsigned long)o->ptr);
		port_add64(&v->acc->counted, 1);
		if (unlikely(v->s->rings))
			trace(v->s, v->event, (unsigned long)o->ptr, bytes, 0, stack,
			      trace_flags(v) | MEMTAP_CALL_SKIPPED);
		return;
	}
	if (likely(stack == MEMTAP_STACK_NONE))
		stack = stack_of(v, o);
	keep(v, o, id, bytes, stack, task_of(v, same), flags);
}

/* --- it goes ------------------------------------------------------------------- */

/* @id: 0: of a slab, and which one is to be found out. */
static noinline void unknown(struct memtap_objects_table *t, struct memtap_object_cpu *c,
			     struct memtap_heap_account *a, const void *ptr, u32 id, u64 bytes)
{
	struct memtap_object_sums *sums;
	const void *cache;

	if (!id) {
		cache = memtap_slab_cache(ptr);
		id = slab_id(&t->caches, cache);
		if (cache)
			bytes = memtap_slab_size(cache);
	}
	sums = &c->sums[id];
	port_add64(&a->unknown, 1);
	if (!t->caches.entries[id].passes)
		return;
	port_add64(&sums->unknown, 1);
	port_add64(&sums->unknown_bytes, bytes);
}

/* A block became several parts: it went, and they came. */
static void was_cut(struct memtap_object_cpu *c, struct memtap_heap_account *a,
		    const struct pagetab_cut *cut)
{
	const u64 kept = cut->parts - cut->lost, kept_bytes = cut->was.size - cut->lost_bytes;
	struct memtap_object_sums *sums = &c->sums[cut->was.event];

	port_add64(&a->frees, 1);
	port_add64(&a->freed_bytes, cut->was.size);
	port_add64(&a->kept, kept);
	port_add64(&a->kept_bytes, kept_bytes);
	/* of its order it was one; what its parts are of is told when they go */
	port_add64(&sums->lost, cut->lost);
	port_add64(&sums->lost_bytes, cut->lost_bytes);
}

static noinline bool take_pages(struct memtap_objects_table *t, struct memtap_object_cpu *c,
				struct memtap_heap_account *a, const void *ptr, u32 order)
{
	struct pagetab_cut cut;
	int how = pagetab_take(&t->pages, (unsigned long)ptr, order, &c->was, &cut);

	if (unlikely(how == PAGETAB_CUT))
		was_cut(c, a, &cut);
	return how != PAGETAB_UNKNOWN;
}

/* The block itself, of pages what c->was is. */
static __always_inline bool take(const struct visit *v, const struct memtap_object *o,
				 struct live *b)
{
	if (o->kind != MEMTAP_OBJECT_PAGES)
		return livetab_take_here(&v->t->table, space_of(o->kind),
					 (unsigned long)o->ptr, 0, b);
	if (!take_pages(v->t, v->c, v->a, o->ptr, o->order))
		return false;
	*b = v->c->was;
	return true;
}

static __always_inline void goes(const struct memtap_listener *l, u32 cpu,
				 struct memtap_scratch *sc, const struct memtap_object *o)
{
	const struct visit visit = begin(l, cpu, sc), *v = &visit;
	struct memtap_object_sums *sums;
	struct live b = { .addr = 0 };
	u64 bytes;

	port_add64(&v->acc->counted, 1);
	if (unlikely(!is_object(o->ptr))) {
		port_add64(&v->a->null, 1);
		return;
	}
	if (!take(v, o, &b)) {
		unknown(v->t, v->c, v->a, o->ptr, o->id, o->bytes);
		return;
	}
	bytes = memtap_object_bytes(&b);
	if (unlikely(v->s->rings))
		trace(v->s, v->event, 0, bytes, (unsigned long)o->ptr, MEMTAP_STACK_NONE,
		      trace_flags(v));
	port_add64(&v->a->frees, 1);
	port_add64(&v->a->freed_bytes, bytes);
	sums = &v->c->sums[b.event];
	port_add64(&sums->frees, 1);
	port_add64(&sums->freed_bytes, bytes);
	if (o->kind == MEMTAP_OBJECT_SLAB && b.size >> MEMTAP_OBJECT_CPU != cpu)
		port_add64(&sums->remote, 1);
}

/* --- for all that follow objects ------------------------------------------------- */

typedef void visit_fn(const struct memtap_listener *l, u32 cpu, struct memtap_scratch *sc,
		      const struct memtap_object *o);

static __always_inline bool follows(const struct memtap_listener *l)
{
	return l->how == MEMTAP_FOLLOWS_OBJECTS && smp_load_acquire(&l->session->running);
}

/* In each session; @fn is known when this is compiled. */
static __always_inline void visit_all(struct memtap_source *src, struct memtap_scratch *sc,
				      const struct memtap_object *o, visit_fn *fn)
{
	const struct memtap_listeners *ls = rcu_dereference(src->listeners);
	const u32 cpu = smp_processor_id();
	u32 i;

	for (i = 0; ls && i < ls->nr; i++)
		if (follows(&ls->at[i]))
			fn(&ls->at[i], cpu, sc, o);
}

static __always_inline void tell(struct memtap_source *src, const struct memtap_object *o,
				 visit_fn *fn)
{
	unsigned long irqflags;
	struct memtap_scratch *sc = memtap_enter(&irqflags);

	if (unlikely(!sc)) {
		memtap_refuse(src, MEMTAP_FOLLOWS_OBJECTS);
		return;
	}
	memtap_irqs_off_read();
	visit_all(src, sc, o, fn);
	memtap_irqs_off_read_end();
	memtap_leave(sc, irqflags);
}

static noinline void alloc_any(const struct memtap_listener *l, u32 cpu,
			       struct memtap_scratch *sc, const struct memtap_object *o)
{
	came(l, cpu, sc, o);
}

static noinline void goes_any(const struct memtap_listener *l, u32 cpu,
			      struct memtap_scratch *sc, const struct memtap_object *o)
{
	goes(l, cpu, sc, o);
}

void memtap_object_alloc(struct memtap_source *src, const struct memtap_object *o)
{
	tell(src, o, alloc_any);
}

void memtap_object_freed(struct memtap_source *src, const struct memtap_object *o)
{
	tell(src, o, goes_any);
}

void memtap_slab_alloc(struct memtap_source *src, const unsigned long *frame,
		       unsigned long call_site, const void *ptr, const void *cache, u64 sizes,
		       gfp_t gfp)
{
	const struct memtap_object o = {
		.ptr = ptr, .cache = cache, .bytes = KMEM_TAKEN(sizes), .call_site = call_site,
		.frame = frame, .kind = MEMTAP_OBJECT_SLAB, .gfp = gfp,
		.asked = KMEM_ASKED(sizes),
	};

	tell(src, &o, came);
}

void memtap_slab_freed(struct memtap_source *src, const void *ptr)
{
	const struct memtap_object o = { .ptr = ptr, .kind = MEMTAP_OBJECT_SLAB };

	tell(src, &o, goes);
}

/* Some at a time: interrupts are off meanwhile. */
#define PIECE	32

static __always_inline void notify_all(struct memtap_source *src, struct memtap_object *o,
				       void *const *ptrs, size_t nr, visit_fn *fn)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	size_t i = 0, end;

	while (i < nr) {
		end = i + min_t(size_t, nr - i, PIECE);
		sc = memtap_enter(&irqflags);
		memtap_irqs_off_read();
		for (; i < end; i++) {
			o->ptr = ptrs[i];
			if (likely(sc))
				visit_all(src, sc, o, fn);
			else
				memtap_refuse(src, MEMTAP_FOLLOWS_OBJECTS);
		}
		memtap_irqs_off_read_end();
		if (likely(sc))
			memtap_leave(sc, irqflags);
	}
}

void memtap_objects_alloc(struct memtap_source *src, struct memtap_object *o, void *const *ptrs,
			  size_t nr)
{
	notify_all(src, o, ptrs, nr, alloc_any);
}

void memtap_objects_freed(struct memtap_source *src, struct memtap_object *o, void *const *ptrs,
			  size_t nr)
{
	notify_all(src, o, ptrs, nr, goes_any);
}

/* Will this listener want a stack of the kernel when the call returns? */
static bool wants_stack(const struct memtap_listener *l)
{
	const struct memtap_session *s = l->session;

	if (!smp_load_acquire(&s->running) || !(s->flags & MEMTAP_CFG_KSTACK))
		return false;
	if (l->how == MEMTAP_FOLLOWS_OBJECTS)
		return true;
	return l->how == MEMTAP_COUNTS &&
	       (!s->filter_set || memtap_filter_task(s->filter, current));
}

void memtap_objects_stacks(struct memtap_source *src, const struct memtap_hit *hit,
			   struct memtap_object_stacks *stacks)
{
	const struct memtap_listeners *ls;
	struct memtap_account *acc;
	struct memtap_scratch *sc;
	struct memtap_session *s;
	unsigned long irqflags;
	u32 i, nr = 0;

	memset(stacks, 0, sizeof(*stacks));
	sc = memtap_enter(&irqflags);
	if (unlikely(!sc))
		return;
	memtap_irqs_off_read();
	ls = rcu_dereference(src->listeners);
	for (i = 0; ls && i < ls->nr && nr < MEMTAP_OBJECT_SESSIONS; i++) {
		s = ls->at[i].session;
		if (!wants_stack(&ls->at[i]))
			continue;
		stacks->of[nr].session = s;
		stacks->of[nr].nr = s->nr;
		acc = &s->cpus[smp_processor_id()]->events[ls->at[i].event].account;
		stacks->of[nr++].stack = memtap_record_kernel_stack(s, acc, sc, hit);
	}
	memtap_irqs_off_read_end();
	memtap_leave(sc, irqflags);
}
