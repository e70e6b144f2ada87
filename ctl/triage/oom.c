// SPDX-License-Identifier: GPL-2.0-or-later
/* Diagnose an OOM kill: its cause, and the command to run next. */
#include <stdio.h>
#include <string.h>

#include "triage/int.h"
#include "triage/oom_int.h"

const char *const oom_cause_names[NR_OOM_CAUSE] = {
	[OOM_UNKNOWN] = "unknown",
	[OOM_SYSRQ] = "sysrq",
	[OOM_FRAGMENTED] = "fragmentation",
	[OOM_SHARED] = "shared-memory",
	[OOM_KERNEL] = "kernel-memory",
	[OOM_HUGE] = "huge-pages",
	[OOM_LOCKED] = "locked-memory",
	[OOM_PROCESS] = "process",
	[OOM_PROCESSES] = "processes",
	[OOM_CACHE] = "cache",
};

/* Percent of the allowed memory that makes one process the cause. */
#define MUCH_FOR_ONE	40
/* So many processes of one name make them, together, a possible cause. */
#define MANY		20

/* --- what it was used for ---------------------------------------------------- */

/* What killing the process frees: its private memory. */
static __u64 private_size(const struct memtap_oom_task *t)
{
	return t->anon + t->swap + t->tables;
}

/* The process with the most private memory. */
static const struct memtap_oom_task *largest(const struct memtap_oom_record *r)
{
	const struct memtap_oom_task *best = r->nr_top ? &r->top[0] : &r->victim;

	for (__u32 i = 1; i < r->nr_top; i++)
		if (private_size(&r->top[i]) > private_size(best))
			best = &r->top[i];
	return best;
}

/* Enough memory is free above the high watermarks, but no block of the requested order. */
static bool is_fragmented(const struct memtap_oom_record *r)
{
	__u64 blocks = 0, free = 0;
	bool known = false;

	if (r->order <= 0 || r->constraint == MEMTAP_CONSTRAINT_MEMCG)
		return false;
	for (__u32 i = 0; i < r->nr_zones; i++) {
		const struct memtap_oom_zone *z = &r->zones[i];

		/* ZONE_DMA does not serve ordinary allocations */
		if (!strcmp(z->name, "DMA"))
			continue;
		if (z->free > z->high)
			free += z->free - z->high;
		known = known || z->nr_orders > (__u32)r->order;
		for (__u32 order = (__u32)r->order; order < z->nr_orders; order++)
			blocks += z->blocks[order];
	}
	return known && !blocks && free > (__u64)r->page_size << r->order;
}

/* Explain why a smaller process was killed, where the kernel's OOM score explains it. */
static void say_instead(const struct memtap_oom_record *r, struct oom_why *w,
			const struct memtap_oom_task *t)
{
	const struct memtap_oom_task *v = &r->victim;
	struct oom_score victim, other;
	const enum oom_instead why = oom_instead(r, t, &victim, &other);

	if (why == OOM_INSTEAD_UNKNOWN) {
		oom_say(w, "; %s (%d) was killed; the %s does not say why not %s",
			v->comm, v->pid, r->flags & MEMTAP_OOM_LOGGED ? "log" : "record",
			t->comm);
		return;
	}
	oom_say(w, "; %s (%d) was killed instead", v->comm, v->pid);
	switch (why) {
	case OOM_INSTEAD_ORIGIN:
		oom_say(w, ": it had marked itself as the first to kill (swapoff, KSM)");
		break;
	case OOM_INSTEAD_PROTECTED:
		oom_say(w, ": oom_score_adj -1000 protects %s", t->comm);
		break;
	case OOM_INSTEAD_SPARED:
		oom_say(w, ": the kernel may not kill %s for this allocation", t->comm);
		break;
	case OOM_INSTEAD_DYING:
		oom_say(w, ": %s was already exiting", t->comm);
		break;
	case OOM_INSTEAD_ADJUSTMENT:
		if (v->score_adj > 0)
			oom_say(w, ", because of its oom_score_adj %d", v->score_adj);
		else
			oom_say(w, ", because of the oom_score_adj %d of "
				"%s", t->score_adj, t->comm);
		oom_say(w, ": its OOM score was %s%s, against %s for %s",
			r->flags & MEMTAP_OOM_PERMILLE ? "about " : "",
			oom_signed_size(victim.most).text, oom_signed_size(other.most).text,
			t->comm);
		break;
	default:
		break;
	}
}

