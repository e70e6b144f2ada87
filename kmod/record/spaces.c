// SPDX-License-Identifier: GPL-2.0-only
/* Track the code mappings of address spaces that a session unwinds by tables. */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "record/record.h"
#include "record/recording.h"
#include "record/spaces.h"
#include "record/tables.h"
#include "record/tasks.h"

#include "compat/task.h"
#include "compat/valloc.h"

#define MAX_RANGES	8192
/*
 * What a hook copies, at most: until a grace period ends each change leaves a
 * copy behind.  Larger spaces are read anew by the work.
 */
#define HOOK_RANGES	512

/* In an atomic context of somebody else: what is not there at once is done without. */
#define GFP_HOOK	(GFP_NOWAIT | __GFP_NOWARN)

/* Whole powers of two: 2 KiB, 8 KiB.  More than that the work reads. */
#define RESERVE_ROOM		63
#define RESERVE_MANY_ROOM	255
/* Of the budget for unwinding; the default has 128, 32 and 128 of them. */
#define RESERVE_SHARE		64

static atomic64_t last_id = ATOMIC64_INIT(0);

static size_t ranges_bytes(u32 nr)
{
	return sizeof(struct memtap_ranges) + nr * sizeof(struct memtap_range);
}

/* --- accounts: under the lock ------------------------------------------ */

static bool charge(struct memtap_spaces *sp, u64 bytes)
{
	if (bytes > sp->size - sp->used) {
		sp->lost++;
		return false;
	}
	sp->used += bytes;
	return true;
}

static void uncharge(struct memtap_spaces *sp, u64 bytes)
{
	sp->used -= bytes;
}

/*
 * What ranges are charged by, when they come and when they go: never by how many there are,
 * which changes.
 */
static u64 ranges_charge(const struct memtap_ranges *r)
{
	return r ? r->bytes : 0;
}

static u64 space_charge(const struct memtap_space *space)
{
	return sizeof(*space);
}

/* --- memory --------------------------------------------------------------- */

static const u32 reserve_bytes[MEMTAP_NR_RESERVES] = {
	[MEMTAP_RESERVE_RANGES] = sizeof(struct memtap_ranges) +
				  RESERVE_ROOM * sizeof(struct memtap_range),
	[MEMTAP_RESERVE_MANY_RANGES] = sizeof(struct memtap_ranges) +
				       RESERVE_MANY_ROOM * sizeof(struct memtap_range),
	[MEMTAP_RESERVE_SPACES] = sizeof(struct memtap_space),
};

/* NULL: there is none left, which is counted. */
static void *take_reserve(struct memtap_spaces *sp, enum memtap_reserves kind)
{
	struct memtap_reserve *r = &sp->reserves[kind];
	struct memtap_scratch *sc;
	unsigned long flags;
	void *item;

	sc = memtap_enter(&flags);
	if (!sc)
		return NULL;
	raw_spin_lock(&sp->lock);
	item = r->first;
	if (item) {
		r->first = *(void **)item;
		r->nr--;
	} else {
		sp->lost++;
	}
	if (r->nr <= r->full / 2)
		irq_work_queue(sp->kick);
	raw_spin_unlock(&sp->lock);
	memtap_leave(sc, flags);
	return item;
}

static bool wants_reserve(struct memtap_spaces *sp, enum memtap_reserves kind)
{
	return READ_ONCE(sp->reserves[kind].nr) < sp->reserves[kind].full;
}

static bool put_reserve(struct memtap_spaces *sp, enum memtap_reserves kind)
{
	void *item = kmalloc(reserve_bytes[kind], MEMTAP_GFP);
	struct memtap_reserve *r = &sp->reserves[kind];
	struct memtap_scratch *sc;
	unsigned long flags;

	sc = item ? memtap_enter(&flags) : NULL;
	if (!sc) {
		kfree(item);
		return false;
	}
	raw_spin_lock(&sp->lock);
	*(void **)item = r->first;
	r->first = item;
	WRITE_ONCE(r->nr, r->nr + 1);
	raw_spin_unlock(&sp->lock);
	memtap_leave(sc, flags);
	return true;
}

