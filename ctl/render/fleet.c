// SPDX-License-Identifier: GPL-2.0-or-later
/* Print what differs between two groups of hosts, and which hosts are odd. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "core/names.h"
#include "render/fleet.h"
#include "render/fleet_int.h"
#include "report/report.h"

#define ODD_ROWS	3	/* stacks that are shown of an odd host */

static const char rule[] =
	"a stack differs if the medians of both groups are more than 3.5 spreads of hosts apart,\n"
	"and three quarters of each group's hosts are on its side of the middle between them\n";
static const char odd_rule[] =
	"a host is odd if it is more than 3.5 spreads of the other hosts away from their median\n"
	"(of fewer than 20 others: also three times as far as the farthest of them)\n";

/* "1.5 MiB/s", "0.25 pages/s", "12 events/s"; of a level without the time. */
static const char *amount(const struct fleet_view *v, __u32 event, double n, bool plus,
			  char buf[AMOUNT_LEN])
{
	static const char *const words[MEMTAP_NR_UNIT] = {
		[MEMTAP_UNIT_NONE] = "", [MEMTAP_UNIT_BYTES] = " B", [MEMTAP_UNIT_PAGES] = " pages",
		[MEMTAP_UNIT_NS] = " ns", [MEMTAP_UNIT_NUMBER] = "",
	};
	const __u32 unit = fleet_event(v->f, event)->unit;
	const char *per = fleet_is_level(v->f) ? "" : "/s";
	const char *sign = plus && n > 0 ? "+" : "";
	char text[TEXT_LEN];

	if (n == 0 || fabs(n) >= 10 || fleet_is_level(v->f))
		snprintf(buf, AMOUNT_LEN, "%s%s%s", sign, text_value(text, llround(n), unit,
								     false), per);
	else
		snprintf(buf, AMOUNT_LEN, "%s%.2g%s%s", sign, n,
			 unit < MEMTAP_NR_UNIT ? words[unit] : "", per);
	return buf;
}

/* ---- stacks ---- */

static void put_mark(const char *mark, const char *indent, FILE *out)
{
	if (mark)
		fprintf(out, "%s%s\n", indent, mark);
}

static void put_stack(const struct fleet_view *v, __u32 stack, const char *indent, FILE *out)
{
	const __u32 flags = fleet_stack_flags(v->f, stack);
	char buf[512];

	put_mark(fleet_no_stack(stack), indent, out);
	for (size_t i = 0; i < fleet_nr_frames(v->f, stack); i++) {
		const struct sym_frame f = fleet_frame(v->f, stack, i);

		fputs(indent, out);
		text_put(out, f.name ? f.name : report_no_name(&f, buf), NULL);
		fputc('\n', out);
	}
	for (size_t i = 0; i < NR_CUTS; i++)
		if (flags & report_cuts[i].flag)
			put_mark(report_cut_mark(&report_cuts[i], flags), indent, out);
}

static void put_row_head(const struct fleet_view *v, const struct fleet_row *row,
			 const char *indent, FILE *out)
{
	char deeper[32];

	put_stack(v, row->kstack, indent, out);
	put_stack(v, row->ustack, indent, out);
	snprintf(deeper, sizeof(deeper), "%s  ", indent);
	if (row->program) {
		fputs(deeper, out);
		text_put(out, row->program, NULL);
		fputc('\n', out);
	}
	if (row->file) {
		fputs(deeper, out);
		text_put(out, row->file, NULL);
		fputc('\n', out);
	}
}

/* ---- hosts ---- */

