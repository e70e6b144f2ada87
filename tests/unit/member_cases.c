// SPDX-License-Identifier: GPL-2.0-or-later
/* Structures that test_source_member.c reads: it builds this in several ways, and loads it. */
#include <stdbool.h>
#include <stddef.h>

#include "member_cases.h"

enum color { RED = -3, GREEN = 70000 };

struct inner {
	short s;
	unsigned int low : 3;
	int high : 5;
	unsigned long wide : 40;
	char text[8];
	int many[4];
};

typedef struct inner inner_t;

struct outer {
	struct outer *next;
	const char *name;
	union {
		int number;
		unsigned char byte;
	};
	const inner_t in;
	volatile struct inner *pin;
	struct inner row[2];
	char *words[3];
	double real;
	bool on;
	enum color color;
	void *nothing;
	int square[2][3];
	struct unknown *hidden;
	unsigned char end[];
};

static struct {
	struct outer at[3];
	char names[3][16];
} all = {
	.at = {
		{
			.next = &all.at[1], .name = all.names[0], .number = -2, .on = true,
			.in = { -5, 6, -7, 0x8000000001, "inside", { 1, -2, 3, -4 } },
			.pin = &all.at[1].row[1], .row = { { .s = 11 }, { .many = { 0, 0, 9 } } },
			.words = { all.names[1], NULL, all.names[2] }, .color = GREEN,
		},
		{
			.next = &all.at[2], .name = all.names[1], .number = 0x12345,
			.row = { { .s = 1 }, { 30000, 1, 15, 3, "eight888", { 5, 6, 7, 8 } } },
			.color = RED, .real = 1,
		},
		{ .next = all.at, .name = all.names[2], .nothing = &all },
	},
	.names = { "first", "second", "third" },
};

static struct member_case cases[MEMBER_CASES];

#define NUMBER(e)	(*to++ = (struct member_case){ #e, (long)(e), NULL })
#define TEXT(e)		(*to++ = (struct member_case){ #e, 0, e })
#define arg1		n
#define arg2		first
#define arg3		second

/* The floating-point number is in none of their registers. */
__attribute__((noinline)) long work(int n, struct outer *first, double z, struct outer *second)
{
	struct member_case *to = cases;

	NUMBER(n);
	NUMBER(arg1 + 1);
	NUMBER(first->in.s);
	NUMBER(arg2->in.s * 2);
	NUMBER(first->in.low);
	NUMBER(first->in.high);
	NUMBER(arg2->in.wide);
	NUMBER(first->next->row[1].high);
	NUMBER(first->number);
	NUMBER(second->byte);
	NUMBER(first->pin->s);
	NUMBER(first->pin->many[3]);
	NUMBER(arg3->row[1].many[0]);
	NUMBER(first->row[0].s);
	NUMBER(first[1].row[1].low);
	NUMBER(first->on);
	NUMBER(second->on);
	NUMBER(first->color);
	NUMBER(arg3->color);
	NUMBER(second->nothing == 0);
	NUMBER(arg2->next->next->next->in.s);
	NUMBER(first->in.many[1] + second->number);
	NUMBER(first->next->color < 0 ? first->in.s : 9);
	TEXT(first->name);
	TEXT(arg3->name);
	TEXT(first->in.text);
	TEXT(first->words[2]);
	TEXT(arg2->next->next->name);
	return n + (long)z + first->number + second->number;
}

__attribute__((noinline)) struct outer *made(int n)
{
	return &all.at[n % 3];
}

const struct member_memory *member_memory(void);
const struct member_memory *member_memory(void)
{
	static struct member_memory m = {
		&all, sizeof(all), &all.at[0], &all.at[1], cases,
	};

	work(7, &all.at[0], 1.5, made(1));
	return &m;
}
