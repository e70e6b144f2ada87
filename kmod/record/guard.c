// SPDX-License-Identifier: GPL-2.0-only
/* Allocate the per-CPU memory that recording needs, and the work queue. */
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>

#include "record/guard.h"

#include "compat/valloc.h"

struct memtap_scratch __percpu *memtap_scratch;
struct workqueue_struct *memtap_wq;

char *memtap_path_buf(void)
{
	return this_cpu_ptr(memtap_scratch)->path;
}

static DEFINE_MUTEX(deepen_lock);
static u32 deep_users;

static void free_deep(void)
{
	struct memtap_scratch *sc;
	int cpu;

	for_each_possible_cpu(cpu) {
		sc = per_cpu_ptr(memtap_scratch, cpu);
		memtap_vfree(sc->deep);
		sc->deep = NULL;
	}
}

int memtap_guard_deepen(void)
{
	struct memtap_scratch *sc;
	int err = 0, cpu;
	u64 *deep;

	mutex_lock(&deepen_lock);
	for_each_possible_cpu(cpu) {
		sc = per_cpu_ptr(memtap_scratch, cpu);
		if (sc->deep)
			continue;
		deep = memtap_vzalloc_own(MEMTAP_DEEP_BYTES, cpu_to_node(cpu));
		if (!deep) {
			err = -ENOMEM;
			break;
		}
		WRITE_ONCE(sc->deep, deep);
	}
	if (!err)
		deep_users++;
	else if (!deep_users)
		free_deep();
	mutex_unlock(&deepen_lock);
	return err;
}

void memtap_guard_undeepen(void)
{
	mutex_lock(&deepen_lock);
	if (!--deep_users)
		free_deep();
	mutex_unlock(&deepen_lock);
}

int memtap_guard_init(void)
{
	/* what there is at most per CPU: PCPU_MIN_UNIT_SIZE */
	BUILD_BUG_ON(sizeof(struct memtap_scratch) > 32 << 10);
	memtap_wq = alloc_workqueue("memtap", WQ_UNBOUND, 0);
	if (!memtap_wq)
		return -ENOMEM;
	memtap_scratch = alloc_percpu(struct memtap_scratch);
	if (memtap_scratch)
		return 0;
	destroy_workqueue(memtap_wq);
	return -ENOMEM;
}

void memtap_guard_exit(void)
{
	free_percpu(memtap_scratch);
	destroy_workqueue(memtap_wq);
}
