// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages that enter shared memory: files on tmpfs, memfd, SysV shared memory, anonymous
 * mappings that are shared, buffers of graphics.  By write(), a fault, fallocate(),
 * splice(), userfaultfd, or back from swap: all go through one function.  A probe on its
 * return: of two threads that add the same page at once, one fails, and tries again.
 */
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "hooks/hooks.h"
#include "record/arch.h"
#include "record/record.h"

#include "compat/kernel_walk.h"
#include "compat/kprobe.h"
#include "compat/shmem.h"

struct shmem_call {
	u64 pages;
	const struct inode *inode;
};

struct shmem_hook {
	struct memtap_hook hook;
	struct kretprobe probe;
	bool stays;		/* it could not be taken away */
	u64 missed;		/* of earlier attachments */
};

static struct shmem_hook shmem;

/* shmem_add_to_page_cache(folio, mapping, ...) */
static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct shmem_call *c = (struct shmem_call *)ri->data;
	const struct address_space *mapping = (void *)memtap_karg(regs, 1);

	c->pages = memtap_shmem_pages((void *)memtap_karg(regs, 0));
	c->inode = mapping->host;
	return 0;
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct shmem_call *c = (const struct shmem_call *)ri->data;
	struct memtap_hit hit = {
		.value = (s64)c->pages,
		.inode = c->inode,
		.flags = MEMTAP_HIT_PAGES,
	};

	if ((int)regs_return_value(regs))
		return 0;
	memtap_note_trampoline(regs);
	if (current->mm && !(current->flags & PF_KTHREAD))
		hit.flags |= MEMTAP_HIT_USER | MEMTAP_HIT_TASK;
	if (c->pages > 1)
		hit.key = MEMTAP_KEY_HUGE;
	memtap_hit(&shmem.hook.source, &hit);
	return 0;
}

static int attach(struct memtap_hook *h)
{
	/* the second: where the compiler has made it a copy with a constant argument */
	static const char *const names[] = {
		"shmem_add_to_page_cache", "shmem_add_to_page_cache.constprop.0",
	};
	int err = -ENOENT;
	u32 i;

	if (shmem.stays)
		return -EBUSY;
	for (i = 0; err == -ENOENT && i < ARRAY_SIZE(names); i++) {
		memset(&shmem.probe, 0, sizeof(shmem.probe));
		shmem.probe.kp.symbol_name = names[i];
		shmem.probe.entry_handler = on_entry;
		shmem.probe.handler = on_return;
		shmem.probe.data_size = sizeof(struct shmem_call);
		/* it may wait for memory, in many threads at once */
		shmem.probe.maxactive = max_t(int, 256, 4 * num_possible_cpus());
		err = memtap_kretprobe_register(&shmem.probe);
		strscpy(h->target, names[err ? 0 : i], sizeof(h->target));
	}
	return err;
}

static void detach(struct memtap_hook *h)
{
	shmem.stays = !memtap_kretprobe_unregister(&shmem.probe);
	shmem.missed += memtap_kretprobe_missed(&shmem.probe);
	shmem.probe.nmissed = 0;
	shmem.probe.kp.nmissed = 0;
}

static u64 missed(struct memtap_hook *h)
{
	return shmem.missed + memtap_kretprobe_missed(&shmem.probe);
}

static const struct memtap_hook_ops shmem_ops = {
	.attach = attach,
	.detach = detach,
	.missed = missed,
};

static struct shmem_hook shmem = {
	.hook = { .ops = &shmem_ops, .way = MEMTAP_WAY_KRETPROBE },
};

const struct memtap_builtin memtap_shmem = {
	.name = "shmem",
	.group = "shmem",
	.summary = "pages that enter shared memory: tmpfs, memfd, shm_open(), shmget()",
	.unit = MEMTAP_UNIT_PAGES,
	.nr_hooks = 1,
	.hooks = { &shmem.hook },
};
