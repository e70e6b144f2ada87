// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_hostile stacks FILE [ROUNDS]: events while the stack and the frame pointer lie
 * where nobody would have them: in no memory, in the kernel's, in guard and device
 * pages, in FILE, in pages that never come, at the ends of the address space, in loops.
 * wl_hostile wait FILE [uffd]: passes wl_by_sp() with the stack in a page of FILE, or
 * in one that userfaultfd has and nobody fills.
 * wl_hostile files FILE...: callers in files that are no programs, or pretend to be.
 * wl_hostile exit: ends with memory that userfaultfd has and nobody fills.
 *
 * Each of the others says "ready" and waits for SIGUSR1; prints "lives N", N cases, in the end.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wl_hostile.h"

#define MAX_FILES	128
#ifdef __x86_64__
#define LAST_PAGE	0x7fffffffe000UL	/* of a process */
#else
#define LAST_PAGE	0xffffd000UL
#endif

static void at(unsigned long where)
{
	unsigned long good[64];

	memset(good, 0, sizeof(good));
	one(wl_by_sp, where, where);
	one(wl_by_bp, where, where);
	one(wl_by_sp, where, (unsigned long)&good[8]);
	one(wl_by_bp, (unsigned long)good, where);
}

/* The beginning, the last words, and across the end of what is mapped there. */
static void in(void *page)
{
	const unsigned long p = (unsigned long)page;

	if (!page)
		return;
	at(p);
	at(p + 1);
	at(p + PAGE - 16);
	at(p + PAGE - 8);
	at(p + PAGE - 3);
	at(p - 8);
}

/* ---- pages of all kinds ---- */

static void *never_filled(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *p = map(4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	reg.range.start = (unsigned long)p;
	reg.range.len = 4 * PAGE;
	if (fd < 0 || !p || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		return NULL;
	return p;
}

static void *of_file(const char *path, int flags)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *p;

	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	p = fd < 0 ? NULL : map(4 * PAGE, PROT_READ, flags, fd);
	if (!p)
		fprintf(stderr, "wl_hostile: no %s here\n", path);
	close(fd);
	return p;
}

/* The file is shorter than its mapping. */
static void *beyond_end(void)
{
	int fd = syscall(SYS_memfd_create, "wl_hostile", 0);
	char *p = map(4 * PAGE, PROT_READ, MAP_SHARED, fd);

	close(fd);
	return p;
}

static void *vga(void)
{
	int fd = open("/dev/mem", O_RDONLY | O_CLOEXEC);
	void *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0xa0000);

	return p == MAP_FAILED ? NULL : p;
}

static void *words(unsigned long step, unsigned long value)
{
	unsigned long *p = map(3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1), i;

	for (i = 0; i < 3 * PAGE / 8; i++)
		p[i] = step ? (unsigned long)p + (i * 8 + step) % (3 * PAGE) : value;
	mprotect((char *)p + 2 * PAGE, PAGE, PROT_NONE);
	return (char *)p + PAGE;
}

static void *last_page(void)
{
	unsigned long *p = mmap((void *)LAST_PAGE, PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), i;

	if (p == MAP_FAILED)
		return NULL;
	for (i = 0; i < PAGE / 8; i++)
		p[i] = i % 2 ? (unsigned long)wl_by_bp + 9 : LAST_PAGE + (i * 8 + 16) % PAGE;
	return p;
}

static void *special(const char *name)
{
	unsigned long start = 0;
	char line[256];
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && !start && fgets(line, sizeof(line), f))
		if (strstr(line, name))
			start = strtoul(line, NULL, 16);
	if (f)
		fclose(f);
	return (void *)start;
}

