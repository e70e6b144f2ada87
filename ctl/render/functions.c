// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sum up the rows of an event by function, or by file: what happened in it itself, what happened
 * in it and in all that it called, and its callers and callees.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "core/names.h"
#include "render/int.h"

#define NEIGHBOURS	5		/* of each kind, in a table */

struct sums {
	__u64 count;
	__s64 value;
};

/* A function, or a file. */
struct node {
	const char *name, *object;
	struct sums self, total;
	__u64 row;			/* the last one that was added, + 1 */
};

/* Of two nodes, one of which calls the other. */
struct edge {
	__u32 caller, callee;
	struct sums sums;
	__u64 row;
};

struct functions {
	const struct view *v;
	const struct rsection *section;
	bool files;			/* no functions */
	struct ids node_ids, edge_ids;
	struct node *nodes;
	struct edge *edges;
	size_t room_nodes, room_edges;
	struct sums all;
	__u32 *order;			/* of nodes: the first one is the smallest */
	size_t shown;			/* the last ones */
	struct chain chain;
};

/* ---- sums ---- */

static bool has_value(const struct functions *f)
{
	return *unit_name(f->section->event->unit) && !f->v->calls;
}

static __s64 weight(const struct functions *f, const struct sums *s)
{
	return has_value(f) ? s->value : (__s64)s->count;
}

static void add(struct sums *s, const struct rrow *row)
{
	s->count += row->count;
	s->value = (__s64)((__u64)s->value + (__u64)report_growth(row));
}

static bool same_node(const void *things, __u32 id, const void *key)
{
	const struct node *a = (const struct node *)things + id, *b = key;

	return !strcmp(a->name, b->name) && !strcmp(a->object, b->object);
}

static __u32 get_node(struct functions *f, const struct node *key)
{
	const __u64 hash = ids_hash_string(ids_hash_string(1, key->name), key->object);
	__u32 id = ids_find(&f->node_ids, hash, same_node, f->nodes, key);
	struct node *more;

	if (id != IDS_NONE)
		return id;
	more = ids_grow(f->nodes, f->node_ids.nr, &f->room_nodes, sizeof(*more));
	if (!more)
		return IDS_NONE;
	f->nodes = more;
	id = ids_add(&f->node_ids, hash);
	if (id != IDS_NONE)
		more[id] = *key;
	return id;
}

static __u32 node_of(struct functions *f, const struct rframe *frame)
{
	const char *object = !frame->sym ? "" : *frame->sym->object ? frame->sym->object :
			     frame->sym->kernel ? "kernel" : "[unknown]";
	const struct node key = {
		.name = f->files && frame->sym ? object : frame->text,
		.object = f->files || !frame->sym ? "" : object,
	};

	return get_node(f, &key);
}

static bool same_edge(const void *things, __u32 id, const void *key)
{
	const struct edge *a = (const struct edge *)things + id, *b = key;

	return a->caller == b->caller && a->callee == b->callee;
}

static int add_edge(struct functions *f, __u32 caller, __u32 callee, const struct rrow *row,
		    __u64 number)
{
	const struct edge key = { .caller = caller, .callee = callee };
	const __u64 hash = ids_mix(ids_mix(1, caller), callee);
	__u32 id = ids_find(&f->edge_ids, hash, same_edge, f->edges, &key);
	struct edge *more;

	if (id == IDS_NONE) {
		more = ids_grow(f->edges, f->edge_ids.nr, &f->room_edges, sizeof(*more));
		if (!more)
			return -ENOMEM;
		f->edges = more;
		id = ids_add(&f->edge_ids, hash);
		if (id == IDS_NONE)
			return -ENOMEM;
		more[id] = key;
	}
	if (f->edges[id].row == number)
		return 0;
	f->edges[id].row = number;
	add(&f->edges[id].sums, row);
	return 0;
}

/* Recursion: each function counts once in a stack. */
static int add_row(struct functions *f, const struct rrow *row, __u64 number)
{
	static const struct node none = { .name = RENDER_NO_STACK, .object = "" };
	__u32 last = IDS_NONE, id;
	int err = render_chain(f->v->r, row, &f->chain);

	add(&f->all, row);
	for (size_t i = 0; !err && i < f->chain.nr + !f->chain.nr; i++) {
		id = f->chain.nr ? node_of(f, &f->v->r->frames[f->chain.at[i]]) :
				   get_node(f, &none);
		if (id == IDS_NONE)
			return -ENOMEM;
		if (!i)
			add(&f->nodes[id].self, row);
		if (f->nodes[id].row != number)
			add(&f->nodes[id].total, row);
		f->nodes[id].row = number;
		/* within a file: the same node */
		if (last != IDS_NONE && (last != id || !f->files))
			err = add_edge(f, id, last, row, number);
		last = id;
	}
	return err;
}

