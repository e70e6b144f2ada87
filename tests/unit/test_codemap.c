// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/codemap.c */
/* Which code an address was in, when what is there has changed since. */
#include "codemap_ref.h"
#include "tap.h"

#define ROOM	2048

enum { A = 8, B = 16, C = 24, D = 32 };

static void take(struct ref_mm *r, u32 a, u32 b)
{
	const u32 pages[] = { a, b };

	ref_take(r, pages, 2);
}

static u32 last_era(const struct ref_mm *r)
{
	return r->stack[r->nr_stacks - 1].era;
}

static void test_nothing_is_mapped_twice(void)
{
	struct ref_mm *r = ref_new(ROOM);

	ref_map(r, 0, 4, A, 0);
	ref_map(r, 4, 6, B, 1);
	ref_read(r);
	take(r, 0, 5);
	is(last_era(r), 0, "where each address has been one thing only there is one era");
	ref_read(r);
	is(r->maps.used - 1, 2, "what is read again is not kept again");
	ref_unmap(r, 4, 6);
	ref_map(r, 4, 6, B, 1);
	take(r, 0, 5);
	is(last_era(r), 0, "what went and came again to its place is the same");
	is(r->maps.used - 1, 2, "and kept once");
	is(ref_wrong(r), 0, "each address is in what it was in");
	ref_free(r);
}

static void test_a_plugin_after_another(void)
{
	struct ref_mm *r = ref_new(ROOM);
	u32 used;

	ref_map(r, 0, 4, A, 0);
	ref_map(r, 8, 10, B, 0);
	take(r, 9, 1);		/* nobody has read anything yet */
	ref_unmap(r, 8, 10);
	ref_map(r, 8, 10, C, 0);
	take(r, 9, 1);
	is(last_era(r), 1, "another file in its place begins an era");
	take(r, 1, 2);
	is(last_era(r), 0, "which is no matter to stacks that have nothing there");
	ref_read(r);
	take(r, 9, 1);
	is(last_era(r), 1, "nor does it begin again when all is read");
	ref_unmap(r, 8, 10);
	ref_map(r, 8, 10, B, 0);
	take(r, 9, 1);
	is(last_era(r), 0, "the first one again is the first era again");
	used = r->maps.used;
	for (u32 i = 0; i < 1000; i++) {
		ref_unmap(r, 8, 10);
		ref_map(r, 8, 10, i % 2 ? B : C, 0);
		take(r, 9, 1);
		ref_read(r);
	}
	is(last_era(r), 0, "however often they take turns");
	is(r->space.last_era, 1, "there are two eras");
	is(r->maps.used, used, "and nothing more is kept");
	is(ref_wrong(r), 0, "each address is in what it was in");
	is(ref_lost(r), 0, "none is lost");
	ref_free(r);
}

static void test_two_places(void)
{
	struct ref_mm *r = ref_new(ROOM);

	for (u32 i = 0; i < 64; i++) {
		ref_map(r, 0, 2, i & 1 ? A : B, 0);
		ref_map(r, 8, 10, i & 2 ? C : D, 0);
		take(r, 1, 9);
		take(r, 1, 20);
		take(r, 9, 20);
	}
	is(ref_wrong(r), 0, "of two places with two files each, each address is in what it was in");
	ok(r->space.last_era < 8, "and there are few eras (%u)", r->space.last_era);
	ref_free(r);
}

static void test_many_in_one_place(void)
{
	struct ref_mm *r = ref_new(ROOM);

	for (u32 i = 1; i < CODEMAP_REUSED - 1; i++) {
		ref_map(r, 3, 5, i * 8, 0);
		take(r, 4, 1);
	}
	is(ref_wrong(r), 0, "hundreds of files in one place are told apart");
	is(ref_lost(r), 0, "without any lost");
	for (u32 i = 1; i < CODEMAP_REUSED; i++)
		ref_map(r, 3, 5, (i + 10000) * 8, 0);
	take(r, 4, 1);
	is(last_era(r), MEMTAP_ERA_LOST, "where there are too many, an address is not known");
	is(ref_wrong(r), 0, "but those before still are");
	ok(r->maps.lost, "and it is counted");
	ref_free(r);
}

static void test_no_room(void)
{
	struct ref_mm *r = ref_new(4);

	ref_map(r, 0, 2, A, 0);
	ref_map(r, 3, 5, B, 0);
	ref_read(r);
	ref_map(r, 3, 5, C, 0);
	take(r, 4, 0);
	ref_map(r, 3, 5, D, 0);
	take(r, 4, 0);
	is(last_era(r), MEMTAP_ERA_LOST, "without room an address is not known");
	is(ref_wrong(r), 0, "but not called by another's name");
	ref_free(r);
}

