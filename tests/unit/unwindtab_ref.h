/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contract of struct memtap_table's arrays and the search in them, said once
 * more: a field at a time, a row at a time.
 */
#ifndef _UNWINDTAB_REF_H
#define _UNWINDTAB_REF_H

#include "unwindtab.h"

static inline int ref_within(s32 off)
{
	return off >= -(1 << 30) && off <= 1 << 30;
}

static inline int ref_good_rule(const struct memtap_rule *r)
{
	int frame = r->kind == MEMTAP_RULE_CFA || r->kind == MEMTAP_RULE_DEREF ||
		    r->kind == MEMTAP_RULE_PLT;

	if (r->kind > MEMTAP_RULE_FP || r->reserved || r->flags > 63)
		return 0;
	if (r->flags && !frame)
		return 0;
	if (frame && r->kind != MEMTAP_RULE_PLT && r->reg > 15)
		return 0;
	if (r->flags & 32 && r->kind != MEMTAP_RULE_CFA)
		return 0;
	if ((r->flags & 3) == 3 || (r->flags & 12) == 12)
		return 0;
	if (!ref_within(r->cfa) || !ref_within(r->add) || !ref_within(r->fp) ||
	    !ref_within(r->bx))
		return 0;
	return r->flags & 16 ? r->ra >= 0 && r->ra <= 15 : r->ra == -8;
}

static inline int ref_good_table(const struct unwindtab *t)
{
	if (t->nr_rows < 1 || t->nr_rows > 1 << 24 ||
	    t->nr_rules < 1 || t->nr_rules > 1 << 16)
		return 0;
	for (u32 i = 0; i < t->nr_rules; i++)
		if (!ref_good_rule(&t->rules[i]))
			return 0;
	for (u32 i = 0; i < t->nr_rows; i++)
		if (t->kinds[i] >= t->nr_rules || (i && t->rows[i - 1] >= t->rows[i]))
			return 0;
	return 1;
}

static inline const struct memtap_rule *ref_find(const struct unwindtab *t, u64 pos)
{
	const struct memtap_rule *r = &unwindtab_gap;

	for (u32 i = 0; i < t->nr_rows && t->rows[i] <= pos; i++)
		r = &t->rules[t->kinds[i]];
	return r;
}

#endif
