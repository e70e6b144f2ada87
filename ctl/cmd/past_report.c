// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap report --history`: what each process, cgroup or slab cache held over time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/out.h"
#include "base/text.h"
#include "cmd/past.h"
#include "history/recorded.h"
#include "render/history_page.h"
#include "render/triage_recorded.h"
#include "triage/triage.h"

#define TOP		20
#define MOMENTS		400		/* in a page: each has its triage */

struct held {
	char name[256];
	__u32 pid;
	__u64 start, first, least, most, last, most_ns;
	size_t seen;			/* the last sample that has it */
};

struct table {
	struct ids ids;
	struct held *at;
	size_t nr, room;
};

static bool same(const void *things, __u32 id, const void *key)
{
	const struct held *h = (const struct held *)things + id;
	const struct machine_holder *now = key;

	return h->pid == now->pid && h->start == now->start &&
	       !strncmp(h->name, now->name, sizeof(h->name) - 1);
}

static int add(struct table *t, const struct machine_holder *now, __u64 real_ns, size_t i)
{
	const __u64 hash = ids_hash_string(ids_mix(now->pid, now->start), now->name);
	__u32 id = ids_find(&t->ids, hash, same, t->at, now);
	struct held *h;

	if (id == IDS_NONE) {
		h = ids_grow(t->at, t->nr, &t->room, sizeof(*h));
		if (!h || ids_add(&t->ids, hash) == IDS_NONE)
			return -ENOMEM;
		t->at = h;
		h = &t->at[t->nr++];
		memset(h, 0, sizeof(*h));
		snprintf(h->name, sizeof(h->name), "%s", now->name);
		h->pid = now->pid;
		h->start = now->start;
		h->first = h->least = now->bytes;
	} else {
		h = &t->at[id];
	}
	if (now->bytes < h->least)
		h->least = now->bytes;
	if (now->bytes > h->most || !h->most_ns) {
		h->most = now->bytes;
		h->most_ns = real_ns;
	}
	h->last = now->bytes;
	h->seen = i;
	return 0;
}

/* By how much it grew at some time. */
static int by_growth(const void *a, const void *b)
{
	const struct held *x = a, *y = b;
	const __u64 grew = x->most - x->first, other = y->most - y->first;

	if (grew != other)
		return grew > other ? -1 : 1;
	return x->most != y->most ? (x->most > y->most ? -1 : 1) : strcmp(x->name, y->name);
}

static void print_rows(const struct table *t, const struct opts *o, size_t last, size_t top)
{
	char b[4][TEXT_LEN], when[TEXT_LEN];

	printf("%11s %11s %11s %11s  %-19s  %s\n", "FIRST", "LEAST", "MOST", "LAST", "MOST AT",
	       o->by == BY_CGROUP ? "CGROUP" : o->by == BY_CACHE ? "CACHE" : "PROCESS");
	for (size_t i = 0; i < t->nr && i < top; i++) {
		const struct held *h = &t->at[i];

		printf("%11s %11s %11s %11s  %s  ", text_bytes(b[0], (__s64)h->first, false),
		       text_bytes(b[1], (__s64)h->least, false),
		       text_bytes(b[2], (__s64)h->most, false), h->seen == last ?
		       text_bytes(b[3], (__s64)h->last, false) : "gone",
		       text_time(when, h->most_ns));
		text_put(stdout, h->name, NULL);
		if (h->pid)
			printf(" (%u)", h->pid);
		putchar('\n');
	}
	if (t->nr > top)
		printf("%zu more\n", t->nr - top);
}

/* --- what happened -------------------------------------------------------------------- */

/* All samples: what each has for the page, and what happened before it. */
struct story {
	struct history_moment *at;
	size_t nr;
	__u64 total;
};

static void free_story(struct story *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free((char *)(unsigned long)s->at[i].gap);
		free(s->at[i].triage);
	}
	free(s->at);
}

static int see(struct story *s, const struct past *p, size_t i, const struct machine *m,
	       const struct machine *before)
{
	const enum history_gap gap = history_gap(p->h, i);
	const bool follows = i > p->first && gap == GAP_NONE;
	struct history_moment *to = &s->at[s->nr++];
	char text[HISTORY_TEXT];

	history_moment(to, m, follows ? before : NULL);
	to->real_ns = p->h->samples[i].real_ns;
	if (m->f.mem[MEM_TOTAL] > s->total)
		s->total = m->f.mem[MEM_TOTAL];
	if (follows)
		to->events = triage_events(before, m) & (TRIAGE_KILL | TRIAGE_STALL);
	if (follows && recorded_stalled(p->h, i))
		to->events |= TRIAGE_STALL;
	if (i == p->first || gap == GAP_NONE)
		return 0;
	to->gap = strdup(history_gap_text(p->h, i, text));
	return to->gap ? 0 : -ENOMEM;
}

