// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules between two samples; `memtap watch`. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "cmd/acts.h"
#include "cmd/cmd.h"
#include "uapi/memtap.h"

#define CONFIG		"/etc/memtap.conf"
#define INTERVAL	10.0
#define SECOND		1000000000ULL
#define BUDGET_NS	250000000
#define MOST_LOOKS	60.0		/* in a row, between samples: they cost as much */
#define LOOKS_A_SECOND	0.1		/* that come back */

static void say(void *ctx, const char *line)
{
	struct acts *a = ctx;

	note("%s", line);
	if (a->w)
		history_note(a->w, "rule=%s", line);
}

/* --- rules -------------------------------------------------------------------------- */

int acts_load(struct acts *a, const struct opts *o, const char *cmd)
{
	char err[RULES_ERR], name[RULE_NAME];
	const char *config = o->config ? o->config : CONFIG;

	a->wait = -1;
	if (o->whens.nr != o->dos.nr)
		return usage_error(cmd, "each --when needs its --do, and each --do its --when");
	for (size_t i = 0; i < o->whens.nr; i++) {
		snprintf(name, sizeof(name), "%zu", i + 1);
		if (!rules_add(&a->rules, name, o->whens.at[i], o->dos.at[i], err))
			return usage_error(cmd, "--when '%s' --do '%s': %s", o->whens.at[i],
					   o->dos.at[i], err);
	}
	if (o->whens.nr)
		return 0;
	if (!o->config && access(config, F_OK))
		return 0;
	if (!rules_load(&a->rules, config, err))
		return fail_text("%s", err);
	return 0;
}

size_t acts_begin(struct acts *a, const char *dir, const struct machine *m)
{
	const size_t nr = a->rules.nr;
	struct epoll_event e = { .events = EPOLLPRI };
	int err;

	a->looks = MOST_LOOKS;
	a->looked_ns = clock_ns();
	if (!nr)
		return 0;
	snprintf(a->dir, sizeof(a->dir), "%.400s/%s", dir, ACT_DIR);
	a->act = (struct act) { .dir = a->dir, .budget = ACT_BUDGET, .say = say, .ctx = a };
	err = act_begin(&a->act);
	if (err) {
		note("%s: %s: no rule can act", a->dir, err == -EPERM ? "it must be ours, and "
		     "nobody else may write there" : strerror(-err));
		rules_end(&a->rules);
		return nr;
	}
	rules_begin(&a->rules, m, !access(MEMTAP_DEVICE, F_OK), say, a);
	for (size_t i = 0; i < a->rules.nr; i++) {
		if (a->rules.at[i].fd < 0)
			continue;
		if (a->wait < 0)
			a->wait = epoll_create1(EPOLL_CLOEXEC);
		e.data.u32 = (__u32)i;
		if (a->wait < 0 || epoll_ctl(a->wait, EPOLL_CTL_ADD, a->rules.at[i].fd, &e))
			note("rule %s: the kernel's trigger cannot be waited for: %s",
			     a->rules.at[i].name, strerror(errno));
	}
	return nr - a->rules.nr;
}

bool acts_on(struct acts *a, const struct machine *was, const struct machine *m,
	     const struct history_now *now)
{
	return a->rules.nr && act_on(&a->act, &a->rules, was, m, now);
}

/* Did a trigger fire? */
static bool see_triggers(struct acts *a)
{
	struct epoll_event e[RULES_MOST];
	int nr = a->wait < 0 ? 0 : epoll_wait(a->wait, e, RULES_MOST, 0);

	for (int i = 0; i < nr; i++) {
		/* (a cgroup that is gone is POLLERR for ever) */
		if (e[i].events & (EPOLLERR | EPOLLHUP))
			epoll_ctl(a->wait, EPOLL_CTL_DEL, a->rules.at[e[i].data.u32].fd, NULL);
		else
			a->rules.at[e[i].data.u32].tripped = true;
	}
	return nr > 0;
}

enum acts_woken acts_wait(struct acts *a, struct until *until, __u64 next_ns, bool near)
{
	__u64 now = clock_ns(), end = next_ns;
	bool look = false;