static void refill(struct memtap_spaces *sp)
{
	u32 kind;

	for (kind = 0; kind < MEMTAP_NR_RESERVES; kind++)
		while (wants_reserve(sp, kind) && put_reserve(sp, kind))
			;
}

/* They are paid for once: what is taken of them is charged as any other. */
static void make_reserves(struct memtap_spaces *sp)
{
	u32 kind, of;

	for (kind = 0; kind < MEMTAP_NR_RESERVES && !memtap_plain_spinlocks(); kind++) {
		of = max_t(u32, reserve_bytes[kind], reserve_bytes[MEMTAP_RESERVE_RANGES]);
		sp->reserves[kind].full = div_u64(sp->size, RESERVE_SHARE * of);
		sp->used += (u64)sp->reserves[kind].full * reserve_bytes[kind];
	}
	refill(sp);
}

static void free_reserves(struct memtap_spaces *sp)
{
	void *item, *next;
	u32 kind;

	for (kind = 0; kind < MEMTAP_NR_RESERVES; kind++) {
		for (item = sp->reserves[kind].first; item; item = next) {
			next = *(void **)item;
			kfree(item);
		}
	}
}

static struct memtap_ranges *reserved_ranges(struct memtap_spaces *sp, u32 nr)
{
	const bool many = nr > RESERVE_ROOM;
	struct memtap_ranges *r;

	r = take_reserve(sp, many ? MEMTAP_RESERVE_MANY_RANGES : MEMTAP_RESERVE_RANGES);
	if (r)
		r->bytes = ranges_bytes(many ? RESERVE_MANY_ROOM : RESERVE_ROOM);
	return r;
}

static struct memtap_ranges *new_ranges(struct memtap_spaces *sp, u32 nr, gfp_t gfp)
{
	const bool reserved = gfp == GFP_HOOK && !memtap_plain_spinlocks();
	const u32 max = reserved ? RESERVE_MANY_ROOM : gfp == GFP_HOOK ? HOOK_RANGES : MAX_RANGES;
	struct memtap_ranges *r;

	if (nr > max)
		return NULL;
	r = reserved ? reserved_ranges(sp, nr) : kmalloc(ranges_bytes(nr), gfp);
	if (!r)
		return NULL;
	if (!reserved)
		r->bytes = ranges_bytes(nr);
	r->nr = 0;
	return r;
}

static struct memtap_space *new_space(struct memtap_spaces *sp, gfp_t gfp)
{
	if (gfp == GFP_HOOK && !memtap_plain_spinlocks())
		return take_reserve(sp, MEMTAP_RESERVE_SPACES);
	return kmalloc(sizeof(struct memtap_space), gfp);
}

/* Nobody may have seen them, but where hooks may not allocate they may not free. */
static void drop(struct memtap_ranges *r, struct memtap_space *space)
{
	if (r)
		kfree_rcu(r, rcu);
	if (space)
		kfree_rcu(space, rcu);
}

/* --- charges --------------------------------------------------------------- */

int memtap_spaces_charge(struct memtap_session *s, u64 bytes)
{
	struct memtap_scratch *sc;
	unsigned long flags;
	bool ok;

	sc = memtap_enter(&flags);
	if (!sc)
		return -EBUSY;
	raw_spin_lock(&s->spaces->lock);
	ok = charge(s->spaces, bytes);
	raw_spin_unlock(&s->spaces->lock);
	memtap_leave(sc, flags);
	return ok ? 0 : -EDQUOT;
}

void memtap_spaces_uncharge(struct memtap_session *s, u64 bytes)
{
	struct memtap_scratch *sc;
	unsigned long flags;

	sc = memtap_enter(&flags);
	if (!sc)
		return;
	raw_spin_lock(&s->spaces->lock);
	uncharge(s->spaces, bytes);
	raw_spin_unlock(&s->spaces->lock);
	memtap_leave(sc, flags);
}

/* --- spaces ------------------------------------------------------------- */

