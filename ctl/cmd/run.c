// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run a recording command: parse target, events and settings, run the session, show its snapshots,
 * and clean up.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/limit.h"
#include "base/text.h"
#include "cmd/call_stack.h"
#include "cmd/each.h"
#include "cmd/mark.h"
#include "cmd/parts.h"
#include "cmd/pusher.h"
#include "cmd/show.h"
#include "leaks/leaks.h"
#include "render/stat.h"
#include "session/dev.h"
#include "target/forks.h"

#define SECOND		1000000000ULL
#define GRACE_NS	(2 * SECOND)	/* for the program, after Ctrl-C */
#define LOOK_NS		(SECOND / 5)	/* are the processes still there? */
#define LIFETIME	(60.0 * 365 * 24 * 3600)	/* fits into any time_t */

struct run {
	const struct question *q;
	const struct opts *o;
	const char *cmd;
	struct targets targets;
	struct plan plan;
	struct watch watch;
	struct leaks_trace *trace;	/* --trace, */
	struct call_stack *call_stack;	/* --stacks; or NULL */
	struct each *each;		/* SHOW_EACH */
	struct forks *forks;		/* or NULL: nobody tells */
	struct parts *parts;		/* of a recording in several files; or NULL */
	struct show show;
	__u64 start;			/* ns, as the following; 0: never */
	__u64 end, next, cohort;
	bool interrupted, by_count;
	bool signalled;			/* somebody wants an end */
};

/* ---- while it runs ---- */

static __u64 sooner(__u64 a, __u64 b)
{
	return !b || (a && a < b) ? a : b;
}

/* A longer time than anybody waits would not fit. */
static __u64 to_ns(double seconds)
{
	return (__u64)((seconds < LIFETIME ? seconds : LIFETIME) * 1e9);
}

/* Returns the signal that came before @until (0: no limit), or 0. */
static int wait_signal(const sigset_t *set, __u64 until)
{
	const __u64 now = clock_ns();
	struct timespec ts = { 0, 0 };
	int sig;

	if (until > now) {
		ts.tv_sec = (time_t)((until - now) / SECOND);
		ts.tv_nsec = (long)((until - now) % SECOND);
	}
	sig = until ? sigtimedwait(set, NULL, &ts) : sigwaitinfo(set, NULL);
	return sig > 0 ? sig : 0;
}

static void progress(const struct run *r)
{
	struct memtap_stats st;
	unsigned long long counted = 0, lost = 0;

	if (r->o->quiet || r->o->interval > 0 || !isatty(STDERR_FILENO))
		return;
	for (__u32 e = 0; !dev_stats(r->watch.session.fd, e, &st); e++) {
		counted += st.counted;
		for (int i = 0; i < MEMTAP_LOST_SLOTS; i++)
			lost += st.lost[i];
	}
	fprintf(stderr, "\rmemtap: %.0f s, %llu events, %llu lost; Ctrl-C ends \r",
		(double)(clock_ns() - r->start) / 1e9, counted, lost);
}

/* The program got a Ctrl-C too; other signals are passed on.  True: that is the end. */
static bool on_signal(struct run *r, int sig)
{
	struct target *t = &r->targets.target;

	if (sig == SIGCHLD)
		return t->pid && target_ended(t);
	r->signalled = true;
	r->show.last_run = true;
	if (r->q->push)
		r->q->push->signalled = true;
	if (!t->pid || r->interrupted)
		return true;
	if (sig != SIGINT)
		kill(t->pid, sig);
	r->interrupted = true;
	r->end = clock_ns() + GRACE_NS;
	return false;
}

static int take_snapshot(struct run *r)
{
	struct snap *s = NULL;
	int ret;

	/* they are large: one at a time */
	if (r->watch.leaks || r->q->ask->objects)
		show_take(&r->show, NULL);
	ret = watch_snapshot(&r->watch, &s);
	if (!ret)
		show_take(&r->show, s);
	return ret;
}

