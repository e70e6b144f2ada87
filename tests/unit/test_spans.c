// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/render/spans.c ctl/render/live_spans.c ctl/base/ids.c ctl/base/text.c */
/* LINK: ctl/leaks/leaks.c ctl/leaks/suppress.c ctl/leaks/suppress_block.c -lm */
/* LINK: ctl/leaks/suppress_text.c */
/* LINK: ctl/snap/common.c ctl/snap/index.c ctl/snap/live.c ctl/snap/merge.c ctl/snap/snap.c */
/* LINK: kmod/core/wire.c */
/* What a recording has of each part of the time. */
#include <stdlib.h>
#include <string.h>

#include "render/save.h"
#include "snap_stream.h"
#include "tap.h"

/* Nobody asks for a name here. */
size_t sym_user(struct sym *s, const struct snap *snap, const struct memtap_rec_task *task,
		__u32 era, __u64 ip, bool call, const struct sym_frame **frames)
{
	return 0;
}

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

static const struct memtap_span_row *rows_of(const struct save_spans *all, size_t i)
{
	return all->at[i].rows;
}

static u64 sum_of(const struct save_spans *all, u64 addr)
{
	u64 sum = 0;

	for (size_t i = 0; i < all->nr; i++)
		for (u32 k = 0; k < all->at[i].nr; k++)
			sum += rows_of(all, i)[k].addr == addr ? rows_of(all, i)[k].count : 0;
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
	ok(all->at[1].nr == 2 && rows_of(all, 1)[0].count + rows_of(all, 1)[1].count == 3 &&
	   rows_of(all, 1)[0].sum + rows_of(all, 1)[1].sum == -3, "the second has the difference");
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

/* ---- live blocks ---- */

struct born {
	u64 addr, size, birth_ns;
	u32 stack, flags;
};

/* A session that was started at 100, and has these blocks at @now. */
static struct snap *blocks_at(u64 now, u32 nr, const struct born *b)
{
	struct memtap_rec_header *h;
	struct memtap_rec_event *e;
	struct memtap_rec_stack *st;
	struct memtap_rec_space *space;
	struct memtap_rec_blocks *r;
	struct snap *s = NULL;

	start();
	h = (struct memtap_rec_header *)stream;
	h->flags = MEMTAP_CFG_LIVE;
	h->start_ns = 100;
	h->now_ns = now;
	e = add(MEMTAP_REC_EVENT, sizeof(*e));
	e->id = 1;
	for (u32 i = 0; i < 2; i++) {
		st = add(MEMTAP_REC_STACK, sizeof(*st));
		st->id = MEMTAP_STACK_FIRST + i;
	}
	space = add(MEMTAP_REC_SPACE, sizeof(*space));
	space->id = 1;
	space->task = MEMTAP_TASK_LOST;
	r = add(MEMTAP_REC_BLOCKS, sizeof(*r) + nr * sizeof(r->at[0]));
	r->nr = nr;
	for (u32 i = 0; i < nr; i++) {
		r->at[i].addr = b[i].addr;
		r->at[i].size = b[i].size;
		r->at[i].birth_ns = b[i].birth_ns;
		r->at[i].ustack = MEMTAP_STACK_FIRST + b[i].stack;
		r->at[i].flags = (u16)b[i].flags;
		r->at[i].space = 1;
		r->at[i].event = 1;
		r->at[i].task = MEMTAP_TASK_LOST;
	}
	add_end(0);
	is(decode(stream_len, &s), 0, "a session with %u blocks", nr);
	return s;
}

static struct memtap_lived_row row_of(const struct save_part *part, u32 stack, u32 flags)
{
	struct memtap_lived_row sum = { .flags = flags };

	for (u32 i = 0; i < part->nr; i++) {
		const struct memtap_lived_row *r = (const struct memtap_lived_row *)part->rows + i;

		if (r->ustack != MEMTAP_STACK_FIRST + stack || r->flags != flags)
			continue;
		sum.blocks += r->blocks;
		sum.bytes += r->bytes;
		sum.freed += r->freed;
		sum.freed_bytes += r->freed_bytes;
	}
	return sum;
}

static bool has(const struct save_part *part, u32 stack, u32 flags, u64 blocks, u64 bytes,
		u64 freed, u64 freed_bytes)
{
	const struct memtap_lived_row r = row_of(part, stack, flags);

	return r.blocks == blocks && r.bytes == bytes && r.freed == freed &&
	       r.freed_bytes == freed_bytes;
}

static void look_at(struct save_liveds *all, u64 now, u32 nr, const struct born *b)
{
	struct snap *s = blocks_at(now, nr, b);

	is(save_liveds_add(all, s), 0, "it is looked at");
	snap_free(s);
}

static void test_what_is_new_and_what_has_gone(void)
{
	struct save_liveds *all = calloc(1, sizeof(*all));
	const struct born first[] = {
		{ 16, 10, 101, 0, 0 }, { 32, 20, 102, 0, 0 }, { 48, 5, 103, 1, 0 },
		{ 4096, 8192, 104, 0, MEMTAP_BLOCK_MAPPING },
		{ 8192, 4096, 104, 0, MEMTAP_BLOCK_MAPPING | MEMTAP_BLOCK_INNER },
		/* born while they were read */
		{ 96, 50, 112, 1, 0 },
	}, second[] = {
		/* one went; an address is another block's; the mapping was cut */
		{ 32, 30, 115, 0, 0 }, { 64, 7, 110, 0, 0 },
		{ 4096, 4096, 104, 0, MEMTAP_BLOCK_MAPPING }, { 96, 50, 112, 1, 0 },
	}, third[] = {
		/* told by the tick: before the last look, and not there then */
		{ 32, 30, 115, 0, 0 }, { 64, 7, 110, 0, 0 }, { 80, 9, 112, 1, 0 },
		{ 96, 50, 112, 1, 0 },
	};

	look_at(all, 110, 6, first);
	look_at(all, 120, 4, second);
	look_at(all, 120, 4, second);
	is(all->nr, 2, "a part without length is none");
	look_at(all, 130, 4, third);
	ok(all->nr == 3 && all->at[0].start_ns == 100 && all->at[2].start_ns == 120 &&
	   all->at[2].end_ns == 130, "one begins where the other ended");
	ok(has(&all->at[0], 0, 0, 2, 30, 0, 0) && has(&all->at[0], 1, 0, 2, 55, 0, 0),
	   "at first all is new");
	ok(has(&all->at[0], 0, MEMTAP_BLOCK_MAPPING, 1, 8192, 0, 0), "mappings are of their own, "
	   "and without those of allocators");
	ok(has(&all->at[1], 0, 0, 2, 37, 2, 30), "then what was born, and what went");
	ok(has(&all->at[1], 1, 0, 0, 0, 1, 5), "who was there is not new");
	ok(has(&all->at[1], 0, MEMTAP_BLOCK_MAPPING, 0, 0, 0, 4096), "what was cut off a mapping");
	ok(has(&all->at[2], 1, 0, 1, 9, 0, 0), "what was not there is new, whenever it says");
	ok(has(&all->at[2], 0, 0, 0, 0, 0, 0), "where nothing happened there is nothing");
	save_liveds_free(all);
	free(all);
}

static void test_too_many_looks(void)
{
	struct save_liveds *all = calloc(1, sizeof(*all));
	const struct born b[] = { { 16, 10, 101, 0, 0 }, { 32, 3, 102, 1, 0 } };
	s64 level = 0;
	bool order = true;

	for (u64 i = 1; i <= SAVE_SPANS + 3; i++) {
		struct snap *s;
		const unsigned int failed = tap_failed;

		s = blocks_at(100 + i, 1 + i % 2, b);
		if (save_liveds_add(all, s) || tap_failed != failed)
			order = false;
		snap_free(s);
	}
	for (size_t i = 0; i < all->nr; i++) {
		const struct memtap_lived_row r = row_of(&all->at[i], 1, 0);

		level += (s64)r.bytes - (s64)r.freed_bytes;
		order &= level == 0 || level == 3;
		order &= i == 0 || all->at[i].start_ns == all->at[i - 1].end_ns;
	}
	ok(order && all->nr <= SAVE_SPANS, "never more than there is room for, in their order");
	is(level, 3, "and their sums are what there is");
	save_liveds_free(all);
	free(all);
}

int main(void)
{
	test_what_is_new_and_what_has_gone();
	test_too_many_looks();
	test_differences();
	test_too_many_become_fewer();
	return tap_done();
}
