/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HEAP_PYTHON_H
#define _HEAP_PYTHON_H

#include "heap/graph.h"
#include "heap/kinds.h"

/*
 * CPython's objects in the heap of a process, from memory contents alone: no code of it runs.
 * pymalloc's pools become blocks of the heap.  A block is an object if its type is one: a chain of
 * types that ends at PyType_Type, with a name and sizes that fit the block.  What does not check
 * is counted, and is no object.
 *
 * What differs between versions is in one table: python_layout.c.
 */
#define PYTHON_DATA	16
#define PYTHON_NAME	64
#define PYTHON_INTERPS	64

/* What the symbols of the program or library say. */
struct python_place {
	__u32 version;			/* 0x030b: 3.11 */
	__u64 type, module;		/* PyType_Type, PyModule_Type */
	__u64 runtime, runtime_len;	/* _PyRuntime, or 0 */
	__u64 generation0;		/* _PyGC_generation0, or 0 */
	struct heap_area data[PYTHON_DATA];	/* its writable data, and what begins as zeros */
	size_t nr_data;
	char file[PYTHON_NAME];		/* its name */
};

enum python_part {
	PYTHON_KEYS,
	PYTHON_VALUES,
	PYTHON_ITEMS,
	PYTHON_TABLE,
	PYTHON_DEQUE,
	PYTHON_BYTES,
	PYTHON_ARRAY,
	PYTHON_DATA_OF,
	PYTHON_TEXT,
	PYTHON_STATE,
	PYTHON_MODULE,
	NR_PYTHON_PARTS
};

struct python_range {
	__u64 start, end;
};

/* What pymalloc has. */
struct python_pools {
	bool found;
	__u64 arenas, arena_bytes;
	__u64 pools, empty;		/* that check; of these, without a block in use */
	__u64 blocks, bytes;		/* in use */
	__u64 free_bytes;		/* in pools: freed, or not used yet */
	__u64 empty_bytes;		/* of pools without a block in use, or not begun */
	__u64 bad, bad_bytes;		/* pools that do not check */
};

/* What gc tracks. */
struct python_gc {
	bool found;
	__u32 head;			/* bytes before each object that it may track */
	__u32 interpreters;
	__u64 at[PYTHON_INTERPS];	/* by interpreter: where the lists begin */
	__u32 nr_blocks;
	__u64 blocks[PYTHON_INTERPS];	/* that _PyRuntime leads to: interpreters, perhaps */
	__u64 tracked;
};

/* An attribute of a module: a variable of the program. */
struct python_attr {
	char *name;
	__u32 module;			/* number in .modules */
	__u32 value, key;		/* blocks, or GRAPH_NONE */
	__u64 at, key_at;		/* where their addresses stand */
	/*
	 * Several may have the same value, which each module has that imports it: the number of
	 * the one that stands for all, and how many these are.
	 */
	__u32 first, same;
};

struct python_module {
	char *name;
	__u64 dict;
};

/* Memory that is a root: frames, and what the interpreter keeps for its own work. */
struct python_root {
	__u64 start, end;
	bool frames;
};

/* Of a function: its variables, then its stack.  In order: no two have the same word. */
struct python_frame {
	__u64 start, values, end;
	__u64 code;			/* 0: not known */
};

struct python_layout;
struct python_type;

struct python {
	struct python_place place;
	const struct python_layout *layout;	/* NULL: see .why */
	char why[256];			/* objects are not known, since; "": they are */
	struct heap_memory m;
	struct python_pools pools;
	struct python_range *ranges;	/* of pools that check; sorted */
	size_t nr_ranges, room_ranges;
	struct python_gc gc;
	__u64 objects, object_bytes;	/* blocks that are objects */
	struct python_type *types;
	size_t room_types;
	struct ids type_ids;
	__u64 no_type[1024];		/* some addresses that are none */
	/* python_find_objects() */
	struct graph *g;
	__u32 *of, *owner;		/* by chunk */
	struct python_module *modules;
	size_t nr_modules, room_modules;
	struct python_attr *attrs;
	size_t nr_attrs, room_attrs;
	struct python_root *roots;
	size_t nr_roots, room_roots;
	struct python_frame *frames;	/* of functions that run */
	size_t nr_frames, room_frames;
	struct python_range *stacks;	/* memory for frames */
	size_t nr_stacks, room_stacks;
	__u64 looked;			/* entries of modules that were looked at */
};

/*
 * Is this version known, and built as it usually is?  Else .why says what it is.  @m is kept, and
 * its context must live until python_free() or python_use().
 */
void python_begin(struct python *py, const struct python_place *place,
		  const struct heap_memory *m);
void python_free(struct python *py);

/* python_pools.c: adds the pools' blocks to @h, which is sorted again.  -ENOMEM */
int python_find_pools(struct python *py, struct heap *h);
/* python_gc.c: what gc tracks, by its lists. */
void python_find_tracked(struct python *py, const struct heap *h);
/* python_parts.c: which blocks are objects, and parts of them.  -ENOMEM */
int python_find_objects(struct python *py, struct graph *g);

/* What a block is, as add_kind() of kinds.c takes it; false: no object. */
bool python_kind(const struct python *py, __u32 block, struct kind *kind);

enum python_slot { PYTHON_NO_SLOT, PYTHON_ATTRIBUTE, PYTHON_VARIABLE, PYTHON_ITEM };

/* python_slot.c: how Python calls the address that stands at @at in @block: `cache`, ['key']. */
enum python_slot python_slot(struct python *py, __u32 block, __u64 at, char *text, size_t len);
/* The attribute or variable of @block that is @other's address, or PYTHON_NO_SLOT. */
enum python_slot python_attribute(struct python *py, __u32 block, __u32 other, char *text,
				  size_t len);

/* ---- python_frames.c ---- */

/* Since 3.11: frames in memory of threads.  -ENOMEM */
int python_find_frames(struct python *py, const struct heap *h);

enum python_stack {
	PYTHON_ELSEWHERE,
	PYTHON_LIVE,			/* in *@frame */
	PYTHON_LEFT,			/* where frames were, and will be */
};

enum python_stack python_stack_at(const struct python *py, __u64 at,
				  const struct python_frame **frame);
/* The name of variable @i; false: it has none. */
bool python_variable(struct python *py, __u64 code, __u32 i, char *text, size_t len);
/* "worker", "app.py:41", both of at most @len bytes; the second may be "". */
bool python_function(struct python *py, __u64 code, char *name, char *source, size_t len);

#endif
