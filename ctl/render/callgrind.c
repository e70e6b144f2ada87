// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write callgrind's format, for callgrind_annotate and kcachegrind: the cost of each line of each
 * function itself, and of its calls.
 *
 * Readers compute a function's inclusive cost as the sum of the calls to it.  A function without
 * callers has its own cost plus the calls that it makes.  So each stack charges the call of each
 * of its functions once, at the outermost occurrence.  Inner occurrences in recursions are written
 * with costs of 0.  A function that is called in one stack and outermost in another one is called
 * there by ROOT.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "render/int.h"

#define NOBODY	UINT32_MAX	/* is called: a function's own cost */
#define ROOT	"[outermost]"
#define UNKNOWN	"???"		/* as Callgrind says it */

/* A name is written once, and then its number: "(3) libc.so.6", "(3)". */
struct names {
	struct ids ids;
	const char **at;
	bool *told;
	size_t room, room_told;
};

/*
 * Its number in the file is its own, not its name's: readers take a number for one function,
 * whatever object and file stand above it.
 */
struct function {
	__u32 object, file, name;	/* in the lists of these */
	__u64 stack;			/* the last one that charged it */
	bool called;			/* by another one than ROOT */
	bool told;			/* its name */
};

/* What a line costs itself, or what its calls of one function do. */
struct entry {
	__u32 function, line, callee;
	__u64 calls;
};

/* By number of a frame. */
struct place {
	__u32 function;			/* + 1; 0: not known yet */
	__u32 line;
};

struct graph {
	const struct view *v;
	struct column *columns;
	size_t nr_columns;
	struct names objects, files, names;
	struct ids function_ids, entry_ids;
	struct function *functions;
	struct entry *entries;
	__u64 *costs, *sums;		/* of entries, one after the other; of all */
	struct place *places;
	size_t room_functions, room_entries, room_costs, nr_places;
	__u64 stacks;			/* how many were added */
	struct chain chain;
	FILE *out;
};

/* ---- names, functions, entries ---- */

static bool same_name(const void *things, __u32 id, const void *key)
{
	return !strcmp(((const char *const *)things)[id], key);
}

/* Or IDS_NONE: no memory. */
static __u32 get_name(struct names *n, const char *text)
{
	const __u64 hash = ids_hash_string(1, text);
	__u32 id = ids_find(&n->ids, hash, same_name, n->at, text);
	const char **at;
	bool *told;

	if (id != IDS_NONE)
		return id;
	at = ids_grow(n->at, n->ids.nr, &n->room, sizeof(*at));
	if (!at)
		return IDS_NONE;
	n->at = at;
	told = ids_grow(n->told, n->ids.nr, &n->room_told, sizeof(*told));
	if (!told)
		return IDS_NONE;
	n->told = told;
	id = ids_add(&n->ids, hash);
	if (id == IDS_NONE)
		return id;
	n->at[id] = text;
	n->told[id] = false;
	return id;
}

static bool same_function(const void *things, __u32 id, const void *key)
{
	const struct function *a = (const struct function *)things + id, *b = key;

	return a->name == b->name && a->file == b->file && a->object == b->object;
}

static const char *or_unknown(const char *text)
{
	return text && *text ? text : UNKNOWN;
}

static __u32 get_function(struct graph *g, const char *object, const char *file,
			  const char *name)
{
	struct function key = {
		.object = get_name(&g->objects, or_unknown(object)),
		.file = get_name(&g->files, or_unknown(file)),
		.name = get_name(&g->names, or_unknown(name)),
	}, *more;
	__u64 hash = ids_mix(ids_mix(key.object, key.file), key.name);
	__u32 id;

	if (key.object == IDS_NONE || key.file == IDS_NONE || key.name == IDS_NONE)
		return IDS_NONE;
	id = ids_find(&g->function_ids, hash, same_function, g->functions, &key);
	if (id != IDS_NONE)
		return id;
	more = ids_grow(g->functions, g->function_ids.nr, &g->room_functions, sizeof(*more));
	if (!more)
		return IDS_NONE;
	g->functions = more;
	id = ids_add(&g->function_ids, hash);
	if (id != IDS_NONE)
		g->functions[id] = key;
	return id;
}

static bool same_entry(const void *things, __u32 id, const void *key)
{
	const struct entry *a = (const struct entry *)things + id, *b = key;

	return a->function == b->function && a->line == b->line && a->callee == b->callee;
}

