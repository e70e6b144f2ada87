// SPDX-License-Identifier: GPL-2.0-only
/* Check and pack the steps that read an event's arguments and evaluate its filter. */
#include "steps.h"

/* What a step takes from the stack and puts there, and which of its fields mean something. */
#define HAS_TYPE	(1U << 0)	/* bytes and a sign */
#define HAS_INDEX	(1U << 1)
#define HAS_NUMBER	(1U << 2)
#define HAS_SIGN	(1U << 3)	/* only a sign */
#define HAS_REL		(1U << 4)	/* @type: 0 or 1 */

struct rule {
	u8 takes, puts;
	u8 has;
	u8 needs;			/* STEPS_* */
};

static const struct rule rules[MEMTAP_NR_STEP] = {
	[MEMTAP_STEP_NUMBER] = { 0, 1, HAS_NUMBER, 0 },
	[MEMTAP_STEP_ARG] = { 0, 1, HAS_INDEX, STEPS_FUNCTION },
	[MEMTAP_STEP_REG] = { 0, 1, HAS_INDEX, STEPS_FUNCTION },
	[MEMTAP_STEP_RET] = { 0, 1, 0, STEPS_RETURN },
	[MEMTAP_STEP_FIELD] = { 0, 1, HAS_TYPE | HAS_NUMBER, STEPS_RECORD },
	[MEMTAP_STEP_FACT] = { 0, 1, HAS_INDEX, 0 },
	[MEMTAP_STEP_SLOT] = { 0, 1, HAS_INDEX, 0 },
	[MEMTAP_STEP_LOAD] = { 1, 1, HAS_TYPE | HAS_INDEX, 0 },
	[MEMTAP_STEP_CAST] = { 1, 1, HAS_TYPE, 0 },
	[MEMTAP_STEP_KEEP] = { 1, 0, HAS_TYPE | HAS_INDEX, 0 },
	[MEMTAP_STEP_TEXT] = { 1, 0, HAS_INDEX | HAS_NUMBER, 0 },
	[MEMTAP_STEP_FIELD_TEXT] = { 0, 0, HAS_INDEX | HAS_NUMBER, STEPS_RECORD },
	[MEMTAP_STEP_FIELD_LOC] = { 0, 0, HAS_INDEX | HAS_NUMBER | HAS_REL, STEPS_RECORD },
	[MEMTAP_STEP_COMM] = { 0, 0, HAS_INDEX, 0 },
	[MEMTAP_STEP_SAME] = { 0, 1, HAS_INDEX | HAS_NUMBER, 0 },
	[MEMTAP_STEP_PASS] = { 1, 0, 0, 0 },
	[MEMTAP_STEP_ADD] = { 2, 1, 0, 0 },
	[MEMTAP_STEP_SUB] = { 2, 1, 0, 0 },
	[MEMTAP_STEP_AND] = { 2, 1, 0, 0 },
	[MEMTAP_STEP_OR] = { 2, 1, 0, 0 },
	[MEMTAP_STEP_SHL] = { 2, 1, 0, 0 },
	[MEMTAP_STEP_EQ] = { 2, 1, 0, 0 },
	[MEMTAP_STEP_NE] = { 2, 1, 0, 0 },
	[MEMTAP_STEP_LT] = { 2, 1, HAS_SIGN, 0 },
	[MEMTAP_STEP_LE] = { 2, 1, HAS_SIGN, 0 },
	[MEMTAP_STEP_GT] = { 2, 1, HAS_SIGN, 0 },
	[MEMTAP_STEP_GE] = { 2, 1, HAS_SIGN, 0 },
	[MEMTAP_STEP_BOTH] = { 2, 1, 0, 0 },
	[MEMTAP_STEP_EITHER] = { 2, 1, 0, 0 },
	[MEMTAP_STEP_NOT] = { 1, 1, 0, 0 },
	[MEMTAP_STEP_DIV] = { 2, 1, 0, 0 },
	[MEMTAP_STEP_MUL] = { 2, 1, 0, 0 },
	[MEMTAP_STEP_QUOT] = { 2, 1, HAS_SIGN, 0 },
	[MEMTAP_STEP_REM] = { 2, 1, HAS_SIGN, 0 },
	[MEMTAP_STEP_SHR] = { 2, 1, HAS_SIGN, 0 },
	[MEMTAP_STEP_XOR] = { 2, 1, 0, 0 },
	[MEMTAP_STEP_SELECT] = { 3, 1, 0, 0 },
	[MEMTAP_STEP_LIKE] = { 0, 1, HAS_INDEX | HAS_NUMBER, 0 },
	[MEMTAP_STEP_LOG2] = { 1, 1, 0, 0 },
};

void steps_effect(u32 op, u32 *takes, u32 *puts)
{
	*takes = op < MEMTAP_NR_STEP ? rules[op].takes : 0;
	*puts = op < MEMTAP_NR_STEP ? rules[op].puts : 0;
}

