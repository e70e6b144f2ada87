// SPDX-License-Identifier: GPL-2.0-or-later
/* Group live blocks of processes and of the kernel into rows. */
#include <errno.h>
#include <string.h>

#include "report/int.h"

/* The innermost module that is on a stack: who is the one that asked. */
static __s64 module_group(struct maker *m, __u32 id)
{
	const struct snap_stack *st = snap_stack(m->r.snap, id);
	const struct sym_frame *f;
	char label[96];

	if (!st)
		return report_group_named(m, "[stack not recorded]");
	for (__u32 i = 0; i < st->nr; i++) {
		const bool call = i || !(st->flags & MEMTAP_STACK_ENTRY);

		if (!sym_kernel(m->sym, m->r.snap, st->ip[i], call, &f) || !f->object ||
		    !f->name || !strcmp(f->object, "kernel"))
			continue;
		snprintf(label, sizeof(label), "[%.90s]", f->object);
		return report_group_named(m, label);
	}
	return report_group_named(m, "the kernel itself");
}

/* Merged with others it goes by one name of several, which may say little. */
static __s64 cache_group(struct maker *m, const struct memtap_rec_cache *c)
{
	__u32 *known = m->cache_groups ? &m->cache_groups[c - m->r.snap->caches] : NULL;
	char label[MEMTAP_CACHE_LEN + CACHE_ALSO + 16], also[CACHE_ALSO];
	__s64 id;

	if (!known)
		return report_group_named(m, c->name);
	if (*known)
		return *known - 1;
	machine_caches_also(m->r.o->caches, c->name, also);
	snprintf(label, sizeof(label), *also ? "%s (also %s)" : "%s", c->name, also);
	id = report_group_named(m, label);
	if (id >= 0)
		*known = (__u32)id + 1;
	return id;
}

static __s64 kernel_group(struct maker *m, const struct memtap_block *b)
{
	switch (m->r.o->by) {
	case BY_CACHE:
		return cache_group(m, snap_cache(m->r.snap, b->space));
	case BY_MODULE:
		return module_group(m, b->ustack);
	default:
		return report_group(m, b->task);
	}
}

__u32 report_block_event(const struct snap *s, const struct memtap_block *b)
{
	const bool kernel = b->flags & MEMTAP_BLOCK_KERNEL;
	const struct memtap_rec_cache *c = kernel ? snap_cache(s, b->space) : NULL;

	if (!kernel)
		return b->flags & MEMTAP_BLOCK_MAPPING ? RLEAKS_MAPPINGS : RLEAKS_HEAP;
	switch (c ? c->kind : MEMTAP_CACHE_OTHER) {
	case MEMTAP_CACHE_PAGES:
		return RLEAKS_PAGES;
	case MEMTAP_CACHE_PERCPU:
		return RLEAKS_PERCPU;
	case MEMTAP_CACHE_VMALLOC:
	case MEMTAP_CACHE_VMAP:
		return RLEAKS_VMALLOC;
	default:
		return RLEAKS_HEAP;
	}
}

/* Summed up by cache, module, process ...: without stacks, unless somebody asks for them. */
static int kernel_key(struct maker *m, const struct memtap_block *b, struct rrow *key)
{
	const __s64 group = kernel_group(m, b);
	const __s64 stack = m->r.o->rolled_up ? 0 : report_stack(m, b->ustack, NULL);

	if (group < 0 || stack < 0)
		return -ENOMEM;
	key->event = report_block_event(m->r.snap, b);
	key->group = (__u32)group;
	key->kstack = (__u32)stack;
	return 0;
}

int report_block_key(struct maker *m, const struct memtap_block *b, struct rrow *key)
{
	const struct memtap_rec_task *task = snap_task(m->r.snap, b->task);
	__s64 group, ustack = 0;

	if (b->flags & MEMTAP_BLOCK_KERNEL)
		return kernel_key(m, b, key);
	group = report_group(m, b->task);
	if (!m->r.o->no_user)
		ustack = report_stack(m, b->ustack, task);
	if (group < 0 || ustack < 0)
		return -ENOMEM;
	key->event = report_block_event(m->r.snap, b);
	key->group = (__u32)group;
	key->ustack = (__u32)ustack;
	return 0;
}
