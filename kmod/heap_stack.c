// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stacks of those who call allocators come again and again: whoever is found
 * with the same words where it matters is not walked a second time.
 */
#include <linux/ptrace.h>
#include <linux/sched.h>

#include "arch.h"
#include "heap.h"
#include "record.h"
#include "session.h"
#include "spaces.h"

#include "compat/uprobe.h"
#include "compat/user_words.h"

static struct memtap_heap_stack *set_of(struct memtap_heap_cpu *c, u64 sp, u64 ra)
{
	u64 h = (sp ^ ra * 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL;

	return c->stacks[h >> 60];	/* HEAP_STACK_SETS of them */
}

/* What is known before the walk. */
struct where {
	u64 sp, ip, ra, fp, ranges;
	u32 space;
};

static inline bool same(const struct memtap_heap_stack *st, const struct where *w)
{
	return st->sp == w->sp && st->ra == w->ra && st->ip == w->ip &&
	       st->ranges == w->ranges && st->space == w->space &&
	       (!st->uses_fp || st->fp == w->fp);
}

/* Code that is not known changes unseen: what came of it is not kept. */
#define CUT	(MEMTAP_STACK_FAULT | MEMTAP_STACK_NOMAP | MEMTAP_STACK_NOTABLE | \
		 MEMTAP_STACK_TRAMPOLINE)

static bool keepable(const struct userstack_trail *t, u64 sp, u32 id, u32 flags)
{
	u32 i;

	if (t->partial || !t->nr || (flags & CUT) || id < MEMTAP_STACK_FIRST)
		return false;
	for (i = 0; i < t->nr; i++)
		if (t->slot[i] < sp || t->slot[i] - sp > USERSTACK_PIECE ||
		    (t->slot[i] & 7))
			return false;
	return true;
}

static void keep(struct memtap_heap_stack *st, const struct userstack_trail *t,
		 const struct where *w, u32 id, u32 flags)
{
	u32 i, last = 0;

	for (i = 0; i < t->nr; i++) {
		st->off[i] = (u32)(t->slot[i] - w->sp);
		st->value[i] = t->value[i];
		if (st->off[i] > st->off[last])
			last = i;
	}
	swap(st->off[last], st->off[t->nr - 1]);
	swap(st->value[last], st->value[t->nr - 1]);
	st->nr = t->nr;
	st->sp = w->sp;
	st->ip = w->ip;
	st->ra = w->ra;
	st->fp = w->fp;
	st->uses_fp = t->uses_fp;
	st->ranges = w->ranges;
	st->space = w->space;
	st->id = id;
	st->flags = flags;
}

static u64 ranges_id(struct memtap_session *s)
{
	struct memtap_code_finder f;

	if (!s->spaces)
		return 0;
	memtap_spaces_find(&f, s);
	return f.ranges ? f.ranges->id : 0;
}

static bool repeatable(const struct memtap_session *s)
{
	return IS_ENABLED(CONFIG_X86_64) && (s->flags & MEMTAP_CFG_USTACK) &&
	       !memtap_task_compat(current) && !memtap_uretprobes_pending();
}

static u32 walk(struct memtap_session *s, struct memtap_heap_cpu *c,
		struct memtap_account *acc, struct memtap_scratch *sc,
		struct pt_regs *regs, const struct where *w)
{
	u32 id;

	sc->trailing = true;
	id = memtap_record_user_stack(s, acc, sc, regs, true, w->space);
	sc->trailing = false;
	if (keepable(&sc->trail, w->sp, id, sc->uflags))
		keep(&set_of(c, w->sp, w->ra)[c->next_way++ % HEAP_STACK_WAYS], &sc->trail,
		     w, id, sc->uflags);
	return id;
}

/*
 * Rows describe each instruction; frame pointers only the first one, so there the
 * stack is taken as it was then.
 */
u32 memtap_heap_stack_moved(struct memtap_session *s, struct memtap_account *acc,
			    struct memtap_scratch *sc, struct pt_regs *regs, u32 moved,
			    u32 space)
{
	struct pt_regs then = *regs;

	if (s->spaces)
		return memtap_record_user_stack(s, acc, sc, regs, false, space);
	memtap_move_stack(&then, moved);
	return memtap_record_user_stack(s, acc, sc, &then, true, space);
}

u32 memtap_heap_stack(struct memtap_session *s, struct memtap_heap_cpu *c,
		      struct memtap_account *acc, struct memtap_scratch *sc,
		      struct pt_regs *regs, u32 space)
{
	const struct memtap_heap_stack *st;
	struct where w;
	u32 i;

	w.sp = user_stack_pointer(regs);
	if (!repeatable(s) || (w.sp & 7) || !memtap_user_word(w.sp, &w.ra))
		return memtap_record_user_stack(s, acc, sc, regs, true, space);
	w.ip = instruction_pointer(regs);
	w.fp = memtap_user_fp(regs);
	w.ranges = ranges_id(s);
	w.space = space;
	st = set_of(c, w.sp, w.ra);
	for (i = 0; i < HEAP_STACK_WAYS; i++, st++) {
		if (!same(st, &w) ||
		    !memtap_user_words_are(w.sp, st->off, st->value, st->nr))
			continue;
		memtap_note_partial(acc, st->flags);
		return st->id;
	}
	return walk(s, c, acc, sc, regs, &w);
}
