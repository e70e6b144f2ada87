/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _WL_LEAK_H
#define _WL_LEAK_H

/* For workloads that leak: what C++ hands out and takes back, and the books. */
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* nr blocks more, or fewer, that this path has and nobody frees */
#define wl_add(line, nr, bytes) do { \
	__atomic_fetch_add(&wl_lines[line].count, (nr), __ATOMIC_RELAXED); \
	__atomic_fetch_add(&wl_lines[line].sum, (bytes), __ATOMIC_RELAXED); \
} while (0)

#define CXX_FORMS(form) \
	form(new, delete) form(new_array, delete_array) \
	form(new_nothrow, delete_nothrow) form(new_array_nothrow, delete_array_nothrow) \
	form(new_aligned, delete_aligned) form(new_array_aligned, delete_array_aligned) \
	form(new_aligned_nothrow, delete_aligned_nothrow) \
	form(new_array_aligned_nothrow, delete_array_aligned_nothrow)

#define CXX_DECLARE(take, give) void *cxx_##take(size_t n); void cxx_##give(void *p);
CXX_FORMS(CXX_DECLARE)
#undef CXX_DECLARE

#ifdef __cplusplus
}
#endif

#endif
