// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: tests/golden/records.c kmod/core/wire.c */
/*
 * make_leaks DIR: .memtap files of live blocks, invented; their program is the
 * one that make_snap writes.
 */
#include <stdio.h>
#include <string.h>

#include "records.h"

#define MS	1000000ULL
#define NOW	(110 * SEC + SEC / 4)	/* as begin() has it */
#define LIVE	(MEMTAP_CFG_LIVE | MEMTAP_CFG_USTACK | MEMTAP_CFG_ROWS)
#define KIB	1024ULL
#define MIB	(KIB * KIB)

/* Events, in the order of their ids. */
enum { MMAP, MUNMAP, MALLOC, FREE, NEW, DELETE };

/* Entries of functions, and return addresses behind calls in them. */
#define AT_MALLOC(at)	((at) + 0x500ULL)
#define AT_FREE(at)	((at) + 0x540ULL)
#define AT_MMAP(at)	((at) + 0x580ULL)
#define LEAK(at)	((at) + 0x5cfULL)
#define LEAK2(at)	((at) + 0x5e3ULL)	/* another place in it */

#define ROWS		(MEMTAP_STACK_USER | MEMTAP_STACK_ROWS)

static void stacks(void)
{
	stack(20, ROWS, 4, AT_MALLOC(LOADED), LEAK(LOADED), PROCESS(LOADED), MAIN(LOADED));
	stack(21, ROWS, 4, AT_MALLOC(LOADED), LEAK2(LOADED), PROCESS(LOADED), MAIN(LOADED));
	stack(22, ROWS, 3, AT_MALLOC(LOADED), READ(LOADED), MAIN(LOADED));
	stack(23, ROWS | MEMTAP_STACK_NOTABLE, 2, AT_MALLOC(LOADED), LOADED + 0x2120ULL);
	stack(24, ROWS, 2, AT_MMAP(LOADED), MAIN(LOADED));
	stack(25, ROWS, 2, AT_FREE(LOADED), PROCESS(LOADED));
	stack(26, ROWS, 2, AT_FREE(LOADED), READ(LOADED));
	/* the first one, in the second process */
	stack(30, ROWS, 4, AT_MALLOC(LOADED2), LEAK(LOADED2), PROCESS(LOADED2), MAIN(LOADED2));
}

/* ---- accounts ---- */

static void account(u32 id, const char *name, u64 calls)
{
	struct memtap_rec_event *e = record(MEMTAP_REC_EVENT, sizeof(*e));

	e->id = id;
	e->unit = MEMTAP_UNIT_BYTES;
	e->way = MEMTAP_WAY_UPROBE;
	e->seen = e->counted = calls;
	strcpy(e->group, "heap");
	strcpy(e->name, name);
	put(e);
}

static void lossy_account(u32 id, const char *name, u64 calls, const u64 *lost)
{
	struct memtap_rec_event *e = record(MEMTAP_REC_EVENT, sizeof(*e));

	e->id = id;
	e->unit = MEMTAP_UNIT_BYTES;
	e->way = MEMTAP_WAY_UPROBE;
	e->counted = calls;
	e->seen = calls;
	for (u32 i = 0; i < MEMTAP_NR_LOST; i++) {
		e->lost[i] = lost[i];
		e->seen += lost[i];
	}
	e->part[MEMTAP_PART_NOTABLE] = 3;
	strcpy(e->name, name);
	put(e);
}

static void accounts(u64 mallocs, u64 frees)
{
	account(MMAP, "mmap", 4);
	account(MUNMAP, "munmap", 1);
	account(MALLOC, "malloc", mallocs);
	account(FREE, "free", frees);
	account(NEW, "new", 0);
	account(DELETE, "delete", 0);
}

static u64 kept;		/* of the next heap(); 0: all */

static void heap(u32 ev, u32 op, u32 family, u64 allocs, u64 bytes, u64 frees, u64 freed)
{
	struct memtap_rec_heap *h = record(MEMTAP_REC_HEAP, sizeof(*h));

	h->event = ev;
	h->op = op;
	h->family = family;
	h->probes = ev == MALLOC ? 2 : 1;
	h->allocs = h->kept = allocs;
	h->bytes = h->kept_bytes = bytes;
	if (kept && ev == MALLOC) {
		h->kept = kept;
		h->kept_bytes = 16 * kept;
	}
	h->frees = frees;
	h->freed_bytes = freed;
	put(h);
}

static void heaps(u64 allocs, u64 bytes, u64 frees, u64 freed)
{
	heap(MMAP, MEMTAP_HEAP_ALLOC, MEMTAP_FAMILY_MMAP, 4, 6 * MIB, 0, 0);
	heap(MUNMAP, MEMTAP_HEAP_FREE, MEMTAP_FAMILY_MMAP, 0, 0, 1, MIB);
	heap(MALLOC, MEMTAP_HEAP_ALLOC, MEMTAP_FAMILY_MALLOC, allocs, bytes, 0, 0);
	heap(FREE, MEMTAP_HEAP_FREE, MEMTAP_FAMILY_MALLOC, 0, 0, frees, freed);
	heap(NEW, MEMTAP_HEAP_ALLOC, MEMTAP_FAMILY_NEW, 0, 0, 0, 0);
	heap(DELETE, MEMTAP_HEAP_FREE, MEMTAP_FAMILY_NEW, 0, 0, 0, 0);
}

/* ---- what is there ---- */

static struct memtap_block block(u64 addr, u64 size, u64 age_ms, u32 ustack)
{
	return (struct memtap_block){
		.addr = addr, .size = size, .birth_ns = NOW - age_ms * MS, .ustack = ustack,
		.task = 8, .space = 1, .event = MALLOC,
	};
}

static struct memtap_block mapping(u64 addr, u64 size, u32 flags)
{
	struct memtap_block b = block(addr, size, 9000, flags ? 0 : 24);

	b.event = MMAP;
	b.flags = MEMTAP_BLOCK_MAPPING | flags;
	return b;
}

static void blocks(const struct memtap_block *b, u32 nr)
{
	struct memtap_rec_blocks *r = record(MEMTAP_REC_BLOCKS, sizeof(*r) + nr * sizeof(*b));

	r->nr = nr;
	memcpy(r->at, b, nr * sizeof(*b));
	put(r);
}

