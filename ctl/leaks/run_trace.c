// SPDX-License-Identifier: GPL-2.0-or-later
/* --trace: print calls in a thread of its own, soon after they were made. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/dev.h"
#include "session/events.h"
#include "leaks/leaks.h"
#include "leaks/run.h"

struct leaks_trace {
	struct leaks_trace_of of;
	__u64 key;			/* of the numbers that stand for addresses */
	struct events *reader;
	char names[MEMTAP_MAX_EVENTS][MEMTAP_NAME_LEN];
};

/* Those of the built-in events are in the session's own records only. */
static void take_names(struct leaks_trace *t)
{
	struct snap *s;
	char why[256];
	int err;

	pthread_mutex_lock(t->of.reading);
	err = snap_from_fd(t->of.dev, &s, why);
	pthread_mutex_unlock(t->of.reading);
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

/*
 * The same number as long as nothing else is at that address, and no address: who reads the
 * lines is told what belongs together.
 */
static __u64 stands_for(const struct leaks_trace *t, __u64 addr)
{
	__u64 n = (addr ^ t->key) * 0x9e3779b97f4a7c15ULL;

	n = (n ^ n >> 29 ^ t->key) * 0xbf58476d1ce4e5b9ULL;
	return addr ? (n ^ n >> 32) >> 16 : 0;
}

/* What is in no interrupt's line is who was interrupted. */
static void of_kernel(const struct leaks_trace *t, struct memtap_call *c)
{
	if (!t->of.addresses) {
		c->addr = stands_for(t, c->addr);
		c->old = stands_for(t, c->old);
	}
	if (!(c->flags & MEMTAP_CALL_IRQ))
		return;
	c->pid = c->tid = 0;
	snprintf(c->comm, sizeof(c->comm), "[interrupt]");
}

static int print(void *ctx, const struct memtap_one *const *ones, size_t nr)
{
	struct leaks_trace *t = ctx;
	struct memtap_call c;
	int err;

	for (size_t i = 0; i < nr; i++) {
		name_of(t, ones[i]->event);
		if (t->of.stack && call_of(ones[i], &c))
			t->of.stack(t->of.ctx, ones[i], NULL);
	}
	pthread_mutex_lock(t->of.printing);
	for (size_t i = 0; i < nr; i++) {
		if (!call_of(ones[i], &c))
			continue;
		if (t->of.kernel)
			of_kernel(t, &c);
		leaks_trace_line(t->of.out, &c, name_of(t, c.event));
		if (t->of.stack)
			t->of.stack(t->of.ctx, ones[i], t->of.out);
	}
	errno = 0;
	err = fflush(t->of.out) || ferror(t->of.out) ? (errno ? errno : EIO) : 0;
	pthread_mutex_unlock(t->of.printing);
	return err;
}

struct leaks_trace *leaks_trace_start(const struct leaks_trace_of *of)
{
	struct leaks_trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->of = *of;
	if (getrandom(&t->key, sizeof(t->key), GRND_NONBLOCK) != sizeof(t->key))
		t->key = (__u64)(unsigned long)t << 20 ^ (__u64)getpid();
	leaks_trace_head(of->out);
	t->reader = events_start(of->dev, print, t);
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
	if (dev_trace(t->of.dev, &arg))
		arg.lost = 0;
	free(t);
	return arg.lost;
}
