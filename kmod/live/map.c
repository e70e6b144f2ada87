// SPDX-License-Identifier: GPL-2.0-only
/*
 * Track anonymous mappings as blocks: allocated by mmap() and mremap(), in the program or in an
 * allocator; freed by munmap(), by another mapping in the same place, or at exit.
 */
#include <linux/mm.h>

#include "live/live.h"
#include "record/filter.h"
#include "record/record.h"
#include "record/recording.h"

#include "compat/user_regs.h"

struct map_visit {
	struct memtap_session *s;
	struct memtap_heap *h;
	struct memtap_heap_thread *th;
	struct memtap_heap_account *a;
	struct memtap_account *acc;
	u32 event;
};

static bool begin(struct map_visit *v, struct memtap_session *s, u32 event)
{
	u32 cpu = smp_processor_id();

	if (!memtap_heap_passes(s))
		return false;
	v->s = s;
	v->h = s->heap;
	v->event = event;
	v->acc = &s->cpus[cpu]->events[event].account;
	v->a = &s->heap->cpus[cpu]->account[event];
	v->th = memtap_heap_thread(s, s->heap->cpus[cpu]);
	return v->th;
}

/*
 * What of the mappings that are kept may be written to.  @gone: bytes of them that went,
 * of both kinds, writable or not: where it were both, the program's come first.
 */
static void note_writable(const struct map_visit *v, const struct memtap_map_call *m,
			  bool inner, u64 gone_own, u64 gone_inner)
{
	struct memtap_heap_space *sp = memtap_heap_space_of(v->h, v->th->space);
	s64 own = min_t(s64, m->gone, (s64)gone_own);

	sp->writable[inner] += m->came;
	sp->writable[0] -= own;
	sp->writable[1] -= min_t(s64, m->gone - own, (s64)gone_inner);
}

static void account_gone(const struct map_visit *v, const struct mapset_gone *g)
{
	port_add64(&v->a->frees, g->ranges[0] + g->ranges[1]);
	port_add64(&v->a->freed_bytes, g->bytes[0] + g->bytes[1]);
	if (g->lost) {
		port_add64(&v->acc->lost[MEMTAP_LOST_LIVE], 1);
		port_add64(&v->acc->seen, 1);
		v->h->exact = false;
	}
}

/* What munmap() is to take away goes before it is free for others. */
static void entry_of(struct memtap_session *s, u32 event, const struct memtap_map_call *m)
{
	const struct mapping *at;
	struct mapset_gone gone;
	struct map_visit v;

	if (!begin(&v, s, event))
		return;
	memset(&gone, 0, sizeof(gone));
	raw_spin_lock(&v.h->lock);
	v.th->map_start = 0;
	if (m->op == MEMTAP_MAP_REMOVE) {
		mapset_remove(&v.h->maps, v.th->space, m->start, m->end,
			      MEMTAP_BLOCK_INNER, &gone);
		if (gone.bytes[0] + gone.bytes[1])
			v.th->map_start = m->start;
		v.th->map_own = gone.bytes[0];
		v.th->map_inner = gone.bytes[1];
	} else {
		/* it may fail, and often does: so only remember what there is */
		at = mapset_at(&v.h->maps, v.th->space, m->from);
		if (at && at->start < m->from_end) {
			v.th->map_start = at->start;
			v.th->map_birth = at->birth;
			v.th->map_ustack = at->ustack;
		}
	}
	raw_spin_unlock(&v.h->lock);
	account_gone(&v, &gone);
}

static bool in_allocator(const struct memtap_heap_thread *th)
{
	struct memtap_uregs u;

	return th->sp && memtap_user_regs(&u, NULL) && memtap_heap_inside(th, u.sp);
}

