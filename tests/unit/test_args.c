// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/session/args.c ctl/session/args_term.c ctl/session/args_expr.c */
/* LINK: ctl/session/args_member.c ctl/elf/btf.c */
/* LINK: ctl/session/symbols.c */
/* LINK: ctl/base/constants.c ctl/base/text.c kmod/core/names.c */
/* LINK: ctl/session/args_print.c ctl/session/args_usdt.c ctl/session/format.c */
/* LINK: kmod/core/steps.c */
/* From the text of arguments and filters to what an event then has. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "session/args_int.h"
#include "session/symbols.h"
#include "steps_world.h"
#include "tap.h"

#define is_str(got, want, ...) same_text(got, want, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 4, 5)))
static void same_text(const char *got, const char *want, int line, const char *name, ...)
{
	va_list ap;

	va_start(ap, name);
	tap_result(!strcmp(got, want), name, ap);
	va_end(ap);
	if (strcmp(got, want))
		fprintf(stderr, "# line %d:\n#    got: %s\n# wanted: %s\n", line, got, want);
}

static const char mm_page_alloc[] =
	"name: mm_page_alloc\nID: 463\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int order;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:int migratetype;\toffset:20;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:const void * ptr;\toffset:48;\tsize:8;\tsigned:0;\n"
	"\tfield:bool huge;\toffset:56;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned long many[4];\toffset:64;\tsize:32;\tsigned:0;\n"
	"\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long gfp_flags;\toffset:80;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long where;\toffset:48;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"field:int not;offset:1;size:4;\", (REC->gfp_flags) ? "
	"__print_flags(REC->gfp_flags, \"|\", {(unsigned long)(0x400u | 0x800u), "
	"\"GFP_KERNEL\"}, {(1UL << 8), \"__GFP_ZERO\"}) : \"none\"\n";

static struct format format, end_format;
static char end_record[32];
static struct args a;
static char err[ARGS_ERR];
static char page[256];
static char record[128];

static void set_record(void)
{
	const __u64 pfn = 0x12345, ptr = 0xffff888000001000ULL, gfp = 0x10d00;
	const __u32 order = 3, loc = 100 | 6 << 16;
	const __s32 type = -2;

	memcpy(record + 8, &pfn, 8);
	memcpy(record + 80, &gfp, 8);
	memcpy(record + 16, &order, 4);
	memcpy(record + 20, &type, 4);
	strcpy(record + 24, "kswapd0");
	memcpy(record + 40, &loc, 4);
	memcpy(record + 48, &ptr, 8);
	record[56] = 1;
	strcpy(record + 100, "slab-");
}

static struct steps_world world(void)
{
	struct steps_world w = {
		.args = { 10, (__u64)-5, 0x10010, 0x10020, 0x99999, 6 },
		.ret = (__u64)-12,
		.record = record, .record_len = 106,
		.comm = "worker",
		.base = 0x10000, .memory = { page, page }, .memory_len = sizeof(page),
	};

	w.facts[MEMTAP_FACT_PID] = 42;
	w.facts[MEMTAP_FACT_LATENCY] = 777;
	w.facts[MEMTAP_FACT_FREE] = 4096;
	w.facts[MEMTAP_FACT_NODE] = 1;
	w.regs[0] = 0x1234567890;
	w.regs[6] = 0x10080;
	return w;
}

static const struct args_source kernel = { STEPS_FUNCTION | STEPS_KERNEL, NULL, NULL, "k:f" };
static const struct args_source ret = {
	STEPS_FUNCTION | STEPS_KERNEL | STEPS_RETURN, NULL, NULL, "kr:f"
};
static const struct args_source user = { STEPS_FUNCTION, NULL, NULL, "u:f" };
static const struct args_source tracepoint = { STEPS_RECORD, &format, NULL, "kmem:x" };
static const struct args_source pair = {
	STEPS_RECORD | STEPS_PAIR, &format, NULL, "x:b..x:e", &end_format
};
static const struct args_source builtin = { STEPS_VALUE, NULL, NULL, "fault" };

/* What the event shows; "-": filtered; or what is wrong. */
static const char *shows(const struct args_source *src, const char *list, const char *filter)
{
	const struct args_ask ask = { .list = list, .filter = filter };
	static char text[1024];
	struct steps_values v = { 0 };
	struct steps_world w = world();
	unsigned char packed[STEPS_PACKED_MAX];
	struct steps_values kept = { 0 };
	const struct steps *s = &a.steps;
	u32 len;

	if (args_compile(src, &ask, &a, err))
		return err;
	if (!steps_run(s, 0, s->nr_entry, &v, &w))
		return "-";
	/* what the entry kept is all that the return has */
	len = steps_pack(s, &v, s->kept_entry, packed);
	if (len > steps_packed_max(s, s->kept_entry) ||
	    !steps_unpack(s, &kept, s->kept_entry, v.known, packed, len))
		return "packed wrongly";
	if (src->end) {
		w.record = end_record;
		w.record_len = sizeof(end_record);
	}
	if (!steps_run(s, s->nr_entry, s->nr, &kept, &w))
		return "-";
	args_print(&a, &kept, NULL, text, sizeof(text));
	return text;
}

