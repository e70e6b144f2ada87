// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/triage/oom.c ctl/triage/oom_text.c ctl/triage/oom_score.c ctl/triage/oom_charged.c */
/* LINK: ctl/triage/oom_memory.c ctl/triage/oom_clean.c ctl/triage/oom_made.c */
/* LINK: ctl/triage/advice.c ctl/base/text.c kmod/core/names.c */
/* Why somebody was killed for want of memory: of records made by hand. */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "triage/oom.h"

#define MIB	(1ULL << 20)

static struct memtap_oom_record r;
static struct oom_why w;

static void fill_task(struct memtap_oom_task *t, const char *comm, int pid, __u64 anon)
{
	memset(t, 0, sizeof(*t));
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	t->pid = pid;
	t->anon = anon;
	t->flags = MEMTAP_OOM_TASK_SIZED;
}

/* A machine of 1000 MiB, full, with nothing that stands out. */
static void ordinary(void)
{
	memset(&r, 0, sizeof(r));
	r.size = sizeof(r);
	r.page_size = 4096;
	r.total = 1000 * MIB;
	r.allowed = 1000 * MIB;
	r.limit = MEMTAP_OOM_UNKNOWN;
	r.usage = MEMTAP_OOM_UNKNOWN;
	r.nr_counters = MEMTAP_NR_VM;
	r.counters[MEMTAP_VM_FREE] = 10 * MIB;
	r.counters[MEMTAP_VM_ANON] = 850 * MIB;
	r.counters[MEMTAP_VM_FILE] = 60 * MIB;
	r.counters[MEMTAP_VM_SHMEM] = 20 * MIB;
	r.counters[MEMTAP_VM_SLAB] = 40 * MIB;
	r.processes = 40;
	r.held = 850 * MIB;
	fill_task(&r.victim, "victim", 7, 120 * MIB);
	r.top[0] = r.victim;
	fill_task(&r.top[1], "other", 8, 110 * MIB);
	r.nr_top = 2;
	r.same = 1;
	r.nr_zones = 1;
	strcpy(r.zones[0].name, "Normal");
	r.zones[0].managed = 1000 * MIB;
	r.zones[0].free = 10 * MIB;
	r.zones[0].high = 12 * MIB;
	r.zones[0].nr_orders = 11;
	r.zones[0].blocks[3] = 10;
}

static void limited_to(__u64 bytes)
{
	r.constraint = MEMTAP_CONSTRAINT_MEMCG;
	r.limit = bytes;
	r.usage = bytes;
	r.allowed = bytes;
	strcpy(r.limit_path, "/group");
}

static int says(const char *text)
{
	const int found = strstr(w.sentence, text) != NULL;

	if (!found)
		fprintf(stderr, "# \"%s\" is not in \"%s\"\n", text, w.sentence);
	return found;
}

static void ask(void)
{
	oom_diagnose(&r, &w);
}

static void of_the_machine(void)
{
	ordinary();
	ask();
	ok(w.cause == OOM_UNKNOWN && !w.limited, "where nothing stands out, nothing is claimed");
	ok(says("of 40 processes the largest, victim (7), held 120.0 MiB"), "but who is largest");

	ordinary();
	r.victim.anon = 700 * MIB;
	r.top[0] = r.victim;
	ask();
	ok(w.cause == OOM_PROCESS, "a process that holds most of it");
	ok(says("victim (7) alone held 700.0 MiB, 70 %"), "a process: which, and how much");
	ok(!strcmp(w.command, "memtap leaks --comm victim -d 10"), "a process: what to run next");

	fill_task(&r.victim, "small one", 9, 10 * MIB);
	r.victim.score_adj = 1000;
	r.points = 1010 * MIB;
	ask();
	ok(w.cause == OOM_PROCESS && says("small one (9) was killed in its place, for its "
					  "adjustment of 1000: the kernel counted 1010.0 MiB for "
					  "it, and 700.0 MiB for victim"),
	   "who was killed for its adjustment is not to blame");

	ordinary();
	r.top[0].swap = 500 * MIB;
	ask();
	ok(w.cause == OOM_PROCESS, "what was swapped out counts as held");

	ordinary();
	strcpy(r.top[0].comm, "it's");
	r.top[0].anon = 700 * MIB;
	ask();
	ok(!strcmp(w.command, "memtap leaks --comm 'it'\\''s' -d 10"),
	   "a name is quoted for the shell");

	ordinary();
	r.same = 90;
	r.same_held = 800 * MIB;
	ask();
	ok(w.cause == OOM_PROCESSES && says("90 processes called victim held 800.0 MiB"),
	   "many of one name");

	ordinary();
	r.counters[MEMTAP_VM_ANON] = 200 * MIB;
	r.counters[MEMTAP_VM_SLAB] = 600 * MIB;
	ask();
	ok(w.cause == OOM_KERNEL && says("most of it slab: 600.0 MiB"), "the kernel: slab");
	r.counters[MEMTAP_VM_SLAB] = 40 * MIB;
	r.counters[MEMTAP_VM_TABLES] = 500 * MIB;
	ask();
	ok(w.cause == OOM_KERNEL && says("page tables: 500.0 MiB"), "the kernel: page tables");
	r.counters[MEMTAP_VM_TABLES] = 0;
	ask();
	ok(w.cause == OOM_KERNEL && says("nothing accounts for"),
	   "what nothing accounts for is the kernel's");
	r.counters[MEMTAP_VM_SLAB] = MEMTAP_OOM_UNKNOWN;
	ask();
	ok(w.cause == OOM_KERNEL, "a counter that is not known is no memory");

	ordinary();
	r.counters[MEMTAP_VM_ANON] = 300 * MIB;
	r.counters[MEMTAP_VM_FILE] = 640 * MIB;
	r.counters[MEMTAP_VM_SHMEM] = 600 * MIB;
	ask();
	ok(w.cause == OOM_SHARED && says("which no process that is killed gives back"),
	   "tmpfs that nobody maps");
	r.top[0].shmem = 590 * MIB;
	ask();
	ok(w.cause == OOM_SHARED && says("of which victim (7) had mapped 590.0 MiB"),
	   "shared memory that somebody maps");
}

