/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ELF_INSN_INT_H
#define _ELF_INSN_INT_H

#include "elf/insn.h"

#define REX_W	8
#define REX_R	4
#define REX_B	1

/* An instruction while it is taken apart. */
struct parts {
	const unsigned char *code;
	size_t len, at;
	bool narrow;			/* i386's code */
	bool opsize, addrsize, rep, repne, lock, segment;
	unsigned int rex;
	unsigned int map;		/* 0: one byte, 1: 0f, 2: 0f 38, 3: 0f 3a */
	bool vex;
	unsigned int op;
	bool has_modrm;
	unsigned int mod, reg, rm;	/* reg and rm with REX */
};

/* effect.c: all of @i but its length; @imm: the immediate or the distance */
void insn_effect(struct insn *i, const struct parts *p, __s64 imm);

#endif