static void all_pages(const char *file)
{
	const int rw = PROT_READ | PROT_WRITE, anon = MAP_PRIVATE | MAP_ANONYMOUS;

	in(map(PAGE, PROT_NONE, anon, -1));
	in(map(PAGE, PROT_READ, anon, -1));
	in(map(PAGE, PROT_WRITE, anon, -1));
	in(map(2 << 20, rw, anon | MAP_HUGETLB, -1));
	in(map(PAGE, rw, MAP_SHARED | MAP_ANONYMOUS, -1));
	in(map(PAGE, rw, anon | MAP_GROWSDOWN, -1));
	in(of_file("/dev/zero", MAP_SHARED));
	in(of_file("/dev/zero", MAP_PRIVATE));
	in(of_file(file, MAP_SHARED));
	in(of_file(file, MAP_PRIVATE));
	in(vga());
	in(beyond_end());
	in(never_filled());
	in(words(0, -1UL));
	in(words(0, 0));
	in(words(0, (unsigned long)wl_by_sp));
	in(words(0, (unsigned long)0xffffffff81000000ULL));
	in(words(8, 0));
	in(words(16, 0));
	in(words(PAGE, 0));
	in(words(-8, 0));
	in(last_page());
	in(special("[vvar]"));
	in(special("[vdso]"));
	in(special("[vsyscall]"));
	in((void *)((unsigned long)wl_by_sp & -PAGE));
}

static void all_places(void)
{
	static const unsigned long places[] = {
		0, 1, 7, 8, PAGE - 8, -1UL, -8UL, -16UL, -PAGE, 1UL << 31,
		LAST_PAGE, LAST_PAGE + PAGE - 8, LAST_PAGE + PAGE, LAST_PAGE + 2 * PAGE - 8,
#ifdef __x86_64__
		1UL << 32, 1UL << 47, (1UL << 47) - 8, -(1UL << 47), 0x5555555555555555UL,
		0xaaaaaaaaaaaaaaaaUL, 1UL << 56, (1UL << 56) - PAGE, 0xffff888000000000UL,
		0xffffc90000000000UL, 0xffffea0000000000UL, 0xfffffe0000000000UL,
		0xffffffff81000000UL, 0xffffffffa0000000UL, 0xffffffffff600000UL,
		0xffffffffff5fb000UL, 0x7ff8000000000000UL,
#endif
	};
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		at(places[i]);
}

/* The stack is where nobody will ever bring it in. */
static void wait_at(const char *file, int by_uffd)
{
	char *p = by_uffd ? never_filled() : of_file(file, MAP_PRIVATE);

	if (!p)
		die("no such page");
	ready();
	for (int i = 0; i < 3; i++) {
		one(wl_by_sp, (unsigned long)p + 64, 0);
		usleep(200000);
	}
}

static void *volatile kept;

/* ---- files ---- */

#define FILE_PAGES	16

static char *code_of(const char *name)
{
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char *p = map(FILE_PAGES * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd);

	close(fd);
	return p;
}

/* What is mapped there seems to have called us. */
static void called_from(const char *code)
{
	unsigned long stack[64], i;

	for (i = 0; i < 64; i++)
		stack[i] = (unsigned long)code + PAGE + i * 9;
	stack[40] = (unsigned long)&stack[44];
	one(wl_by_sp, (unsigned long)stack, (unsigned long)&stack[40]);
	one(wl_by_bp, (unsigned long)stack, (unsigned long)&stack[40]);
}

/* Mapped before, and once more while somebody watches. */
static void files(char **names)
{
	char *code[MAX_FILES];
	int nr, i;

	for (nr = 0; names[nr] && nr < MAX_FILES; nr++)
		code[nr] = code_of(names[nr]);
	ready();
	for (i = 0; i < 2 * nr; i++)
		if (code[i % nr])
			called_from(i < nr ? code[i] : code_of(names[i - nr]));
}

int main(int argc, char **argv)
{
	int rounds = argc > 3 ? atoi(argv[3]) : 1;

	alarm(7200);
	touched = map(PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (argc > 2 && !strcmp(argv[1], "wait")) {
		wait_at(argv[2], argc > 3 && !strcmp(argv[3], "uffd"));
	} else if (argc > 2 && !strcmp(argv[1], "stacks")) {
		ready();
		for (; rounds; rounds--) {
			all_pages(argv[2]);
			all_places();
		}
	} else if (argc == 2 && !strcmp(argv[1], "exit")) {
		kept = never_filled();
		return !kept;
	} else if (argc > 2 && !strcmp(argv[1], "files")) {
		files(argv + 2);
	} else {
		fprintf(stderr,
			"usage: wl_hostile stacks FILE [ROUNDS] | wait FILE HOW | files FILE...\n");
		return 2;
	}
	printf("lives %lu\n", cases);
	return 0;
}
