// SPDX-License-Identifier: GPL-2.0-only
/* Create and free a session's tables of live blocks, and their accounts. */
#include <linux/slab.h>

#include "live/live.h"
#include "record/recording.h"

#include "compat/valloc.h"

int memtap_heap_new(struct memtap_session *s, const struct memtap_config *c)
{
	struct memtap_heap *h;

	if (!s->heap) {
		h = memtap_vzalloc(sizeof(*h));
		if (!h)
			return -ENOMEM;
		h->session = s;
		raw_spin_lock_init(&h->lock);
		init_irq_work(&h->kick, memtap_heap_kick);
		INIT_WORK(&h->work, memtap_heap_work);
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
	memtap_heap_purge(h);
	memtap_heap_measure(h);
}

/* No probe is attached any more. */
void memtap_heap_free(struct memtap_session *s)
{
	if (!s->heap)
		return;
	memtap_heap_empty(s);
	memtap_vfree(s->heap);
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
	r->live_size = h->table.nr - 1;
	r->live_used = livetab_max(&h->table);
	r->live_maps_size = h->maps.nr - 1;
	r->live_maps_used = READ_ONCE(h->maps.most);
	r->threads_size = h->nr_threads;
	r->threads_used = READ_ONCE(h->used_threads);
	r->spaces_lost = READ_ONCE(h->spaces_lost);
	r->mismatches_lost = READ_ONCE(h->mismatches_lost);
}
