// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/arena.c ctl/base/limit.c ctl/base/openreg.c ctl/elf/build_id.c ctl/sym/alt.c */
/* LINK: ctl/elf/dwarf_text.c ctl/sym/debug.c ctl/sym/dwarf.c ctl/sym/elf.c -lz -ldw -lelf */
/* A line table that libdw has no memory for: the file has no lines, and that is all. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limit.h"
#include "scratch.h"
#include "sym/dwarf.h"
#include "sym/int.h"
#include "tap.h"

#define MIB	(1U << 20)

/*
 * Nothing above 16 MiB is to be had; a table of 400 000 lines is more.  What libdw had
 * begun is lost, as is known.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=16:detect_leaks=0";
}

/* A function, and a unit whose line table has a line for each byte of %d. */
static const char program[] =
	".text\n.globl f\n.type f, @function\nf: .fill 64, 1, 0x90\n.size f, 64\n"
	".section .debug_info,\"\",@progbits\n"
	".long 2f - 1f\n1: .short 4\n.long 0\n.byte 8\n"
	".uleb128 1\n.quad f\n.long 64\n.long 0\n"
	".uleb128 2\n.asciz \"f\"\n.quad f\n.long 64\n"
	".byte 0\n2:\n"
	".section .debug_abbrev,\"\",@progbits\n"
	".uleb128 1, 0x11\n.byte 1\n.uleb128 0x11, 1, 0x12, 6, 0x10, 0x17, 0, 0\n"
	".uleb128 2, 0x2e\n.byte 0\n.uleb128 3, 8, 0x11, 1, 0x12, 6, 0, 0\n"
	".uleb128 0\n"
	".section .debug_line,\"\",@progbits\n"
	".long 4f - 1f\n1: .short 4\n.long 3f - 2f\n"
	"2: .byte 1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1\n"
	".byte 0\n.asciz \"f.c\"\n.uleb128 0, 0, 0\n.byte 0\n"
	"3: .byte 0, 9, 2\n.quad f\n.fill %d, 1, 0x13\n"
	".byte 2\n.uleb128 64\n.byte 0, 1, 1\n4:\n";

static void make(const char *name, int lines)
{
	const char *cc = getenv("CC");
	char command[256];
	FILE *f = fopen("x.s", "w");

	if (!f || fprintf(f, program, lines) < 0 || fclose(f))
		abort();
	snprintf(command, sizeof(command), "%s -shared -nostdlib -o %s x.s",
		 cc && *cc ? cc : "cc", name);
	if (system(command))
		abort();
}

static struct sym_elf *begin(const char *path, __u64 *addr)
{
	struct sym_elf *e = sym_elf_open(open(path, O_RDONLY | O_CLOEXEC), path, "debug");
	const char *symbol;
	__u64 start;

	for (__u64 at = 0; e && at < 16384; at += 32) {
		symbol = sym_elf_address(e, at, addr) ? sym_elf_symbol(e, *addr, &start) : NULL;
		if (symbol && !strcmp(symbol, "f"))
			return e;
	}
	abort();
}

static void test_lines(void)
{
	struct sym_dwarf_frame frames[SYM_MAX_INLINE];
	__u64 large_at, small_at;
	struct sym_elf *large = begin("./large", &large_at), *small = begin("./small", &small_at);

	is(sym_dwarf_frames(small, small_at, false, frames), 1, "a line is found");
	ok(frames[0].file && !strcmp(frames[0].file, "f.c") && frames[0].line, "in its file");
	is(sym_dwarf_frames(large, large_at, false, frames), 0, "a table is too large");
	ok(sym_dwarf_gave_up(large), "which is told");
	is(sym_dwarf_frames(large, large_at, false, frames), 0, "it is not tried again");
	ok(!sym_dwarf_gave_up(large), "nor told");
	ok(!sym_dwarf_gave_up(small), "and nothing is told of others");
	is(sym_dwarf_frames(small, small_at, false, frames), 1, "others go on");
	sym_elf_close(large);
	sym_elf_close(small);
}

static rlim_t data(void)
{
	struct rlimit r;

	return getrlimit(RLIMIT_DATA, &r) ? 0 : r.rlim_cur;
}

static void test_limit(void)
{
	const struct rlimit some = { .rlim_cur = 1ULL << 46, .rlim_max = RLIM_INFINITY };
	rlim_t most, own;

	setrlimit(RLIMIT_DATA, &some);
	limit_memory();
	most = data();
	ok(most >= 512 * MIB && most < some.rlim_cur, "memory is limited");
	limit_narrow(true);
	is(data(), most - most / 8, "libraries have seven eighths of it");
	limit_narrow(false);
	is(data(), most, "the rest is for the report");
	limit_restore();
	own = data();
	is(own, some.rlim_cur, "a program that is run has what there was");
}

int main(void)
{
	scratch_begin();
	make("small", 10);
	make("large", 400000);
	test_lines();
	if (scratch_end())
		return 1;
	test_limit();
	return tap_done();
}
