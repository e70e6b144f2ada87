// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Name a program by the symbolic link that started it (python3, awk).  Its mapping, and therefore
 * the module, has the name of the link's target.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "watch/watch.h"

/* The link's absolute path, its directory without links. */
static char *absolute(const char *path)
{
	char dir[PATH_MAX], *whole = NULL, *out = NULL;
	const char *base = base_name(path);

	if ((size_t)(base - path) >= sizeof(dir))
		return NULL;
	memcpy(dir, path, (size_t)(base - path));
	strcpy(dir + (base - path), base == path ? "." : "");
	whole = realpath(dir, NULL);
	if (whole && (out = malloc(strlen(whole) + strlen(base) + 2)))
		sprintf(out, "%s%s%s", whole, strcmp(whole, "/") ? "/" : "", base);
	free(whole);
	return out;
}

void watch_name_begin(struct watch *w, const struct targets *targets)
{
	const char *program = targets_program(targets);
	char *real = program ? realpath(program, NULL) : NULL;

	if (!real || !strcmp(base_name(real), base_name(program))) {
		free(real);
		return;
	}
	w->real_path = real;
	w->started_path = absolute(program);
}

void watch_name(const struct watch *w, struct snap *s)
{
	for (size_t i = 0; w->started_path && i < s->nr_files; i++)
		if (!strcmp(s->files[i].path, w->real_path))
			s->files[i].path = w->started_path;
}

void watch_name_end(struct watch *w)
{
	free(w->real_path);
	free(w->started_path);
	w->real_path = w->started_path = NULL;
}
