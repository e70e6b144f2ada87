// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse filters: conditions on the arguments of an event. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "session/args_int.h"

struct value {
	bool text, literal;		/* a string, or one that was written */
	bool comm;			/* the name of a thread */
	const char *wild;		/* in a literal: what looks like a pattern, or NULL */
	__u16 slot;
	__u64 at;			/* of the literal in the texts */
	bool is_signed;
	const char *begin;
};

static int expression(struct args_parser *p, struct value *v);

static int new_slot(struct args_parser *p, const char *at, __u16 *slot)
{
	if (p->slots == p->max_slots)
		return args_wrong(p, at, "a filter compares too many arguments");
	*slot = (__u16)p->slots++;
	return 0;
}

static int term_value(struct args_parser *p, struct value *v)
{
	struct args_term t;
	int err;

	err = args_term(p, &t);
	if (err)
		return err;
	p->late |= t.late;
	v->text = t.type.type & MEMTAP_TYPE_TEXT;
	v->is_signed = t.type.type & MEMTAP_TYPE_SIGNED;
	v->comm = t.place == P_COMM;
	v->slot = t.index;
	if (t.place == P_SHOWN) {
		if (!v->text)
			args_push(p, &t, &p->filter);
		return 0;
	}
	/* at the return, or as a string: what was kept */
	if (v->text || (p->src->can & STEPS_LATE && !t.late && p->late)) {
		err = new_slot(p, t.at, &v->slot);
		if (err)
			return err;
		if (t.late && v->text)
			return args_wrong(p, t.at, "give it a name first: EVENT(NAME=...)");
		args_keep(p, &t, v->slot, &p->hidden);
		if (!v->text)
			args_emit(&p->filter, MEMTAP_STEP_SLOT, 0, v->slot, 0);
		return 0;
	}
	args_push(p, &t, &p->filter);
	return 0;
}