static struct hlist_head *head_of(struct memtap_spaces *sp,
				  const struct mm_struct *mm)
{
	return &sp->heads[memtap_mm_bucket(mm)];
}

/* Under RCU or the lock. */
static struct memtap_space *find_space(struct memtap_spaces *sp,
				       const struct mm_struct *mm)
{
	struct memtap_space *space;

	hlist_for_each_entry_rcu(space, head_of(sp, mm), node)
		if (space->mm == mm)
			return space;
	return NULL;
}

static const struct memtap_ranges *ranges_of(struct memtap_space *space)
{
	return rcu_dereference_raw(space->ranges);
}

/*
 * Make @new the ranges of @mm, if they still are @old; adds the space if there
 * is none.  Takes over @new and @space, or frees them.
 */
static bool publish(struct memtap_spaces *sp, struct mm_struct *mm,
		    const struct memtap_ranges *old, struct memtap_ranges *new,
		    struct memtap_space *fresh)
{
	struct memtap_ranges *was = NULL;
	struct memtap_scratch *sc;
	struct memtap_space *space;
	unsigned long flags;
	bool done = false;

	sc = memtap_enter(&flags);
	if (!sc)
		goto out;
	raw_spin_lock(&sp->lock);
	space = find_space(sp, mm);
	was = space ? rcu_dereference_raw(space->ranges) : NULL;
	if (was != old || (!space && !fresh))
		goto unlock;
	uncharge(sp, ranges_charge(was));
	if (!charge(sp, ranges_charge(new) + (space ? 0 : space_charge(fresh)))) {
		/* what was known is no longer true: better nothing */
		if (space)
			RCU_INIT_POINTER(space->ranges, NULL);
		goto unlock;
	}
	done = true;
	if (new)
		new->id = atomic64_inc_return(&last_id);
	if (space) {
		rcu_assign_pointer(space->ranges, new);
	} else {
		mmgrab(mm);
		fresh->mm = mm;
		RCU_INIT_POINTER(fresh->ranges, new);
		hlist_add_head_rcu(&fresh->node, head_of(sp, mm));
		fresh = NULL;
	}
	new = NULL;
unlock:
	if (was != old)
		was = NULL;
	raw_spin_unlock(&sp->lock);
	memtap_leave(sc, flags);
out:
	drop(new, fresh);
	if (sc)
		drop(was, NULL);
	return done;
}

static void copy_but(struct memtap_ranges *to, const struct memtap_ranges *from,
		     u64 start, u64 end, const struct memtap_range *add)
{
	bool added = !add;
	u32 i;

	for (i = 0; from && i < from->nr; i++) {
		if (from->at[i].start < end && from->at[i].end > start)
			continue;
		if (!added && from->at[i].start > add->start) {
			to->at[to->nr++] = *add;
			added = true;
		}
		to->at[to->nr++] = from->at[i];
	}
	if (!added)
		to->at[to->nr++] = *add;
}

/*
 * Replace what @mm has between @start and @end by @add, or by nothing.  Under
 * rcu_read_lock().  Where it cannot be done all is forgotten, and found again
 * by the work.
 */
static void replace(struct memtap_spaces *sp, struct mm_struct *mm,
		    u64 start, u64 end, const struct memtap_range *add)
{
	struct memtap_space *space = find_space(sp, mm), *fresh = NULL;
	const struct memtap_ranges *old = space ? ranges_of(space) : NULL;
	struct memtap_ranges *new;

	if (!space) {
		if (!add)
			return;
		fresh = new_space(sp, GFP_HOOK);
	}
	new = new_ranges(sp, (old ? old->nr : 0) + 1, GFP_HOOK);
	if (new) {
		copy_but(new, old, start, end, add);
	} else if (!space) {
		drop(NULL, fresh);
		return;
	}
	publish(sp, mm, old, new, fresh);
}

/*
 * Is it worth to know where its code is?  By process only: a task may change its
 * name or its cgroup, and pass the filter at once.
 */
