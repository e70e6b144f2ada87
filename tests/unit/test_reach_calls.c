// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/leaks/reach_calls.c ctl/leaks/reach_ranges.c */
/* A thread that is in the middle of realloc(), and what its memory would be. */
#include <stdlib.h>
#include <string.h>

#include "leaks/reach_int.h"
#include "tap.h"

#define HEAP		0x10000ULL
#define STACK		0x20000ULL
#define TRAMPOLINE	0x7fffffffe000ULL
#define LEN		4096ULL

static __u64 heap[LEN / 8], stack[LEN / 8];

static size_t read_it(void *ctx, __u64 addr, void *buf, size_t len)
{
	const __u64 base = addr >= STACK ? STACK : HEAP;
	const __u64 *from = addr >= STACK ? stack : heap;

	(void)ctx;
	if (addr - base >= LEN)
		return 0;
	if (len > LEN - (addr - base))
		len = LEN - (addr - base);
	memcpy(buf, (const char *)from + (addr - base), len);
	return len;
}

static struct area areas[] = {
	{ .start = HEAP, .end = HEAP + LEN, .readable = true, .writable = true, .is_heap = true },
	{ .start = STACK, .end = STACK + LEN, .readable = true, .writable = true,
	  .is_stack = true },
	{ .start = TRAMPOLINE, .end = TRAMPOLINE + LEN, .executable = true,
	  .is_trampoline = true },
};
static struct thread thread = { .sp = STACK + 64, .nr_regs = MEMTAP_HELD_REGS };
static const struct layout layout = { .areas = areas, .nr = 3, .threads = &thread,
				      .nr_threads = 1 };
static const struct reach_memory memory = { .read = read_it };
static struct reach_block blocks[] = { { .addr = HEAP + 0x800, .size = 64 } };
static struct ranges found;

static void look(void)
{
	free(found.at);
	found = (struct ranges){ NULL, 0, 0 };
	is(calls_read(&found, &layout, blocks, 1, &memory), 0, "threads can be looked at");
}

/* The block at @addr, and its length. */
static __u64 chunk(__u64 addr, __u64 len)
{
	heap[(addr - HEAP) / 8 - 1] = len | 1;
	return addr;
}

int main(void)
{
	const __u64 old = chunk(HEAP + 0x110, 0x110), new = chunk(HEAP + 0x410, 0x210);

	thread.regs[3] = old;
	stack[10] = new;
	stack[11] = HEAP + 0x810;	/* within a block that is known */
	stack[40] = HEAP + 0x610;	/* of who called */
	look();
	is(found.nr, 0, "who is in no call that is followed may have any address");
	stack[20] = TRAMPOLINE;
	look();
	is(found.nr, 2, "who is has two blocks, of which the session knows nothing");
	is(found.at[0].start, new, "one on the stack, below where the call returns to");
	is(found.at[0].end, new + 0x208, "as long as malloc says");
	is(found.at[1].start, old, "one in a register");
	is(found.at[1].end, old + 0x108, "as long as malloc says");
	chunk(old, LEN);
	look();
	is(found.at[1].end, HEAP + LEN, "who knows no length: to the end of the memory, at most");
	thread.sp = 0;
	look();
	is(found.nr, 0, "of a thread that runs nothing is known");
	free(found.at);
	return tap_done();
}
