/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _WL_HOSTILE_H
#define _WL_HOSTILE_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE		4096UL

/*
 * wl_by_sp(sp, bp, page): where a probe can stand, a page fault, and brk().  Its caller
 * is where call frame information says: on top of that stack; wl_by_bp()'s is where the
 * frame pointer leads.  Returns what was in the page.
 */
long wl_by_sp(unsigned long sp, unsigned long bp, char *page);
long wl_by_bp(unsigned long sp, unsigned long bp, char *page);

#ifdef __x86_64__
#define ENTER	"push %rbx\n	push %rbp\n	push %r12\n	push %r13\n" \
		"mov %rsp, %r12\n	mov %rdx, %r13\n" \
		"mov %rsi, %rbx\n	mov %rsi, %rbp\n	mov %rdi, %rsp\n"
#define CAUSE	"nop\n	movb $7, (%r13)\n" \
		"xor %edi, %edi\n	mov $12, %eax\n	syscall\n" \
		"movzbl (%r13), %eax\n"
#define LEAVE	"mov %r12, %rsp\n" \
		"pop %r13\n	pop %r12\n	pop %rbp\n	pop %rbx\n	ret\n"
#else
#define ENTER	"push %ebx\n	push %ebp\n	push %esi\n	push %edi\n" \
		"mov 28(%esp), %edi\n	mov 24(%esp), %ebp\n" \
		"mov 20(%esp), %eax\n	mov %esp, %esi\n	mov %eax, %esp\n"
#define CAUSE	"nop\n	movb $7, (%edi)\n" \
		"xor %ebx, %ebx\n	mov $45, %eax\n	int $0x80\n" \
		"movzbl (%edi), %eax\n"
#define LEAVE	"mov %esi, %esp\n" \
		"pop %edi\n	pop %esi\n	pop %ebp\n	pop %ebx\n	ret\n"
#endif

#define HOSTILE(name, cfi) \
__asm__(".text\n" \
	".globl " #name "\n" \
	".type " #name ", @function\n" \
	#name ":\n" \
	ENTER \
	".globl " #name "_here\n" \
	".type " #name "_here, @function\n" \
	#name "_here:\n" \
	".cfi_startproc\n" \
	cfi \
	CAUSE \
	".cfi_endproc\n" \
	".size " #name "_here, . - " #name "_here\n" \
	LEAVE \
	".size " #name ", . - " #name "\n")

/* 7 and 6 are rsp and rbp; the return address is next to the caller's frame */
HOSTILE(wl_by_sp, ".cfi_def_cfa 7, 8\n	.cfi_offset 16, -8\n");
HOSTILE(wl_by_bp, ".cfi_def_cfa 6, 16\n	.cfi_offset 16, -8\n	.cfi_offset 6, -16\n");

static unsigned long cases;
static char *touched;
static volatile sig_atomic_t goes;

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

static inline void on_go(int sig __attribute__((unused)))
{
	goes = 1;
}

static inline void ready(void)
{
	sigset_t usr1, old;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, &old);
	signal(SIGUSR1, on_go);
	puts("ready");
	fflush(stdout);
	while (!goes)
		sigsuspend(&old);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static inline void *map(size_t len, int prot, int flags, int fd)
{
	void *p = mmap(NULL, len, prot, flags, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static inline void one(long (*fn)(unsigned long, unsigned long, char *), unsigned long sp,
		unsigned long bp)
{
	if (fn(sp, bp, touched) != 7)
		die("a page has another byte");
	if (madvise(touched, PAGE, MADV_DONTNEED))
		die("madvise");
	cases++;
}

#endif
