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
	enum constants words;		/* how its numbers are called, or 0 */
};

/* Steps that grow; what is too much is known at the end. */
struct args_code {
	struct memtap_step at[MEMTAP_MAX_STEPS];
	__u32 nr;
	__u32 depth;			/* numbers on the stack behind them */
	bool over;
};

void args_emit(struct args_code *c, __u8 op, __u8 type, __u16 index, __u64 number);

/* A register's name, with or without %: its number of DWARF's, and the type it has. */
bool args_register(const char *name, size_t len, __u16 *reg, __u8 *type);

enum args_place { P_ARG, P_REG, P_RET, P_FIELD, P_OPERAND, P_FACT, P_COMM, P_SHOWN,
		  P_CONST, P_VAR };

/* What a name means. */
struct args_term {
	enum args_place place;
	__u16 index;			/* of arguments, registers, facts, operands, slots */
	const struct format_field *field;
	bool late;			/* known at the return only */
	__u64 number;			/* of a constant */
	struct args_type type;
	enum constants words;		/* how its numbers are called; and: */
	const struct symbols *symbols;
	int param;			/* number of a function's parameter */
	struct args_var var;		/* P_VAR: register @index */
	const char *at;			/* where it stands in the text */
};

/* What is no parameter of a function; -1 is what it returns. */
#define ARGS_NO_PARAM	(-2)

/* What an expression gives: a number on the stack, or a string in a slot. */
struct args_value {
	bool text, literal;		/* a string, or one that was written */
	bool comm;			/* the name of a thread */
	bool shown;			/* an argument that has a name already */
	bool plain;			/* nothing is computed */
	bool compared;			/* what a comparison gives, without parentheses */
	bool late;			/* known at the return only */
	const char *wild;		/* in a literal: what looks like a pattern, or NULL */
	__u16 slot;			/* of a string */
	__u64 at;			/* of the literal in the texts */
	struct args_type type;
	enum constants words;
	const struct symbols *symbols;
	const char *name;		/* of a plain field */
	int param;			/* number of a function's parameter */
	const char *begin;		/* where it stands, */
	__u32 start;			/* and where its steps begin */
};

enum args_kind { OP_LOGIC, OP_COMPARE, OP_BITS, OP_SHIFT, OP_SUM, OP_DIVIDE };

struct args_operator {
	const char *token;
	__u8 op;
	int level;
	enum args_kind kind;
	bool negated;
};

/* Steps that moved to the entry. */
struct args_hoist {
	__u32 start, nr;
	__u16 slot;
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
	struct args_code *code;		/* of the expression that is parsed */
	struct args_hoist hoists[MEMTAP_MAX_SLOTS];
	__u32 nr_hoists;
	__u32 top;			/* slots from here on are in use */
	bool late;			/* the filter is done at the return */
	bool named;			/* arguments can be meant by their names */
	bool pattern;			/* a string is one */
	int selecting;			/* a : belongs to ?: */
	int nested;			/* of parentheses and signs */
	int addresses;			/* strings are not read: they are followed */
	bool elsewhere;			/* a variable can be read at another place of the line */
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
int args_name(struct args_parser *p, struct args_term *t);
/* A slot that has no argument. */
int args_slot(struct args_parser *p, const char *at, __u16 *slot);
/* ":TYPE": 1, 0 where there is none; -EINVAL */
int args_take_type(struct args_parser *p, struct args_type *type);
/* How the kernel calls the numbers of a type, or NULL. */
const struct symbols *args_type_symbols(const struct args_parser *p,
					const struct args_type *type);
bool args_in_user(const struct args_parser *p);
/* Steps that push a number; that keep a string in a slot. */
void args_push(const struct args_parser *p, const struct args_term *t, struct args_code *c);
void args_keep_text(const struct args_parser *p, const struct args_term *t, __u16 slot,
		    struct args_code *c);

/* args_expr.c: its steps go to p->code; 0 or -EINVAL */
int args_expression(struct args_parser *p, struct args_value *v);
/* args_member.c: "->NAME" or "[NUMBER]", where it comes, of an argument on the stack */
int args_members(struct args_parser *p, struct args_value *v);
/* P_VAR, and what comes behind it */
int args_variable(struct args_parser *p, const struct args_term *t, struct args_value *v);
/* @text's steps, in p->filter and p->hidden */
int args_filter(struct args_parser *p, const char *text);

/*
 * args_usdt.c: operand @n (0 is the first) of a USDT probe: its type, and with @c the
 * steps that push it.  0; -ENOENT: it has fewer; -EOPNOTSUPP: memtap cannot read its form.
 */
int args_operand(const char *operands, unsigned int n, __u8 *type, struct args_code *c);

#endif
