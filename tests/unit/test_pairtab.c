// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/pairtab.c */
/* VARIANTS: asan tsan */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "pairtab.h"
#include "tap.h"

static struct pairtab tab;

static void make(u32 nr)
{
	free(tab.slots);
	pairtab_init(&tab, calloc(nr, sizeof(struct pair)), nr, 1);
}

/* Everything that is kept follows from task, sp and event. */
static struct pair pair_of(u64 task, u64 sp, u32 event)
{
	return (struct pair){
		.key = { task, sp }, .event = event, .task = (u32)task,
		.kstack = (u32)sp, .ustack = (u32)(sp * 3 + event),
		.arg = task * 1000003 + sp * 7 + event,
	};
}

static int put(u64 task, u64 sp, u32 event)
{
	struct pair p = pair_of(task, sp, event);

	return pairtab_put(&tab, &p);
}

static int same(const struct pair *a, const struct pair *b)
{
	return a->key.a == b->key.a && a->key.b == b->key.b &&
	       a->event == b->event && a->task == b->task && a->arg == b->arg &&
	       a->kstack == b->kstack && a->ustack == b->ustack;
}

/* 1 found and right, 0 not found, -1 wrong */
static int take(u64 task, u64 sp, u32 event)
{
	struct pair want = pair_of(task, sp, event), got;

	memset(&got, 0xee, sizeof(got));
	if (!pairtab_take(&tab, &want.key, event, &got))
		return 0;
	return same(&got, &want) ? 1 : -1;
}

static void test_entry_and_return(void)
{
	make(64);
	is(take(1, 0x100, 0), 0, "a return without an entry finds nothing");
	ok(put(1, 0x100, 0), "an entry is kept");
	is(take(1, 0x108, 0), 0, "another stack pointer does not find it");
	is(take(2, 0x100, 0), 0, "another task does not");
	is(take(1, 0x100, 1), 0, "another event does not");
	is(take(1, 0x100, 0), 1, "its return finds it, as it was put in");
	is(take(1, 0x100, 0), 0, "once");
	is(tab.evicted, 0, "nothing had to go");
}

static void test_nested_calls(void)
{
	int good = 1;

	make(1024);
	for (u64 sp = 0; sp < 64; sp++)
		good &= put(1, 0x1000 - sp * 48, 0) && put(1, 0x1000 - sp * 48, 1);
	for (u64 sp = 64; sp-- > 0;)
		good &= take(1, 0x1000 - sp * 48, 1) == 1 &&
			take(1, 0x1000 - sp * 48, 0) == 1;
	ok(good, "nested calls of two events find each their own entry");
	is(tab.evicted, 0, "none of which had to go");
}

static void test_calls_that_never_return(void)
{
	struct pair p = pair_of(1, 0x100, 0), got;
	u32 left = 0;

	make(64);
	for (u64 i = 0; i < 1000; i++) {
		p.arg = i;
		pairtab_put(&tab, &p);
	}
	is(tab.evicted, 0, "an entry takes the place of one with its key");
	pairtab_take(&tab, &p.key, 0, &got);
	is(got.arg, 999, "the return finds the last one");
	for (u32 i = 0; i < 64; i++)
		left += tab.slots[i].state != 0;
	is(left, 0, "and nothing is left behind");
}

static void test_full_sets_let_the_oldest_go(void)
{
	u32 gone = 0, young = 0;

	make(PAIRTAB_WAYS);
	for (u64 i = 0; i < PAIRTAB_WAYS + 5; i++)
		ok(put(i, 0x100, 0), "entry %u is kept", (u32)i + 1);
	is(tab.evicted, 5, "each beyond the room for them costs an old one");
	for (u64 i = 0; i < 5; i++)
		gone += take(i, 0x100, 0) == 0;
	for (u64 i = 5; i < PAIRTAB_WAYS + 5; i++)
		young += take(i, 0x100, 0) == 1;
	is(gone, 5, "the oldest");
	is(young, PAIRTAB_WAYS, "and no younger one");
}

static void test_age_wraps(void)
{
	u32 young = 0;

	make(PAIRTAB_WAYS);
	tab.clock = -4U;
	for (u64 i = 0; i < PAIRTAB_WAYS + 1; i++)
		put(i, 0x100, 0);
	is(take(0, 0x100, 0), 0, "the oldest goes when the clock has wrapped, too");
	for (u64 i = 1; i < PAIRTAB_WAYS + 1; i++)
		young += take(i, 0x100, 0) == 1;
	is(young, PAIRTAB_WAYS, "and no younger one");
}

