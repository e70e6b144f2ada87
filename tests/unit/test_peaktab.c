// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/peaktab.c */
#include <stdlib.h>

#include "peak_way.h"
#include "tap.h"

enum { SPACES = 4, STACKS = 24, BLOCKS = 400 };

/* A model that copies everything at each peak. */
struct block {
	u32 space, stack;		/* space 0: none */
	u64 size;
	u32 slot;
};

struct had {
	u64 blocks, bytes;
};

static struct peaktab tab;
static struct peak_level levels[SPACES + 1];
static u32 ids[SPACES + 1];		/* of the spaces, as they are now */
static struct had now[SPACES + 1][STACKS], at[SPACES + 1][STACKS], of_all[SPACES + 1][STACKS];
static struct had gone_of_all[STACKS];	/* that forgotten spaces had at the peak of all */
static u64 live[SPACES + 1], peak[SPACES + 1], all_live, all_peak;
static u64 allocs, temporary;
static struct block blocks[BLOCKS];

static void make(u32 nr, u32 heads)
{
	free(tab.stacks);
	free(tab.heads);
	peaktab_init(&tab, calloc(nr, sizeof(struct peak_stack)), nr,
		     calloc(heads, sizeof(u32)), heads, 7);
	memset(levels, 0, sizeof(levels));
	memset(now, 0, sizeof(now));
	memset(at, 0, sizeof(at));
	memset(of_all, 0, sizeof(of_all));
	memset(gone_of_all, 0, sizeof(gone_of_all));
	memset(live, 0, sizeof(live));
	memset(peak, 0, sizeof(peak));
	memset(blocks, 0, sizeof(blocks));
	all_live = all_peak = allocs = temporary = 0;
	for (u32 i = 0; i <= SPACES; i++)
		ids[i] = i;
}

static const struct peak_level *level_of(void *ctx, u32 space)
{
	(void)ctx;
	for (u32 i = 1; i <= SPACES; i++)
		if (ids[i] == space)
			return &levels[i];
	return NULL;
}

static void model_add(u32 space, u32 stack, u64 size)
{
	now[space][stack].blocks++;
	now[space][stack].bytes += size;
	live[space] += size;
	all_live += size;
	allocs++;
	if (live[space] > peak[space]) {
		peak[space] = live[space];
		memcpy(at[space], now[space], sizeof(at[space]));
	}
	if (all_live > all_peak) {
		all_peak = all_live;
		memcpy(of_all, now, sizeof(of_all));
		memset(gone_of_all, 0, sizeof(gone_of_all));
	}
}

static void model_remove(const struct block *b)
{
	now[b->space][b->stack].blocks--;
	now[b->space][b->stack].bytes -= b->size;
	live[b->space] -= b->size;
	all_live -= b->size;
}

static void fill(struct block *b, u32 space, u32 stack, u64 size, const struct peak_gone *gone)
{
	struct peak_owner o;

	*b = (struct block){ space, stack, size, 0 };
	peaktab_own(&tab, &o, &levels[space], peak_who(ids[space], 1000 + space));
	b->slot = gone || size % 5 == 4 ? peaktab_add(&tab, &o, 8 + 3 * stack, size, gone, 1) :
		  peak_come(&tab, &o, 8 + 3 * stack, size);
	model_add(space, stack, size);
}

static void drop(struct block *b, int is_temporary)
{
	const struct peak_gone gone = { b->size, b->slot, is_temporary };

	peak_go(&tab, &levels[b->space], &gone);
	temporary += is_temporary;
	model_remove(b);
	b->space = 0;
}

/* In the same moment: no peak lies between. */
static void move(struct block *b, u32 stack, u64 size)
{
	const struct peak_gone gone = { b->size, b->slot, 0 };
	const u32 space = b->space;

	model_remove(b);
	fill(b, space, stack, size, &gone);
}

/* It ends; what its number was is another space's, later. */
static void end(u32 space, int forgotten)
{
	u32 slot = 0;

	peaktab_end(&tab, &levels[space]);
	all_live -= live[space];
	live[space] = 0;
	for (u32 i = 0; i < BLOCKS; i++)
		if (blocks[i].space == space)
			blocks[i].space = 0;
	memset(now[space], 0, sizeof(now[space]));
	if (!forgotten)
		return;
	while (peaktab_forget(&tab, &levels[space], ids[space], &slot, 5))
		;
	for (u32 i = 0; i < STACKS; i++) {
		gone_of_all[i].blocks += of_all[space][i].blocks;
		gone_of_all[i].bytes += of_all[space][i].bytes;
	}
	memset(at[space], 0, sizeof(at[space]));
	memset(of_all[space], 0, sizeof(of_all[space]));
	memset(&levels[space], 0, sizeof(levels[space]));
	peak[space] = 0;
	ids[space] += SPACES;
}

