// SPDX-License-Identifier: GPL-2.0-or-later
/* --trace: calls are printed by a thread of their own, soon after they were made. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"
#include "session/dev.h"
#include "leaks/leaks.h"
#include "leaks/run.h"

#define BATCH		1024
#define PAUSE_NS	20000000L

struct leaks_trace {
	struct leaks_run *run;
	FILE *out;
	pthread_mutex_t *printing;
	leaks_stack_fn stack;
	void *ctx;
	pthread_t thread, main;
	atomic_bool stop;
	atomic_int error;		/* of writing */
	__u64 lost;
	struct memtap_call calls[BATCH];
	char names[MEMTAP_MAX_EVENTS][MEMTAP_NAME_LEN];
};

/* Those of the built-in events are in the session's own records only. */
static void take_names(struct leaks_trace *t)
{
	struct snap *s;
	char why[256];
	int err;

	pthread_mutex_lock(t->run->reading);
	err = snap_from_fd(t->run->dev, &s, why);
	pthread_mutex_unlock(t->run->reading);
	if (err)
		return;
	for (size_t i = 0; i < s->nr_events; i++)
		if (s->events[i].id < MEMTAP_MAX_EVENTS)
			snprintf(t->names[s->events[i].id], MEMTAP_NAME_LEN, "%.*s",
				 MEMTAP_NAME_LEN - 1, s->events[i].name);
	snap_free(s);
}

static const char *name_of(struct leaks_trace *t, __u32 event)
{
	if (event >= MEMTAP_MAX_EVENTS)
		return "?";
	if (!t->names[event][0])
		take_names(t);		/* a library that came later brought it */
	return t->names[event][0] ? t->names[event] : "?";
}

/* What waits for signals hears of it by one that it takes anyway. */
static void set_error(struct leaks_trace *t, int err)
{
	if (!atomic_exchange(&t->error, err))
		pthread_kill(t->main, SIGCHLD);
}

/* Returns whether there may be more. */
static bool print_some(struct leaks_trace *t)
{
	struct memtap_trace arg = {
		.nr = BATCH,
		.calls_ptr = (__u64)(unsigned long)t->calls,
	};

	if (dev_trace(t->run->dev, &arg))
		return false;
	t->lost = arg.lost;
	for (__u32 i = 0; i < arg.nr; i++) {
		name_of(t, t->calls[i].event);
		if (t->stack)
			t->stack(t->ctx, &t->calls[i], NULL);
	}
	pthread_mutex_lock(t->printing);
	for (__u32 i = 0; i < arg.nr; i++) {
		leaks_trace_line(t->out, &t->calls[i], name_of(t, t->calls[i].event));
		if (t->stack)
			t->stack(t->ctx, &t->calls[i], t->out);
	}
	errno = 0;
	if (arg.nr && (fflush(t->out) || ferror(t->out)))
		set_error(t, errno ? errno : EIO);
	pthread_mutex_unlock(t->printing);
	return arg.nr == BATCH;
}

static void *print_all(void *arg)
{
	const struct timespec pause = { 0, PAUSE_NS };
	struct leaks_trace *t = arg;

	while (!atomic_load(&t->stop) && !atomic_load(&t->error))
		if (!print_some(t))
			nanosleep(&pause, NULL);
	return NULL;
}

struct leaks_trace *leaks_trace_start(struct leaks_run *r, FILE *out,
				      pthread_mutex_t *printing, leaks_stack_fn stack,
				      void *ctx)
{
	struct leaks_trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->run = r;
	t->out = out;
	t->printing = printing;
	t->stack = stack;
	t->ctx = ctx;
	t->main = pthread_self();
	leaks_trace_head(out);
	if (!thread_start(&t->thread, print_all, t))
		return t;
	free(t);
	return NULL;
}

int leaks_trace_error(struct leaks_trace *t)
{
	return t ? atomic_load(&t->error) : 0;
}

__u64 leaks_trace_end(struct leaks_trace *t)
{
	__u64 lost;

	if (!t)
		return 0;
	atomic_store(&t->stop, true);
	pthread_join(t->thread, NULL);
	while (!atomic_load(&t->error) && print_some(t))
		;
	lost = t->lost;
	free(t);
	return lost;
}