static void test_slots_in_use(void)
{
	make(PAIRTAB_WAYS);
	for (u32 i = 0; i < PAIRTAB_WAYS; i++)
		tab.slots[i].state = 1;
	ok(!put(1, 0x100, 0), "an entry is refused while all slots are in use");
	is(tab.evicted, 0, "nothing is evicted for it");
	tab.slots[3].state = 0;
	ok(put(1, 0x100, 0), "and kept when one is free");
	tab.slots[3].state = 1;
	is(take(1, 0x100, 0), 0, "a search for one in use ends");
	tab.slots[3].state = 2;
	is(take(1, 0x100, 0), 1, "and finds it when it is let go");
}

static void test_sets_spread(void)
{
	u32 kept = 0;

	make(4096);
	for (u64 task = 0; task < 32; task++)
		for (u64 i = 0; i < 32; i++)
			put(0xffff888000000000ULL + task * 0x2c00,
			    0x7ffe00000000ULL + i * 0x40, 0);
	for (u64 task = 0; task < 32; task++)
		for (u64 i = 0; i < 32; i++)
			kept += take(0xffff888000000000ULL + task * 0x2c00,
				     0x7ffe00000000ULL + i * 0x40, 0) == 1;
	is(kept, 1024, "a table that is a quarter full keeps what real tasks put in");
}

enum { THREADS = 4, CALLS = 40000 };

struct member {
	pthread_barrier_t *start;
	u64 task;
	u32 put, taken, missed, wrong;
};

/*
 * Where interrupts are not off, who holds the slot for a moment may be away for long: what
 * is not found is looked for again, or the next entry takes its place, and no sum says so.
 */
static int take_patiently(u64 task, u64 sp, u32 event)
{
	int i, got = 0;

	for (i = 0; i < 100 && !got; i++) {
		if (i)
			sched_yield();
		got = take(task, sp, event);
	}
	return got;
}

/* A task that calls, nests a little, and returns. */
static void *caller(void *arg)
{
	struct member *m = arg;
	uint64_t seed = m->task;
	u32 depth;
	int got;

	pthread_barrier_wait(m->start);
	for (u32 i = 0; i < CALLS; i++) {
		depth = 1 + tap_random(&seed) % 4;
		for (u32 d = 0; d < depth; d++)
			m->put += put(m->task, 0x1000 - d * 64, d & 1);
		for (u32 d = depth; d-- > 0;) {
			got = take_patiently(m->task, 0x1000 - d * 64, d & 1);
			m->taken += got != 0;
			m->missed += !got;
			m->wrong += got < 0;
		}
	}
	return NULL;
}

/* Who reads sees what is under way, with its bytes, and nothing else. */
static void test_peek(void)
{
	u64 bytes[16 * 2] = { 0 }, kept[2] = { 1234, 5678 }, got[2] = { 0 };
	struct pair p = pair_of(1, 2, 3), q;
	u32 seen = 0;

	make(16);
	tab.data = (u8 *)bytes;
	tab.data_size = sizeof(kept);
	pairtab_put_with(&tab, &p, kept, sizeof(kept));
	for (u32 i = 0; i < 16; i++)
		if (pairtab_peek(&tab, i, &q, got, sizeof(got[0]))) {
			seen++;
			ok(same(&p, &q) && got[0] == 1234 && !got[1], "what a slot holds");
		}
	is(seen, 1, "of one call, one is seen");
	pairtab_take_with(&tab, &p.key, 3, &q, got);
	for (u32 i = 0; i < 16; i++)
		seen += pairtab_peek(&tab, i, &q, got, sizeof(got[0]));
	is(seen, 1, "and none when it has returned");
	tab.data = NULL;
	tab.data_size = 0;
}

/* --- with hints ----------------------------------------------------------- */

static u64 bytes[1024];

static void make_with_data(u32 nr)
{
	make(nr);
	tab.data = (u8 *)bytes;
	tab.data_size = sizeof(bytes[0]);
}

static int put_at(u64 task, u64 data, struct pair_hint *hint, u32 once)
{
	struct pair p = pair_of(task, 0x100, 0);

	return pairtab_put_at(&tab, &p, &data, sizeof(data), hint, once);
}

/* What was kept; 0: not found, -1: wrong. */
static s64 take_at(u64 task, const struct pair_hint *hint, u32 once)
{
	struct pair want = pair_of(task, 0x100, 0), got;
	u64 data = 0;

	memset(&got, 0xee, sizeof(got));
	if (!pairtab_take_at(&tab, &want.key, 0, &got, &data, hint, once))
		return 0;
	return same(&got, &want) ? (s64)data : -1;
}