static struct memtap_rec_space *space(u32 id, u32 flags, u32 of, s32 pid)
{
	struct memtap_rec_space *s = record(MEMTAP_REC_SPACE, sizeof(*s));

	s->id = id;
	s->flags = flags;
	s->task = of;
	s->pid = pid;
	s->begin_ns = 100 * SEC + id;
	s->vm_then = 20 * MIB;
	s->rss_then = 3 * MIB;
	return s;
}

static void grew(struct memtap_rec_space *s, s64 by_brk, s64 vm, s64 rss)
{
	s->heap_then = 4 * MIB;
	s->heap_now = s->heap_then + by_brk;
	s->vm_now = s->vm_then + vm;
	s->rss_now = s->rss_then + rss;
}

static void ending(void)
{
	stacks();
	common_tasks();
	end();
	tool_part();
	finish();
}

/* ---- the scenes ---- */

static const u64 five[] = { 0x948cd0, 0x948d10, 0x948d30, 0x948d50, 0x948d70 };

/* One process, everything kept, all kinds of rows. */
static void scene_small(const char *dir, const char *name, u32 flags)
{
	struct memtap_rec_space *s;
	struct memtap_block b[16];
	u32 n = 0;

	begin(dir, name, LIVE);
	accounts(1000, 991);
	heaps(1000, 300000, 989, 250000);
	for (u32 i = 0; i < 5; i++)
		b[n++] = block(five[i], 16, 9000 - i * 1000, 20);
	b[n++] = block(0x949000, 16, 8000, 21);
	b[n++] = block(0x94a000, 40000, 700, 22);
	b[n++] = block(0x955000, 100, 700, 23);
	b[n++] = block(0x956000, 7, 3, 22);		/* young */
	b[n++] = block(0x957000, 1, 5000, MEMTAP_STACK_LOST);
	b[n++] = block(0x958000, 0, 5000, MEMTAP_STACK_NONE);
	blocks(b, 4);
	blocks(b + 4, n - 4);
	n = 0;
	b[n++] = mapping(0x7f0000000000, 3 * MIB, 0);
	b[n++] = mapping(0x7f0000400000, MIB, 0);
	b[n++] = mapping(0x7f0000800000, MIB, MEMTAP_BLOCK_INNER);
	blocks(b, n);
	s = space(1, flags, 8, 4711);
	grew(s, 200 * KIB, 5 * MIB + 300 * KIB, 2 * MIB);
	s->blocks = 11;
	s->bytes = 40204;
	s->maps = 2;
	s->maps_bytes = 4 * MIB;
	s->inner_maps = 1;
	s->inner_bytes = MIB;
	s->unknown = 2;
	put(s);
	ending();
}

/* The small one some time before: one row was larger, one smaller, one was not there. */
static void scene_before(const char *dir)
{
	struct memtap_rec_space *s;
	struct memtap_block b[16];
	u32 n = 0;

	begin(dir, "leaks-before", LIVE);
	accounts(900, 891);
	heaps(900, 290000, 889, 240000);
	for (u32 i = 0; i < 3; i++)
		b[n++] = block(five[i], 16, 9000 - i * 1000, 20);
	b[n++] = block(0x94a000, 40000, 700, 22);
	b[n++] = block(0x94b000, 1000, 700, 22);
	b[n++] = block(0x957000, 1, 5000, MEMTAP_STACK_LOST);
	blocks(b, n);
	b[0] = mapping(0x7f0000000000, 3 * MIB, 0);
	blocks(b, 1);
	s = space(1, 0, 8, 4711);
	grew(s, 200 * KIB, 5 * MIB + 300 * KIB, 2 * MIB);
	put(s);
	ending();
}

/* Two processes with the same stack; one shrank, one is gone with its blocks. */
static void scene_several(const char *dir)
{
	struct memtap_rec_space *s;
	struct memtap_block b[4];

	begin(dir, "leaks-several", LIVE);
	accounts(100, 80);
	heaps(100, 30000, 67, 2000);
	for (u32 i = 0; i < 3; i++)
		b[i] = block(five[i], 16, 9000, 20);
	b[3] = block(five[0], 500, 100, 30);
	b[3].task = 9;
	b[3].space = 2;
	blocks(b, 4);
	s = space(1, MEMTAP_SPACE_START, 8, 4711);
	grew(s, -(s64)MIB, -(s64)MIB, -(s64)(512 * KIB));
	put(s);
	s = space(2, MEMTAP_SPACE_FORKED, 9, 4712);
	grew(s, 0, 0, 8 * KIB);
	s->replaced = 3;
	put(s);
	s = space(3, MEMTAP_SPACE_START | MEMTAP_SPACE_EXECED, 8, 4711);
	grew(s, 132 * KIB, 132 * KIB, 100 * KIB);
	s->end_ns = 105 * SEC;
	s->purged = 26;
	s->purged_bytes = 25000;
	put(s);
	for (u32 id = 4; id < 8; id++) {
		s = space(id, MEMTAP_SPACE_START | MEMTAP_SPACE_EXITED, 9, 4712);
		grew(s, 0, 0, 0);
		s->end_ns = 105 * SEC + id;
		put(s);
	}
	ending();
}

static struct memtap_peak_stack peak_stack(u32 in, u32 of, u32 ustack, u64 allocs, u64 size)
{
	return (struct memtap_peak_stack){
		.space = in, .task = of, .ustack = ustack, .allocs = allocs,
		.bytes = allocs * size,
	};
}

static void peaks(const struct memtap_peak_stack *p, u32 nr)
{
	struct memtap_rec_peaks *r = record(MEMTAP_REC_PEAKS, sizeof(*r) + nr * sizeof(*p));

	r->nr = nr;
	memcpy(r->at, p, nr * sizeof(*p));
	put(r);
}

static void had(struct memtap_peak_stack *p, u64 own, u64 all)
{
	const u64 size = p->bytes / p->allocs;

	p->peak_blocks = own;
	p->peak_bytes = own * size;
	p->all_peak_blocks = all;
	p->all_peak_bytes = all * size;
}

