// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/sym_elf.c ctl/sym_dwarf.c ctl/sym_alt.c ctl/limit.c ctl/openreg.c ctl/arena.c */
/* LINK: -ldw -lelf */
/* A fifo where elfutils looks for a program's debug file: nobody waits there. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym_int.h"
#include "tap.h"

/* Without symbols, as distributions have it: then debug files are looked for. */
#define STRIPPED	"/bin/true"

static void copy(const char *from, const char *to)
{
	char command[256];

	snprintf(command, sizeof(command), "cp %s %s && strip -R .gnu_debuglink %s", from, to, to);
	if (system(command))
		abort();
}

static void look_up(const char *path, const char *name)
{
	struct sym_elf *e = sym_elf_open(open(path, O_RDONLY | O_CLOEXEC), path, "/usr/lib/debug");
	struct sym_dwarf_frame frames[SYM_MAX_INLINE];
	__u64 addr = 0, start;

	ok(e && sym_elf_address(e, 0x2000, &addr), name);
	sym_elf_symbol(e, addr, &start);
	sym_dwarf_frames(e, addr, false, frames);
	sym_elf_close(e);
}

int main(void)
{
	char dir[] = "/tmp/test_sym_links.XXXXXX", command[64];

	if (!mkdtemp(dir) || chdir(dir) || mkdir(".debug", 0700) || mkfifo("one.debug", 0600) ||
	    mkfifo(".debug/two.debug", 0600))
		abort();
	alarm(60);
	copy(STRIPPED, "one");
	copy(STRIPPED, "two");
	look_up("./one", "a fifo beside it");
	look_up("./two", "a fifo in .debug");
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command) ? 1 : tap_done();
}
