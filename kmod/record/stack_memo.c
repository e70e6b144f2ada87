// SPDX-License-Identifier: GPL-2.0-only
/* Cache recently unwound user stacks per CPU. */
#include <linux/log2.h>
#include <linux/sched.h>

#include "record/recording.h"
#include "record/spaces.h"
#include "record/stack_memo.h"

#include "compat/task.h"
#include "compat/uprobe.h"

/* Code that is not known changes unseen: what came of it is not kept. */
#define CUT	(MEMTAP_STACK_FAULT | MEMTAP_STACK_NOMAP | MEMTAP_STACK_NOTABLE | \
		 MEMTAP_STACK_TRAMPOLINE)

/* A power of two, at least two sets: 46 KiB; on very large machines 11. */
static u32 nr_stacks(void)
{
	return nr_cpu_ids > 128 ? 16 : 64;
}

/* Of them such as depend on many words: 24 KiB; on very large machines 3. */
static u32 nr_deep(void)
{
	return nr_cpu_ids > 128 ? 1 : 8;
}

u32 memtap_stack_memo_bytes(void)
{
	return nr_stacks() * sizeof(struct memtap_known_stack) +
	       nr_deep() * sizeof(struct memtap_deep_words);
}

void memtap_stack_memo_init(struct memtap_stack_memo *memo, void *room)
{
	memo->at = room;
	memo->deep = (void *)(memo->at + nr_stacks());
	memo->shift = 64 - ilog2(nr_stacks() / STACK_MEMO_WAYS);
	memo->credit = STACK_MEMO_CREDIT;
}

/* 33 KiB; on very large machines 11. */
static u32 nr_tails(void)
{
	return nr_cpu_ids > 128 ? 1 : 4;
}

u32 memtap_stack_tails_bytes(void)
{
	return sizeof(struct memtap_stack_tails) + nr_tails() * sizeof(struct stacktail);
}

void memtap_stack_tails_init(struct memtap_stack_tails *tails)
{
	u32 i;

	tails->credit = STACK_MEMO_CREDIT;
	for (i = 0; i < nr_tails(); i++)
		stacktail_init(&tails->at[i]);
}

/* Stacks of threads lie megabytes apart, and each grows down from a multiple of one. */
struct stacktail *memtap_stack_tail(struct memtap_stack_tails *tails, u64 sp)
{
	if (!tails->credit && ++tails->idle % STACK_MEMO_NOW_AND_THEN)
		return NULL;
	return &tails->at[((sp >> 20) * 0x9e3779b97f4a7c15ULL >> 32) & (nr_tails() - 1)];
}

void memtap_stack_tail_used(struct memtap_stack_tails *tails, u32 joined, u32 walked)
{
	if (joined < STACK_TAIL_PAYS * walked)
		tails->credit -= !!tails->credit;
	else if (tails->credit < STACK_MEMO_CREDIT)
		tails->credit += STACK_MEMO_FOUND;
}

