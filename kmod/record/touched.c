// SPDX-License-Identifier: GPL-2.0-only
/* Attribute the resident pages of address spaces to page faults. */
#include <linux/cpumask.h>
#include <linux/random.h>

#include "core/touchtab.h"
#include "core/wire.h"
#include "record/filter.h"
#include "record/guard.h"
#include "record/recording.h"
#include "record/tasks.h"
#include "record/touched.h"

#include "compat/valloc.h"

#define PLACES_MAX	64U	/* in a record */

u64 memtap_touched_layout(u64 bytes)
{
	u32 per_shard, heads, shards;

	return touchtab_layout(bytes, num_possible_cpus(), &per_shard, &heads, &shards) +
	       sizeof(struct touchtab);
}

/* Nothing of an address space that is gone is asked for: its pages are, too. */
static int is_gone(const void *ctx, u32 space)
{
	const struct memtap_tasks *t = ctx;

	return space < t->nr && (READ_ONCE(t->slots[space].flags) & MEMTAP_TASK_EXITED);
}

int memtap_touched_init(struct memtap_session *s)
{
	struct touchtab *t = memtap_vzalloc(sizeof(*t));
	u32 per_shard, nr_heads, nr_shards, seed;
	struct touchtab_shard *shards;
	struct touch *slots;
	u32 *heads;

	if (!t)
		return -ENOMEM;
	s->touched = t;
	get_random_bytes(&seed, sizeof(seed));
	touchtab_layout(s->mem_live, num_possible_cpus(), &per_shard, &nr_heads, &nr_shards);
	slots = memtap_vzalloc(touchtab_slots(per_shard, nr_shards) * sizeof(*slots));
	heads = memtap_vzalloc(nr_heads * sizeof(*heads));
	shards = memtap_vzalloc(nr_shards * sizeof(*shards));
	t->slots = slots;
	t->heads = heads;
	t->shards = shards;
	if (!slots || !heads || !shards)
		return -ENOMEM;
	touchtab_init(t, slots, per_shard, heads, nr_heads, shards, nr_shards, seed);
	t->is_gone = is_gone;
	t->ctx = &s->tasks;
	atomic64_set(&s->moved, 0);
	atomic64_set(&s->unmoved, 0);
	return 0;
}

void memtap_touched_free(struct memtap_session *s)
{
	struct touchtab *t = s->touched;

	if (!t)
		return;
	memtap_vfree(t->slots);
	memtap_vfree(t->heads);
	memtap_vfree(t->shards);
	memtap_vfree(t);
	s->touched = NULL;
}

void memtap_touch(struct memtap_session *s, struct touchtab_hint *hint, u32 space,
		  const struct memtap_touched_pages *p, u32 who)
{
	const u32 how = p->keep ? TOUCHTAB_KEEP : 0;

	if (unlikely(!space))
		return;
	/* what most faults map */
	if (likely(p->mask == 1 && !p->huge && !how))
		touchtab_put_one(s->touched, hint, space, p->first, who);
	else if (p->huge)
		touchtab_put_huge(s->touched, space, p->first, who, how);
	else
		touchtab_put(s->touched, space, p->first, p->mask, who, how);
}

/* --- moves ------------------------------------------------------------------ */

/* Some at a time, interrupts are off meanwhile; and what one call moves at most: 1 GiB. */
#define MOVE_PIECE	32U
#define MOVE_PIECES	512U

/* The address space, where the filter lets it through; or 0. */
static u32 space_of_current(struct memtap_session *s, u32 event)
{
	struct memtap_session_cpu *c = s->cpus[smp_processor_id()];
	struct memtap_account *acc = &c->events[event].account;
	u32 space;

	port_add64(&acc->seen, 1);
	if (s->filter_set && !memtap_filter_task(s->filter, current)) {
		port_add64(&acc->filtered, 1);
		if (memtap_filter_own(s->filter))
			port_add64(&acc->own, 1);
		return 0;
	}
	port_add64(&acc->counted, 1);
	memtap_tasks_current(s, c, &space);
	return space;
}

