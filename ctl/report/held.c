// SPDX-License-Identifier: GPL-2.0-or-later
/* Of rows of live blocks: what the blocks are, and what holds them, where somebody looked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/int.h"

static bool same_held(const void *things, __u32 id, const void *key)
{
	const struct rheld *a = (const struct rheld *)things + id, *b = key;

	return a->leak == b->leak && a->held == b->held;
}

int report_held_add(struct maker *m, struct rleak *leak, const struct snap_walk *w)
{
	const struct rheld key = { .leak = leak, .held = w->held - 1 };
	const __u64 hash = ids_mix(ids_mix(0, (__u64)(unsigned long)leak), key.held);
	struct rleaks *l = m->r.leaks;
	struct rheld *more;
	__u32 id = ids_find(&m->held_ids, hash, same_held, l->helds, &key);

	if (id == IDS_NONE) {
		more = ids_grow(l->helds, l->nr_helds, &m->room_helds, sizeof(*more));
		if (!more)
			return -ENOMEM;
		l->helds = more;
		id = ids_add(&m->held_ids, hash);
		if (id == IDS_NONE)
			return -ENOMEM;
		l->helds[l->nr_helds++] = key;
	}
	l->helds[id].blocks++;
	l->helds[id].bytes += w->block->size;
	return 0;
}

static int by_row_and_bytes(const void *x, const void *y)
{
	const struct rheld *a = x, *b = y;

	if (a->leak != b->leak)
		return a->leak < b->leak ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return (a->held > b->held) - (a->held < b->held);
}

void report_held_link(struct maker *m)
{
	struct rleaks *l = m->r.leaks;

	if (!l->nr_helds)
		return;
	qsort(l->helds, l->nr_helds, sizeof(*l->helds), by_row_and_bytes);
	for (size_t i = l->nr_helds; i-- > 0;) {
		struct rleak *leak = l->helds[i].leak;

		l->helds[i].next = leak->held;
		leak->held = (__u32)i + 1;
	}
}
