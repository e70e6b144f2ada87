// SPDX-License-Identifier: GPL-2.0-or-later
/* Check whether an instruction begins at a file offset, so that a probe may be put there. */
#include <stdlib.h>
#include <string.h>
#include <elfutils/libdw.h>

#include "elf/insn.h"
#include "elf/int.h"

#define MAX_CODE	(16U << 20)	/* bytes of a function that are decoded at most */

/* The function with the highest start that covers @offset, or NULL. */
static const struct elfsym_func *function_at(struct elfsym *e, __u64 offset)
{
	const struct elfsym_func *best = NULL;

	if (elfsym_load_funcs(e))
		return NULL;
	for (size_t i = 0; i < e->nr_funcs && e->funcs[i].offset <= offset; i++)
		if (offset - e->funcs[i].offset < e->funcs[i].size)
			best = &e->funcs[i];
	return best;
}

/*
 * Where the row of call frame information that covers @offset begins.  A compiler begins a
 * row behind an instruction, so this is a boundary, and stripped files have it, too.  A
 * signal's frame is no such row: libc begins it a byte before the code that it is for.
 */
static bool row_start(struct elfsym *e, __u64 offset, __u64 *start)
{
	Dwarf_Addr from, to;
	Dwarf_Frame *frame;
	__u64 vaddr;
	bool signal, known;
	Dwarf_CFI *cfi;

	if (!elfsym_vaddr(e, offset, &vaddr))
		return false;
	cfi = dwarf_getcfi_elf(e->elf);
	if (!cfi)
		return false;
	known = !dwarf_cfi_addrframe(cfi, vaddr, &frame);
	if (known) {
		known = dwarf_frame_info(frame, &from, &to, &signal) >= 0 && !signal &&
			from <= vaddr && vaddr - from <= offset;
		*start = offset - (vaddr - from);
		free(frame);
	}
	dwarf_cfi_end(cfi);
	return known;
}

/* Bytes of the instruction at @code, of machine @machine; 0: it is not known. */
static size_t length_at(int machine, const unsigned char *code, size_t len)
{
	struct insn i;

	switch (machine) {
	case EM_X86_64:
		return insn_decode(&i, code, len) ? i.len : 0;
	case EM_386:
		return insn_length32(code, len);
	case EM_AARCH64:
		return len >= 4 ? 4 : 0;
	default:
		return 0;
	}
}

/* Code at @offset, of @len bytes or as many as its segment has; NULL: it cannot be read. */
static Elf_Data *code_at(struct elfsym *e, __u64 offset, __u64 len)
{
	for (size_t i = 0; i < e->nr_segments; i++) {
		const struct elfsym_segment *s = &e->segments[i];

		if (!s->exec || offset < s->offset || offset - s->offset >= s->filesz)
			continue;
		if (len > s->filesz - (offset - s->offset))
			len = s->filesz - (offset - s->offset);
		return elf_getdata_rawchunk(e->elf, (int64_t)offset, len, ELF_T_BYTE);
	}
	return NULL;
}

/* Decode from @start until @offset is reached. */
static enum elfsym_place decode(struct elfsym *e, int machine, __u64 start, __u64 offset,
				struct elfsym_boundary *b)
{
	/* (an instruction has 15 bytes at most) */
	Elf_Data *data = offset - start < MAX_CODE ? code_at(e, start, offset - start + 16) : NULL;
	__u64 at = 0, next = 0;

	if (!data)
		return ELFSYM_UNDECODED;
	while (next <= offset - start) {
		const size_t n = next < data->d_size ?
				 length_at(machine, (unsigned char *)data->d_buf + next,
					   data->d_size - next) : 0;

		if (!n)
			return ELFSYM_UNDECODED;
		at = next;
		next += n;
	}
	b->before = start + at;
	b->after = start + next;
	return b->before == offset ? ELFSYM_BOUNDARY : ELFSYM_INSIDE;
}

enum elfsym_place elfsym_check_boundary(struct elfsym *e, __u64 offset,
					struct elfsym_boundary *b)
{
	const struct elfsym_func *f = function_at(e, offset);
	GElf_Ehdr ehdr;
	__u64 row;

	*b = (struct elfsym_boundary){ .func = f };
	if (f && f->offset == offset)
		return ELFSYM_BOUNDARY;
	if (!gelf_getehdr(e->elf, &ehdr))
		return ELFSYM_UNDECODED;
	/* data between instructions can mislead: the nearest start that is known is the best */
	if (row_start(e, offset, &row) && (!f || row > f->offset))
		return decode(e, ehdr.e_machine, row, offset, b);
	if (!f)
		return ELFSYM_NO_FUNCTION;
	return decode(e, ehdr.e_machine, f->offset, offset, b);
}

bool elfsym_is_nop(struct elfsym *e, __u64 offset)
{
	static const unsigned char arm64_nop[] = { 0x1f, 0x20, 0x03, 0xd5 };
	const Elf_Data *data = code_at(e, offset, 16);
	GElf_Ehdr ehdr;

	if (!data || !gelf_getehdr(e->elf, &ehdr))
		return false;
	if (ehdr.e_machine == EM_AARCH64)
		return data->d_size >= 4 && !memcmp(data->d_buf, arm64_nop, 4);
	return insn_is_nop(data->d_buf, data->d_size);
}
