// SPDX-License-Identifier: GPL-2.0-or-later
/* brk, mmap, mremap and munmap, by system calls of our own. */
#include <errno.h>
#include <sys/mman.h>

#include "workload.h"

#define KIB	1024L

enum { BRK_A, BRK_B, BRK_SHRINK, BRK_ASK, MMAP_A, MMAP_B, MMAP_BAD, MMAP2, MREMAP, MUNMAP };

struct wl_line wl_lines[] = {
	[BRK_A]		= { "brk", "wl_worker;wl_work;wl_brk_top;wl_brk_a;wl_brk_by", 0, 0 },
	[BRK_B]		= { "brk", "wl_worker;wl_work;wl_brk_top;wl_brk_b;wl_brk_by", 0, 0 },
	[BRK_SHRINK]	= { "brk", "wl_worker;wl_work;wl_brk_top;wl_brk_shrink;wl_brk_by", 0, 0 },
	[BRK_ASK]	= { "brk", "wl_worker;wl_work;wl_brk_top;wl_brk_ask", 0, 0 },
	[MMAP_A]	= { "mmap", "wl_worker;wl_work;wl_map_top;wl_map_a;wl_map_some", 0, 0 },
	[MMAP_B]	= { "mmap", "wl_worker;wl_work;wl_map_top;wl_map_b;wl_map_some", 0, 0 },
	[MMAP_BAD]	= { "mmap", "wl_worker;wl_work;wl_map_bad", 0, 0 },
	/* the caller is out of reach: there is no frame pointer in this call */
	[MMAP2]		= { "mmap", "wl_map2", 0, 0 },
	[MREMAP]	= { "mremap", "wl_worker;wl_work;wl_map_top;wl_remap", 0, 0 },
	[MUNMAP]	= { "munmap", "wl_worker;wl_work;wl_map_top;wl_unmap", 0, 0 },
};
const size_t wl_nr_lines = sizeof(wl_lines) / sizeof(wl_lines[0]);

/* The break belongs to the process: its threads take turns. */
static int brk_lock;
static long brk_now;

WL_FN void wl_brk_by(long bytes, int line)
{
	long want = brk_now + bytes;

	if (wl_syscall3(SYS_brk, want, 0, 0) != want)
		wl_die("brk");
	brk_now = want;
	wl_did(line, bytes);
}

WL_FN void wl_brk_a(void)
{
	wl_brk_by(64 * KIB, BRK_A);
}

WL_FN void wl_brk_b(void)
{
	wl_brk_by(12 * KIB, BRK_B);
}

WL_FN void wl_brk_shrink(void)
{
	wl_brk_by(-20 * KIB, BRK_SHRINK);
}

WL_FN void wl_brk_ask(void)
{
	brk_now = wl_syscall3(SYS_brk, 0, 0, 0);
	wl_did(BRK_ASK, 0);
}

WL_FN void wl_brk_top(unsigned long n)
{
	while (__atomic_exchange_n(&brk_lock, 1, __ATOMIC_ACQUIRE))
		;
	wl_brk_ask();
	while (n--) {
		wl_brk_a();
		wl_brk_b();
		wl_brk_b();
		wl_brk_shrink();
	}
	__atomic_store_n(&brk_lock, 0, __ATOMIC_RELEASE);
}

WL_FN char *wl_map_some(long bytes, int line)
{
	long p = wl_mmap(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);

	if (wl_failed(p))
		wl_die("mmap");
	wl_did(line, bytes);
	return (char *)p;
}

WL_FN char *wl_map_a(void)
{
	return wl_map_some(256 * KIB, MMAP_A);
}

WL_FN char *wl_map_b(void)
{
	return wl_map_some(16 * KIB, MMAP_B);
}

/* No mapping comes of it: a length of 0 is an error. */
WL_FN void wl_map_bad(void)
{
	if (wl_mmap(0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS) != -EINVAL)
		wl_die("mmap of 0 bytes");
	wl_did(MMAP_BAD, 0);
}

#ifdef __i386__
WL_FN char *wl_map2(long bytes)
{
	long p = wl_mmap2(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);

	if (wl_failed(p))
		wl_die("mmap2");
	wl_did(MMAP2, bytes);
	return (char *)p;
}
#endif

/* Tells how much the mapping grew. */
WL_FN char *wl_remap(char *old, long from, long to)
{
	long p = wl_syscall5(SYS_mremap, (long)old, from, to, MREMAP_MAYMOVE, 0);

	if (wl_failed(p))
		wl_die("mremap");
	wl_did(MREMAP, to - from);
	return (char *)p;
}

WL_FN void wl_unmap(char *p, long bytes)
{
	if (wl_syscall3(SYS_munmap, (long)p, bytes, 0))
		wl_die("munmap");
	wl_did(MUNMAP, bytes);
}

WL_FN void wl_map_top(unsigned long n)
{
	char *a, *b;

	while (n--) {
		a = wl_map_a();
		b = wl_map_b();
		b = wl_remap(b, 16 * KIB, 48 * KIB);
		wl_unmap(b, 48 * KIB);
		wl_unmap(a, 256 * KIB);
		wl_map_b();	/* never given back */
	}
}

int wl_prepare(void)
{
	return 0;
}

void wl_work(unsigned int thread)
{
	(void)thread;
	wl_brk_top(3 * wl_opts.rounds);
	wl_map_top(5 * wl_opts.rounds);
	wl_map_bad();
#ifdef __i386__
	wl_map2(8 * KIB);
	wl_map2(8 * KIB);
#endif
}
