// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/rowwalk.c kmod/core/stacktail.c kmod/core/unwindtab.c kmod/core/userstack.c */
/* Small stacks, each with what is to be said of it; test_rowwalk_random.c makes large ones. */
#include <stdlib.h>

#include "rowwalk_ref.h"
#include "tap.h"

#define BASE	0x7ffc00000000ULL	/* of the stack's memory */
#define LIMIT	0x7ffffffff000ULL
#define CODE	0x401000ULL		/* functions of 16 bytes, each with a rule */
#define POS	0x3000			/* in the file, of CODE */
#define NR_FN	5
#define JIT	0x500000ULL		/* without a table */
#define NEW	0x600000ULL		/* a file that has no table yet */
#define TRAMP	0x7fffffffe000ULL
#define JUNK	0x5555555555555555ULL	/* what the stack is full of */

#define F(i)	(CODE + 16 * (i) + 5)	/* in function i; see also NR_FN */
#define S(off)	(BASE + (off))
#define ROOM	USERSTACK_MAX_FRAME
#define ENTERS(i)	(CODE + 16 * (i) + 2)	/* behind a system call: ref_enters() */
#define NONE	(1ULL << 63)
#define FIXED(off)	(0x7000 + (off))	/* what ref_fix() knows of such a slot */

#define BX	REF_BX
#define FP	REF_FP
#define SP	REF_SP
#define R10	10

#define ONLY(k)		{ MEMTAP_RULE_##k, 0, 0, 0, 0, 0, 0, 0, -8 }
#define CFA(r, off)	{ MEMTAP_RULE_CFA, r, 0, 0, off, 0, 0, 0, -8 }
#define SAVES(r, off, flags, fp, bx) { MEMTAP_RULE_CFA, r, flags, 0, off, 0, fp, bx, -8 }
#define DEREF(r, off, add)	{ MEMTAP_RULE_DEREF, r, 0, 0, off, add, 0, 0, -8 }
#define PLT(off, n)	{ MEMTAP_RULE_PLT, 0, 0, 0, off, n, 0, 0, -8 }
#define IN_REG(off, r)	{ MEMTAP_RULE_CFA, SP, MEMTAP_RULE_RA_REG, 0, off, 0, 0, 0, r }

#define SWITCH(r, off)	SAVES(r, off, MEMTAP_RULE_SWITCH | FP_SAVED, -16, 0)

#define FP_SAVED	MEMTAP_RULE_FP_SAVED
#define FP_AT_FP	MEMTAP_RULE_FP_AT_FP
#define BX_SAVED	MEMTAP_RULE_BX_SAVED
#define BX_AT_FP	MEMTAP_RULE_BX_AT_FP

#define CUT(why)	MEMTAP_STACK_##why

static struct ref_world world;
static struct ref_table table;

/*
 * From function 0, or @ip, with rsp at 0x100, or @sp.  @r10, @ax: known where they are not
 * 0; NONE is a 0.  In the stack: @words, else junk.  All unsaid functions are a gap.
 */
static const struct row {
	const char *name;
	struct memtap_rule rule[NR_FN];
	struct { u64 at, v; } words[8];
	u64 want[7];
	u32 flags;
	u64 ip, sp, fp, bx, r10, ax, limit;
	u32 unknown;
	u32 entry, absent, fix;
	s32 max;		/* -1: 0 */
} rows[] = {
#include "rowwalk_stacks.h"
};

static void load(const struct row *r, struct rowwalk *w)
{
	u64 junk = JUNK;

	memset(&world, 0, sizeof(world));
	memset(&table, 0, sizeof(table));
	world.mem.base = BASE;
	world.mem.absent = r->absent;
	world.mem.tramp = TRAMP;
	for (u32 at = 0; at < sizeof(world.mem.bytes); at += 8)
		memcpy(world.mem.bytes + at, &junk, 8);
	for (u32 i = 0; i < 8 && r->words[i].at; i++)
		memcpy(world.mem.bytes + r->words[i].at, &r->words[i].v, 8);
	for (u32 i = 0; i <= NR_FN; i++) {
		table.rows[i] = POS + 16 * i;
		table.kinds[i] = i;
		table.rules[i].ra = -8;
		if (i < NR_FN && (r->rule[i].kind || r->rule[i].ra))
			table.rules[i] = r->rule[i];
	}
	table.t.nr_rows = table.t.nr_rules = NR_FN + 1;
	if (ref_table_done(&table))
		abort();
	world.code[0] = (struct ref_code){ CODE, 16 * NR_FN + 64, POS, &table };
	world.code[1] = (struct ref_code){ JIT, 4096, 0, NULL };
	world.code[2] = (struct ref_code){ NEW, 4096, 0, NULL, MEMTAP_STACK_NOTABLE };
	world.code[3] = (struct ref_code){ CODE - 16, 16, POS - 16, &table };
	world.nr_codes = 4;
	world.reg[R10] = r->r10;
	world.reg[ROWWALK_REG_AX] = r->ax & ~NONE;
	world.has_reg = (r->r10 ? 1 << R10 : 0) | (r->ax ? 1 << ROWWALK_REG_AX : 0);
	*w = (struct rowwalk){
		.ip = r->ip ? r->ip : F(0), .sp = r->sp ? r->sp : S(0x100),
		.fp = r->fp, .bx = r->bx,
		.known = (ROWWALK_KNOWN_FP | ROWWALK_KNOWN_BX) & ~r->unknown,
		.entry = r->entry, .max = r->max < 0 ? 0 : r->max ? r->max : 127,
		.reg = ref_get_reg, .calls = ref_calls, .enters = ref_enters,
		.us.fix = r->fix ? ref_fix : NULL,
		.us.limit = r->limit ? r->limit : LIMIT,
	};
}

