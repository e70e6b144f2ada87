/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_HEAP_H
#define _MEMTAP_HEAP_H

#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/livetab.h"
#include "core/mapset.h"
#include "core/peaktab.h"
#include "core/recent.h"
#include "core/sampler.h"
#include "core/userstack.h"
#include "port/uapi.h"
#include "record/listen.h"
#include "record/recording.h"

#include "compat/task.h"

struct memtap_scratch;

/*
 * What is allocated and not freed: a session with MEMTAP_CFG_LIVE.
 *
 * A call of an allocator is a thread's: from its entry to its return it is kept
 * in the thread's slot, which only that thread touches.  Blocks go into a table
 * of (address space, address); address spaces have numbers that are never used again
 * in a session, while their slots are.
 *
 * Everything here is under memtap_enter() unless it says otherwise.
 */

/* A probe on an allocator's function: what MEMTAP_ATTACH said. */
struct memtap_heap_probe {
	struct memtap_session *session;
	u32 event;
	u8 op, size_arg, size2_arg, ptr_arg, result_arg;
	bool has_size, has_size2, has_ptr, free_stack, once;
	u16 size_at, size2_at, ptr_at;	/* the arguments in struct pt_regs */
	u32 moved;			/* the stack, since the entry */
};

/* What an event did, on one CPU; only that CPU writes it. */
struct memtap_heap_account {
	u64 allocs, bytes, kept, kept_bytes, failed;
	u64 frees, freed_bytes, unknown, null, inner;
};

struct memtap_heap_thread;

/*
 * What a session has on one CPU.  The hit that is being handled is here and not
 * on the stack, where it would be cleared each time.
 */
struct memtap_heap_cpu {
	struct memtap_session *s;
	struct memtap_heap *h;
	struct memtap_cpu_event *events;	/* the session's, on this CPU */

	/* who was here last, with its slot; or why there was none */
	struct memtap_heap_thread *th;
	struct task_struct *task;
	u64 start;
	u32 no_slot;			/* MEMTAP_LOST_* */

	/* a probe's hit, under memtap_enter() */
	const struct memtap_heap_probe *p;
	struct memtap_scratch *sc;
	struct pt_regs *regs;
	u64 sp, size, ptr;
	u32 event;		/* whose call it is: the mark's, if there is one */
	u32 ustack;
	bool marked;

	struct memtap_heap_account account[MEMTAP_MAX_LIVE_EVENTS];
};

#define CALL_SKIP	(1U << 0)	/* do not keep what it hands out: sampling */
#define CALL_FILTER	(1U << 1)	/* its size is filtered */
#define CALL_OLD	(1U << 2)	/* it has taken back @old */
#define CALL_UNKNOWN	(1U << 3)	/* or would have, but did not know it */
#define CALL_MARKED	(1U << 4)	/* the mark's own */
#define CALL_NO_ROOM	(1U << 5)	/* @old lives, and is not known any more */
#define CALL_DRAIN	(1U << 7)	/* only what it has taken back is kept, as it was */
#define CALL_GIVES	(1U << 6)	/* hands out nothing: a call of MEMTAP_HEAP_GIVE */

/*
 * In the flags of a block, with MEMTAP_CFG_PEAK: its task is the slot of its stack, which has the
 * task.  The bits above it tell the thread.
 */
#define LIVE_STACK	(1U << 7)

/* Functions that one free jumps to, one after the other: delete[], delete, free. */
#define HEAP_CHAIN	6

/*
 * The outermost call that a thread is in, and who called it.
 *
 * @sp: where its return address is, 0: in none.  @mark: that of a function which
 * calls another one to do it (operator new).
 */
struct memtap_heap_thread {
	struct task_struct *task;	/* atomic; NULL: free, never had; ~0: was */
	u64 start;			/* of the task */
	struct mm_struct *mm;		/* whose space this is, or would be; only compared */
	u32 exec;
	u32 space, task_id, task_space;

	const struct memtap_heap_probe *probe;
	u64 sp, size, via;
	struct live old;
	u32 ustack;
	u16 event, flags;		/* CALL_* */

	u64 mark_sp, mark_ra, mark_ptr;
	u64 mark_size;			/* what was asked for, if that was told */
	u64 mark_inner;			/* who called what was inside */
	u32 mark_ustack;		/* taken there, or 0 */
	u64 last_ptr, last_sp, last_ra;	/* of the last free: what else it calls */
	const struct memtap_heap_probe *last_probe;	/* if it may well be repeated */
	const struct memtap_heap_probe *chain[HEAP_CHAIN];	/* that free's, and what it
								 * went on with */
	u32 nr_chain, frees;		/* outermost ones, up to 2 */
	u16 mark_event;
	u8 mark_used, mark_frees;
	u8 mark_sized, mark_aligned;
	u8 begun_again;			/* the chain's free, at its beginning */

