// SPDX-License-Identifier: GPL-2.0-or-later
/* Print distributions of argument values as tables and histograms. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "core/hist.h"
#include "core/names.h"
#include "render/accounts.h"
#include "render/dist.h"
#include "render/flame_page.h"
#include "render/namer.h"

#define BAR	40

/* Counters of one row: same event, same group, same value of the argument. */
struct drow {
	__u32 event;
	const struct memtap_rec_task *task;	/* one of the group, or NULL */
	__u64 key;
	bool unknown;
	__u64 count;
	__s64 sum;
	__u64 max;
	bool ranged;			/* of these, as counters have them */
	__s64 least, greatest;
	u64 hist[MEMTAP_HIST_BUCKETS];
};

struct rows {
	struct drow *at;
	size_t nr;
};

static int cmp_group(const struct dist_opts *o, const struct drow *a, const struct drow *b)
{
	const struct memtap_rec_task *x = a->task, *y = b->task;

	if (o->group == BY_NONE || x == y)
		return 0;
	if (!x || !y)
		return x ? 1 : -1;
	if (o->group == BY_COMM)
		return strncmp(x->comm, y->comm, MEMTAP_COMM_LEN);
	if (o->group == BY_THREAD && x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return strncmp(x->comm, y->comm, MEMTAP_COMM_LEN);
}

/* Are rows told apart by the step that their value is on? */
static bool has_steps(const struct dist_opts *o, const struct drow *r)
{
	return o->linear || o->events[r->event].log2;
}

/* The numbers of that step. */
static __s64 step_low(const struct dist_opts *o, const struct drow *r)
{
	const __s64 key = (__s64)r->key;

	if (o->linear)
		return (__s64)(r->key * o->linear);
	return key > 0 ? (__s64)(1ULL << ((key - 1) & 63)) :
	       key < 0 ? (__s64)(0 - ((1ULL << ((-key - 1) & 63)) * 2 - 1)) : 0;
}

static __s64 step_high(const struct dist_opts *o, const struct drow *r)
{
	const __s64 key = (__s64)r->key;

	if (o->linear)
		return (__s64)((r->key + 1) * o->linear - 1);
	return key > 0 ? (__s64)((1ULL << ((key - 1) & 63)) * 2 - 1) :
	       key < 0 ? (__s64)(0 - (1ULL << ((-key - 1) & 63))) : 0;
}

static bool is_signed(const struct dist_opts *o, const struct drow *r)
{
	const struct args_shown *s = o->events[r->event].shown;

	return has_steps(o, r) || (s && s->type & MEMTAP_TYPE_SIGNED);
}

static int cmp_key(const struct dist_opts *o, const struct drow *a, const struct drow *b)
{
	if (a->unknown != b->unknown)
		return a->unknown ? 1 : -1;
	if (a->key == b->key)
		return 0;
	if (is_signed(o, a))
		return (__s64)a->key < (__s64)b->key ? -1 : 1;
	return a->key < b->key ? -1 : 1;
}

static int cmp_same(const void *va, const void *vb, void *ctx)
{
	const struct drow *a = va, *b = vb;
	int c;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	c = cmp_group(ctx, a, b);
	return c ? c : cmp_key(ctx, a, b);
}

/* The most frequent first, within an event. */
static int cmp_count(const void *va, const void *vb, void *ctx)
{
	const struct drow *a = va, *b = vb;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->count != b->count && !has_steps(ctx, a))
		return a->count > b->count ? -1 : 1;
	return cmp_same(va, vb, ctx);
}

static void add(struct drow *to, const struct drow *r)
{
	to->count += r->count;
	to->sum = (__s64)((__u64)to->sum + (__u64)r->sum);
	to->ranged &= r->ranged;
	if (r->least < to->least)
		to->least = r->least;
	if (r->greatest > to->greatest)
		to->greatest = r->greatest;
	if (r->max > to->max)
		to->max = r->max;
	for (int i = 0; i < MEMTAP_HIST_BUCKETS; i++)
		to->hist[i] += r->hist[i];
}

