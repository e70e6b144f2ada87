// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/touchtab.c */
/* VARIANTS: asan tsan */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "touchtab.h"
#include "tap.h"

#define REGION	TOUCHTAB_REGION

static struct touchtab tab;

static void end(void)
{
	free(tab.slots);
	free(tab.heads);
	free(tab.shards);
	memset(&tab, 0, sizeof(tab));
}

static void begin(u64 bytes, u32 cpus)
{
	u32 per_shard, heads, shards;

	end();
	touchtab_layout(bytes, cpus, &per_shard, &heads, &shards);
	touchtab_init(&tab, calloc(touchtab_slots(per_shard, shards), sizeof(struct touch)),
		      per_shard, calloc(heads, sizeof(u32)), heads,
		      calloc(shards, sizeof(struct touchtab_shard)), shards, 42);
}

static u32 nr_slots(void)
{
	return touchtab_slots(tab.per_shard, tab.nr_shards);
}

/* Who has the page, as a reader finds out: small ones before huge ones. */
static u32 who(u32 space, u64 page)
{
	u32 huge = 0;
	struct touch t;

	for (u32 slot = 1; slot < nr_slots(); slot++) {
		if (!touchtab_read(&tab, slot, &t) || t.space != space)
			continue;
		if (t.place & 1 && t.place / 2 * TOUCHTAB_PAGES / REGION == page / REGION)
			huge = t.who[0];
		else if (!(t.place & 1) && t.place / 2 == page / TOUCHTAB_PAGES &&
			 t.who[page % TOUCHTAB_PAGES])
			return t.who[page % TOUCHTAB_PAGES];
	}
	return huge;
}

static void single_pages(void)
{
	begin(1 << 20, 2);
	touchtab_put(&tab, 1, 100, 1, 7, 0);
	is(who(1, 100), 7, "a page is whose it was put for");
	is(who(1, 101), 0, "its neighbour is nobody's");
	is(who(2, 100), 0, "nor is the same page of another address space");
	touchtab_put(&tab, 1, 100, 1, 8, 0);
	is(who(1, 100), 8, "who touches it again has it");
	touchtab_put(&tab, 1, 100, 1, 9, TOUCHTAB_KEEP);
	is(who(1, 100), 8, "who only copies it has not");
	touchtab_put(&tab, 1, 101, 1, 9, TOUCHTAB_KEEP);
	is(who(1, 101), 9, "but one that was nobody's");
}

/* Where the last one went, as long as it is there. */
static void test_neighbours(void)
{
	struct touchtab_hint hint = { 0 };
	u32 first;

	begin(1 << 20, 2);
	touchtab_put_one(&tab, &hint, 1, 100, 7);
	first = hint.slot;
	touchtab_put_one(&tab, &hint, 1, 101, 8);
	is(who(1, 100) * 10 + who(1, 101), 78, "two beside each other");
	is(hint.slot, first, "in one place");
	touchtab_put_one(&tab, &hint, 2, 101, 9);
	is(who(1, 101) * 10 + who(2, 101), 89, "another address space's is another one");
	touchtab_put_one(&tab, &hint, 2, 5000, 6);
	is(who(2, 5000), 6, "another place, too");

	/* its slot is somebody else's, of the same shard or another one */
	touchtab_put_huge(&tab, 2, 5000, 5, 0);
	is(who(2, 5000), 5, "it is huge now, and the small one is gone");
	for (u32 page = 0; page < 64 * TOUCHTAB_PAGES; page += TOUCHTAB_PAGES)
		touchtab_put(&tab, 3, page, 1, 4, 0);
	touchtab_put_one(&tab, &hint, 2, 5001, 3);
	is(who(2, 5001), 3, "one that comes after that is found");
	is(who(2, 5002), 5, "beside the huge one's others");
	for (u32 page = 0, wrong = 0; page < 64 * TOUCHTAB_PAGES; page += TOUCHTAB_PAGES) {
		wrong += who(3, page) != 4 || who(3, page + 9);
		if (page == 63 * TOUCHTAB_PAGES)
			is(wrong, 0, "and nobody else has got its page");
	}
}

static void masks(void)
{
	bool good = true;

	begin(1 << 20, 2);
	touchtab_put(&tab, 3, 1021, 0x8000000000000005ULL, 5, 0);
	is(who(3, 1021), 5, "of a mask: the first");
	is(who(3, 1022), 0, "not the second");
	is(who(3, 1023), 5, "the third");
	is(who(3, 1084), 5, "the last");
	touchtab_put(&tab, 4, 7, ~0ULL, 6, 0);
	for (u64 page = 7; page < 71; page++)
		good &= who(4, page) == 6;
	ok(good, "64 pages, wherever they begin");
	is(who(4, 6) | who(4, 71), 0, "and no others");
}

