// SPDX-License-Identifier: GPL-2.0-only
/* Create, start, stop and free a session: one open descriptor of the device. */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "live/live.h"
#include "live/objects.h"
#include "session/int.h"
#include "session/notices.h"
#include "record/guard.h"
#include "record/spaces.h"
#include "session/stream.h"

#include "compat/task.h"
#include "compat/valloc.h"

#define TICK		(HZ / 10)

/* --- life -------------------------------------------------------------- */

static void tick(struct work_struct *work)
{
	struct memtap_session *s = container_of(work, struct memtap_session,
						tick.work);
	u64 counted, lost;

	/* who begins to wait asks for the next tick afterwards, which sees him */
	if (!waitqueue_active(&s->wait))
		return;
	memtap_session_totals(s, &counted, &lost);
	if (counted != s->read_counted || lost != s->read_lost ||
	    !READ_ONCE(s->running))
		wake_up_interruptible(&s->wait);
	else	/* it looks at each event: many of them are looked at less often */
		schedule_delayed_work(&s->tick, TICK * (1 + s->nr_events / MEMTAP_USUAL_EVENTS));
}

struct memtap_session *memtap_session_new(void)
{
	struct memtap_session *s = memtap_vzalloc(sizeof(*s));

	if (!s)
		return NULL;
	mutex_init(&s->lock);
	init_waitqueue_head(&s->wait);
	INIT_DELAYED_WORK(&s->tick, tick);
	INIT_LIST_HEAD(&s->running_node);
	INIT_LIST_HEAD(&s->probes);
	INIT_LIST_HEAD(&s->gone);
	raw_spin_lock_init(&s->marks_lock);
	memtap_holds_init(&s->holds);
	s->opener = task_tgid_nr(current);
	memcpy(s->opener_comm, current->comm, sizeof(s->opener_comm));
	s->opener_comm[sizeof(s->opener_comm) - 1] = 0;
	memtap_sessions_add(s);
	return s;
}

void memtap_session_free(struct memtap_session *s)
{
	mutex_lock(&s->lock);
	memtap_session_stop(s);
	memtap_session_put_hooks(s);
	mutex_unlock(&s->lock);

	memtap_sessions_remove(s);
	if (s->deep)
		memtap_guard_undeepen();
	cancel_delayed_work_sync(&s->tick);
	memtap_session_free_maps(s);
	memtap_stream_free(s->stream);
	memtap_session_free_tables(s);
	memtap_probes_free(s);
	memtap_heap_free(s);
	memtap_objects_free(s);
	memtap_gone_free(s);
	memtap_session_free_filter(s);
	memtap_session_free_events(s);
	memtap_vfree(s);
}

/* --- START, STOP --------------------------------------------------------- */

static void set_missed_base(struct memtap_session *s)
{
	struct memtap_session_event *e;
	u32 i, j;

	for (i = 0; i < s->nr_events; i++) {
		e = s->events[i];
		for (j = 0; j < e->nr_hooks; j++)
			e->missed_base[j] = memtap_hook_missed(e->hooks[j]);
	}
}

static void begin(struct memtap_session *s)
{
	set_missed_base(s);
	s->cpus_came = memtap_perf_came();
	smp_store_release(&s->state, MEMTAP_RUNNING);
	memtap_sessions_run(s);
	if (s->spaces)		/* from here on the hooks tell what changes */
		memtap_spaces_read_all(s);
	if (s->heap)
		memtap_heap_begin(s);
	memtap_holds_open(&s->holds);
	s->start_ns = ktime_get_ns();
	s->marks.start = jiffies;
	/* the tables are there before anybody sees that they may be used */
	smp_store_release(&s->running, 1);
	memtap_notices_watch();
}

int memtap_session_start(struct memtap_session *s)
{
	bool rows = s->flags & MEMTAP_CFG_ROWS;
	int err;

	if (s->state != MEMTAP_CONFIGURED)
		return -EBUSY;
	if (!s->nr_events && !s->builtin_events)
		return -EINVAL;
	err = memtap_session_make_tables(s);
	if (err)
		return err;
	s->follows_maps = s->flags & MEMTAP_CFG_USTACK;
	err = memtap_task_hooks_get(rows, &s->follows_maps);
	if (err == -ENXIO || err == -ENOMEM)
		goto err_tables;
	if (err && (s->flags & MEMTAP_CFG_CHILDREN))
		goto err_hooks;
	err = memtap_session_join_builtins(s);
	if (!err && (s->flags & (MEMTAP_CFG_DEATHS | MEMTAP_CFG_EXECS)))
		err = memtap_death_hook_begin(s);
	if (err)
		goto err_hooks;
	begin(s);
	return 0;

err_hooks:
	memtap_session_leave_builtins(s);
	memtap_task_hooks_put(s->follows_maps);
	synchronize_rcu();
	memtap_tasks_stop(s);
err_tables:
	memtap_session_free_tables(s);
	return err;
}

int memtap_session_stop(struct memtap_session *s)
{
	struct memtap_session_event *e;
	u32 i, j;

	if (s->state != MEMTAP_RUNNING)
		return -EBUSY;
	WRITE_ONCE(s->stop_ns, ktime_get_ns());
	s->stop_real_ns = ktime_get_real_ns();
	WRITE_ONCE(s->running, 0);
	s->cpus_came = memtap_session_cpus_late(s);
	for (i = 0; i < s->nr_events; i++) {
		e = s->events[i];
		for (j = 0; j < e->nr_hooks; j++)
			e->missed += memtap_session_missed(e, j);
		memtap_session_keep_hooks(e);
	}
	memtap_probes_keep(s);
	memtap_sessions_halt(s);
	memtap_holds_close(&s->holds);
	/* after this no hot path is inside the tables */
	synchronize_rcu();
	memtap_death_hook_end(s);
	memtap_session_put_hooks(s);
	memtap_task_hooks_put(s->follows_maps);
	memtap_tasks_stop(s);
	if (s->heap)
		memtap_heap_stop(s);
	WRITE_ONCE(s->state, MEMTAP_STOPPED);
	wake_up_interruptible(&s->wait);
	return 0;
}