static void test_hints(void)
{
	struct pair_hint hint = { 0 }, no = { 0 }, other = { 0 };
	u32 first;

	make_with_data(64);
	ok(put_at(1, 11, &hint, 0), "without a hint an entry is kept");
	first = hint.slot;
	is(take_at(1, &hint, 0), 11, "and found where it is");
	is(take_at(1, &hint, 0), 0, "once");
	ok(put_at(1, 12, &hint, 0), "the next of its key");
	is(hint.slot, first, "stands in the same place");
	is(take_at(1, &no, 0), 12, "where a search finds it, too");
	put_at(1, 13, &hint, 0);
	put_at(2, 20, &other, 0);
	is(take_at(1, &hint, 0), 13, "one is found when others came since");
	hint = other;
	ok(put_at(3, 30, &hint, 0), "a hint to what is another's does not matter");
	is(take_at(2, &other, 0), 20, "which stays there");
	is(take_at(3, &no, 0), 30, "beside it");
	hint = (struct pair_hint){ .slot = 65, .birth = 7 };
	ok(put_at(4, 40, &hint, 1) && hint.slot <= 64, "nor one to where nothing is");
	is(take_at(4, &(struct pair_hint){ .slot = -1U, .birth = hint.birth }, 0), 40,
	   "also when it is taken");
}

/* Two processors, each with its hint; what begins on one need not end there. */
static void test_hints_of_a_lost_end(void)
{
	struct pair_hint a = { 0 }, b = { 0 }, no = { 0 };

	make_with_data(64);
	put_at(1, 10, &b, 0);
	take_at(1, &b, 0);
	put_at(2, 5, &no, 0);			/* so that the next is not in the same place */
	put_at(1, 11, &a, 0);
	take_at(1, &a, 0);
	tab.slots[b.slot - 1].state = 2;	/* one whose end is lost, as old as it is */
	put_at(1, 12, &a, 0);
	is(take_at(1, &b, 0), 12, "the end of another processor finds the youngest");
	make_with_data(64);
	put_at(1, 10, &b, 0);			/* its end is lost */
	put_at(1, 11, &a, 0);
	is(take_at(1, &b, 0), 11, "who has an old hint does not take what is old");
	is(take_at(1, &b, 0), 0, "which had to make room");
}

static void test_hints_of_calls(void)
{
	struct pair_hint hint = { 0 }, dead;

	make_with_data(64);
	put_at(1, 10, &hint, 1);
	is(take_at(1, &hint, 1), 10, "a call whose key nobody has again is found");
	dead = hint;
	put_at(2, 20, &hint, 1);
	is(hint.slot, dead.slot, "and the next call, of another key, stands where it was");
	dead = hint;
	put_at(3, 30, &hint, 1);
	ok(hint.slot != dead.slot, "but not in the place of one that never returned");
	is(take_at(3, &hint, 1), 30, "its return finds it");
	is(take_at(2, &dead, 1), 20, "also when it comes in the end");
	is(take_at(4, &hint, 1), 0, "a return without its entry finds nothing");
	is(tab.evicted, 0, "nothing had to go");
	tab.data = NULL;
	tab.data_size = 0;
}

static void test_many_tasks(u32 nr_slots, int roomy)
{
	struct member m[THREADS] = { 0 };
	u32 all_put = 0, taken = 0, missed = 0, wrong = 0, left = 0, busy = 0;
	pthread_barrier_t start;
	pthread_t t[THREADS];

	make(nr_slots);
	for (u64 i = 0; i < PAIRTAB_WAYS; i++)	/* calls that never return */
		all_put += put(i, i, 0);
	pthread_barrier_init(&start, NULL, THREADS);
	for (u32 i = 0; i < THREADS; i++) {
		m[i].start = &start;
		m[i].task = 0x1000 + i;
		pthread_create(&t[i], NULL, caller, &m[i]);
	}
	for (u32 i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		all_put += m[i].put;
		taken += m[i].taken;
		missed += m[i].missed;
		wrong += m[i].wrong;
	}
	pthread_barrier_destroy(&start);
	for (u32 i = 0; i < nr_slots; i++) {
		left += tab.slots[i].state == 2;
		busy += tab.slots[i].state == 1;
	}
	is(wrong, 0, "%u slots: every return finds its own entry or none", nr_slots);
	is(all_put, taken + tab.evicted + left,
	   "entries were taken, evicted (%u) or are still there (%u)",
	   tab.evicted, left);
	is(busy, 0, "no slot stays in use");
	if (roomy)
		is(missed, 0, "no return is without its entry where there is room");
	else
		ok(tab.evicted > 0, "and some had to go");
}

int main(void)
{
	test_entry_and_return();
	test_nested_calls();
	test_calls_that_never_return();
	test_full_sets_let_the_oldest_go();
	test_age_wraps();
	test_slots_in_use();
	test_sets_spread();
	test_peek();
	test_hints();
	test_hints_of_a_lost_end();
	test_hints_of_calls();
	test_many_tasks(1024, 1);
	test_many_tasks(PAIRTAB_WAYS, 0);
	free(tab.slots);
	return tap_done();
}
