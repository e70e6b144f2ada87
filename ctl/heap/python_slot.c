// SPDX-License-Identifier: GPL-2.0-or-later
/* How Python calls a place in a block: an attribute, an item of a list or dict. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap/python_int.h"

#define NAME_LEN	200
#define MOST_MEMBERS	512		/* of a type */
#define MEMBER_LEN	40
#define INTO		48		/* bytes of a block before an object, at most */
#define LOOKED_AT	4096		/* bytes of a block, for an attribute */

/* A number of one digit: less than 2^30. */
static bool small_number(struct python *py, const struct python_type *t, __u64 addr, __s64 *value)
{
	__u64 words[2], digits;
	bool negative;

	if (!t || !t->exact || strcmp(t->name, "int") ||
	    !python_read(py, addr + PY_SIZE, words, sizeof(words)))
		return false;
	*value = (__s64)words[0];
	if (!py->layout->ascii)			/* 2.7 */
		return true;
	/* since 3.12 the number of digits is above three bits, of which two are the sign */
	negative = py->layout->counts_32 ? (words[0] & 3) == 2 : (__s64)words[0] < 0;
	digits = py->layout->counts_32 ? words[0] >> 3 : negative ? -words[0] : words[0];
	*value = digits ? (__s64)(__u32)words[1] : 0;
	if (negative)
		*value = -*value;
	return digits <= 1;
}

/* ['name'], [42], [a key: tuple] */
static void put_key(struct python *py, __u64 key, char *text, size_t len)
{
	const struct python_type *t = python_type_of(py, key);
	char name[NAME_LEN];
	__s64 number;

	if (python_text(py, key, name, sizeof(name)))
		snprintf(text, len, "['%s']", name);
	else if (small_number(py, t, key, &number))
		snprintf(text, len, "[%lld]", (long long)number);
	else
		snprintf(text, len, "[a key: %s]", t ? t->name : "?");
}

/* Is it the dict of an instance, a class or a module? */
static bool is_owned(const struct python *py, __u32 dict)
{
	return (py->of[dict] & 3) == OF_OBJECT && py->owner[dict];
}

static bool put_name(struct python *py, __u64 key, char *text, size_t len)
{
	return python_text(py, key, text, len);
}

/* Keys and values of a dict: @at is where one of them stands. */
static enum python_slot of_dict(struct python *py, const struct python_dict *d, bool attribute,
				__u64 at, char *text, size_t len)
{
	struct python_entry e;
	__u64 i;

	if (d->values && at >= d->values && at - d->values < d->nr * WORD)
		i = (at - d->values) / WORD;
	else if (at >= d->entries && at - d->entries < d->nr * d->stride)
		i = (at - d->entries) / d->stride;
	else
		return PYTHON_NO_SLOT;
	if (!python_entry(py, d, i, &e) || !e.key)
		return PYTHON_NO_SLOT;
	if (at == e.key_at) {
		snprintf(text, len, "a key");
		return PYTHON_ITEM;
	}
	if (at != e.value_at)
		return PYTHON_NO_SLOT;
	if (attribute && put_name(py, e.key, text, len))
		return PYTHON_ATTRIBUTE;
	put_key(py, e.key, text, len);
	return PYTHON_ITEM;
}

/* Values that an instance has: their names are with its type. */
static enum python_slot of_values(struct python *py, const struct python_type *t, __u64 values,
				  __u64 at, char *text, size_t len)
{
	struct python_dict d;
	__u64 keys;

	if (!py->layout->cached || !python_word(py, t->addr + py->layout->cached, &keys) ||
	    !python_keys(py, keys, &d))
		return PYTHON_NO_SLOT;
	d.values = values;
	return of_dict(py, &d, true, at, text, len);
}

/* Where the values of an instance begin, of 3.11 and 3.12. */
static __u64 values_of(struct python *py, __u64 addr)
{
	__u64 word = 0;

	if (python_managed(py) == MANAGED_APART)
		python_word(py, addr - 4 * WORD, &word);
	else if (python_managed(py) == MANAGED_TAGGED && python_word(py, addr - 3 * WORD, &word))
		word = word & 1 ? word + 1 : 0;
	return word;
}

static enum python_slot of_part(struct python *py, __u32 block, __u64 at, char *text, size_t len)
{
	const __u32 owner = py->owner[block] - 1;
	__u64 addr, items;
	const struct python_type *t = python_block(py, owner, &addr);
	struct python_dict d;

	if (!t)
		return PYTHON_NO_SLOT;
	switch (py->of[block] >> OF_BITS) {
	case PYTHON_KEYS:
	case PYTHON_VALUES:
		if (t->rule == RULE_DICT && python_dict(py, addr, &d))
			return of_dict(py, &d, is_owned(py, owner), at, text, len);
		return of_values(py, t, values_of(py, addr), at, text, len);
	case PYTHON_ITEMS:
		if (!python_word(py, addr + 24, &items) || at < items)
			return PYTHON_NO_SLOT;
		snprintf(text, len, "[%llu]", (unsigned long long)(at - items) / WORD);
		return PYTHON_ITEM;
	case PYTHON_TABLE:
		snprintf(text, len, "an item");
		return PYTHON_ITEM;
	default:
		return PYTHON_NO_SLOT;
	}
}