static int read_all(const struct past *p, const struct opts *o, struct table *t, struct story *s)
{
	struct machine before = { 0 };
	const struct machine *m;
	const struct machine_list *l;
	int err = 0;

	s->at = calloc(p->last - p->first + 1, sizeof(*s->at));
	if (!s->at)
		return -ENOMEM;
	for (size_t i = p->first; !err && i <= p->last; i++) {
		err = history_read(p->c, i, &m, NULL);
		if (err)
			break;
		l = o->by == BY_CGROUP ? &m->cgroups : o->by == BY_CACHE ? &m->slabs :
		    &m->processes;
		for (size_t k = 0; !err && k < l->nr; k++)
			err = add(t, &l->at[k], p->h->samples[i].real_ns, i);
		if (!err)
			err = see(s, p, i, m, &before);
		/* what events are seen by, and no more */
		before.ns = m->ns;
		before.f = m->f;
		before.psi = m->psi;
		before.log.nr = m->log.nr;
	}
	if (t->nr)
		qsort(t->at, t->nr, sizeof(*t->at), by_growth);
	return err;
}

/* Which waits the module recorded, if it did. */
static void print_waits(const struct past *p, size_t i)
{
	struct recorded r;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return;
	if (!recorded_between(p->h, i - 1, i, &r))
		render_recorded_line(&r, f);
	recorded_free(&r);
	if (!fclose(f) && len)
		printf(": %s", text);
	free(text);
}

static void print_events(const struct story *s, const struct past *p)
{
	char when[TEXT_LEN];

	for (size_t i = 0; i < s->nr; i++) {
		const unsigned int what = s->at[i].events;

		if (s->at[i].gap)
			puts(s->at[i].gap);
		if (what)
			printf("%s  %s%s%s", text_time(when, s->at[i].real_ns),
			       what & TRIAGE_KILL ? "OOM kill" : "",
			       what & TRIAGE_KILL && what & TRIAGE_STALL ? ", " : "",
			       what & TRIAGE_STALL ? "tasks waited for memory" : "");
		if (what & TRIAGE_STALL)
			print_waits(p, p->first + i);
		if (what)
			putchar('\n');
	}
}

/* --- JSON ------------------------------------------------------------------------------- */

static void put_recorded(struct json *j, const struct past *p, size_t i)
{
	struct recorded r = { 0 };

	if (i > p->first && !recorded_between(p->h, i - 1, i, &r))
		render_recorded_json(j, &r);
	recorded_free(&r);
}

static void put_row(struct json *j, const struct held *h, size_t last)
{
	json_open(j, NULL, '{');
	json_str(j, "name", h->name);
	if (h->pid)
		json_u64(j, "pid", h->pid);
	json_u64(j, "first", h->first);
	json_u64(j, "least", h->least);
	json_u64(j, "most", h->most);
	json_seconds(j, "most_time", (double)h->most_ns / 1e9);
	if (h->seen == last)
		json_u64(j, "last", h->last);
	json_close(j, '}');
}

