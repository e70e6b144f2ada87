// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/rowwalk.c kmod/core/unwindtab.c kmod/core/userstack.c */
/* Stacks made at random, whole and damaged, against the plain walk of rowwalk_ref.h. */
#include "rowwalk_gen.h"

#define PROGRAMS	60
#define STACKS		60	/* of each */

static struct gen g;
static struct rowwalk_memo lasting[ROWWALK_MEMO];	/* never emptied */
static u64 ids;						/* of programs */

static struct {
	u32 stacks, agree, lasting, true_stacks, truth, frames, whole, flags;
} seen;

/* The memo of a CPU: full of what was walked before, of this and other programs. */
static int lasting_agrees(const struct rowwalk *from, const struct rowwalk *want)
{
	u64 ips[MEMTAP_MAX_DEPTH];
	int good = 1;
	struct rowwalk w;

	memcpy(g.world.memo, lasting, sizeof(lasting));
	for (u32 i = 0; i < 2; i++)
		good &= ref_run(&g.world, from, ids, ips, &w) && ref_same(&w, want);
	memcpy(lasting, g.world.memo, sizeof(lasting));
	return good;
}

static void compare(const struct rowwalk *from, u64 *ips, struct rowwalk *want)
{
	seen.stacks++;
	seen.agree += ref_rows_agree(&g.world, from, ips, want);
	seen.lasting += lasting_agrees(from, want);
	seen.frames += want->nr;
	seen.flags |= want->flags;
	seen.whole += !(want->flags & ~MEMTAP_STACK_FP);
}

/* Are these the calls that were made? */
static int is_true(const struct rowwalk *w)
{
	const struct gen_frame *f = g.frame + g.nr - 1;
	u32 nr = 0;

	if (w->flags != g.flags || w->ips[0] != f->pc)
		return 0;
	for (nr = 1; nr < w->nr; nr++)
		if (w->ips[nr] != (--f)->pc + 1)
			return 0;
	return f == g.frame || (f == g.frame + 1 && f[-1].pc == -1ULL);
}

static void damage_memory(void)
{
	static const u64 odd[] = { 0, 1, 4095, 4096, -8ULL, 1ULL << 47, GEN_TRAMP,
		GEN_BASE + 4, 0x7f2000000010, 0x7f1000000010 };
	u32 nr = gen_random(&g, 3);
	u64 at, v;

	for (u32 i = 0; i < nr; i++) {
		do
			at = gen_random(&g, GEN_BYTES / 8);
		while (!g.used[at]);
		v = odd[gen_random(&g, 10)];
		if (gen_random(&g, 2))
			v = gen_random(&g, 2) ? gen_scratch(&g) : gen_pc(&g);
		memcpy(g.world.mem.bytes + at * 8, &v, 8);
	}
	g.world.mem.absent = gen_random(&g, 4) ? 0 : 1U << gen_random(&g, REF_PAGES);
}

static struct rowwalk damage_registers(void)
{
	struct rowwalk w = gen_registers(&g);
	u64 *reg[] = { &w.sp, &w.fp, &w.bx, &g.world.reg[GEN_R10] };

	if (gen_random(&g, 4) == 0)
		*reg[gen_random(&g, 4)] += gen_random(&g, 32) - 16;
	if (gen_random(&g, 8) == 0)
		w.known = gen_random(&g, 4);
	if (gen_random(&g, 8) == 0)
		w.max = gen_random(&g, g.nr + 2);
	if (gen_random(&g, 8) == 0)
		w.us.limit = GEN_BASE + gen_random(&g, GEN_BYTES);
	if (gen_random(&g, 8) == 0)
		w.reg = NULL;
	w.entry = gen_random(&g, 8) == 0;
	w.us.fix = gen_random(&g, 4) ? NULL : ref_fix;
	return w;
}

