// SPDX-License-Identifier: GPL-2.0-or-later
/* Names in arguments and filters: the sources of numbers and strings, and their types. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/btf.h"
#include "session/args_int.h"
#include "session/symbols.h"

#define GFP	"gfp"
#define NAME	64
#define S	MEMTAP_TYPE_SIGNED
static const struct args_type types[] = {
	{ "u8", 1, ARGS_NUMBER, false, CONST_NONE },
	{ "u16", 2, ARGS_NUMBER, false, CONST_NONE },
	{ "u32", 4, ARGS_NUMBER, false, CONST_NONE },
	{ "u64", 8, ARGS_NUMBER, false, CONST_NONE },
	{ "s8", 1 | S, ARGS_NUMBER, false, CONST_NONE },
	{ "s16", 2 | S, ARGS_NUMBER, false, CONST_NONE },
	{ "s32", 4 | S, ARGS_NUMBER, false, CONST_NONE },
	{ "s64", 8 | S, ARGS_NUMBER, false, CONST_NONE },
	{ "ptr", 8, ARGS_HEX, false, CONST_NONE },
	{ "x8", 1, ARGS_HEX, false, CONST_NONE },
	{ "x16", 2, ARGS_HEX, false, CONST_NONE },
	{ "x32", 4, ARGS_HEX, false, CONST_NONE },
	{ "x64", 8, ARGS_HEX, false, CONST_NONE },
	{ "bool", 1, ARGS_BOOL, false, CONST_NONE },
	{ "sym", 8, ARGS_SYM, false, CONST_NONE },
	{ "usym", 8, ARGS_SYM, true, CONST_NONE },
	{ GFP, 4, ARGS_NUMBER, false, CONST_NONE },
	{ "vm_flags", 8, ARGS_NUMBER, false, CONST_VM },
	{ "prot", 8, ARGS_NUMBER, false, CONST_PROT },
	{ "map_flags", 8, ARGS_NUMBER, false, CONST_MAP },
	{ "err", 8 | S, ARGS_NUMBER, false, CONST_RESULT },
	{ "str", MEMTAP_TYPE_TEXT, ARGS_TEXT, false, CONST_NONE },
	{ "ustr", MEMTAP_TYPE_TEXT, ARGS_TEXT, true, CONST_NONE },
};
#undef S

#define NR_TYPES	(sizeof(types) / sizeof(types[0]))

static const struct {
	const char *name;
	__u16 fact;
	__u8 type;
} facts[] = {
	{ "pid", MEMTAP_FACT_PID, 4 },
	{ "tid", MEMTAP_FACT_TID, 4 },
	{ "uid", MEMTAP_FACT_UID, 4 },
	{ "cpu", MEMTAP_FACT_CPU, 4 },
	{ "free", MEMTAP_FACT_FREE, 8 },
	{ "node", MEMTAP_FACT_NODE, 4 },
	{ "value", MEMTAP_FACT_VALUE, 8 | MEMTAP_TYPE_SIGNED },
	{ "latency", MEMTAP_FACT_LATENCY, 8 },
};

__attribute__((format(printf, 3, 4)))
int args_wrong(struct args_parser *p, const char *at, const char *fmt, ...)
{
	char why[ARGS_ERR - 250];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	snprintf(p->err, ARGS_ERR, "%.120s: %s, at character %zu of '%.60s'", p->what, why,
		 (size_t)(at - p->text) + 1, p->text);
	return -EINVAL;
}

void args_blanks(struct args_parser *p)
{
	while (isspace((unsigned char)*p->pos))
		p->pos++;
}

bool args_take(struct args_parser *p, const char *token)
{
	const size_t n = strlen(token);

	args_blanks(p);
	if (strncmp(p->pos, token, n))
		return false;
	p->pos += n;
	return true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

size_t args_word_len(const char *s)
{
	size_t n = 0;

	if (*s == '%')
		n++;
	if (!isalpha((unsigned char)s[n]) && s[n] != '_')
		return 0;
	while (is_word(s[n]))
		n++;
	return n;
}

bool args_is(const char *name, const char *s, size_t len)
{
	return strlen(name) == len && !strncmp(name, s, len);
}

int args_slot(struct args_parser *p, const char *at, __u16 *slot)
{
	if (p->top <= p->a->steps.nr_shown + 1)
		return args_wrong(p, at, "this needs more than %u arguments and interim values",
				  MEMTAP_MAX_SLOTS);
	p->top--;
	*slot = (__u16)p->top;
	return 0;
}

/* ---- terms ---- */

