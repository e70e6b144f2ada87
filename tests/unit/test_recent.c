// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/recent.c */
/* VARIANTS: asan tsan */
#include <pthread.h>
#include <stdlib.h>

#include "recent.h"
#include "tap.h"

static struct recents tab;

static void make(u32 nr, u32 seed)
{
	free(tab.slots);
	recents_init(&tab, calloc(nr, sizeof(struct recent)), nr, seed);
}

/* All that is kept follows from the key and @salt. */
static struct recent recent_of(u32 space, u64 addr, u32 salt)
{
	return (struct recent){
		.block = {
			.addr = addr, .space = space, .size = addr * 5 + salt,
			.ustack = (u32)addr + salt, .task = salt * 3,
			.birth = ~salt, .event = (u16)salt, .flags = (u16)(salt * 7),
		},
		.ustack = salt * 11, .task = salt, .event = salt ^ 5,
	};
}

static int same(const struct recent *a, const struct recent *b)
{
	return a->block.addr == b->block.addr && a->block.space == b->block.space &&
	       a->block.size == b->block.size && a->block.ustack == b->block.ustack &&
	       a->block.task == b->block.task && a->block.birth == b->block.birth &&
	       a->block.event == b->block.event && a->block.flags == b->block.flags &&
	       a->ustack == b->ustack && a->task == b->task && a->event == b->event;
}

static void put(u32 space, u64 addr, u32 salt)
{
	struct recent r = recent_of(space, addr, salt);

	recents_put(&tab, &r);
}

/* 1 remembered as one of any salt, 0 not, -1 a mixture; *salt says which */
static int get_any(u32 space, u64 addr, u32 *salt)
{
	struct recent got, want;

	memset(&got, 0xee, sizeof(got));
	if (!recents_get(&tab, space, addr, &got))
		return 0;
	*salt = got.task;
	want = recent_of(space, addr, got.task);
	return same(&got, &want) ? 1 : -1;
}

static int get(u32 space, u64 addr, u32 salt)
{
	u32 is;
	int ret = get_any(space, addr, &is);

	return ret == 1 && is != salt ? -1 : ret;
}

static void test_remembers(void)
{
	u32 left = 0;

	make(64, 1);
	is(get(1, 0x1000, 1), 0, "nothing is remembered at first");
	put(1, 0x1000, 1);
	is(get(1, 0x1000, 1), 1, "what was freed is");
	is(get(1, 0x1000, 1), 1, "and stays, when it was asked for");
	is(get(2, 0x1000, 1), 0, "but not of another space");
	is(get(1, 0x1008, 1), 0, "nor of another address");
	put(2, 0x1000, 2);
	put(1, 0x1000, 3);
	is(get(1, 0x1000, 3), 1, "what is freed again is remembered as it was the last time");
	is(get(2, 0x1000, 2), 1, "each space has its own");
	recents_forget(&tab, 1, 0x1000);
	is(get(1, 0x1000, 3), 0, "what is handed out again is forgotten");
	is(get(2, 0x1000, 2), 1, "in its space");
	recents_forget(&tab, 1, 0x1000);
	recents_forget(&tab, 1, 0x5000);
	recents_forget(&tab, 2, 0x1000);
	for (u32 i = 0; i < 64; i++)
		left += tab.slots[i].state != 0;
	is(left, 0, "then nothing is left");
	put(0, 0, 1);
	put(~0U, ~0ULL, 2);
	ok(get(0, 0, 1) == 1 && get(~0U, ~0ULL, 2) == 1, "any key will do");
	is(sizeof(struct recent), 64, "one takes a cache line");
}

static u32 known(u64 from, u64 to)
{
	u32 nr = 0;

	for (u64 a = from; a < to; a++)
		nr += get(1, a, (u32)a) == 1;
	return nr;
}

static void test_oldest_goes(u32 clock)
{
	make(RECENT_WAYS, 1);
	for (u32 i = 0; i < RECENT_WAYS; i++)
		tab.slots[i].when = clock;
	for (u64 a = 0; a < RECENT_WAYS; a++)
		put(1, a, (u32)a);
	is(known(0, RECENT_WAYS), RECENT_WAYS, "a set is filled before anything goes");
	put(1, 0, 0);			/* it is the youngest now */
	put(1, 100, 100);
	is(get(1, 1, 1), 0, "then the oldest goes");
	is(known(0, RECENT_WAYS), RECENT_WAYS - 1, "and no other");
	recents_forget(&tab, 1, 3);
	put(1, 101, 101);
	ok(get(1, 2, 2) == 1 && get(1, 101, 101) == 1, "a free slot is taken first");
	for (u64 a = 200; a < 300; a++)
		put(1, a, (u32)a);
	is(known(0, 400), RECENT_WAYS, "as many are remembered as there is room for");
	is(known(300 - RECENT_WAYS, 300), RECENT_WAYS, "the last ones");
}

static void test_slots_in_use(void)
{
	u32 held;

	make(RECENT_WAYS, 1);
	put(1, 5, 5);
	for (u32 i = 0; i < RECENT_WAYS; i++)	/* as if others had claimed all */
		tab.slots[i].state = tab.slots[i].state ? tab.slots[i].state : 1;
	put(1, 5, 6);
	is(get(1, 5, 6), 1, "a slot of its own is found among those in use");
	held = tab.slots[0].state;
	is(held != 0 && held != 1, 1, "the first one");
	tab.slots[0].state = 1;
	put(1, 7, 7);
	ok(!get(1, 5, 6) && !get(1, 7, 7), "while all are in use there is no memory");
	recents_forget(&tab, 1, 5);
	tab.slots[0].state = held;
	is(get(1, 5, 6), 1, "whose holder let it go as it was");
}

