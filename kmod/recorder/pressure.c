// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show stalls in debugfs: reclaim, compact and swap (histograms, longest stalls) and pressure
 * (the last minutes, per second).  Only attached hooks are counted: attached by the flight
 * recorder (watch=reclaim,compact,swap), by the tool, or by stall_ms.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/seq_file.h>

#include "hooks/reclaim.h"
#include "recorder/debugfs.h"

#include "compat/memory.h"
#include "compat/valloc.h"

#define SWITCH	"echo reclaim,compact,swap > /sys/module/memtap/parameters/watch"

static void show_hist(struct seq_file *m, const struct memtap_waits *w)
{
	u32 i;

	for (i = 1; i < MEMTAP_HIST_BUCKETS; i++)
		if (w->hist[i])
			seq_printf(m, "    %12llu .. %12llu us  %u\n",
				   div_u64(1ULL << (i - 1), 1000), div_u64((1ULL << i) - 1, 1000),
				   w->hist[i]);
}

static void show_waits(struct seq_file *m, const char *event, const struct memtap_waits *w,
		       bool on)
{
	const u64 now = ktime_get_ns();
	const struct memtap_wait *one;
	u32 i;

	if (!on && !w->count) {
		seq_printf(m, "%s: not recorded; to record it: " SWITCH "\n", event);
		return;
	}
	seq_printf(m, "%s: %llu stalls in %llu s%s, %llu ms in total\n", event, w->count,
		   div_u64(now - w->since_ns, NSEC_PER_SEC), on ? "" : " (no longer recorded)",
		   div_u64(w->ns, NSEC_PER_MSEC));
	show_hist(m, w);
	if (w->nr_worst)
		seq_puts(m, "  longest stalls:\n");
	for (i = 0; i < w->nr_worst; i++) {
		one = &w->worst[i];
		seq_printf(m, "    %8llu us  ", div_u64(one->ns, 1000));
		memtap_show_name(m, one->comm);
		seq_printf(m, " [%d], %llu s ago\n", one->pid,
			   div_u64(now - one->at_ns, NSEC_PER_SEC));
	}
}

/* Pages since boot, from the kernel's own counters. */
static void show_swapped(struct seq_file *m)
{
	u64 at[MEMTAP_NR_RECLAIM];

	memtap_reclaim_counters(at);
	if (at[MEMTAP_RECLAIM_SWAP_IN] != MEMTAP_OOM_UNKNOWN)
		seq_printf(m, "pages since boot: %llu swapped in, %llu swapped out\n",
			   at[MEMTAP_RECLAIM_SWAP_IN], at[MEMTAP_RECLAIM_SWAP_OUT]);
}

/* Kinds @from to @last. */
static int show_kinds(struct seq_file *m, u32 from, u32 last)
{
	struct memtap_waits *w = memtap_vzalloc(sizeof(*w));
	const char *event;
	bool on;
	u32 i;

	if (!w)
		return -ENOMEM;
	memtap_debugfs_banner(m);
	if (from == MEMTAP_WAITS_SWAP)
		show_swapped(m);
	for (i = from; i <= last; i++) {
		event = memtap_waits_get(i, w, &on);
		if (event)
			show_waits(m, event, w, on);
	}
	memtap_vfree(w);
	return 0;
}

static int reclaim_show(struct seq_file *m, void *v)
{
	return show_kinds(m, MEMTAP_WAITS_DIRECT, MEMTAP_WAITS_HIGH);
}

static int compact_show(struct seq_file *m, void *v)
{
	return show_kinds(m, MEMTAP_WAITS_COMPACTION, MEMTAP_WAITS_COMPACTION);
}

static int swap_show(struct seq_file *m, void *v)
{
	return show_kinds(m, MEMTAP_WAITS_SWAP, MEMTAP_WAITS_SWAP);
}

static void show_second(struct seq_file *m, const struct memtap_waits *all, u64 second, u64 now)
{
	const struct memtap_wait_second *s[MEMTAP_WAITS_KINDS];
	bool any = false;
	u32 i;

	for (i = 0; i < MEMTAP_WAITS_KINDS; i++) {
		u64 at = second;

		s[i] = &all[i].seconds[do_div(at, MEMTAP_WAITS_SECONDS)];
		any |= s[i]->second == second && s[i]->count;
	}
	if (!any)
		return;
	seq_printf(m, "%7lld", (s64)(second - now));
	for (i = 0; i < MEMTAP_WAITS_KINDS; i++)
		seq_printf(m, " %14u %8llu", s[i]->second == second ? s[i]->count : 0,
			   s[i]->second == second ? div_u64(s[i]->ns, NSEC_PER_MSEC) : 0);
	seq_putc(m, '\n');
}

/* Seconds without a stall are left out. */
static int pressure_show(struct seq_file *m, void *v)
{
	struct memtap_waits *w = memtap_vzalloc(MEMTAP_WAITS_KINDS * sizeof(*w));
	const u64 now = div_u64(ktime_get_ns(), NSEC_PER_SEC);
	u32 i, watched = 0;
	u64 second;
	bool on;

	if (!w)
		return -ENOMEM;
	memtap_debugfs_banner(m);
	seq_puts(m, "# seconds with stalls: number and total ms of each kind\n");
	seq_printf(m, "%7s", "second");
	for (i = 0; i < MEMTAP_WAITS_KINDS; i++) {
		seq_printf(m, " %14s %8s", memtap_waits_get(i, &w[i], &on), "ms");
		watched += on;
	}
	seq_putc(m, '\n');
	if (!watched)
		seq_puts(m, "no stalls are recorded; to record them: " SWITCH "\n");
	for (i = MEMTAP_WAITS_SECONDS; i--;) {
		second = now - min_t(u64, now, i);
		show_second(m, w, second, now);
	}
	memtap_vfree(w);
	return 0;
}

MEMTAP_SHOW_FOPS(memtap_reclaim, reclaim_show);
MEMTAP_SHOW_FOPS(memtap_compact, compact_show);
MEMTAP_SHOW_FOPS(memtap_swap, swap_show);
MEMTAP_SHOW_FOPS(memtap_pressure, pressure_show);
