// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_oom_bare MIB DEPTH: without frame pointers, print the names of its own functions that are on
 * the stack, as libgcc's unwinder finds them, then touch MIB of memory there.  The way leads
 * through libc (qsort) and through DEPTH frames of 2 KiB.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB	(1UL << 20)
#define DEEPEST	64
#define BARE	__attribute__((noipa))

static size_t mib;

BARE void bare_touch(volatile char *p, size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	__asm__ volatile("" ::: "memory");
}

/* Those of the program alone: libc does not export all names. */
static void print_stack(void **ips, int nr)
{
	Dl_info own, at;

	if (!dladdr((void *)bare_touch, &own))
		exit(1);
	fputs("bare_touch", stdout);
	for (int i = 0; i < nr; i++)
		if (dladdr((char *)ips[i] - 1, &at) && at.dli_fbase == own.dli_fbase &&
		    at.dli_sname)
			printf(" %s", at.dli_sname);
	putchar('\n');
	fflush(stdout);
}

BARE int bare_compare(const void *a, const void *b)
{
	void *ips[DEEPEST];
	char *p;

	print_stack(ips, backtrace(ips, DEEPEST));
	p = mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		exit(1);
	madvise(p, mib * MIB, MADV_NOHUGEPAGE);
	bare_touch(p, mib * MIB);
	sleep(120);
	return *(const char *)a - *(const char *)b;
}

BARE void bare_sort(void)
{
	char two[2] = { 2, 1 };

	qsort(two, sizeof(two), 1, bare_compare);
	__asm__ volatile("" ::: "memory");
}

BARE void bare_deep(int depth)
{
	volatile char pad[2048];

	memset((char *)pad, depth, sizeof(pad));
	if (depth > 1)
		bare_deep(depth - 1);
	else
		bare_sort();
	__asm__ volatile("" :: "r"(pad) : "memory");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	mib = (size_t)atol(argv[1]);
	bare_deep(atoi(argv[2]));
	return 0;
}
