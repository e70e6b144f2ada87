// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/rowwalk.c kmod/core/stacktail.c kmod/core/unwindtab.c kmod/core/userstack.c */
/* Stacks made at random, whole and damaged, against the plain walk of rowwalk_ref.h. */
#include "rowwalk_gen.h"

#define PROGRAMS	60
#define STACKS		60	/* of each */

static struct gen g;
static struct rowwalk_memo lasting[ROWWALK_MEMO];	/* never emptied */
static u64 ids;						/* of programs */

/* Of a thread: the stack that was walked last, of whatever program. */
static struct stacktail tail;
static struct stacktail_head head;
static struct userstack_trail trail;

static struct {
	u32 stacks, agree, lasting, tails, trails, joined, joins;
	u32 true_stacks, truth, frames, whole, flags;
} seen;

/* The memo of a CPU: full of what was walked before, of this and other programs. */
static int lasting_agrees(const struct rowwalk *from, const struct rowwalk *want)
{
	u64 ips[MEMTAP_MAX_DEPTH];
	struct rowwalk as = *from, w;
	int good = 1;

	memcpy(g.world.memo, lasting, sizeof(lasting));
	for (u32 i = 0; i < 4; i++) {
		as.plain = i & 1 ? ref_plain : NULL;
		good &= ref_run(&g.world, &as, ids, ips, &w) && ref_same(&w, want);
	}
	memcpy(lasting, g.world.memo, sizeof(lasting));
	return good;
}

/* Is all that the walk says it depended on in memory? */
static int trail_is(const struct ref_world *c)
{
	for (u32 i = 0; !trail.partial && i < trail.nr; i++) {
		u64 v;

		if (!ref_there(&c->mem, trail.slot[i], 8))
			return 0;
		memcpy(&v, c->mem.bytes + (trail.slot[i] - c->mem.base), 8);
		if (v != trail.value[i])
			return 0;
	}
	return 1;
}

/*
 * The frames of the last stack are taken over where they are the same.  A word that a walk
 * reads and does not need may be away: then it is cut, and what is taken over is not.
 */
static void with_tail(const struct rowwalk *from, const struct rowwalk *want)
{
	struct rowwalk with = *from, w;
	u64 ips[MEMTAP_MAX_DEPTH];

	memcpy(g.world.memo, lasting, sizeof(lasting));
	with.plain = seen.stacks % 4 ? ref_plain : NULL;
	with.tail = &tail;
	with.head = &head;
	with.same = ref_words_same;
	with.us.trail = &trail;
	trail.most = USERSTACK_TRAIL;
	seen.tails += ref_run(&g.world, &with, ids, ips, &w) &&
		      (ref_same(&w, want) ||
		       (w.joined && (want->flags & MEMTAP_STACK_FAULT) &&
			!memcmp(ips, want->ips, want->nr * sizeof(*ips))));
	seen.trails += trail_is(&g.world);
	seen.joins += !!w.joined;
	seen.joined += w.joined;
}

static void compare(const struct rowwalk *from, u64 *ips, struct rowwalk *want)
{
	seen.stacks++;
	seen.agree += ref_rows_agree(&g.world, from, ips, want);
	seen.lasting += lasting_agrees(from, want);
	with_tail(from, want);
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
	is(seen.tails, seen.stacks, "and with frames of the last stack, where they are the same");
	is(seen.trails, seen.stacks, "what it depended on is in memory");
	ok(seen.joins, "%u of them, %u frames", seen.joins, seen.joined);
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
	is(seen.tails, seen.stacks, "and with frames of the last stack");
	ok(seen.frames > seen.stacks * 3 / 2, "%u frames of %u stacks", seen.frames, seen.stacks);
}

/* ---- a thread that calls and returns, and whose outer frames change ---- */

#define CALLS	90

static struct {
	struct gen_frame f[CALLS + 1];		/* from the outermost */
	u32 nr;
} thread;

static void put_word(u64 at, u64 v)
{
	memcpy(g.world.mem.bytes + (at - GEN_BASE), &v, 8);
}

/* As nearly all rules are. */
static int is_plain(const struct memtap_rule *r)
{
	return r->kind == MEMTAP_RULE_CFA && (r->reg == REF_SP || r->reg == REF_FP) &&
	       !(r->flags & ~(GEN_FP_SAVED | GEN_BX_SAVED)) && r->fp > -96 && r->bx > -96;
}

static u64 plain_pc(void)
{
	u64 pc;

	do
		pc = gen_pc(&g);
	while (!ref_code_at(&g.world, pc)->table || !is_plain(gen_rule_at(&g, pc)));
	return pc;
}

