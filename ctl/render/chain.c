// SPDX-License-Identifier: GPL-2.0-or-later
/* Join the two stacks of a row: the kernel's, which is the inner one, and the program's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/int.h"

int render_chain(const struct report *r, const struct rrow *row, struct chain *c)
{
	const struct rstack *k = &r->stacks[row->kstack], *u = &r->stacks[row->ustack];
	const size_t nr = (size_t)k->nr + u->nr;
	__u32 *more;

	if (nr > c->room) {
		more = reallocarray(c->at, 2 * nr, sizeof(*more));
		if (!more)
			return -ENOMEM;
		c->at = more;
		c->room = 2 * nr;
	}
	if (k->nr)
		memcpy(c->at, k->frames, k->nr * sizeof(*c->at));
	if (u->nr)
		memcpy(c->at + k->nr, u->frames, u->nr * sizeof(*c->at));
	c->nr = nr;
	c->flags = u->flags;
	return 0;
}

void render_chain_free(struct chain *c)
{
	free(c->at);
	c->at = NULL;
	c->nr = c->room = 0;
}

bool render_groups_shown(const struct report *r)
{
	return r->o->by_given || r->nr_groups > 1;
}
