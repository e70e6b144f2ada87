// SPDX-License-Identifier: GPL-2.0-only
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "live/hold.h"
#include "live/live.h"
#include "record/filter.h"
#include "record/recording.h"

#include "compat/death.h"
#include "compat/user_regs.h"

#define DYING_LOOKS	(HZ / 10)	/* while it waits: is its memory needed? */

/* On the stack of the one that waits. */
struct held {
	struct list_head node;
	struct completion done;
	struct task_struct *task;
	u32 event, id, space;
};

void memtap_holds_init(struct memtap_holds *w)
{
	spin_lock_init(&w->lock);
	INIT_LIST_HEAD(&w->waiting);
}

void memtap_holds_open(struct memtap_holds *w)
{
	spin_lock(&w->lock);
	w->open = true;
	spin_unlock(&w->lock);
}

static void resume_thread(struct memtap_holds *w, struct held *h)
{
	list_del_init(&h->node);
	w->nr--;
	complete(&h->done);
}

void memtap_holds_close(struct memtap_holds *w)
{
	struct held *h, *next;

	spin_lock(&w->lock);
	w->open = false;
	list_for_each_entry_safe(h, next, &w->waiting, node)
		resume_thread(w, h);
	spin_unlock(&w->lock);
}

static bool wanted(struct memtap_session *s)
{
	bool yes;

	rcu_read_lock();
	yes = smp_load_acquire(&s->running) &&
	      (!s->filter_set || memtap_filter_task(s->filter, current));
	rcu_read_unlock();
	return yes;
}

/*
 * Who dies has been told to: SIGKILL is pending, by whatever signal it was, and nobody
 * could tell another one.  What there is to tell is that the memory is needed.
 */
static void wait_dying(struct held *h, u32 ms)
{
	const unsigned long end = jiffies + msecs_to_jiffies(ms) + 1;

	while (time_before(jiffies, end) && !memtap_oom_victim(current))
		if (wait_for_completion_timeout(&h->done, DYING_LOOKS))
			break;
}

static void wait_until_let_go(struct memtap_session *s, u32 event, u32 ms)
{
	struct memtap_holds *w = &s->holds;
	struct held h;

	if (!wanted(s))
		return;
	init_completion(&h.done);
	h.task = current;
	h.event = event;
	rcu_read_lock();		/* slots of spaces that went are used again after it */
	h.space = s->heap ? memtap_heap_space(s->heap, current->mm, 0, 0, false) : 0;
	rcu_read_unlock();
	spin_lock(&w->lock);
	if (!w->open) {
		spin_unlock(&w->lock);
		return;
	}
	h.id = ++w->last_id;
	list_add_tail(&h.node, &w->waiting);
	w->nr++;
	spin_unlock(&w->lock);
	wake_up_interruptible(&s->wait);
	if (fatal_signal_pending(current))
		wait_dying(&h, ms);
	else
		wait_for_completion_killable_timeout(&h.done, msecs_to_jiffies(ms) + 1);
	spin_lock(&w->lock);
	if (!list_empty(&h.node)) {
		list_del(&h.node);
		w->nr--;
	}
	spin_unlock(&w->lock);
}

void memtap_hold(struct memtap_session *s, u32 event, u32 ms)
{
	if (!fatal_signal_pending(current))
		wait_until_let_go(s, event, ms);
}

void memtap_hold_dying(struct memtap_session *s, u32 ms)
{
	wait_until_let_go(s, MEMTAP_HELD_DEATH, ms);
}

static void release(struct memtap_holds *w, u32 id)
{
	struct held *h, *next;

	list_for_each_entry_safe(h, next, &w->waiting, node)
		if (h->id == id)
			resume_thread(w, h);
}

/* Of one of the threads of who waits, no other. */
static void copy_regs(const struct held *h, struct memtap_held *out)
{
	struct task_struct *task = h->task;

	rcu_read_lock();
	if (out->look)
		task = pid_task(find_vpid(out->look), PIDTYPE_PID);
	if (task && task->tgid == h->task->tgid)
		out->nr_regs = memtap_task_user_regs(task, out->regs, ARRAY_SIZE(out->regs));
	rcu_read_unlock();
}

int memtap_held(struct memtap_session *s, struct memtap_held *out)
{
	struct memtap_holds *w = &s->holds;
	struct held *h;
	int err = -ENOENT;

	if (out->space)
		return -EINVAL;
	if (s->state < MEMTAP_RUNNING)
		return -EBUSY;
	spin_lock(&w->lock);
	if (out->release)
		release(w, out->release_id);
	out->tid = 0;
	out->pid = 0;
	out->event = 0;
	out->id = 0;
	out->nr_regs = 0;
	memset(out->regs, 0, sizeof(out->regs));
	if (!list_empty(&w->waiting)) {
		h = list_first_entry(&w->waiting, struct held, node);
		out->tid = task_pid_vnr(h->task);
		out->pid = task_tgid_vnr(h->task);
		out->event = h->event;
		out->id = h->id;
		out->space = h->space;
		copy_regs(h, out);
		err = 0;
	}
	spin_unlock(&w->lock);
	return err;
}
