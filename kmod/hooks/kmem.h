/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_KMEM_H
#define _MEMTAP_KMEM_H

#include <linux/kprobes.h>

#include "hooks/hooks.h"
#include "live/objects.h"
#include "record/arch.h"
#include "record/record.h"

#include "compat/entry.h"
#include "compat/kernel_walk.h"
#include "compat/kprobe.h"
#include "compat/tracepoint.h"

/*
 * kmem.c: ways to hear of what the kernel allocates for itself, for slab.c, pages.c, percpu.c and
 * vmalloc.c.
 */

/* A tracepoint. */
struct kmem_tracepoint {
	struct memtap_hook hook;
	const char *group, *name;
	void *probe;
	bool stays;		/* it could not be taken away */
};

extern const struct memtap_hook_ops memtap_kmem_tracepoint_ops;

#define KMEM_TRACEPOINT(_var, _group, _name)				\
static struct kmem_tracepoint _var = {					\
	.hook = { .ops = &memtap_kmem_tracepoint_ops, .way = MEMTAP_WAY_TRACEPOINT }, \
	.group = _group,						\
	.name = #_name,							\
	.probe = on_##_name,						\
}

/*
 * The beginning of a function, which may have had several names: the first that the kernel
 * has.  By ftrace, or where there is none by a kprobe, which misses some: see compat/entry.h.
 */
struct kmem_entry {
	struct memtap_hook hook;
	const char *const *names;	/* NULL ends them */
	void (*fn)(struct pt_regs *regs);
#if MEMTAP_ENTRIES
	struct memtap_entry entry;
#endif
	struct kprobe kp;
	bool probed;		/* by the kprobe */
	bool stays;
	u64 missed;		/* of earlier attachments */
};

extern const struct memtap_hook_ops memtap_kmem_entry_ops;

#define KMEM_ENTRY(_var, _fn, ...)					\
static struct kmem_entry _var = {					\
	.hook = { .ops = &memtap_kmem_entry_ops, .way = MEMTAP_WAY_KPROBE }, \
	.names = (const char *const []){ __VA_ARGS__, NULL },		\
	.fn = _fn,							\
}

/* A function's beginning and its return.  It may wait, in many threads at once. */
struct kmem_return {
	struct memtap_hook hook;
	const char *const *names;
	kretprobe_handler_t begin, end;
	size_t data;		/* bytes that the two share */
	int most;		/* calls at once that are known, or 0: as by default */
	struct kretprobe probe;
	u32 taken;		/* which of the names, from 0 on */
	bool stays;
	u64 missed;
};

extern const struct memtap_hook_ops memtap_kmem_return_ops;

#define KMEM_RETURN(_var, _begin, _end, _data, ...)			\
static struct kmem_return _var = {					\
	.hook = { .ops = &memtap_kmem_return_ops, .way = MEMTAP_WAY_KRETPROBE }, \
	.names = (const char *const []){ __VA_ARGS__, NULL },		\
	.begin = _begin,						\
	.end = _end,							\
	.data = sizeof(_data),						\
}

#define KMEM_EVENT(_var, _name, _group, _summary, _op, _nr, ...)	\
const struct memtap_builtin _var = {					\
	.name = _name,							\
	.group = _group,						\
	.summary = _summary,						\
	.unit = (_op) == MEMTAP_HEAP_ALLOC ? MEMTAP_UNIT_BYTES : MEMTAP_UNIT_NONE, \
	.objects = _op,							\
	.nr_hooks = _nr,						\
	.hooks = { __VA_ARGS__ },					\
}

/* Somebody counts such events: who keeps objects is told by memtap_object_alloc(). */
static __always_inline bool memtap_kmem_counted(const struct memtap_source *src)
{
	if (unlikely(READ_ONCE(src->counting)))
		return true;
	this_cpu_inc(*src->hits);
	return false;
}

/* For those who count, which says how large it is; or that it goes. */
void memtap_kmem_count(struct memtap_source *src, const struct memtap_object *o, u64 bytes);
void memtap_kmem_count_freed(struct memtap_source *src, const struct memtap_object *o);

/* Who called the function that begins with @regs, or 0. */
u64 memtap_kmem_caller(const struct pt_regs *regs);

/* @o with its kind, id and bytes: it was handed out. */
void memtap_kmem_alloc(struct memtap_source *src, const struct memtap_object *o);
/* It is about to go. */
void memtap_kmem_freed(struct memtap_source *src, const struct memtap_object *o);

#endif
