// SPDX-License-Identifier: GPL-2.0-or-later
/* Types of CPython: is there one at an address, how large are its objects, and its name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "heap/python_int.h"

#define MOST_TYPES	40000
#define NAME_LEN	200
#define MOST_SIZE	(1ULL << 20)
#define DEEPEST		16		/* bases, metaclasses */

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
	{ "frame", RULE_FRAME, 0, 0x030a },
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
