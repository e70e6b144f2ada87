// SPDX-License-Identifier: GPL-2.0-or-later
/* What stacks, faults, brk, mmap, stat and record have in common: all of it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "base/err.h"
#include "session/seccomp.h"
#include "watch/watch.h"

#define SECOND		1000000000ULL
#define GRACE_NS	(2 * SECOND)	/* for the program, after Ctrl-C */
#define LOOK_NS		(SECOND / 5)	/* are the processes still there? */
#define LIFETIME	(60.0 * 365 * 24 * 3600)	/* fits into any time_t */

__u64 watch_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (__u64)ts.tv_sec * SECOND + (__u64)ts.tv_nsec;
}

/* --- before the first probe ---------------------------------------------- */

static int add_events(struct watch *w, const struct plan_env *env,
		      const char *const *names)
{
	int ret = 0;

	for (int i = 0; !ret && i < WATCH_EVENTS && names[i]; i++)
		ret = plan_add(&w->plan, env, names[i]);
	return ret;
}

static int choose_events(struct watch *w)
{
	static const char *const followed[WATCH_EVENTS] = { "mmap", "mremap", "munmap" };
	const struct plan_env env = {
		.events = w->session.events,
		.nr_events = w->session.nr_events,
		.pids = &w->o->pids,
		.tids = &w->o->tids,
		.program = w->target.pid ? w->target.path : NULL,
	};
	int ret = 0;

	if (w->leaks)
		return w->o->no_mappings ? 0 : add_events(w, &env, followed);
	for (size_t i = 0; !ret && i < w->o->args.nr; i++)
		ret = plan_add(&w->plan, &env, w->o->args.at[i]);
	if (ret || w->o->args.nr)
		return ret;
	if (w->q->all_events)
		w->plan.builtins = (1ULL << w->session.nr_events) - 1;
	else
		ret = add_events(w, &env, w->o->all ? w->q->more : w->q->events);
	return ret;
}

static bool has_returns(const struct plan *p)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->items[i].attach.kind == MEMTAP_ATTACH_UPROBE &&
		    (p->items[i].attach.flags & MEMTAP_ATTACH_RETURN))
			return true;
	return false;
}

static int check_returns(const struct watch *w)
{
	if (!has_returns(&w->plan))
		return 0;
	return seccomp_check(w->items, w->config.filter_nr, w->session.info.features,
			     w->target.pid, "u: is safe, and ur: for others (-p PID)");
}

static __u32 config_flags(const struct watch *w)
{
	const struct opts *o = w->o;
	__u32 flags = w->leaks ? MEMTAP_CFG_USTACK : w->q->stacks;

	if (o->user || o->kernel)
		flags = (o->user ? MEMTAP_CFG_USTACK : 0) |
			(o->kernel ? MEMTAP_CFG_KSTACK : 0);
	if (o->by == BY_THREAD)
		flags |= MEMTAP_CFG_THREADS;
	if (o->hist)
		flags |= MEMTAP_CFG_HIST;
	if (o->addresses && !w->leaks)
		flags |= MEMTAP_CFG_ADDR;
	if (o->children)
		flags |= MEMTAP_CFG_CHILDREN;
	if (o->only_user)
		flags |= MEMTAP_CFG_ONLY_USER;
	if (o->only_kernel)
		flags |= MEMTAP_CFG_ONLY_KERNEL;
	return flags;
}

static unsigned int page_shift(void)
{
	return (unsigned int)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
}

/* Of everything, what is done by who looks is no answer. */
static __u32 not_self(const struct watch *w)
{
	if (w->config.filter_nr || w->leaks || w->o->self)
		return 0;
	if (w->session.info.features & MEMTAP_FEATURE_NOT_SELF)
		return MEMTAP_CFG_NOT_SELF;
	note("the loaded module cannot leave memtap itself out: what it does counts, too");
	return 0;
}

