// SPDX-License-Identifier: GPL-2.0-or-later
/* Attach events that set marks instead of being counted. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "session/plan.h"

/* One that happens at one place at once, and of which nothing is to be found out first. */
static bool can_mark(const struct plan_item *item)
{
	const struct memtap_attach *a = &item->attach;

	return (a->kind == MEMTAP_ATTACH_TRACEPOINT || a->kind == MEMTAP_ATTACH_KPROBE ||
		a->kind == MEMTAP_ATTACH_UPROBE || a->kind == MEMTAP_ATTACH_PERF) &&
	       !(a->flags & MEMTAP_ATTACH_RETURN) && !item->args;
}

int plan_mark(struct plan *p, const struct plan_env *env, const char *text)
{
	const char *event = strchr(text, '=') + 1;
	const struct plan_env plain = { .events = env->events, .nr_events = env->nr_events,
					.dev = env->dev, .pids = env->pids, .tids = env->tids,
					.argv = env->argv, .program = env->program,
					.force = env->force };
	const __u64 builtins = p->builtins;
	const size_t first = p->nr;
	const int ret = plan_add(p, &plain, event);

	if (ret)
		return ret;
	if (p->nr == first && p->builtins == builtins)
		return fail_text("--mark %s: another mark already uses this event", text);
	for (size_t i = first; i < p->nr; i++)
		if (!can_mark(&p->items[i]))
			plan_cut(p, first);
	if (p->nr == first)
		return fail_text("--mark %s: use a function, tracepoint or USDT probe; built-in "
				 "events, returns, BEGIN..END and arguments are not possible",
				 text);
	for (size_t i = first; i < p->nr; i++) {
		p->items[i].attach.flags |= MEMTAP_ATTACH_MARK;
		snprintf(p->items[i].mark, sizeof(p->items[i].mark), "%.*s",
			 (int)(event - 1 - text), text);
	}
	return 0;
}
