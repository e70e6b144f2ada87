// SPDX-License-Identifier: GPL-2.0-or-later
/* What the watching commands do where live blocks are kept. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/err.h"
#include "leaks/leaks.h"
#include "watch/watch.h"

#define BIG		(128 << 10)
#define OLDER_MS	500	/* of a process that runs: what is just being used */

int watch_begin_leaks(struct watch *w)
{
	if (!w->q->leaks && !w->o->leaks)
		return 0;
	w->leaks = malloc(sizeof(*w->leaks));
	if (!w->leaks)
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	/* what is freed is given back: snapshots are large, and seldom */
	mallopt(M_MMAP_THRESHOLD, BIG);
	mallopt(M_ARENA_MAX, 1);
	return leaks_begin(w->leaks, w->cmd, w->o);
}

int watch_attach_leaks(struct watch *w)
{
	struct leaks_run *r = w->leaks;

	if (!r)
		return 0;
	if (!(w->session.info.features & MEMTAP_FEATURE_LIVE))
		return fail_text("the loaded module keeps no live blocks; load the one of this "
				 "version");
	r->dev = w->session.fd;
	r->features = w->session.info.features;
	r->items = w->items;
	r->nr_items = w->config.filter_nr;
	r->program = w->target.pid ? w->target.path : NULL;
	r->rows = w->config.flags & MEMTAP_CFG_ROWS;
	r->tables = &w->tables;
	r->reading = &w->reading;
	return leaks_prepare(r);
}

void watch_start_trace(struct watch *w)
{
	if (!w->leaks || !w->o->trace)
		return;
	w->trace = leaks_trace_start(w->leaks, w->out.f, &w->printing);
	if (!w->trace)
		note("calls cannot be traced: no thread for it");
}

void watch_end_trace(struct watch *w)
{
	const __u64 lost = leaks_trace_end(w->trace);

	w->trace = NULL;
	if (lost)
		note("%llu calls came faster than they could be printed, and are not in the "
		     "trace", (unsigned long long)lost);
}

void watch_end_leaks(struct watch *w)
{
	if (!w->leaks)
		return;
	leaks_verify(w->leaks, w->now);
	leaks_free(w->leaks);
	free(w->leaks);
	w->leaks = NULL;
}

void watch_leaks_opts(const struct watch *w, struct render_opts *r, bool final)
{
	const struct leaks_run *l = w->leaks;
	const bool at_end = final && w->target.pid;

	r->rows.suppress = l->suppress;
	r->summary = at_end;
	if (at_end && !l->nr_reach)
		r->no_kinds = l->no_kinds;
	if (at_end && !w->o->show_reachable)
		r->rows.leak_kinds = LEAKS_LOST;
	if (!w->o->older_given)
		r->rows.older_ms = at_end ? 0 : OLDER_MS;
	if (!w->o->top_given && r->rows.top)
		r->rows.top = LEAKS_TOP;
}

int watch_leaks_status(struct watch *w, int status)
{
	struct leaks_verdict v;

	if (!w->leaks || !w->o->exitcode || !w->now || WIFSIGNALED(w->target.status))
		return status;
	if (leaks_verdict(w->now, w->sym, w->leaks->suppress, &v))
		return fail(ERR_PLAIN, ENOMEM, "%s", "the verdict");
	return v.blocks || v.mismatches ? (int)w->o->exitcode : status;
}