static int configure(struct watch *w)
{
	struct memtap_config *c = &w->config;
	const size_t nr = plan_nr(&w->plan);
	int ret;

	if (w->o->depth > w->session.info.max_depth)
		return usage_error(w->cmd, "--depth: this module keeps %u frames "
				   "at most", w->session.info.max_depth);
	c->flags = config_flags(w) | not_self(w);
	if (w->leaks)
		c->flags |= leaks_config(c, w->o);
	ret = watch_choose_unwind(w, &c->flags);
	if (ret)
		return ret;
	c->events = w->plan.builtins;
	c->depth = w->o->depth;
	c->addr_shift = w->o->addresses ? page_shift() : 0;
	c->min_size = w->o->min_size;
	c->max_size = w->o->max_size;
	ret = session_configure(&w->session, c, w->o->max_mem);
	if (ret)
		return ret;
	note(w->leaks ? "tables take %s%s (limit %s)" :
	     "tables take %s%s (limit %s); attaching %zu event%s",
	     session_size(c->mem_total).text, c->flags & MEMTAP_CFG_ROWS ? " at most" : "",
	     session_size(w->session.info.max_mem).text, nr, nr == 1 ? "" : "s");
	return 0;
}

int watch_launch(struct watch *w, const sigset_t *mask)
{
	int err;

	if (!w->o->argv)
		return 0;
	err = target_launch(&w->target, w->o->argv, mask);
	return err ? fail(ERR_EXEC, err, "%s", w->o->argv[0]) : 0;
}

int watch_release(struct watch *w)
{
	int err;

	if (!w->target.pid)
		return 0;
	err = target_release(&w->target);
	if (err == -ENOENT)	/* the program itself was found before */
		return fail_text("the interpreter that %s names is not there",
				 w->target.path);
	return err ? fail(ERR_EXEC, err, "%s", w->o->argv[0]) : 0;
}

/* --- while it runs ------------------------------------------------------- */

struct loop {
	__u64 end, next;		/* ns; 0: never */
	bool interrupted, by_count;
};

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
	const __u64 now = watch_clock();
	struct timespec ts = { 0, 0 };
	int sig;

	if (until > now) {
		ts.tv_sec = (time_t)((until - now) / SECOND);
		ts.tv_nsec = (long)((until - now) % SECOND);
	}
	sig = until ? sigtimedwait(set, NULL, &ts) : sigwaitinfo(set, NULL);
	return sig > 0 ? sig : 0;
}

static void progress(struct watch *w)
{
	struct memtap_stats st;
	unsigned long long counted = 0, lost = 0;

	if (w->o->quiet || w->o->interval > 0 || !isatty(STDERR_FILENO))
		return;
	for (__u32 e = 0; !dev_stats(w->session.fd, e, &st); e++) {
		counted += st.counted;
		for (int i = 0; i < MEMTAP_LOST_SLOTS; i++)
			lost += st.lost[i];
	}
	fprintf(stderr, "\rmemtap: %.0f s, %llu events, %llu lost; Ctrl-C ends \r",
		(double)(watch_clock() - w->start_ns) / 1e9, counted, lost);
}

/* The program got a Ctrl-C too; other signals are passed on. */
static bool on_signal(struct watch *w, struct loop *l, int sig)
{
	if (sig == SIGCHLD)
		return w->target.pid && target_ended(&w->target);
	if (!w->target.pid || l->interrupted)
		return true;
	if (sig != SIGINT)
		kill(w->target.pid, sig);
	l->interrupted = true;
	l->end = watch_clock() + GRACE_NS;
	return false;
}

static int tick(struct watch *w, struct loop *l)
{
	const __u64 step = to_ns(w->o->interval), now = watch_clock();
	int ret;

	if (!l->next || now < l->next)
		return 0;
	ret = watch_interval(w);
	/* late by more than an interval: leave out, do not catch up */
	while (l->next <= now)
		l->next += step;
	l->by_count = w->o->count && w->intervals >= w->o->count;
	return ret;
}

