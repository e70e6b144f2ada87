// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/base/opt_value.c ctl/elf/build_id.c ctl/elf/debug.c */
/* LINK: ctl/elf/func.c ctl/elf/symbols.c ctl/elf/usdt.c ctl/unwind/bytes.c ctl/unwind/cfa.c */
/* LINK: ctl/unwind/crt.c ctl/unwind/elf.c ctl/unwind/fp.c ctl/unwind/frame.c ctl/unwind/gap.c */
/* LINK: ctl/unwind/go.c ctl/unwind/plt.c ctl/unwind/rows.c ctl/unwind/rule.c */
/* LINK: ctl/unwind/start.c ctl/unwind/text.c ctl/unwind/unwind.c kmod/core/unwindtab.c -ldw */
/* LINK: -lelf */
/* Programs that are made here, so that it is known what their rows must be. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scratch.h"
#include "tap.h"
#include "unwind/unwind.h"

__attribute__((format(printf, 1, 2)))
static int shell(const char *format, ...)
{
	char command[1024], quiet[1200];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	snprintf(quiet, sizeof(quiet), "{ %s ; } > log 2>&1", command);
	return system(quiet);
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "we");

	if (!f || fputs(text, f) < 0)
		printf("Bail out! cannot write %s\n", name);
	if (f)
		fclose(f);
}

static int open_file(const char *name)
{
	return open(name, O_RDWR | O_CLOEXEC);
}

static int compile(const char *name, struct unwind_table *t)
{
	const int fd = open_file(name);
	const int err = fd < 0 ? -ENOENT : unwind_compile(fd, t);

	if (fd >= 0)
		close(fd);
	return err;
}

static void check_table(const struct unwind_table *t, const char *name)
{
	ok(unwind_is_sound(t), "%s: the module will take this table", name);
}

/* "+LEN RULE" for each row but the last, a line each. */
static char *text_of(const struct unwind_table *t)
{
	char *buf = NULL, rule[128];
	size_t len;
	FILE *f = open_memstream(&buf, &len);

	for (__u32 i = 0; f && i + 1 < t->nr_rows; i++) {
		unwind_rule_text(&t->rules[t->kinds[i]], rule, sizeof(rule));
		fprintf(f, "+%u %s\n", t->rows[i + 1] - t->rows[i], rule);
	}
	if (f)
		fclose(f);
	return buf;
}

static void rows_are(const char *name, const char *want, const char *claim)
{
	struct unwind_table t;
	char *got;

	if (compile(name, &t)) {
		ok(0, "%s", claim);
		return;
	}
	check_table(&t, name);
	got = text_of(&t);
	if (!ok(got && !strcmp(got, want), "%s", claim))
		fprintf(stderr, "# rows are\n%s", got);
	free(got);
	unwind_free(&t);
}

#define LINK "${CC:-cc} -static -nostdlib -Wl,--build-id=none -Wl,-Ttext=0x401000 " \
	"-Wl,-z,noexecstack "

static bool link_asm(const char *name, const char *source)
{
	char file[48];

	snprintf(file, sizeof(file), "%.40s.S", name);
	write_file(file, source);
	return !shell(LINK "%s -o %s", file, name);
}