/* One piece in all sessions; @first: what is counted. */
static u64 move_piece(const struct memtap_source *src, u64 from, u64 to, u64 nr, bool first)
{
	const struct memtap_listeners *ls;
	struct memtap_session *s;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u64 done = 0;
	u32 i, space;

	sc = memtap_enter(&irqflags);
	if (unlikely(!sc))
		return 0;
	rcu_read_lock();
	ls = rcu_dereference(src->listeners);
	for (i = 0; ls && i < ls->nr; i++) {
		s = ls->at[i].session;
		if (ls->at[i].how != MEMTAP_FOLLOWS_MOVES || !smp_load_acquire(&s->running))
			continue;
		if (first)
			space = space_of_current(s, ls->at[i].event);
		else if (s->filter_set && !memtap_filter_task(s->filter, current))
			continue;
		else
			memtap_tasks_current(s, s->cpus[smp_processor_id()], &space);
		if (!space || !nr)
			continue;
		/* how many there are in a piece is not up to the table */
		done = touchtab_move(s->touched, space, from, to, nr, MOVE_PIECE);
		atomic64_add(done, &s->moved);
	}
	rcu_read_unlock();
	memtap_leave(sc, irqflags);
	return done;
}

static void not_moved(const struct memtap_source *src, u64 nr)
{
	const struct memtap_listeners *ls;
	u32 i;

	rcu_read_lock();
	ls = rcu_dereference(src->listeners);
	for (i = 0; ls && i < ls->nr; i++)
		if (ls->at[i].how == MEMTAP_FOLLOWS_MOVES)
			atomic64_add(nr, &ls->at[i].session->unmoved);
	rcu_read_unlock();
}

void memtap_touched_moved(const struct memtap_source *src, u64 from, u64 to, u64 pages)
{
	u64 done = 0, n;
	u32 i;

	for (i = 0; i < MOVE_PIECES; i++) {
		n = move_piece(src, from + done, to + done, pages - done, !i);
		done += n;
		if (!n || done == pages)
			return;
	}
	not_moved(src, pages - done);
}

/* --- records ---------------------------------------------------------------- */

static bool read_slot(struct touchtab *t, u32 slot, struct touch *out)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	bool is;

	if (!READ_ONCE(t->slots[slot].space))
		return false;
	sc = memtap_enter(&irqflags);
	if (!sc)
		return false;
	is = touchtab_read(t, slot, out);
	memtap_leave(sc, irqflags);
	return is;
}

static void write_place(struct memtap_place *to, const struct touch *from)
{
	u32 i;

	BUILD_BUG_ON(MEMTAP_PLACE_PAGES != TOUCHTAB_PAGES);
	BUILD_BUG_ON(MEMTAP_REGION_PAGES != TOUCHTAB_REGION);
	to->page = from->place / 2 * TOUCHTAB_PAGES;
	to->huge = from->place & 1;
	to->space = from->space;
	for (i = 0; i < MEMTAP_PLACE_PAGES; i++)
		to->who[i] = from->who[i];
}

void *memtap_touched_put(struct memtap_session *s, u32 *pos, void *buf, u32 room)
{
	struct touchtab *t = s->touched;
	const u32 nr = touchtab_slots(t->per_shard, t->nr_shards);
	struct memtap_rec_touched *r;
	struct touch touch;

	r = wire_begin(buf, room, MEMTAP_REC_TOUCHED,
		       sizeof(*r) + PLACES_MAX * sizeof(r->at[0]));
	if (!r)
		return NULL;
	while (++*pos < nr && r->nr < PLACES_MAX)
		if (read_slot(t, *pos, &touch))
			write_place(&r->at[r->nr++], &touch);
	--*pos;
	if (!r->nr)
		return NULL;
	r->rec.len = sizeof(*r) + r->nr * sizeof(r->at[0]);
	return r;
}

void *memtap_touched_put_sum(struct memtap_session *s, void *buf, u32 room)
{
	const struct touchtab *t = s->touched;
	struct memtap_rec_touched_sum *r;
	u32 used;

	r = wire_begin(buf, room, MEMTAP_REC_TOUCHED_SUM, sizeof(*r));
	touchtab_sum(t, &used, &r->refused, &r->skipped);
	r->seed = t->seed;
	r->share = READ_ONCE(t->share);
	r->size = (u64)t->per_shard * t->nr_shards;
	r->used = used;
	r->moved = atomic64_read(&s->moved);
	r->unmoved = atomic64_read(&s->unmoved);
	return r;
}
