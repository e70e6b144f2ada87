/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _REPORT_CUT_H
#define _REPORT_CUT_H

#include "uapi/memtap.h"

/* Why a stack may end early. */
struct rcut {
	__u32 flag;			/* MEMTAP_STACK_* */
	__u32 part;			/* MEMTAP_PART_* */
	const char *mark;		/* stands where the missing frames would */
};

#define NR_CUTS	7
extern const struct rcut report_cuts[NR_CUTS];
#define STACK_CUTS	(MEMTAP_STACK_DEPTH | MEMTAP_STACK_FAULT | MEMTAP_STACK_CHAIN | \
			 MEMTAP_STACK_TRAMPOLINE | MEMTAP_STACK_NOMAP | \
			 MEMTAP_STACK_NOTABLE | MEMTAP_STACK_NOROW)

/* The mark and the name in JSON of a stack with these flags and this reason. */
const char *report_cut_mark(const struct rcut *c, __u32 flags);
const char *report_cut_name(const struct rcut *c, __u32 flags);

#endif