/* A kernel's log may have what is resident alone: then some of it may be a file's. */
static const char *at_least(const struct memtap_oom_record *r, const struct memtap_oom_task *t)
{
	return r->flags & MEMTAP_OOM_LOGGED && !(t->flags & MEMTAP_OOM_TASK_SIZED) ?
	       "at least " : "";
}

static void say_process(const struct memtap_oom_record *r, struct oom_why *w,
			const struct memtap_oom_task *t, __u64 of)
{
	const bool tables = t->tables > private_size(t) / 2;

	oom_say(w, "process %s (%d) alone held %s%s", t->comm, t->pid, at_least(r, t),
		oom_size(private_size(t)).text);
	if (tables)
		oom_say(w, ", including %s of page tables", oom_size(t->tables).text);
	oom_say(w, ", %u %% of the allowed memory%s", oom_percent(private_size(t), of),
		oom_of_nodes(r) ? " (its share on these nodes is unknown)" : "");
	if (r->victim.pid && t->pid != r->victim.pid)
		say_instead(r, w, t);
	oom_say(w, ".");
	if (tables)
		oom_advise(w, "where it touches new addresses, which need page tables",
			   "memtap faults --comm %s -d 10", t->comm);
	else
		oom_advise(w, "what it allocates and does not free, by stack, on its next run",
			   "memtap leaks --comm %s -d 10", t->comm);
}

static void say_processes(const struct memtap_oom_record *r, struct oom_why *w)
{
	oom_say(w, "%u processes named %s together held %s%s.", r->same, r->victim.comm,
		at_least(r, largest(r)), oom_size(r->same_held).text);
	oom_advise(w, "which stacks start these processes", "memtap stacks "
		"t:sched:sched_process_fork "
		   "--by program -d 10", NULL);
}

static void say_kernel(const struct oom_memory *m, struct oom_why *w)
{
	static const struct {
		unsigned int vm;
		const char *name;
	} kinds[] = {
		{ MEMTAP_VM_SLAB, "slab" }, { MEMTAP_VM_TABLES, "page tables" },
		{ MEMTAP_VM_STACKS, "kernel stacks" },
		{ MEMTAP_VM_PERCPU, "per-CPU memory" },
	};
	const char *name = m->knows_huge ? "unaccounted pages (drivers, vmalloc)" :
			   "unaccounted pages (drivers, vmalloc, huge pages)";
	__u64 most = m->unaccounted;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (m->at[kinds[i].vm] > most) {
			most = m->at[kinds[i].vm];
			name = kinds[i].name;
		}
	oom_say(w, "the kernel itself held %s, most of it %s: %s.",
		oom_size(m->kernel + m->unaccounted).text, name, oom_size(most).text);
	oom_advise(w, "which kind of kernel memory grows", "memtap leaks -k --census 10 1", NULL);
}

static void say_shared(const struct memtap_oom_record *r, struct oom_why *w, __u64 shared)
{
	const struct memtap_oom_task *t = largest(r);

	oom_say(w, "shared memory and files on tmpfs held %s", oom_size(shared).text);
	if (t->shmem > shared / 2)
		oom_say(w, ", of which %s (%d) had mapped %s", t->comm, t->pid,
			oom_size(t->shmem).text);
	else
		oom_say(w, ", which killing a process does not free");
	oom_say(w, ".");
	oom_advise(w, "which programs fill it, by stack and file", "memtap shmem -d 10", NULL);
}

static void say_unknown(const struct memtap_oom_record *r, struct oom_why *w)
{
	const struct memtap_oom_task *t = largest(r);

	if (!r->nr_top && r->flags & MEMTAP_OOM_LOGGED)
		oom_say(w, "the log does not list the processes, and names no other cause.");
	else if (r->flags & MEMTAP_OOM_LOGGED && !r->total && !r->allowed)
		oom_say(w, "the log does not say how much memory there was; the largest of %u "
			"processes, %s (%d), held %s%s.", r->processes, t->comm, t->pid,
			at_least(r, t), oom_size(private_size(t)).text);
	else
		oom_say(w, "no single cause: the largest of %u processes, %s (%d), held %s%s.",
			r->processes, t->comm, t->pid, at_least(r, t),
			oom_size(private_size(t)).text);
	oom_advise(w, "which programs touch new memory, and where",
		   "memtap faults --by program -d 10", NULL);
}

