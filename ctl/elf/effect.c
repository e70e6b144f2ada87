// SPDX-License-Identifier: GPL-2.0-or-later
/* Decode which registers x86-64 instructions change, for those that functions begin with. */
#include <stdio.h>

#include "elf/insn_int.h"

/* The bits of a register that was named in ModRM or an opcode, by its size. */
static unsigned int named(const struct parts *p, unsigned int nr, bool byte)
{
	if (byte && !p->rex && nr >= 4)
		nr -= 4;		/* %ah .. %bh */
	return 1u << nr;
}

static unsigned int of_rm(const struct parts *p, bool byte)
{
	return p->mod == 3 ? named(p, p->rm, byte) : 0;
}

static void plain(struct insn *i, unsigned int writes, bool flags)
{
	i->kind = INSN_PLAIN;
	i->writes = writes;
	i->flags = flags;
}

/* add or adc sbb and sub xor cmp, in their six forms each */
static void effect_arith(struct insn *i, const struct parts *p)
{
	const unsigned int op = p->op & 7;
	unsigned int writes = REG_AX;

	if (op < 2)
		writes = of_rm(p, !(op & 1));
	else if (op < 4)
		writes = named(p, p->reg, !(op & 1));
	plain(i, p->op >> 3 == 7 ? 0 : writes, true);
}

/* The same with an immediate: 80, 81, 83 */
static void effect_arith_imm(struct insn *i, const struct parts *p, __s64 imm)
{
	const unsigned int op = p->reg & 7;

	plain(i, op == 7 ? 0 : of_rm(p, p->op == 0x80), true);
	if (i->writes == REG_SP && op == 5 && p->rex & REX_W && imm > 0)
		i->grows = (__u64)imm;
	if (op == 7 && !imm && p->mod == 3 && p->rex & REX_W)
		i->tested = (__s8)p->rm;
}

/* f6, f7: test not neg mul imul div idiv */
static void effect_unary(struct insn *i, const struct parts *p)
{
	const unsigned int op = p->reg & 7;

	if (op < 2)
		plain(i, 0, true);
	else if (op < 4)
		plain(i, of_rm(p, p->op == 0xf6), op == 3);
	else
		plain(i, REG_AX | REG_DX, true);
}

/* fe, ff: inc dec, and jumps, calls and push through memory */
static void effect_inc(struct insn *i, const struct parts *p)
{
	const unsigned int op = p->reg & 7;

	if (op < 2)
		plain(i, of_rm(p, p->op == 0xfe), true);
	else if (op == 4 || op == 5)
		i->kind = INSN_END;
}

static void effect_test(struct insn *i, const struct parts *p)
{
	plain(i, 0, true);
	if (p->op == 0x85 && p->mod == 3 && p->reg == p->rm && p->rex & REX_W)
		i->tested = (__s8)p->rm;
}

static void effect_push(struct insn *i, const struct parts *p)
{
	i->kind = INSN_PUSH;
	i->reg = (__u8)((p->op & 7) | (p->rex & REX_B ? 8 : 0));
	i->writes = REG_SP;
	/* what kernels emulate is 50 .. 57, alone or behind 41 */
	i->emulated = p->at == 1 || (p->at == 2 && p->rex == (0x40 | REX_B));
}

static void effect_branch(struct insn *i, const struct parts *p, enum insn_kind kind,
			  __s64 rel)
{
	i->kind = kind;
	i->cond = p->op & 0xf;
	i->target = rel + (__s64)p->at;
	i->writes = kind == INSN_CALL ? ~0u : 0;
	i->refused |= p->opsize;
	i->emulated = !i->refused;
}