static void test_format(void)
{
	const struct format_field *f = format_find(&format, "migratetype", 11);

	is(format.nr, 11, "a format's fields are found, without those of all, nor the text");
	ok(f && f->offset == 20 && f->size == 4 && f->is_signed, "with place, size and sign");
	ok(!format_find(&format, "migrate", 7) && !format_find(&format, "common_pid", 10),
	   "a part of a name is none");
	f = format_find(&format, "many", 4);
	ok(f && f->kind == FORMAT_OTHER, "an array of numbers is something else");
}

static void test_functions(void)
{
	is_str(shows(&kernel, "arg1", NULL), "arg1=10", "an argument");
	is_str(shows(&kernel, "n=arg2:s32, u=arg2:u8", NULL), "n=-5 u=251", "with its types");
	is_str(shows(&kernel, "p=arg3:ptr,b=arg1:bool", NULL), "p=0x10010 b=true",
	       "pointers and booleans");
	is_str(shows(&kernel, "v=*(arg3+16):u32", NULL), "v=1953719668", "what lies there");
	is_str(shows(&kernel, "v=*arg5", NULL), "v=?", "memory that is not there");
	is_str(shows(&kernel, "s=arg4:str", NULL), "s=\"test\"", "a string");
	is_str(shows(&kernel, "s=*(arg3-16):str", NULL), "s=\"test\"", "one behind a pointer");
	is_str(shows(&kernel, "s=arg5:ustr", NULL), "s=?", "a string that is not there");
	is_str(shows(&kernel, "eax, rax", NULL), "eax=878082192 rax=78187493520", "registers");
	is_str(shows(&kernel, "pid,comm", NULL), "pid=42 comm=\"worker\"", "who it was");
	is_str(shows(&ret, "arg1,ret", NULL), "arg1=10 ret=-12", "entry's arguments at the return");
	is_str(shows(&ret, "e=ret:s32,latency", NULL), "e=-12 latency=777", "and how long it took");
}