static int same_had(const struct had *a, u64 nr, u64 bytes)
{
	return a->blocks == nr && a->bytes == bytes;
}

/* Everything that is read is the model's: 1 if all stacks had room. */
static int same(void)
{
	static struct had seen[SPACES + 1][STACKS], seen_all[SPACES + 1][STACKS];
	struct peak_told told[7];
	struct peak_level l;
	u32 slot = 0, nr;
	u64 sum = 0;

	memset(seen, 0, sizeof(seen));
	memset(seen_all, 0, sizeof(seen_all));
	while ((nr = peaktab_read(&tab, level_of, NULL, &slot, told, 7)))
		for (u32 i = 0; i < nr; i++) {
			const struct peak_told *x = &told[i];
			const u32 stack = (x->ustack - 8) / 3, space = (x->space - 1) % SPACES + 1,
				  forgotten = ids[space] != x->space;

			if (x->task != 1000 + space)
				return 0;
			seen[space][stack].blocks += x->peak_blocks[PEAK_SPACE];
			seen[space][stack].bytes += x->peak_bytes[PEAK_SPACE];
			seen_all[forgotten ? 0 : space][stack].blocks += x->peak_blocks[PEAK_ALL];
			seen_all[forgotten ? 0 : space][stack].bytes += x->peak_bytes[PEAK_ALL];
			sum += x->peak_bytes[PEAK_ALL];
			if (!forgotten && !levels[space].gone &&
			    !same_had(&now[space][stack], x->allocs - x->frees,
				      x->bytes - x->freed_bytes))
				return 0;
		}
	for (u32 k = 0; k < STACKS; k++) {
		for (u32 i = 1; i <= SPACES; i++)
			if (!same_had(&at[i][k], seen[i][k].blocks, seen[i][k].bytes) ||
			    !same_had(&of_all[i][k], seen_all[i][k].blocks, seen_all[i][k].bytes))
				return 0;
		if (!same_had(&gone_of_all[k], seen_all[0][k].blocks, seen_all[0][k].bytes))
			return 0;
	}
	peaktab_all(&tab, &l);
	return l.peak == all_peak && peak_live(&l) == all_live && sum == all_peak;
}

static int same_levels(void)
{
	struct peak_level l;

	for (u32 i = 1; i <= SPACES; i++) {
		peaktab_space(&tab, &levels[i], &l);
		if (l.peak != peak[i] || (!l.gone && peak_live(&l) != live[i]))
			return 0;
	}
	peaktab_all(&tab, &l);
	return l.peak == all_peak && peak_live(&l) == all_live;
}

static void test_layout(void)
{
	int fits = 1, powers = 1;
	u32 nr, heads;

	for (u64 bytes = 4096; bytes < 1ULL << 31; bytes += bytes / 5) {
		const u64 got = peaktab_layout(bytes, &nr, &heads);

		fits &= got <= bytes && got + sizeof(struct peak_stack) > bytes;
		powers &= !(heads & (heads - 1)) && nr <= heads * 2;
	}
	ok(fits, "all bytes are used, and no more");
	ok(powers, "heads are a power of two, and not many stacks share one");
	ok(peaktab_layout(0, &nr, &heads) > 0 && nr == 2, "the smallest has room for one stack");
	is(sizeof(struct peak_stack), 128, "a stack has two cache lines");
}

