// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/ids.c ctl/machine/caches.c */
/* LINK: ctl/machine/account.c ctl/machine/cgroup.c ctl/machine/fields.c */
/* LINK: ctl/machine/kernel.c ctl/machine/log.c ctl/machine/machine.c */
/* LINK: ctl/machine/process.c ctl/machine/pinned.c ctl/machine/pss.c ctl/machine/smaps.c */
/* LINK: ctl/machine/shared.c ctl/machine/text.c */
/* LINK: ctl/machine/zones.c */
/* LINK: ctl/triage/advice.c ctl/triage/grow.c ctl/triage/holds.c ctl/triage/kernel.c */
/* LINK: ctl/triage/kernel_most.c */
/* LINK: ctl/triage/kills.c */
/* LINK: ctl/triage/look.c ctl/triage/rates.c ctl/triage/pressure.c ctl/base/text.c */
/*
 * What machines say of their memory, as kernels from 3.10 on put it; the sums and
 * differences; and what is found in them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/int.h"
#include "tap.h"
#include "triage/triage.h"

#define KIB	1024ULL
#define MIB	(1024 * KIB)

static char *text(const char *s)
{
	static char buf[65536];

	snprintf(buf, sizeof(buf), "%s", s);
	return buf;
}

static void fields(void)
{
	struct machine_fields f = { 0 };

	fields_parse_mem(text("MemTotal:  1000 kB\nMemFree: 10 kB\nActive(anon):  7 kB\n"
			      "HugePages_Total:       3\nnonsense\nShmem: x kB\nPercpu: 5 kB"), &f);
	is(f.mem[MEM_TOTAL], 1000 * KIB, "meminfo: kB are bytes");
	is(f.mem[MEM_HUGE_TOTAL], 3, "meminfo: a number of pages stays one");
	is(f.mem[MEM_ACTIVE_ANON], 7 * KIB, "meminfo: names with brackets");
	is(f.mem[MEM_PERCPU], 5 * KIB, "meminfo: the last line needs no end");
	ok(!f.has_mem[MEM_AVAILABLE] && !f.has_mem[MEM_SHMEM],
	   "meminfo: what is not there, or no number, is not told");

	fields_parse_vm(text("allocstall 5\npgscan_kswapd_dma 1\npgscan_kswapd_normal 2\n"
			     "pgscan_direct_normal 3\npgscan_direct_throttle 9\n"
			     "workingset_refault 4\noom_kill 2\noom_kill_disable 8\n"), &f);
	is(f.vm[VM_STALLS], 5, "vmstat: allocstall, before v4.10");
	is(f.vm[VM_SCAN_KSWAPD], 3, "vmstat: counters of zones are added up");
	is(f.vm[VM_SCAN_DIRECT], 3, "vmstat: pgscan_direct_throttle is another counter");
	is(f.vm[VM_REFAULT_FILE], 4, "vmstat: refaults, before v5.9");
	is(f.vm[VM_OOM_KILLS], 2, "vmstat: a longer name is another counter");
	memset(&f, 0, sizeof(f));
	fields_parse_vm(text("allocstall_dma 0\nallocstall_normal 4\nallocstall_movable 3\n"
			     "pgscan_kswapd 8\nworkingset_refault_anon 1\n"), &f);
	is(f.vm[VM_STALLS], 7, "vmstat: allocstall by zone, since v4.10");
	is(f.vm[VM_REFAULT_ANON], 1, "vmstat: refaults of anonymous pages");
	ok(!f.has_vm[VM_OOM_KILLS], "vmstat: no oom_kill before v4.13");
}

static void pressure(void)
{
	struct machine_pressure p = { 0 };

	pressure_parse(text("some avg10=1.50 avg60=0.00 avg300=0.00 total=1234\n"
			    "full avg10=0.25 avg60=0.00 avg300=0.00 total=99\n"), &p);
	ok(p.has && p.some_us == 1234 && p.full_us == 99 && p.some_avg10 == 1.5, "PSI");
}

static void zones(void)
{
	static struct machine m;

	m.page = 4096;
	zones_parse(text("Node 0, zone   Normal\n  per-node stats\n      nr_inactive_anon 5\n"
			 "  pages free     900\n        min      10\n        low      20\n"
			 "        high     30\n        spanned  1000\n        present  1000\n"
			 "        managed  950\n  pagesets\n    cpu: 0\n              count: 7\n"
			 "              high:  186\n    cpu: 1\n              count: 8\n"), &m);
	zones_parse_free(text("Node 0, zone   Normal      1      2      3      4 \n"), &m);
	is(m.nr_zones, 1, "zoneinfo: a zone");
	is(m.zones[0].free, 900, "zoneinfo: free");
	is(m.zones[0].high, 30, "zoneinfo: high is the watermark, not that of a processor");
	is(m.zones[0].managed, 950, "zoneinfo: managed");
	is(m.zones[0].lists, 15, "zoneinfo: what is on processors' lists");
	is(m.zones[0].blocks[3], 4, "buddyinfo: blocks by order");
	zones_parse_types(text("Page block order: 9\nPages per block:  512\n\n"
			       "Free pages count per migrate type at order       0      1 \n"
			       "Node    0, zone   Normal, type    Unmovable      7 >100000 \n"
			       "Node    0, zone   Normal, type      Movable     12      0 \n"
			       "Node    1, zone   Normal, type      Movable     12      0 \n\n"
			       "Number of blocks type     Unmovable      Movable \n"
			       "Node 0, zone   Normal            4           93 \n"), &m);
	is(m.zones[0].nr_types, 2, "pagetypeinfo: types of a zone");
	is(m.zones[0].types[0].blocks[1], 100000, "pagetypeinfo: blocks by order");
	ok(m.zones[0].types[0].more && !m.zones[0].types[1].more, "pagetypeinfo: not counted on");
	is(m.zones[0].types[1].blocks[0], 12, "pagetypeinfo: the next type");
	machine_free(&m);
}

static void slabs(void)
{
	static struct machine m;

	m.page = 4096;
	slabs_parse(text("slabinfo - version: 2.1\n"
			 "# name            <active_objs> <num_objs> <objsize>\n"
			 "kmalloc-4k 528 536 4096 8 8 : tunables 0 0 0 : slabdata 67 67 0\n"
			 "bad 1 2 : slabdata x\n"), &m);
	is(m.slabs.nr, 1, "slabinfo: what is no line is none");
	is(m.slabs.at[0].bytes, 67 * 8 * 4096, "slabinfo: bytes are those of the slabs");
	vmalloc_parse(text("0xffffc90000000000-0xffffc90000005000   20480 load_module+0x1/0x2 "
			   "pages=4 vmalloc N0=4\n"
			   "0xffffc90000005000-0xffffc90000007000    8192 load_module+0x9/0x2 "
			   "pages=1 vmalloc\n"
			   "0xffffc90000007000-0xffffc90000009000    8192 ioremap+0x9/0x2 "
			   "phys=0xfee00000 ioremap\n"
			   "0xffffc9000000a000-0xffffc9000000d000    8192 init+0x1/0x2 [leaky] "
			   "pages=2 vmalloc\n"), &m);
	is(m.callers.nr, 2, "vmallocinfo: what maps no memory of its own is left out");
	ok(!strcmp(m.callers.at[0].name, "init [leaky]"), "vmallocinfo: the module");
	is(m.callers.at[1].bytes, 5 * 4096, "vmallocinfo: a caller's areas are added up");
	sites_parse(text("allocinfo - version: 1.0\n#     <size>  <calls> <tag info>\n"
			 "      4096        1 mm/x.c:12 func:make_x \n"
			 "         0        0 a.c:1\n"),
		    &m);
	is(m.sites.nr, 1, "allocinfo: what holds nothing is left out");
	is(m.sites.at[0].bytes, 4096, "allocinfo: bytes");
	machine_free(&m);
}

static void processes(void)
{
	struct machine_holder h = { 0 };
	char comm[16];

	ok(process_parse_stat(text("12 (a) b (c) S 1 2 3 4 5 6 77 8 99 10 11 12 13 14 15 16 17 "
				   "18 4321 20\n"), &h, comm), "stat: a line");
	ok(!strcmp(comm, "a) b (c"), "stat: a name with brackets");
	is(h.minor, 77, "stat: minor faults");
	is(h.major, 99, "stat: major faults");
	is(h.start, 4321, "stat: the start");
	ok(!process_parse_stat(text("12 (a"), &h, comm), "stat: half a line is none");
	memset(&h, 0, sizeof(h));
	process_parse_status(text("Name:\tx\nVmRSS:\t  100 kB\nVmPTE:\t 8 kB\nVmSwap:\t 50 kB\n"),
			     &h);
	is(h.bytes, 150 * KIB, "status: RSS and swap");
	is(h.anon, 0, "status: before v4.5 anonymous pages are not told apart");
	is(pinned_parse(text("pos:\t0\nUserFiles:\t1\n    0: /dev/null\nUserBufs:\t2\n"
			     "    0: 0x7f0000000000/8388608\n    1: 0x7f0000800000/4096\n"
			     "PollList:\n  op=6, task_works=0\n")), 8392704,
	   "fdinfo of a ring: bytes of its buffers");
	is(pinned_parse(text("UserBufs:\t2\n    0: <none>\n    1: 0x7f00/18446744073709551615\n"
			     "    2: 0x7f00/5\n")), ~0ULL, "fdinfo: what does not fit");
	is(pinned_parse(text("SqThread:\t-1\nUserBufs:\t0\n")), 0, "fdinfo: no buffers");
}

static void logs(void)
{
	struct machine_log log = { 0 };

	log_parse(text("<6>[  100.5] a invoked oom-killer: gfp_mask=0xd0, order=0\n"
		       "<6>[  100.6] Task in /x/y killed as a result of limit of /x\n"
		       "<3>[  100.7] Memory cgroup out of memory: Kill process 77 (big one) "
		       "score 900 or sacrifice child\n"
		       "<3>[  100.8] Killed process 77 (big one) total-vm:99kB, anon-rss:64kB, "
		       "file-rss:8kB\n"), &log);
	is(log.nr, 1, "log: two lines of 3.10 are one kill");
	ok(log.kills[0].what == SHORT_CGROUP && !strcmp(log.kills[0].cgroup, "/x"),
	   "log: whose limit, in 3.10");
	ok(!strcmp(log.kills[0].comm, "big one") && log.kills[0].pid == 77, "log: who");
	is(log.kills[0].rss, 72 * KIB, "log: how much it had");
	log_parse(text("6,12,200500000,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),"
		       "cpuset=/,mems_allowed=0,global_oom,task_memcg=/,task=b,pid=9,uid=0\n"
		       "3,13,200600000,-;Out of memory: Killed process 9 (b) total-vm:1kB, "
		       "anon-rss:4kB, file-rss:0kB, shmem-rss:4kB, UID:0 pgtables:4kB\n"
		       " continued\n"
		       "4,14,300000000,-;swapper/0: page allocation failure: order:4, mode:0x40\n"),
		  &log);
	is(log.nr, 2, "log: a kill of today's kernels");
	ok(log.kills[1].what == SHORT_MACHINE && log.kills[1].at > 200.5,
	   "log: of the whole machine, and when");
	ok(log.failures == 1 && log.failed_order == 4 && !strcmp(log.failed_comm, "swapper/0"),
	   "log: an allocation that failed");
	for (int i = 0; i < 20; i++) {
		char line[128];

		snprintf(line, sizeof(line), "<3>[ %d.0] Killed process %d (p) total-vm:1kB\n",
			 400 + i, 1000 + i);
		log_parse(line, &log);
	}
	is(log.kills[MACHINE_KILLS - 1].pid, 1019, "log: the last ones are kept");
	is(log.nr, 22, "log: all are counted");
}

static struct machine_kill *last_of(struct machine_log *log, const char *lines)
{
	memset(log, 0, sizeof(*log));
	log_parse(text(lines), log);
	return &log->kills[log->nr ? log->nr - 1 : 0];
}

#define KILL(pid, prefix)								\
	"3,9,300600000,-;" prefix "Killed process " #pid " (h) total-vm:1kB, anon-rss:4kB\n"
#define REPORT(pid, constraint, where)							\
	"4,8,300500000,-;h invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0\n"	\
	"6,8,300500000,-;oom-kill:constraint=" constraint ",nodemask=(null),cpuset=/,"	\
	"mems_allowed=0" where ",task=h,pid=" #pid ",uid=0\n"
#define IN_GROUP	"Memory cgroup out of memory: "

static void limit_is(const char *where, const char *expected, const char *name)
{
	char lines[1024];
	struct machine_log log;
	struct machine_kill *k;

	snprintf(lines, sizeof(lines), REPORT(5, "CONSTRAINT_MEMCG", "%s") KILL(5, IN_GROUP),
		 where);
	k = last_of(&log, lines);
	ok(k->what == SHORT_CGROUP && !strcmp(k->cgroup, expected), "%s", name);
}

/* Whose memory was short, and that nothing is taken from another kill's report. */
static void log_causes(void)
{
	struct machine_log log;
	struct machine_kill *k;

	k = last_of(&log, REPORT(5, "CONSTRAINT_MEMORY_POLICY", ",global_oom,task_memcg=/")
		    KILL(5, "Out of memory: "));
	is(k->what, SHORT_POLICY, "log: a memory policy");
	k = last_of(&log, REPORT(5, "CONSTRAINT_CPUSET", ",global_oom,task_memcg=/")
		    KILL(5, "Out of memory: "));
	is(k->what, SHORT_CPUSET, "log: a cpuset");

	k = last_of(&log, REPORT(5, "CONSTRAINT_MEMCG", ",oom_memcg=/a,task_memcg=/a")
		    KILL(5, IN_GROUP) KILL(6, IN_GROUP));
	ok(log.nr == 2 && k->what == SHORT_CGROUP && !*k->cgroup,
	   "log: without a report a cgroup has no name");
	k = last_of(&log, REPORT(5, "CONSTRAINT_MEMCG", ",oom_memcg=/a,task_memcg=/a")
		    KILL(5, IN_GROUP) KILL(6, "Out of memory: "));
	is(k->what, SHORT_NODES, "log: nor is it said to be the whole machine");
	k = last_of(&log, KILL(6, ""));
	is(k->what, SHORT_UNKNOWN, "log: where that is cut off, nothing is said");
	k = last_of(&log, REPORT(7, "CONSTRAINT_NONE", ",global_oom,task_memcg=/a")
		    KILL(6, IN_GROUP));
	ok(k->what == SHORT_CGROUP && !*k->cgroup, "log: a report is its own victim's");
	k = last_of(&log, REPORT(5, "CONSTRAINT_MEMCG", ",oom_memcg=/a,task_memcg=/a")
		    KILL(5, IN_GROUP)
		    "6,9,300610000,-;Tasks in /a are going to be killed due to "
		    "memory.oom.group set\n"
		    KILL(6, IN_GROUP));
	ok(log.nr == 2 && !strcmp(k->cgroup, "/a"), "log: the rest of a cgroup is of that report");
	k = last_of(&log, "<6>[  1.5] a invoked oom-killer: gfp_mask=0xd0, order=0\n"
		    "<6>[  1.6] Task in /x killed as a result of limit of /x\n"
		    "<3>[  1.7] Memory cgroup out of memory: Kill process 7 (p) score 9 or ...\n"
		    "<3>[  1.8] Killed process 8 (child) total-vm:9kB, anon-rss:4kB\n"
		    "<3>[  1.9] Memory cgroup out of memory: Kill process 9 (q) score 9 or ...\n"
		    "<3>[  1.9] Killed process 9 (q) total-vm:9kB, anon-rss:4kB\n");
	ok(log.nr == 2 && log.kills[0].pid == 8 && !strcmp(log.kills[0].cgroup, "/x"),
	   "log: before v4.20 who is killed may be a child");
	ok(k->what == SHORT_CGROUP && !*k->cgroup, "log: and a report is of one kill there, too");

	limit_is(",oom_memcg=/my pod,task_memcg=/my pod", "/my pod", "log: a blank in a name");
	limit_is(",oom_memcg=/a,b,task_memcg=/a,b/c", "/a,b", "log: a comma");
	limit_is(",oom_memcg=/a,task_memcg=/b,task_memcg=/a,task_memcg=/b/c",
		 "/a,task_memcg=/b", "log: a word of the kernel's");
	limit_is(",oom_memcg=/a\\x0ab\\x5cx,task_memcg=/a\\x0ab\\x5cx", "/a\nb\\x",
		 "log: what the log escapes");
	k = last_of(&log, "12,8,300500000,-;Out of memory: Killed process 5 (h) total-vm:1kB\n");
	is(log.nr, 0, "log: what a program writes there is not the kernel's");
}

