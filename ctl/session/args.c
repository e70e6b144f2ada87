// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parse arguments and filters, and compile them to steps for the module.
 *
 * The steps that a filter needs run first, then the filter, then the rest, so that an event which
 * does not pass costs no more.  For returns, steps that need only entry data run at entry.  A
 * filter that needs nothing from the return runs at entry, too.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/args_int.h"

static int add_item(struct args_parser *p, const char *name, size_t len, struct args_value *v)
{
	const __u32 n = p->a->steps.nr_shown;
	struct args_shown *s = &p->a->shown[n];

	if (len >= sizeof(s->name))
		return args_wrong(p, v->begin, "a name has %zu characters at most: NAME=%.*s...",
				  sizeof(s->name) - 1, 12, v->begin);
	for (__u32 i = 0; i < n; i++)
		if (args_is(p->a->shown[i].name, name, len))
			return args_wrong(p, v->begin, "%.*s is used twice", (int)len, name);
	memcpy(s->name, name, len);
	s->name[len] = '\0';
	s->show = v->type.show;
	s->type = v->type.type;
	s->words = v->words;
	s->symbols = v->symbols;
	s->user = v->type.user;
	s->text_max = (__u16)p->a->steps.text_max;
	p->items[n].late = v->late;
	p->a->steps.nr_shown = n + 1;
	return 0;
}

/* What the expression gives, in the slot of the argument that comes next. */
static int keep_item(struct args_parser *p, const struct args_value *v)
{
	const __u16 n = (__u16)p->a->steps.nr_shown;
	struct args_code *c = p->code;

	if (v->literal)
		return args_wrong(p, v->begin, "a string in quotes is no argument");
	if (!v->text) {
		args_emit(c, MEMTAP_STEP_KEEP, v->type.type, n, 0);
		return 0;
	}
	if (v->shown)
		return args_wrong(p, v->begin, "this string is an argument already");
	if (!c->over)
		c->at[c->nr - 1].index = n;
	p->top++;
	return 0;
}

/* NAME =~ "PATTERN", and not NAME=~NUMBER? */
static bool is_pattern(const char *equals)
{
	if (equals[1] != '~')
		return false;
	equals += 2;
	equals += strspn(equals, " \t");
	return *equals == '"' || *equals == '\'';
}

/* [NAME=]EXPRESSION; without a name it is what stands there */
static int item(struct args_parser *p)
{
	const char *name, *equals;
	struct args_value v;
	size_t len;
	int err;

	args_blanks(p);
	if (p->a->steps.nr_shown == MEMTAP_MAX_SHOWN || p->a->steps.nr_shown >= p->top)
		return args_wrong(p, p->pos, "an event shows %u arguments at most",
				  MEMTAP_MAX_SHOWN);
	name = p->pos;
	len = args_word_len(name);
	for (equals = name + len; isspace((unsigned char)*equals); equals++)
		;
	if (len && *equals == '=' && equals[1] != '=' && !is_pattern(equals))
		p->pos = equals + 1;
	else
		equals = NULL;
	p->code = &p->items[p->a->steps.nr_shown].code;
	*p->code = (struct args_code){ .nr = 0 };
	err = args_expression(p, &v);
	if (err)
		return err;
	if (!equals && v.plain && v.name) {	/* without begin. and end. */
		name = v.name;
		len = strlen(name);
	} else if (!equals && !v.plain) {
		len = (size_t)(p->pos - name);
		while (len && isspace((unsigned char)name[len - 1]))
			len--;
	}
	if (len && *name == '%')
		name++, len--;
	err = keep_item(p, &v);
	return err ? err : add_item(p, name, len, &v);
}

/* Of a list: as above, or ?[NAME=]TERM, which is left out where there is no such thing. */
static int list_item(struct args_parser *p)
{
	const bool maybe = args_take(p, "?");
	const char *const at = p->pos;
	int err = item(p);

	if (!err || (!maybe && !p->elsewhere))
		return err;
	p->pos = at + strcspn(at, ",");
	if (p->elsewhere)
		p->src->program->leave_out(p->src->program->ctx, at, (size_t)(p->pos - at));
	p->elsewhere = false;
	*p->err = '\0';
	return 0;
}

