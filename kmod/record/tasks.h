/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_TASKS_H
#define _MEMTAP_TASKS_H

#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/codemap.h"
#include "port/uapi.h"

/* Room for a path in a page: a record has that much, whatever a page is. */
#define MEMTAP_PATH_PAGE	(PAGE_SIZE < PATH_MAX ? (u32)PAGE_SIZE : PATH_MAX)

struct file;
struct inode;
struct inode;
struct memtap_session;
struct memtap_session_cpu;
struct memtap_shared;
struct vm_area_struct;

/*
 * The tasks that a session met, with their executable mappings, so that stacks
 * can be named after the tasks are gone.
 *
 * A task is added by the hot path when its first event is counted; a work then
 * reads its mappings, again when new stacks of it came up (a dlopen), and the
 * hook on exit_mmap() once more when its address space goes.  Append-only, in
 * memory that the session's budget paid for; what does not fit is counted.
 *
 * @lock: adding, and everything the chains lead to.  Raw, interrupts off, taken
 * under memtap_enter() only, so that an event inside of it is refused as
 * recursion instead of dead-locking.  Readers follow the chains without it.
 */
struct memtap_task {
	u32 hash;
	u32 next;			/* same hash; 0 none */
	u32 next_mm;			/* same bucket of mms */
	u32 flags;			/* MEMTAP_TASK_* */
	u32 space;			/* id of the entry of its process */
	u32 dirty;			/* new stacks since its maps were read */
	u32 uid;
	unsigned long looked;		/* jiffies when its maps were read, */
	unsigned long begun;		/* and when it was met */
	pid_t pid, tid, ns_pid, ns_tid, ppid;
	u32 exec;
	u64 start_ns;
	u64 cgroup1, cgroup2;
	struct mm_struct *mm;		/* pinned while it lives, of a process */
	struct codemap_space code;	/* its mappings, of a process */
	char comm[TASK_COMM_LEN];
};

/* A file whose build-id, or path, has yet to be read, where reading may sleep. */
struct memtap_unread {
	struct file *file;
	u32 at;				/* of its record */
};

#define MEMTAP_TASK_HEADS	1024
#define MEMTAP_MAX_UNREAD	64
#define MEMTAP_FILES_FIRST	MEMTAP_FILE_FIRST

struct memtap_tasks {
	raw_spinlock_t lock;
	u32 heads[MEMTAP_TASK_HEADS];
	u32 mm_heads[MEMTAP_TASK_HEADS];
	u32 file_heads[MEMTAP_TASK_HEADS];
	struct memtap_task *slots;	/* id = index; from MEMTAP_TASK_FIRST */
	u32 nr, used;
	struct codemaps maps;
	u8 *files;			/* struct memtap_kept_file, packed; from 8 */
	u32 files_size, files_used;
	u32 data_used;			/* bytes: of those that events are about */
	u64 files_lost, spaces_missed;
	struct memtap_unread unread[MEMTAP_MAX_UNREAD];
	u32 nr_unread;
	u32 nr_wanted;			/* files that were met without a table */
	u32 asked_wanted;		/* of them, when the tool last asked */
	struct irq_work kick;
	struct delayed_work work;
};

/* A process that maps a file, and where: the last one that did. */
struct memtap_mapper {
	pid_t pid;
	u64 start, end;
};

/* A file as it is kept: in the arena, followed by its path. */
struct memtap_kept_file {
	u32 next;			/* same hash */
	u32 len;			/* of this entry, multiple of 8 */
	u32 dev_major, dev_minor;
	u64 inode, inode_gen;
	struct memtap_shared *shared;	/* its rows, see tables.h; set once */
	atomic64_t cut;			/* stacks that ended for want of them */
	struct memtap_mapper mapper;
	u32 mapped;			/* by a process, not only known to the tool */
	u32 data;			/* an event is about it: memtap_files_of_inode() */
	u32 build_id_len;
	u32 path_len;			/* without the 0 */
	u32 nameless;			/* its path has yet to be asked for, by the work */
	u8 build_id[24];
	char path[];
};

