// SPDX-License-Identifier: GPL-2.0-only
/* Hooks on per-CPU memory: alloc_percpu() and free_percpu(). */
#include <linux/cpumask.h>

#include "hooks/kmem.h"

#include "compat/trace_percpu.h"

/* What all processors' take. */
static struct memtap_object object(const void *ptr, size_t size, u64 call_site, gfp_t gfp)
{
	return (struct memtap_object){
		.ptr = ptr, .kind = MEMTAP_OBJECT_PERCPU, .id = CACHETAB_PERCPU,
		.bytes = (u64)size * num_possible_cpus(), .call_site = call_site, .gfp = gfp,
	};
}

#if MEMTAP_TP_PERCPU
static struct kmem_tracepoint tp_percpu_alloc_percpu, tp_percpu_free_percpu;

static __always_inline void report_alloc(const unsigned long *frame, u64 call_site,
					 const void *ptr, size_t size, gfp_t gfp)
{
	struct memtap_object o = object(ptr, size, call_site, gfp);

	o.frame = frame;
	memtap_kmem_alloc(&tp_percpu_alloc_percpu.hook.source, &o);
}

static __always_inline void report_free(const unsigned long *frame, const void *ptr)
{
	struct memtap_object o = object(ptr, 0, 0, 0);

	o.frame = frame;
	memtap_kmem_freed(&tp_percpu_free_percpu.hook.source, &o);
}

TP_PERCPU_ALLOC(on_percpu_alloc_percpu, report_alloc)
KMEM_TRACEPOINT(tp_percpu_alloc_percpu, "percpu", percpu_alloc_percpu);
TP_PERCPU_FREE(on_percpu_free_percpu, report_free)
KMEM_TRACEPOINT(tp_percpu_free_percpu, "percpu", percpu_free_percpu);

#define ALLOC_HOOK	tp_percpu_alloc_percpu.hook
#define FREE_HOOK	tp_percpu_free_percpu.hook
#else
static struct kmem_return alloc_probe;
static struct kmem_entry free_entry;

struct asked {
	size_t size;
	struct memtap_object_stacks stacks;
};

/* pcpu_alloc(size, align, reserved, gfp) */
static int on_alloc(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct memtap_hit hit = { .regs = regs, .flags = MEMTAP_HIT_CALLED };
	struct asked *a = (struct asked *)ri->data;

	a->size = memtap_karg(regs, 0);
	memtap_objects_stacks(&alloc_probe.hook.source, &hit, &a->stacks);
	return 0;
}

static int on_alloc_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct asked *a = (const struct asked *)ri->data;
	struct memtap_object o = object((void *)regs_return_value(regs), a->size, 0, GFP_KERNEL);

	o.stacks = &a->stacks;
	memtap_kmem_alloc(&alloc_probe.hook.source, &o);
	return 0;
}

KMEM_RETURN(alloc_probe, on_alloc, on_alloc_return, struct asked, "pcpu_alloc");

static void on_free(struct pt_regs *regs)
{
	struct memtap_object o = object((void *)memtap_karg(regs, 0), 0, 0, 0);

	o.regs = regs;
	memtap_kmem_freed(&free_entry.hook.source, &o);
}

KMEM_ENTRY(free_entry, on_free, "free_percpu");

#define ALLOC_HOOK	alloc_probe.hook
#define FREE_HOOK	free_entry.hook
#endif

KMEM_EVENT(memtap_percpu_alloc, "percpu-alloc", "percpu",
	   "memory that each processor gets its own of", MEMTAP_HEAP_ALLOC, 1, &ALLOC_HOOK);
KMEM_EVENT(memtap_percpu_free, "percpu-free", "percpu", "such memory that is taken back",
	   MEMTAP_HEAP_FREE, 1, &FREE_HOOK);
