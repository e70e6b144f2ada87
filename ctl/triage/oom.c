// SPDX-License-Identifier: GPL-2.0-or-later
/* Why somebody was killed for want of memory. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "triage/int.h"
#include "triage/oom.h"

const char *const oom_cause_names[NR_OOM_CAUSE] = {
	[OOM_UNKNOWN] = "unknown",
	[OOM_SYSRQ] = "sysrq",
	[OOM_FRAGMENTED] = "fragmentation",
	[OOM_SHARED] = "shared-memory",
	[OOM_KERNEL] = "kernel-memory",
	[OOM_PROCESS] = "process",
	[OOM_PROCESSES] = "processes",
	[OOM_CACHE] = "cache",
};

/* Of all memory that could be had, in percent: what stands out, */
#define MUCH		30
/* and what one process holds that is to blame. */
#define MUCH_FOR_ONE	40
/* As many processes of one name are many. */
#define MANY		20

__u64 oom_task_size(const struct memtap_oom_task *t)
{
	return t->anon + t->file + t->shmem + t->swap;
}

__u64 oom_counter(const struct memtap_oom_record *r, unsigned int vm)
{
	return vm < r->nr_counters && r->counters[vm] != MEMTAP_OOM_UNKNOWN ? r->counters[vm] : 0;
}

static __u64 kernel_known(const struct memtap_oom_record *r)
{
	return oom_counter(r, MEMTAP_VM_SLAB) + oom_counter(r, MEMTAP_VM_TABLES) +
	       oom_counter(r, MEMTAP_VM_STACKS);
}

__u64 oom_unaccounted(const struct memtap_oom_record *r)
{
	const __u64 known = oom_counter(r, MEMTAP_VM_FREE) + oom_counter(r, MEMTAP_VM_ANON) +
			    oom_counter(r, MEMTAP_VM_FILE) + kernel_known(r) +
			    oom_counter(r, MEMTAP_VM_SLAB_RECLAIMABLE);

	return r->nr_counters > MEMTAP_VM_STACKS && r->total > known ? r->total - known : 0;
}

/* --- sentences ------------------------------------------------------------- */

static void __attribute__((format(printf, 2, 3))) say(struct oom_why *w, const char *fmt, ...)
{
	const size_t at = strlen(w->sentence);
	va_list args;

	va_start(args, fmt);
	vsnprintf(w->sentence + at, sizeof(w->sentence) - at, fmt, args);
	va_end(args);
}

/* Several in one call of say(). */
struct size {
	char text[TEXT_LEN];
};

static struct size size_of(__u64 bytes)
{
	struct size s;

	text_bytes(s.text, (__s64)(bytes < 1ULL << 62 ? bytes : 1ULL << 62), false);
	return s;
}

static unsigned int percent(__u64 part, __u64 whole)
{
	return !whole ? 0 : part >= whole ? 100 :
	       (unsigned int)((double)part * 100 / (double)whole);
}

static void advise_on(struct oom_why *w, const char *tells, const char *command, const char *name)
{
	char quoted[sizeof(w->command)] = "";

	w->tells = tells;
	if (name)
		triage_quote(name, quoted, sizeof(quoted));
	snprintf(w->command, sizeof(w->command), command, quoted);
}

/* --- what it was used for ---------------------------------------------------- */

static const struct memtap_oom_task *largest(const struct memtap_oom_record *r)
{
	return r->nr_top ? &r->top[0] : &r->victim;
}

static __u64 private_size(const struct memtap_oom_task *t)
{
	return t->anon + t->swap;
}

/* Blocks of that order there are, and free memory above the zones' lowest watermarks. */
static bool is_fragmented(const struct memtap_oom_record *r)
{
	__u64 blocks = 0, free = 0;

	if (r->order <= 0 || r->constraint == MEMTAP_CONSTRAINT_MEMCG)
		return false;
	for (__u32 i = 0; i < r->nr_zones; i++) {
		const struct memtap_oom_zone *z = &r->zones[i];

		/* what only old devices may have is nobody's */
		if (!strcmp(z->name, "DMA"))
			continue;
		if (z->free > z->high)
			free += z->free - z->high;
		for (__u32 order = (__u32)r->order; order < z->nr_orders; order++)
			blocks += z->blocks[order];
	}
	return !blocks && free > (__u64)r->page_size << r->order;
}

