// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects of the kernel's slab allocators: kmalloc(), kmem_cache_alloc(), and what takes
 * them back.  Tracepoints tell of single ones; probes of those that go in bulk, and, where
 * kmem_cache_free()'s tracepoint comes too late, of those, too.
 */
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "hooks/hooks.h"
#include "live/objects.h"
#include "record/arch.h"
#include "record/record.h"

#include "compat/entry.h"
#include "compat/kernel_walk.h"
#include "compat/kprobe.h"
#include "compat/slab.h"
#include "compat/trace_kmem.h"

#define MOST_AT_ONCE	(1U << 16)	/* objects in one call */

/* --- what is told ---------------------------------------------------------- */

static __always_inline void count(struct memtap_source *src, struct memtap_hit *hit, u64 bytes)
{
	hit->value = (s64)bytes;
	hit->flags |= MEMTAP_HIT_VALUE;
	memtap_hit(src, hit);
}

static __always_inline void came(struct memtap_source *src, const unsigned long *frame,
				 unsigned long call_site, const void *ptr, const void *cache,
				 size_t bytes, gfp_t gfp)
{
	struct memtap_hit hit = { .frame = frame, .addr = (unsigned long)ptr };
	const struct memtap_object o = {
		.ptr = ptr, .cache = cache, .bytes = bytes, .call_site = call_site, .gfp = gfp,
	};

	if (memtap_objects_counted(src))
		count(src, &hit, bytes ? bytes : cache ? memtap_slab_size(cache) : 0);
	else
		this_cpu_inc(*src->hits);
	memtap_object_came(src, &hit, &o);
}

static __always_inline void goes(struct memtap_source *src, struct memtap_hit *hit,
				 const void *ptr, const void *cache)
{
	const struct memtap_object o = { .ptr = ptr, .cache = cache };

	hit->addr = (unsigned long)ptr;
	if (memtap_objects_counted(src))
		memtap_hit(src, hit);
	else
		this_cpu_inc(*src->hits);
	memtap_object_goes(src, hit, &o);
}

/* --- tracepoints ------------------------------------------------------------- */

struct slab_tracepoint {
	struct memtap_hook hook;
	const char *name;
	void *probe;
	bool stays;		/* it could not be taken away */
};

static struct slab_tracepoint *to_tracepoint(struct memtap_hook *h)
{
	return container_of(h, struct slab_tracepoint, hook);
}

static int tracepoint_attach(struct memtap_hook *h)
{
	struct slab_tracepoint *t = to_tracepoint(h);

	snprintf(h->target, sizeof(h->target), "kmem:%s", t->name);
	if (t->stays) {		/* it never went away */
		t->stays = false;
		return 0;
	}
	return memtap_tracepoint_register(t->name, t->probe, NULL);
}

static void tracepoint_detach(struct memtap_hook *h)
{
	struct slab_tracepoint *t = to_tracepoint(h);

	t->stays = !memtap_tracepoint_unregister(t->name, t->probe, NULL);
	tracepoint_synchronize_unregister();
}

static const struct memtap_hook_ops tracepoint_ops = {
	.attach = tracepoint_attach,
	.detach = tracepoint_detach,
};

#define SLAB_TRACEPOINT(_var, _name)					\
static struct slab_tracepoint _var = {					\
	.hook = { .ops = &tracepoint_ops, .way = MEMTAP_WAY_TRACEPOINT }, \
	.name = #_name,							\
	.probe = on_##_name,						\
}

