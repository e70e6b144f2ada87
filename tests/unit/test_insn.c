// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/elf/insn.c ctl/elf/effect.c */
/* The decoder, against objdump's reading of this machine's libc. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/insn.h"
#include "tap.h"

struct sums {
	unsigned long insns, lengths, targets, kinds, unread;
};

/* "   26a3c:\t0f 84 5f 02 00 00 \tcall   26ca1 <...>" */
static size_t read_line(const char *line, unsigned long *addr, unsigned char *code,
			const char **text)
{
	const char *pos;
	size_t len = 0;
	char *end;

	*addr = strtoul(line, &end, 16);
	if (end == line || *end != ':' || end[1] != '\t')
		return 0;
	pos = end + 2;
	while (len < 15 && *pos != ' ' && sscanf(pos, "%2hhx", &code[len]) == 1) {
		pos += 3;
		len++;
	}
	*text = strchr(pos - 1, '\t');
	if (!*text || !len)
		return 0;
	++*text;
	return len;
}

static bool begins(const char *text, const char *word)
{
	const size_t len = strlen(word);

	return !strncmp(text, word, len) && strchr(" \n", text[len]);
}

/* What objdump calls a direct jump or call, or INSN_UNKNOWN. */
static enum insn_kind kind_by_name(const char *text)
{
	if (strchr(text, '*'))
		return INSN_UNKNOWN;
	if (!strncmp(text, "bnd ", 4))
		text += 4;
	if (begins(text, "jmp") || begins(text, "jmpq"))
		return INSN_JMP;
	if (begins(text, "call") || begins(text, "callq"))
		return INSN_CALL;
	if (*text == 'j' && !begins(text, "jrcxz") && !begins(text, "jecxz"))
		return INSN_JCC;
	return INSN_UNKNOWN;
}

static void complain(unsigned long *count, const char *what, const char *line)
{
	if (++*count <= 5)
		fprintf(stderr, "# %s: %s", what, line);
}

/* i386's code: lengths alone. */
static void compare32(struct sums *s, const char *line)
{
	unsigned char code[16];
	unsigned long addr;
	const char *text;
	const size_t len = read_line(line, &addr, code, &text);

	if (!len || strstr(text, "(bad)") || code[0] == 0x9b)
		return;
	s->insns++;
	if (insn_length32(code, len) != len)
		complain(&s->lengths, "length", line);
	if (insn_length32(code, len - 1))
		complain(&s->lengths, "shorter than it is", line);
}

static void compare(struct sums *s, const char *line)
{
	unsigned char code[16];
	enum insn_kind kind;
	unsigned long addr;
	const char *text;
	struct insn i;
	size_t len = read_line(line, &addr, code, &text);

	/* "(bad)" is data; fwait belongs to the next one only in text */
	if (!len || strstr(text, "(bad)") || code[0] == 0x9b)
		return;
	s->insns++;
	if (!insn_decode(&i, code, len)) {
		complain(&s->unread, "not read", line);
		return;
	}
	if (i.len != len)
		complain(&s->lengths, "length", line);
	if (insn_decode(&i, code, len - 1))
		complain(&s->lengths, "shorter than it is", line);
	insn_decode(&i, code, len);
	kind = kind_by_name(text);
	if (kind == INSN_UNKNOWN)
		return;
	if (i.kind != kind)
		complain(&s->kinds, "kind", line);
	text = strpbrk(text, " ");
	if (text && strtoul(text, NULL, 16) != addr + (unsigned long)i.target)
		complain(&s->targets, "target", line);
}

/* What objdump says of the first library that is there, as much as takes a second. */
static void read_objdump(const char *const *names, struct sums *s,
			 void (*fn)(struct sums *s, const char *line))
{
	char cmd[256], line[1024];
	FILE *f;

	while (names[1] && access(*names, R_OK))
		names++;
	snprintf(cmd, sizeof(cmd), "objdump -d --insn-width=16 -j .text %s 2>/dev/null | "
		 "head -n 120000", *names);
	f = popen(cmd, "re");
	while (f && fgets(line, sizeof(line), f))
		fn(s, line);
	if (f)
		pclose(f);
}

