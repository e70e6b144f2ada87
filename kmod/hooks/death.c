// SPDX-License-Identifier: GPL-2.0-only
/*
 * Report signals that end a process, for sessions that hold such processes (MEMTAP_CFG_DEATHS).
 * All sessions share one tracepoint, attached while such a session exists.
 */
#include <linux/mutex.h>

#include "hooks/hooks.h"
#include "live/death.h"
#include "record/filter.h"

#include "compat/death.h"

static DEFINE_MUTEX(death_lock);
static u32 users;
static bool on;				/* also when it could not be taken away */

static bool wanted(struct memtap_session *s, struct task_struct *task)
{
	return (s->flags & MEMTAP_CFG_DEATHS) && READ_ONCE(s->deaths) &&
	       smp_load_acquire(&s->running) &&
	       (!s->filter_set || memtap_filter_task(s->filter, task));
}

/* Under RCU. */
static void on_death(struct task_struct *task, bool all)
{
	struct memtap_session *s;

	list_for_each_entry_rcu(s, &memtap_running, running_node)
		if (wanted(s, task))
			memtap_death(s, task, all);
}

static int get_hook(void)
{
	int err = 0;

	mutex_lock(&death_lock);
	if (!on) {
		err = memtap_deaths_watch(on_death);
		on = !err;
	}
	users += !err;
	mutex_unlock(&death_lock);
	return err;
}

static void put_hook(void)
{
	mutex_lock(&death_lock);
	if (!--users)
		on = !memtap_deaths_unwatch(on_death);
	mutex_unlock(&death_lock);
}

int memtap_death_hook_begin(struct memtap_session *s)
{
	int err = memtap_deaths_open(s);

	if (err || !(s->flags & MEMTAP_CFG_DEATHS))
		return err;
	err = get_hook();
	if (err)
		memtap_deaths_close(s);
	return err;
}

void memtap_death_hook_end(struct memtap_session *s)
{
	if (!s->deaths)
		return;
	if (s->flags & MEMTAP_CFG_DEATHS)
		put_hook();
	memtap_deaths_close(s);
}

void memtap_death_hook_exit(void)
{
	memtap_deaths_sync();
}
