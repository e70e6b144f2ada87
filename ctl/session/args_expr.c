// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parse expressions: arguments, values, keys and filters.
 *
 * Operators bind as in C, on a machine whose int has 64 bits: what is shorter is signed, and one
 * unsigned number of 64 bits makes an operation unsigned.  Where C's order is a known trap
 * (a & b == c), parentheses are asked for.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "session/args_int.h"

#define MAX_NESTED	16

static void set_number(struct args_value *v, bool is_signed)
{
	v->type = (struct args_type){ NULL, (__u8)(is_signed ? 8 | MEMTAP_TYPE_SIGNED : 8),
				      ARGS_NUMBER, false };
	v->plain = false;
	v->words = CONST_NONE;
	v->symbols = NULL;
}

/* As C promotes: what has fewer than 64 bits fits into a signed number. */
static bool is_signed(const struct args_value *v)
{
	return v->type.type != 8;
}

static int emit(struct args_parser *p, const char *at, __u8 op, __u8 type, __u16 index,
		__u64 number)
{
	args_emit(p->code, op, type, index, number);
	if (p->code->depth > MEMTAP_STEPS_DEPTH)
		return args_wrong(p, at, "this expression is nested too deeply");
	return 0;
}

/* The number that the steps from @from on push, which are one; or NULL. */
static __u64 *constant(struct args_parser *p, __u32 from)
{
	struct args_code *c = p->code;

	return c->nr == from + 1 && c->at[from].op == MEMTAP_STEP_NUMBER ? &c->at[from].number :
									   NULL;
}

static int need_number(struct args_parser *p, const struct args_value *v)
{
	if (!v->text)
		return 0;
	return args_wrong(p, v->begin, "this is a string; strings can only be compared with ==, "
			  "!= and =~");
}

/* Steps that another hoist has, too: its slot, or -1. */
static int known_hoist(const struct args_parser *p, const struct memtap_step *st, __u32 nr)
{
	for (__u32 i = 0; i < p->nr_hoists; i++)
		if (p->hoists[i].nr == nr &&
		    !memcmp(p->hidden.at + p->hoists[i].start, st, nr * sizeof(*st)))
			return p->hoists[i].slot;
	return -1;
}

/*
 * What the steps @from .. @to push is known at the entry, and what it meets is not: there they
 * are done, and here is what was kept.
 */
static int hoist(struct args_parser *p, const char *at, __u32 from, __u32 to)
{
	struct args_code *c = p->code;
	const struct memtap_step *st = c->at + from;
	const __u32 nr = to - from;
	int known;
	__u16 slot = 0;

	if (c->over || (nr == 1 && (st->op == MEMTAP_STEP_NUMBER || st->op == MEMTAP_STEP_SLOT)))
		return 0;
	known = known_hoist(p, st, nr);
	if (known < 0) {
		if (args_slot(p, at, &slot))
			return -EINVAL;
		p->hoists[p->nr_hoists++] = (struct args_hoist){ p->hidden.nr, nr, slot };
		for (__u32 i = 0; i < nr; i++)
			args_emit(&p->hidden, st[i].op, st[i].type, st[i].index, st[i].number);
		args_emit(&p->hidden, MEMTAP_STEP_KEEP, 8, slot, 0);
	} else {
		slot = (__u16)known;
	}
	c->at[from] = (struct memtap_step){ .op = MEMTAP_STEP_SLOT, .index = slot };
	memmove(c->at + from + 1, c->at + to, (c->nr - to) * sizeof(*st));
	c->nr -= nr - 1;
	return 0;
}

/* Two or three operands, of which @second and @third begin where the one before them ends. */
static int same_time(struct args_parser *p, struct args_value *first, struct args_value *second,
		     struct args_value *third)
{
	const bool late = first->late || second->late || (third && third->late);
	int err = 0;

	if (late && third && !third->late)
		err = hoist(p, third->begin, third->start, p->code->nr);
	if (!err && late && !second->late)
		err = hoist(p, second->begin, second->start, third ? third->start : p->code->nr);
	if (!err && late && !first->late)
		err = hoist(p, first->begin, first->start, second->start);
	first->late = late;
	return err;
}

