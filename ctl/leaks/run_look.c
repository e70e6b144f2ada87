// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --unreachable: classify the blocks of a running process.  It is copied while it runs.  Then
 * it is stopped, its blocks and the changed pages are read, and it continues; the search runs on
 * the copy.  Without memory for a copy, the process is read once while it runs, to measure the
 * duration, and once more while it is stopped, together with the search.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/limit.h"
#include "base/text.h"
#include "base/thread.h"
#include "leaks/copy.h"
#include "leaks/leaks.h"
#include "leaks/reach_process.h"
#include "leaks/run.h"
#include "leaks/stopped.h"
#include "target/maps.h"
#include "target/procmaps.h"

#define MAX_PAUSE_MS	1000U
#define MS		1000000ULL
#define BLOCKS_MORE	(1UL << 20)	/* bytes: some may be born meanwhile */

static __u64 max_pause(const struct leaks_run *r)
{
	return (r->o->max_pause ? r->o->max_pause : MAX_PAUSE_MS) * MS;
}

static const char *option(const struct opts *o)
{
	return o->retained ? "retained" : "unreachable";
}

int leaks_look_check(const struct opts *o, const char *cmd)
{
	if (!leaks_looks(o) && !o->max_pause && !o->swapped)
		return 0;
	if (!leaks_looks(o))
		return usage_error(cmd, "--%s needs --unreachable or --retained",
				   o->max_pause ? "max-pause" : "swapped");
	if (!o->pids.nr && !o->argv)
		return usage_error(cmd, "--%s stops and reads processes: name them with -p PID",
				   option(o));
	if (o->sample_bytes || o->sample_rate > 1 || !leaks_all_followed(o))
		return usage_error(cmd, "--%s needs all blocks: leave out --sample-bytes, "
					"--sample-rate, --min-size, --max-size and --obj",
				   option(o));
	return 0;
}

/* ---- one process ---- */

struct look {
	struct leaks_run *r;
	pid_t pid;
	pid_t tid;			/* of it, which has its memory: see maps_thread() */
	bool stop;			/* else it runs meanwhile, and nothing is kept */
	struct copy *copy;		/* from which it is found out later; or NULL: at once */
	struct snap_bytes blocks;	/* of that moment, not decoded yet */
	struct snap_reach *found;
	size_t nr, threads;
	__u64 at_ns, took_ns, bytes;
	struct reach_left left;		/* of what ran, which has time for it */
	pid_t tracer;
	int err;
	const char *why;		/* or NULL */
	const char *why_held;		/* why there is no copy of it */
};

/* Another block may have its address by the time of the report. */
static void add_alloc_times(const struct snap *s, struct snap_reach *found, size_t nr)
{
	struct snap_walk w = { .snap = s };

	while (nr && snap_next_block(&w)) {
		size_t low = 0, high = nr;

		if (w.block->space != found[0].space || w.block->flags & MEMTAP_BLOCK_INNER)
			continue;
		while (low < high) {
			const size_t middle = (low + high) / 2;

			if (found[middle].addr < w.block->addr)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < nr && found[low].addr == w.block->addr)
			found[low].birth_ns = w.block->birth_ns;
	}
}

static int find_out(struct look *l, struct snap *s, const struct reach_regs *regs, __u64 deadline)
{
	struct reach_process *p;
	int err;

	l->why = leaks_why_not(s);
	err = l->why ? -ENODATA : reach_process_new(s, 0, l->pid, l->tid, &p);
	if (err)
		return err;
	reach_process_until(p, deadline);
	if (!l->r->o->swapped)
		reach_process_resident(p);
	if (l->copy)
		reach_process_use(p, l->copy);
	err = reach_process_scan(p, regs, &l->found, &l->nr);
	l->bytes = reach_process_bytes(p);
	if (!err && !l->stop)
		reach_process_left(p, &l->left);
	if (l->copy)
		reach_process_used(p, l->copy);
	reach_process_free(p);
	if (!err)
		add_alloc_times(s, l->found, l->nr);
	return err;
}

static int read_blocks(struct look *l)
{
	return snap_read(l->r->dev, &l->blocks);
}

