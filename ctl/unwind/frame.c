// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert each FDE of a .eh_frame or .debug_frame section to rows. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/int.h"

#define CIE_KEPT	8		/* linkers leave a few, compilers one a file */
#define FIND_BUDGET	1000000		/* instructions of CIEs and of one FDE */

struct cie {
	Dwarf_Off off;
	bool used, good;
	bool signal, sized;		/* augmentation: S, z */
	__u8 encoding;
	__u64 code_align;
	__s64 data_align;
	size_t fde_augmentation;	/* bytes, where it is not sized */
	struct unwind_state state;	/* where each of its functions begins */
};

struct reader {
	struct unwind_maker *m;
	const struct unwind_section *s;
	const unsigned char *ident, *base;
	struct cie cies[CIE_KEPT];
	unsigned int oldest;
	struct unwind_cfa cfa;		/* of the FDE at hand, and of its CIE */
	const struct cie *cie;
	struct unwind_go_frame go;
	__u64 place;			/* that is looked for alone */
};

static bool read_augmentation(const Dwarf_CIE *d, struct cie *c)
{
	struct unwind_bytes b = {
		d->augmentation_data, d->augmentation_data + d->augmentation_data_size
	};
	const char *p = d->augmentation;
	__u64 v;

	if (*p == 'z') {
		c->sized = true;
		p++;
	}
	for (; *p; p++) {
		switch (*p) {
		case 'S':
			c->signal = true;
			break;
		case 'B':
			break;
		case 'L':
			if (!unwind_read_uint(&b, 1, &v))
				return false;
			break;
		case 'R':
			if (!unwind_read_uint(&b, 1, &v))
				return false;
			c->encoding = (__u8)v;
			break;
		case 'P':
			if (!unwind_read_uint(&b, 1, &v) ||
			    !unwind_read_encoded(&b, v & 0x0f, 0, &v))
				return false;
			break;
		default:		/* what it means, 'z' lets us skip */
			return c->sized;
		}
	}
	return true;
}

static int no_rows(struct unwind_cfa *cfa, __u64 start, __u64 end)
{
	(void)cfa, (void)start, (void)end;
	return 0;
}

static void prepare(struct reader *r, const struct cie *c)
{
	struct unwind_cfa *cfa = &r->cfa;

	cfa->code_align = c->code_align;
	cfa->data_align = c->data_align;
	cfa->encoding = c->encoding;
	cfa->nr_saved = 0;
}

static bool run_initial(struct reader *r, const Dwarf_CIE *d, struct cie *c)
{
	struct unwind_cfa *cfa = &r->cfa;

	prepare(r, c);
	memset(&cfa->now, 0, sizeof(cfa->now));
	memset(&cfa->initial, 0, sizeof(cfa->initial));
	cfa->loc = cfa->end = 0;
	cfa->emit = no_rows;
	if (unwind_cfa_run(cfa, d->initial_instructions, d->initial_instructions_end))
		return false;
	c->state = cfa->now;
	return true;
}

static const struct cie *find_cie(struct reader *r, Dwarf_Off off)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;
	struct cie *c;

	for (unsigned int i = 0; i < CIE_KEPT; i++)
		if (r->cies[i].used && r->cies[i].off == off)
			return r->cies[i].good ? &r->cies[i] : NULL;
	c = &r->cies[r->oldest++ % CIE_KEPT];
	*c = (struct cie) { .used = true, .off = off };
	if (off >= r->s->data->d_size ||
	    dwarf_next_cfi(r->ident, r->s->data, r->s->eh_frame, off, &next, &entry) ||
	    !dwarf_cfi_cie_p(&entry))
		return NULL;
	c->code_align = entry.cie.code_alignment_factor;
	c->data_align = entry.cie.data_alignment_factor;
	c->fde_augmentation = entry.cie.fde_augmentation_data_size;
	c->good = entry.cie.return_address_register == 16 &&
		  read_augmentation(&entry.cie, c) && run_initial(r, &entry.cie, c);
	return c->good ? c : NULL;
}

