// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/process.c ctl/machine/text.c */
/* LINK: ctl/triage/oom.c ctl/triage/oom_text.c ctl/triage/oom_score.c ctl/triage/oom_charged.c */
/* LINK: ctl/triage/oom_memory.c ctl/triage/oom_clean.c ctl/triage/oom_made.c */
/* LINK: ctl/triage/advice.c ctl/base/text.c kmod/core/names.c */
/* The diagnosis of OOM kills, on invented records. */
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
	ok(w.cause == OOM_UNKNOWN && !w.limited, "without a single cause, none is claimed");
	ok(says("the largest of 40 processes, victim (7), held 120.0 MiB"), "but the largest "
		"process is named");

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
	ok(w.cause == OOM_PROCESS && says("small one (9) was killed instead, because of its "
					  "oom_score_adj 1000: its OOM score was 1010.0 MiB, "
					  "against 700.0 MiB for victim"),
	   "a victim that was killed for its oom_score_adj is not the cause");

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
	ok(w.cause == OOM_PROCESSES && says("90 processes named victim together held 800.0 MiB"),
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
	ok(w.cause == OOM_KERNEL && says("unaccounted"),
	   "unaccounted memory is the kernel's");
	r.counters[MEMTAP_VM_SLAB] = MEMTAP_OOM_UNKNOWN;
	ask();
	ok(w.cause == OOM_KERNEL, "a counter that is not known is no memory");

	ordinary();
	r.counters[MEMTAP_VM_ANON] = 300 * MIB;
	r.counters[MEMTAP_VM_FILE] = 640 * MIB;
	r.counters[MEMTAP_VM_SHMEM] = 600 * MIB;
	ask();
	ok(w.cause == OOM_SHARED && says("which killing a process does not free"),
	   "tmpfs that no process maps");
	r.top[0].shmem = 590 * MIB;
	ask();
	ok(w.cause == OOM_SHARED && says("of which victim (7) had mapped 590.0 MiB"),
	   "shared memory that a process maps");
}