/* "12 hosts, 12 recordings of 10.3 s each" */
static void put_hosts(const struct fleet_view *v, unsigned int side, FILE *out)
{
	char n[TEXT_LEN], m[TEXT_LEN];
	__u64 files = 0, least = ~0ULL, most = 0;
	size_t hosts = 0;

	for (size_t i = 0; i < fleet_nr_hosts(v->f); i++) {
		const struct fleet_host *h = fleet_host(v->f, i);

		if (h->side != side)
			continue;
		hosts++;
		files += h->files;
		least = h->least_ns < least ? h->least_ns : least;
		most = h->most_ns > most ? h->most_ns : most;
	}
	fprintf(out, "%s host%s, %s recording%s of %.1f", text_count(n, hosts), text_s(hosts),
		text_count(m, files), text_s(files), (double)least / 1e9);
	if (most / 100000000 != least / 100000000)
		fprintf(out, " to %.1f", (double)most / 1e9);
	fprintf(out, " s%s", files > 1 && most / 100000000 == least / 100000000 ? " each" : "");
	if (fleet_is_level(v->f) && files > hosts)
		fputs(" (of a host with several, their sum)", out);
	fputc('\n', out);
}

static bool is_total(const struct fleet_row *r)
{
	return !r->kstack && !r->ustack && !r->program && !r->file;
}

/* "the others 10/s (9.0/s to 11/s)" */
static void put_others(const struct fleet_view *v, const struct fleet_odd *odd, FILE *out)
{
	const struct fleet_spread *s = &odd->row.of[0];
	char a[AMOUNT_LEN], b[AMOUNT_LEN], c[AMOUNT_LEN];

	fprintf(out, "the others %s (%s to %s)", amount(v, odd->row.event, s->middle, false, a),
		amount(v, odd->row.event, s->least, false, b),
		amount(v, odd->row.event, s->most, false, c));
}

static void put_odd_row(const struct fleet_view *v, const struct fleet_odd *odd, FILE *out)
{
	char a[AMOUNT_LEN], b[AMOUNT_LEN];

	fputs("  ", out);
	text_put(out, fleet_event(v->f, odd->row.event)->name, NULL);
	fprintf(out, ": %s%s: %s, ", is_total(&odd->row) ? "in all " : "",
		amount(v, odd->row.event, odd->value - odd->row.of[0].middle, true, a),
		amount(v, odd->row.event, odd->value, false, b));
	put_others(v, odd, out);
	fputc('\n', out);
	put_row_head(v, &odd->row, "    ", out);
}

/* How many of @r->odds, from @i on, are of the same host. */
static size_t same_host(const struct fleet_result *r, size_t i)
{
	size_t n = 1;

	while (i + n < r->nr_odds && r->odds[i + n].host == r->odds[i].host)
		n++;
	return n;
}

static size_t nr_odd_hosts(const struct fleet_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->nr_odds; i += same_host(r, i))
		n++;
	return n;
}

/* Of each event first what it has in all, then the stacks that make the difference. */
static void put_odd_host(const struct fleet_view *v, const struct fleet_odd *odds, size_t nr,
			 FILE *out)
{
	const struct fleet_host *h = fleet_host(v->f, odds->host);
	size_t stacks = 0;

	text_put(out, h->name, NULL);
	if (v->names[0]) {
		fputs(" (", out);
		text_put(out, v->names[h->side], NULL);
		fputc(')', out);
	}
	fputs(":\n", out);
	for (size_t i = 0; i < nr; i++) {
		if (i && odds[i].row.event != odds[i - 1].row.event)
			stacks = 0;
		stacks += !is_total(&odds[i].row);
		if (stacks <= ODD_ROWS)
			put_odd_row(v, &odds[i], out);
	}
	fputc('\n', out);
}