static void fill(const struct map_visit *v, const struct memtap_map_call *m,
		 struct mapping *new)
{
	memset(new, 0, sizeof(*new));
	new->start = m->start;
	new->end = m->end;
	new->space = v->th->space;
	new->task = v->th->task_id;
	new->event = v->event;
	new->birth = memtap_heap_now(v->h);
	if (unlikely(READ_ONCE(v->s->marks.draining)) && m->op == MEMTAP_MAP_MOVE &&
	    v->th->map_start)
		new->birth = v->th->map_birth;		/* the mapping that it was */
	new->flags = MEMTAP_BLOCK_MAPPING;
}

static void handed_out(const struct map_visit *v, u64 bytes, bool kept)
{
	if (!kept) {
		port_add64(&v->acc->lost[MEMTAP_LOST_LIVE], 1);
		v->h->exact = false;
		return;
	}
	port_add64(&v->a->allocs, 1);
	port_add64(&v->a->bytes, bytes);
	port_add64(&v->a->kept, 1);
	port_add64(&v->a->kept_bytes, bytes);
	port_add64(&v->acc->counted, 1);
}

/* Does what mremap() moved still stand where it was?  Under the lock. */
static bool is_there(const struct map_visit *v, const struct memtap_map_call *m)
{
	const struct mapping *at;

	at = mapset_at(&v->h->maps, v->th->space, m->from);
	return v->th->map_start && at &&
	       at->start == v->th->map_start && at->birth == v->th->map_birth &&
	       at->ustack == v->th->map_ustack;
}

/*
 * Not one of a file, or that was mapped before we were here.  What mremap() has moved
 * was followed if it was at the entry; another thread may have mapped something in its
 * old place since.
 */
static bool is_followed(const struct map_visit *v, const struct memtap_map_call *m)
{
	return m->op == MEMTAP_MAP_MOVE ? v->th->map_start != 0 : m->anonymous;
}

static void change(const struct map_visit *v, const struct memtap_map_call *m,
		   const struct mapping *new, bool follow, struct mapset_gone *gone,
		   bool *kept)
{
	struct memtap_map_call done = *m;

	if (!follow)
		done.came = 0;
	raw_spin_lock(&v->h->lock);
	if (m->op == MEMTAP_MAP_MOVE && !m->keep && is_there(v, m))
		mapset_remove(&v->h->maps, v->th->space, m->from, m->from_end,
			      MEMTAP_BLOCK_INNER, gone);
	if (follow)
		*kept = mapset_add(&v->h->maps, new, MEMTAP_BLOCK_INNER, gone);
	else	/* whatever was there, it is another thing now */
		mapset_remove(&v->h->maps, v->th->space, m->start, m->end,
			      MEMTAP_BLOCK_INNER, gone);
	note_writable(v, &done, new->flags & MEMTAP_BLOCK_INNER, gone->bytes[0],
		      gone->bytes[1]);
	raw_spin_unlock(&v->h->lock);
}

/*
 * Address space that becomes memory, or the other way round.  An arena that was there before the
 * session grows so, too: it is not followed, but what an allocator makes of it is counted.
 */
static void on_protect(const struct map_visit *v, const struct memtap_map_call *m)
{
	struct memtap_heap_space *sp = &v->h->spaces[v->th->space];
	const bool inside = in_allocator(v->th);
	const struct mapping *at;

	raw_spin_lock(&v->h->lock);
	at = mapset_at(&v->h->maps, v->th->space, m->start);
	if (at && at->start < m->end) {
		note_writable(v, m, at->flags & MEMTAP_BLOCK_INNER, 0, 0);
	} else if (inside) {
		sp->earlier_came += m->came;
		sp->earlier_gone += m->gone;
	}
	raw_spin_unlock(&v->h->lock);
}

static void on_remove(const struct map_visit *v, const struct memtap_map_call *m)
{
	raw_spin_lock(&v->h->lock);
	note_writable(v, m, false, v->th->map_own, v->th->map_inner);
	raw_spin_unlock(&v->h->lock);
}

static void on_change(const struct map_visit *v, const struct memtap_map_call *m,
		      struct memtap_scratch *sc)
{
	u64 bytes = m->end - m->start;
	struct mapset_gone gone;
	struct mapping new;
	bool kept = false, follow = is_followed(v, m);

