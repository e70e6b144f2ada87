// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/arena.c ctl/base/limit.c ctl/base/openreg.c ctl/elf/build_id.c ctl/sym/alt.c */
/* LINK: ctl/elf/dwarf_text.c ctl/sym/debug.c ctl/sym/dwarf.c ctl/sym/elf.c -lz -ldw -lelf */
/* FUZZ: -max_len=65536 */
/* An ELF file that somebody made up: its symbols, and the lines and inlined calls it tells. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/int.h"

static void ask(struct sym_elf *e, __u64 offset)
{
	struct sym_dwarf_frame frames[SYM_MAX_INLINE];
	__u64 addr, start;
	const char *name;
	size_t i, nr, sum = 0;

	/* as a debug file that is here alone, and as the program itself */
	if (!sym_elf_debug_address(e, offset, offset & ~4095ULL, 4096, &addr) &&
	    !sym_elf_address(e, offset, &addr))
		return;
	name = sym_elf_symbol(e, addr, &start);
	sum += name ? strlen(name) : 0;
	nr = sym_dwarf_frames(e, addr, false, frames);
	if (nr > SYM_MAX_INLINE)
		abort();
	for (i = 0; i < nr; i++)
		sum += (frames[i].name ? strlen(frames[i].name) : 0) +
		       (frames[i].file ? strlen(frames[i].file) : 0);
	if (sum == (size_t)-1)
		abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct sym_elf *e;
	__u64 offset;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) != (ssize_t)size) {
		close(fd);
		return 0;
	}
	e = sym_elf_open(fd, "/proc/self/fd/none", "/no/such");
	for (offset = 0; e && offset < size && offset < 8192; offset += 61)
		ask(e, offset);
	if (e)
		sym_elf_close(e);
	return 0;
}
