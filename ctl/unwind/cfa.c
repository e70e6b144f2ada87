// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Execute call frame instructions, in one pass over an FDE.
 *
 * elfutils would execute an FDE again for each of its rows, and stores a rule for each mentioned
 * register, so that numbers in a hostile file determine its memory use.  Here only the needed
 * registers are stored, and time is linear and bounded.
 */
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "unwind/int.h"

struct operands {
	__u64 a;
	__s64 b;
	const unsigned char *expr;
	size_t len;
};

struct insn {
	/*
	 * What follows the opcode, to a, then b: u ULEB128, s SLEB128, times the
	 * data alignment in capitals; 1 2 4 8 bytes, times the code alignment;
	 * x an expression; p an address.
	 */
	char args[3];
	__u32 how;
	int (*apply)(struct unwind_cfa *c, const struct insn *i, const struct operands *o);
};

static struct unwind_where *tracked(struct unwind_state *s, __u64 reg)
{
	switch (reg) {
	case 3:
		return &s->reg[UNWIND_BX];
	case 6:
		return &s->reg[UNWIND_BP];
	case 7:
		return &s->reg[UNWIND_SP];
	case 16:
		return &s->reg[UNWIND_RA];
	case 12:
	case 13:
	case 14:
	case 15:
		return &s->reg[UNWIND_R12 + reg - 12];
	default:
		return NULL;
	}
}

static int advance_to(struct unwind_cfa *c, __u64 loc)
{
	int err = 0;

	if (loc < c->loc)
		return -EBADMSG;
	if (loc > c->end)
		loc = c->end;
	if (loc > c->loc)
		err = c->emit(c, c->loc, loc);
	c->loc = loc;
	return err;
}

static int nothing(struct unwind_cfa *c, const struct insn *i, const struct operands *o)
{
	(void)c, (void)i, (void)o;
	return 0;
}

static int advance(struct unwind_cfa *c, const struct insn *i, const struct operands *o)
{
	(void)i;
	return advance_to(c, o->a > c->end - c->loc ? c->end : c->loc + o->a);
}

static int set_loc(struct unwind_cfa *c, const struct insn *i, const struct operands *o)
{
	(void)i;
	return advance_to(c, o->a);
}

static int set_reg(struct unwind_cfa *c, const struct insn *i, const struct operands *o)
{
	struct unwind_where *w = tracked(&c->now, o->a);

	if (w)
		*w = (struct unwind_where) {
			.how = i->how,
			.reg = i->how == UNWIND_REG ? (__u32)o->b : 0,
			.value = i->how == UNWIND_REG ? 0 : o->b,
			.expr = o->expr,
			.len = o->len,
		};
	return 0;
}

/* DW_CFA_register names a second register where others have an offset. */
static int set_in_reg(struct unwind_cfa *c, const struct insn *i, const struct operands *o)
{
	if ((__u64)o->b > 0xffff)
		return -EBADMSG;
	return set_reg(c, i, o);
}

static int set_negative(struct unwind_cfa *c, const struct insn *i, const struct operands *o)
{
	struct operands negative = *o;

	negative.b = (__s64)-(__u64)o->b;
	return set_reg(c, i, &negative);
}

static int restore(struct unwind_cfa *c, const struct insn *i, const struct operands *o)
{
	struct unwind_where *w = tracked(&c->now, o->a);

	(void)i;
	if (w)
		*w = *tracked(&c->initial, o->a);
	return 0;
}

static int remember_state(struct unwind_cfa *c, const struct insn *i,
			  const struct operands *o)
{
	(void)i, (void)o;
	if (c->nr_saved == UNWIND_DEPTH)
		return -EBADMSG;
	c->saved[c->nr_saved++] = c->now;
	return 0;
}

static int restore_state(struct unwind_cfa *c, const struct insn *i,
			 const struct operands *o)
{
	(void)i, (void)o;
	if (!c->nr_saved)
		return -EBADMSG;
	c->now = c->saved[--c->nr_saved];
	return 0;
}

static int cfa(struct unwind_cfa *c, const struct insn *i, const struct operands *o)
{
	(void)i;
	if (o->a > 0xffff)
		return -EBADMSG;
	c->now.cfa = (struct unwind_where) {
		.how = UNWIND_REG, .reg = (__u32)o->a, .value = o->b
	};
	return 0;
}

static int cfa_register(struct unwind_cfa *c, const struct insn *i, const struct operands *o)
{
	(void)i;
	if (c->now.cfa.how != UNWIND_REG || o->a > 0xffff)
		return -EBADMSG;
	c->now.cfa.reg = (__u32)o->a;
	return 0;
}

static int cfa_offset(struct unwind_cfa *c, const struct insn *i, const struct operands *o)
{
	(void)i;
	if (c->now.cfa.how != UNWIND_REG)
		return -EBADMSG;
	c->now.cfa.value = (__s64)o->a;
	return 0;
}

static int cfa_expression(struct unwind_cfa *c, const struct insn *i,
			  const struct operands *o)
{
	(void)i;
	c->now.cfa = (struct unwind_where) {
		.how = UNWIND_IS_EXPR, .expr = o->expr, .len = o->len
	};
	return 0;
}

