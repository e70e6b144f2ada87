// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/peaktab.c */
/* VARIANTS: asan tsan */
/*
 * Threads that allocate and free, of two spaces, while somebody reads.  Each peak must add up to
 * what its stacks had.  Between barriers the sum of all is known, and so is the highest peak.
 */
#include <pthread.h>
#include <stdlib.h>

#include "peak_way.h"
#include "tap.h"

enum { THREADS = 4, ROUNDS = 6, STEPS = 1500, HELD = 32, STACKS = 9, SIZE = 64 };

static struct peaktab tab;
static struct peak_level levels[3];
static pthread_barrier_t barrier;
static u32 done;

struct member {
	u32 nr, space;
	struct peak_owner owner;
	u64 allocs, temporary;
	u32 slots[HELD];
	u64 sizes[HELD];
};

static const struct peak_level *level_of(void *ctx, u32 space)
{
	(void)ctx;
	return &levels[space];
}

static u64 sum_of(u32 space, u32 level)
{
	struct peak_told told[16];
	u32 slot = 0, nr;
	u64 sum = 0;

	while ((nr = peaktab_read(&tab, level_of, NULL, &slot, told, 16)))
		for (u32 i = 0; i < nr; i++)
			sum += level == PEAK_ALL || told[i].space == space ?
			       told[i].peak_bytes[level] : 0;
	return sum;
}

static void give(struct member *m, u32 i, u32 stack, u64 size, const struct peak_gone *gone)
{
	m->sizes[i] = size;
	m->slots[i] = gone ? peaktab_add(&tab, &m->owner, stack, size, gone, 1) :
		      peak_come(&tab, &m->owner, stack, size);
	m->allocs++;
}

static void take(struct member *m, u32 i, int temporary)
{
	const struct peak_gone gone = { m->sizes[i], m->slots[i], temporary };

	peak_go(&tab, &levels[m->space], &gone);
	m->temporary += temporary;
	m->sizes[i] = 0;
}

static void *run(void *arg)
{
	struct member *m = arg;
	u64 random = m->nr + 1;

	for (u32 round = 1; round <= ROUNDS; round++) {
		for (u32 n = 0; n < STEPS; n++) {
			const u64 r = tap_random(&random);
			const u32 i = r % HELD, stack = (r >> 8) % STACKS;
			const struct peak_gone gone = { m->sizes[i], m->slots[i], 0 };

			if (!m->sizes[i])
				give(m, i, stack, 1 + (r >> 16) % SIZE, NULL);
			else if ((r >> 32) % 4)
				take(m, i, (r >> 40) % 4 == 0);
			else
				give(m, i, stack, 1 + (r >> 16) % SIZE, &gone);
		}
		for (u32 i = 0; i < HELD; i++)
			if (m->sizes[i])
				take(m, i, 0);
		pthread_barrier_wait(&barrier);
		/* more than all that they had before, in each round */
		for (u32 i = 0; i < HELD; i++)
			give(m, i, 100 + m->nr, 2 * SIZE * round + m->nr, NULL);
		pthread_barrier_wait(&barrier);
		for (u32 i = 0; i < HELD; i++)
			take(m, i, 0);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *look(void *arg)
{
	struct peak_level l;
	u64 last = 0;
	int *rises = arg;

	*rises = 1;
	while (!smp_load_acquire(&done)) {
		sum_of(0, PEAK_ALL);
		peaktab_all(&tab, &l);
		*rises &= l.peak >= last && l.peak >= l.left;
		last = l.peak;
	}
	return NULL;
}

static u64 known_peak(u32 space)
{
	u64 sum = 0;

	for (u32 nr = 0; nr < THREADS; nr++)
		sum += space && space != 1 + nr % 2 ? 0 : HELD * (2 * SIZE * ROUNDS + nr);
	return sum;
}

int main(void)
{
	struct member members[THREADS] = { { 0 } };
	struct peak_told told[64];
	pthread_t threads[THREADS], reader;
	u64 allocs = 0, temporary = 0, had[THREADS] = { 0 }, others = 0;
	u32 slot = 0, nr;
	int rises;

	peaktab_init(&tab, calloc(100, sizeof(struct peak_stack)), 100, calloc(32, 4), 32, 3);
	pthread_barrier_init(&barrier, NULL, THREADS);
	pthread_create(&reader, NULL, look, &rises);
	for (u32 i = 0; i < THREADS; i++) {
		members[i].nr = i;
		members[i].space = 1 + i % 2;
		peaktab_own(&tab, &members[i].owner, &levels[1 + i % 2],
			    peak_who(1 + i % 2, 9));
		pthread_create(&threads[i], NULL, run, &members[i]);
	}
	for (u32 i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		allocs += members[i].allocs;
		temporary += members[i].temporary;
	}
	smp_store_release(&done, 1);
	pthread_join(reader, NULL);

	ok(rises, "a peak is never lower than one before, nor than what lives");
	is(tab.all.peak, known_peak(0), "the peak of all is what they had between barriers");
	is(levels[1].peak, known_peak(1), "so is that of one space");
	is(levels[2].peak, known_peak(2), "and of the other");
	is(sum_of(0, PEAK_ALL), tab.all.peak, "stacks add up to the peak of all");
	is(sum_of(1, PEAK_SPACE), levels[1].peak, "to that of a space");
	is(sum_of(2, PEAK_SPACE), levels[2].peak, "and to the other's");
	nr = peaktab_read(&tab, level_of, NULL, &slot, told, 64);
	for (u32 i = 0; i < nr; i++) {
		allocs -= told[i].allocs;
		temporary -= told[i].temporary;
		if (told[i].ustack >= 100)
			had[told[i].ustack - 100] += told[i].peak_blocks[PEAK_ALL];
		else
			others += told[i].peak_blocks[PEAK_ALL];
	}
	ok(!others, "the peak has nothing of what was freed before");
	for (u32 i = 0; i < THREADS; i++)
		is(had[i], HELD, "thread %u had all its blocks then", i);
	is(allocs, 0, "no allocation is missing");
	is(temporary, 0, "nor is a temporary one");
	is(peak_live(&tab.all), 0, "in the end nothing lives");
	free(tab.stacks);
	free(tab.heads);
	return tap_done();
}
