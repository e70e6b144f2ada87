// SPDX-License-Identifier: GPL-2.0-or-later
/* Find stalls: swapping, reclaim, fragmentation, limits of cgroups. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "triage/int.h"

/* The process with most of the major faults, if there is one; or NULL. */
static const struct machine_holder *most_faults(const struct triage *t)
{
	const __u64 all = triage_delta(t, VM_MAJOR);

	for (size_t i = 0; i < t->now->processes.nr; i++) {
		const struct machine_growth *g = &t->processes[i];

		if (all && g->before && (g->now->major - g->before->major) * 2 > all)
			return g->now;
	}
	return NULL;
}

static __u64 hits_at_limit(const struct machine_growth *g)
{
	return g->before && g->now->hits > g->before->hits ? g->now->hits - g->before->hits : 0;
}

static __u64 is_over_high(const struct machine_growth *g)
{
	return g->before && g->now->highs > g->before->highs ?
	       g->now->highs - g->before->highs : 0;
}

/* The cgroup for which @count is largest; v2 counts for those above, too: the longest path. */
static const struct machine_growth *most_counted(const struct triage *t,
						 __u64 (*count)(const struct machine_growth *g))
{
	const struct machine_growth *best = NULL;

	for (size_t i = 0; i < t->now->cgroups.nr; i++) {
		const struct machine_growth *g = &t->cgroups[i];

		if (count(g) && (!best || count(g) > count(best) ||
				 (count(g) == count(best) &&
				  strlen(g->now->name) > strlen(best->now->name))))
			best = g;
	}
	return best;
}

static const struct machine_growth *limited_cgroup(const struct triage *t)
{
	return most_counted(t, hits_at_limit);
}

/* The one that reclaims for itself: at its limit, or above memory.high. */
static const struct machine_growth *reclaiming_cgroup(const struct triage *t)
{
	const struct machine_growth *g = limited_cgroup(t);

	return g ? g : most_counted(t, is_over_high);
}

void find_swapping(struct triage *t)
{
	const double in = triage_rate(t, VM_SWAP_IN), out = triage_rate(t, VM_SWAP_OUT);
	const struct machine_holder *h = most_faults(t);
	const double both = in + out;
	struct triage_finding *f;
	char who[96] = "";

	t->level[LINE_SWAPPING] = in >= 50 || both >= 1000 ? LEVEL_BAD :
				  both >= 1 ? LEVEL_WATCH : LEVEL_OK;
	if (both < 50)
		return;
	f = found_new(t, FOUND_SWAPPING, in >= 1000 ? 76 : in >= 50 ? 68 : 55);
	if (h) {
		f->pid = h->pid;
		snprintf(who, sizeof(who), "; process %.40s (%u) has most of the major faults",
			 h->name, h->pid);
	}
	found_seen(f, "%.0f pages a second are swapped in, %.0f out%s", in, out, who);
}

void find_reclaim(struct triage *t)
{
	const double refaults = triage_rate(t, VM_REFAULT_FILE), some = triage_some(t);
	const double stalls = triage_rate(t, VM_STALLS);
	const double scanned = triage_rate(t, VM_SCAN_KSWAPD) + triage_rate(t, VM_SCAN_DIRECT);
	const double direct = triage_rate(t, VM_SCAN_DIRECT);
	const struct machine_growth *group = reclaiming_cgroup(t);
	struct triage_finding *f;

	t->level[LINE_RECLAIM] = direct > 0 ? LEVEL_BAD : scanned > 0 ? LEVEL_WATCH : LEVEL_OK;
	t->level[LINE_STALLS] = some >= 10 || stalls >= 10 ? LEVEL_BAD :
				some >= 1 || stalls > 0 ? LEVEL_WATCH : LEVEL_OK;
	if (refaults >= 500 && (scanned > 0 || limited_cgroup(t))) {
		f = found_new(t, FOUND_THRASHING, 64);
		found_seen(f, "%.0f pages a second of files are read again soon after they were "
			   "dropped", refaults);
	}
	if (stalls < 1 && some >= 10 && (direct > 0 || group)) {
		/*
		 * The machine has enough; allocstall does not count what cgroups reclaim, nor,
		 * on some kernels, does pgscan_direct.
		 */
		f = found_new(t, FOUND_RECLAIM_CGROUP, 66);
		if (group)
			snprintf(f->name, sizeof(f->name), "%s", group->now->name);
		found_seen(f, "programs waited for memory %.0f %% of the time, to reclaim it "
			   "within their cgroups%s%s", some, *f->name ? ", most often in " : "",
			   f->name);
	} else if (stalls >= 1) {
		f = found_new(t, FOUND_RECLAIM, stalls >= 10 || some >= 10 ? 60 : 52);
		found_seen(f, "allocations entered direct reclaim, %.1f a second%s",
			   stalls, triage_delta(t, VM_THROTTLED) ? ", and were throttled" : "");
	}
}

