// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: tests/golden/records.c kmod/core/wire.c */
/*
 * make_snap DIR: writes the .memtap files that the golden tests report on, and
 * the ELF file (by its build-id) that their user frames lie in.  Everything is
 * invented here, so that the expected reports are the same on all machines.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "records.h"

struct key {
	u32 event, flags, task, kstack, ustack;
	u64 addr;
};

static void counter(const struct key *k, u32 cpu, u64 count, s64 total, u64 max)
{
	struct memtap_rec_counter *c = record(MEMTAP_REC_COUNTER, sizeof(*c));

	c->event = k->event;
	c->flags = k->flags;
	c->task = k->task;
	c->kstack = k->kstack;
	c->ustack = k->ustack;
	c->addr = k->addr;
	c->cpu = cpu;
	c->count = count;
	c->sum = total;
	c->max = max;
	put(c);
}

static void hist_counter(const struct key *k, u32 cpu, u64 count, s64 total,
			 u64 max, u32 nr, const u64 *hist)
{
	struct memtap_rec_counter *c = record(MEMTAP_REC_COUNTER, sizeof(*c) + nr * 8);

	c->event = k->event;
	c->task = k->task;
	c->kstack = k->kstack;
	c->ustack = k->ustack;
	c->cpu = cpu;
	c->count = count;
	c->sum = total;
	c->max = max;
	c->nr_hist = nr;
	memcpy(c->hist, hist, nr * 8);
	put(c);
}

/* @more: so many calls after what @more 0 has, one of them with a new stack. */
static void scene_brk(const char *dir, const char *name, u32 more)
{
	struct key k = { .event = 3, .task = 8, .kstack = 8, .ustack = 20 };

	begin(dir, name, MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK);
	event(3, "brk", MEMTAP_UNIT_BYTES, 1049 + more, 17, 2, 5);
	hook(3, "__x64_sys_brk", 0);
	hook(3, "__ia32_compat_sys_brk", ENOENT);
	/* one key on three CPUs */
	counter(&k, 0, 500, 1 << 20, 135168);
	counter(&k, 2, 400, 2 << 20, 200000);
	counter(&k, 3, 100, 1000, 1000);
	if (more) {
		counter(&k, 1, more - 1, (more - 1) * 4096, 4096);
		counter(&(struct key){ .event = 3, .task = 8, .kstack = 60 }, 1, 1,
			-5000, 0);
	}
	/* an exited process: the same stack, elsewhere */
	counter(&(struct key){ .event = 3, .task = 9, .kstack = 8, .ustack = 50 },
		1, 7, 7 * 4096, 4096);
	/* the heap given back */
	counter(&(struct key){ .event = 3, .task = 8, .kstack = 8, .ustack = 30 },
		1, 30, -300000, 0);
	counter(&(struct key){ .event = 3, .task = 8, .kstack = 8,
			       .ustack = MEMTAP_STACK_LOST }, 1, 4, 40000, 10000);
	counter(&(struct key){ .event = 3, .task = 8, .kstack = 8, .ustack = 40,
			       .flags = MEMTAP_KEY_FAILED }, 1, 3, 0, 0);
	counter(&(struct key){ .event = 3, .task = 10, .kstack = 60 }, 0, 2, 8192, 4096);
	counter(&(struct key){ .event = 3, .task = MEMTAP_TASK_LOST, .kstack = 8 },
		0, 2, 512, 256);
	counter(&(struct key){ .event = 3, .task = 8, .ustack = 70 }, 0, 1, 100, 100);
	common_stacks();
	common_tasks();
	memory();
	end();
	tool_part();
	finish();
}

