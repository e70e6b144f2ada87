// SPDX-License-Identifier: GPL-2.0-or-later
/* Print several events side by side. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "machine/container.h"
#include "render/accounts.h"
#include "render/matrix.h"
#include "render/dist.h"

#define MAX_COLUMNS	16

struct cell {
	__u64 count, max;
	__s64 sum;
	__s64 of;			/* of a percentage */
};

struct row {
	const struct memtap_rec_task *task;	/* one of the row's, or NULL */
	struct cell cells[MAX_COLUMNS];
	__u64 order;
};

struct rows {
	struct row *at;
	size_t nr;
};

struct matrix {
	const struct matrix_ask *ask;
	const struct matrix_opts *o;
	const struct snap *s;
	struct sym *sym;
	size_t nr;
	const char *labels[MEMTAP_MAX_EVENTS];	/* of the session's events; or NULL */
};

static bool is(const struct matrix *c, __u32 event, const char *label)
{
	return label && event < MEMTAP_MAX_EVENTS && c->labels[event] &&
	       !strcmp(c->labels[event], label);
}

static bool has(const struct matrix *c, const char *label)
{
	for (__u32 e = 0; e < MEMTAP_MAX_EVENTS; e++)
		if (is(c, e, label))
			return true;
	return false;
}

static __u32 event_of(const struct snap *s, const struct plan_item *item)
{
	const struct snap_event *e;

	if (item->attach.kind != MEMTAP_ATTACH_BUILTIN)
		return item->attach.way ? item->attach.event : MEMTAP_MAX_EVENTS;
	e = snap_builtin(s, item->attach.name);
	return e ? e->id : MEMTAP_MAX_EVENTS;
}

static void find_labels(struct matrix *c)
{
	const struct plan *p = c->o->plan;

	for (size_t i = 0; i < p->nr; i++) {
		const __u32 event = event_of(c->s, &p->items[i]);

		if (p->items[i].pick && event < MEMTAP_MAX_EVENTS)
			c->labels[event] = p->items[i].pick->label;
	}
}

/* ---- rows ---- */

static bool same_container(const struct matrix *c, const struct memtap_rec_task *a,
			   const struct memtap_rec_task *b)
{
	const char *path_a = sym_cgroup(c->sym, c->s, snap_cgroup(a));
	const char *path_b = sym_cgroup(c->sym, c->s, snap_cgroup(b));
	struct container in_a, in_b;
	const bool is_a = path_a && container_of_path(path_a, &in_a);
	const bool is_b = path_b && container_of_path(path_b, &in_b);

	return is_a == is_b && (!is_a || (!strcmp(in_a.id, in_b.id) &&
					  !strcmp(in_a.pod, in_b.pod)));
}

static bool same(const struct matrix *c, const struct memtap_rec_task *a,
		 const struct memtap_rec_task *b)
{
	const enum report_by by = c->o->by;

	if (by == BY_NONE || a == b)
		return true;
	if (!a || !b)
		return false;
	if (by == BY_CGROUP)
		return snap_cgroup(a) == snap_cgroup(b);
	if (by == BY_CONTAINER)
		return same_container(c, a, b);
	if (by == BY_PROCESS && a->pid != b->pid)
		return false;
	if (by == BY_THREAD && a->tid != b->tid)
		return false;
	return !strncmp(a->comm, b->comm, MEMTAP_COMM_LEN);
}

static bool is_kswapd(const struct memtap_rec_task *t)
{
	return t && t->flags & MEMTAP_TASK_KTHREAD && !strncmp(t->comm, "kswapd", 6);
}

static bool is_whose(const struct matrix_column *col, const struct memtap_rec_task *t)
{
	return col->who == BESIDE_ALL || (col->who == BESIDE_KSWAPD) == is_kswapd(t);
}

static void add_counter(const struct matrix *c, struct row *r, const struct snap_counter *n,
			const struct memtap_rec_task *t)
{
	if (is(c, n->event, c->ask->order))
		r->order += n->count;
	for (size_t i = 0; i < c->nr; i++) {
		const struct matrix_column *col = &c->ask->columns[i];
		struct cell *cell = &r->cells[i];

		if (!is_whose(col, t))
			continue;
		if (is(c, n->event, col->of))
			cell->of += n->sum;
		if (!is(c, n->event, col->label))
			continue;
		cell->count += n->count;
		cell->sum += n->sum;
		if (n->max > cell->max)
			cell->max = n->max;
	}
}

