// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record the files and executable mappings of the tasks in a session, and run the work that reads
 * what the hot path cannot.
 */
#include <linux/dcache.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "record/record.h"
#include "record/recording.h"
#include "record/spaces.h"
#include "record/tasks.h"

#include "compat/file.h"
#include "compat/task.h"
#include "compat/valloc.h"

#define MAPS_CHAIN	4096
/* After a task came up its program is often still being mapped: wait a bit. */
#define READ_MAPS_DELAY	msecs_to_jiffies(20)

/* --- mappings ---------------------------------------------------------- */

const struct codemap *memtap_tasks_map(const struct memtap_tasks *t, u32 space, u32 era,
				       u64 addr)
{
	if (space < MEMTAP_TASK_FIRST || space >= t->nr || era == MEMTAP_ERA_LOST)
		return NULL;
	return codemap_find(&t->maps, &t->slots[space].code, era, addr);
}

/* @vma as it is kept; anonymous code (a JIT's) is kept as a range.  False: no room. */
static bool describe(struct memtap_tasks *t, u32 space, struct vm_area_struct *vma,
		     char *buf, u32 size, struct codemap *m)
{
	unsigned long vdso;

	memset(m, 0, sizeof(*m));
	m->start = vma->vm_start;
	m->end = vma->vm_end;
	if (vma->vm_file) {
		m->offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
		m->file = memtap_files_of_vma(t, vma, t->slots[space].pid, buf, size);
		return m->file;
	}
	if (memtap_mm_vdso(vma->vm_mm, &vdso) && vdso >= m->start && vdso < m->end)
		m->flags = MEMTAP_MAP_VDSO;
	return true;
}

/* Keep one executable mapping. */
static void keep_vma(struct memtap_tasks *t, u32 space, struct codemap_walk *w,
		     struct vm_area_struct *vma, char *buf, u32 size)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	struct codemap m;

	/* nameless, but not what else may have been there */
	describe(t, space, vma, buf, size, &m);
	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&t->lock);
	codemap_add(&t->maps, &t->slots[space].code, &m, w);
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
}

static void note_lost(struct memtap_tasks *t)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;

	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&t->lock);
	t->maps.lost++;
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
}

/*
 * A process may have tens of thousands of mappings, each of which may have to be looked
 * for among all: where that may not @sleep, so much of it is enough.
 */
#define LOOKS_MAX	(1U << 20)

static void keep_vmas(struct memtap_tasks *t, u32 space, struct mm_struct *mm,
		      char *buf, u32 size, bool sleep)
{
	struct codemap_walk w = { 0 };
	struct vm_area_struct *vma;
	unsigned long addr = 0;

	while ((vma = find_vma(mm, addr)) != NULL && vma->vm_end > addr) {
		if (!sleep && w.looked > LOOKS_MAX) {
			note_lost(t);
			break;
		}
		if (vma->vm_flags & VM_EXEC)
			keep_vma(t, space, &w, vma, buf, size);
		addr = vma->vm_end;
		if (sleep)
			cond_resched();
	}
}

/* An address space goes: last chance, and nobody else can change it any more. */
static void mm_gone(struct memtap_tasks *t, u32 id, struct mm_struct *mm,
		    char *buf, u32 size)
{
	struct memtap_scratch *sc;
	struct memtap_task *e;
	unsigned long irqflags;
	bool read = mmap_read_trylock(mm);

	if (read) {
		keep_vmas(t, id, mm, buf, size, false);
		mmap_read_unlock(mm);
	}
	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&t->lock);
	e = &t->slots[id];
	e->flags |= MEMTAP_TASK_EXITED;
	if (e->code.maps && (e->flags & MEMTAP_TASK_NOMAPS)) {
		/* the work was too late for it, we are not */
		e->flags &= ~MEMTAP_TASK_NOMAPS;
		t->spaces_missed--;
	} else if (!read || !e->code.maps) {
		t->spaces_missed += !(e->flags & MEMTAP_TASK_NOMAPS);
		e->flags |= MEMTAP_TASK_NOMAPS;
	}
	WRITE_ONCE(t->slots[id].mm, NULL);
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
	mmdrop(mm);
}

/* The kept processes that have @mm, of which vfork() makes two. */
#define for_each_of_mm(_t, _mm, _id, _next, _steps)				\
	for (_id = READ_ONCE((_t)->mm_heads[memtap_mm_bucket(_mm)]), _steps = 0;	\
	     _id && _steps++ < MAPS_CHAIN && (_next = (_t)->slots[_id].next_mm, true);	\
	     _id = _next)							\
		if (READ_ONCE((_t)->slots[_id].mm) == (_mm))