static void set_type(struct args_type *t, __u8 type, enum args_show show)
{
	*t = (struct args_type){ NULL, type, show, false, CONST_NONE };
}

static int field_term(struct args_parser *p, const struct format_field *f, struct args_term *t)
{
	t->place = P_FIELD;
	t->field = f;
	t->words = f->words;
	t->symbols = f->symbols;
	switch (f->kind) {
	case FORMAT_NUMBER:
		set_type(&t->type, (__u8)(f->size | (f->is_signed ? MEMTAP_TYPE_SIGNED : 0)),
			 ARGS_NUMBER);
		return 0;
	case FORMAT_POINTER:
		set_type(&t->type, (__u8)f->size, ARGS_HEX);
		return 0;
	case FORMAT_BOOL:
		set_type(&t->type, 1, ARGS_BOOL);
		return 0;
	case FORMAT_OTHER:
		return args_wrong(p, t->at, "%s is a %s, which memtap cannot show", f->name,
				  f->type);
	default:
		set_type(&t->type, MEMTAP_TYPE_TEXT, ARGS_TEXT);
		return 0;
	}
}

static int operand_term(struct args_parser *p, unsigned int n, struct args_term *t)
{
	__u8 type = 8;
	const int err = args_operand(p->src->operands, n, &type, NULL);

	if (err == -ENOENT)
		return args_wrong(p, t->at, "%s has %u arguments", p->src->event,
			     args_nr_operands(p->src->operands));
	if (err)
		return args_wrong(p, t->at, "memtap cannot read where this argument of %s is "
			"stored",
			     p->src->event);
	t->place = P_OPERAND;
	t->index = (__u16)n;
	set_type(&t->type, type, ARGS_NUMBER);
	return 0;
}

/* arg1 .. arg12: the number, from 0; or -1 */
int args_number(const char *s, size_t len)
{
	int n;

	if (len < 4 || len > 5 || strncmp(s, "arg", 3) || s[3] < '1' || s[3] > '9')
		return -1;
	n = s[3] - '0';
	if (len == 5) {
		if (!isdigit((unsigned char)s[4]))
			return -1;
		n = n * 10 + s[4] - '0';
	}
	return n <= 12 ? n - 1 : -1;
}

/* A parameter of the function by its name, as the kernel's types have it. */
static int param_term(struct args_parser *p, const char *s, size_t len, struct args_term *t)
{
	const struct args_source *src = p->src;
	const struct btf *b = src->btf && src->function ? src->btf() : NULL;
	struct ctype type;
	int n;

	if (!b || !btf_param(b, src->function, s, len, &n, &type) || n > 5 ||
	    (type.kind != CTYPE_NUMBER && type.kind != CTYPE_POINTER))
		return -ENOENT;
	t->place = P_ARG;
	t->index = (__u16)n;
	t->param = n;
	set_type(&t->type, (__u8)(type.size | (type.is_signed ? MEMTAP_TYPE_SIGNED : 0)),
		 type.kind == CTYPE_POINTER ? ARGS_HEX : ARGS_NUMBER);
	return 0;
}

static bool at_line(const struct args_parser *p)
{
	return p->src->program && p->src->program->at_line;
}