/* What was counted in some seconds, with one key each; the part of the time ends so. */
static void span(u64 from, u64 to, u32 nr, const struct key *k, const u64 *count, const s64 *sum)
{
	struct memtap_rec_span *s = record(MEMTAP_REC_SPAN, sizeof(*s) + nr * sizeof(s->at[0]));

	s->start_ns = (100 + from) * SEC;
	s->end_ns = (100 + to) * SEC;
	s->nr = nr;
	for (u32 i = 0; i < nr; i++) {
		s->at[i].event = k[i].event;
		s->at[i].task = k[i].task;
		s->at[i].kstack = k[i].kstack;
		s->at[i].ustack = k[i].ustack;
		s->at[i].count = count[i];
		s->at[i].sum = sum[i];
	}
	put(s);
}

/* Recorded with an interval: one stack grows at first, another one later and shrinks then. */
static void scene_timed(const char *dir)
{
	const struct key k[] = {
		{ .event = 3, .task = 8, .kstack = 8, .ustack = 20 },
		{ .event = 3, .task = 8, .kstack = 8, .ustack = 30 },
	};

	begin(dir, "timed", MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK);
	event(3, "brk", MEMTAP_UNIT_BYTES, 17, 0, 0, 0);
	counter(&k[0], 0, 10, 10 << 10, 4096);
	counter(&k[1], 0, 7, 3 << 10, 4096);
	common_stacks();
	common_tasks();
	memory();
	end();
	put(record(MEMTAP_REC_TOOL, sizeof(struct memtap_rec)));
	span(0, 2, 1, k, (const u64[]){ 6 }, (const s64[]){ 6 << 10 });
	span(2, 4, 2, k, (const u64[]){ 4, 2 }, (const s64[]){ 4 << 10, 8 << 10 });
	span(4, 6, 0, k, NULL, NULL);
	/* the same key twice */
	span(6, 10, 2, (const struct key[]){ k[1], k[1] }, (const u64[]){ 4, 1 },
	     (const s64[]){ -(4 << 10), -(1 << 10) });
	end();
	finish();
}

static void scene_faults(const char *dir)
{
	struct key k = { .event = 0, .task = 8, .ustack = 20, .addr = 0x7f0001 };

	begin(dir, "faults", MEMTAP_CFG_USTACK | MEMTAP_CFG_ADDR);
	event(0, "minor-fault", MEMTAP_UNIT_NONE, 12, 0, 0, 0);
	event(1, "major-fault", MEMTAP_UNIT_NONE, 1, 0, 0, 0);
	event(2, "pages", MEMTAP_UNIT_PAGES, 3, 0, 0, 0);
	counter(&k, 0, 9, 0, 0);
	k.addr++;
	counter(&k, 0, 2, 0, 0);
	k.flags = MEMTAP_KEY_KERNEL | MEMTAP_KEY_IRQ;
	counter(&k, 0, 1, 0, 0);
	k.event = 1;
	counter(&k, 0, 1, 0, 0);
	k.event = 2;
	counter(&k, 0, 3, 34, 32);
	common_stacks();
	common_tasks();
	end();
	tool_part();
	finish();
}

static void scene_hist(const char *dir)
{
	static const u64 hist[] = { 1, 0, 2, 40, 10 }, more[] = { 0, 0, 0, 0, 0, 0, 7 };
	struct key k = { .event = 0, .task = 8, .ustack = 20 };

	begin(dir, "hist", MEMTAP_CFG_USTACK | MEMTAP_CFG_HIST | MEMTAP_CFG_THREADS);
	event(0, "reclaim", MEMTAP_UNIT_NS, 60, 0, 0, 0);
	hist_counter(&k, 0, 53, 300, 15, 5, hist);
	hist_counter(&k, 1, 7, 350, 63, 7, more);
	common_stacks();
	task(8, 1, 4711, 4713, 0, "worker;1");
	map(1, 1, LOADED);
	map(1, 2, LOADED + 0x2000);
	file(1, "/usr/bin/encryptor", true);
	file(2, "/usr/lib/replaced.so", false);
	end();
	tool_part();
	finish();
}

