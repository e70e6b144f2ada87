// SPDX-License-Identifier: GPL-2.0-or-later
/* Call chains to wl_here() in plain C. */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <ucontext.h>
#endif

#include "wl_unwind.h"
#include "wl_unwind_signal.h"

#define COUNT	40
#define NAP_US	1500000

static const char *const none = "";
static const char *case_name = "";
static volatile size_t some = 100;

/* The name of the case, once: a function that is called many times. */
static const char *once(void)
{
	return __atomic_exchange_n(&case_name, none, __ATOMIC_RELAXED);
}

WL_FN int wl_compare(const void *a, const void *b)
{
	const char *name = once();

	if (name != none)
		wl_here(name);
	return *(const int *)a - *(const int *)b;
}

WL_FN void wl_plain(const char *name)
{
	WL_SCRATCH();
	wl_here(name);
	WL_STAY();
}

WL_FN void wl_qsort(const char *name)
{
	int n[COUNT], i;

	for (i = 0; i < COUNT; i++)
		n[i] = i * 7 % COUNT;
	case_name = name;
	qsort(n, COUNT, sizeof(n[0]), wl_compare);
	WL_STAY();
}

WL_FN void wl_bsearch(const char *name)
{
	/* libc's, not the one of its header */
	void *(*volatile search)(const void *, const void *, size_t, size_t,
				 int (*)(const void *, const void *)) = bsearch;
	int n[COUNT], i, key = 3;

	for (i = 0; i < COUNT; i++)
		n[i] = i;
	case_name = name;
	if (!search(&key, n, COUNT, sizeof(n[0]), wl_compare))
		abort();
	WL_STAY();
}

WL_FN int wl_deep(const char *name, int left)
{
	volatile int here = left;

	if (left)
		return wl_deep(name, left - 1) + here;
	WL_SCRATCH();
	wl_here(name);
	return here;
}

WL_FN void wl_hundred(const char *name)
{
	wl_deep(name, 100);
	WL_STAY();
}

/* More frames than a stack can have. */
WL_FN void wl_too_deep(const char *name)
{
	wl_deep(name, 140);
	WL_STAY();
}

WL_FN void wl_alloca(const char *name)
{
	char *p = alloca(some);

	memset(p, 1, some);
	wl_here(name);
	__asm__ volatile("" : : "r" (p));
}

WL_FN void wl_variable_array(const char *name)
{
	int n[some];

	memset(n, 1, sizeof(n));
	wl_plain(name);
	__asm__ volatile("" : : "r" (n));
}

WL_FN void wl_realign(const char *name)
{
	char buf[64] __attribute__((aligned(64)));

	memset(buf, 1, sizeof(buf));
	wl_plain(name);
	__asm__ volatile("" : : "r" (buf));
}

/* The stack's old pointer is kept in a register, the frame is found through it. */
WL_FN void wl_realign_alloca(const char *name)
{
	char buf[64] __attribute__((aligned(128)));
	char *p = alloca(some);

	memset(buf, 1, sizeof(buf));
	memset(p, 1, some);
	wl_realign(name);
	__asm__ volatile("" : : "r" (buf), "r" (p));
}

WL_FN __attribute__((target("avx2"))) void wl_avx(const char *name)
{
	typedef int eight __attribute__((vector_size(32)));
	volatile eight v = { 1, 2, 3, 4, 5, 6, 7, 8 };
	eight w = v + v;

	wl_plain(name);
	__asm__ volatile("" : : "x" (w));
}

WL_FN void wl_vectors(const char *name)
{
	if (__builtin_cpu_supports("avx2"))
		wl_avx(name);
	WL_STAY();
}

WL_FN void wl_tail_end(const char *name)
{
	wl_here(name);
	WL_STAY();
}

WL_FN void wl_tail_call(const char *name)
{
	WL_SCRATCH();
	wl_tail_end(name);
}

WL_FN void wl_tail(const char *name)
{
	wl_tail_call(name);
	WL_STAY();
}

/* Code of the vdso writes to a page that is not there. */
WL_FN void wl_vdso(const char *name)
{
	struct timespec *t = (void *)wl_fresh();

	wl_expect(name, WL_FAULT, (const void *)wl_vdso);
	if (clock_gettime(CLOCK_MONOTONIC, t))
		abort();
	WL_STAY();
}

