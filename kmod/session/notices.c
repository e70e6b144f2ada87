// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notices by generic netlink: somebody was killed for want of memory; a session's tables are
 * full.  Sent by works, with memory that may be waited for; never from where it happened.
 *
 * What listens has shown no right to (before v6.7 kernels ask none of those who join a group),
 * so that a notice has nothing in it that /proc does not show to everybody.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "core/names.h"
#include "hooks/oom.h"
#include "record/guard.h"
#include "session/notices.h"
#include "session/session.h"

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

/* --- tables that are full ---------------------------------------------------- */

/* What an event could not be kept for, and how often; MEMTAP_NR_LOST: nothing. */
static u32 full_table(struct memtap_session *s, u32 event, u64 *lost)
{
	static const u8 reasons[] = {
		MEMTAP_LOST_TABLE, MEMTAP_LOST_LIVE, MEMTAP_LOST_THREADS, MEMTAP_LOST_RING,
	};
	u32 i, cpu;

	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		*lost = 0;
		for_each_possible_cpu(cpu)
			*lost += READ_ONCE(s->cpus[cpu]->account[event].lost[reasons[i]]);
		if (*lost)
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
	s->told_full |= 1U << event;
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
	registered = !err;
	if (err)
		pr_info("no notices: the netlink family cannot be registered (errno %d)\n", -err);
	else
		memtap_oom_tell(on_oom);
}

/* No session is left, and nobody is killed any more that would be told. */
void memtap_notices_exit(void)
{
	memtap_oom_tell(NULL);
	cancel_delayed_work_sync(&looking);
	if (registered)
		genl_unregister_family(&family);
	registered = false;
}
