// SPDX-License-Identifier: GPL-2.0-or-later
/* Store which files a program maps at run time: one path per line, the latest first. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "unwind/int.h"

#define COMPANIONS	512

struct paths {
	const char *at[COMPANIONS];
	size_t nr;
};

static int name_of(int fd, char name[UNWIND_NAME_MAX])
{
	struct unwind_id id;
	int err = unwind_id_get(fd, &id);

	if (!err)
		unwind_id_name(&id, name);
	return err;
}

static void add(struct paths *p, const char *path)
{
	if (*path != '/' || strchr(path, '\n') || strlen(path) >= PATH_MAX)
		return;
	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(p->at[i], path))
			return;
	if (p->nr < COMPANIONS)
		p->at[p->nr++] = path;
}

/* Lines that have no end are of a file that was cut. */
static void add_lines(struct paths *p, char *text)
{
	char *end;

	for (; (end = strchr(text, '\n')); text = end + 1) {
		*end = '\0';
		add(p, text);
	}
}

int unwind_companions(int fd, int (*fn)(const char *path, void *ctx), void *ctx)
{
	struct paths *p = calloc(1, sizeof(*p));
	char name[UNWIND_NAME_MAX], *text = NULL;
	size_t len;
	int ret = 0;

	if (p && !name_of(fd, name) &&
	    !unwind_store_read(UNWIND_COMPANIONS, name, &text, &len))
		add_lines(p, text);
	for (size_t i = 0; p && !ret && i < p->nr; i++)
		ret = fn(p->at[i], ctx);
	free(text);
	free(p);
	return ret;
}

static void write_paths(const char *name, const struct paths *p)
{
	struct iovec *iov = calloc(2 * p->nr + 1, sizeof(*iov));

	if (!iov)
		return;
	for (size_t i = 0; i < p->nr; i++) {
		iov[2 * i].iov_base = (void *)(uintptr_t)p->at[i];
		iov[2 * i].iov_len = strlen(p->at[i]);
		iov[2 * i + 1].iov_base = (void *)(uintptr_t)"\n";
		iov[2 * i + 1].iov_len = 1;
	}
	unwind_store_write(UNWIND_COMPANIONS, name, iov, 2 * (int)p->nr);
	free(iov);
}

void unwind_remember(int fd, const char *const *paths, size_t nr)
{
	struct paths *p = calloc(1, sizeof(*p));
	char name[UNWIND_NAME_MAX], *text = NULL;
	size_t len;

	if (p && nr && !name_of(fd, name)) {
		for (size_t i = 0; i < nr; i++)
			add(p, paths[i]);
		if (!unwind_store_read(UNWIND_COMPANIONS, name, &text, &len))
			add_lines(p, text);
		write_paths(name, p);
	}
	free(text);
	free(p);
}