static void effect_one_byte(struct insn *i, const struct parts *p, __s64 imm)
{
	const unsigned int op = p->op, low = (op & 7) | (p->rex & REX_B ? 8 : 0);

	if (op < 0x40)
		effect_arith(i, p);
	else if (op >= 0x50 && op <= 0x57)
		effect_push(i, p);
	else if (op == 0x63 || op == 0x8b || op == 0x8d)
		plain(i, 1u << p->reg, false);
	else if (op == 0x69 || op == 0x6b)
		plain(i, 1u << p->reg, true);
	else if (op >= 0x70 && op <= 0x7f)
		effect_branch(i, p, INSN_JCC, imm);
	else if (op == 0x80 || op == 0x81 || op == 0x83)
		effect_arith_imm(i, p, imm);
	else if (op == 0x84 || op == 0x85)
		effect_test(i, p);
	else if (op == 0x88 || op == 0x89)
		plain(i, of_rm(p, op == 0x88), false);
	else if (op == 0x8a)
		plain(i, named(p, p->reg, true), false);
	else if (op == 0x90 && !(p->rex & REX_B))
		i->kind = INSN_NOP;
	else if (op == 0x98 || op == 0x99)
		plain(i, op == 0x98 ? REG_AX : REG_DX, false);
	else if (op == 0xa8 || op == 0xa9)
		plain(i, 0, true);
	else if (op >= 0xb0 && op <= 0xb7)
		plain(i, named(p, low, true), false);
	else if (op >= 0xb8 && op <= 0xbf)
		plain(i, 1u << low, false);
	else if (op == 0xc0 || op == 0xc1 || (op >= 0xd0 && op <= 0xd3))
		plain(i, of_rm(p, !(op & 1)), true);
	else if ((op == 0xc6 || op == 0xc7) && !(p->reg & 7))
		plain(i, of_rm(p, op == 0xc6), false);
	else if (op == 0xe8 || op == 0xe9 || op == 0xeb)
		effect_branch(i, p, op == 0xe8 ? INSN_CALL : INSN_JMP, imm);
	else if (op == 0xf6 || op == 0xf7)
		effect_unary(i, p);
	else if (op == 0xfe || op == 0xff)
		effect_inc(i, p);
	else if (op == 0xc2 || op == 0xc3 || op == 0xcc || op == 0xf4)
		i->kind = INSN_END;
	if (op >= 0xe0 && op <= 0xe3)		/* loop, jrcxz: not emulated */
		i->target = imm + (__s64)p->at;
}

static void effect_two_byte(struct insn *i, const struct parts *p, __s64 imm)
{
	const unsigned int op = p->op;

	if (op >= 0x80 && op <= 0x8f)
		effect_branch(i, p, INSN_JCC, imm);
	else if (op >= 0x90 && op <= 0x9f)
		plain(i, of_rm(p, true), false);
	else if (op >= 0x40 && op <= 0x4f)
		plain(i, 1u << p->reg, false);
	else if (op == 0xaf || op == 0xbc || op == 0xbd)
		plain(i, 1u << p->reg, true);
	else if (op == 0xb6 || op == 0xb7 || op == 0xbe || op == 0xbf)
		plain(i, 1u << p->reg, false);
	else if (op >= 0xc8 && op <= 0xcf)
		plain(i, 1u << ((op & 7) | (p->rex & REX_B ? 8 : 0)), false);
	else if (op == 0x1e || op == 0x1f || op == 0x18 || op == 0x0d)
		plain(i, 0, false);		/* nop, endbr, prefetch */
	else if (op == 0xa3 || op == 0x2e || op == 0x2f)
		plain(i, 0, true);		/* bt, comis */
	else if (op == 0x10 || op == 0x11 || op == 0x28 || op == 0x29 || op == 0x57 ||
		 op == 0x6c || op == 0x6e || op == 0x6f || op == 0x7f || op == 0xd6 ||
		 op == 0xef)
		plain(i, 0, false);		/* between xmm and memory */
	else if (op == 0x7e)
		plain(i, of_rm(p, false), false);
	else if (op == 0x0b)
		i->kind = INSN_END;
}

void insn_effect(struct insn *i, const struct parts *p, __s64 imm)
{
	/* the kernel's own list of what it does not step over; and old ones
	 * take 66 90 for a branch of 16 bits */
	i->refused = p->lock || p->segment || (p->op == 0x90 && p->opsize);
	if (!p->vex && p->map == 0)
		effect_one_byte(i, p, imm);
	else if (!p->vex && p->map == 1)
		effect_two_byte(i, p, imm);
	if (i->kind == INSN_NOP)
		i->emulated = p->at == 1;
}

void insn_text(const struct insn *i, char *buf, size_t len)
{
	static const char *const regs[] = {
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	};
	static const char *const conds[] = {
		"jo", "jno", "jb", "jae", "je", "jne", "jbe", "ja",
		"js", "jns", "jp", "jnp", "jl", "jge", "jle", "jg",
	};

	*buf = '\0';
	if (i->kind == INSN_PUSH && i->reg < 8)
		snprintf(buf, len, "push %%%s", regs[i->reg]);
	else if (i->kind == INSN_PUSH)
		snprintf(buf, len, "push %%r%d", i->reg);
	else if (i->kind == INSN_JCC)
		snprintf(buf, len, "%s", conds[i->cond]);
	else if (i->kind == INSN_JMP || i->kind == INSN_CALL || i->kind == INSN_NOP)
		snprintf(buf, len, "%s", i->kind == INSN_JMP ? "jmp" :
			 i->kind == INSN_CALL ? "call" : "nop");
}
