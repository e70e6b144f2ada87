/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MACHINE_CACHES_H
#define _MACHINE_CACHES_H

#include "machine/machine.h"

/*
 * The kernel's slab caches in sysfs: names of merged caches (SLUB merges caches of the same
 * layout), and whether a cache is reclaimable.  The names are read once; a cache's file is read
 * when needed.
 */
struct machine_caches;

/* Empty where there is no such directory (SLAB, before v6.8); NULL: no memory. */
struct machine_caches *machine_caches_read(const struct machine_at *at);
void machine_caches_free(struct machine_caches *c);

/* Other names of cache @name in alphabetical order, as number @i; NULL: there are no more. */
const char *machine_caches_alias(const struct machine_caches *c, const char *name, size_t i);

#define CACHE_ALSO	320

/* "A, B, C and 4 more"; "" where it has one name, or @c is NULL. */
const char *machine_caches_also(const struct machine_caches *c, const char *name,
				char buf[CACHE_ALSO]);

/*
 * Does the kernel take back what is not in use of it when memory is short?  Where sysfs does not
 * say so, caches that are known for it by their names.
 */
bool machine_caches_reclaimable(struct machine_caches *c, const char *name);

#endif