/* ---- strings ---- */

/* In a pattern a \ stays: the module knows what it means there. */
static int literal(struct args_parser *p, struct args_value *v, bool pattern)
{
	struct steps *s = &p->a->steps;
	const char quote = *p->pos, *begin = p->pos++;

	v->text = v->literal = true;
	v->at = s->texts_len;
	for (; *p->pos && *p->pos != quote; p->pos++) {
		if (*p->pos == '\\' && p->pos[1]) {
			if (pattern && s->texts_len + 1 < MEMTAP_MAX_TEXTS)
				s->texts[s->texts_len++] = '\\';
			p->pos++;
		} else if (strchr("*?", *p->pos) && !v->wild) {
			v->wild = p->pos;
		}
		if (s->texts_len - v->at >= MEMTAP_MAX_TEXT ||
		    s->texts_len + 1 >= MEMTAP_MAX_TEXTS)
			return args_wrong(p, begin, "this string is too long");
		s->texts[s->texts_len++] = *p->pos;
	}
	if (*p->pos != quote)
		return args_wrong(p, begin, "this string has no closing quote");
	if (s->texts_len >= MEMTAP_MAX_TEXTS)
		return args_wrong(p, begin, "too many strings");
	s->texts[s->texts_len++] = '\0';
	p->pos++;
	return 0;
}

/* Bytes that a string has at least which matches. */
static size_t least(const char *pattern)
{
	size_t n = 0;

	for (; *pattern; pattern++) {
		if (*pattern == '*')
			continue;
		pattern += *pattern == '\\' && pattern[1];
		n++;
	}
	return n;
}

/* What can never be the same is not compared in silence. */
static int check_texts(struct args_parser *p, const struct args_value *name,
		       const struct args_value *written, bool pattern)
{
	const char *text = (const char *)p->a->steps.texts + written->at;

	if (written->wild && !pattern)
		return args_wrong(p, written->wild, "== compares letter by letter: =~ compares "
				  "with a pattern; write \\%c where the string has a %c",
				  *written->wild, *written->wild);
	if (name->comm && (pattern ? least(text) : strlen(text)) >= MEMTAP_COMM_LEN)
		return args_wrong(p, written->begin, "a comm has %d letters at most: this would "
				  "never be one", MEMTAP_COMM_LEN - 1);
	return 0;
}

static int compare_texts(struct args_parser *p, struct args_value *l,
			 const struct args_value *r, const struct args_operator *op,
			 const char *at)
{
	const struct args_value *name = l->literal ? r : l, *written = l->literal ? l : r;
	const bool pattern = op->op == MEMTAP_STEP_LIKE;
	int err;

	if (!l->text || !r->text)
		return args_wrong(p, at, "a string can only be compared with a string");
	if (op->op != MEMTAP_STEP_EQ && op->op != MEMTAP_STEP_NE && !pattern)
		return args_wrong(p, at, "strings can only be compared with ==, != and =~");
	if (pattern && !r->literal)
		return args_wrong(p, r->begin, "a pattern in quotes is expected here");
	if (name->literal || !written->literal)
		return args_wrong(p, at, "a string is compared with a string in quotes");
	if (check_texts(p, name, written, pattern))
		return -EINVAL;
	err = emit(p, at, pattern ? MEMTAP_STEP_LIKE : MEMTAP_STEP_SAME, 0, name->slot,
		   written->at);
	if (!err && (op->op == MEMTAP_STEP_NE || op->negated))
		err = emit(p, at, MEMTAP_STEP_NOT, 0, 0, 0);
	l->late = name->late;
	l->text = l->literal = false;
	set_number(l, true);
	l->compared = true;
	return err;
}

/* ---- numbers ---- */

static int number(struct args_parser *p, struct args_value *v)
{
	const char *begin = p->pos;
	__u64 n;

	if (!args_take_u64(p, &n))
		return args_wrong(p, begin, "this is not a number");
	set_number(v, n >> 63 == 0);
	return emit(p, begin, MEMTAP_STEP_NUMBER, 0, 0, n);
}

