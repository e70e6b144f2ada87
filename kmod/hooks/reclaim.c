// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure stalls in direct reclaim, of the machine or of a cgroup, and in direct compaction.
 *
 * The tracepoints of begin and end are in one kernel function: the event is counted at the end,
 * with its stack.
 *
 * A begin is stored under its thread.  These calls do not nest.  If one did, it would be measured
 * from its inner begin, and the outer end would have no begin and would not be counted.  A call
 * that began before the hook was attached is not counted either.
 */
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "core/pairtab.h"
#include "hooks/hooks.h"
#include "hooks/reclaim.h"
#include "hooks/waits_int.h"
#include "record/record.h"

#include "compat/trace_reclaim.h"

#define THREADS		1024		/* at once in one kind of reclaim; the eldest gives way */

/* @begin, @end: names of tracepoints; probes are NULL where this kernel's are unknown. */
struct wait_hook {
	struct memtap_hook hook;
	const char *begin, *end;
	void *begin_probe, *end_probe;
	bool stays;			/* they could not be taken away */
	atomic_t dropped;		/* beginnings for which there was no room */
	struct pairtab tab;
	struct pair slots[THREADS];
	struct wait_book book;
};

static void begin(struct wait_hook *w)
{
	struct pair p = { .key.a = (unsigned long)current };

	p.arg = ktime_get_ns();
	preempt_disable();
	if (!pairtab_put(&w->tab, &p))
		atomic_inc(&w->dropped);
	preempt_enable();
}

static __always_inline void end(struct wait_hook *w)
{
	const struct pair_key key = { .a = (unsigned long)current };
	struct memtap_hit hit = { .flags = MEMTAP_HIT_VALUE };
	const u64 now = ktime_get_ns();
	struct memtap_wait one;
	struct pair p;
	int found;

	preempt_disable();
	found = pairtab_take(&w->tab, &key, 0, &p);
	preempt_enable();
	if (!found)
		return;
	hit.value = (s64)(now - p.arg);
	memtap_wait_add(&w->book, w->hook.event, p.arg, now, &one);
	memtap_wait_notify(&one);
	if (current->mm && !(current->flags & PF_KTHREAD))
		hit.flags |= MEMTAP_HIT_TASK;
	memtap_hit(&w->hook.source, &hit);
}

static struct wait_hook direct, memcg, compaction;

static void on_direct_begin(void)	{ begin(&direct); }
static void on_direct_end(void)		{ end(&direct); }
static void on_memcg_begin(void)	{ begin(&memcg); }
static void on_memcg_end(void)		{ end(&memcg); }
static void on_compaction_begin(void)	{ begin(&compaction); }
static void on_compaction_end(void)	{ end(&compaction); }

TP_RECLAIM_BEGIN(mm_vmscan_direct_reclaim_begin, direct_begin, on_direct_begin);
TP_RECLAIM_END(mm_vmscan_direct_reclaim_end, direct_end, on_direct_end);
TP_COMPACTION_BEGIN(compaction_begin, on_compaction_begin);
TP_COMPACTION_END(compaction_end, on_compaction_end);
#ifdef CONFIG_MEMCG
TP_RECLAIM_BEGIN(mm_vmscan_memcg_reclaim_begin, memcg_begin, on_memcg_begin);
TP_RECLAIM_END(mm_vmscan_memcg_reclaim_end, memcg_end, on_memcg_end);
#else
static void *const memcg_begin, *const memcg_end;
static __maybe_unused void (*const memcg_is_not_here[])(void) = { on_memcg_begin, on_memcg_end };
#endif

static int attach(struct memtap_hook *h)
{
	struct wait_hook *w = container_of(h, struct wait_hook, hook);
	int err;

	if (w->stays)
		return -EBUSY;
	strscpy(h->target, w->end, sizeof(h->target));
	if (!w->begin_probe || !w->end_probe)
		return -EOPNOTSUPP;
	memset(w->slots, 0, sizeof(w->slots));
	atomic_set(&w->dropped, 0);
	memtap_wait_book_begin(&w->book);
	pairtab_init(&w->tab, w->slots, THREADS, 0);
	err = memtap_tracepoint_register(w->end, w->end_probe, NULL);
	if (err)
		return err;
	err = memtap_tracepoint_register(w->begin, w->begin_probe, NULL);
	if (err)
		w->stays = !memtap_tracepoint_unregister(w->end, w->end_probe, NULL);
	tracepoint_synchronize_unregister();
	return err;
}

