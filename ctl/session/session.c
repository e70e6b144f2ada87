// SPDX-License-Identifier: GPL-2.0-or-later
/* Open, configure, start and close a session. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/limit.h"
#include "base/text.h"
#include "machine/machine.h"
#include "session/session.h"

#define LEAST_TABLE	(64ULL << 10)
#define MOST_TABLE	(1ULL << 30)

struct session_size session_size(__u64 bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double v = (double)bytes;
	struct session_size s;
	size_t u = 0;

	while (v >= 1024 && u + 1 < sizeof(units) / sizeof(units[0])) {
		v /= 1024;
		u++;
	}
	snprintf(s.text, sizeof(s.text), u ? "%.1f %s" : "%.0f %s", v, units[u]);
	return s;
}

int session_open(struct session *s)
{
	int err;

	memset(s, 0, sizeof(*s));
	err = dev_open(&s->fd);
	if (err) {
		s->fd = -1;
		return fail(ERR_DEVICE, err, MEMTAP_DEVICE);
	}
	err = dev_info(s->fd, &s->info);
	if (!err)
		err = dev_events(s->fd, &s->events, &s->nr_events);
	if (err) {
		session_close(s);
		return fail(ERR_INFO, err, "querying the module");
	}
	return 0;
}

void session_close(struct session *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	free(s->events);
	s->events = NULL;
}

int session_may_read(const struct session *s, const char *what, const char *reads)
{
	if (!(s->info.features & MEMTAP_FEATURE_ONLY_COUNT))
		return 0;
	return fail_text("%s needs " SESSION_MISSING ": %s; CAP_PERFMON alone gives stacks and "
			 "counts", what, reads);
}

/* What was refused for its size says how much it would have been. */
static int ask(struct session *s, struct memtap_config *c, __u64 *total)
{
	const int err = dev_configure(s->fd, c);

	*total = c->mem_total;
	return err;
}

enum { STACKS, COUNTERS, TASKS, UNWIND, LIVE, NR_TABLES };

/* What each table takes when nothing limits it. */
static void usual_sizes(const struct session *s, const struct memtap_config *c,
			__u64 from[NR_TABLES])
{
	from[STACKS] = c->mem_stacks ? c->mem_stacks : s->info.mem_stacks;
	from[COUNTERS] = c->mem_counters ? c->mem_counters : s->info.mem_counters;
	from[TASKS] = c->mem_tasks ? c->mem_tasks : s->info.mem_tasks;
	from[UNWIND] = c->flags & MEMTAP_CFG_ROWS ? s->info.mem_unwind : 0;
	from[LIVE] = c->flags & MEMTAP_CFG_LIVE ? s->info.mem_live :
		     c->flags & MEMTAP_CFG_OBJECTS ? s->info.mem_objects :
		     c->flags & MEMTAP_CFG_TOUCHED ? s->info.mem_touched : 0;
}

static void scale(struct memtap_config *c, const __u64 from[NR_TABLES], double by)
{
	__u64 *const to[NR_TABLES] = { &c->mem_stacks, &c->mem_counters, &c->mem_tasks,
				       &c->mem_unwind, &c->mem_live };

	for (int i = 0; i < NR_TABLES; i++) {
		double v = (double)from[i] * by;

		if (!from[i])
			continue;
		*to[i] = v < LEAST_TABLE ? LEAST_TABLE :
			 v > MOST_TABLE ? MOST_TABLE : (__u64)v & ~4095ULL;
	}
}

/*
 * Some of the memory does not depend on the tables' sizes (what is made per
 * CPU): approach the budget from below instead of computing it.
 */
static int fit(struct session *s, struct memtap_config *c, __u64 budget)
{
	__u64 usual[NR_TABLES], total;
	double low = 0, high;
	__u64 grows = 0;
	int err;

	usual_sizes(s, c, usual);
	/* what grows while the session runs is a quarter of the tables, at most */
	if (c->flags & MEMTAP_CFG_LIVE)
		grows = budget / 5;
	high = (double)budget / (double)usual[STACKS];
	scale(c, usual, 0);
	err = ask(s, c, &total);
	if (err)
		return err;
	if (total > budget)
		return -EDQUOT;
	for (int i = 0; i < 12; i++) {
		const double middle = (low + high) / 2;

		scale(c, usual, middle);
		err = ask(s, c, &total);
		if (err && err != -EDQUOT)
			return err;
		if (err || total > budget - grows)
			high = middle;
		else
			low = middle;
	}
	scale(c, usual, low);
	return ask(s, c, &total);
}

/* What memtap itself takes for a report of some thousand stacks. */
#define TOOL_NEEDS	(16ULL << 20)
/* The module leaves this to others. */
#define SPARE		(2ULL << 20)

