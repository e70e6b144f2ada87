/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk of rowwalk.h said once more: a frame at a time, a word at a time, from
 * rows that are looked through, remembering nothing.
 */
#ifndef _ROWWALK_REF_H
#define _ROWWALK_REF_H

#include "fpwalk_ref.h"		/* the memory */
#include "rowwalk.h"
#include "unwindtab_ref.h"

#define REF_ROWS	1024
#define REF_RULES	64
#define REF_CODES	6

#define REF_BX		3
#define REF_FP		6
#define REF_SP		7

#define REF_END		(1U << 31)	/* of a step: no caller, and that is right */

struct ref_table {
	struct unwindtab t;
	u32 rows[REF_ROWS];
	u16 kinds[REF_ROWS];
	struct memtap_rule rules[REF_RULES];
	u32 blocks[REF_ROWS / 4 + 2];
};

struct ref_code {
	u64 start, len, pos;
	const struct ref_table *table;	/* NULL: it keeps frame pointers */
	u32 why;			/* it is not known what it is */
};

struct ref_world {
	struct ref_mem mem;		/* first: what ref_read() and ref_fix() take */
	struct ref_code code[REF_CODES];
	u32 nr_codes;
	u64 reg[16];			/* others than rbx, rbp, rsp */
	u32 has_reg;			/* mask */
	u32 finds;			/* by rowwalk() */
	struct rowwalk_memo memo[ROWWALK_MEMO];
};

/* ---- tables ---- */

/* The arrays and numbers are in: make a table of it.  0, or -1. */
static inline int ref_table_done(struct ref_table *tab)
{
	tab->t.rows = tab->rows;
	tab->t.kinds = tab->kinds;
	tab->t.rules = tab->rules;
	if (unwindtab_check(&tab->t) || unwindtab_layout(&tab->t) > sizeof(tab->blocks))
		return -1;
	unwindtab_index(&tab->t, tab->blocks);
	return 0;
}

/* ---- callbacks ---- */

static inline const struct ref_code *ref_code_at(const struct ref_world *c, u64 ip)
{
	for (u32 i = 0; i < c->nr_codes; i++)
		if (ip >= c->code[i].start && ip - c->code[i].start < c->code[i].len)
			return &c->code[i];
	return NULL;
}

static inline u32 ref_find_code(void *ctx, u64 ip, struct rowwalk_code *code)
{
	struct ref_world *c = ctx;
	const struct ref_code *at = ref_code_at(c, ip);

	c->finds++;
	if (!at)
		return MEMTAP_STACK_NOMAP;
	if (at->why)
		return at->why;
	code->start = at->start;
	code->len = at->len;
	code->pos = at->pos;
	code->table = at->table ? &at->table->t : NULL;
	return 0;
}

/* Calls return to odd addresses here. */
static inline int ref_calls(void *ctx, u64 ip)
{
	(void)ctx;
	return ip & 1;
}

/* System calls return to the third byte of a row, and begin five bytes before it. */
#define REF_ENTERS	7

static inline u32 ref_enters(void *ctx, u64 ip)
{
	const struct ref_world *c = ctx;
	const struct ref_code *at = ref_code_at(c, ip);

	if (!at || !at->table)
		return 0;
	for (u32 i = 0; i < at->table->t.nr_rows; i++)
		if (ip - at->start + at->pos == at->table->rows[i] + 2ULL)
			return REF_ENTERS;
	return 0;
}

static inline int ref_get_reg(void *ctx, u32 reg, u64 *v)
{
	const struct ref_world *c = ctx;

	*v = c->reg[reg];
	return c->has_reg >> reg & 1 ? 0 : -1;
}

static inline u32 ref_words_same(void *ctx, const struct stacktail_word *words, u32 nr)
{
	const struct ref_world *c = ctx;
	u32 i;

	for (i = 0; i < nr; i++)
		if (!ref_there(&c->mem, words[i].slot, 8) ||
		    memcmp(c->mem.bytes + (words[i].slot - c->mem.base), &words[i].value, 8))
			break;
	return i;
}

/* ---- the walk ---- */

