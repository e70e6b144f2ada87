// SPDX-License-Identifier: GPL-2.0-or-later
/* Write a flame graph of stacks, with the summary of the report. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "base/ids.h"
#include "render/flame_page.h"
#include "render/int.h"

/*
 * More than this, and browsers take seconds to read the page, which is so many frames times some
 * 40 bytes.  What they draw is less: see app.js.
 */
#define MAX_NODES	250000

/* What a node stands for: a number among its like. */
enum what { ROOT, EVENT, GROUP, FRAME };

/* Of what a value is; those behind the first are of blocks. */
enum from { FROM_ALL, FROM_LOST, FROM_GROWN, FROM_NEW, FROM_FREED, NR_FROM };

/* What a page can switch between: bytes and blocks, of FROM_*. */
#define MAX_VALUES	(2 * NR_FROM)

/* Numbers that a part of the time has. */
#define MAX_COLUMNS	4

struct node {
	__u64 value[MAX_VALUES], was[MAX_VALUES];	/* was: of two reports, in the former */
	enum what what;
	__u32 number;
	__u32 parent, child, sibling;	/* 0: none; the root is no child */
	__u32 rows;			/* that end there: number in tree.ends + 1 */
};

/* A row that ends at a node, for the time line. */
struct end {
	__u32 row, next;
};

struct value {
	struct flame_value page;
	bool calls;			/* or blocks */
	enum from from;
};

struct tree {
	const struct view *v;
	const struct report *r;
	struct value values[MAX_VALUES];	/* the first is what was asked for */
	__u32 nr_values;
	struct node *nodes;
	size_t room;
	struct ids ids;
	struct end *ends;		/* by row; or NULL: there is no time line */
	__s64 (*line)[MAX_COLUMNS];	/* by part of the time: of the node at hand */
	size_t nr_parts;
	__u32 nr_columns;
	__u64 excluded;			/* what shrank */
	__u64 least[MAX_VALUES];	/* narrower frames are merged, below their caller */
	size_t hidden;
	struct ids name_ids;		/* names are written once, and told by number */
	const char **names;
	size_t room_names;
	bool failed;			/* no memory for a name */
	struct json *j;
};

static bool same_node(const void *things, __u32 id, const void *key)
{
	const struct node *a = (const struct node *)things + id, *b = key;

	return a->parent == b->parent && a->what == b->what && a->number == b->number;
}

