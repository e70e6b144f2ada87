// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notices by generic netlink: an OOM kill; a session's tables are full; a long wait for reclaim.
 * Works send them, with memory that may be waited for; never the place where it happened.
 *
 * Listeners have shown no right: before v5.12 the kernel cannot ask those who join a group for
 * one, and a group belongs to a network namespace, which processes of other PID and user
 * namespaces share.  So a notice has a kind and a number.  The rest is kept here, for
 * MEMTAP_NOTICE, which asks for the right.
 */
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "core/names.h"
#include "hooks/oom.h"
#include "hooks/reclaim.h"
#include "record/guard.h"
#include "session/notices.h"
#include "session/session.h"

#include "compat/task.h"

#define LOOK_EACH	HZ

static struct genl_family family;
static bool registered;
static struct delayed_work looking;

/* What MEMTAP_NOTICE tells: the last ones, by their number. */
static DEFINE_MUTEX(kept_lock);
static struct memtap_notice kept[MEMTAP_NOTICES_KEPT];
static u64 nr_kept;			/* number of the last one */

/* A listener that is slow loses some: netlink tells it. */
static void multicast(u8 kind, u64 nr)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *head;

	if (!skb)
		return;
	head = genlmsg_put(skb, 0, 0, &family, 0, kind);
	if (!head || nla_put(skb, MEMTAP_NA_NR, sizeof(nr), &nr)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, head);
	genlmsg_multicast(&family, skb, 0, 0, GFP_KERNEL);
}

/* @n gets its number. */
static void send(struct memtap_notice *n)
{
	mutex_lock(&kept_lock);
	n->nr = ++nr_kept;
	kept[(u32)n->nr % MEMTAP_NOTICES_KEPT] = *n;
	mutex_unlock(&kept_lock);
	multicast((u8)n->kind, n->nr);
}

int memtap_notices_get(struct memtap_notice *n)
{
	const struct memtap_notice *from = &kept[(u32)n->nr % MEMTAP_NOTICES_KEPT];
	int err = -ENOENT;

	mutex_lock(&kept_lock);
	if (n->nr && from->nr == n->nr) {
		*n = *from;
		err = 0;
	}
	mutex_unlock(&kept_lock);
	return err;
}

/* --- OOM kills ------------------------------------------------------------- */

static void on_oom(u64 nr)
{
	multicast(MEMTAP_NOTICE_OOM, nr);
}

/* --- waits that are too long ------------------------------------------------ */

#define STALLS	32

static DEFINE_RAW_SPINLOCK(stall_lock);	/* what comes from the hot path */
static struct memtap_wait stalls[STALLS];
static u32 nr_stalls;
static u64 dropped;
static struct irq_work stall_kick;
static struct work_struct stall_work;

static void on_stall(const struct memtap_wait *w)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&stall_lock, flags);
	if (nr_stalls < STALLS)
		stalls[nr_stalls++] = *w;
	else
		dropped++;
	raw_spin_unlock_irqrestore(&stall_lock, flags);
	irq_work_queue(&stall_kick);
}

static void on_stall_kick(struct irq_work *work)
{
	queue_work(memtap_wq, &stall_work);
}

static bool next_stall(struct memtap_wait *w, u64 *before)
{
	unsigned long flags;
	bool any;

	raw_spin_lock_irqsave(&stall_lock, flags);
	any = nr_stalls;
	if (any) {
		*w = stalls[0];
		memmove(stalls, stalls + 1, --nr_stalls * sizeof(stalls[0]));
		*before = dropped;
	}
	raw_spin_unlock_irqrestore(&stall_lock, flags);
	return any;
}

static void send_stalls(struct work_struct *work)
{
	struct memtap_notice n;
	struct memtap_wait w;

	memset(&n, 0, sizeof(n));
	n.size = sizeof(n);
	n.kind = MEMTAP_NOTICE_STALL;
	while (next_stall(&w, &n.dropped)) {
		n.value = w.ns;
		n.pid = w.pid;
		memcpy(n.comm, w.comm, sizeof(n.comm));
		memset(n.event, 0, sizeof(n.event));
		strscpy(n.event, w.event, sizeof(n.event));
		send(&n);
	}
}

static DEFINE_MUTEX(stall_ms_lock);
static unsigned int stall_ms;

static int set_limit(unsigned int ms)
{
	int err = registered ? memtap_stalls_notify((u64)ms * NSEC_PER_MSEC, on_stall) : 0;

	if (err)
		memtap_stalls_notify(0, NULL);
	return err;
}

static int param_set_stall_ms(const char *val, const struct kernel_param *kp)
{
	unsigned int ms;
	int err;

	/* before init nobody but who loads the module can write it */
	if (registered && !memtap_may(MEMTAP_MAY_COUNT))
		return -EPERM;
	err = kstrtouint(val, 0, &ms);
	if (err)
		return err;
	mutex_lock(&stall_ms_lock);
	err = set_limit(ms);
	if (!err)
		stall_ms = ms;
	else if (stall_ms)
		set_limit(stall_ms);
	mutex_unlock(&stall_ms_lock);
	return err;
}