static void test_expressions(void)
{
	is_str(shows(&kernel, "arg1/3, arg1 * 2 + 1", NULL), "arg1/3=3 arg1 * 2 + 1=21",
	       "an expression is called what it is");
	is_str(shows(&kernel, "half = arg1 >> 1,x=~arg1", NULL), "half=5 x=0xfffffffffffffff5",
	       "or has a name");
	is_str(shows(&kernel, "x=-arg2:s64, y=arg2:s32 / 2, z=arg2:s32 % 3", NULL), "x=5 y=-2 z=-2",
	       "signed numbers, towards 0");
	is_str(shows(&kernel, "x=arg1 % (arg1 - 10), y=1", NULL), "x=? y=1",
	       "what is divided by 0 is not known");
	is_str(shows(&kernel, "x=arg1 > 5 ? arg1:u8 : arg6, y=arg1?arg4 :arg1", NULL),
	       "x=10 y=65568", "one of two, also with a type");
	is_str(shows(&kernel, "x=(arg1 + 246 + 3):u8, y=arg1:x16", NULL), "x=3 y=0xa",
	       "types of what is computed");
	is_str(shows(&kernel, "s=(arg3 + arg1 + 6):str, c=**(arg3-16):u8", NULL),
	       "s=\"test\" c=116", "what lies behind addresses that are computed");
	is_str(shows(&kernel, "c=*(*(arg3-16)):u8, comm == 'worker'", NULL),
	       "c=116 comm == 'worker'=1", "behind a pointer, too");
	is_str(shows(&ret, "x=arg1 - ret, y=(arg1 << 2) + ret, z=ret ? arg1 : 0", NULL),
	       "x=22 y=28 z=10", "the entry's and the return's together");
	is_str(shows(&ret, "a=arg1,r=ret", "a * 2 > 19 && r + arg1 == -2"), "a=10 r=-12",
	       "of arguments by their names");
	is_str(shows(&pair, "order, x=latency / order", "order * 2 < latency && pfn > 1"),
	       "order=3 x=259 latency=777", "of both ends");
}

static void test_more(void)
{
	struct args_ask ask = { .list = "s=arg4:str", .string_size = 16 };

	is_str(shows(&kernel, "x=log2(arg1), y=log2(arg2:s64), z=log2(0), l=(log2(arg1) + 0)",
		     NULL),
	       "x=8 -> 15 y=-7 -> -4 z=0 l=4", "powers of two");
	is_str(shows(&kernel, "log2(arg1)", "log2(arg1) == 4"), "log2(arg1)=8 -> 15",
	       "which are numbers");
	is_str(shows(&kernel,
		     "p=arg1:prot, m=arg1:map_flags, v=arg1:vm_flags, e=arg2:err, a=arg3:sym",
		     "arg1 & PROT_WRITE && -arg2:s64 == EIO && arg1 & VM_SHARED"),
	       "p=PROT_WRITE|PROT_SEM m=0xa v=VM_WRITE|VM_SHARED e=-EIO a=0x10010",
	       "numbers by their names");
	is_str(shows(&tracepoint, "gfp_flags", "gfp_flags & __GFP_ZERO && gfp_flags & GFP_KERNEL"),
	       "gfp_flags=GFP_KERNEL|__GFP_ZERO|0x10000", "those of the field itself");
	ok(!args_compile(&kernel, &ask, &a, err) && a.steps.text_max == 16 &&
	   args_need_expressions(&a), "shorter strings, or longer ones");
	ask.list = "a=arg1:str,b=arg2:str,c=arg3:str,d=arg4:str,comm";
	ask.string_size = MEMTAP_LONG_TEXT;
	ok(args_compile(&kernel, &ask, &a, err) &&
	   strstr(err, "its strings have 1920 bytes together"),
	   "of which there are not too many");
}

