// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"
#include "cmd/each.h"
#include "render/each.h"
#include "session/dev.h"

#define ROOM		(8U << 20)	/* more than the usual rings have */
#define WAIT_MS		200
#define PAUSE_NS	5000000L	/* what comes fast is printed together */

struct each {
	struct watch *watch;
	const struct plan *plan;
	bool stacks;
	FILE *out;
	struct each_opts opts;
	struct each_event events[MEMTAP_MAX_EVENTS];
	__u32 ids[MEMTAP_MAX_EVENTS];	/* of the plan's items */
	pthread_t thread, main;
	atomic_bool stop;
	atomic_int error;		/* of writing */
	char *bytes;			/* events; those at its beginning were read before */
	size_t kept, room;
	const struct memtap_one **order;
	size_t room_order;
	struct snap *snap;		/* for stacks, as of the last one that was not known */
	struct sym *sym;
	struct lines *lines;		/* or NULL */
};

/* What the session calls its events, and what they have. */
static void name_events(struct each *e, const struct snap *s)
{
	for (size_t i = 0; i < s->nr_events; i++) {
		const struct snap_event *ev = &s->events[i];

		if (ev->id >= MEMTAP_MAX_EVENTS)
			continue;
		snprintf(e->events[ev->id].name, sizeof(e->events[ev->id].name), "%s", ev->name);
		e->events[ev->id].unit = ev->unit;
	}
	for (size_t i = 0; i < e->plan->nr; i++) {
		const __u32 id = watch_event(s, &e->plan->items[i]);

		e->ids[i] = id;
		if (id < MEMTAP_MAX_EVENTS)
			e->events[id].args = e->plan->items[i].args;
	}
}

static int by_time(const void *va, const void *vb)
{
	const struct memtap_one *a = *(const struct memtap_one *const *)va;
	const struct memtap_one *b = *(const struct memtap_one *const *)vb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a < b ? -1 : a > b;	/* as their processor had them */
}

/* The events in @len bytes; how many, or -ENOMEM. */
static ssize_t put_in_order(struct each *e, size_t len)
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

static bool is_known(const struct each *e, __u32 id)
{
	return id < MEMTAP_STACK_FIRST || (e->snap && snap_stack(e->snap, id));
}

/* A snapshot has all stacks that were kept by now. */
static void learn_stacks(struct each *e, size_t nr)
{
	bool known = true;

	for (size_t i = 0; known && i < nr; i++)
		known = is_known(e, e->order[i]->kstack) && is_known(e, e->order[i]->ustack) &&
			(e->order[i]->task < MEMTAP_TASK_FIRST ||
			 (e->snap && snap_task(e->snap, e->order[i]->task)));
	if (known)
		return;
	snap_free(e->snap);
	e->snap = NULL;
	if (watch_snapshot(e->watch, &e->snap))
		e->snap = NULL;
}

static void print_one(struct each *e, const struct memtap_one *one)
{
	if (one->event >= MEMTAP_MAX_EVENTS)
		return;
	if (e->lines)
		lines_put(e->lines, one, e->snap, e->sym, e->out);
	else
		each_line(&e->opts, &e->events[one->event], one, e->out);
	if (e->stacks && e->snap)
		each_stacks(e->snap, e->sym, one, e->out);
}

static void set_error(struct each *e, int err)
{
	/* who waits for signals hears of it by one that is taken anyway */
	if (!atomic_exchange(&e->error, err))
		pthread_kill(e->main, SIGCHLD);
}

/* Prints what happened up to @safe; the rest waits for what happened before it. */
static void print_until(struct each *e, size_t len, __u64 safe)
{
	const ssize_t nr = put_in_order(e, len);
	size_t kept = 0, left = 0;
	char *rest;

	if (nr < 0) {
		set_error(e, ENOMEM);
		return;
	}
	if ((e->stacks || e->lines) && nr)
		learn_stacks(e, (size_t)nr);
	errno = 0;
	for (ssize_t i = 0; i < nr; i++)
		if (e->order[i]->ns <= safe)
			print_one(e, e->order[i]);
		else
			left += e->order[i]->len;
	if (nr && (fflush(e->out) || ferror(e->out)))
		set_error(e, errno ? errno : EIO);
	rest = left ? malloc(left) : NULL;
	for (ssize_t i = 0; rest && i < nr; i++)
		if (e->order[i]->ns > safe) {
			memcpy(rest + kept, e->order[i], e->order[i]->len);
			kept += e->order[i]->len;
		}
	if (kept)
		memcpy(e->bytes, rest, kept);
	e->kept = kept;
	free(rest);
}

static bool make_room(struct each *e)
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
static bool print_some(struct each *e, bool last)
{
	struct memtap_events arg = { .more = 1 };
	size_t len = e->kept;

	while (arg.more) {
		if (!make_room(e))
			return false;
		arg.room = ROOM;
		arg.ones_ptr = (__u64)(unsigned long)(e->bytes + len);
		if (dev_each(e->watch->session.fd, &arg))
			return false;
		len += arg.used;
		e->kept = len;
	}
	print_until(e, len, last ? ~0ULL : arg.safe_ns);
	return arg.used;
}

static void *print_all(void *arg)
{
	const struct timespec pause = { 0, PAUSE_NS };
	struct each *e = arg;

	while (!atomic_load(&e->stop) && !atomic_load(&e->error)) {
		struct pollfd p = { .fd = e->watch->session.fd, .events = POLLIN };

		poll(&p, 1, e->kept ? 1 : WAIT_MS);
		print_some(e, false);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void free_each(struct each *e)
{
	lines_free(e->lines);
	sym_free(e->sym);
	snap_free(e->snap);
	free(e->order);
	free(e->bytes);
	free(e);
}

struct each *each_start(struct watch *w, const struct plan *plan, const struct opts *o,
			const struct lines_ask *lines, enum each_form form, FILE *out)
{
	const struct sym_opts so = { 0 };
	struct each *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->watch = w;
	e->plan = plan;
	e->opts.form = form;
	e->opts.all = o->all;
	e->stacks = o->stacks;
	e->out = out;
	e->main = pthread_self();
	e->sym = sym_new(&so);
	if (!e->sym || watch_snapshot(w, &e->snap)) {
		free_each(e);
		return NULL;
	}
	name_events(e, e->snap);
	e->opts.start_ns = e->snap->header.start_ns;
	if (o->timestamps)
		e->opts.real_ns = e->snap->header.real_ns - e->snap->header.now_ns +
				  e->snap->header.start_ns;
	if (lines) {
		const struct lines_opts lo = {
			.start_ns = e->opts.start_ns,
			.real_ns = e->opts.real_ns,
			.events = e->ids,
			.json = o->json,
			.quiet = o->quiet,
			.top = o->top_given ? o->top : o->json ? 0 : 20,
		};

		e->lines = lines_new(lines, &lo, plan);
		if (!e->lines) {
			free_each(e);
			return NULL;
		}
		lines_header(e->lines, out);
	} else {
		each_header(&e->opts, out);
	}
	fflush(out);
	if (!thread_start(&e->thread, print_all, e))
		return e;
	free_each(e);
	return NULL;
}

int each_error(struct each *e)
{
	return e ? atomic_load(&e->error) : 0;
}

int each_end(struct each *e)
{
	int err;

	if (!e)
		return 0;
	atomic_store(&e->stop, true);
	pthread_join(e->thread, NULL);
	while (!atomic_load(&e->error) && print_some(e, true))
		;
	err = atomic_load(&e->error);
	if (!err && e->lines)
		lines_sums(e->lines, e->snap, e->sym, e->out);
	free_each(e);
	return err;
}