static void say_process(const struct memtap_oom_record *r, struct oom_why *w,
			const struct memtap_oom_task *t, __u64 of)
{
	say(w, "process %s (%d) alone held %s, %u %% of what was allowed", t->comm, t->pid,
	    size_of(private_size(t)).text, percent(private_size(t), of));
	if (t->pid != r->victim.pid)
		say(w, "; %s (%d) was killed in its place, for its adjustment of %d",
		    r->victim.comm, r->victim.pid, r->victim.score_adj);
	say(w, ".");
	advise_on(w, "what it allocates and does not free, by stack, when it runs again",
		  "memtap leaks --comm %s -d 10", t->comm);
}

static void say_processes(const struct memtap_oom_record *r, struct oom_why *w)
{
	say(w, "%u processes called %s held %s together.", r->same, r->victim.comm,
	    size_of(r->same_held).text);
	advise_on(w, "who starts them, by stack", "memtap stacks t:sched:sched_process_fork "
		  "--by program -d 10", NULL);
}

static void say_kernel(const struct memtap_oom_record *r, struct oom_why *w)
{
	static const struct {
		unsigned int vm;
		const char *name;
	} kinds[] = {
		{ MEMTAP_VM_SLAB, "slab" }, { MEMTAP_VM_TABLES, "page tables" },
		{ MEMTAP_VM_STACKS, "kernel stacks" },
	};
	const char *name = "pages that nothing accounts for (drivers, vmalloc, huge pages)";
	__u64 most = oom_unaccounted(r);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (oom_counter(r, kinds[i].vm) > most) {
			most = oom_counter(r, kinds[i].vm);
			name = kinds[i].name;
		}
	say(w, "the kernel itself held %s, most of it %s: %s.",
	    size_of(kernel_known(r) + oom_unaccounted(r)).text, name, size_of(most).text);
	advise_on(w, "which kind of kernel memory grows", "memtap leaks -k --census 10 1", NULL);
}

static void say_shared(const struct memtap_oom_record *r, struct oom_why *w, __u64 shared)
{
	const struct memtap_oom_task *t = largest(r);

	say(w, "shared memory and files on tmpfs held %s", size_of(shared).text);
	if (t->shmem > shared / 2)
		say(w, ", of which %s (%d) had mapped %s", t->comm, t->pid,
		    size_of(t->shmem).text);
	else
		say(w, ", which no process that is killed gives back");
	say(w, ".");
	advise_on(w, "which programs fill it, by stack and file", "memtap shmem -d 10", NULL);
}

static void say_nothing(const struct memtap_oom_record *r, struct oom_why *w)
{
	const struct memtap_oom_task *t = largest(r);

	say(w, "nothing stands out: of %u processes the largest, %s (%d), held %s.",
	    r->processes, t->comm, t->pid, size_of(private_size(t)).text);
	advise_on(w, "which programs touch new memory, and where",
		  "memtap faults --by program -d 10", NULL);
}

static bool are_many(const struct memtap_oom_record *r, __u64 of)
{
	return r->same >= MANY && percent(r->same_held, of) >= MUCH &&
	       percent(private_size(largest(r)), r->same_held) < 50;
}

