// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the arguments of an event. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "session/args.h"
#include "session/symbols.h"

/* Addresses from here on are the kernel's; nothing is counted up to there. */
#define KERNEL_HALF	0xffff000000000000ULL

/* As snprintf("%s") does; this is done for each of millions of events. */
static int print_word(const char *word, char *buf, size_t len)
{
	const size_t n = strlen(word), fits = !len ? 0 : n < len ? n : len - 1;

	if (len) {
		memcpy(buf, word, fits);
		buf[fits] = '\0';
	}
	return (int)n;
}

static int print_signed(__s64 v, char *buf, size_t len)
{
	if (v >= 0)
		return text_number(buf, len, (__u64)v, 10, 0, 0);
	print_word("-", buf, len);
	return 1 + text_number(len > 1 ? buf + 1 : NULL, len > 1 ? len - 1 : 0, -(__u64)v, 10, 0,
			       0);
}

static int print_hex(__u64 v, char *buf, size_t len)
{
	print_word("0x", buf, len);
	return 2 + text_number(len > 2 ? buf + 2 : NULL, len > 2 ? len - 2 : 0, v, 16, 0, 0);
}

static int print_text(const struct steps_values *v, size_t slot, __u32 max, char *buf, size_t len)
{
	size_t n = 0;

#define PUT(...)	(n += (size_t)snprintf(n < len ? buf + n : NULL, n < len ? len - n : 0, \
					       __VA_ARGS__))
	PUT("\"");
	for (size_t i = 0; i < v->len[slot]; i++) {
		const unsigned char c = (unsigned char)steps_text(v, (__u32)slot)[i];

		if (c == '"' || c == '\\')
			PUT("\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			PUT("\\x%02x", c);
		else
			PUT("%c", c);
	}
	PUT("\"%s", v->len[slot] == max ? "..." : "");
#undef PUT
	return (int)n;
}

static int print_symbol(const struct args_shown *s, __u64 addr, const struct args_namer *namer,
			char *buf, size_t len)
{
	const int n = namer ? namer->name(namer->ctx, s->user, addr, buf, len) : 0;

	return n > 0 ? n : print_hex(addr, buf, len);
}

/* The numbers that have so many bits. */
static int print_step(__s64 bits, char *buf, size_t len)
{
	const __u64 n = bits < 0 ? 0 - (__u64)bits : (__u64)bits;
	const __u64 low = bits ? 1ULL << ((n - 1) & 63) : 0;

	if (!bits)
		return snprintf(buf, len, "0");
	if (bits > 0)
		return snprintf(buf, len, "%llu -> %llu", (unsigned long long)low,
				(unsigned long long)(low - 1 + low));
	return snprintf(buf, len, "-%llu -> -%llu", (unsigned long long)(low - 1 + low),
			(unsigned long long)low);
}

int args_print_one(const struct args_shown *s, const struct steps_values *v, size_t slot,
		   const struct args_namer *namer, char *buf, size_t len)
{
	const __u64 n = v->number[slot];

	if (!(v->known >> slot & 1))
		return print_word("?", buf, len);
	if (s->words)
		return constants_text(s->words, n, buf, len);
	if (s->symbols)
		return symbols_text(s->symbols, n, buf, len);
	switch (s->show) {
	case ARGS_TEXT:
		return print_text(v, slot, s->text_max ? s->text_max : MEMTAP_MAX_TEXT, buf, len);
	case ARGS_LOG2:
		return print_step((__s64)n, buf, len);
	case ARGS_SYM:
		return print_symbol(s, n, namer, buf, len);
	case ARGS_HEX:
		return print_hex(n, buf, len);
	case ARGS_BOOL:
		return print_word(n ? "true" : "false", buf, len);
	default:
		if (s->type & MEMTAP_TYPE_SIGNED)
			return print_signed((__s64)n, buf, len);
		return n >= KERNEL_HALF ? print_hex(n, buf, len) :
					  text_number(buf, len, n, 10, 0, 0);
	}
}

bool args_has_symbols(const struct args *a, bool user)
{
	for (size_t i = 0; i < a->steps.nr_shown; i++)
		if (a->shown[i].show == ARGS_SYM && a->shown[i].user == user)
			return true;
	return false;
}

int args_print(const struct args *a, const struct steps_values *v, const struct args_namer *namer,
	       char *buf, size_t len)
{
	size_t n = 0;

	if (len)
		*buf = '\0';
#define REST	n < len ? buf + n : NULL, n < len ? len - n : 0
	for (size_t i = 0; i < a->steps.nr_shown; i++) {
		if (i)
			n += (size_t)print_word(" ", REST);
		n += (size_t)print_word(a->shown[i].name, REST);
		n += (size_t)print_word("=", REST);
		n += (size_t)args_print_one(&a->shown[i], v, i, namer, REST);
	}
#undef REST
	return (int)n;
}