static void test_unknown_code(void)
{
	const u64 ip[] = { REF_BASE + 0x10, REF_BASE + 8 * REF_PAGE + 0x10 };
	struct ref_mm *r = ref_new(ROOM);

	ref_map(r, 0, 2, A, 0);
	ref_map(r, 8, 10, B, 0);
	ref_read(r);
	is(codemap_era(&r->maps, &r->space, ip, 2, MEMTAP_STACK_NOMAP), 0,
	   "a stack that ends in code whose rows are not known ends where that is");
	ref_unmap(r, 8, 10);
	is(codemap_era(&r->maps, &r->space, ip, 2, MEMTAP_STACK_NOMAP), MEMTAP_ERA_LOST,
	   "but not in what was unmapped");
	ref_map(r, 8, 9, ~0U, 0);
	is(codemap_era(&r->maps, &r->space, ip, 2, 0), 1, "until it is known what came there");
	ref_free(r);
}

static void test_parts(void)
{
	struct ref_mm *r = ref_new(ROOM);

	ref_map(r, 2, 10, A, 0);
	take(r, 2, 9);
	take(r, 5, 9);
	ref_map(r, 4, 6, B, 3);		/* in the middle of it */
	take(r, 2, 9);
	take(r, 5, 9);
	take(r, 4, 2);
	ref_read(r);
	ref_map(r, 8, 12, C, 0);
	take(r, 5, 9);
	take(r, 6, 11);
	ref_map(r, 2, 10, A, 0);
	take(r, 5, 9);
	take(r, 11, 3);
	ref_map(r, 2, 10, A, 8);	/* another part of the same file */
	take(r, 5, 9);
	is(ref_wrong(r), 0, "of what is mapped over in part, each address is in what it was in");
	is(ref_lost(r), 0, "none is lost");
	ref_free(r);
}

/* As the dynamic linkers of old do: all of it, and then the data over it. */
static void test_cut_while_it_is_mapped(void)
{
	struct ref_mm *r = ref_new(ROOM);

	for (u32 i = 0; i < 40; i++) {
		ref_map(r, 2, 10, i % 2 ? A : B, 0);
		ref_unmap(r, 5, 10);
		take(r, 3, 4);
		ref_read(r);
		ref_map(r, 6, 8, C, 0);
		take(r, 3, 7);
		ref_unmap(r, 6, 8);
	}
	is(ref_wrong(r), 0, "of what is cut at once, each address is in what it was in");
	ok(r->space.last_era < 8, "and eras do not grow (%u)", r->space.last_era);
	is(ref_lost(r), 0, "none is lost");
	ref_free(r);
}

static u32 next_random(u32 *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void test_at_random(void)
{
	u32 seed = 1, wrong = 0, lost = 0, all = 0;

	for (u32 run = 0; run < 200; run++) {
		struct ref_mm *r = ref_new(run % 4 ? ROOM : 40);

		for (u32 i = 0; i < 300; i++) {
			u32 from = next_random(&seed) % REF_PAGES;
			u32 to = from + 1 + next_random(&seed) % (REF_PAGES - from);
			u32 file = 1 + next_random(&seed) % (1 + run % 6);
			u32 pages[REF_DEPTH];

			switch (next_random(&seed) % 6) {
			case 0:
				ref_unmap(r, from, to);
				break;
			case 1:
				ref_read(r);
				break;
			case 2:
				ref_map(r, from, to, run % 3 ? file * 8 : ~0U, 0);
				break;
			case 3:	/* where it always goes */
				from = file * 3 % REF_PAGES;
				to = from + 4 > REF_PAGES ? REF_PAGES : from + 4;
				ref_map(r, from, to, file * 8, 0);
				break;
			}
			for (u32 k = 0; k < REF_DEPTH; k++)
				pages[k] = next_random(&seed) % REF_PAGES;
			ref_take(r, pages, REF_DEPTH);
		}
		ref_read(r);
		wrong += ref_wrong(r) != 0;
		lost += ref_lost(r);
		all += r->nr_stacks;
		ref_free(r);
	}
	is(wrong, 0, "whatever is mapped where, no address of %u stacks is in another's code", all);
	ok(lost < all / 2, "and of most it is known (not of %u)", lost);
}

int main(void)
{
	test_nothing_is_mapped_twice();
	test_a_plugin_after_another();
	test_two_places();
	test_many_in_one_place();
	test_no_room();
	test_unknown_code();
	test_parts();
	test_cut_while_it_is_mapped();
	test_at_random();
	return tap_done();
}