/* Two processes at peaks of their own, and of both; one that is gone was in it, too. */
static void scene_peak(const char *dir, const char *name, u64 lost)
{
	struct memtap_peak_stack p[5];
	struct memtap_rec_space *s;
	struct memtap_rec_peak *all;
	struct memtap_block b[2];

	begin(dir, name, LIVE | MEMTAP_CFG_PEAK);
	accounts(1400, 1398);
	heaps(1400, 155973, 1398, 155857);
	b[0] = block(five[0], 16, 9000, 20);
	b[1] = block(five[1], 100, 9000, 22);
	blocks(b, 2);
	p[0] = peak_stack(1, 8, 20, 100, 16);
	had(&p[0], 10, 8);
	p[1] = peak_stack(1, 8, 22, 1000, 100);
	p[1].temporary = 900;
	p[1].temporary_bytes = 90000;
	had(&p[1], 1, 2);
	p[2] = peak_stack(2, 9, 30, 200, 256);
	p[2].temporary = 20;
	p[2].temporary_bytes = 20 * 256;
	had(&p[2], 150, 150);
	p[3] = peak_stack(9, 9, 30, 99, 32);		/* a space that is forgotten */
	had(&p[3], 0, 4);
	p[4] = peak_stack(1, 8, 23, 1, 5);
	had(&p[4], 0, 0);
	peaks(p, 2);
	peaks(p + 2, 3);
	s = space(1, MEMTAP_SPACE_START, 8, 4711);
	grew(s, 8 * KIB, 8 * KIB, 8 * KIB);
	s->peak_bytes = 260;
	s->peak_number = 12;
	s->peak_ns = 103 * SEC;
	put(s);
	s = space(2, MEMTAP_SPACE_FORKED, 9, 4712);
	grew(s, 8 * KIB, 8 * KIB, 8 * KIB);
	s->peak_bytes = 150 * 256;
	s->peak_number = 150;
	s->peak_ns = 104 * SEC;
	put(s);
	all = record(MEMTAP_REC_PEAK, sizeof(*all));
	all->bytes = 116;
	all->peak_bytes = 128 + 200 + 150 * 256 + 128 + 10 * lost;
	all->peak_number = 160;
	all->peak_ns = 105 * SEC;
	all->size = 31000;
	all->used = 5;
	all->lost = lost;
	put(all);
	ending();
}

/* One block in a thousand bytes, or in ten, was kept. */
static void scene_sampled(const char *dir, const char *name, u64 bytes, u32 rate)
{
	struct memtap_rec_space *s;
	struct memtap_block b[8];

	begin_sampled(dir, name, LIVE, bytes, rate);
	accounts(100000, 90000);
	kept = 16;
	heaps(100000, 5000000, 9, 400);
	kept = 0;
	for (u32 i = 0; i < 5; i++)
		b[i] = block(five[i], 16, 9000, 20);
	b[5] = block(0x94a000, 40000, 700, 22);
	b[6] = block(0x955000, 1000, 700, 22);
	b[7] = mapping(0x7f0000000000, 3 * MIB, 0);
	blocks(b, 8);
	s = space(1, 0, 8, 4711);
	grew(s, 8 * MIB, 12 * MIB, 9 * MIB);
	s->maps = 1;
	s->maps_bytes = 3 * MIB;
	put(s);
	ending();
}

static void mismatch(u32 kind, u32 ev, u32 alloc_ev, u32 at, u32 alloc_at, u32 first,
		     u64 count)
{
	struct memtap_rec_mismatch *m = record(MEMTAP_REC_MISMATCH, sizeof(*m));

	m->kind = kind;
	m->event = ev;
	m->alloc_event = alloc_ev;
	m->task = 8;
	m->stack = at;
	m->alloc_stack = alloc_at;
	m->free_stack = first;
	m->addr = five[kind];
	m->size = kind == MEMTAP_MISMATCH_UNKNOWN ? 0 : 16;
	m->count = count;
	m->ns = 104 * SEC;
	put(m);
}

/* free() of an address in the middle of a block that lives. */
static void scene_inside(const char *dir)
{
	const struct memtap_block b[] = {
		block(five[MEMTAP_MISMATCH_UNKNOWN] - 16, 64, 30000, 22),
	};
	struct memtap_rec_space *s;

	begin(dir, "leaks-inside", LIVE);
	accounts(1, 1);
	heaps(1, 64, 0, 0);
	blocks(b, 1);
	mismatch(MEMTAP_MISMATCH_UNKNOWN, FREE, ~0U, 26, 0, 0, 1);
	s = space(1, MEMTAP_SPACE_START, 8, 4711);
	grew(s, 132 * KIB, 132 * KIB, 60 * KIB);
	s->earlier_came = 2 * MIB;
	s->earlier_gone = 64 * KIB;
	put(s);
	ending();
}

/* Nothing is left of any: of one all was followed, of another not, one was met late. */
static void scene_followed(const char *dir)
{
	static const u32 flags[] = { MEMTAP_SPACE_START, MEMTAP_SPACE_START, 0,
				     MEMTAP_SPACE_FORKED };
	struct memtap_rec_space *s;
	struct memtap_block b;

	begin(dir, "leaks-followed", LIVE | MEMTAP_CFG_KEEP);
	accounts(10, 10);
	heaps(10, 160, 10, 160);
	b = mapping(0x7f0000000000, MIB, 0);
	b.space = 4;
	blocks(&b, 1);
	for (u32 i = 0; i < 4; i++) {
		s = space(i + 1, flags[i] | MEMTAP_SPACE_EXITED, i ? 9 : 8, 4711 + (s32)i);
		grew(s, 132 * KIB, 132 * KIB, 60 * KIB);
		s->end_ns = 110 * SEC;
		put(s);
	}
	stacks();
	common_tasks();
	end();
	put(record(MEMTAP_REC_TOOL, sizeof(struct memtap_rec)));
	note("not-followed=2");
	note("not-followed=77");
	end();
	finish();
}

static void scene_mismatches(const char *dir)
{
	struct memtap_rec_space *s;

	begin(dir, "leaks-mismatches", LIVE);
	accounts(10, 12);
	heaps(10, 160, 10, 160);
	mismatch(MEMTAP_MISMATCH_FAMILY, FREE, NEW, 25, 22, 0, 1);
	mismatch(MEMTAP_MISMATCH_UNKNOWN, FREE, ~0U, 26, 0, 0, 1000);
	mismatch(MEMTAP_MISMATCH_DOUBLE, FREE, MALLOC, 25, 20, 26, 3);
	mismatch(MEMTAP_MISMATCH_DOUBLE, DELETE, MALLOC, MEMTAP_STACK_LOST, 21, 0, 1);
	mismatch(4, DELETE, NEW, 25, 21, 0, 1);
	s = space(1, MEMTAP_SPACE_START, 8, 4711);
	grew(s, 132 * KIB, 132 * KIB, 60 * KIB);
	put(s);
	ending();
}

