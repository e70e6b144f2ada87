// SPDX-License-Identifier: GPL-2.0-or-later
/* Lengths and effects of x86-64 instructions. */
#include <stdio.h>
#include <string.h>

#include "alloc_insn.h"

#define REX_W	8
#define REX_R	4
#define REX_B	1

/* An instruction while it is taken apart. */
struct parts {
	const unsigned char *code;
	size_t len, at;
	bool opsize, addrsize, rep, repne, lock, segment;
	unsigned int rex;
	unsigned int map;		/* 0: one byte, 1: 0f, 2: 0f 38, 3: 0f 3a */
	bool vex;
	unsigned int op;
	bool has_modrm;
	unsigned int mod, reg, rm;	/* reg and rm with REX */
};

static bool take(struct parts *p, unsigned int *byte)
{
	if (p->at >= p->len || p->at >= 15)
		return false;
	*byte = p->code[p->at++];
	return true;
}

static bool take_prefix(struct parts *p, unsigned int byte)
{
	switch (byte) {
	case 0x66:
		return p->opsize = true;
	case 0x67:
		return p->addrsize = true;
	case 0xf0:
		return p->lock = true;
	case 0xf2:
		return p->repne = true;
	case 0xf3:
		return p->rep = true;
	case 0x26: case 0x2e: case 0x36: case 0x3e:
		return p->segment = true;
	case 0x64: case 0x65:
		return true;
	default:
		return false;
	}
}

/* VEX and EVEX say in their own bytes which map the opcode is from. */
static bool take_vex(struct parts *p, unsigned int first)
{
	unsigned int b[3] = { 0 };
	const int nr = first == 0xc5 ? 1 : first == 0xc4 ? 2 : 3;

	for (int i = 0; i < nr; i++)
		if (!take(p, &b[i]))
			return false;
	p->vex = true;
	p->map = first == 0xc5 ? 1 : first == 0xc4 ? b[0] & 0x1f : b[0] & 7;
	if (!p->map || p->map == 4 || p->map > 6)
		return false;
	return take(p, &p->op);
}

static bool take_opcode(struct parts *p)
{
	unsigned int byte;

	do {
		if (!take(p, &byte))
			return false;
	} while (take_prefix(p, byte));
	if (byte >= 0x40 && byte <= 0x4f) {
		p->rex = byte & 0xf;
		p->rex |= 0x40;
		if (!take(p, &byte))
			return false;
	}
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return !p->rex && take_vex(p, byte);
	p->op = byte;
	if (byte != 0x0f)
		return true;
	p->map = 1;
	if (!take(p, &p->op))
		return false;
	if (p->op != 0x38 && p->op != 0x3a)
		return true;
	p->map = p->op == 0x38 ? 2 : 3;
	return take(p, &p->op);
}

/* Opcodes that 64-bit code cannot have, or nobody's compiler makes */
static bool is_bad(const struct parts *p)
{
	const unsigned int op = p->op;

	if (p->vex)
		return false;
	if (p->map == 0)
		return (op < 0x40 && (op & 7) >= 6) || op == 0x60 || op == 0x61 ||
		       op == 0x82 || op == 0x9a || op == 0xce || op == 0xd6 ||
		       (op >= 0xd4 && op <= 0xd5) || op == 0xea;
	if (p->map == 1)
		return op == 0x04 || op == 0x0a || op == 0x0c || op == 0x0f ||
		       (op >= 0x24 && op <= 0x27) || op == 0x36 || op == 0x39 ||
		       (op >= 0x3b && op <= 0x3f) || op == 0x78 || op == 0x79 ||
		       op == 0xa6 || op == 0xa7;
	return false;
}

static bool has_modrm(const struct parts *p)
{
	const unsigned int op = p->op;

	if (p->vex)
		return !(p->map == 1 && op == 0x77);
	if (p->map >= 2)
		return true;
	if (p->map == 1)
		return !((op >= 0x05 && op <= 0x0b) || op == 0x0e ||
			 (op >= 0x30 && op <= 0x37) || op == 0x77 ||
			 (op >= 0x80 && op <= 0x8f) || (op >= 0xa0 && op <= 0xa2) ||
			 (op >= 0xa8 && op <= 0xaa) || (op >= 0xc8 && op <= 0xcf));
	if (op < 0x40)
		return (op & 7) < 4;
	return op == 0x63 || op == 0x69 || op == 0x6b || (op >= 0x80 && op <= 0x8f) ||
	       op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0xc7 ||
	       (op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf) ||
	       op == 0xf6 || op == 0xf7 || op == 0xfe || op == 0xff;
}

