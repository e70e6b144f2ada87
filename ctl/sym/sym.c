// SPDX-License-Identifier: GPL-2.0-or-later
/* Set up and free the symbolizer. */
#include <stdlib.h>

#include "sym/int.h"

struct sym *sym_new(const struct sym_opts *o)
{
	struct sym *s = calloc(1, sizeof(*s));

	if (s && o)
		s->opts = *o;
	if (s && !s->opts.debug_dir)
		s->opts.debug_dir = "/usr/lib/debug";
	return s;
}

const struct sym_again *sym_again(const struct sym *s)
{
	return &s->again;
}

void sym_free(struct sym *s)
{
	if (!s)
		return;
	sym_objects_free(s);
	sym_perfmaps_free(s);
	sym_cgroups_free(s);
	kallsyms_free(s->kallsyms);
	free(s->cache.slots);
	free(s->strings.slots);
	arena_free(&s->arena);
	free(s);
}