/* Go's linker describes the stack pointer alone; no other one writes such a CIE. */
static bool is_go(const struct reader *r)
{
	return r->m->go && !r->s->eh_frame && r->cie->data_align == -4;
}

static int add_rule(struct reader *r, __u32 start)
{
	struct memtap_rule rule;

	unwind_rule_make(&r->cfa.now, r->cie->signal, &rule);
	return unwind_rows_add(&r->m->rows, start, &rule);
}

static int add_go_row(struct reader *r, __u32 start, __u32 end)
{
	struct unwind_where *bp = &r->cfa.now.reg[UNWIND_BP];
	int err;

	*bp = (struct unwind_where) { .how = UNWIND_SAME };
	unwind_go_row(&r->go, &r->m->elf, start, &r->cfa.now.cfa);
	if (!r->go.saved || r->cfa.now.cfa.value < 16 || r->go.from >= end)
		return add_rule(r, start);
	if (start < r->go.from) {
		err = add_rule(r, start);
		if (err)
			return err;
		start = r->go.from;
	}
	*bp = (struct unwind_where) { .how = UNWIND_AT_CFA, .value = -16 };
	return add_rule(r, start);
}

static int add_row(struct unwind_cfa *cfa, __u64 start, __u64 end)
{
	struct reader *r = cfa->ctx;
	__u32 from, to;

	if (!unwind_elf_range(&r->m->elf, start, end - start, &from, &to))
		return 0;
	return is_go(r) ? add_go_row(r, from, to) : add_rule(r, from);
}

static int add_damaged(struct reader *r)
{
	const struct memtap_rule none = { .kind = MEMTAP_RULE_NONE, .ra = -8 };
	__u32 from, to;

	r->m->coverage.damaged++;
	if (!unwind_elf_range(&r->m->elf, r->cfa.loc, r->cfa.end - r->cfa.loc, &from, &to))
		return 0;
	return unwind_rows_add(&r->m->rows, from, &none);
}

/* [start, end) and the instructions of an FDE. */
static bool read_fde(struct reader *r, const Dwarf_FDE *fde, struct unwind_bytes *b)
{
	const struct cie *c = r->cie;
	const __u64 at = r->s->vaddr + (__u64)(fde->start - r->base);
	__u64 start, len, skip = c->fde_augmentation;

	*b = (struct unwind_bytes) { fde->start, fde->end };
	if (!unwind_read_encoded(b, c->encoding, at, &start) ||
	    !unwind_read_encoded(b, c->encoding & 0x0f, 0, &len))
		return false;
	if (c->sized && !unwind_read_uleb(b, &skip))
		return false;
	if (skip > (__u64)(b->end - b->p))
		return false;
	b->p += skip;
	/* a length has no sign, whatever its encoding says of addresses */
	if ((c->encoding & 0x0f) == DW_EH_PE_sdata4)
		len &= 0xffffffff;
	r->cfa.loc = start;
	r->cfa.end = len > ~start ? ~0ULL : start + len;
	return true;
}

static int add_fde(struct reader *r, const Dwarf_FDE *fde)
{
	struct unwind_maker *m = r->m;
	struct unwind_bytes b;
	__u32 start, end;
	int err;

	r->cie = find_cie(r, fde->CIE_pointer);
	if (!r->cie || !read_fde(r, fde, &b)) {
		m->coverage.damaged++;
		return 0;
	}
	/* at 0 is what the linker has thrown away */
	if (!r->cfa.loc ||
	    !unwind_elf_range(&m->elf, r->cfa.loc, r->cfa.end - r->cfa.loc, &start, &end))
		return 0;
	err = unwind_rows_begin(&m->rows, start, end,
				r->s->eh_frame ? UNWIND_EH_FRAME : UNWIND_DEBUG_FRAME);
	if (err)
		return err;
	m->coverage.functions++;
	m->go_cfi |= is_go(r);
	r->cfa.end = r->cfa.loc + (end - start);
	prepare(r, r->cie);
	r->cfa.now = r->cfa.initial = r->cie->state;
	r->cfa.emit = add_row;
	unwind_go_begin(&r->go);
	err = unwind_cfa_run(&r->cfa, b.p, b.end);
	return err == -EBADMSG ? add_damaged(r) : err;
}

