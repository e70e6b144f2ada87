// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/session/symbols.c */
/* FUZZ: -max_len=2048 */
/* The "print fmt" of a tracepoint: a name that is found fits, and a value gets a text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "session/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Input: 8 bytes of a value, then the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct symbols s;
	char *text, buf[64];
	__u64 value;

	if (size < sizeof(value))
		return 0;
	memcpy(&value, data, sizeof(value));
	size -= sizeof(value);
	text = malloc(size + 1);
	memcpy(text, data + sizeof(value), size);
	text[size] = '\0';
	if (symbols_parse(text, "flags", &s)) {
		if (!s.nr || s.nr > SYMBOLS_MAX)
			abort();
		for (size_t i = 0; i < s.nr; i++)
			if (!memchr(s.at[i].name, 0, SYMBOLS_NAME) || !s.at[i].name[0])
				abort();
		symbols_text(&s, value, buf, sizeof(buf));
		if (!memchr(buf, 0, sizeof(buf)))
			abort();
	}
	free(text);
	return 0;
}