static void reach(u32 kind, u32 nr, const u64 *addr)
{
	struct memtap_rec_reach *r = record(MEMTAP_REC_REACH, sizeof(*r) + nr * 8);

	r->space = 1;
	r->kind = kind;
	r->nr = nr;
	memcpy(r->addr, addr, nr * 8);
	put(r);
}

static void end_with_kinds(void)
{
	const u64 nowhere = 0x1234, reachable[] = { 0x94a000, 0x949000 };

	stacks();
	common_tasks();
	end();
	put(record(MEMTAP_REC_TOOL, sizeof(struct memtap_rec)));
	reach(MEMTAP_REACH_DEFINITE, 3, five);
	reach(MEMTAP_REACH_INDIRECT, 1, five + 3);
	reach(MEMTAP_REACH_POSSIBLE, 1, five + 4);
	reach(MEMTAP_REACH_REACHABLE, 2, reachable);
	reach(MEMTAP_REACH_DEFINITE, 1, &nowhere);	/* which names no block */
	note("title=leaks: encryptor");
	end();
	finish();
}

static void held(const char *kind, const char *holder, u32 nr, const __u64 *addr)
{
	struct memtap_rec_held *r = record(MEMTAP_REC_HELD, sizeof(*r) + nr * 8);

	r->space = 1;
	r->nr = nr;
	strcpy(r->kind, kind);
	strcpy(r->holder, holder);
	memcpy(r->addr, addr, nr * 8);
	put(r);
}

/* --retained: of one stack many kinds and holders, of another nothing is known */
static void scene_held(const char *dir)
{
	static const char *const kinds[] = {
		"Session", "looks like a std::string's text", "points to vtable of \033[31mX at +8",
		"24 bytes", "only zeros", "looks like text",
	};
	struct memtap_rec_space *s;
	struct memtap_block b[16];

	begin(dir, "leaks-held", LIVE);
	accounts(1008, 900);
	heaps(1008, 300000, 900, 250000);
	for (u32 i = 0; i < 16; i++)
		b[i] = block(0x1000 + 64 * i, 16 + 8 * i, 9000, i < 5 ? 20 : i < 14 ? 21 : 22);
	blocks(b, 16);
	s = space(1, MEMTAP_SPACE_START, 8, 4711);
	grew(s, 132 * KIB, 132 * KIB, 60 * KIB);
	put(s);
	stacks();
	common_tasks();
	end();
	put(record(MEMTAP_REC_TOOL, sizeof(struct memtap_rec)));
	for (u32 i = 0; i < 13; i++)
		held(i < 5 ? kinds[0] : kinds[i % 6], i < 5 || i % 2 ?
		     "global `session_table` in server (server.c:41)" :
		     "stack of thread 4711: main in server", 1, &b[i].addr);
	end();
	finish();
}

/* A launched program that ended; with a child whose memory nobody examined. */
static void scene_ended(const char *dir, const char *name, bool kinds)
{
	struct memtap_rec_space *s;
	struct memtap_block b[9];

	begin(dir, name, LIVE | MEMTAP_CFG_KEEP);
	accounts(1008, kinds ? 1000 : 1001);
	heaps(1008, 300000, kinds ? 1000 : 1001, 250000);
	for (u32 i = 0; i < 5; i++)
		b[i] = block(five[i], 16, 9000, i < 3 ? 20 : 21);
	b[5] = block(0x94a000, 40000, 700, 22);
	b[6] = block(0x949000, 1000, 700, 22);
	b[7] = block(five[0], 64, 100, 30);
	b[7].task = 9;
	b[7].space = 2;
	b[8] = mapping(five[0], MIB, 0);	/* of the same address as a block */
	blocks(b, kinds ? 9 : 7);
	s = space(1, MEMTAP_SPACE_START | MEMTAP_SPACE_EXITED, 8, 4711);
	grew(s, 132 * KIB, 132 * KIB, 60 * KIB);
	s->end_ns = 110 * SEC;
	put(s);
	if (kinds) {
		s = space(2, MEMTAP_SPACE_FORKED | MEMTAP_SPACE_EXITED, 9, 4712);
		grew(s, 0, 0, 0);
		s->end_ns = 109 * SEC;
		put(s);
		end_with_kinds();
	} else {
		ending();
	}
}

/* Nothing had enough room. */
static void scene_losses(const char *dir)
{
	static const u64 lost[MEMTAP_NR_LOST] = { 1, 2, 0, 0, 3, 4, 500, 60, 7 };
	struct memtap_rec_memory *m = record(MEMTAP_REC_MEMORY, sizeof(*m));
	const struct memtap_block b = block(five[0], 16, 9000, 20);
	struct memtap_rec_space *s;

	begin(dir, "leaks-losses", LIVE);
	lossy_account(MALLOC, "malloc", 1000, lost);
	heap(MALLOC, MEMTAP_HEAP_ALLOC, MEMTAP_FAMILY_MALLOC, 1500, 24000, 999, 15984);
	blocks(&b, 1);
	s = space(1, 0, 8, 4711);
	grew(s, MIB, MIB, MIB);
	put(s);
	m->total = 32 * MIB;
	m->live_size = m->live_used = 1000;
	m->live_maps_size = 100;
	m->live_maps_used = 7;
	m->threads_size = m->threads_used = 256;
	m->spaces_lost = 2;
	m->mismatches_lost = 5;
	m->trace_lost = 77;
	put(m);
	ending();
}

/* Names that would break a terminal, a page, a line. */
static void scene_hostile(const char *dir)
{
	struct memtap_block b = block(~0ULL, ~0ULL >> 1, 9000, 8);
	struct memtap_rec_space *s;

	begin(dir, "leaks-hostile", LIVE);
	account(MALLOC, "</script><script>alert(1)</script>", 2);
	heap(MALLOC, 99, 255, 2, ~0ULL, 0, 0);
	b.event = MALLOC;
	b.birth_ns = ~0ULL;
	blocks(&b, 1);
	mismatch(MEMTAP_MISMATCH_FAMILY, MALLOC, MALLOC, 8, 8, 8, 2);
	s = space(1, ~0U, 8, -5);
	grew(s, 1LL << 62, 1LL << 62, -(1LL << 62));
	s->maps = s->inner_maps = ~0ULL;
	s->maps_bytes = s->inner_bytes = s->purged_bytes = ~0ULL;
	put(s);
	stack(8, MEMTAP_STACK_USER, 2, 0x1000ULL, 0x2000ULL);
	task(8, 1, 1, 1, 0, "a;b\n\033[31m\xff\"<");
	file(1, "/</script><img src=x onerror=alert(2)>\n\033[2J", false);
	map(1, 1, 0x1000);
	end();
	finish();
}

