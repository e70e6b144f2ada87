// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read the resident size of the program's mappings: when a process is paused at its exit, and for
 * live processes when a report is made.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ids.h"
#include "leaks/leaks.h"
#include "leaks/resident.h"
#include "leaks/run.h"

#define MOST_NS		1000000000ULL	/* for all processes of a report */
#define SLOW_NS		50000000ULL

/* The dynamic linker's are small, and everybody's. */
static bool is_own_mapping(const struct snap *s, const struct memtap_block *b)
{
	return (b->flags & (MEMTAP_BLOCK_MAPPING | MEMTAP_BLOCK_INNER)) == MEMTAP_BLOCK_MAPPING &&
	       !leaks_by_loader(s, b);
}

static int cmp_kept(const void *a, const void *b)
{
	const struct leaks_resident *x = a, *y = b;

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

static bool keep(struct leaks_run *r, const struct memtap_block *b, __u64 resident, __u64 swapped)
{
	struct leaks_resident *more = ids_grow(r->residents, r->nr_residents, &r->room_residents,
					       sizeof(*more));

	if (!more)
		return false;
	r->residents = more;
	r->residents[r->nr_residents++] = (struct leaks_resident){
		.addr = b->addr, .resident = resident, .swapped = swapped, .space = b->space,
	};
	return true;
}

/* One that was looked at before, and went on. */
static void forget(struct leaks_run *r, __u32 space)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->nr_residents; i++)
		if (r->residents[i].space != space)
			r->residents[kept++] = r->residents[i];
	r->nr_residents = kept;
}

void leaks_see_resident(struct leaks_run *r, const struct snap *s, __u32 space, pid_t pid)
{
	struct snap_walk w = { .snap = s };
	struct resident all = { .pid = 0 };
	bool had = false, good = true;
	__u64 resident, swapped;

	forget(r, space);
	while (good && snap_next_block(&w)) {
		if (w.block->space != space || !is_own_mapping(s, w.block))
			continue;
		good = had || !resident_read(&all, pid);
		had = good;
		if (good && resident_of(&all, w.block->addr, w.block->addr + w.block->size,
					&resident, &swapped))
			good = keep(r, w.block, resident, swapped);
	}
	resident_free(&all);
}

/*
 * Of those that live: what was seen at a report before is not true any more.  The kernel walks
 * their page tables meanwhile: where that is slow, reports at intervals do without.
 */
static void see_living(struct leaks_run *r, const struct snap *s)
{
	const bool skip = r->resident_ns > SLOW_NS && s->header.running;
	const __u64 begin = clock_ns();

	for (size_t i = 0; i < s->nr_spaces; i++) {
		const struct memtap_rec_space *x = &s->spaces[i];

		if (x->end_ns || !x->maps)
			continue;
		if (skip || clock_ns() - begin > MOST_NS)
			forget(r, x->id);
		else
			leaks_see_resident(r, s, x->id, x->pid);
	}
	if (!skip)
		r->resident_ns = clock_ns() - begin;
}

int leaks_set_resident(struct leaks_run *r, struct snap *s)
{
	struct snap_walk w = { .snap = s };
	size_t nr = 0;

	pthread_mutex_lock(&r->lock);
	see_living(r, s);
	if (r->nr_residents)
		qsort(r->residents, r->nr_residents, sizeof(*r->residents), cmp_kept);
	s->extents = calloc(r->nr_residents + 1, sizeof(*s->extents));
	while (s->extents && nr < r->nr_residents && snap_next_block(&w)) {
		const struct leaks_resident key = { .addr = w.block->addr,
						    .space = w.block->space }, *found;

		if (!is_own_mapping(s, w.block))
			continue;
		found = bsearch(&key, r->residents, r->nr_residents, sizeof(key), cmp_kept);
		if (found)
			s->extents[nr++] = (struct snap_extent){ w.number, found->resident,
								 found->swapped };
	}
	s->nr_extents = nr;
	pthread_mutex_unlock(&r->lock);
	return s->extents ? 0 : -ENOMEM;
}