/* ---- order ---- */

static __u64 size_of(__s64 n)
{
	return n < 0 ? 0 - (__u64)n : (__u64)n;
}

static int cmp_sums(const struct functions *f, const struct sums *a, const struct sums *b)
{
	const __u64 x = size_of(weight(f, a)), y = size_of(weight(f, b));

	return x < y ? -1 : x > y;
}

static int cmp_nodes(const void *x, const void *y, void *ctx)
{
	const struct functions *f = ctx;
	const struct node *a = &f->nodes[*(const __u32 *)x], *b = &f->nodes[*(const __u32 *)y];
	const enum report_sort sort = f->v->r->o->sort;
	int c = 0;

	if (sort == SORT_SELF)
		c = cmp_sums(f, &a->self, &b->self);
	else if (sort != SORT_FUNCTION && sort != SORT_DSO)
		c = cmp_sums(f, &a->total, &b->total);
	if (!c && sort != SORT_FUNCTION && sort != SORT_DSO)
		c = sort == SORT_SELF ? cmp_sums(f, &a->total, &b->total) :
					cmp_sums(f, &a->self, &b->self);
	if (!c)
		c = strcmp(b->name, a->name);
	return c ? c : strcmp(b->object, a->object);
}

static bool is_small(const struct functions *f, const struct sums *s)
{
	return (double)size_of(weight(f, s)) * 100 <
	       (double)size_of(weight(f, &f->all)) * f->v->r->o->min_percent;
}

static int put_in_order(struct functions *f)
{
	const unsigned int top = f->v->r->o->top;
	size_t nr = 0;

	f->order = malloc((f->node_ids.nr + 1) * sizeof(*f->order));
	if (!f->order)
		return -ENOMEM;
	/* what is small is not shown: it is not among these at all */
	for (__u32 i = 0; i < f->node_ids.nr; i++)
		if (!is_small(f, &f->nodes[i].total))
			f->order[nr++] = i;
	if (nr)
		qsort_r(f->order, nr, sizeof(*f->order), cmp_nodes, f);
	f->shown = top && top < nr ? top : nr;
	memmove(f->order, f->order + nr - f->shown, f->shown * sizeof(*f->order));
	return 0;
}

static int cmp_edges(const void *x, const void *y, void *ctx)
{
	const struct functions *f = ctx;
	const struct edge *a = *(const struct edge *const *)x, *b = *(const struct edge *const *)y;
	const int c = cmp_sums(f, &b->sums, &a->sums);

	if (c)
		return c;
	if (a->caller != b->caller)
		return strcmp(f->nodes[a->caller].name, f->nodes[b->caller].name);
	return strcmp(f->nodes[a->callee].name, f->nodes[b->callee].name);
}

/* Those that call it, or that it calls: the largest first. */
static size_t neighbours(const struct functions *f, __u32 node, bool callers,
			 const struct edge **out)
{
	size_t nr = 0;

	for (__u32 i = 0; i < f->edge_ids.nr; i++)
		if ((callers ? f->edges[i].callee : f->edges[i].caller) == node)
			out[nr++] = &f->edges[i];
	if (nr)
		qsort_r(out, nr, sizeof(*out), cmp_edges, (void *)f);
	return nr;
}

/* ---- text ---- */

static double percent(const struct functions *f, const struct sums *s)
{
	const __s64 all = weight(f, &f->all);

	return all ? (double)weight(f, s) * 100 / (double)all : 0;
}

static void put_sums(const struct functions *f, const struct sums *s, FILE *out)
{
	char text[TEXT_LEN];

	if (has_value(f))
		text_value(text, s->value, f->section->event->unit, false);
	else
		text_count(text, s->count);
	fprintf(out, "%12s %5.1f%%", text, percent(f, s));
}

static void put_name(const struct node *n, FILE *out)
{
	text_put(out, n->name, NULL);
	if (*n->object && n->name[0] != '[') {
		fputs(" [", out);
		text_put(out, n->object, NULL);
		fputc(']', out);
	}
	fputc('\n', out);
}

static void put_neighbours(const struct functions *f, __u32 node, bool callers,
			   const struct edge **room, FILE *out)
{
	const size_t nr = neighbours(f, node, callers, room);
	const char *what = callers ? "called by" : "calls";
	char n[TEXT_LEN];

	for (size_t i = 0; i < nr && i < NEIGHBOURS; i++) {
		fprintf(out, "    %-10s", what);
		put_sums(f, &room[i]->sums, out);
		fputs("  ", out);
		put_name(&f->nodes[callers ? room[i]->caller : room[i]->callee], out);
	}
	if (nr > NEIGHBOURS)
		fprintf(out, "    %-10s%s more\n", what, text_count(n, nr - NEIGHBOURS));
}

