// SPDX-License-Identifier: GPL-2.0-only
/* Unwind an x86-64 user stack by unwind tables. */
#include "rowwalk.h"
#include "unwindtab.h"

/* Where a word cannot be had for the asking: in pieces. */
#define ROWPLAIN_BEGIN(w)	1
#define ROWPLAIN_FRAME		fetch_frame
#define ROWPLAIN_GET(w, v, at, away)	fetched_word(w, at, &(v))
#define ROWPLAIN_END()		do { } while (0)

static __always_inline int fetch_frame(struct rowwalk *w, u64 sp, u64 cfa);
static __always_inline int fetched_word(const struct rowwalk *w, u64 at, u64 *v);

#include "rowplain.h"

/* struct ucontext, at rsp when a signal's handler returns to its trampoline */
#define UC_FP		120
#define UC_BX		128
#define UC_SP		160
#define UC_IP		168

/* Code without a table. */
static const struct memtap_rule by_fp = { .kind = MEMTAP_RULE_FP, .ra = -8 };

/* What a step says of the walk. */
enum step {
	STEP_ON,		/* the caller is at w->ip */
	STEP_INTERRUPTED,	/* so is code that a signal interrupted */
	STEP_END,		/* this was the last frame */
	STEP_CUT,		/* w->flags say why */
};

static enum step cut(struct rowwalk *w, u32 why)
{
	w->flags |= why;
	return STEP_CUT;
}

static inline int innermost(const struct rowwalk *w)
{
	return w->nr == 1;
}

/* --- what the outcome depends on ------------------------------------------- */

static inline void note(const struct rowwalk *w, u64 slot, u64 value)
{
	if (w->us.trail)
		userstack_note(w->us.trail, slot, value);
}

static inline void note_more(const struct rowwalk *w)
{
	if (w->us.trail)
		w->us.trail->partial = 1;
}

/* -1: not known in this frame */
static int get_reg(const struct rowwalk *w, u32 reg, u64 *v)
{
	if (reg == ROWWALK_REG_SP) {
		*v = w->sp;
		return 0;
	}
	if (reg == ROWWALK_REG_FP && (w->known & ROWWALK_KNOWN_FP)) {
		*v = w->fp;
		return 0;
	}
	if (reg == ROWWALK_REG_BX && (w->known & ROWWALK_KNOWN_BX)) {
		*v = w->bx;
		return 0;
	}
	if (!innermost(w) || !w->reg || reg == ROWWALK_REG_FP || reg == ROWWALK_REG_BX)
		return -1;
	return w->reg(w->us.ctx, reg, v);
}

/* Could a frame of @least bytes or more go from @sp to @cfa? */
static inline int sound(const struct rowwalk *w, u64 sp, u64 cfa, u32 least)
{
	return cfa - sp - least <= USERSTACK_MAX_FRAME - least && !(cfa & 7) &&
	       cfa <= w->us.limit;
}

/* Code can be there; whether it is, its mapping says. */
static inline int sound_ip(const struct rowwalk *w, u64 ip)
{
	return ip >= USERSTACK_LEAST_CODE && ip < w->us.limit;
}

/* The caller's address was found at @slot; 0: in a register. */
static enum step to_caller(struct rowwalk *w, u64 slot, u64 ip)
{
	u64 real;

	if (unlikely(w->us.fix != NULL) && slot && ip) {
		real = w->us.fix(w->us.ctx, slot, ip);
		if (!real)
			return cut(w, MEMTAP_STACK_TRAMPOLINE);
		ip = real;
	}
	w->ip = ip;
	if (likely(sound_ip(w, ip)))
		return STEP_ON;
	return ip ? cut(w, MEMTAP_STACK_CHAIN) : STEP_END;
}

static enum step get_cfa(struct rowwalk *w, const struct memtap_rule *r, u64 *cfa)
{
	u64 base;

