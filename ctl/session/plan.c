// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of events that a session attaches. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/plan.h"

size_t plan_nr(const struct plan *p)
{
	return (size_t)__builtin_popcountll(p->builtins) + p->nr;
}

struct plan_item *plan_new(struct plan *p, __u32 kind)
{
	struct plan_item *item;

	if (plan_nr(p) >= MEMTAP_MAX_EVENTS)
		return NULL;
	item = &p->items[p->nr++];
	memset(item, 0, sizeof(*item));
	item->attach.kind = kind;
	item->attach.fd = kind == MEMTAP_ATTACH_UPROBE ? -1 : 0;
	return item;
}

void plan_cut(struct plan *p, size_t first)
{
	for (size_t i = first; i < p->nr; i++)
		if (p->items[i].attach.kind == MEMTAP_ATTACH_UPROBE &&
		    p->items[i].attach.fd >= 0)
			close(p->items[i].attach.fd);
	for (size_t i = first; i < p->nr; i++) {
		free(p->items[i].operands);
		free(p->items[i].args);
	}
	if (p->nr > first)
		p->nr = first;
}

void plan_free(struct plan *p)
{
	plan_cut(p, 0);
}

__u64 plan_builtins(const struct plan_env *env, const char *name)
{
	__u64 group = 0;

	for (__u32 i = 0; i < env->nr_events && i < 64; i++) {
		if (!strcmp(env->events[i].name, name))
			return 1ULL << i;
		if (!strcmp(env->events[i].group, name))
			group |= 1ULL << i;
	}
	return group;
}

bool plan_names_users(const struct plan *p)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->items[i].args && args_has_symbols(p->items[i].args, true))
			return true;
	return false;
}

bool plan_has_user_returns(const struct plan *p)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->items[i].attach.kind == MEMTAP_ATTACH_UPROBE &&
		    (p->items[i].attach.flags & MEMTAP_ATTACH_RETURN))
			return true;
	return false;
}