	a->looks += (double)(now - a->looked_ns) / 1e9 * LOOKS_A_SECOND;
	a->looks = a->looks > MOST_LOOKS ? MOST_LOOKS : a->looks;
	a->looked_ns = now;
	if (near && a->looks >= 1 && now + SECOND < next_ns) {
		look = true;
		end = now + SECOND;
	}
	for (;;) {
		/* an action that must end is looked after in between */
		const __u64 turn = a->act.pid && now + SECOND < end ? now + SECOND : end;
		bool more;

		until->end = (double)turn / 1e9;
		more = until_wait(until, a->wait, POLLIN);
		now = clock_ns();
		act_look(&a->act, clock_ns_of(CLOCK_BOOTTIME));
		if (more && see_triggers(a) && a->looks >= 1) {
			a->looks--;
			return ACTS_LOOK;
		}
		if (!more && now < turn)
			return ACTS_SIGNAL;
		if (now < end)
			continue;
		if (!look || now >= next_ns)
			return ACTS_SAMPLE;
		a->looks--;
		return ACTS_LOOK;
	}
}

void acts_end(struct acts *a)
{
	if (a->act.dir)
		act_end(&a->act);
	rules_end(&a->rules);
	if (a->wait >= 0)
		close(a->wait);
}

/* --- memtap watch ------------------------------------------------------------------- */

struct look {
	struct machine_at at;
	struct machine was, is;
	struct history_shared shared;
	bool any;
};

/* @was: what the last look of a whole interval saw: rates are over that. */
static int look(struct look *l, struct acts *a, bool sample, bool *near)
{
	struct history_now now;
	int err = history_sample(&l->at, &l->is, l->any ? &l->was : NULL, &l->shared);

	if (err) {
		machine_free(&l->is);
		return err;
	}
	now.real_ns = clock_ns_of(CLOCK_REALTIME);
	now.boot_ns = clock_ns_of(CLOCK_BOOTTIME);
	*near = acts_on(a, l->any ? &l->was : NULL, &l->is, &now);
	if (!sample) {
		machine_free(&l->is);
		return 0;
	}
	if (l->any)
		machine_free(&l->was);
	l->was = l->is;
	l->any = true;
	return 0;
}

static int watch(struct acts *a, const char *dir, double interval, double duration)
{
	const __u64 step = (__u64)(interval * 1e9), began = clock_ns();
	struct look l = { .at = machine_here() };
	const __u64 over = duration > 0 ? began + (__u64)(duration * 1e9) : ~0ULL;
	__u64 next = began;
	struct until until;
	bool near = false;
	int err, ret = 0;

	l.at.budget_ns = BUDGET_NS;
	l.at.follow = machine_follow();
	until_begin(&until, 0);
	err = history_sample(&l.at, &l.was, NULL, &l.shared);
	l.any = !err;
	if (!err && acts_begin(a, dir, &l.was))
		ret = EXIT_FAILURE;
	while (!err && !ret) {
		enum acts_woken woken;

		while (next <= clock_ns())
			next += step;
		woken = acts_wait(a, &until, next < over ? next : over, near);
		if (woken == ACTS_SIGNAL || clock_ns() >= over)
			break;
		err = look(&l, a, woken == ACTS_SAMPLE, &near);
	}
	acts_end(a);
	if (l.any)
		machine_free(&l.was);
	machine_follow_end(l.at.follow);
	return err ? fail(ERR_PLAIN, err, "/proc/meminfo") : ret;
}

int cmd_rules(const struct cmd *cmd, struct opts *o)
{
	const char *dir = o->dir ? o->dir : HISTORY_DIR;
	double interval = INTERVAL;
	struct acts *a;
	int ret;

	if (o->args.nr > 1)
		return usage_error(cmd->name, "'%s' is too much: one interval", o->args.at[1]);
	if (o->args.nr && (!opt_seconds(o->args.at[0], &interval) || interval < 0.1 ||
			   interval > 86400))
		return usage_error(cmd->name, "'%s' is not an interval: seconds from 0.1 to 86400",
				   o->args.at[0]);
	a = calloc(1, sizeof(*a));
	if (!a)
		return fail_text("no memory");
	ret = acts_load(a, o, cmd->name);
	if (!ret && !a->rules.nr)
		ret = usage_error(cmd->name, "no rules: give --when CONDITION --do ACTION, or "
				  "lines RULE_NAME=\"...\" in %s", o->config ? o->config : CONFIG);
	if (!ret && mkdir(dir, 0700) && errno != EEXIST)
		ret = fail(ERR_PLAIN, -errno, "%s", dir);
	if (!ret)
		ret = watch(a, dir, interval, o->duration);
	free(a);
	return ret;
}
