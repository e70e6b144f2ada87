// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Leak blocks of known sizes along known paths, by every allocator function.  Of three blocks one
 * is kept, one is freed by its allocating thread, and one by the next thread. "count" and "sum"
 * are the blocks and bytes that are never freed.
 *
 * -f no-pvalloc: without pvalloc(), for allocators that leave it to libc.
 */
#include <malloc.h>
#include <stdlib.h>

#include "workload.h"
#include "wl_leak.h"

/* name, expression for a block, and how often n bytes it has */
#define KINDS \
	KIND(malloc, malloc(n), 1) \
	KIND(calloc, calloc(n, 3), 3) \
	KIND(realloc, realloc(malloc(n / 2), n), 1) \
	KIND(realloc_null, realloc(NULL, n), 1) \
	KIND(reallocarray, reallocarray(NULL, 5, n), 5) \
	KIND(posix_memalign, wl_aligned(64, n), 1) \
	KIND(aligned_alloc, aligned_alloc(32, n), 1) \
	KIND(memalign, memalign(128, n), 1) \
	KIND(valloc, valloc(n), 1) \
	KIND(pvalloc, pvalloc(n), 1) \
	KIND(new, cxx_new(n), 1) \
	KIND(new_array, cxx_new_array(n), 1) \
	KIND(new_nothrow, cxx_new_nothrow(n), 1) \
	KIND(new_array_nothrow, cxx_new_array_nothrow(n), 1) \
	KIND(new_aligned, cxx_new_aligned(n), 1) \
	KIND(new_array_aligned, cxx_new_array_aligned(n), 1) \
	KIND(new_aligned_nothrow, cxx_new_aligned_nothrow(n), 1) \
	KIND(new_array_aligned_nothrow, cxx_new_array_aligned_nothrow(n), 1)

#define KIND(name, expr, times)	KIND_##name,
enum { KINDS NR_KINDS };
#undef KIND

/* Who frees: as the block was asked for. */
static void (*const release[NR_KINDS])(void *) = {
	[KIND_new] = cxx_delete,
	[KIND_new_array] = cxx_delete_array,
	[KIND_new_nothrow] = cxx_delete_nothrow,
	[KIND_new_array_nothrow] = cxx_delete_array_nothrow,
	[KIND_new_aligned] = cxx_delete_aligned,
	[KIND_new_array_aligned] = cxx_delete_array_aligned,
	[KIND_new_aligned_nothrow] = cxx_delete_aligned_nothrow,
	[KIND_new_array_aligned_nothrow] = cxx_delete_array_aligned_nothrow,
};

/* Two ways to each. */
#define KIND(name, expr, times) \
	{ "leak", "wl_worker;wl_work;wl_one;wl_by_" #name, 0, 0 }, \
	{ "leak", "wl_worker;wl_work;wl_two;wl_more;wl_by_" #name, 0, 0 },
struct wl_line wl_lines[] = { KINDS };
#undef KIND
const size_t wl_nr_lines = sizeof(wl_lines) / sizeof(wl_lines[0]);

static void *wl_aligned(size_t align, size_t n)
{
	void *p;

	return posix_memalign(&p, align, n) ? NULL : p;
}

#define KIND(name, expr, times) \
WL_FN void *wl_by_##name(size_t n) \
{ \
	void *p = expr; \
\
	wl_frame(); \
	if (!p) \
		wl_die(#name); \
	return p; \
}
KINDS
#undef KIND

static const struct {
	void *(*take)(size_t n);
	size_t times;
} kinds[] = {
#define KIND(name, expr, times)	{ wl_by_##name, times },
	KINDS
#undef KIND
};

static void give_back(unsigned int kind, void *p)
{
	if (release[kind] && p)
		release[kind](p);
	else
		free(p);
}

/* One of each kind, on its way to the thread that frees it. */
static void *passed[NR_KINDS];

static void pass_on(unsigned int kind, void *p)
{
	give_back(kind, __atomic_exchange_n(&passed[kind], p, __ATOMIC_ACQ_REL));
}

WL_FN void wl_one(unsigned int kind, size_t n)
{
	void *(*const take)(size_t) = kinds[kind].take;
	void *p = take(n);

	give_back(kind, p);
	pass_on(kind, take(n));
	take(n);
	wl_add(2 * kind, 1, n * kinds[kind].times);
}

WL_FN void wl_more(unsigned int kind, size_t n)
{
	void *(*const take)(size_t) = kinds[kind].take;

	take(n);
	pass_on(kind, take(n));
	take(n);
	wl_add(2 * kind + 1, 2, 2 * n * kinds[kind].times);
}

WL_FN void wl_two(unsigned int kind, size_t n)
{
	wl_more(kind, n);
	__asm__ volatile("");
}

static bool no_pvalloc;

int wl_prepare(void)
{
	no_pvalloc = wl_opts.file;
	return 0;
}

void wl_work(unsigned int thread)
{
	unsigned int kind;
	unsigned long i;

	for (i = 0; i < wl_opts.rounds; i++) {
		for (kind = 0; kind < NR_KINDS; kind++) {
			if (kind == KIND_pvalloc && no_pvalloc)
				continue;
			/* multiples of all alignments: nobody rounds up */
			wl_one(kind, 64 * (kind + 1 + thread % 2));
			wl_two(kind, 64 * (i % 3 + 1));
		}
	}
	for (kind = 0; kind < NR_KINDS; kind++)
		pass_on(kind, NULL);
}
