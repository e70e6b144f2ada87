// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/fpwalk.c kmod/core/userstack.c */
#include <stdlib.h>

#include "fpwalk_ref.h"
#include "tap.h"

#define BASE	0x7ffc00000000ULL	/* of the memory below */
#define LIMIT	0x7ffffffff000ULL
#define IP	0x401000ULL
#define A	0x401111ULL		/* return addresses */
#define B	0x402222ULL
#define C	0x403333ULL
#define TRAMP	0x7fffffffe000ULL

static struct ref_mem mem;
static u64 buf[USERSTACK_CHUNK / 8];
static u64 ips[128];

static void put(u32 word, u64 at, u64 value)
{
	memcpy(mem.bytes + at, &value, word);
}

static struct fpwalk start(u32 word, u64 sp, u64 fp)
{
	memset(&mem, 0, sizeof(mem));
	memset(ips, 0, sizeof(ips));
	mem.base = word == 8 ? BASE : 0xff000000;
	mem.limit = word == 8 ? LIMIT : 0xffffe000;
	return (struct fpwalk){
		.ip = IP, .sp = sp ? mem.base + sp : 0,
		.fp = fp ? mem.base + fp : 0,
		.us.limit = mem.limit, .word = word, .max = 127, .ips = ips,
		.us.read = ref_read, .us.ctx = &mem, .us.buf = (u8 *)buf,
	};
}

struct record {
	u64 at;			/* offset in the memory */
	u64 fp;			/* the same, or with @raw as it is */
	u64 ret;
	int raw;
};

/*
 * Chains as the contract tells them apart.  Offsets of sp and fp; top: what is
 * on top of the stack; absent: mask of pages.
 */
