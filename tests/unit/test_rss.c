// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/rss/join.c ctl/rss/parts.c ctl/rss/process.c ctl/base/ids.c */
/* LINK: kmod/core/touchtab.c kmod/core/wire.c */
/* LINK: ctl/snap/common.c ctl/snap/index.c ctl/snap/live.c ctl/snap/merge.c ctl/snap/snap.c */
/* What is resident, by who mapped it: the join, and what /proc says. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rss/rss.h"
#include "snap_stream.h"
#include "tap.h"
#include "touchtab.h"

#define REGION	MEMTAP_REGION_PAGES
#define BASE	(1000ULL * REGION)	/* a page where a huge one can be */

/* ---- a snapshot that is made by hand ---- */

static void add_task(u32 id, s32 pid, s32 ppid, u32 exec, u64 start)
{
	struct memtap_rec_task *t = add(MEMTAP_REC_TASK, sizeof(*t));

	t->id = id;
	t->space = id;
	t->pid = pid;
	t->tid = pid;
	t->ppid = ppid;
	t->exec = exec;
	t->start_ns = start;
	strcpy(t->comm, "prog");
}

static void add_counter(u32 number, u32 task, u32 stack)
{
	struct memtap_rec_counter *c = add(MEMTAP_REC_COUNTER, sizeof(*c));

	c->event = 0;
	c->task = task;
	c->ustack = stack;
	c->count = 1;
	c->number = number;
}

static void add_stack(u32 id)
{
	struct memtap_rec_stack *s = add(MEMTAP_REC_STACK, sizeof(*s) + 8);

	s->id = id;
	s->nr = 1;
	s->ip[0] = id * 0x1000;
}

static struct memtap_place *add_place(u32 space, u64 page, u32 huge)
{
	struct memtap_rec_touched *t = add(MEMTAP_REC_TOUCHED,
					   sizeof(*t) + sizeof(struct memtap_place));

	t->nr = 1;
	t->at[0].space = space;
	t->at[0].page = page;
	t->at[0].huge = huge;
	return &t->at[0];
}

static void begin(u32 share)
{
	struct memtap_rec_touched_sum *sum_rec;
	struct memtap_rec_event *e;

	start();
	((struct memtap_rec_header *)stream)->start_ns = 1000;
	e = add(MEMTAP_REC_EVENT, sizeof(*e));
	strcpy(e->name, "minor-fault");
	strcpy(e->group, "fault");
	e->seen = e->counted = 3;
	sum_rec = add(MEMTAP_REC_TOUCHED_SUM, sizeof(*sum_rec));
	sum_rec->share = share;
	sum_rec->seed = 5;
}

static void common(void)
{
	add_counter(17, 8, 100);
	add_counter(18, 8, 101);
	add_stack(100);
	add_stack(101);
	add_task(8, 50, 1, 3, 2000);
}

static struct rss_map maps[4];
static struct rss_run runs[16];
static struct rss_process processes[3];
static struct rss_look look = { processes, 1, 1 };

/* One process with one mapping, of these runs. */
static void resident(size_t nr_runs)
{
	memset(processes, 0, sizeof(processes));
	maps[0] = (struct rss_map){ .start = BASE, .end = BASE + 10 * REGION, .private = true,
				    .kind = MEMTAP_FILE_HEAP, .nr_runs = nr_runs,
				    .allowed = MEMTAP_MAPPING_KNOWN };
	processes[0] = (struct rss_process){ .pid = 50, .space = 8, .maps = maps, .nr_maps = 1,
					     .runs = runs, .nr_runs = nr_runs, .rss = 4096 };
	look.nr = 1;
}

static struct rss_sums sums;
static struct snap *joined;
static bool since, only_stale;

static bool is_even(void *ctx, __u32 pid, __u64 page)
{
	(void)ctx;
	return pid == 50 && !(page % 2);
}

static int join_with(const struct rss_look *then, u32 flags)
{
	struct snap *s;
	void *bytes;
	size_t len;
	int ret;

	snap_free(joined);
	joined = NULL;
	add_end(0);
	ret = decode(stream_len, &s);
	if (ret)
		return ret;
	ret = rss_join(s, &(struct rss_ask){
		.now = &look, .then = then, .flags = flags, .since = since,
		.is_stale = only_stale ? is_even : NULL,
	}, &sums, &bytes, &len);
	snap_free(s);
	return ret ? ret : snap_decode(bytes, len, &joined, err);
}

