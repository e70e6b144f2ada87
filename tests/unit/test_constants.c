// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/constants.c */
/* The names of what calls take and return. */
#include <fcntl.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "base/constants.h"
#include "tap.h"

static void same(enum constants what, __u64 v, const char *want)
{
	char buf[256], cut[8];
	const int n = constants_text(what, v, buf, sizeof(buf));

	ok(!strcmp(buf, want), "%s", want);
	if (strcmp(buf, want))
		fprintf(stderr, "# got %s\n", buf);
	is(n, strlen(want), "its length");
	memset(cut, 'x', sizeof(cut));
	is(constants_text(what, v, cut, sizeof(cut) - 1), n, "its length, where there is no room");
	ok(memchr(cut, 0, sizeof(cut) - 1) && cut[sizeof(cut) - 1] == 'x' &&
	   !strncmp(cut, want, strlen(cut)), "what fits, and no more");
}

static void test_words(void)
{
	same(CONST_PROT, PROT_READ | PROT_EXEC, "PROT_READ|PROT_EXEC");
	same(CONST_PROT, 0, "PROT_NONE");
	same(CONST_PROT, PROT_WRITE | 0x70, "PROT_WRITE|0x70");
	same(CONST_MAP, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	     "MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE");
	same(CONST_MAP, MAP_SHARED | MAP_HUGETLB | 21 << 26, "MAP_SHARED|MAP_HUGETLB|MAP_HUGE_2MB");
	same(CONST_MAP, MAP_SHARED | MAP_HUGETLB | 30 << 26, "MAP_SHARED|MAP_HUGETLB|MAP_HUGE_1GB");
	same(CONST_MAP, 0, "0");
	same(CONST_MAP, 5, "0x5");
	same(CONST_MREMAP, MREMAP_MAYMOVE | MREMAP_FIXED, "MREMAP_MAYMOVE|MREMAP_FIXED");
	same(CONST_ADVICE, MADV_NORMAL, "MADV_NORMAL");
	same(CONST_ADVICE, MADV_HUGEPAGE, "MADV_HUGEPAGE");
	same(CONST_ADVICE, 999, "0x3e7");
	same(CONST_KEY, 0, "IPC_PRIVATE");
	same(CONST_KEY, 0xfffffff0, "0xfffffff0");
	same(CONST_SHMGET, IPC_CREAT | 0666, "IPC_CREAT|0666");
	same(CONST_SHMGET, 0, "0");
	same(CONST_SHMAT, SHM_RDONLY | SHM_RND, "SHM_RDONLY|SHM_RND");
	same(CONST_SHMCTL, IPC_RMID, "IPC_RMID");
	same(CONST_SHMCTL, IPC_STAT | 0x100, "IPC_STAT|IPC_64");
	same(CONST_SHMCTL, 77, "0x4d");
	same(CONST_SEALS, 6, "F_SEAL_SHRINK|F_SEAL_GROW");
	same(CONST_SEAL_CMD, 1033, "F_ADD_SEALS");
	same(CONST_MODE, 0640, "0640");
}

static void test_results(void)
{
	same(CONST_RESULT, 0, "0");
	same(CONST_RESULT, (__u64)-12, "-ENOMEM");
	same(CONST_RESULT, (__u64)-4095, "-4095");
	same(CONST_RESULT, (__u64)-4096, "-4096");
	same(CONST_ADDRESS, (__u64)-22, "-EINVAL");
	same(CONST_ADDRESS, 0x7f0000001000, "0x7f0000001000");
	same(CONST_ADDRESS, (__u64)-4096, "0xfffffffffffff000");
	same(CONST_NONE, 7, "7");
	same((enum constants)NR_CONSTANTS, 7, "7");
}

static void test_fields(void)
{
	is(constants_of("mmap", "prot"), CONST_PROT, "mmap's prot");
	is(constants_of("mremap", "flags"), CONST_MREMAP, "flags are the call's own");
	is(constants_of("shmat", "flags"), CONST_SHMAT, "of each");
	is(constants_of("munmap", "ret"), CONST_RESULT, "a result");
	is(constants_of("munmap", "len"), CONST_NONE, "a number");
	ok(!strcmp(constants_errno(12), "ENOMEM") && !constants_errno(4000), "errors by name");
}

int main(void)
{
	test_words();
	test_results();
	test_fields();
	return tap_done();
}