static int as_wanted(const struct row *r, const struct rowwalk *w)
{
	u32 nr;

	for (nr = 0; nr < 7 && r->want[nr]; nr++)
		;
	return w->nr == nr && w->flags == r->flags &&
	       !memcmp(w->ips, r->want, nr * sizeof(*w->ips));
}

static void say(const struct rowwalk *w)
{
	fprintf(stderr, "#   flags 0x%x, frames", w->flags);
	for (u32 i = 0; i < w->nr; i++)
		fprintf(stderr, " 0x%" PRIx64, w->ips[i]);
	fprintf(stderr, "\n");
}

static void test_stack(const struct row *r)
{
	static const char *const memo[] = { "", ", remembered", ", in the second place",
		", in spite of other code's rules", ", remembering nothing" };
	u64 ips[MEMTAP_MAX_DEPTH];
	struct rowwalk from, w;

	load(r, &from);
	for (u32 i = 0; i < 2 * REF_NR_MEMO; i++) {
		u32 how = i % REF_NR_MEMO;
		int is;

		from.plain = i < REF_NR_MEMO ? NULL : ref_plain;
		ref_prepare_memo(&world, how);
		is = ref_run(&world, &from, how == REF_MEMO_OFF ? 0 : REF_MEMO_ID, ips, &w) &&
		     as_wanted(r, &w);
		if (!ok(is, "%s%s%s", r->name, memo[how], from.plain ? ", word by word" : ""))
			say(&w);
	}
	ref_expect(&world, &from, ips, &w);
	if (!ok(as_wanted(r, &w), "%s, says the plain walk", r->name))
		say(&w);
}

/* Function 0 calls itself, in frames of @bytes, then comes an end. */
static void load_recursion(struct rowwalk *w, u32 bytes, u32 calls)
{
	struct row r = { .rule = { CFA(SP, 0), ONLY(END) } };
	u64 ra = F(0), end = F(1);

	r.rule[0].cfa = bytes;
	load(&r, w);
	for (u32 i = 1; i <= calls; i++)
		memcpy(world.mem.bytes + 0x100 + i * bytes - 8, i < calls ? &ra : &end, 8);
}

static void test_fewer_reads_than_frames(u32 bytes)
{
	u32 calls = 100, most = calls / (USERSTACK_CHUNK / bytes) + 6;
	u64 ips[MEMTAP_MAX_DEPTH];
	struct rowwalk from, w;

	load_recursion(&from, bytes, calls);
	for (u32 how = REF_MEMO_COLD; how <= REF_MEMO_WARM; how++) {
		ref_prepare_memo(&world, how);
		ref_run(&world, &from, REF_MEMO_ID, ips, &w);
		ok(w.nr == calls + 1 && !w.flags, "a recursion is walked, %u bytes each, %s",
		   bytes, how ? "remembered" : "for the first time");
		ok(world.mem.reads <= most, "in %u reads, at most %u", world.mem.reads, most);
	}
	is(world.finds, 0, "and no code is asked for that is remembered");
	ref_begins = 0;
	from.plain = ref_plain;
	ref_run(&world, &from, REF_MEMO_ID, ips, &w);
	ok(w.nr == calls + 1 && !w.flags && !world.mem.reads && !world.finds,
	   "and nothing is read in pieces, where words are had one by one");
}

