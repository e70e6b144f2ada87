/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HEAP_PYTHON_INT_H
#define _HEAP_PYTHON_INT_H

/*
 *	python_layout.c		what differs between versions; memory
 *	python_pools.c		pymalloc's arenas and pools
 *	python_gc.c		the lists of gc
 *	python_type.c		types and their names, dicts, text of str objects
 *	python_objects.c	which blocks are objects
 *	python_parts.c		what belongs to them, and what is the interpreter's
 *	python_modules.c	attributes of modules
 *	python_frames.c		frames of functions, and their variables
 *	python_slot.c		names of attributes and items
 */
#include "heap/int.h"
#include "heap/python.h"

/* Offsets in bytes, from the beginning of an object on; all else is the same in all versions. */
struct python_layout {
	__u32 first, last;		/* versions */
	__u32 heads[3];			/* bytes of gc's head: what there may be; 0: no more */
	__u64 untracked;		/* third word of gc's head, if it tracks the object not */
	__u32 dict;			/* enum python_dict_form */
	__u32 name, qualname, cached;	/* in types that are made at run time; 0: none */
	__u32 ascii;			/* bytes of a str before its text, if it is ASCII; 0: 2.7 */
	__u32 managed;			/* flags of a type that has two words before gc's head */
	__u32 items;			/* of a tuple */
	bool counts_32;			/* the lower half of the first word counts references */
	bool offsets;			/* _PyRuntime begins with _Py_DebugOffsets */
};

enum python_dict_form {
	DICT_OPEN,			/* 2.7: one table */
	DICT_COMPACT,			/* 3.6: indices, then hash, key, value */
	DICT_LOG,			/* 3.11: sizes as powers of two; no hash, if all are str */
};

/* What stands before an instance, or in it, since 3.11. */
enum python_managed {
	MANAGED_NONE,
	MANAGED_APART,			/* 3.11: values at -32, dict at -24 */
	MANAGED_TAGGED,			/* 3.12: one of them at -24 */
	MANAGED_INLINE,			/* 3.13: dict at -24, values behind the object */
};

enum python_managed python_managed(const struct python *py);

#define PY_REFS		0
#define PY_TYPE		8
#define PY_SIZE		16
/* PyTypeObject */
#define TP_NAME		24
#define TP_BASIC	32
#define TP_ITEM		40
#define TP_FLAGS	168
#define TP_MEMBERS	240
#define TP_BASE		256
#define TP_DICT		264
#define TP_DICTOFFSET	288
#define TP_LEN		296

#define FLAG_INLINE	(1ULL << 2)
#define FLAG_WEAKREF	(1ULL << 3)
#define FLAG_MANAGED	(1ULL << 4)
#define FLAG_HEAP	(1ULL << 9)
#define FLAG_READY	(1ULL << 12)
#define FLAG_GC		(1ULL << 14)
#define FLAG_IS_TYPE	(1ULL << 31)

/* What is known of a type's objects. */
enum python_rule {
	RULE_NONE, RULE_LIST, RULE_DICT, RULE_SET, RULE_BYTEARRAY, RULE_DEQUE, RULE_ARRAY,
	RULE_NDARRAY, RULE_TEXT, RULE_BARE, RULE_WEAK, RULE_TYPE, RULE_MODULE, RULE_TUPLE,
	RULE_UNICODE, RULE_FRAME, RULE_GENERATOR, RULE_RESUMED, RULE_ENDED,
	RULE_CODE,
};

struct python_type {
	__u64 addr;
	__u64 flags, basic, item, base, members;
	__s64 dictoffset;
	__u32 lead;			/* bytes of a block before an object */
	enum python_rule rule;
	bool exact;			/* the rule is of this type, not of a base of it */
	char *name;
};

/* ---- python_layout.c ---- */

const struct python_layout *python_layout_of(__u32 version);
/* All of it, or false. */
bool python_read(const struct python *py, __u64 addr, void *to, size_t len);
bool python_word(const struct python *py, __u64 addr, __u64 *to);
bool python_refs(const struct python *py, __u64 word);

/* ---- python_type.c ---- */

/* The number of the type at @addr, or IDS_NONE. */
__u32 python_find_type(struct python *py, __u64 addr);
/* Bytes of a block before an object of this type. */
__u32 python_lead(const struct python *py, const struct python_type *t);
/* Of the object at @addr, which is no block, perhaps; or NULL. */
const struct python_type *python_type_of(struct python *py, __u64 addr);

/* dicts, and text of str objects */

struct python_dict {
	__u64 keys;			/* where they are: a block, or static */
	__u64 values;			/* apart, or 0 */
	__u64 entries;
	__u64 nr, room;			/* entries; room for so many in all */
	__u32 stride, key, value;	/* in an entry */
};

/* False: it does not check. */
bool python_dict(struct python *py, __u64 addr, struct python_dict *d);
bool python_keys(struct python *py, __u64 keys, struct python_dict *d);
struct python_entry {
	__u64 key, value, key_at, value_at;
};

bool python_entry(struct python *py, const struct python_dict *d, __u64 i,
		  struct python_entry *e);
/* The text of a str object, as UTF-8; false: it is none, or longer than @len. */
bool python_text(struct python *py, __u64 addr, char *text, size_t len);
/* The value of a key of a dict; 0: none. */
__u64 python_dict_get(struct python *py, __u64 dict, const char *key);

/* ---- python_objects.c ---- */

/* Of the word of a str with its state: bytes of a character; the rest by bit. */
#define TEXT_KIND(state)	((__u32)((state) >> 2 & 7))
#define TEXT_COMPACT	(1ULL << 5)	/* the text follows */
#define TEXT_ASCII	(1ULL << 6)

#define OF_OBJECT	1U
#define OF_FREED	2U
#define OF_PART		3U
#define OF_BITS		2

/* Which blocks are objects.  -ENOMEM */
int python_see_blocks(struct python *py, struct graph *g);
/* Its type, if the block is an object in use; and where it begins. */
const struct python_type *python_block(const struct python *py, __u32 block, __u64 *addr);

/* ---- python_add.c ---- */

/*
 * The block with @addr in it, as a part of @owner, if it is nothing else yet; or GRAPH_NONE.
 * Nobody has the begin of an object.
 */
__u32 python_part_at(struct python *py, __u32 owner, __u64 addr, enum python_part part);
int python_add_root(struct python *py, __u64 start, __u64 end, bool frames);

/* ---- python_modules.c ---- */

/* -ENOMEM */
int python_find_modules(struct python *py);

/* ---- python_frames.c ---- */

#define PYTHON_LEAST_STATE	128U	/* bytes of a thread's state */
#define PYTHON_MOST_INTERP	(1U << 20)

/* The frame that an object is, or has in it, as generators have. */
bool python_frame_of(struct python *py, const struct python_type *t, __u64 addr,
		     struct python_frame *frame);
/* It does not run: words from *@top on are none of it. */
bool python_frame_rests(struct python *py, const struct python_type *t, __u64 addr,
			const struct python_frame *frame, __u64 *top);
/* Of a frame that is an object: where numbers begin, which are up to its variables; 0: nowhere. */
__u32 python_frame_numbers(const struct python *py);
int python_add_frame(struct python *py, const struct python_frame *frame);
void python_sort_frames(struct python *py);

#endif
