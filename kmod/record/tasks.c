// SPDX-License-Identifier: GPL-2.0-only
/* Store the tasks of a session: threads and processes. */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "record/record.h"
#include "record/recording.h"
#include "record/tasks.h"

#include "compat/task.h"
#include "compat/valloc.h"

#define TASKS_CHAIN		4096
#define LOOK_AGAIN		(HZ / 10)	/* for a mapping that an event missed */

/* What is searched for: a thread, or the process itself (tid == pid). */
struct task_key {
	pid_t pid, tid;
	u32 exec;
	u64 start_ns;
};

u64 memtap_tasks_layout(u64 bytes, u32 *nr, u32 *nr_maps, u32 *files_size)
{
	/* a process has about 8 executable mappings, a file about 200 bytes */
	*nr = max_t(u64, div_u64(bytes, 4 * sizeof(struct memtap_task)), 64);
	*nr_maps = max_t(u64, div_u64(bytes, 4 * sizeof(struct codemap)), 128);
	*files_size = max_t(u64, bytes / 2, 16384) & ~7U;
	return *nr * sizeof(struct memtap_task) +
	       *nr_maps * sizeof(struct codemap) + *files_size;
}

static u32 task_hash(const struct task_key *k)
{
	u64 h = k->start_ns ^ ((u64)(u32)k->tid << 32 | k->exec);

	return hash_64(h + (u32)k->pid, 32);
}

static bool same_task(const struct memtap_task *e, u32 hash,
		      const struct task_key *k)
{
	return e->hash == hash && e->tid == k->tid && e->pid == k->pid &&
	       e->exec == k->exec && e->start_ns == k->start_ns;
}

static u32 find_task(const struct memtap_tasks *t, u32 hash,
		     const struct task_key *k)
{
	u32 id = smp_load_acquire(&t->heads[hash % MEMTAP_TASK_HEADS]);
	u32 steps = 0;

	while (id && steps++ < TASKS_CHAIN) {
		if (same_task(&t->slots[id], hash, k))
			return id;
		id = t->slots[id].next;
	}
	return 0;
}

static void describe(struct memtap_task *e, struct task_struct *task)
{
	struct pid_namespace *ns = task_active_pid_ns(task);
	struct task_struct *parent;
	u64 ids[FILTER_CGROUP_DEPTH];

	memcpy(e->comm, task->comm, sizeof(e->comm));
	e->comm[sizeof(e->comm) - 1] = 0;
	e->uid = from_kuid(&init_user_ns, task_uid(task));
	if (ns) {
		e->ns_pid = task_tgid_nr_ns(task, ns);
		e->ns_tid = task_pid_nr_ns(task, ns);
	}
	if (task->flags & PF_KTHREAD)
		e->flags |= MEMTAP_TASK_KTHREAD;
	if (memtap_task_compat(task))
		e->flags |= MEMTAP_TASK_COMPAT;
	rcu_read_lock();
	parent = rcu_dereference(task->real_parent);
	e->ppid = parent ? task_tgid_nr(parent) : 0;
	if (memtap_task_cgroups(task, 0, ids, 1))
		e->cgroup1 = ids[0];
	if (memtap_task_cgroups(task, 1, ids, 1))
		e->cgroup2 = ids[0];
	rcu_read_unlock();
}

/* Pin the address space, so that its pointer stays its name; see mm_gone(). */
static void describe_mm(struct memtap_tasks *t, struct memtap_task *e, u32 id)
{
	u32 *head;

	if ((current->flags & PF_KTHREAD) || !current->mm)
		return;
	mmgrab(current->mm);
	e->mm = current->mm;
	head = &t->mm_heads[memtap_mm_bucket(e->mm)];
	e->next_mm = *head;
	WRITE_ONCE(*head, id);
	e->begun = jiffies;
	WRITE_ONCE(e->dirty, 1);
	irq_work_queue(&t->kick);
}

/* Under the lock.  space: of the process, 0 if this is the process. */
static u32 add_task(struct memtap_tasks *t, u32 hash, const struct task_key *k,
		    struct task_struct *task, u32 space)
{
	u32 *head = &t->heads[hash % MEMTAP_TASK_HEADS];
	struct memtap_task *e;
	u32 id = t->used;

	if (id >= t->nr)
		return MEMTAP_TASK_LOST;
	t->used++;
	e = &t->slots[id];
	e->hash = hash;
	e->pid = k->pid;
	e->tid = k->tid;
	e->exec = k->exec;
	e->start_ns = k->start_ns;
	e->space = space ? space : id;
	describe(e, task);
	if (!space)
		describe_mm(t, e, id);
	e->next = *head;
	smp_store_release(head, id);
	return id;
}