/* Records of tracepoints are no longer: perf's buffer is 8 KiB at most. */
#define MAX_FIELD	8192
#define MAX_REG		16

static int type_fits(u32 type, u32 has)
{
	u32 bytes = type & MEMTAP_TYPE_BYTES;

	if (has & HAS_TYPE)
		return !(type & ~(MEMTAP_TYPE_BYTES | MEMTAP_TYPE_SIGNED)) &&
		       (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
	if (has & HAS_SIGN)
		return !(type & ~MEMTAP_TYPE_SIGNED);
	return type <= (has & HAS_REL ? 1U : 0U);
}

/* Into a slot that has nothing yet: what is in it is never in question. */
static int keep(struct steps *s, const struct memtap_step *st)
{
	u32 bit;

	if (st->index >= MEMTAP_MAX_SLOTS)
		return 0;
	bit = 1U << st->index;
	if (s->kept & bit)
		return 0;
	s->kept |= bit;
	if (st->op != MEMTAP_STEP_KEEP)
		s->text |= bit;
	else if (st->type & MEMTAP_TYPE_SIGNED)
		s->is_signed |= bit;
	return 1;
}

static int slot_has(const struct steps *s, u32 index, u32 text)
{
	return index < MEMTAP_MAX_SLOTS && (s->kept >> index & 1) &&
	       (s->text >> index & 1) == text;
}

static int text_ends(const struct steps *s, u64 at)
{
	return at < s->texts_len && memchr(s->texts + at, 0, s->texts_len - at);
}

static int fact_is(const struct memtap_step *st, u32 can, u32 at_return)
{
	if (st->index >= MEMTAP_NR_FACT)
		return 0;
	if (st->index == MEMTAP_FACT_LATENCY)
		return at_return;
	return st->index != MEMTAP_FACT_VALUE || (can & STEPS_VALUE);
}

static int fields_fit(struct steps *s, const struct memtap_step *st, u32 can, u32 at_return)
{
	switch (st->op) {
	case MEMTAP_STEP_ARG:
		return st->index < 6 && !at_return;
	case MEMTAP_STEP_REG:
		return st->index <= MAX_REG && !at_return;
	case MEMTAP_STEP_RET:
		return at_return;
	case MEMTAP_STEP_FIELD:
		return st->number < MAX_FIELD;
	case MEMTAP_STEP_FACT:
		return fact_is(st, can, at_return);
	case MEMTAP_STEP_SLOT:
		return slot_has(s, st->index, 0);
	case MEMTAP_STEP_LOAD:
		return st->index == 1 || (!st->index && (can & STEPS_KERNEL));
	case MEMTAP_STEP_TEXT:
		return (st->number == 1 || (!st->number && (can & STEPS_KERNEL))) && keep(s, st);
	case MEMTAP_STEP_FIELD_TEXT:
		return (u32)st->number < MAX_FIELD && st->number >> 32 &&
		       st->number >> 32 <= MAX_FIELD && keep(s, st);
	case MEMTAP_STEP_FIELD_LOC:
		return st->number < MAX_FIELD && keep(s, st);
	case MEMTAP_STEP_KEEP:
	case MEMTAP_STEP_COMM:
		return keep(s, st);
	case MEMTAP_STEP_SAME:
	case MEMTAP_STEP_LIKE:
		return slot_has(s, st->index, 1) && text_ends(s, st->number);
	default:
		return 1;
	}
}

static int step_fits(struct steps *s, const struct memtap_step *st, u32 can, u32 at_return,
		     u32 *depth)
{
	const struct rule *r;

	if (!st->op || st->op >= MEMTAP_NR_STEP || st->reserved)
		return 0;
	r = &rules[st->op];
	if ((r->needs & can) != r->needs || !type_fits(st->type, r->has) ||
	    (st->index && !(r->has & HAS_INDEX)) || (st->number && !(r->has & HAS_NUMBER)) ||
	    *depth < r->takes || *depth - r->takes + r->puts > MEMTAP_STEPS_DEPTH)
		return 0;
	*depth = *depth - r->takes + r->puts;
	return fields_fit(s, st, can, at_return);
}

static int shown_are_kept(const struct steps *s)
{
	u32 shown = (1U << s->nr_shown) - 1;

	return (s->kept & shown) == shown && (s->kept & s->by_mask) == s->by_mask &&
	       !(s->by_mask && s->by_slot) &&
	       (!s->value_slot || slot_has(s, s->value_slot - 1, 0)) &&
	       (!s->by_slot || slot_has(s, s->by_slot - 1, 0) ||
		slot_has(s, s->by_slot - 1, 1));
}

/* Also where each is as long as it may be. */
int steps_texts_fit(const struct steps *s)
{
	u32 i, nr = 0;

	for (i = 0; i < s->nr; i++)
		switch (s->at[i].op) {
		case MEMTAP_STEP_TEXT:
		case MEMTAP_STEP_FIELD_TEXT:
		case MEMTAP_STEP_FIELD_LOC:
		case MEMTAP_STEP_COMM:
			nr++;
			break;
		default:
			break;
		}
	return nr * (steps_text_max(s) + 1) <= MEMTAP_ALL_TEXT;
}

static int takes_latency(const struct steps *s)
{
	return s->nr == 2 && !s->nr_entry && s->at[0].op == MEMTAP_STEP_FACT &&
	       s->at[0].index == MEMTAP_FACT_LATENCY && s->at[1].op == MEMTAP_STEP_KEEP &&
	       (s->at[1].type & MEMTAP_TYPE_BYTES) == 8 &&
	       s->value_slot == s->at[1].index + 1U && !s->by_slot && !s->by_mask;
}

int steps_check(struct steps *s, u32 can)
{
	u32 i, depth = 0;

	s->only_latency = 0;
	s->kept = 0;
	s->kept_entry = 0;
	s->text = 0;
	s->is_signed = 0;
	if (s->nr > MEMTAP_MAX_STEPS || s->nr_entry > s->nr ||
	    s->nr_shown > MEMTAP_MAX_SHOWN || s->texts_len > MEMTAP_MAX_TEXTS ||
	    s->value_slot > MEMTAP_MAX_SLOTS || s->by_slot > MEMTAP_MAX_SLOTS ||
	    (s->nr_entry && !(can & STEPS_LATE)) || s->value_unit >= MEMTAP_NR_UNIT ||
	    (s->value_unit && !s->value_slot) ||
	    (s->text_max && (s->text_max < MEMTAP_SHORT_TEXT || s->text_max > MEMTAP_LONG_TEXT)))
		return 0;
	for (i = 0; i < s->nr; i++) {
		if (i == s->nr_entry) {
			if (depth)
				return 0;
			s->kept_entry = s->kept;
		}
		if (!step_fits(s, &s->at[i], can, (can & STEPS_LATE) && i >= s->nr_entry,
			       &depth))
			return 0;
	}
	if (s->nr == s->nr_entry)
		s->kept_entry = s->kept;
	if (depth || !shown_are_kept(s) || !steps_texts_fit(s))
		return 0;
	s->only_latency = (u32)takes_latency(s);
	return 1;
}

/* Of a string, with its length in front. */
static u32 packed_text(const struct steps *s, u32 len)
{
	return (len + (s->text_max ? 2 : 1) + 7) & ~7U;
}

u32 steps_packed_max(const struct steps *s, u32 mask)
{
	u32 i, len = 0;

	for (i = 0; i < MEMTAP_MAX_SLOTS; i++)
		if (mask >> i & 1)
			len += s->text >> i & 1 ? packed_text(s, steps_text_max(s)) : 8;
	return len;
}

u32 steps_pack(const struct steps *s, const struct steps_values *v, u32 mask, void *buf)
{
	const u32 head = s->text_max ? 2 : 1;
	u8 *at = buf;
	u32 i, len;

	for (i = 0, mask &= v->known; mask >> i; i++) {
		if (!(mask >> i & 1))
			continue;
		if (!(s->text >> i & 1)) {
			memcpy(at, &v->number[i], 8);
			at += 8;
			continue;
		}
		len = packed_text(s, v->len[i]);
		memcpy(at, &v->len[i], head);	/* the low byte is the first one */
		memcpy(at + head, steps_text(v, i), v->len[i]);
		memset(at + head + v->len[i], 0, len - head - v->len[i]);
		at += len;
	}
	return at - (u8 *)buf;
}

int steps_set_text(struct steps_values *v, u32 slot, const char *text, u32 len)
{
	if (len >= sizeof(v->texts) || v->used >= sizeof(v->texts) - len)
		return 0;
	memcpy(v->texts + v->used, text, len);
	v->texts[v->used + len] = 0;
	v->at[slot] = (u16)v->used;
	v->len[slot] = (u16)len;
	v->used += len + 1;
	return 1;
}

int steps_unpack(const struct steps *s, struct steps_values *v, u32 mask, u32 known,
		 const void *buf, u32 len)
{
	const u32 head = s->text_max ? 2 : 1;
	const u8 *at = buf;
	u32 i, take;
	u16 text;

	v->known = known & mask;
	v->used = 0;
	for (i = 0; i < MEMTAP_MAX_SLOTS && v->known >> i; i++) {
		if (!(v->known >> i & 1))
			continue;
		if (len < 8)
			return 0;
		if (!(s->text >> i & 1)) {
			memcpy(&v->number[i], at, 8);
			take = 8;
		} else {
			text = 0;
			memcpy(&text, at, head);
			take = packed_text(s, text);
			if (text > steps_text_max(s) || take > len ||
			    !steps_set_text(v, i, (const char *)at + head, text))
				return 0;
		}
		at += take;
		len -= take;
	}
	return 1;
}
