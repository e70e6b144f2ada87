// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a record of an OOM kill says, taken in the task that could get no memory: it holds the
 * kernel's oom_lock, perhaps its own mmap_lock, and may be a kernel thread.  Nothing is
 * allocated, nobody is waited for: of locks that somebody holds, what is behind them is not
 * known.  The walk over processes is what the kernel has just done itself to choose a victim.
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>

#include "hooks/hooks.h"
#include "hooks/oom_int.h"
#include "record/record.h"
#include "record/spaces.h"

#include "compat/memory.h"
#include "compat/task.h"

#define MAX_LOOKED	8192		/* processes whose memory is asked for, */
#define MAX_COUNTED	65536		/* and that are counted */
#define MAX_TASKS	(4 * MAX_COUNTED)	/* with those of the kernel */
#define MAX_THREADS	64		/* of a process whose first one has exited */

static u64 bytes(u64 pages)
{
	return pages << PAGE_SHIFT;
}

/* --- processes ------------------------------------------------------------ */

/*
 * The memory of a process, if nobody holds the lock; the thread it was found with is the
 * caller's to unlock.  NULL: it has none; *@busy: that is not known.
 */
static struct task_struct *lock_task_mm(struct task_struct *p, bool *busy)
{
	struct task_struct *t = p;
	u32 n = 0;

	*busy = false;
	do {
		if (!READ_ONCE(t->mm))
			continue;
		if (!spin_trylock(&t->alloc_lock)) {
			*busy = true;
			return NULL;
		}
		if (t->mm) {
			__release(&t->alloc_lock);	/* sparse: unlock_task_mm() */
			return t;
		}
		spin_unlock(&t->alloc_lock);
	} while (++n < MAX_THREADS && (t = next_thread(t)) != p);
	return NULL;
}

static void unlock_task_mm(struct task_struct *t)
{
	__acquire(&t->alloc_lock);
	spin_unlock(&t->alloc_lock);
}

static void measure(struct memtap_oom_task *o, struct mm_struct *mm, bool exact)
{
	o->virt = bytes(mm->total_vm);
	o->anon = bytes(memtap_mm_pages(mm, MM_ANONPAGES, exact));
	o->file = bytes(memtap_mm_pages(mm, MM_FILEPAGES, exact));
	o->shmem = bytes(memtap_mm_shmem(mm, exact));
	o->swap = bytes(memtap_mm_pages(mm, MM_SWAPENTS, exact));
	o->tables = memtap_mm_tables(mm);
	o->flags |= MEMTAP_OOM_TASK_SIZED;
}

static void describe(struct memtap_oom_task *o, struct task_struct *task)
{
	struct pid_namespace *ns = task_active_pid_ns(task);

	o->pid = task->tgid;
	o->tid = task->pid;
	o->ns_pid = ns ? task_tgid_nr_ns(task, ns) : 0;
	o->score_adj = READ_ONCE(task->signal->oom_score_adj);
	o->uid = from_kuid(&init_user_ns, task_uid(task));
	o->start_ns = memtap_task_start_ns(task);
	o->cgroup = memtap_cgroup_inode(memtap_memory_cgroup(task));
	if (memtap_oom_bonus(task))
		o->flags |= MEMTAP_OOM_TASK_ADMIN;
	if (task->flags & PF_KTHREAD)
		o->flags |= MEMTAP_OOM_TASK_KTHREAD;
	if (fatal_signal_pending(task) || task->flags & PF_EXITING)
		o->flags |= MEMTAP_OOM_TASK_DYING;
	memcpy(o->comm, task->comm, sizeof(o->comm));
	o->comm[sizeof(o->comm) - 1] = 0;
}

/* With its memory, if that can be had. */
static struct mm_struct *describe_all(struct memtap_oom_task *o, struct task_struct *task)
{
	struct task_struct *locked;
	struct mm_struct *mm = NULL;
	bool busy;

	describe(o, task);
	if (task->flags & PF_KTHREAD)
		return NULL;
	locked = lock_task_mm(task, &busy);
	if (!locked)
		return NULL;
	mm = locked->mm;
	measure(o, mm, true);
	unlock_task_mm(locked);
	return mm;
}

/* What the OOM killer counts. */
static u64 size_of(const struct memtap_oom_task *o)
{
	return o->anon + o->file + o->shmem + o->swap + o->tables;
}

