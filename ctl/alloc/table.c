// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The names of allocator functions.  If several names share an address, the first one in this
 * table is used.
 *
 * Not in the table: xallocx(), which changes a block's size in place and returns the new size
 * instead of an address; functions that free more than one block (mi_heap_destroy); and mappings,
 * which the kernel reports.
 */
#include "uapi/memtap.h"
#include "alloc/table.h"

#define NONE	MEMTAP_ARG_NONE
#define RET	MEMTAP_ARG_RETURN

#define ROW(_name, _event, _op, _family, _size, _size2, _ptr, _result, _flags)	\
	{ _name, _event, MEMTAP_HEAP_##_op, MEMTAP_FAMILY_##_family,		\
	  _size, _size2, _ptr, _result, _flags }

/* of the C kind, with the event's name and the arguments */
#define C_ALLOC(_name, _event, _size, _size2, _flags) \
	ROW(_name, _event, ALLOC, MALLOC, _size, _size2, NONE, RET, _flags)
#define C_REALLOC(_name, _ptr, _size, _size2, _flags) \
	ROW(_name, "realloc", REALLOC, MALLOC, _size, _size2, _ptr, RET, _flags)
#define C_STORE(_name, _flags)	/* int f(void **where, align, size) */ \
	ROW(_name, "memalign", ALLOC, MALLOC, 2, NONE, NONE, 0, _flags)
#define C_FREE(_name, _flags) \
	ROW(_name, "free", FREE, MALLOC, NONE, NONE, 0, NONE, _flags)

#define NEW(_name, _flags) \
	ROW(_name, "new", ALLOC, NEW, 0, NONE, NONE, RET, _flags)
#define NEW_ARRAY(_name, _flags) \
	ROW(_name, "new[]", ALLOC, NEW_ARRAY, 0, NONE, NONE, RET, _flags)
#define DELETE(_name, _flags) \
	ROW(_name, "delete", FREE, NEW, NONE, NONE, 0, NONE, _flags)
#define DELETE_ARRAY(_name, _flags) \
	ROW(_name, "delete[]", FREE, NEW_ARRAY, NONE, NONE, 0, NONE, _flags)

/* lets exceptions pass through calls with return probes */
#define UNWIND(_name) \
	ROW(_name, "unwind", UNWIND, ANY, NONE, NONE, NONE, NONE, 0)

#define NOTHROW	"RKSt9nothrow_t"
#define ALIGN	ALLOC_ALIGN

/* operator new(size_t ...): @_z is how the ABI mangles size_t */
#define CXX_NEW(_row, _base, _z)			\
	_row(_base _z, ALLOC_CXX),			\
	_row(_base _z NOTHROW, ALLOC_CXX),		\
	_row(_base _z ALIGN, ALLOC_CXX),		\
	_row(_base _z ALIGN NOTHROW, ALLOC_CXX)
/* operator delete(void * ...) */
#define CXX_DELETE(_row, _base)				\
	_row(_base, ALLOC_CXX),				\
	_row(_base NOTHROW, ALLOC_CXX),			\
	_row(_base ALIGN, ALLOC_CXX),			\
	_row(_base ALIGN NOTHROW, ALLOC_CXX),		\
	_row(_base "m", ALLOC_CXX | ALLOC_SIZED),	\
	_row(_base "j", ALLOC_CXX | ALLOC_SIZED),	\
	_row(_base "m" NOTHROW, ALLOC_CXX | ALLOC_SIZED), \
	_row(_base "m" ALIGN, ALLOC_CXX | ALLOC_SIZED),	\
	_row(_base "j" ALIGN, ALLOC_CXX | ALLOC_SIZED)

