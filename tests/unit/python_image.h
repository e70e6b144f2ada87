/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process with CPython, made by hand: types, a module `app` whose `table` is a list
 * of a Session, and gc's lists, in the form that one version or another has.  The dict of the
 * Session is not tracked.  Of three pools that were begun, the last does not check.
 *
 * For a test and a fuzz target, which both say: LINK: as test_python.c does.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heap/graph.h"
#include "heap/int.h"
#include "heap/kinds.h"
#include "heap/python.h"

#define FILE_AT		0x7e0000000000ULL	/* the library's data */
#define HEAP_AT		0x555555560000ULL
#define ARENA_AT	0x7f0000000000ULL
#define STACK_AT	0x7d0000000000ULL	/* of a thread: frames, since 3.11 */
#define STACK_LEN	0x4000UL
#define FILE_LEN	0x6000UL
#define HEAP_LEN	0x1000UL
#define ARENA_LEN	0x3000UL
#define RUNTIME_AT	(FILE_AT + 0x4000)
#define LISTS_AT	(RUNTIME_AT + 0x100)
#define POOL_AT(i)	(ARENA_AT + 0x1000ULL * (i))
#define BLOCK_LEN	96U
#define BLOCK_AT(i)	(POOL_AT(0) + 48 + (uint64_t)BLOCK_LEN * (i))
#define MODULE_AT	(POOL_AT(1) + 48)
#define NAMES_AT	(FILE_AT + 0x3000)
#define NAME_LEN	32

enum { TYPE, MODULE, DICT, LIST, STR, SESSION, TUPLE, CODE, FRAME, NR_TYPES };

#define TYPE_AT(i)	(FILE_AT + 0x180ULL * (i))

/* blocks of the first pool */
enum {
	AT_LIST, AT_DICT, AT_SESSION, AT_OWN, AT_TABLE, AT_USER, AT_NAME, AT_APP, AT_TUPLE, AT_WORK,
	AT_FILE, NR_BLOCKS
};

/* blocks of malloc's */
#define ARENAS_AT	(HEAP_AT + 16)
#define KEYS_AT		(HEAP_AT + 0x400 + 16)
#define OWN_KEYS_AT	(HEAP_AT + 0x500 + 16)
#define ITEMS_AT	(HEAP_AT + 0x600 + 16)
#define CODE_AT		(HEAP_AT + 0x700 + 16)
#define FRAME_AT	(HEAP_AT + 0x800 + 16)
#define FRAME_BASIC	424

/* What differs between versions: gc's head, from list to list, text of a str. */
static const struct image_form {
	uint32_t version, head, stride, text;
	enum { KEYS_OPEN, KEYS_COMPACT, KEYS_LOG } keys;
	uint64_t tracked, untracked;	/* third word of gc's head */
	/* in code: how many variables, room of the stack, names, file, name, line; in a frame */
	uint32_t nr, stack, names, file, name, line, code, values;
} image_forms[] = {
	{ 0x0207, 32, 40, 36, KEYS_OPEN, (uint64_t)-3, (uint64_t)-2,
	  20, 24, 56, 80, 88, 96, 32, 0 },
	{ 0x0207, 32, 48, 36, KEYS_OPEN, (uint64_t)-3, (uint64_t)-2,
	  20, 24, 56, 80, 88, 96, 32, 0 },
	{ 0x0306, 32, 40, 48, KEYS_COMPACT, (uint64_t)-6, (uint64_t)-4,
	  24, 28, 64, 96, 104, 36, 32, 0 },
	{ 0x0307, 24, 32, 48, KEYS_COMPACT, (uint64_t)-6, (uint64_t)-4,
	  24, 28, 64, 96, 104, 36, 32, 0 },
	{ 0x030a, 16, 24, 48, KEYS_COMPACT, 0, 0,
	  28, 32, 72, 104, 112, 40, 32, 0 },
	{ 0x030b, 16, 24, 48, KEYS_LOG, 0, 0,
	  76, 68, 96, 112, 128, 72, 32, 72 },
	{ 0x030c, 16, 24, 40, KEYS_LOG, 0, 0,
	  72, 64, 96, 112, 128, 68, 0, 72 },
	{ 0x030d, 16, 24, 40, KEYS_LOG, 0, 0,
	  72, 64, 96, 112, 128, 68, 0, 72 },
	{ 0x030e, 16, 24, 40, KEYS_LOG, 0, 0,
	  72, 64, 96, 112, 128, 68, 0, 80 },
};

#define NR_IMAGE_FORMS	(sizeof(image_forms) / sizeof(image_forms[0]))

static const struct image_form *form;

