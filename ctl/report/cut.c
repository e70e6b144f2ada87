// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a stack is cut. */
#include <stdbool.h>

#include "report/cut.h"

const struct rcut report_cuts[NR_CUTS] = {
	{ MEMTAP_STACK_DEPTH, MEMTAP_PART_DEPTH,
	  "[stack cut: too deep]", "deeper than the frames kept" },
	{ MEMTAP_STACK_FAULT, MEMTAP_PART_FAULT,
	  "[stack cut: memory not present]", "where the stack is not in memory" },
	{ MEMTAP_STACK_CHAIN, MEMTAP_PART_CHAIN,
	  "[stack cut: no frame pointer]", "that lead nowhere" },
	{ MEMTAP_STACK_TRAMPOLINE, MEMTAP_PART_TRAMPOLINE,
	  "[a caller is hidden by a return probe]", "behind a return probe" },
	{ MEMTAP_STACK_NOMAP, MEMTAP_PART_NOMAP,
	  "[stack cut: mapped too recently]", "in code that was mapped too recently" },
	{ MEMTAP_STACK_NOTABLE, MEMTAP_PART_NOTABLE,
	  "[stack cut: no table yet]", "in files without a table yet" },
	{ MEMTAP_STACK_NOROW, MEMTAP_PART_NOROW,
	  "[stack cut: no row]", "in code that no row describes" },
};

/* A chain is of frame pointers, unless rows were followed. */
static bool odd_chain(const struct rcut *c, __u32 flags)
{
	return c->flag == MEMTAP_STACK_CHAIN && (flags & MEMTAP_STACK_ROWS);
}

const char *report_cut_mark(const struct rcut *c, __u32 flags)
{
	return odd_chain(c, flags) ? "[stack cut: leads nowhere]" : c->mark;
}

const char *report_cut_name(const struct rcut *c, __u32 flags)
{
	return odd_chain(c, flags) ? "leads-nowhere" : report_part_name(c->part);
}
