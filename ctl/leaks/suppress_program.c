// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Suppressions that a program brings: the text that its __lsan_default_suppressions() returns, read
 * from the file.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "elf/symbols.h"
#include "leaks/run.h"

#define FUNCTION	"__lsan_default_suppressions"

static void say_unread(struct leaks_run *r, const char *path, const char *why)
{
	if (!r->known_why[0])
		snprintf(r->known_why, sizeof(r->known_why), "suppressions of %.80s ("
			 FUNCTION ") are not used: %.200s", base_name(path), why);
}

/* False: there is none, or it cannot be read. */
static bool find_text(struct leaks_run *r, const char *path, int fd, char **text)
{
	struct elfsym_kind kind;
	struct elfsym *e;
	int err = elfsym_open(fd, &e);

	if (err)
		return false;
	elfsym_get_kind(e, &kind);
	/* a library shows it to the linker, or nobody finds it */
	err = elfsym_constant_text(e, FUNCTION, kind.program, text);
	elfsym_close(e);
	if (err && err != -ENOENT)
		say_unread(r, path, err == -ENOMEM ? "not enough memory" :
			   "the function does more than return a constant, or was compiled in a "
			   "way that is not known; memtap does not run it");
	return !err;
}

void leaks_take_known(struct leaks_run *r, const char *path, int fd)
{
	struct suppress *probe;
	char *text, *all, why[256];

	if (!find_text(r, path, fd, &text))
		return;
	probe = suppress_new();
	if (!probe || suppress_add(probe, text, strlen(text), why)) {
		say_unread(r, path, probe ? why : "not enough memory");
	} else if (asprintf(&all, "%s%s\n", r->known ? r->known : "", text) < 0) {
		say_unread(r, path, "not enough memory");
	} else {
		free(r->known);
		r->known = all;
	}
	suppress_free(probe);
	free(text);
}

void leaks_use_known(struct leaks_run *r)
{
	char why[256];

	pthread_mutex_lock(&r->lock);
	if (r->known && !r->suppress)
		r->suppress = suppress_new();
	if (r->known && r->suppress) {
		const char *new = r->known + r->known_used;

		suppress_add(r->suppress, new, strlen(new), why);
		r->known_used = strlen(r->known);
	}
	pthread_mutex_unlock(&r->lock);
}
