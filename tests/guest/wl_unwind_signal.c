// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include "wl_unwind.h"
#include "wl_unwind_signal.h"

static const char *case_name;
static int mended;

static void catch(int sig, void (*fn)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa = { .sa_sigaction = fn, .sa_flags = SA_SIGINFO | flags };

	if (sigaction(sig, &sa, NULL))
		abort();
}

WL_FN void wl_handler(int sig __attribute__((unused)), siginfo_t *info __attribute__((unused)),
		      void *context __attribute__((unused)))
{
	WL_SCRATCH();
	wl_here(case_name);
	WL_STAY();
}

WL_FN void wl_handler_raises(int sig __attribute__((unused)),
			     siginfo_t *info __attribute__((unused)),
			     void *context __attribute__((unused)))
{
	catch(SIGUSR2, wl_handler, 0);
	raise(SIGUSR2);
	WL_STAY();
}

/* The instruction is repeated with a pointer that leads somewhere. */
WL_FN void wl_handler_mends(int sig __attribute__((unused)),
			    siginfo_t *info __attribute__((unused)), void *context)
{
	ucontext_t *uc = context;

	wl_here(case_name);
	uc->uc_mcontext.gregs[REG_RDI] = (greg_t)&mended;
}

WL_FN void wl_raise(int sig)
{
	WL_SCRATCH();
	raise(sig);
	WL_STAY();
}

WL_FN void wl_signal(const char *name)
{
	case_name = name;
	catch(SIGUSR1, wl_handler, 0);
	wl_raise(SIGUSR1);
	WL_STAY();
}

WL_FN void wl_signal_altstack(const char *name)
{
	static char other[65536];
	const stack_t on = { .ss_sp = other, .ss_size = sizeof(other) };
	const stack_t off = { .ss_flags = SS_DISABLE };

	case_name = name;
	if (sigaltstack(&on, NULL))
		abort();
	catch(SIGUSR1, wl_handler, SA_ONSTACK);
	wl_raise(SIGUSR1);
	if (sigaltstack(&off, NULL))
		abort();
}

WL_FN void wl_signal_nested(const char *name)
{
	case_name = name;
	catch(SIGUSR1, wl_handler_raises, 0);
	wl_raise(SIGUSR1);
	WL_STAY();
}

/* The first instruction of each faults: before it is code of another frame. */
int wl_read_first(volatile int *p);
int wl_read_pushed(volatile int *p);
__asm__(".text\n"
	".p2align 4\n"
	".type wl_pushed, @function\n"
	"wl_pushed:\n"
	"	.cfi_startproc\n"
	"	push %r12\n"
	"	.cfi_def_cfa_offset 16\n"
	"	push %r13\n"
	"	.cfi_def_cfa_offset 24\n"
	"	ud2\n"
	"	.cfi_endproc\n"
	".size wl_pushed, . - wl_pushed\n"
	".type wl_read_first, @function\n"
	"wl_read_first:\n"
	"	.cfi_startproc\n"
	"	mov (%rdi), %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size wl_read_first, . - wl_read_first\n"
	".type wl_read_pushed, @function\n"
	"wl_read_pushed:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	mov $7, %ebp\n"
	"	mov (%rdi), %eax\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	.cfi_restore %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size wl_read_pushed, . - wl_read_pushed\n");

WL_FN void wl_signal_first(const char *name)
{
	case_name = name;
	catch(SIGSEGV, wl_handler_mends, 0);
	wl_read_first((int *)8);
	WL_STAY();
}

WL_FN void wl_signal_fault(const char *name)
{
	case_name = name;
	catch(SIGSEGV, wl_handler_mends, 0);
	wl_read_pushed((int *)8);
	WL_STAY();
}
