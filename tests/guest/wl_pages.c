// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_pages FILE: memory that page faults map one page at a time, as huge pages, as pages
 * of FILE with those around them, and again.  Prints for each function that touches how
 * many pages it brought, as /proc/self/smaps has it, or as it must be.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FN	__attribute__((noipa))
#define MIB	(1UL << 20)
#define PAGE	4096UL

static volatile char sink;

FN void pages_small(char *p, size_t len)
{
	for (size_t i = 0; i < len; i += PAGE)
		p[i] = 1;
}

FN void pages_huge(char *p, size_t len)
{
	for (size_t i = 0; i < len; i += PAGE)
		p[i] = 1;
}

FN void pages_file(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i += PAGE)
		sink = p[i];
}

/* of the page of zeros, which all have */
FN void pages_read(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i += PAGE)
		sink = p[i];
}

/* and copied where something is written to them */
FN void pages_written(char *p, size_t len)
{
	for (size_t i = 0; i < len; i += PAGE)
		p[i] = 1;
}

/* Pages of the mapping that begins at @p that are there. */
static unsigned long resident(const void *p)
{
	unsigned long start, kib = 0;
	char line[512];
	int here = 0;
	FILE *f = fopen("/proc/self/smaps", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-", &start) == 1 && strchr(line, '-'))
			here = start == (unsigned long)p;
		else if (here && sscanf(line, "Rss: %lu kB", &kib) == 1)
			break;
	}
	if (f)
		fclose(f);
	return kib * 1024 / PAGE;
}

/* Aligned for huge pages, and with a gap to its neighbours: a mapping of its own. */
static char *map(size_t len, int advice)
{
	char *p = mmap(NULL, len + 6 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p = (char *)(((unsigned long)p + 4 * MIB - 1) & ~(2 * MIB - 1));
	if (mprotect(p, len, PROT_READ | PROT_WRITE))
		exit(1);
	madvise(p, len, advice);
	return p;
}

int main(int argc, char **argv)
{
	const size_t len = 8 * MIB;
	char *p;
	int fd;

	if (argc != 2)
		return 2;
	p = map(len, MADV_NOHUGEPAGE);
	pages_small(p, len);
	printf("pages_small %lu\n", resident(p));
	p = map(len, MADV_HUGEPAGE);
	pages_huge(p, len);
	printf("pages_huge %lu\n", resident(p));
	p = map(len, MADV_NOHUGEPAGE);
	pages_read(p, len);
	pages_written(p, len);
	printf("pages_read %lu\npages_written %lu\n", len / PAGE, resident(p));
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (size_t i = 0; i < len; i += PAGE)
		if (pwrite(fd, &len, sizeof(len), (off_t)i) < 0)
			return 1;
	p = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	pages_file(p, len);
	printf("pages_file %lu\n", resident(p));
	return 0;
}
