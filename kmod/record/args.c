// SPDX-License-Identifier: GPL-2.0-only
/* Read the arguments of events: the kernel side of core/steps_run. */
#include <linux/cred.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/topology.h>
#include <linux/uidgid.h>

#include "record/arch.h"
#include "record/args.h"

#include "compat/free_pages.h"
#include "compat/kernel_read.h"
#include "compat/task.h"
#include "compat/user_words.h"

struct steps_world {
	const void *record;
	u64 record_len;
	struct memtap_args_run *run;
};

#include "core/steps_run.h"

static bool is_compat(const struct steps_world *w)
{
	return w->run->at->user && memtap_task_compat(current);
}

static bool has_memory(void)
{
	return current->mm && !(current->flags & PF_KTHREAD);
}

static int steps_world_read(struct steps_world *w, u32 user, u64 addr, void *buf, u32 len)
{
	if (!user)
		return memtap_kernel_bytes(buf, addr, len);
	if (has_memory() && memtap_user_bytes(buf, addr, len))
		return 1;
	w->run->fault = addr;
	return 0;
}

/* 32-bit programs have them on the stack, above the return address. */
static noinline int compat_arg(struct steps_world *w, const struct pt_regs *regs, u32 n, u64 *v)
{
	u32 word;

	if (!steps_world_read(w, 1, user_stack_pointer((struct pt_regs *)regs) + 4 * (n + 1),
			      &word, sizeof(word)))
		return 0;
	*v = word;
	return 1;
}

static int steps_world_arg(struct steps_world *w, u32 n, u64 *v)
{
	const struct pt_regs *regs = w->run->at->hit.regs;

	if (!regs)
		return 0;
	if (unlikely(is_compat(w)))
		return compat_arg(w, regs, n, v);
	*v = memtap_karg(regs, n);
	return 1;
}

static int steps_world_reg(struct steps_world *w, u32 n, u64 *v)
{
	const struct pt_regs *regs = w->run->at->hit.regs;

	if (!regs)
		return 0;
	if (n == 16) {
		*v = instruction_pointer((struct pt_regs *)regs);
		return 1;
	}
	return !memtap_user_reg(regs, n, v);
}

static int steps_world_ret(struct steps_world *w, u64 *v)
{
	struct pt_regs *regs = w->run->at->hit.regs;

	if (!regs)
		return 0;
	*v = regs_return_value(regs);
	if (unlikely(is_compat(w)))
		*v = (u64)(s64)(s32)*v;
	return 1;
}

static int steps_world_fact(struct steps_world *w, u32 n, u64 *v)
{
	switch (n) {
	case MEMTAP_FACT_PID:
		*v = (u32)current->tgid;
		return 1;
	case MEMTAP_FACT_TID:
		*v = (u32)current->pid;
		return 1;
	case MEMTAP_FACT_UID:
		*v = from_kuid(&init_user_ns, current_uid());
		return 1;
	case MEMTAP_FACT_CPU:
		*v = raw_smp_processor_id();
		return 1;
	case MEMTAP_FACT_LATENCY:
		*v = w->run->latency;
		return 1;
	case MEMTAP_FACT_FREE:
		*v = memtap_free_pages();
		return 1;
	case MEMTAP_FACT_NODE:
		*v = (u32)numa_node_id();
		return 1;
	default:
		*v = w->run->value;
		return w->run->has_value;
	}
}

static void steps_world_comm(struct steps_world *w, char *buf)
{
	memcpy(buf, current->comm, MEMTAP_COMM_LEN);
}

bool memtap_args_do(const struct steps *steps, u32 from, u32 to, struct steps_values *v,
		    struct memtap_args_run *run)
{
	struct steps_world w = { .record = run->at->hit.record,
				 .record_len = run->at->hit.record_len, .run = run };

	return steps_run(steps, from, to, v, &w);
}

u32 memtap_args_kept_size(const struct steps *steps)
{
	return offsetof(struct memtap_args_kept, packed) +
	       steps_packed_max(steps, steps->kept_entry);
}