/* A function that calls itself from two places, and two that call each other. */
static void scene_deep(const char *dir)
{
	struct memtap_rec_space *s;
	struct memtap_block b[3];

	begin(dir, "leaks-deep", LIVE);
	accounts(10, 7);
	heaps(10, 160, 7, 112);
	for (u32 i = 0; i < 3; i++)
		b[i] = block(five[i], 16, 9000, 40 + i);
	blocks(b, 3);
	s = space(1, MEMTAP_SPACE_START, 8, 4711);
	grew(s, 132 * KIB, 2 * MIB, 60 * KIB);
	put(s);
	stack(40, ROWS, 8, AT_MALLOC(LOADED), LEAK(LOADED), LEAK2(LOADED), LEAK(LOADED),
	      LEAK(LOADED), PROCESS(LOADED), PROCESS(LOADED), MAIN(LOADED));
	stack(41, ROWS, 9, AT_MALLOC(LOADED), LEAK(LOADED), PROCESS(LOADED), LEAK2(LOADED),
	      PROCESS(LOADED), LEAK(LOADED), PROCESS(LOADED), LEAK(LOADED), MAIN(LOADED));
	stack(42, ROWS, 6, AT_MALLOC(LOADED), READ(LOADED), READ(LOADED), READ(LOADED),
	      READ(LOADED), MAIN(LOADED));
	ending();
}

/* What the dynamic linker mapped: for itself, and for a library that the program opened. */
static void scene_loader(const char *dir)
{
	const u64 ld = LOADED + 0x40000;
	struct memtap_rec_space *s;
	struct memtap_block b[4];

	begin(dir, "leaks-loader", LIVE);
	accounts(10, 9);
	heaps(10, 160, 9, 144);
	b[0] = mapping(0x7f0000000000, MIB, 0);
	b[1] = mapping(0x7f0000200000, 8 * KIB, 0);
	b[2] = mapping(0x7f0000300000, 4 * KIB, 0);
	b[1].ustack = 40;
	b[2].ustack = 41;
	b[3] = block(five[0], 16, 9000, 20);
	blocks(b, 4);
	s = space(1, MEMTAP_SPACE_START, 8, 4711);
	grew(s, 132 * KIB, 2 * MIB, 60 * KIB);
	s->maps = 3;
	s->maps_bytes = MIB + 12 * KIB;
	put(s);
	stack(40, ROWS, 2, ld + 0x100, ld + 0x200);
	stack(41, ROWS, 3, ld + 0x100, ld + 0x300, MAIN(LOADED));
	map(1, 3, ld);
	file(3, "/usr/lib/ld-linux-x86-64.so.2", false);
	ending();
}

/* @nr blocks of one stack, born at equal intervals from @oldest to @youngest ms ago. */
static void births(u32 nr, u64 size, u32 ustack, u64 oldest, u64 youngest)
{
	struct memtap_block b[64];

	for (u32 i = 0; i < nr; i++)
		b[i] = block(0x1000000ULL * ustack + 0x10000ULL * i, size,
			     oldest - (oldest - youngest) * i / (nr - 1), ustack);
	blocks(b, nr);
}

static void mark(const char *name, u64 ms_ago, u32 flags)
{
	struct memtap_rec_mark *r = record(MEMTAP_REC_MARK, sizeof(*r));

	r->ns = ms_ago ? NOW - ms_ago * MS : 0;
	r->flags = flags;
	strcpy(r->name, name);
	put(r);
}

/* Ten seconds of what goes on: leaks, caches, what is in use for a moment. */
static void scene_trend(const char *dir)
{
	struct memtap_rec_space *s;

	begin(dir, "leaks-trend", LIVE);
	accounts(300, 291);
	heaps(300, 40000, 155, 20000);
	births(40, 100, 20, 9900, 100);
	births(20, 1000, 21, 9900, 9500);
	births(20, 64, 22, 9000, 6000);
	births(30, 48, 23, 2000, 50);
	births(25, 256, MEMTAP_STACK_LOST, 700, 10);
	births(10, 4096, MEMTAP_STACK_NONE, 3000, 100);
	s = space(1, MEMTAP_SPACE_START, 8, 4711);
	grew(s, 132 * KIB, 2 * MIB, 60 * KIB);
	put(s);
	mark("busy", 2500, 0);
	mark("request", 100, MEMTAP_MARK_EVENT | MEMTAP_MARK_COARSE);
	mark("never", 0, MEMTAP_MARK_EVENT);
	mark("drain", 50, MEMTAP_MARK_DRAIN);
	ending();
}

/* Blocks of a process that has exited meanwhile. */
static void of_a_worker(void)
{
	struct memtap_block b[10];
	struct memtap_rec_space *s;

	for (u32 i = 0; i < 10; i++) {
		b[i] = block(0x90000000ULL + 0x10000ULL * i, 300, 9000 - 800 * i, 21);
		b[i].space = 2;
	}
	blocks(b, 10);
	s = space(2, MEMTAP_SPACE_FORKED | MEMTAP_SPACE_EXITED, 8, 4712);
	s->end_ns = NOW - 500 * MS;
	put(s);
}

/*
 * Blocks that stay behind some that live for a while, many of the beginning beside a few of a
 * moment, and each new one for an old one; @lost calls of malloc() and free().
 */
