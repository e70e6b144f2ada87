// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the arguments in the note of a USDT probe, which are assembler operands. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/args_int.h"

void args_emit(struct args_code *c, __u8 op, __u8 type, __u16 index, __u64 number)
{
	struct memtap_step *st;
	__u32 takes, puts;

	if (c->nr == MEMTAP_MAX_STEPS) {
		c->over = true;
		return;
	}
	steps_effect(op, &takes, &puts);
	c->depth += puts - takes;
	st = &c->at[c->nr++];
	*st = (struct memtap_step){ .op = op, .type = type, .index = index, .number = number };
}

#define IS_S	MEMTAP_TYPE_SIGNED

bool args_register(const char *name, size_t len, __u16 *reg, __u8 *type)
{
	static const struct {
		const char *names[4];	/* of 8, 4, 2 and 1 bytes */
	} old[] = {
		{ { "rax", "eax", "ax", "al" } }, { { "rdx", "edx", "dx", "dl" } },
		{ { "rcx", "ecx", "cx", "cl" } }, { { "rbx", "ebx", "bx", "bl" } },
		{ { "rsi", "esi", "si", "sil" } }, { { "rdi", "edi", "di", "dil" } },
		{ { "rbp", "ebp", "bp", "bpl" } }, { { "rsp", "esp", "sp", "spl" } },
	};
	static const __u8 types[] = { 8, 4, 2, 1 };
	unsigned int n;
	size_t i;

	if (len && *name == '%')
		name++, len--;
	if (len < 2 || len > 4)
		return false;
	if (len == 3 && !strncmp(name, "rip", 3)) {
		*reg = 16;
		*type = 8;
		return true;
	}
	for (i = 0; i < sizeof(old) / sizeof(old[0]); i++)
		for (int j = 0; j < 4; j++)
			if (strlen(old[i].names[j]) == len &&
			    !strncmp(name, old[i].names[j], len)) {
				*reg = (__u16)i;
				*type = types[j];
				return true;
			}
	if (*name != 'r' || !isdigit((unsigned char)name[1]))
		return false;
	n = (unsigned int)(name[1] - '0');
	i = 2;
	if (n == 1 && i < len && isdigit((unsigned char)name[i]))
		n = 10 + (unsigned int)(name[i++] - '0');
	if (n < 8 || n > 15 || len - i > 1)
		return false;
	*reg = (__u16)n;
	*type = i == len ? 8 : name[i] == 'd' ? 4 : name[i] == 'w' ? 2 : name[i] == 'b' ? 1 : 0;
	return *type;
}

/* An operand is a word, but what stands in parentheses belongs to it. */
static size_t operand_len(const char *s)
{
	size_t len = 0;
	int depth = 0;

	for (; s[len] && (depth || !isspace((unsigned char)s[len])); len++)
		depth += s[len] == '(' ? 1 : s[len] == ')' ? -1 : 0;
	return len;
}

static const char *nth(const char *s, unsigned int n, size_t *len)
{
	for (;; n--) {
		while (isspace((unsigned char)*s))
			s++;
		*len = operand_len(s);
		if (!*len || !n)
			return *len ? s : NULL;
		s += *len;
	}
}

unsigned int args_nr_operands(const char *operands)
{
	unsigned int n = 0;
	size_t len;

	while (n < 64 && nth(operands, n, &len))
		n++;
	return n;
}

static bool take_number(const char **s, const char *end, __u64 *v)
{
	char digits[32], *rest;
	size_t n = 0;

	while (*s + n < end && n + 1 < sizeof(digits) &&
	       (isalnum((unsigned char)(*s)[n]) || (!n && ((*s)[n] == '-' || (*s)[n] == '+'))))
		n++;
	if (!n)
		return false;
	memcpy(digits, *s, n);
	digits[n] = '\0';
	errno = 0;
	*v = *digits == '-' ? (__u64)strtoll(digits, &rest, 0) : strtoull(digits, &rest, 0);
	*s += n;
	return !*rest && !errno;
}

