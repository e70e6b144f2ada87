// SPDX-License-Identifier: GPL-2.0-or-later
/* From the heap of a process to what is in it, and what holds that; see held.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/opt.h"
#include "base/text.h"
#include "leaks/held_int.h"
#include "leaks/pages.h"

#define MOST_HOLDERS	4096		/* that are told by name */

/* ---- memory ---- */

/* What is in no memory of the process lies at an address of its own. */
static const void *view_at(void *ctx, __u64 addr, size_t *len)
{
	const struct held_input *in = ctx;
	const __u64 room = in->l->words.nr * sizeof(__u64);

	if (addr < WORDS_AT)
		return pages_at(in->memory->copy, addr, len);
	if (addr - WORDS_AT >= room)
		return NULL;
	if (*len > room - (addr - WORDS_AT))
		*len = (size_t)(room - (addr - WORDS_AT));
	return (const char *)in->l->words.at + (addr - WORDS_AT);
}

/* ---- kinds ---- */

struct by_bytes {
	__u64 bytes;
	__u32 id;
};

static int cmp_bytes(const void *x, const void *y)
{
	const struct by_bytes *a = x, *b = y;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

static int add_kind(struct find *f, const struct kind *kind, __u32 id)
{
	struct held_kind *row = &f->out->kinds[f->out->nr_kinds];
	char text[512];

	*row = (struct held_kind){ .what = kind_what_name(kind->what), .blocks = kind->blocks,
				   .bytes = kind->bytes };
	memcpy(row->example, kind->example, sizeof(row->example));
	row->name = strdup(kind_name(&f->kinds, id, text, sizeof(text)));
	if (!row->name)
		return -ENOMEM;
	f->order[id] = (__u32)f->out->nr_kinds++;
	f->out->blocks += kind->blocks;
	f->out->bytes += kind->bytes;
	return 0;
}

static bool known_kind(void *ctx, __u32 block, struct kind *key)
{
	return python_kind(ctx, block, key);
}

static int find_kinds(struct find *f)
{
	const struct kind_names names = {
		held_is_file, held_look, &f->names, f->in->python ? known_kind : NULL,
		f->in->python,
	};
	struct by_bytes *sorted;
	int err = kinds_find(&f->kinds, &f->g, &names);
	const size_t nr = err ? 0 : kinds_nr(&f->kinds);

	if (err)
		return err;
	f->out->many_kinds = f->kinds.many;
	sorted = calloc(nr + 1, sizeof(*sorted));
	f->order = calloc(nr + 1, sizeof(*f->order));
	f->out->kinds = calloc(nr + 1, sizeof(*f->out->kinds));
	if (!sorted || !f->order || !f->out->kinds) {
		free(sorted);
		return -ENOMEM;
	}
	for (__u32 i = 0; i < nr; i++)
		sorted[i] = (struct by_bytes){ f->kinds.at[i].bytes, i };
	if (nr)
		qsort(sorted, nr, sizeof(*sorted), cmp_bytes);
	for (size_t i = 0; !err && i < nr; i++)
		if (f->kinds.at[sorted[i].id].blocks)
			err = add_kind(f, &f->kinds.at[sorted[i].id], sorted[i].id);
	free(sorted);
	return err;
}

const char *held_kind_name(const struct held *h, __u32 kind)
{
	return kind < h->nr_kinds ? h->kinds[kind].name : "?";
}

/* ---- by which attribute ---- */

#define MOST_NAMES	65536U

static bool same_name(const void *things, __u32 id, const void *key)
{
	const struct held_name *a = (const struct held_name *)things + id, *b = key;

	return a->is_variable == b->is_variable && !strcmp(a->text, b->text);
}

/* Of an instance of Python or a frame, what it calls @block; 0: nothing. */
static __u32 attribute_of(struct find *f, __u32 from, __u32 block)
{
	struct held *out = f->out;
	struct held_name name, *more;
	enum python_slot slot;
	char text[200];
	__u64 hash;
	__u32 id;

	slot = f->in->python ? python_attribute(f->in->python, from, block, text, sizeof(text)) :
	       PYTHON_NO_SLOT;
	if (slot == PYTHON_NO_SLOT)
		return 0;
	name = (struct held_name){ text, slot == PYTHON_VARIABLE };
	hash = ids_hash_string(slot, text);
	id = ids_find(&f->name_ids, hash, same_name, out->names, &name);
	if (id != IDS_NONE || f->name_ids.nr >= MOST_NAMES)
		return id == IDS_NONE ? 0 : id + 1;
	more = ids_grow(out->names, out->nr_names, &f->room_names, sizeof(*more));
	if (!more)
		return 0;
	out->names = more;
	name.text = strdup(text);
	id = name.text ? ids_add(&f->name_ids, hash) : IDS_NONE;
	if (id == IDS_NONE) {
		free(name.text);
		return 0;
	}
	more[out->nr_names++] = name;
	return id + 1;
}

/* @from: the block that holds it, or GRAPH_NONE. */
static int add_block(struct find *f, __u32 block, __u32 parent, __u32 from, __u32 *node)
{
	const __u32 attribute = from == GRAPH_NONE ? 0 : attribute_of(f, from, block);
	const __u16 kind = f->kinds.of[block];
	const __s64 at = held_node_below(f, parent, f->order[kind], attribute,
				    f->kinds.at[kind].what == KIND_PART);

	if (at < 0)
		return (int)at;
	f->out->nodes[at].blocks++;
	f->out->nodes[at].bytes += f->g.chunks[block].size;
	*node = (__u32)at;
	return 0;
}

/* ---- holders ---- */

/* For each root what it holds alone. */
static struct by_bytes *sum_roots(struct find *f, __u32 *first, __u32 *count)
{
	const struct graph *g = &f->g;
	struct by_bytes *sums = calloc(g->nr_roots + 1UL, sizeof(*sums));

	if (!sums)
		return NULL;
	for (__u32 i = 0; i < g->nr_roots; i++)
		sums[i].id = i;
	if (roots_merge_threads(&f->roots, first, count)) {
		free(sums);
		return NULL;
	}
	f->at[0] = 0;
	for (__u32 v = 1; v < g->nr; v++) {
		const __u32 node = g->node[v];

		/* (its dominator has a lower number) */
		f->at[v] = g->dom[v] ? f->at[g->dom[v]] : v;
		if (node < g->nr_chunks && g->node[f->at[v]] >= g->nr_chunks)
			sums[first[g->node[f->at[v]] - g->nr_chunks]].bytes +=
				g->chunks[node].size;
	}
	qsort(sums, g->nr_roots, sizeof(*sums), cmp_bytes);
	return sums;
}

/* A node for each of the largest roots, and one for all others. */
static int add_sums(struct find *f, __u32 *nodes, const struct by_bytes *sums,
		    const __u32 *first, const __u32 *count)
{
	struct holder h = { .what = HOLDER_OTHERS };
	__s64 others = 0, at = 0;
	__u32 nr = 0;
	int err = 0;

	while (!err && nr < f->g.nr_roots && sums[nr].bytes && nr < MOST_HOLDERS) {
		err = roots_name(&f->roots, sums[nr].id, &h);
		if (count[sums[nr].id]) {
			h.count = count[sums[nr].id];
			h.tid = 0;
		}
		at = held_add_holder(f, &h);
		err = err ? err : at < 0 ? (int)at : 0;
		nodes[sums[nr++].id] = (__u32)at;
	}
	h = (struct holder){ .what = HOLDER_OTHERS };
	for (__u32 i = nr; i < f->g.nr_roots; i++)
		h.count += sums[i].bytes != 0;
	if (!err && h.count)
		others = held_add_holder(f, &h);
	for (__u32 i = nr; !err && i < f->g.nr_roots; i++)
		nodes[sums[i].id] = (__u32)others;
	for (__u32 i = 0; !err && i < f->g.nr_roots; i++)
		nodes[i] = nodes[first[i]];
	return err ? err : others < 0 ? (int)others : 0;
}

static int add_roots(struct find *f, __u32 *nodes)
{
	__u32 *first = calloc(f->g.nr_roots + 1UL, sizeof(*first));
	__u32 *count = calloc(f->g.nr_roots + 1UL, sizeof(*count));
	struct by_bytes *sums = first && count ? sum_roots(f, first, count) : NULL;
	const int err = sums ? add_sums(f, nodes, sums, first, count) : -ENOMEM;

	free(first);
	free(count);
	free(sums);
	return err;
}

static int add_held(struct find *f, const __u32 *roots, const struct held_shared *shared)
{
	const struct graph *g = &f->g;
	int err = 0;

	for (__u32 v = 1; !err && v < g->nr; v++) {
		const __u32 node = g->node[v], from = g->dom[v] ? g->node[g->dom[v]] : GRAPH_NONE;

		if (node >= g->nr_chunks)
			f->at[v] = roots[node - g->nr_chunks];
		else
			err = add_block(f, node, g->dom[v] ? f->at[g->dom[v]] :
					held_shared_node(shared, g, v),
					from < g->nr_chunks ? from : GRAPH_NONE, &f->at[v]);
	}
	return err;
}

static int add_lost(struct find *f)
{
	const struct graph *g = &f->g;
	__u64 *reached = calloc(g->nr_chunks / 64 + 1, sizeof(*reached));
	__s64 node = 0;
	int err = reached ? 0 : -ENOMEM;
	__u32 at;

	for (__u32 v = 1; !err && v < g->nr; v++)
		if (g->node[v] < g->nr_chunks)
			reached[g->node[v] / 64] |= 1ULL << g->node[v] % 64;
	for (__u32 i = 0; !err && i < g->nr_chunks; i++) {
		if (!graph_is_block(g, i) || reached[i / 64] >> i % 64 & 1)
			continue;
		if (!node)
			node = held_add_holder(f, &(struct holder){ .what = HOLDER_LOST });
		err = node < 0 ? (int)node : add_block(f, i, (__u32)node, GRAPH_NONE,
							     &at);
	}
	free(reached);
	return err;
}

/* Children have higher numbers than their parents. */
static void sum_up(struct held *h)
{
	for (size_t i = h->nr_nodes; i-- > 0;) {
		struct held_node *n = &h->nodes[i], *parent = &h->nodes[n->parent];

		n->all_blocks += n->blocks;
		n->all_bytes += n->bytes;
		if (!i)
			break;
		parent->all_blocks += n->all_blocks;
		parent->all_bytes += n->all_bytes;
	}
}

/* Links children, most bytes first. */
static int sort_nodes(struct held *h)
{
	struct by_bytes *sorted = calloc(h->nr_nodes + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (__u32 i = 0; i < h->nr_nodes; i++)
		sorted[i] = (struct by_bytes){ h->nodes[i].all_bytes, i };
	qsort(sorted, h->nr_nodes, sizeof(*sorted), cmp_bytes);
	for (size_t i = h->nr_nodes; i-- > 0;) {
		struct held_node *n = &h->nodes[sorted[i].id];

		if (!sorted[i].id)
			continue;
		n->sibling = h->nodes[n->parent].child;
		h->nodes[n->parent].child = sorted[i].id;
	}
	free(sorted);
	return 0;
}

/* ---- of some blocks, each by itself ---- */

static size_t nr_wanted(const struct find *f)
{
	return f->ask->each ? f->g.nr_chunks : f->ask->nr_blocks;
}

/* Its chunk, or GRAPH_NONE. */
static __u32 wanted_at(const struct find *f, size_t i)
{
	const __u32 chunk = f->ask->each ? (__u32)i : graph_at(&f->g, f->ask->blocks[i]);

	if (chunk == GRAPH_NONE || !graph_is_block(&f->g, chunk))
		return GRAPH_NONE;
	if (!f->ask->each && !graph_begins(&f->g, chunk, f->ask->blocks[i]))
		return GRAPH_NONE;
	return chunk;
}

/* Which they are; later this cannot be looked up any more. */
static int find_wanted(struct find *f)
{
	const size_t nr = nr_wanted(f);

	if (!nr)
		return 0;
	f->wanted = calloc(nr, sizeof(*f->wanted));
	f->out->of = calloc(nr, sizeof(*f->out->of));
	if (!f->wanted || !f->out->of)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		f->wanted[i] = wanted_at(f, i);
		f->out->of[i].kind = f->wanted[i] == GRAPH_NONE ? HELD_HOLDER :
				     f->order[f->kinds.of[f->wanted[i]]];
		f->out->of[i].holder = HELD_HOLDER;
	}
	return 0;
}

static __u32 lost_holder(const struct held *h)
{
	for (size_t i = h->nr_holders; i-- > 0;)
		if (h->holders[i].what == HOLDER_LOST)
			return (__u32)i;
	return HELD_HOLDER;
}

static int tell_wanted(struct find *f)
{
	const struct held_node *nodes = f->out->nodes;
	const __u32 lost = lost_holder(f->out);
	__u32 *holder;

	if (!f->wanted)
		return 0;
	holder = calloc(f->g.nr_chunks + 1UL, sizeof(*holder));
	if (!holder)
		return -ENOMEM;
	for (__u32 i = 0; i < f->g.nr_chunks; i++)
		holder[i] = lost;
	for (__u32 v = 1; v < f->g.nr; v++) {
		__u32 at = f->at[v];

		while (nodes[at].kind != HELD_HOLDER)
			at = nodes[at].parent;
		if (f->g.node[v] < f->g.nr_chunks)
			holder[f->g.node[v]] = nodes[at].holder;
	}
	for (size_t i = 0; i < nr_wanted(f); i++)
		if (f->wanted[i] != GRAPH_NONE)
			f->out->of[i].holder = holder[f->wanted[i]];
	free(holder);
	return 0;
}

static int find_holders(struct find *f)
{
	struct held_node first = { .kind = HELD_HOLDER, .holder = HELD_HOLDER };
	struct held_shared shared = { .rows = NULL };
	__u32 *roots;
	int err = find_wanted(f);

	if (!err)
		err = graph_search(&f->g);
	if (!err)
		err = graph_dominate(&f->g);
	if (err)
		return err;
	f->at = malloc(f->g.nr * sizeof(*f->at));
	roots = calloc(f->g.nr_roots + 1UL, sizeof(*roots));
	err = f->at && roots ? 0 : -ENOMEM;
	if (!err && held_get_node(f, &first) < 0)
		err = -ENOMEM;
	if (!err)
		err = add_roots(f, roots);
	if (!err)
		err = held_shared_add(f, &shared);
	if (!err)
		err = add_held(f, roots, &shared);
	if (!err)
		err = add_lost(f);
	if (!err)
		err = tell_wanted(f);
	if (!err) {
		sum_up(f->out);
		err = sort_nodes(f->out);
	}
	f->out->has_holders = !err;
	/* (the largest come first) */
	if (!err)
		roots_find_sources(&f->roots, f->out->holders, f->out->nr_holders);
	held_shared_free(&shared);
	free(roots);
	return err;
}

/* ---- a path ---- */

struct wanted {
	const struct find *f;
	__u32 block;			/* or GRAPH_NONE: by kind */
	bool *kinds;
};

static bool is_wanted(void *ctx, __u32 block)
{
	const struct wanted *w = ctx;

	return w->block == GRAPH_NONE ? w->kinds[w->f->kinds.of[block]] : block == w->block;
}

/* Those of that name, or with that in their names. */
static bool want_kinds(const struct find *f, bool *kinds, bool exactly)
{
	bool any = false;

	for (__u32 i = 0; i < kinds_nr(&f->kinds); i++) {
		const char *name = f->kinds.at[i].blocks ? f->out->kinds[f->order[i]].name : "";

		kinds[i] = *name && (exactly ? !strcmp(name, f->ask->path) :
				     strstr(name, f->ask->path) != NULL);
		any |= kinds[i];
	}
	return any;
}

/* What Python calls the place of a pointer. */
static int name_slot(const struct find *f, const struct graph_step *s, struct held_step *to)
{
	char text[256];
	const enum python_slot slot = f->in->python && s->node < f->g.nr_chunks && s->at ?
		python_slot(f->in->python, s->node, s->at, text, sizeof(text)) : PYTHON_NO_SLOT;

	if (slot == PYTHON_NO_SLOT)
		return 0;
	to->is_attribute = slot == PYTHON_ATTRIBUTE;
	to->is_variable = slot == PYTHON_VARIABLE;
	to->slot = strdup(text);
	return to->slot ? 0 : -ENOMEM;
}

static int add_step(struct find *f, const struct graph_step *s)
{
	struct held_step *to = &f->out->steps[f->out->nr_steps];
	int err = 0;

	*to = (struct held_step){ .kind = HELD_HOLDER, .at = s->at, .word = s->word };
	if (s->node >= f->g.nr_chunks) {
		err = roots_name(&f->roots, s->node - f->g.nr_chunks, &to->holder);
	} else {
		to->kind = f->order[f->kinds.of[s->node]];
		to->addr = graph_addr(&f->g, s->node);
		to->size = heap_usable(&f->g.chunks[s->node]);
	}
	f->out->nr_steps++;
	return err ? err : name_slot(f, s, to);
}

static int find_path(struct find *f)
{
	struct wanted w = { .f = f, .block = GRAPH_NONE };
	struct graph_step *steps = NULL;
	bool any = false;
	__u64 addr;
	size_t nr = 0;
	int err;

	f->out->has_path = true;
	w.kinds = calloc(kinds_nr(&f->kinds) + 1, sizeof(*w.kinds));
	if (!w.kinds)
		return -ENOMEM;
	if (opt_u64(f->ask->path, &addr)) {
		w.block = graph_at(&f->g, addr);
		any = w.block != GRAPH_NONE;
		f->out->no_path = any ? NULL : "no block in use has that address";
	} else {
		any = want_kinds(f, w.kinds, true) || want_kinds(f, w.kinds, false);
		f->out->no_path = any ? NULL : "no kind of block has that in its name";
	}
	err = any ? graph_path(&f->g, is_wanted, &w, &steps, &nr) : 0;
	if (!err && any && !nr)
		f->out->no_path = "no address leads there: it is unreachable";
	f->out->steps = calloc(nr + 1, sizeof(*f->out->steps));
	if (!f->out->steps)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++)
		err = add_step(f, &steps[i]);
	if (!err && nr)
		roots_find_sources(&f->roots, &f->out->steps[0].holder, 1);
	free(steps);
	free(w.kinds);
	return err;
}

