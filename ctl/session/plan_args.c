// SPDX-License-Identifier: GPL-2.0-or-later
/* Arguments, filters and values of what is attached. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "session/plan.h"
#include "session/tracefs.h"

static int read_format(const char *event, struct format *f)
{
	char subsystem[MEMTAP_NAME_LEN];
	const char *colon = strchr(event, ':');
	int err;

	snprintf(subsystem, sizeof(subsystem), "%.*s", (int)(colon - event), event);
	err = tracefs_format(subsystem, colon + 1, f);
	return err ? fail_text("what the record of %s has cannot be read in tracefs: %s", event,
			       strerror(-err)) : 0;
}

/* Of the tracepoint, or of both of a pair. */
static int read_formats(const char *event, struct format *f, struct format *end)
{
	const char *dots = strstr(event, "..");
	char begin[MEMTAP_NAME_LEN];
	int ret;

	if (!dots)
		return read_format(event, f);
	snprintf(begin, sizeof(begin), "%.*s", (int)(dots - event), event);
	ret = read_format(begin, f);
	return ret ? ret : read_format(dots + 2, end);
}

/* Steps of the module, as it gets them. */
static void set_steps(struct plan_item *item)
{
	struct memtap_attach *a = &item->attach;
	const struct steps *s = &item->args->steps;

	a->nr_steps = s->nr;
	a->steps_ptr = (__u64)(unsigned long)s->at;
	a->texts_ptr = (__u64)(unsigned long)s->texts;
	a->texts_len = s->nr ? s->texts_len : 0;
	a->nr_entry = s->nr_entry;
	a->nr_shown = s->nr_shown;
	a->value_slot = (__u16)s->value_slot;
	a->by_slot = (__u16)s->by_slot;
	a->value_unit = s->value_unit;
}

static int compile(struct plan_item *item, const struct plan_env *env, const char *list)
{
	struct args_source src = {
		.can = steps_can(&item->attach),
		.operands = item->operands,
		.event = item->text,
	};
	struct args_ask ask = env->ask;
	struct format format, end;
	char err[ARGS_ERR];
	int ret;

	ask.list = list;
	if (src.can & STEPS_RECORD) {
		ret = read_formats(item->attach.name, &format, &end);
		if (ret)
			return ret;
		src.format = &format;
		src.end = src.can & STEPS_PAIR ? &end : NULL;
	}
	item->args = calloc(1, sizeof(*item->args));
	if (!item->args)
		return fail(ERR_PLAIN, ENOMEM, "%s", item->text);
	if (args_compile(&src, &ask, item->args, err)) {
		fail_text("%s", err);
		return EXIT_USAGE;
	}
	set_steps(item);
	return 0;
}

int plan_args(struct plan *p, const struct plan_env *env, const char *list, size_t first)
{
	const struct args_ask *a = &env->ask;
	const bool wanted = list || a->filter || a->value || a->by || a->all || a->hist;
	int ret = 0;

	for (size_t i = first; !ret && i < p->nr; i++)
		if (wanted || p->items[i].attach.kind == MEMTAP_ATTACH_PAIR)
			ret = compile(&p->items[i], env, list);
	return ret;
}

int plan_args_builtins(struct plan *p, const struct plan_env *env)
{
	struct plan_item *item;
	int ret = 0;

	if (!env->ask.filter && !env->ask.by && !env->ask.linear)
		return 0;
	for (__u32 i = 0; !ret && i < env->nr_events && i < 64; i++) {
		if (!(p->builtins >> i & 1))
			continue;
		p->builtins &= ~(1ULL << i);
		item = plan_new(p, MEMTAP_ATTACH_BUILTIN);
		if (!item)
			return fail(ERR_EVENT, E2BIG, "%s", env->events[i].name);
		snprintf(item->attach.name, sizeof(item->attach.name), "%s", env->events[i].name);
		snprintf(item->text, sizeof(item->text), "%s", env->events[i].name);
		ret = compile(item, env, NULL);
	}
	return ret;
}
