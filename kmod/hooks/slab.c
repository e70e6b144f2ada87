// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects of the kernel's slab allocators: kmalloc(), kmem_cache_alloc(), and what takes
 * them back.  Tracepoints tell of single ones; probes of those that go in bulk, and, where
 * kmem_cache_free()'s tracepoint comes too late, of those, too.
 */
#include <linux/slab.h>

#include "hooks/kmem.h"

#include "compat/slab.h"
#include "compat/trace_kmem.h"

#define MOST_AT_ONCE	(1U << 16)	/* objects in one call */

/* --- what is told ---------------------------------------------------------- */

static noinline void came_counted(struct memtap_source *src, const unsigned long *frame,
				  unsigned long call_site, const void *ptr, const void *cache,
				  u64 sizes, gfp_t gfp)
{
	const u64 bytes = KMEM_TAKEN(sizes);
	const struct memtap_object o = { .ptr = ptr, .call_site = call_site, .frame = frame };

	memtap_kmem_count(src, &o, bytes ? bytes : cache ? memtap_slab_size(cache) : 0);
	memtap_slab_alloc(src, frame, call_site, ptr, cache, sizes, gfp);
}

static __always_inline void came(struct memtap_source *src, const unsigned long *frame,
				 unsigned long call_site, const void *ptr, const void *cache,
				 u64 sizes, gfp_t gfp)
{
	if (memtap_kmem_counted(src))
		came_counted(src, frame, call_site, ptr, cache, sizes, gfp);
	else
		memtap_slab_alloc(src, frame, call_site, ptr, cache, sizes, gfp);
	barrier();		/* it comes back here: @frame is still in use */
}

static noinline void count_gone(struct memtap_source *src, const unsigned long *frame,
				struct pt_regs *regs, const void *ptr)
{
	const struct memtap_object o = { .ptr = ptr, .frame = frame, .regs = regs };

	memtap_kmem_count_freed(src, &o);
}

static __always_inline void goes(struct memtap_source *src, const unsigned long *frame,
				 struct pt_regs *regs, const void *ptr)
{
	if (memtap_kmem_counted(src))
		count_gone(src, frame, regs, ptr);
	memtap_slab_freed(src, ptr);
}

/* --- tracepoints ------------------------------------------------------------- */

