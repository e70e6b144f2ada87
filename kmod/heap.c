// SPDX-License-Identifier: GPL-2.0-only
/* A session's table of live blocks: how it is made, and what serves it. */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "arch.h"
#include "heap.h"
#include "record.h"
#include "session.h"

/* How mem_live is divided. */
struct shares {
	u64 blocks, maps;		/* bytes */
	u32 threads, spaces, recents;	/* how many: powers of two but spaces */
};

static void divide(u64 bytes, struct shares *sh)
{
	u64 n;

	sh->maps = bytes / 16;
	n = div_u64(bytes / 16, sizeof(struct memtap_heap_thread));
	sh->threads = 1U << clamp_t(int, fls64(n) - 1, 8, 16);
	n = div_u64(bytes / 32, sizeof(struct memtap_heap_space));
	sh->spaces = clamp_t(u64, n, 64, 1 << 16);
	n = div_u64(bytes / 16, sizeof(struct recent));
	sh->recents = 1U << clamp_t(int, fls64(n) - 1, 6, 14);
	sh->blocks = bytes - bytes / 32 * 7;
}

static u64 cpu_bytes(void)
{
	return sizeof(struct memtap_heap_cpu);
}

u64 memtap_heap_layout(u64 bytes, bool trace)
{
	u32 nr, heads, shards;
	struct shares sh;

	divide(bytes, &sh);
	return livetab_layout(sh.blocks, num_possible_cpus(), &nr, &heads, &shards) +
	       sh.maps + sh.threads * sizeof(struct memtap_heap_thread) +
	       sh.spaces * sizeof(struct memtap_heap_space) +
	       sh.recents * sizeof(struct recent) +
	       HEAP_MISMATCHES * sizeof(struct memtap_heap_mismatch) +
	       (trace ? HEAP_RING * sizeof(struct memtap_call) : 0) +
	       num_possible_cpus() * cpu_bytes() + sizeof(struct memtap_heap);
}

static int make_table(struct memtap_heap *h, u64 bytes, u32 seed)
{
	u32 nr, nr_heads, nr_shards;
	struct livetab_shard *shards;
	struct live *slots;
	u32 *heads;

	livetab_layout(bytes, num_possible_cpus(), &nr, &nr_heads, &nr_shards);
	slots = vzalloc(nr * sizeof(*slots));
	heads = vzalloc(nr_heads * sizeof(*heads));
	shards = vzalloc(nr_shards * sizeof(*shards));
	h->table.slots = slots;
	h->table.heads = heads;
	h->table.shards = shards;
	if (!slots || !heads || !shards)
		return -ENOMEM;
	livetab_init(&h->table, slots, nr, heads, nr_heads, shards, nr_shards, seed);
	return 0;
}

static int make_cpus(struct memtap_session *s)
{
	struct memtap_heap *h = s->heap;
	int cpu;

	h->cpus = kcalloc(nr_cpu_ids, sizeof(*h->cpus), GFP_KERNEL);
	if (!h->cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		h->cpus[cpu] = vzalloc_node(cpu_bytes(), cpu_to_node(cpu));
		if (!h->cpus[cpu])
			return -ENOMEM;
		h->cpus[cpu]->s = s;
		h->cpus[cpu]->h = h;
		h->cpus[cpu]->accounts = s->cpus[cpu]->account;
	}
	return 0;
}

static int make_rest(struct memtap_heap *h, const struct shares *sh, u32 seed, bool trace)
{
	u32 nr_maps = div_u64(sh->maps, sizeof(struct mapping));
	struct mapping *nodes = vzalloc(nr_maps * sizeof(*nodes));
	struct recent *recents = vzalloc(sh->recents * sizeof(*recents));

	h->maps.nodes = nodes;
	h->recents.slots = recents;
	h->threads = vzalloc(sh->threads * sizeof(*h->threads));
	h->spaces = vzalloc(sh->spaces * sizeof(*h->spaces));
	h->mismatches = vzalloc(HEAP_MISMATCHES * sizeof(*h->mismatches));
	if (trace)
		h->ring.at = vzalloc(HEAP_RING * sizeof(*h->ring.at));
	if (!nodes || !recents || !h->threads || !h->spaces || !h->mismatches ||
	    (trace && !h->ring.at))
		return -ENOMEM;
	mapset_init(&h->maps, nodes, nr_maps, seed);
	recents_init(&h->recents, recents, sh->recents, seed);
	h->ring.mask = HEAP_RING - 1;
	h->nr_threads = sh->threads;
	h->nr_spaces = sh->spaces;
	h->used_spaces = 1;
	return 0;
}

int memtap_heap_init(struct memtap_session *s)
{
	struct memtap_heap *h = s->heap;
	struct shares sh;
	u32 seed;
	int err;

	get_random_bytes(&seed, sizeof(seed));
	get_random_bytes(&h->seed, sizeof(h->seed));
	h->exact = true;
	h->start = jiffies;
	divide(s->mem_live, &sh);
	err = make_table(h, sh.blocks, seed);
	if (!err)
		err = make_cpus(s);
	if (!err)
		err = make_rest(h, &sh, seed, s->flags & MEMTAP_CFG_TRACE);
	return err;
}