struct ref_frame {
	u64 ip;
	int exact;		/* ip is of an instruction, not behind a call */
	u64 sp, fp, bx;
	int has_fp, has_bx;
	int chained;		/* fp is from a frame record */
};

/* A word of the stack; 0, or why there is none. */
static inline u32 ref_load(const struct ref_world *c, const struct rowwalk *w,
			   u64 addr, u64 *v)
{
	*v = 0;
	if (addr % 8)
		return MEMTAP_STACK_CHAIN;
	if ((unsigned __int128)addr + 8 > w->us.limit || !ref_there(&c->mem, addr, 8))
		return MEMTAP_STACK_FAULT;
	memcpy(v, c->mem.bytes + (addr - c->mem.base), 8);
	return 0;
}

static inline u32 ref_reg(const struct ref_world *c, const struct rowwalk *w,
			  const struct ref_frame *f, u32 reg, u64 *v)
{
	int has = reg == REF_SP || (reg == REF_FP && f->has_fp) ||
		  (reg == REF_BX && f->has_bx);

	*v = reg == REF_SP ? f->sp : reg == REF_FP ? f->fp : f->bx;
	if (reg != REF_SP && reg != REF_FP && reg != REF_BX && w->nr == 1 && w->reg)
		has = !w->reg((void *)c, reg, v);
	return has ? 0 : MEMTAP_STACK_NOROW;
}

/* Where the caller's stack begins, by a rule for frames; 0, or why that is unknown. */
static inline u32 ref_cfa(const struct ref_world *c, const struct rowwalk *w,
			  const struct ref_frame *f, const struct memtap_rule *r, u64 *cfa)
{
	u32 why;

	if (r->kind == MEMTAP_RULE_PLT) {
		*cfa = f->sp + r->cfa + 8 * ((s64)(f->ip & 15) >= r->add);
		return 0;
	}
	why = ref_reg(c, w, f, r->reg, cfa);
	*cfa += r->cfa;
	if (!why && r->kind == MEMTAP_RULE_DEREF) {
		why = ref_load(c, w, *cfa, cfa);
		*cfa += r->add;
	}
	return why;
}

/* What was pushed fits between: @pushed bytes, above sp. */
static inline u32 ref_grows(const struct rowwalk *w, const struct ref_frame *f, u64 cfa,
			    u32 pushed)
{
	__int128 grown = (__int128)cfa - f->sp;

	return cfa % 8 || cfa > w->us.limit || grown < pushed ||
	       grown > (__int128)USERSTACK_MAX_FRAME ? MEMTAP_STACK_CHAIN : 0;
}

static inline u32 ref_return(struct rowwalk *w, u64 slot, u64 ip, struct ref_frame *f)
{
	if (!ip)
		return REF_END;
	if (slot && w->us.fix) {
		ip = w->us.fix(w->us.ctx, slot, ip);
		if (!ip)
			return MEMTAP_STACK_TRAMPOLINE;
	}
	f->ip = ip;
	f->exact = 0;
	return ip < 4096 || ip >= w->us.limit ? MEMTAP_STACK_CHAIN : 0;
}

static inline u32 ref_step_frame(const struct ref_world *c, struct rowwalk *w,
				 const struct memtap_rule *r, struct ref_frame *f)
{
	int in_reg = r->flags & MEMTAP_RULE_RA_REG;
	struct ref_frame old = *f;
	u64 cfa, ra = 0;
	u32 why;

	f->chained = 0;
	why = ref_cfa(c, w, &old, r, &cfa);
	if (!why && r->flags & MEMTAP_RULE_SWITCH)
		why = cfa % 8 || cfa > w->us.limit ? MEMTAP_STACK_CHAIN : 0;
	else if (!why)
		why = ref_grows(w, &old, cfa, in_reg ? 0 : 8);
	if (!why && in_reg)
		why = ref_reg(c, w, &old, r->ra, &ra);
	if (!why && (r->flags & (MEMTAP_RULE_FP_AT_FP | MEMTAP_RULE_BX_AT_FP)) && !old.has_fp)
		why = MEMTAP_STACK_NOROW;
	if (!why && (r->flags & (MEMTAP_RULE_BX_SAVED | MEMTAP_RULE_BX_AT_FP))) {
		why = ref_load(c, w, (r->flags & MEMTAP_RULE_BX_SAVED ? cfa : old.fp) + r->bx,
			       &f->bx);
		f->has_bx = 1;
	}
	if (!why && (r->flags & (MEMTAP_RULE_FP_SAVED | MEMTAP_RULE_FP_AT_FP))) {
		why = ref_load(c, w, (r->flags & MEMTAP_RULE_FP_SAVED ? cfa : old.fp) + r->fp,
			       &f->fp);
		f->has_fp = 1;
	}
	if (!why && !in_reg)
		why = ref_load(c, w, cfa - 8, &ra);
	f->sp = cfa;
	return why ? why : ref_return(w, in_reg ? 0 : cfa - 8, ra, f);
}

