// SPDX-License-Identifier: GPL-2.0-or-later
/* Compute the net growth of mappings: added by calls, minus unmapped by munmap(). */
#include <string.h>

#include "report/int.h"

static const struct rsection *section_of(const struct report *r, const char *event)
{
	for (size_t i = 0; i < r->nr_sections; i++)
		if (!strcmp(r->sections[i].event->name, event))
			return &r->sections[i];
	return NULL;
}

static bool was_counted(const struct report *r, const char *event)
{
	for (size_t i = 0; i < r->nr_events; i++)
		if (!strcmp(r->events[i].name, event))
			return true;
	return false;
}

static void add(__s64 *sum, __s64 n, bool minus)
{
	*sum = (__s64)((__u64)*sum + (minus ? -(__u64)n : (__u64)n));
}

void report_mapped(struct report *r)
{
	struct rmapped *m = &r->mapped;
	const struct { const char *event; __s64 *sum; } by[] = {
		{ "mmap", &m->by_mmap }, { "mremap", &m->by_mremap },
		{ "mprotect", &m->by_mprotect }, { "munmap", &m->by_munmap },
	};

	if (r->leaks)
		return;
	m->known = true;
	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		const struct rsection *s = section_of(r, by[i].event);
		const bool minus = by[i].sum == &m->by_munmap;

		m->known &= was_counted(r, by[i].event);
		if (!s)
			continue;
		*by[i].sum = s->sum;
		add(&m->write, s->sum, minus);
		add(&m->read_only, s->read_only, minus);
		add(&m->reserved, s->reserved, minus);
	}
}