static void others(void)
{
	struct machine m = { .page = 4096 };
	struct machine_mount mount;
	__u64 v = 0;

	ok(mount_parse(text("36 35 0:5 / /a\\040b rw,nosuid shared:1 - tmpfs none rw,size=1k"),
		       &mount), "mountinfo: a line");
	ok(!strcmp(mount.point, "/a b") && !strcmp(mount.type, "tmpfs") &&
	   !strcmp(mount.super, "rw,size=1k"), "mountinfo: an escaped blank, and options");
	ok(limit_parse("max\n", &v) && v == ~0ULL, "limit: max");
	ok(limit_parse("9223372036854771712\n", &v) && v == ~0ULL, "limit: none, in v1");
	ok(limit_parse("4096\n", &v) && v == 4096, "limit: a number");
	ok(pairs_value("low 1\noom 2\noom_kill 3\n", "oom_kill", &v) && v == 3, "events");
	sockets_parse(text("sockets: used 9\nTCP: inuse 1 orphan 0 tw 0 alloc 1 mem 3\n"
			   "UDP: inuse 0 mem 2\nFRAG: inuse 0 memory 640\n"), &m);
	ok(m.socket_pages == 5 && m.socket_frags == 640, "sockstat");
	shm_parse(text(" key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime "
		       "rss swap\n 0 1 600 9999 1 1 1 0 0 0 0 0 0 0 8192 0\n"), &m);
	is(m.shm_bytes, 8192, "shm: resident, not the size");
	swaps_parse(text("Filename Type Size Used Priority\n/swap file 100 40 -2\n"), &m);
	is(m.swaps.at[0].bytes, 40 * KIB, "swaps: used");
	machine_free(&m);
}