static int run_loop(struct watch *w, const sigset_t *set, struct loop *l)
{
	const bool look = (w->o->pids.nr || w->o->tids.nr) && !w->target.pid;
	const bool shown = !w->o->quiet && isatty(STDERR_FILENO);
	__u64 until;
	int sig, ret;

	w->start_ns = w->last_ns = watch_clock();
	if (w->o->duration > 0)
		l->end = w->start_ns + to_ns(w->o->duration);
	if (w->o->interval > 0)
		l->next = w->start_ns + to_ns(w->o->interval);
	for (;;) {
		until = sooner(l->end, l->next);
		if (look || shown)
			until = sooner(watch_clock() + (look ? LOOK_NS : SECOND),
				       until);
		sig = wait_signal(set, until);
		if (sig && on_signal(w, l, sig))
			return 0;
		ret = watch_trace_status(w);
		if (!ret)
			ret = tick(w, l);
		if (ret || l->by_count || (l->end && watch_clock() >= l->end) ||
		    (look && watch_all_gone(w)))
			return ret;
		if (shown)
			progress(w);
	}
}

/* --- all of it ----------------------------------------------------------- */

int watch_prepare(struct watch *w)
{
	const __u64 droppable = w->leaks || (w->q->all_events && !w->o->args.nr) ? ~0ULL : 0;
	int ret;

	ret = session_open(&w->session);
	if (!ret)
		ret = choose_events(w);
	if (!ret)
		ret = watch_filter(w);
	if (!ret)
		ret = check_returns(w);
	if (!ret)
		ret = configure(w);
	if (!ret)
		ret = session_attach(&w->session, &w->plan);
	if (!ret)
		watch_prepare_rows(w);
	if (!ret)
		ret = watch_attach_leaks(w);
	if (!ret)
		ret = session_start(&w->session, &w->config, droppable);
	return ret;
}

/* From here on Ctrl-C ends at once; the one that ended the counting does not. */
static void unblock(const sigset_t *set, const sigset_t *before)
{
	const struct timespec now = { 0, 0 };

	while (sigtimedwait(set, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, before, NULL);
}

static int measure(struct watch *w, const sigset_t *set, const sigset_t *before)
{
	struct loop l = { 0 };
	int ret, err;

	watch_title(w);
	watch_serve_rows(w);
	watch_start_trace(w);
	ret = watch_release(w);
	if (!ret)
		ret = run_loop(w, set, &l);
	serve_stop(w->serve);
	err = dev_stop(w->session.fd);
	watch_end_trace(w);
	unblock(set, before);
	if (!ret && err)
		ret = fail(ERR_READ, err, "%s", "stopping");
	if (isatty(STDERR_FILENO) && !w->o->quiet)
		fputs("\033[K", stderr);	/* the progress line */
	if (!ret)
		ret = watch_final(w, l.by_count);
	return ret;
}

/* The program's own exit status is the answer, unless we ended it. */
static int exit_status(struct watch *w, int ret)
{
	const bool ended = w->target.ended;

	if (!w->target.pid)
		return ret;
	target_close(&w->target);
	if (ret || !ended)
		return ret;
	return watch_leaks_status(w, target_exit_status(&w->target));
}

int watch_run(struct watch *w)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	sigset_t set, before;
	int ret;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&set, signals[i]);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, &before);

	w->session.fd = -1;
	pthread_mutex_init(&w->reading, NULL);
	pthread_mutex_init(&w->printing, NULL);
	ret = watch_begin_leaks(w);
	if (!ret)
		ret = watch_open_out(w);
	if (!ret)
		ret = watch_launch(w, &before);
	if (!ret)
		ret = watch_prepare(w);
	if (!ret)
		ret = measure(w, &set, &before);
	watch_end_rows(w);
	session_close(&w->session);
	ret = exit_status(w, ret);
	watch_end_leaks(w);
	plan_free(&w->plan);
	watch_free_out(w);
	free(w->items);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}
