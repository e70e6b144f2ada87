// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --stale: find pages that were not used for the given time.  They are sampled four times in that
 * time.  So staleness is known when it has passed, and the last use of other pages approximately.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "rss/ages.h"
#include "target/procs.h"
#include "watch/watch.h"

#define PARTS	4

struct watch_stale {
	pthread_mutex_t lock;		/* of all that follows */
	struct ages *ages;
	int dev;
	__u64 ns, begin, next, last;	/* last: when it was asked for the last time */
	__u64 reclaimed;		/* by then */
	bool children;
	int err;			/* why nothing is known; 0: all is well */
};

struct finder {
	struct watch_stale *s;
	const struct targets *targets;
};

static int add_process(pid_t pid, void *ctx)
{
	const struct finder *f = ctx;

	if (!procs_has_memory(pid))
		return 0;
	if (!procs_passes(pid, f->targets->items, f->targets->nr_items) &&
	    !(f->s->children && ages_has(f->s->ages, (pid_t)procs_status(pid, pid, "PPid"))))
		return 0;
	return ages_add(f->s->ages, pid);
}

/* A program that was started here has its own memory from its execve() on. */
static void sample(struct watch_stale *s, const struct targets *targets, bool forget)
{
	struct finder f = { s, targets };

	if (s->err)
		return;
	s->last = clock_ns();
	if (targets && procs_each(add_process, &f))
		s->err = -ENOMEM;
	if (!s->err)
		s->err = ages_sample(s->ages, s->last, forget);
}

static const char *why_not(int err)
{
	switch (err) {
	case -ENOTSUP:
		return "this kernel has no /proc/PID/clear_refs (CONFIG_PROC_PAGE_MONITOR)";
	case -EAGAIN:
		return "the mappings of a process were locked for too long";
	default:
		return strerror(-err);
	}
}

int watch_stale_begin(struct watch *w, const struct targets *targets, const struct opts *o)
{
	struct watch_stale *s;
	struct ages_way way;

	if (!(o->stale > 0))
		return 0;
	if (!(w->session.info.features & MEMTAP_FEATURE_AGES))
		return fail_text("--stale: the loaded module does not read accessed bits; load "
				 "the module of this version");
	if (session_may_read(&w->session, "--stale", "it reads page tables of other processes"))
		return 1;
	s = calloc(1, sizeof(*s));
	if (!s)
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	w->stale = s;
	pthread_mutex_init(&s->lock, NULL);
	s->dev = w->session.fd;
	way = ages_way_bits(&s->dev);
	s->ages = ages_new(&way);
	if (!s->ages)
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	s->ns = (__u64)(o->stale * 1e9);
	s->children = targets->children;
	s->reclaimed = ages_reclaimed();
	s->begin = clock_ns();
	sample(s, targets, true);
	s->next = s->begin + s->ns / PARTS;
	return s->err ? fail_text("--stale: accesses cannot be observed: %s",
				  why_not(s->err)) : 0;
}

__u64 watch_stale_next(const struct watch *w)
{
	return w->stale && !w->stale->err ? w->stale->next : 0;
}

void watch_stale_tick(struct watch *w, const struct targets *targets)
{
	struct watch_stale *s = w->stale;

	if (!s || clock_ns() < s->next)
		return;
	pthread_mutex_lock(&s->lock);
	sample(s, targets, true);
	/* late: no sample is made up for */
	while (s->next <= s->last)
		s->next += s->ns / PARTS;
	pthread_mutex_unlock(&s->lock);
}

/* Before anything else is read: that may mark huge pages as used. */
void watch_stale_look(struct watch *w)
{
	if (!w->stale)
		return;
	pthread_mutex_lock(&w->stale->lock);
	sample(w->stale, NULL, false);
	pthread_mutex_unlock(&w->stale->lock);
}

bool watch_stale_is(const struct watch *w, pid_t pid, __u64 page)
{
	const struct watch_stale *s = w->stale;

	return ages_idle(s->ages, pid, page * 4096, (page + 1) * 4096) >= s->ns;
}

int watch_stale_blocks(const struct watch *w, struct snap *s)
{
	struct snap_walk walk = { .snap = s };

	if (!w->stale || !s->nr_blocks)
		return 0;
	s->idle_ns = calloc(s->nr_blocks, sizeof(*s->idle_ns));
	if (!s->idle_ns)
		return -ENOMEM;
	pthread_mutex_lock(&w->stale->lock);
	while (snap_next_block(&walk)) {
		const struct memtap_block *b = walk.block;
		const struct memtap_rec_space *space = snap_space(s, b->space);

		if (!w->stale->err && space && !space->end_ns)
			s->idle_ns[walk.number] = ages_idle(w->stale->ages, space->pid, b->addr,
							    b->addr + (b->size ? b->size : 1));
	}
	pthread_mutex_unlock(&w->stale->lock);
	return 0;
}

size_t watch_stale_footer(const struct watch *w, char (*lines)[WATCH_OBJECTS_TEXT])
{
	const struct watch_stale *s = w->stale;
	char span[TEXT_LEN], part[TEXT_LEN], n[TEXT_LEN];
	__u64 reclaimed;
	size_t nr = 0;

	if (!s)
		return 0;
	if (s->err) {
		snprintf(lines[nr++], WATCH_OBJECTS_TEXT, "stale pages are not known: %s",
			 why_not(s->err));
		return nr;
	}
	if (s->last - s->begin < s->ns) {
		snprintf(lines[nr++], WATCH_OBJECTS_TEXT, "no memory can be stale yet: recorded "
			 "for %s", text_long(span, s->last - s->begin));
		return nr;
	}
	snprintf(lines[nr++], WATCH_OBJECTS_TEXT, "stale: in pages not used for %s, by the "
		 "accessed bits of page tables, which were read %zu times and cleared "
		 "(/proc/PID/clear_refs) every %s; so memory that %s used before that "
		 "looks unused to the kernel's reclaim, too",
		 text_long(span, s->ns), ages_samples(s->ages),
		 text_long(part, s->ns / PARTS),
		 ages_processes(s->ages) == 1 ? "the process" : "a process");
	reclaimed = ages_reclaimed();
	if (reclaimed > s->reclaimed)
		snprintf(lines[nr++], WATCH_OBJECTS_TEXT, "reclaim scanned %s pages meanwhile and "
			 "clears the same bits: some of these may have been used since then",
			 text_count(n, reclaimed - s->reclaimed));
	return nr;
}

void watch_stale_end(struct watch *w)
{
	struct watch_stale *s = w->stale;

	if (!s)
		return;
	ages_free(s->ages);
	pthread_mutex_destroy(&s->lock);
	free(s);
	w->stale = NULL;
}