/* The outermost frame is known; in another stack it is where nothing can be any more. */
static void test_outermost_frame_behind_the_end(int by_words)
{
	u64 ips[MEMTAP_MAX_DEPTH];
	struct rowwalk from, w;

	load_recursion(&from, 16, 5);
	from.plain = by_words ? ref_plain : NULL;
	for (u32 how = REF_MEMO_COLD; how <= REF_MEMO_WARM; how++) {
		ref_prepare_memo(&world, how);
		ref_run(&world, &from, REF_MEMO_ID, ips, &w);
		ok(w.nr == 6 && !w.flags, "a stack is whole%s", how ? ", remembered" : "");
	}
	from.us.limit = S(0x100 + 5 * 16);
	ref_run(&world, &from, REF_MEMO_ID, ips, &w);
	ok(w.nr == 6 && w.flags == MEMTAP_STACK_CHAIN,
	   "and is not, where its outermost frame is behind its end");
}

/* Which place in the memo is for @ip, or -1: another one than @place. */
static int place_of(u64 ip, int place)
{
	struct row r = { .rule = { ONLY(END) }, .ip = ip };
	u64 ips[MEMTAP_MAX_DEPTH];
	struct rowwalk from, w;

	load(&r, &from);
	world.code[0].len = 1 << 20;
	ref_run(&world, &from, REF_MEMO_ID, ips, &w);
	for (int i = 0; i < (int)ROWWALK_MEMO; i++)
		if ((world.memo[i].ra & ~ROWPLAIN_OTHER) == ip + 1)
			return place < 0 || i / 2 == place ? i / 2 : -1;
	return -1;
}

/* Two addresses have a place together; with id 0 nothing has one. */
static void test_two_in_a_place(void)
{
	static struct rowwalk_memo kept[ROWWALK_MEMO];
	u64 ips[MEMTAP_MAX_DEPTH], alike[2] = { F(0) };
	struct rowwalk from, w;
	int place = place_of(F(0), -1);

	for (alike[1] = F(1); place_of(alike[1], place) < 0; alike[1]++)
		;
	place_of(F(0), place);		/* also loads */
	world.code[0].len = 1 << 20;
	from = (struct rowwalk){ .ip = alike[0], .sp = S(0x100), .us.limit = LIMIT, .max = 9 };
	for (u32 i = 0; i < 6; i++) {
		from.ip = alike[i % 2];
		ref_run(&world, &from, REF_MEMO_ID, ips, &w);
		if (i > 1)
			is(world.finds, 0, "both of two addresses are remembered, again");
	}
	memcpy(kept, world.memo, sizeof(kept));
	from.ip++;
	ref_run(&world, &from, 0, ips, &w);
	ok(!memcmp(kept, world.memo, sizeof(kept)), "and no other, when nothing is to be");
}

/* Registers and limits that no stack has. */
static void test_registers_at_the_edges(void)
{
	static const u64 edge[] = { 0, 8, 4095, 4096, BASE, S(0x3ff8), S(0x4000),
		LIMIT - 8, LIMIT, 1ULL << 63, -ROOM - 16, -ROOM - 8, -ROOM, -16ULL, -8ULL,
		-1ULL };
	static const struct memtap_rule rules[] = { CFA(SP, 8), CFA(SP, 1 << 24),
		CFA(FP, 16), CFA(BX, -(1 << 30)), DEREF(FP, -8, 1 << 30), PLT(8, 3),
		ONLY(SIGNAL), ONLY(FP), IN_REG(0, BX), IN_REG(1 << 24, BX),
		SAVES(SP, 64, FP_SAVED | BX_AT_FP, -16, 8) };
	enum { NR = sizeof(edge) / sizeof(edge[0]), RULES = sizeof(rules) / sizeof(rules[0]) };
	u64 ips[MEMTAP_MAX_DEPTH];
	struct rowwalk from, w;
	u32 agree = 0, total = 0;

	for (u32 i = 0; i < NR * NR * NR * RULES; i++) {
		struct row r = { .rule = { rules[i % RULES] }, .max = 3 };

		load(&r, &from);
		from.sp = edge[i / RULES % NR];
		from.fp = from.bx = edge[i / RULES / NR % NR];
		from.us.limit = edge[i / RULES / NR / NR];
		world.mem.base = from.sp < BASE ? 0 : BASE;
		total++;
		agree += ref_rows_agree(&world, &from, ips, &w);
	}
	is(agree, total, "registers and limits at every edge are harmless");
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		test_stack(&rows[i]);
	test_fewer_reads_than_frames(16);
	test_fewer_reads_than_frames(104);
	test_outermost_frame_behind_the_end(0);
	test_outermost_frame_behind_the_end(1);
	test_two_in_a_place();
	test_registers_at_the_edges();
	return tap_done();
}
