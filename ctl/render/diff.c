// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print the comparison of two reports: changed rows with old and new values.  If the two
 * recordings have different durations, the report says so: counts of steady activity differ for
 * that reason alone.
 */
#include <string.h>

#include "core/names.h"
#include "render/int.h"

/* ---- for people ---- */

static bool has_value(const struct snap_event *e)
{
	return *unit_name(e->unit);
}

/* "+256 blocks: 1 -> 257" */
static void put_counts(const struct report *r, const struct snap_event *e, __u64 was, __u64 is,
		       FILE *out)
{
	char change[TEXT_LEN], a[TEXT_LEN], b[TEXT_LEN];
	const __s64 by = report_change((__s64)is, (__s64)was);
	const char *what = r->leaks ? "block" : report_is_pages(e) ? "page" :
			   render_thing(e);

	fprintf(out, "%s%s %s%s: %s -> %s", by > 0 ? "+" : "", text_signed(change, by), what,
		text_s(by < 0 ? -(__u64)by : (__u64)by), text_count(a, was), text_count(b, is));
}

/* "+1.0 MiB: 1.0 KiB -> 1.0 MiB" */
static void put_values(const struct report *r, const struct snap_event *e, __s64 was, __s64 is,
		       FILE *out)
{
	char change[TEXT_LEN], a[TEXT_LEN], b[TEXT_LEN];
	const __s64 page = (__s64)r->snap->header.page_size;

	/* their number is told anyway */
	if (report_is_pages(e)) {
		fprintf(out, "%s: %s -> %s",
			text_bytes(change, page * report_change(is, was), true),
			text_bytes(a, page * was, false), text_bytes(b, page * is, false));
		return;
	}
	fprintf(out, "%s: %s -> %s", text_value(change, report_change(is, was), e->unit, true),
		text_value(a, was, e->unit, false), text_value(b, is, e->unit, false));
}

static void put_row(const struct report *r, const struct rrow *row, const struct snap_event *e,
		    FILE *out)
{
	render_row_head(r, row, out);
	fputs("    ", out);
	if (has_value(e)) {
		put_values(r, e, row->was_sum, row->sum, out);
		fputs("  in ", out);
	}
	put_counts(r, e, row->was_count, row->count, out);
	fputs("\n\n", out);
}

static void put_section(const struct report *r, const struct rsection *s, FILE *out)
{
	const size_t changed = s->nr - s->nr_same - s->nr_loader;
	char n[TEXT_LEN], same[TEXT_LEN];

	for (size_t i = 0; i < s->shown; i++)
		put_row(r, report_shown(r, s, i), s->event, out);
	text_put(out, s->event->name, NULL);
	fputs(": ", out);
	if (has_value(s->event)) {
		put_values(r, s->event, s->was_sum, s->sum, out);
		fputs("  in ", out);
	}
	put_counts(r, s->event, s->was_count, s->count, out);
	fprintf(out, "\n  %s stack%s %s", text_count(n, changed), text_s(changed),
		r->o->changes == CHANGES_UP ? "grew" : "changed");
	if (s->shown < changed)
		fprintf(out, ", of which %zu %s shown (--top 0 shows all)", s->shown,
			s->shown == 1 ? "is" : "are");
	fprintf(out, "; %s did not\n", text_count(same, s->nr_same));
	if (s->nr_loader)
		fprintf(out, "  by the dynamic linker, not shown: %zu (--show-loader shows them)\n",
			s->nr_loader);
}

static double seconds(const struct snap *s)
{
	return (double)(s->header.now_ns - s->header.start_ns) / 1e9;
}

/* What lives does not depend on how long somebody looked; what is counted does. */
static void put_times(const struct view *v, FILE *out)
{
	const double was = seconds(v->sides[0].snap), is = seconds(v->sides[1].snap);

	if (v->r->leaks || was <= 0 || is <= 0 || (is < was * 1.1 && was < is * 1.1))
		return;
	fprintf(out, "durations: %.1f and %.1f s; a steady rate counts %.2f times as much in the "
		"second\n", was, is, is / was);
}

/* The accounts of one of them; the first has no report of its own yet. */
static void put_side(const struct view *v, int i, FILE *out)
{
	const struct render_side *side = &v->sides[i];
	struct render_opts o = *v->o;
	struct view own = { .o = &o, .r = v->r, .calls = v->calls };
	struct report *r = NULL;

	o.title = side->title;
	o.notes = NULL;
	if (!i) {
		own.r = r = report_make(side->snap, side->sym, v->r->o);
		if (!r) {
			fputs("not enough memory for its event counts\n", out);
			return;
		}
	}
	text_put(out, side->name, NULL);
	fputs(": ", out);
	if (!own.r->leaks) {		/* whose foot begins with it */
		render_title(&own, out);
		fputc('\n', out);
	}
	render_footer(&own, v->o->foot, out);
	report_free(r);
}