static void of_pieces(void)
{
	ordinary();
	r.order = 2;
	r.zones[0].free = 100 * MIB;
	r.zones[0].blocks[3] = 0;
	ask();
	ok(w.cause == OOM_FRAGMENTED && says("in no piece of order 2, 16.0 KiB"),
	   "free memory in pieces that are too small");
	r.zones[0].blocks[5] = 1;
	ask();
	ok(w.cause != OOM_FRAGMENTED, "a larger piece will do");
	r.zones[0].blocks[5] = 0;
	r.zones[0].free = 5 * MIB;
	ask();
	ok(w.cause != OOM_FRAGMENTED, "no pieces where nothing is free above the watermark");
	r.zones[0].free = 100 * MIB;
	r.order = 0;
	ask();
	ok(w.cause != OOM_FRAGMENTED, "a single page is in any piece");
	r.order = 2;
	strcpy(r.zones[0].name, "DMA");
	ask();
	ok(w.cause != OOM_FRAGMENTED, "the zone of old devices is not asked");
}

static void of_limits(void)
{
	ordinary();
	limited_to(100 * MIB);
	r.top[0].anon = 90 * MIB;
	r.top[1].anon = 5 * MIB;
	ask();
	ok(w.cause == OOM_PROCESS && w.limited, "the limit of a cgroup, by one process");
	ok(says("cgroup /group may have 100.0 MiB, and had 100.0 MiB: process victim"),
	   "the limit is told first");
	ok(!strcmp(w.command, "memtap faults --cgroup /group -d 10"), "what to run next");

	r.top[0].anon = 10 * MIB;
	r.held = 20 * MIB;
	ask();
	ok(w.cause == OOM_CACHE && says("held only 20.0 MiB of that"),
	   "what its processes do not hold");
	r.top[1].shmem = 70 * MIB;
	ask();
	ok(w.cause == OOM_SHARED, "what they have mapped and share");

	ordinary();
	limited_to(100 * MIB);
	r.usage = MEMTAP_OOM_UNKNOWN;
	r.limit = MEMTAP_OOM_UNKNOWN;
	*r.limit_path = '\0';
	r.held = 95 * MIB;
	r.top[0].anon = 20 * MIB;
	r.top[1].anon = 15 * MIB;
	ask();
	ok(w.cause == OOM_UNKNOWN && w.limited &&
	   says("cgroup (no longer named) may have 100.0 MiB: "),
	   "an old kernel tells less");

	ordinary();
	r.constraint = MEMTAP_CONSTRAINT_CPUSET;
	ask();
	ok(w.limited && says("only some nodes were allowed, by a cpuset"), "some nodes");
	r.constraint = MEMTAP_CONSTRAINT_POLICY;
	ask();
	ok(w.limited && says("by a memory policy"), "or a memory policy");
}

