// SPDX-License-Identifier: GPL-2.0-or-later
/* Test page faults, brk and mmap of a process; report missing hooks. */
#include <stdlib.h>
#include <string.h>

#include "report/cut.h"
#include "session/dev.h"
#include "selftest/watch.h"

static const struct watch_ask ask_events = {
	.stacks = MEMTAP_CFG_USTACK,
	.all_events = true,
};

/* ---- what was counted ---- */

/* One event, its function, what that did. */
struct growth {
	const char *name, *event, *function;
	__s64 calls;		/* 0: as many as the kernel counts page faults */
	__s64 bytes;		/* 0: they are not the point */
};

static const struct growth growths[] = {
	{ "page faults", "minor-fault", "selftest_touch", 0, 0 },
	{ "heap grown by brk", "brk", "selftest_grow_heap", ST_BRK_CALLS, ST_BRK_BYTES },
	{ "heap shrunk by brk", "brk", "selftest_shrink_heap", 1, -ST_BRK_BYTES },
	{ "mmap", "mmap", "selftest_map", ST_MMAP_CALLS, ST_MMAP_BYTES },
	{ "munmap", "munmap", "selftest_unmap", ST_MMAP_CALLS, ST_MMAP_BYTES },
};

static bool is_counted(const struct st_watch *w, const char *event)
{
	for (__u32 i = 0; i < w->watch.session.nr_events; i++)
		if (!strcmp(w->watch.session.events[i].name, event))
			return w->watch.config.events >> i & 1;
	return false;
}

static void put_growth(struct st_run *r, const struct st_watch *w, const struct growth *g,
		       int faults)
{
	struct st_sum in, all;
	struct st_check c = { .name = g->name };
	char buf[TEXT_LEN];

	if (!is_counted(w, g->event)) {
		st_say(&r->out, ST_NOT_HERE, g->name, "this kernel has no hook for %s",
		       g->event);
		return;
	}
	in = st_sum_user(w->now, r->sym, g->event, g->function, NULL);
	all = st_sum_user(w->now, r->sym, g->event, NULL, NULL);
	c.numbers[0] = (struct st_number){ g->calls ? "calls" : "pages",
					   g->calls ? g->calls : faults,
					   (__s64)in.count };
	if (g->bytes)
		c.numbers[1] = (struct st_number){ "bytes", g->bytes, in.value };
	snprintf(c.text, sizeof(c.text), "by %s", g->function);
	c.verdict = st_compare(&c);
	if (c.verdict != ST_OK)
		snprintf(c.text, sizeof(c.text), "by %s, %s by the whole process", g->function,
			 text_count(buf, all.count));
	st_put(&r->out, &c);
}

static const char *why_cut(const struct snap_stack *st)
{
	for (int k = 0; st && k < NR_CUTS; k++)
		if (st->flags & report_cuts[k].flag)
			return report_cut_mark(&report_cuts[k], st->flags);
	return st ? "" : "[stack not recorded]";
}

/* Whole: down to where the program began. */
static void put_stacks(struct st_run *r, struct st_watch *w)
{
	const struct snap *s = w->now;
	struct st_check c = { .name = "whole user stacks" };
	__s64 all = 0, whole = 0;
	const char *why = "";
	char more[300] = " ";

	for (size_t i = 0; i < s->nr_counters; i++) {
		const struct snap_stack *st = snap_stack(s, s->counters[i].ustack);
		bool cut = !st || !(st->flags & MEMTAP_STACK_ROWS);

		for (int k = 0; !cut && k < NR_CUTS; k++)
			cut = st->flags & report_cuts[k].flag;
		if (cut && !why[0])
			why = why_cut(st);
		all += (__s64)s->counters[i].count;
		whole += cut ? 0 : (__s64)s->counters[i].count;
	}
	c.numbers[0] = (struct st_number){ "stacks", all, whole };
	c.verdict = st_compare(&c);
	snprintf(c.text, sizeof(c.text), "by tables, without frame pointers");
	if (c.verdict != ST_OK)
		snprintf(c.text, sizeof(c.text), "%s%s", why,
			 tables_summary(&w->watch.rows.tables, more + 1, sizeof(more) - 1) ?
			 more : "");
	st_put(&r->out, &c);
}

