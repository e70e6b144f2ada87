// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples as `perf script` prints them, one for each row, for whom that is the way in:
 * stackcollapse-perf.pl, Firefox Profiler, flamescope.  The period is what the row counts for.
 *
 *	comm pid/tid time: period event:
 *		address function+0xoffset (object)
 */
#include <string.h>

#include "render/int.h"

/* A word, in a line that is split at blanks. */
static void put_word(FILE *out, const char *text)
{
	if (!*text)
		fputc('?', out);
	for (const char *p = text; *p;) {
		const size_t len = strcspn(p, " ");
		char part[256];

		snprintf(part, sizeof(part), "%.*s", (int)(len < 255 ? len : 255), p);
		text_put(out, part, NULL);
		p += len < 255 ? len : 255;
		for (; *p == ' '; p++)
			fputc('_', out);
	}
}

static void put_object(const struct sym_frame *f, FILE *out)
{
	if (f->inlined)
		fputs("inlined", out);
	else if (f->kernel && (!*f->object || !strcmp(f->object, "kernel")))
		fputs("[kernel.kallsyms]", out);
	else if (f->kernel)
		fprintf(out, "[%s]", f->object);
	else
		put_word(out, *f->object ? f->object : "[unknown]");
}

static void put_frame(const struct report *r, const struct rframe *f, FILE *out)
{
	const struct sym_frame *s = f->sym;
	const bool told = s && (!s->kernel || r->o->addresses);

	fprintf(out, "\t%16llx ", told ? (unsigned long long)s->addr : 0ULL);
	text_put(out, f->text, NULL);
	if (s && s->name && !s->inlined)
		fprintf(out, "+0x%llx", (unsigned long long)s->offset);
	fputs(" (", out);
	if (s)
		put_object(s, out);
	else
		fputs("memtap", out);
	fputs(")\n", out);
}

static void put_row(const struct view *v, const struct rrow *row, const struct chain *c, FILE *out)
{
	const struct rgroup *g = &v->r->groups[row->group];

	put_word(out, g->comm ? g->comm : *g->label ? g->label : "all");
	fprintf(out, " %d/%d %.6f: %lld ", g->pid, g->tid ? g->tid : g->pid,
		v->r->snap->header.now_ns / 1e9, (long long)render_weight(v, row));
	put_word(out, v->r->events[row->event].name);
	fputs(": \n", out);
	for (size_t i = 0; i < c->nr; i++)
		put_frame(v->r, &v->r->frames[c->at[i]], out);
	if (!c->nr)
		fprintf(out, "\t%16llx %s (memtap)\n", 0ULL, RENDER_NO_STACK);
	fputc('\n', out);
}

/* Readers know by its first line what it is. */
static void put_head(const struct view *v, FILE *out)
{
	fputs("# ========\n# ", out);
	render_title(v, out);
	if (v->o->command) {
		fputs("\n# cmdline : ", out);
		text_put(out, v->o->command, NULL);
	}
	fputc('\n', out);
	render_losses(v, "# ", "this file", out);
	fputs("# ========\n#\n", out);
}

int render_perf_script(const struct view *v, FILE *out)
{
	const struct report *r = v->r;
	struct chain c = { .nr = 0 };
	int err = 0;

	if (v->o->number)
		render_losses(v, "# ", "this file", out);
	else
		put_head(v, out);
	for (size_t i = 0; i < r->nr_sections; i++) {
		const struct rsection *s = &r->sections[i];

		for (size_t k = 0; !err && k < s->shown; k++) {
			const struct rrow *row = report_shown(r, s, k);

			if (render_weight(v, row) <= 0)
				continue;
			err = render_chain(r, row, &c);
			if (!err)
				put_row(v, row, &c, out);
		}
	}
	render_chain_free(&c);
	return err;
}
