// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls to count: a system call (for kernel functions and tracepoints), user
 * functions (entered, left, nested, recursive) and USDT probes.
 */
#include <sys/prctl.h>
#include <sys/sdt.h>

#include "workload.h"

enum {
	GETPPID_A, GETPPID_B, RENAME, OUTER, INNER_OUTER, INNER, LATE, EMPTY,
	PLAIN, GUARDED, DEEP_1, DEEP_2, DEEP_3, DEEP_4, DEEP_5,
};

#define PPID	"wl_worker;wl_work;wl_ppid_top;"
struct wl_line wl_lines[] = {
	[GETPPID_A]	= { "getppid", PPID "wl_ppid_a;wl_ppid", 0, 0 },
	[GETPPID_B]	= { "getppid", PPID "wl_ppid_b;wl_ppid", 0, 0 },
	[RENAME]	= { "rename", "wl_worker;wl_work;wl_rename", 0, 0 },
	[OUTER]		= { "outer", "wl_worker;wl_work;wl_user_top;wl_outer", 0, 0 },
	[INNER_OUTER]	= { "inner", "wl_worker;wl_work;wl_user_top;wl_outer;wl_inner", 0, 0 },
	[INNER]		= { "inner", "wl_worker;wl_work;wl_user_top;wl_inner", 0, 0 },
	[LATE]		= { "late", "wl_worker;wl_work;wl_user_top;wl_outer;wl_inner;wl_late",
			    0, 0 },
	[EMPTY]		= { "empty", "wl_worker;wl_work;wl_user_top;wl_empty", 0, 0 },
	[PLAIN]		= { "plain", "wl_worker;wl_work;wl_usdt_top;wl_usdt_plain", 0, 0 },
	[GUARDED]	= { "guarded", "wl_worker;wl_work;wl_usdt_top;wl_usdt_guarded", 0, 0 },
	[DEEP_1]	= { "deep", "wl_worker;wl_work;wl_deep", 0, 0 },
	[DEEP_2]	= { "deep", "wl_worker;wl_work;wl_deep;wl_deep", 0, 0 },
	[DEEP_3]	= { "deep", "wl_worker;wl_work;wl_deep;wl_deep;wl_deep", 0, 0 },
	[DEEP_4]	= { "deep", "wl_worker;wl_work;wl_deep;wl_deep;wl_deep;wl_deep", 0, 0 },
	[DEEP_5]	= { "deep", "wl_worker;wl_work;wl_deep;wl_deep;wl_deep;wl_deep;wl_deep",
			    0, 0 },
};
const size_t wl_nr_lines = sizeof(wl_lines) / sizeof(wl_lines[0]);

static char comm[17];

WL_FN void wl_ppid(int line)
{
	wl_syscall3(SYS_getppid, 0, 0, 0);
	wl_did(line, 0);
}

WL_FN void wl_ppid_a(void)
{
	wl_ppid(GETPPID_A);
}

WL_FN void wl_ppid_b(void)
{
	wl_ppid(GETPPID_B);
	wl_ppid(GETPPID_B);
}

WL_FN void wl_ppid_top(unsigned long n)
{
	while (n--) {
		wl_ppid_a();
		wl_ppid_b();
	}
}

/* task:task_rename, although the name stays as it was */
WL_FN void wl_rename(void)
{
	if (wl_syscall3(SYS_prctl, PR_SET_NAME, (long)comm, 0))
		wl_die("prctl");
	wl_did(RENAME, 0);
}

/* Its callers' return addresses are trampolines when they have return probes. */
WL_FN void wl_late(void)
{
	wl_did(LATE, 0);
}

WL_FN void wl_inner(int line)
{
	wl_did(line, 0);
	if (line == INNER_OUTER)
		wl_late();
}

WL_FN void wl_outer(void)
{
	wl_did(OUTER, 0);
	wl_inner(INNER_OUTER);
	wl_inner(INNER_OUTER);
}

/* No frame at all: for its callers it is only an address on their stack. */
WL_FN __attribute__((optimize("omit-frame-pointer"))) void wl_empty(void)
{
}

WL_FN void wl_user_top(unsigned long n)
{
	while (n--) {
		wl_outer();
		wl_inner(INNER);
		wl_empty();
		wl_did(EMPTY, 0);
	}
}

WL_FN void wl_deep(int depth, int deepest)
{
	wl_did(DEEP_1 + depth - 1, 0);
	if (depth < deepest)
		wl_deep(depth + 1, deepest);
}

WL_FN void wl_usdt_plain(int x)
{
	wl_frame();
	DTRACE_PROBE1(memtap_wl, plain, x);
	wl_did(PLAIN, 0);
}

/* wl_semaphore.c: true when it was wanted */
bool wl_usdt_guarded(int x);

WL_FN void wl_usdt_top(unsigned long n)
{
	while (n--) {
		wl_usdt_plain(1);
		wl_usdt_plain(2);
		if (wl_usdt_guarded(3))
			wl_did(GUARDED, 0);
	}
}

int wl_prepare(void)
{
	prctl(PR_GET_NAME, comm);
	return 0;
}

void wl_work(unsigned int thread)
{
	(void)thread;
	wl_ppid_top(7 * wl_opts.rounds);
	wl_rename();
	wl_rename();
	wl_rename();
	wl_user_top(4 * wl_opts.rounds);
	wl_deep(1, 5);
	wl_deep(1, 3);
	wl_usdt_top(6 * wl_opts.rounds);
}
