// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find CPython's interpreter in a process: the program itself, or a libpython.  Symbols that each
 * build exports say where its types are.  Its version is a constant of it, since 3.11; before, it
 * is known by the functions that it has.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "leaks/heap.h"
#include "leaks/held_int.h"

/* The newest first: what each version was the first to export. */
static const struct {
	__u32 version;
	enum elfsym_object_kind kind;
	const char *symbol;
} versions[] = {
	{ 0x030a, ELFSYM_FUNCTION, "PyModule_AddObjectRef" },
	{ 0x0309, ELFSYM_FUNCTION, "PyObject_GC_IsTracked" },
	{ 0x0308, ELFSYM_FUNCTION, "Py_RunMain" },
	{ 0x0307, ELFSYM_DATA, "_PyRuntime" },
	{ 0x0306, ELFSYM_FUNCTION, "PyOS_FSPath" },
	{ 0x0207, ELFSYM_FUNCTION, "PyMemoryView_FromBuffer" },
};

/* 3.3 to 3.5 have what 2.7 has, and no PyString_Type. */
static __u32 version_before(const struct elfsym_objects *o)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (elfsym_objects_named(o, versions[i].kind, versions[i].symbol) &&
		    (versions[i].version >= 0x0300 ||
		     elfsym_objects_named(o, ELFSYM_DATA, "PyString_Type")))
			return versions[i].version;
	return 0;
}

static size_t read_quietly(void *ctx, __u64 addr, void *buf, size_t len)
{
	struct memory *m = ctx;
	const bool gone = m->gone;
	const size_t got = memory_read(m, addr, buf, len);

	/* (that there is something is a guess) */
	m->gone = gone;
	return got;
}

static __u64 address_of(const struct object *o, enum elfsym_object_kind kind, const char *name)
{
	const struct elfsym_object *s = elfsym_objects_named(o->symbols, kind, name);

	return s ? s->vaddr - o->first + o->base : 0;
}

/* Its writable data, and the mapping behind them, which begins as zeros. */
static void find_data(struct python_place *p, const struct layout *l, const struct object *o)
{
	bool follows = false;

	for (size_t i = 0; i < l->nr && p->nr_data < PYTHON_DATA; i++) {
		const struct area *a = &l->areas[i];
		const bool is_its = a->is_file && a->inode == o->file->inode &&
				    a->dev_major == o->file->dev_major &&
				    a->dev_minor == o->file->dev_minor;
		const bool behind = follows && !a->is_file && !a->is_heap && !a->is_stack &&
				    a[-1].end == a->start;

		follows = is_its || behind;
		if (follows && a->readable && a->writable)
			p->data[p->nr_data++] = (struct heap_area){ .start = a->start,
								    .end = a->end };
	}
}

static bool find_place(struct python_place *p, const struct layout *l, struct memory *m,
		       const struct object *o)
{
	const struct elfsym_object *runtime;
	__u64 word, at;

	*p = (struct python_place){ .type = address_of(o, ELFSYM_DATA, "PyType_Type"),
				    .module = address_of(o, ELFSYM_DATA, "PyModule_Type"),
				    .generation0 = address_of(o, ELFSYM_DATA,
							      "_PyGC_generation0") };
	if (!p->type || !p->module)
		return false;
	snprintf(p->file, sizeof(p->file), "%s", object_name(o));
	runtime = elfsym_objects_named(o->symbols, ELFSYM_DATA, "_PyRuntime");
	if (runtime) {
		p->runtime = runtime->vaddr - o->first + o->base;
		p->runtime_len = runtime->size;
	}
	at = address_of(o, ELFSYM_DATA, "Py_Version");
	p->version = version_before(o->symbols);
	if (at && read_quietly(m, at, &word, sizeof(word)) == sizeof(word))
		p->version = (__u32)(word >> 16 & 0xffff);
	find_data(p, l, o);
	return true;
}

static bool may_be(const struct object *o)
{
	return o->is_program || !strncmp(object_name(o), "libpython", 9);
}

static int look_at(struct python **out, const struct python_place *p, struct heap *h,
		   struct memory *m)
{
	const struct heap_memory memory = { .read = read_quietly, .ctx = m };
	struct python *py = malloc(sizeof(*py));
	int err;

	if (!py)
		return -ENOMEM;
	python_begin(py, p, &memory);
	err = python_find_pools(py, h);
	if (err) {
		python_look_free(py);
		return err;
	}
	python_find_tracked(py, h);
	*out = py;
	return 0;
}

int python_look(struct python **py, struct heap *h, const struct layout *l, struct memory *m)
{
	struct objects objects;
	struct python_place p;
	struct object *o;
	__u64 vaddr;
	int err = objects_read(&objects, m->image, l);

	*py = NULL;
	if (err)
		return err;
	for (size_t i = 0; !err && !*py && i < objects.nr; i++) {
		if (!may_be(&objects.at[i]))
			continue;
		o = objects_find(&objects, objects.at[i].base, &vaddr);
		if (o && o->symbols && find_place(&p, l, m, o))
			err = look_at(py, &p, h, m);
	}
	objects_free(&objects);
	return err;
}

void python_look_free(struct python *py)
{
	if (py)
		python_free(py);
	free(py);
}

/* The first of its ranges that ends behind @addr. */
static size_t range_behind(const struct python *py, __u64 addr)
{
	size_t low = 0, high = py->nr_ranges;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (py->ranges[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int python_cut(const struct python *py, const struct ranges *roots, struct ranges *cut)
{
	int err = 0;

	for (size_t i = 0; !err && i < roots->nr; i++) {
		const struct reach_range *r = &roots->at[i];
		size_t n = range_behind(py, r->start);
		__u64 from = r->start;

		for (; !err && n < py->nr_ranges && py->ranges[n].start < r->end; n++) {
			if (py->ranges[n].start > from)
				err = ranges_add(cut, from, py->ranges[n].start, r->starts_only);
			from = py->ranges[n].end;
		}
		if (!err && from < r->end)
			err = ranges_add(cut, from, r->end, r->starts_only);
	}
	return err;
}