/* A variable of a program; -ENOENT: there is none, and @why may say more. */
static int variable_term(struct args_parser *p, const char *s, size_t len, struct args_term *t,
			 char why[ARGS_ERR])
{
	const struct args_program *program = p->src->program;
	char name[NAME];
	__u8 type;
	int err;

	*why = '\0';
	if (!program || len >= sizeof(name) || *s == '%')
		return -ENOENT;
	snprintf(name, sizeof(name), "%.*s", (int)len, s);
	err = program->variable(program->ctx, name, &t->var, why);
	if (err == -ENOENT)
		return err;
	if (err) {
		p->elsewhere = err == -ENODATA;
		return args_wrong(p, t->at, "%s", why);
	}
	if (!args_register(t->var.reg, strlen(t->var.reg), &t->index, &type))
		return args_wrong(p, t->at, "%s is in a register that memtap does not read", name);
	t->place = P_VAR;
	return 0;
}

static int function_term(struct args_parser *p, const char *s, size_t len, struct args_term *t)
{
	const int n = args_number(s, len);
	__u8 type;

	if (!(p->src->can & STEPS_FUNCTION) || (n >= 0 && at_line(p)))
		return -ENOENT;
	if (n >= 0 && p->src->operands)
		return operand_term(p, (unsigned int)n, t);
	if (n >= 6)
		return args_wrong(p, t->at, "the arguments of a function are arg1 .. arg6");
	if (n >= 0) {
		t->place = P_ARG;
		t->index = (__u16)n;
		t->param = n;
		set_type(&t->type, 8, ARGS_NUMBER);
		return 0;
	}
	if (args_is("ret", s, len)) {
		if (!(p->src->can & STEPS_RETURN))
			return args_wrong(p, t->at, "%s is not a return: kr: and ur: have ret",
				     p->src->event);
		t->place = P_RET;
		t->param = -1;
		t->late = true;
		set_type(&t->type, 8 | MEMTAP_TYPE_SIGNED, ARGS_NUMBER);
		return 0;
	}
	if (!args_register(s, len, &t->index, &type))
		return -ENOENT;
	t->place = P_REG;
	set_type(&t->type, type, ARGS_NUMBER);
	return 0;
}

static int fact_term(struct args_parser *p, const char *s, size_t len, struct args_term *t)
{
	if (args_is("comm", s, len)) {
		t->place = P_COMM;
		set_type(&t->type, MEMTAP_TYPE_TEXT, ARGS_TEXT);
		return 0;
	}
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (!args_is(facts[i].name, s, len))
			continue;
		t->place = P_FACT;
		t->index = facts[i].fact;
		set_type(&t->type, facts[i].type, ARGS_NUMBER);
		t->late = t->index == MEMTAP_FACT_LATENCY;
		if (t->late && !(p->src->can & STEPS_LATE))
			return args_wrong(p, t->at,
					  "%s is not a return: kr:, ur: and BEGIN..END have "
					  "a latency", p->src->event);
		if (t->index == MEMTAP_FACT_VALUE && !(p->src->can & STEPS_VALUE))
			return args_wrong(p, t->at, "%s has no value of its own", p->src->event);
		return 0;
	}
	return -ENOENT;
}

static bool has_field(const struct format *f, size_t nr, const char *name)
{
	for (size_t i = 0; f && i < nr; i++)
		if (!strcmp(f->at[i].name, name))
			return true;
	return false;
}

/* Of a list that is too long there are whole names, and dots. */
static size_t add_name(char *buf, size_t size, size_t n, const char *name)
{
	const size_t len = strlen(name) + 2;

	if (n + len + sizeof(", ...") > size) {
		if (!strstr(buf, ", ..."))
			strcpy(buf + n, ", ...");
		return n;
	}
	return n + (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "it has ", name);
}

static void list_fields(const struct args_source *src, char *buf, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < src->format->nr; i++)
		n = add_name(buf, size, n, src->format->at[i].name);
	for (size_t i = 0; src->end && i < src->end->nr; i++)
		if (!has_field(src->format, src->format->nr, src->end->at[i].name))
			n = add_name(buf, size, n, src->end->at[i].name);
	if (src->end)
		add_name(buf, size, n, "latency");
}

static const char *hint(const struct args_source *src, char *buf, size_t size)
{
	*buf = '\0';
	if (src->format)
		list_fields(src, buf, size);
	else if (src->operands)
		snprintf(buf, size, "it has arg1 .. arg%u and registers",
			 args_nr_operands(src->operands));
	else if (src->can & STEPS_FUNCTION)
		snprintf(buf, size, "it has arg1 .. arg6%s and registers",
			 src->can & STEPS_RETURN ? ", ret, latency" : "");
	else
		snprintf(buf, size, "it has value, pid, tid, uid, cpu, comm");
	return buf;
}

