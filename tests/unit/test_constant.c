// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/openreg.c ctl/base/opt_value.c ctl/elf/build_id.c ctl/elf/constant.c */
/* LINK: ctl/elf/debug.c ctl/elf/func.c ctl/elf/names.c ctl/elf/symbols.c ctl/elf/usdt.c */
/* LINK: -ldw -lelf */
/* The text that a function returns, of files that the compiler makes here. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/symbols.h"
#include "scratch.h"
#include "tap.h"

static int text_of(const char *path, bool all, char **text)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elfsym *e;
	int err = fd < 0 ? -errno : elfsym_open(fd, &e);

	*text = NULL;
	if (!err) {
		err = elfsym_constant_text(e, "known", all, text);
		elfsym_close(e);
	}
	if (fd >= 0)
		close(fd);
	return err;
}

static bool compile(const char *source, const char *how)
{
	const char *cc = getenv("CC");
	char command[512];
	FILE *f = fopen("t.c", "w");

	if (!f)
		return false;
	fputs(source, f);
	fclose(f);
	snprintf(command, sizeof(command), "%s -w %s -o t t.c 2> /dev/null", cc ? cc : "cc", how);
	return !system(command);
}

#define MAIN	"int main(void) { return 0; }\n"

#if defined(__x86_64__)
static void test_compiled(void)
{
	static const char *const ways[] = {
		"-O0", "-O2", "-O0 -fno-pie -no-pie", "-O2 -fno-pie -no-pie",
		"-O2 -fcf-protection=none",
		"-O0 -fcf-protection=full", "-O2 -fPIC -shared", "-O0 -fPIC -shared",
		"-O2 -fno-pie -no-pie -mcmodel=large", "-O1 -fsanitize=address",
		"-Os -fno-omit-frame-pointer", "-O2 -fpatchable-function-entry=5",
	};
	static const char source[] = "const char *known(void) { return \"leak:one\\nleak:two\"; }\n"
		MAIN;
	char *text;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!compile(source, ways[i])) {
			printf("# the compiler does not take %s\n", ways[i]);
			continue;
		}
		ok(!text_of("t", true, &text) && text && !strcmp(text, "leak:one\nleak:two"),
		   "found: %s", ways[i]);
		free(text);
	}
}

static void test_other_functions(void)
{
	static const struct {
		const char *source, *what;
	} cases[] = {
		{ "const char *text = \"a\"; const char *known(void) { return text; }\n" MAIN,
		  "a variable" },
		{ "char text[] = \"a\"; const char *known(void) { return text; }\n" MAIN,
		  "what can be written to" },
		{ "char text[9]; const char *known(void) { return text; }\n" MAIN,
		  "what is not in the file" },
		{ "int n; const char *known(void) { return n ? \"a\" : \"b\"; }\n" MAIN,
		  "one of two" },
		{ "int n; const char *known(void) { n++; return \"a\"; }\n" MAIN,
		  "with an effect" },
		{ "const char *known(void) { return (char *)1; }\n" MAIN, "what is nowhere" },
	};
	char *text;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ok(compile(cases[i].source, "-O2") && text_of("t", true, &text) == -EOPNOTSUPP &&
		   !text, "refused: %s", cases[i].what);
	ok(compile(MAIN, "-O2") && text_of("t", true, &text) == -ENOENT, "no such function");
	ok(compile("const char *known(void) { return \"\"; }\n" MAIN, "-O2") &&
	   text_of("t", false, &text) == -ENOENT, "nor one that is not exported");
}
#endif

static void test_bytes(void)
{
	static const struct {
		const char *code;
		size_t len;
		bool absolute;
		__u64 v;		/* 0: refused */
	} cases[] = {
#define CODE(bytes)	bytes, sizeof(bytes) - 1
		{ CODE("\x48\x8d\x05\x10\x00\x00\x00\xc3"), false, 0x1017 },
		{ CODE("\x48\x8d\x05\xf0\xff\xff\xff\xc3"), false, 0xff7 },
		{ CODE("\xf3\x0f\x1e\xfa\x48\x8d\x05\x10\x00\x00\x00\xc3"), false, 0x101b },
		{ CODE("\xb8\x00\x20\x40\x00\xc3"), true, 0x402000 },
		{ CODE("\xb8\x00\x20\x40\x00\xc3"), false, 0 },
		{ CODE("\x48\xc7\xc0\x00\x20\x40\x00\xf3\xc3"), true, 0x402000 },
		{ CODE("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08\xc3"), true, 0x807060504030201 },
		{ CODE("\x55\x48\x89\xe5\xb8\x00\x20\x40\x00\x5d\xc3"), true, 0x402000 },
		{ CODE("\x55\x48\x89\xe5\xb8\x00\x20\x40\x00\xc3"), true, 0 },
		{ CODE("\xb8\x00\x20\x40\x00\x5d\xc3"), true, 0 },
		{ CODE("\xb8\x00\x20\x40\x00"), true, 0 },
		{ CODE("\xb8\x00\x20"), true, 0 },
		{ CODE("\x48\x8b\x05\x10\x00\x00\x00\xc3"), true, 0 },	/* mov N(%rip), %rax */
		{ CODE("\x8d\x05\x10\x00\x00\x00\xc3"), true, 0 },
		{ CODE(""), true, 0 }, { CODE("\xc3"), true, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		__u64 v = 0;
		const bool is = elfsym_returns_address((const __u8 *)cases[i].code, cases[i].len,
						       0x1000, cases[i].absolute, &v);

		ok(is == !!cases[i].v && (!is || v == cases[i].v), "code %zu: 0x%llx", i,
		   (unsigned long long)v);
	}
}

int main(void)
{
	test_bytes();
#if defined(__x86_64__)
	scratch_begin();
	test_compiled();
	test_other_functions();
	is(scratch_end(), 0, "nothing is left");
#endif
	return tap_done();
}