WL_FN void *wl_thread(void *name)
{
	wl_plain(name);
	return NULL;
}

WL_FN void wl_threads(const char *name)
{
	pthread_t one, two;

	if (pthread_create(&one, NULL, wl_thread, (void *)name) ||
	    pthread_create(&two, NULL, wl_thread, (void *)name))
		abort();
	pthread_join(one, NULL);
	pthread_join(two, NULL);
}

WL_FN void wl_fork(const char *name)
{
	pid_t pid = fork();

	if (!pid) {
		wl_plain(name);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) < 0)
		abort();
}

/* The child has its parent's memory, and its parent's stack. */
WL_FN void wl_vfork(const char *name)
{
	pid_t pid = vfork();

	if (!pid) {
		wl_plain(name);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) < 0)
		abort();
}

#ifdef __GLIBC__
static ucontext_t outside, inside;

WL_FN void wl_other_stack(void)
{
	wl_plain(once());
}

WL_FN void wl_context(const char *name)
{
	static char stack[65536] __attribute__((aligned(16)));

	case_name = name;
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, wl_other_stack, 0);
	swapcontext(&outside, &inside);
	WL_STAY();
}
#endif

/* Code that a compiler at run time might have made: it keeps frame pointers. */
static const unsigned char jitted[] = {
	0x55,			/* push %rbp */
	0x48, 0x89, 0xe5,	/* mov %rsp, %rbp */
	0xff, 0xd7,		/* call *%rdi */
	0x5d,			/* pop %rbp */
	0xc3,			/* ret */
};
typedef void (*jit_fn)(void (*fn)(void));

/*
 * The unwinder knows nothing of that code: its frame is as it was written above,
 * and what is behind it was asked for before.
 */
static unsigned long behind[WL_FRAMES];
static unsigned int nr_behind;

WL_FN void wl_from_jit(void)
{
	unsigned long *cfa = __builtin_dwarf_cfa(), ip[WL_FRAMES];

	ip[0] = cfa[-1];
	ip[1] = cfa[1];
	memcpy(ip + 2, behind, nr_behind * sizeof(*ip));
	wl_expect_list(once(), WL_FAULT, (const void *)wl_from_jit, nr_behind + 2, ip);
	*(volatile char *)wl_fresh() = 1;
	WL_STAY();
}

WL_FN void wl_jit(const char *name)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		abort();
	memcpy(code, jitted, sizeof(jitted));
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC))
		abort();
	nr_behind = wl_callers(behind, 0);
	case_name = "jit-at-first";
	((jit_fn)code)(wl_from_jit);
	/* that such code is there is found out by the first event in it */
	usleep(NAP_US);
	case_name = name;
	((jit_fn)code)(wl_from_jit);
	WL_STAY();
}

static const struct wl_case {
	const char *name;
	void (*fn)(const char *name);
} cases[] = {
	{ "plain", wl_plain },
	{ "qsort", wl_qsort },
	{ "bsearch", wl_bsearch },
	{ "recursion", wl_hundred },
	{ "too-deep", wl_too_deep },
	{ "alloca", wl_alloca },
	{ "variable-array", wl_variable_array },
	{ "realigned", wl_realign },
	{ "realigned-alloca", wl_realign_alloca },
	{ "avx", wl_vectors },
	{ "tail-call", wl_tail },
	{ "vdso", wl_vdso },
	{ "thread", wl_threads },
	{ "fork", wl_fork },
	{ "vfork", wl_vfork },
#ifdef __GLIBC__
	{ "context", wl_context },
#endif
	{ "jit", wl_jit },
	{ "signal", wl_signal },
	{ "signal-altstack", wl_signal_altstack },
	{ "signal-nested", wl_signal_nested },
	{ "signal-fault", wl_signal_fault },
	{ "signal-first", wl_signal_first },
};

static void wl_at_exit(void)
{
	wl_here("exit-handler");
	wl_end();
}

/* main() has a stack that it aligned itself, in every case. */
int main(int argc, char **argv)
{
	char buf[64] __attribute__((aligned(64)));
	size_t i;

	memset(buf, 0, sizeof(buf));
	wl_begin(argc > 1 ? argv[1] : NULL);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc < 3 || !strcmp(argv[2], cases[i].name))
			cases[i].fn(cases[i].name);
	__asm__ volatile("" : : "r" (buf));
	return atexit(wl_at_exit);
}