static inline u32 ref_step_signal(const struct ref_world *c, struct rowwalk *w,
				  struct ref_frame *f)
{
	u64 uc = f->sp;
	u32 why = ref_load(c, w, uc + 120, &f->fp);	/* gregs[REG_RBP] and so on */

	if (!why)
		why = ref_load(c, w, uc + 128, &f->bx);
	if (!why)
		why = ref_load(c, w, uc + 160, &f->sp);
	if (!why)
		why = ref_load(c, w, uc + 168, &f->ip);
	if (!why && (f->ip < 4096 || f->ip >= w->us.limit))
		why = MEMTAP_STACK_CHAIN;
	f->has_fp = f->has_bx = f->exact = 1;
	f->chained = 0;
	return why;
}

static inline u32 ref_step_entry(const struct ref_world *c, struct rowwalk *w,
				 struct ref_frame *f)
{
	u64 slot = f->sp, ra;
	u32 why = ref_load(c, w, slot, &ra);

	f->sp = slot + 8;
	return why ? why : ref_return(w, slot, ra, f);
}

/* Behind a system call that a function made at its beginning, so far as rows go.  1: it was. */
static inline int ref_step_enter(const struct ref_world *c, const struct rowwalk *w,
				 struct ref_frame *f)
{
	struct rowwalk as = *w;
	struct ref_frame next = *f;
	const struct memtap_rule *r;
	const struct ref_code *code;
	u64 ra, ax;

	if (w->nr != 1 || !w->enters || !w->calls || w->enters((void *)c, f->ip) != REF_ENTERS ||
	    ref_reg(c, w, f, ROWWALK_REG_AX, &ax) || !ax)
		return 0;
	code = ref_code_at(c, f->ip - REF_ENTERS);
	if (!code || code->why || !code->table)
		return 0;
	r = ref_find(&code->table->t, f->ip - REF_ENTERS - code->start + code->pos);
	if (r->kind != MEMTAP_RULE_CFA || r->reg != REF_SP || r->cfa != 8 || r->flags ||
	    ref_load(c, w, f->sp, &ra) || ref_return(&as, f->sp, ra, &next))
		return 0;
	code = ref_code_at(c, next.ip - 1);
	if (!code || (code->why & MEMTAP_STACK_NOMAP) || !w->calls((void *)c, next.ip))
		return 0;
	next.sp = f->sp + 8;
	next.chained = 0;
	*f = next;
	return 1;
}

/* Without a rule: by rbp, if that is a frame's record beyond doubt. */
static inline u32 ref_step_gap(const struct ref_world *c, struct rowwalk *w,
			       struct ref_frame *f)
{
	u64 slot = f->fp + 8, fp, ra;
	const struct ref_code *code;
	struct ref_frame next = *f;

	if (ref_step_enter(c, w, f))
		return 0;
	if (!f->has_fp || !w->calls || ref_grows(w, f, slot + 8, 16) ||
	    ref_load(c, w, f->fp, &fp) || ref_load(c, w, slot, &ra) ||
	    ref_return(w, slot, ra, &next))
		return MEMTAP_STACK_NOROW;
	code = ref_code_at(c, next.ip - 1);
	if (!code || (code->why & MEMTAP_STACK_NOMAP) || !w->calls((void *)c, next.ip))
		return MEMTAP_STACK_NOROW;
	w->flags |= MEMTAP_STACK_FP;
	*f = next;
	f->fp = fp;
	f->sp = slot + 8;
	f->chained = 1;
	f->has_bx = 0;
	return 0;
}