/* In a cgroup: only its processes are known. */
static void in_cgroup(const struct memtap_oom_record *r, struct oom_why *w)
{
	const __u64 charged = r->usage != MEMTAP_OOM_UNKNOWN ? r->usage : r->allowed;
	const struct memtap_oom_task *t = largest(r);
	__u64 shared = 0;

	for (__u32 i = 0; i < r->nr_top; i++)
		shared = r->top[i].shmem > shared ? r->top[i].shmem : shared;
	if (percent(private_size(t), charged) >= MUCH_FOR_ONE) {
		w->cause = OOM_PROCESS;
		say_process(r, w, t, charged);
	} else if (are_many(r, charged)) {
		w->cause = OOM_PROCESSES;
		say_processes(r, w);
	} else if (percent(shared, charged) >= MUCH) {
		w->cause = OOM_SHARED;
		say_shared(r, w, shared);
	} else if (percent(r->held, charged) < 100 - MUCH_FOR_ONE) {
		w->cause = OOM_CACHE;
		say(w, "its %u process%s held only %s of that: the rest is tmpfs, files that are "
		    "still to be written, or kernel memory.", r->processes,
		    r->processes == 1 ? "" : "es", size_of(r->held).text);
		advise_on(w, "which programs fill tmpfs and shared memory", "memtap shmem -d 10",
			  NULL);
	} else {
		say_nothing(r, w);
	}
	if (*r->limit_path && w->cause != OOM_PROCESSES && w->cause != OOM_CACHE &&
	    w->cause != OOM_SHARED)
		advise_on(w, "where its programs touch new memory, by stack",
			  "memtap faults --cgroup %s -d 10", r->limit_path);
}

static void on_machine(const struct memtap_oom_record *r, struct oom_why *w)
{
	const __u64 kernel = kernel_known(r) + oom_unaccounted(r);
	const __u64 shared = oom_counter(r, MEMTAP_VM_SHMEM);
	const struct memtap_oom_task *t = largest(r);
	const __u64 own = private_size(t);

	if (is_fragmented(r)) {
		w->cause = OOM_FRAGMENTED;
		say(w, "%s was free, but in no piece of order %d, %s, which the kernel cannot "
		    "do without.", size_of(oom_counter(r, MEMTAP_VM_FREE)).text, r->order,
		    size_of((__u64)r->page_size << r->order).text);
		advise_on(w, "who asks for large blocks and waits for compaction, by stack",
			  "memtap stacks k:try_to_compact_pages -d 10", NULL);
	} else if (percent(shared, r->total) >= MUCH && shared > own) {
		w->cause = OOM_SHARED;
		say_shared(r, w, shared);
	} else if (percent(kernel, r->total) >= MUCH && kernel > own) {
		w->cause = OOM_KERNEL;
		say_kernel(r, w);
	} else if (are_many(r, r->total)) {
		w->cause = OOM_PROCESSES;
		say_processes(r, w);
	} else if (percent(own, r->allowed ? r->allowed : r->total) >= MUCH_FOR_ONE) {
		w->cause = OOM_PROCESS;
		say_process(r, w, t, r->allowed ? r->allowed : r->total);
	} else {
		say_nothing(r, w);
	}
}

static void say_limit(const struct memtap_oom_record *r, struct oom_why *w)
{
	const __u64 limit = r->limit != MEMTAP_OOM_UNKNOWN ? r->limit : r->allowed;

	if (r->constraint == MEMTAP_CONSTRAINT_MEMCG) {
		say(w, "cgroup %s may have %s",
		    *r->limit_path ? r->limit_path : "(no longer named)", size_of(limit).text);
		if (r->usage != MEMTAP_OOM_UNKNOWN)
			say(w, ", and had %s", size_of(r->usage).text);
		say(w, ": ");
		w->limited = true;
	} else if (r->constraint == MEMTAP_CONSTRAINT_CPUSET ||
		   r->constraint == MEMTAP_CONSTRAINT_POLICY) {
		say(w, "only some nodes were allowed, by a %s: ",
		    r->constraint == MEMTAP_CONSTRAINT_CPUSET ? "cpuset" : "memory policy");
		w->limited = true;
	}
}

