// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copy the memory of a process in steps; see copy.h.
 *
 * A copied page is kept if it was not written since: it is present, its soft-dirty bit is clear,
 * and its mapping is not new.  This check is used for private anonymous memory only.  Every other
 * page is read again: other processes may write to shared memory, and the soft-dirty bits of huge
 * file pages are not reliable.  The kernel sets the bit for all pages of a new or grown
 * mapping.  If most pages would have to be read again, the first step is repeated.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "leaks/copy.h"
#include "leaks/counts.h"
#include "leaks/dirty.h"
#include "leaks/pages.h"

#define PM_PRESENT	(1ULL << 63)
#define PM_SWAPPED	(1ULL << 62)
/* Whoever touches it dies (MADV_GUARD_INSTALL, Linux 6.13; told since 6.15). */
#define PM_GUARD	(1ULL << 58)
/* Before 4.2 the size of a page stood there: 12, as its power of two. */
#define PM_SIZE(state)	((state) >> 55 & 0x3f)
#define NEAR_PAGES	64ULL		/* between mappings */
#define WINDOW		4096U		/* pages whose state is looked up at once */
#define RUNS		64U		/* of pages, that are read at once */
#define RUN_PAGES	16U		/* of each; a clock is looked at in between */
#define PIECE		(64UL << 10)
#define MOST_TRIES	3		/* of the first step */
#define FEW_BYTES	(4ULL << 20)	/* are read in no time */

struct copy {
	pid_t pid;
	__u64 most, deadline;
	int clear;			/* or -1: all is read again */
	struct pages pages, gone;	/* gone: to be given back when nobody waits */
	struct layout layout;		/* as it was when it was read last */
	struct memory live;
	struct copy_told told;
	bool swapped;			/* what is swapped out is read, too */
	bool stopped;			/* else it runs meanwhile */
	bool cleared;			/* by somebody else: bits that were set are not */
	__u64 failed;
	/* what is to be read */
	const struct area *area;	/* of the layout, and the */
	size_t kept;			/* index of the mapping that is just read */
	struct { size_t kept; __u64 page, nr; } runs[RUNS];
	unsigned int nr_runs;
	__u64 done;			/* bytes that were read */
	__u64 window;			/* first page of those whose state is known */
	size_t known;
	__u64 states[WINDOW];
	struct counts counts;
};

int copy_new(pid_t pid, __u64 most, bool swapped, struct copy **out)
{
	struct copy *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->pid = pid;
	c->most = most;
	c->swapped = swapped;
	c->clear = -1;
	memory_open(&c->live, pid);
	c->live.careful = true;		/* what was not touched stays so */
	if (!swapped)
		memory_resident(&c->live);
	*out = c;
	return 0;
}

void copy_free(struct copy *c)
{
	if (!c)
		return;
	if (c->clear >= 0)
		close(c->clear);
	memory_close(&c->live);
	layout_free(&c->layout);
	pages_free(&c->pages);
	pages_free(&c->gone);
	free(c->counts.at);
	free(c);
}

const struct copy_told *copy_told(const struct copy *c)
{
	return &c->told;
}

const char *copy_why_not(int err)
{
	switch (err) {
	case -ENOMEM:
	case -ENOBUFS:
		return "there is not enough memory for a copy";
	case -EIO:
		return "this kernel does not report which pages are present";
	default:
		return NULL;
	}
}

struct pages *copy_pages(struct copy *c)
{
	return &c->pages;
}

struct layout copy_layout(struct copy *c)
{
	const struct layout l = c->layout;

	memset(&c->layout, 0, sizeof(c->layout));
	return l;
}

void copy_give_layout(struct copy *c, struct layout *l)
{
	layout_free(&c->layout);
	c->layout = *l;
	memset(l, 0, sizeof(*l));
}

/* ---- pages that are read ---- */

static int is_enough(const struct copy *c)
{
	if (c->deadline && clock_ns() > c->deadline)
		return -ETIMEDOUT;
	return c->pages.bytes > c->most ? -ENOBUFS : 0;
}

static struct kept *kept_now(struct copy *c)
{
	return &c->pages.at[c->kept];
}

/* What the program itself must not read now, it may have written, and read again. */
static bool read_closed(struct copy *c, const struct kept *k, __u64 at)
{
	return !k->area.readable && c->live.mem >= 0 &&
	       pread(c->live.mem, k->bytes + at, PAGES_SIZE, (off_t)(k->area.start + at)) ==
	       (ssize_t)PAGES_SIZE;
}

