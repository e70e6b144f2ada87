// SPDX-License-Identifier: GPL-2.0-only
/* Search the unwind table of a file. */
#include "unwindtab.h"

#define LEAST_SHIFT	4	/* smaller blocks find nothing faster */
#define ROWS_A_WHILE	4096	/* after which others are let run */
#define ROWS_A_BLOCK	4	/* so that blocks take a byte a row */
#define LEAST_OFFSET	(-(1 << 30))
#define MOST_OFFSET	(1 << 30)
#define MOST_REG	15

const struct memtap_rule unwindtab_gap = { .kind = MEMTAP_RULE_GAP, .ra = -8 };

/* Which fields a kind of rule uses. */
#define USES_REG	(1U << 0)
#define USES_FLAGS	(1U << 1)

static const u8 uses[MEMTAP_NR_RULE] = {
	[MEMTAP_RULE_CFA] = USES_REG | USES_FLAGS,
	[MEMTAP_RULE_DEREF] = USES_REG | USES_FLAGS,
	[MEMTAP_RULE_PLT] = USES_FLAGS,
};

static int bad_offset(s32 off)
{
	return off < LEAST_OFFSET || off > MOST_OFFSET;
}

static int bad_flags(const struct memtap_rule *r)
{
	const u32 known = MEMTAP_RULE_FP_SAVED | MEMTAP_RULE_FP_AT_FP |
			  MEMTAP_RULE_BX_SAVED | MEMTAP_RULE_BX_AT_FP |
			  MEMTAP_RULE_RA_REG | MEMTAP_RULE_SWITCH;
	const u32 fp = MEMTAP_RULE_FP_SAVED | MEMTAP_RULE_FP_AT_FP;
	const u32 bx = MEMTAP_RULE_BX_SAVED | MEMTAP_RULE_BX_AT_FP;

	if (!(uses[r->kind] & USES_FLAGS))
		return r->flags;
	if ((r->flags & MEMTAP_RULE_SWITCH) && r->kind != MEMTAP_RULE_CFA)
		return 1;
	return (r->flags & ~known) || (r->flags & fp) == fp ||
	       (r->flags & bx) == bx;
}

static int bad_rule(const struct memtap_rule *r)
{
	if (r->kind >= MEMTAP_NR_RULE || r->reserved || bad_flags(r))
		return 1;
	if ((uses[r->kind] & USES_REG) && r->reg > MOST_REG)
		return 1;
	if (bad_offset(r->cfa) || bad_offset(r->add) || bad_offset(r->fp) ||
	    bad_offset(r->bx))
		return 1;
	if (r->flags & MEMTAP_RULE_RA_REG)
		return r->ra < 0 || r->ra > MOST_REG;
	return r->ra != -8;
}

int unwindtab_check(const struct unwindtab *t)
{
	u32 i;

	if (!t->nr_rows || t->nr_rows > MEMTAP_MAX_ROWS || !t->nr_rules ||
	    t->nr_rules > MEMTAP_MAX_RULES)
		return -1;
	for (i = 0; i < t->nr_rules; i++)
		if (bad_rule(&t->rules[i]))
			return -1;
	for (i = 0; i < t->nr_rows; i++) {
		if (t->kinds[i] >= t->nr_rules ||
		    (i && t->rows[i] <= t->rows[i - 1]))
			return -1;
		if (!(i % ROWS_A_WHILE))
			port_resched();
	}
	return 0;
}

size_t unwindtab_layout(struct unwindtab *t)
{
	u64 span = t->rows[t->nr_rows - 1] - t->rows[0];	/* shifted by 32, too */
	u32 most = t->nr_rows / ROWS_A_BLOCK + 1;

	t->shift = LEAST_SHIFT;
	while ((span >> t->shift) + 1 > most)
		t->shift++;
	t->nr_blocks = (u32)(span >> t->shift) + 1;
	return ((size_t)t->nr_blocks + 1) * sizeof(*t->blocks);
}

void unwindtab_index(struct unwindtab *t, u32 *blocks)
{
	u32 row = 0, block;
	u64 start;

	for (block = 0; block < t->nr_blocks; block++) {
		start = t->rows[0] + ((u64)block << t->shift);
		while (row + 1 < t->nr_rows && t->rows[row + 1] <= start)
			if (!(++row % ROWS_A_WHILE))
				port_resched();
		blocks[block] = row;
		if (!(block % ROWS_A_WHILE))
			port_resched();
	}
	blocks[t->nr_blocks] = t->nr_rows - 1;
	t->blocks = blocks;
}
