// SPDX-License-Identifier: GPL-2.0-only
/* The list of all sessions, and the memory that each may use. */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rculist.h>

#include "record/record.h"
#include "record/recording.h"
#include "session/int.h"

unsigned long memtap_max_mem = 64UL << 20;

static LIST_HEAD(sessions);
static DEFINE_MUTEX(sessions_lock);
static u32 last_nr, nr_open;

void memtap_sessions_add(struct memtap_session *s)
{
	mutex_lock(&sessions_lock);
	s->nr = ++last_nr;
	nr_open++;
	list_add_tail(&s->node, &sessions);
	mutex_unlock(&sessions_lock);
}

void memtap_sessions_remove(struct memtap_session *s)
{
	mutex_lock(&sessions_lock);
	list_del(&s->node);
	nr_open--;
	mutex_unlock(&sessions_lock);
}

void memtap_sessions_run(struct memtap_session *s)
{
	mutex_lock(&sessions_lock);
	list_add_tail_rcu(&s->running_node, &memtap_running);
	mutex_unlock(&sessions_lock);
}

void memtap_sessions_halt(struct memtap_session *s)
{
	mutex_lock(&sessions_lock);
	list_del_rcu(&s->running_node);
	mutex_unlock(&sessions_lock);
}

u32 memtap_nr_sessions(void)
{
	return READ_ONCE(nr_open);
}

void memtap_for_each_session(void (*fn)(struct memtap_session *s, void *ctx),
			     void *ctx)
{
	struct memtap_session *s;

	mutex_lock(&sessions_lock);
	list_for_each_entry(s, &sessions, node)
		fn(s, ctx);
	mutex_unlock(&sessions_lock);
}
