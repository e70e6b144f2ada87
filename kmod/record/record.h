/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_RECORD_H
#define _MEMTAP_RECORD_H

#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "core/rowwalk.h"
#include "core/pairtab.h"
#include "compat/user_regs.h"
#include "port/uapi.h"
#include "record/stack_memo.h"

struct memtap_account;
struct memtap_hook;
struct memtap_map_call;
struct memtap_hit;
struct memtap_scratch;
struct memtap_session;
struct memtap_session_cpu;
struct pt_regs;
struct task_struct;

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
	bool user, same;		/* current is who was here last */
};

/* What a CPU needs while it records one event. */
struct memtap_scratch {
	u32 busy;
	u32 took;			/* which stacks were taken already */
	u32 knr, kflags;
	u32 unr, uflags;
	u64 ufault;			/* where it could not be read */
	bool patient;			/* then it will be walked again: keep nothing */
	const struct memtap_session *urows;	/* whose rows, or NULL: by fp */
	u64 kips[MEMTAP_MAX_DEPTH];
	u64 uips[MEMTAP_MAX_DEPTH];
	unsigned long raw[MEMTAP_MAX_DEPTH + MEMTAP_OWN_FRAMES];
	u8 chunk[USERSTACK_CHUNK] __aligned(8);
	struct rowwalk walk;		/* here, because on the stack it is cleared */
	struct rowwalk_memo memo[ROWWALK_MEMO];
	/* these, because on the stack they would be cleared */
	struct memtap_visit visit;
	struct memtap_uregs uregs;
	struct memtap_stack_where where;
	struct userstack_trail trail;	/* of the user stack, */
	bool trailing;			/* where it is wanted */
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

#define MEMTAP_HIT_USER		(1U << 0)	/* caused in user mode */
#define MEMTAP_HIT_ENTRY	(1U << 1)	/* user regs at a function's entry */
#define MEMTAP_HIT_SYSCALL	(1U << 2)	/* the kernel stack is @addr_sym only */
#define MEMTAP_HIT_VALUE	(1U << 3)	/* @value means something */
#define MEMTAP_HIT_SLEEP	(1U << 4)	/* the hook may sleep: a stack that was
						 * swapped out is brought in */
#define MEMTAP_HIT_TASK		(1U << 5)	/* current does it itself, its address
						 * space is the one that is mapped */

/**
 * struct memtap_hit - what a hook knows of one event
 * @regs:	where it happened, user or kernel mode; NULL: in the kernel, here
 * @value:	bytes or whatever the event's unit is
 * @addr:	address that the event is about, or 0
 * @sym:	MEMTAP_HIT_SYSCALL: address of the call's function
 * @flags:	MEMTAP_HIT_*
 * @key:	MEMTAP_KEY_FAILED, or 0
 * @map:	how mappings change, for sessions that follow them; or NULL
 * @frame:	where @regs is NULL: __builtin_frame_address(0) of the handler that the
 *		kernel called, so that its stack need not be searched for; or NULL
 */
struct memtap_hit {
	struct pt_regs *regs;
	s64 value;
	u64 addr;
	u64 sym;
	u32 flags;
	u32 key;
	const struct memtap_map_call *map;
	const unsigned long *frame;
};

/* Count one event in all sessions that listen to @h.  Any context. */
void memtap_hit(struct memtap_hook *h, const struct memtap_hit *hit);

/*
 * The same in two steps, for probes on returns: the entry takes the stacks, the
 * return counts.  @pair: what entry and return agree on.
 */
void memtap_hit_entry(struct memtap_hook *h, const struct memtap_hit *hit,
		      const struct pair_key *pair);
void memtap_hit_return(struct memtap_hook *h, const struct pair_key *pair);

/* A call that will change mappings begins: for the sessions that follow them. */
void memtap_map_entry(struct memtap_hook *h, const struct memtap_map_call *m);

/*
 * The interned user stack of current, MEMTAP_STACK_*; what is not whole of it is
 * accounted in @acc.  @entry: as of memtap_unwind_user(); @space: of its task.
 * Under memtap_enter().
 */
u32 memtap_record_user_stack(struct memtap_session *s, struct memtap_account *acc,
			     struct memtap_scratch *sc, struct pt_regs *regs,
			     bool entry, u32 space);

/* Accounts what is not whole of a stack with these MEMTAP_STACK_*. */
#define MEMTAP_STACK_CUTS	(MEMTAP_STACK_DEPTH | MEMTAP_STACK_FAULT |	\
				 MEMTAP_STACK_CHAIN | MEMTAP_STACK_TRAMPOLINE |	\
				 MEMTAP_STACK_NOMAP | MEMTAP_STACK_NOTABLE |	\
				 MEMTAP_STACK_NOROW)
void memtap_note_cut(struct memtap_account *acc, u32 flags);

static inline void memtap_note_partial(struct memtap_account *acc, u32 flags)
{
	if (unlikely(flags & MEMTAP_STACK_CUTS))
		memtap_note_cut(acc, flags);
}

/* Does the filter let a task through?  Under rcu_read_lock(). */
struct filter;
bool memtap_filter_task(const struct filter *f, struct task_struct *task);
/* Is current kept out by MEMTAP_CFG_NOT_SELF alone?  The same. */
bool memtap_filter_own(const struct filter *f);

int memtap_record_init(void);
void memtap_record_exit(void);

/*
 * unwind_kernel.c: the kernel stack of here, or of @hit's registers (kernel mode),
 * without our own frames and the probe's.  Returns the number of frames,
 * MEMTAP_STACK_* in *flags.  Under memtap_enter().
 */
u32 memtap_unwind_kernel(struct memtap_scratch *sc, const struct memtap_hit *hit,
			 u32 max, u32 *flags);

/*
 * unwind_user.c: the user stack of current.  @regs: its registers if they are
 * user mode ones, else (or NULL) those it entered the kernel with are taken.
 * @entry: they are at a function's first instruction.  @rows: the session whose
 * tables are used, or NULL: frame pointers.  Returns the number of frames,
 * MEMTAP_STACK_* in *flags.  Under memtap_enter().
 */
u32 memtap_unwind_user(struct memtap_scratch *sc, struct pt_regs *regs,
		       bool entry, struct memtap_session *rows, u32 max,
		       u32 *flags);

#endif