static u64 place_of(const struct memtap_stack_where *w)
{
	return (w->sp ^ (w->ra ^ w->ip) * 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL;
}

#define place_nr(place)	((place) >> 32 & (STACK_MEMO_PLACES - 1))

/* The words that tell apart what is in this place, mixed; 0 where none is needed. */
static u64 apart(const struct memtap_stack_memo *memo, const struct memtap_stack_where *w)
{
	const struct memtap_stack_apart *a = &memo->apart[place_nr(w->place)];
	u64 mixed = 0, word;
	u32 i;

	for (i = 0; i < STACK_MEMO_APART && a->off[i] && a->tag == (u32)w->place; i++)
		if (memtap_user_word(w->sp + (a->off[i] & ~7), &word))
			mixed = (mixed ^ word) * 0x9e3779b97f4a7c15ULL;
	return mixed;
}

bool memtap_stack_where(struct memtap_stack_where *w, struct memtap_session *s,
			const struct memtap_stack_memo *memo, u32 space)
{
	if (!IS_ENABLED(CONFIG_X86_64) || !space || (w->sp & 7) ||
	    memtap_task_compat(current) || memtap_uretprobes_pending())
		return false;
	w->ra = 0;
	/* all calls of a function are in one place: who called it tells them apart */
	if ((w->how & STACK_MEMO_ENTRY) && !memtap_user_word(w->sp, &w->ra))
		return false;
	w->place = place_of(w);
	w->apart = apart(memo, w);
	w->ranges = s->spaces ? memtap_spaces_id(s) : READ_ONCE(s->tasks.slots[space].code.turn);
	w->space = space;
	return true;
}

static struct memtap_known_stack *set_of(struct memtap_stack_memo *memo,
					 const struct memtap_stack_where *w)
{
	return memo->at + ((w->place ^ w->apart) >> memo->shift) * STACK_MEMO_WAYS;
}

static inline bool same(const struct memtap_known_stack *st,
			const struct memtap_stack_where *w)
{
	return st->ra == w->ra && st->sp == w->sp && st->ip == w->ip &&
	       st->apart == w->apart && st->ranges == w->ranges && st->space == w->space &&
	       st->how == w->how && (!st->uses_fp || st->fp == w->fp);
}

/* From now on the word at @off leads on; those that were kept there are forgotten. */
static noinline void distinguish(struct memtap_stack_memo *memo,
				 const struct memtap_stack_where *w, u32 off)
{
	struct memtap_stack_apart *a = &memo->apart[place_nr(w->place)];
	u32 i;

	if (off > U16_MAX)
		return;
	if (a->tag != (u32)w->place) {
		memset(a, 0, sizeof(*a));
		a->tag = (u32)w->place;
	}
	for (i = 0; i < STACK_MEMO_APART; i++) {
		if (a->off[i] == (off | 1))
			return;
		if (!a->off[i]) {
			a->off[i] = off | 1;
			return;
		}
	}
}

struct memtap_known_stack *memtap_stack_find(struct memtap_stack_memo *memo,
					     const struct memtap_stack_where *w)
{
	struct memtap_known_stack *st = set_of(memo, w);
	u32 i, off, in_vain = 0, last = 0;

	for (i = 0; i < STACK_MEMO_WAYS; i++, st++) {
		if (!same(st, w))
			continue;
		off = memtap_user_words_differ(w->sp, &st->words);
		if (off != MEMTAP_WORDS_ARE) {
			in_vain++;
			last = off;
			continue;
		}
		if (memo->credit < STACK_MEMO_CREDIT)
			memo->credit += STACK_MEMO_FOUND;
		return st;
	}
	if (memo->credit)
		memo->credit--;
	if (in_vain >= STACK_MEMO_IN_VAIN)
		distinguish(memo, w, last);
	return NULL;
}

static bool keepable(const struct userstack_trail *t, u64 sp, u32 id, u32 flags)
{
	u32 i;

	if (t->partial || !t->nr || (flags & CUT) || id < MEMTAP_STACK_FIRST)
		return false;
	for (i = 0; i < t->nr; i++)
		if (t->slot[i] < sp || t->slot[i] - sp >= STACK_MEMO_FAR || (t->slot[i] & 7))
			return false;
	return true;
}

/* Walks go up the stack: there is little to sort. */
static void sort(const struct userstack_trail *t, u8 order[USERSTACK_TRAIL])
{
	u32 i, j;

	BUILD_BUG_ON(USERSTACK_TRAIL > U8_MAX);
	for (i = 0; i < t->nr; i++) {
		for (j = i; j && t->slot[order[j - 1]] > t->slot[i]; j--)
			order[j] = order[j - 1];
		order[j] = i;
	}
}

/* Side by side in @order, from @i on? */
static bool is_pair(const struct userstack_trail *t, const u8 *order, u32 i)
{
	return i + 1 < t->nr && t->slot[order[i + 1]] == t->slot[order[i]] + 8;
}

/* @p has room for two numbers a word. */
static void note_words(struct memtap_user_words *w, u64 *p, const struct userstack_trail *t,
		       u64 sp)
{
	u8 order[USERSTACK_TRAIL];
	u32 i;

	sort(t, order);
	w->at = p;
	w->pairs = 0;
	w->singles = 0;
	w->len = (u32)(t->slot[order[t->nr - 1]] - sp) + 8;
	for (i = 0; i < t->nr; i++) {
		if (!is_pair(t, order, i))
			continue;
		*p++ = t->slot[order[i]] - sp;
		*p++ = t->value[order[i]];
		*p++ = t->value[order[++i]];
		w->pairs++;
	}
	for (i = 0; i < t->nr; i++) {
		if (is_pair(t, order, i)) {
			i++;
			continue;
		}
		*p++ = t->slot[order[i]] - sp;
		*p++ = t->value[order[i]];
		w->singles++;
	}
}

/* Where @st has its words, @nr of them; who had that before is not known any more. */
static u64 *room_for(struct memtap_stack_memo *memo, struct memtap_known_stack *st, u32 nr)
{
	struct memtap_deep_words *d = memo->deep + memo->next_deep % nr_deep();

	if (nr <= STACK_MEMO_WORDS)
		return st->own;
	memo->next_deep++;
	if (d->of && d->of->words.at == d->at)
		d->of->space = 0;
	d->of = st;
	return d->at;
}

void memtap_stack_keep(struct memtap_stack_memo *memo, const struct memtap_stack_where *w,
		       const struct userstack_trail *t, u32 id, u32 flags)
{
	struct memtap_known_stack *st = set_of(memo, w) + memo->next_way % STACK_MEMO_WAYS;

	if (!keepable(t, w->sp, id, flags))
		return;
	memo->next_way++;
	note_words(&st->words, room_for(memo, st, t->nr), t, w->sp);
	st->sp = w->sp;
	st->ip = w->ip;
	st->ra = w->ra;
	st->apart = w->apart;
	st->fp = w->fp;
	st->uses_fp = t->uses_fp;
	st->ranges = w->ranges;
	st->space = w->space;
	st->how = w->how;
	st->id = id;
	st->slot = 0;
	st->flags = flags;
}