void find_fragments(struct triage *t)
{
	const struct machine_log *log = &t->now->log;
	const double unusable = triage_unusable(t->now);
	const __u64 stalls = triage_delta(t, VM_COMPACT_STALL);
	const __u64 fails = triage_delta(t, VM_COMPACT_FAIL);
	const bool failed = log->failures && log->failed_order &&
			    log->failed_at + KILL_FRESH > t->now->uptime;
	struct triage_finding *f;

	t->level[LINE_FRAGMENTS] = failed || fails ? LEVEL_BAD :
				   stalls || unusable > 95 ? LEVEL_WATCH : LEVEL_OK;
	t->level[LINE_FAILURES] = failed ? LEVEL_BAD : log->failures ? LEVEL_WATCH : LEVEL_OK;
	if (!failed && !stalls && unusable <= 95)
		return;
	f = found_new(t, FOUND_FRAGMENTED, failed ? 72 : fails ? 66 : stalls ? 62 : 46);
	if (failed)
		found_seen(f, "an allocation of order %u failed %.0f s ago (%s)",
			   log->failed_order, t->now->uptime - log->failed_at, log->failed_comm);
	else if (stalls)
		found_seen(f, "%llu allocations of several pages had to wait for compaction, "
			   "which failed %llu time%s", (unsigned long long)stalls,
			   (unsigned long long)fails, text_s(fails));
	else
		found_seen(f, "%.0f %% of a zone's free memory is in blocks of less than %d "
			   "pages", unusable, 1 << TRIAGE_ORDER);
}

static void find_high(struct triage *t)
{
	const struct machine_growth *g = most_counted(t, is_over_high);
	const __u64 nr = g ? is_over_high(g) : 0;
	struct triage_finding *f;

	if (!g)
		return;
	f = found_new(t, FOUND_HIGH, 67);
	snprintf(f->name, sizeof(f->name), "%s", g->now->name);
	found_seen(f, "the cgroup %s was over memory.high %llu time%s, for which the kernel slows "
		   "its programs down", g->now->name, (unsigned long long)nr, text_s(nr));
}

void find_limit(struct triage *t)
{
	const struct machine_growth *g = limited_cgroup(t);
	const __u64 nr = g ? hits_at_limit(g) : 0;
	struct triage_finding *f;

	find_high(t);
	if (!g)
		return;
	f = found_new(t, g->now->file > g->now->bytes / 2 ? FOUND_LIMIT_FILES : FOUND_LIMIT, 64);
	snprintf(f->name, sizeof(f->name), "%s", g->now->name);
	found_seen(f, "the cgroup %s met its limit %llu time%s%s", g->now->name,
		   (unsigned long long)nr, text_s(nr), f->what == FOUND_LIMIT_FILES ?
		   "; most that it holds is page cache" : "");
}

/* What waits counts as pressure, whatever it is: it is not left out for want of a name. */
void find_waits(struct triage *t)
{
	const double some = triage_some(t);
	struct triage_finding *f;

	if (some < 10)
		return;
	for (size_t i = 0; i < t->nr_found; i++)
		switch (t->found[i].what) {
		case FOUND_SWAPPING:
		case FOUND_THRASHING:
		case FOUND_RECLAIM:
		case FOUND_RECLAIM_CGROUP:
		case FOUND_FRAGMENTED:
		case FOUND_HIGH:
		case FOUND_LIMIT:
		case FOUND_LIMIT_FILES:
			return;
		default:
			break;
		}
	f = found_new(t, FOUND_WAITS, 58);
	found_seen(f, "some tasks waited for memory %.0f %% of the time", some);
}