/* Available as 3.10 would say it, and what is left over of the sum. */
static void sums(void)
{
	struct machine m = { .page = 4096 };
	struct machine_account a;

	fields_parse_mem(text("MemTotal: 100000 kB\nMemFree: 30000 kB\nActive: 20000 kB\n"
			      "Inactive: 10000 kB\nActive(file): 8000 kB\nInactive(file): 8000 kB\n"
			      "Unevictable: 0 kB\nAnonPages: 12000 kB\nShmem: 2000 kB\n"
			      "SReclaimable: 4000 kB\nSUnreclaim: 6000 kB\nKernelStack: 1000 kB\n"
			      "PageTables: 1000 kB\n"), &m.f);
	machine_account(&m, &a);
	is(a.bytes[KIND_FILE], 16000 * KIB, "sum: of files is what is left of the lists");
	is(a.bytes[KIND_UNACCOUNTED], 28000 * KIB, "sum: the rest is unaccounted");
	ok(!a.has[KIND_PERCPU] && !a.has[KIND_VMALLOC], "sum: 3.10 does not tell of these");
	is(machine_available(&m), 50000 * KIB, "available: estimated where it is not told");
	/* RHEL 7 tells of per-CPU memory, too */
	fields_parse_mem(text("VmallocUsed: 266772 kB\nVmallocChunk: 34358947836 kB\n"
			      "Percpu: 328 kB\n"), &m.f);
	machine_account(&m, &a);
	ok(a.has[KIND_PERCPU] && !a.has[KIND_VMALLOC],
	   "sum: address space that vmalloc() uses is no memory");
	m.f.mem[MEM_VMALLOC_CHUNK] = 0;
	machine_account(&m, &a);
	ok(a.has[KIND_VMALLOC] && a.bytes[KIND_VMALLOC] == 265772 * KIB,
	   "sum: without stacks, which are counted by themselves");
	machine_free(&m);
}

