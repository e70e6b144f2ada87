// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recompute the OOM score of a process, as the kernel's oom_badness() does:
 * anon + file + shmem + swap + page tables, plus oom_score_adj thousandths of the allowed memory.
 * Before v4.17 a process with CAP_SYS_ADMIN (the module flags it) gets a bonus of up to 3 %, of
 * its memory or, before v3.14, of the allowed memory.  Before v5.9 the victim's score is known in
 * thousandths only.  Hence a lower and an upper bound: a statement must hold for both.
 */
#include <stdlib.h>

#include "triage/oom_int.h"

/* Processes run while they are read, and threads cache some counts. */
#define SLACK_PAGES	64

__u64 oom_task_size(const struct memtap_oom_task *t)
{
	return t->anon + t->file + t->shmem + t->swap + t->tables;
}

bool oom_points_known(const struct memtap_oom_record *r)
{
	return r->points != (__s64)MEMTAP_OOM_UNKNOWN && !(r->flags & MEMTAP_OOM_ALLOCATING);
}

static __s64 thousandth(const struct memtap_oom_record *r)
{
	const __u64 page = r->page_size ? r->page_size : 1;

	return (__s64)(r->allowed / page / 1000 * page);
}

static struct oom_score score_of(const struct memtap_oom_record *r,
				 const struct memtap_oom_task *t)
{
	const __s64 size = (__s64)oom_task_size(t), slack = SLACK_PAGES * (__s64)r->page_size;
	__s64 adj = t->score_adj, bonus = 0;

	/* the kernel's range; a damaged record may have any value */
	if (adj < -1000 || adj > 1000)
		adj = 0;
	if (t->flags & MEMTAP_OOM_TASK_ADMIN)
		bonus = (size > 1000 * thousandth(r) ? size : 1000 * thousandth(r)) * 3 / 100;
	return (struct oom_score){
		.low = size + adj * thousandth(r) - bonus - slack,
		.most = size + adj * thousandth(r),
		.high = size + adj * thousandth(r) + slack,
	};
}

static struct oom_score score_of_victim(const struct memtap_oom_record *r)
{
	struct oom_score s = { .low = r->points, .most = r->points, .high = r->points };

	/* since v5.1 a log does not say it */
	if (r->flags & MEMTAP_OOM_LOGGED && r->points == (__s64)MEMTAP_OOM_UNKNOWN)
		return score_of(r, &r->victim);

	if (!(r->flags & MEMTAP_OOM_PERMILLE))
		return s;
	s.high += (__s64)(r->allowed / 1000) + r->page_size;
	/* these kernels clamp a negative score */
	if (r->points <= 0)
		s.low = -(1LL << 60);
	return s;
}

enum oom_instead oom_instead(const struct memtap_oom_record *r, const struct memtap_oom_task *t,
			     struct oom_score *victim, struct oom_score *other)
{
	*victim = score_of_victim(r);
	*other = score_of(r, t);
	if (r->flags & MEMTAP_OOM_ALLOCATING)
		return OOM_INSTEAD_ASKED;
	if (r->points == (__s64)MEMTAP_OOM_UNKNOWN && !(r->flags & MEMTAP_OOM_LOGGED))
		return OOM_INSTEAD_ORIGIN;
	if (t->score_adj <= -1000)
		return OOM_INSTEAD_PROTECTED;
	if (t->flags & MEMTAP_OOM_TASK_SPARED)
		return OOM_INSTEAD_SPARED;
	if (t->flags & MEMTAP_OOM_TASK_DYING)
		return OOM_INSTEAD_DYING;
	if (r->allowed && t->score_adj < r->victim.score_adj && other->high < victim->low)
		return OOM_INSTEAD_ADJUSTMENT;
	return OOM_INSTEAD_UNKNOWN;
}