/* A: 90 MiB and swap; V is killed.  Both in a cgroup of 100 MiB, which 1000 points are. */
static void two(int adj, int victims, __s64 points)
{
	ordinary();
	limited_to(100 * MIB);
	fill_task(&r.top[0], "A", 1, 60 * MIB);
	fill_task(&r.victim, "V", 2, 20 * MIB);
	r.top[0].score_adj = adj;
	r.victim.score_adj = victims;
	r.top[1] = r.victim;
	r.points = points;
}

/* Who is blamed, and why another one was killed: as the kernel counts, or not at all. */
static void of_arithmetic(void)
{
	/* 25 thousandths of 100 MiB are 25 pages each */
	two(0, 500, 20 * MIB + 500 * 25 * 4096LL);
	ask();
	ok(says("A (1) alone held 60.0 MiB, 60 % of what was allowed; V (2) was killed in its "
		"place, for its adjustment of 500: the kernel counted 68.8 MiB for it, and "
		"60.0 MiB for A"), "an adjustment that tips the scales");
	two(-997, 0, 20 * MIB);
	ask();
	ok(says("for the adjustment of -997 that A has: the kernel counted 20.0 MiB for it, and "
		"-37.4 MiB for A"), "a Guaranteed pod: the kernel counts below 0");
	two(-1000, 0, 20 * MIB);
	ask();
	ok(says("V (2) was killed in its place: an adjustment of -1000 protects A"),
	   "one that may not be killed at all");
	two(0, 0, 20 * MIB);
	ask();
	ok(says("V (2) was killed, and why not A the record does not say"),
	   "where the arithmetic does not say it, no reason is given");
	two(0, 300, 20 * MIB + 300 * 25 * 4096LL);
	ask();
	ok(says("why not A the record does not say"),
	   "nor for an adjustment that is too small to be the reason");
	two(0, 0, 0);
	r.flags |= MEMTAP_OOM_ALLOCATING;
	ask();
	ok(says("V (2) was killed in its place. Who was killed says nothing"),
	   "who asked for memory is killed without a count");
	two(0, 0, (__s64)MEMTAP_OOM_UNKNOWN);
	ask();
	ok(says("it had asked to be the first"), "swapoff is killed first");
	two(0, 0, 20 * MIB);
	r.top[0].flags |= MEMTAP_OOM_TASK_SPARED;
	ask();
	ok(says("the kernel may not kill A for this"), "init, or a process with other nodes");
	two(0, 0, 20 * MIB);
	r.top[0].flags |= MEMTAP_OOM_TASK_DYING;
	ask();
	ok(says("A was on its way out already"), "one that dies anyway");

	/* page tables count, and are told */
	two(0, 0, 59 * MIB);
	r.top[0] = r.victim;
	r.top[0].anon = 1 * MIB;
	r.top[0].tables = 58 * MIB;
	fill_task(&r.top[1], "B", 3, 42 * MIB);
	ask();
	ok(says("V (2) alone held 59.0 MiB, of which 58.0 MiB are page tables, 59 %"),
	   "page tables are held, too");
	ok(!strstr(w.sentence, "in its place"), "and nobody was killed in another one's place");
	ok(!strcmp(w.command, "memtap faults --cgroup /group -d 10"),
	   "faults show what needs them");
}

/* Kernels before v5.9 say thousandths, before v4.17 they may count 3 % less of root's. */
static void of_old_kernels(void)
{
	/* 620 of 100 MiB: 62.0 to 62.1 MiB */
	two(0, 420, 65011712);
	r.flags |= MEMTAP_OOM_PERMILLE;
	ask();
	ok(says("the kernel counted about 62.0 MiB for it, and 60.0 MiB for A"),
	   "thousandths: about");
	two(0, 400, 62914560);
	r.flags |= MEMTAP_OOM_PERMILLE;
	ask();
	ok(says("why not A the record does not say"), "thousandths: what is too near is not said");
	two(-600, 0, 0);
	r.flags |= MEMTAP_OOM_PERMILLE;
	ask();
	ok(says("why not A the record does not say"),
	   "thousandths: 0 is anything below 1, and decides nothing");
	two(0, 420, 20 * MIB + 420 * 25 * 4096LL);
	r.top[0].anon = 63 * MIB;
	r.top[0].flags |= MEMTAP_OOM_TASK_ADMIN;
	ask();
	ok(says("why not A the record does not say"),
	   "3 %% less for root: who is within is not compared");
	two(0, 420, 20 * MIB + 420 * 25 * 4096LL);
	r.top[0].flags |= MEMTAP_OOM_TASK_ADMIN;
	ask();
	ok(says("for its adjustment of 420"), "3 %% less for root: who is below anyway is");
}