/* Stacks that were followed by rows: whole, and cut for each reason. */
static const struct {
	u32 flags, count;
	u64 last;
} endings[] = {
	{ 0, 1000, MAIN(LOADED) },
	{ MEMTAP_STACK_FP, 100, MAIN(LOADED) },
	{ MEMTAP_STACK_DEPTH, 7, RUST(LOADED) },
	{ MEMTAP_STACK_FAULT, 2, RUST(LOADED) },
	{ MEMTAP_STACK_CHAIN, 1, MAIN(LOADED) },
	{ MEMTAP_STACK_NOMAP, 3, 0x1234 },
	{ MEMTAP_STACK_NOTABLE, 20, LOADED + 0x2120 },
	{ MEMTAP_STACK_NOTABLE, 5, RUST(LOADED) },
	{ MEMTAP_STACK_NOROW, 4, NOWHERE(LOADED) },
};

#define NR_ENDINGS	(sizeof(endings) / sizeof(endings[0]))

static void rows_event(u64 counted)
{
	struct memtap_rec_event *e = record(MEMTAP_REC_EVENT, sizeof(*e));

	e->id = 3;
	e->unit = MEMTAP_UNIT_BYTES;
	e->way = MEMTAP_WAY_KPROBE;
	e->seen = e->counted = counted;
	e->part[MEMTAP_PART_DEPTH] = 7;
	e->part[MEMTAP_PART_FAULT] = 2;
	/* one of a user stack by rows, one of a 32-bit program */
	e->part[MEMTAP_PART_CHAIN] = 2;
	e->part[MEMTAP_PART_NOMAP] = 3;
	e->part[MEMTAP_PART_NOTABLE] = 25;
	e->part[MEMTAP_PART_NOROW] = 4;
	strcpy(e->group, "heap");
	strcpy(e->name, "brk");
	put(e);
}

static void rows_memory(void)
{
	struct memtap_rec_memory *m = record(MEMTAP_REC_MEMORY, sizeof(*m));

	m->total = 28 << 20;
	m->unwind_size = 16 << 20;
	m->unwind_used = 3 << 20;
	m->unwind_lost = 2;
	m->tables = 57;
	m->tables_wanted = 1;
	put(m);
}

/* @whole: none is cut */
static void scene_rows(const char *dir, const char *name, bool whole)
{
	const u32 flags = MEMTAP_STACK_USER | MEMTAP_STACK_ROWS;
	struct key k = { .event = 3, .task = 8 };
	const u32 nr = whole ? 2 : NR_ENDINGS;
	u64 counted = 0;

	depth = 16;
	begin(dir, name, MEMTAP_CFG_USTACK | MEMTAP_CFG_ROWS);
	for (u32 i = 0; i < nr; i++, counted += endings[i - 1].count) {
		k.ustack = 20 + i;
		counter(&k, 0, endings[i].count, endings[i].count * 4096, 4096);
		stack(k.ustack, flags | endings[i].flags, 3, LOADED + 0x120,
		      PROCESS(LOADED), endings[i].last);
	}
	if (whole) {
		event(3, "brk", MEMTAP_UNIT_BYTES, counted, 0, 0, 0);
	} else {
		k.ustack = 60;
		counter(&k, 0, 1, 4096, 4096);
		stack(60, MEMTAP_STACK_USER | MEMTAP_STACK_COMPAT | MEMTAP_STACK_CHAIN, 1,
		      LOADED + 0x120);
		rows_event(counted + 1);
		rows_memory();
	}
	common_tasks();
	end();
	tool_part();
	finish();
	depth = MEMTAP_MAX_DEPTH;
}

