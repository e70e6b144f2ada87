// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap stat`: print counts, like perf stat -I. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/names.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/text.h"
#include "report/cut.h"
#include "render/accounts.h"
#include "render/stat.h"

/* Events of one name are one line: a USDT probe in several places. */
struct row {
	const struct snap_event *event;
	struct account account;
	__s64 value;
};

static struct row *find_row(struct row *rows, size_t *nr,
			    const struct snap_event *e)
{
	for (size_t i = 0; i < *nr; i++)
		if (!strcmp(rows[i].event->name, e->name) &&
		    rows[i].event->flags == e->flags)
			return &rows[i];
	rows[*nr].event = e;
	return &rows[(*nr)++];
}

/* By event. */
static void sum_values(const struct snap *s, __u64 sums[MEMTAP_MAX_EVENTS])
{
	memset(sums, 0, MEMTAP_MAX_EVENTS * sizeof(*sums));
	for (size_t i = 0; i < s->nr_counters; i++)
		if (s->counters[i].event < MEMTAP_MAX_EVENTS)
			sums[s->counters[i].event] += (__u64)s->counters[i].sum;
}

static struct row *make_rows(const struct snap *s, size_t *nr)
{
	struct row *rows = calloc(s->nr_events + 1, sizeof(*rows)), *r;
	__u64 sums[MEMTAP_MAX_EVENTS];

	*nr = 0;
	sum_values(s, sums);
	for (size_t i = 0; rows && i < s->nr_events; i++) {
		const struct snap_event *e = &s->events[i];

		r = find_row(rows, nr, e);
		account_add(&r->account, e);
		if (e->id < MEMTAP_MAX_EVENTS)
			r->value = (__s64)((__u64)r->value + sums[e->id]);
	}
	return rows;
}

static int by_count(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;

	if (a->account.counted != b->account.counted)
		return a->account.counted > b->account.counted ? -1 : 1;
	return a->event->id < b->event->id ? -1 : a->event->id > b->event->id;
}

/* Of events that a pattern found, many never occur. */
static bool is_idle(const struct row *r, const struct stat_opts *o)
{
	return o->found && !o->json && !o->verbose && !r->account.counted &&
	       !account_lost(&r->account);
}

static void print_idle(FILE *out, const struct row *rows, size_t nr, const struct stat_opts *o)
{
	size_t idle = 0;

	for (size_t i = 0; i < nr; i++)
		idle += is_idle(&rows[i], o);
	if (idle)
		fprintf(out, "# %zu of %zu events did not occur; -v lists them\n", idle, nr);
}

static const char *unit_of(const struct row *r)
{
	const char *name = unit_name(r->event->unit);

	return *name ? name : "-";
}

static void print_row(FILE *out, const struct row *r, const struct stat_opts *o,
		      const char *clock)
{
	fprintf(out, "%s%10.3f %14" PRIu64, clock, o->seconds, (uint64_t)r->account.counted);
	if (r->event->unit == MEMTAP_UNIT_NONE)
		fprintf(out, " %18s", "-");
	else
		fprintf(out, " %18" PRId64, (int64_t)r->value);
	fprintf(out, " %-5s %8" PRId64 "  ", unit_of(r), (int64_t)account_lost(&r->account));
	text_put(out, r->event->name, NULL);
	fputc('\n', out);
}

static void print_json(FILE *out, const struct row *r, const struct stat_opts *o,
		       const struct snap *s)
{
	struct json j = { .out = out, .line = true };

	json_document(&j, "counts");
	json_seconds(&j, "seconds", o->seconds);
	json_bool(&j, "final", o->final);
	if (o->timestamp)
		json_seconds(&j, "time", (double)s->header.real_ns / 1e9);
	json_str(&j, "event", r->event->name);
	json_bool(&j, "return", r->event->flags & MEMTAP_ATTACH_RETURN);
	json_str(&j, "unit", unit_of(r));
	json_u64(&j, "count", r->account.counted);
	json_s64(&j, "value", r->value);
	json_u64(&j, "seen", r->account.seen);
	json_u64(&j, "filtered", r->account.filtered);
	json_u64(&j, "by_memtap", r->account.own);
	json_open(&j, "lost", '{');
	for (unsigned int i = 0; i < MEMTAP_NR_LOST; i++)
		json_s64(&j, lost_name(i), (__s64)r->account.lost[i]);
	json_close(&j, '}');
	json_close(&j, '}');
	fputc('\n', out);
}