static const char rules_source[] =
	".globl _start\n"
	"_start: .cfi_startproc\n"
	" .cfi_undefined rip\n"
	" call 1f; hlt\n"				/* 6 */
	" .cfi_endproc\n"
	"1: .cfi_startproc\n"
	" push %rbp\n"					/* 1 */
	" .cfi_adjust_cfa_offset 8\n"
	" .cfi_offset rbp, -16\n"
	" mov %rsp, %rbp\n"				/* 3 */
	" .cfi_def_cfa_register rbp\n"
	" .cfi_remember_state\n"
	" pop %rbp\n"					/* 1 */
	" .cfi_def_cfa rsp, 8\n"
	" .cfi_restore rbp\n"
	" ret\n"					/* 1 */
	" .cfi_restore_state\n"
	" nop\n"
	/* a realigned stack: CFA = *(rbp - 8); rbp at rbp + 0, rbx at rbp - 16 */
	" .cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n"
	" .cfi_escape 0x10, 6, 2, 0x76, 0x00\n"
	" .cfi_escape 0x10, 3, 2, 0x76, 0x70\n"
	" nop\n"
	/* OpenSSL: CFA = *(rsp + 16) + 8 in two ways; rbp, rbx as at first */
	" .cfi_escape 0x0f, 5, 0x77, 0x10, 0x06, 0x23, 0x08\n"
	" .cfi_restore rbp\n .cfi_restore rbx\n"
	" nop\n"
	" .cfi_escape 0x0f, 5, 0x77, 0x10, 0x06, 0x38, 0x22\n"
	" nop\n"
	/* a PLT's, from byte 10 on */
	" .cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22\n"
	" nop\n"
	/* vfork */
	" .cfi_def_cfa rsp, 0\n .cfi_register rip, rdi\n"
	" nop\n"
	/* rsp + 24, where the CFA is rsp + 32 */
	" .cfi_def_cfa rsp, 32\n .cfi_offset rip, -8\n"
	" .cfi_escape 0x10, 6, 2, 0x77, 24\n"
	" nop\n"
	" .cfi_register rbx, r8\n"
	" nop\n"
	" .cfi_restore rbx\n .cfi_offset rip, -16\n"
	" nop\n"
	" .cfi_endproc\n"
	" nop\n"
	" .cfi_startproc simple\n"
	" .cfi_signal_frame\n"
	" .cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6\n"
	" .cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0\n"
	" .cfi_escape 0x10, 3, 3, 0x77, 0x80, 1\n"
	" .cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1\n"
	" nop\n"
	/* not where struct ucontext has it */
	" .cfi_escape 0x10, 16, 3, 0x77, 0xb0, 1\n"
	" nop\n"
	" .cfi_endproc\n";

static const char rules_want[] =
	"+6 outermost frame\n"
	"+1 CFA=rsp+8\n"
	"+3 CFA=rsp+16 rbp=[CFA-16]\n"
	"+1 CFA=rbp+16 rbp=[CFA-16]\n"
	"+1 CFA=rsp+8\n"
	"+1 CFA=rbp+16 rbp=[CFA-16]\n"
	"+1 CFA=[rbp-8] rbp=[rbp+0] rbx=[rbp-16]\n"
	"+2 CFA=[rsp+16]+8\n"
	"+1 CFA=rsp+8, 8 more from byte 10 of the PLT entry\n"
	"+1 CFA=rsp+0 return=rdi\n"
	"+1 CFA=rsp+32 rbp=[CFA-8]\n"
	"+2 unsupported\n"
	"+1 no unwind information\n"
	"+1 signal frame: registers from the ucontext at rsp\n"
	"+1 unsupported\n";

/* Code that no CFI describes, and that is known. */
static const char gaps_source[] =
	".globl _start\n"
	" nop\n"
	"_start: xor %ebp, %ebp\n"			/* 2 */
	" hlt\n"					/* 1 */
	" .cfi_startproc\n"
	" ret\n"
	" .cfi_endproc\n"
	" .skip 200, 0x90\n"
	" mov $15, %rax\n syscall\n"			/* 9 */
	" .skip 100, 0x90\n"
	" mov $15, %eax\n syscall\n"			/* 7 */
	" nop\n"
	" .cfi_startproc\n"
	" ret\n"
	" .cfi_endproc\n";

static const char gaps_want[] =
	"+3 outermost frame\n"
	"+1 CFA=rsp+8\n"
	"+199 no unwind information\n"
	"+10 signal frame: registers from the ucontext at rsp\n"
	"+99 no unwind information\n"
	"+8 signal frame: registers from the ucontext at rsp\n"
	"+1 no unwind information\n"
	"+1 CFA=rsp+8\n";