/*
 * Of a pair, *s may be "begin" or "end" and a field behind it, or a field of either.  *s
 * becomes the field's name, which is passed by.
 */
static const struct format_field *find_field(struct args_parser *p, const char **s, size_t *len,
					     struct args_term *t)
{
	const struct args_source *src = p->src;
	const bool begin = args_is("begin", *s, *len), end = args_is("end", *s, *len);
	const struct format_field *f = NULL;

	if (src->end && (begin || end) && (*s)[*len] == '.') {
		*s += *len + 1;
		*len = args_word_len(*s);
		p->pos = *s + *len;
	} else if (src->end) {
		f = format_find(src->format, *s, *len);
		if (f)
			return f;
		f = format_find(src->end, *s, *len);
		t->late = f;
		return f;
	}
	t->late = src->end && end;
	return format_find(t->late ? src->end : src->format, *s, *len);
}

static bool format_value(const struct format *f, const char *s, size_t len, __u64 *v)
{
	for (size_t i = 0; f && i < f->nr; i++)
		if (symbols_value(f->at[i].symbols, s, len, v))
			return true;
	return false;
}

/* GFP_ATOMIC, PROT_WRITE, ENOMEM: what this kernel or the C library calls a number. */
static int constant_term(struct args_parser *p, const char *s, size_t len, struct args_term *t)
{
	const struct args_source *src = p->src;

	if (!format_value(src->format, s, len, &t->number) &&
	    !format_value(src->end, s, len, &t->number) &&
	    !(memmem(s, len, "GFP_", 4) && src->gfp &&
	      symbols_value(src->gfp(), s, len, &t->number)) &&
	    !constants_value(s, len, &t->number))
		return -ENOENT;
	t->place = P_CONST;
	set_type(&t->type, t->number >> 63 ? 8 : 8 | MEMTAP_TYPE_SIGNED, ARGS_NUMBER);
	return 0;
}

static int find_name(struct args_parser *p, const char *s, size_t len, struct args_term *t)
{
	char has[160], why[ARGS_ERR] = "";
	int err = -ENOENT;

	for (__u32 i = 0; p->named && i < p->a->steps.nr_shown; i++)
		if (args_is(p->a->shown[i].name, s, len)) {
			t->place = P_SHOWN;
			t->index = (__u16)i;
			t->late = p->items[i].late;
			set_type(&t->type, p->a->shown[i].type, p->a->shown[i].show);
			t->words = p->a->shown[i].words;
			t->symbols = p->a->shown[i].symbols;
			p->items[i].used = true;
			return 0;
		}
	if (p->src->format) {
		const struct format_field *f = find_field(p, &s, &len, t);

		if (f)
			return field_term(p, f, t);
	}
	if (at_line(p))
		err = variable_term(p, s, len, t, why);
	if (err == -ENOENT)
		err = function_term(p, s, len, t);
	if (err == -ENOENT)
		err = fact_term(p, s, len, t);
	if (err == -ENOENT)
		err = param_term(p, s, len, t);
	if (err == -ENOENT)
		err = constant_term(p, s, len, t);
	if (err == -ENOENT && !at_line(p))
		err = variable_term(p, s, len, t, why);
	if (err == -ENOENT && *why)
		return args_wrong(p, t->at, "%s", why);
	if (err == -ENOENT)
		return args_wrong(p, t->at, "%s has no %.*s; %s", p->src->event,
			     len < 40 ? (int)len : 40, s, hint(p->src, has, sizeof(has)));
	return err;
}

bool args_take_u64(struct args_parser *p, __u64 *v)
{
	char *end;

	args_blanks(p);
	if (!isdigit((unsigned char)*p->pos))
		return false;
	errno = 0;
	*v = strtoull(p->pos, &end, 0);
	if (errno || is_word(*end))
		return false;
	p->pos = end;
	return true;
}