	w->chained = 0;
	if (likely(r->kind == MEMTAP_RULE_CFA && r->reg == ROWWALK_REG_SP)) {
		*cfa = w->sp + r->cfa;
		return STEP_ON;
	}
	if (r->kind == MEMTAP_RULE_PLT) {
		*cfa = w->sp + r->cfa + ((s64)(w->ip & 15) >= r->add ? 8 : 0);
		return STEP_ON;
	}
	if (get_reg(w, r->reg, &base))
		return cut(w, MEMTAP_STACK_NOROW);
	if (r->reg == ROWWALK_REG_FP)
		rowplain_note_fp(w);
	else if (r->reg != ROWWALK_REG_SP)
		note_more(w);
	*cfa = base + r->cfa;
	if (r->kind == MEMTAP_RULE_CFA)
		return STEP_ON;
	if (*cfa & 7)
		return cut(w, MEMTAP_STACK_CHAIN);
	base = *cfa;
	if (userstack_u64(&w->us, base, cfa))
		return cut(w, MEMTAP_STACK_FAULT);
	note(w, base, *cfa);
	*cfa += r->add;
	return STEP_ON;
}

/*
 * The caller's rbx or rbp, from where they are saved: @at_fp, or else relative to
 * the CFA.  Lower addresses first, so that one read will do.
 */
static inline enum step restore(struct rowwalk *w, u64 *reg, u64 base, s32 off)
{
	u64 slot = base + off;

	if (unlikely(slot & 7))
		return cut(w, MEMTAP_STACK_CHAIN);
	if (userstack_u64(&w->us, slot, reg))
		return cut(w, MEMTAP_STACK_FAULT);
	return STEP_ON;
}

static enum step restore_regs(struct rowwalk *w, const struct memtap_rule *r,
			      u64 cfa)
{
	const u32 bx = MEMTAP_RULE_BX_SAVED | MEMTAP_RULE_BX_AT_FP;
	const u32 fp = MEMTAP_RULE_FP_SAVED | MEMTAP_RULE_FP_AT_FP;
	const u32 at_fp = MEMTAP_RULE_BX_AT_FP | MEMTAP_RULE_FP_AT_FP;
	u64 old_fp = w->fp;
	enum step step;

	if (unlikely(r->flags & at_fp)) {
		if (!(w->known & ROWWALK_KNOWN_FP))
			return cut(w, MEMTAP_STACK_NOROW);
		rowplain_note_fp(w);
	}
	if (r->flags & bx) {
		step = restore(w, &w->bx, r->flags & MEMTAP_RULE_BX_SAVED ? cfa : old_fp,
			       r->bx);
		if (step != STEP_ON)
			return step;
		w->known |= ROWWALK_KNOWN_BX;
	}
	if (r->flags & fp) {
		old_fp = r->flags & MEMTAP_RULE_FP_SAVED ? cfa : old_fp;
		step = restore(w, &w->fp, old_fp, r->fp);
		if (step != STEP_ON)
			return step;
		w->fp_slot = old_fp + r->fp;
		w->known |= ROWWALK_KNOWN_FP;
	}
	return STEP_ON;
}

static enum step step_cfa(struct rowwalk *w, const struct memtap_rule *r)
{
	u64 sp = w->sp, cfa, ra, slot = 0;
	u32 least = r->flags & MEMTAP_RULE_RA_REG ? 0 : 8;
	enum step step = get_cfa(w, r, &cfa);

	if (step != STEP_ON)
		return step;
	if (unlikely(r->flags & MEMTAP_RULE_SWITCH))
		sp = cfa - least;	/* from there on it grows again */
	if (!sound(w, sp, cfa, least))
		return cut(w, MEMTAP_STACK_CHAIN);
	if (unlikely(r->flags & MEMTAP_RULE_RA_REG)) {
		if (get_reg(w, r->ra, &ra))
			return cut(w, MEMTAP_STACK_NOROW);
		note_more(w);
	}
	step = restore_regs(w, r, cfa);
	if (step != STEP_ON)
		return step;
	if (likely(!(r->flags & MEMTAP_RULE_RA_REG))) {
		slot = cfa - 8;
		if (userstack_u64(&w->us, slot, &ra))
			return cut(w, MEMTAP_STACK_FAULT);
		note(w, slot, ra);
	}
	w->sp = cfa;
	return to_caller(w, slot, ra);
}

static enum step step_signal(struct rowwalk *w)
{
	u64 uc = w->sp;