/* Sizes for a budget of @bytes, and what they take. */
u64 memtap_tasks_layout(u64 bytes, u32 *nr, u32 *nr_maps, u32 *files_size);

int memtap_tasks_init(struct memtap_session *s, u64 bytes);
/* Stops the work and reads nothing more; the kept records stay. */
void memtap_tasks_stop(struct memtap_session *s);
void memtap_tasks_free(struct memtap_session *s);

/*
 * The id of current for this session, adding it if it is new: of its thread,
 * or of its process.  *space: the id of its process, 0 if it has no memory of
 * its own.  Under memtap_enter().
 */
u32 memtap_tasks_current(struct memtap_session *s, struct memtap_session_cpu *c,
			 u32 *space);

/* A stack of this process is new: its mappings may be, too. */
void memtap_tasks_dirty(struct memtap_session *s, u32 space);

/*
 * Were its maps read when it had just begun?  More of it may be mapped since, and its stacks
 * need not be new ones: a program that was executed before has had the same.
 */
static inline bool memtap_maps_begin(const struct memtap_tasks *t, u32 space)
{
	const struct memtap_task *e = &t->slots[space];

	return time_before(READ_ONCE(e->looked), e->begun + HZ);
}

/* An event of this process was in code that no mapping is known of. */
void memtap_maps_missed(struct memtap_session *s, u32 space);

/* What an address of a stack of that era belongs to: a kept mapping of @space, or NULL. */
const struct codemap *memtap_tasks_map(const struct memtap_tasks *t, u32 space, u32 era,
				       u64 addr);

static inline u32 memtap_mm_bucket(const struct mm_struct *mm)
{
	return hash_ptr((void *)mm, ilog2(MEMTAP_TASK_HEADS));
}

static inline const struct memtap_kept_file *
memtap_tasks_file(const struct memtap_tasks *t, u32 at)
{
	return (const struct memtap_kept_file *)(t->files + at);
}

/*
 * files.c: the entry of a file, added if it is new; @buf is for its path, NULL: the work
 * asks for that.  0 if there is no room.  @mapper: NULL if nobody maps it.  Any context but
 * NMIs.
 */
u32 memtap_files_keep(struct memtap_tasks *t, struct file *file,
		      const struct inode *inode, const struct memtap_mapper *mapper,
		      char *buf, u32 size);
u32 memtap_files_of_vma(struct memtap_tasks *t, const struct vm_area_struct *vma,
			pid_t pid, char *buf, u32 size);
/* The work got the path of a nameless one. */
void memtap_files_name(struct memtap_tasks *t, struct memtap_kept_file *f, const char *path);

/*
 * The same for a file that an event is about, which nobody may have mapped.  Its path
 * begins at the root of its file system, without a slash.  MEMTAP_FILE_LOST where there
 * is no room.  Under memtap_enter().
 */
u32 memtap_files_of_inode(struct memtap_tasks *t, const struct inode *inode);
/* The same of one that was seen, and may be gone; without an inode: MEMTAP_FILE_NONE. */
struct memtap_file_key;
void memtap_file_key(struct memtap_file_key *k, const struct inode *inode);
u32 memtap_files_of_key(struct memtap_tasks *t, const struct memtap_file_key *k);

/*
 * mmap_read_lock(), but not for ever: who holds it may wait for a server that does
 * not answer, and nobody may have to wait for him.  May sleep, for a second or so.
 */
bool memtap_mm_lock(struct mm_struct *mm);

/* maps.c: the work, once after memtap_tasks_init() */
void memtap_maps_init(struct memtap_tasks *t);

/*
 * What the hooks on mappings tell of the code of processes that are kept: it came, or is
 * about to go.  Atomic context; @buf is for a path, NULL where none may be taken now.
 */
void memtap_tasks_mapped(struct memtap_session *s, struct vm_area_struct *vma, char *buf,
			 u32 size);
void memtap_tasks_unmapped(struct memtap_session *s, struct vm_area_struct *vma, u64 start,
			   u64 end, char *buf, u32 size);

/* An address space goes, see hooks/task.c. */
void memtap_tasks_mm_gone(struct memtap_session *s, struct mm_struct *mm,
			  char *buf, u32 size);

#endif
