// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/leaks/suppress.c ctl/leaks/suppress_block.c ctl/leaks/suppress_text.c */
/* Suppressions: which lines are taken, and what their patterns are found in. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leaks/suppress.h"
#include "tap.h"

static char err[256];

/* The suppression of what a function allocated that has this name. */
static int find(const struct suppress *s, const char *name)
{
	const struct suppress_frame frame = { .name = name };

	return suppress_find(s, &frame, 1, LEAK_UNKNOWN);
}

static bool found(const char *pattern, const char *name)
{
	struct suppress *s = suppress_new();
	char line[256];
	bool is;

	snprintf(line, sizeof(line), "leak:%s", pattern);
	if (suppress_add(s, line, strlen(line), err))
		fprintf(stderr, "# %s\n", err);
	is = find(s, name) == 0;
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
	is(find(s, "twox"), 1, "the first one that is found counts");
	is(find(s, "other"), -1, "what none of them says is not found");
	is(find(s, NULL), -1, "nor is no name at all");
	suppress_free(s);
	is(find(NULL, "name"), -1, "without a list nothing is");
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
	refused("leak:a\nrace:b\n", 14, "line 2: write leak:PATTERN, Valgrind's { ... }, or # and "
		"a comment");
	refused("leak: \n", 7, "line 1: there is no pattern behind leak:");
	refused("\n\nlea", 5, "line 3: write leak:PATTERN, Valgrind's { ... }, or # and "
		"a comment");
	refused("leak:a\0b\n", 9, "line 1: it has a zero byte: this is no text");
}

/* ---- Valgrind's ---- */

#define MALLOC	{ .name = "malloc", .object = "libc.so.6", .path = "/lib/libc.so.6" }

static const struct suppress_frame stack[] = {
	MALLOC,
	{ .name = "ns::Shelf::lend(int)", .linkage = "_ZN2ns5Shelf4lendEi",
	  .file = "/src/library.cc", .line = 24, .object = "library", .path = "/opt/library" },
	{ .object = "libstdc++.so.6.0.30", .path = "/lib/libstdc++.so.6.0.30" },
	{ .name = "main", .file = "/src/library.cc", .line = 70, .object = "library",
	  .path = "/opt/library" },
	{ .name = "__libc_start_call_main", .object = "libc.so.6", .path = "/lib/libc.so.6" },
};

static const struct suppress_frame new_stack[] = {
	MALLOC,
	{ .name = "operator new(unsigned long)", .linkage = "_Znwm" },
	{ .name = "ns::Shelf::lend(int)", .linkage = "_ZN2ns5Shelf4lendEi" },
};

static int block_of(const char *lines, enum leak_kind kind, const struct suppress_frame *of,
		    size_t nr)
{
	struct suppress *s = suppress_new();
	char text[512];
	int ret;

	snprintf(text, sizeof(text), "{\n  a name\n  Memcheck:Leak\n%s\n}\n", lines);
	ret = suppress_add(s, text, strlen(text), err);
	if (ret)
		fprintf(stderr, "# %s\n", err);
	else
		ret = suppress_find(s, of, nr, kind);
	suppress_free(s);
	return ret;
}

static int block(const char *lines, enum leak_kind kind)
{
	return block_of(lines, kind, stack, sizeof(stack) / sizeof(stack[0]));
}