static int tick(struct run *r)
{
	const __u64 step = to_ns(r->o->interval), now = clock_ns();
	int ret;

	if (!r->next || now < r->next)
		return 0;
	r->show.looked_ns = clock_ns();
	watch_look(&r->watch, &r->targets.target);
	ret = take_snapshot(r);
	if (!ret)
		ret = show_interval(&r->show);
	if (!ret && r->parts)
		ret = parts_look(r->parts, &r->show, &r->watch, false);
	/* late by more than an interval: leave out, do not catch up */
	while (r->next <= now)
		r->next += step;
	if (r->parts)
		r->parts->intervals++;
	r->by_count = r->o->count && r->o->count <=
		      (r->parts ? r->parts->intervals : r->show.intervals);
	return ret;
}

/* The file may be full, or its time over; what ends the session ends the file, too. */
static int tick_parts(struct run *r)
{
	const __u64 due = r->parts ? parts_due(r->parts) : 0, now = clock_ns();
	int ret;

	if (!due || now < due || (r->end && now >= r->end))
		return 0;
	ret = take_snapshot(r);
	if (!ret)
		ret = show_span(&r->show);
	return ret ? ret : parts_look(r->parts, &r->show, &r->watch, false);
}

#define COHORT_NS	(4 * SECOND)	/* after so long, and after twice as long, and so on */

/* Who lives now: so that the report can say how many of them are left. */
static void snapshot_cohort(struct run *r)
{
	struct snap *s;

	if (!r->cohort || clock_ns() < r->cohort)
		return;
	r->cohort += r->cohort - r->start;
	if (watch_peek(&r->watch, &s))
		return;
	report_past_free(r->show.cohorts[1]);
	r->show.cohorts[1] = r->show.cohorts[0];
	r->show.cohorts[0] = report_cohort_new(s);
	snap_free(s);
}

/* Has nobody taken the last lines of the trace? */
static int trace_status(const struct run *r)
{
	const int err = r->each ? each_error(r->each) : leaks_trace_error(r->trace);

	return err ? show_failed(&r->show, err) : 0;
}

static int wait_for_end(struct run *r, const sigset_t *set)
{
	const bool look = (r->o->pids.nr || r->o->tids.nr) && !r->targets.target.pid;
	const bool shown = !r->o->quiet && isatty(STDERR_FILENO);
	__u64 until;
	int sig, ret;

	r->start = clock_ns();
	if (r->o->duration > 0)
		r->end = r->start + to_ns(r->o->duration);
	else if (r->o->stale > 0 && !(r->o->interval > 0))
		r->end = r->start + to_ns(r->o->stale);
	if (r->o->interval > 0)
		r->next = r->start + to_ns(r->o->interval);
	if (r->watch.leaks || (r->q->ask->objects && !r->q->ask->rates))
		r->cohort = r->start + COHORT_NS;
	if (r->parts && parts_begin(r->parts, &r->show, r->start))
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	for (;;) {
		until = sooner(sooner(r->cohort, watch_stale_next(&r->watch)),
			       sooner(r->end, r->next));
		until = sooner(r->parts ? parts_due(r->parts) : 0, until);
		if (look || shown)
			until = sooner(clock_ns() + (look ? LOOK_NS : SECOND), until);
		sig = wait_signal(set, until);
		if (sig && on_signal(r, sig))
			return 0;
		snapshot_cohort(r);
		watch_stale_tick(&r->watch, &r->targets);
		ret = trace_status(r);
		if (!ret)
			ret = tick(r);
		if (!ret)
			ret = tick_parts(r);
		if (ret || r->by_count || each_enough(r->each) ||
		    (r->end && clock_ns() >= r->end) ||
		    (look && targets_gone(&r->targets)))
			return ret;
		/* (a program that was started has one session) */
		if (r->parts && r->parts->full && !r->o->argv) {
			r->parts->again = true;
			return ret;
		}
		if (shown)
			progress(r);
	}
}

