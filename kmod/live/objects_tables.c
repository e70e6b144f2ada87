// SPDX-License-Identifier: GPL-2.0-only
/* Allocate, free and sum up a session's tables of kernel objects. */
#include <linux/cpumask.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "live/objects.h"

#include "compat/slab.h"
#include "compat/valloc.h"

int memtap_objects_new(struct memtap_session *s, const struct memtap_config *c)
{
	struct memtap_objects_table *t = s->objects;

	if (!t)
		t = memtap_vzalloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	s->objects = t;
	t->sampler.bytes = c->sample_bytes;
	t->sampler.rate = c->sample_rate;
	t->sampling = c->sample_bytes || c->sample_rate > 1;
	t->start = 0;
	t->end = 0;
	t->movable = false;
	t->caches.orders = 0;
	t->caches.pattern[0] = 0;
	return 0;
}

int memtap_objects_choose(struct memtap_session *s, const struct memtap_objects *a)
{
	struct memtap_objects_table *t = s->objects;

	if (s->state != MEMTAP_CONFIGURED || !t)
		return -EBUSY;
	if (a->flags & ~MEMTAP_OBJECTS_MOVABLE)
		return -EOPNOTSUPP;
	if (a->orders >> CACHETAB_ORDERS || a->reserved ||
	    !memchr(a->cache, 0, sizeof(a->cache)) || a->start > a->end ||
	    (a->end && !(s->flags & MEMTAP_CFG_KSTACK)))
		return -EINVAL;
	t->start = a->start;
	t->end = a->end;
	t->movable = a->flags & MEMTAP_OBJECTS_MOVABLE;
	t->caches.orders = a->orders;
	memcpy(t->caches.pattern, a->cache, sizeof(t->caches.pattern));
	return 0;
}

u64 memtap_objects_layout(u64 bytes)
{
	u32 nr, heads, shards;

	return livetab_layout(bytes, num_possible_cpus(), &nr, &heads, &shards) +
	       num_possible_cpus() * sizeof(struct memtap_object_cpu) +
	       sizeof(struct memtap_objects_table);
}

static int make_table(struct memtap_objects_table *t, u64 bytes)
{
	u32 nr, nr_heads, nr_shards, seed;
	struct livetab_shard *shards;
	struct live *slots;
	u32 *heads;

	get_random_bytes(&seed, sizeof(seed));
	livetab_layout(bytes, num_possible_cpus(), &nr, &nr_heads, &nr_shards);
	slots = memtap_vzalloc(nr * sizeof(*slots));
	heads = memtap_vzalloc(nr_heads * sizeof(*heads));
	shards = memtap_vzalloc(nr_shards * sizeof(*shards));
	t->table.slots = slots;
	t->table.heads = heads;
	t->table.shards = shards;
	if (!slots || !heads || !shards)
		return -ENOMEM;
	livetab_init(&t->table, slots, nr, heads, nr_heads, shards, nr_shards, seed);
	pagetab_init(&t->pages, &t->table, MEMTAP_OBJECT_PAGES + 1, PAGE_SHIFT, CACHETAB_PAGES);
	return 0;
}

static int make_cpus(struct memtap_objects_table *t)
{
	u64 seed;
	int cpu;

	get_random_bytes(&seed, sizeof(seed));
	t->cpus = kcalloc(nr_cpu_ids, sizeof(*t->cpus), MEMTAP_GFP_CHARGED);
	if (!t->cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		t->cpus[cpu] = memtap_vzalloc_node(sizeof(*t->cpus[cpu]), cpu_to_node(cpu));
		if (!t->cpus[cpu])
			return -ENOMEM;
		if (t->sampling)
			sampler_begin(&t->sampler, &t->cpus[cpu]->sampler, seed + cpu);
	}
	return 0;
}

int memtap_objects_init(struct memtap_session *s)
{
	struct memtap_objects_table *t = s->objects;
	int err;

	/* what cannot be learnt is done without */
	err = memtap_slab_learn();
	if (err == -ENOMEM)
		return err;
	t->chooses = t->sampling || t->end || filter_has_event(s->filter);
	cachetab_init(&t->caches);
	err = make_table(t, s->mem_live);
	return err ? err : make_cpus(t);
}

void memtap_objects_empty(struct memtap_session *s)
{
	struct memtap_objects_table *t = s->objects;
	u32 cpu;

	for (cpu = 0; t->cpus && cpu < nr_cpu_ids; cpu++)
		memtap_vfree(t->cpus[cpu]);
	kfree(t->cpus);
	memtap_vfree(t->table.slots);
	memtap_vfree(t->table.heads);
	memtap_vfree(t->table.shards);
	t->cpus = NULL;
	t->table.slots = NULL;
	t->table.heads = NULL;
	t->table.shards = NULL;
}

void memtap_objects_free(struct memtap_session *s)
{
	if (!s->objects)
		return;
	memtap_objects_empty(s);
	memtap_vfree(s->objects);
	s->objects = NULL;
}

/* --- accounts -------------------------------------------------------------- */

static void sum_up(const struct memtap_objects_table *t, size_t offset, u64 *to, u32 nr)
{
	const u64 *from;
	int cpu;
	u32 i;

	memset(to, 0, nr * sizeof(*to));
	for_each_possible_cpu(cpu) {
		from = (const u64 *)((const char *)t->cpus[cpu] + offset);
		for (i = 0; i < nr; i++)
			to[i] += READ_ONCE(from[i]);
	}
}

void memtap_objects_sum(const struct memtap_objects_table *t, u32 event,
			struct memtap_heap_account *sum)
{
	sum_up(t, offsetof(struct memtap_object_cpu, account) + event * sizeof(*sum),
	       (u64 *)sum, sizeof(*sum) / sizeof(u64));
}

void memtap_objects_sum_cache(const struct memtap_objects_table *t, u32 cache,
			      struct memtap_object_sums *sum)
{
	sum_up(t, offsetof(struct memtap_object_cpu, sums) + cache * sizeof(*sum),
	       (u64 *)sum, sizeof(*sum) / sizeof(u64));
}

void memtap_objects_memory(const struct memtap_objects_table *t, struct memtap_rec_memory *r)
{
	struct memtap_object_sums sum;
	u32 id;

	r->live_size = t->table.nr - 1;
	r->live_used = livetab_max(&t->table);
	r->caches_lost = READ_ONCE(t->caches.lost);
	for (id = CACHETAB_LARGE; id < READ_ONCE(t->caches.used); id++) {
		memtap_objects_sum_cache(t, id, &sum);
		r->live_lost_bytes += sum.lost_bytes;
		r->replaced += sum.replaced;
		r->replaced_bytes += sum.replaced_bytes;
	}
}
