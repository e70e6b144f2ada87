// SPDX-License-Identifier: GPL-2.0-only
/*
 * OOM kills: a record of each, from the module's beginning on, in memory that was taken then.
 *
 * Probes at the beginning of two functions, none at their returns: those would hide callers
 * from the stacks that older kernels print themselves.  oom_kill_process() is where somebody has
 * been chosen; __oom_kill_process(), since v4.19, is called for each process that is sent
 * the signal: for the one that was chosen, unless it is on its way out already, and for
 * the rest of its cgroup where that is to be killed as a whole.
 */
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/numa.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "hooks/hooks.h"
#include "hooks/oom_int.h"
#include "record/arch.h"
#include "record/record.h"

#include "compat/kprobe.h"
#include "compat/valloc.h"

/*
 * A record is whole soon after the victim was sent its signal: the rest of a cgroup follows
 * at once.  Before that the kernel prints its report, which takes seconds on a serial console.
 */
#define SETTLES		(50ULL * NSEC_PER_MSEC)
#define GIVES_UP	(10ULL * NSEC_PER_SEC)
#define LOOK_AGAIN	(HZ / 20)

/*
 * @nr: of its record; 0 while it is being made.  @owner: the task that made it, as a name.
 * @touched: ns, when something was added.
 */
struct slot {
	u64 nr;
	u64 touched;
	u64 wants;			/* what only files say, of the record of this number */
	const struct task_struct *owner;
	struct memtap_oom_shared shared;
	struct memtap_oom_record r;
	struct memtap_oom_stack stack;
};

static DEFINE_RAW_SPINLOCK(ring_lock);	/* which number has which slot */
static struct slot *ring;
static u64 last;
static u64 crowded;			/* kills for which no slot was free */

static bool works, sees_kills, stays;
static DEFINE_MUTEX(tell_lock);		/* who is told, and of which one last */
static void (*told_fn)(u64 nr);
static u64 told;
static struct irq_work kick;
static struct delayed_work telling;
static struct work_struct reading;
static struct memtap_oom_later *later;

/* For a panic, when nothing can be allocated. */
struct survey {
	struct memtap_oom_shared shared;
	struct memtap_oom_record r;
};

static struct survey *survey;
DECLARE_WAIT_QUEUE_HEAD(memtap_oom_wait);

/* --- making --------------------------------------------------------------- */

static struct slot *new_slot(u64 *nr)
{
	unsigned long flags;
	struct slot *s;

	raw_spin_lock_irqsave(&ring_lock, flags);
	s = &ring[(last + 1) % MEMTAP_OOM_KEPT];
	if (last >= MEMTAP_OOM_KEPT && !s->nr) {
		crowded++;
		s = NULL;
	} else {
		*nr = ++last;
		WRITE_ONCE(s->nr, 0);
	}
	raw_spin_unlock_irqrestore(&ring_lock, flags);
	smp_wmb();
	return s;
}

/* What current is about to do belongs to the youngest of its records. */
static struct slot *own_slot(void)
{
	struct slot *found = NULL;
	u32 i;

	for (i = 0; i < MEMTAP_OOM_KEPT; i++)
		if (ring[i].owner == current && READ_ONCE(ring[i].nr) &&
		    (!found || ring[i].nr > found->nr))
			found = &ring[i];
	return found;
}

static struct memtap_hook hook;

static int on_chosen(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned long args[MEMTAP_OOM_ARGS];
	struct memtap_oom_call call = { .victim = NULL };
	struct memtap_hit hit = { .regs = regs, .flags = MEMTAP_HIT_CALLED };
	struct slot *s;
	u64 nr = 0;
	u32 i;

	for (i = 0; i < MEMTAP_OOM_ARGS; i++)
		if (i < MEMTAP_OOM_NEAR)
			args[i] = memtap_karg(regs, i);
		else if (copy_from_kernel_nofault(&args[i], (void *)memtap_karg_far(regs, i),
						  sizeof(args[i])))
			args[i] = 0;
	memtap_oom_call(args, &call);
	if (!call.victim)
		return 0;
	preempt_disable();
	s = new_slot(&nr);
	if (s) {
		memset(&s->r, 0, sizeof(s->r));
		s->shared.nr = 0;
		s->owner = current;
		s->r.nr = nr;
		memtap_oom_fill(&s->r, &call, regs, &s->shared, &s->stack);
		if (!sees_kills)
			s->r.flags |= MEMTAP_OOM_UNSEEN;
		s->r.later_errno = EINPROGRESS;
		WRITE_ONCE(s->touched, s->r.ns);
		WRITE_ONCE(s->wants, nr);
		smp_store_release(&s->nr, nr);
		irq_work_queue(&kick);
		hit.value = (s64)(s->r.victim.anon + s->r.victim.file + s->r.victim.shmem);
		if (s->r.victim.flags & MEMTAP_OOM_TASK_SIZED)
			hit.flags |= MEMTAP_HIT_VALUE;
	}
	if (current->mm && !(current->flags & PF_KTHREAD))
		hit.flags |= MEMTAP_HIT_TASK;
	memtap_hit(&hook.source, &hit);
	preempt_enable();
	return 0;
}