/* Pages of this kind with that stack. */
static u64 rows(enum rss_kind kind, u32 stack_id)
{
	u64 nr = 0;

	for (size_t i = 0; joined && i < joined->nr_counters; i++) {
		const struct snap_counter *c = &joined->counters[i];
		const struct snap_event *e = snap_event(joined, c->event);

		if (c->ustack == stack_id && !strcmp(e->name, rss_kind_name(kind)))
			nr += c->count;
	}
	return nr;
}

static void small_pages(void)
{
	struct memtap_place *p;

	begin(0);
	p = add_place(8, BASE, 0);
	p->who[0] = 17;
	p->who[1] = 18;
	p->who[2] = 17;
	p->who[9] = 17;
	common();
	runs[0] = (struct rss_run){ BASE, 2, RSS_ANON, 0 };
	runs[1] = (struct rss_run){ BASE + 2, 1, RSS_SWAP, 0 };
	runs[2] = (struct rss_run){ BASE + 3, 2, RSS_ANON, 1 };
	resident(3);
	is(join_with(NULL, 0), 0, "a join: %s", err);
	is(rows(RSS_ANON, 100), 1, "a page that is there is who mapped it's");
	is(rows(RSS_ANON, 101), 1, "each its own");
	is(rows(RSS_SWAP, 100), 1, "what is swapped out, too, as such");
	is(rows(RSS_ANON, MEMTAP_STACK_UNSEEN), 2, "what nobody mapped has come without a fault");
	is(sums.pages[RSS_ANON], 4, "the sum is that of what is there");
	is(sums.shared, 2, "what others have, too, is counted");
	is(snap_event(joined, 0)->counted, 3, "the faults' own accounts stay");
	is(joined->nr_stacks, 2, "and the stacks");
}

static void stale(void)
{
	begin(0);
	add_place(8, BASE, 0)->who[0] = 17;
	add_place(8, BASE + 16, 0)->who[1] = 18;
	common();
	runs[0] = (struct rss_run){ BASE, 18, RSS_ANON, 0 };
	runs[1] = (struct rss_run){ BASE + 18, 1, RSS_SWAP, 0 };
	runs[2] = (struct rss_run){ BASE + 19, 1, RSS_SWAP, 0 };
	resident(3);
	only_stale = true;
	join_with(NULL, 0);
	only_stale = false;
	is(rows(RSS_ANON, 100), 1, "--stale: a page that is");
	is(rows(RSS_ANON, 101), 0, "none that is not");
	is(sums.pages[RSS_ANON], 9, "and no others");
	is(sums.used, 9, "which are counted, but for those that are swapped out");
	is(sums.pages[RSS_SWAP], 1, "of those, too, the stale ones alone are told");
}

static void what_was_there(void)
{
	struct rss_run old = { BASE, 3, RSS_ANON, 0 };
	struct rss_process was = { .pid = 50, .maps = maps, .nr_maps = 1, .runs = &old,
				   .nr_runs = 1 };
	const struct rss_look then = { &was, 1, 1 };

	begin(0);
	add_place(8, BASE, 0)->who[0] = 17;
	add_counter(17, 8, 100);
	add_stack(100);
	add_task(8, 50, 1, 3, 500);
	runs[0] = (struct rss_run){ BASE, 5, RSS_ANON, 0 };
	resident(1);
	is(join_with(&then, 0), 0, "attached: a join: %s", err);
	is(rows(RSS_ANON, 100), 1, "what was mapped since has a stack");
	is(rows(RSS_ANON, MEMTAP_STACK_BEFORE), 2, "what was there before has none");
	is(rows(RSS_ANON, MEMTAP_STACK_UNSEEN), 2, "nor what came without a fault");
	begin(0);
	add_place(8, BASE, 0)->who[0] = 17;
	add_counter(17, 8, 100);
	add_stack(100);
	add_task(8, 50, 1, 3, 500);
	resident(1);
	since = true;
	join_with(&then, 0);
	since = false;
	ok(!rows(RSS_ANON, MEMTAP_STACK_BEFORE) && sums.left_out == 2, "--since: without that");
	is(sums.pages[RSS_ANON], 3, "and what came since is there");
	begin(0);
	add_task(8, 50, 1, 3, 500);
	resident(1);
	join_with(NULL, 0);
	is(rows(RSS_ANON, MEMTAP_STACK_BEFORE), 5,
	   "of a process that was there, and not looked at, all that is not known was before");
}