/* @reg: of ModRM, without REX */
static size_t immediate(const struct parts *p, unsigned int reg)
{
	const size_t iz = p->opsize && !(p->rex & REX_W) ? 2 : 4;
	const unsigned int op = p->op;

	if (p->map == 3)
		return 1;
	if (p->map == 1) {
		if (!p->vex && op >= 0x80 && op <= 0x8f)
			return 4;
		if (!p->vex && (op == 0xa4 || op == 0xac || op == 0xba))
			return 1;
		return (op >= 0x70 && op <= 0x73) || op == 0xc2 ||
		       (op >= 0xc4 && op <= 0xc6);
	}
	if (p->map)
		return 0;
	if (op < 0x40)
		return (op & 7) == 4 ? 1 : (op & 7) == 5 ? iz : 0;
	if (op >= 0xb8 && op <= 0xbf)
		return p->rex & REX_W ? 8 : iz;
	if (op >= 0xa0 && op <= 0xa3)
		return p->addrsize ? 4 : 8;
	if ((op >= 0x70 && op <= 0x7f) || (op >= 0xb0 && op <= 0xb7) ||
	    (op >= 0xe0 && op <= 0xe7))
		return 1;
	switch (op) {
	case 0x6a: case 0x6b: case 0x80: case 0x83: case 0xa8: case 0xc0: case 0xc1:
	case 0xc6: case 0xcd: case 0xeb:
		return 1;
	case 0x68: case 0x69: case 0x81: case 0xa9: case 0xc7:
		return iz;
	case 0xe8: case 0xe9:
		return 4;
	case 0xc2: case 0xca:
		return 2;
	case 0xc8:
		return 3;
	case 0xf6:
		return reg < 2 ? 1 : 0;
	case 0xf7:
		return reg < 2 ? iz : 0;
	default:
		return 0;
	}
}

/* ModRM, SIB and displacement; then the immediate.  Returns where that begins. */
static bool take_operands(struct parts *p, size_t *imm)
{
	unsigned int byte, reg = 0, sib;
	size_t disp = 0;

	p->has_modrm = has_modrm(p);
	if (p->has_modrm) {
		if (!take(p, &byte))
			return false;
		p->mod = byte >> 6;
		p->rm = byte & 7;
		reg = (byte >> 3) & 7;
		p->reg = reg | (p->rex & REX_R ? 8 : 0);
		disp = p->mod == 1 ? 1 : p->mod == 2 || (!p->mod && p->rm == 5) ? 4 : 0;
		if (p->mod != 3 && p->rm == 4) {
			if (!take(p, &sib))
				return false;
			if (!p->mod && (sib & 7) == 5)
				disp = 4;
		}
		p->rm |= p->rex & REX_B ? 8 : 0;
	}
	p->at += disp;
	*imm = p->at;
	p->at += immediate(p, reg);
	return p->at <= p->len && p->at <= 15;
}

static __s64 read_signed(const unsigned char *at, size_t len)
{
	__s32 wide;
	__s16 half;

	if (len == 1)
		return (signed char)*at;
	if (len == 2) {
		memcpy(&half, at, sizeof(half));
		return half;
	}
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

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

bool insn_decode(struct insn *i, const unsigned char *code, size_t len)
{
	struct parts p = { .code = code, .len = len };
	__s64 value = 0;
	size_t imm;

	memset(i, 0, sizeof(*i));
	i->tested = -1;
	if (!take_opcode(&p) || is_bad(&p) || !take_operands(&p, &imm))
		return false;
	i->len = (__u8)p.at;
	/* the kernel's own list of what it does not step over; and old ones
	 * take 66 90 for a branch of 16 bits */
	i->refused = p.lock || p.segment || (p.op == 0x90 && p.opsize);
	if (p.at > imm && p.at - imm <= 4 && p.at - imm != 3)
		value = read_signed(code + imm, p.at - imm);
	if (!p.vex && p.map == 0)
		effect_one_byte(i, &p, value);
	else if (!p.vex && p.map == 1)
		effect_two_byte(i, &p, value);
	if (i->kind == INSN_NOP)
		i->emulated = p.at == 1;
	return true;
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
