/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_RECORDING_H
#define _MEMTAP_RECORDING_H

#include <linux/bitmap.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core/counters.h"
#include "core/filter.h"
#include "core/marks.h"
#include "core/pairtab.h"
#include "core/stackstore.h"
#include "core/touchtab.h"
#include "port/uapi.h"
#include "record/stack_memo.h"
#include "record/tasks.h"

#include "compat/task.h"

struct memtap_builtin;
struct memtap_heap;
struct memtap_hook;
struct memtap_objects_table;
struct memtap_ring;
struct memtap_shared;
struct memtap_spaces;
struct memtap_stream;
struct steps;

#define MEMTAP_EVENT_HOOKS	4	/* ways to hook one event, at most */
#define MEMTAP_MAX_BUILTINS	64	/* a mask has them */

/*
 * Events that each session has room for.  More of them cost what they take, when they are
 * attached.
 */
#define MEMTAP_USUAL_EVENTS	MEMTAP_MAX_LIVE_EVENTS

/* A session's account of one event on one CPU; only that CPU writes it. */
struct memtap_account {
	u64 seen;
	u64 counted;
	u64 filtered;
	u64 own;			/* of them: by MEMTAP_CFG_NOT_SELF alone */
	u64 lost[MEMTAP_NR_LOST];
	u64 part[MEMTAP_NR_PART];
};

/* One event of a session on one CPU. */
struct memtap_cpu_event {
	struct memtap_account account;
	u32 slot;			/* where it was counted last, or 0 */
	struct pair_hint hint;		/* where its last begin is */
};

/*
 * What a session has on one CPU.  Written with interrupts off, under
 * memtap_enter(); read by anybody.
 */
struct memtap_session_cpu {
	struct counters counters;
	/* who was here last: saves the search for its task */
	struct task_struct *task;
	u64 task_start;
	u32 task_exec;
	u32 task_id, task_space;
	bool task_passes;		/* the filter, as long as it is the same */
	struct memtap_stack_memo memo;
	struct touchtab_hint touch_hint;	/* where the last page was put */
	struct memtap_stack_tails *tails;	/* where stacks are walked by rows, or NULL */
	struct memtap_cpu_event events[];	/* @room_events; behind them what these point to */
};

/* Is it current again that was here last? */
static __always_inline bool memtap_same_task(const struct memtap_session_cpu *c)
{
	return c->task == current && c->task_start == memtap_task_start_ns(current) &&
	       c->task_exec == memtap_task_exec_id(current);
}

/* One event of a session: a built-in one, or what ATTACH made. */
struct memtap_session_event {
	atomic64_t nmi, recursion;	/* refused, see record/record.c */
	bool heap;			/* of an allocator: its probes are the heap's */
	bool pair;			/* hooks[0] is its begin, hooks[1] its end */
	u32 flags;			/* MEMTAP_ATTACH_* */
	u32 mark;			/* with MARK: 1 + which; 0: none yet */
	u32 way;
	u32 unit;			/* of an ATTACH's own value: MEMTAP_UNIT_* */
	char name[MEMTAP_NAME_LEN];
	struct steps *steps;		/* or NULL */

	/* session/ alone, as of hooks/ */
	const struct memtap_builtin *builtin;	/* or NULL */
	u32 nr_hooks;
	struct memtap_hook *hooks[MEMTAP_EVENT_HOOKS];
	u64 missed_base[MEMTAP_EVENT_HOOKS];	/* at START */
	u64 missed;			/* at STOP */
	u32 nr_kept;
	struct memtap_hook_state kept[MEMTAP_EVENT_HOOKS];	/* for the reports */
};

/* Threads that wait at a probe for the tool, see live/hold.h. */
struct memtap_holds {
	spinlock_t lock;		/* what is below */
	struct list_head waiting;	/* the oldest first */
	u32 nr;
	u32 last_id;
	bool open;			/* while the session runs */
};

enum memtap_state {
	MEMTAP_NEW,
	MEMTAP_CONFIGURED,
	MEMTAP_RUNNING,
	MEMTAP_STOPPED,
};

