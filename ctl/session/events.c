// SPDX-License-Identifier: GPL-2.0-or-later
/* Read single events of a session, in order, in a thread. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "base/thread.h"
#include "session/dev.h"
#include "session/events.h"

#define ROOM		(8U << 20)	/* more than the usual rings have */
#define WAIT_MS		200
#define PAUSE_NS	5000000L	/* what comes fast is handed on together */

struct events {
	int dev;
	events_fn fn;
	void *ctx;
	pthread_t thread, main;
	bool stop;			/* shared_get() */
	int error;			/* the same */
	char *bytes;			/* events; those at its beginning were read before */
	size_t kept, room;
	const struct memtap_one **order;
	size_t room_order;
};

static int by_time(const void *va, const void *vb)
{
	const struct memtap_one *a = *(const struct memtap_one *const *)va;
	const struct memtap_one *b = *(const struct memtap_one *const *)vb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a < b ? -1 : a > b;	/* as their processor had them */
}

/* The events in @len bytes; how many, or -ENOMEM. */
static ssize_t put_in_order(struct events *e, size_t len)
{
	size_t nr = 0;

	for (size_t at = 0; at + sizeof(struct memtap_one) <= len;) {
		const struct memtap_one *one = (const void *)(e->bytes + at);

		if (one->len < sizeof(*one) || one->len > len - at)
			break;
		if (nr == e->room_order) {
			const size_t room = e->room_order ? 2 * e->room_order : 4096;
			void *more = realloc(e->order, room * sizeof(*e->order));

			if (!more)
				return -ENOMEM;
			e->order = more;
			e->room_order = room;
		}
		e->order[nr++] = one;
		at += one->len;
	}
	if (nr)
		qsort(e->order, nr, sizeof(*e->order), by_time);
	return (ssize_t)nr;
}

/* Who waits for signals hears of it by one that is taken anyway. */
static void set_error(struct events *e, int err)
{
	int none = 0;

	if (err && shared_swap(&e->error, &none, err))
		pthread_kill(e->main, SIGCHLD);
}

/* Those from @from on wait for what happened before them. */
static void keep(struct events *e, size_t from, size_t nr)
{
	size_t left = 0, at = 0;
	char *rest;

	for (size_t i = from; i < nr; i++)
		left += e->order[i]->len;
	rest = left ? malloc(left) : NULL;
	for (size_t i = from; rest && i < nr; i++) {
		memcpy(rest + at, e->order[i], e->order[i]->len);
		at += e->order[i]->len;
	}
	if (at)
		memcpy(e->bytes, rest, at);
	else if (left)
		set_error(e, ENOMEM);
	e->kept = at;
	free(rest);
}

/* What happened up to @safe. */
static void pass_events(struct events *e, size_t len, __u64 safe)
{
	const ssize_t nr = put_in_order(e, len);
	size_t ready = 0;

	if (nr < 0) {
		set_error(e, ENOMEM);
		return;
	}
	while (ready < (size_t)nr && e->order[ready]->ns <= safe)
		ready++;
	if (ready)
		set_error(e, e->fn(e->ctx, e->order, ready));
	keep(e, ready, (size_t)nr);
}

static bool make_room(struct events *e)
{
	char *more;

	if (e->room - e->kept >= ROOM)
		return true;
	more = realloc(e->bytes, e->kept + ROOM);
	if (!more) {
		set_error(e, ENOMEM);
		return false;
	}
	e->bytes = more;
	e->room = e->kept + ROOM;
	return true;
}

/* What is there now; false: it could not be read, or there is nothing. */
static bool read_some(struct events *e, bool last)
{
	struct memtap_events arg = { .more = 1 };
	size_t len = e->kept;
	bool any = false;

	while (arg.more) {
		if (!make_room(e))
			return false;
		arg.room = ROOM;
		arg.ones_ptr = (__u64)(unsigned long)(e->bytes + len);
		if (dev_each(e->dev, &arg))
			return false;
		len += arg.used;
		e->kept = len;
		any |= arg.used;
	}
	pass_events(e, len, last ? ~0ULL : arg.safe_ns);
	return any;
}

static void *read_all(void *arg)
{
	const struct timespec pause = { 0, PAUSE_NS };
	struct events *e = arg;

	while (!shared_get(&e->stop) && !shared_get(&e->error)) {
		struct pollfd p = { .fd = e->dev, .events = POLLIN };

		poll(&p, 1, e->kept ? 1 : WAIT_MS);
		read_some(e, false);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void free_events(struct events *e)
{
	free(e->order);
	free(e->bytes);
	free(e);
}

struct events *events_start(int dev, events_fn fn, void *ctx)
{
	struct events *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->dev = dev;
	e->fn = fn;
	e->ctx = ctx;
	e->main = pthread_self();
	if (!thread_start(&e->thread, read_all, e))
		return e;
	free_events(e);
	return NULL;
}

int events_error(struct events *e)
{
	return e ? shared_get(&e->error) : 0;
}

int events_end(struct events *e)
{
	int err;

	if (!e)
		return 0;
	shared_set(&e->stop, true);
	pthread_join(e->thread, NULL);
	while (!shared_get(&e->error) && read_some(e, true))
		;
	/* what was kept before the last look found nothing new */
	if (!shared_get(&e->error) && e->kept)
		pass_events(e, e->kept, ~0ULL);
	err = shared_get(&e->error);
	free_events(e);
	return err;
}