/* Below Valgrind's operator new there is no malloc, and new[] is not a jump to new. */
static void test_new(void)
{
	static const struct {
		const char *lines;
		bool is;
	} cases[] = {
		{ "fun:_Znwm\nfun:_ZN2ns*", true }, { "fun:_Znam\nfun:_ZN2ns*", true },
		{ "fun:_Zn*\nfun:_ZN2ns*", true }, { "fun:malloc\nfun:_Znwm\nfun:_ZN2ns*", true },
		{ "fun:_Zdlpv\nfun:_ZN2ns*", false }, { "fun:malloc\nfun:_ZN2ns*", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is(block_of(cases[i].lines, LEAK_DEFINITE, new_stack, 3), cases[i].is ? 0 : -1,
		   "new is %s: %s", cases[i].is ? "suppressed" : "not suppressed",
		   cases[i].lines);
}

static void test_frames(void)
{
	static const struct {
		const char *lines;
		bool is;
	} cases[] = {
		{ "fun:malloc", true }, { "fun:main", false }, { "fun:mallo", false },
		{ "fun:m?lloc", true }, { "fun:mal*", true }, { "fun:*\nfun:*", true },
		{ "fun:*\nfun:*\nfun:*", false }, { "fun:*\n...\nobj:*\nfun:main", true },
		{ "fun:malloc\nfun:_ZN2ns5Shelf4lendEi", true },
		{ "fun:malloc\nfun:_ZN2ns*", true },
		{ "fun:malloc\nfun:ns::Shelf::lend(int)", true },
		{ "...\nfun:main", true }, { "...\nfun:malloc\nfun:main", false },
		{ "fun:malloc\n...\nfun:main\n...", true }, { "...\nfun:nothing", false },
		{ "...\nfun:malloc\n...\n...\nfun:main\nfun:(below main)", true },
		{ "fun:malloc\n...\nfun:(below main)\nfun:*", false },
		{ "...\nobj:/lib/libstdc++.so*\nfun:main", true },
		{ "...\nobj:libstdc++.so*", false }, { "obj:*/vgpreload_memcheck-*.so", true },
		{ "obj:*/vgpreload_memcheck-*.so\nfun:_ZN2ns*", true },
		{ "fun:malloc\nobj:*/vgpreload_memcheck-*.so", false },
		{ "fun:malloc\nsrc:library.cc", true }, { "fun:malloc\nsrc:library.cc:24", true },
		{ "fun:malloc\nsrc:library.cc:25", false }, { "fun:malloc\nsrc:/src/*", true },
		{ "fun:malloc\n...\nfun:*\nfun:*\nfun:*\nfun:*\nfun:*", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is(block(cases[i].lines, LEAK_DEFINITE), cases[i].is ? 0 : -1, "a stack is %s: %s",
		   cases[i].is ? "suppressed" : "not suppressed", cases[i].lines);
}

static void test_kinds(void)
{
	static const char two[] = "match-leak-kinds: definite,reachable\nfun:malloc";

	is(block(two, LEAK_DEFINITE), 0, "a kind that is named is suppressed");
	is(block(two, LEAK_REACHABLE), 0, "so is another one");
	is(block(two, LEAK_POSSIBLE), -1, "but not the others");
	is(block(two, LEAK_UNKNOWN), 0, "what may be lost, if lost blocks are");
	is(block("match-leak-kinds: reachable\nfun:malloc", LEAK_UNKNOWN), -1,
	   "and not if reachable ones are");
	is(block("match-leak-kinds: all\nfun:malloc", LEAK_INDIRECT), 0, "all are all");
	is(block("match-leak-kinds: none\nfun:malloc", LEAK_DEFINITE), -1, "none are none");
	is(block("fun:malloc", LEAK_REACHABLE), 0, "all, where nothing is said");
	is(block("match-leak-kinds: lost\nfun:malloc", LEAK_DEFINITE), -EINVAL,
	   "other words are refused");
}

static void test_blocks(void)
{
	static const char text[] = "# of two tools\n{\n\tcond\n\tMemcheck:Cond\n\tfun:foo\n}\n"
		"leak:one\n"
		"{\n <name> of it\n  Addrcheck,Memcheck:Leak\n # a comment\n\n fun:two\n}\n"
		"{\n param\n Memcheck:Param\n write(buf)\n fun:x\n}\n"
		"{\n other\n Helgrind:Leak\n fun:y\n}\n"
		"{\n wrong\n Memcheck:Free\n fun:three\n}\n";
	static const struct suppress_frame two = { .name = "two" }, three = { .name = "three" },
		one = { .name = "one" };
	const char *kind;
	struct suppress *s = suppress_new();

	is(suppress_add(s, text, strlen(text), err), 0, "both formats are taken in one text");
	is(suppress_nr(s), 3, "of Valgrind's only those of leaks and frees");
	is(suppress_skipped(s, &kind), 3, "others are counted");
	ok(!strcmp(kind, "Memcheck:Cond"), "and the first one is named");
	ok(suppress_has_kinds(s), "which look at kinds");
	ok(suppress_nr(s) == 3 && !strcmp(suppress_pattern(s, 1), "<name> of it"),
	   "they are called by their names");
	is(suppress_find(s, &two, 1, LEAK_DEFINITE), 1, "and found in their order");
	is(suppress_find(s, &two, 0, LEAK_DEFINITE), -1, "but in no stack without frames");
	is(suppress_find(s, &three, 1, SUPPRESS_FREE), 2, "Memcheck:Free suppresses a free");
	is(suppress_find(s, &three, 1, LEAK_DEFINITE), -1, "and no leak");
	is(suppress_find(s, &three, 1, LEAK_UNKNOWN), -1, "of no kind");
	is(suppress_find(s, &two, 1, SUPPRESS_FREE), -1, "Memcheck:Leak suppresses no free");
	is(suppress_find(s, &one, 1, SUPPRESS_FREE), -1, "nor does leak:");
	suppress_free(s);
}

static void test_bad_blocks(void)
{
	static const struct { const char *text, *why; } cases[] = {
		{ "{\n a\n Memcheck:Leak\n fun:x\n",
		  "line 4: the text ends, and a suppression has no } yet" },
		{ "{\n}\n", "line 2: a suppression begins with a line for its name" },
		{ "{\n a\n}\n", "line 3: behind the name stands TOOL:KIND, as Memcheck:Leak" },
		{ "{\n a\n fun:x\n}\nleak:", "line 5: there is no pattern behind leak:" },
		{ "{\n a\n Leak\n}\n", "line 3: write TOOL:KIND, as Memcheck:Leak" },
		{ "{\n a\n Memcheck:Leak\n}\n", "line 4: a suppression has no frame" },
		{ "{\n a\n Memcheck:Leak\n function:x\n}\n",
		  "line 4: write fun:NAME, obj:PATH, src:FILE or ... for a frame" },
		{ "{\n a\n Memcheck:Leak\n fun:\n}\n", "line 4: there is no pattern behind the "
		  "colon" },
		{ "{\n a\n Memcheck:Leak\n match-leak-kinds: x\n fun:a\n}\n",
		  "line 4: match-leak-kinds: has definite, indirect, possible, reachable, all and "
		  "none" },
		{ "{\n a\n Memcheck:Leak\n fun:a\n match-leak-kinds: all\n}\n",
		  "line 5: write fun:NAME, obj:PATH, src:FILE or ... for a frame" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(cases[i].text, strlen(cases[i].text), cases[i].why);
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
	test_frames();
	test_new();
	test_kinds();
	test_blocks();
	test_bad_blocks();
	test_files();
	return tap_done();
}
