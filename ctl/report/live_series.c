// SPDX-License-Identifier: GPL-2.0-or-later
/* Compute each row's live blocks in the intervals of a recording, and the freed ones. */
#include <errno.h>

#include "report/int.h"

static int add_row(struct maker *m, const struct memtap_lived_row *x, __u32 part)
{
	const struct memtap_block b = { .flags = x->flags & MEMTAP_BLOCK_MAPPING, .task = x->task,
					.ustack = x->ustack };
	struct rrow key = { .event = 0 }, *row;
	struct rseries *s;

	if (report_block_key(m, &b, &key))
		return -ENOMEM;
	/* what will be lost nobody knows before the end: of no kind */
	row = report_row(m, &key);
	if (!row)
		return -ENOMEM;
	if (!row->leak) {
		row->leak = arena_alloc(&m->arena, sizeof(*row->leak));
		if (!row->leak)
			return -ENOMEM;
		row->leak->birth = m->r.snap->header.now_ns;
		row->leak->gone = true;
	}
	s = report_series(m, row, part);
	if (!s)
		return -ENOMEM;
	s->count += x->blocks;
	s->sum = (__s64)((__u64)s->sum + x->bytes);
	s->freed += x->freed;
	s->freed_bytes += x->freed_bytes;
	return 0;
}

/* As blocks are: what is suppressed, or the dynamic linker's, is in no row. */
static int is_left_out(const struct maker *m, struct leaks_known *known,
		       const struct memtap_lived_row *x)
{
	const int by = leaks_known_by(known, x->ustack, x->task, LEAK_UNKNOWN);

	if (by == -ENOMEM || by != LEAKS_NOT_KNOWN)
		return by == -ENOMEM ? by : 1;
	return m->r.o->no_loader && x->flags & MEMTAP_BLOCK_MAPPING &&
	       leaks_in_loader(m->r.snap, x->ustack, x->task);
}

int report_lived(struct maker *m, struct leaks_known *known)
{
	const struct snap *s = m->r.snap;
	int err = 0;

	for (size_t i = 0; !err && i < s->nr_liveds; i++)
		for (__u32 k = 0; !err && k < s->liveds[i]->nr; k++) {
			const struct memtap_lived_row *x = &s->liveds[i]->at[k];

			err = is_left_out(m, known, x);
			if (!err)
				err = add_row(m, x, (__u32)i);
			else if (err > 0)
				err = 0;
		}
	return err;
}
