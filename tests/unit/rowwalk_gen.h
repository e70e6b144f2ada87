/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs and stacks for rowwalk(), made at random: tables of rules, and stacks
 * that functions with such rules leave behind.
 */
#ifndef _ROWWALK_GEN_H
#define _ROWWALK_GEN_H

#include "rowwalk_ref.h"
#include "tap.h"

#define GEN_BASE	0x7ffc00000000ULL
#define GEN_LIMIT	0x7ffffffff000ULL
#define GEN_TRAMP	0x7fffffffe000ULL
#define GEN_BYTES	sizeof(((struct ref_mem *)0)->bytes)
#define GEN_CODE	6000		/* bytes of code in a file */
#define GEN_R10		10

/* One of the stack's functions, from the outermost to the innermost. */
struct gen_frame {
	u64 pc;			/* in it; -1: there is none */
	u64 sp, fp, bx;
	int needs_bx;		/* here, or above before it is restored */
	int exact;		/* interrupted, or the innermost: not calling */
};

struct gen_put {
	u64 at, v;
};

struct gen {
	uint64_t seed;
	struct ref_world world;
	struct ref_table table[2];
	u8 used[GEN_BYTES / 8];
	struct gen_put put[8];
	u32 nr_put;
	struct gen_frame frame[MEMTAP_MAX_DEPTH];
	u32 nr;
	u32 flags;		/* that a walk must say */
	u32 kinds;		/* mask of rules in stacks so far */
};

