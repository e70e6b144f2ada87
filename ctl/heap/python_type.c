// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Types of CPython: is there one at an address, how large are its objects, and its name, which
 * stands in its dict: so dicts, and the text of str objects, are read here, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "heap/python_int.h"

#define MOST_TYPES	40000
#define NAME_LEN	200
#define MOST_SIZE	(1ULL << 20)
#define DEEPEST		16		/* bases, metaclasses */
#define MOST_ENTRIES	(1ULL << 40)
#define SEARCHED	1024U	/* entries, for one key */
#define MOST_TEXT	4096

#define MA_KEYS		32
#define MA_VALUES	40
/* 2.7 */
#define MA_MASK		32
#define MA_TABLE	40

/* By the name of the type, or of one that it is made of.  A name with a dot is no Python class. */
static const struct {
	const char *name;
	enum python_rule rule;
	__u32 first, last;		/* versions; 0: all */
} rules[] = {
	{ "list", RULE_LIST }, { "dict", RULE_DICT }, { "set", RULE_SET },
	{ "frozenset", RULE_SET }, { "bytearray", RULE_BYTEARRAY }, { "tuple", RULE_TUPLE },
	{ "collections.deque", RULE_DEQUE, 0x0306, 0xffff }, { "array.array", RULE_ARRAY },
	{ "numpy.ndarray", RULE_NDARRAY }, { "type", RULE_TYPE }, { "module", RULE_MODULE },
	{ "str", RULE_TEXT, 0x0300, 0xffff }, { "str", RULE_BARE, 0, 0x02ff },
	{ "unicode", RULE_UNICODE, 0, 0x02ff }, { "bytes", RULE_BARE }, { "int", RULE_BARE },
	{ "long", RULE_BARE }, { "float", RULE_BARE }, { "complex", RULE_BARE },
	{ "frame", RULE_FRAME, 0, 0x030a }, { "frame", RULE_ENDED, 0x030b, 0xffff },
	{ "generator", RULE_GENERATOR, 0x030b, 0xffff },
	{ "coroutine", RULE_GENERATOR, 0x030b, 0xffff },
	{ "async_generator", RULE_GENERATOR, 0x030b, 0xffff },
	{ "generator", RULE_RESUMED, 0, 0x030a }, { "coroutine", RULE_RESUMED, 0, 0x030a },
	{ "async_generator", RULE_RESUMED, 0, 0x030a },
	{ "code", RULE_CODE, 0x030b, 0xffff },
	{ "weakref", RULE_WEAK }, { "weakref.ReferenceType", RULE_WEAK },
	{ "weakproxy", RULE_WEAK }, { "weakref.ProxyType", RULE_WEAK },
	{ "weakcallableproxy", RULE_WEAK }, { "weakref.CallableProxyType", RULE_WEAK },
};

static enum python_rule rule_of(const struct python *py, const char *name, __u64 flags)
{
	const __u32 v = py->place.version;

	if (flags & FLAG_HEAP && !strchr(name, '.'))
		return RULE_NONE;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (!strcmp(name, rules[i].name) &&
		    (!rules[i].last || (v >= rules[i].first && v <= rules[i].last)))
			return rules[i].rule;
	return RULE_NONE;
}

/* ---- keys ---- */

/* Before 3.11: sizes as they are. */
static bool compact_keys(struct python *py, struct python_dict *d)
{
	__u64 head[5], index;

	if (!python_read(py, d->keys, head, sizeof(head)))
		return false;
	d->nr = head[4];
	d->room = d->nr + (head[3] <= head[1] ? head[3] : 0);
	if (!head[1] || head[1] & (head[1] - 1) || head[1] > MOST_ENTRIES || d->nr > head[1])
		return false;
	index = head[1] <= 0xff ? 1 : head[1] <= 0xffff ? 2 : head[1] <= 0xffffffff ? 4 : 8;
	d->entries = d->keys + sizeof(head) + head[1] * index;
	return true;
}

static bool log_keys(struct python *py, struct python_dict *d)
{
	unsigned char head[32];

	if (!python_read(py, d->keys, head, sizeof(head)) || head[8] > 40 || head[9] > 43 ||
	    head[10] > 2)
		return false;
	memcpy(&d->nr, head + 24, sizeof(d->nr));
	memcpy(&d->room, head + 16, sizeof(d->room));
	if (d->nr > 1ULL << head[8] || d->room > 1ULL << head[8])
		return false;
	d->room += d->nr;
	d->entries = d->keys + sizeof(head) + (1ULL << head[9]);
	if (head[10]) {
		d->stride = 2 * WORD;
		d->key = 0;
		d->value = WORD;
	}
	return true;
}

bool python_keys(struct python *py, __u64 keys, struct python_dict *d)
{
	*d = (struct python_dict){ .keys = keys, .stride = 3 * WORD, .key = WORD,
				   .value = 2 * WORD };
	if (keys < PAGE || keys % WORD)
		return false;
	switch (py->layout->dict) {
	case DICT_COMPACT:
		return compact_keys(py, d);
	case DICT_LOG:
		return log_keys(py, d);
	default:
		return false;
	}
}

