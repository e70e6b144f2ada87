// SPDX-License-Identifier: GPL-2.0-or-later
/* What differs between versions of CPython, and how memory is read; see python.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap/python_int.h"

#define COOKIE		"xdebugpy"	/* begins _Py_DebugOffsets */
#define BEFORE_GC	(FLAG_MANAGED | FLAG_WEAKREF)	/* two words */

/* Before 3.8: -2; since 3.4 above a bit, which is 1 if the object was finalized. */
#define UNTRACKED	(~0ULL - 1)
#define UNTRACKED_BIT	(UNTRACKED << 1)

/* From the headers of each version.  A new version is a row; docs/heap.md says which were run. */
static const struct python_layout layouts[] = {
	{ .first = 0x0207, .last = 0x0207, .heads = { 32, 24 },
	  .untracked = UNTRACKED, .dict = DICT_OPEN, .items = 24 },
	{ .first = 0x0306, .last = 0x0307, .heads = { 24, 32, 16 },
	  .untracked = UNTRACKED_BIT, .dict = DICT_COMPACT,
	  .name = 832, .qualname = 848, .cached = 856, .ascii = 48, .items = 24 },
	{ .first = 0x0308, .last = 0x0308, .heads = { 16 }, .dict = DICT_COMPACT, .name = 848,
	  .qualname = 864, .cached = 872, .ascii = 48, .items = 24 },
	{ .first = 0x0309, .last = 0x0309, .heads = { 16 }, .dict = DICT_COMPACT, .name = 840,
	  .qualname = 856, .cached = 864, .ascii = 48, .items = 24 },
	{ .first = 0x030a, .last = 0x030a, .heads = { 16 }, .dict = DICT_COMPACT, .name = 848,
	  .qualname = 864, .cached = 872, .ascii = 48, .items = 24 },
	{ .first = 0x030b, .last = 0x030b, .heads = { 16 }, .dict = DICT_LOG, .name = 848,
	  .qualname = 864, .cached = 872, .ascii = 48, .managed = FLAG_MANAGED,
	  .items = 24 },
	{ .first = 0x030c, .last = 0x030c, .heads = { 16 }, .dict = DICT_LOG, .name = 856,
	  .qualname = 872, .cached = 880, .ascii = 40, .managed = BEFORE_GC,
	  .items = 24, .counts_32 = true },
	{ .first = 0x030d, .last = 0x030d, .heads = { 16 }, .dict = DICT_LOG, .name = 856,
	  .qualname = 872, .cached = 880, .ascii = 40, .managed = BEFORE_GC,
	  .items = 24, .counts_32 = true, .offsets = true },
	{ .first = 0x030e, .last = 0x030e, .heads = { 16 }, .dict = DICT_LOG, .name = 856,
	  .qualname = 872, .cached = 880, .ascii = 40, .managed = BEFORE_GC,
	  .items = 32, .counts_32 = true, .offsets = true },
};

const struct python_layout *python_layout_of(__u32 version)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (version >= layouts[i].first && version <= layouts[i].last)
			return &layouts[i];
	return NULL;
}

enum python_managed python_managed(const struct python *py)
{
	const __u32 v = py->place.version;

	return v >= 0x030d ? MANAGED_INLINE : v == 0x030c ? MANAGED_TAGGED :
	       v == 0x030b ? MANAGED_APART : MANAGED_NONE;
}

/* ---- memory ---- */

bool python_read(const struct python *py, __u64 addr, void *to, size_t len)
{
	size_t got = 0, n;

	if (addr + len < addr)
		return false;
	while (got < len) {
		n = py->m.read(py->m.ctx, addr + got, (char *)to + got, len - got);
		/* (what follows may be in another mapping, or not there) */
		if (!n && len - got > PAGE - (addr + got) % PAGE)
			n = py->m.read(py->m.ctx, addr + got, (char *)to + got,
				       PAGE - (addr + got) % PAGE);
		if (!n)
			return false;
		got += n;
	}
	return true;
}

bool python_word(const struct python *py, __u64 addr, __u64 *to)
{
	return python_read(py, addr, to, sizeof(*to));
}

/* Is it the first word of an object in use? */
bool python_refs(const struct python *py, __u64 word)
{
	/* (the upper half is 0; since 3.14 it has some flags in the upper bits) */
	return py->layout->counts_32 ? (__u32)word && !(word >> 32 & 0xf000ffff) :
	       word && word < 1ULL << 48;
}

/* ---- is it a build that is known? ---- */

static void say_version(struct python *py, const char *what)
{
	snprintf(py->why, sizeof(py->why), "%s", what);
	py->layout = NULL;
}

/* An object begins with two words; in other builds there is more. */
static void check_build(struct python *py)
{
	__u64 words[4], offsets[3];

	if (py->layout->offsets &&
	    (!python_read(py, py->place.runtime, offsets, sizeof(offsets)) ||
	     memcmp(offsets, COOKIE, sizeof(offsets[0])) || offsets[1] >> 16 != py->place.version))
		say_version(py, "_PyRuntime does not begin as this version's does");
	else if (py->layout->offsets && offsets[2])
		say_version(py, "it is a free-threaded build, whose objects are not read");
	else if (!python_read(py, py->place.type, words, sizeof(words)))
		say_version(py, "PyType_Type cannot be read");
	else if (words[1] == py->place.type)
		return;
	else if (words[3] == py->place.type)
		say_version(py, "it is a debug build (Py_TRACE_REFS), whose objects are not read");
	else
		say_version(py, "PyType_Type is no type as this version has it");
}

void python_begin(struct python *py, const struct python_place *place,
		  const struct heap_memory *m)
{
	memset(py, 0, sizeof(*py));
	py->place = *place;
	py->m = *m;
	py->layout = python_layout_of(place->version);
	if (!py->layout) {
		snprintf(py->why, sizeof(py->why), "objects of this version are not read");
		return;
	}
	py->gc.head = py->layout->heads[0];
	check_build(py);
}

void python_free(struct python *py)
{
	for (size_t i = 0; i < py->type_ids.nr; i++)
		free(py->types[i].name);
	for (size_t i = 0; i < py->nr_modules; i++)
		free(py->modules[i].name);
	for (size_t i = 0; i < py->nr_attrs; i++)
		free(py->attrs[i].name);
	free(py->types);
	ids_free(&py->type_ids);
	free(py->ranges);
	free(py->of);
	free(py->owner);
	free(py->modules);
	free(py->attrs);
	free(py->roots);
	free(py->frames);
	free(py->stacks);
	memset(py, 0, sizeof(*py));
}