static int make_rows(const struct snap *s, const struct dist_opts *o, struct rows *rows)
{
	size_t nr = 0;

	/* (events that are joint are of one kind: who asks has seen to it) */
	rows->at = calloc(s->nr_counters + 1, sizeof(*rows->at));
	if (!rows->at)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr_counters; i++) {
		const struct snap_counter *c = &s->counters[i];
		struct drow *r = &rows->at[nr];

		if (!c->count || c->event >= MEMTAP_MAX_EVENTS || o->events[c->event].left_out)
			continue;
		nr++;
		r->event = o->joint && nr > 1 ? rows->at[0].event : c->event;
		r->task = o->group == BY_NONE ? NULL : snap_task(s, c->task);
		r->key = o->merged ? 0 : c->addr;
		r->unknown = c->flags & MEMTAP_KEY_UNKNOWN;
		r->count = c->count;
		r->sum = c->sum;
		r->max = c->max;
		r->ranged = c->ranged;
		r->least = c->least;
		r->greatest = c->greatest;
		if (c->hist)
			memcpy(r->hist, c->hist, sizeof(r->hist));
	}
	qsort_r(rows->at, nr, sizeof(*rows->at), cmp_same, (void *)o);
	for (size_t i = 0; i < nr; i++) {
		struct drow *last = rows->nr ? &rows->at[rows->nr - 1] : NULL;

		if (last && !cmp_same(last, &rows->at[i], (void *)o))
			add(last, &rows->at[i]);
		else
			rows->at[rows->nr++] = rows->at[i];
	}
	return 0;
}

/* ---- what rows are called ---- */

#define KEY_TEXT	(4 * MEMTAP_ALL_TEXT + 256)
#define NOT_RECORDED	"[not recorded]"

static const struct args_namer *namer_of(const struct dist_opts *o, const struct drow *r)
{
	if (!o->namer)
		return NULL;
	o->namer->task = r->task;
	return &o->namer->args;
}

/* What the Nth of the arguments was by which events are told apart. */
static const struct args_shown *key_part(const struct dist_opts *o, const struct drow *r, __u32 n,
					 const struct steps_values *v, char *buf, size_t len)
{
	const struct args *a = o->events[r->event].args;
	const struct args_shown *shown = &a->shown[a->by[n]];

	args_print_one(shown, v, a->by[n], namer_of(o, r), buf, len);
	return shown;
}

/* Of a row that is told apart by several; false: it was not kept. */
static bool read_keys(const struct snap *s, const struct dist_event *e, const struct drow *r,
		      struct steps_values *v)
{
	const struct snap_stack *st = snap_stack(s, (__u32)r->key);
	const struct steps *steps = &e->args->steps;

	return st && st->flags & MEMTAP_STACK_KEYS && st->nr &&
	       steps_unpack(steps, v, steps->by_mask, (__u32)st->ip[0], st->ip + 1,
			    (st->nr - 1) * (__u32)sizeof(__u64));
}

static bool has_keys(const struct dist_event *e)
{
	return e->args && e->args->nr_by > 1;
}

static void keys_text(const struct snap *s, const struct dist_opts *o, const struct drow *r,
		      char *buf, size_t len)
{
	const struct dist_event *e = &o->events[r->event];
	static struct steps_values v;
	size_t n = 0;

	if (!read_keys(s, e, r, &v)) {
		snprintf(buf, len, NOT_RECORDED);
		return;
	}
	for (__u32 i = 0; i < e->args->nr_by && n < len; i++) {
		if (i)
			n += (size_t)snprintf(buf + n, len - n, ", ");
		if (n >= len)
			break;
		key_part(o, r, i, &v, buf + n, len - n);
		n += strlen(buf + n);
	}
}

static void key_text(const struct snap *s, const struct dist_opts *o, const struct drow *r,
		     char *buf, size_t len)
{
	const struct dist_event *e = &o->events[r->event];
	static struct steps_values v;
	const struct snap_stack *st;
	char text[MEMTAP_LONG_TEXT + 1] = "";

	if (has_keys(e)) {
		keys_text(s, o, r, buf, len);
		return;
	}
	steps_clear(&v);
	v.known = !r->unknown;
	v.number[0] = r->key;
	if (e->shown->show == ARGS_TEXT && !r->unknown) {
		st = snap_stack(s, (__u32)r->key);
		if (!st || !(st->flags & MEMTAP_STACK_TEXT) || st->nr > sizeof(text) / 8) {
			snprintf(buf, len, NOT_RECORDED);
			return;
		}
		memcpy(text, st->ip, st->nr * sizeof(__u64));
		text[sizeof(text) - 1] = '\0';
		steps_set_text(&v, 0, text, (__u32)strlen(text));
	}
	args_print_one(e->shown, &v, 0, namer_of(o, r), buf, len);
}

