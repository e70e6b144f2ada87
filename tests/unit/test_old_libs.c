// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: -lelf */
/* What stands in for functions that RHEL 7's libraries lack does what these do. */
#define OLD_LIBS
#include "base/old_libs.h"

#include <fcntl.h>
#include <string.h>

#include "tap.h"

static void random_bytes(void)
{
	unsigned char a[16] = { 0 }, b[16] = { 0 };

	ok(getrandom == old_getrandom, "the kernel's getrandom(), without glibc's");
	ok(getrandom(a, sizeof(a), GRND_NONBLOCK) == sizeof(a) &&
	   getrandom(b, sizeof(b), GRND_NONBLOCK) == sizeof(b), "as many bytes as were asked for");
	ok(memcmp(a, b, sizeof(a)), "which are others each time");
	ok(getrandom(a, sizeof(a), ~0u) == -1 && errno == EINVAL, "its errors are the kernel's");
}

static void arrays(void)
{
	int *p = reallocarray(NULL, 3, sizeof(*p));

	ok(reallocarray == old_reallocarray, "reallocarray(), without glibc's");
	if (p)
		p[2] = 7;
	p = p ? reallocarray(p, 1000, sizeof(*p)) : NULL;
	ok(p && p[2] == 7, "keeps what is there");
	errno = 0;
	ok(!reallocarray(p, SIZE_MAX / 2, 3) && errno == ENOMEM, "no product that wraps around");
	free(p);
}

static void files(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = dwelf_elf_begin(fd);
	ok(elf && elf_kind(elf) == ELF_K_ELF, "an ELF file is opened without libdw");
	elf_end(elf);
	close(fd);
}

int main(void)
{
	random_bytes();
	arrays();
	files();
	return tap_done();
}
