/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ELFSYM_INT_H
#define _ELFSYM_INT_H

#include <gelf.h>

#include "elf/symbols.h"

struct elfsym_segment {
	__u64 vaddr, offset, filesz, memsz;
	bool exec, write;
};

struct elfsym {
	Elf *elf;			/* the file */
	Elf *mini, *debug;		/* .gnu_debugdata, separate debug file */
	int mini_fd, debug_fd;
	int class;			/* ELFCLASS32 or ELFCLASS64 */
	struct elfsym_segment *segments;
	size_t nr_segments;
	struct elfsym_func *funcs;	/* sorted by offset, then name */
	size_t nr_funcs, room_funcs;
	bool loaded;
	struct elfsym_probe *probes;
	size_t nr_probes;
	bool probes_loaded;
};

/* false: not in the file's part of a segment */
bool elfsym_offset(const struct elfsym *e, __u64 vaddr, __u64 *offset);

/* The address of @offset; false: it is in no segment. */
bool elfsym_vaddr(const struct elfsym *e, __u64 offset, __u64 *vaddr);

Elf_Scn *elfsym_section(Elf *elf, const char *name, GElf_Shdr *shdr);

/* debug.c: open e->mini and e->debug if there are any */
void elfsym_open_mini(struct elfsym *e);
void elfsym_open_debug(struct elfsym *e);

/* func.c, usdt.c */
int elfsym_load_funcs(struct elfsym *e);
int elfsym_load_probes(struct elfsym *e);

#endif