struct region {
	uint64_t at;
	size_t len;
	unsigned char *bytes;
};

static unsigned char file_bytes[FILE_LEN], heap_bytes[HEAP_LEN], arena_bytes[ARENA_LEN];
static unsigned char stack_bytes[STACK_LEN];
static struct region regions[] = {
	{ FILE_AT, FILE_LEN, file_bytes }, { HEAP_AT, HEAP_LEN, heap_bytes },
	{ ARENA_AT, ARENA_LEN, arena_bytes }, { STACK_AT, STACK_LEN, stack_bytes },
};

#define NR_REGIONS	(sizeof(regions) / sizeof(regions[0]))

static const void *view_at(void *ctx, __u64 addr, size_t *len)
{
	(void)ctx;
	for (size_t i = 0; i < NR_REGIONS; i++) {
		const uint64_t in = addr - regions[i].at;
		const uint64_t room = 4096 - in % 4096;

		if (in >= regions[i].len)
			continue;
		if (*len > room)
			*len = room;
		return regions[i].bytes + in;
	}
	return NULL;
}

static size_t read_memory(void *ctx, __u64 addr, void *buf, size_t len)
{
	const void *from = view_at(ctx, addr, &len);

	if (from)
		memcpy(buf, from, len);
	return from ? len : 0;
}

static void put(uint64_t addr, uint64_t value)
{
	size_t len = sizeof(value);

	memcpy((void *)(unsigned long)view_at(NULL, addr, &len), &value, sizeof(value));
}

static void put_int(uint64_t addr, uint32_t value)
{
	size_t len = sizeof(value);

	memcpy((void *)(unsigned long)view_at(NULL, addr, &len), &value, sizeof(value));
}

static void put_text(uint64_t addr, const char *text)
{
	size_t len = strlen(text) + 1;

	memcpy((void *)(unsigned long)view_at(NULL, addr, &len), text, strlen(text) + 1);
}

/* ---- types and objects ---- */

#define IS_GC		(1ULL << 14)
#define IS_READY	(1ULL << 12)
#define IS_TYPE		(1ULL << 31)

static void put_type(int i, const char *name, uint64_t basic, uint64_t flags)
{
	put(TYPE_AT(i), 1000);
	put(TYPE_AT(i) + 8, TYPE_AT(TYPE));
	put(TYPE_AT(i) + 24, NAMES_AT + NAME_LEN * (uint64_t)i);
	put(TYPE_AT(i) + 32, basic);
	put(TYPE_AT(i) + 168, flags | IS_READY);
	put_text(NAMES_AT + NAME_LEN * (uint64_t)i, name);
}

/* The object in a block, whose type gc knows. */
static uint64_t put_object(uint64_t block, int type)
{
	put(block + form->head, 1);
	put(block + form->head + 8, TYPE_AT(type));
	return block + form->head;
}

static void put_str(int block, const char *text)
{
	put(BLOCK_AT(block), 2);
	put(BLOCK_AT(block) + 8, TYPE_AT(STR));
	put(BLOCK_AT(block) + 16, strlen(text));
	/* compact, ASCII; what stands behind it was never written */
	if (form->keys != KEYS_OPEN)
		put(BLOCK_AT(block) + 32, ITEMS_AT << 32 | 1 << 2 | 1 << 5 | 1 << 6);
	put_text(BLOCK_AT(block) + form->text, text);
}

/* Where entries begin, and one's key and value. */
static uint64_t entries_at(uint64_t keys)
{
	return keys + (form->keys == KEYS_OPEN ? 0 : form->keys == KEYS_COMPACT ? 48 : 40);
}

static uint64_t key_at(uint64_t keys, unsigned int i)
{
	return form->keys == KEYS_LOG ? entries_at(keys) + 16ULL * i :
	       entries_at(keys) + 24ULL * i + 8;
}

/* A dict whose keys are all str. */
static void put_dict(uint64_t dict, uint64_t at, unsigned int nr, const uint64_t *words)
{
	put(dict + 16, nr);
	if (form->keys == KEYS_OPEN) {
		put(dict + 24, nr);
		put(dict + 32, 7);
		put(dict + 40, at);
	} else {
		put(dict + 32, at);
		put(at, 1);
		put(at + 8, form->keys == KEYS_LOG ? 3 | 3 << 8 | 1 << 16 : 8);
		put(at + (form->keys == KEYS_LOG ? 16 : 24), 5 - nr);
		put(at + (form->keys == KEYS_LOG ? 24 : 32), nr);
	}
	for (unsigned int i = 0; i < nr; i++) {
		put(key_at(at, i), words[2 * i]);
		put(key_at(at, i) + 8, words[2 * i + 1]);
	}
}