	if (uc & 7)
		return cut(w, MEMTAP_STACK_CHAIN);
	if (userstack_u64(&w->us, uc + UC_FP, &w->fp) ||
	    userstack_u64(&w->us, uc + UC_BX, &w->bx) ||
	    userstack_u64(&w->us, uc + UC_SP, &w->sp) ||
	    userstack_u64(&w->us, uc + UC_IP, &w->ip))
		return cut(w, MEMTAP_STACK_FAULT);
	note_more(w);
	w->known = ROWWALK_KNOWN_FP | ROWWALK_KNOWN_BX;
	w->chained = 0;
	return sound_ip(w, w->ip) ? STEP_INTERRUPTED : cut(w, MEMTAP_STACK_CHAIN);
}

/* At a function's first instruction the caller is on top of the stack. */
static enum step step_entry(struct rowwalk *w)
{
	u64 ra;

	if (w->sp & 7)
		return cut(w, MEMTAP_STACK_CHAIN);
	if (userstack_u64(&w->us, w->sp, &ra))
		return cut(w, MEMTAP_STACK_FAULT);
	note(w, w->sp, ra);
	w->sp += 8;
	return to_caller(w, w->sp - 8, ra);
}

static inline int at_entry(const struct rowwalk *w)
{
	return unlikely(w->entry) && innermost(w);
}

/*
 * By frame pointer.  A register that is 0 ends a chain of them, but says nothing
 * where there was none before.
 */
static enum step step_fp(struct rowwalk *w)
{
	u64 fp = w->fp, ra;

	w->flags |= MEMTAP_STACK_FP;
	if (at_entry(w))
		return step_entry(w);
	if (!(w->known & ROWWALK_KNOWN_FP))
		return cut(w, MEMTAP_STACK_NOROW);
	rowplain_note_fp(w);
	if (!fp && w->chained)
		return STEP_END;
	if (!sound(w, w->sp, fp + 16, 16))
		return cut(w, MEMTAP_STACK_CHAIN);
	if (userstack_u64(&w->us, fp, &w->fp) ||
	    userstack_u64(&w->us, fp + 8, &ra))
		return cut(w, MEMTAP_STACK_FAULT);
	note(w, fp + 8, ra);
	w->fp_slot = fp;
	w->sp = fp + 16;
	w->chained = 1;
	w->known &= ~ROWWALK_KNOWN_BX;		/* it may be anywhere */
	return to_caller(w, fp + 8, ra);
}

/* Is it where a call returns to, in code that is mapped? */
static int is_return(struct rowwalk *w, u64 ip)
{
	u32 why = 0;

	if (!sound_ip(w, ip))
		return 0;
	if (ip - 1 - w->code.start >= w->code.len) {
		why = w->find(w->us.ctx, ip - 1, &w->code);
		if (why)
			w->code.len = 0;
	}
	return !(why & MEMTAP_STACK_NOMAP) && w->calls(w->us.ctx, ip);
}

/* Where something is saved, from the CFA, which @r makes; or 0: not close below it. */
static s16 close_below(const struct memtap_rule *r, s32 off)
{
	s32 least = r->reg == ROWWALK_REG_SP && r->cfa < 0x8000 ? -r->cfa : -0x8000;

	return off < least || off > -8 || (off & 7) ? 0 : (s16)off;
}

/* How rowplain() goes on by @r; 0: it does not. */
static u32 plain_of(struct rowwalk_memo *m, const struct memtap_rule *r)
{
	u32 how = r->reg == ROWWALK_REG_SP ? ROWPLAIN_BY_SP : ROWPLAIN_BY_FP;

	if (r->kind == MEMTAP_RULE_END)
		return ROWPLAIN_LAST;
	if (r->kind != MEMTAP_RULE_CFA || r->cfa < 0 || r->cfa > 0xffff ||
	    (r->reg != ROWWALK_REG_SP && r->reg != ROWWALK_REG_FP) ||
	    (how == ROWPLAIN_BY_SP && (r->cfa < 8 || (r->cfa & 7))) ||
	    (r->flags & ~(MEMTAP_RULE_FP_SAVED | MEMTAP_RULE_BX_SAVED)))
		return 0;
	m->cfa = (u32)r->cfa;
	m->fp = close_below(r, r->fp);
	m->bx = close_below(r, r->bx);
	if (r->flags & MEMTAP_RULE_BX_SAVED) {
		if (!m->bx)
			return 0;
		how |= ROWPLAIN_BX;
	}
	if (r->flags & MEMTAP_RULE_FP_SAVED) {
		if (!m->fp)
			return 0;
		how |= ROWPLAIN_FP;
		if (how == (ROWPLAIN_BY_FP | ROWPLAIN_FP) && r->cfa == 16 && r->fp == -16)
			how = ROWPLAIN_RECORD;
	}
	return how;
}

