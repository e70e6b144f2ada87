// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attributes of modules: these are the variables of a program, and become roots.  Since each
 * function leads to all variables of its module, the tables of modules lead nowhere themselves.
 *
 * A class or function is at home in its module, by its own account.  All that uses it leads to it:
 * each instance, each class that is derived from it.  This does not hold it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "heap/python_int.h"

#define MOST_ATTRS	(1U << 20)
#define MOST_NAMES	(1U << 16)	/* of one module */
#define MOST_LOOKED	(1U << 24)	/* of all */
#define NAME_LEN	200
#define OWN_DICT	"__dict__"

static int add_module(struct python *py, const char *name, __u64 dict)
{
	struct python_module *more = ids_grow(py->modules, py->nr_modules, &py->room_modules,
					      sizeof(*more));

	if (!more)
		return -ENOMEM;
	py->modules = more;
	more[py->nr_modules] = (struct python_module){ strdup(name), dict };
	return more[py->nr_modules].name ? (int)py->nr_modules++ : -ENOMEM;
}

static int add_attr(struct python *py, __u32 module, const struct python_entry *e,
		    const char *name)
{
	struct python_attr *more = ids_grow(py->attrs, py->nr_attrs, &py->room_attrs,
					    sizeof(*more));

	if (!more)
		return -ENOMEM;
	py->attrs = more;
	more[py->nr_attrs] = (struct python_attr){
		.name = strdup(name), .module = module, .value = graph_target(py->g, e->value),
		.key = graph_target(py->g, e->key), .at = e->value_at, .key_at = e->key_at,
		.first = (__u32)py->nr_attrs, .same = 1 };
	return more[py->nr_attrs].name ? (py->nr_attrs++, 0) : -ENOMEM;
}

/* Words of a table that are no entry lead nowhere, either. */
static int take_module(struct python *py, __u32 table, const struct python_dict *d,
		       const char *name, __u64 dict, __u64 at)
{
	struct python_entry e = { .value = dict, .value_at = at };
	const int module = add_module(py, name, dict);
	char text[NAME_LEN];
	int err = module < 0 ? module : add_attr(py, (__u32)module, &e, OWN_DICT);

	for (__u64 i = 0; !err && i < d->nr && python_entry(py, d, i, &e); i++)
		if (e.key && e.value)
			err = add_attr(py, (__u32)module, &e,
				       python_text(py, e.key, text, sizeof(text)) ? text : "?");
	return err ? err : graph_set_shape(py->g, table,
					   &(struct graph_shape){ .skip = 1, .end = WORD });
}

static int find_attrs(struct python *py, __u64 addr)
{
	struct python_dict d;
	char name[NAME_LEN];
	__u64 dict, word;
	__u32 table;

	if (!python_word(py, addr + 16, &dict) ||
	    !python_dict(py, dict, &d) || d.values || d.nr > MOST_NAMES ||
	    py->nr_attrs + d.nr > MOST_ATTRS)
		return 0;
	py->looked += d.nr;
	if (py->looked > MOST_LOOKED)
		return 0;
	table = graph_at(py->g, d.keys);
	word = python_dict_get(py, dict, "__name__");
	if (table == GRAPH_NONE || d.entries + d.nr * d.stride > graph_block_end(py->g, table) ||
	    !word || !python_text(py, word, name, sizeof(name)))
		return 0;
	/* (of 2.7's small dicts the table is in the dict, where nothing else leads on) */
	return take_module(py, table, &d, name, dict, addr + 16);
}

/* ---- what is at home in its module ---- */

/* Also by another name: some are defined twice. */
static bool is_its_class(struct python *py, const struct python_attr *a, __u64 addr)
{
	const char *module = py->modules[a->module].name;
	const __u32 id = python_find_type(py, addr);
	const size_t len = strlen(module);
	const char *name = id == IDS_NONE ? "" : py->types[id].name;

	return !strncmp(name, module, len) && name[len] == '.' && !strchr(name + len + 1, '.');
}

/* One of its first words is the module's dict: until 3.9 the second one. */
static bool is_its_function(struct python *py, const struct python_attr *a, __u64 addr)
{
	__u64 words[2];

	return python_read(py, addr + 16, words, sizeof(words)) &&
	       (words[0] == py->modules[a->module].dict ||
		words[1] == py->modules[a->module].dict);
}

static bool is_home(struct python *py, const struct python_attr *a)
{
	const struct python_type *t;
	__u64 addr;

	t = a->value == GRAPH_NONE ? NULL : python_block(py, a->value, &addr);
	if (!t)
		return false;
	if (a->key == GRAPH_NONE && addr == py->modules[a->module].dict)
		return !strcmp(a->name, OWN_DICT);
	return t->rule == RULE_TYPE ? is_its_class(py, a, addr) :
	       !(t->flags & FLAG_HEAP) && !strcmp(t->name, "function") &&
	       is_its_function(py, a, addr);
}

/* ---- values that several attributes have ---- */

struct ranked {
	__u32 value, attr, rank;
};

enum { RANK_HOME, RANK_MAIN, RANK_PLAIN, RANK_PRIVATE };

static int by_value(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->attr > b->attr) - (a->attr < b->attr);
}

static __u32 rank_of(struct python *py, const struct python_attr *a)
{
	return is_home(py, a) ? RANK_HOME :
	       !strcmp(py->modules[a->module].name, "__main__") ? RANK_MAIN :
	       a->name[0] != '_' ? RANK_PLAIN : RANK_PRIVATE;
}

static int merge_attrs(struct python *py)
{
	struct ranked *r = calloc(py->nr_attrs + 1, sizeof(*r));
	size_t nr = 0, first = 0;
	int err = r ? 0 : -ENOMEM;

	for (__u32 i = 0; r && i < py->nr_attrs; i++)
		if (py->attrs[i].value != GRAPH_NONE)
			r[nr++] = (struct ranked){ py->attrs[i].value, i,
						   rank_of(py, &py->attrs[i]) };
	if (nr)
		qsort(r, nr, sizeof(*r), by_value);
	for (size_t i = 0; !err && i < nr; i++) {
		if (r[i].value != r[first].value || !i) {
			first = i;
			if (r[i].rank == RANK_HOME)
				err = graph_set_rooted(py->g, r[i].value);
			continue;
		}
		py->attrs[r[i].attr].first = r[first].attr;
		py->attrs[r[first].attr].same++;
	}
	free(r);
	return err;
}

/* What a module in C has for itself: an interpreter's, not a variable's. */
static int take_state(struct python *py, __u32 block, __u64 addr)
{
	__u64 state;
	__u32 part;

	if (py->place.version < 0x0306 || !python_word(py, addr + 32, &state))
		return 0;
	part = python_part_at(py, block, state, PYTHON_MODULE);
	if (part == GRAPH_NONE)
		return 0;
	if (graph_set_shape(py->g, part, &(struct graph_shape){ .skip = 1, .end = WORD }))
		return -ENOMEM;
	return python_add_root(py, graph_addr(py->g, part), graph_block_end(py->g, part), false);
}

int python_find_modules(struct python *py)
{
	const struct python_type *t;
	__u64 addr;
	int err = 0;

	for (__u32 i = 0; !err && i < py->g->nr_chunks; i++) {
		t = (py->of[i] & 3) == OF_OBJECT ? python_block(py, i, &addr) : NULL;
		if (!t || t->rule != RULE_MODULE)
			continue;
		err = find_attrs(py, addr);
		if (!err)
			err = take_state(py, i, addr);
	}
	return err ? err : merge_attrs(py);
}
