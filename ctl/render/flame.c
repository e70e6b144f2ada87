// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A flame graph of stacks, with the foot of the report.
 */
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

/* More than this, and browsers take seconds to draw. */
#define MAX_NODES	40000

/* What a node stands for: a number among its like. */
enum what { ROOT, EVENT, GROUP, FRAME };

struct node {
	__u64 value, was;		/* was: of two reports, in the former */
	enum what what;
	__u32 number;
	__u32 parent, child, sibling;	/* 0: none; the root is no child */
};

struct tree {
	const struct view *v;
	const struct report *r;
	struct node *nodes;
	size_t room;
	struct ids ids;
	__u64 excluded;			/* what shrank */
	__u64 least;			/* narrower frames are left out */
	size_t hidden;
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
	nodes = ids_room(t->nodes, t->ids.nr, &t->room, sizeof(*nodes));
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
	__u64 value, was;
};

static void add_weight(struct node *n, const struct weight *w)
{
	n->value = add(n->value, w->value);
	n->was = add(n->was, w->was);
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

/* What can be drawn of it; what is below 0 is not. */
static __u64 drawn(struct tree *t, __s64 v)
{
	if (v >= 0)
		return (__u64)v;
	t->excluded = add(t->excluded, -(__u64)v);
	return 0;
}

static int add_row(struct tree *t, const struct rrow *row)
{
	const struct report *r = t->r;
	const struct weight w = {
		drawn(t, render_weight(t->v, row)),
		r->was ? drawn(t, render_was_weight(t->v, row)) : 0,
	};
	__s64 at = 0;

	if (!w.value && !w.was)
		return 0;
	add_weight(&t->nodes[0], &w);
	if (r->nr_events > 1)
		at = step(t, at, &w, EVENT, row->event);
	if (*r->groups[row->group].label)
		at = step(t, at, &w, GROUP, row->group);
	at = add_stack(t, at, &w, row->ustack);
	at = add_stack(t, at, &w, row->kstack);
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
static __u64 width(const struct node *n)
{
	return n->value > n->was ? n->value : n->was;
}

/*
 * The least value that leaves no more than MAX_NODES.  It ends at the whole: where more
 * nodes than that have it, their sums are at the limit, and which are wider nobody knows.
 */
static void set_least(struct tree *t)
{
	const __u64 whole = width(&t->nodes[0]), part = whole / 1000000;

	t->least = 1;
	for (;;) {
		size_t kept = 0;

		for (size_t i = 0; i < t->ids.nr; i++)
			kept += width(&t->nodes[i]) >= t->least;
		t->hidden = t->ids.nr - kept;
		if (kept <= MAX_NODES || t->least >= whole)
			return;
		if (t->least < part)
			t->least = part;
		else
			t->least = t->least > whole / 2 ? whole : 2 * t->least;
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
	json_str(t->j, "n", name);
	if (kind)
		json_str(t->j, "l", kind);
	if (object && *object && *object != '[')
		json_str(t->j, "o", object);
}

static void put_node(struct tree *t, __u32 id)
{
	const struct node *n = &t->nodes[id];
	bool open = false;

	json_open(t->j, NULL, '{');
	put_what(t, n);
	json_u64(t->j, "v", n->value);
	if (t->r->was)
		json_u64(t->j, "w", n->was);
	for (__u32 c = n->child; c; c = t->nodes[c].sibling) {
		if (width(&t->nodes[c]) < t->least)
			continue;
		if (!open)
			json_open(t->j, "c", '[');
		open = true;
		put_node(t, c);
	}
	if (open)
		json_close(t->j, ']');
	json_close(t->j, '}');
}

/* The foot of the table, and what a graph in particular leaves out. */
static char *make_foot(const struct tree *t)
{
	char value[TEXT_LEN], *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	if (t->excluded)
		fprintf(f, t->r->was ? "not drawn: stacks that shrank, in both together by %s\n" :
			"not drawn: stacks that shrank, by %s\n",
			text_value(value, t->excluded, t->r->events[0].unit, false));
	if (t->hidden)
		fprintf(f, "not drawn: %zu frame%s narrower than %.4f %% of the whole\n",
			t->hidden, text_s(t->hidden), 100.0 * t->least / width(&t->nodes[0]));
	if (t->r->was)
		render_diff_foot(t->v, f);
	else
		render_foot(t->v, FOOT_WHOLE, f);
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

static const char *graph_unit(const struct view *v)
{
	const struct report *r = v->r;
	const char *unit = r->nr_events ? unit_name(r->events[0].unit) : "";

	if (r->leaks && v->calls)
		return "blocks";
	return v->calls ? "calls" : *unit ? unit : "events";
}

static void put_tree(struct json *j, void *ctx)
{
	struct tree *t = ctx;

	t->j = j;
	put_node(t, 0);
}

static int put_page(struct tree *t, FILE *out)
{
	char *foot = make_foot(t), *subtitle = make_subtitle(t->v);
	const struct flame_page p = {
		.title = t->v->o->title ? t->v->o->title : "memtap",
		.subtitle = subtitle,
		.unit = graph_unit(t->v),
		.foot = foot,
		.bytes = t->r->snap->header.page_size,
		.tree = put_tree,
		.ctx = t,
	};

	if (foot && subtitle)
		flame_page(&p, out);
	free(foot);
	free(subtitle);
	return foot && subtitle ? 0 : -ENOMEM;
}

int render_flame(const struct view *v, FILE *out)
{
	struct tree t = { .v = v, .r = v->r };
	int err = make_tree(&t);

	if (!err) {
		set_least(&t);
		err = put_page(&t, out);
	}
	ids_free(&t.ids);
	free(t.nodes);
	return err;
}
