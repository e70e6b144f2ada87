// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notices by generic netlink: somebody was killed for want of memory; a session's tables are
 * full.  Sent by works, with memory that may be waited for; never from where it happened.
 *
 * What listens has shown no right to (before v6.7 kernels ask none of those who join a group),
 * so that a notice has nothing in it that /proc does not show to everybody.
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

struct notice {
	u8 kind;			/* MEMTAP_NOTICE_* */
	u64 nr;
	u64 value;
	u32 pid;
	const char *comm, *event, *reason;	/* or NULL */
};

static int put_number(struct sk_buff *skb, int attr, u64 v)
{
	return nla_put(skb, attr, sizeof(v), &v);
}

static int fill(struct sk_buff *skb, const struct notice *n)
{
	if (put_number(skb, MEMTAP_NA_NR, n->nr) || put_number(skb, MEMTAP_NA_VALUE, n->value) ||
	    nla_put_u32(skb, MEMTAP_NA_PID, n->pid) ||
	    (n->comm && nla_put_string(skb, MEMTAP_NA_COMM, n->comm)) ||
	    (n->event && nla_put_string(skb, MEMTAP_NA_EVENT, n->event)) ||
	    (n->reason && nla_put_string(skb, MEMTAP_NA_REASON, n->reason)))
		return -EMSGSIZE;
	return 0;
}

/* Nobody may listen, and a listener that is slow loses some: both are theirs to know. */
static void send(const struct notice *n)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *head;

	if (!skb)
		return;
	head = genlmsg_put(skb, 0, 0, &family, 0, n->kind);
	if (!head || fill(skb, n)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, head);
	genlmsg_multicast(&family, skb, 0, 0, GFP_KERNEL);
}

/* --- OOM kills ------------------------------------------------------------- */

static void on_oom(u64 nr)
{
	struct notice n = { .kind = MEMTAP_NOTICE_OOM, .nr = nr };

	send(&n);
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
	struct memtap_wait w;
	struct notice n = { .kind = MEMTAP_NOTICE_STALL };

	while (next_stall(&w, &n.nr)) {
		n.value = w.ns;
		n.pid = (u32)w.pid;
		n.comm = w.comm;
		n.event = w.event;
		send(&n);
	}
}

static DEFINE_MUTEX(stall_ms_lock);
static unsigned int stall_ms;

static int set_limit(unsigned int ms)
{
	int err = registered ? memtap_stalls_tell((u64)ms * NSEC_PER_MSEC, on_stall) : 0;

	if (err)
		memtap_stalls_tell(0, NULL);
	return err;
}

static int param_set_stall_ms(const char *val, const struct kernel_param *kp)
{
	unsigned int ms;
	int err;

	/* before init nobody but who loads the module can write it */
	if (registered && !memtap_may_open())
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
MODULE_PARM_DESC(stall_ms, "tell of reclaim that somebody waited longer for, in ms; 0: of none");

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
			sum += READ_ONCE(s->cpus[cpu]->account[event].lost[reasons[i]]);
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
		sum += READ_ONCE(s->cpus[cpu]->account[event].part[MEMTAP_PART_STACKS_FULL]);
	return sum;
}

/* Once for each event of a session. */
static void look_at_event(struct memtap_session *s, u32 event)
{
	struct notice n = {
		.kind = MEMTAP_NOTICE_FULL,
		.nr = s->nr,
		.pid = (u32)s->opener,
		.comm = s->opener_comm,
		.event = s->events[event].name,
	};
	u32 reason;

	if (s->told_full >> event & 1)
		return;
	reason = full_table(s, event, &n.value);
	if (reason < MEMTAP_NR_LOST) {
		n.reason = lost_name(reason);
	} else {
		n.value = without_stack(s, event);
		n.reason = part_name(MEMTAP_PART_STACKS_FULL);
	}
	if (!n.value)
		return;
	s->told_full |= 1ULL << event;
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
	memtap_oom_tell(on_oom);
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

	memtap_oom_tell(NULL);
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
