// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: */
/* The clock of births, and the moments that have names. */
#include <stdlib.h>
#include <string.h>

#include "core/marks.h"
#include "tap.h"

static struct marks m;

static void clear(void)
{
	memset(&m, 0, sizeof(m));
}

static int mark(const char *name, u32 ticks)
{
	return marks_set(&m, name, 0, ticks);
}

static void same_tick(void)
{
	u32 before, between, after;

	clear();
	ok(marks_time(&m, 7) == 7, "without a mark births are ticks");
	before = marks_time(&m, 100);
	ok(mark("a", 100), "a mark");
	between = marks_time(&m, 100);
	ok(mark("b", 100), "another one in the same tick");
	after = marks_time(&m, 100);
	ok(before < m.at[0].birth && between >= m.at[0].birth && between < m.at[1].birth &&
	   after >= m.at[1].birth, "what is born in one tick is before, between and after them");
	ok(marks_time(&m, 103) == 103, "two ticks later the clock is right again");
	ok(mark("late", 1000) && marks_time(&m, 1000) == 1001 && marks_time(&m, 1002) == 1002,
	   "it is as ticks say wherever the mark is");
}

static void names(void)
{
	char name[MEMTAP_MARK_LEN];
	int added = 0;

	clear();
	mark("one", 1);
	ok(marks_find(&m, "one") == 0, "a name is found");
	ok(marks_find(&m, "on") == m.nr, "no part of it");
	for (int i = 1; i < MEMTAP_MAX_MARKS; i++) {
		snprintf(name, sizeof(name), "mark %d", i);
		added += mark(name, 1);
	}
	ok(added == MEMTAP_MAX_MARKS - 1, "as many as there is room for");
	ok(!mark("more", 1), "not one more");
	for (int i = 1; i < MEMTAP_MAX_MARKS; i++)
		if (m.at[i].birth != m.at[i - 1].birth + 1)
			added = 0;
	ok(added, "all at once they are in their order");
	ok(marks_time(&m, 1) == m.at[MEMTAP_MAX_MARKS - 1].birth, "and births behind the last");
}

static void events(void)
{
	u32 before, first;

	clear();
	marks_add(&m, "hit", MEMTAP_MARK_EVENT, 0);
	ok(m.at[0].birth == 0, "an event's mark is nowhere at first");
	before = marks_time(&m, 50);
	marks_hit(&m, 0, 50);
	first = m.at[0].birth;
	ok(before < first && marks_time(&m, 50) >= first, "it is where the event was");
	before = marks_time(&m, 50);
	marks_hit(&m, 0, 50);
	ok(before < m.at[0].birth, "and then where it was last");
	ok(!(m.at[0].flags & MEMTAP_MARK_COARSE), "both to the block");
	for (int i = 0; i < 100000; i++)
		marks_hit(&m, 0, 51);
	ok(marks_time(&m, 51) - 51 <= MARKS_AHEAD, "a storm does not drive the clock away");
	ok(m.at[0].flags & MEMTAP_MARK_COARSE, "and says that it was one");
	ok(marks_time(&m, 51) >= m.at[0].birth, "what is born after it is not before it");
	ok(mark("by hand", 51) && marks_time(&m, 51) == m.at[1].birth &&
	   m.at[1].birth > m.at[0].birth, "a mark by hand is exact even then");
	ok(marks_time(&m, 51 + MARKS_AHEAD + 2) == 51 + MARKS_AHEAD + 2, "the ticks come up");
}

/* Any order of marks, events and births, at ticks that go on as they like: nothing is confused. */
static void at_random(void)
{
	u32 wrong = 0, unbounded = 0, seed = 5;

	for (u32 start = 0; start < 2; start++) {
		/* (births wrap after 50 to 500 days) */
		u32 ticks = start ? 0xffffff00 : 0, last = 0, i;

		clear();
		marks_add(&m, "hit", MEMTAP_MARK_EVENT, 0);
		for (i = 0; i < 200000 && ticks != 0x80000000; i++) {
			const u32 birth = marks_time(&m, ticks);

			seed = seed * 1103515245 + 12345;
			if (i && (s32)(birth - last) < 0)
				wrong++;
			last = birth;
			unbounded += birth - ticks > MARKS_FARTHEST;
			if ((seed >> 16) % 8 == 0) {
				const u32 flags = m.at[0].flags;

				marks_hit(&m, 0, ticks);
				wrong += !(flags & MEMTAP_MARK_COARSE) &&
					 !(m.at[0].flags & MEMTAP_MARK_COARSE) &&
					 (s32)(m.at[0].birth - birth) <= 0;
				m.at[0].flags = MEMTAP_MARK_EVENT;
				wrong += (s32)(marks_time(&m, ticks) - m.at[0].birth) < 0;
			}
			if ((seed >> 16) % 3000 == 1)
				mark("x", ticks);
			if ((seed >> 16) % 4 == 2)
				ticks += (seed >> 20) % 3;
		}
	}
	ok(wrong == 0, "births never go back, and are on the side of a mark that they are on");
	ok(unbounded == 0, "and never far ahead of the time");
}

int main(void)
{
	same_tick();
	names();
	events();
	at_random();
	return tap_done();
}
