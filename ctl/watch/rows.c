// SPDX-License-Identifier: GPL-2.0-or-later
/* Load the tables that unwind a session's user stacks. */
#include "base/err.h"
#include "watch/watch.h"

static struct tables_target whose(const struct targets *w)
{
	const char *program = targets_program(w);

	return (struct tables_target) {
		.program = program,
		.argv = w->argv,
		.program_pid = w->target.pid,
		.pids = w->pids->at,
		.tids = w->tids->at,
		.nr_pids = w->pids->nr,
		.nr_tids = w->tids->nr,
		.everybody = w->system || (!program && !(w->pids->nr + w->tids->nr)),
	};
}

/* After the last MEMTAP_CONFIGURE, before MEMTAP_START. */
void watch_rows_prepare(struct watch *w, const struct targets *targets)
{
	const struct tables_target who = whose(targets);
	struct watch_rows *r = &w->rows;

	r->wanted = w->config.flags & MEMTAP_CFG_ROWS;
	tables_init(&r->tables, w->session.fd, w->config.mem_unwind ? w->config.mem_unwind :
		    w->session.info.mem_unwind);
	if (r->wanted)
		tables_prepare(&r->tables, &who);
}

/* When all was shown: nobody shall wait for a file that is being read. */
void watch_rows_end(struct watch_rows *r, const struct targets *targets, const struct snap *last)
{
	const struct tables_target who = whose(targets);
	char text[512];

	serve_end(r->serve);
	r->serve = NULL;
	if (r->wanted && last)
		tables_remember(&r->tables, last, &who, !targets->system);
	if (r->wanted && tables_summary(&r->tables, text, sizeof(text)))
		note("%s", text);
	tables_free(&r->tables);
	r->wanted = false;
}
