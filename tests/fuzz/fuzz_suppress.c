// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/suppress.c */
/* FUZZ: -max_len=512 */
/*
 * Anybody's list of patterns, and names.  What is found agrees with a matcher
 * that tries all ways.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "suppress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* '^' was taken off the pattern; @end: '$' too. */
static bool all_ways(const char *p, size_t len, bool end, const char *name, int depth)
{
	if (!len)
		return !end || !*name;
	if (*p == '*') {
		for (;; name++) {
			if (all_ways(p + 1, len - 1, end, name, depth + 1))
				return true;
			if (!*name)
				return false;
		}
	}
	return *name == *p && all_ways(p + 1, len - 1, end, name + 1, depth);
}

static bool expected(const char *pattern, const char *name)
{
	size_t len = strlen(pattern);
	bool start = *pattern == '^', end = len > start && pattern[len - 1] == '$';

	pattern += start;
	len -= start + end;
	if (start)
		return all_ways(pattern, len, end, name, 0);
	for (;; name++) {
		if (all_ways(pattern, len, end, name, 0))
			return true;
		if (!*name)
			return false;
	}
}

static bool has_few_stars(const char *pattern)
{
	int n = 0;

	for (; *pattern; pattern++)
		n += *pattern == '*';
	return n < 4;
}

/* Input: a name, a zero byte, the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = memchr(data, 0, size);
	struct suppress *s = suppress_new();
	const char *name = (const char *)data;
	char err[256];
	int found, ret;

	if (zero) {
		ret = suppress_add(s, (const char *)zero + 1, data + size - zero - 1, err);
		if (!ret != !*err)
			abort();
		found = suppress_find(s, name);
		if (found >= (int)suppress_nr(s))
			abort();
		for (size_t i = 0; i < suppress_nr(s); i++) {
			const char *p = suppress_pattern(s, i);
			const bool was = found >= 0 && i >= (size_t)found;

			if (!has_few_stars(p) || (was && i > (size_t)found))
				continue;
			if (expected(p, name) != was)
				abort();
		}
	}
	suppress_free(s);
	return 0;
}
