// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/mapset.c */
#include <stdlib.h>

#include "mapset_ref.h"
#include "tap.h"

static struct mapset set;
static struct ref ref;
static struct mapset_gone gone;

static void make(u32 nr, u32 seed)
{
	free(set.nodes);
	mapset_init(&set, calloc(nr, sizeof(struct mapping)), nr, seed);
	memset(&gone, 0, sizeof(gone));
}

static void make_both(u32 nr, u32 seed, u64 base, u64 unit, u32 ops)
{
	make(nr, seed);
	free(ref.range);
	memset(&ref, 0, sizeof(ref));
	ref.max_ranges = ops * 2 + 2;
	ref.range = calloc(ref.max_ranges, sizeof(*ref.range));
	ref.nr_ranges = 1;
	ref.room = nr - 1;
	ref.base = base;
	ref.unit = unit;
	ref.mark = 4;
}

static int add_both(u32 space, u32 from, u32 to, u32 ustack, u16 flags)
{
	struct ref_range range = { ustack, flags };
	struct mapping m = ref_mapping(&ref, space, from, to, range);

	return mapset_add(&set, &m, ref.mark, &gone) ==
	       ref_add(&ref, space, from, to, range);
}

static void remove_both(u32 space, u32 from, u32 to)
{
	mapset_remove(&set, space + 1, ref.base + from * ref.unit,
		      ref.base + to * ref.unit, ref.mark, &gone);
	ref_remove(&ref, space, from, to);
}

static int purge_both(u32 space, u32 max)
{
	return mapset_purge(&set, space + 1, max, ref.mark, &gone) ==
	       ref_purge(&ref, space, max);
}

static int both_same(void)
{
	return ref_same(&ref, &set) && ref_same_gone(&ref, &gone);
}

/* 0: the tree is not one; else its depth */
static u32 depth_of(u32 node, u32 below)
{
	const struct mapping *m = &set.nodes[node];
	u32 left, right;

	if (!node)
		return 1;
	if (node >= set.nr || m->priority > below)
		return 0;
	left = depth_of(m->left, m->priority);
	right = depth_of(m->right, m->priority);
	return left && right ? 1 + (left > right ? left : right) : 0;
}

static void test_cut(void)
{
	const struct mapping *m;

	make_both(100, 1, 0x7f0000000000ULL, 4096, 100);
	ok(add_both(0, 10, 20, 1, 0), "a range is added");
	remove_both(0, 5, 12);
	m = mapset_from(&set, 1, 0);
	is(m->start, ref.base + 12 * 4096, "its beginning goes");
	is(m->end, ref.base + 20 * 4096, "but not its end");
	remove_both(0, 18, 30);
	is(m->end, ref.base + 18 * 4096, "its end goes");
	remove_both(0, 14, 15);
	is(m->end, ref.base + 14 * 4096, "a hole makes two of it");
	m = mapset_from(&set, 1, m->end);
	is(m->start, ref.base + 15 * 4096, "of which the second begins where it ends");
	is(m->ustack, 1, "and is the same one's");
	is(gone.bytes[0], 5 * 4096, "bytes are counted");
	is(gone.ranges[0], 0, "a part is no range");
	remove_both(1, 0, 64);
	is(set.used, 2, "what another space unmaps is not there");
	remove_both(0, 14, 15);
	is(set.used, 2, "nor is a hole");
	remove_both(0, 13, 13);
	is(set.used, 2, "nothing is nothing");
	remove_both(0, 0, 64);
	is(set.used, 0, "both parts go");
	is(gone.ranges[0], 2, "as two");
	ok(both_same(), "all as written down");
}

static void test_over(void)
{
	make_both(100, 1, 0x10000, 1, 100);
	add_both(0, 10, 20, 1, 0);
	add_both(0, 20, 30, 2, 4);
	add_both(0, 40, 50, 3, 5);
	add_both(1, 0, 64, 4, 4);
	ok(add_both(0, 15, 45, 5, 8), "a range is added over three others");
	is(set.used, 4, "one of which is gone");
	is(gone.ranges[1], 1, "the marked one");
	is(gone.ranges[0], 0, "none of the others");
	is(gone.bytes[1], 15, "and a part of another marked one");
	is(gone.bytes[0], 5, "and one of what is not marked");
	ok(both_same(), "all as written down");
}