static void compare(void)
{
	struct machine_holder was[] = {
		{ .name = "a", .pid = 1, .start = 5, .bytes = 10 },
		{ .name = "b", .pid = 2, .start = 5, .bytes = 10 },
		{ .name = "gone", .pid = 3, .start = 5, .bytes = 10 },
	};
	struct machine_holder is_now[] = {
		{ .name = "b", .pid = 2, .start = 6, .bytes = 15 },
		{ .name = "a", .pid = 1, .start = 5, .bytes = 30 },
	};
	const struct machine_list before = { .at = was, .nr = 3 }, now = { .at = is_now, .nr = 2 };
	struct machine_growth *g;

	ok(!machine_compare(&before, &now, &g), "compare");
	ok(g[0].now->pid == 1 && g[0].grew == 20 && g[0].before, "compare: who grew most is first");
	ok(g[1].now->pid == 2 && !g[1].before, "compare: a number that is used again is another");
	free(g);
}

/* Shared memory once: from the sum, or from each mapping; not where there is no time. */
static void shared_once(void)
{
	static const char *const names[] = { "smaps_rollup", "smaps" };
	char root[] = "/tmp/test_machine.XXXXXX", path[128];
	struct machine_at at = { .root = root, .budget_ns = 60000000000ULL };
	struct machine_pss p = { 0 };

	if (!mkdtemp(root))
		return;
	snprintf(path, sizeof(path), "%s/proc", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/7", root);
	mkdir(path, 0700);
	for (int i = 0; i < 2; i++) {
		struct machine_holder h = { .pid = 7, .bytes = 4096 }, late = h;
		FILE *f;

		snprintf(path, sizeof(path), "%s/proc/7/%s", root, names[i]);
		f = fopen(path, "w");
		if (!f)
			return;
		for (int k = 0; k < 3000; k++)
			fprintf(f, "00400000-00500000 r-xp 00000000 fe:00 12 /usr/bin/x\n"
				"Rss: 900 kB\nPss: 2 kB\nPss_Dirty: 9 kB\nPrivate_Clean: 1 kB\n"
				"Shared_Dirty: 7 kB\nPrivate_Dirty: 0 kB\n");
		fclose(f);
		machine_pss_begin(&at, &p);
		machine_pss(&at, &p, &h);
		ok(h.has_pss && h.pss == 6000 * KIB && h.uss == 3000 * KIB, "PSS by %s", names[i]);
		p.end = 0;
		machine_pss(&at, &p, &late);
		ok(!late.has_pss && !late.pss, "no time: none");
		machine_pss_begin(&at, &p);
		late.bytes = 1ULL << 60;
		machine_pss(&at, &p, &late);
		ok(!late.has_pss, "nor of a process that is too large for the time");
		unlink(path);
	}
	{
		struct machine_holder gone = { .pid = 7, .bytes = 4096 };

		machine_pss(&at, &p, &gone);
		ok(!gone.has_pss, "one that is gone has none");
	}
	snprintf(path, sizeof(path), "%s/proc/7", root);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/proc", root);
	rmdir(path);
	rmdir(root);
}

/* What was not read before may have been all it is now. */
static void compare_unknown(void)
{
	const __u64 tick = (__u64)sysconf(_SC_CLK_TCK);
	struct machine_holder is_now[] = {
		{ .name = "old", .pid = 8, .start = 900 * tick, .bytes = 70 },
		{ .name = "new", .pid = 9, .start = 1001 * tick, .bytes = 20 },
	};
	struct machine_holder groups[] = { { .name = "/app", .bytes = 50 } };
	const struct machine_list now = { .at = is_now, .nr = 2 };
	struct machine_list before = { .uptime = 1000 }, none = { .nr = 0 };
	struct machine_growth *g;

	machine_compare(&before, &now, &g);
	ok(g[0].now->pid == 9 && g[0].grew == 20 && !g[0].unknown,
	   "compare: a process that began since has grown by all it has");
	ok(g[1].now->pid == 8 && !g[1].grew && g[1].unknown,
	   "compare: of one that is older, and was not read, it is not known");
	free(g);
	for (none.late = 0; none.late < 2; none.late++) {
		const struct machine_list all = { .at = groups, .nr = 1 };

		machine_compare(&none, &all, &g);
		ok(g[0].unknown == !!none.late && g[0].grew == (none.late ? 0 : 50),
		   "compare: a cgroup, where %s were read before", none.late ? "not all" : "all");
		free(g);
	}
}

/* A machine of 1 GiB, and what changed in a second. */
static struct machine machine(void)
{
	struct machine m = { .page = 4096, .ns = 1000000000, .uptime = 1000 };

	fields_parse_mem(text("MemTotal: 1048576 kB\nMemFree: 800000 kB\nMemAvailable: 900000 kB\n"
			      "AnonPages: 50000 kB\nActive: 100000 kB\nSUnreclaim: 20000 kB\n"
			      "Shmem: 1000 kB\n"), &m.f);
	fields_parse_vm(text("pswpin 10\npswpout 10\nallocstall 1\noom_kill 0\n"), &m.f);
	return m;
}

static void add_process(struct machine *m, __u32 pid, const char *name, __u64 anon)
{
	struct machine_holder *h = machine_add(&m->processes);

	h->name = name;
	h->pid = pid;
	h->start = 1;
	h->bytes = h->anon = anon;
}

static void found(struct machine *before, struct machine *now, const char *command,
		  const char *name)
{
	const struct machine_at at = { .root = "/nonexistent", .page = 4096 };
	struct triage t;

	now->ns = before->ns + 1000000000;
	ok(!triage_look(&t, &at, before, now, false) && t.nr_found &&
	   !strcmp(t.found[0].command, command), "%s: %s", name, command);
	if (strcmp(t.found[0].command, command))
		printf("# it was %s\n", t.found[0].command);
	triage_free(&t);
	machine_free(before);
	machine_free(now);
}

static void findings(void)
{
	struct machine before = machine(), now = machine();

	found(&before, &now, "memtap triage 60 10", "nothing");

	before = machine();
	now = machine();
	add_process(&before, 7, "a b", MIB);
	add_process(&now, 7, "a b", 9 * MIB);
	found(&before, &now, "memtap leaks -p 7 -d 10", "a process grows");

	/* a new one did not grow */
	before = machine();
	now = machine();
	add_process(&now, 7, "a b", 9 * MIB);
	found(&before, &now, "memtap triage 60 10", "a process began");

	/* many small ones */
	before = machine();
	now = machine();
	for (__u32 i = 0; i < 20; i++)
		add_process(&now, 100 + i, "it's", MIB);
	found(&before, &now, "memtap faults --comm 'it'\\''s' --by program -d 10",
	      "more and more processes");

	before = machine();
	now = machine();
	now.f.mem[MEM_SUNRECLAIM] += 8 * MIB;
	now.f.mem[MEM_FREE] -= 8 * MIB;
	found(&before, &now, "memtap leaks -k --census 10 1", "the kernel grows");

	before = machine();
	now = machine();
	now.f.vm[VM_SWAP_IN] += 500;
	found(&before, &now, "memtap swap -d 10", "swapping");

	/* before v4.13 only the log tells */
	before = machine();
	now = machine();
	before.f.has_vm[VM_OOM_KILLS] = now.f.has_vm[VM_OOM_KILLS] = false;
	log_parse(text("<3>[ 999.0] Killed process 5 (victim) total-vm:1kB\n"), &now.log);
	now.log.has = true;
	add_process(&before, 9, "victim", MIB);
	add_process(&now, 9, "victim", MIB);
	found(&before, &now, "memtap leaks --comm victim -d 10", "killed, and running again");
}

/* Every file missing is a sentence, and nothing worse; no meminfo is an error. */
static void unreadable(void)
{
	char root[] = "/tmp/test_machine.XXXXXX", path[128];
	struct machine_at at = { .root = root, .page = 4096, .budget_ns = 1000000000 };
	struct machine m;
	FILE *f;

	if (!mkdtemp(root))
		return;
	is(machine_read(&at, 0, &m), -ENOENT, "no meminfo: an error");
	machine_free(&m);
	snprintf(path, sizeof(path), "%s/proc", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	f = fopen(path, "w");
	fputs("MemTotal: 1000 kB\nMemFree: 500 kB\n", f);
	fclose(f);
	is(machine_read(&at, ~0U, &m), 0, "nothing but meminfo: is read");
	ok(m.nr_gaps >= 5, "each file that is missing is told: %zu", m.nr_gaps);
	machine_free(&m);
	/* no time at all: all processes are left out, and that is told */
	at.budget_ns = 0;
	for (int i = 1; i < 50; i++) {
		snprintf(path, sizeof(path), "%s/proc/%d", root, i);
		mkdir(path, 0700);
	}
	usleep(1000);
	is(machine_read(&at, 0, &m), 0, "no time: is read");
	is(m.processes_seen, 49, "no time: processes are counted all the same");
	machine_free(&m);
	snprintf(path, sizeof(path), "rm -rf %s", root);
	if (system(path))
		printf("# %s is left\n", root);
}

static void put_file(const char *root, const char *name, const char *said)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, name);
	f = fopen(path, "w");
	if (!f || fputs(said, f) < 0 || fclose(f))
		abort();
}

