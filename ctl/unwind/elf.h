/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _UNWIND_ELF_H
#define _UNWIND_ELF_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* The code of a file: addresses and file offsets of its executable segments. */
struct unwind_segment {
	__u64 vaddr;
	__u32 start, end;		/* offsets in the file */
};

struct unwind_elf {
	Elf *elf;
	int fd;				/* or -1, and then the file is here: */
	const unsigned char *image;
	size_t size;
	__u64 entry;
	struct unwind_segment *segments; /* executable, in order of start */
	size_t nr_segments;
};

int unwind_elf_open(int fd, struct unwind_elf *e);
/* -ENOENT: there is none */
int unwind_elf_open_vdso(struct unwind_elf *e);
void unwind_elf_close(struct unwind_elf *e);

/* [*start, *end) of the file for @len bytes at @vaddr; false: not in code. */
bool unwind_elf_range(const struct unwind_elf *e, __u64 vaddr, __u64 len, __u32 *start,
		      __u32 *end);

#endif
