// SPDX-License-Identifier: GPL-2.0-or-later
/* Resolve the names of events to attachments. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/pattern.h"
#include "session/counter.h"
#include "session/functions.h"
#include "session/plan.h"
#include "session/tracefs.h"

/* Asked for twice, counted once. */
static void drop_double(struct plan *p)
{
	const struct memtap_attach *a = &p->items[p->nr - 1].attach, *b;

	for (size_t i = 0; !p->doubles && i + 1 < p->nr; i++) {
		b = &p->items[i].attach;
		if (a->kind == b->kind && a->flags == b->flags &&
		    a->offset == b->offset && !strcmp(a->name, b->name)) {
			p->nr--;
			return;
		}
	}
}

#define SAID	(-EUCLEAN)		/* a sentence was printed */

struct adder {
	struct plan *plan;
	const struct event_spec *spec;
	bool pattern;
	size_t added, matched;
};

static int add_tracepoint(const char *name, void *ctx)
{
	struct adder *a = ctx;
	struct plan_item *item;
	char subsystem[MEMTAP_NAME_LEN];
	const char *colon = strchr(name, ':');
	__u64 id;
	int err;

	if (!colon || strlen(name) >= MEMTAP_NAME_LEN)
		return -EINVAL;
	snprintf(subsystem, sizeof(subsystem), "%.*s", (int)(colon - name), name);
	err = tracefs_id(subsystem, colon + 1, &id);
	if (err == -ENXIO && !a->pattern && !a->spec->guessed)
		id = 0;		/* no tracefs: the module may know its name */
	else if (err)
		return err;
	a->matched++;
	if (a->pattern && !plan_left(a->plan))
		return 0;	/* how many there are is said */
	item = plan_new(a->plan, MEMTAP_ATTACH_TRACEPOINT);
	if (!item)
		return -E2BIG;
	item->attach.config = id;
	item->optional = a->pattern;
	snprintf(item->attach.name, sizeof(item->attach.name), "%s", name);
	snprintf(item->text, sizeof(item->text), "%s", name);
	drop_double(a->plan);
	a->added++;
	return 0;
}

static int half_id(const char *group, const char *name, __u64 *id)
{
	const int err = tracefs_id(group, name, id);

	if (err != -ENXIO)
		return err;
	*id = 0;		/* no tracefs */
	return 0;
}

static int plan_pair(struct plan *p, const struct event_spec *spec)
{
	struct memtap_attach *a;
	struct plan_item *item;
	char name[2 * sizeof(spec->text) + 8];
	__u64 id, end_id;
	int err;

	snprintf(name, sizeof(name), "%s:%s..%s:%s", spec->group, spec->name, spec->end_group,
		 spec->end_name);
	if (strlen(name) >= MEMTAP_NAME_LEN)
		return -ENAMETOOLONG;
	err = half_id(spec->group, spec->name, &id);
	if (!err)
		err = half_id(spec->end_group, spec->end_name, &end_id);
	if (err)
		return err;
	item = plan_new(p, MEMTAP_ATTACH_PAIR);
	if (!item)
		return -E2BIG;
	a = &item->attach;
	a->config = id;
	a->end_config = end_id;
	snprintf(a->name, sizeof(a->name), "%.127s", name);
	snprintf(item->text, sizeof(item->text), "%.127s", name);
	drop_double(p);
	return 0;
}

/* Returns a negative errno: a guess may turn out to be something else. */
static int plan_tracepoint(struct plan *p, const struct event_spec *spec)
{
	struct adder a = { p, spec, false, 0, 0 };
	const size_t before = p->nr;
	char name[sizeof(spec->text)];
	int err;

	if (spec->end_name)
		return plan_pair(p, spec);
	snprintf(name, sizeof(name), "%s:%s", spec->group, spec->name);
	a.pattern = is_pattern(name);
	if (!a.pattern)
		return add_tracepoint(name, &a);
	err = tracefs_for_each_event(name, add_tracepoint, &a);
	if (!err && a.matched > a.added) {
		plan_cut(p, before);
		plan_too_many(p, name, a.matched, "tracepoints");
		return SAID;
	}
	return err ? err : a.added ? 0 : -ENOENT;
}

static int add_function(const char *name, struct adder *a)
{
	struct plan_item *item;

	if (strlen(name) >= MEMTAP_NAME_LEN)
		return -ENOENT;
	item = plan_new(a->plan, MEMTAP_ATTACH_KPROBE);
	if (!item)
		return -E2BIG;
	item->attach.offset = a->spec->offset;
	item->attach.flags = a->spec->is_return ? MEMTAP_ATTACH_RETURN : 0;
	item->optional = a->pattern;
	snprintf(item->attach.name, sizeof(item->attach.name), "%s", name);
	snprintf(item->text, sizeof(item->text), "%s", name);
	drop_double(a->plan);
	a->added++;
	return 0;
}

static int add_matching(const char *name, enum functions_how how, bool several, void *ctx)
{
	struct adder *a = ctx;
	struct omitted *o = &a->plan->omitted;

	switch (how) {
	case FUNCTIONS_FORBIDDEN:
		omitted_add(o, name, "left out: the kernel allows no probe there");
		return 0;
	case FUNCTIONS_UNTRACED:
		omitted_add(o, name, "left out: not in ftrace's list, because notrace or freed "
			    "after boot");
		return 0;
	default:
		break;
	}
	if (strlen(name) >= MEMTAP_NAME_LEN) {
		omitted_add(o, name, "left out: the name is too long");
		return 0;
	}
	a->matched++;
	if (!plan_left(a->plan))
		return 0;	/* how many there are is said */
	if (several)
		omitted_add(o, name, "several functions have the name; one of them is counted");
	return add_function(name, a);
}

