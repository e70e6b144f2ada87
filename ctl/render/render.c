// SPDX-License-Identifier: GPL-2.0-or-later
/* Write a report in the chosen format. */
#include <errno.h>
#include <stdlib.h>

#include "render/int.h"

struct renderer {
	int (*print)(const struct view *v, FILE *out);
	int (*diff)(const struct view *v, FILE *out);	/* of two; NULL: print() does it */
	enum report_detail detail;
	bool comms;			/* begins with a name, of which there may be several
					 * processes: as readers expect it */
};

/* By enum report_format; base/opt_table.c has the names. */
static const struct renderer renderers[NR_FORMATS] = {
	[FORMAT_TABLE] = { render_table, render_diff_table, DETAIL_LINES },
	[FORMAT_FOLDED] = { render_folded, NULL, DETAIL_NAMES, .comms = true },
	[FORMAT_FLAME] = { render_flame, NULL, DETAIL_NAMES },
	[FORMAT_JSON] = { render_json, render_diff_json, DETAIL_PLACES },
	[FORMAT_PERF_SCRIPT] = { render_perf_script, NULL, DETAIL_PLACES },
	[FORMAT_PPROF] = { render_pprof, NULL, DETAIL_PLACES },
	[FORMAT_MASSIF] = { render_massif, NULL, DETAIL_PLACES },
	[FORMAT_SPEEDSCOPE] = { render_speedscope, NULL, DETAIL_LINES, .comms = true },
	[FORMAT_XML] = { render_xml, NULL, DETAIL_PLACES },
	[FORMAT_HEAPTRACK] = { render_heaptrack, NULL, DETAIL_PLACES },
	[FORMAT_PERF_DATA] = { render_perf_data, NULL, DETAIL_PLACES },
	[FORMAT_CALLGRIND] = { render_callgrind, NULL, DETAIL_PLACES, .comms = true },
};

static bool same_units(const struct report *r)
{
	const struct snap_event *first = NULL;

	for (size_t i = 0; i < r->nr_events; i++) {
		const struct snap_event *e = &r->events[i];

		if (!render_event_shown(r, e))
			continue;
		if (first && e->unit != first->unit)
			return false;
		first = e;
	}
	return true;
}

static int print(const struct view *v, FILE *out)
{
	const struct renderer *format = &renderers[v->o->format];
	int err;

	errno = 0;
	err = v->r->was && format->diff ? format->diff(v, out) : format->print(v, out);
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	return err;
}

/* What is asked of the rows, as the format needs it. */
static struct report_opts rows_for(const struct render_opts *o, const struct snap *snap)
{
	struct report_opts rows = o->rows;

	rows.detail = renderers[o->format].detail;
	/* a value of its own */
	rows.kinds = o->format == FORMAT_FLAME;
	/* a page has a time line, massif's file is one */
	rows.spans = o->format == FORMAT_FLAME || o->format == FORMAT_MASSIF ||
		     (o->format == FORMAT_PERF_SCRIPT && !leaks_kept(snap));
	if (snap->peak.rec.len && (o->format == FORMAT_PPROF || o->format == FORMAT_HEAPTRACK))
		rows.of |= RLEAKS_LIVE | RLEAKS_TOTALS;
	if (snap->peak.rec.len && o->format == FORMAT_MASSIF && !rows.of)
		rows.of = RLEAKS_LIVE | 1U << RLEAKS_PEAK;
	if (o->format == FORMAT_HEAPTRACK) {	/* it has no kinds, nor ages */
		rows.older_ms = 0;
		rows.leak_kinds = 0;
	}
	/* what programs read is whole */
	if (o->format != FORMAT_TABLE)
		rows.no_loader = false;
	if (renderers[o->format].comms && !rows.by_given &&
	    (rows.by == BY_PROCESS || rows.by == BY_PROGRAM))
		rows.by = BY_COMM;
	return rows;
}

static int render(struct view *v, FILE *out)
{
	const struct report *r = v->r;

	/* one picture has one unit: where events differ in theirs, calls */
	v->calls = (r->leaks ? v->o->blocks : v->o->calls) ||
		   (v->o->format == FORMAT_FLAME && !same_units(r));
	return print(v, out);
}

int render_report(const struct snap *snap, struct sym *sym, const struct render_opts *o,
		  FILE *out)
{
	const struct report_opts rows = rows_for(o, snap);
	struct report *r = report_make(snap, sym, &rows);
	struct view v = { .o = o, .r = r, .sym = sym };
	int err = r ? render(&v, out) : -ENOMEM;

	report_free(r);
	return err;
}

static bool has_rows(const struct report *r, __u32 group)
{
	for (size_t i = 0; i < r->nr_rows; i++)
		if (r->rows[i].group == group)
			return true;
	return false;
}

static int put_profile(struct view *v, const struct render_profiles *to)
{
	const struct rgroup *g = &v->r->groups[v->group];
	struct render_profile profile = { .labels = NULL };
	char *bytes = NULL;
	size_t len;
	FILE *f = open_memstream(&bytes, &len);
	int err;

	if (!f)
		return -ENOMEM;
	to->describe(to->ctx, g, &profile);
	v->profile = &profile;
	err = render_pprof(v, f);
	v->profile = NULL;
	if (fclose(f) && !err)
		err = -ENOMEM;
	if (!err)
		err = to->put(to->ctx, g, bytes, len);
	free(bytes);
	return err;
}

int render_profiles(const struct snap *snap, struct sym *sym, const struct render_opts *o,
		    const struct render_profiles *to)
{
	struct report_opts rows = rows_for(o, snap);
	struct view v = { .o = o, .sym = sym };
	const char **types;
	struct report *r;
	int err = 0;

	/* peaks and temporary blocks are of all the time, not of an interval */
	if (snap->peak.rec.len)
		rows.of = RLEAKS_LIVE | 1U << RLEAKS_ALLOCATED;
	r = report_make(snap, sym, &rows);
	if (!r)
		return -ENOMEM;
	v.r = r;
	types = render_pprof_types(&v);
	if (types)
		to->types(to->ctx, types);
	else
		err = -ENOMEM;
	for (; !err && v.group < r->nr_groups; v.group++)
		if (has_rows(r, v.group))
			err = put_profile(&v, to);
	free(types);
	report_free(r);
	return err;
}

int render_diff(const struct render_side sides[2], const struct render_opts *o, FILE *out)
{
	struct report_opts rows = rows_for(o, sides[1].snap);
	struct report *r;
	struct view v = { .o = o, .sides = sides };
	int err;

	rows.spans = false;
	/* places are other ones in what was built anew */
	if (rows.detail == DETAIL_PLACES)
		rows.detail = DETAIL_LINES;
	r = report_make_diff(sides[0].snap, sides[0].sym, sides[1].snap, sides[1].sym, &rows);
	v.r = r;
	err = r ? render(&v, out) : -ENOMEM;
	report_free(r);
	return err;
}
