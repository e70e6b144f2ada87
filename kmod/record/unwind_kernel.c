// SPDX-License-Identifier: GPL-2.0-only
/*
 * Get kernel stacks from the kernel's own unwinder, behind one function.
 *
 * The first frames of stack_trace_save() differ: our own functions, perf or kprobes code, ftrace's
 * trampoline.  If the event has registers, the stack begins at these; if it knows the caller of
 * its handler, there; otherwise behind the last of our own functions.
 */
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>

#include "record/kernel_rules.h"
#include "record/record.h"

#include "compat/kernel_walk.h"

static u32 find(const unsigned long *ips, u32 nr, unsigned long ip)
{
	u32 i;

	for (i = 0; i < nr && i < MEMTAP_OWN_FRAMES; i++)
		if (ips[i] == ip)
			return i;
	return nr;
}

/*
 * Behind the last of our functions, where nothing says which one was called.  An interrupt
 * that came while we ran has us twice: then what was interrupted is taken for who asked.
 */
static u32 skip_own_frames(const unsigned long *ips, u32 nr)
{
	u32 i, first = 0;

	for (i = 0; i < nr && i < MEMTAP_OWN_FRAMES; i++)
		if (within_module(ips[i], THIS_MODULE))
			first = i + 1;
	return first;
}

static bool word(const unsigned long *at, unsigned long *v)
{
	return !copy_from_kernel_nofault(v, at, sizeof(*v));
}

/*
 * At a function's first instruction its caller is on top of the stack, and that
 * is where the trace goes on behind all machinery.  The probed address itself
 * may stand there in several forms (ip, ip + 1, inside ftrace's call): use ours.
 *
 * Kernels that unwind by frame pointers do not see that caller, whose frame is the one
 * that the registers lead to: what they see first is its own caller, behind that frame.
 */
static u32 from_regs(struct memtap_scratch *sc, const struct memtap_hit *hit, u32 nr,
		     u32 *n, u32 *flags)
{
	const unsigned long *fp = (const unsigned long *)frame_pointer(hit->regs);
	unsigned long ip = instruction_pointer(hit->regs);
	unsigned long caller, next;
	u32 i = nr;

	sc->kips[(*n)++] = ip;
	*flags |= MEMTAP_STACK_ENTRY;
	if (word((const unsigned long *)kernel_stack_pointer(hit->regs), &caller)) {
		i = find(sc->raw, nr, caller);
		if (i == nr && IS_ENABLED(CONFIG_X86_64) &&
		    (hit->flags & MEMTAP_HIT_CALLED) && word(fp + 1, &next)) {
			i = find(sc->raw, nr, next);
			if (i < nr)
				sc->kips[(*n)++] = caller;
		}
	}
	if (i == nr) {
		i = find(sc->raw, nr, ip);
		if (i < nr)
			i++;
	}
	if (i == nr)
		i = skip_own_frames(sc->raw, nr);
	return i;
}

/* By the kernel's unwinder; what it does is learned. */
static noinline u32 walk(struct memtap_scratch *sc, const unsigned long *frame, u32 max)
{
	const u32 code = READ_ONCE(memtap_kernel_code);
	u32 nr;

	if (!MEMTAP_KERNEL_RULES)
		return memtap_walk_kernel(frame, sc->raw, max, NULL);
	nr = memtap_walk_kernel(frame, sc->raw, max, &sc->ktrail);
	memtap_learn_frames(&sc->ktrail, code);
	return nr;
}

u32 memtap_unwind_kernel(struct memtap_scratch *sc, const struct memtap_hit *hit,
			 u32 max, u32 *flags)
{
	struct pt_regs *regs = hit->regs;
	u32 nr = 0, first = 0, n = 0;

	sc->kfound = false;
	if (MEMTAP_KERNEL_RULES && hit->frame) {
		BUILD_BUG_ON(MEMTAP_KERNEL_RULES && sizeof(*sc->kips) != sizeof(*sc->raw));
		n = memtap_walk_known(hit->frame, (unsigned long *)sc->kips, max);
		sc->kfound = n;
		if (likely(n))
			return n;
	}
	if (hit->frame)
		nr = walk(sc, hit->frame, max + 1);
	if (!nr) {
		nr = stack_trace_save(sc->raw, max + MEMTAP_OWN_FRAMES, 0);
		first = hit->frame ? find(sc->raw, nr, hit->frame[1]) : nr;
		if (first == nr && regs && !user_mode(regs))
			first = from_regs(sc, hit, nr, &n, flags);
		else if (first == nr)
			first = skip_own_frames(sc->raw, nr);
	}
	for (; first < nr && n < max; first++) {
		if (unlikely(memtap_is_trampoline(sc->raw[first])))
			*flags |= MEMTAP_STACK_TRAMPOLINE;
		sc->kips[n++] = sc->raw[first];
	}
	if (first < nr)
		*flags |= MEMTAP_STACK_DEPTH;
	return n;
}

bool memtap_kernel_stack_is(struct memtap_scratch *sc, const struct memtap_hit *hit,
			    const u64 *ips, u32 nr)
{
	u32 i, got = stack_trace_save(sc->raw, ARRAY_SIZE(sc->raw), 0);
	u32 first = find(sc->raw, got, hit->frame[1]);

	for (i = 0; i < nr && first + i < got; i++)
		if (sc->raw[first + i] != ips[i])
			return false;
	/* it may have had no room for all of them, as who took this one */
	return first < got && (first + nr == got || got == ARRAY_SIZE(sc->raw) ||
			       nr == MEMTAP_DEFAULT_DEPTH);
}