static void test_by_hand(void)
{
	struct block a, b, c;

	make(64, 16);
	fill(&a, 1, 0, 100, NULL);
	fill(&b, 1, 1, 50, NULL);
	is(levels[1].number, 2, "each rise is a peak");
	drop(&a, 0);
	fill(&c, 1, 2, 60, NULL);
	ok(same(), "what came after the peak is not in it, what went is");
	is(levels[1].peak, 150, "the peak is the sum then");
	fill(&a, 1, 0, 40, NULL);
	is(levels[1].number, 2, "as much as at the peak is no new one");
	fill(&a, 1, 3, 1, NULL);
	ok(same() && levels[1].peak == 151, "a byte more is, and all stacks have what they have");
	move(&c, 2, 70);
	ok(same() && levels[1].peak == 161, "realloc() is one event: it adds the difference");
	move(&c, 4, 30);
	move(&c, 4, 70);
	ok(same() && levels[1].peak == 161, "and none that comes to the same sum is a peak");
	fill(&a, 1, 5, 0, NULL);
	ok(same(), "a block without bytes makes none");
}

static void test_spaces(void)
{
	struct block a, b;

	make(64, 16);
	fill(&a, 1, 0, 100, NULL);
	fill(&b, 2, 0, 100, NULL);
	drop(&a, 0);
	fill(&a, 1, 1, 60, NULL);
	ok(same() && all_peak == 200, "all spaces have a peak of their own");
	end(2, 0);
	ok(same(), "a space that ends stays in the peak");
	fill(&b, 1, 2, 150, NULL);
	ok(same() && all_peak == 210, "until there is a higher one without it");
	end(1, 1);
	ok(same(), "what is forgotten has its share of the peak of all");
	is(tab.used, 3, "which takes room");
	fill(&b, 3, 2, 500, NULL);
	end(2, 1);
	ok(same(), "until that one is over");
	is(tab.used, 1, "then there is room again");
}

/* Often at a peak, and often far from it. */
static void test_like_the_model(u32 seed, u32 nr, u32 heads)
{
	u64 random = seed;
	int good = 1, sums = 1;
	const int room = nr > SPACES * STACKS * 8;

	make(nr, heads);
	for (u32 i = 0; i < 60000 && good && sums; i++) {
		const u64 r = tap_random(&random);
		struct block *b = &blocks[r % BLOCKS];
		const u32 space = 1 + (r >> 16) % SPACES, stack = (r >> 24) % STACKS,
			  grows = (i / 3000) % 3;
		const u64 size = (r >> 32) % 4 ? (r >> 40) % 1000 : (r >> 40) % 3;

		if (b->space && (r >> 60) < 3)
			move(b, stack, size);
		else if (b->space && (r >> 56) % 4 >= grows)
			drop(b, (r >> 50) % 8 == 0);
		else if (!b->space && !levels[space].gone)
			fill(b, space, stack, size, NULL);
		if (r % 4099 == 0) {
			end(space, (r >> 30) & 1);
			if (levels[space].gone)
				end(space, 1);
		}
		if (i % 97 == 0 && room)
			good &= same();
		if (i % 97 == 0)
			sums &= same_levels();
	}
	if (room)
		ok(good, "seed %u: each stack has what it had at each peak", seed);
	ok(sums, "seed %u, %u slots: the sums and the peaks are the model's", seed, nr);
	ok(room ? !tab.lost : tab.lost > 0, "%s", room ? "no stack was without room" :
	   "allocations without room for their stack are counted");
}

static void test_counts(void)
{
	struct peak_told told[8];
	u64 got = 0, got_temporary = 0;
	u32 slot = 0, nr;

	make(64, 16);
	for (u32 i = 0; i < 300; i++) {
		fill(&blocks[0], 1, i % 3, i, NULL);
		drop(&blocks[0], i % 3 == 1);
	}
	while ((nr = peaktab_read(&tab, level_of, NULL, &slot, told, 8)))
		for (u32 i = 0; i < nr; i++) {
			got += told[i].allocs;
			got_temporary += told[i].temporary;
			ok(told[i].temporary == (told[i].ustack == 11 ? 100 : 0) &&
			   told[i].allocs == 100, "temporary ones count for their own stack");
			ok(told[i].bytes == told[i].freed_bytes && told[i].bytes > 10000,
			   "all bytes that were ever allocated are told");
		}
	is(got, allocs, "each allocation counts");
	is(got_temporary, temporary, "and each temporary one");
}

int main(void)
{
	test_layout();
	test_by_hand();
	test_spaces();
	test_counts();
	for (u32 seed = 1; seed <= 6; seed++)
		test_like_the_model(seed, 4000, 64);
	test_like_the_model(7, 20, 16);
	test_like_the_model(8, 400, 1);
	free(tab.stacks);
	free(tab.heads);
	return tap_done();
}