#define GEN_RULE(kind, reg, flags, cfa, add, fp, bx, ra) \
	{ MEMTAP_RULE_##kind, reg, flags, 0, cfa, add, fp, bx, ra }
#define GEN_FP_SAVED	MEMTAP_RULE_FP_SAVED
#define GEN_BX_SAVED	MEMTAP_RULE_BX_SAVED
#define GEN_FP_AT_FP	MEMTAP_RULE_FP_AT_FP
#define GEN_BX_AT_FP	MEMTAP_RULE_BX_AT_FP
#define GEN_RA_REG	MEMTAP_RULE_RA_REG

/* What compilers and people do. */
static const struct memtap_rule gen_rules[] = {
	GEN_RULE(GAP, 0, 0, 0, 0, 0, 0, -8),
	GEN_RULE(NONE, 0, 0, 0, 0, 0, 0, -8),
	GEN_RULE(END, 0, 0, 0, 0, 0, 0, -8),
	GEN_RULE(SIGNAL, 0, 0, 0, 0, 0, 0, -8),
	GEN_RULE(FP, 0, 0, 0, 0, 0, 0, -8),
	GEN_RULE(CFA, REF_SP, 0, 8, 0, 0, 0, -8),
	GEN_RULE(CFA, REF_SP, 0, 64, 0, 0, 0, -8),
	GEN_RULE(CFA, REF_SP, GEN_FP_SAVED, 16, 0, -16, 0, -8),
	GEN_RULE(CFA, REF_SP, GEN_BX_SAVED, 32, 0, 0, -16, -8),
	GEN_RULE(CFA, REF_SP, GEN_FP_SAVED | GEN_BX_SAVED, 48, 0, -16, -24, -8),
	GEN_RULE(CFA, REF_SP, GEN_FP_SAVED | GEN_BX_SAVED, 56, 0, -48, -56, -8),
	GEN_RULE(CFA, REF_SP, GEN_FP_SAVED | GEN_BX_SAVED, 0x240, 0, -16, -24, -8),
	GEN_RULE(CFA, REF_SP, GEN_FP_SAVED, 0x200, 0, -0x1f0, 0, -8),
	GEN_RULE(CFA, REF_FP, GEN_FP_SAVED, 16, 0, -16, 0, -8),
	GEN_RULE(CFA, REF_FP, GEN_FP_SAVED | GEN_BX_SAVED, 16, 0, -16, -40, -8),
	GEN_RULE(CFA, REF_FP, GEN_FP_AT_FP | GEN_BX_AT_FP, 16, 0, 0, -8, -8),
	GEN_RULE(CFA, REF_BX, GEN_BX_SAVED, 16, 0, 0, -16, -8),
	GEN_RULE(CFA, REF_FP, GEN_FP_SAVED | MEMTAP_RULE_SWITCH, 16, 0, -16, 0, -8),
	GEN_RULE(CFA, GEN_R10, GEN_FP_SAVED, 8, 0, -16, 0, -8),
	GEN_RULE(DEREF, REF_FP, GEN_FP_AT_FP, -8, 0, 0, 0, -8),
	GEN_RULE(DEREF, REF_FP, GEN_FP_AT_FP | GEN_BX_AT_FP, -8, 8, 0, -16, -8),
	GEN_RULE(DEREF, REF_BX, GEN_BX_SAVED, 16, -16, 0, -24, -8),
	GEN_RULE(DEREF, REF_SP, 0, 8, 0, 0, 0, -8),
	GEN_RULE(DEREF, GEN_R10, GEN_FP_SAVED, 0, 0, -16, 0, -8),
	GEN_RULE(PLT, 0, 0, 8, 11, 0, 0, -8),
	GEN_RULE(PLT, 0, 0, 16, 6, 0, 0, -8),
	GEN_RULE(CFA, REF_SP, GEN_BX_SAVED | GEN_RA_REG, 8, 0, 0, -8, REF_BX),
};

#define GEN_RULES	(sizeof(gen_rules) / sizeof(gen_rules[0]))

static inline u64 gen_random(struct gen *g, u64 below)
{
	return tap_random(&g->seed) % below;
}

/* A rule that makes no sense, but does not break the contract. */
static inline struct memtap_rule gen_wild_rule(struct gen *g)
{
	static const u8 regs[] = { REF_SP, REF_SP, REF_FP, REF_FP, REF_BX, GEN_R10, 0, 15 };
	static const u8 saved[] = { 0, 0, 0, 1, 1, 1, 4, 4, 4, 5, 5, 5, 2, 6, 8, 9, 10 };
	struct memtap_rule r = { .kind = MEMTAP_RULE_CFA, .reg = REF_SP, .ra = -8 };
	s32 *field[] = { &r.cfa, &r.add, &r.fp, &r.bx };

	if (gen_random(g, 4) == 0) {
		r.kind = gen_random(g, MEMTAP_NR_RULE);
		r.reg = regs[gen_random(g, 8)];
	}
	for (u32 i = 0; i < 4; i++)
		*field[i] = (s32)gen_random(g, 40) * 8 - (i ? 304 : 8);
	if (gen_random(g, 16) == 0)
		*field[gen_random(g, 4)] += gen_random(g, 2) ? 4 : 1 << 24;
	if (r.kind >= MEMTAP_RULE_CFA && r.kind <= MEMTAP_RULE_PLT) {
		r.flags = saved[gen_random(g, sizeof(saved))];
		if (r.kind == MEMTAP_RULE_CFA && gen_random(g, 16) == 0)
			r.flags |= MEMTAP_RULE_SWITCH;
		if (gen_random(g, 16) == 0) {
			r.flags |= GEN_RA_REG;
			r.ra = regs[gen_random(g, 8)];
		}
	}
	return r;
}

static inline void gen_table(struct gen *g, struct ref_table *tab, int wild)
{
	u32 nr = GEN_RULES, pos = 0x800 + gen_random(g, 64), n;

	memset(tab, 0, sizeof(*tab));
	for (u32 i = 0; i < nr; i++) {
		tab->rules[i] = wild ? gen_wild_rule(g) : gen_rules[i];
		if (!wild && tab->rules[i].kind == MEMTAP_RULE_CFA &&
		    tab->rules[i].reg == REF_SP)
			tab->rules[i].cfa += gen_random(g, 12) * 8;
	}
	for (n = 0; n < REF_ROWS && pos < 0x800 + GEN_CODE; n++) {
		tab->rows[n] = pos;
		tab->kinds[n] = gen_random(g, 4) ? gen_random(g, nr) : 5 + gen_random(g, 10);
		pos += 1 + gen_random(g, 60);
	}
	tab->t.nr_rows = n;
	tab->t.nr_rules = nr;
}

/* Two files, one of them mapped twice side by side, code without a table, and more. */
static inline int gen_program(struct gen *g, int wild)
{
	const struct ref_code code[REF_CODES] = {
		{ 0x400000, GEN_CODE, 0x800, &g->table[0] },
		{ 0x7f0000001000, GEN_CODE / 2, 0x800, &g->table[1] },
		{ 0x7f0000001000 + GEN_CODE / 2, GEN_CODE / 4, 0x810 + GEN_CODE / 4,
		  &g->table[1] },
		{ 0x7f1000000000, 1024, 0, NULL },
		{ 0x7f2000000000, 4096, 0, NULL, MEMTAP_STACK_NOTABLE },
	};

	memset(&g->world, 0, sizeof(g->world));
	memcpy(g->world.code, code, sizeof(code));
	g->world.nr_codes = 5;
	g->world.mem.base = GEN_BASE;
	g->world.mem.tramp = GEN_TRAMP;
	gen_table(g, &g->table[0], wild);
	gen_table(g, &g->table[1], wild);
	return ref_table_done(&g->table[0]) || ref_table_done(&g->table[1]);
}

static inline u64 gen_pc(struct gen *g)
{
	const struct ref_code *code = &g->world.code[gen_random(g, 16) ? gen_random(g, 3) : 3];

	return code->start + gen_random(g, code->len);
}

static inline const struct memtap_rule *gen_rule_at(const struct gen *g, u64 pc)
{
	static const struct memtap_rule by_fp = GEN_RULE(FP, 0, 0, 0, 0, 0, 0, -8);
	const struct ref_code *code = ref_code_at(&g->world, pc);

	return code->table ? ref_find(&code->table->t, pc - code->start + code->pos) : &by_fp;
}

/* A place in code of rule @kind. */
static inline u64 gen_pc_of(struct gen *g, u32 kind)
{
	for (u32 i = 0; i < 100000; i++) {
		u64 pc = gen_pc(g);

		if (gen_rule_at(g, pc)->kind == kind)
			return pc;
	}
	return 0;
}

static inline u64 gen_scratch(struct gen *g)
{
	return gen_random(g, 2) ? GEN_BASE + gen_random(g, GEN_BYTES) / 8 * 8 :
	       tap_random(&g->seed);
}

/* ---- a frame below @o ---- */

/* -1: it cannot be there */
static inline int gen_put(struct gen *g, u64 at, u64 v)
{
	u64 off = at - GEN_BASE;

	if (off >= GEN_BYTES || off % 8 || g->used[off / 8])
		return -1;
	for (u32 i = 0; i < g->nr_put; i++)
		if (g->put[i].at == at)
			return -1;
	g->put[g->nr_put++] = (struct gen_put){ at, v };
	return 0;
}

static inline int gen_commit(struct gen *g, const struct gen_frame *f)
{
	for (u32 i = 0; i < g->nr_put; i++) {
		memcpy(g->world.mem.bytes + (g->put[i].at - GEN_BASE), &g->put[i].v, 8);
		g->used[(g->put[i].at - GEN_BASE) / 8] = 1;
	}
	g->frame[g->nr++] = *f;
	return 0;
}

/* Let @reg be @v in @f; -1: it would have to be that in the caller, too. */
static inline int gen_set_reg(struct gen *g, const struct memtap_rule *r, u32 reg, u64 v,
			      struct gen_frame *f, int innermost)
{
	if (reg == REF_SP) {
		f->sp = v;
		return 0;
	}
	if (reg == REF_FP) {
		f->fp = v;
		return r->flags & (GEN_FP_SAVED | GEN_FP_AT_FP) ? 0 : -1;
	}
	if (reg == REF_BX) {
		f->bx = v;
		return r->flags & (GEN_BX_SAVED | GEN_BX_AT_FP) ? 0 : -1;
	}
	g->world.reg[reg] = v;
	g->world.has_reg = 1U << reg;
	return innermost ? 0 : -1;
}

static inline int gen_set_cfa(struct gen *g, const struct memtap_rule *r, u64 cfa,
			      struct gen_frame *f, int innermost)
{
	u64 ip = f->exact ? f->pc : f->pc + 1, base = cfa - 8 * (8 + gen_random(g, 8));

	f->sp = cfa - 8 * (1 + gen_random(g, 30));
	if (r->flags & MEMTAP_RULE_SWITCH && gen_random(g, 2))
		f->sp = GEN_BASE + GEN_BYTES - 16;
	switch (r->kind) {
	case MEMTAP_RULE_PLT:
		f->sp = cfa - r->cfa - ((ip & 15) >= (u64)r->add ? 8 : 0);
		return 0;
	case MEMTAP_RULE_CFA:
		return gen_set_reg(g, r, r->reg, cfa - r->cfa, f, innermost);
	case MEMTAP_RULE_DEREF:
		return gen_put(g, base + r->cfa, cfa - r->add) ? -1 :
		       gen_set_reg(g, r, r->reg, base, f, innermost);
	}
	return -1;
}

/* What the function at f->pc leaves on the stack of its caller @o. */
static inline int gen_call(struct gen *g, const struct gen_frame *o, struct gen_frame *f,
			   int innermost)
{
	const struct memtap_rule *r = gen_rule_at(g, f->pc);
	u64 cfa = o->sp, ra = o->pc + 1;
	int bad = 0;

	g->nr_put = 0;
	f->fp = r->flags & (GEN_FP_SAVED | GEN_FP_AT_FP) ? gen_scratch(g) : o->fp;
	f->bx = r->flags & (GEN_BX_SAVED | GEN_BX_AT_FP) ? gen_scratch(g) : o->bx;
	if (r->kind == MEMTAP_RULE_FP) {
		f->fp = cfa - 16;
		f->sp = f->fp - 8 * gen_random(g, 20);
		bad = gen_put(g, f->fp, o->fp) || gen_put(g, cfa - 8, ra);
	} else {
		bad = gen_set_cfa(g, r, cfa, f, innermost);
		if (r->flags & GEN_RA_REG)
			f->bx = ra;
		else
			bad |= gen_put(g, cfa - 8, ra);
		if (r->flags & (GEN_FP_SAVED | GEN_FP_AT_FP))
			bad |= gen_put(g, (r->flags & GEN_FP_SAVED ? cfa : f->fp) + r->fp,
				       o->fp);
		if (r->flags & (GEN_BX_SAVED | GEN_BX_AT_FP))
			bad |= gen_put(g, (r->flags & GEN_BX_SAVED ? cfa : f->fp) + r->bx,
				       o->bx);
	}
	f->needs_bx = r->kind != MEMTAP_RULE_PLT &&
		      (r->reg == REF_BX || (r->flags & GEN_RA_REG));
	if (!f->needs_bx && !(r->flags & (GEN_BX_SAVED | GEN_BX_AT_FP)))
		f->needs_bx = o->needs_bx;
	/* code that keeps frame pointers does not say where it keeps rbx */
	if (r->kind == MEMTAP_RULE_FP && o->needs_bx)
		return -1;
	if (bad || f->sp < GEN_BASE + 64 ||
	    (f->sp > cfa && !(r->flags & MEMTAP_RULE_SWITCH)))
		return -1;
	g->flags |= r->kind == MEMTAP_RULE_FP ? MEMTAP_STACK_FP : 0;
	g->kinds |= 1U << r->kind;
	return gen_commit(g, f);
}

/* A signal stops @o: its handler returns to what comes below, maybe on another stack. */
static inline int gen_signal(struct gen *g, const struct gen_frame *o)
{
	u64 top = gen_random(g, 3) ? o->sp - 128 : GEN_BASE + GEN_BYTES - 16;
	struct gen_frame f = { .pc = gen_pc_of(g, MEMTAP_RULE_SIGNAL) };

	g->nr_put = 0;
	f.sp = (top - 256) & ~15ULL;
	f.fp = gen_scratch(g);
	f.bx = gen_scratch(g);
	if (!f.pc || gen_put(g, f.sp + 120, o->fp) || gen_put(g, f.sp + 128, o->bx) ||
	    gen_put(g, f.sp + 160, o->sp) || gen_put(g, f.sp + 168, o->pc))
		return -1;
	g->kinds |= 1U << MEMTAP_RULE_SIGNAL;
	return gen_commit(g, &f);
}

/* @depth calls.  0, or -1: it cannot be done with this program. */
static inline int gen_stack(struct gen *g, u32 depth)
{
	struct gen_frame f = { .sp = GEN_BASE + GEN_BYTES * 3 / 4 };
	u32 tries = 4000, innermost;

	memset(g->used, 0, sizeof(g->used));
	g->nr = g->nr_put = g->flags = 0;
	f.fp = gen_scratch(g);
	f.bx = gen_scratch(g);
	f.pc = gen_random(g, 4) ? gen_pc_of(g, MEMTAP_RULE_END) : -1ULL;
	gen_commit(g, &f);
	while (depth && tries--) {
		innermost = depth == 1;
		f.pc = gen_pc(g);
		f.exact = innermost || gen_random(g, 10) == 0;
		if (gen_call(g, &g->frame[g->nr - 1], &f, innermost))
			continue;
		depth--;
		if (f.exact && !innermost && gen_signal(g, &f))
			return -1;
	}
	return depth ? -1 : 0;
}

/* What a walk begins with. */
static inline struct rowwalk gen_registers(const struct gen *g)
{
	const struct gen_frame *f = &g->frame[g->nr - 1];

	return (struct rowwalk){
		.ip = f->pc, .sp = f->sp, .fp = f->fp, .bx = f->bx,
		.known = ROWWALK_KNOWN_FP | ROWWALK_KNOWN_BX, .max = MEMTAP_MAX_DEPTH,
		.reg = ref_get_reg, .calls = ref_calls, .enters = ref_enters,
		.us.limit = GEN_LIMIT,
	};
}

#endif
