// SPDX-License-Identifier: GPL-2.0-only
/* Hooks on vmalloc(), which allocates its memory, and vmap(), which maps existing pages. */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "hooks/kmem.h"

#include "compat/pages.h"

static struct memtap_object object(const void *ptr, u32 id, u64 bytes)
{
	return (struct memtap_object){
		.ptr = ptr, .kind = MEMTAP_OBJECT_AREA, .id = id, .bytes = bytes,
	};
}

/*
 * @bytes:	asked for, in whole pages
 * @area:	which the kernel fills with pages, or NULL: its address is not known
 * @huge:	it may have more than @bytes: whole huge pages
 */
struct asked {
	u64 bytes, call_site;
	const struct vm_struct *area;
	bool huge;
	gfp_t gfp;
	struct memtap_object_stacks stacks;
};

static void ask(struct memtap_source *src, struct asked *a, struct pt_regs *regs, u64 bytes,
		gfp_t gfp)
{
	struct memtap_hit hit = { .regs = regs, .flags = MEMTAP_HIT_CALLED };

	a->bytes = bytes;
	a->area = NULL;
	a->huge = false;
	a->gfp = gfp;
	/* at the return its caller may be hidden by the trampoline */
	memtap_objects_stacks(src, &hit, &a->stacks);
}

/*
 * How many bytes of pages are mapped at @addr: @least, or where vmalloc() rounded that up, more, up
 * to the end of a huge page.  Behind its pages an area has one that is not mapped, its guard, and
 * the walk ends there at the latest: what it reads of page tables is of this area alone.
 */
static u64 mapped_bytes(const void *addr, u64 least)
{
	while (!IS_ALIGNED((unsigned long)addr + least, PMD_SIZE) &&
	       vmalloc_to_page(addr + least))
		least += PAGE_SIZE;
	return least;
}

/* The area is the caller's alone from here on: what the kernel has noted of it stays. */
static u64 area_bytes(const struct asked *a, const void *addr)
{
	if (!addr)
		return a->bytes;
	if (a->area)
		return (u64)a->area->nr_pages << PAGE_SHIFT;
	return a->huge ? mapped_bytes(addr, a->bytes) : a->bytes;
}

static void answer(struct memtap_source *src, const struct asked *a, struct pt_regs *regs, u32 id)
{
	void *addr = (void *)regs_return_value(regs);
	struct memtap_object o = object(addr, id, area_bytes(a, addr));

	o.gfp = a->gfp;
	o.call_site = a->call_site;
	o.stacks = &a->stacks;
	memtap_note_trampoline(regs);
	memtap_kmem_alloc(src, &o);
}

/*
 * All of vmalloc() comes to __vmalloc_node_range(size, align, start, end, gfp, prot, flags ...),
 * and that to __vmalloc_area_node(area, gfp ...).  Compilers put the first into its callers of
 * the same file, or the second into the first; where it stands by itself, all come there.
 *
 * Where the area is known it has the number of its pages at the return.  find_vm_area() is not
 * exported, so that elsewhere page tables are asked, of areas that may be in huge pages alone.
 */
static bool may_be_huge(const struct pt_regs *regs)
{
	unsigned long flags;

	return MEMTAP_HUGE_AREAS &&
	       !copy_from_kernel_nofault(&flags, (void *)memtap_karg_far(regs, 6),
					 sizeof(flags)) &&
	       (flags & (MEMTAP_HUGE_AREAS | VM_NO_GUARD)) == MEMTAP_HUGE_AREAS;
}

#define AREA_NAMES	1
static struct kmem_return vmalloc_probe;

static int on_vmalloc(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct asked *a = (struct asked *)ri->data;
	const struct vm_struct *area;

	if (vmalloc_probe.taken < AREA_NAMES) {
		area = (const struct vm_struct *)memtap_karg(regs, 0);
		a->call_site = (unsigned long)area->caller;
		ask(&vmalloc_probe.hook.source, a, regs, 0, (__force gfp_t)memtap_karg(regs, 1));
		a->area = area;
	} else {
		a->call_site = 0;
		ask(&vmalloc_probe.hook.source, a, regs, PAGE_ALIGN(memtap_karg(regs, 0)),
		    (__force gfp_t)memtap_karg(regs, 4));
		a->huge = may_be_huge(regs);
	}
	return 0;
}

static int on_vmalloc_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	answer(&vmalloc_probe.hook.source, (const struct asked *)ri->data, regs, CACHETAB_VMALLOC);
	return 0;
}

KMEM_RETURN(vmalloc_probe, on_vmalloc, on_vmalloc_return, struct asked,
	    "__vmalloc_area_node", "__vmalloc_node_range_noprof", "__vmalloc_node_range");

/* vmap(pages, count, flags, prot) */
static struct kmem_return vmap_probe;

static int on_vmap(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	((struct asked *)ri->data)->call_site = memtap_kmem_caller(regs);
	ask(&vmap_probe.hook.source, (struct asked *)ri->data, regs,
	    (u64)(u32)memtap_karg(regs, 1) << PAGE_SHIFT, GFP_KERNEL);
	return 0;
}

static int on_vmap_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	answer(&vmap_probe.hook.source, (const struct asked *)ri->data, regs, CACHETAB_VMAP);
	return 0;
}

KMEM_RETURN(vmap_probe, on_vmap, on_vmap_return, struct asked, "vmap");

/*
 * All of these have the address first.  What vfree() is given in an interrupt is put aside,
 * and comes again, when it is not known any more.
 */
#define AREA_GOES(_var, _name)						\
static struct kmem_entry _var;						\
static void on_##_var(struct pt_regs *regs)				\
{									\
	struct memtap_object o = object((void *)memtap_karg(regs, 0),	\
					CACHETAB_VMALLOC, 0);		\
									\
	o.regs = regs;							\
	memtap_kmem_freed(&_var.hook.source, &o);			\
}									\
KMEM_ENTRY(_var, on_##_var, _name)

AREA_GOES(vfree_entry, "vfree");
AREA_GOES(vunmap_entry, "vunmap");
#if MEMTAP_VFREE_ATOMIC
AREA_GOES(vfree_atomic_entry, "vfree_atomic");
#endif

KMEM_EVENT(memtap_vmalloc_alloc, "vmalloc-alloc", "vmalloc",
	   "areas of the kernel's address space, by vmalloc() and vmap()", MEMTAP_HEAP_ALLOC, 2,
	   &vmalloc_probe.hook, &vmap_probe.hook);
#if MEMTAP_VFREE_ATOMIC
KMEM_EVENT(memtap_vmalloc_free, "vmalloc-free", "vmalloc", "areas that are given back",
	   MEMTAP_HEAP_FREE, 3, &vfree_entry.hook, &vfree_atomic_entry.hook, &vunmap_entry.hook);
#else
KMEM_EVENT(memtap_vmalloc_free, "vmalloc-free", "vmalloc", "areas that are given back",
	   MEMTAP_HEAP_FREE, 2, &vfree_entry.hook, &vunmap_entry.hook);
#endif