static void group_text(const struct dist_opts *o, const struct drow *r, char *buf, size_t len)
{
	const struct memtap_rec_task *t = r->task;

	if (!t)
		snprintf(buf, len, "[task not recorded]");
	else if (o->group == BY_COMM)
		snprintf(buf, len, "%.15s", t->comm);
	else
		snprintf(buf, len, "%.15s [%d]", t->comm,
			 o->group == BY_THREAD ? t->tid : t->pid);
}

/* ---- text ---- */

static void put_bar(__u64 n, __u64 max, FILE *out)
{
	int len = max ? (int)((double)n * BAR / (double)max) : 0;

	fprintf(out, "|%.*s%*s|\n", len, "****************************************", BAR - len, "");
}

static void put_bucket(const char *range, __u64 n, __u64 max, FILE *out)
{
	char count[TEXT_LEN];

	fprintf(out, "    %27s : %-10s ", range, text_count(count, n));
	put_bar(n, max, out);
}

static void put_log2(const struct drow *r, FILE *out)
{
	char low[TEXT_LEN], high[TEXT_LEN], range[2 * TEXT_LEN + 8];
	int first = 0, last = MEMTAP_HIST_BUCKETS - 1;
	__u64 max = 0;

	while (last > 0 && !r->hist[last])
		last--;
	while (first < last && !r->hist[first])
		first++;
	for (int i = first; i <= last; i++)
		max = r->hist[i] > max ? r->hist[i] : max;
	for (int i = first; i <= last; i++) {
		const __u64 lo = hist_low((__u32)i);

		if (i)
			snprintf(range, sizeof(range), "%s -> %s", text_count(low, lo),
				 text_count(high, lo * 2 - 1));
		else
			snprintf(range, sizeof(range), "<= 0");
		put_bucket(range, r->hist[i], max, out);
	}
}

/* Between the ends of a step it is guessed, and not beyond the largest value. */
static __u64 percentile(const struct drow *r, unsigned int percent)
{
	const __u64 value = hist_percentile(r->hist, MEMTAP_HIST_BUCKETS, percent);

	return r->max && value > r->max ? r->max : value;
}

/* With a tenth where it is no whole number: of -2 and 3 it is 0.5. */
static const char *average(char buf[2 * TEXT_LEN], const struct drow *r)
{
	const __u64 sum = r->sum < 0 ? 0 - (__u64)r->sum : (__u64)r->sum, n = r->count;
	__u64 whole = sum / n, tenth = n > UINT64_MAX / 20 ? 0 : (sum % n * 10 + n / 2) / n;
	char text[TEXT_LEN];

	whole += tenth / 10;
	tenth %= 10;
	text_count(text, whole);
	snprintf(buf, 2 * TEXT_LEN, tenth ? "%s%s.%u" : "%s%s",
		 r->sum < 0 && (whole || tenth) ? "-" : "", text, (unsigned int)tenth);
	return buf;
}

/* Values of 0 and below have one step, and no largest one is known of them. */
static const char *about(char buf[TEXT_LEN + 8], const char *sign, __u64 value)
{
	char text[TEXT_LEN];

	snprintf(buf, TEXT_LEN + 8, "%s%s", value ? sign : "<= ", text_count(text, value));
	return buf;
}

static void put_percentiles(const struct drow *r, FILE *out)
{
	char p50[TEXT_LEN + 8], p90[TEXT_LEN + 8], p99[TEXT_LEN + 8], max[TEXT_LEN + 8];
	char n[TEXT_LEN], avg[2 * TEXT_LEN];

	fprintf(out, "    %s values, average %s, p50 %s, p90 %s, p99 %s, largest %s\n",
		text_count(n, r->count), average(avg, r),
		about(p50, "~", percentile(r, 50)), about(p90, "~", percentile(r, 90)),
		about(p99, "~", percentile(r, 99)), about(max, "", r->max));
}

/* Rows from @first with the same event and group, in the order of their keys. */
static size_t same_group(const struct rows *rows, size_t first, const struct dist_opts *o)
{
	size_t end = first + 1;

	while (end < rows->nr && rows->at[end].event == rows->at[first].event &&
	       !cmp_group(o, &rows->at[end], &rows->at[first]))
		end++;
	return end;
}