/* Nothing lost, no stack truncated: @calls of a process, and some that were left out. */
static void scene_whole(const char *dir, const char *name, u64 calls, u64 filtered, u64 own)
{
	struct memtap_rec_event *e = record(MEMTAP_REC_EVENT, sizeof(*e));
	struct memtap_rec_memory *m = record(MEMTAP_REC_MEMORY, sizeof(*m));
	struct key k = { .event = 0, .task = 8, .ustack = 20 };

	begin(dir, name, MEMTAP_CFG_USTACK | MEMTAP_CFG_ROWS | MEMTAP_CFG_NOT_SELF);
	e->unit = MEMTAP_UNIT_BYTES;
	e->counted = calls;
	e->filtered = filtered;
	e->own = own;
	e->seen = calls + filtered;
	strcpy(e->group, "mmap");
	strcpy(e->name, "mmap");
	put(e);
	if (!strcmp(name, "whole-loader")) {
		const u64 ld = LOADED + 0x40000;

		calls -= 5;
		k.ustack = 21;
		counter(&k, 0, 3, 24576, 8192);
		k.ustack = 22;
		counter(&k, 0, 2, 1 << 20, 1 << 19);
		k.ustack = 20;
		stack(21, MEMTAP_STACK_USER | MEMTAP_STACK_ROWS, 2, ld + 0x100, ld + 0x200);
		stack(22, MEMTAP_STACK_USER | MEMTAP_STACK_ROWS, 3, ld + 0x100, ld + 0x300,
		      MAIN(LOADED));
		map(1, 3, ld);
		file(3, "/usr/lib/ld-2.31.so", false);
	}
	counter(&k, 0, calls, calls * 4096, 4096);
	stack(20, MEMTAP_STACK_USER | MEMTAP_STACK_ENTRY | MEMTAP_STACK_ROWS, 3,
	      LOADED + 0x120, PROCESS(LOADED), MAIN(LOADED));
	m->total = 30 << 20;
	m->unwind_size = 16 << 20;
	m->unwind_used = 1 << 20;
	m->tables = 1;
	put(m);
	common_tasks();
	end();
	tool_part();
	finish();
}

/* All calls that change mappings: what may be written to, and what may not. */
static void scene_mapped(const char *dir)
{
	static const struct {
		u32 event, flags, ustack;
		s64 sum;
	} rows[] = {
		{ 3, 0, 20, 8 << 20 },
		{ 3, MEMTAP_KEY_RESERVED, 20, 128 << 20 },
		{ 3, MEMTAP_KEY_READONLY, 30, 2 << 20 },
		{ 3, MEMTAP_KEY_GROSS, 30, 4096 },
		{ 4, 0, 20, 1 << 20 },
		{ 5, 0, 20, 3 << 20 },
		{ 5, MEMTAP_KEY_RESERVED, 20, 64 << 20 },
		{ 6, 0, 20, 132 << 10 },
		{ 6, 0, 30, -4096 },
	};
	const u32 nr = sizeof(rows) / sizeof(rows[0]);

	begin(dir, "mapped", MEMTAP_CFG_USTACK);
	event(3, "mmap", MEMTAP_UNIT_BYTES, 4, 0, 0, 0);
	event(4, "mremap", MEMTAP_UNIT_BYTES, 1, 0, 0, 0);
	event(5, "munmap", MEMTAP_UNIT_BYTES, 2, 0, 0, 0);
	event(6, "mprotect", MEMTAP_UNIT_BYTES, 2, 0, 0, 0);
	for (u32 i = 0; i < nr; i++)
		counter(&(struct key){ .event = rows[i].event, .flags = rows[i].flags, .task = 8,
				       .ustack = rows[i].ustack },
			0, 1, rows[i].sum, rows[i].sum > 0 ? rows[i].sum : 0);
	common_stacks();
	common_tasks();
	end();
	tool_part();
	finish();
}

/* Pages of files: two of one name, one without, one that was not kept, and none. */
static void scene_files(const char *dir)
{
	struct key k = { .event = 0, .task = 8, .ustack = 20 };

	begin(dir, "files", MEMTAP_CFG_USTACK | MEMTAP_CFG_FILES);
	event(0, "shmem", MEMTAP_UNIT_PAGES, 62, 0, 0, 0);
	for (k.addr = 2; k.addr < 8; k.addr++)
		counter(&(struct key){ .task = 8, .ustack = 20,
				       .addr = k.addr > 2 ? k.addr : 0 },
			0, 10, 10 + (s64)k.addr, 1);
	k.flags = MEMTAP_KEY_HUGE;
	k.addr = 4;
	counter(&k, 0, 2, 1024, 512);
	common_stacks();
	common_tasks();
	file(3, "/dev/shm/a\033[31m file", false);
	file(4, "memfd:frames", false);
	file(5, "memfd:frames", false);
	file(6, "", false);
	end();
	tool_part();
	finish();
}