/* What of --max-mem would fit into @left, in words. */
static void advise(struct session *s, const struct memtap_config *config, __u64 left, char *to,
		   size_t len)
{
	struct memtap_config c = *config;
	__u64 budget;

	left -= left / 16;		/* it is to fit in a minute, too */
	budget = left > TOOL_NEEDS + SPARE ?
		 (left - TOOL_NEEDS - SPARE) & ~((256ULL << 10) - 1) : 0;
	if (budget && budget <= s->info.max_mem && !fit(s, &c, budget))
		snprintf(to, len, "--max-mem %lluK fits", (unsigned long long)budget >> 10);
	else if (fit(s, &c, 0) == -EDQUOT)
		snprintf(to, len, "the minimum tables need %s, which does not fit either",
			 session_size(c.mem_total).text);
	else
		snprintf(to, len, "free memory first");
}

/* Is there memory for it?  What cannot be read is left to the module. */
static int check_room(struct session *s, struct memtap_config *config)
{
	const struct machine_at at = machine_here();
	const __u64 need = config->mem_total + TOOL_NEEDS + SPARE;
	struct machine_room room;
	char advice[96], *comma;

	if (!machine_room(&at, getpid(), &room) || room.bytes >= need)
		return 0;
	comma = strrchr(room.what, ',');
	if (comma && !comma[1])
		*comma = '\0';
	advise(s, config, room.bytes, advice, sizeof(advice));
	return fail_text("not enough memory: the session needs up to %s and memtap %s, but %s are "
			 "left until %s, %s too few; %s",
			 session_size(config->mem_total).text,
			 session_size(TOOL_NEEDS + SPARE).text, session_size(room.bytes).text,
			 room.what, session_size(need - room.bytes).text, advice);
}

static int configure(struct session *s, struct memtap_config *config, __u64 max_mem)
{
	char subject[96];
	int err;

	if (max_mem > s->info.max_mem)
		err = -EDQUOT;
	else if (max_mem)
		err = fit(s, config, max_mem);
	else
		err = dev_configure(s->fd, config);
	if (!err)
		return check_room(s, config);
	snprintf(subject, sizeof(subject), "%s, limit %s",
		 session_size(max_mem ? max_mem : config->mem_total).text,
		 session_size(s->info.max_mem).text);
	if (err == -EDQUOT && max_mem && max_mem <= s->info.max_mem)
		return fail_text("the minimum table size on this machine is "
				 "%s, more than --max-mem %s",
				 session_size(config->mem_total).text,
				 session_size(max_mem).text);
	return fail(ERR_CONFIGURE, err, "%s", subject);
}

int session_configure(struct session *s, struct memtap_config *config,
		      __u64 max_mem)
{
	int ret;

	limit_oom_first(true);
	ret = configure(s, config, max_mem);
	limit_oom_first(false);
	return ret;
}

static enum err_op attach_op(const struct memtap_attach *a)
{
	switch (a->kind) {
	case MEMTAP_ATTACH_TRACEPOINT:
	case MEMTAP_ATTACH_PAIR:
		return ERR_TRACEPOINT;
	case MEMTAP_ATTACH_KPROBE:
		return ERR_FUNCTION;
	case MEMTAP_ATTACH_BUILTIN:
		return ERR_HOOK;
	case MEMTAP_ATTACH_PERF:
		return ERR_COUNTER;
	default:
		return ERR_UPROBE;
	}
}

static int set_mark(struct session *s, const struct plan_item *item)
{
	struct memtap_mark arg = { .flags = MEMTAP_MARK_EVENT, .event = item->attach.event };

	memcpy(arg.name, item->mark, sizeof(arg.name));
	return dev_mark(s->fd, &arg);
}

/* Does the user want to end it?  Who records has these signals blocked. */
static bool is_ended(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
		sigismember(&pending, SIGHUP));
}

/* Of one of many that a pattern matched. */
static const char *refusal(int err)
{
	switch (-err) {
	case ENOENT:
		return "the kernel no longer has it";
	case EINVAL:
		return "the kernel refused the probe";
	case EDQUOT:
		return "its tables exceed the module's max_mem";
	case ENOSPC:
		return "the session takes no more events";
	default:
		return strerror(-err);
	}
}

#define SAY_MANY	32		/* events of patterns: their number is said */
#define PROGRESS_NS	500000000ULL

/* Many take a while: say how far it is, on a terminal. */
static void progress(size_t done, size_t nr, __u64 *next)
{
	const __u64 now = clock_ns();

	if (!*next)
		*next = now + PROGRESS_NS;
	if (now < *next || err_quiet || !isatty(STDERR_FILENO))
		return;
	*next = now + PROGRESS_NS / 5;
	fprintf(stderr, "\rmemtap: attaching: %zu of %zu events; Ctrl-C ends \r", done, nr);
}

