/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TRIAGE_OOM_INT_H
#define _TRIAGE_OOM_INT_H

#include "base/text.h"
#include "triage/oom.h"

/* Of all memory that could be had, in percent: what stands out. */
#define OOM_MUCH	30

/* oom_score.c: bytes that the kernel counted for a process, at least and at most. */
struct oom_score {
	__s64 low, high;
	__s64 most;			/* without allowance: to be shown */
};

/* Why the victim was killed, and not this process, which has more memory. */
enum oom_instead {
	OOM_INSTEAD_UNKNOWN,		/* the record does not say */
	OOM_INSTEAD_ASKED,		/* vm.oom_kill_allocating_task */
	OOM_INSTEAD_ORIGIN,		/* the victim had asked to be killed first */
	OOM_INSTEAD_PROTECTED,		/* an adjustment of -1000 */
	OOM_INSTEAD_SPARED,		/* init, or it has other nodes */
	OOM_INSTEAD_DYING,		/* it was on its way out already */
	OOM_INSTEAD_ADJUSTMENT,		/* the kernel counted less for it */
};

enum oom_instead oom_instead(const struct memtap_oom_record *r, const struct memtap_oom_task *t,
			     struct oom_score *victim, struct oom_score *other);

/* oom_memory.c: of the machine or of some nodes, by MEMTAP_VM_*; bytes, 0 where not known. */
struct oom_memory {
	__u64 total;
	__u64 at[MEMTAP_NR_VM];
	__u64 kernel;			/* its own that has a counter, and cannot be reclaimed */
	__u64 unaccounted;		/* neither free nor counted as anything */
	bool knows_huge;
};

struct oom_memory oom_memory(const struct memtap_oom_record *r);

/* oom_text.c: the sentence, and the command. */
struct oom_size {
	char text[TEXT_LEN];
};

void oom_say(struct oom_why *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct oom_size oom_size(__u64 bytes);
struct oom_size oom_signed_size(__s64 bytes);
unsigned int oom_percent(__u64 part, __u64 whole);
/* @command has one %s where @name, quoted, goes; NULL: it has none. */
void oom_advise(struct oom_why *w, const char *tells, const char *command, const char *name);

/*
 * oom_charged.c: what filled the cgroup, by what it was charged for.  False: that is not known,
 * or nothing of it stands out.
 */
bool oom_charged(const struct memtap_oom_record *r, struct oom_why *w);

#endif