static void remember(struct rowwalk *w, u64 ra, const struct memtap_rule *rule)
{
	struct rowwalk_memo *memo = &w->memo[rowplain_place(ra)];
	u32 how;

	/* rowplain() takes what is remembered for an address of code */
	if (!sound_ip(w, ra) || (ra & ROWPLAIN_OTHER))
		return;
	memo[1] = memo[0];
	how = plain_of(memo, rule);
	memo[0].is = ROWPLAIN_IS(w->memo_id, how);
	memo[0].rule = rule;
	memo[0].ra = how ? ra : ra | ROWPLAIN_OTHER;
}

static const struct memtap_rule *recall(const struct rowwalk *w, u64 ra)
{
	const struct rowwalk_memo *memo = &w->memo[rowplain_place(ra)];
	u32 i;

	for (i = 0; i < 2; i++, memo++)
		if (rowplain_how(memo, ra, w->memo_id) <= ROWPLAIN_HOW ||
		    rowplain_how(memo, ra | ROWPLAIN_OTHER, w->memo_id) <= ROWPLAIN_HOW)
			return memo->rule;
	return NULL;
}

/* The rule for @pc; NULL: why there is none. */
static const struct memtap_rule *find_rule(struct rowwalk *w, u64 pc, u32 *why)
{
	const struct memtap_rule *rule = w->memo_id ? recall(w, pc + 1) : NULL;

	if (rule)
		return rule;
	if (pc - w->code.start >= w->code.len) {
		*why = w->find(w->us.ctx, pc, &w->code);
		if (*why) {
			w->code.len = 0;
			return NULL;
		}
	}
	if (!w->code.table)
		return &by_fp;
	rule = unwindtab_find(w->code.table, pc - w->code.start + w->code.pos);
	if (w->memo_id)
		remember(w, pc + 1, rule);
	return rule;
}

/* --- code without rows ------------------------------------------------------- */

/* The return address at @slot; 0: what is there is none. */
static u64 return_at(struct rowwalk *w, u64 slot, u64 *ra)
{
	u64 ip;

	if (userstack_u64(&w->us, slot, ra))
		return 0;
	ip = w->us.fix && *ra ? w->us.fix(w->us.ctx, slot, *ra) : *ra;
	return is_return(w, ip) ? ip : 0;
}

/*
 * glibc's clone() and clone3() end their rows in front of `syscall`, because behind it the new
 * thread, on another stack, has no caller.  For the thread that called, the last row is still
 * true.  The proof, for the innermost frame at @w->ip without a row:
 *
 * - The code in front of ip is `mov $NUMBER,%eax; syscall`.  Neither changes rsp, rbp, rbx or the
 *   stack, so that what the row of the first of them says is true at ip, too.
 * - That row is the one of a function's entry: the CFA is rsp + 8, nothing was saved.  The
 *   caller's rbp and rbx are those of now, its address is the word at rsp.
 * - rax is not 0, as it is in the new thread.  In the one that called it is -ENOSYS, or the call's
 *   number, while the call is under way, and then the new thread's number or an error.
 * - The word at rsp is where a call returns to, in code that is mapped.  This adds nothing where
 *   the rows are true; it refuses code that is entered by a jump to its `syscall`.
 *
 * Where one of these does not hold, the stack is cut here.
 */