const struct alloc_name alloc_names[] = {
	/* C libraries, and whoever stands in for them */
	C_ALLOC("malloc", "malloc", 0, NONE, ALLOC_C),
	C_ALLOC("calloc", "calloc", 0, 1, ALLOC_C),
	C_REALLOC("realloc", 0, 1, NONE, ALLOC_C),
	C_REALLOC("reallocarray", 0, 1, 2, ALLOC_C),
	C_FREE("free", ALLOC_C),
	C_FREE("cfree", ALLOC_C),
	C_FREE("free_sized", ALLOC_C),
	C_FREE("free_aligned_sized", ALLOC_C),
	C_STORE("posix_memalign", ALLOC_C),
	C_ALLOC("aligned_alloc", "memalign", 1, NONE, ALLOC_C),
	C_ALLOC("memalign", "memalign", 1, NONE, ALLOC_C),
	C_ALLOC("valloc", "memalign", 0, NONE, ALLOC_C),
	C_ALLOC("pvalloc", "memalign", 0, NONE, ALLOC_C),

	/* jemalloc's own */
	C_ALLOC("mallocx", "malloc", 0, NONE, ALLOC_C),
	C_REALLOC("rallocx", 0, 1, NONE, ALLOC_C),
	C_FREE("dallocx", ALLOC_C),
	C_FREE("sdallocx", ALLOC_C),

	/* C++ */
	CXX_NEW(NEW, "_Znw", "m"),
	CXX_NEW(NEW, "_Znw", "j"),
	CXX_NEW(NEW_ARRAY, "_Zna", "m"),
	CXX_NEW(NEW_ARRAY, "_Zna", "j"),
	CXX_DELETE(DELETE, "_ZdlPv"),
	CXX_DELETE(DELETE_ARRAY, "_ZdaPv"),

	/* libgcc's and LLVM's unwinders */
	UNWIND("_Unwind_RaiseException"),
	UNWIND("_Unwind_Resume_or_Rethrow"),
	UNWIND("_Unwind_ForcedUnwind"),

	/* tcmalloc: mostly other names of the above */
	C_ALLOC("tc_malloc", "malloc", 0, NONE, 0),
	C_ALLOC("tc_malloc_skip_new_handler", "malloc", 0, NONE, 0),
	C_ALLOC("tc_calloc", "calloc", 0, 1, 0),
	C_REALLOC("tc_realloc", 0, 1, NONE, 0),
	C_FREE("tc_free", 0),
	C_FREE("tc_free_sized", 0),
	C_FREE("tc_cfree", 0),
	C_STORE("tc_posix_memalign", 0),
	C_ALLOC("tc_memalign", "memalign", 1, NONE, 0),
	C_ALLOC("tc_valloc", "memalign", 0, NONE, 0),
	C_ALLOC("tc_pvalloc", "memalign", 0, NONE, 0),
	NEW("tc_new", 0),
	NEW("tc_new_nothrow", 0),
	NEW("tc_new_aligned", 0),
	NEW("tc_new_aligned_nothrow", 0),
	NEW_ARRAY("tc_newarray", 0),
	NEW_ARRAY("tc_newarray_nothrow", 0),
	NEW_ARRAY("tc_newarray_aligned", 0),
	NEW_ARRAY("tc_newarray_aligned_nothrow", 0),
	DELETE("tc_delete", 0),
	DELETE("tc_delete_nothrow", 0),
	DELETE("tc_delete_sized", 0),
	DELETE("tc_delete_aligned", 0),
	DELETE("tc_delete_aligned_nothrow", 0),
	DELETE("tc_delete_sized_aligned", 0),
	DELETE_ARRAY("tc_deletearray", 0),
	DELETE_ARRAY("tc_deletearray_nothrow", 0),
	DELETE_ARRAY("tc_deletearray_sized", 0),
	DELETE_ARRAY("tc_deletearray_aligned", 0),
	DELETE_ARRAY("tc_deletearray_aligned_nothrow", 0),
	DELETE_ARRAY("tc_deletearray_sized_aligned", 0),

	/* mimalloc; what mi_new() gives is mi_free()'s to take */
	C_ALLOC("mi_malloc", "malloc", 0, NONE, 0),
	C_ALLOC("mi_malloc_small", "malloc", 0, NONE, 0),
	C_ALLOC("mi_zalloc", "calloc", 0, NONE, 0),
	C_ALLOC("mi_zalloc_small", "calloc", 0, NONE, 0),
	C_ALLOC("mi_calloc", "calloc", 0, 1, 0),
	C_ALLOC("mi_mallocn", "malloc", 0, 1, 0),
	C_REALLOC("mi_realloc", 0, 1, NONE, 0),
	C_REALLOC("mi_reallocn", 0, 1, 2, 0),
	C_REALLOC("mi_reallocarray", 0, 1, 2, 0),
	C_REALLOC("mi_rezalloc", 0, 1, NONE, 0),
	C_REALLOC("mi_recalloc", 0, 1, 2, 0),
	C_REALLOC("mi_realloc_aligned", 0, 1, NONE, 0),
	C_FREE("mi_free", 0),
	C_FREE("mi_cfree", 0),
	C_FREE("mi_free_size", 0),
	C_FREE("mi_free_aligned", 0),
	C_FREE("mi_free_size_aligned", 0),
	C_ALLOC("mi_malloc_aligned", "memalign", 0, NONE, 0),
	C_ALLOC("mi_malloc_aligned_at", "memalign", 0, NONE, 0),
	C_ALLOC("mi_zalloc_aligned", "memalign", 0, NONE, 0),
	C_ALLOC("mi_zalloc_aligned_at", "memalign", 0, NONE, 0),
	C_ALLOC("mi_calloc_aligned", "memalign", 0, 1, 0),
	C_STORE("mi_posix_memalign", 0),
	C_ALLOC("mi_memalign", "memalign", 1, NONE, 0),
	C_ALLOC("mi_aligned_alloc", "memalign", 1, NONE, 0),
	C_ALLOC("mi_valloc", "memalign", 0, NONE, 0),
	C_ALLOC("mi_pvalloc", "memalign", 0, NONE, 0),
	C_ALLOC("mi_new", "malloc", 0, NONE, 0),
	C_ALLOC("mi_new_nothrow", "malloc", 0, NONE, 0),
	C_ALLOC("mi_new_n", "malloc", 0, 1, 0),
	C_ALLOC("mi_new_aligned", "memalign", 0, NONE, 0),
	C_ALLOC("mi_new_aligned_nothrow", "memalign", 0, NONE, 0),
	C_REALLOC("mi_new_realloc", 0, 1, NONE, 0),
	C_REALLOC("mi_new_reallocn", 0, 1, 2, 0),
	C_ALLOC("mi_heap_malloc", "malloc", 1, NONE, 0),
	C_ALLOC("mi_heap_zalloc", "calloc", 1, NONE, 0),
	C_ALLOC("mi_heap_calloc", "calloc", 1, 2, 0),
	C_REALLOC("mi_heap_realloc", 1, 2, NONE, 0),

	/* where a program has these and not the usual ones */
	C_ALLOC("__libc_malloc", "malloc", 0, NONE, ALLOC_SPARE),
	C_ALLOC("__libc_calloc", "calloc", 0, 1, ALLOC_SPARE),
	C_REALLOC("__libc_realloc", 0, 1, NONE, ALLOC_SPARE),
	C_FREE("__libc_free", ALLOC_SPARE),
	C_ALLOC("__libc_memalign", "memalign", 1, NONE, ALLOC_SPARE),
};

const size_t alloc_nr_names = sizeof(alloc_names) / sizeof(alloc_names[0]);

/* jemalloc's as some distributions and Rust's crates build it */
const char *const alloc_prefixes[] = { "je_", "_rjem_", NULL };
