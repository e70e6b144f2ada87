/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_FAULT_H
#define _COMPAT_FAULT_H

#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <asm/pgtable.h>

#ifndef pmd_leaf			/* before v5.6 */
#define pmd_leaf	pmd_large
#endif
#ifndef pud_leaf
#define pud_leaf	pud_large
#endif

#define MEMTAP_WALK_PAGES	64U	/* that are looked at around an address */

/**
 * struct memtap_walk - what an address space has mapped around an address
 * @present:	of MEMTAP_WALK_PAGES pages, from memtap_walk_first() on, those that are
 *		mapped one by one
 * @huge:	pages of the one huge page that the address is in, or 0
 * @table:	it has a table of such pages
 * @pfn:	of the page that is there, or of the beginning of the huge one; MEMTAP_NO_PFN:
 *		there is none, or none that belongs to processes
 */
struct memtap_walk {
	u64 present;
	u64 huge;
	bool table;
	u64 pfn;
};

#define MEMTAP_NO_PFN	(~0ULL)

/*
 * The first of them: a fault maps 16 pages around at most (fault_around_bytes), which may
 * begin and end anywhere, but have one page table.
 */
static inline u64 memtap_walk_first(u64 addr)
{
	const u64 page = addr >> PAGE_SHIFT, table = page & ~(u64)(PTRS_PER_PTE - 1);

	return clamp_t(u64, page - 16, table, table + PTRS_PER_PTE - MEMTAP_WALK_PAGES);
}

static inline u64 memtap_walk_ptes(pmd_t pmd, u64 first)
{
	const pte_t *pte = pte_offset_kernel(&pmd, first << PAGE_SHIFT);
	u64 present = 0;
	u32 i;

	for (i = 0; i < MEMTAP_WALK_PAGES; i++)
		if (pte_present(READ_ONCE(pte[i])))
			present |= 1ULL << i;
	return present;
}

static inline u64 memtap_walk_pfn(pmd_t pmd, unsigned long addr)
{
	const pte_t pte = READ_ONCE(*pte_offset_kernel(&pmd, addr));

	return pte_present(pte) && !pte_special(pte) ? pte_pfn(pte) : MEMTAP_NO_PFN;
}

/* Is it anonymous memory?  Of a page that cannot go. */
static inline bool memtap_pfn_is_anon(u64 pfn)
{
	return pfn != MEMTAP_NO_PFN && pfn_valid(pfn) && PageAnon(pfn_to_page(pfn));
}

/*
 * Down to the entry of @mm for the gigabyte that @addr is in, or of what is above it: false:
 * there is none, and nothing below *@end.
 */
static inline bool memtap_walk_pud(struct mm_struct *mm, unsigned long addr, pud_t **pud,
				   unsigned long *end)
{
	pgd_t *pgd = pgd_offset(mm, addr);
#ifdef P4D_SHIFT			/* since v4.12 */
	p4d_t *p4d;
#endif

	*end = (addr & PGDIR_MASK) + PGDIR_SIZE;
	if (pgd_none(*pgd) || pgd_bad(*pgd))
		return false;
#ifdef P4D_SHIFT
	p4d = p4d_offset(pgd, addr);
	*end = (addr & P4D_MASK) + P4D_SIZE;
	if (p4d_none(*p4d) || p4d_bad(*p4d))
		return false;
	*pud = pud_offset(p4d, addr);
#else
	*pud = pud_offset(pgd, addr);
#endif
	*end = (addr & PUD_MASK) + PUD_SIZE;
	return !pud_none(**pud) && pud_present(**pud);
}

/*
 * The page tables of @mm around @addr, as get_user_pages_fast() goes through them: with
 * interrupts off no table is freed, each entry is read once.  @small: @present is wanted.
 * Any context.
 */
static inline void memtap_walk(struct mm_struct *mm, unsigned long addr, bool small,
			       struct memtap_walk *w)
{
	unsigned long flags, end;
	pud_t *pudp, pud;
	pmd_t *pmdp, pmd;

	memset(w, 0, sizeof(*w));
	w->pfn = MEMTAP_NO_PFN;
	local_irq_save(flags);
	if (!memtap_walk_pud(mm, addr, &pudp, &end))
		goto out;
	pud = READ_ONCE(*pudp);
	if (pud_none(pud) || !pud_present(pud))
		goto out;
	if (pud_leaf(pud)) {
		w->huge = PUD_SIZE / PAGE_SIZE;
		goto out;
	}
	pmdp = pmd_offset(pudp, addr);
	pmd = READ_ONCE(*pmdp);
	if (pmd_none(pmd) || !pmd_present(pmd))
		goto out;
	if (pmd_leaf(pmd)) {
		w->huge = PMD_SIZE / PAGE_SIZE;
		w->pfn = pmd_pfn(pmd);
	} else if (!pmd_bad(pmd)) {
		w->table = true;
		w->pfn = memtap_walk_pfn(pmd, addr);
		if (small)
			w->present = memtap_walk_ptes(pmd, memtap_walk_first(addr));
	}
out:
	local_irq_restore(flags);
}

#define MEMTAP_WALK_REGION	512U	/* pages that have one table: MEMTAP_REGION_PAGES */

