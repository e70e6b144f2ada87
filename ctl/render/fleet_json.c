// SPDX-License-Identifier: GPL-2.0-or-later
/* The same as JSON: documents "hosts_diff" and "outliers" of docs/json.md. */
#include "base/json.h"
#include "core/names.h"
#include "render/fleet_int.h"
#include "report/cut.h"

static void put_stack(struct json *j, const struct fleet_view *v, const char *key, __u32 stack)
{
	const __u32 flags = fleet_stack_flags(v->f, stack);
	const char *none = fleet_no_stack(stack);

	json_open(j, key, '[');
	for (size_t i = 0; i < fleet_nr_frames(v->f, stack); i++) {
		const struct sym_frame f = fleet_frame(v->f, stack, i);

		json_open(j, NULL, '{');
		json_str(j, "name", f.name);
		if (!f.name) {
			json_str(j, "object", f.object);
			json_hex(j, "addr", f.addr);
		}
		json_close(j, '}');
	}
	for (size_t i = 0; i <= NR_CUTS; i++) {
		const char *mark = i == NR_CUTS ? none : flags & report_cuts[i].flag ?
				   report_cut_mark(&report_cuts[i], flags) : NULL;

		if (!mark)
			continue;
		json_open(j, NULL, '{');
		json_str(j, "mark", mark);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_spread(struct json *j, const char *key, const struct fleet_spread *s)
{
	json_open(j, key, '{');
	json_u64(j, "hosts", s->hosts);
	json_u64(j, "have", s->have);
	json_seconds(j, "median", s->middle);
	json_seconds(j, "spread", s->spread);
	json_seconds(j, "least", s->least);
	json_seconds(j, "most", s->most);
	json_close(j, '}');
}

static void put_what(struct json *j, const struct fleet_view *v, const struct fleet_row *row)
{
	const struct snap_event *e = fleet_event(v->f, row->event);

	json_str(j, "event", e->name);
	json_str(j, "unit", unit_name(e->unit));
	if (row->program)
		json_str(j, "comm", row->program);
	if (row->file)
		json_str(j, "path", row->file);
}

static void put_stacks(struct json *j, const struct fleet_view *v, const struct fleet_row *row)
{
	put_stack(j, v, "kernel", row->kstack);
	put_stack(j, v, "user", row->ustack);
}

static void put_row(struct json *j, const struct fleet_view *v, const struct fleet_row *row)
{
	json_open(j, NULL, '{');
	put_what(j, v, row);
	put_spread(j, "before", &row->of[0]);
	put_spread(j, "after", &row->of[1]);
	json_seconds(j, "change", row->of[1].middle - row->of[0].middle);
	put_stacks(j, v, row);
	json_close(j, '}');
}

static void put_odds(struct json *j, const struct fleet_view *v, const char *key)
{
	const struct fleet_result *r = v->result;

	json_open(j, key, '[');
	for (size_t i = 0; i < r->nr_odds; i++) {
		const struct fleet_odd *odd = &r->odds[i];
		const struct fleet_host *h = fleet_host(v->f, odd->host);

		json_open(j, NULL, '{');
		json_str(j, "host", h->name);
		if (v->names[0])
			json_str(j, "group", v->names[h->side]);
		put_what(j, v, &odd->row);
		json_seconds(j, "value", odd->value);
		put_spread(j, "others", &odd->row.of[0]);
		put_stacks(j, v, &odd->row);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_totals(struct json *j, const struct fleet_view *v, __u32 number)
{
	const size_t nr = fleet_nr_hosts(v->f);

	json_open(j, "totals", '[');
	for (size_t e = 0; e < fleet_nr_events(v->f) && !v->result->idle[number]; e++) {
		const double value = v->result->values[e * nr + number];
		const double others = v->result->others[e * nr + number];

		if (!fleet_has(v->result, e))
			continue;
		json_open(j, NULL, '{');
		json_str(j, "event", fleet_event(v->f, e)->name);
		json_seconds(j, "value", value);
		json_seconds(j, "others", others);
		if (others != 0)
			json_seconds(j, "percent", 100 * value / others);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_hosts(struct json *j, const struct fleet_view *v)
{
	json_open(j, "hosts", '[');
	for (size_t i = 0; i < fleet_nr_hosts(v->f); i++) {
		const struct fleet_host *h = fleet_host(v->f, i);

		json_open(j, NULL, '{');
		json_str(j, "host", h->name);
		if (v->names[0])
			json_str(j, "group", v->names[h->side]);
		if (*h->release)
			json_str(j, "release", h->release);
		json_u64(j, "recordings", h->files);
		json_u64(j, "duration_ns", h->ns);
		put_totals(j, v, (__u32)i);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void begin(struct json *j, const char *document, const struct fleet_view *v)
{
	json_document(j, document);
	json_bool(j, "per_second", !fleet_is_level(v->f));
	json_u64(j, "files", v->files);
	json_u64(j, "unreadable", v->skipped);
	json_u64(j, "rows_without_stack", fleet_folded(v->f));
}

static void put_notes(struct json *j, const struct fleet_view *v)
{
	__u64 files;

	json_open(j, "notes", '[');
	for (size_t i = 0; i < fleet_nr_notes(v->f); i++)
		json_str(j, NULL, fleet_note_text(v->f, i, &files));
	json_close(j, ']');
}

int render_fleet_diff_json(const struct fleet_view *v, FILE *out)
{
	const struct fleet_result *r = v->result;
	struct json j = { .out = out };

	begin(&j, "hosts_diff", v);
	json_open(&j, "groups", '[');
	json_str(&j, NULL, v->names[0]);
	json_str(&j, NULL, v->names[1]);
	json_close(&j, ']');
	put_hosts(&j, v);
	json_open(&j, "rows", '[');
	for (size_t i = 0; i < r->nr_rows; i++)
		if (!v->top || r->nr_rows - i <= v->top)
			put_row(&j, v, &r->rows[i]);
	json_close(&j, ']');
	json_u64(&j, "same", r->nr_same);
	json_open(&j, "totals", '[');
	for (size_t i = 0; i < r->nr_totals; i++)
		if (fleet_has(r, i))
			put_row(&j, v, &r->totals[i]);
	json_close(&j, ']');
	put_odds(&j, v, "odd");
	put_notes(&j, v);
	json_close(&j, '}');
	fputc('\n', out);
	return 0;
}

int render_fleet_outliers_json(const struct fleet_view *v, FILE *out)
{
	struct json j = { .out = out };

	begin(&j, "outliers", v);
	json_bool(&j, "enough_hosts", v->result->judged[0]);
	put_hosts(&j, v);
	put_odds(&j, v, "rows");
	put_notes(&j, v);
	json_close(&j, '}');
	fputc('\n', out);
	return 0;
}
