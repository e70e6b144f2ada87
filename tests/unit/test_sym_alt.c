// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/arena.c ctl/base/limit.c ctl/base/openreg.c ctl/elf/build_id.c ctl/sym/alt.c */
/* LINK: ctl/elf/dwarf_text.c ctl/sym/debug.c ctl/sym/dwarf.c ctl/sym/elf.c -lz -ldw -lelf */
/* DWARF whose names are in another file (dwz): which may be anything, or not be there. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"
#include "sym/int.h"
#include "tap.h"

#define ID	"abcdefghijklmnopqrst"
#define FIRST	"6162636465666768696a6b6c6d6e6f70717273"
#define HEX	"0x" FIRST "74"

/* A function whose name is at 1 of the other file's .debug_str, and one that has all there. */
static const char program[] =
	".text\n.globl f\n.type f, @function\nf: .fill 64, 1, 0x90\n.size f, 64\n"
	".globl g\n.type g, @function\ng: .fill 64, 1, 0x90\n.size g, 64\n"
	".section .debug_info,\"\",@progbits\n"
	".long 2f - 1f\n1: .short 4\n.long 0\n.byte 8\n"
	".uleb128 1\n.quad f\n.long 128\n"
	".uleb128 2\n.long 1\n.quad f\n.long 64\n"
	".uleb128 3\n.long 11\n.quad g\n.long 64\n"
	".byte 0\n2:\n"
	".section .debug_abbrev,\"\",@progbits\n"
	".uleb128 1, 0x11\n.byte 1\n.uleb128 0x11, 1, 0x12, 6, 0, 0\n"
	".uleb128 2, 0x2e\n.byte 0\n.uleb128 3, 0x1f21, 0x11, 1, 0x12, 6, 0, 0\n"
	".uleb128 3, 0x2e\n.byte 0\n.uleb128 0x31, 0x1f20, 0x11, 1, 0x12, 6, 0, 0\n"
	".uleb128 0\n"
	"%s";

#define ALT_LINK ".section .gnu_debugaltlink,\"\",@progbits\n.asciz \"%s\"\n.ascii \"" ID "\"\n"
/* DWARF 5's, of a file that has its strings elsewhere */
#define SUP_LINK ".section .debug_sup,\"\",@progbits\n.short 5\n.byte 0\n.asciz \"%s\"\n" \
		 ".uleb128 20\n.ascii \"" ID "\"\n"

/* The other file; it has such a link, too, and a name by it. */
static const char other[] =
	".section .debug_str,\"\",@progbits\n.ascii \"\\0by_string\\0by_reference\\0\"\n"
	".section .debug_info,\"\",@progbits\n"
	".long 2f - 1f\n1: .short 4\n.long 0\n.byte 8\n"
	".uleb128 2\n.long %d\n.byte 0\n2:\n"
	".section .debug_abbrev,\"\",@progbits\n"
	".uleb128 2, 0x2e\n.byte 0\n.uleb128 3, %s, 0, 0\n.uleb128 0\n"
	".section .gnu_debugaltlink,\"\",@progbits\n.asciz \"fifo\"\n.ascii \"" ID "\"\n";

static void assemble(const char *name, const char *id, const char *text)
{
	const char *cc = getenv("CC");
	char command[256];
	FILE *f = fopen("x.s", "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
	snprintf(command, sizeof(command), "%s -shared -nostdlib -Wl,--build-id=%s -o %s x.s",
		 cc && *cc ? cc : "cc", id, name);
	if (system(command))
		abort();
}

static void link_program(const char *section, const char *link)
{
	char text[4096], with[1024];

	snprintf(with, sizeof(with), section, link);
	snprintf(text, sizeof(text), program, with);
	assemble("program", "none", text);
}

static void make_program(const char *link)
{
	link_program(ALT_LINK, link);
}

static void make_other(const char *name, const char *id, bool link)
{
	char text[4096];

	snprintf(text, sizeof(text), other, link ? 1 : 11, link ? "0x1f21" : "0xe");
	assemble(name, id, text);
}

/* What DWARF calls the function, or "". */
static void name_of(const char *function, char name[64])
{
	const int fd = open("program", O_RDONLY | O_CLOEXEC);
	struct sym_elf *e = sym_elf_open(fd, "./program", "debug");
	struct sym_dwarf_frame frames[SYM_MAX_INLINE];
	__u64 addr, start;
	const char *symbol;

	strcpy(name, "not found");
	for (__u64 at = 0; e && at < 16384; at += 32) {
		symbol = sym_elf_address(e, at, &addr) ? sym_elf_symbol(e, addr, &start) : NULL;
		if (!symbol || strcmp(symbol, function))
			continue;
		if (sym_dwarf_frames(e, addr, false, frames))
			snprintf(name, 64, "%s", frames[0].name ? frames[0].name : "");
		break;
	}
	if (e)
		sym_elf_close(e);
}

static void has(const char *f, const char *g, const char *what)
{
	char name[64];

	name_of("f", name);
	ok(!strcmp(name, f), "%s: a string", what);
	name_of("g", name);
	ok(!strcmp(name, g), "%s: a reference", what);
}

static void test_found(const char *dir)
{
	char link[128];

	make_other("common", HEX, false);
	make_program("common");
	has("by_string", "by_reference", "beside the program");
	snprintf(link, sizeof(link), "%s/common", dir);
	make_program(link);
	has("by_string", "by_reference", "by an absolute name");
	if (mkdir(".dwz", 0700) || rename("common", ".dwz/common"))
		abort();
	has("by_string", "by_reference", "in .dwz");
	if (mkdir("debug", 0700) || rename(".dwz", "debug/.dwz"))
		abort();
	has("by_string", "by_reference", "among the debug files");
	if (mkdir("debug/.build-id", 0700) || mkdir("debug/.build-id/61", 0700) ||
	    rename("debug/.dwz/common",
		   "debug/.build-id/61/62636465666768696a6b6c6d6e6f7071727374.debug"))
		abort();
	has("by_string", "by_reference", "by its build id");
	if (system("rm -r debug"))
		abort();
	has("", "", "nowhere");
}

static void test_hostile(const char *dir)
{
	char link[128];

	make_program("fifo");
	has("", "", "a fifo beside the program");
	snprintf(link, sizeof(link), "%s/fifo", dir);
	make_program(link);
	has("", "", "a fifo by an absolute name");
	make_program("/dev/zero");
	has("", "", "a device");
	make_program(dir);
	has("", "", "a directory");
	make_program("");
	has("", "", "nothing");
	link_program(SUP_LINK, "fifo");
	has("", "", "a fifo by the other kind of link");
	make_other("common", "0x" FIRST "00", false);
	make_program("common");
	has("", "", "of another build");
	make_other("common", HEX, true);
	has("by_string", "", "a link to a link to a fifo");
}

int main(void)
{
	scratch_begin();
	if (mkfifo("fifo", 0600))
		abort();
	alarm(60);
	test_found(scratch_dir);
	test_hostile(scratch_dir);
	return scratch_end() ? 1 : tap_done();
}