static void test_records(void)
{
	is_str(shows(&tracepoint, "order, migratetype", NULL), "order=3 migratetype=-2",
	       "fields by their names");
	is_str(shows(&tracepoint, "comm,name", NULL), "comm=\"kswapd0\" name=\"slab-\"",
	       "strings of both kinds; a field hides the thread's name");
	is_str(shows(&tracepoint, "ptr,huge", NULL), "ptr=0xffff888000001000 huge=true",
	       "pointers and booleans of the record");
	is_str(shows(&tracepoint, "call_site,where,gfp_flags", NULL),
	       "call_site=0x12345 where=0xffff888000001000 "
	       "gfp_flags=GFP_KERNEL|__GFP_ZERO|0x10000",
	       "addresses that are called numbers, and flags by their names");
	is_str(shows(&tracepoint, "g=gfp_flags:u64", "gfp_flags == 0x10d00"), "g=68864",
	       "as a number, where that is asked for");
	is_str(shows(&tracepoint, "many", NULL),
	       "kmem:x: many is a unsigned long, which memtap cannot show, at character 1 of "
	       "'many'",
	       "what cannot be shown is said");
	is_str(shows(&tracepoint, "ordr", NULL),
	       "kmem:x: kmem:x has no ordr; it has pfn, order, migratetype, comm, name, ptr, huge, "
	       "many, call_site, gfp_flags, where, at character 1 of 'ordr'",
	       "a wrong name tells the right ones");
}