/**
 * struct memtap_session - one open file of /dev/memtap, or the flight recorder
 *
 * @lock:	serializes the calls on this session; taken before the hooks' lock
 * @running:	the hot path counts; cleared by STOP, followed by a grace period
 *
 * The tables are made by START and freed with the session.  The hot path finds
 * a session through the listeners of a hook, under RCU.
 *
 * The rooms above record/ know more of it than this one, and do with it what is
 * theirs: @heap is made and used by live/, @holds and
 * @deaths by live/hold.c and death.c, @probes, @stream
 * and all about reading by session/.
 */
struct memtap_session {
	struct list_head node;		/* all sessions, under sessions_lock */
	struct list_head running_node;	/* running ones, RCU */
	struct mutex lock;
	enum memtap_state state;
	u32 running;
	enum memtap_right right;	/* to use it: the highest that a call on it needed */
	u32 nr;				/* for people */
	pid_t opener;
	char opener_comm[TASK_COMM_LEN];

	u32 flags;			/* MEMTAP_CFG_* */
	u32 depth;
	bool deep;			/* memtap_guard_deepen() was called for it */
	u32 addr_shift;
	u64 builtin_events;
	u64 mem_stacks, mem_counters, mem_tasks, mem_unwind, mem_live, mem_total;
	u64 sample_bytes;
	u32 sample_rate;
	u64 start_ns, stop_ns, stop_real_ns;

	struct filter *filter;
	struct filter *mm_filter;	/* for processes, see wants_mm() */
	u32 filter_set;			/* there is something to filter by task, */
	u32 filter_varies;		/* and what that says of one may change */
	struct pidset mm_pids;		/* processes whose memory gets uprobes */

	u32 nr_events;
	u32 room_events;		/* for so many START makes room on each CPU */
	struct memtap_session_event *events[MEMTAP_MAX_EVENTS];	/* made when they come, and
					 * kept until the session is freed */

	struct stackstore stacks;
	struct counter_pool pool;
	struct memtap_session_cpu **cpus;	/* nr_cpu_ids pointers */
	struct pairtab pairs;
	struct pairtab arg_pairs;	/* of returns whose events have steps */
	struct memtap_ring **rings;	/* MEMTAP_CFG_RING, TRACE: nr_cpu_ids pointers */
	struct irq_work ring_kick;	/* wakes who waits for them */
	s64 clock_offset;		/* of their times, as it was last */
	struct steps *builtin_steps[MEMTAP_MAX_BUILTINS];	/* until START */
	struct memtap_tasks tasks;
	bool follows_maps;		/* the hooks on mappings are on, for this session */
	struct memtap_spaces *spaces;	/* MEMTAP_CFG_ROWS, from its first table or
					 * START until it is freed; or NULL */
	struct memtap_shared *table;	/* while TABLE is under way, */
	struct memtap_shared **table_place;	/* and where it belongs */
	struct list_head probes;	/* of allocators: see session/probes.c */
	u32 nr_probes;
	struct memtap_heap *heap;	/* MEMTAP_CFG_LIVE, from CONFIGURE on; or NULL */
	struct memtap_objects_table *objects;	/* MEMTAP_CFG_OBJECTS, as heap; or NULL */
	struct touchtab *touched;	/* MEMTAP_CFG_TOUCHED, from START on; or NULL */
	atomic64_t moved, unmoved;	/* pages, by mremap() */
	struct list_head gone;		/* names of modules' code: session/gone.c */
	u32 nr_gone;
	u64 gone_lost;
	struct marks marks;		/* who sets one holds .marks_lock */
	raw_spinlock_t marks_lock;
	bool recorder;			/* the module's own: nobody asks it for marks */
	struct memtap_holds holds;
	struct memtap_deaths *deaths;	/* MEMTAP_CFG_DEATHS, while it runs; or NULL */
	atomic64_t children_lost;
	u64 cpus_came;			/* before START, and after STOP since then */

	struct memtap_stream *stream;
	wait_queue_head_t wait;
	struct delayed_work tick;
	u64 read_counted;		/* at the last END that was read */
	u64 read_lost;
	u64 oom_read;			/* number of the record that MEMTAP_OOM gave last */
	/* events of which a notice was sent: session/notices.h */
	DECLARE_BITMAP(told_full, MEMTAP_MAX_EVENTS);
};

/* Births are told in ticks since the session began, and marks. */
static inline u32 memtap_alloc_time_now(const struct memtap_session *s)
{
	return marks_time(&s->marks, (u32)(jiffies - s->marks.start));
}

#endif