static bool follows(struct memtap_session *s, const struct mm_struct *mm)
{
	struct task_struct *owner;
	bool follows = true;

	if (!s->filter->has_pids)
		return true;
	rcu_read_lock();
	owner = memtap_mm_owner((struct mm_struct *)mm);
	if (owner)
		follows = pidset_has(&s->mm_pids, owner->tgid);
	rcu_read_unlock();
	return follows;
}

void memtap_spaces_mapped(struct memtap_session *s, struct vm_area_struct *vma,
			  char *buf, u32 size)
{
	struct memtap_range range;
	u32 at;

	if (!find_space(s->spaces, vma->vm_mm) &&
	    (vma->vm_mm != current->mm || !follows(s, vma->vm_mm)))
		return;
	at = memtap_files_of_vma(&s->tasks, vma, current->tgid, buf, size);
	if (!at) {
		memtap_spaces_unmapped(s, vma->vm_mm, vma->vm_start, vma->vm_end);
		return;
	}
	range.start = vma->vm_start;
	range.end = vma->vm_end;
	range.pos = (u64)vma->vm_pgoff << PAGE_SHIFT;
	range.file = (struct memtap_kept_file *)(s->tasks.files + at);
	replace(s->spaces, vma->vm_mm, range.start, range.end, &range);
}

static bool touches(const struct memtap_ranges *r, u64 start, u64 end)
{
	u32 i;

	for (i = 0; r && i < r->nr; i++)
		if (r->at[i].start < end && r->at[i].end > start)
			return true;
	return false;
}

void memtap_spaces_unmapped(struct memtap_session *s, struct mm_struct *mm,
			    u64 start, u64 end)
{
	struct memtap_space *space = find_space(s->spaces, mm);

	if (space && touches(ranges_of(space), start, end))
		replace(s->spaces, mm, start, end, NULL);
}

/* The child's memory is a copy; it does not run yet. */
void memtap_spaces_forked(struct memtap_session *s, struct mm_struct *parent,
			  struct mm_struct *child)
{
	struct memtap_space *space = find_space(s->spaces, parent), *fresh;
	const struct memtap_ranges *old = space ? ranges_of(space) : NULL;
	struct memtap_ranges *new;

	if (!old || !follows(s, child))
		return;
	new = new_ranges(s->spaces, old->nr, GFP_HOOK);
	fresh = new_space(s->spaces, GFP_HOOK);
	if (!new || !fresh) {
		drop(new, fresh);
		return;
	}
	copy_but(new, old, 0, 0, NULL);
	publish(s->spaces, child, NULL, new, fresh);
}

static void free_space(struct memtap_spaces *sp, struct memtap_space *space)
{
	uncharge(sp, space_charge(space) + ranges_charge(rcu_dereference_raw(space->ranges)));
	hlist_del_rcu(&space->node);
}

void memtap_spaces_gone(struct memtap_session *s, struct mm_struct *mm)
{
	struct memtap_spaces *sp = s->spaces;
	struct memtap_scratch *sc;
	struct memtap_ranges *r;
	struct memtap_space *space;
	unsigned long flags;

	if (!find_space(sp, mm))
		return;
	sc = memtap_enter(&flags);
	if (!sc)
		return;
	raw_spin_lock(&sp->lock);
	space = find_space(sp, mm);
	if (space)
		free_space(sp, space);
	raw_spin_unlock(&sp->lock);
	memtap_leave(sc, flags);
	if (!space)
		return;
	r = rcu_dereference_raw(space->ranges);
	if (r)
		kfree_rcu(r, rcu);
	kfree_rcu(space, rcu);
	mmdrop(mm);		/* whoever ends it holds it, too */
}

void memtap_spaces_refill(struct memtap_session *s)
{
	if (s->spaces)
		refill(s->spaces);
}

/* --- reading what is there ---------------------------------------------- */

static u32 count_code(struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	unsigned long addr = 0;
	u32 nr = 0;

	while ((vma = find_vma(mm, addr)) != NULL && vma->vm_end > addr) {
		nr += !!(vma->vm_flags & VM_EXEC);
		addr = vma->vm_end;
	}
	return nr;
}