static int cmp_rows(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;

	if (a->order != b->order)
		return a->order > b->order ? -1 : 1;
	if (!a->task || !b->task)
		return a->task ? -1 : b->task != NULL;
	return a->task->pid < b->task->pid ? -1 : a->task->pid > b->task->pid;
}

static int make_rows(const struct matrix *c, struct rows *rows)
{
	const struct snap *s = c->s;

	rows->at = calloc(s->nr_counters + 1, sizeof(*rows->at));
	if (!rows->at)
		return -ENOMEM;
	/* of all there is one row, also where nothing happened */
	rows->nr = c->o->by == BY_NONE;
	for (size_t i = 0; i < s->nr_counters; i++) {
		const struct memtap_rec_task *t = snap_task(s, s->counters[i].task);
		size_t r = 0;

		if (!s->counters[i].count)
			continue;
		while (r < rows->nr && !same(c, rows->at[r].task, t))
			r++;
		if (r == rows->nr)
			rows->at[rows->nr++].task = t;
		add_counter(c, &rows->at[r], &s->counters[i], t);
	}
	qsort(rows->at, rows->nr, sizeof(*rows->at), cmp_rows);
	return 0;
}

/* ---- text ---- */

static void group_text(const struct matrix *c, const struct row *r, char *buf, size_t len)
{
	const struct memtap_rec_task *t = r->task;
	char label[CONTAINER_LABEL];
	const char *path;

	if (!t) {
		snprintf(buf, len, "[task not recorded]");
	} else if (c->o->by == BY_CGROUP) {
		path = sym_cgroup(c->sym, c->s, snap_cgroup(t));
		if (path)
			snprintf(buf, len, "%s", path);
		else
			snprintf(buf, len, "cgroup %llu", (unsigned long long)snap_cgroup(t));
	} else if (c->o->by == BY_CONTAINER) {
		path = sym_cgroup(c->sym, c->s, snap_cgroup(t));
		container_label_of("", path, label);
		snprintf(buf, len, "%s", label);
	} else if (c->o->by == BY_PROCESS || c->o->by == BY_THREAD) {
		snprintf(buf, len, "%.15s [%d]", t->comm,
			 c->o->by == BY_THREAD ? t->tid : t->pid);
	} else {
		snprintf(buf, len, "%.15s", t->comm);
	}
}

/* NULL: this kernel does not tell, or there is nothing to divide by. */
static const char *cell_text(const struct matrix *c, const struct matrix_column *col,
			     const struct cell *n, char buf[TEXT_LEN])
{
	if (!has(c, col->label))
		return NULL;
	switch (col->what) {
	case BESIDE_COUNT:
		return text_count(buf, n->count);
	case BESIDE_SUM:
		return text_signed(buf, n->sum);
	case BESIDE_MS:
		snprintf(buf, TEXT_LEN, "%.3f", (double)n->sum / 1e6);
		return buf;
	case BESIDE_AVG_MS:
		if (!n->count)
			return NULL;
		snprintf(buf, TEXT_LEN, "%.3f", (double)n->sum / (double)n->count / 1e6);
		return buf;
	case BESIDE_MAX_MS:
		/* of an interval it is known where it is the largest of all so far */
		if (!n->count || (double)n->max * (double)n->count < (double)n->sum)
			return NULL;
		snprintf(buf, TEXT_LEN, "%.3f", (double)n->max / 1e6);
		return buf;
	default:
		if (n->of <= 0)
			return NULL;
		snprintf(buf, TEXT_LEN, "%.1f", (double)n->sum * 100 / (double)n->of);
		return buf;
	}
}

static void put_header(const struct matrix *c, FILE *out)
{
	fprintf(out, "%-8s", "TIME");
	for (size_t i = 0; i < c->nr; i++)
		fprintf(out, " %*s", c->ask->columns[i].width, c->ask->columns[i].title);
	if (c->o->by != BY_NONE)
		fprintf(out, "  %s", c->o->by == BY_CGROUP ? "CGROUP" :
			c->o->by == BY_CONTAINER ? "CONTAINER" : "WHO");
	fputc('\n', out);
}

