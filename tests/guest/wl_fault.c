// SPDX-License-Identifier: GPL-2.0-or-later
/* Page faults: user and kernel mode, minor and major, of the stack and of maps. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workload.h"

#define PAGE	4096UL

enum { TOUCH_A, TOUCH_B, PEEK, POKE, READ_INTO, MAJOR };

#define TOUCH	"wl_worker;wl_work;wl_touch_top;"
struct wl_line wl_lines[] = {
	[TOUCH_A]	= { "minor-fault", TOUCH "wl_touch_a;wl_touch_page", 0, 0 },
	[TOUCH_B]	= { "minor-fault", TOUCH "wl_touch_b;wl_touch_page", 0, 0 },
	[PEEK]		= { "minor-fault", "wl_worker;wl_work;wl_peek_page", 0, 0 },
	[POKE]		= { "minor-fault", "wl_worker;wl_work;wl_poke_page", 0, 0 },
	[READ_INTO]	= { "minor-fault", "wl_worker;wl_work;wl_read_top;wl_read_into", 0, 0 },
	[MAJOR]		= { "major-fault", "wl_worker;wl_work;wl_major_top;wl_major_page", 0, 0 },
};
const size_t wl_nr_lines = sizeof(wl_lines) / sizeof(wl_lines[0]);

/* Pages between two that are read, so that none is read ahead of its turn. */
#define MAJOR_STRIDE	64
#define MAJOR_PAGES	8

static int zero_fd, file_fd;
static char *major_map;
volatile char wl_sink;

static char *fresh(unsigned long pages, int prot)
{
	long p = wl_mmap(pages * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS);

	if (wl_failed(p)) {
		errno = -p;
		wl_die("mmap");
	}
	return (char *)p;
}

WL_FN void wl_touch_page(volatile char *p, int line)
{
	*p = 1;
	wl_did(line, 1);
}

WL_FN void wl_touch_a(char *p, unsigned long pages)
{
	unsigned long i;

	for (i = 0; i < pages; i++)
		wl_touch_page(p + i * PAGE, TOUCH_A);
}

WL_FN void wl_touch_b(char *p, unsigned long pages)
{
	unsigned long i;

	for (i = pages; i > 0; i--)
		wl_touch_page(p + (i - 1) * PAGE, TOUCH_B);
}

WL_FN void wl_touch_top(unsigned long n)
{
	char *a = fresh(5 * n, PROT_READ | PROT_WRITE);
	char *b = fresh(3 * n, PROT_READ | PROT_WRITE);

	wl_touch_a(a, 5 * n);
	wl_touch_b(b, 3 * n);
}

/* Reading maps the zero page, writing then copies it: two faults for one page. */
WL_FN void wl_peek_page(volatile char *p)
{
	wl_sink = *p;
	wl_did(PEEK, 1);
}

WL_FN void wl_poke_page(volatile char *p)
{
	*p = 1;
	wl_did(POKE, 1);
}

static inline __attribute__((always_inline)) void peek_and_poke(unsigned long pages)
{
	char *p = fresh(pages, PROT_READ | PROT_WRITE);
	unsigned long i;

	for (i = 0; i < pages; i++)
		wl_peek_page(p + i * PAGE);
	for (i = 0; i < pages; i++)
		wl_poke_page(p + i * PAGE);
}

/* The kernel writes into pages that are not there yet. */
WL_FN void wl_read_into(char *p, unsigned long pages)
{
	unsigned long i;

	if (wl_syscall3(SYS_read, zero_fd, (long)p, pages * PAGE) != (long)(pages * PAGE))
		wl_die("/dev/zero");
	for (i = 0; i < pages; i++)
		wl_did(READ_INTO, 1);
}

WL_FN void wl_read_top(unsigned long pages)
{
	wl_read_into(fresh(pages, PROT_READ | PROT_WRITE), pages);
}

WL_FN void wl_major_page(const volatile char *p)
{
	wl_sink = *p;
	wl_did(MAJOR, 1);
}

WL_FN void wl_major_top(const char *map)
{
	unsigned int i;

	for (i = 0; i < MAJOR_PAGES; i++)
		wl_major_page(map + i * MAJOR_STRIDE * PAGE);
}

#define MAJOR_EACH	(MAJOR_PAGES * MAJOR_STRIDE * PAGE)	/* bytes a thread */

/* A file whose pages are on the disk only. */
static void write_file(int fd)
{
	size_t len = MAJOR_EACH * wl_opts.threads, i;
	char block[PAGE];

	for (i = 0; i < len; i += PAGE) {
		block[0] = i >> 12;
		if (write(fd, block, PAGE) != (ssize_t)PAGE)
			wl_die(wl_opts.file);
	}
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		wl_die(wl_opts.file);
}

/*
 * Mapped when all the rest is locked, or it would be read then.  On a file
 * system that keeps the pages there is no major fault to be had: exit 77.
 */
int wl_locked(void)
{
	size_t len = MAJOR_EACH * wl_opts.threads, i;
	unsigned char there;

	if (!wl_opts.file)
		return 0;
	major_map = mmap(NULL, len, PROT_READ, MAP_SHARED, file_fd, 0);
	if (major_map == MAP_FAILED || madvise(major_map, len, MADV_RANDOM))
		return -1;
	for (i = 0; i < len; i += MAJOR_STRIDE * PAGE)
		if (!mincore(major_map + i, PAGE, &there) && (there & 1)) {
			fprintf(stderr, "%s: its pages stay in memory\n", wl_opts.file);
			exit(77);
		}
	return 0;
}

int wl_prepare(void)
{
	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (wl_opts.file) {
		file_fd = open(wl_opts.file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (file_fd < 0)
			return -1;
		write_file(file_fd);
	}
	return zero_fd < 0;
}

void wl_work(unsigned int thread)
{
	unsigned long n = wl_opts.rounds;

	wl_touch_top(n);
	peek_and_poke(2 * n);
	wl_read_top(4 * n);
	if (major_map)
		wl_major_top(major_map + thread * MAJOR_EACH);
}