/* One event's, with all reasons. */
static void print_account(FILE *out, const struct row *r)
{
	const struct account *a = &r->account;

	fputs("# ", out);
	text_put(out, r->event->name, NULL);
	fprintf(out, ": seen %" PRIu64 ", counted %" PRIu64 ", filtered %" PRIu64,
		(uint64_t)a->seen, (uint64_t)a->counted, (uint64_t)a->filtered);
	if (a->own) {
		fputs(" (", out);
		account_put_own(a, out);
		fputc(')', out);
	}
	fputs("; lost:", out);
	for (unsigned int i = 0; i < MEMTAP_NR_LOST; i++)
		fprintf(out, "%s %s %" PRId64, i ? "," : "", lost_name(i),
			(int64_t)a->lost[i]);
	fputc('\n', out);
}

/* Also when nothing was lost: that is an answer too. */
static void print_footer(FILE *out, const struct snap *s, const struct row *rows, size_t nr,
			 bool all)
{
	const struct account sum = account_all(s);

	for (size_t i = 0; all && i < nr; i++)
		print_account(out, &rows[i]);
	if (all)
		return;
	fputs("# ", out);
	account_put(&sum, "event", out);
	fputc('\n', out);
}

void stat_header(FILE *out, const struct stat_opts *o)
{
	if (!o->json)
		fprintf(out, "#%s%9s %14s %18s %-5s %8s  %s\n",
			o->timestamp ? "    time " : "", "seconds", "count",
			"value", "unit", "lost", "event");
}

