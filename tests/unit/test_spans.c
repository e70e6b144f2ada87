// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/render/spans.c */
/* LINK: ctl/snap/common.c ctl/snap/index.c ctl/snap/live.c ctl/snap/merge.c ctl/snap/snap.c */
/* LINK: kmod/core/wire.c */
/* What a recording has of each part of the time. */
#include <stdlib.h>
#include <string.h>

#include "render/save.h"
#include "snap_stream.h"
#include "tap.h"

/* A session that was started at 100; at @now one key has @count, another one twice that. */
static struct snap *session(u64 now, u64 count)
{
	struct memtap_rec_event *e;
	struct memtap_rec_counter *c;
	struct snap *s;

	start();
	((struct memtap_rec_header *)stream)->start_ns = 100;
	((struct memtap_rec_header *)stream)->now_ns = now;
	e = add(MEMTAP_REC_EVENT, sizeof(*e));
	e->id = 1;
	for (u64 i = 1; i <= 2; i++) {
		c = add(MEMTAP_REC_COUNTER, sizeof(*c));
		c->event = 1;
		c->addr = i;
		c->count = i * count;
		c->sum = -(s64)(i * count);
	}
	add_end(0);
	decode(stream_len, &s);
	return s;
}

static u64 sum_of(const struct save_spans *all, u64 addr)
{
	u64 sum = 0;

	for (size_t i = 0; i < all->nr; i++)
		for (u32 k = 0; k < all->at[i].nr; k++)
			sum += all->at[i].rows[k].addr == addr ? all->at[i].rows[k].count : 0;
	return sum;
}

static bool in_order(const struct save_spans *all)
{
	for (size_t i = 0; i < all->nr; i++)
		if (all->at[i].start_ns >= all->at[i].end_ns ||
		    all->at[i].start_ns != (i ? all->at[i - 1].end_ns : 100))
			return false;
	return true;
}

static void test_differences(void)
{
	struct save_spans *all = calloc(1, sizeof(*all));
	struct snap *a = session(110, 4), *b = session(130, 5), *c = session(130, 5);

	is(save_spans_add(all, a, NULL), 0, "the first part has all");
	is(save_spans_add(all, b, a), 0, "the second one");
	ok(all->nr == 2 && in_order(all), "one begins where the other ended");
	ok(all->at[0].nr == 2 && sum_of(all, 1) == 5 && sum_of(all, 2) == 10,
	   "together they are what the counters have");
	ok(all->at[1].nr == 2 && all->at[1].rows[0].count + all->at[1].rows[1].count == 3 &&
	   all->at[1].rows[0].sum + all->at[1].rows[1].sum == -3, "the second has the difference");
	is(save_spans_add(all, c, b), 0, "a part without length");
	is(all->nr, 2, "is none");
	save_spans_free(all);
	free(all);
	snap_free(a);
	snap_free(b);
	snap_free(c);
}

static void test_too_many_become_fewer(void)
{
	struct save_spans *all = calloc(1, sizeof(*all));
	struct snap *before = NULL, *now;
	int err = 0, most = 0;

	for (u64 i = 1; i <= 3 * SAVE_SPANS; i++) {
		now = session(100 + i, i);
		err |= save_spans_add(all, now, before);
		most = all->nr > (size_t)most ? (int)all->nr : most;
		snap_free(before);
		before = now;
	}
	ok(!err && most == SAVE_SPANS, "never more than there is room for");
	ok(in_order(all) && all->at[all->nr - 1].end_ns == 100 + 3 * SAVE_SPANS,
	   "they still follow one another");
	ok(sum_of(all, 1) == 3 * SAVE_SPANS && sum_of(all, 2) == 6 * SAVE_SPANS,
	   "and have what the counters have");
	snap_free(before);
	save_spans_free(all);
	free(all);
}

int main(void)
{
	test_differences();
	test_too_many_become_fewer();
	return tap_done();
}
