// SPDX-License-Identifier: GPL-2.0-or-later
/* Showing what an event had. */
#include <stdio.h>

#include "session/args.h"

static int print_text(const struct steps_values *v, size_t slot, char *buf, size_t len)
{
	size_t n = 0;

#define PUT(...)	(n += (size_t)snprintf(n < len ? buf + n : NULL, n < len ? len - n : 0, \
					       __VA_ARGS__))
	PUT("\"");
	for (size_t i = 0; i < v->len[slot]; i++) {
		const unsigned char c = (unsigned char)v->text[slot][i];

		if (c == '"' || c == '\\')
			PUT("\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			PUT("\\x%02x", c);
		else
			PUT("%c", c);
	}
	PUT("\"%s", v->len[slot] == MEMTAP_MAX_TEXT ? "..." : "");
#undef PUT
	return (int)n;
}

int args_print_one(const struct args_shown *s, const struct steps_values *v, size_t slot,
		   char *buf, size_t len)
{
	const __u64 n = v->number[slot];

	if (!(v->known >> slot & 1))
		return snprintf(buf, len, "?");
	if (s->words)
		return constants_text(s->words, n, buf, len);
	switch (s->show) {
	case ARGS_TEXT:
		return print_text(v, slot, buf, len);
	case ARGS_HEX:
		return snprintf(buf, len, "0x%llx", (unsigned long long)n);
	case ARGS_BOOL:
		return snprintf(buf, len, n ? "true" : "false");
	default:
		return s->type & MEMTAP_TYPE_SIGNED ? snprintf(buf, len, "%lld", (long long)n) :
						      snprintf(buf, len, "%llu",
							       (unsigned long long)n);
	}
}

int args_print(const struct args *a, const struct steps_values *v, char *buf, size_t len)
{
	size_t n = 0;

	if (len)
		*buf = '\0';
	for (size_t i = 0; i < a->steps.nr_shown; i++) {
		n += (size_t)snprintf(n < len ? buf + n : NULL, n < len ? len - n : 0, "%s%s=",
				      i ? " " : "", a->shown[i].name);
		n += (size_t)args_print_one(&a->shown[i], v, i, n < len ? buf + n : NULL,
					    n < len ? len - n : 0);
	}
	return (int)n;
}