/* __slots__, and what C says of its own. */
static bool of_member(struct python *py, const struct python_type *t, __u64 offset, char *text,
		      size_t len)
{
	__u64 member[MEMBER_LEN / WORD];
	size_t n;

	if (!t->members)
		return false;
	for (__u64 i = 0; i < MOST_MEMBERS; i++) {
		if (!python_read(py, t->members + i * MEMBER_LEN, member, sizeof(member)) ||
		    !member[0])
			return false;
		if (member[2] != offset)
			continue;
		for (n = 0; n + 1 < len && python_read(py, member[0] + n, text + n, 1) && text[n];
		     n++)
			;
		text[n] = '\0';
		return n > 0;
	}
	return false;
}

static bool of_members(struct python *py, const struct python_type *t, __u64 offset, char *text,
		       size_t len)
{
	__u32 id;

	for (int deep = 0; t && deep < 16; deep++) {
		if (of_member(py, t, offset, text, len))
			return true;
		id = t->base ? python_find_type(py, t->base) : IDS_NONE;
		t = id == IDS_NONE ? NULL : &py->types[id];
	}
	return false;
}

static bool of_frame(struct python *py, const struct python_type *t, __u64 addr, __u64 at,
		     char *text, size_t len)
{
	struct python_frame frame;

	return python_frame_of(py, t, addr, &frame) && at >= frame.values && at < frame.end &&
	       python_variable(py, frame.code, (__u32)((at - frame.values) / WORD), text, len);
}

static enum python_slot of_object(struct python *py, const struct python_type *t, __u64 addr,
				  __u64 at, char *text, size_t len)
{
	const __u64 offset = at - addr;
	struct python_dict d;

	if (at < addr + 2 * WORD)
		return PYTHON_NO_SLOT;
	if (t->rule == RULE_DICT && python_dict(py, addr, &d) && d.keys > addr &&
	    d.keys - addr < t->basic)
		return of_dict(py, &d, false, at, text, len);
	if (t->rule == RULE_TUPLE && offset >= py->layout->items && t->exact) {
		snprintf(text, len, "[%llu]",
			 (unsigned long long)(offset - py->layout->items) / WORD);
		return PYTHON_ITEM;
	}
	if (python_managed(py) == MANAGED_INLINE && t->flags & FLAG_INLINE &&
	    offset >= t->basic + WORD)
		return of_values(py, t, addr + t->basic + WORD, at, text, len);
	if (of_frame(py, t, addr, at, text, len))
		return PYTHON_VARIABLE;
	return of_members(py, t, offset, text, len) ? PYTHON_ATTRIBUTE : PYTHON_NO_SLOT;
}

enum python_slot python_slot(struct python *py, __u32 block, __u64 at, char *text, size_t len)
{
	const struct python_type *t;
	__u64 addr;

	if (!py->of || block >= py->g->nr_chunks)
		return PYTHON_NO_SLOT;
	if ((py->of[block] & 3) == OF_PART)
		return of_part(py, block, at, text, len);
	t = python_block(py, block, &addr);
	return t ? of_object(py, t, addr, at, text, len) : PYTHON_NO_SLOT;
}

/* Other blocks have no attributes in them. */
static bool has_attributes(const struct python *py, __u32 block)
{
	const __u32 of = py->of ? py->of[block] : 0;

	return (of & 3) == OF_OBJECT ||
	       ((of & 3) == OF_PART &&
		(of >> OF_BITS == PYTHON_KEYS || of >> OF_BITS == PYTHON_VALUES));
}

enum python_slot python_attribute(struct python *py, __u32 block, __u32 other, char *text,
				  size_t len)
{
	const __u64 to = graph_addr(py->g, other);
	const __u64 size = heap_usable(&py->g->chunks[block]);
	__u64 words[LOOKED_AT / WORD], addr;
	enum python_slot slot;

	if (!has_attributes(py, block) || size > LOOKED_AT)
		return PYTHON_NO_SLOT;
	addr = graph_addr(py->g, block);
	if (!graph_read(py->g, addr, words, size))
		return PYTHON_NO_SLOT;
	for (__u64 i = 0; i < size / WORD; i++) {
		if (words[i] - to > INTO || !graph_is_edge(py->g, block, addr + i * WORD))
			continue;
		slot = python_slot(py, block, addr + i * WORD, text, len);
		if (slot == PYTHON_ATTRIBUTE || slot == PYTHON_VARIABLE)
			return slot;
	}
	return PYTHON_NO_SLOT;
}
