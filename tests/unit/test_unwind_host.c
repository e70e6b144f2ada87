// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/base/opt_value.c ctl/elf/build_id.c ctl/elf/debug.c */
/* LINK: ctl/elf/func.c ctl/elf/symbols.c ctl/elf/usdt.c ctl/unwind/bytes.c ctl/unwind/cfa.c */
/* LINK: ctl/unwind/crt.c ctl/unwind/elf.c ctl/unwind/fp.c ctl/unwind/frame.c ctl/unwind/gap.c */
/* LINK: ctl/unwind/go.c ctl/unwind/plt.c ctl/unwind/rows.c ctl/unwind/rule.c */
/* LINK: ctl/unwind/start.c ctl/unwind/text.c ctl/unwind/unwind.c kmod/core/unwindtab.c -ldw */
/* LINK: -lelf */
/*
 * Every row of this host's libraries against elfutils' own answer.  Both are
 * evaluated on a machine whose registers and memory are made up: same caller,
 * same meaning.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "unwind/unwind.h"
#include "unwindtab.h"

#define REG_BX 3
#define REG_BP 6
#define REG_SP 7
#define REG_IP 16

static __u64 reg_value(unsigned int reg, __u64 pc)
{
	return reg == REG_IP ? pc : 0x7f0000100000ULL + reg * 0x1230ULL;
}

static __u64 mem(__u64 at)
{
	at = (at ^ (at >> 29)) * 0xbf58476d1ce4e5b9ULL;
	return at ^ (at >> 32);
}

/* The caller's registers. */
struct caller {
	bool none, end;
	__u64 ip, sp, bp, bx;
};

struct stack {
	__u64 at[64];
	int nr;
	bool is_value, bad;
};

static void binary(struct stack *s, __u8 op)
{
	const __u64 b = s->at[s->nr - 1], a = s->at[s->nr - 2];
	__u64 v = 0;

	s->nr--;
	switch (op) {
	case DW_OP_plus:
		v = a + b;
		break;
	case DW_OP_minus:
		v = a - b;
		break;
	case DW_OP_mul:
		v = a * b;
		break;
	case DW_OP_and:
		v = a & b;
		break;
	case DW_OP_shl:
		v = a << b;
		break;
	case DW_OP_ge:
		v = (__s64)a >= (__s64)b;
		break;
	default:
		s->bad = true;
	}
	s->at[s->nr - 1] = v;
}

static void operate(struct stack *s, const Dwarf_Op *op, __u64 pc, __u64 cfa)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		s->at[s->nr++] = op->atom - DW_OP_lit0;
	else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		s->at[s->nr++] = reg_value(op->atom - DW_OP_breg0, pc) + op->number;
	else if (op->atom == DW_OP_bregx)
		s->at[s->nr++] = reg_value((unsigned int)op->number, pc) + op->number2;
	else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		s->is_value = true, s->at[s->nr++] = reg_value(op->atom - DW_OP_reg0, pc);
	else if (op->atom == DW_OP_regx)
		s->is_value = true, s->at[s->nr++] = reg_value((unsigned int)op->number, pc);
	else if (op->atom == DW_OP_call_frame_cfa)
		s->at[s->nr++] = cfa;
	else if (op->atom == DW_OP_stack_value)
		s->is_value = true;
	else if (op->atom == DW_OP_const1u || op->atom == DW_OP_constu ||
		 op->atom == DW_OP_consts)
		s->at[s->nr++] = op->number;
	else if (s->nr && op->atom == DW_OP_deref)
		s->at[s->nr - 1] = mem(s->at[s->nr - 1]);
	else if (s->nr && op->atom == DW_OP_plus_uconst)
		s->at[s->nr - 1] += op->number;
	else if (s->nr > 1)
		binary(s, op->atom);
	else
		s->bad = true;
}

static bool evaluate(const Dwarf_Op *ops, size_t nr, __u64 pc, __u64 cfa, struct stack *s)
{
	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < nr && !s->bad && s->nr < 60; i++)
		operate(s, &ops[i], pc, cfa);
	return !s->bad && s->nr;
}

