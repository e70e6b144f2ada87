// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/arena.c ctl/base/limit.c ctl/base/openreg.c ctl/elf/build_id.c ctl/sym/alt.c */
/* LINK: ctl/elf/dwarf_text.c ctl/sym/debug.c ctl/sym/dwarf.c ctl/sym/elf.c -lz -ldw -lelf */
/* Debug files: found by their names, and by those names nobody waits for a fifo. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"
#include "sym/int.h"
#include "tap.h"

/* Without symbols, as distributions have it: then debug files are looked for. */
#define STRIPPED	"/bin/true"

static void run(const char *command)
{
	if (system(command))
		abort();
}

static void copy(const char *from, const char *to)
{
	char command[256];

	snprintf(command, sizeof(command), "cp %s %s && strip -R .gnu_debuglink %s", from, to, to);
	run(command);
}

static void look_up(const char *path, const char *name)
{
	struct sym_elf *e = sym_elf_open(open(path, O_RDONLY | O_CLOEXEC), path, "/usr/lib/debug");
	struct sym_dwarf_frame frames[SYM_MAX_INLINE];
	__u64 addr = 0, start;

	ok(e && sym_elf_address(e, 0x2000, &addr), "%s", name);
	sym_elf_symbol(e, addr, &start);
	sym_dwarf_frames(e, addr, false, frames);
	sym_elf_close(e);
}

static void test_fifos(void)
{
	if (mkdir(".debug", 0700) || mkfifo("one.debug", 0600) ||
	    mkfifo(".debug/two.debug", 0600) || mkfifo(".debug/three", 0600) ||
	    mkdir("a", 0700) || mkdir("b", 0700) || mkfifo("b/four.debug", 0600) ||
	    symlink("../b/four", "a/four"))
		abort();
	copy(STRIPPED, "one");
	copy(STRIPPED, "two");
	copy(STRIPPED, "three");
	copy(STRIPPED, "b/four");
	look_up("./one", "a fifo beside it");
	look_up("./two", "a fifo in .debug");
	look_up("./three", "a fifo of its own name in .debug");
	look_up("./a/four", "a fifo beside what a link leads to");
}

/* Is there a function of the name that only the debug file has? */
static bool has_name(const char *dir)
{
	struct sym_elf *e = sym_elf_open(open("program", O_RDONLY | O_CLOEXEC), "./program", dir);
	bool has = false;
	const char *name;
	__u64 addr, start;

	for (__u64 at = 0; e && !has && at < 65536; at += 16) {
		name = sym_elf_address(e, at, &addr) ? sym_elf_symbol(e, addr, &start) : NULL;
		has = name && !strcmp(name, "only_in_debug_file");
	}
	sym_elf_close(e);
	return has;
}

static void make_program(const char *id)
{
	const char *cc = getenv("CC");
	char command[512];

	snprintf(command, sizeof(command),
		 "echo 'static __attribute__((noinline,used)) int only_in_debug_file(int x) "
		 "{ return x + 1; } int main(void) { return only_in_debug_file(-1); }' > x.c && "
		 "%s -g -Wl,--build-id=%s -o program x.c && "
		 "objcopy --only-keep-debug program d && strip program && "
		 "objcopy --add-gnu-debuglink=d program && mkdir -p debug$PWD",
		 cc && *cc ? cc : "cc", id);
	run(command);
}

static void places(const char *how)
{
	ok(has_name("debug"), "%s: beside it", how);
	run("mv d .debug/d");
	ok(has_name("debug"), "%s: in .debug", how);
	run("mv .debug/d d");
	run("chmod +x d && ln program d2 && mv d kept && ln -f program d");
	ok(!has_name("debug"), "%s: a link that leads back", how);
	run("mv kept d && printf x >> d");
}

#define ID "0123456789abcdef0123456789abcdef01234567"

static void test_found(void)
{
	make_program("none");
	places("by its sum");
	ok(!has_name("debug"), "one of another sum is none");
	run("truncate -s 8T d");
	ok(!has_name("debug"), "nor one that is mostly holes");
	make_program("0x" ID);
	run("rm -f d2");
	places("by its build id");
	ok(has_name("debug"), "whatever its sum is");
	run("mkdir -p debug/.build-id/01 && mv d debug/.build-id/01/23456789abcdef0123456789abcdef"
	    "01234567.debug");
	ok(has_name("debug"), "among the debug files");
	ok(!has_name("nowhere"), "which are where we are told");
	run("cp program kept && rm -rf debug d2");
	make_program("0x" ID);
	run("mv d other && cp kept program && rm -rf d");
	make_program("0x11" ID);
	run("cp kept program");
	ok(!has_name("debug"), "that of another program is none");
}

int main(void)
{
	scratch_begin();
	alarm(60);
	test_fifos();
	test_found();
	return scratch_end() ? 1 : tap_done();
}
