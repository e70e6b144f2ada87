// SPDX-License-Identifier: GPL-2.0-or-later
/* Which kind of kernel memory most of its growth is. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "triage/int.h"

const struct machine_holder *kernel_tables_of(const struct triage *t)
{
	const __s64 grew = kind_grew(t, KIND_PAGE_TABLES);

	for (size_t i = 0; i < t->now->processes.nr; i++) {
		const struct machine_growth *g = &t->processes[i];

		if (g->before && (__s64)(g->now->tables - g->before->tables) * 2 > grew)
			return g->now;
	}
	return NULL;
}

/* The cache that cannot be shrunk and that grew by half of @grew; or NULL. */
static const struct machine_growth *most_slab(const struct triage *t, __s64 grew)
{
	for (size_t i = 0; i < t->now->slabs.nr && t->slabs[i].grew * 2 >= grew; i++)
		if (t->slabs[i].before && !t->slabs[i].now->reclaimable)
			return &t->slabs[i];
	return NULL;
}

/* Where others shrank, a part is more than the sum. */
static const char *of_that(const struct triage *t, __s64 grew)
{
	return grew <= t->kernel_grew ? " of that" : "";
}

const char *kernel_most(const struct triage *t, char *buf, size_t len)
{
	static const struct {
		enum machine_kind kind;
		const char *words;
	} kinds[] = {
		{ KIND_PAGE_TABLES, "page tables" }, { KIND_SLAB_UNRECLAIM, "unreclaimable slab" },
		{ KIND_VMALLOC, "vmalloc areas" }, { KIND_STACKS, "kernel stacks of threads" },
		{ KIND_PERCPU, "memory per processor" },
		{ KIND_UNACCOUNTED, "memory without a counter (of drivers or pipes, for example)" },
	};
	const struct machine_growth *slab = most_slab(t, t->kernel_grew);
	const struct machine_holder *h;
	char grew[TEXT_LEN];
	size_t i = 0;

	buf[0] = '\0';
	if (slab) {
		snprintf(buf, len, "; the slab cache %.100s grew by %s%s", slab->now->name,
			 text_bytes(grew, slab->grew, false), of_that(t, slab->grew));
		return buf;
	}
	while (i < sizeof(kinds) / sizeof(kinds[0]) &&
	       kind_grew(t, kinds[i].kind) * 2 < t->kernel_grew)
		i++;
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return buf;
	snprintf(buf, len, "; %s grew by %s%s", kinds[i].words,
		 text_bytes(grew, kind_grew(t, kinds[i].kind), false),
		 of_that(t, kind_grew(t, kinds[i].kind)));
	h = kinds[i].kind == KIND_PAGE_TABLES ? kernel_tables_of(t) : NULL;
	if (h)
		snprintf(buf + strlen(buf), len - strlen(buf), ", most of them of %.20s (%u)",
			 h->name, h->pid);
	return buf;
}