static void rank(struct memtap_oom_record *r, const struct memtap_oom_task *o, u64 locked)
{
	u32 at = r->nr_top;

	if (at == MEMTAP_OOM_TOP) {
		if (size_of(&r->top[--at]) >= size_of(o))
			return;
	} else {
		r->nr_top++;
	}
	for (; at && size_of(&r->top[at - 1]) < size_of(o); at--) {
		r->top[at] = r->top[at - 1];
		r->locked[at] = r->locked[at - 1];
	}
	r->top[at] = *o;
	r->locked[at] = locked;
}

struct census {
	struct memtap_oom_record *r;
	const struct task_struct *victim;
	const struct mm_struct *victim_mm;
	const struct cgroup *limit;		/* only who is in there; NULL: all */
	struct memtap_oom_shared *shared;
	struct memtap_oom_task one;		/* on the stack it would be large */
};

/*
 * Has a process this memory that was counted already?  The victim stands for those that have
 * its memory.  Who looks at a process (ptrace, /proc) is a user of it, too: that is no harm.
 */
static bool is_counted(struct census *c, const struct task_struct *p, struct mm_struct *mm)
{
	struct memtap_oom_shared *s = c->shared;
	u32 i;

	if (mm == c->victim_mm)
		return p->tgid != c->victim->tgid;
	if (atomic_read(&mm->mm_users) <= get_nr_threads((struct task_struct *)p))
		return false;
	for (i = 0; i < s->nr; i++)
		if (s->at[i] == mm)
			return true;
	if (s->nr < MEMTAP_OOM_SHARED)
		s->at[s->nr++] = mm;
	else
		c->r->flags |= MEMTAP_OOM_TWICE;
	return false;
}

static bool is_exempt(const struct memtap_oom_record *r, struct task_struct *p)
{
	return is_global_init(p) || (r->constraint == MEMTAP_CONSTRAINT_CPUSET &&
				     !memtap_oom_same_nodes(p));
}

static void look_at(struct census *c, struct task_struct *p)
{
	struct memtap_oom_record *r = c->r;
	const bool same = !memcmp(p->comm, r->victim.comm, sizeof(r->victim.comm));
	struct task_struct *locked;
	bool busy, counted;
	u64 pinned;

	if (c->limit && !memtap_cgroup_below(memtap_memory_cgroup(p), c->limit))
		return;
	locked = lock_task_mm(p, &busy);
	if (!locked) {
		r->unread += busy;
		r->processes += busy;
		return;
	}
	r->processes++;
	r->same += same;
	memset(&c->one, 0, sizeof(c->one));
	measure(&c->one, locked->mm, false);
	pinned = bytes(locked->mm->locked_vm);
	r->sharing += locked->mm == c->victim_mm && p->tgid != c->victim->tgid;
	counted = is_counted(c, p, locked->mm);
	unlock_task_mm(locked);
	if (counted)
		return;
	r->held += c->one.anon + c->one.swap;
	if (same)
		r->same_held += c->one.anon + c->one.swap;
	if (r->nr_top < MEMTAP_OOM_TOP || size_of(&r->top[MEMTAP_OOM_TOP - 1]) <
	    size_of(&c->one)) {
		describe(&c->one, p);
		if (is_exempt(r, p))
			c->one.flags |= MEMTAP_OOM_TASK_SPARED;
		rank(r, &c->one, pinned);
	}
}

static void look_at_all(struct census *c)
{
	struct task_struct *p;
	u32 n = 0, all = 0;

	for_each_process(p) {
		/* at a panic the list may lead in circles */
		if (++all == MAX_TASKS)
			break;
		if (p->flags & PF_KTHREAD)
			continue;
		if (++n <= MAX_LOOKED)
			look_at(c, p);
		else
			c->r->unlooked++;
		if (n == MAX_COUNTED)
			break;
	}
}

/* --- the machine ----------------------------------------------------------- */

static void take_zone(struct memtap_oom_record *r, struct zone *zone, u32 node)
{
	struct memtap_oom_zone *z = &r->zones[r->nr_zones];
	u32 i;

	r->total += bytes(memtap_zone_managed(zone));
	if (r->nr_zones == MEMTAP_OOM_ZONES)
		return;
	r->nr_zones++;
	z->node = node;
	strscpy(z->name, zone->name, sizeof(z->name));
	z->managed = bytes(memtap_zone_managed(zone));
	z->free = bytes(zone_page_state(zone, NR_FREE_PAGES));
	z->min = bytes(min_wmark_pages(zone));
	z->low = bytes(low_wmark_pages(zone));
	z->high = bytes(high_wmark_pages(zone));
	z->nr_orders = min_t(u32, ARRAY_SIZE(zone->free_area), MEMTAP_OOM_ORDERS);
	for (i = 0; i < z->nr_orders; i++)
		z->blocks[i] = READ_ONCE(zone->free_area[i].nr_free);
}