int args_name(struct args_parser *p, struct args_term *t)
{
	size_t len;

	memset(t, 0, sizeof(*t));
	t->param = ARGS_NO_PARAM;
	args_blanks(p);
	t->at = p->pos;
	len = args_word_len(p->pos);
	if (!len)
		return args_wrong(p, p->pos, "a name is expected here");
	p->pos += len;
	return find_name(p, t->at, len, t);
}

/* Between ? and : a type is one that stands without blanks. */
int args_take_type(struct args_parser *p, struct args_type *type)
{
	const char *before = p->pos;
	size_t len, i;

	if (p->selecting && *p->pos != ':')
		return 0;
	if (!args_take(p, ":"))
		return 0;
	if (!p->selecting)
		args_blanks(p);
	len = args_word_len(p->pos);
	for (i = 0; i < NR_TYPES; i++)
		if (args_is(types[i].name, p->pos, len))
			break;
	if (i == NR_TYPES && p->selecting) {
		p->pos = before;
		return 0;
	}
	if (i == NR_TYPES)
		return args_wrong(p, p->pos, "a type is one of u8 .. u64, s8 .. s64, x8 .. x64, "
			     "ptr, bool, str, ustr, sym, usym, gfp, vm_flags, prot, map_flags, "
			     "err");
	*type = types[i];
	p->pos += len;
	return 1;
}

const struct symbols *args_type_symbols(const struct args_parser *p,
					const struct args_type *type)
{
	return type->name && !strcmp(type->name, GFP) && p->src->gfp ? p->src->gfp() : NULL;
}

/* ---- steps ---- */

bool args_in_user(const struct args_parser *p)
{
	return !(p->src->can & STEPS_KERNEL);
}

/* A field has its type already. */
void args_push(const struct args_parser *p, const struct args_term *t, struct args_code *c)
{
	const struct format_field *f = t->field;
	__u8 type = 8;

	switch (t->place) {
	case P_ARG:
		args_emit(c, MEMTAP_STEP_ARG, 0, t->index, 0);
		if (t->type.type != 8)
			args_emit(c, MEMTAP_STEP_CAST, t->type.type, 0, 0);
		break;
	case P_REG:
		args_emit(c, MEMTAP_STEP_REG, 0, t->index, 0);
		if (t->type.type != 8)
			args_emit(c, MEMTAP_STEP_CAST, t->type.type, 0, 0);
		break;
	case P_RET:
		args_emit(c, MEMTAP_STEP_RET, 0, 0, 0);
		break;
	case P_FIELD:
		args_emit(c, MEMTAP_STEP_FIELD,
			  (__u8)(f->size | (f->is_signed ? MEMTAP_TYPE_SIGNED : 0)), 0, f->offset);
		break;
	case P_OPERAND:
		args_operand(p->src->operands, t->index, &type, c);
		break;
	case P_FACT:
		args_emit(c, MEMTAP_STEP_FACT, 0, t->index, 0);
		break;
	case P_CONST:
		args_emit(c, MEMTAP_STEP_NUMBER, 0, 0, t->number);
		break;
	default:
		args_emit(c, MEMTAP_STEP_SLOT, 0, t->index, 0);
		break;
	}
}

void args_keep_text(const struct args_parser *p, const struct args_term *t, __u16 slot,
		    struct args_code *c)
{
	const struct format_field *f = t->field;

	(void)p;
	if (t->place == P_COMM)
		args_emit(c, MEMTAP_STEP_COMM, 0, slot, 0);
	else if (f->kind == FORMAT_TEXT)
		args_emit(c, MEMTAP_STEP_FIELD_TEXT, 0, slot, (__u64)f->size << 32 | f->offset);
	else
		args_emit(c, MEMTAP_STEP_FIELD_LOC, f->kind == FORMAT_RELLOC, slot, f->offset);
}

const char *args_type_name(const struct args_shown *s)
{
	for (size_t i = 0; i < NR_TYPES; i++)
		if (types[i].type == s->type && types[i].show == s->show)
			return types[i].name;
	return "?";
}
