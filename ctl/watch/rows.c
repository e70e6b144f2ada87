// SPDX-License-Identifier: GPL-2.0-or-later
/* How a session's user stacks are followed: by rows, or by frame pointers. */
#include <string.h>

#include "base/err.h"
#include "watch/watch.h"

/* MEMTAP_CFG_ROWS in @flags, where it is wanted and possible. */
int watch_choose_unwind(struct watch *w, __u32 *flags)
{
	const bool can = w->session.info.features & MEMTAP_FEATURE_ROWS;

	if (!(*flags & MEMTAP_CFG_USTACK) || w->o->unwind == UNWIND_FP)
		return 0;
	if (can)
		*flags |= MEMTAP_CFG_ROWS;
	else if (w->o->unwind == UNWIND_ROWS)
		return fail_text("the loaded module cannot follow stacks by rows; load the "
				 "one of this version, or leave --unwind out");
	else
		note("the loaded module follows user stacks by frame pointers only: code "
		     "without them cuts a stack");
	return 0;
}

static bool by_rows(const struct watch *w)
{
	return w->config.flags & MEMTAP_CFG_ROWS;
}

static struct tables_target whose(const struct watch *w)
{
	const struct opts *o = w->o;
	const bool launched = w->target.pid;

	return (struct tables_target) {
		.program = launched ? w->target.path : NULL,
		.program_pid = w->target.pid,
		.pids = o->pids.at,
		.tids = o->tids.at,
		.nr_pids = o->pids.nr,
		.nr_tids = o->tids.nr,
		.everybody = o->system || (!launched && !(o->pids.nr + o->tids.nr)),
	};
}

/* After the last MEMTAP_CONFIGURE, before MEMTAP_START. */
void watch_prepare_rows(struct watch *w)
{
	const struct tables_target who = whose(w);

	tables_init(&w->tables, w->session.fd, w->config.mem_unwind ? w->config.mem_unwind :
		    w->session.info.mem_unwind);
	if (by_rows(w))
		tables_prepare(&w->tables, &who);
}

void watch_serve_rows(struct watch *w)
{
	const struct serve_hooks hooks = { leaks_see_file, leaks_look, w->leaks };

	if (!by_rows(w) && !w->leaks)
		return;
	w->serve = serve_start(&w->tables, by_rows(w), w->leaks ? &hooks : NULL);
	if (!w->serve)
		note("what is mapped from now on cannot be followed: no thread for it");
}

/* When all was shown: nobody shall wait for a file that is being read. */
void watch_end_rows(struct watch *w)
{
	const struct tables_target who = whose(w);
	char text[512];

	serve_end(w->serve);
	w->serve = NULL;
	if (by_rows(w) && w->now)
		tables_remember(&w->tables, w->now, &who, !w->o->system);
	if (by_rows(w) && tables_summary(&w->tables, text, sizeof(text)))
		note("%s", text);
	tables_free(&w->tables);
}
