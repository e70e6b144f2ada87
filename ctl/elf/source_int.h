/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SOURCE_INT_H
#define _SOURCE_INT_H

#include <elfutils/libdw.h>
#include <setjmp.h>

#include "elf/source.h"

#define SOURCE_CHAIN	64	/* blocks in each other */

struct source {
	struct elfsym *e;
	Dwarf *dw;
	Dwarf_CFI *debug_frame, *eh_frame;
	bool x86_64, i386, gave_up, frames_tried;
	Dwarf_Die *types;	/* what has them; number N is types[N - 1] */
	size_t nr_types, room_types;
	size_t budget;		/* entries of DWARF that one question may look at */
};

/* From the unit inwards: the functions, inlined calls and blocks that have code at an address. */
struct source_chain {
	Dwarf_Die at[SOURCE_CHAIN];
	size_t nr;
};

/* False: the budget is used up. */
bool source_spend(struct source *s);

/* False: no function has code there. */
bool source_chain(struct source *s, Dwarf_Addr pc, struct source_chain *c);

/* source_type.c: the type of @die, without names for it and const; false: it has none */
bool source_type_die(Dwarf_Die *die, Dwarf_Die *type);
struct ctype source_type_of(struct source *s, Dwarf_Die *die);
/* of that number */
struct ctype source_type(struct source *s, __u32 id);

/* libdw has no memory: it jumps to @to. */
struct source_way_out {
	jmp_buf to;
};
void source_guard(struct source *s, struct source_way_out *out);

#endif