/* Kinds of memory that is in no file, and a file that is mapped twice. */
static void scene_mappings(const char *dir)
{
	const u32 data = MEMTAP_MAPPING_KNOWN | MEMTAP_MAPPING_READ | MEMTAP_MAPPING_WRITE;
	const u32 code = MEMTAP_MAPPING_KNOWN | MEMTAP_MAPPING_READ | MEMTAP_MAPPING_EXEC;
	const struct { u32 id, allowed; } where[] = {
		{ MEMTAP_FILE_HEAP, data }, { MEMTAP_FILE_STACK, data },
		{ MEMTAP_FILE_ANON, data }, { MEMTAP_FILE_ANON, MEMTAP_MAPPING_KNOWN },
		{ MEMTAP_FILE_KERNEL, code }, { 8, code }, { 8, data },
		{ 9, data | MEMTAP_MAPPING_SHARED }, { MEMTAP_FILE_LOST, data },
		{ MEMTAP_FILE_NONE, 0 }, { 6, data },
	};

	begin(dir, "mappings", MEMTAP_CFG_FILES | MEMTAP_CFG_MAPPINGS);
	event(0, "minor-fault", MEMTAP_UNIT_PAGES, 66, 0, 0, 0);
	for (u32 i = 0; i < sizeof(where) / sizeof(where[0]); i++)
		counter(&(struct key){ .task = 8,
				       .addr = where[i].id | (u64)where[i].allowed << 32 },
			0, i + 1, i + 1, 1);
	common_tasks();
	file(8, "/usr/lib/libc.so.6", false);
	file(9, "/dev/shm/frames", false);
	end();
	tool_part();
	finish();
}

/* What memtap rss makes of a snapshot: pages that are there, by who mapped them, or why not. */
static void scene_rss(const char *dir)
{
	static const char *const kinds[] = { "anonymous", "file", "shared-memory", "swapped" };

	begin(dir, "rss", MEMTAP_CFG_USTACK | MEMTAP_CFG_TOUCHED);
	for (u32 i = 0; i < 4; i++) {
		struct memtap_rec_event *e = record(MEMTAP_REC_EVENT, sizeof(*e));

		e->id = 2 + i;
		e->unit = MEMTAP_UNIT_PAGES;
		strcpy(e->group, "rss");
		strcpy(e->name, kinds[i]);
		put(e);
	}
	event(0, "minor-fault", MEMTAP_UNIT_PAGES, 5000, 7, 0, 0);
	counter(&(struct key){ .event = 2, .task = 8, .ustack = 20 }, 0, 2048, 2048, 1);
	counter(&(struct key){ .event = 2, .task = 8, .ustack = MEMTAP_STACK_BEFORE }, 0, 100,
		100, 1);
	counter(&(struct key){ .event = 2, .task = 8, .ustack = MEMTAP_STACK_UNSEEN }, 0, 12,
		12, 1);
	counter(&(struct key){ .event = 3, .task = 8, .ustack = MEMTAP_STACK_BEFORE }, 0, 300,
		300, 1);
	counter(&(struct key){ .event = 5, .task = 8, .ustack = 20 }, 0, 64, 64, 1);
	common_stacks();
	common_tasks();
	end();
	tool_part();
	finish();
}

