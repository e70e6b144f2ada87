// SPDX-License-Identifier: GPL-2.0-or-later
/* Make the test record that `memtap oom --test` shows. */
#include <stdio.h>
#include <string.h>

#include "triage/oom.h"

#define MIB	(1ULL << 20)

static void make_task(struct memtap_oom_task *t, const char *comm, __s32 pid, __u64 anon,
		      __u64 swap)
{
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	t->pid = pid;
	t->tid = pid;
	t->ns_pid = pid;
	t->uid = 1000;
	t->virt = 2 * anon;
	t->anon = anon;
	t->file = 8 * MIB;
	t->swap = swap;
	t->tables = anon / 400;
	t->cgroup = 4711;
	t->flags = MEMTAP_OOM_TASK_SIZED;
}

static void make_zone(struct memtap_oom_zone *z, const char *name, __u64 managed, __u64 free)
{
	snprintf(z->name, sizeof(z->name), "%s", name);
	z->managed = managed;
	z->free = free;
	z->min = free + MIB;
	z->low = z->min + z->min / 4;
	z->high = z->min + z->min / 2;
	z->nr_orders = 11;
	z->blocks[0] = free / 4096 / 2;
	z->blocks[1] = free / 4096 / 4;
}

static void make_counters(struct memtap_oom_record *r)
{
	static const __u64 mib[MEMTAP_NR_VM] = {
		[MEMTAP_VM_FREE] = 45, [MEMTAP_VM_ANON] = 3650, [MEMTAP_VM_FILE] = 66,
		[MEMTAP_VM_SHMEM] = 12, [MEMTAP_VM_DIRTY] = 0, [MEMTAP_VM_SLAB] = 88,
		[MEMTAP_VM_SLAB_RECLAIMABLE] = 30, [MEMTAP_VM_TABLES] = 14,
		[MEMTAP_VM_STACKS] = 5,
	};
	static const __u64 reclaim[MEMTAP_NR_RECLAIM] = { 912400, 1180000, 31000, 22000, 4100,
							  800, 250000 };

	r->nr_counters = MEMTAP_NR_VM;
	for (int i = 0; i < MEMTAP_NR_VM; i++)
		r->counters[i] = mib[i] * MIB;
	r->nr_reclaim = MEMTAP_NR_RECLAIM;
	r->reclaim_ms = 60000;
	memcpy(r->reclaim, reclaim, sizeof(reclaim));
}

void oom_make(struct memtap_oom_record *r, __u64 real_ns)
{
	memset(r, 0, sizeof(*r));
	r->size = sizeof(*r);
	r->flags = MEMTAP_OOM_MADE | MEMTAP_OOM_DONE | MEMTAP_OOM_KILLED;
	r->nr = 1;
	r->real_ns = real_ns;
	r->gfp = 0x140dca;
	snprintf(r->gfp_text, sizeof(r->gfp_text), "GFP_HIGHUSER_MOVABLE|__GFP_ZERO");
	snprintf(r->message, sizeof(r->message), "Out of memory");
	r->limit = MEMTAP_OOM_UNKNOWN;
	r->usage = MEMTAP_OOM_UNKNOWN;
	r->total = 3900 * MIB;
	r->allowed = 4924 * MIB;
	r->points = 4100 * MIB;
	r->load[0] = 3210;
	r->load[1] = 1440;
	r->load[2] = 520;
	r->page_size = 4096;
	r->nr_cpus = 4;
	make_task(&r->trigger, "test-trigger", 1200, 40 * MIB, 0);
	make_task(&r->victim, "test-victim", 1234, 3300 * MIB, 800 * MIB);
	snprintf(r->trigger_path, sizeof(r->trigger_path), "/test.slice");
	snprintf(r->victim_path, sizeof(r->victim_path), "/test.slice");
	r->top[0] = r->victim;
	r->top[1] = r->trigger;
	r->nr_top = 2;
	r->processes = 61;
	r->held = 4400 * MIB;
	r->same = 1;
	r->same_held = 4100 * MIB;
	r->nr_zones = 2;
	make_zone(&r->zones[0], "DMA32", 1900 * MIB, 20 * MIB);
	make_zone(&r->zones[1], "Normal", 2000 * MIB, 25 * MIB);
	make_counters(r);
}
