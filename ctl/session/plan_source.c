// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Variables where a program is probed: DWARF says where each is, in a register or in memory at a
 * distance from one.  It is read when the first of them is asked for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "elf/source.h"
#include "session/plan.h"

struct plan_source {
	const struct plan *plan;
	const struct plan_item *item;
	struct elfsym *e;
	struct source *source;
	bool tried;
	struct args_program program;
};

static bool open_source(struct plan_source *s)
{
	if (s->tried)
		return s->source;
	s->tried = true;
	if (elfsym_open(s->item->attach.fd, &s->e)) {
		s->e = NULL;
		return false;
	}
	if (source_open(s->e, &s->source))
		s->source = NULL;
	else
		s->program.types = source_types(s->source);
	return s->source;
}

/* ---- sentences ---- */

static void say(const struct plan_source *s, const char *name, const struct source_var *v,
		char why[ARGS_ERR])
{
	static const char *const sentences[] = {
		[SOURCE_NONE] = "is no variable that is visible here",
		[SOURCE_GONE] = "is optimized out here",
		[SOURCE_CONSTANT] = "is a constant here: the compiler has put it into the code",
		[SOURCE_EARLY] = "is not stored yet where this function begins; use the line of "
			"its first statement",
		[SOURCE_FORM] = "is in a place that memtap cannot read",
	};

	if (v->how == SOURCE_TYPE)
		snprintf(why, ARGS_ERR, "%s is a %s in registers; memtap reads numbers, pointers "
			 "and strings there", name, v->words);
	else
		snprintf(why, ARGS_ERR, "%s %s (offset 0x%llx, %s); `memtap list EVENT` shows what "
			 "can be read", name, sentences[v->how],
			 (unsigned long long)s->item->attach.offset, s->item->in);
}

/* ---- what arguments ask ---- */

/* What is in memory can be read by its members, whatever it is. */
static bool has_place(const struct source_var *v)
{
	return v->how == SOURCE_READ || (v->how == SOURCE_TYPE && v->reg && v->load);
}

/* Can it be read at another place of the line? */
static bool elsewhere(const struct plan_source *s, const char *name)
{
	struct source_var v;

	for (size_t i = 0; i < s->plan->nr; i++) {
		const struct plan_item *item = &s->plan->items[i];

		if (item == s->item || !item->at_line || strcmp(item->text, s->item->text))
			continue;
		source_var(s->source, item->vaddr, name, &v);
		if (has_place(&v))
			return true;
	}
	return false;
}

static int variable(void *ctx, const char *name, struct args_var *to, char why[ARGS_ERR])
{
	struct plan_source *s = ctx;
	struct source_var v;

	if (!open_source(s))
		return -ENOENT;
	source_var(s->source, s->item->vaddr, name, &v);
	if (!has_place(&v)) {
		say(s, name, &v, why);
		return v.how == SOURCE_NONE ? -ENOENT :
		       s->item->at_line && elsewhere(s, name) ? -ENODATA : -EINVAL;
	}
	*to = (struct args_var){ v.reg, v.offset, v.load, v.of };
	return 0;
}

static bool argument(void *ctx, int n, struct ctype *type)
{
	struct plan_source *s = ctx;

	return s->item->at_entry && open_source(s) &&
	       source_argument(s->source, s->item->vaddr, n, type);
}

static void leave_out(void *ctx, const char *text, size_t len)
{
	const struct plan_source *s = ctx;

	note("%s: %.*s cannot be read at one of the line's places: offset 0x%llx, %s",
	     s->item->text, (int)len, text, (unsigned long long)s->item->attach.offset,
	     s->item->in);
}

int plan_source_open(const struct plan *p, const struct plan_item *item, struct plan_source **out)
{
	struct plan_source *s;

	*out = NULL;
	if (!item->at_line && !item->at_entry)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return fail(ERR_PLAIN, ENOMEM, "%s", item->text);
	s->plan = p;
	s->item = item;
	s->program = (struct args_program){
		.ctx = s, .at_line = item->at_line,
		.variable = variable, .argument = argument, .leave_out = leave_out,
	};
	*out = s;
	return 0;
}

const struct args_program *plan_source_program(const struct plan_source *s)
{
	return s ? &s->program : NULL;
}

void plan_source_close(struct plan_source *s)
{
	if (!s)
		return;
	source_close(s->source);
	if (s->e)
		elfsym_close(s->e);
	free(s);
}