static void detach(struct memtap_hook *h)
{
	struct wait_hook *w = container_of(h, struct wait_hook, hook);

	w->stays = !memtap_tracepoint_unregister(w->begin, w->begin_probe, NULL);
	w->stays |= !memtap_tracepoint_unregister(w->end, w->end_probe, NULL);
	tracepoint_synchronize_unregister();
}

/* Calls whose beginning had to give way to others'. */
static u64 missed(struct memtap_hook *h)
{
	const struct wait_hook *w = container_of(h, struct wait_hook, hook);

	return READ_ONCE(w->tab.evicted) + atomic_read(&w->dropped);
}

static const struct memtap_hook_ops ops = {
	.attach = attach,
	.detach = detach,
	.missed = missed,
};

#define WAIT_HOOK(name, first, last)					\
static struct wait_hook name = {					\
	.book = MEMTAP_WAIT_BOOK(name.book),				\
	.hook = { .ops = &ops, .way = MEMTAP_WAY_TRACEPOINT },		\
	.begin = first,							\
	.end = last,							\
}

WAIT_HOOK(direct, "mm_vmscan_direct_reclaim_begin", "mm_vmscan_direct_reclaim_end");
WAIT_HOOK(memcg, "mm_vmscan_memcg_reclaim_begin", "mm_vmscan_memcg_reclaim_end");
WAIT_HOOK(compaction, "mm_compaction_begin", "mm_compaction_end");

void memtap_reclaim_book(u32 which, struct memtap_hook **hook, struct wait_book **book)
{
	static struct wait_hook *const all[] = {
		[MEMTAP_WAITS_DIRECT] = &direct,
		[MEMTAP_WAITS_MEMCG] = &memcg,
		[MEMTAP_WAITS_COMPACTION] = &compaction,
	};

	*hook = &all[which]->hook;
	*book = &all[which]->book;
}

int memtap_stalls_notify(u64 ns, void (*fn)(const struct memtap_wait *w))
{
	struct memtap_hook *const held[] = {
		&direct.hook, &memcg.hook, memtap_memcg_high.hooks[0],
	};
	int err = 0, one;
	u32 i;

	memtap_wait_limit(0, NULL);
	for (i = 0; i < ARRAY_SIZE(held); i++)
		memtap_hook_release(held[i]);
	if (!ns)
		return 0;
	memtap_wait_limit(ns, fn);
	for (i = 0; i < ARRAY_SIZE(held); i++) {
		one = memtap_hook_hold(held[i]);
		/* where a kernel does not sleep so, nothing is missing */
		if (held[i] == memtap_memcg_high.hooks[0] && one == -ENOENT)
			one = 0;
		err = err ? err : one;
	}
	return err;
}

void memtap_reclaim_init(void)
{
	direct.begin_probe = direct_begin;
	direct.end_probe = direct_end;
	memcg.begin_probe = memcg_begin;
	memcg.end_probe = memcg_end;
	compaction.begin_probe = compaction_begin;
	compaction.end_probe = compaction_end;
}

const struct memtap_builtin memtap_direct_reclaim = {
	.name = "direct-reclaim",
	.group = "reclaim",
	.summary = "stalls in direct reclaim of the machine",
	.unit = MEMTAP_UNIT_NS,
	.nr_hooks = 1,
	.hooks = { &direct.hook },
};

const struct memtap_builtin memtap_memcg_reclaim = {
	.name = "memcg-reclaim",
	.group = "reclaim",
	.summary = "stalls in reclaim of a cgroup at its limit",
	.unit = MEMTAP_UNIT_NS,
	.nr_hooks = 1,
	.hooks = { &memcg.hook },
};

const struct memtap_builtin memtap_compaction = {
	.name = "compaction",
	.group = "compact",
	.summary = "stalls in direct compaction",
	.unit = MEMTAP_UNIT_NS,
	.nr_hooks = 1,
	.hooks = { &compaction.hook },
};