static void say_attached(struct plan *p, size_t refused)
{
	size_t optional = 0;
	char n[TEXT_LEN], most[TEXT_LEN];

	if (isatty(STDERR_FILENO) && !err_quiet)
		fputs("\033[K", stderr);
	for (size_t i = 0; i < p->nr; i++)
		optional += p->items[i].optional;
	if (optional > SAY_MANY)
		note("%s events attached; a session takes %s", text_count(n, p->nr - refused),
		     text_count(most, MEMTAP_MAX_EVENTS));
	omitted_say(&p->omitted);
}

int session_attach(struct session *s, struct plan *p)
{
	char like[PLAN_LIKE];
	size_t refused = 0;
	int err = 0, last = 0;
	char why[80];
	__u64 next = 0;

	for (size_t i = 0; i < p->nr; i++) {
		struct plan_item *item = &p->items[i];

		if (is_ended())
			return fail_text("interrupted while events were attached: %zu of %zu; "
					 "nothing was counted", i, p->nr);
		progress(i, p->nr, &next);
		if (item->args && !(s->info.features & MEMTAP_FEATURE_STEPS))
			return fail_text("the loaded module does not support event arguments; load "
					 "the module of this version");
		if (item->args && args_need_expressions(item->args) &&
		    !(s->info.features & MEMTAP_FEATURE_EXPRESSIONS))
			return fail_text("the loaded module does not support this: arithmetic in "
					 "arguments, patterns, several keys or long strings; load "
					 "the module of this version");
		if (item->attach.kind == MEMTAP_ATTACH_PAIR &&
		    !(s->info.features & MEMTAP_FEATURE_PAIRS))
			return fail_text("the loaded module does not support BEGIN..END; load the "
					 "module of this version");
		if (item->mark[0] && !(s->info.features & MEMTAP_FEATURE_MARKS))
			return fail_text("the loaded module does not support marks; load the "
				"module "
					 "of this version");
		err = dev_attach(s->fd, &item->attach);
		if (err == -EPERM && session_may_read(s, item->text, "it reads arguments, a "
						      "tracepoint's fields, or sets a semaphore"))
			return 1;
		if (!err && item->mark[0])
			err = set_mark(s, item);
		if (!err)
			continue;
		if (!item->optional)
			return fail(attach_op(&item->attach), err, "%s", err != -ENOENT ?
				    item->text : plan_like_known(attach_op(&item->attach),
								 item->text, like));
		snprintf(why, sizeof(why), "left out: %s", refusal(err));
		omitted_add(&p->omitted, item->text, why);
		last = err;
		refused++;
	}
	say_attached(p, refused);
	if (last && refused == p->nr && !p->builtins)
		return fail(attach_op(&p->items[0].attach), last, "%s",
			    p->items[0].text);
	return 0;
}

/* Which of the wanted events did the kernel refuse?  0: none of them did. */
static __u64 find_failed(struct session *s, __u64 wanted, int *why)
{
	struct memtap_hook_state hook;
	__u64 failed = 0, good = 0;

	for (__u32 i = 0; !dev_hook(s->fd, i, &hook); i++)
		for (__u32 e = 0; e < s->nr_events && e < 64; e++) {
			if (!(wanted >> e & 1) || strcmp(s->events[e].name, hook.event))
				continue;
			if (hook.state == MEMTAP_HOOK_FAILED || hook.error) {
				failed |= 1ULL << e;
				*why = -(int)hook.error;
			} else {
				good |= 1ULL << e;
			}
		}
	return failed & ~good;
}

static int start_failed(struct session *s, const struct memtap_config *config,
			int err)
{
	int why = err;
	const __u64 failed = find_failed(s, config->events, &why);

	for (__u32 e = 0; e < s->nr_events && e < 64; e++)
		if (failed >> e & 1)
			return fail(ERR_HOOK, why, "%s (%s)", s->events[e].name,
				    strerror(-why));
	if (err != -ENOMEM && err != -EDQUOT)
		return fail(ERR_START, err, "starting the session");
	return fail(ERR_START, err, "%s", session_size(config->mem_total).text);
}

static int start(struct session *s, struct memtap_config *config, __u64 droppable)
{
	__u64 failed;
	int err, why;

	while ((err = dev_start(s->fd))) {
		failed = find_failed(s, config->events & droppable, &why);
		if (!failed || failed == config->events)
			return start_failed(s, config, err);
		for (__u32 e = 0; e < s->nr_events && e < 64; e++)
			if (failed >> e & 1)
				note("left out: %s: %s", s->events[e].name,
				     strerror(-why));
		config->events &= ~failed;
		err = dev_configure(s->fd, config);
		if (err)
			return fail(ERR_CONFIGURE, err, "%s", "again");
	}
	return 0;
}

int session_start(struct session *s, struct memtap_config *config,
		  __u64 droppable)
{
	int ret;

	limit_oom_first(true);
	ret = start(s, config, droppable);
	limit_oom_first(false);
	return ret;
}
