// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unwind user stacks: pass the registers to core/rowwalk or core/fpwalk, with a function that
 * reads user memory without faulting.
 */
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/processor.h>

#include "core/fpwalk.h"
#include "core/rowwalk.h"
#include "record/arch.h"
#include "record/record.h"
#include "record/recording.h"
#include "record/spaces.h"
#include "record/verify.h"

#include "compat/task.h"
#include "compat/uprobe.h"
#include "compat/user_regs.h"
#include "compat/user_words.h"

#ifdef MEMTAP_USER_WORD_BY_WORD
#define ROWPLAIN_BEGIN(w)		memtap_user_begin()
#define ROWPLAIN_FRAME(w, sp, cfa)	1
#define ROWPLAIN_GET(w, v, at, away)	({ memtap_user_get(v, at, away); 1; })
#define ROWPLAIN_END()			memtap_user_end()
#define FPPLAIN_BEGIN()			memtap_user_begin()
#define FPPLAIN_GET(w, v, at, away)	({ memtap_user_get(v, at, away); 1; })
#define FPPLAIN_END()			memtap_user_end()
#include "core/fpplain.h"
#include "core/rowplain.h"

static noinline int walk_plain(struct rowwalk *w)
{
	return w->us.trail ? rowplain(w, 1) : rowplain(w, 0);
}

static noinline u32 chain_plain(struct fpwalk *w)
{
	return w->us.trail ? fpplain(w, 1) : fpplain(w, 0);
}
#else
#define walk_plain	NULL
#define chain_plain	NULL
#endif

static int read_user(void *ctx, u64 addr, void *buf, u32 len)
{
	return memtap_user_bytes(buf, addr, len) ? 0 : -1;
}

static int is_call(void *ctx, u64 ip)
{
	u32 nr = min_t(u32, ROWWALK_CALL, ip & (USERSTACK_PIECE - 1));
	u8 code[ROWWALK_CALL];

	/* of an instruction that begins on another page, what is on this one will do */
	if (!nr || !memtap_user_bytes(code, ip - nr, nr))
		return 0;
	return nr < ROWWALK_CALL || rowwalk_ends_in_call(code + nr, nr);
}

static u32 enters_kernel(void *ctx, u64 ip)
{
	u8 code[ROWWALK_ENTERS];

	return ip > sizeof(code) && memtap_user_bytes(code, ip - sizeof(code), sizeof(code)) &&
	       rowwalk_is_enter(code) ? sizeof(code) : 0;
}

static u64 fix_return(void *ctx, u64 slot, u64 ip)
{
	return memtap_uretprobe_fix(slot, ip);
}

static u32 words_same(void *ctx, const struct stacktail_word *words, u32 nr)
{
	BUILD_BUG_ON(sizeof(*words) != 2 * sizeof(u64));
	return memtap_user_words_same(&words->slot, nr);
}

static int any_reg(void *ctx, u32 reg, u64 *v)
{
	const struct memtap_code_finder *f = ctx;

	return memtap_user_reg(f->regs, reg, v);
}

static noinline void verify_chain(struct memtap_scratch *sc, const struct fpwalk *from)
{
	struct fpwalk w = *from;

	if (w.max > ARRAY_SIZE(sc->raw))
		return;
	w.ips = (u64 *)sc->raw;
	w.plain = NULL;
	w.us.trail = NULL;
	fpwalk(&w);
	memtap_verified(MEMTAP_VERIFY_WALK, w.nr == from->nr && w.flags == from->flags &&
			!memcmp(w.ips, from->ips, w.nr * sizeof(*w.ips)));
}

/* What all walks of chains on this processor have in common. */
static noinline void set_up_chain(struct memtap_scratch *sc)
{
	struct fpwalk *w = &sc->chain;

	w->plain = chain_plain;
	w->us.read = read_user;
	w->us.buf = sc->chunk;
}

static void by_frame_pointers(struct memtap_scratch *sc,
			      const struct memtap_uregs *u, bool entry, u32 max,
			      u32 *flags)
{
	struct fpwalk *w = &sc->chain;

	if (unlikely(!w->us.read))
		set_up_chain(sc);
	w->ip = u->ip;
	w->sp = u->sp;
	w->fp = u->known & MEMTAP_UREGS_FP ? u->fp : 0;
	w->us.limit = TASK_SIZE;
	w->word = sizeof(long);
	w->entry = entry;
	w->max = max;
	w->ips = sc->uips;
	w->us.trail = sc->trailing ? &sc->trail : NULL;
	w->us.fix = unlikely(memtap_uretprobes_pending()) ? fix_return : NULL;
	if (memtap_task_compat(current)) {
		w->word = 4;
		w->ip = (u32)w->ip;
		w->sp = (u32)w->sp;
		w->fp = (u32)w->fp;
		*flags |= MEMTAP_STACK_COMPAT;
	}
	fpwalk(w);
	if (unlikely(READ_ONCE(memtap_verifies)))
		verify_chain(sc, w);
	*flags |= w->flags;
	sc->ufault = w->us.fault;
	sc->unr = w->nr;
}