static void add_member(struct memtap_oom_record *r, struct task_struct *task)
{
	bool child = false;

	if (!(r->flags & MEMTAP_OOM_KILLED) && !r->nr_members) {
		rcu_read_lock();
		child = rcu_dereference(task->real_parent)->tgid == r->victim.pid;
		rcu_read_unlock();
	}
	if (child)
		r->flags |= MEMTAP_OOM_CHILD | MEMTAP_OOM_KILLED;
	memtap_oom_member(r, task);
}

static int on_kill(struct kprobe *kp, struct pt_regs *regs)
{
	struct task_struct *task = (struct task_struct *)memtap_karg(regs, 0);
	struct slot *s;

	preempt_disable();
	s = own_slot();
	if (s) {
		if (!s->r.killed_ns)
			s->r.killed_ns = ktime_get_ns() - s->r.ns + 1;
		if (task->tgid == s->r.victim.pid)
			s->r.flags |= MEMTAP_OOM_KILLED;
		else
			add_member(&s->r, task);
		smp_wmb();
		WRITE_ONCE(s->touched, ktime_get_ns());
		irq_work_queue(&kick);
	}
	preempt_enable();
	return 0;
}

/* --- reading -------------------------------------------------------------- */

static bool is_whole(const struct slot *s, u64 now)
{
	const u32 flags = READ_ONCE(s->r.flags);

	if (smp_load_acquire(&s->wants) && now - s->r.ns < GIVES_UP)
		return false;
	return now - READ_ONCE(s->touched) >=
	       (flags & (MEMTAP_OOM_KILLED | MEMTAP_OOM_UNSEEN) ? SETTLES : GIVES_UP);
}

/* The slot of the first record after @nr that is kept, if it is whole; else NULL. */
static struct slot *next_slot(u64 nr, u64 *found)
{
	const u64 end = READ_ONCE(last);
	struct slot *s;
	u64 n = nr + 1;

	if (n + MEMTAP_OOM_KEPT <= end)
		n = end - MEMTAP_OOM_KEPT + 1;
	if (!ring || nr >= end)
		return NULL;
	s = &ring[n % MEMTAP_OOM_KEPT];
	if (smp_load_acquire(&s->nr) != n || !is_whole(s, ktime_get_ns()))
		return NULL;
	*found = n;
	return s;
}

bool memtap_oom_is_next(u64 nr)
{
	u64 found;

	return next_slot(nr, &found);
}

int memtap_oom_next(u64 nr, struct memtap_oom_record *to, struct memtap_oom_stack *stack,
		    u64 *lost, bool *more)
{
	const struct slot *s;
	u64 found = 0;

	do {
		s = next_slot(nr, &found);
		if (!s)
			return -ENOENT;
		memcpy(to, &s->r, sizeof(*to));
		if (stack)
			memcpy(stack, &s->stack, sizeof(*stack));
		smp_rmb();
		/* another one has come into its place */
	} while (READ_ONCE(s->nr) != found);
	to->flags |= MEMTAP_OOM_DONE;
	*lost = found - nr - 1;
	*more = memtap_oom_is_next(found);
	return 0;
}

/*
 * What only files say is added to the records that want it, the youngest first: of that what is
 * read is the nearest.  One that has given up waiting is left alone: it may be copied now.
 */
static void read_later(struct work_struct *work)
{
	unsigned long flags;
	struct slot *s;
	u64 nr, n, ns;

	for (n = READ_ONCE(last); n && n + MEMTAP_OOM_KEPT > READ_ONCE(last); n--) {
		s = &ring[n % MEMTAP_OOM_KEPT];
		nr = smp_load_acquire(&s->nr);
		if (!nr || READ_ONCE(s->wants) != nr)
			continue;
		memcpy(later->cgroup, s->r.limit_long, sizeof(later->cgroup));
		later->cgroup[sizeof(later->cgroup) - 1] = 0;
		memtap_oom_later(later, s->r.constraint, s->r.limit_cgroup);
		raw_spin_lock_irqsave(&ring_lock, flags);
		if (READ_ONCE(s->nr) == nr) {
			ns = ktime_get_ns() - s->r.ns;
			if (ns < GIVES_UP - NSEC_PER_SEC) {
				memtap_oom_later_to(later, &s->r);
				s->r.later_ns = s->r.later_errno ? 0 : ns;
			}
			smp_store_release(&s->wants, 0);
		}
		raw_spin_unlock_irqrestore(&ring_lock, flags);
	}
	mod_delayed_work(memtap_wq, &telling, LOOK_AGAIN);
}

static void on_kick(struct irq_work *work)
{
	queue_work(memtap_wq, &reading);
	mod_delayed_work(memtap_wq, &telling, LOOK_AGAIN);
}

