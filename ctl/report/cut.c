// SPDX-License-Identifier: GPL-2.0-or-later
/* Name the reasons why a stack is truncated. */
#include <stdbool.h>

#include "core/names.h"
#include "report/cut.h"

const struct rcut report_cuts[NR_CUTS] = {
	{ MEMTAP_STACK_DEPTH, MEMTAP_PART_DEPTH, "[stack truncated: too deep]" },
	{ MEMTAP_STACK_FAULT, MEMTAP_PART_FAULT, "[stack truncated: memory not present]" },
	{ MEMTAP_STACK_CHAIN, MEMTAP_PART_CHAIN, "[stack truncated: no frame pointer]" },
	{ MEMTAP_STACK_TRAMPOLINE, MEMTAP_PART_TRAMPOLINE,
	  "[a caller is hidden by a return probe]" },
	{ MEMTAP_STACK_NOMAP, MEMTAP_PART_NOMAP, "[stack truncated: mapped too recently]" },
	{ MEMTAP_STACK_NOTABLE, MEMTAP_PART_NOTABLE, "[stack truncated: no table yet]" },
	{ MEMTAP_STACK_NOROW, MEMTAP_PART_NOROW, "[stack truncated: no unwind entry]" },
};

/* A chain is of frame pointers, unless rows were followed. */
static bool odd_chain(const struct rcut *c, __u32 flags)
{
	return c->flag == MEMTAP_STACK_CHAIN && (flags & MEMTAP_STACK_ROWS);
}

const char *report_cut_mark(const struct rcut *c, __u32 flags)
{
	return odd_chain(c, flags) ? "[stack truncated: leads nowhere]" : c->mark;
}

const char *report_cut_name(const struct rcut *c, __u32 flags)
{
	return odd_chain(c, flags) ? "leads-nowhere" : part_name(c->part);
}