/* Said of groups that are too small, or of nothing found. */
static void put_odds(const struct fleet_view *v, FILE *out)
{
	const struct fleet_result *r = v->result;
	const size_t hosts = nr_odd_hosts(r);
	size_t shown = 0;

	for (size_t i = 0, n; i < r->nr_odds; i += n) {
		n = same_host(r, i);
		if (v->top && shown == v->top)
			break;
		shown++;
		put_odd_host(v, &r->odds[i], n, out);
	}
	for (int side = 0; side < (v->names[0] ? 2 : 1); side++) {
		if (r->judged[side])
			continue;
		if (v->names[side]) {
			text_put(out, v->names[side], NULL);
			fputs(": ", out);
		}
		fprintf(out, "no host is called odd: that takes %d hosts\n", FLEET_ODD_HOSTS);
	}
	if (!r->judged[0] && !(v->names[0] && r->judged[1]))
		return;
	fprintf(out, "%zu odd host%s", hosts, text_s(hosts));
	if (shown < hosts)
		fprintf(out, ", of which %zu %s shown (--top 0 shows all)", shown,
			shown == 1 ? "is" : "are");
	fprintf(out, "\n%s", odd_rule);
}

static void put_foot(const struct fleet_view *v, FILE *out)
{
	char n[TEXT_LEN], m[TEXT_LEN], lost[TEXT_LEN];
	__u64 seen = 0, gone = 0, files;

	for (size_t i = 0; i < fleet_nr_events(v->f); i++) {
		const struct snap_event *e = fleet_event(v->f, i);

		seen += e->seen;
		for (int k = 0; k < MEMTAP_LOST_SLOTS; k++)
			gone += e->lost[k];
	}
	for (size_t i = 0; i < fleet_nr_notes(v->f); i++) {
		text_put(out, fleet_note_text(v->f, i, &files), NULL);
		if (files && v->files > 1)
			fprintf(out, " (in %s recording%s)", text_count(n, files), text_s(files));
		fputc('\n', out);
	}
	if (gone)
		fprintf(out, "lost: %s of %s events\n", text_count(lost, gone),
			text_count(n, seen));
	if (v->result->nr_idle)
		fprintf(out, "%zu host%s left out: their recordings took no time\n",
			v->result->nr_idle, v->result->nr_idle == 1 ? " is" : "s are");
	if (v->skipped)
		fprintf(out, "left out, since they could not be read: %s of %s files\n",
			text_count(n, v->skipped), text_count(m, v->files));
	if (fleet_folded(v->f))
		fprintf(out, "not kept for want of memory (--max-mem): the stacks of %s rows\n",
			text_count(n, fleet_folded(v->f)));
}

/* ---- two groups ---- */

static void put_spread(const struct fleet_view *v, const struct fleet_row *row, int side,
		       FILE *out)
{
	const struct fleet_spread *s = &row->of[side];
	char a[AMOUNT_LEN], b[AMOUNT_LEN];

	fputs("      ", out);
	text_put(out, v->names[side], NULL);
	fprintf(out, ": %s to %s, on %u of %u hosts\n", amount(v, row->event, s->least, false, a),
		amount(v, row->event, s->most, false, b), s->have, s->hosts);
}

static void put_change(const struct fleet_view *v, const struct fleet_row *row, FILE *out)
{
	char a[AMOUNT_LEN], b[AMOUNT_LEN], c[AMOUNT_LEN];

	fprintf(out, "%s: %s -> %s", amount(v, row->event, row->of[1].middle - row->of[0].middle,
					    true, a),
		amount(v, row->event, row->of[0].middle, false, b),
		amount(v, row->event, row->of[1].middle, false, c));
}

static void put_row(const struct fleet_view *v, const struct fleet_row *row, FILE *out)
{
	put_row_head(v, row, "  ", out);
	fputs("    ", out);
	put_change(v, row, out);
	fputc('\n', out);
	put_spread(v, row, 0, out);
	put_spread(v, row, 1, out);
	fputc('\n', out);
}