static int caller_of_enter(struct rowwalk *w)
{
	const struct memtap_rule *r;
	u64 ip = w->ip, slot = w->sp, ra, ax;
	u32 len, why;

	if (!innermost(w) || !w->enters || !w->calls || (slot & 7) ||
	    get_reg(w, ROWWALK_REG_AX, &ax) || !ax)
		return 0;
	len = w->enters(w->us.ctx, ip);
	r = len ? find_rule(w, ip - len, &why) : NULL;
	if (!r || r->kind != MEMTAP_RULE_CFA || r->reg != ROWWALK_REG_SP || r->cfa != 8 || r->flags)
		return 0;
	ip = return_at(w, slot, &ra);
	if (!ip)
		return 0;
	note(w, slot, ra);
	/* what rax is, and what the code is, no word of the stack tells */
	note_more(w);
	w->sp = slot + 8;
	w->ip = ip;
	w->chained = 0;
	return 1;
}

/*
 * No row is for this code, though its file has some: written by hand, or by a compiler
 * that tells nobody (V8's builtins).  Such code often keeps frame pointers.  Where rbp
 * leads to what can only be a frame's record, that is followed.
 */
static enum step step_gap(struct rowwalk *w)
{
	u64 slot = w->fp + 8, fp, ra, ip;

	if (caller_of_enter(w))
		return STEP_ON;
	if (!(w->known & ROWWALK_KNOWN_FP) || !w->calls ||
	    !sound(w, w->sp, slot + 8, 16) ||
	    userstack_u64(&w->us, slot - 8, &fp))
		return cut(w, MEMTAP_STACK_NOROW);
	ip = return_at(w, slot, &ra);
	if (!ip)
		return cut(w, MEMTAP_STACK_NOROW);
	rowplain_note_fp(w);
	note(w, slot, ra);
	w->flags |= MEMTAP_STACK_FP;
	w->fp = fp;
	w->fp_slot = slot - 8;
	w->sp = slot + 8;
	w->ip = ip;
	w->chained = 1;
	w->known &= ~ROWWALK_KNOWN_BX;
	return STEP_ON;
}

/* --- the stack that was walked last ---------------------------------------- */

static inline void begin_tail(struct rowwalk *w)
{
	w->joined = 0;
	if (!w->tail)
		return;
	w->head->nr = 0;
	rowplain_no_tail(w);
	if (w->tail->id == w->memo_id && w->tail->limit == w->us.limit)
		w->near = &w->tail->at[w->tail->first];
}

/*
 * The walk is at its end, by a rule that looks at nothing else.  Where that frame has no place
 * in the head, because it just fits into ips, those before it are not kept without it.
 */
static void keep_tail(struct rowwalk *w, u64 pc)
{
	const struct stacktail_head *h = w->head;
	struct stacktail *t = w->tail;

	if (!h->nr || w->us.trail->nr == USERSTACK_TRAIL ||
	    h->at[h->nr - 1].sp != w->sp || h->at[h->nr - 1].pc != pc)
		return;
	t->id = 0;
	t->first = STACKTAIL_FRAMES;
	stacktail_put(t, w->head, w->us.trail, &t->at[STACKTAIL_FRAMES]);
	t->limit = w->us.limit;
	if (t->first < STACKTAIL_FRAMES)
		t->id = w->memo_id;
}

static enum step step(struct rowwalk *w, u64 pc)
{
	const struct memtap_rule *r;
	u32 why;

	r = find_rule(w, pc, &why);
	if (at_entry(w) && (!r || r->kind <= MEMTAP_RULE_NONE))
		return step_entry(w);
	if (!r)
		return cut(w, why);
	switch (r->kind) {
	case MEMTAP_RULE_CFA:
	case MEMTAP_RULE_DEREF:
	case MEMTAP_RULE_PLT:
		return step_cfa(w, r);
	case MEMTAP_RULE_END:
		if (w->tail)
			keep_tail(w, pc);
		return STEP_END;
	case MEMTAP_RULE_SIGNAL:
		return step_signal(w);
	case MEMTAP_RULE_FP:
		return step_fp(w);
	case MEMTAP_RULE_GAP:
		return step_gap(w);
	default:
		return cut(w, MEMTAP_STACK_NOROW);
	}
}

/* --- plain frames ------------------------------------------------------------ */

/* Of a frame larger than a piece of the stack, so much is read below the CFA. */
#define SAVED_ROOM	96