void render_diff_footer(const struct view *v, FILE *out)
{
	put_times(v, out);
	put_side(v, 0, out);
	fputc('\n', out);
	put_side(v, 1, out);
}

static void put_head(const struct view *v, FILE *out)
{
	char when[TEXT_LEN], since[TEXT_LEN];

	if (v->o->since_last) {
		fprintf(out, "[%s] changed since %s:\n\n",
			text_clock(when, v->sides[1].snap->header.real_ns),
			text_clock(since, v->sides[0].snap->header.real_ns));
		return;
	}
	fputs("from ", out);
	text_put(out, v->sides[0].name, NULL);
	fputs(" to ", out);
	text_put(out, v->sides[1].name, NULL);
	fputs("\n\n", out);
}

/* The accounts are the last report's. */
static void put_footer(const struct view *v, FILE *out)
{
	if (!v->o->since_last) {
		render_diff_footer(v, out);
		return;
	}
	for (size_t i = 0; v->o->notes && v->o->notes[i]; i++) {
		text_put(out, v->o->notes[i], NULL);
		fputc('\n', out);
	}
}

int render_diff_table(const struct view *v, FILE *out)
{
	const struct report *r = v->r;

	put_head(v, out);
	if (!r->nr_rows)
		fputs("nothing was counted in either report\n", out);
	for (size_t i = 0; i < r->nr_sections; i++) {
		if (i)
			fputc('\n', out);
		put_section(r, &r->sections[i], out);
	}
	fputc('\n', out);
	put_footer(v, out);
	return 0;
}

/* ---- for programs ---- */

static void put_json_side(struct json *j, const struct render_side *side)
{
	json_open(j, NULL, '{');
	json_str(j, "file", side->name);
	if (side->title)
		json_str(j, "title", side->title);
	json_moment(j, &side->snap->header);
	json_events(j, side->snap);
	json_close(j, '}');
}

static void put_pair(struct json *j, const char *key, __s64 was, __s64 is)
{
	json_open(j, key, '{');
	json_s64(j, "before", was);
	json_s64(j, "after", is);
	json_s64(j, "change", report_change(is, was));
	json_close(j, '}');
}

static void put_json_row(struct json *j, const struct report *r, const struct rrow *row)
{
	json_open(j, NULL, '{');
	json_str(j, "event", r->events[row->event].name);
	json_str(j, "unit", unit_name(r->events[row->event].unit));
	json_group(j, &r->groups[row->group]);
	if (!r->leaks)
		json_flags(j, row->flags);
	if (row->file)
		json_str(j, "path", row->file);
	put_pair(j, "count", (__s64)row->was_count, (__s64)row->count);
	put_pair(j, "sum", row->was_sum, row->sum);
	json_stack(j, r, "kernel", row->kstack);
	json_stack(j, r, "user", row->ustack);
	json_close(j, '}');
}

static void put_json_total(struct json *j, const struct rsection *s)
{
	json_open(j, NULL, '{');
	json_str(j, "event", s->event->name);
	json_u64(j, "rows", s->nr);
	json_u64(j, "same", s->nr_same);
	json_u64(j, "shown", s->shown);
	put_pair(j, "count", (__s64)s->was_count, (__s64)s->count);
	put_pair(j, "sum", s->was_sum, s->sum);
	json_close(j, '}');
}

int render_diff_json(const struct view *v, FILE *out)
{
	const struct report *r = v->r;
	struct json j = { .out = out };

	json_document(&j, "diff");
	if (v->o->command)
		json_str(&j, "command", v->o->command);
	json_open(&j, "reports", '[');
	for (int i = 0; i < 2; i++)
		put_json_side(&j, &v->sides[i]);
	json_close(&j, ']');
	json_open(&j, "rows", '[');
	for (size_t i = 0; i < r->nr_sections; i++)
		for (size_t k = 0; k < r->sections[i].shown; k++)
			put_json_row(&j, r, report_shown(r, &r->sections[i], k));
	json_close(&j, ']');
	json_open(&j, "totals", '[');
	for (size_t i = 0; i < r->nr_sections; i++)
		put_json_total(&j, &r->sections[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	fputc('\n', out);
	return 0;
}
