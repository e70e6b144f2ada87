/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ELF_INSN_H
#define _ELF_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * x86 machine code, as much of it as a probe needs: where each instruction ends, and in
 * 64-bit code also where branches lead and, for those that functions begin with, which
 * registers are written.  An instruction that is not known is reported as such.
 */
enum insn_kind {
	INSN_UNKNOWN,		/* length known, effect not */
	INSN_PLAIN,		/* goes on behind it, writes @writes */
	INSN_NOP,		/* 0x90, which every kernel emulates */
	INSN_PUSH,		/* push reg */
	INSN_JCC,
	INSN_JMP,		/* to @target */
	INSN_CALL,		/* to @target */
	INSN_END,		/* return, or a jump to who knows where */
};

/* Registers by their numbers in machine code, as bits */
#define REG_AX	(1u << 0)
#define REG_CX	(1u << 1)
#define REG_DX	(1u << 2)
#define REG_SP	(1u << 4)
#define REG_SI	(1u << 6)
#define REG_DI	(1u << 7)

struct insn {
	enum insn_kind kind;
	__u8 len;
	__u8 reg;		/* PUSH: which */
	bool emulated;		/* JCC, JMP, CALL, NOP: by all kernels.  PUSH: by
				 * those that emulate any */
	bool refused;		/* some kernels put no probe here */
	bool flags;		/* writes flags */
	__s8 tested;		/* register compared with 0, or -1 */
	__u8 cond;		/* JCC: 4 is je, 5 is jne, .. */
	unsigned int writes;
	__s64 target;		/* from the start of this instruction */
	__u64 grows;		/* sub $n,%rsp: n */
};

/* false: no instruction that is known, or its end is not there */
bool insn_decode(struct insn *i, const unsigned char *code, size_t len);

/*
 * The length of the i386 instruction at @code.  0: no instruction that is known, or its
 * end is not there.
 */
size_t insn_length32(const unsigned char *code, size_t len);

/* Does @code begin with a nop of any length?  64 and 32 bits alike. */
bool insn_is_nop(const unsigned char *code, size_t len);

/* "push %r12", "je"; of others nothing but "" */
void insn_text(const struct insn *i, char *buf, size_t len);

#endif
