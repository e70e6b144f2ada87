// SPDX-License-Identifier: GPL-2.0-or-later
/* Suggest the event that a misspelt one is like. */
#include <stdio.h>

#include "base/text.h"
#include "session/plan.h"
#include "session/tracefs.h"

static int see(const char *name, void *ctx)
{
	text_like_add(ctx, name);
	return 0;
}

static const char *with(const struct text_like *l, char text[PLAN_LIKE])
{
	const char *best = text_like_best(l);

	if (!best)
		return l->name;
	snprintf(text, PLAN_LIKE, "%.120s (did you mean %s?)", l->name, best);
	return text;
}

const char *plan_like_builtin(const struct plan_env *env, const char *name, char text[PLAN_LIKE])
{
	struct text_like l;

	text_like_begin(&l, name);
	for (__u32 i = 0; i < env->nr_events; i++) {
		text_like_add(&l, env->events[i].name);
		text_like_add(&l, env->events[i].group);
	}
	return with(&l, text);
}

const char *plan_like_known(enum err_op op, const char *name, char text[PLAN_LIKE])
{
	struct text_like l;

	text_like_begin(&l, name);
	if (op == ERR_TRACEPOINT)
		tracefs_for_each_event(NULL, see, &l);
	else if (op == ERR_FUNCTION)
		tracefs_for_each_function(NULL, see, &l);
	return with(&l, text);
}