/* The value below which @percent % lie: the upper end of its step. */
static __s64 step_percentile(const struct rows *rows, size_t first, size_t end, __u64 all,
			     unsigned int percent, const struct dist_opts *o)
{
	__u64 sum = 0;

	for (size_t i = first; i < end; i++) {
		sum += rows->at[i].count;
		if (sum * 100 >= all * percent)
			return step_high(o, &rows->at[i]);
	}
	return 0;
}

static void put_linear(const struct rows *rows, size_t first, size_t end,
		       const struct dist_opts *o, FILE *out)
{
	char low[TEXT_LEN], high[TEXT_LEN], range[2 * TEXT_LEN + 8], n[TEXT_LEN];
	char p50[TEXT_LEN], p90[TEXT_LEN], p99[TEXT_LEN];
	struct drow sum = rows->at[first];
	char avg[2 * TEXT_LEN];
	__u64 max = 0, all = 0;

	for (size_t i = first; i < end; i++) {
		max = rows->at[i].count > max ? rows->at[i].count : max;
		all += rows->at[i].unknown ? 0 : rows->at[i].count;
		if (i > first)
			add(&sum, &rows->at[i]);
	}
	fprintf(out, "    %s values, average %s, p50 <= %s, p90 <= %s, p99 <= %s",
		text_count(n, all), average(avg, &sum),
		text_signed(p50, step_percentile(rows, first, end, all, 50, o)),
		text_signed(p90, step_percentile(rows, first, end, all, 90, o)),
		text_signed(p99, step_percentile(rows, first, end, all, 99, o)));
	if (sum.ranged)
		fprintf(out, ", from %s to %s", text_signed(low, sum.least),
			text_signed(high, sum.greatest));
	fputc('\n', out);
	for (size_t i = first; i < end; i++) {
		const struct drow *r = &rows->at[i];

		/* a gap is told, not drawn: it may be long */
		if (o->linear && i > first && !r->unknown &&
		    (__s64)r->key > (__s64)rows->at[i - 1].key + 1)
			fprintf(out, "    %27s :\n", "...");
		if (r->unknown)
			snprintf(range, sizeof(range), "?");
		else
			snprintf(range, sizeof(range), "%s -> %s",
				 text_signed(low, step_low(o, r)),
				 text_signed(high, step_high(o, r)));
		put_bucket(range, r->count, max, out);
	}
}

static void put_label(const struct snap *s, const struct dist_opts *o, const struct drow *r,
		      FILE *out)
{
	const struct dist_event *e = &o->events[r->event];
	char text[KEY_TEXT];

	if (o->group == BY_NONE && (!e->by || has_steps(o, r)))
		return;
	if (o->group != BY_NONE) {
		group_text(o, r, text, sizeof(text));
		fputs("  ", out);
		text_put(out, text, NULL);
	}
	if (e->by && !has_steps(o, r)) {
		key_text(s, o, r, text, sizeof(text));
		fprintf(out, "  %s=", e->by);
		text_put(out, text, NULL);
	}
	fputc('\n', out);
}

static bool is_joint(const struct snap *s, const struct dist_opts *o)
{
	return o->joint && s->nr_events > 1;
}

static void put_title(const struct snap *s, const struct dist_opts *o, const struct drow *r,
		      FILE *out)
{
	const struct dist_event *e = &o->events[r->event];
	const struct snap_event *ev = snap_event(s, r->event);

	if (is_joint(s, o))
		fprintf(out, "all %zu events", s->nr_events);
	else
		text_put(out, ev ? ev->name : "?", NULL);
	if (o->hist)
		fprintf(out, ": %s%s", e->value ? e->value :
			ev && *unit_name(ev->unit) ? unit_name(ev->unit) : "value",
			e->value && ev && ev->unit == MEMTAP_UNIT_NS ? " (ns)" : "");
	if (e->by && !has_steps(o, r))
		fprintf(out, " by %s", e->by);
	fputc('\n', out);
}

