// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/alloc/place.c ctl/elf/insn.c ctl/elf/effect.c */
/* Small functions in machine code, each with the place that a probe should get. */
#include <string.h>

#include "alloc/alloc.h"
#include "tap.h"

#define CODE(...) (const unsigned char[]){ __VA_ARGS__ }, \
		  sizeof((const unsigned char[]){ __VA_ARGS__ })

#define ENDBR	0xf3, 0x0f, 0x1e, 0xfa
#define PUSH_BX	0x53
#define PUSH_12	0x41, 0x54
#define TEST_DI	0x48, 0x85, 0xff		/* test %rdi,%rdi */
#define JE(n)	0x74, n
#define JNE(n)	0x75, n
#define JMP(n)	0xeb, (unsigned char)(n)
#define SUB_SP	0x48, 0x83, 0xec, 0x18		/* sub $24,%rsp */
#define MOV_AX_DI 0x48, 0x89, 0xf8		/* mov %rdi,%rax */
#define MOV_DI_SI 0x48, 0x89, 0xf7		/* mov %rsi,%rdi */
#define MOV_SI_DI 0x48, 0x89, 0xfe		/* mov %rdi,%rsi */
#define CMP_DI	0x48, 0x81, 0xff, 0, 0x10, 0, 0	/* cmp $4096,%rdi */
#define MUL_SI	0x48, 0xf7, 0xe6		/* writes %rax, %rdx */
#define MOV_DIL	0x40, 0xb7, 1			/* mov $1,%dil */
#define MOV_BH	0xb7, 1				/* mov $1,%bh: the same but REX */
#define XOR_EDI	0x31, 0xff
#define RET	0xc3
#define NOP	0x90
#define NOP2	0x66, 0x90
#define NOPL	0x0f, 0x1f, 0x00

