// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure how long a thread sleeps because its cgroup is above memory.high.
 *
 * On the way back to user mode the kernel reclaims memory; if that is not enough, the thread
 * sleeps, for up to two seconds each time (since v5.4).  Only the sleep is measured: reclaim
 * before it is an event of reclaim.c, so that no time counts twice.  Both together are what the
 * kernel accounts as memory pressure (PSI).  A call that does not sleep is no event.  Other
 * callers sleep in the same function: the symbol of the caller distinguishes them.
 */
#include <linux/kallsyms.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "hooks/kmem.h"
#include "hooks/waits_int.h"

/* The second name is an inline check since the function has the first one. */
static const char *const throttles[] = {
	"__mem_cgroup_handle_over_high", "mem_cgroup_handle_over_high",
};

struct sleep {
	u64 from;
	unsigned long caller;
};

static struct kmem_return sleeps;
static struct wait_book high_book = MEMTAP_WAIT_BOOK(high_book);

/* A part of a function may be apart from it, as NAME.cold: that is another name with a dot. */
static noinline bool has_symbol_name(unsigned long ip)
{
	char name[KSYM_SYMBOL_LEN];
	size_t len;
	u32 i;

	sprint_symbol(name, ip);
	for (i = 0; i < ARRAY_SIZE(throttles); i++) {
		len = strlen(throttles[i]);
		if (!strncmp(name, throttles[i], len) && (name[len] == '+' || name[len] == '.'))
			return true;
	}
	return false;
}

/* The kernel's own code does not move: one look is enough. */
static bool throttled(unsigned long caller)
{
	static unsigned long known;

	if (caller && caller == READ_ONCE(known))
		return true;
	if (!caller || !has_symbol_name(caller))
		return false;
	WRITE_ONCE(known, caller);
	return true;
}

/* Not 0: this call is another caller's, and its return is not waited for. */
static int on_sleep(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct sleep *s = (struct sleep *)ri->data;

	s->caller = memtap_kmem_caller(regs);
	s->from = ktime_get_ns();
	return !throttled(s->caller);
}

static int on_wake(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct sleep *s = (const struct sleep *)ri->data;
	const u64 now = ktime_get_ns(), ns = now - s->from;
	struct pt_regs caller;
	struct memtap_hit hit = {
		.regs = IS_ENABLED(CONFIG_X86) ? &caller : NULL,
		.value = (s64)ns, .flags = MEMTAP_HIT_VALUE,
		.record = &ns, .record_len = sizeof(ns),
	};
	struct memtap_wait one;

	/*
	 * The stack begins in the caller, also where the kernel cannot go beyond a kretprobe's
	 * trampoline.  (On x86 registers that are 0 are those of the kernel.)
	 */
	memset(&caller, 0, sizeof(caller));
	instruction_pointer_set(&caller, s->caller);
	memtap_note_trampoline(regs);
	memtap_wait_add(&high_book, sleeps.hook.event, s->from, now, &one);
	memtap_wait_notify(&one);
	if (current->mm && !(current->flags & PF_KTHREAD))
		hit.flags |= MEMTAP_HIT_TASK;
	memtap_hit(&sleeps.hook.source, &hit);
	return 0;
}

static int attach(struct memtap_hook *h)
{
	unsigned long at;
	int err = -ENOENT;
	u32 i;

	for (i = 0; err == -ENOENT && i < ARRAY_SIZE(throttles); i++) {
		strscpy(h->target, throttles[i], sizeof(h->target));
		err = memtap_kprobe_place(throttles[i], &at);
	}
	if (err)
		return err;
	memtap_wait_book_begin(&high_book);
	return memtap_kmem_return_ops.attach(h);
}

static void detach(struct memtap_hook *h)
{
	memtap_kmem_return_ops.detach(h);
}

static u64 missed(struct memtap_hook *h)
{
	return memtap_kmem_return_ops.missed(h);
}

static const struct memtap_hook_ops ops = {
	.attach = attach,
	.detach = detach,
	.missed = missed,
};

static struct kmem_return sleeps = {
	.hook = { .ops = &ops, .way = MEMTAP_WAY_KRETPROBE },
	.names = (const char *const []){ "schedule_timeout_killable", NULL },
	.begin = on_sleep,
	.end = on_wake,
	.data = sizeof(struct sleep),
	.most = 1024,		/* threads of a cgroup that sleep at once */
};

void memtap_high_book(struct memtap_hook **hook, struct wait_book **book)
{
	*hook = &sleeps.hook;
	*book = &high_book;
}

static const struct memtap_builtin_field fields[] = {
	{ "latency", 0, sizeof(u64), sizeof(u64), 0 },
	{ .name = NULL },
};

const struct memtap_builtin memtap_memcg_high = {
	.name = "memcg-high",
	.group = "reclaim",
	.summary = "sleeps because the cgroup is above its memory.high",
	.unit = MEMTAP_UNIT_NS,
	.fields = fields,
	.nr_hooks = 1,
	.hooks = { &sleeps.hook },
};