/* PLTs as LLVM's linker writes them, without and with endbr64. */
static const char plt_source[] =
	".globl _start\n"
	" .cfi_startproc\n"
	"_start: ret\n"
	" .cfi_endproc\n"
	" .balign 16, 0xcc\n"
	" push 8(%rip)\n jmp *16(%rip)\n .byte 0x0f, 0x1f, 0x40, 0\n"
	" jmp *8(%rip)\n .byte 0x68\n .long 0\n .byte 0xe9\n .long -32\n"
	" jmp *8(%rip)\n .byte 0x68\n .long 1\n .byte 0xe9\n .long -48\n"
	" nop\n .balign 16, 0xcc\n"
	" endbr64\n .byte 0x68\n .long 1\n .byte 0xe9\n .long 0\n xchg %ax, %ax\n"
	" endbr64\n jmp *8(%rip)\n .byte 0x66, 0x0f, 0x1f, 0x44, 0, 0\n"
	" .balign 16, 0xcc\n"
	" jmp *8(%rip)\n";

static const char plt_want[] =
	"+1 CFA=rsp+8\n"
	"+15 no unwind information\n"
	"+6 CFA=rsp+16\n"
	"+10 CFA=rsp+24\n"
	"+32 CFA=rsp+8, 8 more from byte 11 of the PLT entry\n"
	"+16 no unwind information\n"
	"+16 CFA=rsp+8, 8 more from byte 9 of the PLT entry\n"
	"+16 CFA=rsp+8\n";

/* .eh_frame by hand: a CIE, and FDEs over each other, one that ends in nonsense. */
#define FDE(from, len, insns)						\
	" .long 9f-8f\n8: .long 8b-cie\n .long " from "-.\n .long " len "\n"	\
	" .byte 0\n " insns "\n .balign 4\n9:\n"

static const char overlap_source[] =
	".globl _start\n"
	"_start: .skip 48, 0x90\n"
	" .section .eh_frame, \"a\", @progbits\n"
	"cie: .long 1f-0f\n0: .long 0\n .byte 1\n .asciz \"zR\"\n"
	" .byte 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1\n .balign 4\n1:\n"
	FDE("_start+8", "16", ".byte 0x0e, 32")
	FDE("_start", "16", ".byte 0x0e, 16, 0x44, 0x0e, 24")
	FDE("_start+4", "4", ".byte 0x0e, 48")
	FDE("_start+28", "8", ".byte 0x42, 0x3f, 0x41, 0x0e, 16")
	/* linkers leave one of these at each object's end */
	" .long 0\n"
	FDE("_start+40", "8", ".byte 0x0e, 64")
	" .long 0\n";

static const char overlap_want[] =
	"+4 CFA=rsp+16\n"
	"+12 CFA=rsp+24\n"
	"+8 CFA=rsp+32\n"
	"+4 no unwind information\n"
	"+2 CFA=rsp+8\n"
	"+6 unsupported\n"
	"+4 no unwind information\n"
	"+8 CFA=rsp+64\n";

/* What Go's linker writes, with frames of Go 1.19, of 1.21, and of assembly. */
static const char go_source[] =
	".globl _start\n"
	" .type runtime.goexit.abi0, @function\n"
	" .type runtime.goexit, @function\n"
	" .type runtime.systemstack, @function\n"
	" .type runtime.systemstack_switch.abi0, @function\n"
	"_start:\n"
	"f: sub $0x20, %rsp\n"				/* 4 */
	" mov %rbp, 0x18(%rsp)\n"			/* 5 */
	" lea 0x18(%rsp), %rbp\n"			/* 5 */
	" mov 0x18(%rsp), %rbp\n"			/* 5 */
	" add $0x20, %rsp\n"				/* 4 */
	" ret\n nop\n"					/* 1 1 */
	"g: push %rbp\n mov %rsp, %rbp\n"		/* 1 3 */
	" sub $0x100, %rsp\n"				/* 7 */
	" nop\n"
	"h: push %rbx\n push %rbx\n nop\n"		/* 1 1 1 */
	"runtime.goexit: nop\n .size runtime.goexit, 1\n"
	"runtime.goexit.abi0: nop\n .size runtime.goexit.abi0, 1\n"
	"runtime.systemstack: nop; nop\n .size runtime.systemstack, 2\n"
	" int3\n"
	"runtime.systemstack_switch.abi0: ret\n .size runtime.systemstack_switch.abi0, 1\n"
	"end:\n"
	" .section .gopclntab, \"a\", @progbits\n .long 0\n"
	" .section .debug_frame, \"\", @progbits\n"
	" .long 1f-0f\n0: .long 0xffffffff\n .byte 3, 0, 1, 0x7c, 16\n"
	" .byte 0x0c, 7, 8, 5, 16, 2\n1:\n"
	" .long 3f-2f\n2: .long 0\n .quad f, g-f\n"
	" .byte 0x13, 0x7e, 0x44, 0x13, 0x76, 0x53, 0x13, 0x7e, 0x41, 0x13, 0x76\n3:\n"
	" .long 5f-4f\n4: .long 0\n .quad g, h-g\n"
	" .byte 0x13, 0x7e, 0x41, 0x13, 0x7c, 0x4a, 0x13, 0xbc, 0x7f\n5:\n"
	" .long 7f-6f\n6: .long 0\n .quad h, end-h\n"
	" .byte 0x13, 0x7e, 0x41, 0x13, 0x7c, 0x41, 0x13, 0x7a\n7:\n";

