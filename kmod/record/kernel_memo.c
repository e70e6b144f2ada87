// SPDX-License-Identifier: GPL-2.0-only
/* Cache recently unwound kernel stacks per CPU. */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "record/kernel_memo.h"
#include "port/uapi.h"

#if MEMTAP_KERNEL_MEMO
/* A trampoline hides a caller: whether it does is learned while it runs. */
#define CUT	MEMTAP_STACK_TRAMPOLINE

/* 55 KiB; on very large machines 14. */
u32 memtap_kernel_memo_room(void)
{
	return nr_cpu_ids > 128 ? 32 : 128;
}

void memtap_kernel_memo_init(struct memtap_kernel_memo *memo, struct memtap_known_kernel *at)
{
	memo->at = MEMTAP_KERNEL_MEMO ? at : NULL;
	memo->shift = 64 - ilog2(memtap_kernel_memo_room() / KERNEL_MEMO_WAYS);
	memo->credit = KERNEL_MEMO_CREDIT;
}

#define MIX	0x9e3779b97f4a7c15ULL
#define place_nr(place)	((place) >> 32 & (KERNEL_MEMO_PLACES - 1))

static bool pays(struct memtap_kernel_memo *memo)
{
	return likely(memo->credit) || !(++memo->idle % KERNEL_MEMO_NOW_AND_THEN);
}

bool memtap_kernel_where(struct memtap_kernel_where *w, struct memtap_kernel_memo *memo,
			 const unsigned long *frame, u64 site)
{
	const struct memtap_kernel_apart *a;
	u64 mixed = 0;
	u32 i;

	w->base = 0;
	if (!memo->at || !frame || !pays(memo))
		return false;
	w->base = memtap_task_stack(frame);
	if (!w->base)
		return false;
	w->ip = frame[1];
	w->sp = (u32)((unsigned long)(frame + 2) - w->base);
	w->fp = (u32)(frame[0] - w->base);
	w->code = READ_ONCE(memtap_kernel_code);
	w->place = (w->sp ^ (w->ip ^ site * MIX) * MIX) * 0xd6e8feb86659fd93ULL;
	a = &memo->apart[place_nr(w->place)];
	for (i = 0; i < KERNEL_MEMO_APART && a->off[i] && a->tag == (u32)w->place; i++)
		mixed = (mixed ^ memtap_stack_word(w->base + (a->off[i] & ~7))) * MIX;
	w->apart = mixed;
	return true;
}

static struct memtap_known_kernel *set_of(struct memtap_kernel_memo *memo,
					  const struct memtap_kernel_where *w)
{
	return memo->at + ((w->place ^ w->apart) >> memo->shift) * KERNEL_MEMO_WAYS;
}

static bool same(const struct memtap_known_kernel *st, const struct memtap_kernel_where *w)
{
	return st->ip == w->ip && st->sp == w->sp && st->id && st->apart == w->apart &&
	       st->code == w->code && (!(st->trail & MEMTAP_TRAIL_FP) || st->fp == w->fp);
}

/* From now on the word at @off leads on; those that were kept there are forgotten. */
static noinline void distinguish(struct memtap_kernel_memo *memo,
				 const struct memtap_kernel_where *w, u32 off)
{
	struct memtap_kernel_apart *a = &memo->apart[place_nr(w->place)];
	u32 i;

	if (off > U16_MAX)
		return;
	if (a->tag != (u32)w->place) {
		memset(a, 0, sizeof(*a));
		a->tag = (u32)w->place;
	}
	for (i = 0; i < KERNEL_MEMO_APART; i++) {
		if (a->off[i] == (off | 1))
			return;
		if (!a->off[i]) {
			a->off[i] = off | 1;
			return;
		}
	}
}

struct memtap_known_kernel *memtap_kernel_find(struct memtap_kernel_memo *memo,
					       const struct memtap_kernel_where *w)
{
	struct memtap_known_kernel *st = set_of(memo, w);
	u32 i, in_vain = 0, off = 0;

	for (i = 0; i < KERNEL_MEMO_WAYS; i++, st++) {
		if (!same(st, w))
			continue;
		if (!memtap_words_equal(w->base, st->words, st->nr, st->nr_links, &off)) {
			in_vain++;
			continue;
		}
		if ((st->trail & MEMTAP_TRAIL_USER) && !memtap_entered_from_user())
			continue;
		if (memo->credit < KERNEL_MEMO_CREDIT)
			memo->credit += KERNEL_MEMO_FOUND;
		return st;
	}
	if (memo->credit)
		memo->credit--;
	if (in_vain >= KERNEL_MEMO_IN_VAIN)
		distinguish(memo, w, off);
	return NULL;
}

void memtap_kernel_keep(struct memtap_kernel_memo *memo, const struct memtap_kernel_where *w,
			const struct memtap_kernel_trail *t, u32 id, u32 flags)
{
	struct memtap_known_kernel *st = set_of(memo, w) + memo->next_way % KERNEL_MEMO_WAYS;

	if (!t->whole || id < MEMTAP_STACK_FIRST || (flags & CUT) ||
	    t->nr + t->nr_links > MEMTAP_TRAIL)
		return;
	memo->next_way++;
	st->ip = w->ip;
	st->sp = w->sp;
	st->fp = w->fp;
	st->apart = w->apart;
	st->code = w->code;
	st->id = id;
	st->flags = flags;
	st->slot = 0;
	st->nr = t->nr;
	st->nr_links = t->nr_links;
	st->trail = t->flags;
	memcpy(st->words, t->ips, t->nr * sizeof(*t->ips));
	memcpy(st->words + t->nr, t->links, t->nr_links * sizeof(*t->links));
}
#endif
