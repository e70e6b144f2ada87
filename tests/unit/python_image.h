/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process with CPython 3.11, made by hand: types, a module `app` whose `table` is a
 * list of a Session, and gc's lists.  Of three pools that were begun, the last does not check.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heap/python.h"
#include "heap/int.h"

#define FILE_AT		0x7e0000000000ULL	/* the library's data */
#define HEAP_AT		0x555555560000ULL
#define ARENA_AT	0x7f0000000000ULL
#define FILE_LEN	0x6000UL
#define HEAP_LEN	0x1000UL
#define ARENA_LEN	0x3000UL
#define RUNTIME_AT	(FILE_AT + 0x4000)
#define LISTS_AT	(RUNTIME_AT + 0x100)
#define POOL_AT(i)	(ARENA_AT + 0x1000ULL * (i))
#define BLOCK_AT(i)	(POOL_AT(0) + 48 + 64ULL * (i))
#define MODULE_AT	(POOL_AT(1) + 48)
#define NAMES_AT	(FILE_AT + 0x3000)
#define NAME_LEN	32

enum { TYPE, MODULE, DICT, LIST, STR, SESSION, NR_TYPES };

#define TYPE_AT(i)	(FILE_AT + 0x400ULL * (i))

/* blocks of the first pool */
enum { AT_LIST, AT_DICT, AT_SESSION, AT_OWN, AT_TABLE, AT_USER, AT_NAME, AT_APP, NR_BLOCKS };

/* blocks of malloc's */
#define ARENAS_AT	(HEAP_AT + 16)
#define KEYS_AT		(HEAP_AT + 0x400 + 16)
#define OWN_KEYS_AT	(HEAP_AT + 0x500 + 16)
#define ITEMS_AT	(HEAP_AT + 0x600 + 16)

struct region {
	uint64_t at;
	size_t len;
	unsigned char *bytes;
};

static unsigned char file_bytes[FILE_LEN], heap_bytes[HEAP_LEN], arena_bytes[ARENA_LEN];
static struct region regions[] = {
	{ FILE_AT, FILE_LEN, file_bytes }, { HEAP_AT, HEAP_LEN, heap_bytes },
	{ ARENA_AT, ARENA_LEN, arena_bytes },
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

static void put_text(uint64_t addr, const char *text)
{
	size_t len = strlen(text) + 1;

	memcpy((void *)(unsigned long)view_at(NULL, addr, &len), text, strlen(text) + 1);
}

/* ---- types and objects ---- */

#define GC_HEAD		16
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
	put(block + GC_HEAD, 1);
	put(block + GC_HEAD + 8, TYPE_AT(type));
	return block + GC_HEAD;
}

static void put_str(int block, const char *text)
{
	put(BLOCK_AT(block), 2);
	put(BLOCK_AT(block) + 8, TYPE_AT(STR));
	put(BLOCK_AT(block) + 16, strlen(text));
	/* compact, ASCII; what stands behind it was never written */
	put(BLOCK_AT(block) + 32, ITEMS_AT << 32 | 1 << 2 | 1 << 5 | 1 << 6);
	put_text(BLOCK_AT(block) + 48, text);
}

/* Keys of a dict that are all str. */
static void put_keys(uint64_t at, unsigned int nr, const uint64_t *words)
{
	put(at, 1);
	put(at + 8, 3 | 3 << 8 | 1 << 16);
	put(at + 16, 5 - nr);
	put(at + 24, nr);
	put(at + 32, ~0ULL);
	for (unsigned int i = 0; i < 2 * nr; i++)
		put(at + 40 + 8ULL * i, words[i]);
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
	put(dict + 16, 2);
	put(dict + 32, KEYS_AT);
	put(own + 16, 1);
	put(own + 32, OWN_KEYS_AT);
	put(session + 16, own);
	put(module + 16, dict);
	put_keys(KEYS_AT, 2, keys);
	put_keys(OWN_KEYS_AT, 1, own_keys);
	put_str(AT_TABLE, "table");
	put_str(AT_USER, "user");
	put_str(AT_NAME, "__name__");
	put_str(AT_APP, "app");
}

/* ---- pools, lists of gc ---- */

static void put_pool(int pool, uint32_t class, uint32_t used, uint32_t begun)
{
	const uint32_t size = 16 * (class + 1);
	const uint64_t at = POOL_AT(pool), free = at + 48 + size * used;

	put(at, used);
	put(at + 8, begun > used ? free : 0);
	put(at + 32, (uint64_t)class << 32);
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
	put_pool(0, 3, NR_BLOCKS, NR_BLOCKS + 2);
	put_pool(1, 4, 1, 1);
	put_pool(2, 1, 3, 5);
	put(POOL_AT(2), 4);			/* more than the list of free blocks leaves */
}

static void link_objects(const uint64_t *heads, size_t nr)
{
	uint64_t last = LISTS_AT;

	for (size_t i = 0; i < nr; last = heads[i++]) {
		put(last, heads[i]);
		put(heads[i] + 8, last | 1);	/* gc keeps something in the lower bits */
	}
	put(last, LISTS_AT);
	put(LISTS_AT + 8, last);
	for (int i = 1; i < 3; i++) {
		put(LISTS_AT + 24ULL * (unsigned int)i, LISTS_AT + 24ULL * (unsigned int)i);
		put(LISTS_AT + 24ULL * (unsigned int)i + 8, LISTS_AT + 24ULL * (unsigned int)i);
	}
}

static void make_image(void)
{
	const uint64_t heads[] = { BLOCK_AT(AT_LIST), BLOCK_AT(AT_DICT), BLOCK_AT(AT_SESSION),
				   BLOCK_AT(AT_OWN), MODULE_AT };

	for (size_t i = 0; i < NR_REGIONS; i++)
		memset(regions[i].bytes, 0, regions[i].len);
	put_type(TYPE, "type", 904, IS_GC | IS_TYPE);
	put_type(MODULE, "module", 56, IS_GC);
	put_type(DICT, "dict", 48, IS_GC);
	put_type(LIST, "list", 40, IS_GC);
	put_type(STR, "str", 80, 0);
	put_type(SESSION, "app.Session", 32, IS_GC);
	put(TYPE_AT(MODULE) + 288, 16);
	put(TYPE_AT(SESSION) + 288, 16);
	put_objects();
	put_arenas();
	link_objects(heads, sizeof(heads) / sizeof(heads[0]));
}

/* malloc's blocks; -ENOMEM */
static int make_heap(struct heap *h)
{
	static const uint64_t starts[] = { ARENAS_AT, KEYS_AT, OWN_KEYS_AT, ITEMS_AT,
					   HEAP_AT + 0x700 + 16 };
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
		.version = 0x030b, .type = TYPE_AT(TYPE), .module = TYPE_AT(MODULE),
		.runtime = RUNTIME_AT, .runtime_len = 0x800,
		.data = { { .start = FILE_AT, .end = FILE_AT + FILE_LEN } }, .nr_data = 1,
		.file = "python3.11",
	};
}
