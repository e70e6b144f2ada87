// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/arena.c ctl/base/ids.c ctl/base/limit.c ctl/base/openreg.c */
/* LINK: ctl/target/ldcache.c ctl/target/maps.c ctl/target/wrapper.c ctl/target/needed.c */
/* LINK: ctl/target/needed_elf.c ctl/target/needed_libs.c ctl/target/target.c -lelf */
/* FUZZ: -max_len=4096 */
/* What a program says that it needs: an ELF file's headers, a script's first line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "target/needed.h"

static void read_elf(const unsigned char *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct arena arena = { 0 };
	struct needed_elf e;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (!needed_elf_read(fd, &e, &arena)) {
		for (size_t i = 0; i < e.nr; i++)
			if (!*e.names[i] || strlen(e.names[i]) >= size)
				abort();
		if (e.rpath && strlen(e.rpath) >= size)
			abort();
	}
	arena_free(&arena);
	close(fd);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char interpreter[64], program[64], *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	if (needed_script(text, size, interpreter, program, sizeof(program)) &&
	    (!*interpreter || strlen(interpreter) >= sizeof(interpreter)))
		abort();
	free(text);
	read_elf(data, size);
	return 0;
}
