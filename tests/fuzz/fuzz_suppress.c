// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/leaks/suppress.c */
/* FUZZ: -max_len=512 */
/*
 * Anybody's list of patterns, and names.  What is found agrees with a matcher
 * that goes all ways at once.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "leaks/suppress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_NAME	512	/* FUZZ's max_len */

/*
 * Which beginnings of the name, by their length, the pattern up to here matches.  As
 * many steps as there are characters in both, multiplied, however many stars there are.
 */
static void go_on(bool ends[MAX_NAME + 1], char c, const char *name, size_t len)
{
	bool any = false;

	if (c == '*') {
		for (size_t i = 0; i <= len; i++)
			ends[i] = any = any || ends[i];
		return;
	}
	for (size_t i = len; i; i--)
		ends[i] = ends[i - 1] && name[i - 1] == c;
	ends[0] = false;
}

static bool expected(const char *pattern, const char *name)
{
	const size_t len = strlen(name);
	bool ends[MAX_NAME + 1] = { true };
	size_t last = strlen(pattern);

	if (*pattern == '^')
		pattern++, last--;
	else
		go_on(ends, '*', name, len);
	if (last && pattern[last - 1] == '$')
		last--;
	else
		last = SIZE_MAX;	/* as if it ended with a star */
	for (size_t i = 0; i < last && pattern[i]; i++)
		go_on(ends, pattern[i], name, len);
	if (last == SIZE_MAX)
		go_on(ends, '*', name, len);
	return ends[len];
}

/* Input: a name, a zero byte, the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = memchr(data, 0, size);
	struct suppress *s = suppress_new();
	const char *name = (const char *)data;
	char err[256];
	int found, ret;

	if (zero && zero - data <= MAX_NAME) {
		ret = suppress_add(s, (const char *)zero + 1, data + size - zero - 1, err);
		if (!ret != !*err)
			abort();
		found = suppress_find(s, name);
		if (found >= (int)suppress_nr(s))
			abort();
		for (size_t i = 0; i < suppress_nr(s); i++) {
			const char *p = suppress_pattern(s, i);
			const bool was = found >= 0 && i >= (size_t)found;

			if (was && i > (size_t)found)
				continue;
			if (expected(p, name) != was)
				abort();
		}
	}
	suppress_free(s);
	return 0;
}
