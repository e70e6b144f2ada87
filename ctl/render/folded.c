// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write folded stacks, "comm;outermost;...;innermost VALUE", for flamegraph.pl and similar
 * tools.  A graph cannot show decreases: such rows are left out, and stderr says how much they add
 * up to.  A comparison of two reports has both values, in the format of difffolded.pl.
 */
#include <string.h>

#include "render/int.h"

/* ';' separates frames, and the last blank the value. */
static void put_name(FILE *out, const char *name)
{
	text_put(out, name, ";");
}

static void put_stack(const struct report *r, __u32 id, bool *first, FILE *out)
{
	const struct rstack *st = &r->stacks[id];

	for (__u32 i = st->nr; i--;) {
		const struct rframe *f = &r->frames[st->frames[i]];

		if (!*first)
			fputc(';', out);
		*first = false;
		put_name(out, f->text);
		if (f->sym && f->sym->kernel)
			fputs("_[k]", out);
		else if (f->sym && f->sym->inlined)
			fputs("_[i]", out);
	}
}

/* As much as a graph can show of it. */
static __s64 drawn(__s64 weight)
{
	return weight < 0 ? 0 : weight;
}

static void put_row(const struct view *v, const struct rrow *row, FILE *out)
{
	const struct report *r = v->r;
	const char *label = r->groups[row->group].label;
	bool first = true;

	/* several events have a root each, whether or not they occurred */
	if (r->nr_events > 1) {
		put_name(out, r->events[row->event].name);
		first = false;
	}
	if (*label) {
		if (!first)
			fputc(';', out);
		put_name(out, label);
		first = false;
	}
	put_stack(r, row->ustack, &first, out);
	put_stack(r, row->kstack, &first, out);
	if (first)
		fputs(RENDER_NO_STACK, out);
	if (r->was)
		fprintf(out, " %lld", (long long)drawn(render_was_weight(v, row)));
	fprintf(out, " %lld\n", (long long)drawn(render_weight(v, row)));
}

int render_folded(const struct view *v, FILE *out)
{
	const struct report *r = v->r;

	for (size_t i = 0; i < r->nr_sections; i++) {
		const struct rsection *s = &r->sections[i];

		for (size_t k = s->first + s->nr - s->shown; k < s->first + s->nr; k++)
			if (render_weight(v, &r->rows[k]) > 0 ||
			    (r->was && render_was_weight(v, &r->rows[k]) > 0))
				put_row(v, &r->rows[k], out);
	}
	render_losses(v, "memtap: ", "the folded stacks", stderr);
	return 0;
}