/* Who did nothing since has all that he had. */
static void idle(void)
{
	struct rss_run old = { BASE, 5, RSS_ANON, 0 };
	struct rss_process was = { .pid = 50, .maps = maps, .nr_maps = 1, .runs = &old,
				   .nr_runs = 1 };
	const struct rss_look then = { &was, 1, 1 };

	begin(0);
	add_task(8, 51, 1, 3, 500);
	runs[0] = (struct rss_run){ BASE, 5, RSS_ANON, 0 };
	resident(1);
	processes[0].space = 0;
	strcpy(processes[0].comm, "idle");
	processes[0].cgroup1 = 7;
	processes[0].cgroup2 = 77;
	is(join_with(&then, 0), 0, "idle: a join: %s", err);
	is(rows(RSS_ANON, MEMTAP_STACK_BEFORE), 5, "all of it was there before");
	ok(joined->nr_tasks == 2 && joined->tasks[1].pid == 50 &&
	   !strcmp(joined->tasks[1].comm, "idle"), "and is its process's");
	is(joined->counters[0].task, joined->tasks[1].id, "by name");
	ok(joined->tasks[1].cgroup1 == 7 && joined->tasks[1].cgroup2 == 77,
	   "and in its control group");
}

static void huge_pages(void)
{
	begin(0);
	add_place(8, BASE, 1)->who[0] = 17;
	add_place(8, BASE + 32, 0)->who[3] = 18;
	common();
	runs[0] = (struct rss_run){ BASE, REGION, RSS_ANON, 0 };
	resident(1);
	join_with(NULL, 0);
	is(rows(RSS_ANON, 100), REGION - 1, "a huge page is whole");
	is(rows(RSS_ANON, 101), 1, "but what was mapped in it later");
}

static void forked(void)
{
	begin(0);
	add_place(8, BASE, 0)->who[0] = 17;
	add_place(9, BASE, 0)->who[1] = 19;
	add_counter(19, 9, 101);
	common();
	add_task(9, 60, 50, 3, 3000);
	add_task(10, 61, 50, 4, 3000);
	runs[0] = (struct rss_run){ BASE, 2, RSS_ANON, 0 };
	resident(1);
	processes[0].space = 9;
	processes[0].pid = 60;
	join_with(NULL, 0);
	is(rows(RSS_ANON, 100), 1, "a child's page has the stack of its parent");
	is(rows(RSS_ANON, 101), 1, "its own have theirs");
	is(sums.inherited, 1, "that is counted");
	is(joined->counters[0].task, 9, "and is the child's");
	begin(0);
	add_place(8, BASE, 0)->who[0] = 17;
	common();
	add_task(10, 61, 50, 4, 3000);
	resident(1);
	processes[0].space = 10;
	join_with(NULL, 0);
	is(rows(RSS_ANON, 100), 0, "who has executed something else has nothing of its parent");
}

/* A child that began since has what its parent had before anybody looked. */
static void forked_of_old(void)
{
	struct rss_run old = { BASE, 2, RSS_ANON, 0 }, later = { BASE, 3, RSS_ANON, 0 };
	struct rss_process was[2] = {
		{ .pid = 50, .maps = maps, .nr_maps = 1, .runs = &old, .nr_runs = 1 },
		{ .pid = 60, .maps = maps, .nr_maps = 1, .runs = &later, .nr_runs = 1 },
	};
	const struct rss_look then = { was, 1, 1 }, then_both = { was, 2, 2 };

	for (int known = 0; known < 2; known++) {
		begin(0);
		if (known)
			add_task(8, 50, 1, 3, 500);
		add_task(9, 60, 50, 3, 3000);
		runs[0] = (struct rss_run){ BASE, 3, RSS_ANON, 1 };
		resident(1);
		processes[0].space = 9;
		processes[0].pid = 60;
		is(join_with(&then, 0), 0, "of a parent that was there: %s", err);
		is(rows(RSS_ANON, MEMTAP_STACK_BEFORE), 2, "what it had was there before%s",
		   known ? "" : ", also if it did nothing since");
		is(sums.inherited_before, 2, "and that it came by fork() is counted");
		is(rows(RSS_ANON, MEMTAP_STACK_UNSEEN), 1, "what it had not came otherwise");
		ok(!sums.orphans, "and from nobody else");
	}
	begin(0);
	add_task(9, 60, 50, 3, 3000);
	resident(1);
	processes[0].space = 9;
	processes[0].pid = 60;
	join_with(&(struct rss_look){ was + 1, 0, 0 }, 0);
	ok(sums.unseen == 3 && sums.orphans, "a parent that is not known may be where it is from");
	begin(0);
	add_task(9, 60, 50, 4, 3000);
	add_task(10, 60, 50, 3, 3000);
	resident(1);
	processes[0].space = 9;
	processes[0].pid = 60;
	join_with(&then, 0);
	ok(sums.unseen == 3 && !sums.orphans && !sums.inherited_before,
	   "but not after execve()");
	/* both were there, and the parent has since mapped where the child had something */
	begin(0);
	add_place(8, BASE, 0)->who[1] = 17;
	add_counter(17, 8, 100);
	add_stack(100);
	add_task(8, 50, 1, 3, 400);
	add_task(9, 60, 50, 3, 500);
	resident(1);
	processes[0].space = 9;
	processes[0].pid = 60;
	join_with(&then_both, 0);
	ok(rows(RSS_ANON, MEMTAP_STACK_BEFORE) == 3 && !sums.inherited,
	   "a child that was there has nothing of what its parent mapped since");
}

