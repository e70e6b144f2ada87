// SPDX-License-Identifier: GPL-2.0-only
/* Keep stalls for debugfs: a histogram, the longest stalls, the last seconds. */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched.h>

#include "core/hist.h"
#include "hooks/waits_int.h"

#include "compat/task.h"

/* The longest, in order. */
static void rank(struct memtap_waits *all, const struct memtap_wait *one)
{
	u32 at = all->nr_worst;

	if (at == MEMTAP_WAITS_WORST) {
		if (all->worst[--at].ns >= one->ns)
			return;
	} else {
		all->nr_worst++;
	}
	for (; at && all->worst[at - 1].ns < one->ns; at--)
		all->worst[at] = all->worst[at - 1];
	all->worst[at] = *one;
}

/* The process that waited longest ago gives way. */
static void add_waiter(struct memtap_waits *all, const struct memtap_wait *one, u64 start_ns)
{
	struct memtap_waiter *w, *eldest = &all->waiters[0];
	u32 i;

	for (i = 0; i < all->nr_waiters; i++) {
		w = &all->waiters[i];
		if (w->pid == one->pid && w->start_ns == start_ns)
			break;
		if (w->at_ns < eldest->at_ns)
			eldest = w;
	}
	if (i == all->nr_waiters) {
		w = i < MEMTAP_WAITERS ? &all->waiters[all->nr_waiters++] : eldest;
		memset(w, 0, sizeof(*w));
		w->since_ns = one->at_ns;
		w->start_ns = start_ns;
		w->pid = one->pid;
	}
	w->count++;
	w->ns += one->ns;
	w->at_ns = one->at_ns;
	if (one->ns >= w->longest_ns) {
		w->longest_ns = one->ns;
		w->longest_at_ns = one->at_ns;
	}
	memcpy(w->comm, one->comm, sizeof(w->comm));
}

void memtap_wait_add(struct wait_book *b, const char *event, u64 from, u64 now,
		     struct memtap_wait *one)
{
	struct memtap_waits *all = &b->waits;
	const u64 second = div_u64(now, NSEC_PER_SEC);
	struct memtap_wait_second *s;
	unsigned long flags;
	const u64 start_ns = memtap_task_start_ns(current->group_leader);
	u64 at = second;

	one->event = event;
	one->ns = now - from;
	one->at_ns = now;
	one->pid = current->tgid;
	memcpy(one->comm, current->comm, sizeof(one->comm));
	one->comm[sizeof(one->comm) - 1] = 0;
	s = &all->seconds[do_div(at, MEMTAP_WAITS_SECONDS)];
	raw_spin_lock_irqsave(&b->lock, flags);
	all->count++;
	all->ns += one->ns;
	all->hist[hist_bucket((s64)one->ns)]++;
	rank(all, one);
	add_waiter(all, one, start_ns);
	if (s->second != second) {
		s->second = second;
		s->count = 0;
		s->ns = 0;
	}
	s->count++;
	s->ns += one->ns;
	raw_spin_unlock_irqrestore(&b->lock, flags);
}

/* Waits that are longer are told; ns, 0: none. */
static u64 stall_limit;
static void (*stall_fn)(const struct memtap_wait *w);

void memtap_wait_limit(u64 ns, void (*fn)(const struct memtap_wait *w))
{
	WRITE_ONCE(stall_limit, 0);
	if (!ns)
		return;
	WRITE_ONCE(stall_fn, fn);
	smp_wmb();
	WRITE_ONCE(stall_limit, ns);
}

void memtap_wait_notify(const struct memtap_wait *one)
{
	const u64 limit = READ_ONCE(stall_limit);

	if (limit && one->ns > limit)
		stall_fn(one);
}

void memtap_wait_book_begin(struct wait_book *b)
{
	memset(&b->waits, 0, sizeof(b->waits));
	b->waits.since_ns = ktime_get_ns();
}
