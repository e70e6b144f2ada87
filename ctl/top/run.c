// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap top`: read the machine, handle keys, and watch one process. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "history/past.h"
#include "history/recorded.h"
#include "render/triage_recorded.h"
#include "top/batch.h"
#include "top/screen.h"
#include "top/top.h"
#include "top/view.h"

#define SECOND		1000000000ULL
#define BUDGET_NS	(SECOND / 4)	/* for all processes, and again for all cgroups */

struct run {
	struct top t;
	struct machine_at at;
	struct canvas canvas;
	struct top_view *view;
	struct past past;
	size_t sample;			/* of the history, where t.past */
	int signals;			/* a descriptor */
	int said;			/* what the rest of memtap says: stderr, to be read */
	int stderr_was;
	__u64 next;
	bool over;
};

static __u64 now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (__u64)ts.tv_sec * SECOND + (__u64)ts.tv_nsec;
}

static int look(struct top *t, const struct machine_at *at)
{
	struct machine now;
	int err = machine_read(at, MACHINE_SLAB, &now);

	if (!err)
		err = top_take(t, at, &now);
	machine_free(&now);
	t->real_ns = now_ns(CLOCK_REALTIME);
	return err;
}

/* Sample @i of the history, against the one before it. */
static int look_back(struct run *r, size_t i)
{
	const struct history *h = r->past.h;
	struct machine m;
	int err = 0;

	if (!h || !i)
		return -ENOENT;
	for (size_t k = i - 1; !err && k <= i; k++) {
		r->at = past_at(&r->past, k);
		err = history_copy(r->past.c, k, &m);
		if (!err)
			err = top_take(&r->t, &r->at, &m);
		machine_free(&m);
	}
	r->sample = i;
	r->t.real_ns = h->samples[i].real_ns;
	r->t.interval = (double)(h->samples[i].ns - h->samples[i - 1].ns) / 1e9;
	return err;
}

/* Which waits the module recorded before sample @i, if it did. */
static void say_waits(struct run *r, size_t i)
{
	struct recorded waits = { 0 };
	FILE *f = fmemopen(r->t.message, sizeof(r->t.message), "w");

	if (!f)
		return;
	if (!recorded_between(r->past.h, i - 1, i, &waits))
		render_recorded_line(&waits, f);
	fclose(f);
	r->t.message[sizeof(r->t.message) - 1] = '\0';
	recorded_free(&waits);
}

/* The next sample in this direction that can be compared, or that something happened in. */
static int move(struct run *r, bool forward, bool event)
{
	const struct history *h = r->past.h;
	char text[HISTORY_TEXT];
	const struct machine *m;
	struct machine before;
	unsigned int what = 0;
	size_t i = r->sample;
	int err = 0;

	while (!err && (forward ? ++i < h->nr_samples : --i > 0)) {
		if (history_gap(h, i) != GAP_NONE) {
			snprintf(r->t.message, sizeof(r->t.message), "%.255s",
				 history_gap_text(h, i, text));
			continue;
		}
		if (event) {
			err = history_copy(r->past.c, i - 1, &before);
			if (!err)
				err = history_read(r->past.c, i, &m, NULL);
			what = err ? 0 : triage_events(&before, m);
			what |= recorded_stalled(h, i) ? TRIAGE_STALL : 0;
			machine_free(&before);
		}
		if (!event || what) {
			if (!err)
				err = look_back(r, i);
			if (!err && event)
				say_waits(r, i);
			return err;
		}
	}
	if (!err)
		snprintf(r->t.message, sizeof(r->t.message), "%s%s of the history", event ?
			 "no kill, stall or growth until " : "", forward ? "the end" :
			 "the beginning");
	return err;
}

static int fail_look(int err)
{
	if (err == -EBADMSG)
		return fail_text("the history was changed or damaged meanwhile");
	return err == -ENOMEM ? fail_text("no memory") :
	       fail_text("/proc/meminfo cannot be read: %s; is /proc mounted?", strerror(-err));
}

/* ---- no terminal ---- */

