// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of events that a session attaches. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "session/plan.h"

size_t plan_nr(const struct plan *p)
{
	return (size_t)__builtin_popcountll(p->builtins) + p->nr;
}

size_t plan_left(const struct plan *p)
{
	const size_t nr = plan_nr(p);

	return nr < MEMTAP_MAX_EVENTS ? MEMTAP_MAX_EVENTS - nr : 0;
}

int plan_too_many(const struct plan *p, const char *pattern, size_t nr, const char *what)
{
	char n[TEXT_LEN], most[TEXT_LEN], left[TEXT_LEN];

	if (plan_nr(p))
		fail_text("'%s' matches %s %s; a session takes %s events, of which %s are left: "
			  "use a narrower pattern", pattern, text_count(n, nr), what,
			  text_count(most, MEMTAP_MAX_EVENTS), text_count(left, plan_left(p)));
	else
		fail_text("'%s' matches %s %s; a session takes %s events: use a narrower pattern",
			  pattern, text_count(n, nr), what,
			  text_count(most, MEMTAP_MAX_EVENTS));
	return -E2BIG;
}

static bool make_room(struct plan *p)
{
	const size_t room = p->room ? 2 * p->room : 16;
	struct plan_item *items;

	if (p->nr < p->room)
		return true;
	items = reallocarray(p->items, room, sizeof(*items));
	if (!items)
		return false;
	p->items = items;
	p->room = room;
	return true;
}

struct plan_item *plan_new(struct plan *p, __u32 kind)
{
	struct plan_item *item;

	if (!plan_left(p) || !make_room(p))
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
		    p->items[i].attach.fd >= 0 && !p->items[i].borrowed)
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
	free(p->items);
	p->items = NULL;
	p->room = 0;
	omitted_free(&p->omitted);
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