	/* mremap() under way: what it is to move; munmap(): where it took something away */
	u64 map_start;
	u64 map_own, map_inner;		/* munmap(): bytes of that, the program's, allocators' */
	u32 map_birth, map_ustack;

	struct sampler_state sampler;

	/* MEMTAP_CFG_PEAK: */
	struct peak_owner owner;	/* of its blocks */
	u64 given;			/* the last block it was given */
	u16 tag;			/* in the flags of its blocks */
};

#define HEAP_THREAD_GONE	((struct task_struct *)~0UL)

/* Slots of threads: each table twice as large as the last one, made as they fill up. */
#define HEAP_THREAD_TABLES	8

struct memtap_heap_threads {
	struct memtap_heap_thread *at;
	u32 nr;				/* a power of two */
};

/* An address space: as the record says. */
struct memtap_heap_space {
	struct mm_struct *mm;		/* pinned while it lives, or NULL */
	u32 id;				/* its number, of which the low bits are the slot's */
	u32 head, next;			/* its bucket; the next slot there */
	u32 flags;			/* MEMTAP_SPACE_* */
	u32 purge;			/* HEAP_PURGE_* */
	u32 task;
	pid_t pid;
	u64 begin_ns, end_ns;
	u64 heap_then, heap_now, vm_then, vm_now, rss_then, rss_now;
	u64 purged, purged_bytes;
	atomic64_t unknown, replaced;
	struct peak_level peak;		/* under the lock of the table of peaks */
	s64 writable[2];	/* of live mappings: the program's, its allocators' */
	u64 earlier_came, earlier_gone;	/* of those from before, by allocators */
	/* summed up while blocks are read */
	u64 blocks, bytes, maps, maps_bytes, inner_maps, inner_bytes;
};

#define HEAP_PURGE_WANTED	1	/* its blocks are to go, */
#define HEAP_PURGE_DONE		2	/* have gone, */
#define HEAP_PURGE_FREE		3	/* and nobody looks at the slot any more */

#define HEAP_SPACE_HEADS	256

struct memtap_heap_event {
	u32 op, family, probes;
};

struct memtap_heap_mismatch {
	u32 kind, event, task, alloc_event, stack, alloc_stack, free_stack;
	u64 addr, size, count, ns;
};

#define HEAP_MISMATCHES		256

struct memtap_heap {
	struct memtap_session *session;
	struct livetab table;
	struct recents recents;
	struct sampler sampler;
	bool sampling;
	bool filtering;			/* by size */
	bool renamed;			/* a task may pass the filter later, or no more */
	bool remembering;		/* what was freed, and by whom */
	bool exact;			/* all that happened is known: no losses */
	struct memtap_heap_event events[MEMTAP_MAX_LIVE_EVENTS];
	struct memtap_heap_cpu **cpus;

	struct memtap_heap_threads threads[HEAP_THREAD_TABLES];
	u32 nr_tables;			/* of threads */
	u32 nr_threads, used_threads;
	u64 room, grown;		/* bytes that tables may grow by, and have */
	bool want_threads;		/* another table of them */

	raw_spinlock_t lock;		/* spaces, mappings, mismatches */
	struct memtap_heap_space *spaces;	/* slots from 1 */
	u32 nr_spaces, used_spaces;	/* slots: a power of two; that were ever used */
	u32 free_spaces, next_space;	/* of used ones those that are free; where to look */
	u32 done_spaces;		/* to be free after a grace period: the work's */
	u32 dead;			/* that exited, and whose blocks are kept; about */
	bool want_room;			/* they are to make room for the living */
	u32 heads[HEAP_SPACE_HEADS];
	u64 spaces_lost;
	struct mapset maps;
	struct memtap_heap_mismatch *mismatches;
	u32 nr_mismatches;
	u64 mismatches_lost;

	struct peaktab *peaks;		/* MEMTAP_CFG_PEAK, from START on; or NULL */
	u32 next_tag;			/* of a thread */

	u64 seed;

	struct irq_work kick;
	struct work_struct work;
};

#define HEAP_MAX_PROBES		1024