static bool are_many(const struct memtap_oom_record *r, __u64 of)
{
	return r->same >= MANY && oom_percent(r->same_held, of) >= OOM_MUCH &&
	       oom_percent(private_size(largest(r)), r->same_held) < 50;
}

/* At the limit of a cgroup: the record has only the processes in it. */
static void in_cgroup(const struct memtap_oom_record *r, struct oom_why *w)
{
	const __u64 charged = r->usage != MEMTAP_OOM_UNKNOWN ? r->usage : r->allowed;
	const struct memtap_oom_task *t = largest(r);
	__u64 shared = 0;

	for (__u32 i = 0; i < r->nr_top; i++)
		shared = r->top[i].shmem > shared ? r->top[i].shmem : shared;
	if (oom_percent(private_size(t), charged) >= MUCH_FOR_ONE) {
		w->cause = OOM_PROCESS;
		say_process(r, w, t, charged);
	} else if (are_many(r, charged)) {
		w->cause = OOM_PROCESSES;
		say_processes(r, w);
	} else if (oom_charged(r, w)) {
		return;
	} else if (oom_percent(shared, charged) >= OOM_MUCH) {
		w->cause = OOM_SHARED;
		say_shared(r, w, shared);
	} else if (r->processes && oom_percent(r->held, charged) < 100 - MUCH_FOR_ONE) {
		w->cause = OOM_CACHE;
		oom_say(w, "its %u process%s held %s %s of that; the rest is tmpfs, page cache "
			"or kernel memory (which of them is unknown).", r->processes,
			r->processes == 1 ? "" : "es",
			r->flags & MEMTAP_OOM_LOGGED ? "at most" : "only",
			oom_size(r->held).text);
		oom_advise(w, "which kind of memory grows, on the next run",
			   "memtap triage 10 1", NULL);
	} else {
		say_unknown(r, w);
	}
	if (*oom_limit_path(r) && w->cause != OOM_PROCESSES && w->cause != OOM_CACHE &&
	    w->cause != OOM_SHARED)
		oom_advise(w, "where its programs touch new memory, by stack",
			   "memtap faults --cgroup %s -d 10", oom_limit_path(r));
}

/* --- on the whole machine: memory that killing a process does not free -------------- */

static void say_huge(const struct memtap_oom_record *r, struct oom_why *w)
{
	oom_say(w, "%s is reserved for huge pages (vm.nr_hugepages), %s of it unused; it cannot be "
		"used for anything else.", oom_size(oom_counter(r, MEMTAP_VM_HUGE)).text,
		oom_size(oom_counter(r, MEMTAP_VM_HUGE_FREE)).text);
	oom_advise(w, "how memory is used now, including reserved huge pages",
		   "memtap triage", NULL);
}

/* The process that locked most, if that is more than half of all locked memory. */
static const struct memtap_oom_task *locker(const struct memtap_oom_record *r, __u64 locked,
					    __u64 *its)
{
	__u32 best = 0;

	for (__u32 i = 1; i < r->nr_top; i++)
		if (r->locked[i] > r->locked[best])
			best = i;
	*its = r->nr_top ? r->locked[best] : 0;
	return *its > locked / 2 ? &r->top[best] : NULL;
}

static void say_locked(const struct memtap_oom_record *r, struct oom_why *w, __u64 locked)
{
	__u64 its;
	const struct memtap_oom_task *t = locker(r, locked, &its);

	oom_say(w, "%s is locked (mlock), %u %% of memory, and cannot be swapped out, although %s "
		"of swap was free", oom_size(locked).text, oom_percent(locked, oom_memory(r).total),
		oom_size(oom_counter(r, MEMTAP_VM_SWAP_FREE)).text);
	if (t)
		oom_say(w, "; %s (%d) had locked %s", t->comm, t->pid, oom_size(its).text);
	if (t && t->pid != r->victim.pid)
		say_instead(r, w, t);
	oom_say(w, ".");
	if (t)
		oom_advise(w, "where it touches or locks new memory, by stack, when it runs again",
			   "memtap faults --comm %s -d 10", t->comm);
	else
		oom_advise(w, "which programs touch or lock new memory, and where",
			   "memtap faults --by program -d 10", NULL);
}