static inline u32 ref_step_fp(const struct ref_world *c, struct rowwalk *w,
			      struct ref_frame *f)
{
	u64 fp = f->fp, slot, ra;
	u32 why;

	w->flags |= MEMTAP_STACK_FP;
	if (w->entry && w->nr == 1)
		return ref_step_entry(c, w, f);
	if (!f->has_fp)
		return MEMTAP_STACK_NOROW;
	if (!fp && f->chained)
		return REF_END;
	f->chained = 1;
	f->has_bx = 0;
	slot = fp + 8;
	why = ref_grows(w, f, fp + 16, 16);
	if (!why)
		why = ref_load(c, w, fp, &f->fp);
	if (!why)
		why = ref_load(c, w, slot, &ra);
	f->sp = slot + 8;
	return why ? why : ref_return(w, slot, ra, f);
}

static inline u32 ref_step(const struct ref_world *c, struct rowwalk *w, struct ref_frame *f)
{
	u64 pc = f->exact ? f->ip : f->ip - 1;
	const struct ref_code *code = ref_code_at(c, pc);
	const struct memtap_rule *r;

	if (f->sp >= w->us.limit)
		return MEMTAP_STACK_CHAIN;
	if ((!code || code->why) && w->entry && w->nr == 1)
		return ref_step_entry(c, w, f);
	if (!code)
		return MEMTAP_STACK_NOMAP;
	if (code->why)
		return code->why;
	if (!code->table)
		return ref_step_fp(c, w, f);
	r = ref_find(&code->table->t, pc - code->start + code->pos);
	if (w->entry && w->nr == 1 &&
	    (r->kind == MEMTAP_RULE_GAP || r->kind == MEMTAP_RULE_NONE))
		return ref_step_entry(c, w, f);
	switch (r->kind) {
	case MEMTAP_RULE_CFA:
	case MEMTAP_RULE_DEREF:
	case MEMTAP_RULE_PLT:
		return ref_step_frame(c, w, r, f);
	case MEMTAP_RULE_SIGNAL:
		return ref_step_signal(c, w, f);
	case MEMTAP_RULE_FP:
		return ref_step_fp(c, w, f);
	case MEMTAP_RULE_GAP:
		return ref_step_gap(c, w, f);
	case MEMTAP_RULE_END:
		return REF_END;
	}
	return MEMTAP_STACK_NOROW;
}

static inline void ref_rowwalk(const struct ref_world *c, struct rowwalk *w)
{
	struct ref_frame f = {
		.ip = w->ip, .exact = 1, .sp = w->sp, .fp = w->fp, .bx = w->bx,
		.has_fp = !!(w->known & ROWWALK_KNOWN_FP),
		.has_bx = !!(w->known & ROWWALK_KNOWN_BX),
	};
	u32 how = 0;

	w->nr = 0;
	w->flags = w->max ? 0 : MEMTAP_STACK_DEPTH;
	if (!w->max)
		return;
	for (;;) {
		w->ips[w->nr] = w->nr && f.exact ? f.ip + 1 : f.ip;
		w->nr++;
		how = ref_step(c, w, &f);
		if (!how && w->nr == w->max)
			how = MEMTAP_STACK_DEPTH;
		if (how)
			break;
	}
	w->flags |= how & ~REF_END;
}

/* ---- plain frames, word by word ---- */

#define ROWPLAIN_BEGIN(w)	ref_begin()
#define ROWPLAIN_FRAME(w, sp, cfa)	1
#define ROWPLAIN_GET		FPPLAIN_GET
#define ROWPLAIN_END()		ref_end()
#include "rowplain.h"

static inline int ref_plain(struct rowwalk *w)
{
	return w->us.trail ? rowplain(w, 1) : rowplain(w, 0);
}