static const struct row {
	const char *name;
	u64 sp, fp;
	int entry;
	u64 top;
	struct record rec[4];
	u32 absent;
	u32 max;
	u64 want[5];
	u32 flags;
} rows[] = {
	{ "a chain that ends in 0 gives every caller", 0x10, 0x20, 0, 0,
	  { { 0x20, 0x40, A }, { 0x40, 0x60, B }, { 0x60, 0, C } },
	  0, 0, { IP, A, B, C }, 0 },
	{ "no frame pointer at all is no clean end", 0x10, 0, 0, 0,
	  { { 0 } }, 0, 0, { IP }, MEMTAP_STACK_CHAIN },
	{ "a return address of 0 is a clean end", 0x10, 0x20, 0, 0,
	  { { 0x20, 0x40, A }, { 0x40, 0x60, 0 } }, 0, 0, { IP, A }, 0 },
	{ "a frame may begin where the stack ends", 0x20, 0x20, 0, 0,
	  { { 0x20, 0, A } }, 0, 0, { IP, A }, 0 },

	{ "at a function's entry the caller is on top of the stack",
	  0x18, 0x20, 1, A, { { 0x20, 0x40, B }, { 0x40, 0, C } },
	  0, 0, { IP, A, B, C }, 0 },
	{ "also when there is no chain", 0x18, 0, 1, A, { { 0 } },
	  0, 0, { IP, A }, MEMTAP_STACK_CHAIN },
	{ "also when the chain is nonsense", 0x18, 0x3, 1, A, { { 0 } },
	  0, 0, { IP, A }, MEMTAP_STACK_CHAIN },
	{ "the caller's frame is not where its return address is",
	  0x20, 0x20, 1, A, { { 0x20, 0, B } }, 0, 0, { IP, A }, MEMTAP_STACK_CHAIN },
	{ "nothing on top of the stack ends it", 0x18, 0x20, 1, 0,
	  { { 0x20, 0, B } }, 0, 0, { IP }, 0 },
	{ "no address on top of the stack ends it with a reason",
	  0x18, 0x20, 1, 77, { { 0x20, 0, B } }, 0, 0, { IP }, MEMTAP_STACK_CHAIN },
	{ "a stack pointer that is not aligned is no place for one",
	  0x1c, 0x20, 1, A, { { 0x20, 0, B } }, 0, 0, { IP }, MEMTAP_STACK_CHAIN },
	{ "an unreadable stack at the entry is a fault", 0x18, 0x1020, 1, A,
	  { { 0 } }, 1, 0, { IP }, MEMTAP_STACK_FAULT },

	{ "a frame pointer below the stack ends it", 0x28, 0x20, 0, 0,
	  { { 0x20, 0, A } }, 0, 0, { IP }, MEMTAP_STACK_CHAIN },
	{ "one that is not aligned ends it", 0x10, 0x24, 0, 0,
	  { { 0x20, 0, A } }, 0, 0, { IP }, MEMTAP_STACK_CHAIN },
	{ "scratch in the register ends it", 0x10, 0x80000000 - 1, 0, 0,
	  { { 0 } }, 0, 0, { IP }, MEMTAP_STACK_CHAIN },
	{ "a frame that points to itself ends it", 0x10, 0x20, 0, 0,
	  { { 0x20, 0x20, A } }, 0, 0, { IP, A }, MEMTAP_STACK_CHAIN },
	{ "one that points back ends it", 0x10, 0x20, 0, 0,
	  { { 0x20, 0x40, A }, { 0x40, 0x20, B } }, 0, 0,
	  { IP, A, B }, MEMTAP_STACK_CHAIN },
	{ "one that is not a pointer ends it behind its caller",
	  0x10, 0x20, 0, 0, { { 0x20, 1, A, 1 } }, 0, 0,
	  { IP, A }, MEMTAP_STACK_CHAIN },
	{ "one too far up ends it", 0x10, 0x20, 0, 0,
	  { { 0x20, BASE + 0x28 + USERSTACK_MAX_FRAME, A, 1 } }, 0, 0,
	  { IP, A }, MEMTAP_STACK_CHAIN },
	{ "as far up as a frame may be it is looked for", 0x10, 0x20, 0, 0,
	  { { 0x20, BASE + 0x20 + USERSTACK_MAX_FRAME, A, 1 } }, 0, 0,
	  { IP, A }, MEMTAP_STACK_FAULT },
	{ "one at the end of all addresses ends it", 0x10, 0x20, 0, 0,
	  { { 0x20, -8ULL, A, 1 } }, 0, 0, { IP, A }, MEMTAP_STACK_CHAIN },

	{ "a return address of page 0 ends it", 0x10, 0x20, 0, 0,
	  { { 0x20, 0x40, A }, { 0x40, 0x60, 4095 }, { 0x60, 0, C } },
	  0, 0, { IP, A }, MEMTAP_STACK_CHAIN },
	{ "one behind page 0 does not", 0x10, 0x20, 0, 0,
	  { { 0x20, 0x40, A }, { 0x40, 0x60, 4096 }, { 0x60, 0, C } },
	  0, 0, { IP, A, 4096, C }, 0 },
	{ "a return address of the kernel ends it", 0x10, 0x20, 0, 0,
	  { { 0x20, 0x40, A }, { 0x40, 0x60, LIMIT }, { 0x60, 0, C } },
	  0, 0, { IP, A }, MEMTAP_STACK_CHAIN },
	{ "the last address of user code does not", 0x10, 0x20, 0, 0,
	  { { 0x20, 0x40, LIMIT - 1 }, { 0x40, 0, B } },
	  0, 0, { IP, LIMIT - 1, B }, 0 },

	{ "a page that is not there is a fault", 0x10, 0x20, 0, 0,
	  { { 0x20, 0x1010, A }, { 0x1010, 0, B } }, 2, 0,
	  { IP, A }, MEMTAP_STACK_FAULT },
	{ "a record on two pages is read", 0xf00, 0xff8, 0, 0,
	  { { 0xff8, 0x1010, A }, { 0x1010, 0, B } }, 0, 0, { IP, A, B }, 0 },
	{ "also as the second of a chain", 0xf00, 0xf10, 0, 0,
	  { { 0xf10, 0xff8, A }, { 0xff8, 0x1ff8, B }, { 0x1ff8, 0, C } },
	  0, 0, { IP, A, B, C }, 0 },
	{ "half of it missing is a fault", 0xf00, 0xff8, 0, 0,
	  { { 0xff8, 0x1010, A }, { 0x1010, 0, B } }, 2, 0,
	  { IP }, MEMTAP_STACK_FAULT },
	{ "what lies on a missing page but is not needed does no harm",
	  0xf00, 0xfe0, 0, 0, { { 0xfe0, 0, A } }, 2, 0, { IP, A }, 0 },

	{ "no more frames than there is room for", 0x10, 0x20, 0, 0,
	  { { 0x20, 0x40, A }, { 0x40, 0x60, B }, { 0x60, 0, C } },
	  0, 3, { IP, A, B }, MEMTAP_STACK_DEPTH },
	{ "as many as there is room for are not too many", 0x10, 0x20, 0, 0,
	  { { 0x20, 0x40, A }, { 0x40, 0x60, B }, { 0x60, 0, C } },
	  0, 4, { IP, A, B, C }, 0 },
	{ "an end behind the last one is not another frame", 0x10, 0x20, 0, 0,
	  { { 0x20, 0x40, A }, { 0x40, 0x60, B }, { 0x60, 0, 0 } },
	  0, 3, { IP, A, B }, 0 },
	{ "room for one is for the address itself", 0x18, 0x20, 1, A,
	  { { 0x20, 0x40, B } }, 0, 1, { IP }, MEMTAP_STACK_DEPTH },
};