static void scene_grow(const char *dir, const char *name, const u64 lost[2])
{
	const u64 mallocs[MEMTAP_NR_LOST] = { [MEMTAP_LOST_THREADS] = lost[0] };
	const u64 frees[MEMTAP_NR_LOST] = { [MEMTAP_LOST_THREADS] = lost[1] };
	struct memtap_rec_space *s;

	begin(dir, name, LIVE);
	lossy_account(MALLOC, "malloc", 452, mallocs);
	lossy_account(FREE, "free", 200, frees);
	heap(MALLOC, MEMTAP_HEAP_ALLOC, MEMTAP_FAMILY_MALLOC, 452, 40000, 0, 0);
	heap(FREE, MEMTAP_HEAP_FREE, MEMTAP_FAMILY_MALLOC, 0, 0, 200, 20000);
	births(60, 100, 20, 9900, 100);
	births(60, 101, 20, 1200, 10);
	births(60, 32, 23, 10240, 9700);
	births(12, 33, 23, 700, 50);
	births(50, 64, 22, 8000, 1300);
	of_a_worker();
	s = space(1, 0, 8, 4711);
	s->unknown = 30;
	grew(s, 132 * KIB, 2 * MIB, 60 * KIB);
	put(s);
	ending();
}

static void scene_empty(const char *dir)
{
	struct memtap_rec_space *s;

	begin(dir, "leaks-empty", LIVE);
	accounts(10, 10);
	heaps(10, 160, 10, 160);
	s = space(1, MEMTAP_SPACE_START, 8, 4711);
	grew(s, 0, 0, 0);
	put(s);
	ending();
}

/* ---- of the kernel ---- */

/* Functions as common_stacks() and tool_part() have them. */
#define IN_MODULE	(KERNEL + 0x600ULL)

static void cache(u32 id, u32 kind, const char *name, u64 size, u64 allocs, u64 frees, u64 before)
{
	struct memtap_rec_cache *c = record(MEMTAP_REC_CACHE, sizeof(*c));

	c->id = id;
	c->kind = kind;
	c->object_size = size;
	c->allocs = allocs;
	c->bytes = allocs * size;
	c->frees = frees;
	c->freed_bytes = frees * size;
	c->unknown = before;
	c->unknown_bytes = before * size;
	strcpy(c->name, name);
	put(c);
}

static void object_account(u32 id, const char *name, u64 counted, u64 full)
{
	struct memtap_rec_event *e = record(MEMTAP_REC_EVENT, sizeof(*e));

	e->id = id;
	e->unit = id < 2 ? MEMTAP_UNIT_BYTES : MEMTAP_UNIT_NONE;
	e->way = MEMTAP_WAY_TRACEPOINT;
	e->counted = counted;
	e->seen = counted + full;
	e->lost[MEMTAP_LOST_LIVE] = full;
	strcpy(e->group, "slab");
	strcpy(e->name, name);
	put(e);
}

static struct memtap_block object(u64 nr, u64 size, u64 age_ms, u32 kstack, u32 of, u16 flags)
{
	return (struct memtap_block){
		.addr = 0xffff888000000000ULL + nr * 4096, .size = size,
		.birth_ns = NOW - age_ms * MS, .ustack = kstack, .space = of,
		.task = flags & MEMTAP_BLOCK_IRQ ? 0 : nr & 1 ? 8 : 10,
		.flags = MEMTAP_BLOCK_KERNEL | flags,
	};
}

/* One more in @b, which has @n; returns how many it has then. */
static size_t keep(struct memtap_block *b, size_t n, u64 size, u64 age_ms, u32 kstack, u32 of,
		   u16 flags)
{
	b[n] = object(n, size, age_ms, kstack, of, flags);
	return n + 1;
}

static void gone(u64 addr, u64 offset, const char *name)
{
	struct memtap_rec_gone *g = record(MEMTAP_REC_GONE, sizeof(*g) + strlen(name) + 1);

	g->addr = addr;
	g->offset = offset;
	strcpy(g->name, name);
	put(g);
}

/* @full: the table had no room for all. */
static void scene_kernel(const char *dir, const char *name, u64 full, bool tool)
{
	static const char *const events[] = { "kmalloc", "kmem-cache-alloc", "kfree",
					      "kmem-cache-free" };
	static const u64 calls[] = { 10, 5, 3, 2 };
	struct memtap_rec_memory *m;
	struct memtap_block b[16];
	u32 n = 0;

	begin(dir, name, MEMTAP_CFG_OBJECTS | MEMTAP_CFG_KSTACK);
	for (u32 i = 0; i < 4; i++)
		object_account(i, events[i], calls[i], i ? 0 : full);
	heap(0, MEMTAP_HEAP_ALLOC, 0, 10, 50000, 0, 0);
	heap(1, MEMTAP_HEAP_ALLOC, 0, 5, 960, 0, 0);
	heap(2, MEMTAP_HEAP_FREE, 0, 0, 0, 3, 288);
	heap(3, MEMTAP_HEAP_FREE, 0, 0, 0, 1, 192);
	for (u32 i = 0; i < 4; i++)
		b[n++] = object(i, 96, 9000 - i, 8, 8, 0);
	n = keep(b, n, 32768, 8000, 60, 1, 0);
	n = keep(b, n, 192, 5000, 60, 9, MEMTAP_BLOCK_RECLAIMABLE);
	n = keep(b, n, 96, 700, 61, 8, MEMTAP_BLOCK_ATOMIC | MEMTAP_BLOCK_IRQ);
	n = keep(b, n, 96, 600, 61, 8, MEMTAP_BLOCK_ATOMIC | MEMTAP_BLOCK_IRQ);
	n = keep(b, n, 192, 500, 61, 9, MEMTAP_BLOCK_ATOMIC | MEMTAP_BLOCK_IRQ);
	n = keep(b, n, 192, 2, MEMTAP_STACK_LOST, 9, 0);
	n = keep(b, n, 192, 3000, MEMTAP_STACK_NONE, 9, 0);
	blocks(b, n);
	cache(1, MEMTAP_CACHE_LARGE, "[large kmalloc]", 32768, 1, 0, 0);
	cache(8, MEMTAP_CACHE_SLAB, "kmalloc-96", 96, 9, 3, 1);
	cache(9, MEMTAP_CACHE_SLAB, "dentry", 192, 5, 1, 7);
	common_stacks();
	stack(61, 0, 3, IN_MODULE, IN_MODULE + 0x40, KERNEL + 0x200);
	gone(IN_MODULE, 0x20, "leaky_irq [leaky]");
	gone(IN_MODULE + 0x40, 0x31, "leaky_run [leaky]");
	common_tasks();
	m = record(MEMTAP_REC_MEMORY, sizeof(*m));
	m->total = 40 * MIB;
	m->live_size = 570000;
	m->live_used = 12;
	m->live_lost_bytes = 96 * full;
	put(m);
	end();
	if (tool)
		tool_part();
	finish();
}