void stat_print(FILE *out, const struct snap *s, const struct stat_opts *o)
{
	const time_t now = (time_t)(s->header.real_ns / 1000000000);
	char clock[16] = "";
	struct row *rows;
	struct tm tm;
	size_t nr;

	rows = make_rows(s, &nr);
	if (o->timestamp && localtime_r(&now, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S ", &tm);
	if (rows && o->found && !o->json)
		qsort(rows, nr, sizeof(*rows), by_count);
	for (size_t i = 0; rows && i < nr; i++) {
		if (is_idle(&rows[i], o))
			continue;
		if (o->json)
			print_json(out, &rows[i], o, s);
		else
			print_row(out, &rows[i], o, clock);
	}
	if (rows && o->final)
		print_idle(out, rows, nr, o);
	if (rows && o->final && !o->json && !(o->quiet && accounts_complete(s)))
		print_footer(out, s, rows, nr, o->verbose || !accounts_complete(s));
	free(rows);
	fflush(out);
}

/* ---- several runs ---- */

/* Mean and sum of squared differences, as numbers come. */
struct spread {
	double mean, squares, min, max;
};

struct run_row {
	char name[sizeof(((struct snap_event *)0)->name)];
	__u32 flags, unit;
	unsigned int nr;		/* runs that had it */
	struct spread count, value;
	__s64 lost;
};

struct stat_runs {
	unsigned int nr;
	struct spread seconds;
	struct run_row *rows;
	size_t nr_rows, room;
};

struct stat_runs *stat_runs_new(void)
{
	return calloc(1, sizeof(struct stat_runs));
}

void stat_runs_free(struct stat_runs *r)
{
	if (r)
		free(r->rows);
	free(r);
}

unsigned int stat_runs_nr(const struct stat_runs *r)
{
	return r->nr;
}

static void add_number(struct spread *s, double n, unsigned int nr)
{
	const double off = n - s->mean;

	s->mean += off / nr;
	s->squares += off * (n - s->mean);
	s->min = nr == 1 || n < s->min ? n : s->min;
	s->max = nr == 1 || n > s->max ? n : s->max;
}

/* Of a sample: of one there is none. */
static double deviation(const struct spread *s, unsigned int nr)
{
	return nr > 1 ? sqrt(s->squares / (nr - 1)) : 0;
}

static struct run_row *run_row_of(struct stat_runs *r, const struct snap_event *e)
{
	struct run_row *more;

	for (size_t i = 0; i < r->nr_rows; i++)
		if (r->rows[i].flags == e->flags && !strcmp(r->rows[i].name, e->name))
			return &r->rows[i];
	more = ids_grow(r->rows, r->nr_rows, &r->room, sizeof(*more));
	if (!more)
		return NULL;
	r->rows = more;
	more += r->nr_rows++;
	*more = (struct run_row){ .flags = e->flags, .unit = e->unit };
	strcpy(more->name, e->name);
	return more;
}

int stat_runs_add(struct stat_runs *r, const struct snap *s, double seconds)
{
	struct row *rows;
	size_t nr;
	int err = 0;

	rows = make_rows(s, &nr);
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++) {
		struct run_row *to = run_row_of(r, rows[i].event);

		if (!to) {
			err = -ENOMEM;
			continue;
		}
		to->nr++;
		add_number(&to->count, (double)rows[i].account.counted, to->nr);
		add_number(&to->value, (double)rows[i].value, to->nr);
		to->lost += account_lost(&rows[i].account);
	}
	free(rows);
	if (!err)
		add_number(&r->seconds, seconds, ++r->nr);
	return err;
}

static void put_spread(FILE *out, const struct spread *s, unsigned int nr)
{
	const double dev = deviation(s, nr);

	fprintf(out, " %14.1f %12.1f", s->mean, dev);
	if (fabs(s->mean) > 0)
		fprintf(out, " %7.2f%%", 100 * dev / fabs(s->mean));
	else
		fprintf(out, " %8s", "-");
}

static void print_runs_json(FILE *out, const struct stat_runs *r, const struct run_row *row)
{
	struct json j = { .out = out, .line = true };
	const char *unit = unit_name(row->unit);

	json_document(&j, "repeated");
	json_u64(&j, "runs", row->nr);
	json_seconds(&j, "seconds_mean", r->seconds.mean);
	json_seconds(&j, "seconds_deviation", deviation(&r->seconds, r->nr));
	json_str(&j, "event", row->name);
	json_bool(&j, "return", row->flags & MEMTAP_ATTACH_RETURN);
	json_str(&j, "unit", *unit ? unit : "-");
	json_seconds(&j, "count_mean", row->count.mean);
	json_seconds(&j, "count_deviation", deviation(&row->count, row->nr));
	json_seconds(&j, "count_min", row->count.min);
	json_seconds(&j, "count_max", row->count.max);
	json_seconds(&j, "value_mean", row->value.mean);
	json_seconds(&j, "value_deviation", deviation(&row->value, row->nr));
	json_s64(&j, "lost", row->lost);
	json_close(&j, '}');
	fputc('\n', out);
}

void stat_runs_print(FILE *out, const struct stat_runs *r, bool json)
{
	if (!json)
		fprintf(out, "#%13s %12s %8s %12s %12s %15s %12s %8s %-5s %8s  %s\n", "count mean",
			"deviation", "", "min", "max", "value mean", "deviation", "", "unit",
			"lost", "event");
	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct run_row *row = &r->rows[i];
		const char *unit = unit_name(row->unit);

		if (json) {
			print_runs_json(out, r, row);
			continue;
		}
		put_spread(out, &row->count, row->nr);
		fprintf(out, " %12.0f %12.0f", row->count.min, row->count.max);
		if (*unit)
			put_spread(out, &row->value, row->nr);
		else
			fprintf(out, " %14s %12s %8s", "-", "-", "-");
		fprintf(out, " %-5s %8" PRId64 "  ", *unit ? unit : "-", (int64_t)row->lost);
		text_put(out, row->name, NULL);
		fputc('\n', out);
	}
	if (!json)
		fprintf(out, "# %u run%s, %.3f s each, deviation %.3f s\n", r->nr, text_s(r->nr),
			r->seconds.mean, deviation(&r->seconds, r->nr));
	fflush(out);
}