static void load(const struct row *r, struct fpwalk *w)
{
	*w = start(8, r->sp, r->fp);
	w->entry = r->entry;
	w->max = r->max ? r->max : 127;
	mem.absent = r->absent;
	for (u32 i = 0; i < 4 && r->rec[i].at; i++) {
		put(8, r->rec[i].at, !r->rec[i].fp || r->rec[i].raw ?
		    r->rec[i].fp : BASE + r->rec[i].fp);
		put(8, r->rec[i].at + 8, r->rec[i].ret);
	}
	if (r->entry)
		put(8, r->sp & ~7ULL, r->top);
}

static u64 fix_nothing(void *ctx, u64 slot, u64 ip)
{
	return ip;
}

/* Also with something to ask for each frame, which goes another way. */
static void test_chains(userstack_fix_fn fix, fpwalk_plain_fn plain)
{
	struct fpwalk w;
	u32 nr;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		load(&rows[i], &w);
		w.us.fix = fix;
		w.plain = plain;
		fpwalk(&w);
		for (nr = 0; nr < 5 && rows[i].want[nr]; nr++)
			;
		ok(w.nr == nr && w.flags == rows[i].flags && !mem.bad_reads &&
		   !memcmp(ips, rows[i].want, nr * sizeof(*ips)),
		   "%s%s", rows[i].name, fix ? ", asked or not" : plain ? ", word by word" :
		   "");
	}
}

static void test_no_room(void)
{
	struct fpwalk w = start(8, 0x10, 0x20);

	w.max = 0;
	fpwalk(&w);
	is(w.nr, 0, "without room nothing is written");
	is(w.flags, MEMTAP_STACK_DEPTH, "and that is said");
}

/* 13 frames of 64 bytes: 832 bytes of stack. */
static void test_fewer_reads_than_frames(void)
{
	struct fpwalk w = start(8, 0x10, 0x40);
	int good = 1;

	for (u64 i = 1; i <= 13; i++) {
		put(8, i * 0x40, BASE + (i + 1) * 0x40);
		put(8, i * 0x40 + 8, A + i);
	}
	put(8, 13 * 0x40, 0);
	fpwalk(&w);
	is(w.nr, 14, "a chain across pieces is walked to its end");
	for (u32 i = 1; i < w.nr; i++)
		good &= ips[i] == A + i;
	ok(good, "in order");
	is(mem.reads, (13 * 0x40 + USERSTACK_CHUNK - 1) / USERSTACK_CHUNK,
	   "with a read for each piece");
	ok(mem.reads < 13, "and fewer reads than frames");
	ref_begins = mem.reads = 0;
	w.plain = ref_chain_plain;
	fpwalk(&w);
	ok(w.nr == 14 && !mem.reads, "with none where words are had one by one");
}

static void test_32_bit_tasks(void)
{
	struct fpwalk w = start(4, 0x10, 0x24);

	put(4, 0x24, 0xff000000 + 0xffc);
	put(4, 0x28, 0x8049111);
	put(4, 0xffc, 0xff000000 + 0x1008);
	put(4, 0x1000, 0x8049222);
	put(4, 0x1008, 0);
	put(4, 0x100c, 0xf7d00333);
	fpwalk(&w);
	is(w.nr, 4, "a chain of 32-bit records is walked, across pages");
	ok(ips[1] == 0x8049111 && ips[2] == 0x8049222 && ips[3] == 0xf7d00333,
	   "to the right callers");
	is(w.flags, 0, "and a clean end");

	w = start(4, 0x14, 0x20);
	w.entry = 1;
	put(4, 0x14, 0x8049111);
	put(4, 0x20, 0xff000022);
	put(4, 0x24, 0x8049222);
	fpwalk(&w);
	is(w.nr, 3, "the caller is on top of the stack here too");
	is(w.flags, MEMTAP_STACK_CHAIN, "alignment is that of its words");
}

static void test_registers_at_the_edges(void)
{
	static const u64 edge[] = { 0, 1, 8, 4088, 4096, LIMIT - 16, LIMIT - 8,
		LIMIT - 1, LIMIT, LIMIT + 8, 1ULL << 63, -4096ULL, -16ULL,
		-8ULL, -1ULL };
	enum { NR = sizeof(edge) / sizeof(edge[0]) };
	u32 agree = 0, total = 0;
	struct fpwalk w;

	for (u32 i = 0; i < NR * NR * NR * 4; i++) {
		w = start(i & 1 ? 4 : 8, 0, 0);
		w.entry = i >> 1 & 1;
		w.sp = edge[i / 4 % NR];
		w.fp = edge[i / 4 / NR % NR];
		w.us.limit = edge[i / 4 / NR / NR];
		mem.base = (edge[i / 4 % NR] & ~4095ULL) - 4096;
		total++;
		agree += ref_agrees(&mem, &w);
	}
	is(agree, total, "registers and limits at every edge are harmless");
}