/* One by one: who is in the way? */
static void read_alone(struct copy *c, struct kept *k, __u64 page, __u64 nr)
{
	for (__u64 i = page; i < page + nr; i++) {
		const __u64 at = i << PAGES_SHIFT;
		struct iovec to = { k->bytes + at, PAGES_SIZE };
		struct iovec from = { (void *)(unsigned long)(k->area.start + at), PAGES_SIZE };
		const bool good = process_vm_readv(c->pid, &to, 1, &from, 1, 0) ==
				  (ssize_t)PAGES_SIZE || read_closed(c, k, at);

		pages_set(&c->pages, k, i, good);
		if (good)
			c->done += PAGES_SIZE;
		else if (k->area.readable)
			c->failed += PAGES_SIZE;
	}
}

static int flush(struct copy *c)
{
	struct iovec to[RUNS], from[RUNS];
	__u64 left;
	ssize_t n;

	if (!c->nr_runs)
		return 0;
	for (unsigned int i = 0; i < c->nr_runs; i++) {
		const struct kept *k = &c->pages.at[c->runs[i].kept];
		const __u64 at = c->runs[i].page << PAGES_SHIFT;
		const size_t len = (size_t)(c->runs[i].nr << PAGES_SHIFT);

		to[i] = (struct iovec){ k->bytes + at, len };
		from[i] = (struct iovec){ (void *)(unsigned long)(k->area.start + at), len };
	}
	n = process_vm_readv(c->pid, to, c->nr_runs, from, c->nr_runs, 0);
	left = n > 0 ? (__u64)n >> PAGES_SHIFT : 0;
	for (unsigned int i = 0; i < c->nr_runs; i++) {
		struct kept *k = &c->pages.at[c->runs[i].kept];
		const __u64 nr = c->runs[i].nr, good = nr < left ? nr : left;

		for (__u64 page = 0; page < good; page++)
			pages_set(&c->pages, k, c->runs[i].page + page, true);
		c->done += good * PAGES_SIZE;
		left -= good;
		if (good < nr)
			read_alone(c, k, c->runs[i].page + good, nr - good);
	}
	c->nr_runs = 0;
	return is_enough(c);
}

static int want(struct copy *c, __u64 page)
{
	const unsigned int last = c->nr_runs - 1;

	if (c->nr_runs && c->runs[last].kept == c->kept &&
	    c->runs[last].page + c->runs[last].nr == page && c->runs[last].nr < RUN_PAGES) {
		c->runs[last].nr++;
		return 0;
	}
	if (c->nr_runs == RUNS) {
		const int err = flush(c);

		if (err)
			return err;
	}
	c->runs[c->nr_runs].kept = c->kept;
	c->runs[c->nr_runs].page = page;
	c->runs[c->nr_runs++].nr = 1;
	return 0;
}

/* ---- of a mapping ---- */

/* Has it what was copied of this page, which is there?  @same: its mapping is. */
static bool is_as_it_was(struct copy *c, __u64 page, __u64 state, bool same)
{
	struct kept *k = kept_now(c);
	const bool wrote = state & DIRTY_BIT;

	if (c->clear < 0 || !same)
		return false;
	if (!wrote && pages_bit(k->wrote, page))
		c->cleared = true;
	if (!c->stopped)
		pages_set_bit(k->wrote, page, wrote);
	return !wrote && pages_bit(k->have, page);
}

static bool is_guard(__u64 state)
{
	return state & PM_GUARD && PM_SIZE(state) != PAGES_SHIFT;
}

static bool is_there(struct copy *c, __u64 state)
{
	if (is_guard(state))
		return false;
	if (state & PM_SWAPPED && !c->swapped) {
		c->told.swapped += PAGES_SIZE;
		return false;
	}
	return state & (PM_PRESENT | PM_SWAPPED);
}

static int take_window(struct copy *c, __u64 page, const __u64 *states, size_t nr, __u64 same)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (!is_there(c, states[i]))
			pages_set(&c->pages, kept_now(c), page + i, false);
		else if (!is_as_it_was(c, page + i, states[i], (page + i) << PAGES_SHIFT < same))
			err = want(c, page + i);
	}
	return err;
}

