/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TRIAGE_INT_H
#define _TRIAGE_INT_H

#include "triage/triage.h"

/* A new finding to be filled in; there is always one. */
struct triage_finding *found_new(struct triage *t, enum triage_what what, int score);
void found_seen(struct triage_finding *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* How urgent it is that @grew in this time, for what is left of memory and swap. */
int growth_score(const struct triage *t, __s64 grew);
/* "; at this pace the rest is used up in 40 s", or "" */
const char *growth_end(const struct triage *t, __s64 grew, char *buf, size_t len);

/* Kills and failures are urgent for so many seconds. */
#define KILL_FRESH	300

/* What only this process has: not pages of files, nor what is shared. */
__s64 triage_own(const struct machine_holder *h);
/* The process that grew most, if one grew enough; or NULL. */
const struct machine_growth *largest_process(const struct triage *t);
/* Of the kernel's own, without the tables that users' growth brings with it. */
__s64 kernel_growth(const struct triage *t);

static inline __s64 kind_grew(const struct triage *t, enum machine_kind kind)
{
	return t->is.bytes[kind] - t->was.bytes[kind];
}

/* kernel_most.c: the process that most of the new page tables are of, if there is one; or NULL. */
const struct machine_holder *kernel_tables_of(const struct triage *t);
/* "; most of it is in ...", where one kind is half of what the kernel grew by; or "" */
const char *kernel_most(const struct triage *t, char *buf, size_t len);

/* Each looks for one thing, and adds a finding if it is there. */
void find_process(struct triage *t);
void find_program(struct triage *t);
void find_shmem(struct triage *t);
void find_kernel_growth(struct triage *t);
void find_swapping(struct triage *t);
void find_reclaim(struct triage *t);
void find_fragments(struct triage *t);
void find_limit(struct triage *t);
void find_waits(struct triage *t);	/* after all others that wait */
void find_kills(struct triage *t);
void find_kernel(struct triage *t);	/* for the census */
void find_reclaimable(struct triage *t);
void find_unevictable(struct triage *t);
void find_commit(struct triage *t);
void find_zombies(struct triage *t);
void find_dead_cgroups(struct triage *t);
void find_huge(struct triage *t);
void find_undead(struct triage *t);
/* Who holds what there is, where little is left and nothing grows. */
void find_holders(struct triage *t);
/* Command and reason of each finding. */
void advise(struct triage *t, const struct machine_at *at);
/* As one word for a shell. */
void triage_quote(const char *name, char *to, size_t room);

#endif