static inline bool memtap_heap_returns(u32 op)
{
	return op == MEMTAP_HEAP_ALLOC || op == MEMTAP_HEAP_REALLOC ||
	       op == MEMTAP_HEAP_GIVE;
}

static inline bool memtap_heap_frees(u32 op)
{
	return op == MEMTAP_HEAP_FREE || op == MEMTAP_HEAP_GIVE;
}

/* The slot of that number; it may be another one's by now where nothing holds it. */
static inline struct memtap_heap_space *memtap_heap_space_of(const struct memtap_heap *h,
							     u32 space)
{
	return &h->spaces[space & (h->nr_spaces - 1)];
}

/* tables.c; may sleep: bytes of all; made at START, emptied to be made again */
u64 memtap_heap_layout(u64 bytes);
int memtap_heap_init(struct memtap_session *s);
void memtap_heap_empty(struct memtap_session *s);
/* Another table of threads, if there is room for one. */
void memtap_heap_more_threads(struct memtap_heap *h);
/* The same for the session, by so many bytes at most. */
void memtap_heap_may_grow(struct memtap_session *s, u64 bytes);
u64 memtap_heap_grown(const struct memtap_session *s);

/* live.c: life; may sleep.  At CONFIGURE, and again: */
int memtap_heap_new(struct memtap_session *s, const struct memtap_config *c);
/* The session begins: what is there already is known from now on. */
void memtap_heap_begin(struct memtap_session *s);
/* After the grace period of STOP. */
void memtap_heap_stop(struct memtap_session *s);
void memtap_heap_free(struct memtap_session *s);
/* Blocks that could be had, and how many at most were. */
void memtap_heap_memory(struct memtap_heap *h, struct memtap_rec_memory *r);
void memtap_heap_sum(struct memtap_heap *h, u32 event, struct memtap_heap_account *sum);

/*
 * probe.c: what ATTACH asked for; the session's lock is held.  _check() says
 * whether it makes sense, _probe() keeps it.
 */
void memtap_heap_probe(struct memtap_heap_probe *p, struct memtap_session *s,
		       const struct memtap_attach *a);
int memtap_heap_check(const struct memtap_session *s, const struct memtap_attach *a);
/* What the event will be, MEMTAP_HEAP_* and FAMILY_*; @op 0: nothing of ours. */
void memtap_heap_event(struct memtap_heap *h, u32 event, u32 op, u32 family);
/* A probe was attached while the session runs. */
void memtap_heap_late(struct memtap_session *s);

/* space.c; any context */
void memtap_heap_forked(struct memtap_session *s, struct task_struct *parent,
			struct task_struct *child);
void memtap_heap_execed(struct memtap_session *s, struct task_struct *task);
void memtap_heap_gone(struct memtap_session *s, struct mm_struct *mm);
void memtap_heap_measure(struct memtap_heap *h);
/* The work: tables grow, and what is gone makes room. */
void memtap_heap_work(struct work_struct *work);
void memtap_heap_purge(struct memtap_heap *h);
void memtap_heap_kick(struct irq_work *kick);
/* The number of @mm, making one if there is none: 0: no room.  @flags: SPACE_* */
u32 memtap_heap_space(struct memtap_heap *h, struct mm_struct *mm, pid_t pid,
		      u32 flags, bool add);

/* Is current one of those whose memory the session follows? */
bool memtap_heap_passes(const struct memtap_session *s);

/* thread.c: current's slot; NULL where there is no room, see c->no_slot */
struct memtap_heap_thread *memtap_heap_thread_slow(struct memtap_session *s,
						   struct memtap_heap_cpu *c);
/* The same, where it has one. */
struct memtap_heap_thread *memtap_heap_thread_find(struct memtap_heap_cpu *c);
void memtap_heap_thread_gone(struct memtap_session *s, struct task_struct *task);
/* Is it in an allocator? */
bool memtap_heap_inside(const struct memtap_heap_thread *th, u64 sp);
bool memtap_heap_marked(const struct memtap_heap_thread *th, u64 sp);
/* It was left without a return. */
void memtap_heap_left(struct memtap_session *s, struct memtap_heap_thread *th);
/* No probe is left: whatever returns from now on, nobody sees it. */
void memtap_heap_settle(struct memtap_heap *h);

/* It was here last, and is who it was; where it is now there was room. */
static inline bool memtap_heap_thread_same(const struct memtap_heap_cpu *c)
{
	return c->task == current && c->start == memtap_task_start_ns(current) &&
	       c->th->mm == current->mm && c->th->space &&
	       c->th->exec == memtap_task_exec_id(current);
}