static void fill_ranges(struct memtap_session *s, struct mm_struct *mm, pid_t pid,
			struct memtap_ranges *r, u32 max, char *buf, u32 size)
{
	struct vm_area_struct *vma;
	struct memtap_range *at;
	unsigned long addr = 0, vdso;
	u32 file;

	memtap_mm_vdso(mm, &vdso);
	for (; (vma = find_vma(mm, addr)) != NULL && vma->vm_end > addr && r->nr < max;
	     addr = vma->vm_end) {
		if (!(vma->vm_flags & VM_EXEC) ||
		    (vdso >= vma->vm_start && vdso < vma->vm_end))
			continue;
		at = &r->at[r->nr];
		at->start = vma->vm_start;
		at->end = vma->vm_end;
		at->pos = (u64)vma->vm_pgoff << PAGE_SHIFT;
		at->file = NULL;
		if (vma->vm_file) {
			file = memtap_files_of_vma(&s->tasks, vma, pid, buf, size);
			if (!file)
				continue;
			at->file = (struct memtap_kept_file *)(s->tasks.files + file);
		}
		r->nr++;
	}
}

void memtap_spaces_read(struct memtap_session *s, struct mm_struct *mm, pid_t pid,
			char *buf, u32 size)
{
	const struct memtap_ranges *old = NULL;
	struct memtap_space *space, *fresh;
	struct memtap_ranges *new;
	u32 max;

	if (!s->spaces)
		return;
	max = count_code(mm);
	new = new_ranges(s->spaces, max, MEMTAP_GFP);
	fresh = new_space(s->spaces, MEMTAP_GFP);
	if (!new || !fresh) {
		drop(new, fresh);
		return;
	}
	fill_ranges(s, mm, pid, new, max, buf, size);
	/* nobody changes them while we hold the lock of the address space */
	rcu_read_lock();
	space = find_space(s->spaces, mm);
	if (space)
		old = ranges_of(space);
	publish(s->spaces, mm, old, new, fresh);
	rcu_read_unlock();
}

/* Their numbers alone: who holds an address space holds all of its memory. */
static u32 collect(struct memtap_session *s, struct pid **found, u32 max)
{
	struct task_struct *task;
	u32 nr = 0;

	rcu_read_lock();
	for_each_process(task) {
		if (nr == max)
			break;
		if (s->filter->has_pids && !pidset_has(&s->mm_pids, task->tgid))
			continue;
		found[nr++] = get_pid(task_pid(task));
	}
	rcu_read_unlock();
	return nr;
}

static void visit(struct memtap_session *s, memtap_mm_fn fn, struct pid *pid, char *page)
{
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);
	struct mm_struct *mm = task ? get_task_mm(task) : NULL;

	if (mm) {
		fn(s, mm, task->tgid, page);
		mmput(mm);
	}
	if (task)
		put_task_struct(task);
}

static u32 nr_processes_now(void)
{
	struct task_struct *task;
	u32 nr = 0;

	rcu_read_lock();
	for_each_process(task)
		nr++;
	rcu_read_unlock();
	return nr;
}

void memtap_for_each_mm(struct memtap_session *s, memtap_mm_fn fn)
{
	u32 max = nr_processes_now() + 64, nr, i;
	struct pid **found = memtap_vzalloc(max * sizeof(struct pid *));
	char *page = (char *)__get_free_page(MEMTAP_GFP);

	if (found && page) {
		nr = collect(s, found, max);
		for (i = 0; i < nr; i++) {
			visit(s, fn, found[i], page);
			put_pid(found[i]);
			cond_resched();
		}
	}
	free_page((unsigned long)page);
	memtap_vfree(found);
}

static void read_one(struct memtap_session *s, struct mm_struct *mm, pid_t pid,
		     char *page)
{
	if (!memtap_mm_lock(mm))
		return;		/* its stacks say that the mappings are not known */
	memtap_spaces_read(s, mm, pid, page, MEMTAP_PATH_PAGE);
	mmap_read_unlock(mm);
}

