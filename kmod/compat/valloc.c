// SPDX-License-Identifier: GPL-2.0-only
/* Allocate large tables without exhausting the machine's memory. */
#include <linux/kmemleak.h>
#include <linux/mm.h>
#include <linux/numa.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "compat/memory.h"
#include "compat/valloc.h"

/* What stays available to all others; less than that is taken without a look. */
#define SPARE	(2ULL << 20)
#define SMALL	(64ULL << 10)
/* More is not asked for; it keeps numbers of pages in 32 bits. */
#define MOST	(1ULL << 36)

static void *take(u64 bytes, int node, gfp_t gfp);

bool memtap_has_memory(u64 bytes)
{
	return memtap_available() >= bytes + SPARE;
}

/* The pages of an area are in a chain, in their order: each leads to the next one. */
static void free_chain(struct page *first)
{
	struct page *next;

	for (; first; first = next) {
		next = (struct page *)page_private(first);
		set_page_private(first, 0);
		__free_page(first);
	}
}

static struct page *take_page(int node, gfp_t gfp)
{
	struct page *page = NULL;
	u32 i;

	for (i = 0; !page && i < MEMTAP_GFP_TRIES && !fatal_signal_pending(current); i++)
		page = alloc_pages_node(node, gfp | __GFP_ZERO | __GFP_HIGHMEM, 0);
	return page;
}

static bool take_pages(struct page **pages, u32 nr, int node, gfp_t gfp)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		pages[i] = take_page(node, gfp);
		if (!pages[i])
			break;
		set_page_private(pages[i], 0);
		if (i)
			set_page_private(pages[i - 1], (unsigned long)pages[i]);
		cond_resched();
	}
	if (i < nr && i)
		free_chain(pages[0]);
	return i == nr;
}

/* With reserves for who frees memory: so the kernel neither reclaims nor kills for it. */
static void *map_pages(struct page **pages, u32 nr)
{
	const unsigned int flags = memalloc_noreclaim_save();
	void *mem = vmap(pages, nr, VM_MAP, PAGE_KERNEL);

	memalloc_noreclaim_restore(flags);
	return mem;
}

static struct page **new_list(u32 nr)
{
	const u64 bytes = (u64)nr * sizeof(struct page *);

	if (bytes <= PAGE_SIZE)
		return kmalloc(bytes, MEMTAP_GFP);
	return take(bytes, NUMA_NO_NODE, MEMTAP_GFP);
}

static void free_list(struct page **pages, u32 nr)
{
	if ((u64)nr * sizeof(*pages) <= PAGE_SIZE)
		kfree(pages);
	else
		memtap_vfree(pages);
}

static void *take(u64 bytes, int node, gfp_t gfp)
{
	const u32 nr = bytes <= MOST ? DIV_ROUND_UP(bytes, PAGE_SIZE) : 0;
	struct page **pages;
	void *mem = NULL;

	if (!nr || (bytes > SMALL && !memtap_has_memory(bytes)))
		return NULL;
	pages = new_list(nr);
	if (!pages)
		return NULL;
	if (take_pages(pages, nr, node, gfp)) {
		mem = map_pages(pages, nr);
		if (!mem)
			free_chain(pages[0]);
	}
	free_list(pages, nr);
	/* it knows of vmalloc() by itself, but not of vmap() */
	if (mem)
		kmemleak_alloc(mem, bytes, 1, MEMTAP_GFP);
	return mem;
}

void *memtap_vzalloc(u64 bytes)
{
	return take(bytes, NUMA_NO_NODE, MEMTAP_GFP_CHARGED);
}

void *memtap_vzalloc_node(u64 bytes, int node)
{
	return take(bytes, node, MEMTAP_GFP_CHARGED);
}

void *memtap_vzalloc_own(u64 bytes, int node)
{
	return take(bytes, node, MEMTAP_GFP);
}

void memtap_vfree(const void *mem)
{
	struct page *first;

	if (!mem)
		return;
	kmemleak_free(mem);
	first = vmalloc_to_page(mem);
	vunmap(mem);
	free_chain(first);
}