/* Small mappings that lie near each other are asked for together: here that ends. */
static __u64 near_end(const struct copy *c, const struct area *a)
{
	const struct area *areas = c->layout.areas;
	size_t i = (size_t)(c->area - areas);
	__u64 end = a->end;

	while (++i < c->layout.nr && areas[i].start - end <= NEAR_PAGES << PAGES_SHIFT &&
	       end - a->start < (__u64)WINDOW << PAGES_SHIFT)
		end = areas[i].end;
	return end;
}

/* States from @page of all memory on: *@nr of them, of @most. */
static int look_up(struct copy *c, __u64 page, __u64 most, const __u64 **states, size_t *nr)
{
	if (page - c->window >= c->known) {
		const __u64 end = near_end(c, c->area) >> PAGES_SHIFT;
		const size_t wanted = end - page < WINDOW ? (size_t)(end - page) : WINDOW;
		const ssize_t n = pread(c->live.pagemap, c->states, wanted * sizeof(c->states[0]),
					(off_t)(page * sizeof(c->states[0])));

		c->known = 0;
		/* of a process that ended nothing is there */
		if (n < (ssize_t)sizeof(c->states[0]))
			return n < 0 ? -EIO : -ESRCH;
		c->window = page;
		c->known = (size_t)n / sizeof(c->states[0]);
	}
	*states = c->states + (page - c->window);
	*nr = c->known - (size_t)(page - c->window);
	if (*nr > most)
		*nr = (size_t)most;
	return 0;
}

static int take_private(struct copy *c, __u64 same)
{
	const struct area *a = c->area;
	const __u64 first = a->start >> PAGES_SHIFT, pages = (a->end >> PAGES_SHIFT) - first;
	__u64 left = counts_find(&c->counts, a->start), next;
	const __u64 *states;
	int err = 0;
	size_t nr = 0;

	for (__u64 page = 0; page < pages && !err;) {
		next = page;
		if (pages - page > WINDOW)
			next = left ? counts_next(c->live.pagemap, first + page, first + pages) -
				      first : pages;
		if (next > page) {
			pages_forget(&c->pages, kept_now(c), page, next);
			page = next;
			continue;
		}
		err = look_up(c, first + page, pages - page, &states, &nr);
		if (!err)
			err = take_window(c, page, states, nr, same);
		if (!err)
			left = counts_less(left, states, nr);
		page += nr;
		if (!err)
			err = is_enough(c);
	}
	return err;
}

/* What is of no page table, too; see reach_shared.c. */
static int take_shared(struct copy *c)
{
	struct kept *k = kept_now(c);
	const __u64 len = k->area.end - k->area.start;
	int err = 0;

	pages_clear(&c->pages, k);
	for (__u64 at = 0; at < len && !err;) {
		const size_t most = len - at < PIECE ? (size_t)(len - at) : PIECE;
		const __u64 got = memory_read(&c->live, k->area.start + at, k->bytes + at, most);
		const __u64 end = (at + got + PAGES_SIZE - 1) & ~(PAGES_SIZE - 1);

		/* behind the end of a file there are zeros */
		memset(k->bytes + at + got, 0, (size_t)(end - at - got));
		for (__u64 i = at >> PAGES_SHIFT; i < end >> PAGES_SHIFT; i++)
			pages_set(&c->pages, k, i, true);
		c->done += got;
		at = got ? end : at + PAGES_SIZE;
		err = is_enough(c);
	}
	return err;
}

/* Where the bits say all that happened. */
static bool tells(const struct area *a)
{
	return !a->shared && !a->is_file;
}

static int take_area(struct copy *c, const struct area *a, struct pages *before)
{
	__u64 same = 0;
	int err;

	err = before ? pages_move(&c->pages, a, before, &same) : pages_reserve(&c->pages, a);
	if (err)
		return err;
	c->kept = c->pages.nr - 1;
	c->area = a;
	if (a->shared)
		return take_shared(c);
	return take_private(c, tells(a) ? same : 0);
}

#define MOST_CLOSED	(1ULL << 20)

/*
 * All of what may point anywhere, and all of [heap]; what may not be read just now of other
 * memory, since malloc's chunks may lie in it.
 */
static bool is_wanted(const struct copy *c, const struct area *a)
{
	if (area_may_point(&c->layout, a))
		return true;
	return !a->is_file && !a->shared && !a->skipped &&
	       (a->is_heap || (!a->readable && a->end - a->start <= MOST_CLOSED));
}