static void put_objects(void)
{
	const uint64_t list = put_object(BLOCK_AT(AT_LIST), LIST);
	const uint64_t dict = put_object(BLOCK_AT(AT_DICT), DICT);
	const uint64_t session = put_object(BLOCK_AT(AT_SESSION), SESSION);
	const uint64_t own = put_object(BLOCK_AT(AT_OWN), DICT);
	const uint64_t module = put_object(MODULE_AT, MODULE);
	const uint64_t keys[] = { BLOCK_AT(AT_NAME), BLOCK_AT(AT_APP), BLOCK_AT(AT_TABLE), list };
	const uint64_t own_keys[] = { BLOCK_AT(AT_USER), BLOCK_AT(AT_APP) };

	put(list + 16, 1);
	put(list + 24, ITEMS_AT);
	put(list + 32, 4);
	put(ITEMS_AT, session);
	put(ITEMS_AT + 8, module);		/* left behind: the list has one item */
	put(session + 16, own);
	put(module + 16, dict);
	put_dict(dict, KEYS_AT, 2, keys);
	put_dict(own, OWN_KEYS_AT, 1, own_keys);
	put_str(AT_TABLE, "table");
	put_str(AT_USER, "user");
	put_str(AT_NAME, "__name__");
	put_str(AT_APP, "app");
}

/* ---- a function, and its frame ---- */

/* Where a frame is, and its variable. */
static uint64_t frame_at(void)
{
	return form->values ? STACK_AT + 32 : FRAME_AT + form->head;
}

static uint64_t variable_at(void)
{
	return frame_at() + (form->values ? form->values : FRAME_BASIC - 8);
}

/* work(rows), which runs: since 3.11 in memory of its thread, before that in an object. */
static void put_function(void)
{
	const uint64_t tuple = put_object(BLOCK_AT(AT_TUPLE), TUPLE);
	const uint64_t end = variable_at() + 3 * 8;

	put(tuple + 16, 1);
	put(tuple + (form->version < 0x030e ? 24 : 32), BLOCK_AT(AT_USER));
	put_str(AT_WORK, "work");
	put_str(AT_FILE, "/srv/app.py");
	put(CODE_AT, 1);
	put(CODE_AT + 8, TYPE_AT(CODE));
	put_int(CODE_AT + form->nr, 1);
	put_int(CODE_AT + form->stack, 2);
	put(CODE_AT + form->names, tuple);
	put(CODE_AT + form->file, BLOCK_AT(AT_FILE));
	put(CODE_AT + form->name, BLOCK_AT(AT_WORK));
	put_int(CODE_AT + form->line, 41);
	put(frame_at() + form->code, CODE_AT);
	put(variable_at(), BLOCK_AT(AT_LIST) + form->head);
	if (form->values) {
		put(STACK_AT + 8, STACK_LEN);
		put(RUNTIME_AT + 0x300, STACK_AT);
		put(RUNTIME_AT + 0x308, end);
		put(RUNTIME_AT + 0x310, STACK_AT + STACK_LEN);
		/* one that has returned */
		put(end + form->code, CODE_AT);
		return;
	}
	put_object(FRAME_AT, FRAME);
	put(frame_at() + 16, 3);
	put(frame_at() + 64, variable_at() + 8);
	/* it runs: a byte that is 0 in 3.10, and another one before */
	if (form->version == 0x0306)
		put(frame_at() + 128, 1ULL << 32);
	else if (form->version == 0x0307)
		put(frame_at() + 112, 1ULL << 32);
	if (form->untracked)
		put(FRAME_AT + 16, form->untracked);
}

/* ---- pools, lists of gc ---- */

static void put_pool(int pool, uint32_t size, uint32_t used, uint32_t begun)
{
	const uint64_t at = POOL_AT(pool), free = at + 48 + size * used;

	put(at, used);
	put(at + 8, begun > used ? free : 0);
	put(at + 32, (uint64_t)(size / 16 - 1) << 32);
	put(at + 40, (48 + size * begun) | (uint64_t)(4096 - size) << 32);
	for (uint32_t i = used; i + 1 < begun; i++)
		put(at + 48 + size * i, at + 48 + size * (i + 1));
}

static void put_arenas(void)
{
	put(FILE_AT + 0x5000, ARENAS_AT);
	put(ARENAS_AT, ARENA_AT);
	put(ARENAS_AT + 8, POOL_AT(3));
	put(ARENAS_AT + 16, 61 | 64ULL << 32);
	put_pool(0, BLOCK_LEN, NR_BLOCKS, NR_BLOCKS + 2);
	put_pool(1, BLOCK_LEN, 1, 1);
	put_pool(2, 32, 3, 5);
	put(POOL_AT(2), 4);			/* more than the list of free blocks leaves */
}