static inline struct memtap_heap_thread *memtap_heap_thread(struct memtap_session *s,
							    struct memtap_heap_cpu *c)
{
	return likely(memtap_heap_thread_same(c)) ? c->th :
						     memtap_heap_thread_slow(s, c);
}

/* Who returns has been here: or was not counted, and is not now. */
static inline struct memtap_heap_thread *memtap_heap_thread_known(struct memtap_heap_cpu *c)
{
	return likely(memtap_heap_thread_same(c)) ? c->th : memtap_heap_thread_find(c);
}

/* call.c: handlers of probes: process context, not under memtap_enter() */
/* false: the session does not want this process */
bool memtap_heap_entry(const struct memtap_heap_probe *p, struct pt_regs *regs);
void memtap_heap_return(const struct memtap_heap_probe *p, struct pt_regs *regs);

/* Has the last call that frees gone on in another function, to free the same? */
bool memtap_heap_again(struct memtap_heap_thread *th,
		       const struct memtap_heap_probe *p, u64 sp, u64 ptr);
/* A word of current's own size; false: it cannot be read. */
bool memtap_heap_word(u64 addr, u64 *v);

/* check.c: what cannot be right */
/* All that lives and was handed out since the beginning is in the table. */
bool memtap_heap_all_known(const struct memtap_heap *h);
/* May the free of @addr, which is not live, be a mistake? */
bool memtap_heap_suspect(struct memtap_heap *h, const struct memtap_heap_thread *th,
			 u64 addr);
/* It is: makes a record.  False where it is none, or there is no room. */
bool memtap_heap_unknown(struct memtap_session *s, const struct memtap_heap_thread *th,
			 u32 event, u64 addr, u32 stack);
/* @block is taken back by another kind of function. */
bool memtap_heap_family(struct memtap_session *s, const struct memtap_heap_thread *th,
			u32 event, const struct live *block, u32 stack);
bool memtap_heap_same_family(const struct memtap_heap *h, u32 event, u32 alloc_event);

/* peak.c: bytes of its table; made at START, after the spaces */
u64 memtap_heap_peak_bytes(const struct memtap_session *s);
int memtap_heap_peak_init(struct memtap_session *s, u32 seed);
void memtap_heap_peak_free(struct memtap_heap *h);
u16 memtap_heap_peak_tag(struct memtap_heap *h);
/* The thread is in a space, or in another one. */
void memtap_heap_peak_enter(struct memtap_heap *h, struct memtap_heap_thread *th);
/* The slot of a space is about to be another one's. */
bool memtap_heap_peak_forget(struct memtap_heap *h, struct memtap_heap_space *sp);
/* A block of the table of blocks: whose it is. */
u32 memtap_heap_task_of(const struct memtap_heap *h, const struct live *b);
void memtap_heap_peak_space(struct memtap_session *s, const struct memtap_heap_space *sp,
			    struct memtap_rec_space *r);

/*
 * sums.c; may sleep: live blocks of processes that run.  @nr: room for @rows, and how many there
 * are.  The session's lock is held.  -ENOMEM.
 */
int memtap_heap_sums(struct memtap_session *s, struct memtap_other_row *rows, u32 *nr);

/* map.c: mappings */
enum memtap_map_op { MEMTAP_MAP_ADD, MEMTAP_MAP_MOVE, MEMTAP_MAP_REMOVE,
		     MEMTAP_MAP_PROTECT };

/**
 * struct memtap_map_call - a call that changes mappings
 * @start, @end:	ADD, MOVE: what is there now; REMOVE: what is to go
 * @from, @from_end:	MOVE: where it was
 * @anonymous:	ADD: of no file
 * @keep:	MOVE: what was there stays mapped (MREMAP_DONTUNMAP)
 * @came, @gone: at the return: bytes that may be written to, and could not be before;
 *		and such that are gone
 */
struct memtap_map_call {
	enum memtap_map_op op;
	u64 start, end, from, from_end;
	bool anonymous, keep;
	s64 came, gone;
};

/*
 * For the sessions that follow mappings.  At the call's entry, for REMOVE and MOVE:
 * what is unmapped may be another's by the time of the return.
 */
void memtap_heap_map_entry(const struct memtap_source *src, const struct memtap_map_call *m);
void memtap_heap_map_return(const struct memtap_source *src, const struct memtap_map_call *m,
			    bool failed);

/* Births are told in ticks since the session began. */
static inline u32 memtap_heap_now(const struct memtap_heap *h)
{
	return memtap_alloc_time_now(h->session);
}

#endif