static void set_regs(struct rowwalk *w, const struct memtap_uregs *u)
{
	w->ip = u->ip;
	w->sp = u->sp;
	w->fp = u->fp;
	w->bx = u->bx;
	w->known = (u->known & MEMTAP_UREGS_FP ? ROWWALK_KNOWN_FP : 0) |
		   (u->known & MEMTAP_UREGS_BX ? ROWWALK_KNOWN_BX : 0);
}

/* Frames of the stack that this thread had last need no walk. */
static __always_inline void set_tail(struct memtap_scratch *sc, struct memtap_stack_tails *tails)
{
	struct rowwalk *w = &sc->walk;

	w->tail = NULL;
	w->us.trail = sc->trailing ? &sc->trail : NULL;
	if (!tails || !w->memo_id || w->us.fix || (w->sp & 7))
		return;
	w->tail = memtap_stack_tail(tails, w->sp);
	if (!w->tail)
		return;
	w->head = &tails->head;
	w->us.trail = &sc->trail;
	sc->trail.most = sc->trailing ? USERSTACK_TRAIL : 0;
}

/* For tests: is it what a walk says that remembers nothing, and reads in pieces? */
static noinline void verify(struct memtap_scratch *sc, const struct memtap_uregs *u)
{
	u32 nr = sc->walk.nr, flags = sc->walk.flags, joined = sc->walk.joined;
	struct rowwalk *w = &sc->walk;

	if (w->max > ARRAY_SIZE(sc->raw))
		return;
	set_regs(w, u);
	w->ips = (u64 *)sc->raw;
	w->memo_id = 0;
	w->tail = NULL;
	w->us.trail = NULL;
	rowwalk(w);
	memtap_verified(joined ? MEMTAP_VERIFY_TAIL : MEMTAP_VERIFY_WALK,
			w->nr == nr && w->flags == flags &&
			!memcmp(w->ips, sc->uips, nr * sizeof(*w->ips)));
	w->nr = nr;
	w->flags = flags;
}

/* What all walks by rows on this processor have in common: they are of 64-bit tasks alone. */
static noinline void set_up(struct memtap_scratch *sc)
{
	struct rowwalk *w = &sc->walk;

	w->find = memtap_spaces_code;
	w->plain = walk_plain;
	w->calls = is_call;
	w->enters = enters_kernel;
	w->same = words_same;
	w->us.read = read_user;
	w->us.ctx = &sc->finder;
	w->us.buf = sc->chunk;
	w->us.limit = TASK_SIZE;
	w->memo = sc->memo;
}

static void by_rows(struct memtap_scratch *sc, const struct memtap_uregs *u,
		    bool entry, struct memtap_session *s, u32 max, u32 *flags)
{
	struct memtap_stack_tails *tails = s->cpus[smp_processor_id()]->tails;
	struct memtap_code_finder *finder = &sc->finder;
	struct rowwalk *w = &sc->walk;

	if (unlikely(!w->find))
		set_up(sc);
	memtap_spaces_find(finder, s);
	finder->regs = u->regs;
	set_regs(w, u);
	w->entry = entry;
	w->max = max;
	w->ips = sc->uips;
	w->reg = u->known & MEMTAP_UREGS_ALL ? any_reg : NULL;
	w->us.fix = unlikely(memtap_uretprobes_pending()) ? fix_return : NULL;
	w->memo_id = finder->ranges ? finder->ranges->id : 0;
	set_tail(sc, tails);
	rowwalk(w);
	if (w->tail)
		memtap_stack_tail_used(tails, w->joined, w->nr - w->joined);
	if (unlikely(READ_ONCE(memtap_verifies)))
		verify(sc, u);
	*flags |= w->flags | MEMTAP_STACK_ROWS;
	sc->ufault = w->us.fault;
	sc->unr = w->nr;
}

u32 memtap_unwind_user(struct memtap_scratch *sc, struct pt_regs *regs,
		       bool entry, struct memtap_session *rows, u32 max,
		       u32 *flags)
{
	struct memtap_uregs *u = &sc->uregs;

	sc->uips = unlikely(max > MEMTAP_DEFAULT_DEPTH) ? sc->deep : sc->shallow;
	if (!memtap_user_regs(u, regs))
		return 0;
	*flags |= MEMTAP_STACK_USER | MEMTAP_STACK_ENTRY;
	if (!rows || memtap_task_compat(current)) {
		by_frame_pointers(sc, u, entry, max, flags);
		return sc->unr;
	}
	by_rows(sc, u, entry, rows, max, flags);
	/* execve() took the old stack away before the new one was begun */
	if (unlikely(sc->unr == 1 && (*flags & MEMTAP_STACK_NOMAP)) &&
	    memtap_user_regs_replaced(u)) {
		*flags = 0;
		sc->unr = 0;
	}
	return sc->unr;
}