static void put_row(const struct matrix *c, const struct row *r, FILE *out)
{
	char buf[TEXT_LEN], who[512];
	const char *text;

	fprintf(out, "%-8s", text_clock(buf, c->s->header.real_ns));
	for (size_t i = 0; i < c->nr; i++) {
		text = cell_text(c, &c->ask->columns[i], &r->cells[i], buf);
		fprintf(out, " %*s", c->ask->columns[i].width, text ? text : "-");
	}
	if (c->o->by != BY_NONE) {
		group_text(c, r, who, sizeof(who));
		fputs("  ", out);
		text_put(out, who, NULL);
	}
	fputc('\n', out);
}

/* ---- JSON ---- */

static void put_json_cell(const struct matrix *c, struct json *j,
			  const struct matrix_column *col, const struct cell *n)
{
	char buf[TEXT_LEN];

	if (!cell_text(c, col, n, buf))
		json_str(j, col->key, NULL);
	else if (col->what == BESIDE_COUNT)
		json_u64(j, col->key, n->count);
	else if (col->what == BESIDE_MAX_MS)
		json_u64(j, col->key, n->max);
	else if (col->what == BESIDE_AVG_MS)
		json_s64(j, col->key, n->sum / (__s64)n->count);
	else if (col->what == BESIDE_PERCENT)
		json_seconds(j, col->key, (double)n->sum * 100 / (double)n->of);
	else
		json_s64(j, col->key, n->sum);
}

static void put_json_row(const struct matrix *c, const struct row *r, FILE *out)
{
	struct json j = { .out = out, .line = true };
	char who[512];

	json_document(&j, c->ask->document);
	json_seconds(&j, "seconds", c->o->seconds);
	json_bool(&j, "final", c->o->final);
	if (c->o->by != BY_NONE) {
		group_text(c, r, who, sizeof(who));
		json_str(&j, "key", who);
		if (r->task && (c->o->by == BY_PROCESS || c->o->by == BY_THREAD)) {
			json_str(&j, "comm", r->task->comm);
			json_s64(&j, "pid", r->task->pid);
		}
	}
	for (size_t i = 0; i < c->nr; i++)
		put_json_cell(c, &j, &c->ask->columns[i], &r->cells[i]);
	json_close(&j, '}');
	fputc('\n', out);
}

/* ---- by function ---- */

/* keyed_bytes: ns are bytes given, yield is bytes asked for. */

struct keyed {
	__u64 key, count, max;
	__s64 ns, yield;
};

static int cmp_keyed(const void *va, const void *vb)
{
	const struct keyed *a = va, *b = vb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

static int cmp_wasted(const void *va, const void *vb)
{
	const struct keyed *a = va, *b = vb;
	const __s64 x = a->ns - a->yield, y = b->ns - b->yield;

	return x != y ? x > y ? -1 : 1 : cmp_keyed(va, vb);
}

static size_t make_keyed(const struct matrix *c, struct keyed *at)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->s->nr_counters; i++) {
		const struct snap_counter *n = &c->s->counters[i];
		const bool time = is(c, n->event, c->ask->keyed);
		size_t k = 0;

		if (!n->count || (!time && !is(c, n->event, c->ask->yield)))
			continue;
		while (k < nr && at[k].key != n->addr)
			k++;
		if (k == nr) {
			memset(&at[nr], 0, sizeof(*at));
			at[nr++].key = n->addr;
		}
		if (time) {
			at[k].count += n->count;
			at[k].ns += n->sum;
			at[k].max = n->max > at[k].max ? n->max : at[k].max;
		} else {
			at[k].yield += n->sum;
		}
	}
	if (nr)
		qsort(at, nr, sizeof(*at), c->ask->keyed_bytes ? cmp_wasted : cmp_keyed);
	return nr;
}

