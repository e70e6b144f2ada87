// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocate memory that is freed all at once. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define ARENA_BLOCK	(64 * 1024)

struct arena_block {
	struct arena_block *next;
	size_t size, used;
	char data[] __attribute__((aligned(8)));
};

static struct arena_block *add_block(struct arena *a, size_t size)
{
	struct arena_block *b;

	if (size < ARENA_BLOCK)
		size = ARENA_BLOCK;
	b = calloc(1, sizeof(*b) + size);
	if (!b)
		return NULL;
	b->size = size;
	b->next = a->blocks;
	a->blocks = b;
	return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = a->blocks;
	void *p;

	size = (size + 7) & ~(size_t)7;
	if (!b || size > b->size - b->used) {
		b = add_block(a, size);
		if (!b)
			return NULL;
	}
	p = b->data + b->used;
	b->used += size;
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	size_t len = strlen(s) + 1;
	char *p = arena_alloc(a, len);

	return p ? memcpy(p, s, len) : NULL;
}

void arena_free(struct arena *a)
{
	struct arena_block *b, *next;

	for (b = a->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	a->blocks = NULL;
}
