// SPDX-License-Identifier: GPL-2.0-or-later
/* What is found of the interpreter's memory: parts of objects, and roots. */
#include <errno.h>

#include "base/ids.h"
#include "heap/python_int.h"

/* It only seemed to be an object: what stands there is a number like the address of a type. */
static bool take_back(struct python *py, __u32 block)
{
	if ((py->of[block] & 3) == OF_PART)
		return false;
	if ((py->of[block] & 3) == OF_OBJECT) {
		py->objects--;
		py->object_bytes -= py->g->chunks[block].size;
	}
	if (py->g->shape)
		py->g->shape[block] = 0;
	if (py->g->begins)
		py->g->begins[block] = 0;
	return true;
}

__u32 python_part_at(struct python *py, __u32 owner, __u64 addr, enum python_part part)
{
	const __u32 block = addr < PAGE ? GRAPH_NONE : graph_at(py->g, addr);

	if (block == GRAPH_NONE || block == owner)
		return GRAPH_NONE;
	if (py->of[block] && (addr != graph_addr(py->g, block) || !take_back(py, block)))
		return GRAPH_NONE;
	py->of[block] = part << OF_BITS | OF_PART;
	py->owner[block] = owner + 1;
	return block;
}

int python_add_root(struct python *py, __u64 start, __u64 end, bool frames)
{
	struct python_root *more = ids_grow(py->roots, py->nr_roots, &py->room_roots,
					    sizeof(*more));

	if (!more)
		return -ENOMEM;
	py->roots = more;
	py->roots[py->nr_roots++] = (struct python_root){ start, end, frames };
	return 0;
}
