// SPDX-License-Identifier: GPL-2.0-or-later
/* Reasons, as reports call them. */
#include "report/cut.h"

static const char *const lost_names[] = {
	[MEMTAP_LOST_RECURSION] = "recursion",
	[MEMTAP_LOST_NMI] = "nmi",
	[MEMTAP_LOST_TABLE] = "table-full",
	[MEMTAP_LOST_MISSED] = "missed",
	[MEMTAP_LOST_RETURN] = "no-return",
	[MEMTAP_LOST_PAIR] = "no-entry",
	[MEMTAP_LOST_LIVE] = "live-full",
	[MEMTAP_LOST_THREADS] = "no-thread",
	[MEMTAP_LOST_LEFT] = "left",
};

static const char *const part_names[] = {
	[MEMTAP_PART_STACKS_FULL] = "stack-not-kept",
	[MEMTAP_PART_DEPTH] = "too-deep",
	[MEMTAP_PART_FAULT] = "not-present",
	[MEMTAP_PART_CHAIN] = "no-frame-pointer",
	[MEMTAP_PART_TASKS_FULL] = "task-not-kept",
	[MEMTAP_PART_TRAMPOLINE] = "hidden-caller",
	[MEMTAP_PART_NOMAP] = "no-mapping",
	[MEMTAP_PART_NOTABLE] = "no-table",
	[MEMTAP_PART_NOROW] = "no-row",
};

const char *report_lost_name(unsigned int reason)
{
	return reason < MEMTAP_NR_LOST ? lost_names[reason] : "unknown-reason";
}

const char *report_part_name(unsigned int reason)
{
	return reason < MEMTAP_NR_PART ? part_names[reason] : "unknown-reason";
}
