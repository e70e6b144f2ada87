/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_H
#define _CMD_H

#include <time.h>

#include "base/cmd.h"

/* Options that say which blocks are followed, and how: of leaks, and record --leaks. */
#define OPTS_FOLLOW	(OPT_TARGET | OPT_RUN | OPT_SIZES | OPT_WALK | OPT_LEAKS)

int cmd_list(const struct cmd *cmd, struct opts *o);
int cmd_load(const struct cmd *cmd, struct opts *o);
int cmd_unload(const struct cmd *cmd, struct opts *o);
int cmd_status(const struct cmd *cmd, struct opts *o);
int cmd_hooks(const struct cmd *cmd, struct opts *o);
int cmd_version(const struct cmd *cmd, struct opts *o);
int cmd_report(const struct cmd *cmd, struct opts *o);
int cmd_diff(const struct cmd *cmd, struct opts *o);
int cmd_merge(const struct cmd *cmd, struct opts *o);
int cmd_annotate(const struct cmd *cmd, struct opts *o);
int cmd_mark(const struct cmd *cmd, struct opts *o);
int cmd_diagnose(const struct cmd *cmd, struct opts *o);
int cmd_doctor(const struct cmd *cmd, struct opts *o);
int cmd_triage(const struct cmd *cmd, struct opts *o);
int cmd_oom(const struct cmd *cmd, struct opts *o);
int cmd_metrics(const struct cmd *cmd, struct opts *o);
int cmd_push(const struct cmd *cmd, struct opts *o);
int cmd_monitor(const struct cmd *cmd, struct opts *o);
int cmd_census(const struct cmd *cmd, const struct opts *o);	/* leaks -k --census */
int cmd_heap(const struct cmd *cmd, struct opts *o);
int cmd_leaks(const struct cmd *cmd, struct opts *o);
int cmd_slab(const struct cmd *cmd, struct opts *o);
int cmd_pages(const struct cmd *cmd, struct opts *o);
int cmd_watch(const struct cmd *cmd, struct opts *o);
int cmd_shm(const struct cmd *cmd, struct opts *o);
int cmd_rules(const struct cmd *cmd, struct opts *o);
int cmd_history(const struct cmd *cmd, struct opts *o);
int cmd_ps(const struct cmd *cmd, struct opts *o);
int cmd_unwind(const struct cmd *cmd, struct opts *o);

/* Until so many seconds after @start (CLOCK_MONOTONIC) */
void cmd_sleep_until(const struct timespec *start, double seconds);
/* On a terminal that has colours, of somebody who did not refuse them */
bool cmd_wants_color(const struct opts *o);
/* The tool's version, as `memtap version` has it */
const char *cmd_tool_version(void);

/* Those that are about the kernel's memory, too. */
#define OPTS_KERNEL	(OPT_RUN | OPT_SIZES | OPT_ANY_BY | OPT_RENDER | OPT_FLAMES | OPT_JSON | \
			 OPT_OUT | OPT_LIVE | OPT_TRACE | OPT_KERNEL_LEAKS | OPT_RECORD | \
			 OPT_CHANGES | OPT_MARKS | OPT_DRAIN)

/* Questions for cmd_watch() */
extern const struct question question_stacks, question_faults, question_rss, question_brk,
	question_mmap, question_shmem, question_stat, question_record, question_leaks,
	question_trace, question_count, question_hist, question_reclaim, question_compact,
	question_migrate, question_numa, question_vmscan, question_swap, question_shm,
	question_huge, question_callers, question_slab, question_pages;

#endif