/* 2.7: a table, which is in the dict itself, if it is small. */
static bool open_dict(struct python *py, __u64 addr, struct python_dict *d)
{
	__u64 mask, table;

	if (!python_word(py, addr + MA_MASK, &mask) || !python_word(py, addr + MA_TABLE, &table) ||
	    mask & (mask + 1) || mask > MOST_ENTRIES || table < PAGE || table % WORD)
		return false;
	*d = (struct python_dict){ .keys = table, .entries = table, .nr = mask + 1,
				   .room = mask + 1, .stride = 3 * WORD, .key = WORD,
				   .value = 2 * WORD };
	return true;
}

bool python_dict(struct python *py, __u64 addr, struct python_dict *d)
{
	__u64 keys, values;

	if (py->layout->dict == DICT_OPEN)
		return open_dict(py, addr, d);
	if (!python_word(py, addr + MA_KEYS, &keys) ||
	    !python_word(py, addr + MA_VALUES, &values) || !python_keys(py, keys, d))
		return false;
	d->values = values;
	if (values && python_managed(py) == MANAGED_INLINE)
		d->values += WORD;
	return true;
}

bool python_entry(struct python *py, const struct python_dict *d, __u64 i,
		  struct python_entry *e)
{
	const __u64 at = d->entries + i * d->stride;

	e->key_at = at + d->key;
	e->value_at = d->values ? d->values + i * WORD : at + d->value;
	return python_word(py, e->key_at, &e->key) && python_word(py, e->value_at, &e->value);
}

__u64 python_dict_get(struct python *py, __u64 dict, const char *key)
{
	struct python_dict d;
	struct python_entry e;
	char text[64];

	if (dict < PAGE || !python_dict(py, dict, &d))
		return 0;
	for (__u64 i = 0; i < d.nr && i < SEARCHED && python_entry(py, &d, i, &e); i++)
		if (e.key && e.value && python_text(py, e.key, text, sizeof(text)) &&
		    !strcmp(text, key))
			return e.value;
	return 0;
}

/* ---- text ---- */

static size_t put_utf8(char *to, __u32 c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | (c >> 18 & 7));
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static bool wide_text(struct python *py, __u64 at, __u64 nr, __u32 size, char *text, size_t len)
{
	unsigned char bytes[MOST_TEXT];
	size_t used = 0;
	__u32 c;

	if (nr * size > sizeof(bytes) || !python_read(py, at, bytes, nr * size))
		return false;
	for (__u64 i = 0; i < nr; i++) {
		c = 0;
		memcpy(&c, bytes + i * size, size);
		if (used + 5 > len || !c || c > 0x10ffff)
			return false;
		used += put_utf8(text + used, c);
	}
	text[used] = '\0';
	return true;
}

/* 2.7: the bytes of a str. */
static bool old_text(struct python *py, __u64 addr, char *text, size_t len)
{
	__u64 nr;

	if (!python_word(py, addr + PY_SIZE, &nr) || nr >= len ||
	    !python_read(py, addr + 36, text, nr))
		return false;
	text[nr] = '\0';
	return strlen(text) == nr;
}

/* Subclasses of str have their text elsewhere: they are none here. */
bool python_text(struct python *py, __u64 addr, char *text, size_t len)
{
	const struct python_type *t = python_type_of(py, addr);
	__u64 nr, state;
	__u32 kind;

	if (!t || !t->exact)
		return false;
	if (t->rule == RULE_BARE && !py->layout->ascii && !strcmp(t->name, "str"))
		return old_text(py, addr, text, len);
	if (t->rule != RULE_TEXT || !py->layout->ascii)
		return false;
	if (!python_word(py, addr + 16, &nr) || !python_word(py, addr + 32, &state))
		return false;
	kind = TEXT_KIND(state);
	if ((kind != 1 && kind != 2 && kind != 4) || !(state & TEXT_COMPACT) || nr >= len)
		return false;
	addr += py->layout->ascii;
	if (!(state & TEXT_ASCII))		/* not ASCII: its UTF-8 may be kept, too */
		addr += py->layout->ascii == 48 ? 24 : 16;
	return wide_text(py, addr, nr, kind, text, len);
}

/* ---- names ---- */

static bool is_plain(const char *name)
{
	if (!*name)
		return false;
	for (; *name; name++)
		if ((unsigned char)*name < 0x20 || *name == 0x7f)
			return false;
	return true;
}

/* What C calls it; the rest of a page may be all that there is. */
static bool read_name(const struct python *py, __u64 addr, char name[NAME_LEN])
{
	size_t len = NAME_LEN - 1;

	if (len > PAGE - addr % PAGE && !python_read(py, addr, name, len))
		len = PAGE - addr % PAGE;
	memset(name, 0, NAME_LEN);
	return addr >= PAGE && python_read(py, addr, name, len) && strnlen(name, len) < len &&
	       is_plain(name);
}

