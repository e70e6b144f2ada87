/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_STEPS_RUN_H
#define _CORE_STEPS_RUN_H

#include "steps.h"

/*
 * Does steps that steps_check() has passed.  Whoever includes this has before defined
 * struct steps_world, with a tracepoint's @record of @record_len bytes, and these; each
 * returns 1, or 0: that is not known.
 */
static int steps_world_arg(struct steps_world *w, u32 n, u64 *v);
static int steps_world_reg(struct steps_world *w, u32 n, u64 *v);
static int steps_world_ret(struct steps_world *w, u64 *v);
static int steps_world_fact(struct steps_world *w, u32 n, u64 *v);
/* @len bytes of memory, which lie in one page unless they are 8 or fewer */
static int steps_world_read(struct steps_world *w, u32 user, u64 addr, void *buf, u32 len);
/* MEMTAP_COMM_LEN bytes */
static void steps_world_comm(struct steps_world *w, char *buf);

#define STEPS_PIECE	32U		/* a page has a multiple of it */

/* The string at @addr, up to its 0.  Returns its length, or -1 if it is not there. */
static int steps_read_text(struct steps_world *w, u32 user, u64 addr, char *buf)
{
	u32 len = 0, take, i;

	while (len < MEMTAP_MAX_TEXT) {
		take = STEPS_PIECE - (u32)(addr & (STEPS_PIECE - 1));
		if (take > MEMTAP_MAX_TEXT - len)
			take = MEMTAP_MAX_TEXT - len;
		if (!steps_world_read(w, user, addr, buf + len, take))
			return -1;
		for (i = 0; i < take; i++)
			if (!buf[len + i])
				return (int)(len + i);
		len += take;
		addr += take;
	}
	buf[len] = 0;
	return (int)len;
}

/* The string in @max bytes of the record at @off. */
static int steps_field_text(const struct steps_world *w, u64 off, u64 max, char *buf)
{
	u32 len = 0;
	const char *at;

	if (off > w->record_len)
		return -1;
	if (max > w->record_len - off)
		max = w->record_len - off;
	at = (const char *)w->record + off;
	while (len < max && len < MEMTAP_MAX_TEXT && at[len]) {
		buf[len] = at[len];
		len++;
	}
	buf[len] = 0;
	return (int)len;
}

/* Where it lies is 16 bits of offset, and 16 of length. */
static int steps_loc_text(const struct steps_world *w, const struct memtap_step *st, char *buf)
{
	u64 loc, base;

	if (st->number + 4 > w->record_len)
		return -1;
	loc = steps_number((const u8 *)w->record + st->number, 4);
	base = st->type ? st->number + 4 : 0;
	return steps_field_text(w, base + (loc & 0xffff), loc >> 16, buf);
}

static void steps_keep_text(struct steps_values *v, u32 slot, int len)
{
	if (len < 0)
		return;
	v->len[slot] = (u8)len;
	v->text[slot][len] = 0;
	v->known |= 1U << slot;
}

static void steps_keep_comm(struct steps_world *w, struct steps_values *v, u32 slot)
{
	u32 len = 0;

	steps_world_comm(w, v->text[slot]);
	v->text[slot][MEMTAP_COMM_LEN - 1] = 0;
	while (v->text[slot][len])
		len++;
	steps_keep_text(v, slot, (int)len);
}

static int steps_field(const struct steps_world *w, const struct memtap_step *st, u64 *v)
{
	if (st->number + (st->type & MEMTAP_TYPE_BYTES) > w->record_len)
		return 0;
	*v = steps_number((const u8 *)w->record + st->number, st->type);
	return 1;
}

static int steps_load(struct steps_world *w, const struct memtap_step *st, u64 addr, u64 *v)
{
	u64 word = 0;

	if (!steps_world_read(w, st->index, addr, &word, st->type & MEMTAP_TYPE_BYTES))
		return 0;
	*v = steps_number(&word, st->type);
	return 1;
}

static int steps_same(const struct steps *s, const struct steps_values *v,
		      const struct memtap_step *st)
{
	const char *a = s->texts + st->number, *b = v->text[st->index];
	u32 i;

	for (i = 0; i < v->len[st->index]; i++)
		if (a[i] != b[i] || !a[i])
			return 0;
	return !a[i];
}

/* @b is greater than 0 */
static u64 steps_divide(s64 a, s64 b)
{
	return a >= 0 ? port_div64((u64)a, (u64)b) : 0 - (port_div64(0 - (u64)a - 1, (u64)b) + 1);
}

static u64 steps_binary(const struct memtap_step *st, u64 a, u64 b)
{
	s64 sa = (s64)a, sb = (s64)b;
	u32 sign = st->type;

	switch (st->op) {
	case MEMTAP_STEP_ADD: return a + b;
	case MEMTAP_STEP_SUB: return a - b;
	case MEMTAP_STEP_AND: return a & b;
	case MEMTAP_STEP_OR: return a | b;
	case MEMTAP_STEP_SHL: return a << (b & 63);
	case MEMTAP_STEP_EQ: return a == b;
	case MEMTAP_STEP_NE: return a != b;
	case MEMTAP_STEP_LT: return sign ? sa < sb : a < b;
	case MEMTAP_STEP_LE: return sign ? sa <= sb : a <= b;
	case MEMTAP_STEP_GT: return sign ? sa > sb : a > b;
	case MEMTAP_STEP_GE: return sign ? sa >= sb : a >= b;
	case MEMTAP_STEP_BOTH: return a && b;
	case MEMTAP_STEP_DIV: return sb > 0 ? steps_divide(sa, sb) : 0;
	default: return a || b;
	}
}