static void huge_pages(void)
{
	bool good = true;

	begin(1 << 20, 2);
	touchtab_put(&tab, 1, 2 * REGION + 3, 1, 4, 0);
	touchtab_put_huge(&tab, 1, 2 * REGION + 77, 5, 0);
	for (u64 page = 2 * REGION; page < 3 * REGION; page++)
		good &= who(1, page) == 5;
	ok(good, "a huge page is one's, and nothing is left of the small ones there");
	is(who(1, 2 * REGION - 1) | who(1, 3 * REGION), 0, "but no more");
	touchtab_put(&tab, 1, 2 * REGION + 9, 1, 6, 0);
	is(who(1, 2 * REGION + 9), 6, "a small one that comes later is its own");
	is(who(1, 2 * REGION + 10), 5, "the others stay");
	touchtab_put(&tab, 1, 2 * REGION + 10, 1, 7, TOUCHTAB_KEEP);
	is(who(1, 2 * REGION + 10), 5, "also one of them that is copied");
	touchtab_put_huge(&tab, 1, 2 * REGION, 8, TOUCHTAB_KEEP);
	is(who(1, 2 * REGION + 10), 5, "and all of it");
}

static void moves(void)
{
	bool good = true;

	begin(1 << 20, 2);
	for (u32 i = 0; i < 100; i++)
		touchtab_put(&tab, 1, 1000 + i, 1, 10 + i, 0);
	touchtab_put(&tab, 1, 5000 + 50, 1, 3, 0);
	is(touchtab_move(&tab, 1, 1010, 5003, 80, 100), 80, "pages move");
	for (u32 i = 0; i < 80; i++)
		good &= who(1, 5003 + i) == 20 + i && !who(1, 1010 + i);
	ok(good, "each is where it went, and no more where it was");
	is(who(1, 1009), 19, "the one before stays");
	is(who(1, 1090), 100, "and the one behind");
	touchtab_put(&tab, 1, 7001, 1, 5, 0);
	touchtab_move(&tab, 1, 9000, 7000, 20, 100);
	is(who(1, 7001), 0, "where pages went that are nobody's, nobody has one");
	touchtab_put_huge(&tab, 1, 10 * REGION, 77, 0);
	touchtab_move(&tab, 1, 10 * REGION, 20 * REGION, REGION, 100);
	is(who(1, 20 * REGION + 5), 77, "a huge page moves as a whole");
	is(who(1, 10 * REGION + 5), 0, "and is no more where it was");
	touchtab_move(&tab, 1, 20 * REGION, 30 * REGION + 7, REGION, 100);
	is(who(1, 30 * REGION + 6), 0, "to where there can be none: small ones");
	is(who(1, 30 * REGION + 7), 77, "the first");
	is(who(1, 31 * REGION + 6), 77, "the last");
	is(who(1, 31 * REGION + 7), 0, "and no more");
	touchtab_put_huge(&tab, 1, 40 * REGION, 78, 0);
	touchtab_put(&tab, 1, 40 * REGION + 300, 1, 79, 0);
	touchtab_move(&tab, 1, 40 * REGION + 256, 50 * REGION + 256, 256, 100);
	is(who(1, 50 * REGION + 256), 78, "a part of a huge page: small ones");
	is(who(1, 50 * REGION + 300), 79, "but for the one that was its own");
	is(who(1, 50 * REGION + 255), 0, "no other part");
	is(who(1, 40 * REGION + 255), 78, "which stays");
	is(touchtab_move(&tab, 1, 0, 1 << 20, 1000, 10), 160, "only as many as are allowed");
}

static u64 gone_space;

static int is_gone(const void *ctx, u32 space)
{
	(void)ctx;
	return space == gone_space;
}

static void the_gone_make_room(void)
{
	u32 all, used, share;
	u64 refused, skipped;

	begin(64 << 10, 1);
	all = nr_slots() - 1;
	tab.is_gone = is_gone;
	/* fill it, whoever gets there; then that address space ends */
	for (u64 page = 0; page < 4 * (u64)all * TOUCHTAB_PAGES && !READ_ONCE(tab.share);
	     page += TOUCHTAB_PAGES)
		touchtab_put(&tab, 5, page, 1, 1, 0);
	gone_space = 5;
	share = tab.share;
	for (u64 page = 0; page < all / 8 * TOUCHTAB_PAGES; page += TOUCHTAB_PAGES)
		touchtab_put(&tab, 6, page, 1, 2, 0);
	is(tab.share, share, "what is gone makes room");
	touchtab_sum(&tab, &used, &refused, &skipped);
	is(refused, 0, "and nothing is refused");
	gone_space = 0;
}

