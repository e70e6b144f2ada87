/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _WL_DIE_H
#define _WL_DIE_H

/* What wl_die and t_die both map. */
#include <stdint.h>
#include <sys/types.h>

#define DIE_THREADS	16
#define DIE_SLEEPERS	4
#define DIE_DEEP	3	/* calls of die_deep() around one of die_nap() */

enum die_fn { DIE_STEP, DIE_OUTER, DIE_HELD, DIE_DEEPLY, DIE_NAP, DIE_NR_FN };
enum die_act { ACT_NONE, ACT_EXIT, ACT_KILL, ACT_EXEC };

struct die_shared {
	uint64_t turns[DIE_THREADS];	/* of each thread; 0: there is none */
	uint64_t bad;			/* results that were wrong */
	uint64_t forks, opens, closes, execs, acts;
	uint64_t asleep, woke, left;	/* sleepers: calls, ends, by longjmp() */
	uint64_t fn[DIE_NR_FN];		/* addresses */
	uint64_t act_at, acted_at;	/* ns */
	uint32_t act;			/* enum die_act */
	uint32_t sleep;			/* sleepers go to sleep when it changes */
	uint32_t leave;			/* SIGUSR1 leaves the nap by longjmp() */
	pid_t child;			/* that was forked last, and lives */
	uint32_t nr_sleepers;
	pid_t sleepers[DIE_SLEEPERS];
};

#define die_add(p)	__atomic_add_fetch(p, 1, __ATOMIC_SEQ_CST)
#define die_get(p)	__atomic_load_n(p, __ATOMIC_SEQ_CST)
#define die_set(p, v)	__atomic_store_n(p, v, __ATOMIC_SEQ_CST)

/* What the functions that are probed compute. */
static inline uint64_t die_truth(uint64_t x)
{
	return x * 6364136223846793005ULL + 1442695040888963407ULL;
}

#endif