/* 1: got it; 0: undefined; -1: this test cannot tell */
static int reg_by_elfutils(Dwarf_Frame *f, int reg, __u64 pc, __u64 cfa, __u64 *v)
{
	Dwarf_Op mem_ops[3], *ops;
	struct stack s;
	size_t nr;

	if (dwarf_frame_register(f, reg, mem_ops, &ops, &nr))
		return -1;
	if (!nr) {
		*v = reg == REG_SP ? cfa : reg_value((unsigned int)reg, pc);
		return ops ? 0 : 1;	/* as libdw.h has it */
	}
	if (!evaluate(ops, nr, pc, cfa, &s))
		return -1;
	*v = s.is_value ? s.at[s.nr - 1] : mem(s.at[s.nr - 1]);
	return 1;
}

static bool by_elfutils(Dwarf_Frame *f, __u64 pc, struct caller *c)
{
	Dwarf_Op *ops;
	struct stack s;
	size_t nr;
	__u64 cfa;
	int got;

	memset(c, 0, sizeof(*c));
	if (dwarf_frame_cfa(f, &ops, &nr) || !nr || !evaluate(ops, nr, pc, 0, &s))
		return false;
	cfa = s.at[s.nr - 1];
	got = reg_by_elfutils(f, REG_IP, pc, cfa, &c->ip);
	c->end = !got;
	return got >= 0 && reg_by_elfutils(f, REG_SP, pc, cfa, &c->sp) == 1 &&
	       reg_by_elfutils(f, REG_BP, pc, cfa, &c->bp) >= 0 &&
	       reg_by_elfutils(f, REG_BX, pc, cfa, &c->bx) >= 0;
}

static __u64 saved(const struct memtap_rule *r, __u64 cfa, __u64 bp, __u32 in_frame,
		   __u32 at_fp, __s32 off, __u64 same)
{
	return r->flags & in_frame ? mem(cfa + off) : r->flags & at_fp ? mem(bp + off) : same;
}

static void by_rule(const struct memtap_rule *r, __u64 pc, struct caller *c)
{
	const __u64 sp = reg_value(REG_SP, pc), bp = reg_value(REG_BP, pc);
	__u64 cfa = reg_value(r->reg, pc) + r->cfa;

	memset(c, 0, sizeof(*c));
	switch (r->kind) {
	case MEMTAP_RULE_END:
		c->end = true;
		return;
	case MEMTAP_RULE_SIGNAL:
		c->sp = mem(sp + 160);
		c->ip = mem(sp + 168);
		c->bp = mem(sp + 120);
		c->bx = mem(sp + 128);
		return;
	case MEMTAP_RULE_DEREF:
		cfa = mem(cfa) + r->add;
		break;
	case MEMTAP_RULE_PLT:
		cfa = sp + r->cfa + ((__s64)(pc & 15) >= r->add ? 8 : 0);
		break;
	case MEMTAP_RULE_CFA:
		break;
	default:
		c->none = true;
		return;
	}
	c->sp = cfa;
	c->ip = r->flags & MEMTAP_RULE_RA_REG ? reg_value((unsigned int)r->ra, pc) :
						mem(cfa + r->ra);
	c->bp = saved(r, cfa, bp, MEMTAP_RULE_FP_SAVED, MEMTAP_RULE_FP_AT_FP, r->fp, bp);
	c->bx = saved(r, cfa, bp, MEMTAP_RULE_BX_SAVED, MEMTAP_RULE_BX_AT_FP, r->bx,
		      reg_value(REG_BX, pc));
}

struct compared {
	Elf *elf;
	Dwarf_CFI *cfi;
	struct unwind_table t;
	unsigned long fdes, rows, wrong, none, missing;
};

static bool to_offset(Elf *elf, __u64 vaddr, __u64 *offset)
{
	GElf_Phdr ph;
	size_t nr = 0;

	elf_getphdrnum(elf, &nr);
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
		    ph.p_flags & PF_X && vaddr >= ph.p_vaddr &&
		    vaddr - ph.p_vaddr < ph.p_filesz) {
			*offset = vaddr - ph.p_vaddr + ph.p_offset;
			return true;
		}
	return false;
}

static void complain(const char *what, __u64 pc, const struct memtap_rule *r)
{
	char text[128];

	unwind_rule_text(r, text, sizeof(text));
	fprintf(stderr, "# %s at 0x%llx: %s\n", what, (unsigned long long)pc, text);
}