static int list(struct args_parser *p, const char *text)
{
	int err;

	p->what = p->src->event;
	p->text = p->pos = text;
	do {
		err = list_item(p);
	} while (!err && args_take(p, ","));
	args_blanks(p);
	if (!err && *p->pos)
		return args_wrong(p, p->pos, "a , is expected here");
	return err;
}

static int add_named(struct args_parser *p, const char *name)
{
	p->what = p->src->event;
	p->text = p->pos = name;
	return item(p);
}

static bool is_shown(const struct args_parser *p, const char *name)
{
	for (__u32 i = 0; i < p->a->steps.nr_shown; i++)
		if (!strcmp(p->a->shown[i].name, name))
			return true;
	return false;
}

static int list_format(struct args_parser *p, const struct format *f)
{
	/* one more is a pair's latency */
	const __u32 most = MEMTAP_MAX_SHOWN - (p->src->end ? 1 : 0);
	int err = 0;

	for (size_t i = 0; !err && i < f->nr && p->a->steps.nr_shown < most; i++)
		if (f->at[i].kind != FORMAT_OTHER && strlen(f->at[i].name) < ARGS_NAME &&
		    !is_shown(p, f->at[i].name))
			err = add_named(p, f->at[i].name);
	return err;
}

/* All that the event has, as far as it can be shown. */
static int list_all(struct args_parser *p)
{
	/* they outlive this: sentences quote what was parsed last */
	static const char *const operands[] = { "arg1", "arg2", "arg3", "arg4", "arg5", "arg6" };
	const struct args_source *src = p->src;
	int err = src->format ? list_format(p, src->format) : 0;

	if (!err && src->end)
		err = list_format(p, src->end);
	for (unsigned int i = 0; !err && src->operands && i < 6; i++) {
		__u8 type;

		if (!args_operand(src->operands, i, &type, NULL))
			err = add_named(p, operands[i]);
	}
	if (!err && src->can & STEPS_RETURN)
		err = add_named(p, "ret");
	return err;
}

/* The slot of one of the names in @text, up to a comma or its end, which is shown, too. */
static int named_slot(struct args_parser *p, __u32 *slot)
{
	const char *s = p->pos + strspn(p->pos, " \t");
	size_t len = strcspn(s, ",");

	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	for (__u32 i = 0; i < p->a->steps.nr_shown; i++)
		if (args_is(p->a->shown[i].name, s, len)) {
			p->pos = s + len;
			*slot = i + 1;
			return 0;
		}
	*slot = p->a->steps.nr_shown + 1;
	return item(p);
}

static int value_slot(struct args_parser *p, const char *value)
{
	struct steps *s = &p->a->steps;
	int err;

	p->what = "--value";
	p->text = p->pos = value;
	p->named = true;
	err = named_slot(p, &s->value_slot);
	args_blanks(p);
	if (!err && *p->pos)
		err = args_wrong(p, p->pos, "exactly one value is expected here");
	return err;
}

/* Words of --by that mean who it was, and no argument: see opt_table.c. */
static bool take_group(struct args_parser *p)
{
	static const char *const words[] = { "process", "thread" };

	args_blanks(p);
	for (size_t i = 0; i < 2; i++) {
		const size_t len = args_word_len(p->pos);

		if (args_is(words[i], p->pos, len) &&
		    (p->pos[len] == ',' || !p->pos[len])) {
			p->pos += len;
			return true;
		}
	}
	return false;
}

/* One, or several. */
static int by_slots(struct args_parser *p, const char *by)
{
	struct args *a = p->a;
	__u32 slot, mask = 0;
	size_t len = 0;
	int err = 0;

	p->what = "--by";
	p->text = p->pos = by;
	p->named = true;
	do {
		if (take_group(p))
			continue;
		err = named_slot(p, &slot);
		args_blanks(p);
		if (!err && *p->pos && *p->pos != ',')
			err = args_wrong(p, p->pos, "a , is expected here");
		if (!err && (mask & 1U << (slot - 1)))
			err = args_wrong(p, p->pos, "%s is there twice", a->shown[slot - 1].name);
		if (err)
			return err;
		mask |= 1U << (slot - 1);
		a->by[a->nr_by++] = (__u8)(slot - 1);
		len += (size_t)snprintf(a->by_name + len, sizeof(a->by_name) - len, "%s%s",
					len ? ", " : "", a->shown[slot - 1].name);
	} while (args_take(p, ","));
	if (a->nr_by == 1)
		a->steps.by_slot = a->by[0] + 1U;
	else
		a->steps.by_mask = mask;
	return 0;
}

