// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/pagetab.c kmod/core/livetab.c */
/* VARIANTS: asan tsan */
#include <pthread.h>

#include <stdlib.h>

#include "pagetab.h"
#include "tap.h"

#define SHIFT	12
#define SPACE	7
#define FIRST	100
#define PAGE(n)	((u64)(n) << SHIFT)

static struct pagetab pages;

static struct livetab tab;

static void end(void)
{
	free(tab.slots);
	free(tab.heads);
	free(tab.shards);
	memset(&tab, 0, sizeof(tab));
}

static void begin(u32 room)
{
	end();
	livetab_init(&tab, calloc(room, sizeof(struct live)), room, calloc(256, sizeof(u32)), 256,
		     calloc(2, sizeof(struct livetab_shard)), 2, 1);
	pagetab_init(&pages, &tab, SPACE, SHIFT, FIRST);
}

static int come(u64 page, u32 order, u32 stack)
{
	struct live b = { .addr = PAGE(page), .size = PAGE(1) << order, .space = SPACE,
			  .ustack = stack, .task = 3, .birth = 4, .flags = 5,
			  .event = FIRST + order }, was;

	pagetab_may_cut(&pages, order);
	return livetab_put(&tab, &b, &was);
}

static int is_there(u64 page, u32 order, u32 stack)
{
	struct live b;

	return livetab_get(&tab, SPACE, PAGE(page), &b) && b.size == PAGE(1) << order &&
	       b.ustack == stack && b.task == 3 && b.birth == 4 && b.flags == 5 &&
	       b.event == FIRST + order;
}

static void test_whole(void)
{
	struct pagetab_cut cut;
	struct live b;

	begin(100);
	come(8, 0, 1);
	come(16, 3, 2);
	is(pagetab_take(&pages, PAGE(9), 0, &b, &cut), PAGETAB_UNKNOWN, "a page that nobody has");
	is(pagetab_take(&pages, PAGE(16), 3, &b, &cut), PAGETAB_WHOLE, "a block as it came");
	ok(b.ustack == 2 && b.size == PAGE(8), "and it is the one");
	is(pagetab_take(&pages, PAGE(16), 3, &b, &cut), PAGETAB_UNKNOWN, "once");
	is(pagetab_take(&pages, PAGE(8), 2, &b, &cut), PAGETAB_WHOLE,
	   "more is given back than was known");
	is(livetab_used(&tab), 0, "nothing is left");
}

static void test_cut(void)
{
	struct pagetab_cut cut;
	struct live b;

	begin(100);
	come(16, 3, 2);
	is(pagetab_take(&pages, PAGE(19), 0, &b, &cut), PAGETAB_CUT, "a page out of eight");
	ok(b.addr == PAGE(19) && b.size == PAGE(1) && b.ustack == 2 && b.event == FIRST,
	   "it is that page, and of that block");
	ok(cut.parts == 4 && !cut.lost && cut.was.addr == PAGE(16) && cut.was.size == PAGE(8),
	   "it became four parts");
	ok(is_there(20, 2, 2) && is_there(16, 1, 2) && is_there(18, 0, 2),
	   "three are there, as large as can be");
	is(pagetab_take(&pages, PAGE(16), 0, &b, &cut), PAGETAB_CUT, "the first page of a part");
	is(pagetab_take(&pages, PAGE(17), 0, &b, &cut), PAGETAB_WHOLE, "its other one");
	is(pagetab_take(&pages, PAGE(20), 2, &b, &cut), PAGETAB_WHOLE, "a part at once");
	is(pagetab_take(&pages, PAGE(19), 0, &b, &cut), PAGETAB_UNKNOWN, "none twice");
	is(livetab_used(&tab), 1, "one page is left");
	begin(3);
	come(16, 3, 2);
	is(pagetab_take(&pages, PAGE(16), 0, &b, &cut), PAGETAB_CUT, "where there is no room");
	ok(cut.parts == 4 && cut.lost >= 1 && cut.lost_bytes >= PAGE(1),
	   "parts that had none are told");
}

/* As an allocator that hands out, splits and takes back, beside the table. */
enum { PAGES = 1024, ROUNDS = 200000, FREE = 0 };

static u32 owner[PAGES];	/* stack of each page */

static int all_are(u32 at, u32 order, u32 who)
{
	for (u32 i = 0; i < 1U << order; i++)
		if (owner[at + i] != who)
			return 0;
	return 1;
}

static void set_all(u32 at, u32 order, u32 who)
{
	for (u32 i = 0; i < 1U << order; i++)
		owner[at + i] = who;
}

static u32 smaller;		/* pages that were given back at once, and are several parts */

/* These pages go, which may be several parts of one block by now. */
static int go(u32 at, u32 order)
{
	struct pagetab_cut cut;
	struct live b;
	u32 n = 1U << order, i;

	for (i = 0; i < n; i += (u32)(b.size >> SHIFT)) {
		if (pagetab_take(&pages, PAGE(at + i), i ? 0 : order, &b, &cut) ==
		    PAGETAB_UNKNOWN || b.ustack != owner[at] || b.addr != PAGE(at + i))
			return 0;
		smaller += i != 0;
	}
	return 1;
}

static void test_random(void)
{
	u32 stack = 0, gone = 0, bad = 0, held = 0;
	uint64_t state = 1;

	begin(4 * PAGES);
	for (u32 n = 0; n < ROUNDS; n++) {
		const u32 order = (u32)(tap_random(&state) % 6);
		const u32 at = (u32)(tap_random(&state) % PAGES) >> order << order;

		if (!all_are(at, order, owner[at]))
			continue;
		if (owner[at] == FREE) {
			come(at, order, ++stack);
			set_all(at, order, stack);
		} else {
			bad += !go(at, order);
			set_all(at, order, FREE);
			gone++;
		}
	}
	is(bad, 0, "each page that is given back is found, as its owner's");
	ok(gone > 10000, "there were many: %u", gone);
	is(smaller, 0, "parts stay as large as can be: none is given back in several");
	for (u32 i = 0; i < PAGES; i++) {
		held += owner[i] != FREE;
		bad += owner[i] != FREE && !go(i, 0);
	}
	ok(!bad && held, "what is left is what its owners have");
	is(livetab_used(&tab), 0, "and nothing else");
}

/* --- two who give back parts of the same blocks */

enum { BLOCKS = 3000 };
static pthread_barrier_t start;
static u32 missed[2];

static void *giver(void *arg)
{
	const u32 me = (u32)(unsigned long)arg;
	struct pagetab_cut cut;
	struct live b;

	for (u32 i = 0; i < BLOCKS; i++) {
		pthread_barrier_wait(&start);
		for (u32 k = me; k < 16; k += 2)
			missed[me] += pagetab_take(&pages, PAGE(i * 16 + k), 0, &b, &cut) ==
				      PAGETAB_UNKNOWN;
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t t[2];

	begin(20 * BLOCKS);
	for (u32 i = 0; i < BLOCKS; i++)
		come(i * 16, 4, i);
	pthread_barrier_init(&start, NULL, 2);
	for (unsigned long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, giver, (void *)i);
	for (u32 i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	is(missed[0] + missed[1], 0, "two at once miss none");
	is(livetab_used(&tab), 0, "and leave none");
}

int main(void)
{
	test_whole();
	test_cut();
	test_random();
	test_threads();
	end();
	return tap_done();
}