static void a_share(void)
{
	u64 want = 0;

	begin(2);
	for (u32 r = 0; r < 8; r++)
		add_place(8, BASE + r * REGION, 1)->who[0] = 17;
	common();
	for (u32 r = 0; r < 8; r++) {
		runs[r] = (struct rss_run){ BASE + r * REGION, REGION, RSS_ANON, 0 };
		want += touchtab_of_share(5, 2, 8, BASE + r * REGION) ? 4 * REGION : 0;
	}
	resident(8);
	join_with(NULL, 0);
	is(rows(RSS_ANON, 100), want, "of a share that was kept each page stands for four");
	is(sums.pages[RSS_ANON], want, "the sum is an estimate");
}

static void mappings(void)
{
	char *paths[] = { "/usr/lib/libx.so" };
	u64 heap = 0, file = 0;

	begin(0);
	common();
	runs[0] = (struct rss_run){ BASE, 2, RSS_ANON, 0 };
	runs[1] = (struct rss_run){ BASE + 50 * REGION, 3, RSS_FILE, 0 };
	resident(1);
	maps[1] = (struct rss_map){ .start = BASE + 50 * REGION, .end = BASE + 60 * REGION,
				    .path = 1, .first_run = 1, .nr_runs = 1,
				    .allowed = MEMTAP_MAPPING_KNOWN | MEMTAP_MAPPING_READ };
	processes[0].nr_maps = 2;
	processes[0].nr_runs = 2;
	processes[0].paths = paths;
	processes[0].nr_paths = 1;
	is(join_with(NULL, MEMTAP_CFG_FILES | MEMTAP_CFG_MAPPINGS), 0, "by mapping: %s", err);
	for (size_t i = 0; i < joined->nr_counters; i++) {
		const struct snap_file *f = snap_file(joined, (u32)joined->counters[i].addr);

		if ((u32)joined->counters[i].addr == MEMTAP_FILE_HEAP)
			heap += joined->counters[i].count;
		else if (f && !strcmp(f->path, paths[0]))
			file += joined->counters[i].count;
	}
	is(heap, 2, "the heap is told apart");
	is(file, 3, "and a file, by its path");
}

/* By mapping, what pages are is told apart. */
static void mappings_of_kinds(void)
{
	static const u32 marks[] = { 0, RSS_MARK_HUGE, RSS_MARK_LAZY, RSS_MARK_MERGED };
	u64 nr[4] = { 0 };

	begin(0);
	common();
	for (u32 i = 0; i < 4; i++)
		runs[i] = (struct rss_run){ BASE + 10 * i, i + 1, RSS_ANON, (u8)marks[i] };
	resident(4);
	processes[0].huge = 8192;
	processes[0].pss = 7;
	join_with(NULL, MEMTAP_CFG_FILES | MEMTAP_CFG_MAPPINGS);
	for (size_t i = 0; i < joined->nr_counters; i++) {
		const u32 allowed = (u32)(joined->counters[i].addr >> 32);

		nr[allowed & MEMTAP_MAPPING_HUGE ? 1 : allowed & MEMTAP_MAPPING_LAZY ? 2 :
		   allowed & MEMTAP_MAPPING_MERGED ? 3 : 0] += joined->counters[i].count;
	}
	ok(nr[0] == 1 && nr[1] == 2 && nr[2] == 3 && nr[3] == 4,
	   "by mapping: huge pages, pages that were given back, merged pages");
	ok(sums.merged == 4 && !sums.shared && sums.huge == 8192 && sums.pss == 7,
	   "and their sums");
}