int memtap_heap_new(struct memtap_session *s, const struct memtap_config *c)
{
	struct memtap_heap *h;

	if (!s->heap) {
		h = vzalloc(sizeof(*h));
		if (!h)
			return -ENOMEM;
		h->session = s;
		raw_spin_lock_init(&h->lock);
		raw_spin_lock_init(&h->ring.lock);
		INIT_LIST_HEAD(&h->probes);
		init_irq_work(&h->kick, memtap_heap_kick);
		INIT_WORK(&h->work, memtap_heap_purge);
		s->heap = h;
	}
	h = s->heap;
	h->sampler.bytes = c->sample_bytes;
	h->sampler.rate = c->sample_rate;
	h->sampling = c->sample_bytes || c->sample_rate > 1;
	h->filtering = c->min_size || c->max_size;
	h->renamed = s->filter->nr_comms || s->filter->nr_cgroups;
	return 0;
}

void memtap_heap_stop(struct memtap_session *s)
{
	struct memtap_heap *h = s->heap;

	irq_work_sync(&h->kick);
	cancel_work_sync(&h->work);
	memtap_heap_settle(h);
	memtap_heap_purge(&h->work);
	memtap_heap_measure(h);
}

/* What memtap_heap_init() made: START may be tried again. */
void memtap_heap_empty(struct memtap_session *s)
{
	struct memtap_heap *h = s->heap;
	u32 i;

	for (i = 1; h->spaces && i < h->used_spaces; i++)
		if (h->spaces[i].mm)
			mmdrop(h->spaces[i].mm);
	for (i = 0; h->cpus && i < nr_cpu_ids; i++)
		vfree(h->cpus[i]);
	kfree(h->cpus);
	vfree(h->table.slots);
	vfree(h->table.heads);
	vfree(h->table.shards);
	vfree(h->maps.nodes);
	vfree(h->recents.slots);
	vfree(h->threads);
	vfree(h->spaces);
	vfree(h->mismatches);
	vfree(h->ring.at);
	h->cpus = NULL;
	h->table.slots = NULL;
	h->table.heads = NULL;
	h->table.shards = NULL;
	h->maps.nodes = NULL;
	h->recents.slots = NULL;
	h->threads = NULL;
	h->spaces = NULL;
	h->mismatches = NULL;
	h->ring.at = NULL;
	memset(h->heads, 0, sizeof(h->heads));
}

/* No probe is attached any more. */
void memtap_heap_free(struct memtap_session *s)
{
	struct memtap_heap_hook *hh, *next;

	if (!s->heap)
		return;
	list_for_each_entry_safe(hh, next, &s->heap->probes, node)
		kfree(hh);
	memtap_heap_empty(s);
	vfree(s->heap);
	s->heap = NULL;
}

/* --- accounts -------------------------------------------------------------- */

void memtap_heap_sum(struct memtap_heap *h, u32 event, struct memtap_heap_account *sum)
{
	const u64 *from;
	u64 *to = (u64 *)sum;
	u32 i;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		from = (const u64 *)&h->cpus[cpu]->account[event];
		for (i = 0; i < sizeof(*sum) / sizeof(u64); i++)
			to[i] += READ_ONCE(from[i]);
	}
}

void memtap_heap_memory(struct memtap_heap *h, struct memtap_rec_memory *r)
{
	u32 used = livetab_used(&h->table);

	h->live_most = max(h->live_most, used);
	r->live_size = h->table.nr - 1;
	r->live_used = h->live_most;
	r->live_maps_size = h->maps.nr - 1;
	r->live_maps_used = READ_ONCE(h->maps.most);
	r->threads_size = h->nr_threads;
	r->threads_used = READ_ONCE(h->used_threads);
	r->spaces_lost = READ_ONCE(h->spaces_lost);
	r->mismatches_lost = READ_ONCE(h->mismatches_lost);
	r->trace_lost = READ_ONCE(h->ring.lost);
}

/* --- probes ---------------------------------------------------------------- */

/* Which arguments an op has, and may have. */
#define HAS_SIZE	(1U << 0)
#define HAS_PTR		(1U << 1)
#define MAY_PTR		(1U << 2)

static const u8 shapes[MEMTAP_NR_HEAP] = {
	[MEMTAP_HEAP_ALLOC] = HAS_SIZE,
	[MEMTAP_HEAP_FREE] = HAS_PTR,
	[MEMTAP_HEAP_REALLOC] = HAS_SIZE | HAS_PTR,
	[MEMTAP_HEAP_ENTER] = MAY_PTR,
	[MEMTAP_HEAP_UNWIND] = 0,
};

static bool is_arg(u32 arg)
{
	return arg <= MEMTAP_ARG_MAX;
}