static const char go_want[] =
	"+4 CFA=rsp+8\n"
	"+5 CFA=rsp+40\n"
	"+14 CFA=rsp+40 rbp=[CFA-16]\n"
	"+1 CFA=rsp+8\n"
	"+1 CFA=rsp+40 rbp=[CFA-16]\n"
	"+1 CFA=rsp+8\n"
	"+10 CFA=rsp+16 rbp=[CFA-16]\n"
	"+1 CFA=rsp+272 rbp=[CFA-16]\n"
	"+1 CFA=rsp+8\n"
	"+1 CFA=rsp+16\n"
	"+2 CFA=rsp+24\n"
	"+1 outermost frame\n"
	"+2 CFA=rbp+16 rbp=[CFA-16] on another stack\n"
	"+2 CFA=rsp+8\n";

/* A C library without CFI: a call whose result exit() gets, others, and a thread's. */
static const char start_source[] =
	".globl _start\n.type _start, @function\n_start: nop; jmp stage2\n.fill 128, 1, 0x90\n"
	".globl exit\n.type exit, @function\nexit: hlt; ret\n"
	".globl pthread_exit\n.type pthread_exit, @function\npthread_exit: hlt; ret\n"
	".globl other\n.type other, @function\nother: ret\n"
	"stage2: push %rbx; mov %rdi, %rbx; call *%rbx; mov %eax, %edi; call exit\n"
	"call *%rbx; mov %eax, %edi; call other\n"
	"call other; mov %eax, %edi; call exit\n"
	"call *(%rbx); mov %rax, %rdi; call pthread_exit; nop\n";

static const char start_want[] =
	"+128 outermost frame\n"		/* _start */
	"+16 no unwind information\n"
	"+8 outermost frame\n"
	"+22 no unwind information\n"
	"+9 outermost frame\n";

static void test_rules(void)
{
	static const struct {
		const char *name, *source, *want, *claim;
	} cases[] = {
		{ "rules", rules_source, rules_want, "each kind of CFI becomes its rule" },
		{ "gaps", gaps_source, gaps_want,
		  "code without CFI: the entry, and signal trampolines" },
		{ "plt", plt_source, plt_want, "a PLT that the linker did not describe" },
		{ "overlap", overlap_source, overlap_want,
		  "functions over each other, damage, ends in the middle" },
		{ "start", start_source, start_want, "where a C library calls main()" },
		{ "go", go_source, go_want, "Go: where rbp is saved, where stacks end" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!link_asm(cases[i].name, cases[i].source)) {
			shell("sed 's/^/# /' log >&2");
			ok(0, "%s: can be made", cases[i].name);
			continue;
		}
		rows_are(cases[i].name, cases[i].want, cases[i].claim);
	}
}

