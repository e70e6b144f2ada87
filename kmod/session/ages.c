// SPDX-License-Identifier: GPL-2.0-only
/*
 * MEMTAP_AGES: read the accessed bits of a process's page tables.  This only reads; the kernel
 * clears the bits when the tool asks it to.
 */
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "record/tasks.h"
#include "session/session.h"

#include "compat/fault.h"
#include "compat/memory.h"
#include "compat/valloc.h"

#define MOST_TABLES	1024U	/* that are looked at in a call: 2 GiB */

static struct mm_struct *mm_of(s32 number)
{
	struct task_struct *task;
	struct mm_struct *mm;

	rcu_read_lock();
	task = pid_task(find_vpid(number), PIDTYPE_PID);
	mm = task ? get_task_mm(task) : NULL;
	rcu_read_unlock();
	return mm;
}

/* Memory of devices has no pages, that of hugetlbfs tables of its own. */
static bool is_left_out(const struct vm_area_struct *vma)
{
	return vma->vm_flags & (VM_PFNMAP | VM_IO | VM_HUGETLB);
}

/* Of a region that two mappings share, this one's pages alone. */
static void cut(struct memtap_ages_region *r, u64 first, u64 last)
{
	u32 i;

	if (first <= r->page && r->page + MEMTAP_WALK_REGION <= last)
		return;
	for (i = 0; i < MEMTAP_WALK_REGION; i++) {
		if (r->page + i >= first && r->page + i < last)
			continue;
		r->present[i / 64] &= ~(1ULL << (i % 64));
		r->touched[i / 64] &= ~(1ULL << (i % 64));
	}
}

static bool has_pages(const struct memtap_ages_region *r)
{
	u64 any = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(r->present); i++)
		any |= r->present[i];
	return any;
}

/* From @addr to the end of its region, or of the mapping; where to go on. */
static unsigned long look(struct vm_area_struct *vma, unsigned long addr,
			  struct memtap_ages_region *r)
{
	unsigned long end;

	memset(r, 0, sizeof(*r));
	r->page = (addr & PMD_MASK) >> PAGE_SHIFT;
	memtap_walk_region(vma->vm_mm, addr, &end, r->present, r->touched);
	if (!end || end > vma->vm_end)
		end = vma->vm_end;
	if (has_pages(r))
		cut(r, addr >> PAGE_SHIFT, end >> PAGE_SHIFT);
	return end;
}

/* *@addr: where to go on, 0: nowhere.  How many regions were told. */
static u32 read_mm(struct mm_struct *mm, unsigned long *addr, struct memtap_ages_region *to,
		   u32 room)
{
	struct vm_area_struct *vma = find_vma(mm, *addr);
	u32 nr = 0, tables;

	for (tables = 0; vma && nr < room && tables < MOST_TABLES; tables++) {
		if (*addr < vma->vm_start)
			*addr = vma->vm_start;
		if (is_left_out(vma))
			*addr = vma->vm_end;
		else
			*addr = look(vma, *addr, &to[nr]);
		nr += !is_left_out(vma) && has_pages(&to[nr]);
		if (*addr >= vma->vm_end)
			vma = find_vma(mm, *addr);
	}
	if (!vma)
		*addr = 0;
	return nr;
}

int memtap_ages_read(struct memtap_ages *a, struct memtap_ages_region *to)
{
	unsigned long addr = (unsigned long)a->page << PAGE_SHIFT;
	struct mm_struct *mm;

	if (a->page >= TASK_SIZE_MAX >> PAGE_SHIFT)
		return -EINVAL;
	mm = mm_of(a->pid);
	if (!mm)
		return -ESRCH;
	if (!memtap_mm_lock(mm)) {
		mmput(mm);
		return -EAGAIN;
	}
	a->nr = read_mm(mm, &addr, to, a->nr);
	a->page = addr >> PAGE_SHIFT;
	mmap_read_unlock(mm);
	mmput(mm);
	return 0;
}

#define FLUSHES	256	/* pages: of so many no kernel flushes one by one */

/*
 * A processor does not mark a page as used again that it has in its cache of translations, and
 * clearing does not empty that.  No function to do so is for modules; but an address that was
 * mapped may be used again only when it is in nobody's cache, and where many were, all of each
 * cache goes.
 */
int memtap_ages_flush(void)
{
	struct page **pages = kmalloc_array(FLUSHES, sizeof(*pages), MEMTAP_GFP);
	struct page *page = alloc_page(MEMTAP_GFP);
	void *at = NULL;
	u32 i;

	for (i = 0; pages && page && i < FLUSHES; i++)
		pages[i] = page;
	if (pages && page)
		at = vmap(pages, FLUSHES, VM_MAP, PAGE_KERNEL);
	if (at) {
		vunmap(at);
		vm_unmap_aliases();
	}
	if (page)
		__free_page(page);
	kfree(pages);
	return at ? 0 : -ENOMEM;
}