/* ---- all together ---- */

static void append(struct args *a, const struct args_code *c, bool *over)
{
	struct steps *s = &a->steps;

	if (c->over || s->nr + c->nr > MEMTAP_MAX_STEPS) {
		*over = true;
		return;
	}
	memcpy(s->at + s->nr, c->at, c->nr * sizeof(*c->at));
	s->nr += c->nr;
}

static void append_items(struct args_parser *p, bool late, bool used, bool *over)
{
	for (__u32 i = 0; i < p->a->steps.nr_shown; i++)
		if (p->items[i].late == late && p->items[i].used == used)
			append(p->a, &p->items[i].code, over);
}

static int arrange(struct args_parser *p)
{
	bool over = false;

	append_items(p, false, true, &over);
	if (!p->late)
		append(p->a, &p->filter, &over);
	append_items(p, false, false, &over);
	append(p->a, &p->hidden, &over);
	if (p->src->can & STEPS_LATE)
		p->a->steps.nr_entry = p->a->steps.nr;
	append_items(p, true, true, &over);
	if (p->late)
		append(p->a, &p->filter, &over);
	append_items(p, true, false, &over);
	append(p->a, &p->last, &over);
	if (!over && !steps_texts_fit(&p->a->steps)) {
		snprintf(p->err, ARGS_ERR, "%s: its strings have %u bytes together at most: "
			 "--string-size less, or name fewer", p->src->event, MEMTAP_ALL_TEXT);
		return -EINVAL;
	}
	if (over || !steps_check(&p->a->steps, p->src->can)) {
		snprintf(p->err, ARGS_ERR, "%s: too many arguments and filter conditions for one "
			 "event; use fewer", p->src->event);
		return -EINVAL;
	}
	return 0;
}

/* Which step of @linear the value is on tells events apart; 0: which power of two. */
static void divide(struct args_parser *p, __u64 linear)
{
	struct steps *s = &p->a->steps;

	if (s->value_slot)
		args_emit(&p->last, MEMTAP_STEP_SLOT, 0, (__u16)(s->value_slot - 1), 0);
	else
		args_emit(&p->last, MEMTAP_STEP_FACT, 0, MEMTAP_FACT_VALUE, 0);
	if (linear) {
		args_emit(&p->last, MEMTAP_STEP_NUMBER, 0, 0, linear);
		args_emit(&p->last, MEMTAP_STEP_DIV, 0, 0, 0);
	} else {
		args_emit(&p->last, MEMTAP_STEP_LOG2, 0, 0, 0);
	}
	args_emit(&p->last, MEMTAP_STEP_KEEP, 8 | MEMTAP_TYPE_SIGNED, MEMTAP_MAX_SLOTS - 1, 0);
	s->by_slot = MEMTAP_MAX_SLOTS;
}

static bool is_latency(const struct args_parser *p, __u32 slot)
{
	const struct memtap_step *st = p->items[slot].code.at;

	if ((p->src->can & STEPS_VALUE) && !strcmp(p->a->shown[slot].name, "latency"))
		return true;
	return st->op == MEMTAP_STEP_FACT && st->index == MEMTAP_FACT_LATENCY &&
	       p->items[slot].code.nr == 2;
}

