/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_HEAP_H
#define _RENDER_HEAP_H

#include <stdio.h>

#include "base/json.h"
#include "leaks/core.h"
#include "leaks/heap.h"
#include "render/held.h"

struct heap_page {
	const struct heap_look *look;
	const char *comm;
	const char *file;		/* that it was read from, or NULL */
	const char *other;		/* another allocator that is there, too, or NULL */
	__u64 there, mapped;		/* then: bytes of no file, resident and in all; or 0 */
	size_t top;			/* rows of each table; 0: all */
	struct held_show show;		/* of what blocks are, and what holds them */
	const char *path;		/* that was asked for, or NULL */
	bool line;			/* JSON: all on one, of several */
	bool retained;			/* holders, instead of sizes and lost blocks */
	/* of several looks: what there was at the last one, and what there is now; or NULL */
	const struct held_rows *was, *now;
};

void render_heap(const struct heap_page *p, FILE *out);
/* heap_core.c: what is read from a file, and what of it is missing. */
void render_core_footer(const struct core *c, size_t threads, FILE *out);
void json_core(struct json *j, const struct core *c, const char *file);
/* heap_python.c: the interpreter of Python, if there is one. */
void render_heap_python(const struct heap_look *l, FILE *out);
void json_heap_python(struct json *j, const struct heap_look *l);
void render_heap_json(const struct heap_page *p, FILE *out);

#endif
