// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/session/args.c ctl/session/args_term.c ctl/session/args_expr.c */
/* LINK: ctl/session/args_member.c ctl/elf/btf.c ctl/session/symbols.c */
/* LINK: ctl/base/constants.c ctl/base/text.c kmod/core/names.c */
/* LINK: ctl/session/args_print.c ctl/session/args_usdt.c ctl/session/format.c */
/* LINK: kmod/core/steps.c */
/* Types of the kernel: made up here, and what steps read by them. */
#include <stdlib.h>
#include <string.h>

#include "elf/btf.h"
#include "session/args_int.h"
#include "steps_world.h"
#include "tap.h"

static char names[512];
static size_t names_len;
static __u32 words[512];
static size_t nr_words;

static __u32 string(const char *s)
{
	const size_t at = names_len;

	strcpy(names + at, s);
	names_len += strlen(s) + 1;
	return (__u32)at;
}

static void put(__u32 a, __u32 b, __u32 c)
{
	words[nr_words++] = a;
	words[nr_words++] = b;
	words[nr_words++] = c;
}

#define INFO(kind, nr)	((__u32)(kind) << 24 | (nr))
#define BITS		(1U << 31)	/* offsets of members have the size of a bit field */

static unsigned char bytes[4096];

/* 24 bytes of header, types, strings */
static size_t make(void)
{
	__u32 *h = (void *)bytes;

	names_len = 1;
	nr_words = 0;
	put(string("int"), INFO(1, 0), 4);		/* 1 */
	words[nr_words++] = 1U << 24 | 32;
	put(string("char"), INFO(1, 0), 1);		/* 2 */
	words[nr_words++] = 8;
	put(0, INFO(3, 0), 0);				/* 3: char [8] */
	put(2, 1, 8);
	put(0, INFO(2, 0), 6);				/* 4: struct thing * */
	put(0, INFO(5, 2), 8);				/* 5: anonymous union */
	put(string("whole"), 1, 0);
	put(string("half"), 10, 0);
	put(string("thing"), BITS | INFO(4, 6), 40);	/* 6 */
	put(string("number"), 1, 0);
	put(0, 5, 64);
	put(string("name"), 3, 128);
	put(string("next"), 4, 192);
	put(string("low"), 1, 3U << 24 | 256);
	put(string("high"), 10, 5U << 24 | 259);
	put(string("thing_t"), INFO(8, 0), 6);		/* 7 */
	put(0, INFO(13, 2), 1);				/* 8: int (thing *a, int b) */
	words[nr_words++] = string("a");
	words[nr_words++] = 4;
	words[nr_words++] = string("b");
	words[nr_words++] = 1;
	put(string("work"), INFO(12, 1), 8);		/* 9 */
	put(string("short"), INFO(1, 0), 2);		/* 10 */
	words[nr_words++] = 16;
	h[0] = 0xeb9f | 1U << 16;
	h[1] = 24;
	h[2] = 0;
	h[3] = (__u32)(nr_words * 4);
	h[4] = h[3];
	h[5] = (__u32)names_len;
	memcpy(bytes + 24, words, nr_words * 4);
	memcpy(bytes + 24 + nr_words * 4, names, names_len);
	return 24 + nr_words * 4 + names_len;
}

static struct btf *types;

static const struct btf *get_types(void)
{
	return types;
}

static char page[256];

static const char *shows(const char *list)
{
	const struct args_source src = {
		.can = STEPS_FUNCTION | STEPS_KERNEL, .event = "k:work", .btf = get_types,
		.function = "work",
	};
	const struct args_ask ask = { .list = list };
	static struct steps_values v;
	static struct args a;
	static char text[512], err[ARGS_ERR];
	struct steps_world w = { .args = { 0x10000, (__u64)-3 }, .base = 0x10000,
				 .memory = { page }, .memory_len = sizeof(page) };

	if (args_compile(&src, &ask, &a, err))
		return err;
	steps_clear(&v);
	steps_run(&a.steps, 0, a.steps.nr, &v, &w);
	args_print(&a, &v, NULL, text, sizeof(text));
	return text;
}

static void shown(const char *list, const char *want)
{
	const char *got = shows(list);

	ok(strstr(got, want), "%s: %s", list, got);
}

static void fill(char *at, __s32 number, __s32 whole, const char *name, __u64 next, __u64 bits)
{
	memcpy(at, &number, 4);
	memcpy(at + 8, &whole, 4);
	strcpy(at + 16, name);
	memcpy(at + 24, &next, 8);
	memcpy(at + 32, &bits, 8);
}

/* This machine's own, where it has them. */
static void test_own(void)
{
	FILE *f = fopen("/sys/kernel/btf/vmlinux", "re");
	const size_t room = 64 << 20;
	char *all = f ? malloc(room) : NULL;
	struct ctype type = { .id = 0 };
	struct cmember m = { .bits = 1 };
	struct btf *b = NULL;
	int n = -5;

	if (all)
		b = btf_new(all, fread(all, 1, room, f));
	ok(!f || (b && btf_param(b, "vfs_read", "count", 5, &n, &type) && n == 2 &&
		  type.kind == CTYPE_NUMBER && type.size == 8 && !type.is_signed),
	   "vfs_read()'s count is its third parameter");
	n = 0;
	ok(!f || (b && btf_param(b, "vfs_read", NULL, 0, &n, &type) &&
		  type.kind == CTYPE_POINTER), "the first one is a pointer");
	if (b)
		type = btf_type(b, type.to);
	ok(!f || (btf_member(b, &type, "f_flags", 7, &m) && m.type.kind == CTYPE_NUMBER &&
		  m.type.size == 4), "to a structure that has flags");
	btf_free(b);
	free(all);
	if (f)
		fclose(f);
}

int main(void)
{
	const size_t len = make();
	struct ctype type;
	int n = 1;

	fill(page, -7, 0x12345, "first", 0x10080, 0xed);
	fill(page + 0x80, 9, 0, "second", 0, 0);
	types = btf_new(bytes, len);
	ok(types, "types are read");
	ok(btf_param(types, "work", NULL, 0, &n, &type) && type.kind == CTYPE_NUMBER &&
	   type.is_signed && type.size == 4, "a parameter by its number");
	ok(!btf_param(types, "wor", "a", 1, &n, &type) &&
	   !btf_param(types, "work", "c", 1, &n, &type),
	   "and none that is not there");
	shown("a, b", "a=0x10000 b=-3");
	shown("arg1->number, x=a->whole:x32, a->half", "arg1->number=-7 x=0x12345 a->half=9029");
	shown("a->name, a->next->name, a->next", "a->name=\"first\" a->next->name=\"second\" "
	      "a->next=0x10080");
	shown("a->low, a->high", "a->low=-3 a->high=29");
	shown("x=a->next->number * 2 + b", "x=15");
	shown("x=a->next->next->number", "x=?");
	shown("x=a->nothing", "the structure has no member nothing, at character 6");
	shown("x=b->number", "this is no pointer to a structure, at character 4");
	shown("x=arg3->number", "the type of this is not known");
	shown("x=a->", "a member's name is expected here, at character 6");
	for (size_t i = 0; i < len; i++) {
		struct btf *b;

		bytes[i] ^= 0x55;
		b = btf_new(bytes, len);
		if (b)
			btf_param(b, "work", "b", 1, &n, &type);
		btf_free(b);
		bytes[i] ^= 0x55;
		btf_free(btf_new(bytes, i));
	}
	ok(true, "wrong bytes are no types, or others");
	btf_free(types);
	test_own();
	return tap_done();
}
