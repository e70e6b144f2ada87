/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_FILTER_H
#define _MEMTAP_FILTER_H

#include <linux/types.h>

struct filter;
struct memtap_session;
struct mm_struct;
struct task_struct;

/* Does the filter let a task through?  Under rcu_read_lock(). */
bool memtap_filter_task(const struct filter *f, struct task_struct *task);
/* Is current kept out by MEMTAP_CFG_NOT_SELF alone?  The same. */
bool memtap_filter_own(const struct filter *f);

/*
 * Do the probes belong into the memory of @mm?  For uprobes' filters; process
 * or atomic context.
 */
bool memtap_wants_mm(struct memtap_session *s, struct mm_struct *mm);

#endif