/* How much of large mappings is there: to ask for each page of what is empty takes long. */
static void count(struct copy *c)
{
	__u64 bytes = 0;

	for (size_t i = 0; i < c->layout.nr; i++)
		if (is_wanted(c, &c->layout.areas[i]) && !c->layout.areas[i].shared)
			bytes += c->layout.areas[i].end - c->layout.areas[i].start;
	counts_read(&c->counts, c->pid, bytes);
}

/* @before: what is there of it. */
static int take_all(struct copy *c, struct pages *before)
{
	int err = 0;

	c->done = 0;
	c->failed = 0;
	c->known = 0;
	c->nr_runs = 0;
	c->told.swapped = 0;
	c->live.shared.swapped = 0;
	count(c);
	c->live.layout = &c->layout;
	c->live.known = 0;		/* it was so then */
	c->live.shared.area = NULL;	/* (these are others) */
	for (size_t i = 0; i < c->layout.nr && !err; i++)
		if (is_wanted(c, &c->layout.areas[i]))
			err = take_area(c, &c->layout.areas[i], before);
	c->told.swapped += c->live.shared.swapped;
	return err ? err : flush(c);
}

static int take_again(struct copy *c)
{
	struct pages before = c->pages;
	int err;

	c->pages = (struct pages){ .at = NULL };
	c->cleared = false;
	err = take_all(c, &before);
	/* who shares the bits with us has lost some: nothing of before is worth anything */
	if (!err && c->cleared) {
		c->told.why = "another program uses its soft-dirty bits, too";
		close(c->clear);
		c->clear = -1;
		pages_free(&before);
		before = c->pages;
		c->pages = (struct pages){ .at = NULL };
		err = take_all(c, &before);
	}
	c->gone = before;
	return err;
}

/* ---- the steps ---- */

static int clear(struct copy *c)
{
	c->told.why = dirty_why_not(c->pid);
	if (c->told.why)
		return 0;
	if (c->clear < 0)
		c->clear = dirty_open(c->pid);
	if (c->clear < 0 || dirty_clear(c->clear)) {
		c->told.why = c->clear == -EBUSY ? "another memtap uses its soft-dirty bits" :
			      "its soft-dirty bits cannot be cleared";
		if (c->clear >= 0)
			close(c->clear);
		c->clear = -1;
	}
	return 0;
}

static int read_maps(struct copy *c)
{
	int err;

	layout_free(&c->layout);
	err = layout_read_areas(&c->layout, c->pid);
	return err == -ENOENT || (!err && !c->layout.nr) ? -ESRCH : err;
}

/* All of it, and once more what changed meanwhile: so will it be when it is stopped. */
static int try_once(struct copy *c)
{
	__u64 begin;
	int err = clear(c);

	pages_free(&c->pages);
	if (!err)
		err = read_maps(c);
	if (!err)
		err = take_all(c, NULL);
	c->told.copied = c->done;
	begin = clock_ns();
	if (!err)
		err = read_maps(c);
	if (!err)
		err = take_again(c);
	c->told.again_now = c->done;
	c->told.again_ns = clock_ns() - begin;
	pages_free(&c->gone);
	return err;
}

int copy_running(struct copy *c, __u64 deadline_ns)
{
	char dir[32];
	int err;

	snprintf(dir, sizeof(dir), "/proc/%d", c->pid);
	if (c->live.pagemap < 0)
		return access("/proc/self/pagemap", R_OK) ? -EIO :
		       access(dir, F_OK) ? -ESRCH : -EACCES;
	c->deadline = deadline_ns;
	c->stopped = false;
	for (int i = 0; i < MOST_TRIES; i++) {
		err = try_once(c);
		if (err || c->clear < 0 || c->told.again_now < FEW_BYTES ||
		    c->told.again_now < c->told.copied / 4)
			break;
	}
	if (!err)
		layout_left(&c->layout, &c->live, &c->told.left);
	return err;
}

int copy_stopped(struct copy *c, const struct reach_regs *regs, __u64 deadline_ns)
{
	int err;

	c->deadline = deadline_ns;
	c->stopped = true;
	pages_free(&c->gone);		/* of the last time, if there was one */
	layout_free(&c->layout);
	err = layout_read(&c->layout, c->pid, regs);
	if (err == -ENOENT || (!err && !c->layout.nr))
		err = -ESRCH;
	if (!err)
		err = take_again(c);
	c->told.again = c->done;
	c->told.left.failed = c->failed;
	c->told.left.swapped = c->told.swapped;
	return err;
}
