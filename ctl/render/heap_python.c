// SPDX-License-Identifier: GPL-2.0-or-later
/* Print what is known of the Python interpreter of a process. */
#include <string.h>

#include "base/text.h"
#include "render/heap.h"

static void put_version(const struct python *py, FILE *out)
{
	fprintf(out, "CPython %u.%u (", py->place.version >> 8, py->place.version & 0xff);
	text_put(out, py->place.file, NULL);
	fputc(')', out);
}

static void put_pools(const struct python_pools *p, FILE *out)
{
	char arenas[TEXT_LEN], bytes[TEXT_LEN], used[TEXT_LEN], blocks[TEXT_LEN], pools[TEXT_LEN];
	char unused[TEXT_LEN], empty[TEXT_LEN];

	if (!p->found) {
		fputs("pymalloc's arenas were not found: it is not used, or not read\n", out);
		return;
	}
	fprintf(out, "pymalloc: %s arena%s, %s; %s in use in %s block%s of %s pool%s, %s free in "
		     "them; %s in no pool that has blocks\n",
		text_count(arenas, p->arenas), text_s(p->arenas),
		text_bytes(bytes, (__s64)p->arena_bytes, false),
		text_bytes(used, (__s64)p->bytes, false), text_count(blocks, p->blocks),
		text_s(p->blocks), text_count(pools, p->pools - p->empty),
		text_s(p->pools - p->empty), text_bytes(unused, (__s64)p->free_bytes, false),
		text_bytes(empty, (__s64)p->empty_bytes, false));
	if (p->bad)
		fprintf(out, "%s pool%s of pymalloc, %s, do%s not check: what they have is not "
			     "known\n", text_count(pools, p->bad), text_s(p->bad),
			text_bytes(bytes, (__s64)p->bad_bytes, false), p->bad == 1 ? "es" : "");
}

static void put_tracked(const struct python_gc *gc, FILE *out)
{
	char nr[TEXT_LEN], interpreters[TEXT_LEN];

	if (!gc->found)
		fputs("the lists of gc were not found, or changed: it is not known how many "
		      "objects it tracks\n", out);
	else if (gc->interpreters > 1)
		fprintf(out, "gc tracks %s objects, of %s interpreters\n",
			text_count(nr, gc->tracked),
			text_count(interpreters, gc->interpreters));
	else
		fprintf(out, "gc tracks %s object%s\n", text_count(nr, gc->tracked),
			text_s(gc->tracked));
}

/* Since 3.12 each interpreter may have pools of its own. */
static void put_others(const struct python *py, FILE *out)
{
	if (py->gc.interpreters > 1 && py->place.version >= 0x030c)
		fputs("pools of other interpreters than the main one are not walked\n", out);
}

void render_heap_python(const struct heap_look *l, FILE *out)
{
	const struct python *py = l->python;
	char nr[TEXT_LEN], bytes[TEXT_LEN];

	if (!py)
		return;
	fputc('\n', out);
	put_version(py, out);
	if (py->why[0]) {
		fprintf(out, ": its objects are not known: %s\n", py->why);
		return;
	}
	if (l->held)
		fprintf(out, ": %s object%s, %s\n", text_count(nr, py->objects),
			text_s(py->objects), text_bytes(bytes, (__s64)py->object_bytes, false));
	else
		fputc('\n', out);
	put_pools(&py->pools, out);
	put_tracked(&py->gc, out);
	put_others(py, out);
}

void json_heap_python(struct json *j, const struct heap_look *l)
{
	const struct python *py = l->python;
	char version[32];

	if (!py)
		return;
	json_open(j, "python", '{');
	snprintf(version, sizeof(version), "%u.%u", py->place.version >> 8,
		 py->place.version & 0xff);
	json_str(j, "version", version);
	json_str(j, "file", py->place.file);
	if (py->why[0]) {
		json_str(j, "reason", py->why);
		json_close(j, '}');
		return;
	}
	if (l->held) {
		json_u64(j, "objects", py->objects);
		json_u64(j, "object_bytes", py->object_bytes);
	}
	json_u64(j, "interpreters", py->gc.interpreters);
	if (py->gc.found)
		json_u64(j, "tracked_objects", py->gc.tracked);
	json_bool(j, "pools_found", py->pools.found);
	json_u64(j, "arenas", py->pools.arenas);
	json_u64(j, "arena_bytes", py->pools.arena_bytes);
	json_u64(j, "pools", py->pools.pools);
	json_u64(j, "empty_pools", py->pools.empty);
	json_u64(j, "pool_blocks", py->pools.blocks);
	json_u64(j, "pool_bytes", py->pools.bytes);
	json_u64(j, "free_bytes", py->pools.free_bytes);
	json_u64(j, "empty_bytes", py->pools.empty_bytes);
	json_u64(j, "bad_pools", py->pools.bad);
	json_u64(j, "bad_bytes", py->pools.bad_bytes);
	json_close(j, '}');
}