/* A hierarchy in which no cgroup was made yet: there may be some later. */
static void no_cgroups(void)
{
	static const char *const dirs[] = {
		"proc", "proc/self", "sys", "sys/fs", "sys/fs/cgroup",
	};
	char root[] = "/tmp/memtap-machine-XXXXXX", path[256];
	struct machine_at at = { .page = 4096, .budget_ns = 1000000000 };
	struct machine m = { 0 };

	if (!mkdtemp(root))
		abort();
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, dirs[i]);
		mkdir(path, 0700);
	}
	at.root = root;
	put_file(root, "/proc/self/mountinfo",
		 "26 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put_file(root, "/sys/fs/cgroup/cgroup.controllers", "cpu io memory pids\n");
	is(cgroups_read(&at, &m), 0, "cgroups: are read");
	ok(m.cgroups.has && !m.cgroups.nr, "cgroups: there are none, and there may be some");
	machine_free(&m);
	memset(&m, 0, sizeof(m));
	put_file(root, "/sys/fs/cgroup/cgroup.controllers", "cpu io pids\n");
	ok(!cgroups_read(&at, &m) && !m.cgroups.has, "cgroups: not without the controller");
	machine_free(&m);
	snprintf(path, sizeof(path), "rm -rf %s", root);
	if (system(path))
		printf("# %s is left\n", root);
}

int main(void)
{
	fields();
	pressure();
	zones();
	slabs();
	processes();
	logs();
	log_causes();
	others();
	sums();
	compare();
	compare_unknown();
	shared_once();
	findings();
	unreadable();
	no_cgroups();
	return tap_done();
}