static void take_zones(struct memtap_oom_record *r)
{
	struct zone *zone;
	int node, i;

	for_each_online_node(node) {
		for (i = 0; i < MAX_NR_ZONES; i++) {
			zone = &NODE_DATA(node)->node_zones[i];
			if (populated_zone(zone))
				take_zone(r, zone, node);
		}
	}
}

static u64 managed_of(int node)
{
	struct zone *zone;
	u64 pages = 0;
	int i;

	for (i = 0; i < MAX_NR_ZONES; i++) {
		zone = &NODE_DATA(node)->node_zones[i];
		if (populated_zone(zone))
			pages += memtap_zone_managed(zone);
	}
	return bytes(pages);
}

static u64 first_nodes(const nodemask_t *mask)
{
	u64 bits = nodes_addr(*mask)[0];

	if (BITS_PER_LONG == 32 && MAX_NUMNODES > 32)
		bits |= (u64)nodes_addr(*mask)[1] << 32;
	return bits;
}

/* What the nodes had that were allowed, where these are not all. */
static void take_allowed(struct memtap_oom_record *r, const struct memtap_oom_call *c)
{
	const nodemask_t *nodes = c->nodes;
	int node;

	if (c->constraint != MEMTAP_CONSTRAINT_CPUSET && c->constraint != MEMTAP_CONSTRAINT_POLICY)
		return;
#ifdef CONFIG_CPUSETS
	if (!nodes || c->constraint == MEMTAP_CONSTRAINT_CPUSET)
		nodes = &current->mems_allowed;
#endif
	if (!nodes)
		return;
	r->nodes = first_nodes(nodes);
	memtap_vm_counters(r->node_counters, nodes);
	for_each_online_node(node)
		if (node_isset(node, *nodes))
			r->nodes_total += managed_of(node);
}

static void take_call(struct memtap_oom_record *r, const struct memtap_oom_call *c)
{
	u64 usage, limit;
	u32 i;

	r->gfp = c->gfp;
	r->order = c->order;
	r->constraint = c->constraint;
	r->points = c->points;
	if (c->permille)
		r->flags |= MEMTAP_OOM_PERMILLE;
	r->allowed = bytes(c->total);
	r->limit = MEMTAP_OOM_UNKNOWN;
	r->usage = MEMTAP_OOM_UNKNOWN;
	if (c->order == -1)
		r->flags |= MEMTAP_OOM_SYSRQ;
	memtap_gfp_names(c->gfp, r->gfp_text, sizeof(r->gfp_text));
	for (i = 0; c->message && i < sizeof(r->message) - 1; i++)
		if (copy_from_kernel_nofault(&r->message[i], c->message + i, 1) ||
		    !r->message[i])
			break;
	r->message[min_t(u32, i, sizeof(r->message) - 1)] = 0;
	if (strstr(r->message, "oom_kill_allocating_task"))
		r->flags |= MEMTAP_OOM_ALLOCATING;
	if (c->nodes)
		r->nodes = first_nodes(c->nodes);
	if (c->memcg && memtap_memcg_usage(c->memcg, &usage, &limit)) {
		r->usage = bytes(usage);
		r->limit = bytes(limit);
	}
}

static void take_paths(struct memtap_oom_record *r, const struct memtap_oom_call *c)
{
	struct cgroup *limit = c->memcg ? memtap_memcg_cgroup(c->memcg) : NULL;
	struct cgroup *cgrp;

	r->limit_cgroup = memtap_cgroup_inode(limit);
	if (!memtap_plain_spinlocks())
		return;
	if (limit) {
		memtap_cgroup_path(limit, r->limit_long, sizeof(r->limit_long));
		memcpy(r->limit_path, r->limit_long, sizeof(r->limit_path) - 1);
	}
	cgrp = memtap_memory_cgroup(current);
	if (cgrp)
		memtap_cgroup_path(cgrp, r->trigger_path, sizeof(r->trigger_path));
	cgrp = memtap_memory_cgroup(c->victim);
	if (cgrp)
		memtap_cgroup_path(cgrp, r->victim_path, sizeof(r->victim_path));
}

/* --- stacks ---------------------------------------------------------------- */

/* A session that has tables for current, so that its stack can be followed by rows. */
static struct memtap_session *with_rows(void)
{
	struct memtap_session *s;

	list_for_each_entry_rcu(s, &memtap_running, running_node)
		if (s->spaces && smp_load_acquire(&s->running))
			return s;
	return NULL;
}

