/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_GUARD_H
#define _MEMTAP_GUARD_H

#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "core/fpwalk.h"
#include "core/rowwalk.h"
#include "core/steps.h"
#include "compat/kernel_walk.h"
#include "compat/user_regs.h"
#include "port/uapi.h"
#include "record/args.h"
#include "record/listen.h"
#include "record/spaces.h"
#include "record/stack_memo.h"

struct memtap_account;
struct memtap_scratch;
struct memtap_session;
struct memtap_session_cpu;
struct workqueue_struct;

/* Bytes for a path where nothing can be allocated. */
#define MEMTAP_PATH_BUF		1024
/* Kernel frames that belong to us and to the probe, at most. */
#define MEMTAP_OWN_FRAMES	32

/* One event's way through one session; in the scratch: on the stack it is cleared. */
struct memtap_visit {
	struct memtap_session *s;
	struct memtap_session_cpu *cpu;
	struct memtap_account *acc;
	const struct memtap_hit *hit;
	struct memtap_scratch *sc;
	u32 event;
	u32 *slot;			/* of the stack: where it was counted last */
	s64 value;			/* of events that have steps: they may say so */
	struct pair_hint *hint;		/* of entries and returns: where it may be; or NULL */
	bool user, same;		/* current is who was here last */
};

/* What a CPU needs while it records one event. */
struct memtap_scratch {
	u32 busy;
	u32 took;			/* which stacks were taken already */
	u32 knr, kflags;
	bool kfound;			/* it was walked by what was learned */
	u32 unr, uflags;
	u64 ufault;			/* where it could not be read */
	bool patient;			/* then it will be walked again: keep nothing */
	const struct memtap_session *urows;	/* whose rows, or NULL: by fp */
	u64 *uips;			/* of the walk: shallow, or deep */
	u64 kips[MEMTAP_DEFAULT_DEPTH];
	u64 shallow[MEMTAP_DEFAULT_DEPTH];
	u64 *deep;			/* MEMTAP_MAX_DEPTH, see memtap_guard_deepen() */
	unsigned long raw[MEMTAP_DEFAULT_DEPTH + MEMTAP_OWN_FRAMES];
	u8 chunk[USERSTACK_CHUNK] __aligned(8);
	struct rowwalk walk;		/* here, because on the stack they are cleared, */
	struct fpwalk chain;		/* and much of them is always the same */
	struct memtap_code_finder finder;	/* its ctx */
	struct rowwalk_memo memo[ROWWALK_MEMO];
	/* these, because on the stack they would be cleared */
	struct memtap_visit visit;
	struct memtap_hit hit;		/* of what live/ has counted itself */
	struct memtap_uregs uregs;
	struct memtap_stack_where where;
	struct userstack_trail trail;	/* of the user stack, */
	bool trailing;			/* where it is wanted */
	struct memtap_kernel_trail ktrail;	/* of the kernel stack */
	struct steps_values args;
	struct memtap_args_run run;
	struct memtap_args_kept kept;
	struct pair pair;
	char path[MEMTAP_PATH_BUF];
};

extern struct memtap_scratch __percpu *memtap_scratch;

/*
 * From here on this CPU records, or works on tables that recording works on:
 * interrupts are off, and an event that comes in between is refused and counted
 * as recursion.  Returns the CPU's scratch memory, or NULL if it is busy.
 */
static __always_inline struct memtap_scratch *memtap_enter(unsigned long *irqflags)
{
	struct memtap_scratch *sc;

	local_irq_save(*irqflags);
	sc = this_cpu_ptr(memtap_scratch);
	if (unlikely(sc->busy)) {
		local_irq_restore(*irqflags);
		return NULL;
	}
	sc->busy = 1;
	sc->took = 0;
	sc->trailing = false;
	barrier();
	return sc;
}

static __always_inline void memtap_leave(struct memtap_scratch *sc, unsigned long irqflags)
{
	barrier();
	sc->busy = 0;
	local_irq_restore(irqflags);
}

/*
 * This CPU's memory for a path; the caller has preemption off, and is no
 * interrupt.
 */
char *memtap_path_buf(void);

/*
 * Works that read mappings or purge tables take long; where they are bound to a CPU,
 * the kernel's own wait behind them (lru_add_drain_all(), with locks held).
 */
extern struct workqueue_struct *memtap_wq;

/*
 * Room for stacks of more than MEMTAP_DEFAULT_DEPTH, on each CPU, before a session wants
 * one: 0 or -ENOMEM; and when no handler knows the session any more.  Both sleep.
 */
int memtap_guard_deepen(void);
void memtap_guard_undeepen(void);
#define MEMTAP_DEEP_BYTES	(MEMTAP_MAX_DEPTH * sizeof(u64))	/* of each CPU */

int memtap_guard_init(void);
void memtap_guard_exit(void);

#endif