/* A caller, which is a place in a function. */
static void put_caller(const struct matrix *c, const struct keyed *k, FILE *out)
{
	const struct sym_frame *f;
	struct json j = { .out = out, .line = true };
	const bool found = sym_kernel(c->sym, c->s, k->key, true, &f) && f->name;
	const char *name = found ? f->name : "[kernel]", *object = found ? f->object : "kernel";
	char n[TEXT_LEN], asked[TEXT_LEN], given[TEXT_LEN], waste[TEXT_LEN];

	if (!c->o->json) {
		fprintf(out, "%12s %11s %11s %11s %5.1f  ", text_count(n, k->count),
			text_bytes(asked, k->yield, false), text_bytes(given, k->ns, false),
			text_bytes(waste, k->ns - k->yield, false),
			k->ns ? 100 * (double)(k->ns - k->yield) / (double)k->ns : 0);
		text_put(out, name, NULL);
		if (found)
			fprintf(out, "+%#llx", f->offset);
		if (strcmp(object, "kernel")) {
			fputs(" [", out);
			text_put(out, object, NULL);
			fputc(']', out);
		}
		fputc('\n', out);
		return;
	}
	json_document(&j, "caller");
	json_str(&j, "function", name);
	json_str(&j, "object", object);
	json_u64(&j, "offset", found ? f->offset : 0);
	json_hex(&j, "address", k->key);
	json_u64(&j, "allocs", k->count);
	json_s64(&j, "asked_bytes", k->yield);
	json_s64(&j, "given_bytes", k->ns);
	json_s64(&j, "waste_bytes", k->ns - k->yield);
	json_close(&j, '}');
	fputc('\n', out);
}

static void put_keyed(const struct matrix *c, const struct keyed *k, FILE *out)
{
	const struct sym_frame *f;
	struct json j = { .out = out, .line = true };
	char n[TEXT_LEN], y[TEXT_LEN];
	const char *name = sym_kernel(c->sym, c->s, k->key, false, &f) && f->name ? f->name :
			   "[kernel]";

	if (!c->o->json) {
		fprintf(out, "%12s %12.3f %10.3f %12s  ", text_count(n, k->count),
			(double)k->ns / 1e6, (double)k->max / 1e6, text_signed(y, k->yield));
		text_put(out, name, NULL);
		fputc('\n', out);
		return;
	}
	json_document(&j, "shrinker");
	json_str(&j, "function", name);
	json_u64(&j, "count", k->count);
	json_s64(&j, "ns", k->ns);
	json_u64(&j, "max_ns", k->max);
	json_s64(&j, "freed", k->yield);
	json_close(&j, '}');
	fputc('\n', out);
}

static int put_all_keyed(const struct matrix *c, FILE *out)
{
	struct keyed *at;
	size_t nr;

	if (!has(c, c->ask->keyed))
		return 0;
	at = calloc(c->s->nr_counters + 1, sizeof(*at));
	if (!at)
		return -ENOMEM;
	nr = make_keyed(c, at);
	if (nr && !c->o->json && c->ask->keyed_bytes)
		fprintf(out, "\n%12s %11s %11s %11s %5s  %s\n", "ALLOCS", "ASKED", "GIVEN", "WASTE",
			"%", c->ask->keyed_title);
	else if (nr && !c->o->json)
		fprintf(out, "\n%12s %12s %10s %12s  %s\n", "COUNT", "TOTAL(ms)", "MAX(ms)",
			"FREED", c->ask->keyed_title);
	for (size_t i = 0; i < nr && (!c->o->top || i < c->o->top); i++)
		(c->ask->keyed_bytes ? put_caller : put_keyed)(c, &at[i], out);
	if (c->o->top && nr > c->o->top && !c->o->json)
		fprintf(out, "%12zu more; --top shows N\n", nr - c->o->top);
	free(at);
	return 0;
}

/* ---- all of it ---- */

static bool wants_hist(const struct matrix *c, __u32 event)
{
	for (int i = 0; i < 4; i++)
		if (is(c, event, c->ask->hists[i]))
			return true;
	return false;
}

static int put_hists(const struct matrix *c, FILE *out)
{
	struct dist_event events[MEMTAP_MAX_EVENTS] = { { .by = NULL } };
	struct dist_opts o = {
		.hist = true, .merged = true, .group = BY_NONE, .top = c->o->top,
		.json = c->o->json, .final = true, .quiet = true, .seconds = c->o->seconds,
		.events = events,
	};

	for (__u32 e = 0; e < MEMTAP_MAX_EVENTS; e++) {
		events[e].value = "latency";
		events[e].left_out = !wants_hist(c, e);
	}
	if (!c->ask->hists[0])
		return 0;
	if (!c->o->json)
		fputc('\n', out);
	return dist_print(c->s, &o, out);
}

