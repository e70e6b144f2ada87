/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ALLOC_TABLE_H
#define _ALLOC_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* Functions that allocate or free memory, by name. */
struct alloc_name {
	const char *name;
	const char *event;
	__u8 op, family;	/* MEMTAP_HEAP_*, MEMTAP_FAMILY_* */
	__u8 size, size2, ptr, result;
	__u8 flags;
};

#define ALLOC_C		(1u << 0)	/* also with a prefix: je_malloc */
#define ALLOC_CXX	(1u << 1)	/* operator new or delete, mangled */
#define ALLOC_SPARE	(1u << 2)	/* another name of a function, to be used where
					 * the usual one is missing */

#define ALLOC_SIZED	(1u << 3)	/* operator delete with a size: libstdc++'s and
					 * libc++'s call the one without */

#define ALLOC_ALIGN	"St11align_val_t"	/* in the names of those with an alignment */

extern const struct alloc_name alloc_names[];
extern const size_t alloc_nr_names;

/* Prefixes that functions with ALLOC_C are known to have; ends with NULL. */
extern const char *const alloc_prefixes[];

#endif