static const struct {
	const char *what;
	const unsigned char *code;
	size_t len;
	struct alloc_place_opts o;
	unsigned int at;
	bool one_trap;
	unsigned int moved;
	const char *insn;
} cases[] = {
	{ "push is taken", CODE(PUSH_BX, RET), { .push = true, .args = 1 },
	  0, true, 0, "push %rbx" },
	{ "where the kernel emulates it", CODE(PUSH_BX, RET), { .args = 1 },
	  0, false, 0, "push %rbx" },
	{ "push of the new registers, too", CODE(PUSH_12, RET), { .push = true, .args = 1 },
	  0, true, 0, "push %r12" },
	{ "but with no other prefix", CODE(0x48, 0x53, RET), { .push = true, .args = 1 },
	  0, false, 0, "push %rbx" },
	{ "endbr64 is passed over", CODE(ENDBR, PUSH_BX, RET), { .push = true, .args = 1 },
	  4, true, 0, "push %rbx" },
	{ "also where nothing is emulated", CODE(ENDBR, MOV_AX_DI, RET), { .args = 1 },
	  4, false, 0, "" },
	{ "what leaves the argument alone may stand before",
	  CODE(MOV_AX_DI, CMP_DI, 0x77, 5, PUSH_BX, RET), { .args = 1 },
	  10, true, 0, "ja" },
	{ "free: behind the test for NULL", CODE(TEST_DI, JE(5), PUSH_BX, RET),
	  { .push = true, .frees = true, .args = 1 }, 5, true, 0, "push %rbx" },
	{ "free: the branch, where push is not emulated",
	  CODE(TEST_DI, JE(5), PUSH_BX, RET), { .frees = true, .args = 1 },
	  3, true, 0, "je" },
	{ "not behind it, where NULL matters", CODE(TEST_DI, JE(5), PUSH_BX, RET),
	  { .push = true, .args = 1 }, 3, true, 0, "je" },
	{ "free: not behind a test for something else",
	  CODE(0x48, 0x85, 0xf6, JE(5), PUSH_BX, RET),
	  { .push = true, .frees = true, .args = 1 }, 3, true, 0, "je" },
	{ "free: nor where the flags were written in between",
	  CODE(TEST_DI, 0x31, 0xc0, JE(5), PUSH_BX, RET),
	  { .push = true, .frees = true, .args = 1 }, 5, true, 0, "je" },
	{ "free: nor on NULL's side", CODE(TEST_DI, JNE(5), PUSH_BX, RET),
	  { .push = true, .frees = true, .args = 1 }, 3, true, 0, "jne" },
	{ "free: nor behind another branch, which not all calls pass",
	  CODE(CMP_DI, 0x77, 9, TEST_DI, JE(5), PUSH_BX, RET),
	  { .push = true, .frees = true, .args = 1 }, 7, true, 0, "ja" },
	{ "free: of a second argument",
	  CODE(0x48, 0x85, 0xf6, JE(5), PUSH_BX, RET),
	  { .push = true, .frees = true, .args = 2, .ptr_arg = 1 }, 5, true, 0,
	  "push %rbx" },
	{ "cmp $0 is a test, too", CODE(0x48, 0x83, 0xff, 0, JE(5), PUSH_BX, RET),
	  { .push = true, .frees = true, .args = 1 }, 6, true, 0, "push %rbx" },
	{ "half a register is not", CODE(0x85, 0xff, JE(5), PUSH_BX, RET),
	  { .push = true, .frees = true, .args = 1 }, 2, true, 0, "je" },
	{ "not where the argument is gone", CODE(MOV_DI_SI, PUSH_BX, RET),
	  { .push = true, .args = 1 }, 0, false, 0, "" },
	{ "not where its low byte is", CODE(MOV_DIL, PUSH_BX, RET),
	  { .push = true, .args = 1 }, 0, false, 0, "" },
	{ "though it is the other byte without REX", CODE(MOV_BH, PUSH_BX, RET),
	  { .push = true, .args = 1 }, 2, true, 0, "push %rbx" },
	{ "not where half of it is", CODE(XOR_EDI, PUSH_BX, RET),
	  { .push = true, .args = 1 }, 0, false, 0, "" },
	{ "unless nobody wants it", CODE(MOV_SI_DI, PUSH_BX, RET),
	  { .push = true, .args = 1 }, 3, true, 0, "push %rbx" },
	{ "mul takes the third argument away", CODE(MUL_SI, PUSH_BX, RET),
	  { .push = true, .args = 4 }, 0, false, 0, "" },
	{ "and only that", CODE(MUL_SI, PUSH_BX, RET), { .push = true, .args = 3 },
	  3, true, 0, "push %rbx" },
	{ "not where the stack has moved", CODE(SUB_SP, PUSH_BX, RET),
	  { .push = true, .args = 1 }, 0, false, 0, "" },
	{ "unless that may be, and then by so much", CODE(SUB_SP, TEST_DI, JE(5), RET),
	  { .frees = true, .moved = true, .args = 1 }, 7, true, 24, "je" },
	{ "pushes count", CODE(PUSH_BX, PUSH_12, JNE(5), RET),
	  { .frees = true, .moved = true, .args = 1 }, 3, true, 16, "jne" },
	{ "a place with the stack as it was is better",
	  CODE(TEST_DI, JE(5), SUB_SP, PUSH_BX, RET),
	  { .push = true, .frees = true, .moved = true, .args = 1 }, 3, true, 0, "je" },
	{ "not where the stack pointer is computed",
	  CODE(0x48, 0x83, 0xe4, 0xf0, PUSH_BX, RET),
	  { .push = true, .frees = true, .moved = true, .args = 1 }, 0, false, 0, "" },
	{ "not in a loop", CODE(MOV_AX_DI, PUSH_BX, 0x31, 0xc0, JMP(-5)),
	  { .push = true, .args = 1 }, 0, false, 0, "" },
	{ "nor behind where a loop begins",
	  CODE(MOV_AX_DI, TEST_DI, JE(5), PUSH_BX, JMP(-8)),
	  { .push = true, .args = 1 }, 0, false, 0, "" },
	{ "the entry may be jumped to", CODE(PUSH_BX, 0x5b, JMP(-4)),
	  { .push = true, .args = 1 }, 0, true, 0, "push %rbx" },
	{ "a jump elsewhere is taken", CODE(0xe9, 0, 1, 0, 0), { .args = 1 },
	  0, true, 0, "jmp" },
	{ "with bnd, too", CODE(0xf2, 0xe9, 0, 1, 0, 0), { .args = 1 }, 0, true, 0, "jmp" },
	{ "with 16 bits it is not", CODE(0x66, 0xe9, 0, 1, 0, 0), { .args = 1 },
	  0, false, 0, "jmp" },
	{ "a call is taken", CODE(0xe8, 0, 1, 0, 0, PUSH_BX), { .push = true, .args = 1 },
	  0, true, 0, "call" },
	{ "and nothing behind it", CODE(SUB_SP, 0xe8, 0, 1, 0, 0, PUSH_BX),
	  { .push = true, .args = 1 }, 0, false, 0, "" },
	{ "nop is taken", CODE(NOP, RET), { .args = 1 }, 0, true, 0, "nop" },
	{ "long ones are not emulated everywhere", CODE(NOPL, NOP, RET), { .args = 1 },
	  3, true, 0, "nop" },
	{ "nor the one of two bytes, and not everywhere allowed",
	  CODE(NOP2, PUSH_BX, RET), { .push = true, .args = 1 }, 2, true, 0, "push %rbx" },
	{ "what nobody knows ends the search", CODE(0x0f, 0xa2, PUSH_BX, RET),
	  { .push = true, .args = 1 }, 0, false, 0, "" },
	{ "so does what is no code", CODE(0x06, PUSH_BX, RET), { .push = true, .args = 1 },
	  0, false, 0, "" },
	{ "half an instruction is none", CODE(0xe9, 0, 1), { .push = true, .args = 1 },
	  0, false, 0, "" },
	{ "i386: the first instruction", CODE(0x53, RET), { .push = true, .narrow = true },
	  0, true, 0, "push %rbx" },
	{ "i386: behind endbr32", CODE(0xf3, 0x0f, 0x1e, 0xfb, 0x53, RET),
	  { .push = true, .narrow = true }, 4, true, 0, "push %rbx" },
	{ "i386: inc is no prefix", CODE(0x41, 0x53, RET), { .push = true, .narrow = true },
	  0, false, 0, "" },
};

int main(void)
{
	struct alloc_place p;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		alloc_place(&p, cases[i].code, cases[i].len, 0x1000, &cases[i].o);
		is(p.offset, 0x1000 + cases[i].at, "%s: where", cases[i].what);
		ok(p.one_trap == cases[i].one_trap && p.moved == cases[i].moved,
		   "%s: %s trap%s", cases[i].what, cases[i].one_trap ? "one" : "two",
		   cases[i].one_trap ? "" : "s");
		ok(!strcmp(p.insn, cases[i].insn), "%s: '%s'", cases[i].what, p.insn);
	}
	alloc_place(&p, "", 0, 0x1000, &cases[0].o);
	ok(p.offset == 0x1000 && !p.one_trap, "no code at all: the entry");
	return tap_done();
}
