// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/cachetab.c */
/* VARIANTS: asan tsan */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cachetab.h"
#include "tap.h"

static struct cachetab *new_table(const char *pattern)
{
	struct cachetab *t = calloc(1, sizeof(*t));

	snprintf(t->pattern, sizeof(t->pattern), "%s", pattern);
	cachetab_init(t);
	return t;
}

/* Addresses are only compared. */
static const void *at(u64 n)
{
	return (const void *)(uintptr_t)(0xffff888000000000ULL + n * 256);
}

static void test_match(void)
{
	ok(cachetab_match("kmalloc-96", "kmalloc-96"), "a name matches itself");
	ok(!cachetab_match("kmalloc-9", "kmalloc-96"), "but not a longer one");
	ok(!cachetab_match("kmalloc-96", "kmalloc-9"), "nor a shorter one");
	ok(cachetab_match("kmalloc-*", "kmalloc-rcl-128"), "* matches the rest");
	ok(cachetab_match("*", "") && cachetab_match("**", "x"), "* matches anything");
	ok(cachetab_match("*inode*cache", "ext4_inode_x_cache"), "several * match");
	ok(!cachetab_match("*inode*cache", "ext4_inode_caches"), "to the end");
	ok(cachetab_match("kmalloc-?6", "kmalloc-96") && !cachetab_match("?", ""),
	   "? matches one letter");
	ok(cachetab_match("", "") && !cachetab_match("", "x"), "the empty pattern: nothing");
	ok(!cachetab_match("*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
	   "what does not match is known in no time");
}

static void test_numbers(void)
{
	struct cachetab *t = new_table("");
	u32 a, b, c;

	ok(!cachetab_find(t, at(1), at(2)), "a new table knows no cache");
	a = cachetab_add(t, at(1), at(2), "dentry");
	ok(a >= CACHETAB_FIRST && cachetab_find(t, at(1), at(2)) == a, "one is added and found");
	ok(cachetab_add(t, at(1), at(2), "dentry") == a && t->used == a + 1, "once");
	b = cachetab_add(t, at(1), at(3), "inode");
	ok(b != a && cachetab_find(t, at(1), at(2)) == a,
	   "another cache at the same address is another one");
	c = cachetab_add(t, at(4), at(5), "dentry(12:foo)");
	ok(c == a, "a cache of a control group has the number of its kind");
	ok(cachetab_add(t, at(6), at(7), "dentry") == a, "equal names have one number");
	ok(cachetab_add(t, at(8), at(9), "") == CACHETAB_OTHER && t->lost == 1,
	   "a cache without a name is among the others, and counted");
	ok(!strcmp(t->entries[a].name, "dentry") && t->entries[a].passes, "it has its name");
	c = cachetab_add(t, at(10), at(11),
			 "a_name_that_is_longer_than_there_is_room_for_in_the_table");
	ok(strlen(t->entries[c].name) == CACHETAB_NAME - 1, "a long name is cut");
	ok(cachetab_add(t, at(12), at(13),
			"a_name_that_is_longer_than_there_is_room_for_in_the_table") == c,
	   "and found again");
	free(t);
}

static void test_pattern(void)
{
	struct cachetab *t = new_table("kmalloc-*");

	ok(t->entries[cachetab_add(t, at(1), at(2), "kmalloc-64")].passes, "what matches passes");
	ok(!t->entries[cachetab_add(t, at(3), at(4), "inode")].passes, "what does not, does not");
	ok(!t->entries[CACHETAB_LARGE].passes && !t->entries[CACHETAB_OTHER].passes,
	   "what has no cache neither");
	free(t);
}

static void test_full(void)
{
	struct cachetab *t = new_table("");
	char name[32];
	int same = 1;

	for (u32 i = 0; i < 2 * CACHETAB_MAX; i++) {
		snprintf(name, sizeof(name), "cache_%u", i);
		cachetab_add(t, at(3 * i), at(3 * i + 1), name);
	}
	ok(t->used == CACHETAB_MAX, "all numbers are given");
	ok(t->lost == CACHETAB_MAX + CACHETAB_FIRST, "and the rest are counted as others");
	for (u32 i = 0; i + CACHETAB_FIRST < CACHETAB_MAX; i++)
		same &= cachetab_find(t, at(3 * i), at(3 * i + 1)) == i + CACHETAB_FIRST;
	ok(same, "those that have a number keep it");
	for (u32 i = 0; i < 4 * CACHETAB_SLOTS; i++)
		cachetab_add(t, at(100000 + i), at(7), "cache_1");
	ok(cachetab_find(t, at(0), at(1)) == CACHETAB_FIRST, "also when no slot is left");
	free(t);
}

/* --- threads --------------------------------------------------------------- */

#define THREADS	4
#define CACHES	300

static struct cachetab *shared;
static u32 seen[THREADS][CACHES];

static void *look_and_add(void *arg)
{
	u32 *mine = seen[(uintptr_t)arg];
	char name[32];

	for (u32 round = 0; round < 20; round++)
		for (u32 i = 0; i < CACHES; i++) {
			u32 id = cachetab_find(shared, at(2 * i), at(2 * i + 1));

			snprintf(name, sizeof(name), "cache_%u", i);
			if (!id)
				id = cachetab_add(shared, at(2 * i), at(2 * i + 1), name);
			if (round && mine[i] != id)
				id = ~0U;
			mine[i] = id;
		}
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[THREADS];
	int same = 1;

	shared = new_table("");
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, look_and_add, (void *)i);
	for (u32 i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (u32 i = 0; i < CACHES; i++)
		for (u32 k = 0; k < THREADS; k++)
			same &= seen[k][i] == seen[0][i] && seen[k][i] < CACHETAB_MAX;
	ok(same, "all threads see one number for a cache");
	ok(shared->used == CACHETAB_FIRST + CACHES, "and none has two");
	free(shared);
}

static void test_orders(void)
{
	struct cachetab *t = new_table("");

	ok(!strcmp(t->entries[CACHETAB_PAGES].name, "order-0 pages") &&
	   !strcmp(t->entries[CACHETAB_PAGES + 13].name, "order-13 pages"),
	   "pages are named by their order");
	ok(t->entries[CACHETAB_PAGES].passes && t->entries[CACHETAB_PAGES + 13].passes,
	   "all orders pass");
	t->orders = 1U << 3;
	cachetab_init(t);
	ok(t->entries[CACHETAB_PAGES + 3].passes && !t->entries[CACHETAB_PAGES + 2].passes,
	   "or those that are asked for");
	free(t);
}

int main(void)
{
	test_match();
	test_numbers();
	test_pattern();
	test_full();
	test_threads();
	test_orders();
	return tap_done();
}
