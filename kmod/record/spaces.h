/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_SPACES_H
#define _MEMTAP_SPACES_H

#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "core/rowwalk.h"
#include "port/uapi.h"

struct memtap_kept_file;
struct memtap_session;
struct memtap_shared;
struct vm_area_struct;

/*
 * Which code is where in the address spaces that a session unwinds by rows.
 *
 * Read when the session starts, and then followed: the kernel calls
 * uprobe_mmap() and uprobe_munmap() for each change of a file's mapping, under
 * the lock of the address space, on all kernels from 3.10 on; anonymous code
 * (a JIT's) has no such call, and is read when an event meets it.
 *
 * The ranges of a space are replaced as a whole and read under RCU.
 */
struct memtap_range {
	u64 start, end;
	u64 pos;			/* in the file, of start */
	struct memtap_kept_file *file;	/* NULL: anonymous */
};

struct memtap_ranges {
	struct rcu_head rcu;
	u64 id;				/* no other ranges ever have it */
	u32 nr;
	u32 bytes;			/* allocated, and so charged: with room for more than .nr */
	struct memtap_range at[];	/* ascending */
};

struct memtap_space {
	struct hlist_node node;
	struct mm_struct *mm;		/* pinned: nobody else gets its address */
	struct memtap_ranges __rcu *ranges;	/* or NULL */
	struct rcu_head rcu;
};

#define MEMTAP_SPACE_HEADS	1024

/*
 * What hooks take where they may not allocate, and the work refills: see
 * memtap_plain_spinlocks().  Nothing on other kernels.
 */
struct memtap_reserve {
	void *first;			/* each begins with the next one's address */
	u32 nr, full;
};

enum memtap_reserves {
	MEMTAP_RESERVE_RANGES,
	MEMTAP_RESERVE_MANY_RANGES,
	MEMTAP_RESERVE_SPACES,
	MEMTAP_NR_RESERVES,
};

/*
 * @lock: all changes.  Raw, interrupts off, under memtap_enter() only, as that
 * of struct memtap_tasks.
 */
struct memtap_spaces {
	raw_spinlock_t lock;
	struct hlist_head heads[MEMTAP_SPACE_HEADS];
	u64 size, used;			/* bytes: tables and spaces */
	u64 lost;			/* what there was no room for */
	u32 nr_tables;
	struct memtap_shared *vdso;	/* set once */
	struct memtap_reserve reserves[MEMTAP_NR_RESERVES];
	struct irq_work *kick;		/* of the work that refills them */
};

/* False on a real-time kernel: its spinlocks sleep, which hooks may not. */
static inline bool memtap_plain_spinlocks(void)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && !IS_ENABLED(CONFIG_PREEMPT_RT_FULL);
}

int memtap_spaces_init(struct memtap_session *s);
/* What hooks took of the reserves is there again.  May sleep. */
void memtap_spaces_refill(struct memtap_session *s);
/* After the grace period of STOP. */
void memtap_spaces_free(struct memtap_session *s);

/* Charge for a table: -EDQUOT where there is no room. */
int memtap_spaces_charge(struct memtap_session *s, u64 bytes);
void memtap_spaces_uncharge(struct memtap_session *s, u64 bytes);

/*
 * Calls @fn for the address space of each process there is that may pass the
 * filter; @page is a page to work with.  May sleep.
 */
typedef void (*memtap_mm_fn)(struct memtap_session *s, struct mm_struct *mm, pid_t pid,
			     char *page);
void memtap_for_each_mm(struct memtap_session *s, memtap_mm_fn fn);

/* Reads the processes that are there and pass the filter.  May sleep. */
void memtap_spaces_read_all(struct memtap_session *s);

/* Reads all of @mm, whose lock is held for reading.  May sleep. */
void memtap_spaces_read(struct memtap_session *s, struct mm_struct *mm, pid_t pid,
			char *buf, u32 size);

/*
 * What the hooks tell; atomic context.  @buf is for a path, NULL where none may
 * be taken.
 */
void memtap_spaces_mapped(struct memtap_session *s, struct vm_area_struct *vma,
			  char *buf, u32 size);
void memtap_spaces_unmapped(struct memtap_session *s, struct mm_struct *mm,
			    u64 start, u64 end);
void memtap_spaces_forked(struct memtap_session *s, struct mm_struct *parent,
			  struct mm_struct *child);
void memtap_spaces_gone(struct memtap_session *s, struct mm_struct *mm);

/* For a walk of current's stack, under rcu_read_lock(). */
struct memtap_code_finder {
	struct memtap_session *session;
	const struct memtap_ranges *ranges;
	const struct pt_regs *regs;	/* of the innermost frame */
};

void memtap_spaces_find(struct memtap_code_finder *f, struct memtap_session *s);
/* What tells the code that current has now from what it had: see struct memtap_ranges. */
u64 memtap_spaces_id(struct memtap_session *s);
u32 memtap_spaces_code(void *finder, u64 ip, struct rowwalk_code *code);

#endif