/* Two blocks of one tag, which real ones hardly ever are. */
static void test_same_tag(void)
{
	make(RECENT_WAYS, 1);
	put(1, 5, 5);
	tab.slots[0].block.addr = 6;
	is(get(1, 5, 5), 0, "a tag is not yet the block");
	recents_forget(&tab, 1, 5);
	put(1, 5, 7);
	is(get(1, 5, 7), 1, "two of one tag have a slot each");
	is(tab.slots[0].state, tab.slots[1].state, "and neither stays in use");
	tab.slots[0].block = recent_of(2, 5, 5).block;
	is(get(1, 5, 7), 1, "they may differ by the space");
	is(get(1, 5, 7), 1, "as often as one asks");
}

/* Addresses such as allocators hand out: sets are used alike. */
static void test_spread(void)
{
	for (u32 shift = 4; shift <= 32; shift += 4) {
		u32 nr = 0;

		make(4096, shift);
		for (u32 i = 0; i < 1024; i++)
			put(1 + i % 3, 0x7f0000000000ULL + ((u64)i << shift), i);
		for (u32 i = 0; i < 1024; i++)
			nr += get(1 + i % 3, 0x7f0000000000ULL + ((u64)i << shift), i) == 1;
		ok(nr > 1000, "a quarter full, 1 << %u apart: nearly all are known (%u)",
		   shift, nr);
	}
}

/* Against what is remembered by a list of each set's blocks, in order. */
static void test_like_a_model(void)
{
	u32 salt[40] = { 0 }, when[40] = { 0 }, nr = 0, oldest, good = 0;
	uint64_t random = 3;
	enum { OPS = 20000 };

	make(RECENT_WAYS, 9);
	for (u32 i = 1; i <= OPS; i++) {
		u64 r = tap_random(&random);
		u32 a = (r >> 8) % 40;

		if (r % 4 == 0) {
			recents_forget(&tab, 1, a);
			nr -= salt[a] != 0;
			salt[a] = 0;
		} else if (r % 4 < 3) {
			for (u32 b = oldest = 0; b < 40; b++)
				if (salt[b] && (!salt[oldest] || when[b] < when[oldest]))
					oldest = b;
			if (!salt[a] && nr == RECENT_WAYS)
				salt[oldest] = 0;
			else
				nr += !salt[a];
			put(1, a, i);
			salt[a] = when[a] = i;
		}
		for (u32 b = 0; b < 40; b++)
			good += get(1, b, salt[b]) == !!salt[b];
	}
	is(good, OPS * 40, "any order of putting and forgetting is right");
}

enum { THREADS = 4, ROUNDS = 40000 };

struct member {
	pthread_barrier_t *start;
	u32 id, mixed, wrong, known;
};

/* Its own addresses, in sets that all share; and one address that all fight for. */
static void *freer(void *arg)
{
	struct member *m = arg;
	uint64_t random = m->id;
	u32 salt;
	int ret;

	pthread_barrier_wait(m->start);
	for (u32 i = 1; i <= ROUNDS; i++) {
		u64 r = tap_random(&random), addr = r % 8;

		put(m->id, addr, i);
		ret = get_any(m->id, addr, &salt);
		m->known += ret == 1;
		m->mixed += ret < 0 || (ret == 1 && salt != i);
		put(99, 5, i);
		m->mixed += get_any(99, 5, &salt) < 0;
		if (r >> 32 & 1)
			recents_forget(&tab, 99, 5);
		recents_forget(&tab, m->id, addr);
		m->wrong += get_any(m->id, addr, &salt) != 0;
	}
	return NULL;
}

static void test_threads(u32 nr)
{
	struct member m[THREADS] = { 0 };
	u32 mixed = 0, wrong = 0, found = 0, busy = 0;
	pthread_barrier_t start;
	pthread_t t[THREADS];

	make(nr, 1);
	pthread_barrier_init(&start, NULL, THREADS);
	for (u32 i = 0; i < THREADS; i++) {
		m[i].start = &start;
		m[i].id = i + 1;
		pthread_create(&t[i], NULL, freer, &m[i]);
	}
	for (u32 i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		mixed += m[i].mixed;
		wrong += m[i].wrong;
		found += m[i].known;
	}
	pthread_barrier_destroy(&start);
	for (u32 i = 0; i < nr; i++)
		busy += tab.slots[i].state == 1;
	is(mixed, 0, "%u slots: nobody gets a mixture of two", nr);
	is(wrong, 0, "nor what it had forgotten");
	ok(found > ROUNDS, "but most of what it remembers (%u of %u)", found, THREADS * ROUNDS);
	is(busy, 0, "no slot stays in use");
}

int main(void)
{
	test_remembers();
	test_oldest_goes(0);
	test_oldest_goes(-3U);
	test_slots_in_use();
	test_same_tag();
	test_spread();
	test_like_a_model();
	test_threads(64);
	test_threads(RECENT_WAYS);
	free(tab.slots);
	return tap_done();
}
