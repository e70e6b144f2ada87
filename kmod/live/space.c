// SPDX-License-Identifier: GPL-2.0-only
/* Track the address spaces of live blocks: creation, fork, exec, exit. */
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "live/live.h"
#include "record/filter.h"
#include "record/record.h"
#include "record/recording.h"
#include "record/spaces.h"

#include "compat/task.h"

#define CHAIN		4096
#define PURGE_MAPS	256		/* with interrupts off */
#define SLOTS		1024		/* that are looked at for a free one */

static u32 *bucket(struct memtap_heap *h, const struct mm_struct *mm)
{
	return &h->heads[hash_ptr((void *)mm, 32) % HEAP_SPACE_HEADS];
}

static u32 find(struct memtap_heap *h, const struct mm_struct *mm)
{
	u32 slot = smp_load_acquire(bucket(h, mm)), steps = 0;

	while (slot && steps++ < CHAIN) {
		if (READ_ONCE(h->spaces[slot].mm) == mm)
			return h->spaces[slot].id;
		slot = READ_ONCE(h->spaces[slot].next);
	}
	return 0;
}

static void measure(const struct mm_struct *mm, u64 *heap, u64 *vm, u64 *rss)
{
	*heap = READ_ONCE(mm->brk) - READ_ONCE(mm->start_brk);
	*vm = (u64)READ_ONCE(mm->total_vm) << PAGE_SHIFT;
	*rss = (u64)get_mm_rss((struct mm_struct *)mm) << PAGE_SHIFT;
}

/* Under the lock.  A slot that nobody had, or one whose process has gone with all it had. */
static struct memtap_heap_space *free_space(struct memtap_heap *h)
{
	struct memtap_heap_space *sp;
	u32 i, slot, id;

	if (h->used_spaces < h->nr_spaces) {
		sp = &h->spaces[h->used_spaces];
		sp->id = h->used_spaces++;
		return sp;
	}
	for (i = 0; i < SLOTS && h->free_spaces; i++) {
		slot = h->next_space++ & (h->nr_spaces - 1);
		sp = &h->spaces[slot];
		id = sp->id + h->nr_spaces;
		if (sp->purge != HEAP_PURGE_FREE || id < sp->id)
			continue;
		h->free_spaces--;
		memset(sp, 0, sizeof(*sp));
		sp->id = id;
		return sp;
	}
	return NULL;
}

/* Is there little room for who is to come? */
static bool is_crowded(const struct memtap_heap *h)
{
	return h->nr_spaces - READ_ONCE(h->used_spaces) + READ_ONCE(h->free_spaces) <
	       h->nr_spaces / 8;
}

/* Under the lock. */
static u32 add_space(struct memtap_heap *h, struct mm_struct *mm, pid_t pid, u32 flags)
{
	struct memtap_heap_space *sp = free_space(h);
	u32 *head = bucket(h, mm);

	if (!sp) {
		h->exact = false;
		return 0;
	}
	mmgrab(mm);
	sp->pid = pid;
	sp->flags = flags;
	sp->begin_ns = ktime_get_ns();
	measure(mm, &sp->heap_then, &sp->vm_then, &sp->rss_then);
	sp->heap_now = sp->heap_then;
	sp->vm_now = sp->vm_then;
	sp->rss_now = sp->rss_then;
	sp->mm = mm;
	sp->head = (u32)(head - h->heads);
	sp->next = *head;
	smp_store_release(head, (u32)(sp - h->spaces));
	return sp->id;
}

bool memtap_heap_passes(const struct memtap_session *s)
{
	bool yes;

	if (!s->filter_set)
		return true;
	rcu_read_lock();		/* cgroups are looked up under it */
	yes = memtap_filter_task(s->filter, current);
	rcu_read_unlock();
	return yes || find(s->heap, current->mm);
}

u32 memtap_heap_space(struct memtap_heap *h, struct mm_struct *mm, pid_t pid,
		      u32 flags, bool add)
{
	u32 id = find(h, mm);

	if (id || !add)
		return id;
	raw_spin_lock(&h->lock);
	id = find(h, mm);
	if (!id)
		id = add_space(h, mm, pid, flags);
	raw_spin_unlock(&h->lock);
	return id;
}

static void note_lost(struct memtap_heap *h)
{
	raw_spin_lock(&h->lock);
	h->spaces_lost++;
	raw_spin_unlock(&h->lock);
}