static void put_hists(const struct snap *s, const struct rows *rows, const struct dist_opts *o,
		      FILE *out)
{
	size_t next, shown = 0;

	for (size_t i = 0; i < rows->nr; i = next) {
		const struct drow *r = &rows->at[i];
		const bool first = !i || r->event != rows->at[i - 1].event;

		next = has_steps(o, r) ? same_group(rows, i, o) : i + 1;
		shown = first ? 1 : shown + 1;
		if (first)
			put_title(s, o, r, out);
		if (o->top && shown > o->top)
			continue;
		put_label(s, o, r, out);
		if (has_steps(o, r)) {
			put_linear(rows, i, next, o, out);
		} else {
			put_percentiles(r, out);
			put_log2(r, out);
		}
		fputc('\n', out);
	}
}

/* Events of the same kind, from @first on. */
static __u64 count_event(const struct rows *rows, size_t first)
{
	__u64 all = 0;

	for (size_t i = first; i < rows->nr && rows->at[i].event == rows->at[first].event; i++)
		all += rows->at[i].count;
	return all;
}

static void put_header(const struct snap *s, const struct dist_opts *o, const struct drow *r,
		       FILE *out)
{
	const struct dist_event *e = &o->events[r->event];

	put_title(s, o, r, out);
	fprintf(out, "%14s  SHARE   CUM.", "COUNT");
	if (e->value)
		fprintf(out, " %16s %14s %14s %14s", e->value, "MEAN", "LEAST", "GREATEST");
	fprintf(out, "  %s%s\n", o->group != BY_NONE ? "WHO  " : "", e->by ? e->by : "");
}

/* What was counted, the part of all and that of all rows down to this one. */
static void put_numbers(const struct dist_opts *o, const struct drow *r, __u64 all, __u64 so_far,
			FILE *out)
{
	char text[TEXT_LEN], mean[2 * TEXT_LEN];

	fprintf(out, "%14s %5.1f%% %5.1f%%", text_count(text, r->count),
		100.0 * (double)r->count / (double)all, 100.0 * (double)so_far / (double)all);
	if (!o->events[r->event].value)
		return;
	fprintf(out, " %16s", text_signed(text, r->sum));
	fprintf(out, " %14s", average(mean, r));
	fprintf(out, " %14s", r->ranged ? text_signed(text, r->least) : "-");
	fprintf(out, " %14s", r->ranged ? text_signed(text, r->greatest) : "-");
}

static void put_table(const struct snap *s, const struct rows *rows, const struct dist_opts *o,
		      FILE *out)
{
	char text[KEY_TEXT], count[TEXT_LEN];
	__u64 all = 0, so_far = 0;
	size_t shown = 0, left = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct drow *r = &rows->at[i];
		const struct dist_event *e = &o->events[r->event];

		if (!i || r->event != rows->at[i - 1].event) {
			shown = left = 0;
			so_far = 0;
			all = count_event(rows, i);
			put_header(s, o, r, out);
		}
		left++;
		so_far += r->count;
		if (!o->top || shown < o->top) {
			shown++;
			put_numbers(o, r, all, so_far, out);
			fputs("  ", out);
			if (o->group != BY_NONE) {
				group_text(o, r, text, sizeof(text));
				text_put(out, text, NULL);
				fputs("  ", out);
			}
			if (e->by) {
				key_text(s, o, r, text, sizeof(text));
				text_put(out, text, NULL);
			}
			fputc('\n', out);
		}
		if ((i + 1 == rows->nr || rows->at[i + 1].event != r->event) && shown < left)
			fprintf(out, "%14s  more values; --top shows N\n",
				text_count(count, left - shown));
	}
}

/* ---- JSON: an object for each row ---- */

/* An object with each of them. */
static void put_json_keys(struct json *j, const struct snap *s, const struct dist_opts *o,
			  const struct drow *r)
{
	const struct dist_event *e = &o->events[r->event];
	static struct steps_values v;
	char text[KEY_TEXT];

	if (!read_keys(s, e, r, &v))
		return;
	json_open(j, "keys", '{');
	for (__u32 i = 0; i < e->args->nr_by; i++) {
		const struct args_shown *shown = key_part(o, r, i, &v, text, sizeof(text));

		json_str(j, shown->name, text);
	}
	json_close(j, '}');
}