/* ---- all of it ---- */

/* Edges that no tree has are not known before: one a block is taken for usual. */
static bool has_room(struct find *f)
{
	/* (of each chunk it is kept what Python calls it, its shape, and where it begins) */
	const __u64 needs = graph_bytes(f->g.nr_chunks, f->g.nr_blocks, f->g.nr_blocks) +
			    (f->in->python ? 10ULL * f->g.nr_chunks : 0);
	char text[TEXT_LEN];

	if (!f->ask->max_mem || needs <= f->ask->max_mem)
		return true;
	snprintf(f->out->why, sizeof(f->out->why), "finding what holds %llu blocks takes about "
		 "%s of memory beside the copy, more than --max-mem",
		 (unsigned long long)f->g.nr_blocks, text_bytes(text, (__s64)needs, false));
	return false;
}

#define MANY	2000000U		/* blocks, of which the work takes seconds */

static void say(const struct find *f, const char *what)
{
	char text[TEXT_LEN];

	if (f->ask->progress && f->g.nr_blocks >= MANY)
		note("%s of %s blocks ...", what, text_count(text, f->g.nr_blocks));
}

/* Roots, and which blocks are objects of Python. */
static int find_roots(struct find *f)
{
	const struct held_input *in = f->in;
	struct ranges cut = { NULL, 0, 0 };
	int err;

	if (!in->python)
		return roots_add(&f->roots, &f->g, in, in->roots);
	err = python_find_frames(in->python, in->heap);
	if (!err)
		err = python_cut(in->python, in->roots, &cut);
	if (!err)
		err = roots_add(&f->roots, &f->g, in, &cut);
	free(cut.at);
	if (!err)
		err = python_find_objects(in->python, &f->g);
	return err || !f->roots.python ? err : roots_add_python(&f->roots);
}

