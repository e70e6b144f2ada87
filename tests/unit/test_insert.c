// SPDX-License-Identifier: GPL-2.0-or-later
/* How the tool finds the module without libkmod: its line in modules.dep. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static long kernel(long nr, ...);
#define syscall kernel
#include "../../ctl/session/insert_plain.c"
#undef syscall
#include "scratch.h"
#include "tap.h"

static char taken[64], given[64];
static int how;

/* It takes what is written in the file, and fails as that says. */
static long kernel(long nr, ...)
{
	va_list args;
	int fd;

	va_start(args, nr);
	if (nr == SYS_finit_module) {
		fd = va_arg(args, int);
		snprintf(given, sizeof(given), "%s", va_arg(args, const char *));
		how = va_arg(args, int);
		taken[read(fd, taken, sizeof(taken) - 1)] = '\0';
	}
	va_end(args);
	errno = ENOEXEC;
	return strcmp(taken, "no module") ? 0 : -1;
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static void takes(const char *dep, const char *want, int flags, const char *what)
{
	int err;

	put("modules.dep", dep);
	taken[0] = '\0';
	err = insert_from(".", "memtap", "a=1 b=2");
	ok(!err && !strcmp(taken, want) && how == flags && !strcmp(given, "a=1 b=2"),
	   "%s: %d, %s, %d, %s", what, err, taken, how, given);
}

int main(void)
{
	char dep[256], cwd[128];

	scratch_begin();
	ok(insert_from(".", "memtap", "") == -ENOENT, "no depmod was here");
	put("memtap.ko", "plain");
	put("memtap.ko.xz", "packed");
	put("mymemtap.ko", "another");
	put("memtap2.ko", "another");
	takes("memtap.ko:\n", "plain", 0, "at the top");
	takes("./memtap.ko: kernel/other.ko\n", "plain", 0, "in a directory");
	takes("./mymemtap.ko:\n./memtap2.ko: ./memtap.ko\n./memtap.ko:\n", "plain", 0,
	      "others that are called alike, or want it");
	takes("./memtap.ko.xz:\n", "packed", 4, "compressed: the kernel is told");
	if (!getcwd(cwd, sizeof(cwd)))
		abort();
	snprintf(dep, sizeof(dep), "%s/memtap.ko:\n", cwd);
	takes(dep, "plain", 0, "a whole path, as depmods of old write them");
	put("modules.dep", "no colon\nkernel/a.ko:\n");
	ok(insert_from(".", "memtap", "") == -ENOENT, "it is not there");
	put("modules.dep", "gone/memtap.ko:\n");
	ok(insert_from(".", "memtap", "") == -ENOENT, "its file is gone");
	put("memtap.ko", "no module");
	put("modules.dep", "memtap.ko:\n");
	ok(insert_from(".", "memtap", "") == -ENOEXEC, "the kernel's reason is passed on");
	if (scratch_end())
		abort();
	return tap_done();
}
