// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --reach: the kinds of blocks of a process that runs.  It is read once while it does, to
 * know how long that takes; then it is stopped, its blocks and its memory are read, and it
 * goes on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "base/thread.h"
#include "leaks/reach_process.h"
#include "leaks/run.h"
#include "leaks/stopped.h"

#define MAX_PAUSE_MS	1000U
#define MS		1000000ULL

static __u64 max_pause(const struct leaks_run *r)
{
	return (r->o->max_pause ? r->o->max_pause : MAX_PAUSE_MS) * MS;
}

int leaks_look_check(const struct opts *o, const char *cmd)
{
	if (!o->reach && !o->max_pause)
		return 0;
	if (!o->reach)
		return usage_error(cmd, "--max-pause belongs to --reach");
	if (!o->pids.nr && !o->argv)
		return usage_error(cmd, "--reach stops processes, and reads them: name them, "
				   "-p PID");
	if (o->sample_bytes || o->sample_rate > 1 || !leaks_all_followed(o))
		return usage_error(cmd, "--reach needs all blocks: without --sample-bytes, "
				   "--sample-rate, --min-size, --max-size and --obj");
	return 0;
}

/* ---- one process ---- */

struct look {
	struct leaks_run *r;
	pid_t pid;
	bool stop;			/* else it runs meanwhile, and nothing is kept */
	struct snap_reach *found;
	size_t nr, threads;
	__u64 took_ns, bytes;
	struct reach_left left;		/* of the dry look, which has time for it */
	pid_t tracer;
	int err;
	const char *why;		/* or NULL */
};

/* Another block may have its address by the time of the report. */
static void add_births(const struct snap *s, struct snap_reach *found, size_t nr)
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

static int scan(struct look *l, const struct reach_regs *regs, __u64 deadline)
{
	struct reach_process *p;
	struct snap *s;
	char text[256];
	int err;

	pthread_mutex_lock(l->r->reading);
	err = snap_from_fd(l->r->dev, &s, text);
	pthread_mutex_unlock(l->r->reading);
	if (err)
		return err;
	l->why = leaks_why_not(s);
	err = l->why ? -ENODATA : reach_process_new(s, l->pid, l->pid, &p);
	if (!err) {
		reach_process_until(p, deadline);
		err = reach_process_scan(p, regs, &l->found, &l->nr);
		l->bytes = reach_process_bytes(p);
		if (!err && !l->stop)
			reach_process_left(p, &l->left);
		reach_process_free(p);
	}
	if (!err)
		add_births(s, l->found, l->nr);
	snap_free(s);
	return err;
}

static void look_stopped(struct look *l, __u64 deadline)
{
	struct reach_regs regs = { .read = stopped_regs, .vectors = stopped_vectors,
				   .lives = true };
	struct stopped *stopped;

	l->err = stopped_begin(l->pid, deadline, &stopped, &l->tracer);
	if (l->err)
		return;
	regs.ctx = stopped;
	l->threads = stopped_threads(stopped);
	l->err = scan(l, &regs, deadline);
	stopped_end(stopped);
}

/* In a thread of its own, which is over soon: see stopped.h. */
static void *look_in_thread(void *ctx)
{
	struct look *l = ctx;
	const __u64 begin = clock_ns(), deadline = begin + max_pause(l->r);

	if (l->stop)
		look_stopped(l, deadline);
	else
		l->err = scan(l, NULL, deadline);
	l->took_ns = clock_ns() - begin;
	return NULL;
}

static int look(struct look *l, struct leaks_run *r, pid_t pid, bool stop)
{
	pthread_t thread;

	*l = (struct look){ .r = r, .pid = pid, .stop = stop };
	l->err = thread_start(&thread, look_in_thread, l);
	if (!l->err)
		pthread_join(thread, NULL);
	return l->err;
}

/* ---- what came of it ---- */