/* "app.Outer.Inner": of a class of Python, or of a module in C that makes it at run time */
static char *full_name(struct python *py, const struct python_type *t, const char *plain)
{
	char module[NAME_LEN] = "", name[NAME_LEN], *text;
	__u64 dict, word;

	snprintf(name, sizeof(name), "%s", plain);
	if (!(t->flags & FLAG_HEAP))
		return strdup(name);
	if (py->layout->qualname && python_word(py, t->addr + py->layout->qualname, &word) &&
	    (!python_text(py, word, name, sizeof(name)) || !is_plain(name)))
		snprintf(name, sizeof(name), "%s", plain);
	if (python_word(py, t->addr + TP_DICT, &dict)) {
		word = python_dict_get(py, dict, "__module__");
		if (word && (!python_text(py, word, module, sizeof(module)) || !is_plain(module)))
			module[0] = '\0';
	}
	if (!module[0] || !strcmp(module, "builtins") || !strcmp(module, "__builtin__"))
		return strdup(name);
	return asprintf(&text, "%s.%s", module, name) < 0 ? NULL : text;
}

/* ---- is it one? ---- */

static bool same_type(const void *things, __u32 id, const void *key)
{
	return ((const struct python_type *)things)[id].addr == *(const __u64 *)key;
}

static __u32 known_type(const struct python *py, __u64 addr)
{
	return ids_find(&py->type_ids, ids_mix(0, addr), same_type, py->types, &addr);
}

/* The type of a type is a type, and so on, until PyType_Type, which is its own. */
static bool is_type(const struct python *py, __u64 addr)
{
	__u64 type, flags;

	for (unsigned int deep = 0; deep < DEEPEST; deep++) {
		if (addr == py->place.type || known_type(py, addr) != IDS_NONE)
			return true;
		if (addr % WORD || addr < PAGE || !python_word(py, addr + PY_TYPE, &type) ||
		    type % WORD || type < PAGE || !python_word(py, type + TP_FLAGS, &flags) ||
		    !(flags & FLAG_IS_TYPE) || !(flags & FLAG_READY))
			return false;
		addr = type;
	}
	return false;
}

static __u64 at(const unsigned char *bytes, size_t offset)
{
	__u64 v;

	memcpy(&v, bytes + offset, sizeof(v));
	return v;
}

static bool read_type(const struct python *py, __u64 addr, struct python_type *t,
		      char name[NAME_LEN])
{
	unsigned char bytes[TP_LEN];

	if (!python_read(py, addr, bytes, sizeof(bytes)) ||
	    !python_refs(py, at(bytes, PY_REFS)))
		return false;
	*t = (struct python_type){
		.addr = addr, .flags = at(bytes, TP_FLAGS), .basic = at(bytes, TP_BASIC),
		.item = at(bytes, TP_ITEM), .base = at(bytes, TP_BASE),
		.members = at(bytes, TP_MEMBERS), .dictoffset = (__s64)at(bytes, TP_DICTOFFSET),
	};
	if (t->basic < 2 * WORD || t->basic > MOST_SIZE || t->item > MOST_SIZE ||
	    !(t->flags & FLAG_READY))
		return false;
	return read_name(py, at(bytes, TP_NAME), name);
}

static void find_rule(struct python *py, struct python_type *t, const char *name)
{
	struct python_type base;
	char text[NAME_LEN];
	__u64 next = t->base;

	t->rule = rule_of(py, name, t->flags);
	t->exact = t->rule != RULE_NONE;
	for (int deep = 0; t->rule == RULE_NONE && next && deep < DEEPEST; deep++) {
		if (!read_type(py, next, &base, text))
			return;
		t->rule = rule_of(py, text, base.flags);
		next = base.base;
	}
}

__u32 python_lead(const struct python *py, const struct python_type *t)
{
	return (t->flags & FLAG_GC ? py->gc.head : 0) +
	       (t->flags & py->layout->managed ? 2 * (__u32)WORD : 0);
}

__u32 python_find_type(struct python *py, __u64 addr)
{
	__u64 *none = &py->no_type[(addr >> 4 ^ addr >> 14) % 1024];
	__u32 id = known_type(py, addr);
	struct python_type t, *more;
	char name[NAME_LEN];

	if (id != IDS_NONE)
		return id;
	if (addr % WORD || addr < PAGE || *none == addr || py->type_ids.nr >= MOST_TYPES)
		return IDS_NONE;
	if (!is_type(py, addr) || !read_type(py, addr, &t, name)) {
		*none = addr;
		return IDS_NONE;
	}
	find_rule(py, &t, name);
	t.lead = python_lead(py, &t);
	t.name = full_name(py, &t, name);
	more = ids_grow(py->types, py->type_ids.nr, &py->room_types, sizeof(*more));
	if (more)
		py->types = more;
	id = more && t.name ? ids_add(&py->type_ids, ids_mix(0, addr)) : IDS_NONE;
	if (id == IDS_NONE)
		free(t.name);
	else
		py->types[id] = t;
	return id;
}

const struct python_type *python_type_of(struct python *py, __u64 addr)
{
	__u64 words[2];
	__u32 id;

	if (addr % WORD || addr < PAGE || !python_read(py, addr, words, sizeof(words)) ||
	    !python_refs(py, words[0]))
		return NULL;
	id = python_find_type(py, words[1]);
	return id == IDS_NONE ? NULL : &py->types[id];
}
