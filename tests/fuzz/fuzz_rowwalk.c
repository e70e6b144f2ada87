// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/rowwalk.c kmod/core/stacktail.c kmod/core/unwindtab.c kmod/core/userstack.c */
/* FUZZ: -max_len=1024 */
/*
 * Hostile stacks and rules: rowwalk() must end, read what it may, and say the same
 * as the plain walk of rowwalk_ref.h, whatever it remembers.
 */
#include <stdlib.h>

#include "../unit/rowwalk_ref.h"

#define NR_FN	12			/* functions of 16 bytes */
#define CODE	0x400000ULL
#define JIT	0x500000ULL		/* without a table */
#define NEW	0x600000ULL		/* a file that has no table yet */

struct head {
	u64 base;
	u64 sp, fp, bx, r10;		/* from base, if @rel says so */
	u64 limit;
	u8 rel;				/* 1 sp, 2 fp, 4 bx, 8 limit, 16 r10 */
	u8 shape;			/* 1 entry, 2 fix, 4 r10, 8 no other registers */
	u8 known;
	u8 max;
	u8 absent;
	u8 fn;				/* the innermost function, and where in it */
	u8 words;			/* 1: shorthands in the stack, see word_of() */
	u8 nr_rules;
};

/* A rule as the input has it. */
struct terse {
	u8 kind, reg, flags, ra;
	int8_t cfa, add, fp, bx;		/* in words */
};

static struct ref_world world;
static struct ref_table table;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any rule that the contract allows, if one of odd offsets. */
static struct memtap_rule rule_of(const struct terse *t)
{
	const u32 fp = MEMTAP_RULE_FP_SAVED | MEMTAP_RULE_FP_AT_FP;
	const u32 bx = MEMTAP_RULE_BX_SAVED | MEMTAP_RULE_BX_AT_FP;
	u32 unit = t->kind & 0x80 ? 1 << 17 : t->kind & 0x40 ? 4 : 8;
	struct memtap_rule r = { .kind = t->kind % MEMTAP_NR_RULE, .reg = t->reg % 16,
				 .ra = -8, .cfa = t->cfa * (s32)unit,
				 .add = t->add, .fp = t->fp * 8, .bx = t->bx * 8 };

	if (r.kind == MEMTAP_RULE_DEREF)
		r.add *= 8;
	if (r.kind < MEMTAP_RULE_CFA || r.kind > MEMTAP_RULE_PLT)
		return r;
	r.flags = t->flags % 64;
	if (r.kind != MEMTAP_RULE_CFA)
		r.flags &= ~MEMTAP_RULE_SWITCH;
	if ((r.flags & fp) == fp)
		r.flags &= ~MEMTAP_RULE_FP_AT_FP;
	if ((r.flags & bx) == bx)
		r.flags &= ~MEMTAP_RULE_BX_AT_FP;
	if (r.flags & MEMTAP_RULE_RA_REG)
		r.ra = t->ra % 16;
	return r;
}

static void load_code(const struct head *h, const uint8_t **data, size_t *size)
{
	struct terse t;
	u32 nr;

	for (nr = 0; nr < h->nr_rules % NR_FN && *size >= sizeof(t); nr++) {
		memcpy(&t, *data, sizeof(t));
		*data += sizeof(t);
		*size -= sizeof(t);
		table.rules[nr] = rule_of(&t);
	}
	table.rules[nr] = (struct memtap_rule){ .kind = MEMTAP_RULE_END, .ra = -8 };
	for (u32 i = 0; i < NR_FN; i++) {
		table.rows[i] = 0x1000 + 16 * i;
		table.kinds[i] = i % (nr + 1);
	}
	table.t.nr_rows = NR_FN;
	table.t.nr_rules = nr + 1;
	if (ref_table_done(&table))
		abort();
	world.code[0] = (struct ref_code){ CODE, 16 * NR_FN + 64, 0xff0, &table };
	world.code[1] = (struct ref_code){ JIT, 256, 0, NULL };
	world.code[2] = (struct ref_code){ NEW, 256, 0, NULL, MEMTAP_STACK_NOTABLE };
	world.nr_codes = 3;
}

/* A word that begins with 0xc0 .. 0xc3 is short for an address, of code or stack. */
static u64 word_of(u64 v, u64 here)
{
	u64 n = v >> 8 & 0xffff;

	switch (v & 0xff) {
	case 0xc0:
		return CODE + n % (16 * NR_FN + 80);
	case 0xc1:
		return (n & 1 ? JIT : NEW) + n / 2 % 256;
	case 0xc2:
		return here + n % 256 * 8;
	case 0xc3:
		return world.mem.base + n % sizeof(world.mem.bytes) / 8 * 8;
	}
	return v;
}

/* The rest of the input, over and over. */
static void fill(const struct head *h, const uint8_t *data, size_t size)
{
	u64 v, n = 0, words = size / 8;

	memset(world.mem.bytes, 0, sizeof(world.mem.bytes));
	for (u64 at = 0; words && at < sizeof(world.mem.bytes); at += 8) {
		memcpy(&v, data + n * 8, 8);
		n = n + 1 < words ? n + 1 : 0;
		if (h->words & 1)
			v = word_of(v, world.mem.base + at);
		memcpy(world.mem.bytes + at, &v, 8);
	}
	memcpy(&world.mem.tramp, world.mem.bytes + 8, 8);
}

static u64 reg_of(const struct head *h, u32 bit, u64 v)
{
	return h->rel & bit ? world.mem.base + v % sizeof(world.mem.bytes) / 8 * 8 : v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u64 ips[MEMTAP_MAX_DEPTH];
	struct rowwalk w = { 0 }, want;
	struct head h;

	if (size < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	data += sizeof(h);
	size -= sizeof(h);
	world.mem.base = h.base & ~(u64)(REF_PAGE - 1);
	world.mem.absent = h.absent;
	load_code(&h, &data, &size);
	fill(&h, data, size);
	world.reg[10] = reg_of(&h, 16, h.r10);
	world.reg[ROWWALK_REG_AX] = h.r10 & 1;
	world.has_reg = (h.shape & 4 ? 1 << 10 : 0) | 1 << ROWWALK_REG_AX;
	w.ip = h.fn < 0xf0 ? CODE + h.fn : h.fn & 1 ? JIT : NEW;
	w.sp = reg_of(&h, 1, h.sp);
	w.fp = reg_of(&h, 2, h.fp);
	w.bx = reg_of(&h, 4, h.bx);
	w.known = h.known & 3 ? h.known & 3 : 3;
	w.entry = h.shape & 1;
	w.max = h.max % (MEMTAP_MAX_DEPTH + 1);
	w.reg = h.shape & 8 ? NULL : ref_get_reg;
	w.calls = h.shape & 8 ? NULL : ref_calls;
	w.enters = ref_enters;
	w.us.fix = h.shape & 2 ? ref_fix : NULL;
	w.us.limit = h.rel & 8 ? world.mem.base + h.limit % (2 * sizeof(world.mem.bytes)) :
		     h.limit;
	if (!ref_rows_agree(&world, &w, ips, &want))
		abort();
	return 0;
}
