// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Choose the instruction of a function where a probe costs least.
 *
 * A probe is a trap.  The kernel then emulates the instruction under it, or executes a copy of it
 * elsewhere, which ends in a second trap.  The kernel emulates jumps, calls, nop and, since 4.16,
 * push.  One of them often stands near the entry, where the arguments and the stack are still as
 * the caller left them.
 */
#include <string.h>

#include "alloc/alloc.h"
#include "elf/insn.h"

#define WINDOW	256		/* bytes from the entry that are looked at */

/* endbr64, and endbr32 of i386 */
static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e };

static size_t skip_endbr(const unsigned char *code, size_t len)
{
	if (len < 4 || memcmp(code, endbr, sizeof(endbr)))
		return 0;
	return code[3] == 0xfa || code[3] == 0xfb ? 4 : 0;
}

/* What the straight line has come to. */
struct line {
	bool push;
	bool joined[WINDOW];	/* a branch of the function leads there */
	unsigned int keep;	/* registers that have to be intact */
	int null_reg;		/* a call with 0 in there need not be seen; or -1 */
	int tested;		/* the flags say whether this register is 0; or -1 */
	bool past_null;
	__u32 moved;		/* rsp, since the entry */
};

struct choice {
	size_t at;
	struct insn insn;
	bool found, past_null;
	__u32 moved;
};

/* The registers that carry integer arguments, in order. */
static const unsigned char arg_regs[] = { 7, 6, 2, 1, 8, 9 };

static unsigned int kept_registers(unsigned int args)
{
	unsigned int regs = 0;

	for (size_t i = 0; i < sizeof(arg_regs); i++)
		if (args & (1u << i))
			regs |= 1u << arg_regs[i];
	return regs;
}

static void find_joins(struct line *l, const unsigned char *code, size_t len)
{
	struct insn i;
	size_t at = 0;
	__s64 to;

	while (at < len) {
		if (!insn_decode(&i, code + at, len - at)) {
			at++;
			continue;
		}
		to = (__s64)at + i.target;
		if (i.target && i.kind != INSN_CALL && to > 0 && to < WINDOW)
			l->joined[to] = true;
		at += i.len;
	}
}

/* Is a probe here one trap, and does it see what it has to? */
static bool is_good(const struct line *l, const struct insn *i)
{
	if (i->refused || !i->emulated)
		return false;
	return i->kind != INSN_PUSH || l->push;
}

/* Take note of what @i does; false: the line ends here. */
static bool step(struct line *l, const struct insn *i)
{
	bool null_branch;

	switch (i->kind) {
	case INSN_JCC:
		null_branch = i->cond == 4 && l->null_reg >= 0 &&
			      l->tested == l->null_reg;
		l->past_null |= null_branch;
		return null_branch;
	case INSN_PUSH:
		l->moved += 8;
		break;
	case INSN_NOP:
		return true;
	case INSN_PLAIN:
		if (i->writes & REG_SP && !i->grows)
			return false;
		l->moved += (__u32)i->grows;
		break;
	default:
		return false;
	}
	if (i->writes & l->keep)
		return false;
	if (l->tested >= 0 && i->writes & (1u << l->tested))
		l->tested = -1;
	if (i->flags)
		l->tested = i->tested;
	return l->moved < 65536;
}

/*
 * Better is: rsp as at the entry, then past the test for NULL, then the first.
 */
static bool is_better(const struct choice *old, const struct line *l)
{
	if (!old->found)
		return true;
	if (!old->moved != !l->moved)
		return !l->moved;
	return l->past_null && !old->past_null;
}

static void walk(struct line *l, const unsigned char *code, size_t len,
		 struct choice *best)
{
	struct insn i;
	size_t at = 0;

	while (at < len && at < WINDOW && insn_decode(&i, code + at, len - at)) {
		if (at && l->joined[at])
			break;
		if (is_good(l, &i) && is_better(best, l))
			*best = (struct choice) {
				at, i, true, l->past_null, l->moved,
			};
		if (!step(l, &i))
			break;
		at += i.len;
	}
}

/*
 * The first instruction, whatever it is.  i386's code is another one; but what
 * begins with push or a jump, as most does, has the same bytes for that.
 */
static void first_place(struct alloc_place *out, const unsigned char *code, size_t len,
			const struct line *l, bool narrow)
{
	struct insn i;

	if (narrow && len && *code >= 0x40 && *code <= 0x4f)
		return;			/* inc, dec: a prefix in 64 bits */
	if (!insn_decode(&i, code, len))
		return;
	insn_text(&i, out->insn, sizeof(out->insn));
	out->one_trap = is_good(l, &i);
}

void alloc_place(struct alloc_place *out, const void *code, size_t len,
		 __u64 offset, const struct alloc_place_opts *o)
{
	struct line l = {
		.push = o->push,
		.keep = kept_registers(o->args),
		.null_reg = o->frees && o->ptr_arg < sizeof(arg_regs) ?
			    arg_regs[o->ptr_arg] : -1,
		.tested = -1,
	};
	struct choice best = { 0 };
	const size_t skip = skip_endbr(code, len);

	memset(out, 0, sizeof(*out));
	code = (const char *)code + skip;
	out->offset = offset + skip;
	if (o->narrow) {
		first_place(out, code, len - skip, &l, o->narrow);
		return;
	}
	find_joins(&l, code, len - skip);
	walk(&l, code, len - skip, &best);
	if (!best.found || (best.moved && !o->moved)) {
		first_place(out, code, len - skip, &l, false);
		return;
	}
	out->offset += best.at;
	out->one_trap = true;
	out->moved = best.moved;
	insn_text(&best.insn, out->insn, sizeof(out->insn));
}
