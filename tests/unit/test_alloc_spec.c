// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/alloc/spec.c */
#include <errno.h>
#include <string.h>

#include "alloc/alloc.h"
#include "tap.h"

#define NONE	MEMTAP_ARG_NONE
#define RET	MEMTAP_ARG_RETURN

static void test_good(void)
{
	static const struct {
		const char *text;
		bool frees;
		const char *path, *function;
		__u32 op;
		__u8 size, size2, ptr, result;
	} cases[] = {
		{ "/usr/lib/libpool.so:pool_get(size=arg2,ptr=ret)", false,
		  "/usr/lib/libpool.so", "pool_get", MEMTAP_HEAP_ALLOC, 1, NONE, NONE, RET },
		{ "pool:grab(ptr=*arg1,size=arg3)", false, "pool", "grab",
		  MEMTAP_HEAP_ALLOC, 2, NONE, NONE, 0 },
		{ "grab(size=arg6,ptr=ret)", false, "", "grab", MEMTAP_HEAP_ALLOC,
		  5, NONE, NONE, RET },
		{ ":grab(size=arg1*arg2,ptr=ret)", false, "", "grab", MEMTAP_HEAP_ALLOC,
		  0, 1, NONE, RET },
		{ "p:resize(old=arg1,size=arg2,ptr=ret)", false, "p", "resize",
		  MEMTAP_HEAP_REALLOC, 1, NONE, 0, RET },
		{ "ns::pool::get(size=arg2,ptr=ret)", false, "", "ns::pool::get",
		  MEMTAP_HEAP_ALLOC, 1, NONE, NONE, RET },
		{ "lib.so:ns::get(size=arg2,ptr=ret)", false, "lib.so", "ns::get",
		  MEMTAP_HEAP_ALLOC, 1, NONE, NONE, RET },
		{ "pool:put(ptr=arg2)", true, "pool", "put", MEMTAP_HEAP_FREE,
		  NONE, NONE, 1, NONE },
	};
	struct alloc_spec s;
	char err[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		err[0] = '\0';
		if (!is(alloc_spec_parse(cases[i].text, cases[i].frees, &s, err), 0,
			"'%s' is understood: %s", cases[i].text, err))
			continue;
		ok(!strcmp(s.path, cases[i].path) &&
		   !strcmp(s.function, cases[i].function) && s.op == cases[i].op &&
		   s.size_arg == cases[i].size && s.size2_arg == cases[i].size2 &&
		   s.ptr_arg == cases[i].ptr && s.result_arg == cases[i].result,
		   "and as it was meant: '%s' '%s'", s.path, s.function);
	}
}

/* Each sentence names what is wrong, and what is right in its place. */
static void test_bad(void)
{
	static const struct {
		const char *text;
		bool frees;
		const char *says;
	} cases[] = {
		{ "", false, "size=arg1,ptr=ret" },
		{ "pool:get", false, "PATH:FUNCTION(size=arg1,ptr=ret)" },
		{ "pool:put", true, "PATH:FUNCTION(ptr=arg1)" },
		{ "pool:(size=arg1,ptr=ret)", false, "no function" },
		{ "f()", false, "is not one of size=argN" },
		{ "f(size=arg1)", false, "the block's address is missing" },
		{ "f(ptr=ret)", false, "the size is missing" },
		{ "f(size=arg7,ptr=ret)", false, "arg1 to arg6" },
		{ "f(size=arg0,ptr=ret)", false, "arg1 to arg6" },
		{ "f(size=arg12,ptr=ret)", false, "arg1 to arg6" },
		{ "f(size=8,ptr=ret)", false, "arg1 to arg6" },
		{ "f(size=arg1,size=arg2,ptr=ret)", false, "twice" },
		{ "f(size=arg1,ptr=ret,ptr=ret)", false, "twice" },
		{ "f(old=arg1,old=arg2,size=arg3,ptr=ret)", false, "twice" },
		{ "f(size=arg1,ptr=arg2)", false, "*argN" },
		{ "f(size=arg1;ptr=ret)", false, "should be ',' or ')'" },
		{ "f(size=arg1,ptr=ret", false, "the ')' at the end" },
		{ "f(size=arg1,ptr=ret) ", false, "after the ')'" },
		{ "f(size=arg1,ptr=ret)", true, "size= is for --alloc" },
		{ "f(old=arg1)", true, "old= is for --alloc" },
		{ "f(ptr=ret)", true, "arg1 to arg6" },
		{ "f(ptr=arg1,ptr=arg2)", true, "twice" },
	};
	struct alloc_spec s;
	char err[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		err[0] = '\0';
		is(alloc_spec_parse(cases[i].text, cases[i].frees, &s, err), -EINVAL,
		   "'%s' is refused", cases[i].text);
		ok(strstr(err, cases[i].says), "for the reason: %s", err);
	}
}

static void test_long(void)
{
	char text[600], err[256];
	struct alloc_spec s;

	memset(text, 'x', sizeof(text));
	memcpy(text + 255, ":f(ptr=arg1)", sizeof(":f(ptr=arg1)"));
	is(alloc_spec_parse(text, true, &s, err), 0, "a path may have 255 bytes");
	memset(text, 'x', sizeof(text));
	memcpy(text + 256, ":f(ptr=arg1)", sizeof(":f(ptr=arg1)"));
	is(alloc_spec_parse(text, true, &s, err), -EINVAL, "and not 256");
	ok(strstr(err, "path is longer than 255"), "which is said: %s", err);
	memset(text, 'x', sizeof(text));
	memcpy(text + 128, "(ptr=arg1)", sizeof("(ptr=arg1)"));
	is(alloc_spec_parse(text, true, &s, err), -EINVAL,
	   "nor may a function's name have 128");
}

int main(void)
{
	test_good();
	test_bad();
	test_long();
	return tap_done();
}
