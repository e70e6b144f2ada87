// SPDX-License-Identifier: GPL-2.0-or-later
/* Find where a function saves its caller's registers, for all registers (rows have some only). */
#include <errno.h>

#include "unwind/int.h"

static const struct {
	__u32 dwarf, index;
} kept[UNWIND_SAVED_REGS] = {
	{ 3, UNWIND_BX }, { 6, UNWIND_BP }, { 12, UNWIND_R12 }, { 13, UNWIND_R13 },
	{ 14, UNWIND_R14 }, { 15, UNWIND_R15 },
};

static int tell(const struct unwind_state *state, struct unwind_saved *s)
{
	const struct unwind_where *ra = &state->reg[UNWIND_RA];

	*s = (struct unwind_saved){ 0 };
	if (ra->how == UNWIND_UNDEFINED) {
		s->outermost = true;
		return 0;
	}
	if (state->cfa.how != UNWIND_REG || state->cfa.reg >= 16 ||
	    ra->how != UNWIND_AT_CFA || ra->value != -8)
		return -ENOTSUP;
	s->cfa_reg = state->cfa.reg;
	s->cfa_offset = state->cfa.value;
	for (int i = 0; i < UNWIND_SAVED_REGS; i++) {
		const struct unwind_where *w = &state->reg[kept[i].index];

		if (w->how == UNWIND_SAME)
			continue;
		if (w->how != UNWIND_AT_CFA)
			return -ENOTSUP;
		s->saved[s->nr].reg = kept[i].dwarf;
		s->saved[s->nr++].at = w->value;
	}
	return 0;
}

static int find(const struct unwind_elf *e, __u64 vaddr, struct unwind_state *state)
{
	struct unwind_section s;
	int err = -ENOENT;

	if (unwind_elf_eh_frame(e->elf, &s))
		err = unwind_frame_find(e, &s, vaddr, state);
	if (err == -ENOENT && unwind_elf_debug_frame(e->elf, &s))
		err = unwind_frame_find(e, &s, vaddr, state);
	return err;
}

int unwind_saved_at(int fd, __u64 offset, struct unwind_saved *s)
{
	struct unwind_state state;
	struct unwind_elf e;
	int err = unwind_elf_open(fd, &e);

	if (err)
		return err;
	err = -ENOENT;
	for (size_t i = 0; i < e.nr_segments; i++)
		if (offset >= e.segments[i].start && offset < e.segments[i].end)
			err = find(&e, e.segments[i].vaddr + (offset - e.segments[i].start),
				   &state);
	if (!err)
		err = tell(&state, s);
	unwind_elf_close(&e);
	return err;
}
