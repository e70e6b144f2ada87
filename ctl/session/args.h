/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARGS_H
#define _ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "uapi/memtap.h"
#include "core/steps.h"
#include "elf/c_type.h"
#include "session/format.h"

/*
 * Arguments of events, and filters, from what a person writes to struct memtap_step:
 *
 *	EVENT(ITEM, ...)
 *	ITEM	[NAME=]EXPRESSION; ?[NAME=]EXPRESSION: where the event has it
 *	NAME	arg1 .. arg6, ret, a register; a field of a tracepoint or of an event that
 *		is built in; of a USDT probe arg1 .. arg12; pid, tid, uid, cpu, comm, free,
 *		node; latency, at a return.  Of a pair: begin.FIELD, end.FIELD, or the FIELD
 *		of the begin, else the end
 *	TYPE	u8 .. u64, s8 .. s64, x8 .. x64, ptr, bool, str, ustr, sym, usym, gfp, vm_flags,
 *		prot, map_flags, err
 *
 * In programs with debug information NAME is also a variable.  Behind the NAME of a pointer or
 * structure may come ->MEMBER, .MEMBER and [NUMBER], several of them.
 *
 * An expression computes with names and numbers as C does; NAME:TYPE and (EXPRESSION):TYPE give
 * it a type, *NAME:TYPE and *(EXPRESSION):TYPE is what lies there.  A filter is an expression;
 * strings are compared with strings in quotes, and with =~ and !~ with patterns.
 */
#define ARGS_NAME	32
#define ARGS_ERR	600

enum args_show { ARGS_NUMBER, ARGS_HEX, ARGS_BOOL, ARGS_TEXT, ARGS_SYM,
		 ARGS_LOG2 };

struct args_shown {
	char name[ARGS_NAME];
	enum args_show show;
	__u8 type;			/* MEMTAP_TYPE_* */
	bool user;			/* SYM: of a program */
	__u16 text_max;			/* bytes of a string that are kept; 0: MEMTAP_MAX_TEXT */
	enum constants words;		/* how a number is called */
	const struct symbols *symbols;	/* the same, of a tracepoint's field; or NULL */
};

struct btf;

/* A variable: register @reg + @offset, or with @load what lies at this address. */
struct args_var {
	const char *reg;
	__s64 offset;
	bool load;
	struct ctype type;
};

/* What a program's debug information knows where it is probed. */
struct args_program {
	void *ctx;
	struct ctypes types;
	bool at_line;			/* variables hide other names; no arguments */
	/*
	 * 0; -ENOENT: there is none; -EINVAL: it cannot be read here; -ENODATA: nor can it, but at
	 * another place of the line.  @why: what to say, if there is anything to say.
	 */
	int (*variable)(void *ctx, const char *name, struct args_var *v, char why[ARGS_ERR]);
	/* The type of argument @n, from 0, or of what is returned, -1. */
	bool (*argument)(void *ctx, int n, struct ctype *type);
	/* [s, s + len) of the list is left out: -ENODATA. */
	void (*leave_out)(void *ctx, const char *s, size_t len);
};

/* Where names are looked up: what kind of event it is. */
struct args_source {
	__u32 can;			/* STEPS_* */
	const struct format *format;	/* STEPS_RECORD */
	const char *operands;		/* of a USDT probe, or NULL */
	const char *event;		/* for messages */
	const struct format *end;	/* STEPS_PAIR: of the end; else NULL */
	const struct symbols *(*gfp)(void);	/* flags of the page allocator; or NULL */
	const struct btf *(*btf)(void);	/* the kernel's types, or NULL: not known */
	const char *function;		/* of the kernel, that is probed; or NULL */
	const struct args_program *program;	/* a place in a program that is probed; or NULL */
};

/* What is wanted of an event.  Each may be NULL. */
struct args_ask {
	const char *list;		/* ITEMs */
	const char *filter;
	const char *value, *by;		/* names, expressions; of @by several */
	bool all;			/* without a list: whatever it has */
	bool latency;			/* an argument of that name, too */
	bool hist;			/* there has to be a value: latency, where none is named */
	__u32 string_size;		/* bytes of strings that are kept; 0: the default */
	__u64 linear;			/* told apart by the value, in steps of so much; 0: not */
};

struct args {
	struct steps steps;
	struct args_shown shown[MEMTAP_MAX_SHOWN];
	__u8 by[MEMTAP_MAX_SHOWN];	/* slots by which events are told apart, as asked for, */
	bool log2;			/* told apart by the value's power of two, with a sign */
	__u32 nr_by;			/* their number, and what they are called together */
	char by_name[MEMTAP_MAX_SHOWN * (ARGS_NAME + 2)];
};

/* 0, or -EINVAL with a sentence in @err, which tells at which character. */
int args_compile(const struct args_source *src, const struct args_ask *ask, struct args *a,
		 char err[ARGS_ERR]);

/* Does it need MEMTAP_FEATURE_EXPRESSIONS? */
bool args_need_expressions(const struct args *a);

/*
 * Of the text of an event: where the list of its arguments begins, behind the '(', which
 * is cut off, as is the ')'; NULL: it has none.  The parentheses of C++ stay.
 */
char *args_split(char *event);

/* Who can name addresses: the kernel's, or those of the program that the event was in. */
struct args_namer {
	void *ctx;
	/* returns bytes as snprintf() does; 0: it has no name */
	int (*name)(void *ctx, bool user, __u64 addr, char *buf, size_t len);
};

/*
 * "order=3 gfp_flags=0x..." : what an event had; returns bytes as snprintf() does.
 * @namer: NULL: addresses are numbers
 */
int args_print(const struct args *a, const struct steps_values *v, const struct args_namer *namer,
	       char *buf, size_t len);
/* One of them. */
int args_print_one(const struct args_shown *s, const struct steps_values *v, size_t slot,
		   const struct args_namer *namer, char *buf, size_t len);
/* Are there addresses that have names in the kernel, in programs? */
bool args_has_symbols(const struct args *a, bool user);
/* A USDT probe's operands: how many; the type of one, or -ENOENT, -EOPNOTSUPP. */
unsigned int args_nr_operands(const char *operands);
int args_operand_type(const char *operands, unsigned int n, __u8 *type);

/* "u32", "str" ...: a type's name. */
const char *args_type_name(const struct args_shown *s);

#endif