static __u32 get_entry(struct graph *g, const struct place *p, __u32 callee)
{
	struct entry key = { .function = p->function - 1, .line = p->line, .callee = callee };
	__u64 hash = ids_mix(ids_mix(key.function, key.line), callee);
	__u32 id = ids_find(&g->entry_ids, hash, same_entry, g->entries, &key);
	struct entry *more;
	__u64 *costs;

	if (id != IDS_NONE)
		return id;
	more = ids_grow(g->entries, g->entry_ids.nr, &g->room_entries, sizeof(*more));
	if (!more)
		return IDS_NONE;
	g->entries = more;
	costs = ids_grow(g->costs, g->entry_ids.nr, &g->room_costs,
			 g->nr_columns * sizeof(*costs));
	if (!costs)
		return IDS_NONE;
	g->costs = costs;
	id = ids_add(&g->entry_ids, hash);
	if (id == IDS_NONE)
		return id;
	g->entries[id] = key;
	memset(&costs[id * g->nr_columns], 0, g->nr_columns * sizeof(*costs));
	return id;
}

/* ---- rows ---- */

/* Where a frame is, by its number; of no function: no memory. */
static struct place get_place(struct graph *g, __u32 frame)
{
	const struct rframe *f = &g->v->r->frames[frame];
	struct place *more;
	size_t nr;

	if (frame >= g->nr_places) {
		nr = 2 * (size_t)frame + 64;
		more = reallocarray(g->places, nr, sizeof(*more));
		if (!more)
			return (struct place){ 0 };
		memset(more + g->nr_places, 0, (nr - g->nr_places) * sizeof(*more));
		g->places = more;
		g->nr_places = nr;
	}
	if (!g->places[frame].function) {
		/* IDS_NONE + 1 is 0 */
		g->places[frame].function = get_function(g, f->sym ? f->sym->object : NULL,
							 f->sym ? f->sym->file : NULL,
							 f->text) + 1;
		g->places[frame].line = f->sym && f->sym->line > 0 ? (__u32)f->sym->line : 0;
	}
	return g->places[frame];
}

/* The first time that a stack, from its outermost frame on, comes to a function it is charged. */
static int add_call(struct graph *g, const struct place *caller, __u32 callee,
		    const struct rrow *row)
{
	const __u32 id = get_entry(g, caller, callee);
	struct function *f = &g->functions[callee];
	__u64 *costs;

	if (id == IDS_NONE)
		return -ENOMEM;
	g->entries[id].calls = render_add(g->entries[id].calls, row->count);
	f->called |= caller->function != 1;
	if (f->stack == g->stacks)
		return 0;
	f->stack = g->stacks;
	costs = &g->costs[id * g->nr_columns];
	for (size_t i = 0; i < g->nr_columns; i++)
		costs[i] = render_add(costs[i], render_column(&g->columns[i], row));
	return 0;
}

static int add_self(struct graph *g, const struct place *p, const struct rrow *row)
{
	const __u32 id = get_entry(g, p, NOBODY);
	__u64 *costs;

	if (id == IDS_NONE)
		return -ENOMEM;
	costs = &g->costs[id * g->nr_columns];
	for (size_t i = 0; i < g->nr_columns; i++) {
		const __u64 cost = render_column(&g->columns[i], row);

		costs[i] = render_add(costs[i], cost);
		g->sums[i] = render_add(g->sums[i], cost);
	}
	return 0;
}

/* @caller becomes @callee. */
static int go_on(struct graph *g, struct place *caller, const struct place *callee,
		 const struct rrow *row)
{
	const int err = callee->function ? add_call(g, caller, callee->function - 1, row) : -ENOMEM;

	*caller = *callee;
	return err;
}

/* What is no frame: whose it is, or that there is no stack. */
static struct place no_frame(struct graph *g, const char *name)
{
	/* IDS_NONE + 1 is 0 */
	return (struct place){ .function = get_function(g, NULL, NULL, name) + 1 };
}

static int add_row(struct graph *g, const struct rrow *row)
{
	const char *label = g->v->r->groups[row->group].label;
	int err = render_chain(g->v->r, row, &g->chain);
	struct place at = { .function = 1 }, next;	/* ROOT's is the first */

	g->stacks++;
	if (!err && *label && render_groups_shown(g->v->r)) {
		next = no_frame(g, label);
		err = go_on(g, &at, &next, row);
	}
	for (size_t i = g->chain.nr; !err && i--;) {
		next = get_place(g, g->chain.at[i]);
		err = go_on(g, &at, &next, row);
	}
	if (!err && !g->chain.nr) {
		next = no_frame(g, RENDER_NO_STACK);
		err = go_on(g, &at, &next, row);
	}
	return err ? err : add_self(g, &at, row);
}

static int add_rows(struct graph *g)
{
	const struct report *r = g->v->r;
	int err = get_function(g, NULL, NULL, ROOT) ? -ENOMEM : 0;

	for (size_t i = 0; i < r->nr_sections; i++) {
		const struct rsection *s = &r->sections[i];

		for (size_t k = 0; !err && k < s->shown; k++)
			err = add_row(g, report_shown(r, s, k));
	}
	return err;
}

/* ---- the file ---- */

static void put_numbered(struct graph *g, const char *key, __u32 number, const char *name,
			 bool *told)
{
	fprintf(g->out, "%s=(%u)", key, number + 1);
	if (!*told) {
		fputc(' ', g->out);
		text_put(g->out, name, NULL);
		*told = true;
	}
	fputc('\n', g->out);
}

