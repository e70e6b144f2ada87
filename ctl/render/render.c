// SPDX-License-Identifier: GPL-2.0-or-later
/* A report in one of its forms. */
#include <errno.h>

#include "render/int.h"

struct renderer {
	int (*print)(const struct view *v, FILE *out);
	enum report_detail detail;
	bool comms;			/* begins with a name, of which there may be several
					 * processes: as readers expect it */
};

/* By enum report_format; base/opt_table.c has the names. */
static const struct renderer renderers[NR_FORMATS] = {
	[FORMAT_TABLE] = { render_table, DETAIL_LINES },
	[FORMAT_FOLDED] = { render_folded, DETAIL_NAMES, .comms = true },
	[FORMAT_FLAME] = { render_flame, DETAIL_NAMES },
	[FORMAT_JSON] = { render_json, DETAIL_PLACES },
	[FORMAT_PERF_SCRIPT] = { render_perf_script, DETAIL_PLACES, .comms = false },
	[FORMAT_PPROF] = { render_pprof, DETAIL_PLACES, .comms = false },
	[FORMAT_MASSIF] = { render_massif, DETAIL_PLACES, .comms = false },
	[FORMAT_SPEEDSCOPE] = { render_speedscope, DETAIL_LINES, .comms = true },
	[FORMAT_CALLGRIND] = { render_callgrind, DETAIL_PLACES, .comms = true },
};

static bool same_units(const struct report *r)
{
	for (size_t i = 1; i < r->nr_events; i++)
		if (r->events[i].unit != r->events[0].unit)
			return false;
	return true;
}

static int print(const struct view *v, FILE *out)
{
	int err;

	errno = 0;
	err = renderers[v->o->format].print(v, out);
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	return err;
}

int render_report(const struct snap *snap, struct sym *sym, const struct render_opts *o,
		  FILE *out)
{
	struct report_opts rows = o->rows;
	struct view v = { .o = o };
	struct report *r;
	int err;

	rows.detail = renderers[o->format].detail;
	/* what programs read is whole */
	if (o->format != FORMAT_TABLE)
		rows.no_loader = false;
	if (renderers[o->format].comms && !o->by_given &&
	    (rows.by == BY_PROCESS || rows.by == BY_PROGRAM))
		rows.by = BY_COMM;
	r = report_make(snap, sym, &rows);
	if (!r)
		return -ENOMEM;
	v.r = r;
	/* one picture has one unit: where events differ in theirs, calls */
	v.calls = (r->leaks ? o->blocks : o->calls) ||
		  (o->format == FORMAT_FLAME && !same_units(r));
	err = print(&v, out);
	report_free(r);
	return err;
}
