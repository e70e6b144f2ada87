// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/report/past.c ctl/base/arena.c ctl/base/ids.c ctl/base/text.c */
/* LINK: ctl/leaks/leaks.c ctl/leaks/suppress.c ctl/leaks/suppress_block.c -lm */
/* LINK: ctl/leaks/suppress_text.c */
/* LINK: ctl/snap/common.c ctl/snap/index.c ctl/snap/live.c ctl/snap/merge.c ctl/snap/snap.c */
/* LINK: kmod/core/wire.c */
/* What lived at a moment of a session, and what became of it: by stack and by birth. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/int.h"
#include "snap_stream.h"
#include "tap.h"

#define STACK	MEMTAP_STACK_FIRST

/* Nobody asks for names or rows here. */
size_t sym_user(struct sym *s, const struct snap *snap, const struct memtap_rec_task *task,
		__u32 era, __u64 ip, bool call, const struct sym_frame **frames)
{
	return 0;
}

int report_block_key(struct maker *m, const struct memtap_block *b, struct rrow *key)
{
	return 0;
}

struct rrow *report_row(struct maker *m, const struct rrow *key)
{
	return NULL;
}

struct rrow *report_find_row(struct maker *m, const struct rrow *key)
{
	return NULL;
}

struct a_block {
	u64 addr, size, birth;
	u32 stack;
};

/* A session that was started at 1,000; @unknown frees of what was there before. */
static struct snap *session(u64 now, const struct a_block *of, u32 nr, u64 unknown)
{
	struct memtap_rec_header *h;
	struct memtap_rec_event *e;
	struct memtap_rec_stack *st;
	struct memtap_rec_blocks *r;
	struct memtap_rec_space *space;
	struct snap *s = NULL;

	start();
	h = (struct memtap_rec_header *)stream;
	h->start_ns = 1000;
	h->now_ns = now;
	h->flags = MEMTAP_CFG_LIVE;
	e = add(MEMTAP_REC_EVENT, sizeof(*e));
	e->id = 1;
	for (u32 i = 0; i < 2; i++) {
		st = add(MEMTAP_REC_STACK, sizeof(*st));
		st->id = STACK + i;
	}
	space = add(MEMTAP_REC_SPACE, sizeof(*space));
	space->id = 3;
	space->task = MEMTAP_TASK_LOST;
	space->unknown = unknown;
	r = add(MEMTAP_REC_BLOCKS, sizeof(*r) + nr * sizeof(r->at[0]));
	r->nr = nr;
	for (u32 i = 0; i < nr; i++)
		r->at[i] = (struct memtap_block){
			.addr = of[i].addr, .size = of[i].size, .birth_ns = of[i].birth,
			.ustack = of[i].stack, .space = 3, .task = MEMTAP_TASK_LOST,
			.event = 1,
		};
	add_end(0);
	decode(stream_len, &s);
	return s;
}

static double total(const double *of)
{
	double n = 0;

	for (int i = 0; i < TREND_PARTS; i++)
		n += of[i];
	return n;
}

static struct trend trend_of(struct report_past *p, const struct snap *s, u32 stack)
{
	struct snap_walk w = { .snap = s };
	struct trend t = { .unknown = 0 };

	report_cohort_count(p, s);
	while (snap_next_block(&w)) {
		const struct cohort_block c = { w.block, 1, false, s->header.now_ns };

		if (w.block->ustack == stack)
			report_cohort_add(p, &c, &t);
	}
	return t;
}

static const struct a_block then[] = {
	{ 0x1000, 100, 1010, STACK }, { 0x2000, 100, 1010, STACK }, { 0x3000, 100, 1500, STACK },
	{ 0x4000, 100, 2500, STACK }, { 0x5000, 4096, 1020, STACK + 1 },
};

static void test_left(void)
{
	/* one of each age is gone, one is new; another stack's block has grown, and moved */
	static const struct a_block now[] = {
		{ 0x1000, 100, 1010, STACK }, { 0x3000, 100, 1500, STACK },
		{ 0x6000, 100, 3500, STACK }, { 0x9000, 12288, 1020, STACK + 1 },
	};
	struct snap *a = session(2600, then, 5, 10), *b = session(4200, now, 4, 25);
	struct report_past *p = report_cohort_new(a);
	struct trend t = trend_of(p, b, STACK);

	is(t.then.span_ns, 1600, "until then");
	is(t.then.since_ns, 1600, "and since");
	is(lround(total(t.then.blocks)), 4, "four lived then");
	is(total(t.then.left), 2, "two of them are left");
	is(lround(t.then.blocks[0]), 2, "two were born first");
	is(t.then.left[0], 1, "of which one is left");
	is(lround(t.then.blocks[15] - t.then.left[15]), 1,
	   "the youngest is gone, though nothing has its age");
	is(lround(t.then.all), 4, "of any age");
	is(t.then.born, 1, "and one was born since");
	ok(!(t.then.grown > 0), "none became larger");
	is(report_cohort_unknown(p, &b->spaces[0]), 15, "frees of unknown blocks, since then");
	t = trend_of(p, b, STACK + 1);
	is(t.then.grown, 8192, "realloc() made the other one larger");
	is(t.then.grown_to, 12288, "to that");
	is(t.then.grown_ns, 1600, "in that time");
	is(total(t.then.left), 1, "and it is left");
	report_past_free(p);
	snap_free(a);
	snap_free(b);
}

/* Who dies does not make those who stay larger. */
static void test_selected(void)
{
	static const struct a_block then[] = {
		{ 0x1000, 16, 1010, STACK }, { 0x2000, 16, 1010, STACK },
		{ 0x3000, 9000, 1010, STACK },
	}, now[] = { { 0x3000, 9000, 1010, STACK } };
	struct snap *a = session(2600, then, 3, 0), *b = session(4200, now, 1, 0);
	struct report_past *p = report_cohort_new(a);
	struct trend t = trend_of(p, b, STACK);

	ok(!(t.then.grown > 0), "the small ones went: nothing became larger");
	report_past_free(p);
	snap_free(a);
	snap_free(b);
}

/* It was in the middle of realloc() at the later look. */
static void test_before(void)
{
	static const struct a_block now = { 0x9000, 16384, 1020, STACK + 1 };
	struct snap *a = session(2600, then, 5, 0), *b = session(3400, then, 4, 0);
	struct snap *c = session(4200, &now, 1, 0);
	struct report_past *of[2] = { report_cohort_new(b), report_cohort_new(a) };
	struct report_past *p = report_cohort_best(of, c);
	struct trend t = trend_of(p, c, STACK + 1);

	ok(p == of[0], "the later look is old enough");
	is(t.then.grown, 12288, "a block that it did not see is compared with the one before");
	is(t.then.grown_ns, 1600, "which was that long ago");
	report_past_free(of[0]);
	report_past_free(of[1]);
	snap_free(a);
	snap_free(b);
	snap_free(c);
}

int main(void)
{
	test_left();
	test_selected();
	test_before();
	return tap_done();
}
