// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session's rings of single events, one for each CPU: MEMTAP_CFG_RING, MEMTAP_EVENTS; and
 * with MEMTAP_CFG_TRACE of calls of allocators.
 */
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "record/ring.h"
#include "session/int.h"

#include "compat/clock.h"
#include "compat/valloc.h"

static void kick(struct irq_work *work)
{
	struct memtap_session *s = container_of(work, struct memtap_session, ring_kick);

	wake_up_interruptible(&s->wait);
}

/*
 * Of calls: what a program does on one CPU until the tool has looked again.  Where the table of
 * blocks is small, all of them take no more than that.
 */
#define CALLS_EACH	(512U << 10)
#define CALLS_ALL	(8U << 20)

static u32 ring_size(const struct memtap_session *s)
{
	if (s->flags & MEMTAP_CFG_TRACE)
		return memtap_ring_size(min3((u64)num_possible_cpus() * CALLS_EACH,
					     (u64)CALLS_ALL, s->mem_live));
	return memtap_ring_size(s->mem_counters);
}

static bool has_rings(const struct memtap_session *s)
{
	return s->flags & (MEMTAP_CFG_RING | MEMTAP_CFG_TRACE);
}

u64 memtap_rings_bytes(const struct memtap_session *s)
{
	if (!has_rings(s))
		return 0;
	return (u64)num_possible_cpus() * (ring_size(s) + sizeof(struct memtap_ring));
}

int memtap_rings_make(struct memtap_session *s)
{
	u32 cpu, size = ring_size(s);

	if (!has_rings(s))
		return 0;
	init_irq_work(&s->ring_kick, kick);
	s->rings = kcalloc(nr_cpu_ids, sizeof(*s->rings), MEMTAP_GFP_CHARGED);
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
		memtap_vfree(s->rings[cpu]);
	kfree(s->rings);
	s->rings = NULL;
}

/* Small differences are those of looking: times need not jump for them. */
static s64 clock_offset(struct memtap_session *s)
{
	const s64 now = memtap_clock_offset();

	if (now - s->clock_offset > NSEC_PER_MSEC || s->clock_offset - now > NSEC_PER_MSEC)
		s->clock_offset = now;
	return s->clock_offset;
}

int memtap_session_events(struct memtap_session *s, struct memtap_events *a)
{
	const s64 offset = clock_offset(s);
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
				       a->room - a->used, &more, &a->safe_ns, offset);
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

u64 memtap_rings_lost(const struct memtap_session *s)
{
	u64 lost = 0;
	u32 cpu;

	for_each_possible_cpu(cpu)
		lost += s->rings && s->rings[cpu] ? READ_ONCE(s->rings[cpu]->lost) : 0;
	return lost;
}

static void call_of(struct memtap_call *c, const struct memtap_one *one)
{
	const u64 *arg = (const u64 *)(one + 1);

	memset(c, 0, sizeof(*c));
	c->ns = one->ns;
	c->addr = arg[0];
	c->size = arg[1];
	c->old = arg[2];
	c->flags = arg[3];
	c->pid = one->pid;
	c->tid = one->tid;
	c->event = one->event;
	c->ustack = one->ustack;
	c->cpu = one->cpu;
	memcpy(c->comm, one->comm, sizeof(c->comm));
}

static int copy_calls(struct memtap_ring *r, struct memtap_call __user *out, u32 room)
{
	const struct memtap_one *one;
	struct memtap_call c;
	u32 pos = r->tail, nr = 0;

	r->next = pos;
	while (nr < room && !fatal_signal_pending(current)) {
		one = memtap_ring_next(r, &pos);
		r->next = pos;
		if (!one)
			break;
		call_of(&c, one);
		if (copy_to_user(out + nr, &c, sizeof(c)))
			return -EFAULT;
		nr++;
	}
	return nr;
}

int memtap_session_trace(struct memtap_session *s, struct memtap_trace *a)
{
	const s64 offset = clock_offset(s);
	const u32 room = a->nr;
	u32 cpu;
	int nr;

	if (s->state < MEMTAP_RUNNING || !s->rings || !(s->flags & MEMTAP_CFG_TRACE))
		return -EBUSY;
	a->nr = 0;
	for_each_possible_cpu(cpu) {
		memtap_ring_settle(s->rings[cpu], offset);
		nr = copy_calls(s->rings[cpu],
				u64_to_user_ptr(a->calls_ptr + a->nr * sizeof(struct memtap_call)),
				room - a->nr);
		if (nr < 0)
			return nr;
		a->nr += nr;
		cond_resched();
	}
	a->lost = memtap_rings_lost(s);
	return 0;
}

void memtap_session_events_done(struct memtap_session *s)
{
	u32 cpu;

	for_each_possible_cpu(cpu)
		memtap_ring_done(s->rings[cpu]);
}
