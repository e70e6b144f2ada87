// SPDX-License-Identifier: GPL-2.0-or-later
/* --trace: calls are printed by a thread of their own, soon after they were made. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/dev.h"
#include "session/events.h"
#include "leaks/leaks.h"
#include "leaks/run.h"

struct leaks_trace {
	struct leaks_run *run;
	FILE *out;
	pthread_mutex_t *printing;
	leaks_stack_fn stack;
	void *ctx;
	struct events *reader;
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

/* False: it is none, or of a newer module. */
static bool call_of(const struct memtap_one *one, struct memtap_call *c)
{
	const __u64 *args = (const __u64 *)(one + 1);

	if (one->len < sizeof(*one) + 4 * sizeof(*args))
		return false;
	*c = (struct memtap_call){
		.ns = one->ns, .addr = args[0], .size = args[1], .old = args[2],
		.pid = one->pid, .tid = one->tid, .event = one->event, .flags = (__u32)args[3],
		.ustack = one->ustack, .cpu = one->cpu,
	};
	memcpy(c->comm, one->comm, sizeof(c->comm));
	return true;
}

static int print(void *ctx, const struct memtap_one *const *ones, size_t nr)
{
	struct leaks_trace *t = ctx;
	struct memtap_call c;
	int err;

	for (size_t i = 0; i < nr; i++) {
		name_of(t, ones[i]->event);
		if (t->stack && call_of(ones[i], &c))
			t->stack(t->ctx, &c, NULL);
	}
	pthread_mutex_lock(t->printing);
	for (size_t i = 0; i < nr; i++) {
		if (!call_of(ones[i], &c))
			continue;
		leaks_trace_line(t->out, &c, name_of(t, c.event));
		if (t->stack)
			t->stack(t->ctx, &c, t->out);
	}
	errno = 0;
	err = fflush(t->out) || ferror(t->out) ? (errno ? errno : EIO) : 0;
	pthread_mutex_unlock(t->printing);
	return err;
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
	leaks_trace_head(out);
	t->reader = events_start(r->dev, print, t);
	if (t->reader)
		return t;
	free(t);
	return NULL;
}

int leaks_trace_error(struct leaks_trace *t)
{
	return t ? events_error(t->reader) : 0;
}

__u64 leaks_trace_end(struct leaks_trace *t)
{
	struct memtap_trace arg = { .nr = 0 };

	if (!t)
		return 0;
	events_end(t->reader);
	if (dev_trace(t->run->dev, &arg))
		arg.lost = 0;
	free(t);
	return arg.lost;
}
