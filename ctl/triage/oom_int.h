/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TRIAGE_OOM_INT_H
#define _TRIAGE_OOM_INT_H

#include "base/text.h"
#include "triage/oom.h"

/* Percent of the allowed memory that makes one kind the cause. */
#define OOM_MUCH	30

/* oom_score.c: bounds of a process's OOM score, in bytes */
struct oom_score {
	__s64 low, high;
	__s64 most;			/* without allowance, for printing */
};

/* Why the victim was killed instead of this larger process. */
enum oom_instead {
	OOM_INSTEAD_UNKNOWN,		/* the record does not tell */
	OOM_INSTEAD_ASKED,		/* vm.oom_kill_allocating_task */
	OOM_INSTEAD_ORIGIN,		/* the victim had marked itself as the first to kill */
	OOM_INSTEAD_PROTECTED,		/* oom_score_adj -1000 */
	OOM_INSTEAD_SPARED,		/* init, or its memory is on other nodes */
	OOM_INSTEAD_DYING,		/* it was already exiting */
	OOM_INSTEAD_ADJUSTMENT,		/* its OOM score was lower */
};

enum oom_instead oom_instead(const struct memtap_oom_record *r, const struct memtap_oom_task *t,
			     struct oom_score *victim, struct oom_score *other);

/* oom_memory.c: of the machine or of some nodes, by MEMTAP_VM_*; bytes, 0 where unknown. */
struct oom_memory {
	__u64 total;
	__u64 at[MEMTAP_NR_VM];
	__u64 kernel;			/* kernel memory that has a counter and is unreclaimable */
	__u64 unaccounted;		/* neither free nor in any counter */
	bool knows_huge;
};

struct oom_memory oom_memory(const struct memtap_oom_record *r);

/* oom_text.c: format the sentence and the command */
struct oom_size {
	char text[TEXT_LEN];
};

void oom_say(struct oom_why *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct oom_size oom_size(__u64 bytes);
struct oom_size oom_signed_size(__s64 bytes);
unsigned int oom_percent(__u64 part, __u64 whole);
/* @command has one %s for @name, which is quoted; NULL: no %s. */
void oom_advise(struct oom_why *w, const char *tells, const char *command, const char *name);

/*
 * oom_charged.c: the cause by the largest charge of the cgroup.  False: charges are unknown, or
 * none is large enough.
 */
bool oom_charged(const struct memtap_oom_record *r, struct oom_why *w);

#endif