/* Since 3.8 gc keeps something in the lower bits; before, there is a third word. */
static void link_objects(const uint64_t *heads, size_t nr)
{
	uint64_t last = LISTS_AT, empty;

	for (size_t i = 0; i < nr; last = heads[i++]) {
		put(last, heads[i]);
		put(heads[i] + 8, last | !form->tracked);
		if (form->tracked)
			put(heads[i] + 16, form->tracked);
	}
	put(last, LISTS_AT);
	put(LISTS_AT + 8, last);
	for (unsigned int i = 1; i < 3; i++) {
		empty = LISTS_AT + (uint64_t)form->stride * i;
		put(empty, empty);
		put(empty + 8, empty);
	}
	/* before 3.8, links that lead nowhere were not written */
	if (form->untracked) {
		put(BLOCK_AT(AT_OWN), BLOCK_AT(AT_LIST));
		put(BLOCK_AT(AT_OWN) + 8, ~0ULL);
		put(BLOCK_AT(AT_OWN) + 16, form->untracked);
	}
}

static void make_image(const struct image_form *as)
{
	const uint64_t heads[] = { BLOCK_AT(AT_LIST), BLOCK_AT(AT_DICT), BLOCK_AT(AT_SESSION),
				   MODULE_AT };

	form = as;
	for (size_t i = 0; i < NR_REGIONS; i++)
		memset(regions[i].bytes, 0, regions[i].len);
	put_type(TYPE, "type", 904, IS_GC | IS_TYPE);
	put_type(MODULE, "module", 56, IS_GC);
	put_type(DICT, "dict", 48, IS_GC);
	put_type(LIST, "list", 40, IS_GC);
	put_type(STR, "str", form->keys == KEYS_OPEN ? 37 : 80, 0);
	put_type(SESSION, "app.Session", 32, IS_GC);
	put_type(TUPLE, "tuple", 24, IS_GC);
	put_type(CODE, "code", form->values ? 168 : 112, 0);
	put_type(FRAME, "frame", FRAME_BASIC, IS_GC);
	put(TYPE_AT(MODULE) + 288, 16);
	put(TYPE_AT(SESSION) + 288, 16);
	put_objects();
	put_function();
	put_arenas();
	link_objects(heads, sizeof(heads) / sizeof(heads[0]));
	put(FILE_AT + 0x5008, LISTS_AT);
	if (form->version >= 0x030d) {
		put_text(RUNTIME_AT, "xdebugpy");
		put(RUNTIME_AT + 8, (uint64_t)form->version << 16);
	}
}

/* malloc's blocks; -ENOMEM */
static int make_heap(struct heap *h)
{
	static const uint64_t starts[] = { ARENAS_AT, KEYS_AT, OWN_KEYS_AT, ITEMS_AT, CODE_AT,
					   FRAME_AT, FRAME_AT + 0x300 };
	int err = 0;

	memset(h, 0, sizeof(*h));
	h->arenas = calloc(1, sizeof(*h->arenas));
	h->nr_arenas = 1;
	for (size_t i = 0; !err && i + 1 < sizeof(starts) / sizeof(starts[0]); i++)
		err = heap_add(h, &(struct heap_chunk){
			.at = starts[i] - HEAP_HEAD, .size = starts[i + 1] - starts[i],
			.state = HEAP_USED });
	return h->arenas ? err : -ENOMEM;
}

static struct python_place image_place(void)
{
	return (struct python_place){
		.version = form->version, .type = TYPE_AT(TYPE), .module = TYPE_AT(MODULE),
		.runtime = form->version < 0x0307 ? 0 : RUNTIME_AT,
		.runtime_len = form->version < 0x0307 ? 0 : 0x800,
		.generation0 = form->version < 0x0307 ? FILE_AT + 0x5008 : 0,
		.data = { { .start = FILE_AT, .end = FILE_AT + FILE_LEN } }, .nr_data = 1,
		.file = "libpython3",
	};
}

/* ---- how it is looked at ---- */

static const struct heap_memory memory = { .read = read_memory };
static const struct graph_view view = { view_at, NULL };

static bool known(void *ctx, __u32 block, struct kind *key)
{
	return python_kind(ctx, block, key);
}

static bool in_no_file(void *ctx, __u64 word)
{
	(void)ctx;
	(void)word;
	return false;
}

static struct kind_names image_names(struct python *py)
{
	return (struct kind_names){ .is_file = in_no_file, .known = known, .known_ctx = py };
}