void memtap_tasks_mapped(struct memtap_session *s, struct vm_area_struct *vma, char *buf,
			 u32 size)
{
	struct memtap_tasks *t = &s->tasks;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 id, next, steps;
	struct codemap m;

	for_each_of_mm(t, vma->vm_mm, id, next, steps) {
		/*
		 * What is mapped now may be all that a stack needs that another process
		 * had: nothing else asks for these mappings to be read again then.
		 */
		memtap_tasks_dirty(s, id);
		if (!describe(t, id, vma, buf, size, &m) && !buf)
			continue;
		sc = memtap_enter(&irqflags);
		if (!sc)
			return;
		raw_spin_lock(&t->lock);
		codemap_note(&t->maps, &t->slots[id].code, &m);
		raw_spin_unlock(&t->lock);
		memtap_leave(sc, irqflags);
	}
}

void memtap_tasks_unmapped(struct memtap_session *s, struct vm_area_struct *vma, u64 start,
			   u64 end, char *buf, u32 size)
{
	struct memtap_tasks *t = &s->tasks;
	struct memtap_scratch *sc;
	unsigned long irqflags;
	u32 id, next, steps;
	struct codemap m;

	for_each_of_mm(t, vma->vm_mm, id, next, steps) {
		if (!describe(t, id, vma, buf, size, &m))
			continue;
		sc = memtap_enter(&irqflags);
		if (!sc)
			return;
		raw_spin_lock(&t->lock);
		codemap_remove(&t->maps, &t->slots[id].code, &m, start, end);
		raw_spin_unlock(&t->lock);
		memtap_leave(sc, irqflags);
	}
}

void memtap_tasks_mm_gone(struct memtap_session *s, struct mm_struct *mm,
			  char *buf, u32 size)
{
	struct memtap_tasks *t = &s->tasks;
	u32 id = READ_ONCE(t->mm_heads[memtap_mm_bucket(mm)]), next, steps = 0;

	while (id && steps++ < MAPS_CHAIN) {
		next = t->slots[id].next_mm;
		if (READ_ONCE(t->slots[id].mm) == mm)
			mm_gone(t, id, mm, buf, size);
		id = next;
	}
}

/* --- the work: where sleeping is allowed -------------------------------- */

/* The GNU build-id note, from the first page of an ELF file. */
static u32 parse_build_id(const u8 *p, u32 len, u8 *id)
{
	u32 phoff, phnum, phsize, i, off, size, n, d;
	bool is64;

	if (len < 64 || memcmp(p, "\177ELF", 4))
		return 0;
	is64 = p[4] == 2;
	phoff = is64 ? *(const u64 *)(p + 32) : *(const u32 *)(p + 28);
	phsize = *(const u16 *)(p + (is64 ? 54 : 42));
	phnum = *(const u16 *)(p + (is64 ? 56 : 44));
	for (i = 0; i < phnum && i < 64; i++, phoff += phsize) {
		if (phoff > len - 56 || *(const u32 *)(p + phoff) != 4)
			continue;
		off = is64 ? *(const u64 *)(p + phoff + 8) :
			     *(const u32 *)(p + phoff + 4);
		size = is64 ? *(const u64 *)(p + phoff + 32) :
			      *(const u32 *)(p + phoff + 16);
		while (size >= 16 && off < len && len - off >= 16) {
			n = *(const u32 *)(p + off);
			d = *(const u32 *)(p + off + 4);
			if (n > 64 || d > 1024)
				break;
			if (*(const u32 *)(p + off + 8) == 3 && n == 4 &&
			    !memcmp(p + off + 12, "GNU", 4) && d <= 24 &&
			    off + 16 + d <= len) {
				memcpy(id, p + off + 16, d);
				return d;
			}
			n = 12 + ALIGN(n, 4) + ALIGN(d, 4);
			if (n > size)
				break;
			size -= n;
			off += n;
		}
	}
	return 0;
}

static void read_path(struct memtap_tasks *t, const struct memtap_unread *u, char *buf)
{
	struct memtap_kept_file *f = (void *)(t->files + u->at);
	char *path;

	if (!f->nameless)
		return;
	path = d_path(&u->file->f_path, buf, MEMTAP_PATH_PAGE);
	memtap_files_name(t, f, IS_ERR(path) ? "" : path);
}

static void read_build_id(struct memtap_tasks *t, struct memtap_unread *u,
			  u8 *page)
{
	struct memtap_kept_file *f = (void *)(t->files + u->at);
	loff_t pos = 0;
	ssize_t got;
	u32 len;

	got = memtap_file_answers(u->file) ? kernel_read(u->file, page, PAGE_SIZE, &pos) : 0;
	if (got > 0) {
		len = parse_build_id(page, got, f->build_id);
		smp_store_release(&f->build_id_len, len);
	}
	fput(u->file);
}

static bool take_unread(struct memtap_tasks *t, struct memtap_unread *u)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	bool got;

	sc = memtap_enter(&irqflags);
	if (!sc)
		return false;
	raw_spin_lock(&t->lock);
	got = t->nr_unread > 0;
	if (got)
		*u = t->unread[--t->nr_unread];
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
	return got;
}

