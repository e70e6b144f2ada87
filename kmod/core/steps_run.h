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

/* Where the next string goes, of @max bytes; steps_check() knows that there is room. */
static char *steps_next_text(struct steps_values *v, u32 *max)
{
	if (v->used >= sizeof(v->texts))
		return NULL;
	if (*max > sizeof(v->texts) - 1 - v->used)
		*max = (u32)sizeof(v->texts) - 1 - v->used;
	return v->texts + v->used;
}

/* It has been written there. */
static void steps_keep_text(struct steps_values *v, u32 slot, u32 len)
{
	v->at[slot] = (u16)v->used;
	v->len[slot] = (u16)len;
	v->texts[v->used + len] = 0;
	v->used += len + 1;
	v->known |= 1U << slot;
}

/* The string at @addr, up to its 0; it stays unknown if it is not there. */
static void steps_read_text(struct steps_world *w, u32 user, u64 addr, u32 max,
			    struct steps_values *v, u32 slot)
{
	char *buf = steps_next_text(v, &max);
	u32 len = 0, take, i;

	while (buf && len < max) {
		take = STEPS_PIECE - (u32)(addr & (STEPS_PIECE - 1));
		if (take > max - len)
			take = max - len;
		if (!steps_world_read(w, user, addr, buf + len, take))
			return;
		for (i = 0; i < take; i++)
			if (!buf[len + i])
				break;
		len += i;
		if (i < take)
			break;
		addr += take;
	}
	if (buf)
		steps_keep_text(v, slot, len);
}

/* The string in @most bytes of the record at @off. */
static void steps_field_text(const struct steps_world *w, u64 off, u64 most, u32 max,
			     struct steps_values *v, u32 slot)
{
	char *buf = steps_next_text(v, &max);
	u32 len = 0;
	const char *at;

	if (off > w->record_len || !buf)
		return;
	if (most > w->record_len - off)
		most = w->record_len - off;
	at = (const char *)w->record + off;
	while (len < most && len < max && at[len]) {
		buf[len] = at[len];
		len++;
	}
	steps_keep_text(v, slot, len);
}

/* Where it lies is 16 bits of offset, and 16 of length. */
static void steps_loc_text(const struct steps_world *w, const struct memtap_step *st, u32 max,
			   struct steps_values *v)
{
	u64 loc, base;

	if (st->number + 4 > w->record_len)
		return;
	loc = steps_number((const u8 *)w->record + st->number, 4);
	base = st->type ? st->number + 4 : 0;
	steps_field_text(w, base + (loc & 0xffff), loc >> 16, max, v, st->index);
}

static void steps_keep_comm(struct steps_world *w, struct steps_values *v, u32 slot)
{
	u32 max = MEMTAP_COMM_LEN - 1, len = 0;
	char comm[MEMTAP_COMM_LEN];
	char *buf = steps_next_text(v, &max);

	if (!buf)
		return;
	steps_world_comm(w, comm);
	while (len < max && comm[len]) {
		buf[len] = comm[len];
		len++;
	}
	steps_keep_text(v, slot, len);
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
	const char *a = s->texts + st->number, *b = steps_text(v, st->index);
	u32 i;

	for (i = 0; i < v->len[st->index]; i++)
		if (a[i] != b[i] || !a[i])
			return 0;
	return !a[i];
}

/*
 * Where a byte does not match, the last * takes one more; those before it never have to.
 * Returns 1, 0, or -1: that takes too long.
 */
static int steps_like(const char *pattern, const char *text, u32 len)
{
	const char *star = NULL, *end = text + len, *from = NULL;
	u32 left = MEMTAP_LIKE_MOST;
	char c;

	while (text < end) {
		if (!left--)
			return -1;
		c = *pattern;
		if (c == '*') {
			star = ++pattern;
			from = text;
			continue;
		}
		if (c == '\\' && pattern[1])
			c = *++pattern;
		else if (c == '?')
			c = *text;
		if (c && c == *text) {
			pattern++;
			text++;
			continue;
		}
		if (!star)
			return 0;
		pattern = star;
		text = ++from;
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
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
	int like;
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
		case MEMTAP_STEP_LIKE:
			k = v->known >> st->index & 1;
			like = k ? steps_like(s->texts + st->number, steps_text(v, st->index),
					      v->len[st->index]) : 0;
			k = k && like >= 0;
			x = like > 0;
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
		case MEMTAP_STEP_LOG2:
			top[-1] = (u64)steps_log2((s64)top[-1]);
			continue;
		case MEMTAP_STEP_SELECT:
			top -= 2;
			k = known >> 2 & (top[-1] ? known >> 1 : known) & 1;
			top[-1] = top[-1] ? *top : top[1];
			known = (known >> 3) << 1 | k;
			continue;
		case MEMTAP_STEP_KEEP:
			v->number[st->index] = steps_cast(*--top, st->type);
			v->known |= (known & 1) << st->index;
			known >>= 1;
			continue;
		case MEMTAP_STEP_TEXT:
			top--;
			if (known & 1)
				steps_read_text(w, (u32)st->number, *top, steps_text_max(s), v,
						st->index);
			known >>= 1;
			continue;
		case MEMTAP_STEP_FIELD_TEXT:
			steps_field_text(w, (u32)st->number, st->number >> 32, steps_text_max(s),
					 v, st->index);
			continue;
		case MEMTAP_STEP_FIELD_LOC:
			steps_loc_text(w, st, steps_text_max(s), v);
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
			x = steps_binary(st->op, st->type, known >> 1 & 1 ? top[-1] :
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