static int name(struct args_parser *p, struct args_value *v)
{
	struct args_term t;
	int err = args_name(p, &t);

	if (err)
		return err;
	v->late = t.late;
	v->param = t.param;
	v->type = t.type;
	v->comm = t.place == P_COMM;
	v->plain = true;
	v->shown = t.place == P_SHOWN;
	v->name = t.field ? t.field->name : NULL;
	v->words = t.words;
	v->symbols = t.symbols;
	if (t.place == P_VAR)
		return args_variable(p, &t, v);
	if (!(t.type.type & MEMTAP_TYPE_TEXT)) {
		args_push(p, &t, p->code);
		return p->code->depth > MEMTAP_STEPS_DEPTH ?
			args_wrong(p, t.at, "this expression is nested too deeply") :
			args_members(p, v);
	}
	v->text = true;
	if (v->shown) {
		v->slot = t.index;
		return 0;
	}
	err = args_slot(p, t.at, &v->slot);
	if (!err)
		args_keep_text(p, &t, v->slot, p->code);
	return err;
}

/* log2(...): which step of a histogram that is */
static int take_log2(struct args_parser *p)
{
	const char *before = p->pos;

	if (strncmp(before, "log2", 4))
		return 0;
	p->pos += 4;
	args_blanks(p);
	if (*p->pos == '(')
		return 1;
	p->pos = before;
	return 0;
}

static int primary(struct args_parser *p, struct args_value *v);

static int log2_of(struct args_parser *p, struct args_value *v, const char *begin)
{
	int err = primary(p, v);

	if (!err && v->text)
		err = need_number(p, v);
	v->begin = begin;
	if (err)
		return err;
	err = emit(p, begin, MEMTAP_STEP_LOG2, 0, 0, 0);
	set_number(v, true);
	v->type.show = ARGS_LOG2;
	return err;
}

static int primary(struct args_parser *p, struct args_value *v)
{
	const int selecting = p->selecting;
	const char *begin;
	int err;

	args_blanks(p);
	begin = p->pos;
	memset(v, 0, sizeof(*v));
	v->begin = begin;
	v->start = p->code->nr;
	v->param = ARGS_NO_PARAM;
	if (*begin == '"' || *begin == '\'')
		return literal(p, v, p->pattern);
	if (isdigit((unsigned char)*begin))
		return number(p, v);
	if (take_log2(p))
		return log2_of(p, v, begin);
	if (*begin != '(')
		return name(p, v);
	if (++p->nested > MAX_NESTED)
		return args_wrong(p, begin, "parentheses are nested too deeply");
	p->pos++;
	p->selecting = 0;
	err = args_expression(p, v);
	p->selecting = selecting;
	p->nested--;
	v->compared = false;
	v->begin = begin;
	if (err)
		return err;
	return args_take(p, ")") ? 0 : args_wrong(p, p->pos, "a ) is missing");
}

/* The number on the stack is an address, or gets another type. */
static int typed(struct args_parser *p, struct args_value *v, const struct args_type *type)
{
	const char *at = v->begin;
	int err;

	if (v->text)
		return type->type & MEMTAP_TYPE_TEXT ? 0 :
			args_wrong(p, at, "this is a string and has no other type");
	v->words = type->words;
	v->symbols = args_type_symbols(p, type);
	v->type = *type;
	if (!(type->type & MEMTAP_TYPE_TEXT))
		return (type->type & MEMTAP_TYPE_BYTES) == 8 ? 0 :
			emit(p, at, MEMTAP_STEP_CAST, type->type, 0, 0);
	v->text = true;
	v->shown = false;
	err = args_slot(p, at, &v->slot);
	return err ? err : emit(p, at, MEMTAP_STEP_TEXT, 0, v->slot,
				args_in_user(p) || type->user);
}

static int postfix(struct args_parser *p, struct args_value *v)
{
	struct args_type type;
	int err = primary(p, v);

	if (err || v->literal)
		return err;
	err = args_take_type(p, &type);
	return err <= 0 ? err : typed(p, v, &type);
}