/* What a module would not send. */
static void hostile(void)
{
	begin(0);
	add_place(8, BASE, 0)->who[0] = 0x7fffffff;
	((struct memtap_rec_touched *)(stream + stream_len - sizeof(struct memtap_place) -
				       sizeof(struct memtap_rec_touched)))->nr = 1000000;
	common();
	runs[0] = (struct rss_run){ BASE, 1, RSS_ANON, 0 };
	resident(1);
	ok(join_with(NULL, 0) != 0, "more places than there are bytes are refused");
	begin(0);
	add_place(8, BASE, 0)->who[0] = 0x7fffffff;
	common();
	is(join_with(NULL, 0), 0, "a counter that is not there is nobody");
	is(rows(RSS_ANON, MEMTAP_STACK_UNSEEN), 1, "and the page came without a fault");
}

/* ---- /proc ---- */

static const char smaps[] =
	"10000000-10004000 rw-p 00000000 00:00 0                                  [heap]\n"
	"Size:                 16 kB\nRss:                   8 kB\nSwap:                  4 kB\n"
	"VmFlags: rd wr mr mw me ac \n"
	"20000000-20002000 r-xp 00001000 08:01 77                         /usr/lib/a lib.so\n"
	"Rss:                   4 kB\nSwap:                  0 kB\nVmFlags: rd ex mr mw me lo \n"
	"30000000-30002000 rw-s 00000000 00:01 1026                       /memfd:x (deleted)\n"
	"Rss:                   4 kB\nSwap:                  0 kB\n"
	"40000000-40200000 rw-p 00000000 00:0f 99                        /anon_hugepage (deleted)\n"
	"Rss:                   0 kB\nVmFlags: rd wr ht \n"
	"50000000-50001000 ---p 00000000 00:00 0 \nRss:                   0 kB\n"
	"Swap:                  0 kB\n";

static void put_entry(int fd, u64 addr, u64 entry)
{
	if (pwrite(fd, &entry, 8, (off_t)(addr / 4096 * 8)) != 8)
		perror("pagemap");
}

