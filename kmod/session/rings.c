// SPDX-License-Identifier: GPL-2.0-only
/* A session's rings of single events, one for each CPU: MEMTAP_CFG_RING, MEMTAP_EVENTS. */
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "record/ring.h"
#include "session/int.h"

static void kick(struct irq_work *work)
{
	struct memtap_session *s = container_of(work, struct memtap_session, ring_kick);

	wake_up_interruptible(&s->wait);
}

u64 memtap_rings_bytes(const struct memtap_session *s)
{
	if (!(s->flags & MEMTAP_CFG_RING))
		return 0;
	return (u64)num_possible_cpus() *
	       (memtap_ring_size(s->mem_counters) + sizeof(struct memtap_ring));
}

int memtap_rings_make(struct memtap_session *s)
{
	u32 cpu, size = memtap_ring_size(s->mem_counters);

	if (!(s->flags & MEMTAP_CFG_RING))
		return 0;
	init_irq_work(&s->ring_kick, kick);
	s->rings = kcalloc(nr_cpu_ids, sizeof(*s->rings), GFP_KERNEL);
	if (!s->rings)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		s->rings[cpu] = memtap_ring_new(size, cpu);
		if (!s->rings[cpu])
			return -ENOMEM;
	}
	return 0;
}

void memtap_rings_free(struct memtap_session *s)
{
	u32 cpu;

	if (!s->rings)
		return;
	irq_work_sync(&s->ring_kick);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		vfree(s->rings[cpu]);
	kfree(s->rings);
	s->rings = NULL;
}

int memtap_session_events(struct memtap_session *s, struct memtap_events *a)
{
	bool more = false;
	u64 lost;
	u32 cpu;
	int ret;

	if (s->state < MEMTAP_RUNNING || !s->rings)
		return -EBUSY;
	if (a->room < 4096 || a->room > 1 << 30)
		return -EINVAL;
	/* what comes from here on is to be told of again */
	memtap_session_totals(s, &s->read_counted, &lost);
	s->read_lost = lost;
	a->used = 0;
	a->safe_ns = ~0ULL;
	for_each_possible_cpu(cpu) {
		ret = memtap_ring_read(s->rings[cpu], u64_to_user_ptr(a->ones_ptr + a->used),
				       a->room - a->used, &more, &a->safe_ns);
		if (ret < 0)
			return ret;
		a->used += ret;
		cond_resched();
	}
	a->more = more;
	if (more)
		s->read_counted--;
	return 0;
}

void memtap_session_events_done(struct memtap_session *s)
{
	u32 cpu;

	for_each_possible_cpu(cpu)
		memtap_ring_done(s->rings[cpu]);
}
