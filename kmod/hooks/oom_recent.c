// SPDX-License-Identifier: GPL-2.0-only
/*
 * What reclaim did in the minute before somebody was killed: the kernel counts since boot, so
 * that is looked at every ten seconds.  A work that may be late: it wakes no CPU that sleeps,
 * and the record tells how long ago it was.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/workqueue.h>

#include "hooks/oom_int.h"
#include "record/guard.h"

#include "compat/memory.h"

#define LOOK_EACH	(10 * HZ)
#define LOOKS		8		/* the eldest is a minute old, or a bit more */

struct look {
	u64 ns;				/* 0: not yet, or being written */
	u64 at[MEMTAP_NR_RECLAIM];
};

static struct look looks[LOOKS];
static u32 next;
static struct delayed_work looking;

static void look_now(struct work_struct *work)
{
	struct look *l = &looks[next];

	WRITE_ONCE(l->ns, 0);
	smp_wmb();
	memtap_reclaim_counters(l->at);
	smp_wmb();
	WRITE_ONCE(l->ns, ktime_get_ns());
	next = (next + 1) % LOOKS;
	queue_delayed_work(memtap_wq, &looking, LOOK_EACH);
}

/* Which was about a minute ago: the eldest that is no older than 65 s, or else the youngest. */
static const struct look *a_minute_ago(u64 now)
{
	const struct look *best = NULL, *l;
	u64 ns, best_ns = 0;
	u32 i;

	for (i = 0; i < LOOKS; i++) {
		l = &looks[i];
		ns = READ_ONCE(l->ns);
		if (!ns || ns > now)
			continue;
		if (!best || (now - ns <= 65ULL * NSEC_PER_SEC ?
			      ns < best_ns || now - best_ns > 65ULL * NSEC_PER_SEC :
			      ns > best_ns)) {
			best = l;
			best_ns = ns;
		}
	}
	return best;
}

void memtap_oom_recent(struct memtap_oom_record *r)
{
	const struct look *l = a_minute_ago(r->ns);
	u64 now[MEMTAP_NR_RECLAIM];
	u64 ns;
	u32 i;

	r->nr_reclaim = MEMTAP_NR_RECLAIM;
	memtap_reclaim_counters(now);
	ns = l ? READ_ONCE(l->ns) : 0;
	smp_rmb();
	for (i = 0; i < MEMTAP_NR_RECLAIM; i++)
		r->reclaim[i] = now[i] == MEMTAP_OOM_UNKNOWN || !ns ? MEMTAP_OOM_UNKNOWN :
				now[i] > l->at[i] ? now[i] - l->at[i] : 0;
	smp_rmb();
	if (!ns || READ_ONCE(l->ns) != ns)
		return;		/* 0 ms: not known */
	r->reclaim_ms = (u32)min_t(u64, div_u64(r->ns - ns, NSEC_PER_MSEC) + 1, U32_MAX);
}

void memtap_oom_recent_init(void)
{
	INIT_DEFERRABLE_WORK(&looking, look_now);
	queue_delayed_work(memtap_wq, &looking, 0);
}

void memtap_oom_recent_exit(void)
{
	cancel_delayed_work_sync(&looking);
}
