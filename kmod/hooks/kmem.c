// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "hooks/kmem.h"

#include "compat/slab.h"

/* --- tracepoints ------------------------------------------------------------- */

static struct kmem_tracepoint *to_tracepoint(struct memtap_hook *h)
{
	return container_of(h, struct kmem_tracepoint, hook);
}

static int tracepoint_attach(struct memtap_hook *h)
{
	struct kmem_tracepoint *t = to_tracepoint(h);

	snprintf(h->target, sizeof(h->target), "%s:%s", t->group, t->name);
	/* some say the cache and not the size; what cannot be learnt is done without */
	memtap_slab_learn();
	if (t->stays) {		/* it never went away */
		t->stays = false;
		return 0;
	}
	return memtap_tracepoint_register(t->name, t->probe, NULL);
}

static void tracepoint_detach(struct memtap_hook *h)
{
	struct kmem_tracepoint *t = to_tracepoint(h);

	t->stays = !memtap_tracepoint_unregister(t->name, t->probe, NULL);
	tracepoint_synchronize_unregister();
}

const struct memtap_hook_ops memtap_kmem_tracepoint_ops = {
	.attach = tracepoint_attach,
	.detach = tracepoint_detach,
};

/* --- beginnings of functions ------------------------------------------------------ */

static struct kmem_entry *to_entry(struct memtap_hook *h)
{
	return container_of(h, struct kmem_entry, hook);
}

static int on_entry_probe(struct kprobe *kp, struct pt_regs *regs)
{
	container_of(kp, struct kmem_entry, kp)->fn(regs);
	return 0;
}

static int entry_register(struct kmem_entry *e, const char *name)
{
	int err = -EOPNOTSUPP;

#if MEMTAP_ENTRIES
	e->entry.fn = e->fn;
	err = memtap_entry_register(&e->entry, name);
#endif
	e->probed = err && err != -ENOENT && err != -ENOMEM;
	if (!e->probed)
		return err;
	memset(&e->kp, 0, sizeof(e->kp));
	e->kp.symbol_name = name;
	e->kp.pre_handler = on_entry_probe;
	return memtap_kprobe_register(&e->kp);
}

static bool entry_unregister(struct kmem_entry *e, const char *name)
{
	if (e->probed)
		return memtap_kprobe_unregister(&e->kp);
#if MEMTAP_ENTRIES
	return memtap_entry_unregister(&e->entry, name);
#else
	return true;
#endif
}

static int entry_attach(struct memtap_hook *h)
{
	struct kmem_entry *e = to_entry(h);
	int err = -ENOENT;
	u32 i;

	if (e->stays)
		return -EBUSY;
	for (i = 0; err == -ENOENT && e->names[i]; i++) {
		strscpy(h->target, e->names[i], sizeof(h->target));
		err = entry_register(e, e->names[i]);
	}
	return err;
}

static void entry_detach(struct memtap_hook *h)
{
	struct kmem_entry *e = to_entry(h);

	e->stays = !entry_unregister(e, h->target);
	e->missed += memtap_kprobe_missed(&e->kp);
	e->kp.nmissed = 0;
}

static u64 entry_missed(struct memtap_hook *h)
{
	return to_entry(h)->missed + memtap_kprobe_missed(&to_entry(h)->kp);
}

const struct memtap_hook_ops memtap_kmem_entry_ops = {
	.attach = entry_attach,
	.detach = entry_detach,
	.missed = entry_missed,
};

/* --- beginnings and returns ------------------------------------------------------- */

static struct kmem_return *to_return(struct memtap_hook *h)
{
	return container_of(h, struct kmem_return, hook);
}

static int return_attach(struct memtap_hook *h)
{
	struct kmem_return *p = to_return(h);
	int err = -ENOENT;
	u32 i;

	if (p->stays)
		return -EBUSY;
	for (i = 0; err == -ENOENT && p->names[i]; i++) {
		memset(&p->probe, 0, sizeof(p->probe));
		p->probe.kp.symbol_name = p->names[i];
		p->probe.entry_handler = p->begin;
		p->probe.handler = p->end;
		p->probe.data_size = p->data;
		p->probe.maxactive = max_t(int, p->most ? p->most : 256,
					   4 * num_possible_cpus());
		p->taken = i;
		err = memtap_kretprobe_register(&p->probe);
		strscpy(h->target, p->names[i], sizeof(h->target));
	}
	return err;
}

static u64 return_lost(const struct kmem_return *p)
{
	return memtap_kretprobe_missed(&p->probe);
}

static void return_detach(struct memtap_hook *h)
{
	struct kmem_return *p = to_return(h);

	p->stays = !memtap_kretprobe_unregister(&p->probe);
	p->missed += return_lost(p);
	p->probe.kp.nmissed = 0;
	p->probe.nmissed = 0;
}

static u64 return_missed(struct memtap_hook *h)
{
	return to_return(h)->missed + return_lost(to_return(h));
}

const struct memtap_hook_ops memtap_kmem_return_ops = {
	.attach = return_attach,
	.detach = return_detach,
	.missed = return_missed,
};

/* --- what is told ---------------------------------------------------------- */

u64 memtap_kmem_caller(const struct pt_regs *regs)
{
	unsigned long caller;

	return copy_from_kernel_nofault(&caller, memtap_kreturn_at(regs), sizeof(caller)) ?
	       0 : caller;
}

static void count(struct memtap_source *src, const struct memtap_object *o, u64 bytes, u32 flags)
{
	const struct memtap_hit hit = {
		.frame = o->frame, .regs = o->regs, .addr = (unsigned long)o->ptr,
		.site = o->call_site, .value = (s64)bytes,
		.flags = flags | (o->regs ? MEMTAP_HIT_CALLED : 0),
		.stacks = o->stacks,
	};

	memtap_hit(src, &hit);
}

void memtap_kmem_count(struct memtap_source *src, const struct memtap_object *o, u64 bytes)
{
	count(src, o, bytes, MEMTAP_HIT_VALUE);
}

void memtap_kmem_count_freed(struct memtap_source *src, const struct memtap_object *o)
{
	count(src, o, 0, 0);
}

void memtap_kmem_alloc(struct memtap_source *src, const struct memtap_object *o)
{
	if (memtap_kmem_counted(src))
		memtap_kmem_count(src, o, o->bytes);
	memtap_object_alloc(src, o);
}

void memtap_kmem_freed(struct memtap_source *src, const struct memtap_object *o)
{
	if (memtap_kmem_counted(src))
		memtap_kmem_count_freed(src, o);
	memtap_object_freed(src, o);
}