static int unary(struct args_parser *p, struct args_value *v);

/* Behind a *: the address, whose type is that of what lies there. */
static int pointer(struct args_parser *p, struct args_value *v)
{
	int err;

	if (!args_take(p, "*")) {
		p->addresses++;
		err = primary(p, v);
		p->addresses--;
		return err;
	}
	if (++p->nested > MAX_NESTED)
		return args_wrong(p, p->pos, "this expression is nested too deeply");
	err = pointer(p, v);
	p->nested--;
	if (!err && v->text)
		err = args_wrong(p, v->begin, "this is not an address");
	return err ? err : emit(p, v->begin, MEMTAP_STEP_LOAD, 8, args_in_user(p), 0);
}

static int behind(struct args_parser *p, struct args_value *v, const char *begin)
{
	struct args_type type = { NULL, 8, ARGS_NUMBER, false };
	int err = pointer(p, v);

	if (!err && v->text)
		err = args_wrong(p, begin, "this is not an address");
	if (!err)
		err = args_take_type(p, &type);
	if (err < 0)
		return err;
	v->begin = begin;
	err = emit(p, begin, MEMTAP_STEP_LOAD,
		   type.type & MEMTAP_TYPE_TEXT ? 8 : type.type, args_in_user(p), 0);
	set_number(v, false);
	v->shown = false;
	if (!err && type.type & MEMTAP_TYPE_TEXT)
		return typed(p, v, &type);
	v->type = type;
	v->words = type.words;
	v->symbols = args_type_symbols(p, &type);
	return err;
}

static int negate(struct args_parser *p, struct args_value *v)
{
	__u64 *n = constant(p, v->start);
	int err = 0;

	if (n) {
		*n = 0 - *n;
		set_number(v, is_signed(v));
		return 0;
	}
	err = emit(p, v->begin, MEMTAP_STEP_NUMBER, 0, 0, ~0ULL);
	if (!err)
		err = emit(p, v->begin, MEMTAP_STEP_MUL, 0, 0, 0);
	set_number(v, is_signed(v));
	return err;
}

static int invert(struct args_parser *p, struct args_value *v)
{
	__u64 *n = constant(p, v->start);
	int err = 0;

	set_number(v, is_signed(v));
	if (n) {
		*n = ~*n;
		return 0;
	}
	err = emit(p, v->begin, MEMTAP_STEP_NUMBER, 0, 0, ~0ULL);
	return err ? err : emit(p, v->begin, MEMTAP_STEP_XOR, 0, 0, 0);
}

static int not(struct args_parser *p, struct args_value *v)
{
	__u64 *n = constant(p, v->start);

	set_number(v, true);
	if (!n)
		return emit(p, v->begin, MEMTAP_STEP_NOT, 0, 0, 0);
	*n = !*n;
	return 0;
}

static int unary(struct args_parser *p, struct args_value *v)
{
	const char *begin;
	char op;
	int err;

	args_blanks(p);
	begin = p->pos;
	op = *begin;
	if (!op || !strchr("*-+~!", op))
		return postfix(p, v);
	if (++p->nested > MAX_NESTED)
		return args_wrong(p, begin, "this expression is nested too deeply");
	p->pos++;
	err = op == '*' ? behind(p, v, begin) : unary(p, v);
	p->nested--;
	if (err || op == '*')
		return err;
	err = need_number(p, v);
	v->begin = begin;
	v->compared = false;
	if (err)
		return err;
	if (op == '-')
		return negate(p, v);
	if (op == '~')
		return invert(p, v);
	if (op == '!')
		return not(p, v);
	set_number(v, is_signed(v));
	return 0;
}

/* ---- operators ---- */