static void on_machine(const struct memtap_oom_record *r, struct oom_why *w)
{
	const struct oom_memory m = oom_memory(r);
	const __u64 kernel = m.kernel + m.unaccounted, there = m.total;
	const __u64 shared = m.at[MEMTAP_VM_SHMEM], locked = m.at[MEMTAP_VM_LOCKED];
	const __u64 huge = m.at[MEMTAP_VM_HUGE], swap = oom_counter(r, MEMTAP_VM_SWAP_FREE);
	const struct memtap_oom_task *t = largest(r);
	const __u64 own = private_size(t);

	if (is_fragmented(r)) {
		w->cause = OOM_FRAGMENTED;
		oom_say(w, "%s was free, but no block of order %d (%s), which this allocation "
			"requires.", oom_size(oom_counter(r, MEMTAP_VM_FREE)).text, r->order,
			oom_size((__u64)r->page_size << r->order).text);
		oom_advise(w, "which stacks request large blocks and wait for compaction",
			   "memtap stacks k:try_to_compact_pages -d 10", NULL);
	} else if (oom_percent(huge, there) >= OOM_MUCH && huge > own && huge > shared) {
		w->cause = OOM_HUGE;
		say_huge(r, w);
	} else if (oom_percent(locked, there) >= OOM_MUCH && locked >= own / 2 && swap &&
		   locked > shared) {
		w->cause = OOM_LOCKED;
		say_locked(r, w, locked);
	} else if (oom_percent(shared, there) >= OOM_MUCH && shared > own) {
		w->cause = OOM_SHARED;
		say_shared(r, w, shared);
	} else if (oom_percent(kernel, there) >= OOM_MUCH && kernel > own) {
		w->cause = OOM_KERNEL;
		say_kernel(&m, w);
	} else if (are_many(r, there)) {
		w->cause = OOM_PROCESSES;
		say_processes(r, w);
	} else if (oom_percent(own, r->allowed ? r->allowed : there) >= MUCH_FOR_ONE) {
		w->cause = OOM_PROCESS;
		say_process(r, w, t, r->allowed ? r->allowed : there);
	} else {
		say_unknown(r, w);
	}
}

static void say_limit(const struct memtap_oom_record *r, struct oom_why *w)
{
	const __u64 limit = r->limit != MEMTAP_OOM_UNKNOWN ? r->limit : r->allowed;

	if (r->constraint == MEMTAP_CONSTRAINT_MEMCG) {
		oom_say(w, "cgroup %s reached its limit of %s", *oom_limit_path(r) ?
			oom_limit_path(r) : "(name unknown)", oom_size(limit).text);
		if (r->usage != MEMTAP_OOM_UNKNOWN)
			oom_say(w, " (usage %s)", oom_size(r->usage).text);
		oom_say(w, ": ");
		w->limited = true;
	} else if (r->constraint == MEMTAP_CONSTRAINT_CPUSET ||
		   r->constraint == MEMTAP_CONSTRAINT_POLICY) {
		oom_say(w, "a %s allowed only some nodes: ",
			r->constraint == MEMTAP_CONSTRAINT_CPUSET ? "cpuset" : "memory policy");
		w->limited = true;
	}
}

void oom_diagnose(const struct memtap_oom_record *r, struct oom_why *w)
{
	memset(w, 0, sizeof(*w));
	if (r->flags & MEMTAP_OOM_SYSRQ) {
		w->cause = OOM_SYSRQ;
		oom_say(w, "requested by SysRq f, or echo f > /proc/sysrq-trigger.");
		oom_advise(w, "how memory is used now", "memtap triage", NULL);
		return;
	}
	say_limit(r, w);
	if (r->constraint == MEMTAP_CONSTRAINT_MEMCG)
		in_cgroup(r, w);
	else
		on_machine(r, w);
	if (r->flags & MEMTAP_OOM_ALLOCATING)
		oom_say(w, " vm.oom_kill_allocating_task is set: the kernel killed the process "
			"that "
			"allocated, whatever its size.");
}
