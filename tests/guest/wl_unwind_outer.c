// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_unwind_outer DEPTH EVENTS: page faults in wl_touch(), while further out return
 * addresses change: to the same place in another function, whose frame is as large.  The
 * frames between stay as they are.  Below wl_outer_1() or _2() lie DEPTH frames of
 * wl_deep(), below these wl_middle_1() or _2(), and again DEPTH.  Built with frame
 * pointers, one frame of wl_deep() is at times skipped by the chain of them, too.
 *
 * Prints "OUTER MIDDLE FRAMES EVENTS" for each stack that there was, FRAMES of wl_deep().
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define FN	__attribute__((noipa, used))
#define PAGE	4096UL
#define STAY	__asm__ volatile("" : : : "memory")

/* Of wl_outer_1() and wl_middle_1(): where the return into it lies, and what can be there */
static struct {
	uint64_t *slot, to[2];
} ways[2];
static long depth, events, count[2][2][2];
static char *fresh;

FN void wl_touch(volatile char *p)
{
	*p = 1;
}

/* What is random is the same each time. */
static int toss(void)
{
	static uint32_t state = 27;

	state = state * 1664525u + 1013904223u;
	return state >> 30 == 0;
}

FN void wl_inner(void)
{
#ifdef CHAIN
	uint64_t *frame = __builtin_frame_address(0), *one = (uint64_t *)frame[0];
	const uint64_t next = one[0], behind = ((uint64_t *)next)[0];
#endif
	int at[3] = { 0 };

	for (long i = 0; i < events; i++) {
		for (int way = 0; way < 2; way++) {
			at[way] ^= toss();
			*ways[way].slot = ways[way].to[at[way]];
		}
#ifdef CHAIN
		at[2] ^= toss();
		one[0] = at[2] ? behind : next;
#endif
		STAY;
		wl_touch(fresh + i * (long)PAGE);
		count[at[0]][at[1]][at[2]]++;
	}
	for (int way = 0; way < 2; way++)
		*ways[way].slot = ways[way].to[0];
#ifdef CHAIN
	one[0] = next;
#endif
	STAY;
}

FN void wl_deep(long left, void (*then)(void))
{
	volatile long room[4];

	room[0] = left;
	if (left > 1)
		wl_deep(left - 1, then);
	else
		then();
	room[1] = room[0];
}

/* @first has called who called us, as @second might have. */
static inline __attribute__((always_inline)) void note(int way, uint64_t *frame,
						       void (*first)(void), void (*second)(void))
{
	ways[way].slot = frame + 1;
	ways[way].to[0] = frame[1];
	ways[way].to[1] = frame[1] - (uint64_t)first + (uint64_t)second;
}

#define PLACE(name, n, below)	\
FN void name(void)		\
{				\
	volatile char room[32];	\
				\
	room[0] = n;		\
	below();		\
	room[1] = room[0];	\
}

static void wl_below_middle(void);
static void wl_below_outer(void);
PLACE(wl_middle_1, 1, wl_below_middle)
PLACE(wl_middle_2, 2, wl_below_middle)
PLACE(wl_outer_1, 1, wl_below_outer)
PLACE(wl_outer_2, 2, wl_below_outer)

FN void wl_below_middle(void)
{
	note(1, __builtin_frame_address(0), wl_middle_1, wl_middle_2);
	wl_deep(depth, wl_inner);
	STAY;
}

FN void wl_below_outer(void)
{
	note(0, __builtin_frame_address(0), wl_outer_1, wl_outer_2);
	wl_deep(depth, wl_middle_1);
	STAY;
}

int main(int argc, char **argv)
{
	depth = argc == 3 ? atol(argv[1]) : 0;
	events = argc == 3 ? atol(argv[2]) : 0;
	if (depth < 3 || events < 1) {
		fprintf(stderr, "usage: wl_unwind_outer DEPTH EVENTS\n");
		return 2;
	}
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	fresh = mmap(NULL, (size_t)events * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fresh == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	wl_outer_1();
	STAY;
	for (int i = 0; i < 8; i++)
		if (count[i >> 2][i >> 1 & 1][i & 1])
			printf("%d %d %ld %ld\n", 1 + (i >> 2), 1 + (i >> 1 & 1),
			       2 * depth - (i & 1), count[i >> 2][i >> 1 & 1][i & 1]);
	return 0;
}
