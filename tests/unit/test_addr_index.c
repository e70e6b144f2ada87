// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/addr_index.c */
#include <stdlib.h>

#include "base/addr_index.h"
#include "tap.h"

struct thing {
	__u64 addr;
	__u32 more;
};

/* Against a plain search, with gaps of all sizes. */
static void test_search(void)
{
	enum { NR = 3000, TRIES = 200000 };
	struct thing *many = calloc(NR, sizeof(*many));
	struct addr_index x;
	__u64 at = 0x1000, wrong = 0;

	srand(4);
	for (size_t i = 0; i < NR; i++) {
		many[i].addr = at;
		at += 1 + (__u64)(rand() % 128);
		if (rand() % 500 == 0)
			at += 1ULL << (20 + rand() % 20);
	}
	ok(!addr_index_make(&x, many, NR, sizeof(*many)), "an index is made");
	ok(x.nr_regions > 1, "of several regions (%zu)", x.nr_regions);
	for (size_t i = 0; i < TRIES; i++) {
		const size_t n = (size_t)rand() % NR;
		const __u64 addr = many[n].addr + (__u64)(rand() % 260) - 20;
		__u32 want = ADDR_INDEX_NONE;

		for (size_t j = n > 24 ? n - 24 : 0; j < NR && many[j].addr <= addr; j++)
			want = (__u32)j;
		wrong += addr_index_find(&x, addr) != want;
	}
	is(wrong, 0, "it finds what a plain search finds, in all of %d", TRIES);
	ok(addr_index_find(&x, 0xfff) == ADDR_INDEX_NONE, "nothing before all");
	is(addr_index_find(&x, ~0ULL), NR - 1, "the last one behind all");
	addr_index_free(&x);
	free(many);
}

static void test_none(void)
{
	const struct thing one = { 16, 0 };
	struct addr_index x;

	ok(!addr_index_make(&x, &one, 0, sizeof(one)), "an index of nothing");
	ok(addr_index_find(&x, 16) == ADDR_INDEX_NONE, "has nothing");
	addr_index_free(&x);
	ok(!addr_index_make(&x, &one, 1, sizeof(one)), "an index of one thing");
	is(addr_index_find(&x, 16), 0, "has it");
	ok(addr_index_find(&x, 15) == ADDR_INDEX_NONE, "and nothing before");
	addr_index_free(&x);
}

int main(void)
{
	test_search();
	test_none();
	return tap_done();
}