static int find(struct find *f)
{
	const struct held_input *in = f->in;
	const struct graph_view view = { view_at, (void *)(unsigned long)in };
	int err = graph_begin(&f->g, in->heap, &view);

	if (!err)
		err = find_roots(f);
	held_names_open(&f->names, &f->roots.objects, in->l, in->memory, in->heap);
	say(f, "finding the kinds");
	if (!err)
		err = find_kinds(f);
	if (!err)
		err = roots_add_text(&f->roots);
	if (!err && f->ask->path)
		err = find_path(f);
	if (err || !f->ask->holders || !has_room(f))
		return err;
	say(f, "finding the holders");
	return find_holders(f);
}

int held_find(const struct held_input *in, const struct held_ask *ask, struct held **out)
{
	struct find *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	*out = calloc(1, sizeof(**out));
	if (f && *out) {
		f->in = in;
		f->ask = ask;
		f->out = *out;
		err = find(f);
		kinds_free(&f->kinds);
		roots_free(&f->roots);
		graph_free(&f->g);
		ids_free(&f->node_ids);
		ids_free(&f->name_ids);
		free(f->order);
		free(f->at);
		free(f->wanted);
	}
	free(f);
	if (err) {
		held_free(*out);
		*out = NULL;
	}
	return err;
}

static void step_free(struct held_step *s)
{
	holder_free(&s->holder);
	free(s->slot);
}

void held_free(struct held *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->nr_kinds; i++)
		free(h->kinds[i].name);
	for (size_t i = 0; i < h->nr_holders; i++)
		holder_free(&h->holders[i]);
	for (size_t i = 0; i < h->nr_steps; i++)
		step_free(&h->steps[i]);
	for (size_t i = 0; i < h->nr_names; i++)
		free(h->names[i].text);
	free(h->names);
	free(h->of);
	free(h->kinds);
	free(h->holders);
	free(h->nodes);
	free(h->steps);
	free(h);
}