static void compare_at(struct compared *c, Dwarf_Frame *f, __u64 pc)
{
	const struct memtap_rule *r;
	struct caller theirs, ours;
	__u64 offset;
	__u32 row;

	if (!to_offset(c->elf, pc, &offset))
		return;
	r = unwind_find(&c->t, offset, &row);
	if (!r) {
		if (!c->missing++)
			complain("no row", pc, &unwindtab_gap);
		return;
	}
	by_rule(r, pc, &ours);
	if (ours.none) {
		c->none++;
		return;
	}
	if (!by_elfutils(f, pc, &theirs) || theirs.end != ours.end ||
	    (!ours.end && memcmp(&theirs, &ours, sizeof(ours))))
		if (!c->wrong++)
			complain("not the same", pc, r);
}

/* Each of elfutils' rows of the function at @pc: its first byte, and its last. */
static void compare_function(struct compared *c, __u64 pc, __u64 next)
{
	Dwarf_Addr start, end;
	Dwarf_Frame *f;
	bool signal;

	c->fdes++;
	while (pc < next && !dwarf_cfi_addrframe(c->cfi, pc, &f)) {
		if (dwarf_frame_info(f, &start, &end, &signal) < 0 || start != pc ||
		    end <= pc)
			end = ~0ULL;
		if (end != ~0ULL) {
			c->rows++;
			compare_at(c, f, pc);
			compare_at(c, f, end - 1);
		}
		free(f);
		pc = end;
	}
}

/* Entry @i of .eh_frame_hdr, the linker's own list of functions, sorted. */
static __u64 listed(const Elf_Data *d, const GElf_Phdr *ph, __u32 i)
{
	__s32 rel;

	memcpy(&rel, (char *)d->d_buf + 12 + 8 * (size_t)i, 4);
	return ph->p_vaddr + (__u64)(__s64)rel;
}

static bool compare_all(struct compared *c)
{
	GElf_Phdr ph;
	Elf_Data *d;
	size_t n = 0;
	__u32 nr;

	elf_getphdrnum(c->elf, &n);
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(c->elf, (int)i, &ph) || ph.p_type != PT_GNU_EH_FRAME)
			continue;
		d = elf_getdata_rawchunk(c->elf, (int64_t)ph.p_offset, ph.p_filesz,
					 ELF_T_BYTE);
		if (!d || d->d_size < 12 || memcmp((char *)d->d_buf + 2, "\3\x3b", 2))
			return false;
		memcpy(&nr, (char *)d->d_buf + 8, 4);
		if (nr > (d->d_size - 12) / 8)
			return false;
		for (__u32 f = 0; f < nr; f++)
			compare_function(c, listed(d, &ph, f),
					 f + 1 < nr ? listed(d, &ph, f + 1) : ~0ULL);
		return nr;
	}
	return false;
}

static void check_table(const struct unwind_table *t, const char *name)
{
	ok(unwind_is_sound(t), "%s: the module will take this table", name);
	ok(t->rules[t->kinds[t->nr_rows - 1]].kind == MEMTAP_RULE_GAP,
	   "%s: nothing is said of what comes after the code", name);
}

static void test_file(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct compared c = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		ok(1, "%s is not here # SKIP", path);
		return;
	}
	if (!ok(!unwind_compile(fd, &c.t), "%s: has a table", name)) {
		close(fd);
		return;
	}
	check_table(&c.t, name);
	c.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	c.cfi = dwarf_getcfi_elf(c.elf);
	ok(compare_all(&c), "%s: lists its functions", name);
	fprintf(stderr, "# %s: %lu functions, %lu rows by elfutils, %u ours, %lu inexpressible\n",
		name, c.fdes, c.rows, c.t.nr_rows, c.none);
	ok(c.rows > 10, "%s: has rows", name);
	is(c.missing, 0, "%s: no row is missing", name);
	is(c.wrong, 0, "%s: each row leads to the caller that elfutils finds", name);
	ok(c.none * 200 <= c.rows, "%s: few rows cannot be expressed", name);
	dwarf_cfi_end(c.cfi);
	elf_end(c.elf);
	unwind_free(&c.t);
	close(fd);
}

int main(void)
{
	static const char *const paths[] = {
		"/proc/self/exe",
		"/lib64/ld-linux-x86-64.so.2",
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib/x86_64-linux-gnu/libm.so.6",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/bin/bash",
	};

	elf_version(EV_CURRENT);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		test_file(paths[i]);
	return tap_done();
}
