// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/leaks/suppress.c */
/* Suppressions: which lines are taken, and what their patterns are found in. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leaks/suppress.h"
#include "tap.h"

static char err[256];

static bool found(const char *pattern, const char *name)
{
	struct suppress *s = suppress_new();
	char line[256];
	bool is;

	snprintf(line, sizeof(line), "leak:%s", pattern);
	if (suppress_add(s, line, strlen(line), err))
		fprintf(stderr, "# %s\n", err);
	is = suppress_find(s, name) == 0;
	suppress_free(s);
	return is;
}

static void test_patterns(void)
{
	static const struct {
		const char *pattern, *name;
		bool is;
	} cases[] = {
		{ "foo", "foo", true }, { "foo", "a_foo_b", true }, { "foo", "fo", false },
		{ "^foo", "foobar", true }, { "^foo", "afoo", false },
		{ "foo$", "afoo", true }, { "foo$", "foob", false },
		{ "foo$", "foofoo", true }, { "^foo$", "foo", true },
		{ "^foo$", "foofoo", false }, { "^foo$", "fo", false },
		{ "a*b", "xaxxby", true }, { "a*b", "ba", false }, { "a*b", "ab", true },
		{ "^a*b$", "ab", true }, { "^a*b$", "abbb", true }, { "^a*b$", "abc", false },
		{ "^a*a$", "a", false }, { "^ab*ba$", "aba", false },
		{ "^*foo", "xfoo", true }, { "foo*$", "foobar", true },
		{ "*", "", true }, { "^$", "", true }, { "^$", "a", false },
		{ "$", "a", true }, { "^", "a", true }, { "a**b", "a-b", true },
		{ "a*b*c", "a-c-b", false }, { "a*b*c", "a-b-c", true },
		{ "a^b", "xa^by", true }, { "a$b", "a$b", true },
		{ "operator new", "operator new(unsigned long)", true },
		{ "libc.so.6", "/usr/lib/libc.so.6", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ok(found(cases[i].pattern, cases[i].name) == cases[i].is,
		   "%s is %sfound in \"%s\"", cases[i].pattern, cases[i].is ? "" : "not ",
		   cases[i].name);
}

static void test_lines(void)
{
	static const char text[] = "# a comment\n\n  leak:one \r\n\tleak:two\n #leak:three\n"
		"leak:*x";
	struct suppress *s = suppress_new();

	is(suppress_add(s, text, strlen(text), err), 0, "lines are taken");
	is(suppress_nr(s), 3, "but comments and empty ones");
	ok(suppress_nr(s) == 3 && !strcmp(suppress_pattern(s, 0), "one") &&
	   !strcmp(suppress_pattern(s, 1), "two") && !strcmp(suppress_pattern(s, 2), "*x"),
	   "without the blanks around them");
	is(suppress_find(s, "twox"), 1, "the first one that is found counts");
	is(suppress_find(s, "other"), -1, "what none of them says is not found");
	is(suppress_find(s, NULL), -1, "nor is no name at all");
	suppress_free(s);
	is(suppress_find(NULL, "name"), -1, "without a list nothing is");
}

static void refused(const char *text, size_t len, const char *why)
{
	struct suppress *s = suppress_new();

	is(suppress_add(s, text, len, err), -EINVAL, "refused: %s", why);
	ok(!strcmp(err, why), "and says so: %s", err);
	suppress_free(s);
}

static void test_bad_lines(void)
{
	refused("leak:a\nrace:b\n", 14, "line 2: write leak:PATTERN, or # and a comment");
	refused("leak: \n", 7, "line 1: there is no pattern behind leak:");
	refused("\n\nlea", 5, "line 3: write leak:PATTERN, or # and a comment");
	refused("leak:a\0b\n", 9, "line 1: it has a zero byte: this is no text");
}

static void test_files(void)
{
	struct suppress *s = suppress_new();
	char path[] = "/tmp/test_suppress.XXXXXX";
	int fd = mkstemp(path);

	if (!ok(fd >= 0 && write(fd, "leak:a\nb\n", 9) == 9, "a file is made"))
		return;
	close(fd);
	is(suppress_add_file(s, path, err), -EINVAL, "a bad line of a file is refused");
	ok(strstr(err, path) == err && strstr(err, ": line 2: "), "with file and line: %s", err);
	unlink(path);
	is(suppress_add_file(s, path, err), -ENOENT, "so is a file that is not there");
	ok(strstr(err, "No such file"), "which it says: %s", err);
	is(suppress_add_file(s, "/dev/zero", err), -EFBIG, "one without end is not read on");
	suppress_free(s);
}

int main(void)
{
	test_patterns();
	test_lines();
	test_bad_lines();
	test_files();
	return tap_done();
}
