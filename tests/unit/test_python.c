// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/heap/python_layout.c ctl/heap/python_pools.c ctl/heap/python_gc.c */
/* LINK: ctl/heap/python_type.c ctl/heap/python_objects.c */
/* LINK: ctl/heap/python_add.c ctl/heap/python_parts.c ctl/heap/python_modules.c */
/* LINK: ctl/heap/python_frames.c */
/* LINK: ctl/heap/python_slot.c ctl/heap/graph.c ctl/heap/path.c */
/* LINK: ctl/heap/kinds.c ctl/heap/looks.c ctl/heap/dominators.c ctl/heap/chunks.c */
/* LINK: ctl/base/addr_index.c ctl/base/ids.c ctl/base/text.c */
/* Objects of Python in memory made by hand; builds that are not read are named. */
#include "python_image.h"
#include "tap.h"

static __u64 blocks_of(const struct kinds *k, const char *name)
{
	__u64 blocks = 0;
	char text[256];

	for (__u32 i = 0; i < kinds_nr(k); i++)
		if (!strcmp(kind_name(k, i, text, sizeof(text)), name))
			blocks += k->at[i].blocks;
	return blocks;
}

static void test_pools(const struct python *py)
{
	const struct python_pools *p = &py->pools;

	ok(p->found && p->arenas == 1 && p->arena_bytes == 64 * 4096, "an arena is found");
	ok(p->pools == 2 && p->blocks == NR_BLOCKS + 1 &&
	   p->bytes == (NR_BLOCKS + 1) * BLOCK_LEN,
	   "its pools have so many blocks in use, and bytes");
	ok(p->bad == 1 && p->bad_bytes == 4096, "a pool that does not check is counted");
	ok(py->gc.found && py->gc.tracked == 4 && py->gc.interpreters == 1,
	   "gc tracks so many objects");
}

static void test_names(struct python *py, struct graph *g)
{
	const __u32 keys = graph_at(g, OWN_KEYS_AT), items = graph_at(g, ITEMS_AT);
	char text[64];

	ok(py->nr_attrs == 3 && !strcmp(py->modules[0].name, "app") &&
	   !strcmp(py->attrs[2].name, "table") &&
	   py->attrs[2].value == graph_at(g, BLOCK_AT(AT_LIST)), "a module has a variable");
	ok(python_slot(py, items, ITEMS_AT, text, sizeof(text)) == PYTHON_ITEM &&
	   !strcmp(text, "[0]"), "an item of a list has a number");
	ok(python_attribute(py, keys, graph_at(g, BLOCK_AT(AT_APP)), text, sizeof(text)) &&
	   !strcmp(text, "user"), "an attribute of an instance has a name");
	ok(graph_is_edge(g, graph_at(g, BLOCK_AT(AT_LIST)), BLOCK_AT(AT_LIST) + form->head + 24) &&
	   !graph_is_edge(g, graph_at(g, BLOCK_AT(AT_LIST)), BLOCK_AT(AT_LIST)),
	   "links of gc are no references");
	ok(!graph_is_edge(g, graph_at(g, KEYS_AT), key_at(KEYS_AT, 1) + 8),
	   "the table of a module leads nowhere itself");
	ok(graph_leads(g, BLOCK_AT(AT_LIST) + form->head, graph_at(g, BLOCK_AT(AT_LIST))) &&
	   !graph_leads(g, BLOCK_AT(AT_LIST) + form->head + 8, graph_at(g, BLOCK_AT(AT_LIST))),
	   "an address in an object is no reference");
	ok(!graph_leads(g, BLOCK_AT(AT_DICT) + form->head, graph_at(g, BLOCK_AT(AT_DICT))) &&
	   graph_leads(g, BLOCK_AT(AT_OWN) + form->head, graph_at(g, BLOCK_AT(AT_OWN))),
	   "the dict of a module is held by the module, not by its functions");
	ok(!graph_is_edge(g, graph_at(g, BLOCK_AT(AT_USER)), BLOCK_AT(AT_USER) + 32),
	   "what stands in a str is no address");
}