void oom_diagnose(const struct memtap_oom_record *r, struct oom_why *w)
{
	memset(w, 0, sizeof(*w));
	if (r->flags & MEMTAP_OOM_SYSRQ) {
		w->cause = OOM_SYSRQ;
		say(w, "somebody asked for it: SysRq f, or echo f > /proc/sysrq-trigger.");
		advise_on(w, "how memory is used now", "memtap triage", NULL);
		return;
	}
	say_limit(r, w);
	if (r->constraint == MEMTAP_CONSTRAINT_MEMCG)
		in_cgroup(r, w);
	else
		on_machine(r, w);
	if (r->flags & MEMTAP_OOM_ALLOCATING)
		say(w, " Who was killed says nothing: vm.oom_kill_allocating_task chose who "
		    "asked.");
}

/* --- records of others ------------------------------------------------------ */

static void end(char *text, size_t room)
{
	text[room - 1] = '\0';
}

static void clip(__u32 *nr, __u32 most)
{
	if (*nr > most)
		*nr = most;
}

/* No sum of them shall overflow. */
static void bound(__u64 *v)
{
	if (*v > 1ULL << 56)
		*v = 1ULL << 56;
}

static void clean_task(struct memtap_oom_task *t)
{
	end(t->comm, sizeof(t->comm));
	bound(&t->virt);
	bound(&t->anon);
	bound(&t->file);
	bound(&t->shmem);
	bound(&t->swap);
	bound(&t->tables);
}

static void clean_lists(struct memtap_oom_record *r)
{
	for (__u32 i = 0; i < MEMTAP_OOM_TOP; i++)
		clean_task(&r->top[i]);
	for (__u32 i = 0; i < MEMTAP_OOM_MEMBERS; i++)
		clean_task(&r->members[i]);
	for (__u32 i = 0; i < MEMTAP_OOM_ZONES; i++) {
		struct memtap_oom_zone *z = &r->zones[i];

		end(z->name, sizeof(z->name));
		clip(&z->nr_orders, MEMTAP_OOM_ORDERS);
		bound(&z->managed);
		bound(&z->free);
		bound(&z->high);
	}
	for (__u32 i = 0; i < MEMTAP_VM_SLOTS; i++)
		if (r->counters[i] != MEMTAP_OOM_UNKNOWN)
			bound(&r->counters[i]);
	for (__u32 i = 0; i < MEMTAP_OOM_FILES; i++)
		end(r->files[i].path, sizeof(r->files[i].path));
	for (__u32 i = 0; i < MEMTAP_OOM_FRAMES; i++)
		if (r->ustack[i].file > r->nr_files)
			r->ustack[i].file = 0;
}

void oom_clean(struct memtap_oom_record *r, size_t len)
{
	if (len < sizeof(*r))
		memset((char *)r + len, 0, sizeof(*r) - len);
	clip(&r->nr_top, MEMTAP_OOM_TOP);
	clip(&r->nr_zones, MEMTAP_OOM_ZONES);
	clip(&r->nr_counters, MEMTAP_NR_VM);
	clip(&r->nr_reclaim, MEMTAP_NR_RECLAIM);
	clip(&r->nr_kstack, MEMTAP_OOM_FRAMES);
	clip(&r->nr_ustack, MEMTAP_OOM_FRAMES);
	clip(&r->nr_files, MEMTAP_OOM_FILES);
	if (r->order > MEMTAP_OOM_ORDERS)
		r->order = MEMTAP_OOM_ORDERS;
	end(r->message, sizeof(r->message));
	end(r->gfp_text, sizeof(r->gfp_text));
	end(r->limit_path, sizeof(r->limit_path));
	end(r->trigger_path, sizeof(r->trigger_path));
	end(r->victim_path, sizeof(r->victim_path));
	clean_task(&r->trigger);
	clean_task(&r->victim);
	bound(&r->held);
	bound(&r->same_held);
	bound(&r->total);
	bound(&r->allowed);
	bound(&r->points);
	if (r->limit != MEMTAP_OOM_UNKNOWN)
		bound(&r->limit);
	if (r->usage != MEMTAP_OOM_UNKNOWN)
		bound(&r->usage);
	clean_lists(r);
}