static void of_pieces(void)
{
	ordinary();
	r.order = 2;
	r.zones[0].free = 100 * MIB;
	r.zones[0].blocks[3] = 0;
	ask();
	ok(w.cause == OOM_FRAGMENTED && says("no block of order 2 (16.0 KiB)"),
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
	ok(says("cgroup /group reached its limit of 100.0 MiB (usage 100.0 MiB): process victim"),
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
	   says("cgroup (name unknown) reached its limit of 100.0 MiB: "),
	   "an old kernel tells less");

	ordinary();
	r.constraint = MEMTAP_CONSTRAINT_CPUSET;
	ask();
	ok(w.limited && says("a cpuset allowed only some nodes"), "some nodes");
	r.constraint = MEMTAP_CONSTRAINT_POLICY;
	ask();
	ok(w.limited && says("a memory policy allowed only some nodes"), "or a memory policy");
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
	ok(says("A (1) alone held 60.0 MiB, 60 % of the allowed memory; V (2) was killed "
		"instead, because of its oom_score_adj 500: its OOM score was 68.8 MiB, "
		"against 60.0 MiB for A"), "an adjustment that tips the scales");
	two(-997, 0, 20 * MIB);
	ask();
	ok(says("because of the oom_score_adj -997 of A: its OOM score was 20.0 MiB, against "
		"-37.4 MiB for A"), "a Guaranteed pod: the kernel counts below 0");
	two(-1000, 0, 20 * MIB);
	ask();
	ok(says("V (2) was killed instead: oom_score_adj -1000 protects A"),
	   "one that may not be killed at all");
	two(0, 0, 20 * MIB);
	ask();
	ok(says("V (2) was killed; the record does not say why not A"),
	   "where the arithmetic does not say it, no reason is given");
	two(0, 300, 20 * MIB + 300 * 25 * 4096LL);
	ask();
	ok(says("the record does not say why not A"),
	   "nor for an adjustment that is too small to be the reason");
	two(0, 0, 0);
	r.flags |= MEMTAP_OOM_ALLOCATING;
	ask();
	ok(says("V (2) was killed instead. vm.oom_kill_allocating_task is set"),
	   "the allocating process is killed without a score");
	two(0, 0, (__s64)MEMTAP_OOM_UNKNOWN);
	ask();
	ok(says("it had marked itself as the first to kill"), "swapoff is killed first");
	two(0, 0, 20 * MIB);
	r.top[0].flags |= MEMTAP_OOM_TASK_SPARED;
	ask();
	ok(says("the kernel may not kill A for this allocation"), "init, or a process with other "
		"nodes");
	two(0, 0, 20 * MIB);
	r.top[0].flags |= MEMTAP_OOM_TASK_DYING;
	ask();
	ok(says("A was already exiting"), "one that dies anyway");

	/* page tables count, and are told */
	two(0, 0, 59 * MIB);
	r.top[0] = r.victim;
	r.top[0].anon = 1 * MIB;
	r.top[0].tables = 58 * MIB;
	fill_task(&r.top[1], "B", 3, 42 * MIB);
	ask();
	ok(says("V (2) alone held 59.0 MiB, including 58.0 MiB of page tables, 59 %"),
	   "page tables are held, too");
	ok(!strstr(w.sentence, "instead"), "and no process was killed instead of another");
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
	ok(says("its OOM score was about 62.0 MiB, against 60.0 MiB for A"),
	   "thousandths: about");
	two(0, 400, 62914560);
	r.flags |= MEMTAP_OOM_PERMILLE;
	ask();
	ok(says("the record does not say why not A"), "thousandths: what is too near is not said");
	two(-600, 0, 0);
	r.flags |= MEMTAP_OOM_PERMILLE;
	ask();
	ok(says("the record does not say why not A"),
	   "thousandths: 0 is anything below 1, and decides nothing");
	two(0, 420, 20 * MIB + 420 * 25 * 4096LL);
	r.top[0].anon = 63 * MIB;
	r.top[0].flags |= MEMTAP_OOM_TASK_ADMIN;
	ask();
	ok(says("the record does not say why not A"),
	   "3 %% bonus of root: within it, no comparison");
	two(0, 420, 20 * MIB + 420 * 25 * 4096LL);
	r.top[0].flags |= MEMTAP_OOM_TASK_ADMIN;
	ask();
	ok(says("because of its oom_score_adj 420"), "3 %% bonus of root: outside it, a "
		"comparison");
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
	filled_by(MEMTAP_CHARGED_PERCPU, "56.0 MiB of that was per-CPU memory",
		  OOM_KERNEL, "memtap leaks -k --percpu -d 10");
	filled_by(MEMTAP_CHARGED_VMALLOC, "56.0 MiB of that was vmalloc", OOM_KERNEL, leaks);
	filled_by(MEMTAP_CHARGED_SLAB, "56.0 MiB of that was unreclaimable slab",
		  OOM_KERNEL, leaks);
	filled_by(MEMTAP_CHARGED_SLAB_RECLAIMABLE,
		  "56.0 MiB of that was reclaimable slab", OOM_KERNEL, leaks);
	filled_by(MEMTAP_CHARGED_SOCKETS, "56.0 MiB of that was socket buffers", OOM_KERNEL, leaks);
	filled_by(MEMTAP_CHARGED_SHMEM, "56.0 MiB of that was shared memory and tmpfs", OOM_SHARED,
		  "memtap shmem --cgroup /group -d 10");
	filled_by(MEMTAP_CHARGED_FILE, "56.0 MiB of that was page cache", OOM_CACHE,
		  "memtap reclaim --stacks --cgroup /group -d 10");
	filled_by(MEMTAP_CHARGED_KERNEL, "56.0 MiB of that was other kernel pages (pipes",
		  OOM_KERNEL, leaks);

	/* a kernel without a line for all of it: what is left of the charge */
	charge(MEMTAP_CHARGED_KERNEL, MEMTAP_OOM_UNKNOWN);
	w.kind = NULL;
	ask();
	ok(w.cause == OOM_KERNEL && says("57.0 MiB of that was other kernel pages"),
	   "kernel memory that has no line is what is left");
	r.later_ns = r.killed_ns + 1;
	ask();
	ok(w.cause == OOM_CACHE && says("which of them is unknown"),
	   "but not when the victim may have given back some");

	/* v1 has its kernel memory in one sum */
	filled_by(MEMTAP_CHARGED_KERNEL, "56.0 MiB of that", OOM_KERNEL, leaks);
	charge(MEMTAP_CHARGED_SLAB, MEMTAP_OOM_UNKNOWN);
	ask();
	ok(says("kernel memory (this kernel does not report its kind)"), "v1: no kind");

	filled_by(MEMTAP_CHARGED_TABLES, "56.0 MiB of that was page tables", OOM_KERNEL,
		  "memtap faults --cgroup /group -d 10");
	r.later_ns = r.killed_ns + 1;
	charge(MEMTAP_CHARGED_KERNEL, 20 * MIB);
	charge(MEMTAP_CHARGED_TABLES, 20 * MIB);
	ask();
	ok(says("which of them is unknown"), "no cause is named if most of it was already freed");
	r.later_ns = 0;
	ask();
	ok(says("which of them is unknown"), "nor when it was not read");

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
	ok(w.cause == OOM_HUGE && says("600.0 MiB is reserved for huge pages (vm.nr_hugepages), "
				       "590.0 MiB of it unused"), "huge pages");
	r.counters[MEMTAP_VM_HUGE] = MEMTAP_OOM_UNKNOWN;
	ask();
	ok(w.cause == OOM_KERNEL && says("unaccounted pages (drivers, vmalloc, huge pages)"),
	   "unknown huge pages are part of the unaccounted memory");
	r.counters[MEMTAP_VM_HUGE] = 0;
	ask();
	ok(w.cause == OOM_KERNEL && says("unaccounted pages (drivers, vmalloc)"),
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
					 "be swapped out, although 900.0 MiB of swap was free; "
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
	ok(w.cause == OOM_SYSRQ, "requested by SysRq f");

	ordinary();
	r.flags |= MEMTAP_OOM_ALLOCATING;
	ask();
	ok(says("vm.oom_kill_allocating_task"), "the allocating process was the victim");
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
	ok(w.cause == OOM_PROCESS && r.flags & MEMTAP_OOM_MADE, "the test record");
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