static void put_json_row(const struct snap *s, const struct drow *r, const struct dist_opts *o,
			 FILE *out)
{
	const struct dist_event *e = &o->events[r->event];
	const struct snap_event *ev = snap_event(s, r->event);
	struct json j = { .out = out, .line = true };
	char text[KEY_TEXT];

	json_document(&j, "values");
	json_seconds(&j, "seconds", o->seconds);
	json_bool(&j, "final", o->final);
	json_str(&j, "event", ev && !is_joint(s, o) ? ev->name : NULL);
	if (o->group != BY_NONE && r->task) {
		json_str(&j, "comm", r->task->comm);
		if (o->group != BY_COMM)
			json_s64(&j, "pid", r->task->pid);
		if (o->group == BY_THREAD)
			json_s64(&j, "tid", r->task->tid);
	}
	if (has_steps(o, r) && !r->unknown) {
		json_s64(&j, "low", step_low(o, r));
		json_s64(&j, "high", step_high(o, r));
	} else if (e->by) {
		key_text(s, o, r, text, sizeof(text));
		json_str(&j, "by", e->by);
		json_str(&j, "key", text);
		if (has_keys(e))
			put_json_keys(&j, s, o, r);
	}
	json_u64(&j, "count", r->count);
	if (o->hist || e->value) {
		json_s64(&j, "sum", r->sum);
		json_u64(&j, "max", r->max);
		if (r->ranged) {
			json_s64(&j, "least", r->least);
			json_s64(&j, "greatest", r->greatest);
		}
	}
	if (o->hist && !has_steps(o, r)) {
		json_u64(&j, "p50", percentile(r, 50));
		json_u64(&j, "p90", percentile(r, 90));
		json_u64(&j, "p99", percentile(r, 99));
		json_open(&j, "hist", '[');
		for (int i = 0; i < MEMTAP_HIST_BUCKETS; i++)
			json_u64(&j, NULL, r->hist[i]);
		json_close(&j, ']');
	}
	json_close(&j, '}');
	fputc('\n', out);
}

static void put_json(const struct snap *s, const struct rows *rows, const struct dist_opts *o,
		     FILE *out)
{
	size_t next, shown = 0;

	for (size_t i = 0; i < rows->nr; i = next) {
		next = has_steps(o, &rows->at[i]) ? same_group(rows, i, o) : i + 1;
		shown = !i || rows->at[i].event != rows->at[i - 1].event ? 1 : shown + 1;
		for (size_t k = i; k < next && (!o->top || shown <= o->top); k++)
			put_json_row(s, &rows->at[k], o, out);
	}
}

/* What is missing, of each event. */
static void put_footer(const struct snap *s, FILE *out)
{
	for (size_t i = 0; i < s->nr_events; i++) {
		const struct account a = account_of(&s->events[i]);
		const __u64 unknown = s->events[i].part[MEMTAP_PART_ARGS];
		char n[TEXT_LEN];

		if (!account_whole(&a)) {
			fprintf(out, "%s: lost: ", s->events[i].name);
			account_put_lost(&a, out);
			fputc('\n', out);
		}
		if (unknown)
			fprintf(out, "%s: %s events with an argument that was not in memory\n",
				s->events[i].name, text_count(n, unknown));
	}
}

int dist_print(const struct snap *s, const struct dist_opts *o, FILE *out)
{
	struct rows rows = { .nr = 0 };
	const int err = make_rows(s, o, &rows);

	if (err)
		return err;
	if (!o->linear && rows.nr)	/* (steps stay in their order: cmp_count() knows) */
		qsort_r(rows.at, rows.nr, sizeof(*rows.at), cmp_count, (void *)o);
	if (o->json) {
		put_json(s, &rows, o, out);
	} else {
		if (!rows.nr && !o->quiet)
			fputs("no events\n", out);
		if (o->hist)
			put_hists(s, &rows, o, out);
		else
			put_table(s, &rows, o, out);
		put_footer(s, out);
		if (o->final && !o->quiet)
			account_put_left_out(s, out);
	}
	free(rows.at);
	return 0;
}

/* ---- a page ---- */

struct page {
	const struct snap *s;
	const struct dist_opts *o;
	struct rows rows;
};

static void open_node(struct json *j, const char *name, const char *kind, __u64 value)
{
	json_open(j, NULL, '{');
	json_str(j, "n", name);
	if (kind)
		json_str(j, "l", kind);
	json_u64(j, "v", value);
}

static void put_node(struct json *j, const char *name, __u64 value)
{
	open_node(j, name, NULL, value);
	json_close(j, '}');
}

