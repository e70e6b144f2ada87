// SPDX-License-Identifier: GPL-2.0-only
/*
 * The probes behind a session's allocator events: many probes form one event.  The list is under
 * the session's lock.
 */
#include <linux/list.h>
#include <linux/slab.h>

#include "live/live.h"
#include "session/int.h"

#include "compat/valloc.h"

int memtap_probes_add(struct memtap_session *s, struct memtap_hook *hook, u32 event)
{
	struct memtap_session_probe *p = kzalloc(sizeof(*p), MEMTAP_GFP_CHARGED);

	if (!p)
		return -ENOMEM;
	p->hook = hook;
	p->event = event;
	list_add_tail(&p->node, &s->probes);
	s->nr_probes++;
	s->heap->events[event].probes++;
	return 0;
}

static struct memtap_session_probe *last(struct memtap_session *s)
{
	return list_last_entry(&s->probes, struct memtap_session_probe, node);
}

struct memtap_hook *memtap_probes_last(struct memtap_session *s)
{
	return last(s)->hook;
}

u32 memtap_probes_drop_last(struct memtap_session *s)
{
	struct memtap_session_probe *p = last(s);
	u32 left = --s->heap->events[p->event].probes;

	s->nr_probes--;
	list_del(&p->node);
	kfree(p);
	return left;
}

void memtap_probes_keep(struct memtap_session *s)
{
	struct memtap_session_probe *p;

	list_for_each_entry(p, &s->probes, node)
		if (p->hook)
			memtap_hook_describe(p->hook, &p->kept);
}

void memtap_probes_leave(struct memtap_session *s)
{
	struct memtap_session_probe *p;

	list_for_each_entry(p, &s->probes, node)
		if (p->hook)
			memtap_hook_leave(p->hook, s);
}

void memtap_probes_withdraw(struct memtap_session *s)
{
	struct memtap_session_probe *p;

	list_for_each_entry(p, &s->probes, node)
		if (p->hook)
			memtap_generic_withdraw(p->hook);
}

void memtap_probes_put(struct memtap_session *s)
{
	struct memtap_session_probe *p;

	list_for_each_entry(p, &s->probes, node) {
		if (p->hook)
			memtap_generic_put(p->hook);
		p->hook = NULL;
	}
}

void memtap_probes_free(struct memtap_session *s)
{
	struct memtap_session_probe *p, *next;

	list_for_each_entry_safe(p, next, &s->probes, node)
		kfree(p);
	INIT_LIST_HEAD(&s->probes);
	s->nr_probes = 0;
}