/* Takes them over. */
static int decode_blocks(struct look *l, struct snap **s)
{
	char text[256];
	const int err = snap_decode(l->blocks.at, l->blocks.len, s, text);

	l->blocks = (struct snap_bytes){ NULL, 0, 0 };
	return err;
}

static int scan(struct look *l, const struct reach_regs *regs, __u64 deadline)
{
	struct snap *s;
	int err = read_blocks(l);

	if (!err)
		err = decode_blocks(l, &s);
	if (err)
		return err;
	err = find_out(l, s, regs, deadline);
	snap_free(s);
	return err;
}

static int look_stopped(struct look *l, __u64 deadline)
{
	struct reach_regs regs = { .read = stopped_regs, .base = stopped_base,
				   .vectors = stopped_vectors, .lives = true };
	struct stopped *stopped;
	int err;

	err = stopped_begin(l->tid, deadline, &stopped, &l->tracer);
	if (err)
		return err;
	regs.ctx = stopped;
	l->at_ns = clock_ns();
	l->threads = stopped_threads(stopped);
	if (!l->copy) {
		err = scan(l, &regs, deadline);
	} else {
		limit_oom_first(true);
		err = copy_stopped(l->copy, &regs, deadline);
		limit_oom_first(false);
		if (!err)
			err = read_blocks(l);
	}
	stopped_end(stopped);
	return err;
}

/* In a thread of its own, which is over soon: see stopped.h. */
static void *look_in_thread(void *ctx)
{
	struct look *l = ctx;
	__u64 begin, deadline;

	/* nobody shall be stopped while we wait for others of ours */
	pthread_mutex_lock(l->r->reading);
	begin = clock_ns();
	deadline = begin + max_pause(l->r);
	l->err = l->stop ? look_stopped(l, deadline) : scan(l, NULL, deadline);
	l->took_ns = clock_ns() - begin;
	pthread_mutex_unlock(l->r->reading);
	return NULL;
}

static int look(struct look *l)
{
	pthread_t thread;

	l->err = thread_start(&thread, look_in_thread, l);
	if (!l->err)
		pthread_join(thread, NULL);
	return l->err;
}

static void look_free(struct look *l)
{
	copy_free(l->copy);
	free(l->blocks.at);
	free(l->found);
}

/* ---- what came of it ---- */

static void say_why(struct leaks_run *r, const struct look *l)
{
	const unsigned long long ms = max_pause(r) / MS;
	char *to = r->look_why;

	if (l->why)
		snprintf(to, LEAKS_TEXT, "%s", l->why);
	else if (l->err == -EBUSY && l->tracer)
		snprintf(to, LEAKS_TEXT, "process %d is traced by process %d and cannot be "
			 "stopped", l->pid, l->tracer);
	else if (l->err == -EBUSY)
		snprintf(to, LEAKS_TEXT, "process %d cannot be stopped: ptrace() is not allowed",
			 l->pid);
	else if (l->err == -ETIMEDOUT && l->tracer)
		stopped_why_stuck(to, LEAKS_TEXT, l->pid, l->tracer);
	else if (l->err == -ETIMEDOUT)
		snprintf(to, LEAKS_TEXT, "%s process %d takes longer than %llu ms; --max-pause "
			 "sets how long it may be stopped", l->stop && !l->nr ?
			 "stopping and reading" : "reading", l->pid, ms);
	else if (l->err == -ESRCH)
		snprintf(to, LEAKS_TEXT, "process %d has no recorded blocks, or has ended",
			 l->pid);
	else
		snprintf(to, LEAKS_TEXT, "reading process %d: %s", l->pid, strerror(-l->err));
}

static enum look_way way_of(const struct look *l)
{
	if (!l->copy)
		return LOOK_HELD;
	return copy_told(l->copy)->why ? LOOK_AGAIN : LOOK_CHANGED;
}

static void keep_look(struct leaks_run *r, const struct look *l)
{
	struct leaks_look *more = reallocarray(r->looks, r->nr_looks + 1, sizeof(*more));

	if (!more)
		return;
	r->looks = more;
	r->looks[r->nr_looks++] = (struct leaks_look){
		.pid = l->pid, .threads = l->threads, .at_ns = l->at_ns,
		.stopped_ns = l->took_ns, .read = l->bytes,
		.copied = l->copy ? copy_told(l->copy)->copied : 0,
		.way = way_of(l),
	};
}

