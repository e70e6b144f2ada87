// SPDX-License-Identifier: GPL-2.0-or-later
/* Suppressions for rows of live blocks, in Valgrind's format (--gen-suppressions). */
#include <string.h>

#include "leaks/suppress.h"
#include "render/suppression.h"

/* Valgrind's stacks end with main. */
static bool is_last(const struct sym_frame *f)
{
	return f->name && !strcmp(f->name, "main");
}

static struct suppression_frame frame_of(const struct sym_frame *f)
{
	const char *name = f->linkage ? f->linkage : f->name;

	/* Valgrind knows other names of C++ functions that were inlined */
	if (f->name && f->inlined && f->linkage)
		return (struct suppression_frame){ true, "*", "", "" };
	if (f->name)
		return (struct suppression_frame){ true, "", name, strchr(name, '@') ? "*" : "" };
	if (f->object && *f->object && *f->object != '[')
		return (struct suppression_frame){ false, "*/", f->object, "" };
	return (struct suppression_frame){ false, "*", "", "" };
}

/* operator new; what new[] is may be a jump to it, and malloc() below it is not Valgrind's. */
static bool is_new(const struct rstack *st, const struct report *r)
{
	const struct sym_frame *f = st->nr > 1 ? r->frames[st->frames[1]].sym : NULL;

	return f && suppress_is_new(f->linkage);
}

void suppression_make(const struct report *r, const struct rrow *row, struct suppression *s)
{
	const struct rstack *st = &r->stacks[row->ustack];

	*s = (struct suppression){ .kind = row->flags < NR_LEAK_KINDS ?
				   suppress_kind((enum leak_kind)row->flags) : NULL };
	if (leaks_kernel(r->snap))
		return;
	for (__u32 i = 0; i < st->nr && s->nr < SUPPRESSION_FRAMES; i++) {
		const struct sym_frame *f = r->frames[st->frames[i]].sym;

		/* "[stack not recorded]" and its like */
		if (!f || f->kernel)
			return;
		if (!i && f->name && !strcmp(f->name, "malloc") && is_new(st, r)) {
			s->frames[s->nr++] = (struct suppression_frame){ true, "_Zn*", "", "" };
			i++;
			continue;
		}
		s->frames[s->nr++] = frame_of(f);
		if (is_last(f))
			return;
	}
}

void suppression_put(const struct suppression *s, FILE *out)
{
	if (!s->nr)
		return;
	fputs("{\n   <" SUPPRESSION_NAME ">\n   Memcheck:Leak\n", out);
	if (s->kind)
		fprintf(out, "   match-leak-kinds: %s\n", s->kind);
	for (size_t i = 0; i < s->nr; i++) {
		const struct suppression_frame *f = &s->frames[i];

		fprintf(out, "   %s:%s", f->function ? "fun" : "obj", f->before);
		/* it writes '?' for control characters, which matches them */
		text_put(out, f->name, NULL);
		fprintf(out, "%s\n", f->after);
	}
	fputs("}\n", out);
}