/* What memory.stat said. */
static void charge(unsigned int kind, __u64 bytes)
{
	r.nr_charged = MEMTAP_NR_CHARGED;
	r.charged[kind] = bytes;
}

static void filled_by(unsigned int kind, const char *words, enum oom_cause cause,
		      const char *command)
{
	ordinary();
	limited_to(60 * MIB);
	r.top[0].anon = 2 * MIB;
	r.top[1].anon = 1 * MIB;
	r.held = 3 * MIB;
	r.killed_ns = 5000000;
	r.later_ns = 1000000;
	for (int i = 0; i < MEMTAP_NR_CHARGED; i++)
		charge(i, 0);
	charge(MEMTAP_CHARGED_ANON, 3 * MIB);
	if (kind > MEMTAP_CHARGED_KERNEL && kind <= MEMTAP_CHARGED_SLAB_RECLAIMABLE)
		charge(MEMTAP_CHARGED_KERNEL, 56 * MIB);
	if (kind == MEMTAP_CHARGED_SHMEM)
		charge(MEMTAP_CHARGED_FILE, 56 * MIB);
	charge(kind, 56 * MIB);
	ask();
	ok(w.cause == cause && says(words) && !strcmp(w.command, command), "%s", words);
}

static void of_charges(void)
{
	const char *const leaks = "memtap leaks -k -d 10";

	filled_by(MEMTAP_CHARGED_TABLES, "56.0 MiB of that was page tables", OOM_KERNEL,
		  "memtap faults --cgroup /group -d 10");
	filled_by(MEMTAP_CHARGED_STACKS, "56.0 MiB of that was kernel stacks", OOM_KERNEL,
		  "memtap stacks t:sched:sched_process_fork --cgroup /group -d 10");
	filled_by(MEMTAP_CHARGED_PERCPU, "56.0 MiB of that was memory for each processor",
		  OOM_KERNEL, "memtap leaks -k --percpu -d 10");
	filled_by(MEMTAP_CHARGED_VMALLOC, "56.0 MiB of that was vmalloc", OOM_KERNEL, leaks);
	filled_by(MEMTAP_CHARGED_SLAB, "56.0 MiB of that was slab that cannot be reclaimed",
		  OOM_KERNEL, leaks);
	filled_by(MEMTAP_CHARGED_SLAB_RECLAIMABLE,
		  "56.0 MiB of that was slab that can be reclaimed", OOM_KERNEL, leaks);
	filled_by(MEMTAP_CHARGED_SOCKETS, "56.0 MiB of that was socket buffers", OOM_KERNEL, leaks);
	filled_by(MEMTAP_CHARGED_SHMEM, "56.0 MiB of that was shared memory and tmpfs", OOM_SHARED,
		  "memtap shmem --cgroup /group -d 10");
	filled_by(MEMTAP_CHARGED_FILE, "56.0 MiB of that was page cache", OOM_CACHE,
		  "memtap reclaim --stacks --cgroup /group -d 10");
	filled_by(MEMTAP_CHARGED_KERNEL, "56.0 MiB of that was pages of its own (pipes",
		  OOM_KERNEL, leaks);

	/* a kernel without a line for all of it: what is left of the charge */
	charge(MEMTAP_CHARGED_KERNEL, MEMTAP_OOM_UNKNOWN);
	w.kind = NULL;
	ask();
	ok(w.cause == OOM_KERNEL && says("57.0 MiB of that was pages of its own"),
	   "kernel memory that has no line is what is left");
	r.later_ns = r.killed_ns + 1;
	ask();
	ok(w.cause == OOM_CACHE && says("which of them is not known"),
	   "but not when the victim may have given back some");

	/* v1 has its kernel memory in one sum */
	filled_by(MEMTAP_CHARGED_KERNEL, "56.0 MiB of that", OOM_KERNEL, leaks);
	charge(MEMTAP_CHARGED_SLAB, MEMTAP_OOM_UNKNOWN);
	ask();
	ok(says("kernel memory, of which this kernel does not say the kind"), "v1: no kind");

	filled_by(MEMTAP_CHARGED_TABLES, "56.0 MiB of that was page tables", OOM_KERNEL,
		  "memtap faults --cgroup /group -d 10");
	r.later_ns = r.killed_ns + 1;
	charge(MEMTAP_CHARGED_KERNEL, 20 * MIB);
	charge(MEMTAP_CHARGED_TABLES, 20 * MIB);
	ask();
	ok(says("which of them is not known"), "nothing is blamed when most of it was gone");
	r.later_ns = 0;
	ask();
	ok(says("which of them is not known"), "nor when it was not read");

	filled_by(MEMTAP_CHARGED_TABLES, "56.0 MiB of that was page tables", OOM_KERNEL,
		  "memtap faults --cgroup /group -d 10");
	memset(r.limit_long, 'x', sizeof(r.limit_long) - 1);
	memcpy(r.limit_long, "/pods/", 6);
	ask();
	ok(strlen(w.command) > sizeof(r.limit_long) && strstr(w.command, "x -d 10"),
	   "a path of any length is in the command, whole");
}