static void walk_user(struct memtap_oom_record *r, struct memtap_scratch *sc)
{
	struct memtap_session *rows = with_rows();
	u32 i, flags = 0, nr;

	nr = memtap_unwind_user(sc, NULL, false, rows, MEMTAP_OOM_FRAMES, &flags);
	if (rows && (nr < 2 || flags & (MEMTAP_STACK_NOMAP | MEMTAP_STACK_NOTABLE))) {
		flags = 0;
		nr = memtap_unwind_user(sc, NULL, false, NULL, MEMTAP_OOM_FRAMES, &flags);
	}
	for (i = 0; i < nr; i++)
		r->ustack[i].ip = sc->uips[i];
	r->nr_ustack = nr;
	r->uflags = flags;
}

static void take_stacks(struct memtap_oom_record *r, struct pt_regs *regs)
{
	struct memtap_hit hit = { .regs = regs, .flags = MEMTAP_HIT_CALLED };
	struct memtap_scratch *sc;
	unsigned long irqflags;

	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	r->nr_kstack = memtap_unwind_kernel(sc, &hit, MEMTAP_OOM_FRAMES, &r->kflags);
	memcpy(r->kstack, sc->kips, r->nr_kstack * sizeof(r->kstack[0]));
	if (current->mm && !(current->flags & PF_KTHREAD))
		walk_user(r, sc);
	memtap_leave(sc, irqflags);
}

/* In which files the user stack is, while they are mapped. */
static void name_frames(struct memtap_oom_record *r)
{
	char *buf = memtap_plain_spinlocks() ? memtap_path_buf() : NULL;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	struct memtap_oom_frame *f;
	u32 i;

	if (!r->nr_ustack)
		return;
	if (!mmap_read_trylock(mm)) {
		r->flags |= MEMTAP_OOM_NO_MAPS;
		return;
	}
	for (i = 0; i < r->nr_ustack; i++) {
		f = &r->ustack[i];
		vma = find_vma(mm, f->ip);
		if (!vma || vma->vm_start > f->ip || !vma->vm_file)
			continue;
		f->file = memtap_oom_file(r->files, &r->nr_files, MEMTAP_OOM_FILES, vma->vm_file,
					  buf);
		f->offset = f->ip - vma->vm_start + ((u64)vma->vm_pgoff << PAGE_SHIFT);
	}
	mmap_read_unlock(mm);
}

/* --- all of it -------------------------------------------------------------- */

void memtap_oom_fill(struct memtap_oom_record *r, const struct memtap_oom_call *call,
		     struct pt_regs *regs, struct memtap_oom_shared *shared,
		     struct memtap_oom_stack *stack)
{
	struct census c = { .r = r, .victim = call->victim, .shared = shared };

	r->size = sizeof(*r);
	r->ns = ktime_get_ns();
	r->real_ns = ktime_get_real_ns();
	r->page_size = PAGE_SIZE;
	r->nr_cpus = num_online_cpus();
	take_call(r, call);
	rcu_read_lock();
	describe_all(&r->trigger, current);
	c.victim_mm = describe_all(&r->victim, call->victim);
	take_paths(r, call);
	if (call->memcg)
		c.limit = memtap_memcg_cgroup(call->memcg);
	take_stacks(r, regs);
	name_frames(r);
	memtap_oom_copy_stack(stack, r->nr);
	look_at_all(&c);
	rcu_read_unlock();
	memtap_load(r->load);
	take_zones(r);
	take_allowed(r, call);
	memtap_vm_counters(r->counters, NULL);
	r->nr_counters = MEMTAP_NR_VM;
	memtap_oom_recent(r);
}

/* Other CPUs are stopped, and may hold any lock: nothing is asked for exactly. */
void memtap_oom_fill_survey(struct memtap_oom_record *r)
{
	r->size = sizeof(*r);
	r->page_size = PAGE_SIZE;
	r->constraint = MEMTAP_CONSTRAINT_NONE;
	take_zones(r);
	memtap_vm_counters(r->counters, NULL);
	r->nr_counters = MEMTAP_NR_VM;
}

void memtap_oom_fill_processes(struct memtap_oom_record *r, struct memtap_oom_shared *shared)
{
	struct census c = { .r = r, .victim = current, .shared = shared };

	rcu_read_lock();
	describe(&r->trigger, current);
	if (memtap_plain_spinlocks())
		look_at_all(&c);
	rcu_read_unlock();
}

void memtap_oom_member(struct memtap_oom_record *r, struct task_struct *task)
{
	if (r->nr_members < MEMTAP_OOM_MEMBERS) {
		rcu_read_lock();
		describe_all(&r->members[r->nr_members], task);
		rcu_read_unlock();
	}
	r->nr_members++;
}