/* The longer ones first; @level: the higher, the tighter. */
static const struct args_operator operators[] = {
	{ "||", MEMTAP_STEP_EITHER, 1, OP_LOGIC, false },
	{ "&&", MEMTAP_STEP_BOTH, 2, OP_LOGIC, false },
	{ "==", MEMTAP_STEP_EQ, 6, OP_COMPARE, false },
	{ "!=", MEMTAP_STEP_NE, 6, OP_COMPARE, false },
	{ "=~", MEMTAP_STEP_LIKE, 6, OP_COMPARE, false },
	{ "!~", MEMTAP_STEP_LIKE, 6, OP_COMPARE, true },
	{ "<<", MEMTAP_STEP_SHL, 8, OP_SHIFT, false },
	{ ">>", MEMTAP_STEP_SHR, 8, OP_SHIFT, false },
	{ "<=", MEMTAP_STEP_LE, 7, OP_COMPARE, false },
	{ ">=", MEMTAP_STEP_GE, 7, OP_COMPARE, false },
	{ "<", MEMTAP_STEP_LT, 7, OP_COMPARE, false },
	{ ">", MEMTAP_STEP_GT, 7, OP_COMPARE, false },
	{ "|", MEMTAP_STEP_OR, 3, OP_BITS, false },
	{ "^", MEMTAP_STEP_XOR, 4, OP_BITS, false },
	{ "&", MEMTAP_STEP_AND, 5, OP_BITS, false },
	{ "+", MEMTAP_STEP_ADD, 9, OP_SUM, false },
	{ "-", MEMTAP_STEP_SUB, 9, OP_SUM, false },
	{ "*", MEMTAP_STEP_MUL, 10, OP_SUM, false },
	{ "/", MEMTAP_STEP_QUOT, 10, OP_DIVIDE, false },
	{ "%", MEMTAP_STEP_REM, 10, OP_DIVIDE, false },
};

/* The operator that comes, if it binds at least as tightly as @level; or NULL. */
static const struct args_operator *take_operator(struct args_parser *p, int level)
{
	args_blanks(p);
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		const size_t n = strlen(operators[i].token);

		if (strncmp(p->pos, operators[i].token, n))
			continue;
		if (operators[i].level < level)
			return NULL;
		p->pos += n;
		return &operators[i];
	}
	return NULL;
}

/* a & b == c is a & (b == c) in C, which is rarely meant. */
static int check_order(struct args_parser *p, const struct args_operator *op,
		       const struct args_value *l, const struct args_value *r, const char *at)
{
	if (op->kind != OP_BITS || (!l->compared && !r->compared))
		return 0;
	return args_wrong(p, at, "in C the comparison comes before %s: write (a %s b) == c, or "
			  "a %s (b == c)", op->token, op->token, op->token);
}

/* What would be an enormous number for the other one. */
static int check_sign(struct args_parser *p, const struct args_value *v, const __u64 *n,
		      const struct args_value *other)
{
	if (!n || !is_signed(v) || (__s64)*n >= 0 || is_signed(other))
		return 0;
	return args_wrong(p, v->begin, "the other side is unsigned, and never below 0: give it "
			  "a type with a sign, as :s64 or :s32");
}

static int check_constants(struct args_parser *p, const struct args_operator *op,
			   const struct args_value *l, const __u64 *left,
			   const struct args_value *r, const __u64 *right)
{
	const bool ordered = op->kind == OP_COMPARE && op->op != MEMTAP_STEP_EQ &&
			     op->op != MEMTAP_STEP_NE;
	int err = 0;

	if (op->kind == OP_DIVIDE && right && !*right)
		return args_wrong(p, r->begin, "this divides by 0");
	if (op->kind == OP_SHIFT && right && *right > 63)
		return args_wrong(p, r->begin, "a shift is by 0 to 63 bits");
	if (ordered || op->kind == OP_DIVIDE) {
		err = check_sign(p, l, left, r);
		if (!err)
			err = check_sign(p, r, right, l);
	}
	return err;
}