static const struct insn insns[0x40] = {
	[DW_CFA_nop] = { "", 0, nothing },
	[DW_CFA_set_loc] = { "p", 0, set_loc },
	[DW_CFA_advance_loc1] = { "1", 0, advance },
	[DW_CFA_advance_loc2] = { "2", 0, advance },
	[DW_CFA_advance_loc4] = { "4", 0, advance },
	[DW_CFA_MIPS_advance_loc8] = { "8", 0, advance },
	[DW_CFA_offset_extended] = { "uU", UNWIND_AT_CFA, set_reg },
	[DW_CFA_offset_extended_sf] = { "uS", UNWIND_AT_CFA, set_reg },
	[DW_CFA_GNU_negative_offset_extended] = { "uU", UNWIND_AT_CFA, set_negative },
	[DW_CFA_val_offset] = { "uU", UNWIND_IS_CFA, set_reg },
	[DW_CFA_val_offset_sf] = { "uS", UNWIND_IS_CFA, set_reg },
	[DW_CFA_expression] = { "ux", UNWIND_AT_EXPR, set_reg },
	[DW_CFA_val_expression] = { "ux", UNWIND_IS_EXPR, set_reg },
	[DW_CFA_undefined] = { "u", UNWIND_UNDEFINED, set_reg },
	[DW_CFA_same_value] = { "u", UNWIND_SAME, set_reg },
	[DW_CFA_register] = { "uu", UNWIND_REG, set_in_reg },
	[DW_CFA_restore_extended] = { "u", 0, restore },
	[DW_CFA_remember_state] = { "", 0, remember_state },
	[DW_CFA_restore_state] = { "", 0, restore_state },
	[DW_CFA_def_cfa] = { "uu", 0, cfa },
	[DW_CFA_def_cfa_sf] = { "uS", 0, cfa },
	[DW_CFA_def_cfa_register] = { "u", 0, cfa_register },
	[DW_CFA_def_cfa_offset] = { "u", 0, cfa_offset },
	[DW_CFA_def_cfa_offset_sf] = { "S", 0, cfa_offset },
	[DW_CFA_def_cfa_expression] = { "x", 0, cfa_expression },
	[DW_CFA_GNU_args_size] = { "u", 0, nothing },
};

/* Those that have an operand in the opcode's lower six bits. */
static const struct insn packed[4] = {
	[DW_CFA_advance_loc >> 6] = { "", 0, advance },
	[DW_CFA_offset >> 6] = { "U", UNWIND_AT_CFA, set_reg },
	[DW_CFA_restore >> 6] = { "", 0, restore },
};

static bool read_expr(struct unwind_bytes *b, struct operands *o)
{
	__u64 len;

	if (!unwind_read_uleb(b, &len) || len > (__u64)(b->end - b->p))
		return false;
	o->expr = b->p;
	o->len = len;
	b->p += len;
	return true;
}

static bool read_operand(const struct unwind_cfa *c, struct unwind_bytes *b, char kind,
			 struct operands *o, __u64 *v)
{
	__s64 s;

	switch (kind) {
	case 'u':
	case 'U':
		if (!unwind_read_uleb(b, v))
			return false;
		break;
	case 's':
	case 'S':
		if (!unwind_read_sleb(b, &s))
			return false;
		*v = (__u64)s;
		break;
	case 'x':
		return read_expr(b, o);
	case 'p':
		return unwind_read_encoded(b, c->encoding,
					   c->vaddr + (__u64)(b->p - c->base), v);
	default:
		if (!unwind_read_uint(b, (size_t)(kind - '0'), v))
			return false;
		*v *= c->code_align;
	}
	if (kind == 'U' || kind == 'S')
		*v *= (__u64)c->data_align;
	return true;
}

static int step(struct unwind_cfa *c, struct unwind_bytes *b)
{
	const unsigned char op = *b->p++;
	const struct insn *i = op >> 6 ? &packed[op >> 6] : &insns[op];
	struct operands o = { 0 };
	const char *kind = i->args;
	__u64 v = 0;

	if (!i->apply)
		return -EBADMSG;
	if (op >> 6) {
		o.a = op & 0x3f;
		if (i->apply == advance)
			o.a *= c->code_align;
	} else if (*kind && !read_operand(c, b, *kind++, &o, &o.a)) {
		return -EBADMSG;
	}
	if (*kind) {
		if (!read_operand(c, b, *kind, &o, &v))
			return -EBADMSG;
		if (*kind != 'x')
			o.b = (__s64)v;
	}
	return i->apply(c, i, &o);
}

int unwind_cfa_run(struct unwind_cfa *c, const unsigned char *p, const unsigned char *end)
{
	struct unwind_bytes b = { p, end };
	int err = 0;

	while (!err && b.p < b.end) {
		if (!*c->budget)
			return -EBADMSG;
		--*c->budget;
		err = step(c, &b);
	}
	return err ? err : advance_to(c, c->end);
}