/* The program runs already, and is attached to as any other process is. */
static int wait_delay(struct run *r, const sigset_t *set)
{
	const __u64 until = clock_ns() + r->o->delay * 1000000ULL;
	struct target *t = &r->targets.target;
	int ret = targets_release(&r->targets), sig;

	while (!ret && clock_ns() < until) {
		sig = wait_signal(set, until);
		if (sig == SIGCHLD && t->pid && target_ended(t))
			return fail_text("the program ended before the delay was over: nothing "
					 "was recorded");
		if (sig && sig != SIGCHLD) {
			if (t->pid)
				kill(t->pid, sig);
			return fail_text("ended before the delay was over: nothing was recorded");
		}
	}
	return ret;
}

/* What is new is not kept any more, what goes is seen; a signal ends it. */
static int drain(struct run *r, const sigset_t *set)
{
	const __u64 until = clock_ns() + to_ns(r->o->drain);
	const int err = mark_drain(r->watch.session.fd);

	if (err)
		return fail_text("--drain failed: %s", err == -ENOTTY ?
				 "load the module of this version" : strerror(-err));
	if (!r->o->quiet)
		note("new blocks are not recorded from now on; the report comes in %g s, or with "
		     "Ctrl-C", r->o->drain);
	while (clock_ns() < until)
		if (wait_signal(set, until))
			break;
	return 0;
}

/* ---- from the start to the last report ---- */

static int start_trace(struct run *r)
{
	if (r->q->show == SHOW_EACH) {
		r->each = each_start(&r->watch, &r->plan, r->o, r->q->lines, r->q->form,
				     r->show.out.f);
		return r->each ? 0 : fail_text("cannot print events: not enough memory, or cannot "
					       "create a thread");
	}
	if ((!r->watch.leaks && !r->q->ask->objects) || !r->o->trace)
		return 0;
	if (!(r->watch.session.info.features & MEMTAP_FEATURE_CALLS))
		return fail_text("the loaded module reports single calls in another format; load "
				 "the module of this version");
	if (r->o->stacks)
		r->call_stack = call_stack_new(&r->watch);
	r->trace = leaks_trace_start(&(struct leaks_trace_of){
		.dev = r->watch.session.fd, .reading = &r->watch.reading,
		.out = r->show.out.f, .printing = &r->show.printing,
		.kernel = r->q->ask->objects, .addresses = r->o->addresses,
		.stack = r->call_stack ? call_stack_print : NULL, .ctx = r->call_stack,
	});
	if (!r->trace)
		note("cannot trace calls: cannot create a thread");
	return 0;
}

/* @told: what went wrong with it was said already. */
static int end_trace(struct run *r, bool told)
{
	const __u64 lost = leaks_trace_end(r->trace);
	const int err = each_end(r->each);

	call_stack_free(r->call_stack);
	r->call_stack = NULL;
	r->trace = NULL;
	r->each = NULL;
	if (err)
		return told ? EXIT_FAILURE : show_failed(&r->show, err);
	if (lost)
		note("%llu call%s came faster than could be printed, and %s not in the trace",
		     (unsigned long long)lost, lost == 1 ? "" : "s", lost == 1 ? "is" : "are");
	return 0;
}

/* As it was given, or as the process has it, which may end before its report. */
static void name_program(const struct opts *o, char *text, size_t len)
{
	char path[32];
	ssize_t n = 0;
	int fd;

	for (char **arg = o->argv; arg && *arg && n < (ssize_t)len; arg++)
		n += snprintf(text + n, len - (size_t)n, "%s%s", n ? " " : "", *arg);
	if (o->argv || o->pids.nr != 1)
		return;
	snprintf(path, sizeof(path), "/proc/%u/cmdline", o->pids.at[0]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, len - 1);
	if (fd >= 0)
		close(fd);
	while (n > 0 && !text[n - 1])
		n--;
	for (ssize_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n > 0 ? n : 0] = '\0';
}