static void put_name(struct graph *g, const char *key, struct names *n, __u32 id)
{
	put_numbered(g, key, id, n->at[id], &n->told[id]);
}

static void put_function(struct graph *g, const char *const keys[3], __u32 id)
{
	struct function *f = &g->functions[id];

	put_name(g, keys[0], &g->objects, f->object);
	put_name(g, keys[1], &g->files, f->file);
	put_numbered(g, keys[2], id, g->names.at[f->name], &f->told);
}

static void put_numbers(const struct graph *g, const __u64 *n)
{
	for (size_t i = 0; i < g->nr_columns; i++)
		fprintf(g->out, " %llu", (unsigned long long)n[i]);
	fputc('\n', g->out);
}

static int cmp_entries(const void *a, const void *b, void *ctx)
{
	const struct graph *g = ctx;
	const struct entry *x = &g->entries[*(const __u32 *)a];
	const struct entry *y = &g->entries[*(const __u32 *)b];

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

/*
 * callgrind_annotate shows lines of the source that cost something themselves, and what they call
 * below these: a line that only calls costs nothing, and has to say so.  @before: of the same
 * function, or NULL.
 */
static void put_line(const struct graph *g, const struct entry *e, const struct entry *before)
{
	if (e->callee == NOBODY || !e->line || (before && before->line == e->line))
		return;
	fprintf(g->out, "%u", e->line);
	for (size_t i = 0; i < g->nr_columns; i++)
		fputs(" 0", g->out);
	fputc('\n', g->out);
}

static int put_entries(struct graph *g)
{
	static const char *const own[] = { "ob", "fl", "fn" }, *const other[] = { "cob", "cfi",
										  "cfn" };
	__u32 *order = malloc((g->entry_ids.nr + 1) * sizeof(*order)), last = NOBODY;

	if (!order)
		return -ENOMEM;
	for (__u32 i = 0; i < g->entry_ids.nr; i++)
		order[i] = i;
	qsort_r(order, g->entry_ids.nr, sizeof(*order), cmp_entries, g);
	for (size_t i = 0; i < g->entry_ids.nr; i++) {
		const struct entry *e = &g->entries[order[i]];
		const struct entry *before = last == e->function ? &g->entries[order[i - 1]] : NULL;

		if (!e->function && !g->functions[e->callee].called)
			continue;
		if (e->function != last) {
			fputc('\n', g->out);
			put_function(g, own, e->function);
		}
		last = e->function;
		put_line(g, e, before);
		if (e->callee != NOBODY) {
			put_function(g, other, e->callee);
			fprintf(g->out, "calls=%llu 0\n", (unsigned long long)e->calls);
		}
		fprintf(g->out, "%u", e->line);
		put_numbers(g, &g->costs[order[i] * g->nr_columns]);
	}
	free(order);
	return 0;
}

static void put_head(const struct graph *g)
{
	const struct view *v = g->v;

	fputs("# callgrind format\nversion: 1\ncreator: memtap\ncmd: ", g->out);
	render_program(v, g->out);
	fputs("\ndesc: ", g->out);
	render_title(v, g->out);
	if (v->o->command) {
		fputs("\ndesc: ", g->out);
		text_put(g->out, v->o->command, NULL);
	}
	fputc('\n', g->out);
	render_losses(v, "desc: ", "this file", g->out);
	fputs("positions: line\n", g->out);
	for (size_t i = 0; i < g->nr_columns; i++) {
		fprintf(g->out, "event: %s : ", g->columns[i].name);
		text_put(g->out, g->columns[i].about, NULL);
		fputc('\n', g->out);
	}
	fputs("events:", g->out);
	for (size_t i = 0; i < g->nr_columns; i++)
		fprintf(g->out, " %s", g->columns[i].name);
	fputc('\n', g->out);
}

static void free_names(struct names *n)
{
	ids_free(&n->ids);
	free(n->at);
	free(n->told);
}

int render_callgrind(const struct view *v, FILE *out)
{
	struct graph g = { .v = v, .out = out };
	int err = -ENOMEM;

	g.columns = render_columns(v, &g.nr_columns);
	g.sums = calloc(g.nr_columns + 1, sizeof(*g.sums));
	if (g.columns && g.sums)
		err = add_rows(&g);
	if (!err) {
		put_head(&g);
		err = put_entries(&g);
		fputs("\ntotals:", out);
		put_numbers(&g, g.sums);
	}
	free_names(&g.objects);
	free_names(&g.files);
	free_names(&g.names);
	ids_free(&g.function_ids);
	ids_free(&g.entry_ids);
	free(g.functions);
	free(g.entries);
	free(g.costs);
	free(g.places);
	free(g.sums);
	free(g.columns);
	render_chain_free(&g.chain);
	return err;
}
