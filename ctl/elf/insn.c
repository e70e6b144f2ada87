// SPDX-License-Identifier: GPL-2.0-or-later
/* Decode the lengths of x86 instructions, 64-bit and 32-bit. */
#include <string.h>

#include "elf/insn_int.h"

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

/*
 * In i386's code the first bytes of VEX and EVEX are les, lds and bound as well: these
 * have an operand in memory, and VEX has two bits set where that would be told.
 */
static bool is_vex(const struct parts *p, unsigned int byte)
{
	if (byte != 0xc4 && byte != 0xc5 && byte != 0x62)
		return false;
	return !p->narrow || (p->at < p->len && p->code[p->at] >= 0xc0);
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
	if (!p->narrow && byte >= 0x40 && byte <= 0x4f) {
		p->rex = byte;
		if (!take(p, &byte))
			return false;
	}
	if (is_vex(p, byte))
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

/* Opcodes that this code cannot have, or that no compiler makes */
static bool is_bad(const struct parts *p)
{
	const unsigned int op = p->op;

	if (p->vex)
		return false;
	if (p->map == 0 && p->narrow)
		return op == 0xd6;
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
	if (p->narrow && (op == 0x62 || op == 0xc4 || op == 0xc5))
		return true;
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
			return p->narrow ? iz : 4;
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
		return (p->addrsize ? 4 : 8) / (p->narrow ? 2 : 1);
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
		return p->narrow ? iz : 4;
	case 0x82: case 0xd4: case 0xd5:	/* the last three: i386's alone */
		return 1;
	case 0x9a: case 0xea:
		return iz + 2;
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

/* Bytes of the displacement; @sib: whether an SIB byte follows. */
static size_t displacement(const struct parts *p, unsigned int rm, bool *sib)
{
	const bool short_address = p->narrow && p->addrsize;

	*sib = p->mod != 3 && rm == 4 && !short_address;
	if (p->mod == 1)
		return 1;
	if (short_address)
		return p->mod == 2 || (!p->mod && rm == 6) ? 2 : 0;
	return p->mod == 2 || (!p->mod && rm == 5) ? 4 : 0;
}

/* ModRM, SIB and displacement; then the immediate.  Returns where that begins. */
static bool take_operands(struct parts *p, size_t *imm)
{
	unsigned int byte, reg = 0, sib;
	size_t disp = 0;
	bool has_sib;

	p->has_modrm = has_modrm(p);
	if (p->has_modrm) {
		if (!take(p, &byte))
			return false;
		p->mod = byte >> 6;
		p->rm = byte & 7;
		reg = (byte >> 3) & 7;
		p->reg = reg | (p->rex & REX_R ? 8 : 0);
		disp = displacement(p, p->rm, &has_sib);
		if (has_sib) {
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
	if (p.at > imm && p.at - imm <= 4 && p.at - imm != 3)
		value = read_signed(code + imm, p.at - imm);
	insn_effect(i, &p, value);
	return true;
}

size_t insn_length32(const unsigned char *code, size_t len)
{
	struct parts p = { .code = code, .len = len, .narrow = true };
	size_t imm;

	return take_opcode(&p) && !is_bad(&p) && take_operands(&p, &imm) ? p.at : 0;
}

bool insn_is_nop(const unsigned char *code, size_t len)
{
	size_t at = 0;

	while (at < len && at < 14 && code[at] == 0x66)
		at++;
	if (at < len && code[at] == 0x90)
		return true;
	return at + 1 < len && code[at] == 0x0f && code[at + 1] == 0x1f;
}
