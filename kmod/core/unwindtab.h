/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_UNWINDTAB_H
#define _CORE_UNWINDTAB_H

#include "port.h"
#include "uapi.h"

/*
 * A file's rows (see struct memtap_rule), searched by bisection in the few of
 * them that begin in one block of the code.
 *
 * Filled in by whoever has the arrays, checked by unwindtab_check(), never
 * changed after that: searching needs no lock.
 */
struct unwindtab {
	u32 nr_rows, nr_rules;
	const u32 *rows;		/* positions, ascending */
	const u16 *kinds;		/* index of a row's rule */
	const struct memtap_rule *rules;
	u32 shift;			/* of a block: 1 << shift bytes */
	u32 nr_blocks;
	const u32 *blocks;		/* nr_blocks + 1 rows: in force where the
					 * block begins; the last one is the end's */
};

/* What is returned where nothing is known. */
extern const struct memtap_rule unwindtab_gap;

/*
 * Everything that searching and walking rely on.  0, or -1 where a row or a rule
 * breaks the contract.  May sleep, as unwindtab_index().
 */
int unwindtab_check(const struct unwindtab *t);

/* Chooses the blocks for @t; the bytes that unwindtab_index() needs for them. */
size_t unwindtab_layout(struct unwindtab *t);
void unwindtab_index(struct unwindtab *t, u32 *blocks);

/* The rule at position @pos, never NULL. */
static inline const struct memtap_rule *unwindtab_find(const struct unwindtab *t,
						       u64 pos)
{
	u64 off = pos - t->rows[0];
	u32 low, high, middle, block;

	if (unlikely(pos < t->rows[0]))
		return &unwindtab_gap;
	if (unlikely(off >> t->shift >= t->nr_blocks))
		return &t->rules[t->kinds[t->nr_rows - 1]];
	block = (u32)(off >> t->shift);
	low = t->blocks[block];
	high = t->blocks[block + 1];
	while (low < high) {
		middle = (low + high + 1) / 2;
		if (t->rows[middle] <= pos)
			low = middle;
		else
			high = middle - 1;
	}
	return &t->rules[t->kinds[low]];
}

#endif