static void test_frames(struct python *py)
{
	const struct python_frame *frame = NULL;
	char name[64], source[64];

	ok(python_stack_at(py, variable_at(), &frame) == PYTHON_LIVE && frame &&
	   frame->values == variable_at() && frame->code == CODE_AT &&
	   frame->end == variable_at() + 3 * 8, "a frame is found");
	ok(python_function(py, CODE_AT, name, source, sizeof(name)) && !strcmp(name, "work") &&
	   !strcmp(source, "app.py:41"), "of which function");
	ok(python_variable(py, CODE_AT, 0, name, sizeof(name)) && !strcmp(name, "user") &&
	   !python_variable(py, CODE_AT, 1, name, sizeof(name)), "its variable has a name");
	is(python_stack_at(py, variable_at() + 3 * 8 + form->code, &frame),
	   form->values ? PYTHON_LEFT : PYTHON_ELSEWHERE, "what is behind is none of it");
}

static void test_image(const struct image_form *as)
{
	struct python_place place;
	struct python py;
	const struct kind_names names = image_names(&py);
	struct kinds k;
	struct heap h;
	struct graph g;

	make_image(as);
	place = image_place();
	python_begin(&py, &place, &memory);
	ok(py.layout && !py.why[0], "a usual build of %u.%u is read", as->version >> 8,
	   as->version & 0xff);
	if (make_heap(&h) || python_find_pools(&py, &h) || graph_begin(&g, &h, &view)) {
		ok(false, "memory");
		return;
	}
	python_find_tracked(&py, &h);
	test_pools(&py);
	ok(!python_find_frames(&py, &h) && !python_find_objects(&py, &g) &&
	   py.objects == 13 + !form->values, "each object is found");
	test_frames(&py);
	test_names(&py, &g);
	ok(!kinds_find(&k, &g, &names) &&
	   blocks_of(&k, "dict") == 2 && blocks_of(&k, "list") == 1 &&
	   blocks_of(&k, "app.Session") == 1 && blocks_of(&k, "str") == 6 &&
	   blocks_of(&k, "module") == 1 && blocks_of(&k, "keys of a dict") == 2 &&
	   blocks_of(&k, "items of a list") == 1, "and has its kind");
	ok(graph_used_end(&g, graph_at(&g, ITEMS_AT)) == ITEMS_AT + 8,
	   "items behind the last one are no references");
	kinds_free(&k);
	graph_free(&g);
	python_free(&py);
	heap_free(&h);
}

static bool says(const struct python_place *place, const char *text)
{
	struct python py;

	python_begin(&py, place, &memory);
	return !py.layout && strstr(py.why, text);
}

static void test_builds(void)
{
	struct python_place place;

	make_image(&image_forms[0]);
	place = image_place();
	put(TYPE_AT(TYPE) + 8, 7);
	put(TYPE_AT(TYPE) + 24, TYPE_AT(TYPE));
	ok(says(&place, "debug build"), "a build with lists of all objects is named");
	place.version = 0x0305;
	ok(says(&place, "this version"), "a version that is not known is not guessed");
	place.version = 0x030d;
	place.runtime = RUNTIME_AT;
	ok(says(&place, "_PyRuntime"), "what has no offsets is not believed");
	put_text(RUNTIME_AT, "xdebugpy");
	put(RUNTIME_AT + 8, 0x030d05f0);
	put(RUNTIME_AT + 16, 1);
	ok(says(&place, "free-threaded"), "a free-threaded build is named");
}

static void test_overlap(void)
{
	struct python_place place;
	struct python py;
	struct heap h;

	make_image(&image_forms[0]);
	place = image_place();
	python_begin(&py, &place, &memory);
	ok(!make_heap(&h) && !heap_add_piece(&h, 0, ARENA_AT, POOL_AT(1)) &&
	   !python_find_pools(&py, &h) && !py.layout && strstr(py.why, "overlap") &&
	   h.nr_chunks == 6, "pools in memory that malloc has are none");
	python_free(&py);
	heap_free(&h);
}

int main(void)
{
	for (size_t i = 0; i < NR_IMAGE_FORMS; i++)
		test_image(&image_forms[i]);
	test_builds();
	test_overlap();
	return tap_done();
}
