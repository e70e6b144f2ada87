/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARENA_H
#define _ARENA_H

#include <stddef.h>

/* Memory that is freed all at once, such as the symbolizer's names and frames. */
struct arena {
	struct arena_block *blocks;
};

/* Zeroed, aligned to 8; NULL if there is no memory. */
void *arena_alloc(struct arena *a, size_t size);
char *arena_strdup(struct arena *a, const char *s);
void arena_free(struct arena *a);

#endif
