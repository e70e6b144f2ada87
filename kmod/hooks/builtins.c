// SPDX-License-Identifier: GPL-2.0-only
/* The table of built-in events. */
#include <linux/kernel.h>

#include "hooks/hooks.h"
#include "hooks/reclaim.h"

const struct memtap_builtin *const memtap_builtins[] = {
	&memtap_minor_fault,
	&memtap_major_fault,
	&memtap_brk,
	&memtap_mmap,
	&memtap_mremap,
	&memtap_munmap,
	&memtap_mprotect,
	&memtap_shmem,
	&memtap_oom_kill,
	&memtap_direct_reclaim,
	&memtap_memcg_reclaim,
	&memtap_compaction,
	&memtap_swap_wait,
	&memtap_madvise,
	&memtap_shmget,
	&memtap_shmat,
	&memtap_shmdt,
	&memtap_shmctl,
	&memtap_memfd,
	&memtap_seal,
	&memtap_shm_create,
	&memtap_shm_size,
	&memtap_kmalloc,
	&memtap_kmem_cache_alloc,
	&memtap_kfree,
	&memtap_kmem_cache_free,
	&memtap_page_alloc,
	&memtap_page_free,
	&memtap_percpu_alloc,
	&memtap_percpu_free,
	&memtap_vmalloc_alloc,
	&memtap_vmalloc_free,
	&memtap_populate,
	&memtap_memcg_high,
};

const u32 memtap_nr_builtins = ARRAY_SIZE(memtap_builtins);

int memtap_hooks_init(void)
{
	const struct memtap_builtin *b;
	u32 i, j;
	int err = 0;

	memtap_reclaim_init();
	for (i = 0; !err && i < memtap_nr_builtins; i++) {
		b = memtap_builtins[i];
		for (j = 0; !err && j < b->nr_hooks; j++)
			err = memtap_hook_add(b->hooks[j], b->name);
	}
	if (err)
		memtap_hooks_exit();
	return err;
}

void memtap_hooks_exit(void)
{
	const struct memtap_builtin *b;
	u32 i, j;

	for (i = 0; i < memtap_nr_builtins; i++) {
		b = memtap_builtins[i];
		for (j = 0; j < b->nr_hooks; j++)
			memtap_hook_remove(b->hooks[j]);
	}
}