static u32 get_task(struct memtap_tasks *t, const struct task_key *k,
		    struct task_struct *task, u32 space)
{
	u32 hash = task_hash(k);
	u32 id = find_task(t, hash, k);

	if (likely(id))
		return id;
	raw_spin_lock(&t->lock);
	id = find_task(t, hash, k);
	if (!id)
		id = add_task(t, hash, k, task, space);
	raw_spin_unlock(&t->lock);
	return id;
}

static u32 find_current(struct memtap_session *s, u32 exec)
{
	struct task_struct *leader = current->group_leader;
	struct task_key k;
	u32 space;

	k.pid = current->tgid;
	k.tid = k.pid;
	k.exec = exec;
	k.start_ns = memtap_task_start_ns(leader);
	space = get_task(&s->tasks, &k, leader, 0);
	if (!(s->flags & MEMTAP_CFG_THREADS) || space == MEMTAP_TASK_LOST ||
	    leader == current)
		return space;
	k.tid = current->pid;
	k.start_ns = memtap_task_start_ns(current);
	return get_task(&s->tasks, &k, current, space);
}

u32 memtap_tasks_current(struct memtap_session *s, struct memtap_session_cpu *c,
			 u32 *space)
{
	u32 id;

	if (unlikely(!current->pid)) {
		*space = 0;
		return MEMTAP_TASK_NONE;
	}
	if (!memtap_same_task(c)) {
		id = find_current(s, memtap_task_exec_id(current));
		c->task_id = id;
		c->task_space = id == MEMTAP_TASK_LOST ? 0 : s->tasks.slots[id].space;
		c->task_passes = false;
		c->task = current;
		c->task_start = memtap_task_start_ns(current);
		c->task_exec = memtap_task_exec_id(current);
	}
	*space = c->task_space;
	return c->task_id;
}

void memtap_tasks_dirty(struct memtap_session *s, u32 space)
{
	struct memtap_tasks *t = &s->tasks;

	if (READ_ONCE(t->slots[space].dirty))
		return;
	WRITE_ONCE(t->slots[space].dirty, 1);
	irq_work_queue(&t->kick);
}

void memtap_maps_missed(struct memtap_session *s, u32 space)
{
	struct memtap_task *e = &s->tasks.slots[space];

	if (time_after(jiffies, READ_ONCE(e->looked) + LOOK_AGAIN))
		memtap_tasks_dirty(s, space);
}

/* --- life -------------------------------------------------------------- */

int memtap_tasks_init(struct memtap_session *s, u64 bytes)
{
	struct memtap_tasks *t = &s->tasks;
	u32 nr_maps;

	memset(t, 0, sizeof(*t));
	raw_spin_lock_init(&t->lock);
	memtap_tasks_layout(bytes, &t->nr, &nr_maps, &t->files_size);
	t->used = MEMTAP_TASK_FIRST;
	t->files_used = MEMTAP_FILES_FIRST;
	t->data_used = 0;
	t->slots = memtap_vzalloc(t->nr * sizeof(*t->slots));
	codemaps_init(&t->maps, memtap_vzalloc(nr_maps * sizeof(*t->maps.at)), nr_maps);
	t->files = memtap_vzalloc(t->files_size);
	if (t->slots && t->maps.at && t->files)
		return 0;
	memtap_tasks_free(s);
	return -ENOMEM;
}

/*
 * After the grace period of STOP: the hot path queues nothing any more.  The last
 * look is the work's, too: a process that is killed closes us when it has not got
 * all that d_path() wants.
 */
void memtap_tasks_stop(struct memtap_session *s)
{
	struct memtap_tasks *t = &s->tasks;

	if (!t->slots)
		return;
	irq_work_sync(&t->kick);
	cancel_delayed_work_sync(&t->work);
	queue_delayed_work(memtap_wq, &t->work, 0);
	flush_delayed_work(&t->work);
}

void memtap_tasks_free(struct memtap_session *s)
{
	struct memtap_tasks *t = &s->tasks;
	u32 id;

	while (t->nr_unread)	/* the work had no memory */
		fput(t->unread[--t->nr_unread].file);
	for (id = MEMTAP_TASK_FIRST; t->slots && id < t->used; id++)
		if (t->slots[id].mm)
			mmdrop(t->slots[id].mm);
	memtap_vfree(t->slots);
	memtap_vfree(t->maps.at);
	memtap_vfree(t->files);
	t->slots = NULL;
	t->maps.at = NULL;
	t->files = NULL;
}
