// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/framerules.c */
/* VARIANTS: asan */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "framerules.h"
#include "tap.h"

/*
 * Stacks of functions that are made up: each has a rule, as of an ORC table, and a stack that
 * follows them is made; a walk by that is the truth.
 */
#define WORDS		512
#define SIZE		(WORDS * 8)
#define NR_FUNCTIONS	40
#define CODE		0xffffffff81000000UL
#define ENTRY		(CODE + 0x1000000)	/* what user mode enters */
#define TRAMPOLINE	(CODE + 0x2000000)
#define TOP		(SIZE - 168)		/* where its frame begins */
#define DEEPEST		12
#define MOST		20

static struct framerules rules;
static unsigned long stack[WORDS];
static unsigned long truth[MOST];
static struct framerules_step steps[MOST];
static unsigned int seed = 1;
static int frame_pointers;		/* all have one, as where the kernel unwinds by them */

struct function {
	u32 words;		/* of its frame */
	u32 varies;		/* by so many more, at most: then it has a frame pointer, */
	int fp;			/* as others may */
	u32 saves;		/* rbp in that word below its return address, or 0 */
};

static struct function functions[NR_FUNCTIONS];

static u32 any(u32 n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % n;
}

static void make_functions(void)
{
	u32 i;

	for (i = 0; i < NR_FUNCTIONS; i++) {
		struct function *f = &functions[i];

		f->words = 8 + any(12);
		f->fp = frame_pointers || !any(4);
		f->varies = f->fp && !any(2) ? 6 : 0;
		f->saves = f->fp ? 1 : any(3) ? 1 + any(6) : 0;
	}
}

static unsigned long address(u32 i)
{
	return CODE + 0x100 * i + 0x10;
}

/*
 * From the outermost frame inwards.  Words of no frame are what other stacks left: addresses,
 * places in the stack, numbers.  Returns the frames, the entry's included.
 */
static u32 make_stack(void)
{
	const unsigned long base = (unsigned long)stack;
	u32 nr = 2 + any(DEEPEST), at = TOP, i, size, which[DEEPEST + 2];
	unsigned long bp = any(2) ? 0x7fff12345678UL : 0, inner = 0;

	for (i = 0; i < nr; i++)
		which[i] = any(NR_FUNCTIONS);
	for (i = nr; i--;) {
		struct function *f = &functions[which[i]];

		steps[i + 1].sp = at;
		steps[i + 1].bp = bp;
		steps[i + 1].ip = i + 1 == nr ? ENTRY : address(which[i + 1]);
		stack[at / 8 - 1] = steps[i + 1].ip;
		if (f->saves)
			stack[at / 8 - 1 - f->saves] = bp;
		if (f->fp)
			bp = base + at - 16;
		else if (f->saves && any(2))	/* it may be anything in there */
			bp = any(3) ? 0xffff888000000000UL + any(4096) * 8 :
				      base + any(WORDS) * 8UL;
		size = f->words + (f->varies ? any(f->varies) : 0);
		at -= size * 8;
		inner = address(which[i]);
	}
	steps[0].sp = at;
	steps[0].bp = bp;
	steps[0].ip = inner;
	for (i = 0; i <= nr; i++)
		truth[i] = steps[i].ip;
	return nr + 1;
}

static void leave_words(void)
{
	u32 i;

	/* half of them are left as they were */
	for (i = 0; i < WORDS; i++)
		if (any(2))
			stack[i] = any(2) ? address(any(NR_FUNCTIONS)) :
				   any(2) ? (unsigned long)stack + any(WORDS) * 8UL : any(100);
}

static u32 walk(unsigned long *ips, u32 max, int *user)
{
	return framerules_walk(&rules, (unsigned long)stack, SIZE, &steps[0], ips, max, user);
}

static void learn(u32 nr)
{
	framerules_learn(&rules, (unsigned long)stack, steps, nr, FRAMERULES_USER);
}

/*
 * A return address is replaced by a trampoline's, which nobody learned, or a function was called
 * with rbp marked as leading to saved registers.
 */
static u32 walk_hidden(u32 nr, unsigned long *ips)
{
	u32 which = 1 + any(nr - 1);
	int user;

	if (frame_pointers && any(2))
		steps[0].bp |= 1;
	else
		stack[steps[which].sp / 8 - 1] = TRAMPOLINE;
	return walk(ips, MOST, &user);
}

static void test_any(void)
{
	unsigned long ips[MOST];
	u32 round, found = 0, wrong = 0, no_user = 0, hidden = 0, nr, got;
	int user;

	framerules_clear(&rules);
	for (round = 0; round < 400000; round++) {
		if (round % 100000 == 0) {
			make_functions();
			framerules_clear(&rules);
		}
		leave_words();
		nr = make_stack();
		user = 0;
		if (!any(8)) {
			hidden += walk_hidden(nr, ips);
			continue;
		}
		got = walk(ips, MOST, &user);
		if (!got) {
			learn(nr);
			continue;
		}
		found++;
		no_user += !user;
		wrong += got != nr || memcmp(ips, truth, nr * sizeof(*ips)) != 0;
	}
	printf("# %u stacks were found, %u of them were others\n", found, wrong);
	ok(found > 300000, "most stacks are walked by what was learned");
	ok(!wrong, "and are what the rules say, whatever else lies in the stack");
	ok(!no_user, "and end in user mode");
	ok(!hidden, "no stack in which a trampoline or an interrupt stands is walked by it");
}

static void test_frame_pointers(void)
{
	frame_pointers = 1;
	printf("# all functions have a frame pointer\n");
	test_any();
	frame_pointers = 0;
}

static void test_once(void)
{
	unsigned long ips[MOST];
	u32 nr, i;
	int user;

	framerules_clear(&rules);
	memset(stack, 0, sizeof(stack));
	for (i = 0; i < NR_FUNCTIONS; i++)
		functions[i] = (struct function){ .words = 10, .saves = 2 };
	nr = make_stack();
	ok(!walk(ips, MOST, &user), "nothing is known of code that nobody saw");
	learn(nr);
	ok(walk(ips, MOST, &user) == nr, "one walk says all");
	ok(!walk(ips, nr - 1, &user), "a stack that has no room is not begun");
	stack[steps[1].sp / 8 - 1] = 0x412345;
	ok(!walk(ips, MOST, &user), "no code in between, no stack");
	stack[steps[1].sp / 8 - 1] = steps[1].ip & 0xffffffff;
	ok(!walk(ips, MOST, &user), "nor half of an address");
	stack[steps[1].sp / 8 - 1] = steps[1].ip;
	for (i = 0; i < nr; i++)
		steps[i].sp -= 8;
	memmove(stack, stack + 1, sizeof(stack) - 8);
	ok(!walk(ips, MOST, &user), "nor one that ends in another place");
	for (i = 0; i < nr; i++)
		steps[i].sp += 8;
	memmove(stack + 1, stack, sizeof(stack) - 8);
	ok(walk(ips, MOST, &user) == nr, "there it was");
	framerules_clear(&rules);
	ok(!walk(ips, MOST, &user), "what is cleared is forgotten");
}

int main(void)
{
	test_any();
	test_frame_pointers();
	test_once();
	return tap_done();
}
