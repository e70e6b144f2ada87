// SPDX-License-Identifier: GPL-2.0-only
/* What recording stands on: each CPU's memory for it, and the works' queue. */
#include <linux/percpu.h>
#include <linux/workqueue.h>

#include "record/guard.h"

struct memtap_scratch __percpu *memtap_scratch;
struct workqueue_struct *memtap_wq;

char *memtap_path_buf(void)
{
	return this_cpu_ptr(memtap_scratch)->path;
}

int memtap_guard_init(void)
{
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