static void group_account(u32 id, const char *group, const char *name, u64 counted, u64 filtered)
{
	struct memtap_rec_event *e = record(MEMTAP_REC_EVENT, sizeof(*e));

	e->id = id;
	e->unit = id & 1 ? MEMTAP_UNIT_NONE : MEMTAP_UNIT_BYTES;
	e->way = MEMTAP_WAY_TRACEPOINT;
	e->counted = counted;
	e->filtered = filtered;
	e->seen = counted + filtered;
	strcpy(e->group, group);
	strcpy(e->name, name);
	put(e);
}

/* Pages, some of which slabs and areas are in; areas; memory for each processor. */
static void scene_pages(const char *dir, const char *name)
{
	enum { PAGER = 0x700, SLABS = 0x740, AREAS = 0x780 };
	struct memtap_rec_memory *m;
	struct memtap_block b[16];
	u32 n = 0;

	begin(dir, name, MEMTAP_CFG_OBJECTS | MEMTAP_CFG_KSTACK);
	group_account(0, "slab", "kmalloc", 2, 0);
	group_account(1, "slab", "kfree", 1, 0);
	group_account(2, "pages", "page-alloc", 9, 400);
	group_account(3, "pages", "page-free", 301, 0);
	group_account(4, "percpu", "percpu-alloc", 1, 0);
	group_account(5, "percpu", "percpu-free", 0, 0);
	group_account(6, "vmalloc", "vmalloc-alloc", 2, 0);
	group_account(7, "vmalloc", "vmalloc-free", 0, 0);
	heap(0, MEMTAP_HEAP_ALLOC, 0, 2, 192, 0, 0);
	heap(1, MEMTAP_HEAP_FREE, 0, 0, 0, 1, 96);
	heap(2, MEMTAP_HEAP_ALLOC, 0, 7, 10 * 4096, 0, 0);
	heap(3, MEMTAP_HEAP_FREE, 0, 0, 0, 0, 0);
	heap(4, MEMTAP_HEAP_ALLOC, 0, 1, 480, 0, 0);
	heap(5, MEMTAP_HEAP_FREE, 0, 0, 0, 0, 0);
	heap(6, MEMTAP_HEAP_ALLOC, 0, 2, 12288, 0, 0);
	heap(7, MEMTAP_HEAP_FREE, 0, 0, 0, 0, 0);
	n = keep(b, n, 96, 9000, 61, 24, 0);
	n = keep(b, n, 4096, 8000, 61, 8, 0);
	n = keep(b, n, 4096, 7000, 61, 8, MEMTAP_BLOCK_MOVABLE);
	n = keep(b, n, 8192, 6000, 61, 9, 0);
	n = keep(b, n, 8192, 6000, 62, 9, 0);
	n = keep(b, n, 4096, 5000, 63, 8, 0);
	n = keep(b, n, 4096, 5000, 63, 8, 0);
	n = keep(b, n, 4096, 4000, 8, 8, MEMTAP_BLOCK_ATOMIC);
	n = keep(b, n, 480, 3000, 61, 3, 0);
	n = keep(b, n, 8192, 2000, 61, 4, 0);
	n = keep(b, n, 4096, 1000, 61, 5, 0);
	blocks(b, n);
	cache(3, MEMTAP_CACHE_PERCPU, "percpu memory", 480, 1, 0, 0);
	cache(4, MEMTAP_CACHE_VMALLOC, "vmalloc", 8192, 1, 0, 0);
	cache(5, MEMTAP_CACHE_VMAP, "vmap", 4096, 1, 0, 0);
	cache(8, MEMTAP_CACHE_PAGES, "order-0 pages", 4096, 5, 0, 300);
	cache(9, MEMTAP_CACHE_PAGES, "order-1 pages", 8192, 2, 0, 1);
	cache(24, MEMTAP_CACHE_SLAB, "kmalloc-96", 96, 2, 1, 0);
	common_stacks();
	stack(61, 0, 3, KERNEL + PAGER, IN_MODULE, KERNEL + 0x200);
	stack(62, 0, 4, KERNEL + PAGER, KERNEL + SLABS, IN_MODULE, KERNEL + 0x200);
	stack(63, 0, 3, KERNEL + PAGER, KERNEL + AREAS, IN_MODULE);
	gone(IN_MODULE, 0x20, "leaky_run [leaky]");
	common_tasks();
	m = record(MEMTAP_REC_MEMORY, sizeof(*m));
	m->total = 40 * MIB;
	m->live_size = 570000;
	m->live_used = n;
	put(m);
	end();
	tool_part();
	finish();
}

/* @nr objects of a stack, born at equal intervals from @oldest to @youngest ms ago. */
static void objects(u32 nr, u64 size, u32 kstack, u32 of, u64 oldest, u64 youngest)
{
	static u64 at;
	struct memtap_block b[64];

	for (u32 i = 0; i < nr; i++)
		b[i] = object(at++, size, oldest - (oldest - youngest) * i / (nr > 1 ? nr - 1 : 1),
			      kstack, of, 0);
	blocks(b, nr);
}

/*
 * Slabs churn, and more bytes are in use for a moment than a module leaks in pages; an area is
 * larger than all that; dentries grow, alone and with what cannot be taken back.
 */