static void test_filters(void)
{
	static const struct {
		const struct args_source *src;
		const char *list, *filter, *want;
	} t[] = {
		{ &tracepoint, "order", "order > 2 && comm != \"kswapd1\"", "order=3" },
		{ &tracepoint, "order", "order > 2 && comm != \"kswapd0\"", "-" },
		{ &tracepoint, "order", "comm == 'kswapd0'", "order=3" },
		{ &tracepoint, "order", "\"kswapd\" == comm", "-" },
		{ &tracepoint, "order", "migratetype < 0", "order=3" },
		{ &tracepoint, "order", "migratetype == -2 || order == 9", "order=3" },
		{ &tracepoint, "order", "!(order == 3)", "-" },
		{ &tracepoint, "order", "!order", "-" },
		{ &tracepoint, "o=order", "o & 1 && o | 4", "o=3" },
		{ &tracepoint, "order", "order & 4", "-" },
		{ &tracepoint, "order", "order + 1 - 2 << 2 == 8", "order=3" },
		{ &kernel, "arg1", "*arg5 == 0", "-" },
		{ &kernel, "arg1", "!(*arg5 == 0)", "-" },
		{ &kernel, "arg1", "*arg5 == 0 || pid == 42", "arg1=10" },
		{ &kernel, "arg1", "*arg5 == 0 && pid == 42", "-" },
		{ &kernel, "arg1", "arg2:s32 < 0", "arg1=10" },
		{ &kernel, "arg1", "arg2 < 0", "-" },
		{ &kernel, "arg1", "arg4:str == \"test\"", "arg1=10" },
		{ &ret, "arg1", "arg1 > 20", "-" },
		{ &ret, "ret", "arg1 == 10 && ret < 0", "ret=-12" },
		{ &ret, "arg1", "ret < 0 && arg4:str == \"test\"", "arg1=10" },
		{ &ret, "arg1", "latency > 1000", "-" },
		{ &ret, "r=ret", "r == -12 && comm == \"worker\"", "r=-12" },
		{ &user, "arg1", "pid == 42", "arg1=10" },
		{ &user, "arg1", "comm != \"w\\*r\\?er\"", "arg1=10" },
		{ &builtin, NULL, "value == 0 && pid == 42", "" },
		{ &tracepoint, "order", "comm =~ \"ksw*\"", "order=3" },
		{ &tracepoint, "order", "comm =~ \"*d?\" && name =~ 'slab\\-'", "order=3" },
		{ &tracepoint, "order", "comm =~ \"k*w*d\"", "-" },
		{ &tracepoint, "order", "comm =~ \"*\" && comm !~ \"\"", "order=3" },
		{ &tracepoint, "order", "comm !~ \"kswapd?\"", "-" },
		{ &tracepoint, "order", "comm =~ \"kswapd?*\"", "order=3" },
		{ &tracepoint, "order", "comm =~ \"kswapd??*\"", "-" },
		{ &tracepoint, "order", "comm =~ \"k\\*\"", "-" },
		{ &tracepoint, "order", "(order == 3 ? pfn : 0) == 0x12345", "order=3" },
		{ &kernel, "arg1", "arg5:str =~ \"*\"", "-" },
		{ &kernel, "arg1", "10 / (arg1 - 10) == 0", "-" },
		{ &kernel, "arg1", "10 / (arg1 - 10) == 0 || pid == 42", "arg1=10" },
		{ &kernel, "arg1", "(pid == 42 ? 1 : *arg5) == 1", "arg1=10" },
		{ &kernel, "arg1", "(pid == 42 ? *arg5 : 1) == 1", "-" },
		{ &ret, "ret", "latency / arg1 == 77 && arg4:str =~ \"t*t\"", "ret=-12" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		is_str(shows(t[i].src, t[i].list, t[i].filter), t[i].want, "%s", t[i].filter);
}

static void test_errors(void)
{
	static const struct {
		const struct args_source *src;
		const char *list, *filter, *want;
	} t[] = {
		{ &kernel, "arg7", NULL, "the arguments of a function are arg1 .. arg6, at "
		  "character 1 of 'arg7'" },
		{ &kernel, "ret", NULL, "is not a return: kr: and ur: have ret" },
		{ &kernel, "arg1,", NULL, "a name is expected here, at character 6" },
		{ &kernel, "arg1 arg2", NULL, "a , is expected here, at character 6" },
		{ &kernel, "arg1,arg1", NULL, "arg1 is used twice" },
		{ &kernel, "x=**", NULL, "a name is expected here, at character 5" },
		{ &kernel, "arg1*0x1000000 + arg2*0x10000000", NULL, "a name has 31 characters at "
		  "most: NAME=arg1*0x10000" },
		{ &kernel, "\"x\"", NULL, "a string in quotes is no argument, at character 1" },
		{ &kernel, "x=arg1 / (4 - 2*2)", NULL, "this divides by 0, at character 10" },
		{ &kernel, "x=arg1 << 64", NULL, "a shift is by 0 to 63 bits, at character 11" },
		{ &kernel, "x=arg1 ? 1", NULL, "a : of ?: is missing, at character 11" },
		{ &kernel, "x=arg1 < -1", NULL, "the other side is unsigned, and never below 0: "
		  "give it a type with a sign, as :s64 or :s32, at character 10" },
		{ &kernel, "x=arg1 & 3 == 3", NULL, "in C the comparison comes before &: write "
		  "(a & b) == c, or a & (b == c), at character 8" },
		{ &kernel, "x=arg1+(2+(3+(4+(5+(6+(7+(8+(9+arg2))))))))", NULL,
		  "this expression is nested too deeply, at character" },
		{ &kernel, "x=((((((((((((((((((arg1))))))))))))))))))", NULL,
		  "parentheses are nested too deeply" },
		{ &kernel, "x=----------------------arg1", NULL, "this expression is nested too" },
		{ &kernel, "x=comm + 1", NULL, "this is a string; strings can only be compared "
		  "with ==, != and =~, at character 3" },
		{ &kernel, "x=*comm", NULL, "this is not an address" },
		{ &kernel, "arg1", "comm =~ arg1", "a string can only be compared with a string" },
		{ &kernel, "arg1", "\"s*\" =~ comm", "a pattern in quotes is expected here, at "
		  "character 9" },
		{ &kernel, "arg1", "comm =~ \"sixteen-letters*-\"", "this would never be one" },
		{ &kernel, "x=arg1:u31", NULL, "a type is one of" },
		{ &kernel, "x=*(arg1+4:u8", NULL, "a ) is missing, at character 14" },
		{ &kernel, "arg1", "arg1 = 2", "a comparison is ==, at character 6" },
		{ &kernel, "arg1", "arg1 > \"x\"", "a string can only be compared with a string" },
		{ &kernel, "arg1", "comm > \"x\"",
		  "strings can only be compared with ==, != and =~" },
		{ &kernel, "arg1", "comm == \"x", "this string has no closing quote, at "
		"character 9" },
		{ &kernel, "arg1", "comm", "this is a string; strings can only be compared" },
		{ &kernel, "arg1", "comm == \"sr*\"",
		  "== compares letter by letter: =~ compares with a pattern; write \\* where the "
		  "string has a *, at character 12" },
		{ &tracepoint, "order", "name != 'sla?-'", "== compares letter by letter: " },
		{ &kernel, "arg1", "comm == \"sixteen-letters-\"",
		  "a comm has 15 letters at most: this would never be one, at character 9" },
		{ &kernel, "arg1", "arg1 > 2 )",
		  "this is not part of a condition, at character 10" },
		{ &kernel, "arg1", "", "a name is expected here, at character 1" },
		{ &kernel, "arg1", "arg1 > 12q", "this is not a number, at character 8" },
		{ &builtin, NULL, "order > 2", "fault has no order; it has value, pid" },
		{ &kernel, "a=arg1,b=arg1,c=arg1,d=arg1,e=arg1,f=arg1,g=arg1,h=arg1,i=arg1", NULL,
		  "an event shows 8 arguments at most" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ok(strstr(shows(t[i].src, t[i].list, t[i].filter), t[i].want), "%s%s: %s (%s)",
		   t[i].list ? t[i].list : "", t[i].filter ? t[i].filter : "", t[i].want, err);
}

static void test_usdt(void)
{
	const struct args_source src = { STEPS_FUNCTION, NULL,
		"-4@%edx 8@$-7 1@-64(%rbp) 4@8(%rbp,%rsi,4) 8@sym(%rip) %rax 2@(%rbp)", "usdt:p" };

	is_str(shows(&src, "arg1,arg2,arg3,arg4,arg6,arg7", NULL),
	       "arg1=0 arg2=0xfffffffffffffff9 arg3=195 arg4=0 arg6=78187493520 arg7=0",
	       "operands: registers, constants, memory with an index");
	ok(strstr(shows(&src, "arg5", NULL), "memtap cannot read where"),
	   "what lies by a symbol's name cannot be read");
	ok(strstr(shows(&src, "arg8", NULL), "usdt:p has 7 arguments"), "and how many there are");
}

static void test_split(void)
{
	static const char *const t[][3] = {
		{ "kmem:mm_page_alloc(order, pfn)", "kmem:mm_page_alloc", "order, pfn" },
		{ "k:f(arg1)", "k:f", "arg1" },
		{ "k:f(x=*(arg1+8):u32)", "k:f", "x=*(arg1+8):u32" },
		{ "u:lib.so:ns::f(int)", "u:lib.so:ns::f(int)", NULL },
		{ "u:lib.so:ns::f(int)(a=arg1)", "u:lib.so:ns::f(int)", "a=arg1" },
		{ "/bin/x:f(char*, int)", "/bin/x:f(char*, int)", NULL },
		{ "/bin/x:f(arg2)", "/bin/x:f", "arg2" },
		{ "u:x:operator()", "u:x:operator()", NULL },
		{ "fault", "fault", NULL },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char text[64], *list;

		strcpy(text, t[i][0]);
		list = args_split(text);
		ok(!strcmp(text, t[i][1]) && !list == !t[i][2] &&
		   (!list || !strcmp(list, t[i][2])), "%s", t[i][0]);
	}
}

/* What tells events apart, and their value; "bad": it cannot be done. */
static const char *told(const struct args_source *src, const struct args_ask *ask)
{
	static char text[512];
	struct steps_values v = { 0 };
	struct steps_world w = world();
	const struct steps *s = &a.steps;
	size_t n = 0;

	w.facts[MEMTAP_FACT_VALUE] = (__u64)-25;
	if (args_compile(src, ask, &a, err) || !steps_run(s, 0, s->nr, &v, &w))
		return "bad";
	if (s->value_slot)
		n = (size_t)snprintf(text, sizeof(text), "value %lld unit %u ",
				     (long long)v.number[s->value_slot - 1], s->value_unit);
	if (s->by_mask)
		snprintf(text + n, sizeof(text) - n, "by %s: %x", a.by_name, s->by_mask);
	if (s->by_slot)
		snprintf(text + n, sizeof(text) - n, "by %lld%s",
			 (long long)v.number[s->by_slot - 1],
			 s->text >> (s->by_slot - 1) & 1 ? " text" : "");
	return text;
}

static void test_values(void)
{
	const struct args_ask value = { .list = "n=arg1,m=arg3", .value = "n", .by = "m" };
	const struct args_ask plain = { .value = "arg2:s32", .by = "comm" };
	const struct args_ask latency = { .list = "ret", .hist = true, .linear = 100 };
	const struct args_ask steps = { .value = "arg2:s32", .linear = 10,
					.filter = "pid == 42 && comm == 'worker'" };
	const struct args_ask none = { .hist = true };
	const struct args_ask own = { .hist = true, .linear = 10 };
	const struct args_ask text = { .list = "comm", .value = "comm" };
	const struct args_ask maybe = { .value = "?nothing" }, by = { .by = "?nothing" };
	const struct args_ask keys = { .list = "n=arg1", .value = "n / 3", .by = "comm, n,n*2" };
	const struct args_ask group = { .list = "n=arg1", .by = "process,n" };
	const struct args_ask twice = { .list = "n=arg1", .by = "n,n" };
	const struct args_ask late = { .list = "n=arg1", .value = "latency / n", .by = "ret" };

	is_str(told(&kernel, &value), "value 10 unit 4 by 65552", "a value and what tells apart");
	is_str(told(&kernel, &plain), "value -5 unit 4 by 0 text", "also those that are not named");
	is_str(told(&ret, &latency), "value 777 unit 3 by 7", "a return's latency, in ns");
	is_str(told(&kernel, &steps), "value -5 unit 4 by -1", "steps of one size, rounded down");
	is_str(told(&builtin, &own), "by -3", "of a built-in event's own value");
	is_str(told(&kernel, &keys), "value 3 unit 4 by comm, n, n*2: d", "several keys");
	is_str(told(&kernel, &group), "by 10", "one, where the other is who it was");
	is_str(told(&kernel, &twice), "bad", "none is there twice");
	is_str(told(&ret, &late), "value 77 unit 4 by -12", "what is computed of a latency is no "
	       "time");
	is_str(told(&kernel, &none), "bad", "a histogram needs a value");
	is_str(told(&kernel, &maybe), "bad", "a value is there, or it is none");
	is_str(told(&kernel, &by), "bad", "and what tells apart is there, too");
	is_str(told(&kernel, &text), "bad", "which is no string");
}

static void test_pairs(void)
{
	const struct args_ask plain = { .value = NULL }, all = { .all = true };
	const struct args_ask named = { .value = "migratetype:s64" };

	is_str(shows(&pair, "order,nr_reclaimed,latency", NULL),
	       "order=3 nr_reclaimed=32 latency=777", "a field of the begin, and one of the end");
	is_str(shows(&pair, "begin.order,o=end.order,comm", NULL),
	       "order=3 o=7 comm=\"kswapd0\" latency=777",
	       "one that both have, and the latency, which is the value");
	is_str(shows(&pair, "order,free,node", "nr_reclaimed == 32 && order == 3 && pfn > 5"),
	       "order=3 free=4096 node=1 latency=777", "a filter on both");
	is_str(shows(&pair, "order", "nr_reclaimed > 32"), "-", "which the end does not pass");
	is_str(shows(&pair, "order", "order > 3"), "-", "or the begin");
	ok(a.steps.kept_entry && a.steps.nr_entry, "and nothing is kept of that");
	is_str(shows(&pair, "o=begin.order, x=end.name:str", NULL),
	       "x:b..x:e: x:b..x:e has no name; it has pfn, order, migratetype, comm, name, ptr, "
	       "huge, many, call_site, gfp_flags, where, nr_reclaimed, latency, at character 18 "
	       "of 'o=begin.order, x=end.name:str'", "a field that the end does not have");
	ok(args_compile(&pair, &(const struct args_ask){ .list = "ret" }, &a, err) &&
	   strstr(err, " has no ret;"), "no pair returns anything");
	ok(args_compile(&tracepoint, &(const struct args_ask){ .list = "begin.order" }, &a, err) &&
	   strstr(err, " has no begin;"), "what is no pair has no begin");
	is_str(told(&pair, &plain), "value 777 unit 3 ", "the latency is the value");
	is_str(told(&pair, &named), "value -2 unit 4 ", "or what is named");
	ok(!args_compile(&pair, &all, &a, err) && a.steps.nr_shown == MEMTAP_MAX_SHOWN &&
	   !strcmp(a.shown[MEMTAP_MAX_SHOWN - 1].name, "latency"), "all that there is room for");
}

static void test_order(void)
{
	const struct args_ask ask = { .list = "s=arg4:str,n=arg1", .filter = "n > 100" };
	struct steps_values v = { 0 };
	struct steps_world w = world();

	ok(!args_compile(&kernel, &ask, &a, err), "a filter on one of two arguments");
	ok(!steps_run(&a.steps, 0, a.steps.nr, &v, &w) && !w.reads,
	   "what does not pass is not read any further");
}

/* By hand, because it is done for each of millions of events: as snprintf() does it. */
static void test_numbers(void)
{
	static const __u64 numbers[] = { 0, 7, 10, 4096, 999999, 1ULL << 32, 1ULL << 63, ~0ULL };
	const struct args_shown s32 = { .name = "n", .type = 8 | MEMTAP_TYPE_SIGNED };
	const struct args_shown hex = { .name = "n", .show = ARGS_HEX };
	char got[64], want[64];
	bool good = true;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (size_t len = 0; len < 30; len++) {
			const long long n = (long long)numbers[i];
			struct steps_values v = { .known = 1, .number = { n } };
			int a, b;

			memset(got, 'x', sizeof(got));
			memset(want, 'x', sizeof(want));
			a = args_print_one(&s32, &v, 0, NULL, got, len);
			b = snprintf(want, len, "%lld", n);
			good &= a == b && !memcmp(got, want, sizeof(got));
			a = args_print_one(&hex, &v, 0, NULL, got, len);
			b = snprintf(want, len, "0x%llx", n);
			good &= a == b && !memcmp(got, want, sizeof(got));
			a = text_number(got, len, numbers[i], 10, 6, '0');
			b = snprintf(want, len, "%06llu", n);
			good &= a == b && !memcmp(got, want, sizeof(got));
		}
	ok(good, "numbers, as snprintf() prints them, whatever the room");
}

int main(void)
{
	test_numbers();
	memset(page + 0x20, 0, 32);
	strcpy(page + 0x20, "test");
	page[0x40] = (char)195;
	*(__u64 *)(void *)page = 0x10020;
	format_parse(mm_page_alloc, &format);
	for (size_t i = 0; i < format.nr; i++)
		format.at[i].symbols = symbols_of(mm_page_alloc, format.at[i].name);
	format_parse("\tfield:u32 order;\toffset:8;\tsize:4;\tsigned:0;\n"
		     "\tfield:u64 nr_reclaimed;\toffset:16;\tsize:8;\tsigned:0;\n", &end_format);
	end_record[8] = 7;
	end_record[16] = 32;
	set_record();
	test_format();
	test_functions();
	test_expressions();
	test_more();
	test_records();
	test_filters();
	test_errors();
	test_usdt();
	test_split();
	test_values();
	test_pairs();
	test_order();
	return tap_done();
}