/* Known is also what does not depend on what is not. */
static u32 steps_binary_known(u32 op, u64 a, u32 a_known, u64 b, u32 b_known)
{
	if (op == MEMTAP_STEP_BOTH)
		return (a_known && b_known) || (a_known && !a) || (b_known && !b);
	if (op == MEMTAP_STEP_EITHER)
		return (a_known && b_known) || (a_known && a) || (b_known && b);
	if (op == MEMTAP_STEP_DIV && (s64)b <= 0)
		return 0;
	return a_known && b_known;
}

/* Not in line: what a function has on its stack is cleared each time that it is called. */
static __attribute__((__noinline__)) int
steps_run_all(const struct steps *s, const struct memtap_step *st,
	      const struct memtap_step *end, struct steps_values *v, struct steps_world *w)
{
	u64 stack[MEMTAP_STEPS_DEPTH];
	u64 *top = stack;		/* behind the last number */
	u32 known = 0;			/* a bit for each, the last one's is the lowest */
	u64 x = 0;
	u32 k;

	for (; st < end; st++) {
		k = 1;
		switch (st->op) {
		case MEMTAP_STEP_NUMBER:
			x = st->number;
			break;
		case MEMTAP_STEP_ARG:
			k = steps_world_arg(w, st->index, &x);
			break;
		case MEMTAP_STEP_REG:
			k = steps_world_reg(w, st->index, &x);
			break;
		case MEMTAP_STEP_RET:
			k = steps_world_ret(w, &x);
			break;
		case MEMTAP_STEP_FIELD:
			k = steps_field(w, st, &x);
			break;
		case MEMTAP_STEP_FACT:
			k = steps_world_fact(w, st->index, &x);
			break;
		case MEMTAP_STEP_SLOT:
			k = v->known >> st->index & 1;
			x = v->number[st->index];
			break;
		case MEMTAP_STEP_SAME:
			k = v->known >> st->index & 1;
			x = k && steps_same(s, v, st);
			break;
		case MEMTAP_STEP_LOAD:
			k = (known & 1) && steps_load(w, st, top[-1], &top[-1]);
			known = (known & ~1U) | k;
			continue;
		case MEMTAP_STEP_CAST:
			top[-1] = steps_cast(top[-1], st->type);
			continue;
		case MEMTAP_STEP_NOT:
			top[-1] = !top[-1];
			continue;
		case MEMTAP_STEP_KEEP:
			v->number[st->index] = steps_cast(*--top, st->type);
			v->known |= (known & 1) << st->index;
			known >>= 1;
			continue;
		case MEMTAP_STEP_TEXT:
			top--;
			if (known & 1)
				steps_keep_text(v, st->index,
						steps_read_text(w, (u32)st->number, *top,
								v->text[st->index]));
			known >>= 1;
			continue;
		case MEMTAP_STEP_FIELD_TEXT:
			steps_keep_text(v, st->index,
					steps_field_text(w, (u32)st->number, st->number >> 32,
							 v->text[st->index]));
			continue;
		case MEMTAP_STEP_FIELD_LOC:
			steps_keep_text(v, st->index, steps_loc_text(w, st, v->text[st->index]));
			continue;
		case MEMTAP_STEP_COMM:
			steps_keep_comm(w, v, st->index);
			continue;
		case MEMTAP_STEP_PASS:
			top--;
			if (!(known & 1) || !*top)
				return 0;
			known >>= 1;
			continue;
		default:
			top--;
			k = steps_binary_known(st->op, top[-1], known >> 1 & 1, *top, known & 1);
			/* what is not known and does not matter shall not be in the way */
			x = steps_binary(st, known >> 1 & 1 ? top[-1] :
					 st->op == MEMTAP_STEP_BOTH,
					 known & 1 ? *top : st->op == MEMTAP_STEP_BOTH);
			top[-1] = x;
			known = (known >> 2) << 1 | k;
			continue;
		}
		*top++ = x;
		known = known << 1 | k;
	}
	return 1;
}

/*
 * The steps from @from to before @to.  Returns whether the event passes them.  Fields and
 * facts that are kept, which is all that most events ask for, need no stack.
 */
static int steps_run(const struct steps *s, u32 from, u32 to, struct steps_values *v,
		     struct steps_world *w)
{
	const struct memtap_step *st = &s->at[from], *end = &s->at[to], *keep;
	u64 x = 0;
	u32 k;

	for (; end - st >= 2; st += 2) {
		keep = st + 1;
		if (keep->op != MEMTAP_STEP_KEEP)
			break;
		if (st->op == MEMTAP_STEP_FIELD)
			k = steps_field(w, st, &x);
		else if (st->op == MEMTAP_STEP_FACT)
			k = steps_world_fact(w, st->index, &x);
		else
			break;
		v->number[keep->index] = steps_cast(x, keep->type);
		v->known |= k << keep->index;
	}
	return st == end || steps_run_all(s, st, end, v, w);
}

#endif