static bool take_register(const char **s, const char *end, __u16 *reg, __u8 *type)
{
	size_t n = 0;

	if (*s == end || **s != '%')
		return false;
	while (*s + n < end && (*s)[n] != ',' && (*s)[n] != ')')
		n++;
	if (!args_register(*s, n, reg, type))
		return false;
	*s += n;
	return true;
}

static void push_register(struct args_code *c, __u16 reg, __u8 type)
{
	args_emit(c, MEMTAP_STEP_REG, 0, reg, 0);
	if (type != 8)
		args_emit(c, MEMTAP_STEP_CAST, type, 0, 0);
}

/* (BASE,INDEX,SCALE), each may be missing; the displacement is on the stack */
static int push_address(const char *s, const char *end, struct args_code *c)
{
	__u64 scale = 1;
	__u16 reg;
	__u8 type;

	s++;
	if (s < end && *s == '%') {
		if (!take_register(&s, end, &reg, &type))
			return -EOPNOTSUPP;
		push_register(c, reg, type);
		args_emit(c, MEMTAP_STEP_ADD, 0, 0, 0);
	}
	if (s < end && *s == ',') {
		s++;
		if (!take_register(&s, end, &reg, &type))
			return -EOPNOTSUPP;
		push_register(c, reg, type);
		if (s < end && *s == ',') {
			s++;
			if (!take_number(&s, end, &scale) ||
			    (scale != 1 && scale != 2 && scale != 4 && scale != 8))
				return -EOPNOTSUPP;
		}
		args_emit(c, MEMTAP_STEP_NUMBER, 0, 0, (__u64)__builtin_ctzll(scale));
		args_emit(c, MEMTAP_STEP_SHL, 0, 0, 0);
		args_emit(c, MEMTAP_STEP_ADD, 0, 0, 0);
	}
	return s + 1 == end && *s == ')' ? 0 : -EOPNOTSUPP;
}

static int push_memory(const char *s, const char *end, __u8 type, struct args_code *c)
{
	__u64 disp = 0;
	int err;

	if (s < end && *s != '(' && !take_number(&s, end, &disp))
		return -EOPNOTSUPP;	/* of a symbol, for one */
	if (s == end || *s != '(')
		return -EOPNOTSUPP;
	args_emit(c, MEMTAP_STEP_NUMBER, 0, 0, disp);
	err = push_address(s, end, c);
	args_emit(c, MEMTAP_STEP_LOAD, type, 1, 0);
	return err;
}

/* "-4@" in front: bytes, negative with a sign; there may be none of it. */
static bool take_size(const char **s, const char *end, __u8 *type)
{
	const char *at = memchr(*s, '@', (size_t)(end - *s));
	const char *p = *s;
	bool sign = *p == '-';
	__u8 n;

	if (!at) {
		*type = 8;
		return true;
	}
	p += sign;
	n = (__u8)(*p - '0');
	if (p + 1 != at || (n != 1 && n != 2 && n != 4 && n != 8))
		return false;
	*type = sign ? n | IS_S : n;
	*s = at + 1;
	return true;
}

int args_operand(const char *operands, unsigned int n, __u8 *type, struct args_code *c)
{
	struct args_code none = { .nr = 0 };
	const char *s, *end;
	__u64 number;
	size_t len;
	__u16 reg;
	__u8 wide;

	s = nth(operands, n, &len);
	if (!s)
		return -ENOENT;
	end = s + len;
	if (!c)
		c = &none;
	if (!take_size(&s, end, type))
		return -EOPNOTSUPP;
	if (s < end && *s == '$') {
		s++;
		if (!take_number(&s, end, &number) || s != end)
			return -EOPNOTSUPP;
		args_emit(c, MEMTAP_STEP_NUMBER, 0, 0, steps_cast(number, *type));
		return 0;
	}
	if (s < end && *s == '%') {
		if (!take_register(&s, end, &reg, &wide) || s != end)
			return -EOPNOTSUPP;
		args_emit(c, MEMTAP_STEP_REG, 0, reg, 0);
		args_emit(c, MEMTAP_STEP_CAST, *type, 0, 0);
		return 0;
	}
	return push_memory(s, end, *type, c);
}

int args_operand_type(const char *operands, unsigned int n, __u8 *type)
{
	return args_operand(operands, n, type, NULL);
}
