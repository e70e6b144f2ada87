// SPDX-License-Identifier: GPL-2.0-only
/*
 * Report signals that end a process, and let the task sleep before they take effect.
 *
 * A task runs the function given to task_work_add() first, at the start of get_signal(), and still
 * has its memory then.  Kernels before v5.10 do not export task_work_add().
 */
#include <linux/oom.h>
#include <linux/rcupdate.h>
#include <linux/signal.h>

#include "compat/death.h"

#ifdef HAVE_TASK_WORK_NOTIFY

#include <linux/sched/signal.h>
#include <linux/task_work.h>
#include <trace/events/signal.h>

#include "compat/tracepoint.h"

typedef void (*death_fn)(struct task_struct *task, bool all);
typedef int (*add_fn)(struct task_struct *task, struct callback_head *work,
		      enum task_work_notify_mode mode);

/*
 * Under its siglock, and RCU.  The signal has been sent: where it is no reason for a core
 * dump, all threads were told to end.  What comes after that is not delivered.
 */
static bool ends(int sig, struct task_struct *task, bool group)
{
	struct sighand_struct *hands;

	if (sig < 1 || sig > _NSIG || sig == SIGKILL || sig_kernel_ignore(sig) ||
	    sig_kernel_stop(sig))
		return false;
	if (task->ptrace || !task->mm || (task->flags & (PF_EXITING | PF_KTHREAD)) ||
	    (task->signal->flags & SIGNAL_UNKILLABLE))
		return false;
	hands = rcu_dereference(task->sighand);
	if (!hands || hands->action[sig - 1].sa.sa_handler != SIG_DFL)
		return false;
	/* glibc's raise(), until 2.33, blocks what it sends to itself until it has */
	return !sigismember(&task->blocked, sig) || (task == current && !group);
}

static void on_signal(void *data, int sig, struct kernel_siginfo *info,
		      struct task_struct *task, int group, int result)
{
	death_fn fn = (death_fn)data;

	if (result != TRACE_SIGNAL_DELIVERED && result != TRACE_SIGNAL_LOSE_INFO)
		return;
	rcu_read_lock();
	if (ends(sig, task, group))
		fn(task, group && !sig_kernel_coredump(sig));
	rcu_read_unlock();
}
MEMTAP_TP_CHECK(signal_generate, on_signal);

/*
 * Weak, so that the module can be built and loaded where it is not exported; and as data,
 * because no call reaches so far that it could be NULL.
 */
extern typeof(task_work_add) task_work_add __weak;
static add_fn add_work = task_work_add;

bool memtap_deaths_possible(void)
{
	return READ_ONCE(add_work);
}

int memtap_deaths_watch(death_fn fn)
{
	if (!memtap_deaths_possible())
		return -EOPNOTSUPP;
	return memtap_tracepoint_register("signal_generate", on_signal, fn);
}

bool memtap_deaths_unwatch(death_fn fn)
{
	const bool gone = memtap_tracepoint_unregister("signal_generate", on_signal, fn);

	tracepoint_synchronize_unregister();
	return gone;
}

u32 memtap_threads_of(struct task_struct *task, struct task_struct **threads, u32 nr)
{
	struct task_struct *t;
	u32 n = 0;

	for_each_thread(task, t) {
		if (t->flags & PF_EXITING)
			continue;
		if (n < nr)
			threads[n] = t;
		n++;
	}
	return n;
}

static void run_work(struct callback_head *head)
{
	struct memtap_task_work *work = container_of(head, struct memtap_task_work, head);

	work->fn(work);
}

/*
 * Who is another one is woken by the signal; some ways to do that want the lock that we
 * are under.  Current comes to it when it leaves the kernel, if not before.
 */
bool memtap_task_work_add(struct task_struct *task, struct memtap_task_work *work,
			  void (*fn)(struct memtap_task_work *work))
{
	work->fn = fn;
	init_task_work(&work->head, run_work);
	return !add_work(task, &work->head, task == current ? TWA_RESUME : TWA_NONE);
}

/* Who was preempted in the last instructions of @fn has not slept since. */
void memtap_task_work_sync(void)
{
	synchronize_rcu_tasks();
}

bool memtap_oom_victim(struct task_struct *task)
{
	return tsk_is_oom_victim(task);
}

#else

int memtap_deaths_watch(void (*fn)(struct task_struct *task, bool all))
{
	return -EOPNOTSUPP;
}

bool memtap_deaths_unwatch(void (*fn)(struct task_struct *task, bool all))
{
	return true;
}

bool memtap_deaths_possible(void)
{
	return false;
}

u32 memtap_threads_of(struct task_struct *task, struct task_struct **threads, u32 nr)
{
	return 0;
}

bool memtap_task_work_add(struct task_struct *task, struct memtap_task_work *work,
			  void (*fn)(struct memtap_task_work *work))
{
	return false;
}

void memtap_task_work_sync(void)
{
}

bool memtap_oom_victim(struct task_struct *task)
{
	return false;
}

#endif