static bool peek_unread(struct memtap_tasks *t, u32 i, struct memtap_unread *u)
{
	struct memtap_scratch *sc;
	unsigned long irqflags;
	bool got;

	sc = memtap_enter(&irqflags);
	if (!sc)
		return false;
	raw_spin_lock(&t->lock);
	got = i < t->nr_unread;
	if (got)
		*u = t->unread[i];
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
	return got;
}

/* Hooks may not ask for paths everywhere; they only add to the list, we alone take. */
static void read_paths(struct memtap_tasks *t, char *buf)
{
	struct memtap_unread u;
	u32 i;

	for (i = 0; peek_unread(t, i, &u); i++)
		read_path(t, &u, buf);
}

static struct mm_struct *take_mm(struct memtap_tasks *t, u32 id)
{
	struct mm_struct *mm = NULL;
	struct memtap_scratch *sc;
	struct memtap_task *e;
	unsigned long irqflags;

	sc = memtap_enter(&irqflags);
	if (!sc)
		return NULL;
	raw_spin_lock(&t->lock);
	e = &t->slots[id];
	WRITE_ONCE(e->dirty, 0);
	e->looked = jiffies;
	if (e->mm && mmget_not_zero(e->mm)) {
		mm = e->mm;
	} else if (e->mm && !e->code.maps && !(e->flags & MEMTAP_TASK_NOMAPS)) {
		/* it ends right now: the hook on its end may be missing */
		e->flags |= MEMTAP_TASK_NOMAPS;
		t->spaces_missed++;
	}
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
	return mm;
}

/* The mappings of a task could not be read, or now could be. */
static void note_missed(struct memtap_tasks *t, u32 id, bool missed)
{
	struct memtap_task *e = &t->slots[id];
	struct memtap_scratch *sc;
	unsigned long irqflags;

	if (missed == !!(READ_ONCE(e->flags) & MEMTAP_TASK_NOMAPS))
		return;
	sc = memtap_enter(&irqflags);
	if (!sc)
		return;
	raw_spin_lock(&t->lock);
	if (missed && !e->code.maps && !(e->flags & MEMTAP_TASK_NOMAPS)) {
		e->flags |= MEMTAP_TASK_NOMAPS;
		t->spaces_missed++;
	} else if (!missed && e->code.maps && (e->flags & MEMTAP_TASK_NOMAPS)) {
		e->flags &= ~MEMTAP_TASK_NOMAPS;
		t->spaces_missed--;
	}
	raw_spin_unlock(&t->lock);
	memtap_leave(sc, irqflags);
}

static void read_maps(struct memtap_session *s, u32 id, char *buf)
{
	struct memtap_tasks *t = &s->tasks;
	struct mm_struct *mm = take_mm(t, id);
	bool locked;

	if (!mm)
		return;
	locked = memtap_mm_lock(mm);
	if (locked) {
		keep_vmas(t, id, mm, buf, MEMTAP_PATH_PAGE, true);
		memtap_spaces_read(s, mm, t->slots[id].pid, buf, MEMTAP_PATH_PAGE);
		mmap_read_unlock(mm);
	}
	note_missed(t, id, !locked);
	mmput(mm);
}

static void read_all(struct work_struct *work)
{
	struct memtap_session *s = container_of(work, struct memtap_session,
						tasks.work.work);
	struct memtap_tasks *t = &s->tasks;
	struct memtap_unread u;
	char *page;
	u32 id;

	page = (char *)__get_free_page(MEMTAP_GFP);
	if (!page)
		return;
	memtap_spaces_refill(s);
	read_paths(t, page);
	/* what is missing holds up somebody: first */
	if (READ_ONCE(t->nr_wanted) != t->asked_wanted)
		wake_up_interruptible(&s->wait);
	for (id = MEMTAP_TASK_FIRST; id < READ_ONCE(t->used); id++) {
		if (READ_ONCE(t->slots[id].dirty))
			read_maps(s, id, page);
		cond_resched();
	}
	while (take_unread(t, &u)) {
		read_path(t, &u, page);
		read_build_id(t, &u, page);
	}
	if (READ_ONCE(t->nr_wanted) != t->asked_wanted)
		wake_up_interruptible(&s->wait);
	free_page((unsigned long)page);
}

/* The hot path may hold any lock: from there only an irq_work can be queued. */
static void on_kick(struct irq_work *kick)
{
	struct memtap_session *s = container_of(kick, struct memtap_session,
						tasks.kick);

	queue_delayed_work(memtap_wq, &s->tasks.work,
			   s->spaces ? 1 : READ_MAPS_DELAY);
}

void memtap_maps_init(struct memtap_tasks *t)
{
	init_irq_work(&t->kick, on_kick);
	INIT_DELAYED_WORK(&t->work, read_all);
}