static u64 fix_known(void *ctx, u64 slot, u64 ip)
{
	if (ip != TRAMP)
		return ip;
	return slot == BASE + 0x28 ? A : slot == BASE + 0x18 ? C : 0;
}

static void test_trampolines(void)
{
	struct fpwalk w = start(8, 0x18, 0x20);

	w.us.fix = fix_known;
	put(8, 0x20, BASE + 0x40);
	put(8, 0x28, TRAMP);
	put(8, 0x40, 0);
	put(8, 0x48, B);
	fpwalk(&w);
	ok(w.nr == 3 && ips[1] == A && ips[2] == B,
	   "a return trampoline is replaced by the true address");
	is(w.flags, 0, "without a remark");

	w.entry = 1;
	put(8, 0x18, TRAMP);
	fpwalk(&w);
	ok(w.nr == 4 && ips[1] == C && ips[2] == A,
	   "also on top of the stack at an entry");

	put(8, 0x48, TRAMP);
	fpwalk(&w);
	ok(w.nr == 4 && ips[3] == TRAMP,
	   "one whose caller is not known stays in the stack");
	is(w.flags, MEMTAP_STACK_TRAMPOLINE, "and is remarked");
}

/* Memory that is mostly a chain, with something wrong here and there. */
static void scramble(struct fpwalk *w, uint64_t *seed)
{
	static const u64 odd[] = { 0, 1, 4095, 4096, -8ULL, 1ULL << 47, TRAMP };
	u32 step = w->word, wrong = tap_random(seed) % 200 + 2;
	u64 v;

	for (u64 at = 0; at + step <= sizeof(mem.bytes); at += step) {
		if (at / step % 2 == 0)
			v = mem.base + at + step * 2 * (1 + tap_random(seed) % 20);
		else
			v = 0x400000 + tap_random(seed) % 0x10000;
		if (tap_random(seed) % wrong == 0)
			v = tap_random(seed) % 2 ? odd[tap_random(seed) % 7] :
			    mem.base + tap_random(seed) % sizeof(mem.bytes);
		put(step, at, v);
	}
}

static void test_agrees_with_the_plain_walk(void)
{
	static const u64 bases[] = { BASE, 0x10000,
		-USERSTACK_MAX_FRAME - sizeof(mem.bytes) };
	uint64_t seed = 3;
	u32 agree = 0, frames = 0, bad_reads = 0, seen = 0, flags = 0;
	struct fpwalk w;

	for (u32 i = 0; i < 4000; i++) {
		w = start(i & 1 ? 4 : 8, 0, 0);
		mem.base = i & 1 ? 0xff000000 : bases[i / 2 % 3];
		w.us.limit = i % 5 ? mem.base + sizeof(mem.bytes) : LIMIT;
		if (i % 7 == 0)
			w.us.limit -= tap_random(&seed) % sizeof(mem.bytes);
		if (w.us.limit < mem.base)		/* the end of the address space */
			w.us.limit = -1ULL;
		mem.tramp = TRAMP;
		w.us.fix = i % 3 ? NULL : ref_fix;
		w.entry = i >> 1 & 1;
		w.max = 1 + tap_random(&seed) % 127;
		w.sp = mem.base + tap_random(&seed) % 8192 / 16 * 16;
		w.fp = w.sp + tap_random(&seed) % 32 * 16;
		if (i % 4 == 0)
			mem.absent = 1U << tap_random(&seed) % 8;
		scramble(&w, &seed);
		agree += ref_agrees(&mem, &w);
		frames += w.nr;
		bad_reads += mem.bad_reads;
		seen |= !w.flags;
		flags |= w.flags;
	}
	is(agree, 4000, "damaged stacks end as in a plain word-by-word walk");
	ok(frames > 20000, "most of them far up: %u frames", frames);
	is(bad_reads, 0, "with no read that the callback was not promised");
	is(flags, MEMTAP_STACK_DEPTH | MEMTAP_STACK_FAULT | MEMTAP_STACK_CHAIN |
	   MEMTAP_STACK_TRAMPOLINE, "for every reason");
	ok(seen, "and for none");
}

int main(void)
{
	test_chains(NULL, NULL);
	test_chains(NULL, ref_chain_plain);
	test_chains(fix_nothing, NULL);
	test_no_room();
	test_fewer_reads_than_frames();
	test_32_bit_tasks();
	test_registers_at_the_edges();
	test_trampolines();
	test_agrees_with_the_plain_walk();
	return tap_done();
}
