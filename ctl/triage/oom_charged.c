// SPDX-License-Identifier: GPL-2.0-or-later
/* Diagnose an OOM kill at a cgroup's limit by the cgroup's charges (memory.stat). */
#include <stdio.h>
#include <string.h>

#include "core/names.h"
#include "triage/oom_int.h"

/* Percent of the usage at the kill.  If memory.stat sums to less, part was already freed. */
#define NEARLY_ALL	85

/* Kernel memory without a line of its own in memory.stat: pages of pipes, for example. */
#define OTHER_KERNEL	MEMTAP_NR_CHARGED

static const struct kind {
	__u32 of;
	enum oom_cause cause;
	const char *name, *command, *tells;
} kinds[] = {
	{ MEMTAP_CHARGED_SHMEM, OOM_SHARED, NULL, "memtap shmem --cgroup %s -d 10",
	  "which programs fill tmpfs and shared memory, by stack and file" },
	{ MEMTAP_CHARGED_TABLES, OOM_KERNEL, NULL, "memtap faults --cgroup %s -d 10",
	  "where its programs touch new addresses, which need page tables" },
	{ MEMTAP_CHARGED_STACKS, OOM_KERNEL, NULL,
	  "memtap stacks t:sched:sched_process_fork --cgroup %s -d 10",
	  "which stacks start threads and processes" },
	{ MEMTAP_CHARGED_PERCPU, OOM_KERNEL, NULL, "memtap leaks -k --percpu -d 10",
	  "per-CPU memory that is not freed, by kernel stack" },
	{ MEMTAP_CHARGED_VMALLOC, OOM_KERNEL, NULL, "memtap leaks -k -d 10",
	  "vmalloc areas that are not freed, by kernel stack" },
	{ MEMTAP_CHARGED_SLAB, OOM_KERNEL, NULL, "memtap leaks -k -d 10",
	  "slab objects that are not freed, by kernel stack" },
	{ MEMTAP_CHARGED_SLAB_RECLAIMABLE, OOM_KERNEL, NULL, "memtap leaks -k -d 10",
	  "slab objects that are not freed, by kernel stack" },
	{ MEMTAP_CHARGED_SOCKETS, OOM_KERNEL, NULL, "memtap leaks -k -d 10",
	  "socket buffers that are not freed, by kernel stack" },
	{ OTHER_KERNEL, OOM_KERNEL, "other kernel pages (pipes, for example)",
	  "memtap leaks -k -d 10",
	  "pages that are not freed, by kernel stack" },
	{ MEMTAP_CHARGED_FILE, OOM_CACHE, "page cache that could not be reclaimed in time",
	  "memtap reclaim --stacks --cgroup %s -d 10",
	  "direct reclaim stalls in the cgroup, by stack" },
	{ MEMTAP_CHARGED_ANON, OOM_UNKNOWN, NULL, "memtap faults --cgroup %s -d 10",
	  "where its programs touch new memory, by stack" },
};

#define NR_KINDS	(sizeof(kinds) / sizeof(kinds[0]))

__u64 oom_charge(const struct memtap_oom_record *r, unsigned int kind)
{
	return kind < r->nr_charged && r->charged[kind] != MEMTAP_OOM_UNKNOWN ?
	       r->charged[kind] : 0;
}

static __u64 named_kernel(const struct memtap_oom_record *r)
{
	__u64 sum = 0;

	for (__u32 i = MEMTAP_CHARGED_STACKS; i <= MEMTAP_CHARGED_SLAB_RECLAIMABLE; i++)
		sum += oom_charge(r, i);
	return sum;
}

static bool is_known(const struct memtap_oom_record *r, unsigned int kind)
{
	return kind < r->nr_charged && r->charged[kind] != MEMTAP_OOM_UNKNOWN;
}

/* Before v5.18 memory.stat has no total of kernel memory: then the sum of its parts. */
static __u64 kernel(const struct memtap_oom_record *r)
{
	return is_known(r, MEMTAP_CHARGED_KERNEL) ? oom_charge(r, MEMTAP_CHARGED_KERNEL) :
	       named_kernel(r);
}

static __u64 sum_of(const struct memtap_oom_record *r)
{
	return oom_charge(r, MEMTAP_CHARGED_ANON) + oom_charge(r, MEMTAP_CHARGED_FILE) +
	       oom_charge(r, MEMTAP_CHARGED_SOCKETS) + kernel(r);
}

static __u64 charged_of(const struct memtap_oom_record *r)
{
	return r->usage != MEMTAP_OOM_UNKNOWN ? r->usage : r->allowed;
}

bool oom_charged_whole(const struct memtap_oom_record *r)
{
	return r->later_ns && (r->later_ns < r->killed_ns ||
	       oom_percent(sum_of(r), charged_of(r)) >= NEARLY_ALL);
}

/*
 * Kernel memory less the parts that have lines.  Where memory.stat has no total of kernel
 * memory, the usage less all lines; only if memory.stat was read before the kill.
 */
static __u64 other_kernel(const struct memtap_oom_record *r)
{
	const __u64 whole = is_known(r, MEMTAP_CHARGED_KERNEL) ?
			    oom_charge(r, MEMTAP_CHARGED_KERNEL) :
			    r->later_ns < r->killed_ns && r->usage != MEMTAP_OOM_UNKNOWN &&
			    r->usage > sum_of(r) ? r->usage - sum_of(r) + named_kernel(r) : 0;

	return whole > named_kernel(r) ? whole - named_kernel(r) : 0;
}

static __u64 amount(const struct memtap_oom_record *r, const struct kind *k)
{
	const __u64 v = k->of == OTHER_KERNEL ? other_kernel(r) : oom_charge(r, k->of);

	if (k->of != MEMTAP_CHARGED_FILE)
		return v;
	return v > oom_charge(r, MEMTAP_CHARGED_SHMEM) ?
	       v - oom_charge(r, MEMTAP_CHARGED_SHMEM) : 0;
}

/* cgroup v1 has one sum of kernel memory, without kinds. */
static const char *name_of(const struct memtap_oom_record *r, const struct kind *k)
{
	if (k->of == OTHER_KERNEL && !is_known(r, MEMTAP_CHARGED_SLAB))
		return "kernel memory (this kernel does not report its kind)";
	return k->name ? k->name : charged_sentence(k->of);
}

bool oom_charged(const struct memtap_oom_record *r, struct oom_why *w)
{
	const __u64 charged = charged_of(r);
	const struct kind *most = NULL;

	if (!r->later_ns)
		return false;
	for (size_t i = 0; i < NR_KINDS; i++)
		if (!most || amount(r, &kinds[i]) > amount(r, most))
			most = &kinds[i];
	/* even if part was freed, the remainder may be more than half of the usage */
	if (oom_percent(amount(r, most), charged) < (oom_charged_whole(r) ? OOM_MUCH : 50))
		return false;
	w->cause = most->cause;
	w->kind = most->of == OTHER_KERNEL ? "other-kernel" : charged_name(most->of);
	oom_say(w, "%s of that was %s.", oom_size(amount(r, most)).text, name_of(r, most));
	oom_advise(w, most->tells, most->command, oom_limit_path(r));
	return true;
}
