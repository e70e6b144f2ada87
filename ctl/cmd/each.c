// SPDX-License-Identifier: GPL-2.0-or-later
/* Print single events of a session in a thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/each.h"
#include "render/each.h"
#include "render/namer.h"
#include "session/events.h"

struct each {
	struct watch *watch;
	const struct plan *plan;
	bool stacks, addresses;
	bool usyms;			/* addresses of programs are named */
	struct namer namer;
	FILE *out;
	struct each_opts opts;
	struct each_event events[MEMTAP_MAX_EVENTS];
	__u32 ids[MEMTAP_MAX_EVENTS];	/* of the plan's items */
	struct events *reader;
	struct snap *snap;		/* for stacks, as of the last one that was not known */
	struct sym *sym;
	struct lines *lines;		/* or NULL */
	__u32 left;			/* events to print, or 0: there is no limit */
	int header_error;
	__u64 began_ns, waited_ns;	/* for mappings of new processes */
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

static bool is_known(const struct each *e, __u32 id)
{
	return id < MEMTAP_STACK_FIRST || (e->snap && snap_stack(e->snap, id));
}

static bool all_known(const struct each *e, const struct memtap_one *const *ones, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!is_known(e, ones[i]->kstack) || !is_known(e, ones[i]->ustack) ||
		    (ones[i]->task >= MEMTAP_TASK_FIRST &&
		     (!e->snap || !snap_task(e->snap, ones[i]->task))))
			return false;
	return true;
}

static bool all_mapped(const struct each *e, const struct memtap_one *const *ones, size_t nr)
{
	for (size_t i = 0; e->snap && i < nr; i++)
		if (ones[i]->ustack >= MEMTAP_STACK_FIRST && !snap_mapped(e->snap, ones[i]->task))
			return false;
	return true;
}

static void take_snapshot(struct each *e)
{
	snap_free(e->snap);
	e->snap = NULL;
	if (watch_snapshot(e->watch, &e->snap))
		e->snap = NULL;
}

/*
 * A snapshot has all stacks that were kept by now.  The module reads the mappings of a new
 * process a moment after its first event, and without them no frame has a name: wait for it,
 * for a tenth of the time at most, since some are never read.
 */
static void learn_stacks(struct each *e, const struct memtap_one *const *ones, size_t nr)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	if (!all_known(e, ones, nr))
		take_snapshot(e);
	while (!all_mapped(e, ones, nr) &&
	       e->waited_ns < (clock_ns() - e->began_ns) / 10) {
		const __u64 from = clock_ns();

		nanosleep(&pause, NULL);
		take_snapshot(e);
		e->waited_ns += clock_ns() - from;
	}
}

static void print_one(struct each *e, const struct memtap_one *one)
{
	if (one->event >= MEMTAP_MAX_EVENTS)
		return;
	e->namer.snap = e->snap;
	if (e->usyms && e->snap) {
		const struct snap_stack *st = snap_stack(e->snap, one->ustack);

		e->namer.task = snap_task(e->snap, one->task);
		e->namer.era = st ? st->era : 0;
	}
	if (e->lines)
		lines_put(e->lines, one, e->snap, e->sym, e->out);
	else
		each_line(&e->opts, &e->events[one->event], one, e->out);
	if (e->stacks && e->snap)
		each_stacks(e->snap, e->sym, one, e->addresses, e->out);
}

/*
 * What began and did not return: the rest of its thread's life, or of the session, was in it.
 * Its line comes last, with the time at which it began.
 */
static void print_pending(struct each *e)
{
	take_snapshot(e);
	for (size_t i = 0; e->snap && i < e->snap->nr_pendings; i++) {
		const struct memtap_rec_pending *p = &e->snap->pendings[i];

		if (p->event < MEMTAP_MAX_EVENTS)
			each_pending(&e->opts, &e->events[p->event], p, snap_task(e->snap, p->task),
				     e->out);
	}
}

static int print(void *ctx, const struct memtap_one *const *ones, size_t nr)
{
	struct each *e = ctx;
	bool enough = false;

	errno = 0;
	if (e->stacks || e->lines || e->usyms)
		learn_stacks(e, ones, nr);
	for (size_t i = 0; i < nr && !enough; i++) {
		print_one(e, ones[i]);
		enough = e->left && !--e->left;
	}
	if (e->header_error)
		return e->header_error;
	if (fflush(e->out) || ferror(e->out))
		return errno ? errno : EIO;
	return enough ? EVENTS_ENOUGH : 0;
}

static void free_each(struct each *e)
{
	lines_free(e->lines);
	sym_free(e->sym);
	snap_free(e->snap);
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
	e->addresses = o->addresses;
	e->left = o->max_events;
	e->out = out;
	e->sym = sym_new(&so);
	if (!e->sym || watch_snapshot(w, &e->snap)) {
		free_each(e);
		return NULL;
	}
	name_events(e, e->snap);
	e->usyms = plan_names_users(plan);
	namer_init(&e->namer, e->sym, e->snap);
	e->opts.namer = &e->namer.args;
	e->opts.start_ns = e->snap->header.start_ns;
	e->began_ns = clock_ns();
	e->opts.unix_time = o->unix_time;
	if (o->timestamps || o->unix_time)
		e->opts.real_ns = e->snap->header.real_ns - e->snap->header.now_ns +
				  e->snap->header.start_ns;
	if (lines) {
		const struct lines_opts lo = {
			.start_ns = e->opts.start_ns,
			.real_ns = e->opts.real_ns,
			.unix_time = o->unix_time,
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
	e->header_error = fflush(out) ? errno : 0;
	e->reader = events_start(w->session.fd, print, e);
	if (e->reader)
		return e;
	free_each(e);
	return NULL;
}

int each_error(struct each *e)
{
	const int err = !e ? 0 : e->header_error ? e->header_error : events_error(e->reader);

	return err == EVENTS_ENOUGH ? 0 : err;
}

bool each_enough(struct each *e)
{
	return e && events_error(e->reader) == EVENTS_ENOUGH;
}

int each_end(struct each *e)
{
	bool enough;
	int err;

	if (!e)
		return 0;
	err = events_end(e->reader);
	enough = err == EVENTS_ENOUGH;
	if (!err || enough)
		err = e->header_error;
	if (!err && !e->lines && !enough)
		print_pending(e);
	if (!err && e->lines)
		lines_sums(e->lines, e->snap, e->sym, e->out);
	free_each(e);
	return err;
}