static void walk_program(void)
{
	u64 ips[MEMTAP_MAX_DEPTH];
	struct rowwalk from, w;

	for (u32 i = 0; i < STACKS; i++) {
		if (gen_stack(&g, 1 + gen_random(&g, 40)))
			continue;
		from = gen_registers(&g);
		g.world.mem.absent = 0;
		compare(&from, ips, &w);
		seen.true_stacks++;
		seen.truth += is_true(&w);
		for (u32 n = 0; n < 6; n++) {
			damage_memory();
			from = damage_registers();
			compare(&from, ips, &w);
		}
	}
}

static void test_programs(void)
{
	const u32 all = ((1U << MEMTAP_NR_RULE) - 1) & ~(1U << MEMTAP_RULE_GAP |
			1U << MEMTAP_RULE_NONE | 1U << MEMTAP_RULE_END);
	u32 bad = 0;

	memset(&seen, 0, sizeof(seen));
	for (u32 i = 0; i < PROGRAMS; i++) {
		bad += gen_program(&g, 0);
		ids++;
		walk_program();
	}
	is(bad, 0, "programs as compilers make them");
	ok(seen.true_stacks > PROGRAMS * STACKS / 2, "stacks of theirs: %u", seen.true_stacks);
	is(seen.truth, seen.true_stacks, "each is walked to its end, call by call");
	is(g.kinds, all, "with every kind of rule");
	is(seen.agree, seen.stacks, "damaged or not, all is as in a plain walk");
	is(seen.lasting, seen.stacks, "also with a memo that is never emptied");
	ok(seen.frames > seen.stacks * 6, "%u frames of %u stacks", seen.frames, seen.stacks);
	is(seen.flags, MEMTAP_STACK_DEPTH | MEMTAP_STACK_FAULT | MEMTAP_STACK_CHAIN |
	   MEMTAP_STACK_TRAMPOLINE | MEMTAP_STACK_NOMAP | MEMTAP_STACK_NOTABLE |
	   MEMTAP_STACK_NOROW | MEMTAP_STACK_FP, "for every reason");
	ok(seen.whole > seen.true_stacks, "and for none: %u", seen.whole);
}

/* Rules that fit nothing, in stacks full of what could be addresses. */
static void fill_wildly(void)
{
	u64 v, alike = gen_pc(&g);

	for (u32 at = 0; at < GEN_BYTES; at += 8) {
		v = gen_random(&g, 8) ? gen_pc(&g) : gen_scratch(&g);
		if (gen_random(&g, 8) == 0)
			v = GEN_BASE + at + gen_random(&g, 64) * 8;
		if (gen_random(&g, 8) == 0)
			v = alike;
		memcpy(g.world.mem.bytes + at, &v, 8);
		g.used[at / 8] = 1;
	}
}

static void test_wild_programs(void)
{
	u64 ips[MEMTAP_MAX_DEPTH];
	struct rowwalk from, w;

	memset(&seen, 0, sizeof(seen));
	for (u32 i = 0; i < 1500; i++) {
		if (i % 10 == 0) {
			gen_program(&g, 1);
			ids++;
		}
		fill_wildly();
		for (u32 n = 0; n < 10; n++) {
			g.nr = 1;
			g.frame[0] = (struct gen_frame){ .pc = gen_pc(&g),
				.sp = GEN_BASE + gen_random(&g, GEN_BYTES / 8) * 8,
				.fp = gen_scratch(&g), .bx = gen_scratch(&g) };
			g.world.reg[GEN_R10] = gen_scratch(&g);
			g.world.has_reg = 1U << GEN_R10;
			damage_memory();
			from = damage_registers();
			compare(&from, ips, &w);
		}
	}
	is(seen.agree, seen.stacks, "rules that fit nothing lead where a plain walk goes");
	is(seen.lasting, seen.stacks, "also with a memo that is never emptied");
	ok(seen.frames > seen.stacks * 3 / 2, "%u frames of %u stacks", seen.frames, seen.stacks);
}

int main(void)
{
	g.seed = 5;
	test_programs();
	test_wild_programs();
	return tap_done();
}
