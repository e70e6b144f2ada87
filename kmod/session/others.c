// SPDX-License-Identifier: GPL-2.0-only
/* OTHER: the accounts of the other sessions, and what they keep of live blocks. */
#include "live/live.h"
#include "session/int.h"

#include "compat/task.h"

struct asked {
	const struct memtap_session *self;
	struct memtap_other *a;
	struct memtap_other_row *rows;
	u32 after, room;
	int err;			/* -ENOENT: not found yet */
};

/* The session's lock is held. */
static void add_events(struct memtap_session *s, struct memtap_other *a)
{
	struct memtap_stats st;
	u32 i, j;

	for (i = 0; i < s->nr_events; i++) {
		memset(&st, 0, sizeof(st));
		st.size = sizeof(st);
		st.event = i;
		if (memtap_session_stats(s, &st))
			return;
		a->seen += st.seen;
		a->counted += st.counted;
		a->filtered += st.filtered;
		for (j = 0; j < MEMTAP_NR_LOST; j++)
			a->lost[j] += st.lost[j];
	}
}

/* The same. */
static int add_blocks(struct memtap_session *s, const struct asked *as)
{
	struct memtap_other *a = as->a;

	a->flags |= MEMTAP_OTHER_LIVE;
	a->sample_bytes = s->heap->sampler.bytes;
	a->sample_rate = s->heap->sampler.bytes ? 0 : s->heap->sampler.rate;
	a->nr_rows = as->room;
	return as->room ? memtap_heap_sums(s, as->rows, &a->nr_rows) : 0;
}

/*
 * Under the sessions' lock, which START takes under the session's own: that one is not waited
 * for.
 */
static void look(struct memtap_session *s, void *ctx)
{
	struct asked *as = ctx;
	struct memtap_other *a = as->a;

	if (as->err != -ENOENT || s == as->self || s->nr <= as->after)
		return;
	as->err = 0;
	a->nr = s->nr;
	a->pid = s->opener;
	a->memory = READ_ONCE(s->mem_total);
	memcpy(a->comm, s->opener_comm, sizeof(a->comm));
	if (s->recorder)
		a->flags |= MEMTAP_OTHER_RECORDER;
	if (!memtap_may(READ_ONCE(s->right))) {
		a->flags |= MEMTAP_OTHER_HIDDEN;
	} else if (!mutex_trylock(&s->lock)) {
		a->flags |= MEMTAP_OTHER_BUSY;
	} else {
		if (s->state == MEMTAP_RUNNING)
			a->flags |= MEMTAP_OTHER_RUNNING;
		add_events(s, a);
		if (s->state == MEMTAP_RUNNING && s->heap)
			as->err = add_blocks(s, as);
		mutex_unlock(&s->lock);
	}
}

int memtap_session_other(struct memtap_session *self, struct memtap_other *a,
			 struct memtap_other_row *rows)
{
	struct asked as;
	const u32 size = a->size;
	const u64 rows_ptr = a->rows_ptr;

	memset(&as, 0, sizeof(as));
	as.self = self;
	as.a = a;
	as.rows = rows;
	as.after = a->nr;
	as.room = a->nr_rows;
	as.err = -ENOENT;
	memset(a, 0, sizeof(*a));
	a->size = size;
	a->rows_ptr = rows_ptr;
	memtap_for_each_session(look, &as);
	return as.err;
}