/*
 * For who begins, which is once: a space without room is counted here, not when its
 * threads ask for it again.
 */
static u32 space_now(struct memtap_session *s, struct mm_struct *mm, pid_t pid,
		     u32 flags, bool add)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 id;

	sc = memtap_enter(&irqflags);
	if (!sc)
		return 0;
	id = memtap_heap_space(s->heap, mm, pid, flags, add);
	if (add && unlikely(!id))
		note_lost(s->heap);
	memtap_leave(sc, irqflags);
	return id;
}

/* The filter knows the child already, if it is to. */
void memtap_heap_forked(struct memtap_session *s, struct task_struct *parent,
			struct task_struct *child)
{
	if (!parent->mm || !child->mm || parent->mm == child->mm)
		return;
	if (s->filter_set && !memtap_filter_task(s->filter, child))
		return;
	if (space_now(s, parent->mm, parent->tgid, 0, false))
		space_now(s, child->mm, child->tgid, MEMTAP_SPACE_FORKED, true);
}

/* @task is current, and has its new address space. */
void memtap_heap_execed(struct memtap_session *s, struct task_struct *task)
{
	if (task->mm && (!s->filter_set || memtap_filter_task(s->filter, task)))
		space_now(s, task->mm, task->tgid, MEMTAP_SPACE_START, true);
}

/* The process goes on with another address space. */
static bool by_exec(const struct memtap_heap_space *sp, const struct mm_struct *mm)
{
	struct task_struct *task;
	bool yes = false;

	rcu_read_lock();
	task = pid_task(find_pid_ns(sp->pid, &init_pid_ns), PIDTYPE_PID);
	if (task) {
		struct mm_struct *now = READ_ONCE(task->mm);

		yes = now && now != mm;
	}
	rcu_read_unlock();
	return yes;
}

void memtap_heap_gone(struct memtap_session *s, struct mm_struct *mm)
{
	struct memtap_heap *h = s->heap;
	struct memtap_heap_space *sp;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	bool exec, room;
	u32 id;

	id = find(h, mm);
	if (!id)
		return;
	sp = memtap_heap_space_of(h, id);
	exec = by_exec(sp, mm);
	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&h->lock);
	measure(mm, &sp->heap_now, &sp->vm_now, &sp->rss_now);
	sp->end_ns = ktime_get_ns();
	sp->flags |= exec ? MEMTAP_SPACE_EXECED : MEMTAP_SPACE_EXITED;
	sp->purge = exec || !(s->flags & MEMTAP_CFG_KEEP);
	WRITE_ONCE(sp->mm, NULL);
	/* what it had is told as long as nobody else needs the room */
	room = sp->purge || is_crowded(h) ||
	       livetab_used(&h->table) > h->table.nr / 8 * 7;
	h->dead += !sp->purge;
	if (room && !sp->purge)
		WRITE_ONCE(h->want_room, true);
	raw_spin_unlock(&h->lock);
	if (h->peaks)
		peaktab_end(h->peaks, &sp->peak);
	memtap_leave(sc, irqflags);
	if (room)
		irq_work_queue(&h->kick);
	mmdrop(mm);		/* whoever ends it holds it, too */
}

/* --- blocks of what is gone ---------------------------------------------- */

static bool purge_blocks(struct memtap_heap *h, struct memtap_heap_space *sp)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u64 bytes = 0;
	u32 shard;

	for (shard = 0; shard <= h->table.shard_mask; shard++) {
		sc = memtap_enter(&irqflags);
		if (!sc)
			return false;
		sp->purged += livetab_purge(&h->table, shard, sp->id, &bytes);
		memtap_leave(sc, irqflags);
		cond_resched();
	}
	sp->purged_bytes += bytes;
	return true;
}

static bool purge_maps(struct memtap_heap *h, u32 id)
{
	struct mapset_gone gone;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 nr;

	do {
		memset(&gone, 0, sizeof(gone));
		sc = memtap_enter(&irqflags);
		if (!sc)
			return false;
		raw_spin_lock(&h->lock);
		nr = mapset_purge(&h->maps, id, PURGE_MAPS, MEMTAP_BLOCK_INNER, &gone);
		raw_spin_unlock(&h->lock);
		memtap_leave(sc, irqflags);
		cond_resched();
	} while (nr == PURGE_MAPS);
	return true;
}

