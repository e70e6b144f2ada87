// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults, through perf's software events: fired where the kernel counts
 * the fault for the task itself, with the address and the registers, on every
 * kernel.  Faults without registers (get_user_pages) count for the task but
 * fire no event: nobody but the task's own counters knows of them.
 *
 * The value is what the fault mapped.  That is one page, a huge page, or, of a file, those
 * around it that are in the page cache ("fault around").  The kernel tells nobody; but
 * perf has an event where a fault begins, too, and what has come into the page table in
 * between is what the fault mapped.  A page that was there, and was only made writable or
 * copied, counts as one.
 */
#include <linux/bitops.h>
#include <linux/hash.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

#include "hooks/hooks.h"
#include "record/record.h"

#include "compat/page_walk.h"

struct fault_hook {
	struct memtap_hook hook;
	struct memtap_perf perf;
};

/*
 * Faults that have begun, by task: only the task itself writes its place.  Another one's
 * may be the same; @check, made of all else, tells whose it is, and that it is whole.
 */
#define BEGUN_BITS	10

struct begun {
	u64 addr, check;
	struct memtap_walk walk;
};

static struct begun begun[1 << BEGUN_BITS];

static struct begun *place(void)
{
	return &begun[hash_ptr(current, BEGUN_BITS)];
}

static u64 check_of(const struct begun *b)
{
	return (u64)(unsigned long)current ^ b->addr ^ b->walk.present ^
	       rol64(b->walk.huge, 32) ^ rol64(b->walk.entry, 16);
}

static void on_begin(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	struct begun now;

	if (!current->mm)
		return;
	now.addr = data->addr;
	memtap_walk(current->mm, data->addr, &now.walk);
	now.check = check_of(&now);
	*place() = now;
}

/* Pages that the fault at @addr mapped; 0: nobody saw it begin. */
static u64 mapped(u64 addr, bool *huge)
{
	struct begun then = *place();
	struct memtap_walk now;

	*huge = false;
	if (!current->mm || then.addr != addr || then.check != check_of(&then))
		return 0;
	memtap_walk(current->mm, addr, &now);
	if (now.huge) {
		*huge = now.huge != then.walk.huge || now.entry != then.walk.entry;
		return *huge ? now.huge : 1;
	}
	if (then.walk.huge)
		return 1;
	return max_t(u64, 1, hweight64(now.present & ~then.walk.present));
}

static void on_fault(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	struct memtap_hit hit = {
		.regs = regs,
		.addr = data->addr,
		.flags = MEMTAP_HIT_TASK | (user_mode(regs) ? MEMTAP_HIT_USER : 0),
	};
	struct memtap_hook *h = event->overflow_handler_context;
	bool huge;

	hit.value = mapped(data->addr, &huge);
	if (huge)
		hit.key = MEMTAP_KEY_HUGE;
	if (unlikely(!hit.value)) {
		hit.value = 1;
		hit.key = MEMTAP_KEY_PART;
	}
	memtap_hit(&h->source, &hit);
}

/* Both kinds of faults need the event of their beginning; under the hooks' lock. */
static struct memtap_hook begin_hook;
static struct memtap_perf begin = {
	.handler = on_begin, .hook = &begin_hook,
	.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS,
};
static u32 begin_users;

static int attach(struct memtap_hook *h)
{
	struct fault_hook *f = container_of(h, struct fault_hook, hook);
	int err = begin_users ? 0 : memtap_perf_attach(&begin);

	if (err)
		return err;
	err = memtap_perf_attach(&f->perf);
	if (!err)
		begin_users++;
	else if (!begin_users)
		memtap_perf_detach(&begin);
	return err;
}

static void detach(struct memtap_hook *h)
{
	memtap_perf_detach(&container_of(h, struct fault_hook, hook)->perf);
	if (!--begin_users)
		memtap_perf_detach(&begin);
}

static const struct memtap_hook_ops fault_ops = {
	.attach = attach,
	.detach = detach,
};

#define FAULT_HOOK(_var, _target, _config)				\
static struct fault_hook _var = {					\
	.hook = { .ops = &fault_ops, .way = MEMTAP_WAY_PERF_SW,		\
		  .target = _target },					\
	.perf = { .handler = on_fault, .hook = &_var.hook,		\
		  .type = PERF_TYPE_SOFTWARE, .config = _config },	\
}

FAULT_HOOK(minor, "minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN);
FAULT_HOOK(major, "major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ);

const struct memtap_builtin memtap_minor_fault = {
	.name = "minor-fault",
	.group = "fault",
	.summary = "page faults that needed no I/O: memory touched for the first time",
	.unit = MEMTAP_UNIT_PAGES,
	.nr_hooks = 1,
	.hooks = { &minor.hook },
};

const struct memtap_builtin memtap_major_fault = {
	.name = "major-fault",
	.group = "fault",
	.summary = "page faults that waited for I/O: files, swap",
	.unit = MEMTAP_UNIT_PAGES,
	.nr_hooks = 1,
	.hooks = { &major.hook },
};
