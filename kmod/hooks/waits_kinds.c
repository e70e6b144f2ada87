// SPDX-License-Identifier: GPL-2.0-only
/* The table of stall kinds and their hooks. */
#include "hooks/hooks.h"
#include "hooks/waits_int.h"

const char *memtap_waits_get(u32 which, struct memtap_waits *to, bool *on)
{
	struct memtap_hook *hook;
	struct wait_book *book;
	unsigned long flags;

	if (which >= MEMTAP_WAITS_KINDS)
		return NULL;
	if (which == MEMTAP_WAITS_SWAP)
		memtap_swap_book(&hook, &book);
	else if (which == MEMTAP_WAITS_HIGH)
		memtap_high_book(&hook, &book);
	else
		memtap_reclaim_book(which, &hook, &book);
	raw_spin_lock_irqsave(&book->lock, flags);
	*to = book->waits;
	raw_spin_unlock_irqrestore(&book->lock, flags);
	to->missed = memtap_hook_missed(hook);
	*on = READ_ONCE(hook->users);
	return hook->event;
}