#define SLAB_CAME(_name, _TP)						\
static struct kmem_tracepoint tp_##_name;				\
static __always_inline void tell_##_name(const unsigned long *frame,	\
					 unsigned long call_site,	\
					 const void *ptr, const void *cache, \
					 u64 sizes, gfp_t gfp)		\
{									\
	came(&tp_##_name.hook.source, frame, call_site, ptr, cache, sizes, gfp); \
}									\
_TP(on_##_name, tell_##_name)						\
KMEM_TRACEPOINT(tp_##_name, "kmem", _name)

#define SLAB_GOES(_name, _TP)						\
static struct kmem_tracepoint tp_##_name;				\
static __always_inline void tell_##_name(const unsigned long *frame, const void *ptr) \
{									\
	goes(&tp_##_name.hook.source, frame, NULL, ptr);		\
}									\
_TP(on_##_name, tell_##_name)						\
KMEM_TRACEPOINT(tp_##_name, "kmem", _name)

SLAB_CAME(kmalloc, TP_KMALLOC);
SLAB_CAME(kmem_cache_alloc, TP_KMEM_CACHE_ALLOC);
#if MEMTAP_TP_NODES
SLAB_CAME(kmalloc_node, TP_KMALLOC_NODE);
SLAB_CAME(kmem_cache_alloc_node, TP_KMEM_CACHE_ALLOC_NODE);
#endif
SLAB_GOES(kfree, TP_KFREE);
#if MEMTAP_TP_KMEM_CACHE_FREE
SLAB_GOES(kmem_cache_free, TP_KMEM_CACHE_FREE);
#endif

/* --- beginnings of functions ------------------------------------------------------ */

#if !MEMTAP_TP_KMEM_CACHE_FREE
/* kmem_cache_free(cache, object) */
static struct kmem_entry free_entry;

static void on_free(struct pt_regs *regs)
{
	goes(&free_entry.hook.source, NULL, regs, (void *)memtap_karg(regs, 1));
}

KMEM_ENTRY(free_entry, on_free, "kmem_cache_free");
#endif

/* kmem_cache_free_bulk(cache or NULL, nr, ptrs): also kfree_rcu()'s */
static struct kmem_entry free_bulk_entry;

static void on_free_bulk(struct pt_regs *regs)
{
	struct memtap_source *src = &free_bulk_entry.hook.source;
	const size_t nr = min_t(size_t, memtap_karg(regs, 1), MOST_AT_ONCE);
	void **ptrs = (void **)memtap_karg(regs, 2);
	struct memtap_object o = { .regs = regs, .kind = MEMTAP_OBJECT_SLAB };
	size_t i;

	for (i = 0; i < nr; i++)
		if (memtap_kmem_counted(src))
			memtap_kmem_count_freed(src, &o);
	memtap_objects_freed(src, &o, ptrs, nr);
}

KMEM_ENTRY(free_bulk_entry, on_free_bulk, "kmem_cache_free_bulk");

#if MEMTAP_SLAB_SHEAVES
/*
 * __kfree_rcu_sheaf(cache, object): it is put aside, and freed without a word when nobody
 * reads it any more.  It is its owner's no more.  Seldom it is refused, and freed in another
 * way, which tells: the second time it is not known.
 */
static struct kmem_entry sheaf_entry;

static void on_sheaf(struct pt_regs *regs)
{
	goes(&sheaf_entry.hook.source, NULL, regs, (void *)memtap_karg(regs, 1));
}

KMEM_ENTRY(sheaf_entry, on_sheaf, "__kfree_rcu_sheaf");
#endif

/* --- kmem_cache_alloc_bulk() ------------------------------------------------------- */

static struct kmem_return alloc_bulk_probe;

/* How many objects, and where their addresses are. */
struct bulk {
	void **ptrs;
	size_t nr;
	const void *cache;
	u64 call_site;
	gfp_t gfp;
	struct memtap_object_stacks stacks;
};

/* kmem_cache_alloc_bulk(cache, gfp, nr, ptrs): how many, or whether there are all */
static int on_alloc_bulk(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct memtap_hit hit = { .regs = regs, .flags = MEMTAP_HIT_CALLED };
	struct bulk *b = (struct bulk *)ri->data;

	b->cache = (void *)memtap_karg(regs, 0);
	b->gfp = (__force gfp_t)memtap_karg(regs, 1);
	b->nr = min_t(size_t, memtap_karg(regs, 2), MOST_AT_ONCE);
	b->ptrs = (void **)memtap_karg(regs, 3);
	b->call_site = memtap_kmem_caller(regs);
	/* at the return its caller may be hidden by the trampoline */
	memtap_objects_stacks(&alloc_bulk_probe.hook.source, &hit, &b->stacks);
	return 0;
}

static int on_alloc_bulk_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct memtap_source *src = &alloc_bulk_probe.hook.source;
	const struct bulk *b = (const struct bulk *)ri->data;
	struct memtap_object o = {
		.cache = b->cache, .gfp = b->gfp, .call_site = b->call_site,
		.stacks = &b->stacks,
	};
	const u64 bytes = memtap_slab_size(b->cache);
	size_t i;

	if (!memtap_all_of(regs_return_value(regs)))
		return 0;
	memtap_note_trampoline(regs);
	for (i = 0; i < b->nr; i++)
		if (memtap_kmem_counted(src))
			memtap_kmem_count(src, &o, bytes);
	memtap_objects_alloc(src, &o, b->ptrs, b->nr);
	return 0;
}

KMEM_RETURN(alloc_bulk_probe, on_alloc_bulk, on_alloc_bulk_return, struct bulk,
	    "kmem_cache_alloc_bulk_noprof", "kmem_cache_alloc_bulk");

/* --- events ---------------------------------------------------------------------- */

#define SLAB_EVENT(_var, _name, _summary, _op, _nr, ...)		\
	KMEM_EVENT(_var, _name, "slab", _summary, _op, _nr, __VA_ARGS__)

#if MEMTAP_TP_NODES
SLAB_EVENT(memtap_kmalloc, "kmalloc", "objects that the kernel's kmalloc() hands out",
	   MEMTAP_HEAP_ALLOC, 2, &tp_kmalloc.hook, &tp_kmalloc_node.hook);
SLAB_EVENT(memtap_kmem_cache_alloc, "kmem-cache-alloc", "objects that its caches hand out",
	   MEMTAP_HEAP_ALLOC, 3, &tp_kmem_cache_alloc.hook, &tp_kmem_cache_alloc_node.hook,
	   &alloc_bulk_probe.hook);
#else
SLAB_EVENT(memtap_kmalloc, "kmalloc", "objects that the kernel's kmalloc() hands out",
	   MEMTAP_HEAP_ALLOC, 1, &tp_kmalloc.hook);
SLAB_EVENT(memtap_kmem_cache_alloc, "kmem-cache-alloc", "objects that its caches hand out",
	   MEMTAP_HEAP_ALLOC, 2, &tp_kmem_cache_alloc.hook, &alloc_bulk_probe.hook);
#endif
SLAB_EVENT(memtap_kfree, "kfree", "objects that kfree() takes back", MEMTAP_HEAP_FREE, 1,
	   &tp_kfree.hook);
#if MEMTAP_SLAB_SHEAVES
SLAB_EVENT(memtap_kmem_cache_free, "kmem-cache-free", "objects that caches take back",
	   MEMTAP_HEAP_FREE, 3, &tp_kmem_cache_free.hook, &free_bulk_entry.hook,
	   &sheaf_entry.hook);
#elif MEMTAP_TP_KMEM_CACHE_FREE
SLAB_EVENT(memtap_kmem_cache_free, "kmem-cache-free", "objects that caches take back",
	   MEMTAP_HEAP_FREE, 2, &tp_kmem_cache_free.hook, &free_bulk_entry.hook);
#else
SLAB_EVENT(memtap_kmem_cache_free, "kmem-cache-free", "objects that caches take back",
	   MEMTAP_HEAP_FREE, 2, &free_entry.hook, &free_bulk_entry.hook);
#endif
