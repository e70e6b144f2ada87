// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects of the kernel, as they come and go: what the hooks on allocators call.  Any
 * context, also interrupts and what other hooks of ours do; under memtap_enter().
 */
#include <linux/hardirq.h>
#include <linux/sched.h>

#include "live/objects.h"
#include "record/filter.h"
#include "record/record.h"
#include "record/ring.h"

#include "compat/kernel_read.h"
#include "compat/slab.h"

#define EVENT_SHIFT	8	/* a block's flags: MEMTAP_BLOCK_*, and behind them its event */

/* An object's address: not NULL, nor what kmalloc(0) returns. */
static bool is_object(const void *ptr)
{
	return (unsigned long)ptr >= PAGE_SIZE;
}

static __always_inline struct memtap_object_visit *begin(const struct memtap_listener *l,
							 struct memtap_scratch *sc,
							 const struct memtap_hit *hit,
							 const struct memtap_object *o)
{
	struct memtap_session *s = l->session;
	const u32 cpu = smp_processor_id();
	struct memtap_object_cpu *c = s->objects->cpus[cpu];
	struct memtap_object_visit *v = &c->visit;

	v->s = s;
	v->t = s->objects;
	v->cpu = c;
	v->event = l->event;
	v->acc = &s->cpus[cpu]->account[l->event];
	v->a = &c->account[l->event];
	v->sc = sc;
	v->hit = hit;
	v->o = o;
	v->irq = in_hardirq() || in_serving_softirq();
	port_add64(&v->acc->seen, 1);
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
static u32 space_of(const struct memtap_object_visit *v)
{
	return v->o->kind + 1;
}

static u32 cache_id(const struct memtap_object_visit *v, const void *cache)
{
	struct cachetab *t = &v->t->caches;
	const char *name;
	u32 id;

	if (v->o->kind != MEMTAP_OBJECT_SLAB)
		return v->o->id;
	if (!cache)
		return memtap_slab_places.page_cache ? CACHETAB_LARGE : CACHETAB_OTHER;
	name = memtap_slab_name(cache);
	id = cachetab_find(t, cache, name);
	return likely(id) ? id : new_cache(t, cache, name);
}

static const void *cache_of(const struct memtap_object *o)
{
	if (o->kind != MEMTAP_OBJECT_SLAB)
		return NULL;
	return o->cache ? o->cache : memtap_slab_cache(o->ptr);
}

/* --- it came ---------------------------------------------------------------- */

static bool task_passes(const struct memtap_object_visit *v)
{
	/* who was interrupted has nothing to do with it */
	if (v->irq || !v->s->filter_set)
		return true;
	if (memtap_filter_task(v->s->filter, current))
		return true;
	if (memtap_filter_own(v->s->filter))
		port_add64(&v->acc->own, 1);
	return false;
}

static u32 flags_of(const struct memtap_object_visit *v)
{
	const gfp_t gfp = v->o->gfp;
	u32 flags = MEMTAP_BLOCK_KERNEL;

	if (gfp & __GFP_RECLAIMABLE)
		flags |= MEMTAP_BLOCK_RECLAIMABLE;
	if (gfp & __GFP_MOVABLE)
		flags |= MEMTAP_BLOCK_MOVABLE;
	if (memtap_gfp_atomic(gfp))
		flags |= MEMTAP_BLOCK_ATOMIC;
	if (v->irq)
		flags |= MEMTAP_BLOCK_IRQ;
	return flags | v->event << EVENT_SHIFT;
}

static u32 task_of(const struct memtap_object_visit *v)
{
	u32 space, id;

	if (v->irq)
		return MEMTAP_TASK_NONE;
	id = memtap_tasks_current(v->s, v->s->cpus[smp_processor_id()], &space);
	if (unlikely(id == MEMTAP_TASK_LOST))
		port_add64(&v->acc->part[MEMTAP_PART_TASKS_FULL], 1);
	return id;
}

static u32 site_of(const struct memtap_object_visit *v)
{
	const u64 ip = v->o->call_site;
	struct memtap_object_site *at;
	u32 stack;

	at = &v->cpu->sites[(ip * 0x9e3779b97f4a7c15ULL >> 32) & (MEMTAP_OBJECT_SITES - 1)];
	if (likely(at->ip == ip))
		return at->stack;
	stack = memtap_record_call_site(v->s, v->acc, ip);
	if (stack >= MEMTAP_STACK_FIRST) {
		at->ip = ip;
		at->stack = stack;
	}
	return stack;
}

static u32 stack_of(const struct memtap_object_visit *v)
{
	const struct memtap_object_stacks *st = v->o->stacks;
	u32 i;

	if (!(v->s->flags & MEMTAP_CFG_KSTACK))
		return MEMTAP_STACK_NONE;
	if ((v->s->flags & MEMTAP_CFG_CALL_SITE) && v->o->call_site)
		return site_of(v);
	for (i = 0; st && i < MEMTAP_OBJECT_SESSIONS; i++)
		if (st->of[i].session == v->s && st->of[i].nr == v->s->nr)
			return st->of[i].stack;
	return memtap_record_kernel_stack(v->s, v->acc, v->sc, v->hit);
}

static bool is_from(const struct memtap_object_visit *v, u32 stack)
{
	const struct stackstore_entry *e;
	u32 i;

	if (stack < MEMTAP_STACK_FIRST)
		return false;
	e = stackstore_get(&v->s->stacks, stack);
	for (i = 0; i < e->nr; i++)
		if (e->ip[i] >= v->t->start && e->ip[i] < v->t->end)
			return true;
	return false;
}

static void replaced(const struct memtap_object_visit *v, const struct live *was)
{
	struct memtap_object_sums *sums = &v->cpu->sums[was->event];

	port_add64(&sums->replaced, 1);
	port_add64(&sums->replaced_bytes, was->size);
}

/* What is handed out and not kept: if its address is known, that is another object's. */
static void forget(const struct memtap_object_visit *v)
{
	struct live was;

	if (livetab_take(&v->t->table, space_of(v), (unsigned long)v->o->ptr, &was))
		replaced(v, &was);
}

/* Told of twice: the first time counts. */
static bool is_known(const struct memtap_object_visit *v)
{
	struct live is;

	return livetab_get(&v->t->table, space_of(v), (unsigned long)v->o->ptr, &is);
}

/* MEMTAP_CFG_TRACE: @addr was handed out, or @old is taken back. */
static noinline void trace(const struct memtap_object_visit *v, u64 addr, u64 size, u64 old,
			   u32 stack, u32 flags)
{
	const u64 args[] = { addr, size, old, v->irq ? flags | MEMTAP_CALL_IRQ : flags };
	struct memtap_one what;

	memset(&what, 0, sizeof(what));
	what.event = v->event;
	what.known = (1U << ARRAY_SIZE(args)) - 1;
	what.kstack = stack;
	what.task = MEMTAP_TASK_NONE;
	what.value = size;
	memtap_ring_put(v->s, &what, args, sizeof(args));
}

static void keep(const struct memtap_object_visit *v, u32 cache, u64 bytes, u32 stack)
{
	struct memtap_object_sums *sums = &v->cpu->sums[cache];
	struct live *b = &v->cpu->put, *was = &v->cpu->was;
	int how;

	b->addr = (unsigned long)v->o->ptr;
	b->size = bytes;
	b->space = space_of(v);
	b->ustack = stack;
	b->task = task_of(v);
	b->birth = memtap_now_as_birth(v->s);
	b->event = cache;
	b->flags = flags_of(v);
	if (v->o->kind == MEMTAP_OBJECT_PAGES && v->o->order)
		pagetab_may_cut(&v->t->pages, v->o->order);
	how = livetab_put(&v->t->table, b, was);
	if (unlikely(v->s->rings))
		trace(v, b->addr, bytes, 0, stack,
		      how == LIVETAB_FULL ? MEMTAP_CALL_SKIPPED : 0);
	if (unlikely(how == LIVETAB_FULL)) {
		port_add64(&v->acc->lost[MEMTAP_LOST_LIVE], 1);
		port_add64(&sums->lost, 1);
		port_add64(&sums->lost_bytes, bytes);
		return;
	}
	if (unlikely(how == LIVETAB_REPLACED))
		replaced(v, was);
	port_add64(&v->a->kept, 1);
	port_add64(&v->a->kept_bytes, bytes);
	port_add64(&v->acc->counted, 1);
}

static void filtered(const struct memtap_object_visit *v)
{
	forget(v);
	port_add64(&v->acc->filtered, 1);
}

/* Programs' pages, and those of files: by far the most, and seldom the question. */
static bool is_movable(const struct memtap_object_visit *v)
{
	return v->o->kind == MEMTAP_OBJECT_PAGES && (v->o->gfp & __GFP_MOVABLE) && !v->t->movable;
}

static void came(const struct memtap_object_visit *v)
{
	struct memtap_object_sums *sums;
	const void *cache;
	u64 bytes;
	u32 id, stack = MEMTAP_STACK_NONE;

	if (unlikely(!is_object(v->o->ptr))) {
		port_add64(&v->a->failed, 1);
		port_add64(&v->acc->counted, 1);
		return;
	}
	if (is_movable(v) || unlikely(READ_ONCE(v->s->marks.draining))) {
		filtered(v);
		return;
	}
	if (unlikely(v->o->again) && is_known(v)) {
		port_add64(&v->acc->counted, 1);
		return;
	}
	cache = cache_of(v->o);
	bytes = v->o->bytes ? v->o->bytes : cache ? memtap_slab_size(cache) : 0;
	id = cache_id(v, cache);
	if (!task_passes(v) || !v->t->caches.entries[id].passes ||
	    !filter_event(v->s->filter, 0, 1, (s64)bytes)) {
		filtered(v);
		return;
	}
	if (unlikely(v->t->end)) {
		stack = stack_of(v);
		if (!is_from(v, stack)) {
			filtered(v);
			return;
		}
	}
	sums = &v->cpu->sums[id];
	/* all CPUs read it: written, the line goes from one to the other */
	if (unlikely(READ_ONCE(v->t->caches.entries[id].size) != bytes))
		WRITE_ONCE(v->t->caches.entries[id].size, (u32)bytes);
	port_add64(&sums->allocs, 1);
	port_add64(&sums->bytes, bytes);
	if (v->o->gfp & __GFP_MOVABLE)
		port_add64(&sums->movable, 1);
	else if (v->o->gfp & __GFP_RECLAIMABLE)
		port_add64(&sums->reclaimable, 1);
	port_add64(&v->a->allocs, 1);
	port_add64(&v->a->bytes, bytes);
	if (v->t->sampling && !sampler_keeps(&v->t->sampler, &v->cpu->sampler, bytes)) {
		forget(v);
		port_add64(&v->acc->counted, 1);
		if (unlikely(v->s->rings))
			trace(v, (unsigned long)v->o->ptr, bytes, 0, stack, MEMTAP_CALL_SKIPPED);
		return;
	}
	keep(v, id, bytes, v->t->end ? stack : stack_of(v));
}

/* --- it goes ------------------------------------------------------------------- */

static void unknown(const struct memtap_object_visit *v)
{
	const void *cache = cache_of(v->o);
	const u32 id = cache_id(v, cache);
	struct memtap_object_sums *sums = &v->cpu->sums[id];

	port_add64(&v->a->unknown, 1);
	if (!v->t->caches.entries[id].passes)
		return;
	port_add64(&sums->unknown, 1);
	port_add64(&sums->unknown_bytes, cache ? memtap_slab_size(cache) : v->o->bytes);
}

/* A block became several parts: it went, and they came. */
static void was_cut(const struct memtap_object_visit *v, const struct pagetab_cut *cut)
{
	const u64 kept = cut->parts - cut->lost, kept_bytes = cut->was.size - cut->lost_bytes;
	struct memtap_object_sums *sums = &v->cpu->sums[cut->was.event];

	port_add64(&v->a->frees, 1);
	port_add64(&v->a->freed_bytes, cut->was.size);
	port_add64(&v->a->kept, kept);
	port_add64(&v->a->kept_bytes, kept_bytes);
	/* of its order it was one; what its parts are of is told when they go */
	port_add64(&sums->lost, cut->lost);
	port_add64(&sums->lost_bytes, cut->lost_bytes);
}

static noinline bool take_pages(const struct memtap_object_visit *v, struct live *b)
{
	struct pagetab_cut cut;
	int how = pagetab_take(&v->t->pages, (unsigned long)v->o->ptr, v->o->order, b, &cut);

	if (unlikely(how == PAGETAB_CUT))
		was_cut(v, &cut);
	return how != PAGETAB_UNKNOWN;
}

static __always_inline bool take(const struct memtap_object_visit *v, struct live *b)
{
	if (v->o->kind == MEMTAP_OBJECT_PAGES)
		return take_pages(v, b);
	return livetab_take(&v->t->table, space_of(v), (unsigned long)v->o->ptr, b);
}

static void goes(const struct memtap_object_visit *v)
{
	struct memtap_object_sums *sums;
	struct live *b = &v->cpu->was;

	port_add64(&v->acc->counted, 1);
	if (!is_object(v->o->ptr)) {
		port_add64(&v->a->null, 1);
		return;
	}
	if (!take(v, b)) {
		unknown(v);
		return;
	}
	if (unlikely(v->s->rings))
		trace(v, 0, b->size, (unsigned long)v->o->ptr, MEMTAP_STACK_NONE, 0);
	port_add64(&v->a->frees, 1);
	port_add64(&v->a->freed_bytes, b->size);
	sums = &v->cpu->sums[b->event];
	port_add64(&sums->frees, 1);
	port_add64(&sums->freed_bytes, b->size);
}

/* --- for all that follow objects ------------------------------------------------- */

static bool follows(const struct memtap_listener *l)
{
	return l->how == MEMTAP_FOLLOWS_OBJECTS && smp_load_acquire(&l->session->running);
}

/* In each session; @fn is known when this is compiled. */
static __always_inline void visit_all(struct memtap_source *src, struct memtap_scratch *sc,
				      const struct memtap_hit *hit, const struct memtap_object *o,
				      void (*fn)(const struct memtap_object_visit *v))
{
	const struct memtap_listeners *ls = rcu_dereference(src->listeners);
	u32 i;

	for (i = 0; ls && i < ls->nr; i++)
		if (follows(&ls->at[i]))
			fn(begin(&ls->at[i], sc, hit, o));
}

static __always_inline void tell(struct memtap_source *src, const struct memtap_hit *hit,
				 const struct memtap_object *o,
				 void (*fn)(const struct memtap_object_visit *v))
{
	unsigned long irqflags;
	struct memtap_scratch *sc = memtap_enter(&irqflags);

	if (unlikely(!sc)) {
		memtap_refuse(src, MEMTAP_FOLLOWS_OBJECTS);
		return;
	}
	rcu_read_lock();
	visit_all(src, sc, hit, o, fn);
	rcu_read_unlock();
	memtap_leave(sc, irqflags);
}

void memtap_object_came(struct memtap_source *src, const struct memtap_hit *hit,
			const struct memtap_object *o)
{
	tell(src, hit, o, came);
}

void memtap_object_goes(struct memtap_source *src, const struct memtap_hit *hit,
			const struct memtap_object *o)
{
	tell(src, hit, o, goes);
}

/* Some at a time: interrupts are off meanwhile. */
#define PIECE	32

static __always_inline void tell_all(struct memtap_source *src, const struct memtap_hit *hit,
				     struct memtap_object *o, void *const *ptrs, size_t nr,
				     void (*fn)(const struct memtap_object_visit *v))
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	size_t i = 0, end;

	while (i < nr) {
		end = i + min_t(size_t, nr - i, PIECE);
		sc = memtap_enter(&irqflags);
		rcu_read_lock();
		for (; i < end; i++) {
			o->ptr = ptrs[i];
			if (likely(sc))
				visit_all(src, sc, hit, o, fn);
			else
				memtap_refuse(src, MEMTAP_FOLLOWS_OBJECTS);
		}
		rcu_read_unlock();
		if (likely(sc))
			memtap_leave(sc, irqflags);
	}
}

void memtap_objects_came(struct memtap_source *src, const struct memtap_hit *hit,
			 struct memtap_object *o, void *const *ptrs, size_t nr)
{
	tell_all(src, hit, o, ptrs, nr, came);
}

void memtap_objects_go(struct memtap_source *src, const struct memtap_hit *hit,
		       struct memtap_object *o, void *const *ptrs, size_t nr)
{
	tell_all(src, hit, o, ptrs, nr, goes);
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
	rcu_read_lock();
	ls = rcu_dereference(src->listeners);
	for (i = 0; ls && i < ls->nr && nr < MEMTAP_OBJECT_SESSIONS; i++) {
		s = ls->at[i].session;
		if (!follows(&ls->at[i]) || !(s->flags & MEMTAP_CFG_KSTACK))
			continue;
		stacks->of[nr].session = s;
		stacks->of[nr].nr = s->nr;
		acc = &s->cpus[smp_processor_id()]->account[ls->at[i].event];
		stacks->of[nr++].stack = memtap_record_kernel_stack(s, acc, sc, hit);
	}
	rcu_read_unlock();
	memtap_leave(sc, irqflags);
}