static bool fits(u32 arg, bool has, bool may)
{
	return is_arg(arg) ? has || may : arg == MEMTAP_ARG_NONE && !has;
}

int memtap_heap_check(const struct memtap_session *s, const struct memtap_attach *a)
{
	u32 shape;

	if (!s->heap)
		return -EBUSY;
	if (!a->op || a->op >= MEMTAP_NR_HEAP || a->family > 255 || a->ref_ctr ||
	    (a->flags & ~MEMTAP_ATTACH_FREE_STACK) || a->moved >= 65536 || a->reserved ||
	    (a->moved && a->op != MEMTAP_HEAP_FREE))
		return -EINVAL;
	shape = shapes[a->op];
	if (!fits(a->size_arg, shape & HAS_SIZE, false) ||
	    !fits(a->size2_arg, false, shape & HAS_SIZE) ||
	    !fits(a->ptr_arg, shape & HAS_PTR, shape & MAY_PTR))
		return -EINVAL;
	if (a->result_arg == MEMTAP_ARG_RETURN ? !(shape & HAS_SIZE) :
	    !fits(a->result_arg, shape & HAS_SIZE, false))
		return -EINVAL;
	return s->heap->nr_probes < HEAP_MAX_PROBES ? 0 : -ENOSPC;
}

void memtap_heap_probe(struct memtap_heap_probe *p, struct memtap_session *s,
		       const struct memtap_attach *a)
{
	p->session = s;
	p->event = a->event;
	p->op = a->op;
	p->size_arg = a->size_arg;
	p->size2_arg = a->size2_arg;
	p->ptr_arg = a->ptr_arg;
	p->result_arg = a->result_arg;
	p->has_size2 = is_arg(a->size2_arg);
	p->has_ptr = is_arg(a->ptr_arg);
	p->size_at = is_arg(a->size_arg) ? memtap_arg_place(a->size_arg) : 0;
	p->size2_at = p->has_size2 ? memtap_arg_place(a->size2_arg) : 0;
	p->ptr_at = p->has_ptr ? memtap_arg_place(a->ptr_arg) : 0;
	p->moved = a->moved;
	p->free_stack = a->flags & MEMTAP_ATTACH_FREE_STACK;
	/* from now on what is freed may be wanted again */
	if (p->free_stack)
		s->heap->remembering = true;
}

int memtap_heap_attached(struct memtap_session *s, struct memtap_hook *hook, u32 event)
{
	struct memtap_heap *h = s->heap;
	struct memtap_heap_hook *hh = kzalloc(sizeof(*hh), GFP_KERNEL);

	if (!hh)
		return -ENOMEM;
	hh->hook = hook;
	hh->event = event;
	list_add_tail(&hh->node, &h->probes);
	h->nr_probes++;
	h->events[event].probes++;
	return 0;
}

struct memtap_hook *memtap_heap_last(struct memtap_session *s)
{
	return list_last_entry(&s->heap->probes, struct memtap_heap_hook, node)->hook;
}

u32 memtap_heap_detached(struct memtap_session *s)
{
	struct memtap_heap *h = s->heap;
	struct memtap_heap_hook *hh;
	u32 left;

	hh = list_last_entry(&h->probes, struct memtap_heap_hook, node);
	left = --h->events[hh->event].probes;
	h->nr_probes--;
	list_del(&hh->node);
	kfree(hh);
	return left;
}

/*
 * The functions of a file that nobody waits with were perhaps called already:
 * what they handed out may be freed, and is no mistake.
 */
void memtap_heap_late(struct memtap_session *s)
{
	struct memtap_heap *h = s->heap;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 id;

	if (READ_ONCE(s->holds.nr))
		return;
	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&h->lock);
	for (id = 1; id < h->used_spaces; id++)
		h->spaces[id].flags &= ~MEMTAP_SPACE_START;
	raw_spin_unlock(&h->lock);
	memtap_leave(sc, irqflags);
}

void memtap_heap_keep_hooks(struct memtap_session *s)
{
	struct memtap_heap_hook *hh;

	list_for_each_entry(hh, &s->heap->probes, node)
		if (hh->hook)
			memtap_hook_describe(hh->hook, &hh->kept);
}

void memtap_heap_leave_hooks(struct memtap_session *s)
{
	struct memtap_heap_hook *hh;

	list_for_each_entry(hh, &s->heap->probes, node)
		if (hh->hook)
			memtap_hook_leave(hh->hook, s);
}

void memtap_heap_withdraw_hooks(struct memtap_session *s)
{
	struct memtap_heap_hook *hh;

	list_for_each_entry(hh, &s->heap->probes, node)
		if (hh->hook)
			memtap_generic_withdraw(hh->hook);
}

void memtap_heap_put_hooks(struct memtap_session *s)
{
	struct memtap_heap_hook *hh;

	list_for_each_entry(hh, &s->heap->probes, node) {
		if (hh->hook)
			memtap_generic_put(hh->hook);
		hh->hook = NULL;
	}
}
