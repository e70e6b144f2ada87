// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/triage/oom.c ctl/triage/oom_made.c ctl/triage/advice.c ctl/base/text.c */
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
	ask();
	ok(w.cause == OOM_PROCESS && says("small one (9) was killed in its place, for its "
					  "adjustment of 1000"),
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
	of_people();
	of_others();
	return tap_done();
}
