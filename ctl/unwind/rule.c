// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert the CFI of a code address to a rule for the kernel's unwinder. */
#include <dwarf.h>
#include <string.h>

#include "unwind/int.h"

#define LEAST		(-(1LL << 30))
#define MOST		(1LL << 30)
#define EXPR_MAX	32		/* bytes; longer ones are of other kinds */

#define REG_BX		3
#define REG_BP		6
#define REG_SP		7

/* struct ucontext, at rsp when a signal's handler has returned */
#define UC_BP		120
#define UC_BX		128
#define UC_SP		160
#define UC_IP		168

/* *(reg + off) + add, or reg + off */
struct linear {
	__u32 reg;
	bool deref;
	__s64 off, add;
};

static bool in_range(__s64 v)
{
	return v >= LEAST && v <= MOST;
}

/* DW_OP_breg*, with a sum of what follows it. */
static bool read_base(struct unwind_bytes *b, struct linear *l)
{
	if (b->p == b->end || *b->p < DW_OP_breg0 || *b->p > DW_OP_breg15)
		return false;
	*l = (struct linear) { .reg = *b->p++ - DW_OP_breg0 };
	return unwind_read_sleb(b, &l->off);
}

static bool read_constant(struct unwind_bytes *b, __u8 op, __s64 *v)
{
	__u64 u = 0;
	bool good;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		*v = op - DW_OP_lit0;
		return true;
	}
	switch (op) {
	case DW_OP_plus_uconst:
	case DW_OP_constu:
		good = unwind_read_uleb(b, &u);
		break;
	case DW_OP_consts:
		return unwind_read_sleb(b, v);
	case DW_OP_const1u:
		good = unwind_read_uint(b, 1, &u);
		break;
	case DW_OP_const2u:
		good = unwind_read_uint(b, 2, &u);
		break;
	case DW_OP_const4u:
		good = unwind_read_uint(b, 4, &u);
		break;
	default:
		return false;
	}
	*v = (__s64)u;
	return good;
}

/* A constant and DW_OP_plus or DW_OP_minus, or DW_OP_plus_uconst. */
static bool read_sum(struct unwind_bytes *b, __s64 *sum)
{
	const __u8 op = *b->p++;
	__s64 v;

	if (!read_constant(b, op, &v) || !in_range(v))
		return false;
	if (op != DW_OP_plus_uconst) {
		if (b->p == b->end || (*b->p != DW_OP_plus && *b->p != DW_OP_minus))
			return false;
		if (*b->p++ == DW_OP_minus)
			v = -v;
	}
	*sum += v;
	return in_range(*sum);
}

static bool read_linear(const struct unwind_where *w, struct linear *l)
{
	struct unwind_bytes b = { w->expr, w->expr + w->len };

	if (w->len > EXPR_MAX || !read_base(&b, l) || !in_range(l->off))
		return false;
	while (b.p < b.end) {
		if (*b.p == DW_OP_deref) {
			if (l->deref)
				return false;
			l->deref = true;
			b.p++;
		} else if (!read_sum(&b, l->deref ? &l->add : &l->off)) {
			return false;
		}
	}
	return true;
}

/*
 * What linkers write for a PLT: its code has pushed a word from a place on that is
 * the same in each of its 16-byte entries.
 */
static bool is_plt(const struct unwind_where *w, struct memtap_rule *r)
{
	static const unsigned char tail[] = {
		DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus
	};
	struct unwind_bytes b = { w->expr, w->expr + w->len };
	struct linear sp;

	if (w->len > EXPR_MAX || !read_base(&b, &sp) || sp.reg != REG_SP ||
	    !in_range(sp.off) || b.end - b.p != 5 + (int)sizeof(tail))
		return false;
	if (b.p[0] != DW_OP_breg16 || b.p[1] || b.p[2] != DW_OP_lit15 ||
	    b.p[3] != DW_OP_and || b.p[4] < DW_OP_lit1 || b.p[4] > DW_OP_lit15 ||
	    memcmp(b.p + 5, tail, sizeof(tail)))
		return false;
	r->kind = MEMTAP_RULE_PLT;
	r->cfa = (__s32)sp.off;
	r->add = b.p[4] - DW_OP_lit0;
	return true;
}