/* ---- what could not be hooked ---- */

static void put_hook(struct st_run *r, const struct memtap_hook_state *h)
{
	char name[64];

	snprintf(name, sizeof(name), "hook of %.40s", h->event);
	st_say(&r->out, ST_NOT_HERE, name, "%s%s%s: calls that come this way (of 32-bit programs, "
	       "or of 64-bit ones) are not counted", h->target, h->target[0] ? ": " : "",
	       strerror((int)h->error));
}

/* Or was it not asked for?  H is then the first of its hooks that failed. */
static bool was_refused(const struct st_watch *w, const char *event, struct memtap_hook_state *h)
{
	for (__u32 i = 0; !dev_hook(w->watch.session.fd, i, h); i++)
		if (!strcmp(h->event, event) && h->error)
			return true;
	return false;
}

static void put_hooks(struct st_run *r, const struct st_watch *w)
{
	struct memtap_hook_state h;
	struct st_check c = { .name = "built-in hooks" };
	__s64 wanted = 0, attached = 0;

	for (__u32 i = 0; !dev_hook(w->watch.session.fd, i, &h); i++) {
		wanted += h.state == MEMTAP_HOOK_ATTACHED || h.error;
		attached += h.state == MEMTAP_HOOK_ATTACHED;
		if (h.state == MEMTAP_HOOK_ATTACHED && !strcmp(h.event, "brk") &&
		    !r->brk_function[0])
			strcpy(r->brk_function, h.target);
		/* (of an event that has none, its own line says all) */
		if (h.state != MEMTAP_HOOK_ATTACHED && h.error && is_counted(w, h.event))
			put_hook(r, &h);
	}
	for (__u32 i = 0; i < w->watch.session.nr_events; i++) {
		const struct memtap_event_info *e = &w->watch.session.events[i];

		if (!(w->watch.config.events >> i & 1) && was_refused(w, e->name, &h))
			st_say(&r->out, ST_NOT_HERE, e->name, "this kernel has no hook for "
			       "it (%s: %s): %s cannot be counted", h.target,
			       strerror((int)h.error), e->summary);
	}
	c.verdict = attached ? ST_OK : ST_FAILED;
	snprintf(c.text, sizeof(c.text), "%lld of %lld attached", (long long)attached,
		 (long long)wanted);
	st_put(&r->out, &c);
}

/* ---- the session ---- */

static int count(struct st_run *r, struct st_watch *w, struct st_child *child)
{
	int ret = st_watch_start(w), faults;

	if (ret)
		return ret;
	watch_serve(&w->watch);
	put_hooks(r, w);
	faults = st_child_step(child, ST_KEEP);
	if (faults < 0 || st_child_step(child, ST_GIVE_BACK) ||
	    st_watch_stop(w))
		return EXIT_FAILURE;
	for (size_t i = 0; i < sizeof(growths) / sizeof(growths[0]); i++)
		put_growth(r, w, &growths[i], faults);
	if (w->watch.config.flags & MEMTAP_CFG_ROWS)
		put_stacks(r, w);
	st_put_account(r, w->now, "accounts of these events");
	return 0;
}

void st_events(struct st_run *r)
{
	struct st_child child = { 0 };
	struct st_watch *w = NULL;

	if (!st_child_start(&child, st_work_grow) && !st_child_step(&child, ST_PREPARE))
		w = st_watch_new(r, &ask_events, NULL, child.pid);
	if (!w || count(r, w, &child))
		st_say(&r->out, ST_FAILED, "faults, brk, mmap", "could not be counted");
	st_watch_free(w);
	st_child_end(&child);
}