static void say_why(struct leaks_run *r, const struct look *l)
{
	const unsigned long long ms = max_pause(r) / MS;
	char *to = r->look_why;

	if (l->why)
		snprintf(to, LEAKS_TEXT, "%s", l->why);
	else if (l->err == -EBUSY && l->tracer)
		snprintf(to, LEAKS_TEXT, "process %d is traced by %d, and cannot be stopped",
			 l->pid, l->tracer);
	else if (l->err == -EBUSY)
		snprintf(to, LEAKS_TEXT, "process %d cannot be stopped: ptrace() is not allowed",
			 l->pid);
	else if (l->err == -ETIMEDOUT)
		snprintf(to, LEAKS_TEXT, "to %s process %d takes longer than %llu ms; --max-pause "
			 "says how long it may be stopped", l->stop && !l->nr ? "stop and read" :
			 "read", l->pid, ms);
	else if (l->err == -ESRCH)
		snprintf(to, LEAKS_TEXT, "process %d has no blocks that are known, or has ended",
			 l->pid);
	else
		snprintf(to, LEAKS_TEXT, "reading process %d: %s", l->pid, strerror(-l->err));
}

/* Takes what was found over. */
static void keep(struct leaks_run *r, struct look *l)
{
	struct snap_reach *more = reallocarray(r->live, r->nr_live + l->nr + 1, sizeof(*more));

	if (more) {
		r->live = more;
		memcpy(more + r->nr_live, l->found, l->nr * sizeof(*more));
		r->nr_live += l->nr;
	} else {
		snprintf(r->look_why, LEAKS_TEXT, "no memory for what was read");
	}
	free(l->found);
}

static void say_what(struct leaks_run *r, const struct look *l)
{
	char bytes[TEXT_LEN], time[TEXT_LEN];
	const size_t len = strlen(r->look);

	snprintf(r->look + len, LEAKS_TEXT - len, "%sprocess %d was stopped for %s (%zu thread%s), "
		 "%s of its memory read", len ? "; " : "", l->pid, text_ns(time, l->took_ns),
		 l->threads, text_s(l->threads), text_bytes(bytes, (__s64)l->bytes, false));
}

/* "; not looked at: 4.0 MiB of devices, 8.0 KiB that it must not read itself" */
static void say_left(struct leaks_run *r, const struct reach_left *left)
{
	const struct { __u64 bytes; const char *what; } parts[] = {
		{ left->devices, "of devices" },
		{ left->locked, "that it must not read itself" },
		{ left->failed, "that could not be read, or changed meanwhile" },
	};
	size_t len = strlen(r->left);
	char bytes[TEXT_LEN];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].bytes || len + 128 > sizeof(r->left))
			continue;
		len += (size_t)snprintf(r->left + len, sizeof(r->left) - len, "%s%s %s",
					len ? ", " : "not looked at: ",
					text_bytes(bytes, (__s64)parts[i].bytes, false),
					parts[i].what);
	}
}

/* While it runs: how long does it take?  What is found out so is worth nothing. */
static int try_dry(struct leaks_run *r, pid_t pid)
{
	char bytes[TEXT_LEN], time[TEXT_LEN];
	struct look l;

	if (r->needs_ns)
		return 0;
	if (look(&l, r, pid, false)) {
		say_why(r, &l);
		return l.err;
	}
	free(l.found);
	r->needs_ns = l.took_ns;
	say_left(r, &l.left);
	if (!r->o->quiet)
		note("process %d will be stopped for about %s, while %s of its memory are read",
		     pid, text_ns(time, l.took_ns), text_bytes(bytes, (__s64)l.bytes, false));
	return 0;
}

static void look_at(struct leaks_run *r, pid_t pid)
{
	struct look l;

	if (try_dry(r, pid))
		return;
	if (look(&l, r, pid, true)) {
		say_why(r, &l);
		return;
	}
	r->needs_ns = l.took_ns;
	say_what(r, &l);
	keep(r, &l);
}

void leaks_look_forget(struct leaks_run *r)
{
	pthread_mutex_lock(&r->lock);
	r->nr_live = 0;
	r->look[0] = r->look_why[0] = '\0';
	pthread_mutex_unlock(&r->lock);
}

void leaks_look_live(struct leaks_run *r, pid_t launched)
{
	if (!r->o->reach)
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
	for (size_t i = 0; r->o->reach && !launched && i < r->o->pids.nr; i++) {
		const pid_t pid = (pid_t)r->o->pids.at[i], tracer = stopped_by(pid);
		char exe[32];

		if (tracer)
			return fail_text("process %d is traced by %d, and cannot be stopped for "
					 "--reach: end that first, or leave --reach out",
					 pid, tracer);
		snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
		if (leaks_is_of_32_bits(exe))
			return fail_text("process %d is a 32-bit program: what it can reach is not "
					 "known; leave --reach out", pid);
	}
	return 0;
}