static int by_since(const void *va, const void *vb)
{
	const struct memtap_rec_pending *a = *(const struct memtap_rec_pending *const *)va;
	const struct memtap_rec_pending *b = *(const struct memtap_rec_pending *const *)vb;

	return a->since_ns < b->since_ns ? -1 : a->since_ns > b->since_ns;
}

static void put_pending(const struct matrix *c, const struct memtap_rec_pending *p, FILE *out)
{
	const struct memtap_rec_task *t = snap_task(c->s, p->task);
	const __u64 now = c->s->header.now_ns;
	const __u64 ns = now > p->since_ns ? now - p->since_ns : 0;
	struct json j = { .out = out, .line = true };

	if (!c->o->json) {
		fprintf(out, "%12.3f  ", (double)ns / 1e6);
		text_put(out, t ? t->comm : "[task not recorded]", NULL);
		if (t)
			fprintf(out, " [%d]", t->pid);
		fputc('\n', out);
		return;
	}
	json_document(&j, "waiting");
	json_str(&j, "kind", c->ask->pending);
	json_str(&j, "comm", t ? t->comm : NULL);
	json_s64(&j, "pid", t ? t->pid : 0);
	json_u64(&j, "ns", ns);
	json_close(&j, '}');
	fputc('\n', out);
}

/* Calls whose return has not come, those that have waited longest first. */
static int put_all_pending(const struct matrix *c, FILE *out)
{
	const struct memtap_rec_pending **at = calloc(c->s->nr_pendings + 1, sizeof(*at));
	size_t nr = 0;

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < c->s->nr_pendings; i++) {
		const struct memtap_rec_pending *p = &c->s->pendings[i];
		const struct memtap_rec_task *t = snap_task(c->s, p->task);

		if (is(c, p->event, c->ask->pending) && !(t && t->flags & MEMTAP_TASK_EXITED))
			at[nr++] = p;
	}
	if (nr)
		qsort(at, nr, sizeof(*at), by_since);
	if (nr && !c->o->json)
		fprintf(out, "%12s  %s\n", "FOR(ms)", c->ask->pending_text);
	for (size_t i = 0; i < nr && (!c->o->top || i < c->o->top); i++)
		put_pending(c, at[i], out);
	free(at);
	return 0;
}

static void put_lost(const struct matrix *c, FILE *out)
{
	for (size_t i = 0; i < c->s->nr_events; i++) {
		const struct account a = account_of(&c->s->events[i]);

		if (account_whole(&a))
			continue;
		fprintf(out, "%s: lost: ", c->s->events[i].name);
		account_put_lost(&a, out);
		fputc('\n', out);
	}
}

static int put_end(const struct matrix *c, FILE *out)
{
	int err = put_all_keyed(c, out);

	if (!err)
		err = put_hists(c, out);
	if (!c->ask->hists[0] && !c->o->json)
		put_lost(c, out);
	if (!c->o->quiet && !c->o->json)
		account_put_left_out(c->s, out);
	return err;
}

int matrix_print(const struct matrix_ask *ask, const struct matrix_opts *o,
		 const struct snap *s, struct sym *sym, FILE *out)
{
	struct matrix c = { .ask = ask, .o = o, .s = s, .sym = sym };
	struct rows rows = { .nr = 0 };
	size_t most;
	int err;

	while (c.nr < MAX_COLUMNS && ask->columns[c.nr].title)
		c.nr++;
	find_labels(&c);
	err = make_rows(&c, &rows);
	if (err)
		return err;
	if (!o->json && (o->header || o->by != BY_NONE))
		put_header(&c, out);
	most = o->top && o->top < rows.nr ? o->top : rows.nr;
	if (!rows.nr && o->final && !o->json && !o->quiet)
		fputs("no events\n", out);
	for (size_t i = 0; i < most; i++)
		if (o->json)
			put_json_row(&c, &rows.at[i], out);
		else
			put_row(&c, &rows.at[i], out);
	if (most < rows.nr && !o->json)
		fprintf(out, "%8zu more; --top shows N\n", rows.nr - most);
	free(rows.at);
	if (!o->final && ask->pending)
		err = put_all_pending(&c, out);
	return !err && o->final ? put_end(&c, out) : err;
}
