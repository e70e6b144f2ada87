// SPDX-License-Identifier: GPL-2.0-or-later
/* Name the addresses among the arguments of events. */
#include <stdio.h>

#include "render/namer.h"

/* The symbol that has the address, whatever was inlined there. */
static int name(void *ctx, bool user, __u64 addr, char *buf, size_t len)
{
	const struct namer *n = ctx;
	const struct sym_frame *f;
	size_t nr;

	if (!addr || !n->snap || (user && !n->task))
		return 0;
	nr = user ? sym_user(n->sym, n->snap, n->task, n->era, addr, false, &f) :
		    sym_kernel(n->sym, n->snap, addr, false, &f);
	if (!nr || !f[nr - 1].name)
		return 0;
	f += nr - 1;
	return f->offset ? snprintf(buf, len, "%s+0x%llx", f->name, (unsigned long long)f->offset) :
			   snprintf(buf, len, "%s", f->name);
}

void namer_init(struct namer *n, struct sym *sym, const struct snap *snap)
{
	*n = (struct namer){ .args = { .ctx = n, .name = name }, .sym = sym, .snap = snap };
}