/* Names that would break a terminal, a page, a line. */
static void scene_hostile(const char *dir)
{
	struct key k = { .event = 0, .task = 8, .kstack = 8 };

	begin(dir, "hostile", MEMTAP_CFG_KSTACK);
	event(0, "</script><script>alert(\"é\")</script>\033[7m", MEMTAP_UNIT_NONE, 5, 0, 0, 0);
	counter(&k, 0, 5, 0, 0);
	stack(8, 0, 2, KERNEL, KERNEL + 1);
	task(8, 1, 1, 1, 0, "a;b\n\033[31m\xff\"<");
	end();
	put(record(MEMTAP_REC_TOOL, sizeof(struct memtap_rec)));
	ksym(KERNEL, 0, "</script><img src=x onerror=alert(2)>");
	ksym(KERNEL + 1, 0, "\xe2\x80\xae" "evil\r\n\\u0000\xc0\x80 name;x");
	end();
	finish();
}

/*
 * Read while it runs: mappings of a process with two threads are still to be read, those of
 * another could not be, and a third has no user stack.
 */
static void scene_running(const char *dir)
{
	struct key k = { .event = 0, .task = 8, .ustack = 20 };

	running = true;
	begin(dir, "running", MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK);
	running = false;
	event(0, "mmap", MEMTAP_UNIT_BYTES, 20, 0, 0, 0);
	counter(&k, 0, 8, 8 * 4096, 4096);
	for (k.task = 11; k.task <= 14; k.task++) {
		k.ustack = k.task == 14 ? MEMTAP_STACK_NONE : 20;
		counter(&k, 0, 3, 3 * 4096, 4096);
	}
	common_stacks();
	common_tasks();
	task(11, 11, 4713, 4713, 0, "new");
	task(12, 11, 4713, 4714, 0, "new");
	task(13, 13, 4715, 4715, MEMTAP_TASK_NOMAPS, "gone");
	task(14, 14, 4716, 4716, 0, "without");
	memory();
	end();
	finish();
}

static void scene_empty(const char *dir)
{
	begin(dir, "empty", MEMTAP_CFG_USTACK);
	event(0, "mmap", MEMTAP_UNIT_BYTES, 0, 0, 0, 0);
	end();
	finish();
}

/* Counters that do not add up to the account: the report must say so. */
static void scene_wrong(const char *dir)
{
	struct key k = { .event = 0, .task = 8, .ustack = 20 };

	begin(dir, "wrong", MEMTAP_CFG_USTACK);
	event(0, "mmap", MEMTAP_UNIT_BYTES, 9, 0, 0, 0);
	counter(&k, 0, 8, 8, 1);
	common_stacks();
	common_tasks();
	end();
	finish();
}

/* Where code was, in which era; file 0: code that a compiler made. */
static void code(u32 file, u64 start, u32 era, u32 flags)
{
	struct memtap_rec_map *m = record(MEMTAP_REC_MAP, sizeof(*m));

	m->space = 1;
	m->file = file;
	m->start = start;
	m->end = start + 0x1000;
	m->offset = file ? TEXT : 0;
	m->era = era;
	m->flags = flags;
	put(m);
}

static void in_era(u32 id, u32 era, u64 inner)
{
	struct memtap_rec_stack *s = record(MEMTAP_REC_STACK, sizeof(*s) + 3 * 8);

	s->id = id;
	s->flags = MEMTAP_STACK_USER | MEMTAP_STACK_ROWS;
	s->nr = 3;
	s->era = era;
	s->ip[0] = inner;
	s->ip[1] = PROCESS(LOADED2);
	s->ip[2] = MAIN(LOADED);
	put(s);
}

/*
 * A library where another one was, which came back: three stacks of the same addresses, of
 * which one is of nobody knows whom.  And code without a file.
 */
