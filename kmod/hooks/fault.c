// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults, through perf's software events: fired where the kernel counts
 * the fault for the task itself, with the address and the registers, on every
 * kernel.  Faults without registers (get_user_pages) count for the task but
 * fire no event: nobody but the task's own counters knows of them.
 */
#include <linux/perf_event.h>
#include <linux/ptrace.h>

#include "hooks/hooks.h"
#include "record/record.h"

struct fault_hook {
	struct memtap_hook hook;
	struct memtap_perf perf;
};

static void on_fault(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	struct memtap_hit hit = {
		.regs = regs,
		.value = 1,
		.addr = data->addr,
		.flags = MEMTAP_HIT_TASK | (user_mode(regs) ? MEMTAP_HIT_USER : 0),
	};
	struct memtap_hook *h = event->overflow_handler_context;

	memtap_hit(&h->source, &hit);
}

static int attach(struct memtap_hook *h)
{
	struct fault_hook *f = container_of(h, struct fault_hook, hook);

	return memtap_perf_attach(&f->perf);
}

static void detach(struct memtap_hook *h)
{
	memtap_perf_detach(&container_of(h, struct fault_hook, hook)->perf);
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