static void scene_churn(const char *dir)
{
	enum { AREA = 4, LARGE = 1, PAGES = 11, SMALL = 24, DENTRIES = 25, NAMED = 26 };
	struct memtap_rec_memory *m;

	begin(dir, "kernel-churn", MEMTAP_CFG_OBJECTS | MEMTAP_CFG_KSTACK);
	group_account(0, "slab", "kmalloc", 1014, 0);
	group_account(1, "slab", "kfree", 800, 0);
	group_account(2, "pages", "page-alloc", 16, 0);
	group_account(3, "pages", "page-free", 0, 0);
	group_account(4, "vmalloc", "vmalloc-alloc", 1, 0);
	group_account(5, "vmalloc", "vmalloc-free", 0, 0);
	heap(0, MEMTAP_HEAP_ALLOC, 0, 1014, 24 * MIB, 0, 0);
	heap(1, MEMTAP_HEAP_FREE, 0, 0, 0, 800, 22 * MIB);
	heap(2, MEMTAP_HEAP_ALLOC, 0, 16, 512 * KIB, 0, 0);
	heap(3, MEMTAP_HEAP_FREE, 0, 0, 0, 0, 0);
	heap(4, MEMTAP_HEAP_ALLOC, 0, 1, 2 * MIB, 0, 0);
	heap(5, MEMTAP_HEAP_FREE, 0, 0, 0, 0, 0);
	objects(40, 32 * KIB, 71, LARGE, 900, 10);
	objects(30, 96, 72, SMALL, 800, 20);
	objects(16, 32 * KIB, 61, PAGES, 9000, 7000);
	objects(1, 2 * MIB, 62, AREA, 3000, 3000);
	objects(32, 96, 8, SMALL, 9900, 100);
	objects(32, 192, 60, DENTRIES, 9900, 100);
	objects(32, 192, 63, DENTRIES, 9900, 100);
	objects(16, 96, 63, SMALL, 9900, 100);
	objects(32, 700, 64, NAMED, 9900, 100);
	cache(LARGE, MEMTAP_CACHE_LARGE, "[large kmalloc]", 32 * KIB, 700, 660, 0);
	cache(AREA, MEMTAP_CACHE_VMALLOC, "vmalloc", 2 * MIB, 1, 0, 0);
	cache(PAGES, MEMTAP_CACHE_PAGES, "order-3 pages", 32 * KIB, 16, 0, 0);
	cache(SMALL, MEMTAP_CACHE_SLAB, "kmalloc-96", 96, 218, 140, 0);
	cache(DENTRIES, MEMTAP_CACHE_SLAB, "dentry", 192, 64, 0, 0);
	cache(NAMED, MEMTAP_CACHE_SLAB, "PING", 700, 32, 0, 0);
	common_stacks();
	stack(61, 0, 2, IN_MODULE, KERNEL + 0x200);
	stack(62, 0, 2, IN_MODULE + 0x40, KERNEL + 0x200);
	stack(63, 0, 2, KERNEL + 0x300, KERNEL + 0x400);
	stack(64, 0, 2, KERNEL + 0x300, KERNEL + 0x100);
	stack(71, 0, 2, KERNEL + 0x100, KERNEL + 0x200);
	stack(72, 0, 2, KERNEL + 0x200, KERNEL + 0x100);
	gone(IN_MODULE, 0x20, "leaky_pages [leaky]");
	gone(IN_MODULE + 0x40, 0x31, "leaky_area [leaky]");
	common_tasks();
	m = record(MEMTAP_REC_MEMORY, sizeof(*m));
	m->total = 40 * MIB;
	m->live_size = 570000;
	m->live_used = 231;
	put(m);
	end();
	tool_part();
	finish();
}

static void lived(u64 from, u64 to, u32 nr, const struct memtap_lived_row *rows)
{
	struct memtap_rec_lived *r = record(MEMTAP_REC_LIVED, sizeof(*r) + nr * sizeof(*rows));

	r->start_ns = 100 * SEC + from * MS;
	r->end_ns = 100 * SEC + to * MS;
	r->nr = nr;
	memcpy(r->at, rows, nr * sizeof(*rows));
	put(r);
}

/* Recorded with an interval: one stack grows, what another one had is gone at the end. */
static void scene_timed(const char *dir)
{
	const struct memtap_lived_row first[] = {
		{ 0, 8, 20, 0, 4, 4 * KIB, 0, 0 }, { 0, 8, 22, 0, 2, 40 * KIB, 0, 0 },
	}, second[] = {
		{ 0, 8, 20, 0, 2, 2 * KIB, 1, KIB }, { 0, 8, 22, 0, 0, 0, 2, 40 * KIB },
	}, third[] = {
		/* the same key twice */
		{ 0, 8, 20, 0, 1, KIB, 0, 0 }, { 0, 8, 20, 0, 3, 3 * KIB, 3, 3 * KIB },
		{ MEMTAP_BLOCK_MAPPING, 8, 24, 0, 1, 3 * MIB, 0, 0 },
	};
	const u64 lost = 0x100000;
	struct memtap_block b[6];

	begin(dir, "leaks-timed", LIVE);
	accounts(12, 6);
	heaps(12, 50 * KIB, 6, 44 * KIB);
	for (u32 i = 0; i < 6; i++)
		b[i] = block(lost + i * KIB, KIB, 9000, 20);
	blocks(b, 6);
	b[0] = mapping(0x7f0000000000, 3 * MIB, 0);
	blocks(b, 1);
	put(space(1, MEMTAP_SPACE_START, 8, 4711));
	stacks();
	common_tasks();
	end();
	put(record(MEMTAP_REC_TOOL, sizeof(struct memtap_rec)));
	reach(MEMTAP_REACH_DEFINITE, 1, &lost);
	lived(0, 2000, 2, first);
	lived(2000, 5000, 2, second);
	lived(5000, 10250, 3, third);
	end();
	finish();
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_leaks DIR\n");
		return 2;
	}
	scene_small(argv[1], "leaks", 0);
	scene_several(argv[1]);
	scene_followed(argv[1]);
	scene_before(argv[1]);
	scene_peak(argv[1], "leaks-peak", 0);
	scene_peak(argv[1], "leaks-peak-lost", 7);
	scene_sampled(argv[1], "leaks-bytes", 1000, 0);
	scene_sampled(argv[1], "leaks-rate", 0, 10);
	scene_mismatches(argv[1]);
	scene_inside(argv[1]);
	scene_ended(argv[1], "leaks-kinds", true);
	scene_ended(argv[1], "leaks-ended", false);
	scene_losses(argv[1]);
	scene_held(argv[1]);
	scene_hostile(argv[1]);
	scene_empty(argv[1]);
	scene_loader(argv[1]);
	scene_deep(argv[1]);
	scene_trend(argv[1]);
	scene_grow(argv[1], "leaks-grow", (const u64[2]){ 0, 0 });
	scene_grow(argv[1], "leaks-grow-least", (const u64[2]){ 300, 0 });
	scene_grow(argv[1], "leaks-grow-lost", (const u64[2]){ 300, 100 });
	scene_grow(argv[1], "leaks-grow-about", (const u64[2]){ 1, 1 });
	scene_timed(argv[1]);
	scene_kernel(argv[1], "kernel", 0, true);
	scene_kernel(argv[1], "kernel-full", 7, true);
	scene_kernel(argv[1], "kernel-gone", 0, false);
	scene_pages(argv[1], "kernel-pages");
	scene_churn(argv[1]);
	return 0;
}