static void scene_reused(const char *dir)
{
	const u32 gone = MEMTAP_MAP_REUSED | MEMTAP_MAP_GONE;
	struct key k = { .event = 3, .task = 8 };

	begin(dir, "reused", MEMTAP_CFG_USTACK | MEMTAP_CFG_ROWS);
	event(3, "brk", MEMTAP_UNIT_BYTES, 15, 0, 0, 0);
	for (k.ustack = 20; k.ustack < 25; k.ustack++)
		counter(&k, 0, k.ustack - 19, 4096, 4096);
	in_era(20, 0, LOADED2 + 0x120);
	in_era(21, 1, LOADED2 + 0x120);
	in_era(22, MEMTAP_ERA_LOST, LOADED2 + 0x120);
	in_era(23, 2, LOADED2 + 0x120);
	in_era(24, 2, LOADED2 + 0x10120);
	task(8, 1, 4711, 4711, 0, "encryptor");
	code(1, LOADED, 0, 0);
	code(1, LOADED2, 0, gone);
	code(2, LOADED2, 1, gone);
	code(1, LOADED2, 2, MEMTAP_MAP_REUSED);
	code(0, LOADED2 + 0x10000, 0, 0);
	file(1, "/usr/bin/encryptor", true);
	file(2, "/usr/lib/replaced.so", false);
	memory();
	end();
	tool_part();
	finish();
}

/* Two programs with functions of the same names. */
static void scene_twins(const char *dir)
{
	begin(dir, "twins", MEMTAP_CFG_USTACK);
	event(3, "brk", MEMTAP_UNIT_BYTES, 3, 0, 0, 0);
	counter(&(struct key){ .event = 3, .task = 8, .ustack = 20 }, 0, 1, 4096, 4096);
	counter(&(struct key){ .event = 3, .task = 9, .ustack = 50 }, 0, 2, 2 * 8192, 8192);
	common_stacks();
	task(8, 1, 4711, 4711, 0, "encryptor");
	task(9, 2, 4712, 4712, 0, "decryptor");
	map(1, 1, LOADED);
	map(2, 2, LOADED2);
	file(1, "/usr/bin/encryptor", true);
	file(2, "/usr/bin/decryptor", true);
	memory();
	end();
	tool_part();
	finish();
}

#define LEVELS	14

/* As many stacks as ways from main() down, left or right; all end in malloc(). */
static void scene_many(const char *dir)
{
	begin(dir, "many", MEMTAP_CFG_USTACK);
	event(3, "brk", MEMTAP_UNIT_BYTES, 1 << LEVELS, 0, 0, 0);
	for (u32 i = 0; i < 1 << LEVELS; i++) {
		struct memtap_rec_stack *s = record(MEMTAP_REC_STACK,
						    sizeof(*s) + (LEVELS + 2) * 8);

		counter(&(struct key){ .event = 3, .task = 8, .ustack = 20 + i }, 0, 1, 1000, 1000);
		s->id = 20 + i;
		s->flags = MEMTAP_STACK_USER | MEMTAP_STACK_CHAIN;
		s->nr = LEVELS + 2;
		s->ip[0] = LOADED + 0x510;
		for (u32 k = 0; k < LEVELS; k++)
			s->ip[k + 1] = i >> k & 1 ? PROCESS(LOADED) : READ(LOADED);
		s->ip[LEVELS + 1] = MAIN(LOADED);
		put(s);
	}
	common_tasks();
	memory();
	end();
	tool_part();
	finish();
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_snap DIR\n");
		return 2;
	}
	make_elf(argv[1]);
	scene_brk(argv[1], "brk", 0);
	scene_brk(argv[1], "later", 12);
	scene_timed(argv[1]);
	scene_faults(argv[1]);
	scene_hist(argv[1]);
	scene_mapped(argv[1]);
	scene_mappings(argv[1]);
	scene_rss(argv[1]);
	scene_files(argv[1]);
	scene_hostile(argv[1]);
	scene_running(argv[1]);
	scene_empty(argv[1]);
	scene_wrong(argv[1]);
	scene_reused(argv[1]);
	scene_rows(argv[1], "rows", false);
	scene_rows(argv[1], "rows-whole", true);
	scene_whole(argv[1], "whole", 88, 12, 9);
	scene_whole(argv[1], "one", 1, 1, 1);
	scene_whole(argv[1], "whole-loader", 20, 0, 0);
	scene_twins(argv[1]);
	scene_many(argv[1]);
	return 0;
}