static void sleep_until(__u64 ns)
{
	const struct timespec ts = { (time_t)(ns / SECOND), (long)(ns % SECOND) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static int batch(struct run *r, const struct opts *o)
{
	const __u64 step = (__u64)(r->t.interval * 1e9);
	const __u32 count = o->interval > 0 || o->count ? o->count : 0;
	__u64 next = now_ns(CLOCK_MONOTONIC);
	int err = look(&r->t, &r->at);

	for (__u32 i = 0; !err && (!count || i < count) && !ferror(stdout); i++) {
		next += step;
		sleep_until(next);
		err = look(&r->t, &r->at);
		if (err)
			break;
		if (i && !o->json)
			putchar('\n');
		if (o->json)
			batch_json(&r->t, stdout);
		else
			err = batch_print(&r->t, stdout);
		fflush(stdout);
	}
	return err ? fail_look(err) : 0;
}

/* ---- what is said below ---- */

static void say(struct top *t, char *line)
{
	static const char name[] = "memtap: ";

	if (!strncmp(line, name, sizeof(name) - 1))
		line += sizeof(name) - 1;
	if (!strncmp(line, "tables take ", 12))
		snprintf(t->cost, sizeof(t->cost), "%s", line);
	else if (*line)
		snprintf(t->message, sizeof(t->message), "%s", line);
}

/* stderr is a pipe while the screen is on: whoever writes there would draw over it. */
static void hear(struct run *r)
{
	char text[4096], *rest = text, *line;
	const ssize_t n = read(r->said, text, sizeof(text) - 1);

	if (n <= 0)
		return;
	text[n] = '\0';
	while ((line = strsep(&rest, "\n\r")))
		say(&r->t, line);
}

static int take_stderr(struct run *r)
{
	int ends[2];

	fflush(stderr);
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	r->stderr_was = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (r->stderr_was < 0 || dup2(ends[1], STDERR_FILENO) < 0) {
		close(ends[0]);
		close(ends[1]);
		return -errno;
	}
	close(ends[1]);
	r->said = ends[0];
	return 0;
}

static void give_stderr_back(struct run *r)
{
	if (r->said < 0)
		return;
	dup2(r->stderr_was, STDERR_FILENO);
	close(r->stderr_was);
	close(r->said);
	r->said = -1;
}

/* ---- a process ---- */

static void draw(struct run *r)
{
	int rows, cols;

	hear(r);
	screen_size(&rows, &cols);
	if (!canvas_begin(&r->canvas, rows, cols))
		return;
	top_draw(&r->t, &r->canvas);
	screen_show(&r->canvas);
}

static const char *cost_of(enum top_what what)
{
	return what == TOP_LEAKS ? "two traps a call of malloc and free" :
	       what == TOP_GROWTH ? "a probe at each brk and mmap" :
				    "a counter at each page fault";
}

static void close_view(struct run *r)
{
	view_close(r->view);
	r->view = NULL;
	r->t.watching = false;
	top_take_lines(&r->t, NULL);
	hear(r);
}

static void refresh_view(struct run *r)
{
	bool ended;
	char *lines = view_lines(r->view, &ended);

	if (lines)
		top_take_lines(&r->t, lines);
	if (ended)
		snprintf(r->t.message, sizeof(r->t.message), "%s (%u) has exited: its events until "
							     "then are shown", r->t.name, r->t.pid);
}

/* What is being done is said before it is: files of a large program are read for seconds. */
static void open_view(struct run *r)
{
	struct top *t = &r->t;
	char tables[sizeof(t->cost)];

	if (r->view)
		close_view(r);
	t->message[0] = '\0';
	t->cost[0] = '\0';
	t->line = 0;
	t->watching = true;
	snprintf(t->cost, sizeof(t->cost), "attaching: %s", cost_of(t->what));
	draw(r);
	t->cost[0] = '\0';
	r->view = view_open(t->what, t->pid);
	hear(r);
	if (!r->view) {
		t->watching = false;
		return;
	}
	snprintf(tables, sizeof(tables), "%s", t->cost);
	snprintf(t->cost, sizeof(t->cost), "%s; %.200s", cost_of(t->what), tables);
	refresh_view(r);
}

static int do_ask(struct run *r)
{
	struct top *t = &r->t;
	const enum top_ask ask = t->ask;

	t->ask = ASK_NOTHING;
	if (ask == ASK_QUIT)
		r->over = true;
	else if (ask == ASK_OPEN)
		open_view(r);
	else if (ask == ASK_CLOSE)
		close_view(r);
	else if (ask == ASK_WRITE && r->view)
		view_write(r->view, t->name, t->input);
	else if (ask >= ASK_NEXT)
		return move(r, ask == ASK_NEXT || ask == ASK_NEXT_EVENT, ask >= ASK_NEXT_EVENT);
	return 0;
}

/* ---- the terminal ---- */

static void do_signal(struct run *r)
{
	struct signalfd_siginfo info;

	while (read(r->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGWINCH)
			screen_resized();
		else
			r->over = true;
	}
}

/* False: the terminal is gone. */
static bool do_keys(struct run *r, int *err)
{
	bool any = false;
	int key;

	while (!r->over && (key = screen_key()) != TOP_NO_KEY) {
		any = true;
		top_key(&r->t, key, r->canvas.rows);
		*err = do_ask(r);
		if (*err)
			break;
	}
	return any;
}

static int tick(struct run *r)
{
	const __u64 step = (__u64)(r->t.interval * 1e9), now = now_ns(CLOCK_MONOTONIC);
	int err;

	if (r->t.past)
		return 0;
	/* a new interval counts from now on */
	if (r->next > now + step)
		r->next = now + step;
	if (now < r->next)
		return 0;
	err = look(&r->t, &r->at);
	if (!err && r->view)
		refresh_view(r);
	while (r->next <= now)
		r->next += step;
	return err;
}

static int loop(struct run *r)
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = r->signals, .events = POLLIN },
	};
	int err = r->t.past ? look_back(r, r->past.last) : look(&r->t, &r->at);
	__u64 now;

	/* a first look at what changes comes soon */
	r->next = now_ns(CLOCK_MONOTONIC) + (r->t.interval < 0.5 ? 0 : SECOND / 2);
	while (!err && !r->over) {
		draw(r);
		now = now_ns(CLOCK_MONOTONIC);
		poll(fds, 2, r->t.past ? -1 : r->next > now ?
		     (int)((r->next - now + 999999) / 1000000) : 0);
		do_signal(r);
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			r->over = true;
		else if ((fds[0].revents & POLLIN) && !do_keys(r, &err))
			r->over = true;
		if (!r->over && !err)
			err = tick(r);
	}
	return err;
}