/* Is what is needed of a frame in the buffer?  What is there is readable. */
static __always_inline int fetch_frame(struct rowwalk *w, u64 sp, u64 cfa)
{
	u64 low = cfa - sp <= USERSTACK_CHUNK ? sp : cfa - SAVED_ROOM;
	u64 off = low - w->us.addr, size = cfa - low;

	if (off <= w->us.len && w->us.len - off >= size)
		return 1;
	return low < w->us.limit && !userstack_fetch(&w->us, low) && w->us.len >= size;
}

static __always_inline int fetched_word(const struct rowwalk *w, u64 at, u64 *v)
{
	if (!userstack_has(&w->us, at, 8))
		return 0;
	memcpy(v, w->us.buf + (at - w->us.addr), 8);
	return 1;
}

/* What the rest of the tail depended on, this walk does. */
static void note_rest(struct userstack_trail *t, const struct stacktail_word *word, u32 nr)
{
	if (t->nr + nr > t->most) {
		t->partial = 1;
		return;
	}
	for (; nr; nr--, word++) {
		t->slot[t->nr] = word->slot;
		t->value[t->nr++] = word->value;
	}
}

int rowwalk_join(struct rowwalk *w, const struct stacktail_frame *f)
{
	const struct stacktail_frame *last = &w->tail->at[STACKTAIL_FRAMES - 1];
	const struct stacktail_word *word = &w->tail->words[f->word];
	u32 nr = STACKTAIL_WORDS - f->word, same;

	if ((u32)(last - f) > w->max - w->nr) {
		rowplain_no_tail(w);
		return 0;
	}
	same = nr ? w->same(w->us.ctx, word, nr) : 0;
	if (same < nr) {
		/* behind what differs it may be the same again */
		while (f->word <= same + (u32)(word - w->tail->words))
			f++;
		w->near = f;
		return 0;
	}
	if (f->how & STACKTAIL_LIVE)
		rowplain_note_fp(w);
	if (w->us.trail->nr < USERSTACK_TRAIL)
		stacktail_put(w->tail, w->head, w->us.trail, f);
	note_rest(w->us.trail, word, nr);
	w->joined = (u32)(last - f);
	while (f++ != last)
		w->ips[w->nr++] = f->pc + 1;
	return 1;
}

static __attribute__((__noinline__)) int plain_in_pieces(struct rowwalk *w)
{
	return w->us.trail ? rowplain(w, 1) : rowplain(w, 0);
}

/* Go on while frames are plain. */
static inline int go_on(struct rowwalk *w)
{
	if (!w->memo_id || w->us.fix || !(w->known & ROWWALK_KNOWN_FP) || (w->sp & 7) ||
	    w->sp < ROWPLAIN_LEAST_SP || w->sp >= w->us.limit || w->us.limit > USERSTACK_HIGH_BIT)
		return 0;
	return w->plain ? w->plain(w) : plain_in_pieces(w);
}

/* From a frame on that is not plain. */
static __attribute__((__noinline__)) void walk_on(struct rowwalk *w)
{
	enum step how;

	do {
		if (w->sp >= w->us.limit) {
			w->flags |= MEMTAP_STACK_CHAIN;
			return;
		}
		how = step(w, w->pc);
		if (how == STEP_END || how == STEP_CUT)
			return;
		if (w->tail)
			w->head->nr = 0;
		if (w->nr == w->max) {
			w->flags |= MEMTAP_STACK_DEPTH;
			return;
		}
		/* what a signal interrupted is not a call that returns there */
		w->pc = how == STEP_INTERRUPTED ? w->ip : w->ip - 1;
		w->ips[w->nr++] = w->pc + 1;
	} while (!go_on(w));
}

void rowwalk(struct rowwalk *w)
{
	w->pc = w->ip;
	w->nr = 0;
	w->flags = 0;
	w->chained = 0;
	w->fp_slot = 0;
	w->code.len = 0;
	userstack_begin(&w->us);
	begin_tail(w);
	if (!w->max) {
		w->flags = MEMTAP_STACK_DEPTH;
		return;
	}
	w->ips[w->nr++] = w->ip;
	if (!go_on(w))
		walk_on(w);
}