static void proc(void)
{
	const struct rss_env e = { .zero_pfn = 5, .kpageflags = -1, .page = 4096 };
	char dir[] = "/tmp/test_rss.XXXXXX", path[64];
	struct rss_process p;
	int fd;

	if (!mkdtemp(dir))
		return;
	snprintf(path, sizeof(path), "%s/smaps", dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	ok(write(fd, smaps, sizeof(smaps) - 1) > 0, "smaps is written");
	close(fd);
	snprintf(path, sizeof(path), "%s/pagemap", dir);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	put_entry(fd, 0x10000000, 1ULL << 63 | 1ULL << 56 | 77);
	put_entry(fd, 0x10001000, 1ULL << 63 | 5);
	put_entry(fd, 0x10002000, 1ULL << 62 | 3);
	put_entry(fd, 0x10003000, 1ULL << 63 | 78);
	put_entry(fd, 0x20001000, 1ULL << 63 | 1ULL << 61 | 79);
	put_entry(fd, 0x30000000, 1ULL << 63 | 1ULL << 61 | 80);
	close(fd);
	is(rss_process_read(&e, dir, &p), 0, "a process is read");
	is(p.nr_maps, 5, "its mappings");
	is(p.maps[0].kind, MEMTAP_FILE_HEAP, "the heap");
	is(strcmp(p.paths[p.maps[1].path - 1], "/usr/lib/a lib.so"), 0, "a path with a blank");
	ok(p.maps[1].locked && !p.maps[0].locked, "what is locked");
	ok(p.maps[2].shmem && p.maps[3].hugetlb, "shared memory; hugetlbfs");
	is(p.rss, 16 << 10, "RSS");
	is(p.swap, 4 << 10, "and swap");
	is(p.hugetlb, 2 << 20, "what is no part of it");
	is(p.nr_runs, 5, "pages that are there, without that of zeros");
	is(rss_process_run(&p, 0x10000)->kind, RSS_ANON, "anonymous");
	ok(!rss_process_run(&p, 0x10001), "zeros are not there");
	is(rss_process_run(&p, 0x10002)->kind, RSS_SWAP, "swapped");
	is(rss_process_run(&p, 0x10003)->marks, RSS_MARK_SHARED, "shared with another process");
	ok(!rss_process_run(&p, 0x20000), "not there");
	is(rss_process_run(&p, 0x20001)->kind, RSS_FILE, "of a file");
	is(rss_process_run(&p, 0x30000)->kind, RSS_SHMEM, "of shared memory");
	ok(!rss_process_run(&p, 0x30001) && !rss_process_run(&p, 0x90000), "nothing behind");
	rss_process_free(&p);
	snprintf(path, sizeof(path), "%s/smaps", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/pagemap", dir);
	unlink(path);
	is(rss_process_read(&e, dir, &p), -ESRCH, "one that is gone");
	rmdir(dir);
}

/* Huge pages, pages that were given back, that KSM has merged, that are hugetlbfs'. */
static void kinds_of_pages(void)
{
	static const char text[] =
		"10000000-10600000 rw-p 00000000 00:00 0 \nRss: 4096 kB\nPss: 3000 kB\n"
		"Pss_Dirty: 7 kB\nPrivate_Clean: 4 kB\nPrivate_Dirty: 2048 kB\n"
		"AnonHugePages: 2048 kB\nLazyFree: 0 kB\nVmFlags: rd wr mr mw me ac \n"
		"20000000-20004000 rw-p 00000000 00:00 0 \nRss: 12 kB\nPss: 12 kB\n"
		"Private_Dirty: 12 kB\nLazyFree: 8 kB\nVmFlags: rd wr mr mw me ac \n"
		"30000000-30004000 rw-p 00000000 00:00 0 \nRss: 12 kB\nPss: 6 kB\n"
		"VmFlags: rd wr mr mw me ac mg \n"
		"40000000-40400000 rw-p 00000000 00:0f 9 /anon_hugepage (deleted)\n"
		"Rss: 0 kB\nPrivate_Hugetlb: 2048 kB\nVmFlags: rd wr ht \n";
	const u64 there = 1ULL << 63, own = 1ULL << 56, backed = 1ULL << 14, ksm = 1ULL << 21;
	struct rss_env e = { .zero_pfn = 5, .page = 4096 };
	char dir[] = "/tmp/test_rss.XXXXXX", path[64];
	struct rss_process p;
	int fd, flags;

	if (!mkdtemp(dir))
		return;
	snprintf(path, sizeof(path), "%s/smaps", dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	ok(write(fd, text, sizeof(text) - 1) > 0, "kinds: smaps is written");
	close(fd);
	snprintf(path, sizeof(path), "%s/pagemap", dir);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	for (u64 i = 0; i < REGION; i++) {
		put_entry(fd, 0x10000000 + i * 4096, there | own | (2 * REGION + i));
		put_entry(fd, 0x10200000 + i * 4096, there | own | (4 * REGION + 2 * i));
	}
	for (u64 i = 0; i < 3; i++) {
		put_entry(fd, 0x20000000 + i * 4096, there | own | (100 + i));
		put_entry(fd, 0x30000000 + i * 4096, there | (i == 2 ? own : 0) | (110 + i));
	}
	close(fd);
	snprintf(path, sizeof(path), "%s/kpageflags", dir);
	flags = open(path, O_CREAT | O_RDWR, 0600);
	for (u64 pfn = 100; pfn < 120; pfn++)
		put_entry(flags, pfn * 4096, pfn < 102 ? 0 : pfn == 110 ? backed | ksm : backed);
	e.kpageflags = flags;
	is(rss_process_read(&e, dir, &p), 0, "kinds: a process is read");
	is(p.pss, 3018 << 10, "PSS");
	is(p.uss, 2064 << 10, "USS");
	ok(p.huge == 2 << 20 && p.lazy == 8 << 10, "huge pages, and what was given back");
	ok(p.hugetlb == 4 << 20 && p.hugetlb_there == 2 << 20, "hugetlbfs: mapped, and there");
	is(rss_process_run(&p, 0x10000)->marks, RSS_MARK_HUGE, "a huge page");
	is(rss_process_run(&p, 0x10200)->marks, 0, "as many small ones are none");
	is(rss_process_run(&p, 0x20001)->marks, RSS_MARK_LAZY, "given back");
	is(rss_process_run(&p, 0x20002)->marks, 0, "and used again");
	is(rss_process_run(&p, 0x30000)->marks, RSS_MARK_MERGED, "merged by KSM, not since fork()");
	is(rss_process_run(&p, 0x30001)->marks, RSS_MARK_SHARED, "shared beside it");
	is(rss_process_run(&p, 0x30002)->marks, 0, "its own");
	ok(!p.may_be_merged, "that is known");
	rss_process_free(&p);
	close(flags);
	e.kpageflags = -1;
	is(rss_process_read(&e, dir, &p), 0, "kinds: without flags of pages");
	ok(rss_process_run(&p, 0x30000)->marks == RSS_MARK_SHARED && p.may_be_merged,
	   "what is shared may be KSM's");
	rss_process_free(&p);
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "smaps", "pagemap", "kpageflags" };

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

/* ---- what anonymous memory is for ---- */

#define ARENA	0x140000000ULL	/* of the program, 3 pages and 2 more that are reserved, */
#define SECOND	0x148000000ULL	/* its second heap, */
#define STACK	0x147ff0000ULL	/* right below that a stack, */
#define BLOCKS	0x150001000ULL	/* two blocks, and a page of somebody else, */
#define PLAIN	0x160000000ULL	/* what looks like an arena, and is none, */
#define FIRST	0x170000000ULL	/* what the first thread has, which has its stack elsewhere, */
#define BELOW	0x180000000ULL	/* a stack with a block right above it, */
#define OWN	0x190001000ULL	/* a stack that is not glibc's, with a guard, */
#define POOL	0x1a0000000ULL	/* and what a program takes stacks of threads from, too */

static int memory;

static void put_words(u64 at, u64 a, u64 b, u64 c, u64 d)
{
	const u64 words[4] = { a, b, c, d };

	if (pwrite(memory, words, sizeof(words), (off_t)at) != sizeof(words))
		perror("mem");
}

static u64 pages_of(const struct rss_anon *a, enum rss_for what)
{
	return a->pages[what];
}

/* Where thread @nr is: its stack pointer stands before the address. */
static void put_thread(const char *dir, unsigned int nr, u64 stack)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/task/%u", dir, 7 + nr);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/task/%u/syscall", dir, 7 + nr);
	f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "202 0x1 0x0 0x0 0x0 0x0 0x0 0x%llx 0x7f0000001234\n",
		(unsigned long long)stack);
	fclose(f);
}