static void test_no_node(void)
{
	make_both(3, 1, 0x10000, 16, 100);
	add_both(0, 10, 20, 1, 0);
	add_both(0, 30, 40, 2, 0);
	ok(add_both(0, 50, 60, 3, 0), "one too many is refused");
	is(set.used, 2, "and not there");
	remove_both(0, 12, 15);
	is(gone.lost, 5 * 16, "what cannot be split loses its end");
	is(gone.bytes[0], 3 * 16, "which is not counted as unmapped");
	ok(both_same(), "all as written down");
	ok(add_both(0, 32, 33, 4, 0), "one amid another, without a node, is refused");
	is(gone.lost, 12 * 16, "and what was there is gone");
	ok(add_both(0, 5, 45, 5, 0), "one over all the others has their nodes");
	is(set.used, 1, "and is there");
	is(set.most, 2, "there were two at most");
	ok(both_same(), "all as written down");
}

static void test_ends(void)
{
	make_both(100, 1, -64ULL, 1, 100);
	add_both(0, 0, 63, 1, 0);
	add_both(2, 10, 63, 2, 0);
	remove_both(0, 60, 63);
	ok(both_same(), "the last addresses are like others");
	remove_both(0, 3, 5);
	remove_both(2, 0, 63);
	ok(both_same(), "and can be cut");
	make_both(100, 1, 0, 1, 100);
	add_both(0, 0, 3, 1, 0);
	add_both(0, 3, 5, 1, 0);
	remove_both(0, 0, 1);
	ok(both_same() && set.used == 2, "so are the first ones");
	ok(!mapset_from(&set, 1, 4) && !mapset_from(&set, 2, 0), "nothing follows the last");
	ok(mapset_from(&set, 0, ~0ULL), "a space is followed by the next one");
}

/* Each way to have up to 6 pages mapped, and all that can be done to it. */
enum { PAGES = 6, STATES = 729 };

static int build(u32 state, u32 nr)
{
	u32 how[PAGES + 1] = { 0 }, from, to;	/* 0 none, 2 with the one before */
	int good = 1;

	for (u32 p = 0; p < PAGES; p++, state /= 3)
		how[p] = state % 3;
	make_both(nr, nr, 0x1000, 1, 20);
	for (from = 0; from < PAGES; from = to) {
		to = from + 1;
		if (!how[from])
			continue;
		while (how[to] == 2)
			to++;
		good &= add_both(0, from, to, to, to & 1 ? 4 : 3);
	}
	return good && both_same();
}

static void test_all_small(u32 nr)
{
	u32 good = 0, all = 0;

	for (u32 state = 0; state < STATES; state++)
		for (u32 from = 0; from < PAGES; from++)
			for (u32 to = from + 1; to <= PAGES; to++) {
				all += 3;
				good += build(state, nr);
				remove_both(0, from, to);
				good += both_same();
				build(state, nr);
				good += add_both(0, from, to, 99, from & 1 ? 4 : 0) &&
					both_same();
			}
	is(good, all, "%u ways to cut %u pages, with %u nodes", all / 3 * 2, PAGES, nr - 1);
}

static void test_random(u32 nr, u64 base, u64 unit, u32 seed)
{
	const u32 ops = 30000;
	uint64_t random = seed;
	int same = 1, tree = 1;

	make_both(nr, seed, base, unit, ops);
	for (u32 i = 1; i < ops && same; i++) {
		u64 r = tap_random(&random);
		u32 space = r % REF_SPACES, from = (r >> 8) % 63;
		u32 len = 1 + (r >> 16) % (r >> 24 & 3 ? 4 : 60);
		u32 to = from + len > 63 ? 63 : from + len;

		if ((r >> 32) % 500 == 0)
			same &= purge_both(space, (r >> 50) % 10);
		else if ((r >> 40) % 8 < (i >> 10 & 1 ? 6 : 3))
			same &= add_both(space, from, to, i, (r >> 50) % 8);
		else
			remove_both(space, from, to);
		same &= both_same();
		same &= i % 16 || ref_same_at(&ref, &set);
		tree &= depth_of(set.root, ~0U) > 0;
	}
	ok(same, "%u nodes, pages of %llu at %#llx: always as written down", nr - 1,
	   (unsigned long long)unit, (unsigned long long)base);
	ok(tree, "and always a tree");
	ok(nr > 150 ? !gone.lost : gone.lost > 0, "%u bytes lost", (u32)gone.lost);
	for (u32 s = 0; s < REF_SPACES; s++)
		same &= purge_both(s, 1000);
	ok(same && !set.used && !set.root, "and empty in the end");
}

