// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the object size in struct kmem_cache: SLUB's and SLAB's of several kernels. */
#include "port.h"
#include "port/slabsize.h"
#include "tap.h"

#define WORDS	128

/* A description: what it is filled with first, and where it has sizes. */
struct form {
	const char *name;
	u32 size, object_size;		/* word */
	u32 added;			/* by debugging */
};

static u32 cache_a[WORDS], cache_b[WORDS];

static void fill(u32 *cache, const struct form *f, u32 asked)
{
	u32 i;

	for (i = 0; i < WORDS; i++)
		cache[i] = i % 3 ? 0xffff8881 : asked < 2000 ? 54 - i : 24 + i;
	if (f->size)
		cache[f->size] = asked + f->added;
	if (f->object_size)
		cache[f->object_size] = asked;
}

static u32 find(const struct form *f)
{
	fill(cache_a, f, 1016);
	fill(cache_b, f, 2048);
	return slabsize_find(cache_a, 1016, cache_b, 2048, WORDS);
}

static void test_forms(void)
{
	static const struct form forms[] = {
		{ "SLUB 3.10", 6, 7, 0 }, { "SLUB 4.18", 6, 7, 8 }, { "SLUB 6.1", 6, 7, 344 },
		{ "SLAB 3.10", 3, 25, 0 }, { "SLAB 4.19", 5, 27, 0 },
		{ "SLAB 4.19 with red zones", 5, 27, 24 }, { "SLAB 5.15", 5, 27, 512 },
	};
	u32 i;

	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		is(find(&forms[i]), forms[i].size, "%s: what an object takes", forms[i].name);
}

static void test_unknown(void)
{
	static const struct form much = { "", 5, 27, 4096 }, none = { "", 0, 0, 0 };
	const struct form first = { "", 0, 1, 0 };

	is(find(&much), 27, "debugging adds a page: what was asked for, and not 0");
	is(find(&none), 0, "none has it: 0");
	is(find(&first), 1, "the second word may be it");
	fill(cache_a, &none, 1016);
	fill(cache_b, &none, 2048);
	cache_a[4] = 1016;
	cache_b[9] = 2048;
	is(slabsize_find(cache_a, 1016, cache_b, 2048, WORDS), 0, "not the same place: chance");
	cache_a[9] = 1016 + SLABSIZE_ADDED + 1;
	is(slabsize_find(cache_a, 1016, cache_b, 2048, WORDS), 0, "too large for one of them");
	cache_a[9] = 1016 + SLABSIZE_ADDED;
	is(slabsize_find(cache_a, 1016, cache_b, 2048, WORDS), 9, "just not too large");
	is(slabsize_find(cache_a, 1016, cache_b, 2048, 9), 0, "past what was read");
}

int main(void)
{
	test_forms();
	test_unknown();
	return tap_done();
}