static void test_damage_is_counted(void)
{
	struct unwind_table t;

	if (!ok(!compile("overlap", &t), "(it has a table)"))
		return;
	is(t.coverage.damaged, 1, "what is damaged is counted");
	is(t.coverage.functions, 5, "so are functions");
	is(t.coverage.none, 6, "and bytes that are unsupported");
	is(t.coverage.none_rows, 1, "and their places");
	is(t.coverage.bytes, 48, "and all bytes of code");
	is(t.coverage.covered, 34, "and what is covered");
	unwind_free(&t);
}

static const char c_source[] =
	"int ext(int *p);\n"
	"__attribute__((noinline)) static int leaf(int n) { int a[4] = { n }; return ext(a); }\n"
	"__attribute__((noinline)) static int aligned(int n)\n"
	"{ _Alignas(64) int a[16]; a[n & 15] = leaf(n); return ext(a) + a[3]; }\n"
	"__attribute__((noinline)) static int sized(int n)\n"
	"{ int a[n]; a[0] = leaf(n); return ext(a) + a[n - 1]; }\n"
	"__attribute__((noinline)) static int both(int n)\n"
	"{ _Alignas(32) int a[n]; a[0] = aligned(n) + sized(n); return ext(a) + a[n - 1]; }\n"
	"__attribute__((noinline)) int ext(int *p)\n"
	"{ __asm__ volatile(\"\" : : \"r\"(p)); return *p; }\n"
	"void _start(void) { for (;;) ext((int[]){ both(leaf(3)) }); }\n";

/* Functions that only call, and are called. */
static const char plain_source[] =
	"#define F(name, callee) __attribute__((noinline)) static int name(int n) \\\n"
	"{ int a[2] = { callee(n), n }; __asm__ volatile(\"\" : : \"r\"(a)); return a[0]; }\n"
	"#define N(n) n\n"
	"F(one, N) F(two, one) F(three, two) F(four, three) F(five, four)\n"
	"void _start(void) { for (;;) five(four(3)); }\n";

#define NO_CFI "-fno-asynchronous-unwind-tables -fno-unwind-tables "

/* Rows of the same code, wherever the file has it. */
static void same_rows(const char *compiler, const char *a, const char *b, const char *claim)
{
	struct unwind_table x, y;
	char *s, *t;

	if (compile(a, &x)) {
		ok(0, "%s: %s", compiler, claim);
		return;
	}
	if (compile(b, &y)) {
		ok(0, "%s: %s", compiler, claim);
		unwind_free(&x);
		return;
	}
	s = text_of(&x);
	t = text_of(&y);
	ok(x.nr_rows > 20 && !strcmp(s, t), "%s: %s", compiler, claim);
	is(x.coverage.none, 0, "%s: realigned and variable frames can be expressed", compiler);
	free(s);
	free(t);
	unwind_free(&x);
	unwind_free(&y);
}

static void test_compiler(const char *variable, const char *compiler)
{
	const char *cc = getenv(variable) && *getenv(variable) ? getenv(variable) : compiler;
	struct unwind_table t;

	if (shell("%s -O2 -fno-pie -c c.c -o eh.o && %s -O2 -fno-pie -g1 " NO_CFI
		  "-c c.c -o debug.o", cc, cc)) {
		ok(1, "%s is not here # SKIP", cc);
		return;
	}
	shell(LINK "eh.o -o eh && " LINK "debug.o -o debug && "
	      LINK "-Wl,--compress-debug-sections=zlib debug.o -o packed && "
	      LINK "-Wl,--compress-debug-sections=zlib-gnu debug.o -o old-packed");
	same_rows(cc, "eh", "debug", ".debug_frame says what .eh_frame does");
	same_rows(cc, "eh", "packed", "also where it is compressed");
	same_rows(cc, "eh", "old-packed", "also in the old way");

	shell("%s -O1 -fno-pie " NO_CFI "-fno-omit-frame-pointer -falign-functions=16 "
	      "-c plain.c -o fp.o && " LINK "fp.o -o fp", cc);
	if (ok(!compile("fp", &t), "%s: (made with frame pointers)", cc)) {
		ok(t.coverage.frame_pointers, "%s: frame pointers are noticed", cc);
		ok(t.coverage.covered * 10 >= t.coverage.bytes * 9,
		   "%s: and used everywhere", cc);
		unwind_free(&t);
	}
	shell("%s -O2 -fno-pie " NO_CFI "-fomit-frame-pointer -falign-functions=16 "
	      "-c plain.c -o none.o && " LINK "none.o -o none", cc);
	if (ok(!compile("none", &t), "%s: (made without anything)", cc)) {
		ok(!t.coverage.frame_pointers, "%s: that there are none is noticed too", cc);
		unwind_free(&t);
	}
}

