// SPDX-License-Identifier: GPL-2.0-or-later
/* Locate malloc's memory in the mappings of a process. */
#include <errno.h>
#include <stdlib.h>

#include "heap/heap.h"
#include "leaks/reach_int.h"

int heap_of_layout(struct heap *h, const struct layout *l, struct memory *memory, bool passing,
		   bool others)
{
	const struct heap_memory m = { memory_read, memory, memory_next, memory_why, passing,
				       others };
	struct heap_area *areas = calloc(l->nr + 1, sizeof(*areas));
	size_t nr = 0;
	int err;

	if (!areas)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr; i++) {
		const struct area *a = &l->areas[i];
		const bool bss = i && !a->is_file && a[-1].is_file && a[-1].end == a->start;
		const bool open = a->readable && a->writable;

		/* pages of malloc's may be protected meanwhile */
		if (a->shared || a->skipped || (a->is_file && !open))
			continue;
		areas[nr++] = (struct heap_area){
			.start = a->start, .end = a->end, .brk = a->is_heap,
			.data = open && (a->is_file || (bss && !a->is_heap)),
			.anonymous = !a->is_file && !a->is_stack,
		};
	}
	err = heap_walk(h, areas, nr, &m);
	free(areas);
	return err;
}