static int run_screen(struct run *r)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH };
	char why[160];
	sigset_t set, before;
	bool watched;
	int err;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&set, ends[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->signals < 0)
		return fail(ERR_PLAIN, errno, "%s", "signals");
	if (screen_open(why))
		return fail_text("%s", why);
	err = take_stderr(r);
	if (!err)
		err = loop(r);
	watched = r->view;
	if (watched)
		r->t.message[0] = '\0';
	close_view(r);
	screen_close();
	give_stderr_back(r);
	/* how taking the probes away went */
	if (watched && *r->t.message)
		note("%s", r->t.message);
	close(r->signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err ? fail_look(err) : 0;
}

static int batch_back(struct run *r, const struct opts *o)
{
	char text[HISTORY_TEXT];
	int err = 0;

	for (size_t i = r->past.first + 1; !err && i <= r->past.last; i++) {
		if (history_gap(r->past.h, i) != GAP_NONE) {
			note("%s", history_gap_text(r->past.h, i, text));
			continue;
		}
		err = look_back(r, i);
		if (!err && o->json)
			batch_json(&r->t, stdout);
		else if (!err)
			err = batch_print(&r->t, stdout);
	}
	return err ? fail_look(err) : 0;
}

static void watch_only(struct top *t, const struct opts *o)
{
	if (o->pids.nr)
		snprintf(t->filter, sizeof(t->filter), "%u", o->pids.at[0]);
}

/* Lines are better than nothing. */
static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	if (screen_can())
		return false;
	note("the terminal '%.40s' has no cursor control, or memtap was built without ncurses: "
	     "text is printed instead", term ? term : "");
	return true;
}

int cmd_top(const struct cmd *cmd, struct opts *o)
{
	struct run *r;
	int ret;

	if (o->args.nr)
		return usage_error(cmd->name, "'%s' is not an interval: [interval [count]] are "
				   "seconds and a number of times", o->args.at[0]);
	if (o->pids.nr > 1)
		return usage_error(cmd->name, "-p takes one PID; the key p filters by name");
	r = calloc(1, sizeof(*r));
	if (!r)
		return fail_text("no memory");
	r->said = -1;
	r->at = machine_here();
	r->at.budget_ns = BUDGET_NS;
	r->t.interval = o->interval > 0 ? o->interval : 1;
	watch_only(&r->t, o);
	r->t.past = past_asked(o);
	ret = r->t.past && o->interval > 0 ?
	      usage_error(cmd->name, "an interval is not for --at and --between") :
	      r->t.past ? past_open(cmd->name, o, &r->past) : 0;
	if (ret)
		goto out;
	if (o->json || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) || is_dumb())
		ret = r->t.past ? batch_back(r, o) : batch(r, o);
	else
		ret = run_screen(r);
	past_close(&r->past);
out:
	top_free(&r->t);
	canvas_free(&r->canvas);
	free(r);
	return ret;
}