static int parse_all(struct args_parser *p, const struct args_ask *ask)
{
	const bool late = p->src->can & STEPS_LATE, pair = p->src->can & STEPS_PAIR;
	const char *value = ask->value || !late || !(ask->hist || pair) ? ask->value : "latency";
	struct steps *s = &p->a->steps;
	int err = 0;

	p->what = p->src->event;
	p->text = p->pos = ask->list ? ask->list : "";
	s->text_max = ask->string_size;
	p->top = MEMTAP_MAX_SLOTS - (ask->linear || ask->hist ? 1 : 0);
	if (ask->list)
		err = list(p, ask->list);
	else if (ask->all)
		err = list_all(p);
	if (!err && ask->latency && p->src->can & STEPS_LATE && !is_shown(p, "latency"))
		err = add_named(p, "latency");
	if (!err && value)
		err = value_slot(p, value);
	if (!err && ask->hist && !value && !(p->src->can & STEPS_VALUE))
		err = args_wrong(p, p->pos, "a histogram needs a number: --value NAME");
	if (!err && value && p->a->shown[s->value_slot - 1].type & MEMTAP_TYPE_TEXT) {
		snprintf(p->err, ARGS_ERR, "--value: %s is a string, which cannot be summed",
			 value);
		err = -EINVAL;
	}
	if (!err && value)
		s->value_unit = is_latency(p, s->value_slot - 1) ? MEMTAP_UNIT_NS :
				MEMTAP_UNIT_NUMBER;
	if (!err && ask->by)
		err = by_slots(p, ask->by);
	if (!err && ask->filter)
		err = args_filter(p, ask->filter);
	p->a->log2 = !err && ask->hist && !ask->linear && !ask->by && s->value_slot &&
		     p->a->shown[s->value_slot - 1].type & MEMTAP_TYPE_SIGNED;
	if (!err && (ask->linear || p->a->log2))
		divide(p, ask->linear);
	return err ? err : arrange(p);
}

int args_compile(const struct args_source *src, const struct args_ask *ask, struct args *a,
		 char err[ARGS_ERR])
{
	struct args_parser *p = calloc(1, sizeof(*p));
	int ret;

	memset(a, 0, sizeof(*a));
	*err = '\0';
	if (!p) {
		snprintf(err, ARGS_ERR, "no memory");
		return -EINVAL;
	}
	p->src = src;
	p->a = a;
	p->err = err;
	ret = parse_all(p, ask);
	free(p);
	return ret;
}

bool args_need_expressions(const struct args *a)
{
	for (__u32 i = 0; i < a->steps.nr; i++)
		if (a->steps.at[i].op >= MEMTAP_STEP_MUL)
			return true;
	return a->steps.by_mask || a->steps.text_max;
}

/* Is this the first of a list of arguments, and not of a function's types in C++? */
static bool is_item(const char *s, const char *end)
{
	size_t len;
	__u16 reg;
	__u8 type;

	if (memchr(s, '=', (size_t)(end - s)) || memmem(s, (size_t)(end - s), "->", 2))
		return true;
	s += strspn(s, "(*-~! \t");
	len = args_word_len(s);
	return args_number(s, len) >= 0 || args_is("free", s, len) || args_is("node", s, len) ||
	       args_is("ret", s, len) || args_is("latency", s, len) ||
	       args_is("comm", s, len) || args_is("pid", s, len) || args_is("tid", s, len) ||
	       args_is("uid", s, len) || args_is("cpu", s, len) ||
	       args_register(s, len, &reg, &type);
}

/* FILE:SOURCE:LINE */
static bool is_line(const char *event, const char *open)
{
	const char *digits = open;

	while (digits > event && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	return digits < open && digits > event && digits[-1] == ':';
}

static bool is_tracepoint(const char *event, const char *open)
{
	return !strncmp(event, "t:", 2) || !strncmp(event, "k:", 2) ||
	       !strncmp(event, "kr:", 3) || (strncmp(event, "u:", 2) &&
		strncmp(event, "ur:", 3) && !memchr(event, '/', (size_t)(open - event)));
}

char *args_split(char *event)
{
	const size_t len = strlen(event);
	int depth = 0;
	char *open;

	if (!len || event[len - 1] != ')')
		return NULL;
	for (open = event + len - 1; open > event; open--) {
		depth += *open == ')' ? 1 : *open == '(' ? -1 : 0;
		if (!depth)
			break;
	}
	if (open == event || *open != '(' || open + 2 == event + len)
		return NULL;
	if (!is_item(open + 1 + strspn(open + 1, " \t"), event + len - 1) &&
	    !is_tracepoint(event, open) && !is_line(event, open))
		return NULL;
	*open = '\0';
	event[len - 1] = '\0';
	return open + 1;
}
