/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _PORT_SLABSIZE_H
#define _PORT_SLABSIZE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#endif

/*
 * Where the slab allocators keep how many bytes an object takes.  SLUB has that beside what
 * was asked for; SLAB has the two apart, in the same order.  Two caches tell the place from
 * words that are of such a size by chance.
 */

#define SLABSIZE_ADDED	512U		/* to an object, by the allocator and its debugging */

static inline bool slabsize_fits(unsigned int size, unsigned int asked)
{
	return size >= asked && size - asked <= SLABSIZE_ADDED;
}

/**
 * slabsize_find() - the place of the size in struct kmem_cache
 * @a:		the first words of one, whose objects are asked for with @asked_a bytes
 * @b:		the same of another one
 * @nr:		how many words
 *
 * Where what debugging adds is more, what was asked for is found: less than an object
 * takes, and never nothing.
 *
 * Return: which word it is; 0: there is none.
 */
static inline unsigned int slabsize_find(const unsigned int *a, unsigned int asked_a,
					 const unsigned int *b, unsigned int asked_b,
					 unsigned int nr)
{
	unsigned int i;

	for (i = 1; i < nr; i++)
		if (slabsize_fits(a[i], asked_a) && slabsize_fits(b[i], asked_b))
			return i;
	return 0;
}

#endif
