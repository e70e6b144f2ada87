// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose the event that this kernel has, among its names on different kernels. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "session/plan.h"
#include "session/tracefs.h"

static int is_there(const char *name, void *ctx)
{
	(void)name;
	(void)ctx;
	return 1;
}

/* Does this kernel have it, arguments aside?  -errno: it does not tell. */
static int has(const char *way)
{
	char *event = strdup(way);
	struct event_spec spec;
	__u64 id;
	int ret = -ENOENT;

	if (!event)
		return -ENOMEM;
	args_split(event);
	if (event_parse(event, &spec)) {
		ret = -EINVAL;
	} else if (spec.kind == EVENT_BUILTIN) {
		ret = 0;
	} else if (spec.kind == EVENT_KERNEL) {
		ret = tracefs_for_each_function(spec.name, is_there, NULL);
		ret = ret > 0 ? 0 : ret ? ret : -ENOENT;
	} else {
		ret = tracefs_id(spec.group, spec.name, &id);
		if (!ret && spec.end_name)
			ret = tracefs_id(spec.end_group, spec.end_name, &id);
	}
	free(event);
	return ret;
}

/* Does this kernel have one of the functions that the pick needs?  -errno: it does not tell. */
static int has_needed(const struct plan_pick *pick)
{
	int err = 0;

	for (int i = 0; i < PLAN_WAYS && pick->needs[i]; i++) {
		err = tracefs_for_each_function(pick->needs[i], is_there, NULL);
		if (err > 0)
			return 0;
		err = err ? err : -ENOENT;
	}
	return err;
}

/* "t:a:b..c(x)" : "t:a:b..c" */
static void put_name(char *buf, size_t size, const char *way)
{
	snprintf(buf, size, "%.*s", (int)strcspn(way, "("), way);
}

static void report_missing(const struct plan_pick *pick)
{
	const char *const *lacks = pick->needs[0] ? pick->needs : pick->ways;
	char list[400] = "", name[128];
	size_t n = 0;

	for (int i = 0; i < PLAN_WAYS && lacks[i] && n < sizeof(list); i++) {
		put_name(name, sizeof(name), lacks[i]);
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", n ? " nor " : "", name);
	}
	note("cannot record %s: this kernel has no %s", pick->what, list);
}

/* What the pick is about, of that what is asked for; or NULL: no memory */
static char *both_filters(const char *ours, const char *asked)
{
	char *text;

	return asprintf(&text, "(%s) && (%s)", ours, asked) < 0 ? NULL : text;
}

static int add_way(struct plan *p, const struct plan_env *env, const struct plan_pick *pick,
		   const char *way)
{
	struct plan_env with = *env;
	const size_t first = p->nr;
	char *both = NULL;
	int ret;

	if (pick->value)
		with.ask.value = pick->value;
	if (pick->by)
		with.ask.by = pick->by;
	if (pick->filter && env->ask.filter) {
		both = both_filters(pick->filter, env->ask.filter);
		if (!both)
			return fail(ERR_PLAIN, ENOMEM, "%s", "--filter");
	}
	if (pick->filter)
		with.ask.filter = both ? both : pick->filter;
	/* two picks may want the same of one event */
	p->doubles = true;
	ret = plan_add(p, &with, way);
	free(both);
	if (ret == -ENODATA)
		plan_cut(p, first);
	for (size_t i = first; i < p->nr; i++) {
		p->items[i].pick = pick;
		if (pick->unit)
			p->items[i].attach.value_unit = pick->unit;
	}
	return ret;
}

/* 1: this kernel has it not, 0: it is there now, -ENODATA: it does not pass the filter */
static int add_pick(struct plan *p, const struct plan_env *env, const struct plan_pick *pick,
		    int *status)
{
	int err = -ENOENT, i = 0, ret;

	while (i < PLAN_WAYS && pick->ways[i] && err) {
		err = has(pick->ways[i]);
		if (!err)
			err = has_needed(pick);
		if (err == -EACCES || err == -EPERM || err == -ENXIO) {
			*status = fail(ERR_TRACEFS, err == -ENXIO ? ENOENT : EACCES, "%s",
				       "/sys/kernel/tracing");
			return 0;
		}
		i++;
	}
	if (err)
		return 1;
	ret = add_way(p, env, pick, pick->ways[i - 1]);
	if (ret == -ENODATA)
		return ret;
	*status = ret;
	return 0;
}

int plan_picks(struct plan *p, const struct plan_env *env, const struct plan_pick *picks)
{
	const struct plan_pick *lacking[MEMTAP_MAX_EVENTS];
	struct plan_env with = *env;
	char why[ARGS_ERR];
	size_t nr_lacking = 0;
	int ret = 0;

	with.lacks = why;
	for (; !ret && picks->what; picks++) {
		switch (add_pick(p, &with, picks, &ret)) {
		case 1:
			if (!picks->some)
				report_missing(picks);
			break;
		case -ENODATA:
			if (nr_lacking < MEMTAP_MAX_EVENTS)
				lacking[nr_lacking++] = picks;
		}
	}
	if (ret || p->nr) {
		for (size_t i = 0; !ret && i < nr_lacking; i++)
			note("left out: %s: they lack the fields of the filter",
			     lacking[i]->what);
		return ret;
	}
	if (!nr_lacking)
		return fail_text("this kernel has none of the required tracepoints and functions");
	fail_text("%s", why);
	return EXIT_USAGE;
}