/* What was found. */
static void keep(struct leaks_run *r, const struct look *l)
{
	struct snap_reach *more = reallocarray(r->live, r->nr_live + l->nr + 1, sizeof(*more));

	if (more) {
		r->live = more;
		memcpy(more + r->nr_live, l->found, l->nr * sizeof(*more));
		r->nr_live += l->nr;
		keep_look(r, l);
	} else {
		snprintf(r->look_why, LEAKS_TEXT, "not enough memory for the result");
	}
}

static void report_result(struct leaks_run *r, const struct look *l)
{
	const struct copy_told *c = l->copy ? copy_told(l->copy) : NULL;
	char bytes[TEXT_LEN], time[TEXT_LEN], how[160];
	const size_t len = strlen(r->look);

	look_way_text(how, sizeof(how), way_of(l), c ? c->copied : 0, c ? c->why : l->why_held);
	snprintf(r->look + len, LEAKS_TEXT - len, "%sprocess %d was stopped for %s (%zu thread%s), "
		 "%s of its memory read%s", len ? "; " : "", l->pid, text_ns(time, l->took_ns),
		 l->threads, text_s(l->threads), text_bytes(bytes, (__s64)l->bytes, false), how);
}

/* "; not looked at: 4.0 MiB of devices, 8.0 KiB that it must not read itself" */
static void say_left(struct leaks_run *r, const struct reach_left *left)
{
	const struct { __u64 bytes; const char *what; } parts[] = {
		{ left->devices, "of device memory" },
		{ left->locked, "without read permission" },
		{ left->failed, "that could not be read, or changed meanwhile" },
		{ left->swapped, "that are swapped out (--swapped reads them)" },
	};
	size_t len = strlen(r->left);
	char bytes[TEXT_LEN];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].bytes || len + 128 > sizeof(r->left))
			continue;
		len += (size_t)snprintf(r->left + len, sizeof(r->left) - len, "%s%s %s",
					len ? ", " : "memory not examined: ",
					text_bytes(bytes, (__s64)parts[i].bytes, false),
					parts[i].what);
	}
}

/* ---- by a copy: what changed is all that is read while it is stopped ---- */

static void announce(struct leaks_run *r, const struct look *l, __u64 ns, __u64 read, __u64 copied)
{
	if (!r->needs_ns && !r->o->quiet)
		look_announce(l->pid, ns, read, copied);
}

/* Blocks are read once as they will be: how many bytes, and how long that takes. */
static int try_blocks(struct look *l, __u64 *took_ns)
{
	const __u64 begin = clock_ns();
	int err;

	pthread_mutex_lock(l->r->reading);
	err = read_blocks(l);
	pthread_mutex_unlock(l->r->reading);
	*took_ns = clock_ns() - begin;
	return err ? err : snap_room(&l->blocks, l->blocks.len + l->blocks.len / 4 + BLOCKS_MORE);
}

static int copy_it(struct look *l)
{
	const struct copy_told *told;
	__u64 blocks_ns = 0, ns;
	int err;

	if (!l->r->needs_ns && !l->r->o->quiet)
		look_announce_swapped(l->tid, l->pid, l->r->o->swapped);
	err = copy_new(l->tid, copy_max_bytes(), l->r->o->swapped, &l->copy);
	if (!err)
		err = try_blocks(l, &blocks_ns);
	if (!err) {
		limit_oom_first(true);
		err = copy_running(l->copy, clock_ns() + COPY_NS);
		limit_oom_first(false);
	}
	if (err)
		return err;
	told = copy_told(l->copy);
	ns = told->again_ns + blocks_ns + stopped_estimate(stopped_count(l->tid));
	announce(l->r, l, ns, told->again_now, told->copied);
	l->r->needs_ns = ns;
	return ns > max_pause(l->r) ? -ETIMEDOUT : 0;
}

static int look_at_copy(struct look *l)
{
	const bool first = !l->r->needs_ns;
	struct snap *s;
	int err = copy_it(l);

	l->stop = true;
	if (!err)
		err = look(l);
	if (!err)
		err = decode_blocks(l, &s);
	if (err)
		return err;
	err = find_out(l, s, NULL, 0);
	l->bytes = copy_told(l->copy)->again;
	snap_free(s);
	if (!err && l->r->o->retained)
		leaks_find_held(l->r, l->pid, l->copy, l->found, l->nr);
	if (!err && first)
		say_left(l->r, &copy_told(l->copy)->left);
	return err;
}