static void test_libc(void)
{
	static const char *const names[] = {
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6", NULL,
	};
	struct sums s = { 0 };

	read_objdump(names, &s, compare);
	if (s.insns < 1000) {
		ok(1, "a libc and objdump # SKIP not here");
		return;
	}
	is(s.unread, 0, "all of %lu instructions are read", s.insns);
	is(s.lengths, 0, "each ends where objdump says");
	is(s.kinds, 0, "jumps and calls are what they are");
	is(s.targets, 0, "and lead where they lead");
}

static void test_libc32(void)
{
	static const char *const names[] = { "/usr/lib32/libc.so.6", "/lib/libc.so.6", NULL };
	struct sums s = { 0 };

	read_objdump(names, &s, compare32);
	if (s.insns < 1000)
		ok(1, "an i386 libc and objdump # SKIP not here");
	else
		is(s.lengths, 0, "all of %lu i386 instructions end where objdump says", s.insns);
}

#define B(...) (const unsigned char[]){ __VA_ARGS__ }, \
	       sizeof((const unsigned char[]){ __VA_ARGS__ })

static const struct {
	const char *text;
	const unsigned char *code;
	size_t len;
	unsigned int writes;
} cases[] = {
	{ "mov %rdi,%rax", B(0x48, 0x89, 0xf8), REG_AX },
	{ "mov (%rdi),%esi", B(0x8b, 0x37), REG_SI },
	{ "mov %rsi,(%rdi)", B(0x48, 0x89, 0x37), 0 },
	{ "lea 8(%rdx),%rdx", B(0x48, 0x8d, 0x52, 8), REG_DX },
	{ "mov $1,%r8d", B(0x41, 0xb8, 1, 0, 0, 0), 1u << 8 },
	{ "movabs $1,%rdi", B(0x48, 0xbf, 1, 0, 0, 0, 0, 0, 0, 0), REG_DI },
	{ "xor %edx,%edx", B(0x31, 0xd2), REG_DX },
	{ "cmp %rdi,%rsi", B(0x48, 0x39, 0xfe), 0 },
	{ "cmp $1,%dil", B(0x40, 0x80, 0xff, 1), 0 },
	{ "add $1,%al", B(0x04, 1), REG_AX },
	{ "shr $4,%rcx", B(0x48, 0xc1, 0xe9, 4), REG_CX },
	{ "neg %rdi", B(0x48, 0xf7, 0xdf), REG_DI },
	{ "div %rsi", B(0x48, 0xf7, 0xf6), REG_AX | REG_DX },
	{ "imul %rsi,%rdi", B(0x48, 0x0f, 0xaf, 0xfe), REG_DI },
	{ "imul $24,%rdi,%rsi", B(0x48, 0x6b, 0xf7, 24), REG_SI },
	{ "cmove %rdi,%rdx", B(0x48, 0x0f, 0x44, 0xd7), REG_DX },
	{ "sete %sil", B(0x40, 0x0f, 0x94, 0xc6), REG_SI },
	{ "seto %dh", B(0x0f, 0x90, 0xc6), REG_DX },
	{ "movzbl %dil,%ecx", B(0x40, 0x0f, 0xb6, 0xcf), REG_CX },
	{ "movsxd %edi,%rsi", B(0x48, 0x63, 0xf7), REG_SI },
	{ "bswap %r9", B(0x49, 0x0f, 0xc9), 1u << 9 },
	{ "movd %xmm0,%edi", B(0x66, 0x0f, 0x7e, 0xc7), REG_DI },
	{ "cltd", B(0x99), REG_DX },
	{ "inc %rdi", B(0x48, 0xff, 0xc7), REG_DI },
	{ "movq $0,8(%rdi)", B(0x48, 0xc7, 0x47, 8, 0, 0, 0, 0), 0 },
	{ "sub $24,%rsp", B(0x48, 0x83, 0xec, 0x18), REG_SP },
};
static const struct {
	const char *text;
	const unsigned char *code;
	size_t len;
} unknown[] = {
	{ "xchg %rax,%rdi", B(0x48, 0x97) }, { "pop %rdi", B(0x5f) },
	{ "syscall", B(0x0f, 0x05) }, { "cpuid", B(0x0f, 0xa2) },
	{ "rep stos", B(0xf3, 0x48, 0xab) }, { "xadd", B(0x0f, 0xc1, 0xfe) },
	{ "vmovd %xmm0,%edi", B(0xc5, 0xf9, 0x7e, 0xc7) },
	{ "xchg %r8,%rax", B(0x49, 0x90) }, { "leave", B(0xc9) },
};

