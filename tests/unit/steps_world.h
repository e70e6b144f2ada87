/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _STEPS_WORLD_H
#define _STEPS_WORLD_H

/* An event that is made up: what steps ask of the kernel. */
#include "core/steps.h"

struct steps_world {
	u64 args[6], regs[17], ret, facts[MEMTAP_NR_FACT];
	const void *record;
	u64 record_len;
	char comm[MEMTAP_COMM_LEN];
	/* memory, the kernel's and the user's, of one page each at one address */
	u64 base;
	const char *memory[2];
	u32 memory_len;
	u32 reads;
};

#include "core/steps_run.h"

static int steps_world_arg(struct steps_world *w, u32 n, u64 *v)
{
	*v = w->args[n];
	return 1;
}

static int steps_world_reg(struct steps_world *w, u32 n, u64 *v)
{
	*v = w->regs[n];
	return 1;
}

static int steps_world_ret(struct steps_world *w, u64 *v)
{
	*v = w->ret;
	return 1;
}

static int steps_world_fact(struct steps_world *w, u32 n, u64 *v)
{
	*v = w->facts[n];
	return 1;
}

static int steps_world_read(struct steps_world *w, u32 user, u64 addr, void *buf, u32 len)
{
	w->reads++;
	if (!w->memory[user] || addr < w->base || addr - w->base > w->memory_len ||
	    len > w->memory_len - (addr - w->base))
		return 0;
	memcpy(buf, w->memory[user] + (addr - w->base), len);
	return 1;
}

static void steps_world_comm(struct steps_world *w, char *buf)
{
	memcpy(buf, w->comm, MEMTAP_COMM_LEN);
}

#endif