/* The child that stands for this; -ENOMEM. */
static __s64 get_node(struct tree *t, __u32 parent, enum what what, __u32 number)
{
	struct node key = { .what = what, .number = number, .parent = parent };
	__u64 hash = ids_mix(ids_mix(parent, what), number);
	__u32 id = ids_find(&t->ids, hash, same_node, t->nodes, &key);
	struct node *nodes;

	if (id != IDS_NONE)
		return id;
	nodes = ids_grow(t->nodes, t->ids.nr, &t->room, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	t->nodes = nodes;
	id = ids_add(&t->ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	if (id) {
		key.sibling = nodes[parent].child;
		nodes[parent].child = id;
	}
	nodes[id] = key;
	return id;
}

/* A file may say anything: what is too much for the text and the page stays at that. */
static __u64 add(__u64 sum, __u64 value)
{
	return value > INT64_MAX - sum ? INT64_MAX : sum + value;
}

/* What a row counts for. */
struct weight {
	__u64 value[MAX_VALUES], was[MAX_VALUES];
};

static void add_weight(struct node *n, const struct weight *w)
{
	for (__u32 i = 0; i < MAX_VALUES; i++) {
		n->value[i] = add(n->value[i], w->value[i]);
		n->was[i] = add(n->was[i], w->was[i]);
	}
}

static __s64 step(struct tree *t, __s64 at, const struct weight *w, enum what what, __u32 number)
{
	if (at < 0)
		return at;
	at = get_node(t, at, what, number);
	if (at >= 0)
		add_weight(&t->nodes[at], w);
	return at;
}

static __s64 add_stack(struct tree *t, __s64 at, const struct weight *w, __u32 id)
{
	const struct rstack *st = &t->r->stacks[id];

	for (__u32 i = st->nr; i--;)
		at = step(t, at, w, FRAME, st->frames[i]);
	return at;
}

static bool is_lost(const struct rrow *row)
{
	return row->flags == LEAK_DEFINITE || row->flags == LEAK_INDIRECT ||
	       row->flags == LEAK_POSSIBLE;
}

/* What can be drawn of it; what is below 0 is not, and counted once. */
static __u64 drawn(struct tree *t, const struct value *value, __s64 v)
{
	if (v >= 0)
		return (__u64)v;
	if (!value->calls && value->from == FROM_ALL)
		t->excluded = add(t->excluded, -(__u64)v);
	return 0;
}

/* What became of blocks in all parts of the time. */
static __s64 became(const struct tree *t, const struct value *value, const struct rrow *row)
{
	__u64 fresh = 0, freed = 0;

	for (__u32 k = row->series; k; k = t->r->series[k - 1].next) {
		const struct rseries *s = &t->r->series[k - 1];

		fresh += value->calls ? s->count : (__u64)s->sum;
		freed += value->calls ? s->freed : s->freed_bytes;
	}
	return (__s64)(value->from == FROM_NEW ? fresh : value->from == FROM_FREED ? freed :
		       fresh - freed);
}

/* Is there anything to draw? */
static bool weigh(struct tree *t, const struct rrow *row, struct weight *w)
{
	bool any = false;

	for (__u32 i = 0; i < t->nr_values; i++) {
		const struct value *value = &t->values[i];
		struct view v = *t->v;

		if (value->from == FROM_LOST && !is_lost(row))
			continue;
		if (value->from > FROM_LOST) {
			w->value[i] = drawn(t, value, became(t, value, row));
			any |= w->value[i] != 0;
			continue;
		}
		v.calls = value->calls;
		w->value[i] = drawn(t, value, render_weight(&v, row));
		if (t->r->was)
			w->was[i] = drawn(t, value, render_was_weight(&v, row));
		any |= w->value[i] || w->was[i];
	}
	return any;
}

static int add_row(struct tree *t, const struct rrow *row)
{
	const struct report *r = t->r;
	struct weight w = { { 0 } };
	__s64 at = 0;

	if (!weigh(t, row, &w))
		return 0;
	add_weight(&t->nodes[0], &w);
	if (r->nr_events > 1)
		at = step(t, at, &w, EVENT, row->event);
	if (*r->groups[row->group].label)
		at = step(t, at, &w, GROUP, row->group);
	at = add_stack(t, at, &w, row->ustack);
	at = add_stack(t, at, &w, row->kstack);
	if (at >= 0 && t->ends) {
		struct end *end = &t->ends[row - r->rows];

		*end = (struct end){ (__u32)(row - r->rows), t->nodes[at].rows };
		t->nodes[at].rows = end->row + 1;
	}
	return at < 0 ? (int)at : 0;
}

/* All rows: a graph has room, --top is for lists. */
static int make_tree(struct tree *t)
{
	__s64 root = get_node(t, 0, ROOT, 0);
	int err = root < 0 ? (int)root : 0;

	for (size_t i = 0; !err && i < t->r->nr_rows; i++)
		if (!report_sums_only(t->r, &t->r->events[t->r->rows[i].event]))
			err = add_row(t, &t->r->rows[i]);
	return err;
}

/* How wide it may be drawn: a page can show the former of two, too. */
static __u64 width(const struct node *n, __u32 value)
{
	return n->value[value] > n->was[value] ? n->value[value] : n->was[value];
}

/* By any of the values. */
static bool is_wide(const struct tree *t, const struct node *n)
{
	for (__u32 i = 0; i < t->nr_values; i++)
		if (width(n, i) >= t->least[i])
			return true;
	return false;
}

/* Ask for more of each value.  False: there is none that has more. */
static bool raise_least(struct tree *t)
{
	bool raised = false;

	for (__u32 i = 0; i < t->nr_values; i++) {
		const __u64 whole = width(&t->nodes[0], i), part = whole / 1000000;
		__u64 *least = &t->least[i];

		if (*least >= whole)
			continue;
		raised = true;
		if (*least < part)
			*least = part;
		else
			*least = *least > whole / 2 ? whole : 2 * *least;
	}
	return raised;
}

/*
 * The least values that leave no more than MAX_NODES.  It ends at the whole: where more
 * nodes than that have it, their sums are at the limit, and which are wider nobody knows.
 */
static void set_least(struct tree *t)
{
	for (__u32 i = 0; i < MAX_VALUES; i++)
		t->least[i] = 1;
	for (;;) {
		size_t kept = 0;

		for (size_t i = 0; i < t->ids.nr; i++)
			kept += is_wide(t, &t->nodes[i]);
		t->hidden = t->ids.nr - kept;
		if (kept <= MAX_NODES || !raise_least(t))
			return;
	}
}

static const char *frame_kind(const struct rframe *f)
{
	if (!f->sym || (!f->sym->name && !f->sym->kernel))
		return "mark";
	if (f->sym->kernel)
		return "kernel";
	return f->sym->inlined ? "inlined" : NULL;
}

static bool same_name(const void *things, __u32 id, const void *key)
{
	return !strcmp(((const char *const *)things)[id], key);
}

/* @text lives as long as the report. */
static void put_name(struct tree *t, const char *key, const char *text)
{
	const __u64 hash = ids_hash_string(1, text);
	__u32 id = ids_find(&t->name_ids, hash, same_name, t->names, text);
	const char **more;

	if (id == IDS_NONE) {
		more = ids_grow(t->names, t->name_ids.nr, &t->room_names, sizeof(*more));
		if (more)
			t->names = more;
		id = more ? ids_add(&t->name_ids, hash) : IDS_NONE;
		if (id == IDS_NONE) {
			t->failed = true;
			return;
		}
		t->names[id] = text;
	}
	json_u64(t->j, key, id);
}

/* "n" its name, "l" how to colour it, "o" the object: for the tooltip. */
static void put_what(struct tree *t, const struct node *n)
{
	const struct report *r = t->r;
	const char *name = "all", *kind = "group", *object = NULL;

	if (n->what == EVENT)
		name = r->events[n->number].name;
	if (n->what == GROUP)
		name = r->groups[n->number].label;
	if (n->what == FRAME) {
		const struct rframe *f = &r->frames[n->number];

		name = f->text;
		kind = frame_kind(f);
		object = f->sym ? f->sym->object : NULL;
	}
	put_name(t, "n", name);
	if (kind)
		json_str(t->j, "l", kind);
	if (object && *object && *object != '[')
		put_name(t, "o", object);
}

/* The others than the first: "m" now, "x" in the former of two. */
static void put_more(struct tree *t, const char *key, const __u64 *values)
{
	if (t->nr_values == 1)
		return;
	json_open(t->j, key, '[');
	for (__u32 i = 1; i < t->nr_values; i++)
		json_u64(t->j, NULL, values[i]);
	json_close(t->j, ']');
}

/* In the order of LIVED_COLUMNS, or of the values. */
static void get_columns(const struct tree *t, const struct rrow *row, const struct rseries *s,
			__s64 columns[MAX_COLUMNS])
{
	const struct rrow part = { .event = row->event, .flags = row->flags,
				   .count = s->count, .sum = s->sum };
	const __u64 lived[] = { (__u64)s->sum, s->count, s->freed_bytes, s->freed };
	struct view v = *t->v;

	for (__u32 i = 0; i < t->nr_columns; i++) {
		v.calls = t->values[i].calls;
		columns[i] = t->r->leaks ? (__s64)lived[i] : render_weight(&v, &part);
	}
}

/* What rows that end at a node were in each part of the time, to what is in the line. */
static void add_line(struct tree *t, const struct node *n)
{
	const struct report *r = t->r;
	__s64 columns[MAX_COLUMNS];

	for (__u32 at = n->rows; at; at = t->ends[at - 1].next) {
		const struct rrow *row = &r->rows[t->ends[at - 1].row];

		for (__u32 k = row->series; k; k = r->series[k - 1].next) {
			__s64 *sums = t->line[r->series[k - 1].span];

			get_columns(t, row, &r->series[k - 1], columns);
			for (__u32 i = 0; i < t->nr_columns; i++)
				sums[i] = (__s64)((__u64)sums[i] + (__u64)columns[i]);
		}
	}
}

/* With all below it, to what is in the line; how many nodes these are. */
static size_t add_hidden(struct tree *t, const struct node *n)
{
	size_t nr = 1;

	if (t->ends)
		add_line(t, n);
	for (__u32 c = n->child; c; c = t->nodes[c].sibling)
		nr += add_hidden(t, &t->nodes[c]);
	return nr;
}

/* "t": parts of the time in which there was something, and what: of t->line. */
static void put_line(struct tree *t)
{
	bool any = false;

	for (size_t i = 0; i < t->nr_parts; i++) {
		bool here = false;

		for (__u32 k = 0; k < t->nr_columns; k++)
			here |= t->line[i][k] != 0;
		if (!here)
			continue;
		if (!any)
			json_open(t->j, "t", '[');
		any = true;
		json_open(t->j, NULL, '[');
		json_u64(t->j, NULL, i);
		for (__u32 k = 0; k < t->nr_columns; k++)
			json_s64(t->j, NULL, t->line[i][k]);
		json_close(t->j, ']');
	}
	if (any)
		json_close(t->j, ']');
}

static void put_values(struct tree *t, const struct node *n)
{
	json_u64(t->j, "v", n->value[0]);
	put_more(t, "m", n->value);
	if (t->r->was) {
		json_u64(t->j, "w", n->was[0]);
		put_more(t, "x", n->was);
	}
}

static void clear_line(struct tree *t)
{
	if (t->ends)
		memset(t->line, 0, t->nr_parts * sizeof(*t->line));
}

/* The narrower frames that @n calls, as one: what they have is not @n's own. */
static void put_rest(struct tree *t, const struct node *n)
{
	struct node rest = { .value = { 0 } };
	char name[64], count[TEXT_LEN];
	size_t nr = 0;

	clear_line(t);
	for (__u32 c = n->child; c; c = t->nodes[c].sibling) {
		struct weight w;

		if (is_wide(t, &t->nodes[c]))
			continue;
		memcpy(w.value, t->nodes[c].value, sizeof(w.value));
		memcpy(w.was, t->nodes[c].was, sizeof(w.was));
		add_weight(&rest, &w);
		nr += add_hidden(t, &t->nodes[c]);
	}
	snprintf(name, sizeof(name), "(%s narrower frame%s)", text_count(count, nr), text_s(nr));
	json_open(t->j, NULL, '{');
	json_str(t->j, "n", name);
	json_str(t->j, "l", "rest");
	put_values(t, &rest);
	if (t->ends)
		put_line(t);
	json_close(t->j, '}');
}

static void put_node(struct tree *t, __u32 id)
{
	const struct node *n = &t->nodes[id];
	bool narrow = false;

	json_open(t->j, NULL, '{');
	put_what(t, n);
	put_values(t, n);
	clear_line(t);
	if (t->ends) {
		add_line(t, n);
		put_line(t);
	}
	if (n->child)
		json_open(t->j, "c", '[');
	for (__u32 c = n->child; c; c = t->nodes[c].sibling) {
		if (is_wide(t, &t->nodes[c]))
			put_node(t, c);
		else
			narrow = true;
	}
	if (narrow)
		put_rest(t, n);
	if (n->child)
		json_close(t->j, ']');
	json_close(t->j, '}');
}

/* Of the first event that the report is about. */
static __u32 unit_of(const struct report *r)
{
	for (size_t i = 0; i < r->nr_events; i++)
		if (render_event_shown(r, &r->events[i]))
			return r->events[i].unit;
	return MEMTAP_UNIT_NONE;
}

/* The foot of the table, and what a graph in particular leaves out. */
static char *make_footer(const struct tree *t)
{
	char value[TEXT_LEN], *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	if (t->excluded)
		fprintf(f, t->r->was ? "not drawn: stacks that shrank, in both together by %s\n" :
			"not drawn: stacks that shrank, by %s\n",
			text_value(value, t->excluded, unit_of(t->r), false));
	if (t->hidden)
		fprintf(f, "merged: %s frames are narrow in each of the values; below its caller "
			"one frame stands for them,\nand their names are not in this page\n",
			text_count(value, t->hidden));
	if (t->nr_parts && t->r->leaks)
		fputs("new and freed: as seen at the end of each part of the time; what came and "
		      "went between is in neither,\nbut in the calls of allocators\n", f);
	if (t->r->was)
		render_diff_footer(t->v, f);
	else
		render_footer(t->v, FOOT_WHOLE, f);
	if (t->v->o->command)
		fprintf(f, "%s\n", t->v->o->command);
	fclose(f);
	return text;
}

static char *make_subtitle(const struct view *v)
{
	const struct memtap_rec_header *h = &v->r->snap->header;
	char when[TEXT_LEN], *text;

	if (v->sides) {
		if (asprintf(&text, "from %s to %s", v->sides[0].name, v->sides[1].name) < 0)
			return NULL;
		return text;
	}
	if (asprintf(&text, "%s%s%s, %.1f s until %s", h->host, *h->release ? ", Linux " : "",
		     h->release, (h->now_ns - h->start_ns) / 1e9,
		     text_time(when, h->real_ns)) < 0)
		return NULL;
	return text;
}

/* Columns of a part of the time, of live blocks: bytes and blocks, new and gone. */
enum { NEW, GONE = 2 };

/* How a value follows from parts of the time. */
static void set_line(const struct tree *t, struct value *value)
{
	struct flame_value *p = &value->page;

	p->how = value->from == FROM_LOST ? "fixed" :
		 value->from == FROM_ALL && t->r->leaks ? "level" : "sum";
	p->plus = t->r->leaks ? (value->from == FROM_FREED ? GONE : NEW) + value->calls :
				(int)t->nr_values;
	p->minus = t->r->leaks && (value->from == FROM_ALL || value->from == FROM_GROWN) ?
		   GONE + value->calls : -1;
}

static void add_value(struct tree *t, bool calls, enum from from)
{
	static const char *const words[NR_FROM] = {
		[FROM_LOST] = "lost ", [FROM_GROWN] = "grown ", [FROM_NEW] = "new ",
		[FROM_FREED] = "freed ",
	};
	struct value *value = &t->values[t->nr_values];
	const struct report *r = t->r;
	const char *unit = unit_name(unit_of(r));

	if (calls)
		unit = r->leaks ? "blocks" : "calls";
	if (!*unit)
		unit = "events";
	*value = (struct value){ .page = { .unit = unit }, .calls = calls, .from = from };
	snprintf(value->page.name, sizeof(value->page.name), "%s%s",
		 words[from] ? words[from] : t->nr_parts && r->leaks ? "live " : "", unit);
	if (t->nr_parts)
		set_line(t, value);
	t->nr_values++;
}

/* Are some blocks lost, and others not? */
static bool some_lost(const struct report *r)
{
	size_t lost = 0;

	for (size_t i = 0; r->leaks && i < r->nr_rows; i++)
		lost += is_lost(&r->rows[i]);
	return lost && lost < r->nr_rows;
}

/* One unit for all events, or none: what has none is as often as it came. */
static bool has_sums(const struct report *r)
{
	for (size_t i = 0; i < r->nr_events; i++)
		if (render_event_shown(r, &r->events[i]) &&
		    (!*unit_name(r->events[i].unit) || r->events[i].unit != unit_of(r)))
			return false;
	return r->nr_events;
}

static void set_values(struct tree *t)
{
	const bool calls = t->v->calls;

	add_value(t, calls, FROM_ALL);
	/* pages are their own number */
	if (!has_sums(t->r) || report_is_rss(t->r))
		return;
	add_value(t, !calls, FROM_ALL);
	for (enum from from = FROM_GROWN; t->nr_parts && t->r->leaks && from < NR_FROM; from++) {
		add_value(t, calls, from);
		add_value(t, !calls, from);
	}
	if (!some_lost(t->r))
		return;
	add_value(t, calls, FROM_LOST);
	add_value(t, !calls, FROM_LOST);
}

static void put_tree(struct json *j, void *ctx)
{
	struct tree *t = ctx;

	t->j = j;
	put_node(t, 0);
	json_open(j, "names", '[');
	for (size_t i = 0; i < t->name_ids.nr; i++)
		json_str(j, NULL, t->names[i]);
	json_close(j, ']');
}

/* Seconds since the start: where the first part begins, and where each ends. */
static double *make_times(const struct tree *t)
{
	const struct snap *s = t->r->snap;
	double *times = t->ends ? calloc(t->nr_parts + 1, sizeof(*times)) : NULL;

	for (size_t i = 0; times && i < t->nr_parts; i++) {
		const __u64 from = t->r->leaks ? s->liveds[i]->start_ns : s->spans[i]->start_ns;
		const __u64 to = t->r->leaks ? s->liveds[i]->end_ns : s->spans[i]->end_ns;

		if (!i)
			times[0] = (double)(__s64)(from - s->header.start_ns) / 1e9;
		times[i + 1] = (double)(__s64)(to - s->header.start_ns) / 1e9;
	}
	return times;
}

static int put_page(struct tree *t, FILE *out)
{
	char *foot = make_footer(t), *subtitle = make_subtitle(t->v);
	double *times = make_times(t);
	struct flame_value values[MAX_VALUES];
	const struct flame_page p = {
		.title = t->v->o->title ? t->v->o->title :
			 t->v->sides ? "what changed" : "memtap",
		.subtitle = subtitle,
		.values = values,
		.nr_values = t->nr_values,
		.foot = foot,
		.bytes = t->r->snap->header.page_size,
		.spans = times,
		.nr_spans = times ? t->nr_parts : 0,
		.tree = put_tree,
		.ctx = t,
	};

	for (__u32 i = 0; i < t->nr_values; i++)
		values[i] = t->values[i].page;
	if (foot && subtitle && (times || !t->ends))
		flame_page(&p, out);
	free(foot);
	free(subtitle);
	free(times);
	return foot && subtitle && (times || !t->ends) && !t->failed ? 0 : -ENOMEM;
}

/* Room for a time line, where there are parts of the time. */
static int begin_line(struct tree *t)
{
	const struct report *r = t->r;

	if (!t->nr_parts)
		return 0;
	t->ends = calloc(r->nr_rows + 1, sizeof(*t->ends));
	t->line = calloc(t->nr_parts, sizeof(*t->line));
	return t->ends && t->line ? 0 : -ENOMEM;
}

int render_flame(const struct view *v, FILE *out)
{
	struct tree t = { .v = v, .r = v->r };
	int err;

	if (v->r->nr_series)
		t.nr_parts = v->r->leaks ? v->r->snap->nr_liveds : v->r->snap->nr_spans;
	set_values(&t);
	t.nr_columns = v->r->leaks ? MAX_COLUMNS : t.nr_values;
	err = begin_line(&t);
	if (!err)
		err = make_tree(&t);
	if (!err) {
		set_least(&t);
		err = put_page(&t, out);
	}
	ids_free(&t.ids);
	ids_free(&t.name_ids);
	free(t.names);
	free(t.nodes);
	free(t.ends);
	free(t.line);
	return err;
}
