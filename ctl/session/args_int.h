/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARGS_INT_H
#define _ARGS_INT_H

/* Between the files of args*.c */
#include "session/args.h"

struct args_type {
	const char *name;
	__u8 type;			/* MEMTAP_TYPE_*; TEXT */
	enum args_show show;
	bool user;			/* of strings: in the user's memory */
};

/* Steps that grow; what is too much is known at the end. */
struct args_code {
	struct memtap_step at[MEMTAP_MAX_STEPS];
	__u32 nr;
	bool over;
};

void args_emit(struct args_code *c, __u8 op, __u8 type, __u16 index, __u64 number);

/* A register's name, with or without %: its number of DWARF's, and the type it has. */
bool args_register(const char *name, size_t len, __u16 *reg, __u8 *type);

enum args_place { P_ARG, P_REG, P_RET, P_FIELD, P_OPERAND, P_FACT, P_COMM, P_SHOWN };

struct args_term {
	enum args_place place;
	__u16 index;			/* of arguments, registers, facts, operands, slots */
	const struct format_field *field;
	__s64 offset;
	bool deref, late;		/* late: known at the return only */
	struct args_type type;
	const char *at;			/* where it stands in the text */
};

struct args_item {
	struct args_code code;
	bool late, used;
};

struct args_parser {
	const struct args_source *src;
	struct args *a;
	const char *what;		/* "--filter", for messages */
	const char *text, *pos;
	char *err;
	struct args_item items[MEMTAP_MAX_SHOWN];
	struct args_code hidden, filter, last;
	__u32 max_slots;
	__u32 slots;			/* in use */
	bool late;			/* the filter is done at the return */
	bool filtering;
	int depth;			/* of parentheses */
};

/* args_term.c.  What is wrong with the text at @at; -EINVAL. */
__attribute__((format(printf, 3, 4)))
int args_wrong(struct args_parser *p, const char *at, const char *fmt, ...);
void args_blanks(struct args_parser *p);
/* What comes, blanks left out, is it this?  Then it is passed by. */
bool args_take(struct args_parser *p, const char *token);
bool args_take_u64(struct args_parser *p, __u64 *v);
bool args_is(const char *name, const char *s, size_t len);
size_t args_word_len(const char *s);
/* arg1 .. arg12: the number, from 0; or -1 */
int args_number(const char *s, size_t len);
int args_term(struct args_parser *p, struct args_term *t);
/* Steps that push a number; that keep a number or a string in a slot. */
void args_push(const struct args_parser *p, const struct args_term *t, struct args_code *c);
void args_keep(const struct args_parser *p, const struct args_term *t, __u16 slot,
	       struct args_code *c);

/* args_filter.c: @text's steps, in p->filter and p->hidden */
int args_filter(struct args_parser *p, const char *text);

/*
 * args_usdt.c: operand @n (0 is the first) of a USDT probe: its type, and with @c the
 * steps that push it.  0; -ENOENT: it has fewer; -EOPNOTSUPP: memtap cannot read its form.
 */
int args_operand(const char *operands, unsigned int n, __u8 *type, struct args_code *c);

#endif
