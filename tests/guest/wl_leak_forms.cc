// SPDX-License-Identifier: GPL-2.0-or-later
/* All forms of operator new and delete, for workloads in C. */
#include <new>

#include "wl_leak.h"

static const std::align_val_t wide{64};

/* Each as it is written, and the delete of the same form; some with the size. */
#define FORM(take, get, give, put) \
void *cxx_##take(size_t n) { return get; } \
void cxx_##give(void *p) { put; }

FORM(new, ::operator new(n), delete, ::operator delete(p))
FORM(new_array, ::operator new[](n), delete_array, ::operator delete[](p))
FORM(new_nothrow, ::operator new(n, std::nothrow),
     delete_nothrow, ::operator delete(p, std::nothrow))
FORM(new_array_nothrow, ::operator new[](n, std::nothrow),
     delete_array_nothrow, ::operator delete[](p, std::nothrow))
FORM(new_aligned, ::operator new(n, wide), delete_aligned, ::operator delete(p, wide))
FORM(new_array_aligned, ::operator new[](n, wide),
     delete_array_aligned, ::operator delete[](p, wide))
FORM(new_aligned_nothrow, ::operator new(n, wide, std::nothrow),
     delete_aligned_nothrow, ::operator delete(p, wide, std::nothrow))
FORM(new_array_aligned_nothrow, ::operator new[](n, wide, std::nothrow),
     delete_array_aligned_nothrow, ::operator delete[](p, wide, std::nothrow))
