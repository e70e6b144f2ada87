// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of single events.
 *
 * An event is stored in one piece: if it does not fit before the end of the ring, the rest of the
 * ring is skipped, and marked so.
 *
 * Events that are read later must not be older than those read before, so that they can be sorted.
 * Hence a writer announces itself before it reads the clock, and the reader reads the clock before
 * it checks for writers.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

#include "record/recording.h"
#include "record/ring.h"

#include "compat/clock.h"
#include "compat/valloc.h"

#define LEAST	(16U << 10)
#define MOST	(64U << 20)
/* Looks at who is just writing, before the reader lets it be. */
#define LOOKS	1000

u32 memtap_ring_size(u64 all)
{
	u64 each = div_u64(all, num_possible_cpus());

	each = min_t(u64, max_t(u64, each, LEAST), MOST);
	return rounddown_pow_of_two((u32)each);
}

struct memtap_ring *memtap_ring_new(u32 size, u32 cpu)
{
	struct memtap_ring *r = memtap_vzalloc_node(sizeof(*r) + size, cpu_to_node(cpu));

	if (r)
		r->mask = size - 1;
	return r;
}

static struct memtap_one *at(struct memtap_ring *r, u32 pos)
{
	return (struct memtap_one *)(r->data + (pos & r->mask));
}

/* Bytes from @pos to where the ring ends. */
static u32 to_end(const struct memtap_ring *r, u32 pos)
{
	return r->mask + 1 - (pos & r->mask);
}

struct memtap_one *memtap_ring_begin(struct memtap_ring *r, u32 len)
{
	u32 skip = to_end(r, r->head), room;
	struct memtap_one *one;
	u64 now;

	WRITE_ONCE(r->writing, 1);
	smp_mb();
	now = memtap_clock_ns();
	if (now > r->last_ns)
		WRITE_ONCE(r->last_ns, now);
	if (skip >= len)
		skip = 0;
	room = r->mask + 1 - (r->head - smp_load_acquire(&r->tail));
	if (room < skip + len) {
		WRITE_ONCE(r->lost, r->lost + 1);
		return NULL;
	}
	/* 8 bytes are there: all lengths are multiples of it */
	if (skip)
		at(r, r->head)->len = 0;
	r->skip = skip;
	one = at(r, r->head + skip);
	one->len = len;
	one->ns = r->last_ns;
	return one;
}

bool memtap_ring_end(struct memtap_ring *r, struct memtap_one *one)
{
	u32 used;

	if (one)
		smp_store_release(&r->head, r->head + r->skip + one->len);
	smp_store_release(&r->writing, 0);
	used = r->head - READ_ONCE(r->tail);
	if (likely(used <= r->mask / 2) || READ_ONCE(r->woken))
		return false;
	WRITE_ONCE(r->woken, 1);
	return true;
}

void memtap_ring_sign(struct memtap_one *one)
{
	one->pid = current->tgid;
	one->tid = current->pid;
	one->cpu = smp_processor_id();
	memcpy(one->comm, current->comm, sizeof(one->comm));
}

bool memtap_ring_put(struct memtap_session *s, const struct memtap_one *what, const void *args,
		     u32 len)
{
	struct memtap_ring *r = s->rings[smp_processor_id()];
	struct memtap_one *one = memtap_ring_begin(r, sizeof(*one) + len);
	const u64 ns = one ? one->ns : 0;

	if (one) {
		*one = *what;
		one->len = sizeof(*one) + len;
		one->ns = ns;
		memtap_ring_sign(one);
		memcpy(one + 1, args, len);
	}
	if (memtap_ring_end(r, one))
		irq_work_queue(&s->ring_kick);
	return one;
}

bool memtap_ring_empty(const struct memtap_ring *r)
{
	return smp_load_acquire(&r->head) == READ_ONCE(r->tail);
}

/* They stay in their order whatever the offset does. */
static u64 settled(struct memtap_ring *r, u64 ns, s64 offset)
{
	r->told_ns = max_t(u64, r->told_ns, ns + offset);
	return r->told_ns;
}

void memtap_ring_settle(struct memtap_ring *r, s64 offset)
{
	const u32 head = smp_load_acquire(&r->head);
	struct memtap_one *one;

	while (MEMTAP_CLOCK_DRIFTS && r->settled != head) {
		one = at(r, r->settled);
		if (!one->len) {
			r->settled += to_end(r, r->settled);
			continue;
		}
		one->ns = settled(r, one->ns, offset);
		r->settled += one->len;
	}
}

/* Later than anything that will be read after what is there now. */
static void be_safe(struct memtap_ring *r)
{
	u32 looks;
	u64 now;

	preempt_disable();
	now = memtap_clock_ns();
	preempt_enable();
	smp_mb();
	for (looks = 0; looks < LOOKS && smp_load_acquire(&r->writing); looks++)
		cpu_relax();
	if (looks < LOOKS)
		r->safe_ns = now;
}

/* Bytes from @tail that lie behind each other, of whole events, @room at most. */
static u32 in_one_piece(struct memtap_ring *r, u32 tail, u32 head, u32 room)
{
	u32 end = tail, len;

	while (end != head) {
		len = at(r, end)->len;
		if (!len || end - tail + len > room)
			break;
		end += len;
		if (!(end & r->mask))
			break;
	}
	return end - tail;
}

int memtap_ring_read(struct memtap_ring *r, void __user *out, u32 room, bool *more,
		     u64 *safe_ns, s64 offset)
{
	u32 head, tail = r->tail, used = 0, len;

	be_safe(r);
	memtap_ring_settle(r, offset);
	head = MEMTAP_CLOCK_DRIFTS ? r->settled : smp_load_acquire(&r->head);
	*safe_ns = min(*safe_ns, MEMTAP_CLOCK_DRIFTS ? settled(r, r->safe_ns, offset) :
		       r->safe_ns);
	while (tail != head) {
		len = in_one_piece(r, tail, head, room - used);
		if (len && copy_to_user((char __user *)out + used, at(r, tail), len))
			return -EFAULT;
		used += len;
		tail += len;
		if (len)
			continue;
		if (at(r, tail)->len) {
			*more = true;
			break;
		}
		tail += to_end(r, tail);
	}
	r->next = tail;
	return used;
}

const struct memtap_one *memtap_ring_next(struct memtap_ring *r, u32 *pos)
{
	const u32 head = MEMTAP_CLOCK_DRIFTS ? r->settled : smp_load_acquire(&r->head);
	const struct memtap_one *one;

	if (*pos != head && !at(r, *pos)->len)
		*pos += to_end(r, *pos);
	if (*pos == head)
		return NULL;
	one = at(r, *pos);
	*pos += one->len;
	return one;
}

void memtap_ring_done(struct memtap_ring *r)
{
	WRITE_ONCE(r->woken, 0);
	smp_store_release(&r->tail, r->next);
}