/*
 * The entry after @off, which could not be read or is the zero that ends a list:
 * objects that were linked may each have brought one.
 */
static Dwarf_Off skip_entry(const struct reader *r, Dwarf_Off off)
{
	const size_t size = r->s->data->d_size;
	struct unwind_bytes b = { r->base + off, r->base + size };
	__u64 len;

	if (!unwind_read_uint(&b, 4, &len))
		return size;
	if (len == 0xffffffff && !unwind_read_uint(&b, 8, &len))
		return size;
	if (len > (__u64)(b.end - b.p))
		return size;
	return (Dwarf_Off)(b.p - r->base) + len;
}

static struct reader *begin(const struct unwind_elf *e, const struct unwind_section *s,
			    __u64 *budget)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->s = s;
	r->base = s->data->d_buf;
	r->ident = (const unsigned char *)elf_getident(e->elf, NULL);
	r->cfa.vaddr = s->vaddr;
	r->cfa.base = r->base;
	r->cfa.budget = budget;
	r->cfa.ctx = r;
	return r;
}

int unwind_frame_section(struct unwind_maker *m, const struct unwind_section *s)
{
	struct reader *r = begin(&m->elf, s, &m->budget);
	Dwarf_CFI_Entry entry;
	Dwarf_Off off = 0, next;
	int err = 0;

	if (!r)
		return -ENOMEM;
	r->m = m;
	for (; !err && off + 4 < s->data->d_size; off = next) {
		err = dwarf_next_cfi(r->ident, s->data, s->eh_frame, off, &next, &entry);
		if (err) {
			next = skip_entry(r, off);
			if (next != off + 4)
				m->coverage.damaged++;
			err = 0;
			continue;
		}
		if (!dwarf_cfi_cie_p(&entry))
			err = add_fde(r, &entry.fde);
	}
	free(r);
	return err;
}

/* ---- one place ---- */

#define FOUND	1

static int see_row(struct unwind_cfa *cfa, __u64 start, __u64 end)
{
	const struct reader *r = cfa->ctx;

	return r->place >= start && r->place < end ? FOUND : 0;
}

/* Whose FDE is it?  1: that of the place, whose state is in r->cfa.now. */
static int try_fde(struct reader *r, const Dwarf_FDE *fde)
{
	struct unwind_bytes b;

	r->cie = find_cie(r, fde->CIE_pointer);
	if (!r->cie || !read_fde(r, fde, &b) || r->place < r->cfa.loc ||
	    r->place >= r->cfa.end)
		return 0;
	prepare(r, r->cie);
	r->cfa.now = r->cfa.initial = r->cie->state;
	r->cfa.emit = see_row;
	return unwind_cfa_run(&r->cfa, b.p, b.end);
}

int unwind_frame_find(const struct unwind_elf *e, const struct unwind_section *s, __u64 vaddr,
		      struct unwind_state *state)
{
	__u64 budget = FIND_BUDGET;
	struct reader *r = begin(e, s, &budget);
	Dwarf_CFI_Entry entry;
	Dwarf_Off off = 0, next;
	int ret = 0;

	if (!r)
		return -ENOMEM;
	r->place = vaddr;
	for (; !ret && off + 4 < s->data->d_size; off = next) {
		ret = dwarf_next_cfi(r->ident, s->data, s->eh_frame, off, &next, &entry);
		if (ret) {
			next = skip_entry(r, off);
			ret = 0;
		} else if (!dwarf_cfi_cie_p(&entry)) {
			ret = try_fde(r, &entry.fde);
		}
	}
	if (ret == FOUND)
		*state = r->cfa.now;
	free(r);
	return ret == FOUND ? 0 : ret < 0 ? ret : -ENOENT;
}
