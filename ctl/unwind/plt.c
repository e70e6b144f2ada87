// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Make rows for procedure linkage tables.  GNU linkers describe them in .eh_frame, LLVM's does
 * not.  Its entries have nearly the same instructions, in 16 bytes each.
 */
#include <string.h>

#include "unwind/int.h"

#define ENTRY	16

struct entry {
	unsigned char code[ENTRY];
	__u32 any;			/* bit n: byte n may be anything */
	struct memtap_rule rule;
	__u32 second;			/* byte from which the other rule holds, or 0 */
	struct memtap_rule other;
};

#define SP(off)		{ .kind = MEMTAP_RULE_CFA, .reg = 7, .cfa = (off), .ra = -8 }
#define PUSHED(at)	{ .kind = MEMTAP_RULE_PLT, .cfa = 8, .add = (at), .ra = -8 }

static const struct entry entries[] = {
	/* push GOT+8; jmp *GOT+16: the first one, where the others' number is pushed */
	{ { 0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0x40, 0x00 },
	  0x0f3c, SP(16), 6, SP(24) },
	/* jmp *function; push number; jmp first */
	{ { 0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0 },
	  0xf7bc, PUSHED(11), 0, SP(0) },
	/* endbr64; push number; jmp first; xchg %ax, %ax */
	{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0, 0x66, 0x90 },
	  0x3de0, PUSHED(9), 0, SP(0) },
	/* endbr64; jmp *function; nop */
	{ { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0 },
	  0x03c0, SP(8), 0, SP(0) },
};

static bool matches(const struct entry *e, const unsigned char *code)
{
	for (unsigned int i = 0; i < ENTRY; i++)
		if (!(e->any >> i & 1) && code[i] != e->code[i])
			return false;
	return true;
}

static int add(struct unwind_maker *m, __u32 at, const struct entry *e)
{
	int err = unwind_rows_begin(&m->rows, at, at + ENTRY, UNWIND_CODE);

	if (!err)
		err = unwind_rows_add(&m->rows, at, &e->rule);
	if (!err && e->second)
		err = unwind_rows_add(&m->rows, at + e->second, &e->other);
	return err;
}

int unwind_plt_scan(struct unwind_maker *m, __u32 at, const unsigned char *buf, size_t len)
{
	int err = 0;

	for (size_t i = -at % ENTRY; !err && i + ENTRY <= len; i += ENTRY) {
		/* each of them begins with one of two bytes */
		if (buf[i] != 0xff && buf[i] != 0xf3)
			continue;
		for (size_t e = 0; e < sizeof(entries) / sizeof(entries[0]); e++)
			if (matches(&entries[e], buf + i)) {
				err = add(m, at + (__u32)i, &entries[e]);
				break;
			}
	}
	return err;
}