/* The largest change last, and the sums of its event behind it. */
static void put_event(const struct fleet_view *v, const struct fleet_row *total, FILE *out)
{
	const struct fleet_result *r = v->result;
	size_t nr = 0, at = 0;

	for (size_t i = 0; i < r->nr_rows; i++)
		nr += r->rows[i].event == total->event;
	for (size_t i = 0; i < r->nr_rows; i++)
		if (r->rows[i].event == total->event && (!v->top || nr - at++ <= v->top))
			put_row(v, &r->rows[i], out);
	text_put(out, fleet_event(v->f, total->event)->name, NULL);
	fputs(": ", out);
	put_change(v, total, out);
	fprintf(out, " (median of hosts)\n  %zu stack%s differ%s", nr, text_s(nr),
		nr == 1 ? "s" : "");
	if (v->top && nr > v->top)
		fprintf(out, ", of which %u are shown (--top 0 shows all)", v->top);
	fputs("\n\n", out);
}

int render_fleet_diff(const struct fleet_view *v, FILE *out)
{
	if (v->json)
		return render_fleet_diff_json(v, out);
	for (unsigned int side = 0; side < 2; side++) {
		fputs(side ? "to " : "from ", out);
		text_put(out, v->names[side], NULL);
		fputs(": ", out);
		put_hosts(v, side, out);
	}
	fputc('\n', out);
	for (size_t i = 0; i < v->result->nr_totals; i++)
		if (fleet_has(v->result, i))
			put_event(v, &v->result->totals[i], out);
	put_odds(v, out);
	fprintf(out, "%zu stacks do not differ\n%s", v->result->nr_same, rule);
	put_foot(v, out);
	return 0;
}

/* ---- one group ---- */

struct deviation {
	__u32 host;
	double by;
};

static int cmp_deviation(const void *a, const void *b)
{
	const struct deviation *x = a, *y = b;

	if (x->by != y->by)
		return x->by > y->by ? -1 : 1;
	return x->host < y->host ? -1 : x->host > y->host;
}

static void put_share(const struct fleet_view *v, __u32 event, __u32 host, FILE *out)
{
	const size_t at = event * fleet_nr_hosts(v->f) + host;
	const double value = v->result->values[at], others = v->result->others[at];
	char a[AMOUNT_LEN], share[32] = "-";

	if (others != 0)
		snprintf(share, sizeof(share), "%.0f %%", 100 * value / others);
	fprintf(out, "  %16s %10s  ", amount(v, event, value, false, a), share);
	text_put(out, fleet_host(v->f, host)->name, NULL);
	fputc('\n', out);
}

/* All hosts by an event, those first that are farthest from the others. */
static int put_table(const struct fleet_view *v, __u32 event, FILE *out)
{
	const size_t nr = fleet_nr_hosts(v->f);
	struct deviation *d = calloc(nr + 1, sizeof(*d));
	size_t n = 0, shown;

	if (!d)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (!v->result->idle[i])
			d[n++] = (struct deviation){
				(__u32)i, fabs(v->result->values[event * nr + i] -
					       v->result->others[event * nr + i]) };
	qsort(d, n, sizeof(*d), cmp_deviation);
	shown = v->top && n > v->top ? v->top : n;
	text_put(out, fleet_event(v->f, event)->name, NULL);
	fprintf(out, ":\n  %16s %10s  HOST\n", fleet_is_level(v->f) ? "VALUE" : "RATE",
		"OF OTHERS");
	for (size_t i = 0; i < shown; i++)
		put_share(v, event, d[i].host, out);
	if (shown < n)
		fprintf(out, "  and %zu hosts that differ less (--top 0 shows all)\n", n - shown);
	fputc('\n', out);
	free(d);
	return 0;
}

int render_fleet_outliers(const struct fleet_view *v, FILE *out)
{
	int err = 0;

	if (v->json)
		return render_fleet_outliers_json(v, out);
	put_hosts(v, 0, out);
	fputs("OF OTHERS: the part of the median of all other hosts\n\n", out);
	for (size_t i = 0; !err && i < v->result->nr_totals; i++)
		if (fleet_has(v->result, i))
			err = put_table(v, (__u32)i, out);
	put_odds(v, out);
	put_foot(v, out);
	return err;
}