#define SLAB_CAME(_name, _TP)						\
static struct slab_tracepoint tp_##_name;				\
static __always_inline void tell_##_name(const unsigned long *frame,	\
					 unsigned long call_site,	\
					 const void *ptr, const void *cache, \
					 size_t bytes, gfp_t gfp)	\
{									\
	came(&tp_##_name.hook.source, frame, call_site, ptr, cache, bytes, gfp); \
}									\
_TP(on_##_name, tell_##_name)						\
SLAB_TRACEPOINT(tp_##_name, _name)

#define SLAB_GOES(_name, _TP)						\
static struct slab_tracepoint tp_##_name;				\
static __always_inline void tell_##_name(const unsigned long *frame, const void *ptr) \
{									\
	struct memtap_hit hit = { .frame = frame };			\
									\
	goes(&tp_##_name.hook.source, &hit, ptr, NULL);			\
}									\
_TP(on_##_name, tell_##_name)						\
SLAB_TRACEPOINT(tp_##_name, _name)

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

/* By ftrace, or where there is none by a kprobe, which misses some: see compat/entry.h. */
struct slab_entry {
	struct memtap_hook hook;
	const char *name;
	void (*fn)(struct pt_regs *regs);
#if MEMTAP_ENTRIES
	struct memtap_entry entry;
#endif
	struct kprobe kp;
	bool probed;		/* by the kprobe */
	bool stays;
	u64 missed;		/* of earlier attachments */
};

static struct slab_entry *to_entry(struct memtap_hook *h)
{
	return container_of(h, struct slab_entry, hook);
}

static int on_entry_probe(struct kprobe *kp, struct pt_regs *regs)
{
	container_of(kp, struct slab_entry, kp)->fn(regs);
	return 0;
}

static int entry_register(struct slab_entry *e)
{
#if MEMTAP_ENTRIES
	e->entry.fn = e->fn;
	return memtap_entry_register(&e->entry, e->name);
#else
	return -EOPNOTSUPP;
#endif
}

static bool entry_unregister(struct slab_entry *e)
{
	if (e->probed)
		return memtap_kprobe_unregister(&e->kp);
#if MEMTAP_ENTRIES
	return memtap_entry_unregister(&e->entry, e->name);
#else
	return true;
#endif
}

static int entry_attach(struct memtap_hook *h)
{
	struct slab_entry *e = to_entry(h);
	int err;

	if (e->stays)
		return -EBUSY;
	strscpy(h->target, e->name, sizeof(h->target));
	err = entry_register(e);
	e->probed = err && err != -ENOENT && err != -ENOMEM;
	if (!e->probed)
		return err;
	memset(&e->kp, 0, sizeof(e->kp));
	e->kp.symbol_name = e->name;
	e->kp.pre_handler = on_entry_probe;
	return memtap_kprobe_register(&e->kp);
}

static void entry_detach(struct memtap_hook *h)
{
	struct slab_entry *e = to_entry(h);

	e->stays = !entry_unregister(e);
	e->missed += memtap_kprobe_missed(&e->kp);
	e->kp.nmissed = 0;
}

static u64 entry_missed(struct memtap_hook *h)
{
	return to_entry(h)->missed + memtap_kprobe_missed(&to_entry(h)->kp);
}

static const struct memtap_hook_ops entry_ops = {
	.attach = entry_attach,
	.detach = entry_detach,
	.missed = entry_missed,
};

#define SLAB_ENTRY(_var, _name, _fn)					\
static struct slab_entry _var = {					\
	.hook = { .ops = &entry_ops, .way = MEMTAP_WAY_KPROBE },	\
	.name = _name,							\
	.fn = _fn,							\
}

#if !MEMTAP_TP_KMEM_CACHE_FREE
/* kmem_cache_free(cache, object) */
static struct slab_entry free_entry;

static void on_free(struct pt_regs *regs)
{
	struct memtap_hit hit = { .regs = regs, .flags = MEMTAP_HIT_CALLED };

	goes(&free_entry.hook.source, &hit, (void *)memtap_karg(regs, 1), NULL);
}

SLAB_ENTRY(free_entry, "kmem_cache_free", on_free);
#endif

/* kmem_cache_free_bulk(cache or NULL, nr, ptrs): also kfree_rcu()'s */
static struct slab_entry free_bulk_entry;

static void on_free_bulk(struct pt_regs *regs)
{
	struct memtap_source *src = &free_bulk_entry.hook.source;
	const size_t nr = min_t(size_t, memtap_karg(regs, 1), MOST_AT_ONCE);
	void **ptrs = (void **)memtap_karg(regs, 2);
	struct memtap_hit hit = { .regs = regs, .flags = MEMTAP_HIT_CALLED };
	struct memtap_object o = { .ptr = NULL };
	size_t i;

	if (memtap_objects_counted(src))
		for (i = 0; i < nr; i++)
			memtap_hit(src, &hit);
	else
		this_cpu_add(*src->hits, nr);
	memtap_objects_go(src, &hit, &o, ptrs, nr);
}

SLAB_ENTRY(free_bulk_entry, "kmem_cache_free_bulk", on_free_bulk);

#if MEMTAP_SLAB_SHEAVES
/*
 * __kfree_rcu_sheaf(cache, object): it is put aside, and freed without a word when nobody
 * reads it any more.  It is its owner's no more.  Seldom it is refused, and freed in another
 * way, which tells: the second time it is not known.
 */
static struct slab_entry sheaf_entry;

static void on_sheaf(struct pt_regs *regs)
{
	struct memtap_hit hit = { .regs = regs, .flags = MEMTAP_HIT_CALLED };

	goes(&sheaf_entry.hook.source, &hit, (void *)memtap_karg(regs, 1), NULL);
}

SLAB_ENTRY(sheaf_entry, "__kfree_rcu_sheaf", on_sheaf);
#endif

/* --- kmem_cache_alloc_bulk() ------------------------------------------------------- */

struct slab_probe {
	struct memtap_hook hook;
	struct kretprobe probe;
	bool stays;
	u64 missed;
};

static struct slab_probe alloc_bulk_probe;

/* How many objects, and where their addresses are. */
struct bulk {
	void **ptrs;
	size_t nr;
	const void *cache;
	unsigned long call_site;
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
	if (copy_from_kernel_nofault(&b->call_site, (void *)kernel_stack_pointer(regs),
				     sizeof(b->call_site)))
		b->call_site = 0;
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
	struct memtap_hit hit = { .regs = NULL };
	const u64 bytes = memtap_slab_size(b->cache);
	size_t i;

	if (!memtap_all_of(regs_return_value(regs)))
		return 0;
	memtap_note_trampoline(regs);
	if (memtap_objects_counted(src))
		for (i = 0; i < b->nr; i++)
			count(src, &hit, bytes);
	else
		this_cpu_add(*src->hits, b->nr);
	memtap_objects_came(src, &hit, &o, b->ptrs, b->nr);
	return 0;
}

static int bulk_attach(struct memtap_hook *h)
{
	static const char *const names[] = {
		"kmem_cache_alloc_bulk_noprof", "kmem_cache_alloc_bulk",
	};
	struct slab_probe *p = &alloc_bulk_probe;
	int err = -ENOENT;
	u32 i;

	if (p->stays)
		return -EBUSY;
	for (i = 0; err == -ENOENT && i < ARRAY_SIZE(names); i++) {
		memset(&p->probe, 0, sizeof(p->probe));
		p->probe.kp.symbol_name = names[i];
		p->probe.entry_handler = on_alloc_bulk;
		p->probe.handler = on_alloc_bulk_return;
		p->probe.data_size = sizeof(struct bulk);
		/* it may wait for memory, in many threads at once */
		p->probe.maxactive = max_t(int, 256, 4 * num_possible_cpus());
		err = memtap_kretprobe_register(&p->probe);
		strscpy(h->target, names[i], sizeof(h->target));
	}
	return err;
}

static u64 bulk_lost(void)
{
	return memtap_kretprobe_missed(&alloc_bulk_probe.probe);
}

static void bulk_detach(struct memtap_hook *h)
{
	struct slab_probe *p = &alloc_bulk_probe;

	p->stays = !memtap_kretprobe_unregister(&p->probe);
	p->missed += bulk_lost();
	p->probe.kp.nmissed = 0;
	p->probe.nmissed = 0;
}

static u64 bulk_missed(struct memtap_hook *h)
{
	return alloc_bulk_probe.missed + bulk_lost();
}

static const struct memtap_hook_ops bulk_ops = {
	.attach = bulk_attach,
	.detach = bulk_detach,
	.missed = bulk_missed,
};

static struct slab_probe alloc_bulk_probe = {
	.hook = { .ops = &bulk_ops, .way = MEMTAP_WAY_KRETPROBE },
};

/* --- events ---------------------------------------------------------------------- */

#define SLAB_EVENT(_var, _name, _summary, _op, _nr, ...)		\
const struct memtap_builtin _var = {					\
	.name = _name,							\
	.group = "slab",						\
	.summary = _summary,						\
	.unit = (_op) == MEMTAP_HEAP_ALLOC ? MEMTAP_UNIT_BYTES : MEMTAP_UNIT_NONE, \
	.objects = _op,							\
	.nr_hooks = _nr,						\
	.hooks = { __VA_ARGS__ },					\
}

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
