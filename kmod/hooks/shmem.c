// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count pages that enter shared memory: files on tmpfs, memfd, SysV shared memory, shared
 * anonymous mappings, graphics buffers.
 *
 * They enter by write(), a fault, fallocate(), splice(), userfaultfd, or swap-in: all call one
 * function.  The probe is on its return: if two threads add the same page at once, one of them
 * fails and tries again.
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

/* Suffixes of a copy of a function are numbered by file. */
#define MOST_COPIES	40

struct shmem_call {
	u64 pages;
	const void *what;		/* the folio or page; its lock is held meanwhile */
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
	void *what = (void *)memtap_karg(regs, 0);

	c->what = what;
	c->pages = memtap_shmem_pages(what);
	return 0;
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct shmem_call *c = (const struct shmem_call *)ri->data;
	const struct address_space *mapping;
	struct memtap_hit hit = {
		.value = (s64)c->pages,
		.flags = MEMTAP_HIT_PAGES,
	};

	if ((int)regs_return_value(regs))
		return 0;
	mapping = memtap_shmem_mapping(c->what);
	if (mapping)
		hit.inode = mapping->host;
	memtap_note_trampoline(regs);
	if (current->mm && !(current->flags & PF_KTHREAD))
		hit.flags |= MEMTAP_HIT_USER | MEMTAP_HIT_TASK;
	if (c->pages > 1)
		hit.key = MEMTAP_KEY_HUGE;
	memtap_hit(&shmem.hook.source, &hit);
	return 0;
}

static int attach_to(struct memtap_hook *h, const char *name)
{
	int err;

	memset(&shmem.probe, 0, sizeof(shmem.probe));
	shmem.probe.kp.symbol_name = name;
	shmem.probe.entry_handler = on_entry;
	shmem.probe.handler = on_return;
	shmem.probe.data_size = sizeof(struct shmem_call);
	/* it may wait for memory, in many threads at once */
	shmem.probe.maxactive = max_t(int, 256, 4 * num_possible_cpus());
	err = memtap_kretprobe_register(&shmem.probe);
	if (!err)
		strscpy(h->target, name, sizeof(h->target));
	return err;
}

static int attach(struct memtap_hook *h)
{
	/*
	 * The compiler may have made it a copy, with a constant argument or without those
	 * that are not used.  The first one is what it is about.
	 */
	static const char *const copies[] = { "constprop", "isra" };
	static char name[48];		/* the kernel may ask for it as long as it is probed */
	int err;
	u32 i, nr;

	if (shmem.stays)
		return -EBUSY;
	err = attach_to(h, "shmem_add_to_page_cache");
	for (i = 0; i < ARRAY_SIZE(copies); i++)
		for (nr = 0; err == -ENOENT && nr < MOST_COPIES; nr++) {
			snprintf(name, sizeof(name), "shmem_add_to_page_cache.%s.%u", copies[i],
				 nr);
			err = attach_to(h, name);
		}
	if (err)
		strscpy(h->target, "shmem_add_to_page_cache", sizeof(h->target));
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
