/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _WORKLOAD_H
#define _WORKLOAD_H

/*
 * Ground truth: a workload causes events along known paths of its own
 * functions, counts what it did, and writes the folded stacks that memtap ought
 * to report.  The tests compare.  What makes the truth exact:
 *
 * - Functions on a path are WL_FN: kept apart by the compiler, with a frame
 *   pointer from their first instructions on (see CFLAGS in the Makefile, and
 *   wl_frame()).
 * - System calls are made here, not by libc, which has no frame pointers.
 * - Everything that exists when the window opens is locked into memory; a page
 *   fault inside the window is one that the workload meant.
 * - Its functions begin with wl_, and all paths with wl_worker: what is further
 *   out belongs to libc, and the tests cut it off.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#define WL_FN	__attribute__((noipa, used))
#define WL_MAX_THREADS	16

/* One path, what went along it, and under which event that must show. */
struct wl_line {
	const char *event;
	const char *stack;	/* from wl_worker on, separated by ; */
	unsigned long count;
	long long sum;		/* of the event's value, where it has one */
};

struct wl_opts {
	unsigned int threads;
	unsigned long rounds;	/* how often each path is taken, times a factor */
	const char *expect;	/* file for the truth; NULL: standard output */
	bool stops;		/* SIGSTOP before the window, and after */
	const char *file;	/* for major faults */
	const char *name;	/* comm to take */
};

extern struct wl_opts wl_opts;

/* What a workload brings: its lines, and what each thread does in the window. */
extern struct wl_line wl_lines[];
extern const size_t wl_nr_lines;
/* Before the window, in main(); what it makes is locked into memory. */
int wl_prepare(void);
/* The same, but not locked; the last thing before the window. */
int wl_locked(void);
void wl_work(unsigned int thread) WL_FN;

/*
 * GCC leaves the frame out of a function that calls none and needs no stack, no
 * matter what it is told; unless the function wants to know where its frame is.
 */
static inline __attribute__((always_inline)) void wl_frame(void)
{
	__asm__ volatile("" : : "r" (__builtin_frame_address(0)));
}

/* This path was taken once more. */
static inline __attribute__((always_inline)) void wl_did(size_t line, long long value)
{
	wl_frame();
	__atomic_fetch_add(&wl_lines[line].count, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&wl_lines[line].sum, value, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) bool wl_failed(long ret)
{
	return (unsigned long)ret >= (unsigned long)-4095L;
}

/*
 * The kernel's own calling convention, so that the frame that calls is the one
 * that the stack begins with.
 */
#if defined(__x86_64__)
static inline __attribute__((always_inline)) long
wl_syscall5(long nr, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long ret;

	__asm__ volatile("syscall"
			 : "=a" (ret)
			 : "a" (nr), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline __attribute__((always_inline)) long wl_mmap(size_t len, int prot, int flags)
{
	register long r10 __asm__("r10") = flags;
	register long r8 __asm__("r8") = -1;
	register long r9 __asm__("r9") = 0;
	long ret;

	__asm__ volatile("syscall"
			 : "=a" (ret)
			 : "a" (SYS_mmap), "D" (0L), "S" (len), "d" ((long)prot),
			   "r" (r10), "r" (r8), "r" (r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__i386__)
static inline __attribute__((always_inline)) long
wl_syscall5(long nr, long a, long b, long c, long d, long e)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a" (ret)
			 : "a" (nr), "b" (a), "c" (b), "d" (c), "S" (d), "D" (e)
			 : "memory");
	return ret;
}

/*
 * mmap2() takes its sixth argument in ebp, where the frame pointer is; the old
 * mmap() takes all six from memory, and leaves the stack walkable.
 */
static inline __attribute__((always_inline)) long wl_mmap(size_t len, int prot, int flags)
{
	volatile unsigned long args[6] = { 0, len, prot, flags, -1UL, 0 };

	return wl_syscall5(SYS_mmap, (long)args, 0, 0, 0, 0);
}

/* As libc calls it: during the call there is no frame pointer, but a 0. */
static inline __attribute__((always_inline)) long wl_mmap2(size_t len, int prot, int flags)
{
	long ret;

	__asm__ volatile("push %%ebp\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "int $0x80\n\t"
			 "pop %%ebp"
			 : "=a" (ret)
			 : "a" (SYS_mmap2), "b" (0), "c" (len), "d" (prot), "S" (flags), "D" (-1)
			 : "memory");
	return ret;
}
#else
#error "workload.h: no system calls for this machine yet"
#endif

static inline __attribute__((always_inline)) long wl_syscall3(long nr, long a, long b, long c)
{
	return wl_syscall5(nr, a, b, c, 0, 0);
}

/* A call that cannot fail here; the truth would be none. */
void wl_die(const char *what) __attribute__((noreturn));

#endif