/* The youngest is the last one to be whole. */
static void tell(struct work_struct *work)
{
	const u64 nr = READ_ONCE(last);
	const struct slot *s = &ring[nr % MEMTAP_OOM_KEPT];

	if (READ_ONCE(s->nr) != nr || !is_whole(s, ktime_get_ns()))
		mod_delayed_work(memtap_wq, &telling, LOOK_AGAIN);
	wake_up_interruptible(&memtap_oom_wait);
	mutex_lock(&tell_lock);
	while (next_slot(told, &told))
		if (told_fn)
			told_fn(told);
	mutex_unlock(&tell_lock);
}

void memtap_oom_notify(void (*fn)(u64 nr))
{
	mutex_lock(&tell_lock);
	told_fn = fn;
	mutex_unlock(&tell_lock);
}

/* --- at a panic ----------------------------------------------------------- */

const struct memtap_oom_record *memtap_oom_newest(void)
{
	const u64 nr = READ_ONCE(last);
	const struct slot *s = ring ? &ring[nr % MEMTAP_OOM_KEPT] : NULL;

	return s && nr && READ_ONCE(s->nr) == nr ? &s->r : NULL;
}

struct memtap_oom_record *memtap_oom_survey(void)
{
	if (!survey)
		return NULL;
	memset(&survey->r, 0, sizeof(survey->r));
	memtap_oom_fill_survey(&survey->r);
	return &survey->r;
}

void memtap_oom_survey_processes(void)
{
	survey->shared.nr = 0;
	memtap_oom_fill_processes(&survey->r, &survey->shared);
}

/* --- the hook ------------------------------------------------------------- */

static struct kprobe chosen_probe = {
	.symbol_name = "oom_kill_process",
	.pre_handler = on_chosen,
};

static struct kprobe kill_probe = {
	.symbol_name = "__oom_kill_process",
	.pre_handler = on_kill,
};

static int probe(struct kprobe *kp)
{
	kp->addr = NULL;
	kp->flags = 0;
	return memtap_kprobe_register(kp);
}

static int attach(struct memtap_hook *h)
{
	int err;

	strscpy(h->target, chosen_probe.symbol_name, sizeof(h->target));
	if (stays)
		return -EBUSY;
	sees_kills = !probe(&kill_probe);
	err = probe(&chosen_probe);
	if (err && sees_kills)
		stays = !memtap_kprobe_unregister(&kill_probe);
	else if (!err && sees_kills)
		strscpy(h->target, "oom_kill_process, __oom_kill_process", sizeof(h->target));
	works = !err;
	return err;
}

static void detach(struct memtap_hook *h)
{
	works = false;
	stays = !memtap_kprobe_unregister(&chosen_probe);
	if (sees_kills)
		stays |= !memtap_kprobe_unregister(&kill_probe);
}

static u64 missed(struct memtap_hook *h)
{
	return memtap_kprobe_missed(&chosen_probe) + memtap_kprobe_missed(&kill_probe) +
	       READ_ONCE(crowded);
}

static const struct memtap_hook_ops ops = {
	.attach = attach,
	.detach = detach,
	.missed = missed,
};

static struct memtap_hook hook = {
	.ops = &ops,
	.way = MEMTAP_WAY_KPROBE,
};

const struct memtap_builtin memtap_oom_kill = {
	.name = "oom-kill",
	.group = "oom",
	.summary = "OOM kills, by the stack of the trigger",
	.unit = MEMTAP_UNIT_BYTES,
	.nr_hooks = 1,
	.hooks = { &hook },
};

bool memtap_oom_works(void)
{
	return READ_ONCE(works);
}

u64 memtap_oom_bytes(void)
{
	return MEMTAP_OOM_KEPT * sizeof(*ring) + sizeof(*later) + sizeof(*survey);
}

static void free_all(void)
{
	memtap_vfree(ring);
	memtap_vfree(later);
	memtap_vfree(survey);
	ring = NULL;
	later = NULL;
	survey = NULL;
}

int memtap_oom_init(void)
{
	ring = memtap_vzalloc_own(MEMTAP_OOM_KEPT * sizeof(*ring), NUMA_NO_NODE);
	later = memtap_vzalloc_own(sizeof(*later), NUMA_NO_NODE);
	survey = memtap_vzalloc_own(sizeof(*survey), NUMA_NO_NODE);
	if (!ring || !later || !survey) {
		free_all();
		return -ENOMEM;
	}
	INIT_WORK(&reading, read_later);
	init_irq_work(&kick, on_kick);
	INIT_DELAYED_WORK(&telling, tell);
	memtap_oom_recent_init();
	if (memtap_hook_hold(&hook))
		pr_info("OOM kills are not recorded: %s cannot be probed (errno %u)\n",
			chosen_probe.symbol_name, hook.error);
	return 0;
}

/* Nobody has the device open, and no session is left. */
void memtap_oom_exit(void)
{
	memtap_hook_release(&hook);
	irq_work_sync(&kick);
	cancel_work_sync(&reading);
	cancel_delayed_work_sync(&telling);
	memtap_oom_recent_exit();
	free_all();
}