	if (!bytes) {
		port_add64(&v->acc->filtered, 1);
		return;
	}
	fill(v, m, &new);
	if (in_allocator(v->th)) {
		new.flags |= MEMTAP_BLOCK_INNER;
	} else {
		follow = follow && (!v->h->filtering ||
				    filter_event(v->s->filter, 1, 1, (s64)bytes));
		if (follow)
			new.ustack = memtap_record_user_stack(v->s, v->acc, sc, NULL, false,
							      v->th->task_space);
	}
	memset(&gone, 0, sizeof(gone));
	change(v, m, &new, follow, &gone, &kept);
	if (follow)
		handed_out(v, bytes, kept);
	else
		port_add64(&v->acc->filtered, 1);
	account_gone(v, &gone);
}

/*
 * A munmap() that the kernel refuses though nothing is wrong with its arguments (too
 * many mappings, a sealed one): what it was to take away is there, and not known.
 */
static void failed(const struct map_visit *v, enum memtap_map_op op)
{
	port_add64(&v->a->failed, 1);
	if (op == MEMTAP_MAP_REMOVE && v->th->map_start) {
		port_add64(&v->acc->lost[MEMTAP_LOST_LIVE], 1);
		v->h->exact = false;
	} else {
		port_add64(&v->acc->counted, 1);
	}
}

static void return_of(struct memtap_session *s, u32 event, const struct memtap_map_call *m,
		      bool fails, struct memtap_scratch *sc)
{
	u32 cpu = smp_processor_id();
	struct memtap_account *acc = &s->cpus[cpu]->events[event].account;
	struct map_visit v;

	port_add64(&acc->seen, 1);
	if (!memtap_heap_passes(s)) {
		port_add64(&acc->filtered, 1);
		if (memtap_filter_own(s->filter))
			port_add64(&acc->own, 1);
		return;
	}
	if (!begin(&v, s, event)) {
		port_add64(&acc->lost[s->heap->cpus[cpu]->no_slot], 1);
		s->heap->exact = false;
		return;
	}
	if (m->op == MEMTAP_MAP_PROTECT)	/* it may have failed half way */
		on_protect(&v, m);
	else if (!fails && m->op == MEMTAP_MAP_REMOVE)
		on_remove(&v, m);
	if (fails)
		failed(&v, m->op);
	else if (m->op == MEMTAP_MAP_REMOVE || m->op == MEMTAP_MAP_PROTECT)
		port_add64(&acc->counted, 1);
	else
		on_change(&v, m, sc);
}

/* --- for all that follow mappings ------------------------------------------ */

static bool follows(const struct memtap_listener *l)
{
	return l->how == MEMTAP_FOLLOWS_MAPS && smp_load_acquire(&l->session->running);
}

/* Refused, it is in the middle of recording: memtap_hit() says so for all. */
void memtap_heap_map_entry(const struct memtap_source *src, const struct memtap_map_call *m)
{
	const struct memtap_listeners *ls;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 i;

	sc = memtap_enter(&irqflags);
	if (unlikely(!sc))
		return;
	rcu_read_lock();
	ls = rcu_dereference(src->listeners);
	for (i = 0; ls && i < ls->nr; i++)
		if (follows(&ls->at[i]))
			entry_of(ls->at[i].session, ls->at[i].event, m);
	rcu_read_unlock();
	memtap_leave(sc, irqflags);
}

void memtap_heap_map_return(const struct memtap_source *src, const struct memtap_map_call *m,
			    bool failed)
{
	const struct memtap_listeners *ls;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 i;

	sc = memtap_enter(&irqflags);
	if (unlikely(!sc))
		return;
	rcu_read_lock();
	ls = rcu_dereference(src->listeners);
	for (i = 0; ls && i < ls->nr; i++)
		if (follows(&ls->at[i]))
			return_of(ls->at[i].session, ls->at[i].event, m, failed, sc);
	rcu_read_unlock();
	memtap_leave(sc, irqflags);
}