static void prepare_show(struct run *r)
{
	char who[160], stale[TEXT_LEN];

	targets_name(&r->targets, who, sizeof(who));
	snprintf(r->show.title, sizeof(r->show.title), "%s%s%s: %s", r->q->title,
		 r->o->stale > 0 ? ", not used for " : "",
		 r->o->stale > 0 ? text_long(stale, to_ns(r->o->stale)) : "", who);
	name_program(r->o, r->show.program, sizeof(r->show.program));
	r->show.leaks = r->watch.leaks;
	r->show.plan = &r->plan;
	r->show.launched = r->targets.target.pid;
}

/* Of everybody nobody is missing. */
static void start_forks(struct run *r)
{
	const struct targets *w = &r->targets;
	const __u32 child = (__u32)w->target.pid;

	if (w->system)
		return;
	if (child)
		r->forks = forks_start(&child, 1);
	else if (w->pids->nr)
		r->forks = forks_start(w->pids->at, w->pids->nr);
}

/*
 * Who was started and not followed may be whom the question was about.  Where the kernel
 * does not tell, the faults of those that were waited for do.
 */
static void report_forks(struct run *r)
{
	const struct target *t = &r->targets.target;
	struct show *s = &r->show;
	struct forks_sum sum;

	if (r->forks) {
		forks_get(r->forks, &sum);
		if (!t->ended)
			sum.running = 0;
		forks_text(&sum, r->targets.children,
			   t->pid || r->targets.pids->nr == 1 ? "it" : "they",
			   s->forks, sizeof(s->forks));
	} else if (t->ended && !r->targets.system && !r->targets.children &&
		   t->after.child_faults > t->before.child_faults) {
		snprintf(s->forks, sizeof(s->forks), "processes that it started were not "
			 "followed; --children follows them");
	}
}

/* Who was killed meanwhile. */
static void take_kills(struct run *r)
{
	struct show *s = &r->show;

	if (oom_since(r->watch.session.fd, s->now->header.start_ns, OOM_NOW, r->o, &s->ooms))
		note("OOM kills are not recorded: not enough memory");
	else if (s->ooms.lost)
		note("%llu earlier OOM kill%s %s dropped: the module keeps the last %d",
		     (unsigned long long)s->ooms.lost, text_s(s->ooms.lost),
		     s->ooms.lost == 1 ? "is" : "are", MEMTAP_OOM_KEPT);
}

static int show_all(struct run *r)
{
	struct show *s = &r->show;
	int ret = take_snapshot(r);

	if (ret)
		return ret;
	if (r->parts) {
		s->killed = target_killed_by(&r->targets.target);
		report_forks(r);
		ret = show_span(s);
		return ret ? ret : parts_look(r->parts, s, &r->watch, true);
	}
	/* (the program's own counters began before a delay was over) */
	if (!r->q->ask->rss && !r->o->delay)
		watch_reconcile(&r->watch, &r->targets, s->now, r->o->quiet, s->note,
				sizeof(s->note));
	if (!r->o->quiet)
		watch_shmem(&r->watch, s->now, s->shmem, sizeof(s->shmem));
	if (r->q->ask->objects && !r->q->ask->rates && (!r->o->quiet || r->q->show == SHOW_FILE))
		s->nr_objects = watch_objects_footer(&r->watch, s->now, s->objects);
	if (r->q->ask->rss && !r->o->quiet)
		s->nr_objects = watch_rss_footer(&r->watch, s->objects);
	if (r->watch.leaks && !r->o->quiet)
		s->nr_objects = watch_stale_footer(&r->watch, s->objects);
	if (r->q->ask->objects && !r->o->quiet)
		s->nr_objects += similar_footer(&r->watch.similar, s->objects + s->nr_objects);
	if (r->q->ask->huge && !r->o->quiet)
		s->nr_objects = watch_huge(&r->watch, s->objects);
	if (r->q->show == SHOW_FILE)
		take_kills(r);
	s->killed = target_killed_by(&r->targets.target);
	report_forks(r);
	return show_final(s, r->by_count);
}

