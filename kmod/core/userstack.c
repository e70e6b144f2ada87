// SPDX-License-Identifier: GPL-2.0-only
/* Read a user stack in pieces. */
#include "userstack.h"

int userstack_fetch(struct userstack *us, u64 addr)
{
	u32 len = USERSTACK_PIECE - (u32)(addr & (USERSTACK_PIECE - 1));

	us->addr = addr;
	us->len = 0;
	if (len > USERSTACK_CHUNK)
		len = USERSTACK_CHUNK;
	if (addr < us->limit && len > us->limit - addr)
		len = (u32)(us->limit - addr);
	if (us->end && addr < us->end && len > us->end - addr)
		len = (u32)(us->end - addr);
	if (addr >= us->limit || us->read(us->ctx, addr, us->buf, len)) {
		us->fault = addr;
		return -1;
	}
	us->len = len;
	return 0;
}
