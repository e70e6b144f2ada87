// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A function whose instructions are known: `wl_place` prints what it computes, which a
 * probe inside an instruction would change.  `wl_place offset` prints where it lies in the
 * file.
 */
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* begin at 0, 1, 6, 10, 16, 17; 18 bytes */
long wl_place(long n);
asm(".text\n.globl wl_place\n.type wl_place,@function\n"
    "wl_place: push %rbx\n"
    "	movl $7,%ebx\n"
    "	lea (%rdi,%rbx,4),%rax\n"
    "	.byte 0x48,0x05,0xe8,0x03,0,0\n"	/* add $1000,%rax */
    "	pop %rbx\n"
    "	ret\n"
    ".size wl_place,.-wl_place\n");

/* The first object is the program. */
static int find(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const uintptr_t at = (uintptr_t)wl_place - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && at >= ph->p_vaddr && at - ph->p_vaddr < ph->p_filesz)
			*(uintptr_t *)ctx = at - ph->p_vaddr + ph->p_offset;
	}
	return 1;
}

int main(int argc, char **argv)
{
	uintptr_t offset = 0;
	long sum = 0;

	if (argc > 1 && !strcmp(argv[1], "offset")) {
		dl_iterate_phdr(find, &offset);
		printf("%#lx\n", (unsigned long)offset);
		return 0;
	}
	for (long n = 0; n < 100; n++)
		sum += wl_place(n);
	printf("%ld\n", sum);
	return 0;
}
