// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the dynamic linker's cache, sorted: a program with 200 libraries causes many look-ups. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "target/maps.h"
#include "target/needed.h"

#define LDCACHE		"/etc/ld.so.cache"

static int cmp_libs(const void *a, const void *b)
{
	const struct needed_lib *x = a, *y = b;
	const int c = strcmp(base_name(x->path), base_name(y->path));

	return c ? c : (x->order > y->order) - (x->order < y->order);
}

static bool count_path(const char *path, void *ctx)
{
	struct needed_libs *l = ctx;

	l->nr += path[0] == '/';
	return false;
}

static bool add_path(const char *path, void *ctx)
{
	struct needed_libs *l = ctx;

	if (path[0] == '/') {
		l->libs[l->nr] = (struct needed_lib){ path, l->nr };
		l->nr++;
	}
	return false;
}

void needed_libs_load(struct needed_libs *l)
{
	size_t len;

	memset(l, 0, sizeof(*l));
	if (maps_slurp(AT_FDCWD, LDCACHE, &l->bytes, &len))
		return;
	maps_ldcache(l->bytes, len, count_path, l);
	l->libs = calloc(l->nr + 1, sizeof(*l->libs));
	l->nr = 0;
	if (!l->libs)
		return;
	maps_ldcache(l->bytes, len, add_path, l);
	qsort(l->libs, l->nr, sizeof(*l->libs), cmp_libs);
}

size_t needed_libs_find(const struct needed_libs *l, const char *name,
			const struct needed_lib **first)
{
	size_t lo = 0, hi = l->nr, nr = 0;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (strcmp(base_name(l->libs[mid].path), name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = &l->libs[lo];
	while (lo + nr < l->nr && !strcmp(base_name(l->libs[lo + nr].path), name))
		nr++;
	return nr;
}

void needed_libs_free(struct needed_libs *l)
{
	free(l->libs);
	free(l->bytes);
	memset(l, 0, sizeof(*l));
}
