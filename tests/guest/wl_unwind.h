/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _WL_UNWIND_H
#define _WL_UNWIND_H

/*
 * Ground truth for stacks: programs without frame pointers go along known ways
 * to wl_here(), which asks libgcc's unwinder who called, and then causes the
 * events that memtap counts.  What the unwinder said is written when the program
 * ends, a line for each place, and unwind_check compares:
 *
 *	expect NAME EVENTS HERE LEN ADDRESS...
 *
 * HERE is the function in which the events were caused, of LEN bytes at most; the
 * addresses are its callers', innermost first.  An address where a signal interrupted code is told
 * plus 1, as memtap tells it.
 */
#include <stdlib.h>	/* says which libc this is */

#ifdef __cplusplus
extern "C" {
#endif

#define WL_FN		__attribute__((noipa, used))
/* A function with nothing else behind it: what is said to be in it is. */
#define WL_ALONE	__attribute__((noipa, used, section("wl_alone")))

/* What is behind the call in this function: no call is the last thing in it. */
#define WL_STAY()	__asm__ volatile("" : : : "memory")

/* No frame pointer: who takes these for one is led astray. */
#ifdef __x86_64__
#define WL_SCRATCH()	__asm__ volatile("mov $0x7001, %%ebp\n\tmov $0x7003, %%ebx" \
					 : : : "rbp", "rbx")
#endif

#define WL_STOP		1U	/* a call of wl_stop() */
#define WL_FAULT	2U	/* a page fault in wl_touch() */
#define WL_MMAP		4U	/* mmap() of libc */
#define WL_BRK		8U	/* sbrk() of libc */
#define WL_EXACT	16U	/* no other stacks go on from there */
#ifdef __GLIBC__
#define WL_ALL		(WL_STOP | WL_FAULT | WL_MMAP | WL_BRK | WL_EXACT)
#else	/* musl's sbrk() does nothing */
#define WL_ALL		(WL_STOP | WL_FAULT | WL_MMAP | WL_EXACT)
#endif

/* FILE: where to write the truth; to be called first. */
void wl_begin(const char *file);
void wl_end(void);

void wl_here(const char *name);

#define WL_FRAMES	160

/* Keep the way to @here, which must be the caller, for @events. */
void wl_expect(const char *name, unsigned int events, const void *here);
void wl_expect_list(const char *name, unsigned int events, const void *here,
		    unsigned int nr, const unsigned long *ip);
/* Addresses of the caller's callers, but for @skip of these. */
unsigned int wl_callers(unsigned long *ip, unsigned int skip);

/* A page that was never touched. */
char *wl_fresh(void);

#ifdef __cplusplus
}
#endif

#endif
