// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a report of live blocks leaves behind for the next one, so that this can say what
 * grew.  Stacks and tasks keep their numbers as long as the session runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/int.h"

struct past_key {
	__u32 event, ustack, task;
};

struct past {
	struct past_key key;
	double blocks, bytes;
};

struct report_past {
	struct ids ids;
	struct past *at;
	size_t room;
};

struct report_past *report_past_new(void)
{
	return calloc(1, sizeof(struct report_past));
}

void report_past_free(struct report_past *p)
{
	if (!p)
		return;
	ids_free(&p->ids);
	free(p->at);
	free(p);
}

static bool same_past(const void *things, __u32 id, const void *key)
{
	return !memcmp(&((const struct past *)things)[id].key, key, sizeof(struct past_key));
}

int report_past_add(struct report_past *p, __u32 event, const struct memtap_block *b,
		    double weight)
{
	const struct past_key key = { event, b->ustack, b->task };
	const __u64 hash = ids_mix((__u64)event << 32 | b->ustack, b->task);
	__u32 id = ids_find(&p->ids, hash, same_past, p->at, &key);
	struct past *more;

	if (id == IDS_NONE) {
		more = ids_room(p->at, p->ids.nr, &p->room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->at = more;
		id = ids_add(&p->ids, hash);
		if (id == IDS_NONE)
			return -ENOMEM;
		p->at[id] = (struct past){ .key = key };
	}
	p->at[id].blocks += weight;
	p->at[id].bytes += weight * (double)b->size;
	return 0;
}

/* What is gone altogether has no row any more, and is no answer. */
int report_past_compare(struct maker *m)
{
	const struct report_past *p = m->r.o->past;

	for (size_t i = 0; p && i < p->ids.nr; i++) {
		const struct past *x = &p->at[i];
		const struct memtap_rec_task *task = snap_task(m->r.snap, x->key.task);
		const __s64 group = report_group(m, x->key.task);
		const __s64 stack = m->r.o->no_user ? 0 : report_stack(m, x->key.ustack, task);
		struct rrow key = { .event = x->key.event, .flags = LEAK_UNKNOWN }, *row;

		if (group < 0 || stack < 0)
			return -ENOMEM;
		key.group = (__u32)group;
		key.ustack = (__u32)stack;
		row = report_find_row(m, &key);
		if (!row || !row->leak)
			continue;
		row->leak->before_blocks += x->blocks;
		row->leak->before_bytes += x->bytes;
	}
	return 0;
}