/* From here on Ctrl-C ends at once; the one that ended the counting does not. */
static void unblock(const sigset_t *set, const sigset_t *before)
{
	const struct timespec now = { 0, 0 };

	while (sigtimedwait(set, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, before, NULL);
}

static int measure(struct run *r, const sigset_t *set, const sigset_t *before)
{
	int ret, stopped, printed;

	prepare_show(r);
	watch_serve(&r->watch);
	watch_jitmaps(&r->watch, &r->targets, r->o);
	r->show.jitmaps = r->watch.jitmaps;
	ret = start_trace(r);
	start_forks(r);
	if (!ret)
		ret = targets_release(&r->targets);
	if (!ret)
		ret = wait_for_end(r, set);
	if (!ret && r->o->drain > 0 && !r->targets.target.ended)
		ret = drain(r, set);
	r->show.looked_ns = clock_ns();
	if (!ret)
		watch_look(&r->watch, &r->targets.target);
	if (!ret && r->o->similar)
		watch_similar(&r->watch, r->o->older);
	stopped = watch_stop(&r->watch);
	printed = end_trace(r, ret);
	if (!ret)
		ret = printed;
	unblock(set, before);
	if (!ret)
		ret = stopped;
	if (isatty(STDERR_FILENO) && !r->o->quiet)
		fputs("\033[K", stderr);	/* the progress line */
	if (ret)
		return ret;
	limit_oom_first(true);
	ret = show_all(r);
	limit_oom_first(false);
	return ret;
}

/* ---- all of it ---- */

/* Of a program that has ended: its own, or that of --error-exitcode. */
static int verdict_status(struct run *r, int status)
{
	struct leaks_verdict v;

	if (!r->watch.leaks || !r->o->exitcode || !r->show.now ||
	    WIFSIGNALED(r->targets.target.status))
		return status;
	if (leaks_verdict(r->show.now, r->show.sym, r->watch.leaks->suppress, &v))
		return fail(ERR_PLAIN, ENOMEM, "%s", "the verdict");
	if (v.blocks || v.mismatches)
		return (int)r->o->exitcode;
	if (v.not_followed)
		return fail_text("it is not known whether the program leaks: one of its "
				 "allocators was not followed from the start");
	return status;
}

/* The program's own exit status is the answer, unless we ended it. */
static int exit_status(struct run *r, int ret)
{
	struct target *t = &r->targets.target;
	const bool ended = t->ended;

	if (!t->pid)
		return ret;
	target_close(t);
	return ret || !ended ? ret : verdict_status(r, target_exit_status(t));
}

static int run(struct run *r, const sigset_t *set, const sigset_t *before)
{
	const struct watch_ask *ask = r->q->ask;
	/* what is named after the program's PID waits for it */
	const bool late = r->o->argv && (r->o->out_later || r->o->flame_later);
	int ret;

	watch_init(&r->watch);
	targets_init(&r->targets, r->o);
	/* what programs read has nothing of others in it */
	r->targets.apart = r->o->format != FORMAT_TABLE && !r->o->out;
	ret = watch_begin_leaks(&r->watch, ask, r->o, r->cmd);
	if (!ret && !late)
		ret = show_open(&r->show, r->q, r->o, 0);
	if (!ret)
		ret = targets_launch(&r->targets, before);
	if (!ret && late)
		ret = show_open(&r->show, r->q, r->o, r->targets.target.pid);
	if (!ret && r->o->delay)
		ret = wait_delay(r, set);
	if (!ret)
		ret = watch_start(&r->watch, ask, r->o, &r->targets, &r->plan, r->cmd);
	if (!ret)
		ret = measure(r, set, before);
	forks_end(r->forks);
	watch_close(&r->watch, &r->targets, r->show.now);
	ret = exit_status(r, ret);
	watch_end_leaks(&r->watch, r->show.now);
	watch_objects_end(&r->watch);
	watch_huge_end(&r->watch);
	watch_rss_end(&r->watch);
	watch_stale_end(&r->watch);
	plan_free(&r->plan);
	show_free(&r->show);
	jitmaps_free(r->watch.jitmaps);
	watch_name_end(&r->watch);	/* snapshots have it, */
	watch_files_end(&r->watch);	/* and them */
	targets_free(&r->targets);
	return ret;
}

/*
 * @runs NULL: one run; @parts NULL: in one file.  @again: there is to be another one, unless a
 * signal came.
 */
static int run_once(const struct question *q, const struct opts *o, const char *cmd,
		    struct stat_runs *runs, struct parts *parts, bool *again)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	struct run *r = calloc(1, sizeof(*r));
	sigset_t set, before;
	int ret;

	if (!r)
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&set, signals[i]);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, &before);
	r->q = q;
	r->o = o;
	r->cmd = cmd;
	r->parts = parts;
	r->show.runs = runs;
	r->show.last_run = !*again;
	ret = run(r, &set, &before);
	*again &= !r->signalled;
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(r);
	return ret;
}

