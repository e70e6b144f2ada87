// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/leaks/suppress.c ctl/leaks/suppress_block.c ctl/leaks/suppress_text.c */
/* FUZZ: -max_len=512 */
/*
 * Hostile suppressions of both formats, and stacks.  What is found agrees with matchers that go
 * all ways at once.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "leaks/suppress_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_NAME	512	/* FUZZ's max_len */
#define MAX_FRAMES	8

/*
 * Which beginnings of the name, by their length, the pattern up to here matches.  As
 * many steps as there are characters in both, multiplied, however many stars there are.
 */
static void go_on(bool ends[MAX_NAME + 1], char c, bool wild, const char *name, size_t len)
{
	bool any = false;

	if (c == '*') {
		for (size_t i = 0; i <= len; i++)
			ends[i] = any = any || ends[i];
		return;
	}
	for (size_t i = len; i; i--)
		ends[i] = ends[i - 1] && (name[i - 1] == c || (wild && c == '?'));
	ends[0] = false;
}

static bool lsan_expected(const char *pattern, const char *name)
{
	const size_t len = strlen(name);
	bool ends[MAX_NAME + 1] = { true };
	size_t last = strlen(pattern);

	if (*pattern == '^')
		pattern++, last--;
	else
		go_on(ends, '*', false, name, len);
	if (last && pattern[last - 1] == '$')
		last--;
	else
		last = SIZE_MAX;	/* as if it ended with a star */
	for (size_t i = 0; i < last && pattern[i]; i++)
		go_on(ends, pattern[i], false, name, len);
	if (last == SIZE_MAX)
		go_on(ends, '*', false, name, len);
	return ends[len];
}

static bool glob(const char *pattern, const char *name, size_t len)
{
	bool ends[MAX_NAME + 1] = { true };

	for (; *pattern; pattern++)
		go_on(ends, *pattern, true, name, len);
	return ends[len];
}

/* Frames have functions alone, whose names hold no '@'. */
static bool frame_expected(const struct suppress_line *l, const char *name, bool innermost)
{
	if (l->by == SUPPRESS_FUN)
		return glob(l->text, name, strlen(name)) ||
		       ((!strcmp(name, "_start") || !strcmp(name, "__libc_start_main")) &&
			glob(l->text, "(below main)", strlen("(below main)")));
	return l->by == SUPPRESS_OBJ && innermost && strstr(l->text, "vgpreload_");
}

/* ends[n]: the lines up to here match the n innermost frames. */
static bool block_expected(const struct suppress_rule *r, const struct suppress_frame *f, size_t nr)
{
	bool ends[MAX_FRAMES + 1] = { true };

	for (size_t i = 0; i < r->nr_lines; i++) {
		bool any = false;

		for (size_t n = 0; r->lines[i].by == SUPPRESS_ANY && n <= nr; n++)
			ends[n] = any = any || ends[n];
		if (r->lines[i].by == SUPPRESS_ANY)
			continue;
		for (size_t n = nr; n; n--)
			ends[n] = ends[n - 1] &&
				  frame_expected(&r->lines[i], f[n - 1].name, n == 1);
		ends[0] = false;
	}
	for (size_t n = 0; n <= nr; n++)
		if (ends[n])
			return true;
	return false;
}

static bool expected(const struct suppress_rule *r, const struct suppress_frame *f, size_t nr)
{
	if (r->lines)
		return r->kinds & 1U << LEAK_DEFINITE && block_expected(r, f, nr);
	for (size_t i = 0; i < nr; i++)
		if (lsan_expected(r->text, f[i].name))
			return true;
	return false;
}

static void compare(const struct suppress *s, const struct suppress_frame *f, size_t nr)
{
	const int found = suppress_find(s, f, nr, LEAK_DEFINITE);
	size_t i;

	for (i = 0; i < s->nr && !expected(&s->at[i], f, nr); i++)
		;
	if (found != (i < s->nr ? (int)i : -1))
		abort();
}

/* Input: names of functions, one a line, a zero byte, the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = memchr(data, 0, size);
	struct suppress_frame frames[MAX_FRAMES] = { { NULL } };
	struct suppress *s = suppress_new();
	char *names, *rest, *name, err[256];
	size_t nr = 0;
	int ret;

	if (zero && zero - data <= MAX_NAME && !memchr(data, '@', zero - data) &&
	    !memchr(data, '.', zero - data)) {
		names = rest = strdup((const char *)data);
		while (nr < MAX_FRAMES && (name = strsep(&rest, "\n")))
			frames[nr++].name = name;
		ret = suppress_add(s, (const char *)zero + 1, data + size - zero - 1, err);
		if (!ret != !*err)
			abort();
		compare(s, frames, nr);
		free(names);
	}
	suppress_free(s);
	return 0;
}