static void parts(void)
{
	static const char text[] =
		"10000000-10004000 rw-p 00000000 00:00 0    [heap]\nRss: 4 kB\nSwap: 0 kB\n"
		"140000000-140005000 rw-p 00000000 00:00 0 \nRss: 16 kB\nSwap: 0 kB\n"
		"147ff0000-148002000 rw-p 00000000 00:00 0 \nRss: 16 kB\nSwap: 0 kB\n"
		"150001000-150045000 rw-p 00000000 00:00 0 \nRss: 12 kB\nSwap: 0 kB\n"
		"160000000-160003000 rw-p 00000000 00:00 0 \nRss: 4 kB\nSwap: 0 kB\n"
		"170000000-170002000 rw-p 00000000 00:00 0 \nRss: 4 kB\nSwap: 0 kB\n"
		"180000000-180032000 rw-p 00000000 00:00 0 \nRss: 12 kB\nSwap: 0 kB\n"
		"190000000-190001000 ---p 00000000 00:00 0 \nRss: 0 kB\nSwap: 0 kB\n"
		"190001000-190009000 rw-p 00000000 00:00 0 \nRss: 8 kB\nSwap: 0 kB\n"
		"19ffff000-1a0000000 ---p 00000000 00:00 0 \nRss: 0 kB\nSwap: 0 kB\n"
		"1a0000000-1a0400000 rw-p 00000000 00:00 0 \nRss: 12 kB\nSwap: 0 kB\n"
		"1b0000000-1b0400000 rw-p 00000000 00:00 0 \nRss: 4 kB\nSwap: 0 kB\n";
	static const u64 stacks[] = { 0x18000e100, OWN + 0x7100, POOL + 0x2100, POOL + 0x6100,
				      0x1b0000100 };
	static const u64 there[] = {
		0x10000000, ARENA, ARENA + 0x1000, ARENA + 0x4000, STACK + 0xd000, STACK + 0xf000,
		SECOND, SECOND + 0x1000, BLOCKS, BLOCKS + 0x22000, BLOCKS + 0x43000, PLAIN,
		FIRST + 0x1000, BELOW + 0xe000, BELOW + 0xf000, BELOW + 0x10000,
		OWN + 0x6000, OWN + 0x7000, POOL, POOL + 0x2000, POOL + 0x6000, 0x1b0000000,
	};
	const struct rss_env e = { .zero_pfn = 5, .kpageflags = -1, .page = 4096 };
	char dir[] = "/tmp/test_rss.XXXXXX", path[64];
	struct rss_anon anon = { 0 };
	struct rss_process p;
	__u64 end;
	int fd;

	if (!mkdtemp(dir))
		return;
	snprintf(path, sizeof(path), "%s/smaps", dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	ok(write(fd, text, sizeof(text) - 1) > 0, "parts: smaps is written");
	close(fd);
	snprintf(path, sizeof(path), "%s/pagemap", dir);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++)
		put_entry(fd, there[i], 1ULL << 63 | 1ULL << 56 | (100 + i));
	close(fd);
	snprintf(path, sizeof(path), "%s/mem", dir);
	memory = open(path, O_CREAT | O_RDWR, 0600);
	put_words(ARENA, ARENA + 0x30, 0, 0x3000, 0x5000);
	put_words(SECOND, ARENA + 0x30, ARENA, 0x1000, 0x2000);
	put_words(STACK + 0xf700, STACK + 0xf700, 1, STACK + 0xf700, 0);
	/* it has two pages, and what is below is somebody else's */
	put_words(STACK + 0xfd90, STACK + 0xe000, 0x2000, 0x1000, 0);
	put_words(FIRST + 0x1700, FIRST + 0x1700, 1, FIRST + 0x1700, 0);
	put_words(BELOW + 0xf700, BELOW + 0xf700, 1, BELOW + 0xf700, 0);
	put_words(BELOW + 0xfd90, BELOW, 0x10000, 0, 0);
	put_words(BELOW + 0x10000, 0, 0x22002, 0, 0);
	put_words(BLOCKS, 0, 0x22002, 0, 0);
	put_words(BLOCKS + 0x22000, 0, 0x20ff2, 0, 0);	/* as since glibc 2.42 */
	put_words(BLOCKS + 0x43000, 0, 0x21003, 0, 0);
	put_words(PLAIN, SECOND + 0x30, SECOND, 0x1000, 0x2000);
	close(memory);
	snprintf(path, sizeof(path), "%s/task", dir);
	mkdir(path, 0700);
	for (unsigned int i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		put_thread(dir, i, stacks[i]);
	is(rss_process_read(&e, dir, &p), 0, "parts: a process is read");
	is(rss_process_parts(&e, dir, &p), 0, "and looked at");
	rss_process_for(&p, &anon);
	is(pages_of(&anon, RSS_FOR_HEAP), 1, "the heap of brk()");
	is(pages_of(&anon, RSS_FOR_ARENA), 5, "an arena, and its second heap");
	is(anon.things[RSS_FOR_ARENA], 1, "which is one");
	is(pages_of(&anon, RSS_FOR_THREAD), 1 + 2 + 2, "stacks of threads, in the same mappings");
	is(anon.things[RSS_FOR_THREAD], 3, "two, and one that is not glibc's");
	is(pages_of(&anon, RSS_FOR_BLOCK), 3, "large blocks of malloc()");
	is(anon.things[RSS_FOR_BLOCK], 3, "three");
	is(pages_of(&anon, RSS_FOR_OTHER), 4 + 3 + 1,
	   "what is none of it, or does not fit; what has stacks in it");
	end = ~0ULL;
	ok(!rss_process_part(&p, 5, &end) && end == ARENA / 4096, "none, as far as the first");
	rss_process_free(&p);
	for (unsigned int i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		snprintf(path, sizeof(path), "%s/task/%u/syscall", dir, 7 + i);
		remove(path);
		*strrchr(path, '/') = '\0';
		remove(path);
	}
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = { "smaps", "pagemap", "mem", "task" };

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		remove(path);
	}
	rmdir(dir);
}

/* This process itself, as the kernel has it. */
static void self(void)
{
	const size_t len = 64 * 4096;
	volatile char *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);
	struct rss_process p;
	struct rss_env e;
	u64 nr = 0;

	rss_env_begin(&e);
	for (size_t i = 0; i < 64; i += 2)
		at[i * 4096] = 1;
	if (rss_process_read(&e, "/proc/self", &p)) {
		ok(1, "this process # SKIP cannot be read");
		return;
	}
	for (size_t i = 0; i < 64; i++)
		nr += rss_process_run(&p, (u64)(uintptr_t)at / 4096 + i) != NULL;
	is(nr, 32, "this process has what it touched");
	rss_process_free(&p);
	rss_env_end(&e);
	munmap((void *)at, len);
}

int main(void)
{
	small_pages();
	stale();
	what_was_there();
	idle();
	huge_pages();
	forked();
	forked_of_old();
	a_share();
	mappings();
	mappings_of_kinds();
	hostile();
	proc();
	kinds_of_pages();
	parts();
	self();
	snap_free(joined);
	free(stream);
	return tap_done();
}