static int param_get_stall_ms(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, 16, "%u\n", stall_ms);
}

static const struct kernel_param_ops stall_ms_ops = {
	.set = param_set_stall_ms,
	.get = param_get_stall_ms,
};

module_param_cb(stall_ms, &stall_ms_ops, NULL, 0644);
MODULE_PARM_DESC(stall_ms,
		 "send a notice of reclaim and memory.high stalls over so many ms; 0: none");

/* --- tables that are full ---------------------------------------------------- */

/* What an event could not be kept for, and how often; MEMTAP_NR_LOST: nothing. */
static u32 full_table(struct memtap_session *s, u32 event, u64 *lost)
{
	static const u8 reasons[] = {
		MEMTAP_LOST_TABLE, MEMTAP_LOST_LIVE, MEMTAP_LOST_THREADS, MEMTAP_LOST_RING,
	};
	u64 sum;
	u32 i, cpu;

	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		sum = 0;
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(s->cpus[cpu]->events[event].account.lost[reasons[i]]);
		*lost = sum;
		if (sum)
			return reasons[i];
	}
	return MEMTAP_NR_LOST;
}

static u64 without_stack(struct memtap_session *s, u32 event)
{
	u64 sum = 0;
	u32 cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(s->cpus[cpu]->events[event].account.part[MEMTAP_PART_STACKS_FULL]);
	return sum;
}

/* Once for each event of a session. */
static void look_at_event(struct memtap_session *s, u32 event)
{
	struct memtap_notice n;
	u32 reason;

	if (test_bit(event, s->told_full))
		return;
	memset(&n, 0, sizeof(n));
	reason = full_table(s, event, &n.value);
	if (reason == MEMTAP_NR_LOST)
		n.value = without_stack(s, event);
	if (!n.value)
		return;
	__set_bit(event, s->told_full);
	n.size = sizeof(n);
	n.kind = MEMTAP_NOTICE_FULL;
	n.session = s->nr;
	n.pid = s->opener;
	strscpy(n.comm, s->opener_comm, sizeof(n.comm));
	strscpy(n.event, s->events[event]->name, sizeof(n.event));
	strscpy(n.reason, reason < MEMTAP_NR_LOST ? lost_name(reason) :
		part_name(MEMTAP_PART_STACKS_FULL), sizeof(n.reason));
	send(&n);
}

static void look_at_session(struct memtap_session *s, void *ctx)
{
	bool *runs = ctx;
	u32 i, nr;

	if (!smp_load_acquire(&s->running))
		return;
	*runs = true;
	nr = smp_load_acquire(&s->nr_events);
	for (i = 0; i < nr; i++)
		look_at_event(s, i);
}

static void look(struct work_struct *work)
{
	bool runs = false;

	memtap_for_each_session(look_at_session, &runs);
	if (runs)
		queue_delayed_work(memtap_wq, &looking, LOOK_EACH);
}

void memtap_notices_watch(void)
{
	if (registered)
		queue_delayed_work(memtap_wq, &looking, LOOK_EACH);
}

/* --- life ------------------------------------------------------------------- */

static const struct genl_multicast_group groups[] = {
	{ .name = MEMTAP_GENL_GROUP },
};

static struct genl_family family = {
	.name = MEMTAP_GENL_NAME,
	.version = MEMTAP_GENL_VERSION,
	.maxattr = MEMTAP_NR_NA - 1,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
	.module = THIS_MODULE,
};

bool memtap_notices_work(void)
{
	return registered;
}

void memtap_notices_init(void)
{
	int err = genl_register_family(&family);

	INIT_DEFERRABLE_WORK(&looking, look);
	init_irq_work(&stall_kick, on_stall_kick);
	INIT_WORK(&stall_work, send_stalls);
	if (err) {
		pr_info("no notices: the netlink family cannot be registered (errno %d)\n", -err);
		return;
	}
	memtap_oom_notify(on_oom);
	mutex_lock(&stall_ms_lock);
	registered = true;
	if (stall_ms && set_limit(stall_ms))
		pr_info("no notices of reclaim: this kernel does not tell of it\n");
	mutex_unlock(&stall_ms_lock);
}

/* No session is left, and nobody is killed any more that would be told. */
void memtap_notices_exit(void)
{
	bool registered_now;

	memtap_oom_notify(NULL);
	/* (the parameter may still be written, to no effect) */
	mutex_lock(&stall_ms_lock);
	set_limit(0);
	registered_now = registered;
	registered = false;
	mutex_unlock(&stall_ms_lock);
	irq_work_sync(&stall_kick);
	cancel_work_sync(&stall_work);
	cancel_delayed_work_sync(&looking);
	if (registered_now)
		genl_unregister_family(&family);
}