/* What stays where it is, whoever is killed. */
static void of_holders(void)
{
	ordinary();
	r.counters[MEMTAP_VM_ANON] = 200 * MIB;
	r.counters[MEMTAP_VM_HUGE] = 600 * MIB;
	r.counters[MEMTAP_VM_HUGE_FREE] = 590 * MIB;
	ask();
	ok(w.cause == OOM_HUGE && says("600.0 MiB is set aside as huge pages (vm.nr_hugepages), of "
				       "which nobody uses 590.0 MiB"), "huge pages");
	r.counters[MEMTAP_VM_HUGE] = MEMTAP_OOM_UNKNOWN;
	ask();
	ok(w.cause == OOM_KERNEL && says("nothing accounts for (drivers, vmalloc, huge pages)"),
	   "huge pages that are not known are among what nothing accounts for");
	r.counters[MEMTAP_VM_HUGE] = 0;
	ask();
	ok(w.cause == OOM_KERNEL && says("nothing accounts for (drivers, vmalloc)"),
	   "known ones are not");

	ordinary();
	r.allowed = 2000 * MIB;
	r.counters[MEMTAP_VM_LOCKED] = 750 * MIB;
	r.counters[MEMTAP_VM_SWAP_FREE] = 900 * MIB;
	fill_task(&r.top[0], "database", 4, 760 * MIB);
	r.locked[0] = 750 * MIB;
	r.victim = r.top[0];
	ask();
	ok(w.cause == OOM_LOCKED && says("750.0 MiB is locked (mlock), 75 % of memory, and cannot "
					 "be swapped out, though 900.0 MiB of swap was free; "
					 "database (4) had locked 750.0 MiB."),
	   "locked memory, with swap free");
	r.counters[MEMTAP_VM_SWAP_FREE] = 0;
	ask();
	ok(w.cause != OOM_LOCKED, "without swap it could not have gone anywhere");

	ordinary();
	r.constraint = MEMTAP_CONSTRAINT_POLICY;
	r.nodes_total = 500 * MIB;
	for (int i = 0; i < MEMTAP_NR_VM; i++)
		r.node_counters[i] = 0;
	r.node_counters[MEMTAP_VM_ANON] = 90 * MIB;
	r.node_counters[MEMTAP_VM_SLAB] = 400 * MIB;
	ask();
	ok(w.cause == OOM_KERNEL && says("held 410.0 MiB, most of it slab"),
	   "where some nodes were allowed, what these had counts");
}

static void of_people(void)
{
	ordinary();
	r.order = -1;
	r.flags |= MEMTAP_OOM_SYSRQ;
	ask();
	ok(w.cause == OOM_SYSRQ, "somebody asked for it");

	ordinary();
	r.flags |= MEMTAP_OOM_ALLOCATING;
	ask();
	ok(says("vm.oom_kill_allocating_task"), "who had to be killed for asking");
}

static void of_others(void)
{
	unsigned char *p = (unsigned char *)&r;

	memset(p, 0xff, sizeof(r));
	oom_clean(&r, sizeof(r));
	ok(r.nr_top == MEMTAP_OOM_TOP && r.nr_zones == MEMTAP_OOM_ZONES &&
	   strlen(r.victim.comm) < sizeof(r.victim.comm) &&
	   strlen(r.limit_path) < sizeof(r.limit_path), "nonsense is made fit for reading");
	ask();
	ok(*w.sentence, "and gets a sentence");
	memset(p, 0xff, sizeof(r));
	oom_clean(&r, 64);
	ok(!r.nr_top && !*r.victim.comm, "what a shorter record does not have is 0");

	oom_make(&r, 1);
	oom_clean(&r, sizeof(r));
	ask();
	ok(w.cause == OOM_PROCESS && r.flags & MEMTAP_OOM_MADE, "the one that is made by hand");
	for (int i = 0; i < NR_OOM_CAUSE; i++)
		if (!oom_cause_names[i])
			ok(false, "each cause has a name");
}

int main(void)
{
	of_the_machine();
	of_pieces();
	of_limits();
	of_arithmetic();
	of_old_kernels();
	of_charges();
	of_holders();
	of_people();
	of_others();
	return tap_done();
}
