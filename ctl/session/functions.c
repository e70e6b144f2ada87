// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the kernel functions of a pattern, and which of them can be probed. */
#include <errno.h>
#include <string.h>

#include "session/functions.h"
#include "session/tracefs.h"

/* What each list has, sorted; @traceable: unless @untold. */
struct lists {
	struct tracefs_names code, traceable, blacklist;
	bool untold;
};

static int read_lists(const char *pattern, struct lists *l)
{
	int err = tracefs_read_traceable(pattern, &l->traceable);

	l->untold = err == -ENXIO;
	if (err && !l->untold)
		return err;
	err = tracefs_read_code(pattern, &l->code);
	/* /proc may be without it: what is traceable is enough */
	if (err && l->untold)
		return err;
	return tracefs_read_blacklist(&l->blacklist);
}

static void free_lists(struct lists *l)
{
	tracefs_free_names(&l->code);
	tracefs_free_names(&l->traceable);
	tracefs_free_names(&l->blacklist);
}

/* How often the list has @name at @*at, which goes behind it. */
static size_t take(const struct tracefs_names *l, size_t *at, const char *name)
{
	const size_t first = *at;

	while (*at < l->nr && !strcmp(l->at[*at], name))
		++*at;
	return *at - first;
}

static const char *least(const struct lists *l, size_t code, size_t traceable)
{
	const char *a = code < l->code.nr ? l->code.at[code] : NULL;
	const char *b = traceable < l->traceable.nr ? l->traceable.at[traceable] : NULL;

	return !a || (b && strcmp(b, a) < 0) ? b : a;
}

int functions_find(const char *pattern,
		   int (*fn)(const char *name, enum functions_how how, bool several, void *ctx),
		   void *ctx)
{
	struct lists l = { .untold = false };
	size_t code = 0, traceable = 0;
	const char *name;
	int ret = read_lists(pattern, &l);

	while (!ret && (name = least(&l, code, traceable))) {
		const size_t all = take(&l.code, &code, name);
		const size_t good = take(&l.traceable, &traceable, name);
		enum functions_how how = FUNCTIONS_GOOD;

		if (tracefs_is_listed(&l.blacklist, name))
			how = FUNCTIONS_FORBIDDEN;
		else if (!good && !l.untold)
			how = FUNCTIONS_UNTRACED;
		ret = fn(name, how, all > 1 || good > 1, ctx);
	}
	free_lists(&l);
	return ret;
}