static int plan_function(struct plan *p, const struct event_spec *spec)
{
	struct adder a = { p, spec, is_pattern(spec->name), 0, 0 };
	const size_t before = p->nr;
	int err;

	if (!a.pattern)
		return add_function(spec->name, &a);
	err = functions_find(spec->name, add_matching, &a);
	if (!err && a.matched > a.added) {
		plan_cut(p, before);
		plan_too_many(p, spec->name, a.matched, "functions that can be probed");
		return SAID;
	}
	if (!err && !a.added && p->omitted.nr) {
		omitted_say(&p->omitted);
		fail_text("%s matches no function that can be probed", spec->name);
		return SAID;
	}
	return err ? err : a.added ? 0 : -ENOENT;
}

/* @list: of arguments, or NULL */
static int add_builtin(struct plan *p, const struct plan_env *env, const char *name,
		       const char *list)
{
	const __u64 mask = plan_builtins(env, name);
	char like[PLAN_LIKE];
	const char *known;

	if (!mask) {
		known = plan_like_builtin(env, name, like);
		if (known != name)
			return fail_text("no built-in event %s; `memtap list events` shows them",
					 known);
		return fail(ERR_EVENT, ENOENT, "%s", name);
	}
	if (list)
		return plan_args_builtin_list(p, env, mask, list);
	p->builtins |= mask;
	if (plan_nr(p) > MEMTAP_MAX_EVENTS)
		return fail(ERR_EVENT, E2BIG, "%s", name);
	return 0;
}

static int plan_counter(struct plan *p, const char *text, const char *name)
{
	struct plan_item *item;
	char err[COUNTER_ERR];
	struct counter c;

	if (counter_parse(name, &c, err)) {
		fail_text("%s", err);
		return EXIT_USAGE;
	}
	item = strlen(text) < MEMTAP_NAME_LEN ? plan_new(p, MEMTAP_ATTACH_PERF) : NULL;
	if (!item)
		return fail(ERR_EVENT, E2BIG, "%s", text);
	item->attach.offset = c.type;
	item->attach.config = c.config;
	item->attach.ref_ctr = c.every;
	item->attach.op = c.freq;
	snprintf(item->attach.name, sizeof(item->attach.name), "%s", text);
	snprintf(item->text, sizeof(item->text), "%s", text);
	drop_double(p);
	return 0;
}

static int say(enum err_op op, int err, const char *text)
{
	char like[PLAN_LIKE];

	if (!err)
		return 0;
	if (err == SAID)
		return EXIT_FAILURE;
	if (err == -E2BIG)
		return fail(ERR_EVENT, err, "%s", text);
	if (err == -ENXIO)
		return fail(ERR_TRACEFS, ENOENT, "%s", "/sys/kernel/tracing");
	if (err == -EACCES || err == -EPERM)
		return fail(ERR_TRACEFS, EACCES, "%s", "/sys/kernel/tracing");
	return fail(op, err, "%s", err == -ENOENT ? plan_like_known(op, text, like) : text);
}

static int add(struct plan *p, const struct plan_env *env, const char *text, const char *list)
{
	struct event_spec spec;
	char name[600];
	int err;

	if (event_parse(text, &spec)) {
		fail(ERR_EVENT, EINVAL, "%s", text);
		return EXIT_USAGE;
	}
	switch (spec.kind) {
	case EVENT_BUILTIN:
		return add_builtin(p, env, spec.name, list);
	case EVENT_PERF:
		return plan_counter(p, text, spec.name);
	case EVENT_KERNEL:
		err = plan_function(p, &spec);
		return say(ERR_FUNCTION, err, spec.name);
	case EVENT_TRACEPOINT:
		err = plan_tracepoint(p, &spec);
		if (err && err != -E2BIG && err != SAID && spec.guessed) {
			event_reread(&spec);
			err = plan_user(p, env, &spec);
			/* neither: it looks like a tracepoint */
			if (err == -ENXIO)
				return fail_text("%s is neither a tracepoint nor "
						 "FILE:FUNCTION; see `memtap list "
						 "tracepoints` and `memtap list FILE`",
						 text);
			return err ? EXIT_FAILURE : 0;
		}
		snprintf(name, sizeof(name), "%s:%s", spec.group, spec.name);
		return say(ERR_TRACEPOINT, err, spec.end_name ? text : name);
	default:
		err = plan_user(p, env, &spec);
		if (err == -ENXIO)
			return fail(ERR_LIBRARY, ENOENT, "%s", spec.file);
		return err ? EXIT_FAILURE : 0;
	}
}

/* Behind the file's path, which may have any character. */
static int check_parentheses(const char *text)
{
	const char *slash = strrchr(text, '/'), *open = NULL;
	int depth = 0;

	for (const char *at = slash ? slash : text; *at; at++) {
		if (*at == '(' && !depth++)
			open = at;
		depth -= *at == ')' && depth;
	}
	if (!depth)
		return 0;
	fail_text("%s: the ( at character %td has no )", text, open - text + 1);
	return EXIT_USAGE;
}

int plan_add(struct plan *p, const struct plan_env *env, const char *text)
{
	const size_t first = p->nr;
	char *event, *list;
	int ret = check_parentheses(text);

	if (ret)
		return ret;
	event = strdup(text);
	if (!event)
		return fail(ERR_PLAIN, ENOMEM, "%s", text);
	list = args_split(event);
	p->doubles |= list != NULL;
	ret = add(p, env, event, list);
	if (!ret)
		ret = plan_args(p, env, list, first);
	free(event);
	return ret;
}