static void print_json(const struct table *t, const struct story *s, const struct past *p,
		       const struct opts *o, size_t top)
{
	struct json j = { .out = stdout };

	json_document(&j, "history");
	json_seconds(&j, "from", (double)p->h->samples[p->first].real_ns / 1e9);
	json_seconds(&j, "until", (double)p->h->samples[p->last].real_ns / 1e9);
	json_u64(&j, "samples", s->nr);
	json_str(&j, "by", o->by == BY_CGROUP ? "cgroup" : o->by == BY_CACHE ? "cache" : "process");
	json_open(&j, "rows", '[');
	for (size_t i = 0; i < t->nr && i < top; i++)
		put_row(&j, &t->at[i], p->last);
	json_close(&j, ']');
	json_u64(&j, "rows_total", t->nr);
	json_open(&j, "events", '[');
	for (size_t i = 0; i < s->nr; i++) {
		if (!s->at[i].events && !s->at[i].gap)
			continue;
		json_open(&j, NULL, '{');
		json_seconds(&j, "time", (double)s->at[i].real_ns / 1e9);
		json_bool(&j, "oom_kill", s->at[i].events & TRIAGE_KILL);
		json_bool(&j, "stall", s->at[i].events & TRIAGE_STALL);
		json_str(&j, "gap", s->at[i].gap);
		if (s->at[i].events)
			put_recorded(&j, p, p->first + i);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
}

/* --- the page --------------------------------------------------------------------------- */

/* What `memtap triage --at` prints of the time before sample @i. */
static int triage_text(const struct past *p, size_t i, char **to)
{
	struct triage_opts o = { .color = false };
	size_t len;
	int err;

	o.out = open_memstream(to, &len);
	if (!o.out)
		return -ENOMEM;
	err = past_show(p, i - 1, i, &o);
	return fclose(o.out) && !err ? -ENOMEM : err;
}

/* Of several moments, the one that matters: a gap is never left out. */
static unsigned int weight(const struct history_moment *m)
{
	return (m->gap ? 4 : 0) + (m->events & TRIAGE_KILL ? 2 : 0) +
	       (m->events & TRIAGE_STALL ? 1 : 0);
}

static int write_page(struct story *s, const struct past *p, const char *path)
{
	const size_t step = (s->nr + MOMENTS - 1) / MOMENTS;
	char a[TEXT_LEN], b[TEXT_LEN], left[64] = "", subtitle[256], title[96];
	struct history_moment *shown = calloc(MOMENTS + 1, sizeof(*shown));
	struct history_page page = { .title = title, .subtitle = subtitle, .moments = shown };
	struct out out = { 0 };
	int err = shown ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < s->nr; i += step) {
		size_t best = i;

		for (size_t k = i; k < i + step && k < s->nr; k++)
			if (weight(&s->at[k]) >= weight(&s->at[best]))
				best = k;
		if (best && !s->at[best].gap)
			err = triage_text(p, p->first + best, &s->at[best].triage);
		shown[page.nr++] = s->at[best];
	}
	if (step > 1)
		snprintf(left, sizeof(left), "; one of %zu is shown", step);
	snprintf(title, sizeof(title), "memory of %.64s",
		 p->h->segments[p->h->samples[p->last].segment].host);
	snprintf(subtitle, sizeof(subtitle), "%s to %s, %zu samples%s",
		 text_time(a, s->at[0].real_ns), text_time(b, s->at[s->nr - 1].real_ns), s->nr,
		 left);
	page.total = s->total ? s->total : 1;
	if (!err)
		err = out_open(&out, path);
	if (!err) {
		history_page(&page, out.f);
		err = out_commit(&out);
	}
	free(shown);
	return err;
}

int past_report(const struct cmd *cmd, const struct opts *o)
{
	static struct opts range;	/* it is large */
	struct table t = { 0 };
	struct story s = { 0 };
	char a[TEXT_LEN], b[TEXT_LEN];
	struct past p;
	size_t top;
	int ret;

	if (o->args.nr)
		return usage_error(cmd->name, "--history needs no FILE, and '%s' is one",
				   o->args.at[0]);
	if (o->by >= 0 && o->by != BY_PROCESS && o->by != BY_CGROUP && o->by != BY_CACHE)
		return usage_error(cmd->name, "--history: --by is process, cgroup or cache");
	if ((o->format > FORMAT_TABLE && o->format != FORMAT_JSON) || o->out || o->csv)
		return usage_error(cmd->name, "--history is a table or JSON on standard output, "
				   "and a page with --page FILE");
	range.between = o->between ? o->between : "-24h,-0s";
	range.dir = o->dir;
	ret = past_open(cmd->name, &range, &p);
	if (ret)
		return ret;
	ret = read_all(&p, o, &t, &s);
	top = !o->top_given ? TOP : o->top ? o->top : t.nr;
	if (!ret && o->json) {
		print_json(&t, &s, &p, o, top);
	} else if (!ret) {
		printf("from %s to %s, %zu samples\n\n",
		       text_time(a, p.h->samples[p.first].real_ns),
		       text_time(b, p.h->samples[p.last].real_ns), s.nr);
		print_events(&s, &p);
		print_rows(&t, o, p.last, top);
	}
	if (!ret && o->page) {
		const int err = write_page(&s, &p, o->page);

		if (err)
			ret = fail(ERR_WRITE, err, "%s", o->page);
		else
			note("page written to %s", o->page);
	} else if (ret) {
		ret = fail(ERR_PLAIN, ret, "the history");
	}
	free_story(&s);
	free(t.at);
	ids_free(&t.ids);
	past_close(&p);
	return ret;
}