/* ---- both ---- */

/*
 * What may be remembered when a walk begins: nothing, all of it, that in the other
 * place of two, and lies that the memo says are of other code, or of none.
 */
enum ref_memo { REF_MEMO_COLD, REF_MEMO_WARM, REF_MEMO_SWAPPED, REF_MEMO_OTHERS,
		REF_MEMO_OFF, REF_NR_MEMO };

#define REF_MEMO_ID	7

static inline void ref_prepare_memo(struct ref_world *c, enum ref_memo how)
{
	static const struct memtap_rule lie = { MEMTAP_RULE_CFA, REF_SP, .cfa = 8, .ra = -8 };
	struct rowwalk_memo other;

	if (how == REF_MEMO_COLD)
		memset(c->memo, 0, sizeof(c->memo));
	for (u32 i = 0; i < ROWWALK_MEMO; i++) {
		if (how >= REF_MEMO_OTHERS) {
			c->memo[i].is &= ROWPLAIN_HOW;
			if (how == REF_MEMO_OTHERS)
				c->memo[i].is |= ROWPLAIN_IS(REF_MEMO_ID + 1ULL, 0);
			c->memo[i].rule = &lie;
		} else if (how == REF_MEMO_SWAPPED && i % 2) {
			other = c->memo[i];
			c->memo[i] = c->memo[i - 1];
			c->memo[i - 1] = other;
		}
	}
}

/* What rowwalk() makes of a limit: differences must not wrap. */
static inline u64 ref_limit(u64 limit)
{
	return limit > USERSTACK_HIGHEST ? USERSTACK_HIGHEST : limit;
}

/* rowwalk() from the registers in @from; 0: it read what it may not. */
static inline int ref_run(struct ref_world *c, const struct rowwalk *from, u64 memo_id,
			  u64 *ips, struct rowwalk *w)
{
	u64 buf[USERSTACK_CHUNK / 8] = { 0 };

	*w = *from;
	w->code.len = -1ULL;	/* as another walk left it */
	w->us.addr = w->sp;
	w->us.len = sizeof(buf);
	w->ips = ips;
	w->us.buf = (u8 *)buf;
	w->us.read = ref_read;
	w->us.ctx = c;
	w->find = ref_find_code;
	w->memo = c->memo;
	w->memo_id = memo_id;
	c->mem.limit = ref_limit(from->us.limit);
	c->mem.bad_reads = c->mem.reads = c->finds = 0;
	rowwalk(w);
	return !c->mem.bad_reads;
}

/* The answer of the plain walk goes to @want. */
static inline void ref_expect(struct ref_world *c, const struct rowwalk *from, u64 *ips,
			      struct rowwalk *want)
{
	*want = *from;
	want->ips = ips;
	want->us.ctx = c;
	want->us.limit = ref_limit(from->us.limit);
	ref_rowwalk(c, want);
}

static inline int ref_same(const struct rowwalk *a, const struct rowwalk *b)
{
	u32 why = a->flags & ~MEMTAP_STACK_FP;

	return a->nr == b->nr && a->flags == b->flags && !(why & (why - 1)) &&
	       !memcmp(a->ips, b->ips, a->nr * sizeof(*a->ips));
}

/* Does every walk say what the plain one says?  Which is left in @want. */
static inline int ref_rows_agree(struct ref_world *c, const struct rowwalk *from,
				 u64 *want_ips, struct rowwalk *want)
{
	u64 ips[MEMTAP_MAX_DEPTH];
	struct rowwalk w;

	ref_expect(c, from, want_ips, want);
	for (u32 i = 0; i < 2 * REF_NR_MEMO; i++) {
		struct rowwalk as = *from;
		enum ref_memo how = i % REF_NR_MEMO;

		as.plain = i < REF_NR_MEMO ? NULL : ref_plain;
		ref_prepare_memo(c, how);
		if (!ref_run(c, &as, how == REF_MEMO_OFF ? 0 : REF_MEMO_ID, ips, &w) ||
		    !ref_same(&w, want))
			return 0;
	}
	return 1;
}

#endif