static __u64 count_of(const struct page *p, size_t first, size_t end)
{
	__u64 sum = 0;

	for (size_t i = first; i < end; i++)
		sum += p->rows.at[i].count;
	return sum;
}

static void put_buckets(struct json *j, const struct drow *r)
{
	char low[TEXT_LEN], high[TEXT_LEN], range[2 * TEXT_LEN + 8] = "<= 0";

	for (__u32 i = 0; i < MEMTAP_HIST_BUCKETS; i++) {
		if (!r->hist[i])
			continue;
		if (i)
			snprintf(range, sizeof(range), "%s -> %s", text_count(low, hist_low(i)),
				 text_count(high, hist_low(i) * 2 - 1));
		put_node(j, range, r->hist[i]);
	}
}

static void put_row(struct json *j, const struct page *p, const struct drow *r)
{
	const struct dist_event *e = &p->o->events[r->event];
	char text[KEY_TEXT], low[TEXT_LEN], high[TEXT_LEN];
	const bool step = has_steps(p->o, r), hist = p->o->hist && !step;

	if (!step && !e->by) {
		if (hist)
			put_buckets(j, r);
		return;
	}
	if (step && r->unknown)
		snprintf(text, sizeof(text), "?");
	else if (step)
		snprintf(text, sizeof(text), "%s -> %s", text_signed(low, step_low(p->o, r)),
			 text_signed(high, step_high(p->o, r)));
	else
		key_text(p->s, p->o, r, text, sizeof(text));
	open_node(j, text, hist ? "group" : NULL, r->count);
	if (hist) {
		json_open(j, "c", '[');
		put_buckets(j, r);
		json_close(j, ']');
	}
	json_close(j, '}');
}

/* Rows of one event: who, and in it the values. */
static void put_groups(struct json *j, const struct page *p, size_t first, size_t end)
{
	char text[64];

	for (size_t i = first, next; i < end; i = next) {
		next = same_group(&p->rows, i, p->o);
		if (p->o->group != BY_NONE) {
			group_text(p->o, &p->rows.at[i], text, sizeof(text));
			open_node(j, text, "group", count_of(p, i, next));
			json_open(j, "c", '[');
		}
		for (size_t k = i; k < next; k++)
			put_row(j, p, &p->rows.at[k]);
		if (p->o->group != BY_NONE) {
			json_close(j, ']');
			json_close(j, '}');
		}
	}
}

static void put_events(struct json *j, void *ctx)
{
	const struct page *p = ctx;
	const struct snap_event *ev;
	size_t end;

	open_node(j, "all", "group", count_of(p, 0, p->rows.nr));
	json_open(j, "c", '[');
	for (size_t i = 0; i < p->rows.nr; i = end) {
		for (end = i + 1; end < p->rows.nr &&
		     p->rows.at[end].event == p->rows.at[i].event; end++)
			;
		ev = snap_event(p->s, p->rows.at[i].event);
		open_node(j, is_joint(p->s, p->o) ? "joint" : ev ? ev->name : "?", "group",
			  count_of(p, i, end));
		json_open(j, "c", '[');
		put_groups(j, p, i, end);
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static char *make_footer(const struct page *p, const char *command)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	put_footer(p->s, f);
	account_put_left_out(p->s, f);
	fprintf(f, "%s\n", command);
	fclose(f);
	return text;
}

int dist_flame(const struct snap *s, const struct dist_opts *o, const char *title,
	       const char *command, FILE *out)
{
	struct page page = { .s = s, .o = o };
	static const struct flame_value events = { .name = "events", .unit = "events" };
	struct flame_page p = { .title = title, .values = &events, .nr_values = 1,
				.tree = put_events, .ctx = &page };
	char when[TEXT_LEN], subtitle[256];
	char *foot = NULL;
	int err = make_rows(s, o, &page.rows);

	if (!err) {
		foot = make_footer(&page, command);
		err = foot ? 0 : -ENOMEM;
	}
	if (!err) {
		snprintf(subtitle, sizeof(subtitle), "%.64s, Linux %.64s, %.1f s until %s",
			 s->header.host, s->header.release,
			 (double)(s->header.now_ns - s->header.start_ns) / 1e9,
			 text_time(when, s->header.real_ns));
		p.subtitle = subtitle;
		p.foot = foot;
		flame_page(&p, out);
	}
	free(foot);
	free(page.rows.at);
	return err;
}
