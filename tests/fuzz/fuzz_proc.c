// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/base/opt_value.c ctl/target/cgroup.c ctl/target/ldcache.c */
/* LINK: ctl/session/format.c ctl/session/symbols.c ctl/target/maps.c ctl/target/procmaps.c */
/* FUZZ: -max_len=2048 */
/*
 * What the kernel tells of processes and of its own functions, line by line: maps,
 * status, cgroup, syscall; kallsyms, the lists of functions that may be probed and of
 * those that may not.
 */
#include <stdint.h>

#include "target/procs.c"
#include "session/tracefs.c"

#include "target/procmaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *copy_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static int visit_map(const struct procmap *m, void *ctx)
{
	size_t *nr = ctx;

	if (m->start >= m->end || strchr(m->path, '\n'))
		abort();
	return ++*nr > 1000;
}

static int visit_name(const char *name, void *ctx)
{
	size_t *nr = ctx;

	/* it is one word */
	if (strpbrk(name, " \t\n"))
		abort();
	return ++*nr > 1000;
}

static void each_cgroup_line(char *text)
{
	const struct memtap_filter_item item = { .kind = MEMTAP_FILTER_CGROUP2, .value = 1 };
	static const char mounts[] =
		"1 2 3:4 / /no/such rw - cgroup2 x rw\n1 2 3:4 / /nor/this rw - cgroup x memory\n";
	struct wanted w = { &item, 1 };
	char *line, *rest;
	struct group g;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (line_group(line, mounts, &g))
			is_wanted(&g, &w);
}

/* What is found again is what was sorted, and each of those is found. */
static void blacklist(char *text)
{
	struct tracefs_names l = { .text = text };
	size_t nr = 0;

	if (split_blacklist(&l))
		abort();
	for (size_t i = 0; i < l.nr; i++) {
		visit_name(l.at[i], &nr);
		if (!tracefs_is_listed(&l, l.at[i]) || (i && strcmp(l.at[i - 1], l.at[i]) > 0))
			abort();
	}
	tracefs_is_listed(&l, "do_int3");
	tracefs_free_names(&l);
}

/* Input: which, and the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t nr = 0;
	char *text;

	if (!size)
		return 0;
	text = copy_of(data + 1, size - 1);
	switch (data[0] % 7) {
	case 0:
		procmaps_parse(text, visit_map, &nr);
		break;
	case 1:
		status_value(text, "Seccomp");
		break;
	case 2:
		each_cgroup_line(text);
		break;
	case 3:
		procmaps_parse_brk(text);
		procmaps_stack_pointer(text);
		break;
	case 4:
		each_line(text, NULL, kallsyms_line, visit_name, &nr);
		break;
	case 5:
		each_line(text, "a*", traceable_line, visit_name, &nr);
		break;
	default:
		blacklist(text);
		return 0;
	}
	free(text);
	return 0;
}
