// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decide which arguments of CONFIGURE and ATTACH need more than the right to count.
 * docs/safety.md, "Who may", has the whole table and the reasons.
 */
#include "core/steps.h"
#include "session/rights.h"

/*
 * Registers of a probe in the middle of a function are memory that it reads.  What is in a
 * tracepoint's record, the kernel decides: strings that it copied, since v6.19 also buffers of
 * system calls.  A built-in event's record is our own: addresses, sizes, flags, names of files.
 */
static bool step_reads(const struct memtap_attach *a, const struct memtap_step *st)
{
	switch (st->op) {
	case MEMTAP_STEP_ARG:
	case MEMTAP_STEP_REG:
	case MEMTAP_STEP_RET:
	case MEMTAP_STEP_LOAD:
	case MEMTAP_STEP_TEXT:
		return true;
	case MEMTAP_STEP_FIELD:
	case MEMTAP_STEP_FIELD_TEXT:
	case MEMTAP_STEP_FIELD_LOC:
		return a->kind != MEMTAP_ATTACH_BUILTIN;
	default:
		return false;
	}
}

enum memtap_right memtap_attach_right(const struct memtap_attach *a, const struct steps *steps)
{
	u32 i;

	/*
	 * HEAP has arguments and results of any user function; HOLD makes threads wait; a USDT
	 * semaphore is a word of others' memory that is changed.
	 */
	if (a->kind == MEMTAP_ATTACH_HEAP || (a->flags & MEMTAP_ATTACH_HOLD) ||
	    (a->kind == MEMTAP_ATTACH_UPROBE && a->ref_ctr))
		return MEMTAP_MAY_READ;
	for (i = 0; steps && i < steps->nr; i++)
		if (step_reads(a, &steps->at[i]))
			return MEMTAP_MAY_READ;
	return MEMTAP_MAY_COUNT;
}

enum memtap_right memtap_config_right(const struct memtap_config *c)
{
	return c->flags & (MEMTAP_CFG_DEATHS | MEMTAP_CFG_EXECS) ? MEMTAP_MAY_READ :
								   MEMTAP_MAY_COUNT;
}