static void patch(const char *from, const char *to, size_t at, __u64 value, size_t len)
{
	int fd;

	shell("cp %s %s", from, to);
	fd = open_file(to);
	if (fd < 0 || pwrite(fd, &value, len, (off_t)at) != (ssize_t)len)
		printf("Bail out! cannot patch %s\n", to);
	if (fd >= 0)
		close(fd);
}

/* The offset of p_offset of the executable segment. */
static size_t find_segment(void)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	int fd = open_file("rules");
	size_t found = 0;

	if (fd >= 0 && pread(fd, &eh, sizeof(eh), 0) == sizeof(eh))
		for (unsigned int i = 0; i < eh.e_phnum; i++) {
			const size_t at = eh.e_phoff + i * sizeof(ph);

			if (pread(fd, &ph, sizeof(ph), (off_t)at) == sizeof(ph) &&
			    ph.p_type == PT_LOAD && ph.p_flags & PF_X)
				found = at;
		}
	if (fd >= 0)
		close(fd);
	return found;
}

static void test_refused(void)
{
	const size_t segment = find_segment();
	struct unwind_table t;

	write_file("text", "no ELF file at all, but some text that is longer than its header");
	write_file("empty", "");
	is(compile("text", &t), -ENOEXEC, "text is no ELF file");
	is(compile("empty", &t), -ENOEXEC, "nor is nothing");
	patch("rules", "arm", offsetof(Elf64_Ehdr, e_machine), EM_AARCH64, 2);
	is(compile("arm", &t), -ENOEXEC, "nor is a program for another machine");
	patch("rules", "small", EI_CLASS, ELFCLASS32, 1);
	is(compile("small", &t), -ENOEXEC, "nor one of 32 bits");
	patch("rules", "far", segment + offsetof(Elf64_Phdr, p_offset), 1ULL << 32, 8);
	is(compile("far", &t), -EFBIG, "code beyond 4 GiB of a file is refused");
	patch("rules", "large", segment + offsetof(Elf64_Phdr, p_filesz), 1ULL << 32, 8);
	is(compile("large", &t), -EFBIG, "so is so much code");
}

static void test_find(void)
{
	struct unwind_table t;
	__u32 row = 0;

	if (compile("rules", &t))
		return;
	ok(!unwind_find(&t, t.rows[0] - 1, &row), "before the first row is a gap");
	ok(unwind_find(&t, t.rows[3], &row) && row == 3, "a row begins where it begins");
	ok(unwind_find(&t, t.rows[4] - 1, &row) && row == 3, "and ends where the next does");
	ok(!unwind_find(&t, ~0ULL, &row) && row == t.nr_rows - 1, "after the last is a gap");
	unwind_free(&t);
}

static void test_vdso(void)
{
	struct unwind_table t;
	int err = unwind_vdso(&t);

	if (err) {
		is(err, -ENOENT, "the vdso's rows, or that there is none");
		return;
	}
	check_table(&t, "vdso");
	ok(t.coverage.functions && t.coverage.covered && t.rows[t.nr_rows - 1] < 65536,
	   "the vdso has rows, by their offsets in it");
	is(t.coverage.none, 0, "all of which can be expressed");
	unwind_free(&t);
}

int main(void)
{
	scratch_begin();
	test_rules();
	test_damage_is_counted();
	write_file("c.c", c_source);
	write_file("plain.c", plain_source);
	test_compiler("CC", "cc");
	test_compiler("CLANG", "clang");
	test_refused();
	test_find();
	test_vdso();
	return scratch_end() ? 1 : tap_done();
}