static bool make_cfa(const struct unwind_where *cfa, struct memtap_rule *r)
{
	struct linear l = { .reg = cfa->reg, .off = cfa->value };

	if (cfa->how == UNWIND_IS_EXPR) {
		if (is_plt(cfa, r))
			return true;
		if (!read_linear(cfa, &l))
			return false;
	} else if (cfa->how != UNWIND_REG) {
		return false;
	}
	if (l.reg > 15 || !in_range(l.off))
		return false;
	r->kind = l.deref ? MEMTAP_RULE_DEREF : MEMTAP_RULE_CFA;
	r->reg = (__u8)l.reg;
	r->cfa = (__s32)l.off;
	r->add = (__s32)l.add;
	return true;
}

/* Where a register of the caller is: one of two flags, and an offset; or neither. */
static bool make_saved(const struct unwind_where *w, const struct memtap_rule *r,
		       __u8 saved, __u8 at_fp, __u8 *flags, __s32 *off)
{
	struct linear l;

	switch (w->how) {
	case UNWIND_SAME:
		return true;
	case UNWIND_AT_CFA:
		if (!in_range(w->value))
			return false;
		*flags |= saved;
		*off = (__s32)w->value;
		return true;
	case UNWIND_AT_EXPR:
		if (!read_linear(w, &l) || l.deref)
			return false;
		if (r->kind == MEMTAP_RULE_CFA && r->reg == l.reg) {
			*flags |= saved;
			l.off -= r->cfa;
		} else if (l.reg == REG_BP) {
			*flags |= at_fp;
		} else {
			return false;
		}
		*off = (__s32)l.off;
		return in_range(l.off);
	default:
		return false;
	}
}

static bool make_return(const struct unwind_where *ra, struct memtap_rule *r)
{
	if (ra->how == UNWIND_REG && ra->reg <= 15) {
		r->flags |= MEMTAP_RULE_RA_REG;
		r->ra = (__s32)ra->reg;
		return true;
	}
	return ra->how == UNWIND_AT_CFA && ra->value == -8;
}

/* Is the stack pointer, as always, the CFA? */
static bool pops_frame(const struct unwind_where *sp)
{
	return sp->how == UNWIND_SAME || (sp->how == UNWIND_IS_CFA && !sp->value);
}

static bool is_at(const struct unwind_where *w, __u32 how, __s64 off, bool deref)
{
	struct linear l;

	return w->how == how && read_linear(w, &l) && l.reg == REG_SP && l.off == off &&
	       l.deref == deref && !l.add;
}

/* glibc's __restore_rt: each register is where struct ucontext has it. */
static bool is_signal(const struct unwind_state *s)
{
	return is_at(&s->cfa, UNWIND_IS_EXPR, UC_SP, true) &&
	       is_at(&s->reg[UNWIND_RA], UNWIND_AT_EXPR, UC_IP, false) &&
	       is_at(&s->reg[UNWIND_BP], UNWIND_AT_EXPR, UC_BP, false) &&
	       is_at(&s->reg[UNWIND_BX], UNWIND_AT_EXPR, UC_BX, false);
}

void unwind_rule_make(const struct unwind_state *s, bool signal, struct memtap_rule *r)
{
	const struct memtap_rule none = { .kind = MEMTAP_RULE_NONE, .ra = -8 };
	struct memtap_rule made = none;

	*r = none;
	if (signal) {
		if (is_signal(s))
			r->kind = MEMTAP_RULE_SIGNAL;
		return;
	}
	if (s->reg[UNWIND_RA].how == UNWIND_UNDEFINED) {
		r->kind = MEMTAP_RULE_END;
		return;
	}
	if (make_cfa(&s->cfa, &made) && pops_frame(&s->reg[UNWIND_SP]) &&
	    make_return(&s->reg[UNWIND_RA], &made) &&
	    make_saved(&s->reg[UNWIND_BP], &made, MEMTAP_RULE_FP_SAVED,
		       MEMTAP_RULE_FP_AT_FP, &made.flags, &made.fp) &&
	    make_saved(&s->reg[UNWIND_BX], &made, MEMTAP_RULE_BX_SAVED,
		       MEMTAP_RULE_BX_AT_FP, &made.flags, &made.bx))
		*r = made;
}