/* Both operands are on the stack. */
static int operate(struct args_parser *p, const struct args_operator *op, struct args_value *l,
		   const struct args_value *r, const char *at)
{
	const bool sign = is_signed(l) && (op->kind == OP_SHIFT || is_signed(r));
	const bool has_sign = op->kind == OP_DIVIDE || op->op == MEMTAP_STEP_SHR ||
			      (op->op >= MEMTAP_STEP_LT && op->op <= MEMTAP_STEP_GE);
	const __u8 type = sign && has_sign ? MEMTAP_TYPE_SIGNED : 0;
	struct args_code *c = p->code;
	__u64 *left, *right;

	set_number(l, op->kind == OP_COMPARE || op->kind == OP_LOGIC ? true : sign);
	l->compared = op->kind == OP_COMPARE;
	if (c->nr != l->start + 2 || c->at[l->start].op != MEMTAP_STEP_NUMBER ||
	    c->at[l->start + 1].op != MEMTAP_STEP_NUMBER)
		return emit(p, at, op->op, type, 0, 0);
	left = &c->at[l->start].number;
	right = &c->at[l->start + 1].number;
	*left = steps_binary(op->op, type, *left, *right);
	c->nr--;
	c->depth--;
	return 0;
}

static int combine(struct args_parser *p, const struct args_operator *op, struct args_value *l,
		   struct args_value *r, const char *at)
{
	const struct memtap_step *st = p->code->at;
	const bool left = r->start == l->start + 1 && st[l->start].op == MEMTAP_STEP_NUMBER;
	int err;

	if (op->kind == OP_COMPARE && (l->text || r->text || op->op == MEMTAP_STEP_LIKE))
		return compare_texts(p, l, r, op, at);
	err = need_number(p, l);
	if (!err)
		err = need_number(p, r);
	if (!err)
		err = check_order(p, op, l, r, at);
	if (!err)
		err = check_constants(p, op, l, left ? &st[l->start].number : NULL, r,
				      constant(p, r->start));
	if (!err)
		err = same_time(p, l, r, NULL);
	return err ? err : operate(p, op, l, r, at);
}

static int binary(struct args_parser *p, struct args_value *v, int level)
{
	const struct args_operator *op;
	int err = unary(p, v);

	while (!err && (op = take_operator(p, level))) {
		const char *at = p->pos - strlen(op->token);
		struct args_value right;

		p->pattern = op->op == MEMTAP_STEP_LIKE;
		err = binary(p, &right, op->level + 1);
		p->pattern = false;
		if (!err)
			err = combine(p, op, v, &right, at);
	}
	return err;
}

/* A ? B : C, of which all three are computed, and one is taken. */
static int select_one(struct args_parser *p, struct args_value *v)
{
	const char *at = p->pos - 1;
	struct args_value yes, no;
	int err;

	if (++p->nested > MAX_NESTED)
		return args_wrong(p, at, "this expression is nested too deeply");
	err = need_number(p, v);
	p->selecting++;
	if (!err)
		err = args_expression(p, &yes);
	p->selecting--;
	if (!err)
		err = need_number(p, &yes);
	if (!err && !args_take(p, ":"))
		err = args_wrong(p, p->pos, "a : of ?: is missing");
	if (!err)
		err = args_expression(p, &no);
	if (!err)
		err = need_number(p, &no);
	if (!err)
		err = same_time(p, v, &yes, &no);
	p->nested--;
	if (err)
		return err;
	set_number(v, is_signed(&yes) && is_signed(&no));
	v->compared = false;
	return emit(p, at, MEMTAP_STEP_SELECT, 0, 0, 0);
}

int args_expression(struct args_parser *p, struct args_value *v)
{
	int err = binary(p, v, 0);

	if (err)
		return err;
	args_blanks(p);
	if (*p->pos == '=')
		return args_wrong(p, p->pos, "a comparison is ==");
	return args_take(p, "?") ? select_one(p, v) : 0;
}

int args_filter(struct args_parser *p, const char *text)
{
	struct args_value v;
	int err;

	p->what = "--filter";
	p->text = p->pos = text;
	p->named = true;
	p->code = &p->filter;
	err = args_expression(p, &v);
	if (!err)
		err = need_number(p, &v);
	args_blanks(p);
	if (!err && *p->pos)
		err = args_wrong(p, p->pos, "this is not part of a condition");
	if (err)
		return err;
	p->late = v.late;
	return emit(p, p->pos, MEMTAP_STEP_PASS, 0, 0, 0);
}