static int put_text(const struct functions *f, FILE *out)
{
	const struct edge **room = malloc((f->edge_ids.nr + 1) * sizeof(const struct edge *));
	char count[TEXT_LEN], value[TEXT_LEN];
	const size_t hidden = f->node_ids.nr - f->shown;

	if (!room)
		return -ENOMEM;
	fprintf(out, "%19s %19s  %s\n", "total", "self", f->files ? "file" : "function");
	for (size_t i = 0; i < f->shown; i++) {
		const struct node *n = &f->nodes[f->order[i]];

		put_sums(f, &n->total, out);
		fputc(' ', out);
		put_sums(f, &n->self, out);
		fputs("  ", out);
		put_name(n, out);
		put_neighbours(f, f->order[i], true, room, out);
		put_neighbours(f, f->order[i], false, room, out);
		fputc('\n', out);
	}
	text_put(out, f->section->event->name, NULL);
	fprintf(out, ": %s %s%s, ", text_count(count, f->node_ids.nr), f->files ? "file" :
		"function", text_s(f->node_ids.nr));
	fprintf(out, "%s %s%s", text_count(count, f->all.count), f->v->r->leaks ? "block" :
		has_value(f) ? "call" : "event", text_s(f->all.count));
	if (has_value(f))
		fprintf(out, ", %s", text_value(value, f->all.value, f->section->event->unit,
						false));
	fputc('\n', out);
	if (hidden)
		fprintf(out, "  not shown: %s %s%s\n", text_count(count, hidden),
			f->files ? "file" : "function", text_s(hidden));
	free(room);
	return 0;
}

/* ---- JSON ---- */

static void json_sums(struct json *j, const char *count, const char *sum, const struct sums *s)
{
	json_u64(j, count, s->count);
	json_s64(j, sum, s->value);
}

static void json_node(struct json *j, const struct functions *f, const struct node *n)
{
	json_str(j, f->files ? "file" : "name", n->name);
	if (*n->object)
		json_str(j, "object", n->object);
}

static void json_neighbours(struct json *j, const struct functions *f, __u32 node, bool callers,
			    const struct edge **room)
{
	const size_t nr = neighbours(f, node, callers, room);

	json_open(j, callers ? "callers" : "callees", '[');
	for (size_t i = 0; i < nr; i++) {
		json_open(j, NULL, '{');
		json_node(j, f, &f->nodes[callers ? room[i]->caller : room[i]->callee]);
		json_sums(j, "count", "sum", &room[i]->sums);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static int put_json(const struct functions *f, struct json *j)
{
	const struct edge **room = malloc((f->edge_ids.nr + 1) * sizeof(const struct edge *));

	if (!room)
		return -ENOMEM;
	for (size_t i = 0; i < f->shown; i++) {
		const struct node *n = &f->nodes[f->order[i]];

		json_open(j, NULL, '{');
		json_str(j, "event", f->section->event->name);
		json_node(j, f, n);
		json_sums(j, "total_count", "total_sum", &n->total);
		json_sums(j, "self_count", "self_sum", &n->self);
		json_neighbours(j, f, f->order[i], true, room);
		json_neighbours(j, f, f->order[i], false, room);
		json_close(j, '}');
	}
	free(room);
	return 0;
}

/* ---- all of it ---- */

static int put_section(const struct view *v, const struct rsection *s, struct json *j, FILE *out)
{
	struct functions f = { .v = v, .section = s, .files = v->r->o->by == BY_DSO };
	int err = 0;

	for (size_t i = s->first; !err && i < s->first + s->nr; i++)
		if (!v->r->rows[i].loader && !(v->r->rows[i].leak && v->r->rows[i].leak->gone))
			err = add_row(&f, &v->r->rows[i], i + 1);
	if (!err)
		err = put_in_order(&f);
	if (!err)
		err = j ? put_json(&f, j) : put_text(&f, out);
	ids_free(&f.node_ids);
	ids_free(&f.edge_ids);
	free(f.nodes);
	free(f.edges);
	free(f.order);
	render_chain_free(&f.chain);
	return err;
}

bool render_has_functions(const struct report *r)
{
	return r->o->by == BY_FUNCTION || r->o->by == BY_DSO;
}

int render_functions(const struct view *v, FILE *out)
{
	int err = 0;

	for (size_t i = 0; !err && i < v->r->nr_sections; i++) {
		if (i)
			fputc('\n', out);
		err = put_section(v, &v->r->sections[i], NULL, out);
	}
	return err;
}

int json_functions(struct json *j, const struct view *v)
{
	int err = 0;

	if (!render_has_functions(v->r))
		return 0;
	json_open(j, "functions", '[');
	for (size_t i = 0; !err && i < v->r->nr_sections; i++)
		err = put_section(v, &v->r->sections[i], j, j->out);
	json_close(j, ']');
	return err;
}