static inline void memtap_walk_table(pmd_t pmd, unsigned long addr, u64 *present, u64 *touched)
{
	const pte_t *pte = pte_offset_kernel(&pmd, addr & PMD_MASK);
	u32 i;

	for (i = 0; i < MEMTAP_WALK_REGION; i++) {
		const pte_t e = READ_ONCE(pte[i]);

		if (!pte_present(e))
			continue;
		present[i / 64] |= 1ULL << (i % 64);
		if (pte_young(e))
			touched[i / 64] |= 1ULL << (i % 64);
	}
}

/*
 * Which pages there are in the region of 2 MiB that @addr is in, and which of them have been
 * used since their accessed bits were cleared; *@end: nothing is below it but that.  Under
 * mmap_read_lock(), @addr in a mapping: so its tables stay.  Where one may be freed all the
 * same (a huge page that comes in its place, a table that became empty) that is by RCU, for
 * which interrupts are off here.
 */
static inline void memtap_walk_region(struct mm_struct *mm, unsigned long addr,
				      unsigned long *end, u64 *present, u64 *touched)
{
	unsigned long flags;
	pud_t *pudp, pud;
	pmd_t pmd;

	local_irq_save(flags);
	if (!memtap_walk_pud(mm, addr, &pudp, end))
		goto out;
	pud = READ_ONCE(*pudp);
	if (pud_leaf(pud))
		goto out;
	*end = (addr & PMD_MASK) + PMD_SIZE;
	pmd = READ_ONCE(*pmd_offset(pudp, addr));
	if (pmd_none(pmd) || !pmd_present(pmd))
		goto out;
	if (pmd_leaf(pmd)) {
		memset(present, 0xff, MEMTAP_WALK_REGION / 8);
		if (pmd_young(pmd))
			memset(touched, 0xff, MEMTAP_WALK_REGION / 8);
	} else if (!pmd_bad(pmd)) {
		memtap_walk_table(pmd, addr, present, touched);
	}
out:
	local_irq_restore(flags);
}

/*
 * The address that a fault is about, from the first three arguments of functions that
 * serve it.  They are read so that arguments of another kind do no harm: an address that
 * is not the fault's is not looked at any more.
 */
static inline u64 memtap_fault_word(const void *at)
{
	unsigned long addr;

	return copy_from_kernel_nofault(&addr, at, sizeof(addr)) ? 0 : addr;
}

#if defined(HAVE_VM_FAULT_ADDRESS)	/* since v4.10: (vmf, ...) */
static inline u64 memtap_fault_addr(const unsigned long *args)
{
	return memtap_fault_word(&((struct vm_fault *)args[0])->address);
}
#define memtap_huge_addr	memtap_fault_addr
#define memtap_copy_addr	memtap_fault_addr

/*
 * Before v5.12 the address is where the pages begin that may be mapped; the offset in the
 * file is the fault's everywhere.
 */
static inline u64 memtap_around_addr(const unsigned long *args)
{
	const struct vm_fault *vmf = (const struct vm_fault *)args[0];
	const struct vm_area_struct *vma = (void *)(unsigned long)memtap_fault_word(&vmf->vma);
	const u64 pgoff = memtap_fault_word(&vmf->pgoff);

	return memtap_fault_word(&vma->vm_start) +
	       ((pgoff - memtap_fault_word(&vma->vm_pgoff)) << PAGE_SHIFT);
}
#elif defined(HAVE_FAULT_ENV)		/* since v4.8: (fe, ...) */
static inline u64 memtap_fault_addr(const unsigned long *args)
{
	return memtap_fault_word(&((struct fault_env *)args[0])->address);
}
#define memtap_around_addr	memtap_fault_addr
#define memtap_huge_addr	memtap_fault_addr
#define memtap_copy_addr	memtap_fault_addr
#else
/*
 * (vma, vmf).  In these two the address is where the pages begin; a fault at another one
 * counts as one page.
 */
static inline u64 memtap_around_addr(const unsigned long *args)
{
	return memtap_fault_word(&((struct vm_fault *)args[1])->virtual_address);
}

#ifdef HAVE_FAULT_VMF_OLD		/* RHEL 7: (vmf, ...) */
static inline u64 memtap_huge_addr(const unsigned long *args)
{
	return memtap_fault_word(&((struct vm_fault *)args[0])->virtual_address);
}
#else
#define memtap_huge_addr	memtap_copy_addr
#endif

/* do_wp_page(mm, vma, address, ...), in RHEL 7, too */
static inline u64 memtap_copy_addr(const unsigned long *args)
{
	return args[2];
}
#endif

/*
 * handle_mm_fault(vma, address, flags, ...), before v4.5 (but not in RHEL 7) with mm in front:
 * which argument is the first of these.
 */
#define MEMTAP_HANDLE_FIRST						\
	(__builtin_types_compatible_p(__typeof__(&handle_mm_fault),	\
				      int (*)(struct mm_struct *, struct vm_area_struct *, \
					      unsigned long, unsigned int)) ? 1 : 0)

/* hugetlb_fault(mm, vma, address, flags), always */
static inline u64 memtap_hugetlb_addr(const unsigned long *args)
{
	return args[2];
}

#endif