static int literal(struct args_parser *p, struct value *v)
{
	struct steps *s = &p->a->steps;
	const char quote = *p->pos, *begin = p->pos++;

	v->text = v->literal = true;
	v->at = s->texts_len;
	for (; *p->pos && *p->pos != quote; p->pos++) {
		if (*p->pos == '\\' && p->pos[1])
			p->pos++;
		else if (strchr("*?", *p->pos) && !v->wild)
			v->wild = p->pos;
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

#define MAX_DEPTH	16

static int primary(struct args_parser *p, struct value *v)
{
	const char *begin;
	__u64 number;
	int err;

	args_blanks(p);
	begin = p->pos;
	memset(v, 0, sizeof(*v));
	v->begin = begin;
	if (*p->pos == '"' || *p->pos == '\'')
		return literal(p, v);
	if (*p->pos == '-' && isdigit((unsigned char)p->pos[1])) {
		p->pos++;
		if (!args_take_u64(p, &number))
			return args_wrong(p, begin, "this is not a number");
		args_emit(&p->filter, MEMTAP_STEP_NUMBER, 0, 0, 0 - number);
		v->is_signed = true;
		return 0;
	}
	if (isdigit((unsigned char)*p->pos)) {
		if (!args_take_u64(p, &number))
			return args_wrong(p, begin, "this is not a number");
		args_emit(&p->filter, MEMTAP_STEP_NUMBER, 0, 0, number);
		return 0;
	}
	if (*p->pos != '(')
		return term_value(p, v);
	if (++p->depth > MAX_DEPTH)
		return args_wrong(p, begin, "parentheses are nested too deeply");
	p->pos++;
	err = expression(p, v);
	p->depth--;
	if (err)
		return err;
	return args_take(p, ")") ? 0 : args_wrong(p, p->pos, "a ) is missing");
}

static int need_number(struct args_parser *p, const struct value *v)
{
	if (!v->text)
		return 0;
	return args_wrong(p, v->begin, "this is a string; strings can only be compared with == "
		"and !=");
}

struct operator {
	const char *token;
	__u8 op;
};

static const struct operator sums[] = {
	{ "<<", MEMTAP_STEP_SHL }, { "+", MEMTAP_STEP_ADD }, { "-", MEMTAP_STEP_SUB },
};

/* The operator that comes, and is not the beginning of another one; or NULL. */
static const struct operator *take_operator(struct args_parser *p, const struct operator *ops,
					    size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const char *before = p->pos;
		const size_t n = strlen(ops[i].token);

		if (!args_take(p, ops[i].token))
			continue;
		/* not && for &, || for |, << for < */
		if (n == 1 && *p->pos == *ops[i].token && !isdigit((unsigned char)*p->pos)) {
			p->pos = before;
			continue;
		}
		return &ops[i];
	}
	return NULL;
}

/* LEFT [OP RIGHT]..., where all are numbers */
static int chain(struct args_parser *p, struct value *v, const struct operator *ops, size_t nr,
		 int (*next)(struct args_parser *p, struct value *v))
{
	const struct operator *op;
	struct value right;
	int err = next(p, v);

	while (!err && (op = take_operator(p, ops, nr))) {
		err = need_number(p, v);
		if (!err)
			err = next(p, &right);
		if (!err)
			err = need_number(p, &right);
		if (err)
			break;
		args_emit(&p->filter, op->op, 0, 0, 0);
		v->is_signed |= right.is_signed;
	}
	return err;
}

static int sum(struct args_parser *p, struct value *v)
{
	return chain(p, v, sums, 3, primary);
}

static int bits_and(struct args_parser *p, struct value *v)
{
	static const struct operator op[] = { { "&", MEMTAP_STEP_AND } };

	return chain(p, v, op, 1, sum);
}

static int bits_or(struct args_parser *p, struct value *v)
{
	static const struct operator op[] = { { "|", MEMTAP_STEP_OR } };

	return chain(p, v, op, 1, bits_and);
}

static const struct operator comparisons[] = {
	{ "==", MEMTAP_STEP_EQ }, { "!=", MEMTAP_STEP_NE }, { "<=", MEMTAP_STEP_LE },
	{ ">=", MEMTAP_STEP_GE }, { "<", MEMTAP_STEP_LT }, { ">", MEMTAP_STEP_GT },
};

/* What can never be the same is not compared in silence. */
static int check_texts(struct args_parser *p, const struct value *name,
		       const struct value *written)
{
	const char *text = (const char *)p->a->steps.texts + written->at;

	if (written->wild)
		return args_wrong(p, written->wild, "strings are compared letter by letter, there "
				  "are no patterns: write \\%c where the string has a %c",
				  *written->wild, *written->wild);
	if (name->comm && strlen(text) >= MEMTAP_COMM_LEN)
		return args_wrong(p, written->begin, "a comm has %d letters at most: this would "
				  "never be one", MEMTAP_COMM_LEN - 1);
	return 0;
}

static int compare_texts(struct args_parser *p, const struct value *l, const struct value *r,
			 const struct operator *op, const char *at)
{
	const struct value *name = l->literal ? r : l, *written = l->literal ? l : r;

	if (!l->text || !r->text)
		return args_wrong(p, at, "a string can only be compared with a string");
	if (op->op != MEMTAP_STEP_EQ && op->op != MEMTAP_STEP_NE)
		return args_wrong(p, at, "strings can only be compared with == and !=");
	if (name->literal || !written->literal)
		return args_wrong(p, at, "a string is compared with a string in quotes");
	if (check_texts(p, name, written))
		return -EINVAL;
	args_emit(&p->filter, MEMTAP_STEP_SAME, 0, name->slot, written->at);
	if (op->op == MEMTAP_STEP_NE)
		args_emit(&p->filter, MEMTAP_STEP_NOT, 0, 0, 0);
	return 0;
}

static int compare(struct args_parser *p, struct value *v)
{
	const struct operator *op;
	struct value right;
	const char *at;
	bool sign;
	int err;

	err = bits_or(p, v);
	if (err)
		return err;
	args_blanks(p);
	at = p->pos;
	op = take_operator(p, comparisons, 6);
	if (!op)
		return *p->pos == '=' ? args_wrong(p, at, "a comparison is ==") : 0;
	err = bits_or(p, &right);
	if (err)
		return err;
	if (v->text || right.text) {
		err = compare_texts(p, v, &right, op, at);
	} else {
		sign = (v->is_signed || right.is_signed) && op->op >= MEMTAP_STEP_LT;
		args_emit(&p->filter, op->op, sign ? MEMTAP_TYPE_SIGNED : 0, 0, 0);
	}
	v->text = v->literal = v->is_signed = false;
	return err;
}

static int negated(struct args_parser *p, struct value *v)
{
	int nots = 0, err;

	args_blanks(p);
	while (*p->pos == '!' && p->pos[1] != '=') {
		p->pos++;
		nots++;
		args_blanks(p);
	}
	err = nots ? primary(p, v) : compare(p, v);
	if (!err && nots)
		err = need_number(p, v);
	for (; nots; nots--)
		args_emit(&p->filter, MEMTAP_STEP_NOT, 0, 0, 0);
	return err;
}

static int conjunction(struct args_parser *p, struct value *v)
{
	static const struct operator op[] = { { "&&", MEMTAP_STEP_BOTH } };

	return chain(p, v, op, 1, negated);
}

static int expression(struct args_parser *p, struct value *v)
{
	static const struct operator op[] = { { "||", MEMTAP_STEP_EITHER } };

	return chain(p, v, op, 1, conjunction);
}

static int parse_filter(struct args_parser *p, const char *text, bool late)
{
	struct value v;
	int err;

	p->what = "--filter";
	p->text = p->pos = text;
	p->filter.nr = p->hidden.nr = 0;
	p->slots = p->a->steps.nr_shown;
	p->a->steps.texts_len = 0;
	p->filtering = true;
	p->late = late;
	p->depth = 0;
	err = expression(p, &v);
	if (!err)
		err = need_number(p, &v);
	args_blanks(p);
	if (!err && *p->pos)
		err = args_wrong(p, p->pos, "this is not part of a condition");
	args_emit(&p->filter, MEMTAP_STEP_PASS, 0, 0, 0);
	return err;
}

/* Whether it is the entry's or the return's is known at its end. */
int args_filter(struct args_parser *p, const char *text)
{
	const int err = parse_filter(p, text, false);

	return err || !p->late ? err : parse_filter(p, text, true);
}