/* What comes up meanwhile, the hooks tell; what does not fit, the work reads. */
void memtap_spaces_read_all(struct memtap_session *s)
{
	memtap_for_each_mm(s, read_one);
}

/* --- finding code ------------------------------------------------------- */

static inline const struct memtap_ranges *current_ranges(struct memtap_session *s)
{
	struct memtap_space *space = find_space(s->spaces, current->mm);

	return space ? ranges_of(space) : NULL;
}

void memtap_spaces_find(struct memtap_code_finder *f, struct memtap_session *s)
{
	f->session = s;
	f->ranges = current_ranges(s);
}

u64 memtap_spaces_id(struct memtap_session *s)
{
	const struct memtap_ranges *ranges = current_ranges(s);

	return ranges ? ranges->id : 0;
}

static u32 vdso_code(struct memtap_session *s, u64 ip, struct rowwalk_code *code)
{
	const struct memtap_shared *sh = READ_ONCE(s->spaces->vdso);
	unsigned long start;
	u64 len;

	if (!sh || !memtap_mm_vdso(current->mm, &start))
		return MEMTAP_STACK_NOMAP;
	/* a table ends with the row behind the last code */
	len = sh->tab.rows[sh->tab.nr_rows - 1];
	if (ip - start >= len)
		return MEMTAP_STACK_NOMAP;
	code->start = start;
	code->len = len;
	code->pos = 0;
	code->table = &sh->tab;
	return 0;
}

u32 memtap_spaces_code(void *finder, u64 ip, struct rowwalk_code *code)
{
	struct memtap_code_finder *f = finder;
	const struct memtap_range *at;
	struct memtap_shared *sh;
	u32 low = 0, high = f->ranges ? f->ranges->nr : 0, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (f->ranges->at[middle].end <= ip)
			low = middle + 1;
		else
			high = middle;
	}
	if (!f->ranges || low == f->ranges->nr || ip < f->ranges->at[low].start)
		return vdso_code(f->session, ip, code);
	at = &f->ranges->at[low];
	code->start = at->start;
	code->len = at->end - at->start;
	code->pos = at->pos;
	code->table = NULL;
	if (!at->file)
		return 0;
	sh = smp_load_acquire(&at->file->shared);
	if (!sh) {
		atomic64_inc(&at->file->cut);
		return MEMTAP_STACK_NOTABLE;
	}
	code->table = &sh->tab;
	return 0;
}

/* --- life --------------------------------------------------------------- */

int memtap_spaces_init(struct memtap_session *s)
{
	struct memtap_spaces *sp = memtap_vzalloc(sizeof(*sp));

	if (!sp)
		return -ENOMEM;
	raw_spin_lock_init(&sp->lock);
	sp->size = s->mem_unwind;
	sp->kick = &s->tasks.kick;
	make_reserves(sp);
	s->spaces = sp;
	return 0;
}

static void put_tables(struct memtap_session *s)
{
	struct memtap_tasks *t = &s->tasks;
	struct memtap_kept_file *f;
	u32 at;

	for (at = MEMTAP_FILES_FIRST; t->files && at < t->files_used; at += f->len) {
		f = (struct memtap_kept_file *)(t->files + at);
		if (f->shared)
			memtap_shared_put(f->shared);
		f->shared = NULL;
	}
}

void memtap_spaces_free(struct memtap_session *s)
{
	struct memtap_spaces *sp = s->spaces;
	struct memtap_space *space;
	struct hlist_node *next;
	u32 i;

	if (!sp)
		return;
	s->spaces = NULL;
	for (i = 0; i < MEMTAP_SPACE_HEADS; i++) {
		hlist_for_each_entry_safe(space, next, &sp->heads[i], node) {
			kfree(rcu_dereference_raw(space->ranges));
			mmdrop(space->mm);
			kfree(space);
		}
	}
	free_reserves(sp);
	put_tables(s);
	if (sp->vdso)
		memtap_shared_put(sp->vdso);
	memtap_vfree(sp);
}