static void test_purge_in_pieces(void)
{
	u32 pieces = 0, nr;

	make_both(200, 3, 0x10000, 1, 300);
	for (u32 p = 0; p < 50; p++)
		for (u32 s = 0; s < 3; s++)
			add_both(s, p, p + 1, p, p & 4);
	ok(purge_both(1, 0), "none is none");
	do {
		nr = mapset_purge(&set, 2, 7, 4, &gone);
		pieces++;
	} while (nr == 7);
	is(pieces, 8, "a space goes in pieces");
	is(nr, 1, "of which the last is what is left");
	is(gone.ranges[0] + gone.ranges[1], 50, "all are counted");
	is(gone.ranges[1], 24, "by kind");
	ref_purge(&ref, 1, 1000);
	ok(both_same(), "and other spaces stay");
}

enum { MANY = 100000 };

static int add_page(u32 i)
{
	struct mapping m = { .start = i * 0x2000ULL, .end = i * 0x2000ULL + 0x1000,
			     .space = 1, .ustack = i };

	return mapset_add(&set, &m, 0, &gone);
}

/* What is read of it, in order, is each page once. */
static int in_order(u32 nr)
{
	const struct mapping *m = mapset_from(&set, 0, 0);
	u32 i;

	for (i = 0; m && m->ustack == i && m->start == i * 0x2000ULL; i++)
		m = mapset_from(&set, 1, m->start + 1);
	return !m && i == nr;
}

static void test_many(const char *what, u32 factor, u32 seed)
{
	u32 added = 0, depth;

	make(MANY + 1, seed);
	for (u32 i = 0; i < MANY; i++)
		added += add_page((u32)((u64)i * factor % MANY));
	is(set.used, MANY, "%u ranges, %s: as many nodes", MANY, what);
	depth = depth_of(set.root, ~0U);
	ok(added == MANY && depth && depth <= 60, "not deep (%u)", depth);
	ok(in_order(MANY), "in order");
	for (u32 i = MANY / 2; i < MANY; i++)
		mapset_remove(&set, 1, i * 0x2000ULL, i * 0x2000ULL + 0x1000, 0, &gone);
	depth = depth_of(set.root, ~0U);
	ok(in_order(MANY / 2) && depth && depth <= 55, "so is half of it (%u)", depth);
	mapset_remove(&set, 1, 0x1000, ~0ULL, 0, &gone);
	ok(in_order(1), "one call removes all the others");
}

static void test_deep(void)
{
	make(1000, 1);
	for (u32 i = 1; i <= MAPSET_DEPTH; i++) {	/* nothing but right branches */
		set.nodes[i] = (struct mapping){ .start = i * 16, .end = i * 16 + 16,
			.space = 1, .right = i < MAPSET_DEPTH ? i + 1 : 0,
			.priority = ~0U - i };
	}
	set.root = 1;
	set.used = MAPSET_DEPTH;
	set.next_node = MAPSET_DEPTH + 1;
	is(depth_of(set.root, ~0U), MAPSET_DEPTH + 1, "a tree as deep as none will be");
	is(mapset_add(&set, &(struct mapping){ .start = 1 << 20, .end = 2 << 20, .space = 1 },
		      0, &gone), 0, "is not made deeper");
	is(set.used, MAPSET_DEPTH, "nor is anything lost");
	is(mapset_add(&set, &(struct mapping){ .start = 0, .end = 1, .space = 1 }, 0, &gone),
	   1, "elsewhere it grows");
	is(mapset_purge(&set, 1, 1000, 0, &gone), MAPSET_DEPTH + 1, "and all of it goes");
}

int main(void)
{
	test_cut();
	test_over();
	test_no_node();
	test_ends();
	test_all_small(20);
	test_all_small(5);
	test_random(300, 0x7f0000000000ULL, 4096, 1);
	test_random(300, 0, 1, 2);
	test_random(300, -64ULL << 30, 1 << 30, 3);
	test_random(20, 0x1000, 1, 4);
	test_random(2, 0x1000, 1, 5);
	test_purge_in_pieces();
	test_many("ascending", 1, 0);
	test_many("descending", MANY - 1, 1);
	test_many("shuffled", 48271, 2);
	test_many("ascending", 1, ~0U);
	test_deep();
	free(set.nodes);
	free(ref.range);
	return tap_done();
}