/* A table that is much too small keeps whole regions, and as many as its share says. */
static void a_share_of_them(void)
{
	const u32 regions = 4000;
	u32 kept = 0, whole = 0, used;
	u64 refused, skipped;
	struct touch t;

	begin(256 << 10, 2);
	for (u64 page = 0; page < (u64)regions * REGION; page += TOUCHTAB_PAGES)
		touchtab_put(&tab, 9, page, 0xffff, 3, 0);
	ok(tab.share >= 4, "it is full, and a share is kept: 1 in %u", 1U << tab.share);
	for (u32 r = 0; r < regions; r++) {
		u32 places = 0;

		if (!touchtab_of_share(tab.seed, tab.share, 9, (u64)r * REGION))
			continue;
		kept++;
		for (u32 slot = 1; slot < nr_slots(); slot++)
			places += touchtab_read(&tab, slot, &t) &&
				  t.place / 2 * TOUCHTAB_PAGES / REGION == r;
		whole += places == REGION / TOUCHTAB_PAGES;
	}
	is(whole, kept, "each region of the share is whole");
	ok(kept > (regions >> tab.share) / 3 && kept < (regions >> tab.share) * 3,
	   "there are about as many as it says: %u of %u", kept, regions);
	touchtab_sum(&tab, &used, &refused, &skipped);
	is(refused, 0, "nothing of it was refused");
	ok(skipped > 0, "what is not of it is counted");
}

/* Against a plain array. */
static void at_random(void)
{
	enum { PAGES = 4 * TOUCHTAB_REGION };
	static u32 want[2][PAGES];
	struct touchtab_hint hint = { 0 };
	u64 state = 4711;
	u32 wrong = 0;

	begin(1 << 20, 2);
	memset(want, 0, sizeof(want));
	for (u32 n = 1; n < 4000; n++) {
		const u32 space = tap_random(&state) % 2, page = tap_random(&state) % (PAGES - 64);
		const u64 mask = tap_random(&state) & tap_random(&state);

		switch (tap_random(&state) % 8) {
		case 0:
			touchtab_put_huge(&tab, space + 1, page, n, 0);
			for (u32 i = 0; i < REGION; i++)
				want[space][page / REGION * REGION + i] = n;
			break;
		case 1:
			touchtab_put(&tab, space + 1, page, 1, n, TOUCHTAB_KEEP);
			if (!want[space][page])
				want[space][page] = n;
			break;
		case 2:
			for (u32 i = 0; i < 8; i++) {
				touchtab_put_one(&tab, &hint, space + 1, page + i, n);
				want[space][page + i] = n;
			}
			break;
		default:
			touchtab_put(&tab, space + 1, page, mask, n, 0);
			for (u32 i = 0; i < 64; i++)
				if (mask >> i & 1)
					want[space][page + i] = n;
		}
		if (n % 400)
			continue;
		for (u32 i = 0; i < PAGES; i += 5)
			wrong += who(1, i) != want[0][i] || who(2, i) != want[1][i];
	}
	is(wrong, 0, "whatever is put, the last one has it");
}

static void *puts_many(void *arg)
{
	const u32 me = (u32)(uintptr_t)arg;
	struct touchtab_hint hint = { 0 };

	for (u32 n = 0; n < 20000; n++) {
		touchtab_put_one(&tab, &hint, 1, n / 2 * 3 % 50000, me);
		touchtab_put(&tab, 1, n * 3 % 50000, 0x8001, me, 0);
		if (!(n % 64))
			touchtab_put_huge(&tab, 1, n, me, 0);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t id[4];
	struct touch t;
	bool good = true;

	begin(128 << 10, 4);
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, puts_many, (void *)(i + 1));
	for (int i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
	for (u32 slot = 1; slot < nr_slots(); slot++)
		for (int i = 0; touchtab_read(&tab, slot, &t) && i < (int)TOUCHTAB_PAGES; i++)
			good &= t.who[i] <= 4;
	ok(good, "four at once, and it is full: nobody else has a page");
}

int main(void)
{
	single_pages();
	test_neighbours();
	masks();
	huge_pages();
	moves();
	the_gone_make_room();
	a_share_of_them();
	at_random();
	threads();
	end();
	return tap_done();
}
