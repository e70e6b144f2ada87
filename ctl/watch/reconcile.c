// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare a session's counts with the kernel's own counters of a process. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "watch/watch.h"

/* Does the session count every fault of the program, and of nobody else? */
static bool faults_comparable(const struct watch *w, const struct targets *targets)
{
	const struct memtap_config *c = &w->config;
	const struct plan_env env = { .events = w->session.events,
				      .nr_events = w->session.nr_events };
	const __u64 faults = plan_builtins(&env, "fault");

	return targets->target.ended && faults && (c->events & faults) == faults &&
	       !targets->system && c->filter_nr == 1 && !c->min_size && !c->max_size &&
	       !(c->flags & (MEMTAP_CFG_ONLY_USER | MEMTAP_CFG_ONLY_KERNEL));
}

static __u64 shmem_now(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Shmem: %llu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return (__u64)kib << 10;
}

void watch_shmem_begin(struct watch *w)
{
	w->shmem_then = shmem_now();
}

bool watch_shmem(const struct watch *w, const struct snap *s, char *line, size_t len)
{
	const __u64 then = w->shmem_then, now = shmem_now();
	const __u64 by = now > then ? now - then : then - now;
	char bytes[TEXT_LEN], all[TEXT_LEN];
	bool asked = false;

	for (size_t i = 0; i < s->nr_events; i++)
		asked |= !strcmp(s->events[i].name, "shmem");
	if (!asked || !now)
		return false;
	snprintf(line, len, "shared memory of the whole machine (Shmem of /proc/meminfo), "
		 "including frees, %s by %s, to %s", now < then ? "shrank" : "grew",
		 text_bytes(bytes, (__s64)by, 0), text_bytes(all, (__s64)now, 0));
	return true;
}

static bool is_fault(const struct snap_event *e)
{
	return e && !strcmp(e->group, "fault");
}

/* What they mapped, beside the greatest RSS, where that is the program's own. */
static void put_rss(const struct target *t, const struct snap *s, char *line, size_t len)
{
	char mapped[TEXT_LEN], rss[TEXT_LEN], other[TEXT_LEN];
	__u64 bytes = 0;

	for (size_t i = 0; i < s->nr_counters; i++)
		if (is_fault(snap_event(s, s->counters[i].event)))
			bytes += (__u64)s->counters[i].sum * s->header.page_size;
	if (!t->rss_most || t->rss_most <= t->rss_before)
		return;
	snprintf(line, len, "; they mapped %s, RSS was %s at most", text_bytes(mapped, bytes, 0),
		 text_bytes(rss, t->rss_most, 0));
	if (t->rss_most > bytes + bytes / 64)
		snprintf(line + strlen(line), len - strlen(line),
			 ": %s or more became resident without a fault (khugepaged, "
			 "get_user_pages, execve())", text_bytes(other, t->rss_most - bytes, 0));
}

bool watch_reconcile(const struct watch *w, const struct targets *targets, const struct snap *s,
		     bool quiet, char *line, size_t len)
{
	const struct target *t = &targets->target;
	unsigned long long own, counted = 0, lost = 0;

	if (!faults_comparable(w, targets))
		return false;
	own = t->after.faults - t->before.faults;
	if (targets->children)
		own += t->after.child_faults - t->before.child_faults;
	for (size_t i = 0; i < s->nr_events; i++) {
		if (!is_fault(&s->events[i]))
			continue;
		counted += s->events[i].counted;
		for (int r = 0; r < MEMTAP_LOST_SLOTS; r++)
			lost += s->events[i].lost[r];
	}
	if (own == counted + lost && quiet)
		return false;
	if (own == counted + lost)
		snprintf(line, len, "the process's own counters agree: %llu fault%s", own,
			 own == 1 ? "" : "s");
	else if (own > counted + lost)
		snprintf(line, len,
			 "the process's own counters say %llu fault%s; counted %llu, lost %llu; "
			 "the other %llu were taken by the kernel on its behalf (get_user_pages), "
			 "without an event",
			 own, own == 1 ? "" : "s", counted, lost, own - counted - lost);
	else
		snprintf(line, len,
			 "the process's own counters say %llu fault%s, %llu fewer "
			 "than counted and lost", own, own == 1 ? "" : "s",
			 counted + lost - own);
	if (!targets->children)
		put_rss(t, s, line + strlen(line), len - strlen(line));
	return true;
}
