// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attribute pages, without those that hold slabs, vmalloc areas and per-CPU memory: these are
 * reported by their own kinds, and would be counted twice.
 */
#include <string.h>

#include "report/int.h"

struct part {
	const char *text;
	enum rowner owner;
};

/* What stands between the allocator of pages and who asked it: parts of names. */
static const char *const pagers[] = {
	"alloc_pages", "alloc_frozen_pages", "get_free_pages", "get_zeroed_page", "folio_alloc",
	"get_page_from_freelist",
	"_kmem_pages",		/* until v4.9 what a control group is charged for */
};

/* Who asked: the first that fits, of names that begin so. */
static const struct part owners[] = {
	{ "alloc_slab_page", ROWNER_SLAB }, { "allocate_slab", ROWNER_SLAB },
	{ "new_slab", ROWNER_SLAB }, { "___slab_alloc", ROWNER_SLAB },
	{ "__slab_alloc", ROWNER_SLAB }, { "kmem_getpages", ROWNER_SLAB },
	{ "cache_grow", ROWNER_SLAB }, { "cache_alloc_refill", ROWNER_SLAB },
	{ "____cache_alloc", ROWNER_SLAB }, { "fallback_alloc", ROWNER_SLAB },
	{ "refill_objects", ROWNER_SLAB }, { "__refill_objects", ROWNER_SLAB },
	{ "kmem_cache_alloc", ROWNER_SLAB }, { "__kmem_cache_alloc", ROWNER_SLAB },
	{ "__kmalloc", ROWNER_SLAB }, { "___kmalloc", ROWNER_SLAB },
	{ "kmalloc_", ROWNER_SLAB }, { "__do_kmalloc", ROWNER_SLAB },
	{ "slab_alloc", ROWNER_SLAB },
	{ "__vmalloc", ROWNER_VMALLOC }, { "vm_area_alloc_pages", ROWNER_VMALLOC },
	{ "vmalloc", ROWNER_VMALLOC }, { "vzalloc", ROWNER_VMALLOC },
	{ "pcpu_", ROWNER_PERCPU },
};

static bool is_pager(const char *name)
{
	/* the slab allocator's and vmalloc()'s own have such names, too */
	if (!strncmp(name, "vm_area_alloc_pages", 19) || !strncmp(name, "pcpu_", 5))
		return false;
	for (size_t i = 0; i < sizeof(pagers) / sizeof(pagers[0]); i++)
		if (strstr(name, pagers[i]))
			return true;
	return false;
}

static enum rowner owner_of(const char *name)
{
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (!strncmp(name, owners[i].text, strlen(owners[i].text)))
			return owners[i].owner;
	return ROWNER_NONE;
}

/* The first function above the allocator of pages says it. */
static enum rowner owner_of_stack(const struct snap *s, struct sym *sym,
				  const struct snap_stack *st)
{
	const struct sym_frame *f;

	for (__u32 i = 0; i < st->nr; i++) {
		const bool call = i || !(st->flags & MEMTAP_STACK_ENTRY);

		if (!sym_kernel(sym, s, st->ip[i], call, &f) || !f->name)
			return ROWNER_NONE;
		if (!is_pager(f->name))
			return owner_of(f->name);
	}
	return ROWNER_NONE;
}

static enum rowner owner(const struct snap *s, struct sym *sym, const struct memtap_block *b)
{
	const struct memtap_rec_cache *c;
	const struct snap_stack *st;
	enum rowner of;

	if (!(b->flags & MEMTAP_BLOCK_KERNEL))
		return ROWNER_NONE;
	c = snap_cache(s, b->space);
	if (!c || c->kind != MEMTAP_CACHE_PAGES)
		return ROWNER_NONE;
	st = snap_stack(s, b->ustack);
	of = st ? owner_of_stack(s, sym, st) : ROWNER_NONE;
	return of && snap_has_group(s, rowner_name(of)) ? of : ROWNER_NONE;
}

enum rowner report_owner(const struct maker *m, const struct memtap_block *b)
{
	return owner(m->r.snap, m->sym, b);
}

bool report_is_owned(const struct snap *s, struct sym *sym, const struct memtap_block *b)
{
	return owner(s, sym, b) != ROWNER_NONE;
}

const char *rowner_name(enum rowner owner)
{
	static const char *const names[NR_ROWNER] = { "", "slab", "vmalloc", "percpu" };

	return names[owner];
}