/* Each run begins anew; the last one prints.  What does not count anything ends it. */
static int repeat(const struct question *q, const struct opts *o, const char *cmd)
{
	struct stat_runs *runs = stat_runs_new();
	bool again = true;
	int ret = 0;

	if (!runs)
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	for (__u32 i = 1; again; i++) {
		again = i < o->repeat;
		ret = run_once(q, o, cmd, runs, NULL, &again);
		if (stat_runs_nr(runs) != i)
			break;
	}
	stat_runs_free(runs);
	return ret;
}

/* Each file is a session of its own: what happens between two is in neither. */
static int switch_sessions(const struct question *q, const struct opts *o, const char *cmd,
			   struct parts *parts, __u64 end)
{
	struct opts *one = malloc(sizeof(*one));
	char path[PATH_MAX];
	bool again = true;
	__u64 began, part;
	int ret = 0;

	if (!one)
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	for (; !ret && again && (!end || clock_ns() < end); parts->number++) {
		*one = *o;
		parts_path(parts, parts->number, path, sizeof(path));
		one->out = path;
		one->out_later = false;
		began = clock_ns();
		part = to_ns(o->switch_time);
		if (end && end - began < part)
			part = end - began;
		one->duration = (double)part / 1e9;
		parts_remove(parts, 0);
		ret = run_once(q, one, cmd, NULL, NULL, &again);
		/* processes that are gone have no second file */
		if (clock_ns() - began < part)
			break;
	}
	free(one);
	return ret;
}

/* One session goes on from file to file, until its tables are nearly full. */
static int switch_files(const struct question *q, const struct opts *o, const char *cmd,
			struct parts *parts, __u64 end)
{
	struct opts *one = malloc(sizeof(*one));
	bool again = true;
	int ret = 0;

	if (!one)
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	*one = *o;
	do {
		again = true;
		ret = run_once(q, one, cmd, NULL, parts, &again);
		if (ret || !again || !parts->again || (end && clock_ns() >= end))
			break;
		note("the tables are nearly full: another session with empty ones begins with "
		     "%s.%u; what happens between the two is not recorded (--max-mem SIZE: larger "
		     "tables)", parts->base, parts->number);
		one->duration = end ? (double)(end - clock_ns()) / 1e9 : 0;
	} while (true);
	free(one);
	return ret;
}

static int run_parts(const struct question *q, const struct opts *o, const char *cmd)
{
	const __u64 end = o->duration > 0 ? clock_ns() + to_ns(o->duration) : 0;
	char most[TEXT_LEN];
	struct parts parts;
	int ret;

	if (parts_init(&parts, o))
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	if (o->switch_size && o->keep)
		note("the files take at most %s (--keep %u, --switch-size %s)",
		     text_bytes(most, (__s64)(o->keep * o->switch_size), false), o->keep,
		     session_size(o->switch_size).text);
	ret = parts_apart(q, o) ? switch_sessions(q, o, cmd, &parts, end) :
				  switch_files(q, o, cmd, &parts, end);
	parts_free(&parts);
	return ret;
}

int question_run(const struct question *q, const struct opts *o, const char *cmd)
{
	bool again = false;

	if (o->switch_time > 0 || o->switch_size)
		return run_parts(q, o, cmd);
	return o->repeat ? repeat(q, o, cmd) : run_once(q, o, cmd, NULL, NULL, &again);
}
