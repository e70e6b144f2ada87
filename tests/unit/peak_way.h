/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PEAK_WAY_H
#define _PEAK_WAY_H

/* Allocations and frees as kmod/live/peak.h makes them: the common way, or else the other one. */
#include "peaktab_run.h"

static u32 peak_come(struct peaktab *t, const struct peak_owner *o, u32 ustack, u64 size)
{
	u32 slot = 0, done = 0;

	if (port_trylock_quick(&t->lock)) {
		done = peaktab_ready(t, o, ustack, size, &slot);
		if (done)
			peaktab_came(t, o->space, slot, size);
		port_unlock_quick(&t->lock);
	}
	return done ? slot : peaktab_add(t, o, ustack, size, NULL, 1);
}

static void peak_go(struct peaktab *t, struct peak_level *space, const struct peak_gone *gone)
{
	u32 done = 0;

	if (gone->slot && port_trylock_quick(&t->lock)) {
		done = peaktab_saved(t, gone->slot);
		if (done)
			peaktab_went(t, space, gone->slot, gone->size, gone->temporary);
		port_unlock_quick(&t->lock);
	}
	if (!done)
		peaktab_remove(t, space, gone);
}

#endif
