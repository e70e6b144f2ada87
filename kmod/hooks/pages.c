// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks on the page allocator.  One tracepoint reports allocations, except bulk allocations (since
 * Linux 5.13), which have probes; one tracepoint reports all frees.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>

#include "hooks/kmem.h"

#include "compat/pages.h"
#include "compat/trace_kmem.h"

static __always_inline struct memtap_object object(const unsigned long *frame,
						   const struct page *page, u32 order, gfp_t gfp)
{
	return (struct memtap_object){
		.ptr = page ? (void *)(unsigned long)((u64)page_to_pfn(page) << PAGE_SHIFT) : NULL,
		.cache = NULL,
		.bytes = (u64)PAGE_SIZE << order,
		.call_site = 0,
		.frame = frame,
		.regs = NULL,
		.stacks = NULL,
		.kind = MEMTAP_OBJECT_PAGES,
		.id = CACHETAB_PAGES + order,
		.order = order,
		.again = 0,
		.gfp = gfp,
		.asked = 0,
	};
}

static struct kmem_tracepoint tp_mm_page_alloc, tp_mm_page_free;

static __always_inline void report_alloc(const unsigned long *frame, const struct page *page,
					 u32 order, gfp_t gfp)
{
	const struct memtap_object o = object(frame, page, order, gfp);

	/* no kernel for our processors has more */
	if (likely(order < PAGETAB_ORDERS))
		memtap_kmem_alloc(&tp_mm_page_alloc.hook.source, &o);
}

static __always_inline void report_free(const unsigned long *frame, const struct page *page,
					u32 order)
{
	const struct memtap_object o = object(frame, page, order, 0);

	if (likely(order < PAGETAB_ORDERS))
		memtap_kmem_freed(&tp_mm_page_free.hook.source, &o);
}

TP_MM_PAGE_ALLOC(on_mm_page_alloc, report_alloc)
KMEM_TRACEPOINT(tp_mm_page_alloc, "kmem", mm_page_alloc);
TP_MM_PAGE_FREE(on_mm_page_free, report_free)
KMEM_TRACEPOINT(tp_mm_page_free, "kmem", mm_page_free);

/* --- in bulk ----------------------------------------------------------------- */

#ifdef MEMTAP_BULK_NAME
static struct kmem_return bulk_probe;

#define MOST_NOTED	512		/* of the array: which places were taken before */
#define MOST_AT_ONCE	(1U << 16)

struct bulk {
	struct page **array;
	u32 nr;
	gfp_t gfp;
	u64 call_site;
	struct memtap_object_stacks stacks;
	DECLARE_BITMAP(had, MOST_NOTED);
};

/* A page in the array, or NULL. */
static struct page *page_at(const struct bulk *b, u32 i)
{
	return READ_ONCE(b->array[i]);
}

static int on_bulk(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct memtap_hit hit = { .regs = regs, .flags = MEMTAP_HIT_CALLED };
	struct bulk *b = (struct bulk *)ri->data;
	u32 i;

	b->gfp = (__force gfp_t)memtap_karg(regs, 0);
	b->nr = min_t(u32, memtap_karg(regs, 3), MOST_AT_ONCE);
	b->array = (struct page **)memtap_karg(regs, MEMTAP_BULK_ARRAY);
	if (!b->array)		/* in a list, which nobody but old RPC code wants */
		b->nr = 0;
	bitmap_zero(b->had, MOST_NOTED);
	for (i = 0; i < b->nr && i < MOST_NOTED; i++)
		if (page_at(b, i))
			__set_bit(i, b->had);
	b->call_site = memtap_kmem_caller(regs);
	memtap_objects_stacks(&bulk_probe.hook.source, &hit, &b->stacks);
	return 0;
}

/* The last page may have been told of by the tracepoint, where none could come in bulk. */
static int on_bulk_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct bulk *b = (const struct bulk *)ri->data;
	const u32 nr = min_t(u32, regs_return_value(regs), b->nr);
	struct memtap_object o;
	u32 i;

	memtap_note_trampoline(regs);
	for (i = 0; i < nr; i++) {
		if (!page_at(b, i) || (i < MOST_NOTED && test_bit(i, b->had)))
			continue;
		o = object(NULL, page_at(b, i), 0, b->gfp);
		o.call_site = b->call_site;
		o.stacks = &b->stacks;
		o.again = 1;
		memtap_kmem_alloc(&bulk_probe.hook.source, &o);
	}
	return 0;
}

KMEM_RETURN(bulk_probe, on_bulk, on_bulk_return, struct bulk, MEMTAP_BULK_NAME);
#endif

/* --- events ---------------------------------------------------------------------- */

#ifdef MEMTAP_BULK_NAME
KMEM_EVENT(memtap_page_alloc, "page-alloc", "pages", "pages that the kernel hands out",
	   MEMTAP_HEAP_ALLOC, 2, &tp_mm_page_alloc.hook, &bulk_probe.hook);
#else
KMEM_EVENT(memtap_page_alloc, "page-alloc", "pages", "pages that the kernel hands out",
	   MEMTAP_HEAP_ALLOC, 1, &tp_mm_page_alloc.hook);
#endif
KMEM_EVENT(memtap_page_free, "page-free", "pages", "pages that it takes back",
	   MEMTAP_HEAP_FREE, 1, &tp_mm_page_free.hook);
