// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Massif's file, for ms_print and massif-visualizer: with intervals a snapshot for each, also of
 * those that a recording has, else one.  A snapshot has what there is: live blocks, or what events
 * of bytes add up to since the start.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "render/int.h"

#define THRESHOLD	100		/* parts of the whole: less has no line of its own */
#define NO_FRAME	UINT32_MAX	/* there is no stack */
#define MAX_DEPTH	200		/* deeper is the same as not knowing; readers recurse */

struct node {
	__u64 value;
	__u32 frame, parent, child, sibling, nr;	/* the root is no child */
};

struct tree {
	const struct view *v;
	struct node *nodes;
	size_t room;
	struct ids ids;
	struct chain chain;
	FILE *out;
};

static bool same_node(const void *things, __u32 id, const void *key)
{
	const struct node *a = (const struct node *)things + id, *b = key;

	return id && a->parent == b->parent && a->frame == b->frame;
}

/* -ENOMEM: no memory. */
static __s64 get_node(struct tree *t, __u32 parent, __u32 frame)
{
	struct node key = { .frame = frame, .parent = parent }, *more;
	const __u64 hash = ids_mix(ids_mix(1, parent), frame);
	__u32 id = t->ids.nr ? ids_find(&t->ids, hash, same_node, t->nodes, &key) : IDS_NONE;

	if (id != IDS_NONE)
		return id;
	more = ids_room(t->nodes, t->ids.nr, &t->room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->nodes = more;
	id = ids_add(&t->ids, hash);
	if (id == IDS_NONE)
		return -ENOMEM;
	if (id) {
		key.sibling = more[parent].child;
		more[parent].child = id;
		more[parent].nr++;
	}
	more[id] = key;
	return id;
}

/* From who allocated outwards, as Massif has it. */
static int add_row(struct tree *t, const struct rrow *row, __u64 value)
{
	int err = render_chain(t->v->r, row, &t->chain);
	__s64 at = 0;

	if (err)
		return err;
	t->nodes[0].value = render_add(t->nodes[0].value, value);
	for (size_t i = 0; at >= 0 && i < t->chain.nr && i < MAX_DEPTH; i++) {
		at = get_node(t, (__u32)at, t->chain.at[i]);
		if (at >= 0)
			t->nodes[at].value = render_add(t->nodes[at].value, value);
	}
	if (!t->chain.nr) {
		at = get_node(t, 0, NO_FRAME);
		if (at >= 0)
			t->nodes[at].value = render_add(t->nodes[at].value, value);
	}
	return at < 0 ? (int)at : 0;
}

/* Is it in the heap?  What a program maps itself is not. */
static bool in_heap(const struct report *r, const struct snap_event *e)
{
	return e->unit == MEMTAP_UNIT_BYTES && !report_sums_only(r, e) &&
	       !(r->leaks && e == &r->events[RLEAKS_MAPPINGS]);
}

static void put_others(const struct report *r)
{
	for (size_t i = 0; i < r->nr_sections; i++) {
		const struct snap_event *e = r->sections[i].event;

		if (in_heap(r, e) || report_sums_only(r, e))
			continue;
		fputs("memtap: ", stderr);
		text_put(stderr, e->name, NULL);
		fputs(": not in this file, which has bytes of the heap alone\n", stderr);
	}
}

/* @levels: what each row has, by its number; NULL: what it has in the report. */
static int add_rows(struct tree *t, const __s64 *levels)
{
	const struct report *r = t->v->r;
	int err = get_node(t, 0, 0) < 0 ? -ENOMEM : 0;

	for (size_t i = 0; i < r->nr_sections; i++) {
		const struct rsection *s = &r->sections[i];

		for (size_t k = 0; !err && in_heap(r, s->event) && k < s->shown; k++) {
			const struct rrow *row = report_shown(r, s, k);
			const __s64 v = levels ? levels[row - r->rows] : report_growth(row);

			if (v > 0)
				err = add_row(t, row, (__u64)v);
		}
	}
	return err;
}

static int cmp_nodes(const void *a, const void *b, void *ctx)
{
	const struct node *nodes = ctx;
	const __u32 x = *(const __u32 *)a, y = *(const __u32 *)b;

	if (nodes[x].value != nodes[y].value)
		return nodes[x].value < nodes[y].value ? 1 : -1;
	return x < y ? -1 : x > y;
}

static void put_name(struct tree *t, const struct node *n)
{
	static const struct rframe no_stack = { .text = RENDER_NO_STACK };
	const struct rframe *f = n->frame == NO_FRAME ? &no_stack : &t->v->r->frames[n->frame];
	const struct sym_frame *s = f->sym;

	fprintf(t->out, "0x%llX: ", s && !s->kernel ? (unsigned long long)s->addr : 0ULL);
	text_put(t->out, f->text, NULL);
	fputs(" (", t->out);
	if (s && s->file) {
		text_put(t->out, s->file, NULL);
		if (s->line > 0)
			fprintf(t->out, ":%d", s->line);
	} else {
		fputs("in ", t->out);
		text_put(t->out, s && *s->object ? s->object : "memtap", NULL);
	}
	fputs(")\n", t->out);
}

static int put_node(struct tree *t, __u32 id, unsigned int depth)
{
	const struct node *n = &t->nodes[id];
	const __u64 least = t->nodes[0].value / THRESHOLD;
	__u32 *order = malloc((n->nr + 1) * sizeof(*order)), nr = 0, kept = 0;
	__u64 rest = 0;
	int err = 0;

	if (!order)
		return -ENOMEM;
	for (__u32 c = n->child; c; c = t->nodes[c].sibling)
		order[nr++] = c;
	qsort_r(order, nr, sizeof(*order), cmp_nodes, t->nodes);
	while (kept < nr && t->nodes[order[kept]].value >= least)
		kept++;
	for (__u32 i = kept; i < nr; i++)
		rest = render_add(rest, t->nodes[order[i]].value);
	fprintf(t->out, "%*sn%u: %llu ", depth, "", kept + (kept < nr),
		(unsigned long long)n->value);
	if (id)
		put_name(t, n);
	else
		fputs("(memtap: what allocated, and who called it)\n", t->out);
	for (__u32 i = 0; !err && i < kept; i++)
		err = put_node(t, order[i], depth + 1);
	if (kept < nr)
		fprintf(t->out, "%*sn0: %llu in %u place%s, all below massif's threshold "
			"(1.00%%)\n", depth + 1, "", (unsigned long long)rest, nr - kept,
			text_s(nr - kept));
	free(order);
	return err;
}

static void put_head(const struct view *v, FILE *out)
{
	fputs("desc: ", out);
	render_title(v, out);
	fputs("\ncmd: ", out);
	text_put(out, v->o->title ? v->o->title : "memtap", NULL);
	fputs("\ntime_unit: ms\n", out);
}

static int put_snapshot(struct tree *t, __u32 number, __u64 now_ns, const __s64 *levels)
{
	const struct memtap_rec_header *h = &t->v->r->snap->header;
	int err = add_rows(t, levels);

	if (err)
		return err;
	fprintf(t->out, "#-----------\nsnapshot=%u\n#-----------\ntime=%llu\nmem_heap_B=%llu\n"
		"mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=detailed\n", number,
		(unsigned long long)((now_ns - h->start_ns) / 1000000),
		(unsigned long long)t->nodes[0].value);
	return put_node(t, 0, 0);
}

static void forget(struct tree *t)
{
	ids_free(&t->ids);
	memset(&t->ids, 0, sizeof(t->ids));
}

/* By part of the time, what rows were in it: the report has it by row. */
struct part {
	__u32 row, next;		/* next: number + 1 */
};

static __s64 change(const struct report *r, const struct rrow *row, const struct rseries *s)
{
	if (!report_is_growth(row))
		return 0;
	return (__s64)((__u64)s->sum - (r->leaks ? s->freed_bytes : 0));
}

static int put_parts(struct tree *t, size_t nr)
{
	const struct report *r = t->v->r;
	__s64 *levels = calloc(r->nr_rows + 1, sizeof(*levels));
	__u32 *first = calloc(nr + 1, sizeof(*first));
	struct part *parts = calloc(r->nr_series + 1, sizeof(*parts));
	int err = levels && first && parts ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < r->nr_rows; i++)
		for (__u32 k = r->rows[i].series; k; k = r->series[k - 1].next) {
			__u32 *head = &first[r->series[k - 1].span];

			parts[k] = (struct part){ (__u32)i, *head };
			*head = k;
		}
	for (size_t i = 0; !err && i < nr; i++) {
		for (__u32 k = first[i]; k; k = parts[k].next) {
			__s64 *level = &levels[parts[k].row];

			*level = (__s64)((__u64)*level + (__u64)change(r, &r->rows[parts[k].row],
								      &r->series[k - 1]));
		}
		err = put_snapshot(t, (__u32)i, r->leaks ? r->snap->liveds[i]->end_ns :
				   r->snap->spans[i]->end_ns, levels);
		forget(t);
	}
	free(levels);
	free(first);
	free(parts);
	return err;
}

int render_massif(const struct view *v, FILE *out)
{
	const struct snap *s = v->r->snap;
	struct tree t = { .v = v, .out = out };
	int err;

	if (!v->o->number)
		put_head(v, out);
	if (v->r->nr_series)
		err = put_parts(&t, v->r->leaks ? s->nr_liveds : s->nr_spans);
	else
		err = put_snapshot(&t, v->o->number, s->header.now_ns, NULL);
	put_others(v->r);
	render_losses(v, "memtap: ", "this file", stderr);
	forget(&t);
	free(t.nodes);
	render_chain_free(&t.chain);
	return err;
}
