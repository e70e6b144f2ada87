// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitops.h>
#include <linux/kref.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "live/death.h"
#include "live/hold.h"
#include "record/recording.h"

#include "compat/death.h"
#include "compat/valloc.h"

#define DEATHS	64			/* threads at a time */

#define HOLD_MS	30000			/* while the memory is read; stands in the contract */
#define EXEC_MS	2000			/* while the program is looked at; so does this */

struct death {
	struct memtap_task_work work;
	struct memtap_deaths *all;
	u32 event;			/* MEMTAP_HELD_* */
};

/* Outlives its session where somebody has not come to his work yet. */
struct memtap_deaths {
	struct kref ref;		/* the session's, and one for each work under way */
	spinlock_t lock;		/* @session, @inside */
	struct memtap_session *session;	/* NULL: it is over */
	u32 inside;
	wait_queue_head_t left;
	unsigned long used[BITS_TO_LONGS(DEATHS)];
	struct death at[DEATHS];
	struct task_struct *threads[DEATHS];	/* for memtap_death() alone: */
	struct death *places[DEATHS];
	unsigned long busy;		/* bit 0, one at a time */
};

static bool ever;			/* somebody was held */

static void free_deaths(struct kref *ref)
{
	kfree(container_of(ref, struct memtap_deaths, ref));
}

/*
 * Before it looks at the signal that ends it; or never, if another one had.  Who has executed
 * a program: before its first instruction.
 */
static void wait_for_tool(struct memtap_task_work *work)
{
	struct death *d = container_of(work, struct death, work);
	struct memtap_deaths *all = d->all;
	struct memtap_session *s;

	spin_lock(&all->lock);
	s = all->session;
	all->inside += s != NULL;
	spin_unlock(&all->lock);
	if (s) {
		if (d->event == MEMTAP_HELD_EXEC)
			memtap_hold(s, MEMTAP_HELD_EXEC, EXEC_MS);
		else
			memtap_hold_dying(s, HOLD_MS);
		spin_lock(&all->lock);
		if (!--all->inside)
			wake_up(&all->left);
		spin_unlock(&all->lock);
	}
	clear_bit(d - all->at, all->used);
	kref_put(&all->ref, free_deaths);
	module_put(THIS_MODULE);
}

static struct death *take(struct memtap_deaths *all)
{
	u32 i;

	for (i = 0; i < DEATHS; i++)
		if (!test_bit(i, all->used) && !test_and_set_bit(i, all->used))
			return &all->at[i];
	return NULL;
}

/* All of @nr, or none: what one thread alone holds may be what the others changed. */
static bool take_all(struct memtap_deaths *all, u32 nr)
{
	u32 n;

	for (n = 0; n < nr; n++) {
		all->places[n] = take(all);
		if (!all->places[n])
			break;
	}
	if (n == nr)
		return true;
	while (n--)
		clear_bit(all->places[n] - all->at, all->used);
	return false;
}

static void hold(struct memtap_deaths *all, struct death *d, struct task_struct *task,
		 u32 event)
{
	d->all = all;
	d->event = event;
	__module_get(THIS_MODULE);
	kref_get(&all->ref);
	WRITE_ONCE(ever, true);
	if (memtap_task_work_add(task, &d->work, wait_for_tool))
		return;
	clear_bit(d - all->at, all->used);
	kref_put(&all->ref, free_deaths);
	module_put(THIS_MODULE);
}

void memtap_death(struct memtap_session *s, struct task_struct *task, bool all)
{
	struct memtap_deaths *d = READ_ONCE(s->deaths);
	struct death *place;
	u32 i, nr;

	if (!d)
		return;
	if (!all) {
		place = take(d);
		if (place)
			hold(d, place, task, MEMTAP_HELD_DEATH);
		return;
	}
	/* two processes at the same moment: the second one is not held */
	if (test_and_set_bit_lock(0, &d->busy))
		return;
	nr = memtap_threads_of(task, d->threads, DEATHS);
	if (nr > DEATHS || !take_all(d, nr))
		nr = 0;
	for (i = 0; i < nr; i++)
		hold(d, d->places[i], d->threads[i], MEMTAP_HELD_DEATH);
	clear_bit_unlock(0, &d->busy);
}

void memtap_exec_hold(struct memtap_session *s, struct task_struct *task)
{
	struct memtap_deaths *d = READ_ONCE(s->deaths);
	struct death *place = d ? take(d) : NULL;

	if (place)
		hold(d, place, task, MEMTAP_HELD_EXEC);
}

int memtap_deaths_open(struct memtap_session *s)
{
	struct memtap_deaths *d = kzalloc(sizeof(*d), MEMTAP_GFP);

	if (!d)
		return -ENOMEM;
	kref_init(&d->ref);
	spin_lock_init(&d->lock);
	init_waitqueue_head(&d->left);
	d->session = s;
	WRITE_ONCE(s->deaths, d);
	return 0;
}

void memtap_deaths_close(struct memtap_session *s)
{
	struct memtap_deaths *d = s->deaths;

	if (!d)
		return;
	WRITE_ONCE(s->deaths, NULL);
	synchronize_rcu();
	spin_lock(&d->lock);
	d->session = NULL;
	spin_unlock(&d->lock);
	/* whom memtap_holds_close() let go */
	wait_event(d->left, !READ_ONCE(d->inside));
	/* who woke us may still have the lock */
	spin_lock(&d->lock);
	spin_unlock(&d->lock);
	kref_put(&d->ref, free_deaths);
}

void memtap_deaths_sync(void)
{
	if (ever)
		memtap_task_work_sync();
}