/* The innermost function calls another one. */
static void call(void)
{
	const struct gen_frame *caller = &thread.f[thread.nr - 1];
	struct gen_frame *f = &thread.f[thread.nr++];
	const struct memtap_rule *r;
	u64 cfa = caller->sp;

	f->pc = plain_pc();
	f->bx = gen_scratch(&g);
	r = gen_rule_at(&g, f->pc);
	f->fp = r->flags & GEN_FP_SAVED ? gen_scratch(&g) : caller->fp;
	if (r->reg == REF_FP) {
		f->fp = cfa - (u64)r->cfa;
		f->sp = cfa - 64 - gen_random(&g, 4) * 16;
	} else {
		f->sp = cfa - (u64)r->cfa;
	}
	put_word(cfa - 8, caller->pc + 1);
	if (r->flags & GEN_FP_SAVED)
		put_word(cfa + (u64)(s64)r->fp, caller->fp);
}

/* Another function with the same frame has called: what is outside says another thing. */
static void other_caller(void)
{
	u32 i = 1 + (u32)gen_random(&g, thread.nr - 1);
	struct gen_frame *f = &thread.f[i];
	const struct memtap_rule *r = gen_rule_at(&g, f->pc);
	u64 pc;

	if (i == thread.nr - 1)
		return;
	for (u32 tries = 0; tries < 1000; tries++) {
		pc = plain_pc();
		if (pc != f->pc && !memcmp(gen_rule_at(&g, pc), r, sizeof(*r))) {
			f->pc = pc;
			put_word(f->sp - 8, pc + 1);
			return;
		}
	}
}

/* Something that no function did: what was walked by it before must not be taken over. */
static void scribble(void)
{
	const struct gen_frame *f = &thread.f[gen_random(&g, thread.nr)];
	u64 end = GEN_BASE + GEN_BYTES, at = f->sp + gen_random(&g, 16) * 8;

	if (at < end)
		put_word(at, gen_random(&g, 2) ? gen_scratch(&g) : gen_pc(&g) + 1);
}

static void next_stack(void)
{
	u32 nr = gen_random(&g, 16) ? gen_random(&g, 5) : gen_random(&g, CALLS);

	thread.nr -= nr < thread.nr - 1 ? nr : thread.nr - 1;
	for (nr = 1 + gen_random(&g, gen_random(&g, 16) ? 5 : 60); nr && thread.nr < CALLS; nr--)
		if (thread.f[thread.nr - 1].sp > GEN_BASE + 2048)
			call();
	if (gen_random(&g, 3) == 0)
		other_caller();
	if (gen_random(&g, 40) == 0)
		scribble();
}

static void test_thread(void)
{
	u64 ips[MEMTAP_MAX_DEPTH];
	struct rowwalk from, w;

	memset(&seen, 0, sizeof(seen));
	for (u32 i = 0; i < 3000; i++) {
		const struct gen_frame *f;

		if (i % 100 == 0) {
			gen_program(&g, 0);
			ids++;
			thread.nr = 1;
			thread.f[0] = (struct gen_frame){ .pc = gen_pc_of(&g, MEMTAP_RULE_END),
				.sp = GEN_BASE + GEN_BYTES - 64, .fp = gen_scratch(&g) };
		}
		next_stack();
		f = &thread.f[thread.nr - 1];
		g.nr = 1;
		g.frame[0] = *f;
		from = gen_registers(&g);
		from.fp = f->fp;
		if (gen_random(&g, 10) == 0)
			from.fp = gen_scratch(&g);
		if (gen_random(&g, 20) == 0)
			from.max = 1 + gen_random(&g, CALLS);
		else if (gen_random(&g, 20) == 0)
			from.max = thread.nr;
		compare(&from, ips, &w);
	}
	is(seen.agree, seen.stacks, "a thread that calls, returns, and finds outer frames changed");
	is(seen.tails, seen.stacks, "frames of its last stack are taken over, where they are true");
	is(seen.trails, seen.stacks, "what it depended on is in memory");
	ok(seen.whole > seen.stacks / 2, "most are walked to their end: %u of %u", seen.whole,
	   seen.stacks);
	ok(seen.joined > seen.frames / 3, "of %u frames %u are not walked", seen.frames,
	   seen.joined);
}

int main(void)
{
	g.seed = 5;
	stacktail_init(&tail);
	test_programs();
	test_wild_programs();
	test_thread();
	return tap_done();
}