/* Nobody finds it any more from now on; who is on the way past it goes on from there. */
static void unlink(struct memtap_heap *h, u32 slot)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 *link = &h->heads[h->spaces[slot].head], steps = 0;

	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&h->lock);
	while (*link && *link != slot && steps++ < CHAIN)
		link = &h->spaces[*link].next;
	if (*link == slot) {
		WRITE_ONCE(*link, h->spaces[slot].next);
		WRITE_ONCE(h->spaces[slot].purge, HEAP_PURGE_DONE);
		h->done_spaces++;
	}
	raw_spin_unlock(&h->lock);
	memtap_leave(sc, irqflags);
}

/* Whoever saw them in their chains is done. */
static void return_slots(struct memtap_heap *h)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 slot;

	synchronize_rcu();
	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&h->lock);
	for (slot = 1; slot < h->used_spaces; slot++)
		if (h->spaces[slot].purge == HEAP_PURGE_DONE) {
			h->spaces[slot].purge = HEAP_PURGE_FREE;
			h->free_spaces++;
		}
	h->done_spaces = 0;
	raw_spin_unlock(&h->lock);
	memtap_leave(sc, irqflags);
}

void memtap_heap_purge(struct memtap_heap *h)
{
	u32 slot;

	for (slot = 1; slot < READ_ONCE(h->used_spaces); slot++) {
		struct memtap_heap_space *sp = &h->spaces[slot];

		if (sp->purge != HEAP_PURGE_WANTED || !purge_blocks(h, sp) ||
		    !purge_maps(h, sp->id) || !memtap_heap_peak_forget(h, sp))
			continue;
		unlink(h, slot);
	}
	/* it waits for a grace period, and blocks and mappings of others wait meanwhile */
	if (h->done_spaces && is_crowded(h))
		return_slots(h);
}

static bool is_kept(const struct memtap_heap_space *sp)
{
	return (READ_ONCE(sp->flags) & MEMTAP_SPACE_EXITED) && !READ_ONCE(sp->purge);
}

/* Those that exited in the older half of the time: what is asked about may be the last end. */
static void free_dead_heap(struct memtap_heap *h)
{
	struct memtap_heap_space *sp, *end = h->spaces + READ_ONCE(h->used_spaces);
	u64 first = ~0ULL, last = 0, until;

	for (sp = h->spaces + 1; sp < end; sp++)
		if (is_kept(sp)) {
			first = min(first, sp->end_ns);
			last = max(last, sp->end_ns);
		}
	until = first + (last - first) / 2;
	for (sp = h->spaces + 1; sp < end && first < last; sp++)
		if (is_kept(sp) && sp->end_ns <= until) {
			WRITE_ONCE(sp->purge, HEAP_PURGE_WANTED);
			WRITE_ONCE(h->dead, h->dead - 1);
		}
}

void memtap_heap_work(struct work_struct *work)
{
	struct memtap_heap *h = container_of(work, struct memtap_heap, work);

	memtap_heap_more_threads(h);
	if (READ_ONCE(h->want_room)) {
		free_dead_heap(h);
		WRITE_ONCE(h->want_room, false);
	}
	memtap_heap_purge(h);
}

void memtap_heap_kick(struct irq_work *kick)
{
	struct memtap_heap *h = container_of(kick, struct memtap_heap, kick);

	queue_work(memtap_wq, &h->work);
}

/* --- what is there already ------------------------------------------------ */

/*
 * Where the kernel does not keep whose it is, names and cgroups cannot be asked for: it
 * begins with the first call of who passes.
 */
static void begin_space(struct memtap_session *s, struct mm_struct *mm, pid_t pid,
			char *page)
{
	if (s->heap->renamed && !IS_ENABLED(CONFIG_MEMCG))
		return;
	if (memtap_wants_mm(s, mm))
		space_now(s, mm, pid, 0, true);
}

void memtap_heap_begin(struct memtap_session *s)
{
	memtap_for_each_mm(s, begin_space);
}

/* For the reports: how large they are now. */
void memtap_heap_measure(struct memtap_heap *h)
{
	struct memtap_heap_space *sp;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 id;

	for (id = 1; id < READ_ONCE(h->used_spaces); id++) {
		sp = &h->spaces[id];
		sc = memtap_enter(&irqflags);
		if (!sc)
			return;
		raw_spin_lock(&h->lock);
		if (sp->mm)
			measure(sp->mm, &sp->heap_now, &sp->vm_now, &sp->rss_now);
		raw_spin_unlock(&h->lock);
		memtap_leave(sc, irqflags);
	}
}