/* ---- as it is: all is found out while it is stopped ---- */

/* While it runs: how long does it take?  What is found out so is worth nothing. */
static int try_dry(struct leaks_run *r, pid_t pid)
{
	struct look l = { .r = r, .pid = pid, .tid = maps_thread(pid) };
	int err;

	if (r->needs_ns)
		return 0;
	err = look(&l);
	if (err) {
		say_why(r, &l);
	} else {
		announce(r, &l, l.took_ns, l.bytes, 0);
		r->needs_ns = l.took_ns;
		say_left(r, &l.left);
	}
	look_free(&l);
	return err;
}

/* Can what @err says be done otherwise?  Why it was not done so, then. */
static const char *why_held(int err)
{
	switch (err) {
	case -ENXIO:
		return "it has blocks in memory without read permission";
	case -EAGAIN:
		return "its mapped files are changing";
	default:
		return copy_why_not(err);
	}
}

/* What is read where it is cannot be walked for holders: that takes too long. */
static void say_no_copy(struct leaks_run *r, const struct look *l)
{
	const size_t len = strlen(r->held_why);

	if (r->o->retained && !l->copy)
		snprintf(r->held_why + len, LEAKS_TEXT - len, "%skinds and holders are not known "
			 "of process %d: it was not copied", len ? "; " : "", l->pid);
}

static void look_at(struct leaks_run *r, pid_t pid)
{
	struct look l;
	int err;

	for (int i = 0; i < 2; i++) {
		l = (struct look){ .r = r, .pid = pid, .tid = maps_thread(pid) };
		err = look_at_copy(&l);
		l.why_held = why_held(err);
		/* files that went: once more, those that came have their own */
		if (err != -EAGAIN || i)
			break;
		look_free(&l);
	}
	if (err && l.why_held) {
		const char *why = l.why_held;

		look_free(&l);
		r->needs_ns = 0;
		if (try_dry(r, pid))
			return;
		l = (struct look){ .r = r, .pid = pid, .tid = maps_thread(pid),
				   .stop = true, .why_held = why };
		err = look(&l);
		if (!err)
			r->needs_ns = l.took_ns;
	}
	l.err = err;
	if (err) {
		say_why(r, &l);
	} else {
		say_no_copy(r, &l);
		report_result(r, &l);
		keep(r, &l);
	}
	look_free(&l);
}

void leaks_look_forget(struct leaks_run *r)
{
	pthread_mutex_lock(&r->lock);
	r->nr_live = r->nr_looks = 0;
	r->nr_helds = 0;
	r->look[0] = r->look_why[0] = r->held_why[0] = '\0';
	pthread_mutex_unlock(&r->lock);
}

void leaks_look_live(struct leaks_run *r, pid_t launched)
{
	if (!leaks_looks(r->o))
		return;
	leaks_look_forget(r);
	pthread_mutex_lock(&r->lock);
	if (launched)
		look_at(r, launched);
	for (size_t i = 0; !launched && i < r->o->pids.nr; i++) {
		if (r->o->pids.nr > 1)
			r->needs_ns = 0;	/* each has its own */
		look_at(r, (pid_t)r->o->pids.at[i]);
	}
	pthread_mutex_unlock(&r->lock);
}

int leaks_look_begin(struct leaks_run *r, pid_t launched)
{
	for (size_t i = 0; leaks_looks(r->o) && !launched && i < r->o->pids.nr; i++) {
		const pid_t pid = (pid_t)r->o->pids.at[i], tracer = stopped_by(pid);
		char exe[32];

		if (tracer)
			return fail_text("process %d is traced by process %d and cannot be "
					 "stopped for --%s: end the tracer first, or leave "
					 "--%s out", pid, tracer, option(r->o), option(r->o));
		snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
		if (leaks_is_of_32_bits(exe))
			return fail_text("process %d is a 32-bit program, which --%s cannot "
					 "examine; leave --%s out", pid, option(r->o),
					 option(r->o));
	}
	return 0;
}