/* Forms that only i386 has, or has otherwise. */
static const struct {
	const char *text;
	const unsigned char *code;
	size_t len;
} narrow[] = {
	{ "inc %eax", B(0x40) }, { "pusha", B(0x60) }, { "push %es", B(0x06) },
	{ "les (%eax),%ecx", B(0xc4, 0x08) }, { "bound %eax,(%ecx)", B(0x62, 0x01) },
	{ "vzeroupper", B(0xc5, 0xf8, 0x77) }, { "aam", B(0xd4, 0x0a) },
	{ "lcall", B(0x9a, 1, 2, 3, 4, 5, 6) }, { "jmpw", B(0x66, 0xe9, 1, 2) },
	{ "mov 0x1,%eax", B(0xa1, 1, 0, 0, 0) }, { "addr16 mov", B(0x67, 0x8b, 0x46, 1) },
	{ "addr16 mov 0x201,%eax", B(0x67, 0x8b, 0x06, 1, 2) },
	{ "mov (%si),%eax", B(0x67, 0x8b, 0x04) }, { "mov $1,%eax", B(0xb8, 1, 0, 0, 0) },
};

static void test_narrow(void)
{
	for (size_t n = 0; n < sizeof(narrow) / sizeof(narrow[0]); n++)
		is(insn_length32(narrow[n].code, narrow[n].len), narrow[n].len,
		   "i386: %s", narrow[n].text);
}

static const struct {
	const unsigned char *code;
	size_t len;
	bool nop;
} nops[] = {
	{ B(0x90), true }, { B(0x66, 0x90), true }, { B(0x0f, 0x1f, 0x44, 0, 0), true },
	{ B(0x66, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0), true }, { B(0xc3), false },
	{ B(0x66), false }, { B(0x0f), false }, { B(0x0f, 0x05), false },
};

static void test_nops(void)
{
	for (size_t n = 0; n < sizeof(nops) / sizeof(nops[0]); n++)
		ok(insn_is_nop(nops[n].code, nops[n].len) == nops[n].nop, "nop or not: %zu", n);
}

static void test_effects(void)
{
	struct insn i;

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		bool decoded = insn_decode(&i, cases[n].code, cases[n].len);

		ok(decoded && i.kind == INSN_PLAIN &&
		   i.len == cases[n].len && i.writes == cases[n].writes,
		   "%s writes what it does: 0x%x", cases[n].text, i.writes);
	}
	for (size_t n = 0; n < sizeof(unknown) / sizeof(unknown[0]); n++)
		ok(insn_decode(&i, unknown[n].code, unknown[n].len) &&
		   i.len == unknown[n].len && i.kind == INSN_UNKNOWN,
		   "%s: nothing is claimed", unknown[n].text);
}

int main(void)
{
	test_effects();
	test_narrow();
	test_nops();
	test_libc();
	test_libc32();
	return tap_done();
}
