// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write live blocks and wrong frees as Memcheck's XML, protocol 4, for programs that show that:
 * Jenkins' and Qt Creator's plugins for Valgrind, and others.  Frees come first, then what a
 * process has left, as there.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "leaks/suppress.h"
#include "render/suppression.h"

struct xml {
	const struct view *v;
	FILE *out;
	size_t errors;			/* so far: each has a number */
	size_t leaks, nr_leaks;
};

/* ---- text ---- */

static void put_text(FILE *out, const char *text)
{
	char *clean = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&clean, &len);

	if (!f)
		return;
	text_put(f, text, NULL);
	if (!fclose(f))
		for (size_t i = 0; i < len; i++)
			switch (clean[i]) {
			case '&':
				fputs("&amp;", out);
				break;
			case '<':
				fputs("&lt;", out);
				break;
			case '>':
				fputs("&gt;", out);
				break;
			default:
				fputc(clean[i], out);
			}
	free(clean);
}

static void put_element(const struct xml *x, int indent, const char *name, const char *text)
{
	fprintf(x->out, "%*s<%s>", indent, "", name);
	put_text(x->out, text);
	fprintf(x->out, "</%s>\n", name);
}

static void put_length(const struct xml *x, int indent, const char *name, const char *text,
		       size_t len)
{
	char *copy = strndup(text, len);

	put_element(x, indent, name, copy ? copy : "");
	free(copy);
}

/* What @put writes, as the text of an element. */
__attribute__((format(printf, 4, 5)))
static void put_format(const struct xml *x, int indent, const char *name, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	put_element(x, indent, name, text ? text : "");
	free(text);
}

/* ---- head ---- */

/* Words of a command line, as far as blanks tell them. */
static void put_words(const struct xml *x, const char *line, const char *end)
{
	const char *name = "exe";

	while (line < end) {
		const size_t left = (size_t)(end - line);
		const size_t len = strcspn(line, " ") < left ? strcspn(line, " ") : left;

		if (len) {
			put_length(x, 4, name, line, len);
			name = "arg";
		}
		line += len + (line + len < end);
	}
}

static const struct memtap_rec_task *main_task(const struct snap *s)
{
	const struct memtap_rec_space *space = leaks_main_space(s);

	return space ? snap_task(s, space->task) : NULL;
}

static void put_args(const struct xml *x)
{
	const char *line = x->v->o->command ? x->v->o->command : "memtap";
	const char *launched = strstr(line, " -- ");
	const struct memtap_rec_task *t = main_task(x->v->r->snap);

	fputs("\n<args>\n  <vargv>\n", x->out);
	put_words(x, line, launched ? launched : line + strlen(line));
	fputs("  </vargv>\n  <argv>\n", x->out);
	if (launched)
		put_words(x, launched + 4, launched + strlen(launched));
	else
		put_element(x, 4, "exe", t ? t->comm : "unknown");
	fputs("  </argv>\n</args>\n", x->out);
}

static void put_status(const struct xml *x, const char *state, __u64 ns)
{
	const unsigned long long ms = ns / 1000000, s = ms / 1000;

	fprintf(x->out, "\n<status>\n  <state>%s</state>\n", state);
	fprintf(x->out, "  <time>%02llu:%02llu:%02llu:%02llu.%03llu</time>\n</status>\n",
		s / 86400, s / 3600 % 24, s / 60 % 60, s % 60, ms % 1000);
}

static void put_head(const struct xml *x)
{
	const struct memtap_rec_space *space = leaks_main_space(x->v->r->snap);
	char *title = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&title, &len);

	fputs("<?xml version=\"1.0\"?>\n\n<valgrindoutput>\n\n"
	      "<protocolversion>4</protocolversion>\n<protocoltool>memcheck</protocoltool>\n\n"
	      "<preamble>\n", x->out);
	put_element(x, 2, "line", "memtap: live blocks and wrong frees, written as Memcheck's XML");
	if (f) {
		render_title(x->v, f);
		if (!fclose(f))
			put_element(x, 2, "line", title);
		free(title);
	}
	fputs("</preamble>\n\n", x->out);
	/* who started it is not recorded */
	fprintf(x->out, "<pid>%d</pid>\n<ppid>0</ppid>\n<tool>memcheck</tool>\n",
		space ? space->pid : 0);
	put_args(x);
	put_status(x, "RUNNING", 0);
}

/* ---- stacks ---- */

/* Where the file is, if only one of this name was mapped. */
static const char *path_of(const struct snap *s, const char *object)
{
	const char *path = NULL;

	for (size_t i = 0; i < s->nr_files; i++) {
		if (strcmp(base_name(s->files[i].path), object))
			continue;
		if (path && strcmp(path, s->files[i].path))
			return object;
		path = s->files[i].path;
	}
	return path ? path : object;
}

static void put_source(const struct xml *x, const struct rframe *f)
{
	const char *slash = strrchr(f->sym->file, '/');

	if (slash)
		put_length(x, 6, "dir", f->sym->file, slash > f->sym->file ?
			   (size_t)(slash - f->sym->file) : 1);
	put_element(x, 6, "file", slash ? slash + 1 : f->sym->file);
	if (f->sym->line > 0 && !f->any_line)
		put_format(x, 6, "line", "%d", f->sym->line);
}

static void put_frame(const struct xml *x, const struct rframe *f)
{
	const struct sym_frame *s = f->sym;

	fputs("    <frame>\n", x->out);
	put_format(x, 6, "ip", "0x%llX", s ? (unsigned long long)f->ip : 0ULL);
	if (s && s->object && *s->object)
		put_element(x, 6, "obj", path_of(x->v->r->snap, s->object));
	if (!s || s->name)
		put_element(x, 6, "fn", f->text);
	if (s && s->file)
		put_source(x, f);
	fputs("    </frame>\n", x->out);
}

static void put_stack(const struct xml *x, __u32 id)
{
	static const struct rframe none = { .text = RENDER_NO_STACK };
	const struct report *r = x->v->r;
	const struct rstack *st = &r->stacks[id];

	fputs("  <stack>\n", x->out);
	for (__u32 i = 0; i < st->nr; i++)
		put_frame(x, &r->frames[st->frames[i]]);
	if (!st->nr)
		put_frame(x, &none);
	fputs("  </stack>\n", x->out);
}

/* ---- frees ---- */

static void begin_error(struct xml *x, __s32 tid, const char *kind)
{
	fprintf(x->out, "\n<error>\n  <unique>0x%zx</unique>\n  <tid>%d</tid>\n  <kind>%s</kind>\n",
		x->errors++, tid, kind);
}

static const char *event_name(const struct report *r, __u32 id)
{
	const struct snap_event *e = snap_event(r->snap, id);

	return e ? e->name : "something unknown";
}

static void put_block(const struct xml *x, const struct rmismatch *mis)
{
	const struct memtap_rec_mismatch *m = mis->m;
	const unsigned long long addr = m->addr;

	if (mis->inside)
		put_format(x, 2, "auxwhat", "0x%llX is %llu bytes inside a block of %llu bytes "
			   "that was allocated here", addr, addr - mis->inside->addr,
			   (unsigned long long)mis->inside->size);
	else if (m->kind == MEMTAP_MISMATCH_UNKNOWN)
		put_format(x, 2, "auxwhat", "0x%llX was never allocated", addr);
	else
		put_format(x, 2, "auxwhat", "the block 0x%llX of %llu bytes was allocated by %s",
			   addr, (unsigned long long)m->size, event_name(x->v->r, m->alloc_event));
	if (mis->inside || m->kind != MEMTAP_MISMATCH_UNKNOWN)
		put_stack(x, mis->alloc_stack);
}

static void put_mismatch(struct xml *x, const struct rmismatch *mis)
{
	const struct memtap_rec_mismatch *m = mis->m;
	const struct memtap_rec_task *t = snap_task(x->v->r->snap, m->task);
	const bool family = m->kind == MEMTAP_MISMATCH_FAMILY;
	const bool twice = m->kind == MEMTAP_MISMATCH_DOUBLE;

	begin_error(x, t ? t->tid : 0, family ? "MismatchedFree" : "InvalidFree");
	put_format(x, 2, "what", "%s by %s", family ? "mismatched free" : twice ? "double free" :
		   "invalid free", event_name(x->v->r, m->event));
	put_stack(x, mis->stack);
	if (twice && m->free_stack) {
		put_format(x, 2, "auxwhat", "the block was freed before");
		put_stack(x, mis->free_stack);
	}
	put_block(x, mis);
	fputs("</error>\n", x->out);
}

/* ---- leaks ---- */

static const struct {
	const char *kind, *text;
} kinds[NR_LEAK_KINDS] = {
	/* the protocol has no word for it, and this one claims least */
	[LEAK_UNKNOWN] = { "Leak_PossiblyLost", "not freed, and it is not known whether lost" },
	[LEAK_DEFINITE] = { "Leak_DefinitelyLost", "definitely lost" },
	[LEAK_INDIRECT] = { "Leak_IndirectlyLost", "indirectly lost" },
	[LEAK_POSSIBLE] = { "Leak_PossiblyLost", "possibly lost" },
	[LEAK_REACHABLE] = { "Leak_StillReachable", "still reachable" },
};

static void put_suppression(const struct xml *x, const struct rrow *row)
{
	struct suppression s;
	char *text = NULL;
	size_t len = 0;
	FILE *f;

	suppression_make(x->v->r, row, &s);
	if (!s.nr)
		return;
	fputs("  <suppression>\n    <sname>" SUPPRESSION_NAME "</sname>\n"
	      "    <skind>Memcheck:Leak</skind>\n", x->out);
	if (s.kind)
		put_format(x, 4, "skaux", "match-leak-kinds: %s", s.kind);
	for (size_t i = 0; i < s.nr; i++) {
		fputs("    <sframe>\n", x->out);
		put_format(x, 6, s.frames[i].function ? "fun" : "obj", "%s%s%s", s.frames[i].before,
			   s.frames[i].name, s.frames[i].after);
		fputs("    </sframe>\n", x->out);
	}
	f = open_memstream(&text, &len);
	if (f) {
		fputc('\n', f);
		suppression_put(&s, f);
		fclose(f);
		/* the lines of the text stay lines */
		fputs("    <rawtext>", x->out);
		for (char *line = text, *end; line && *line; line = end + 1) {
			end = strchrnul(line, '\n');
			if (!*end)
				break;
			*end = '\0';
			put_text(x->out, line);
			fputc('\n', x->out);
		}
		fputs("    </rawtext>\n", x->out);
	}
	free(text);
	fputs("  </suppression>\n", x->out);
}

/* What a program maps and does not lose it leaves to the kernel. */
static bool is_told(const struct report *r, const struct rrow *row)
{
	return row->leak && row->flags < NR_LEAK_KINDS &&
	       (row->event == RLEAKS_HEAP || (row->event == RLEAKS_MAPPINGS &&
		row->flags != LEAK_UNKNOWN && row->flags != LEAK_REACHABLE)) &&
	       (row->sum > 0 || row->count > 0) && !report_sums_only(r, &r->events[row->event]);
}

static void put_leak(struct xml *x, const struct rrow *row)
{
	const struct report *r = x->v->r;
	const char *label = render_groups_shown(r) ? r->groups[row->group].label : "";
	const char *things = row->event == RLEAKS_MAPPINGS ? "mapping" : "block";
	const char *about = row->leak->sum.var_blocks > 0 ? "about " : "";
	const __u64 bytes = (__u64)row->sum;

	x->leaks++;
	begin_error(x, 1, kinds[row->flags].kind);
	fputs("  <xwhat>\n", x->out);
	put_format(x, 4, "text", "%s%llu byte%s in %llu %s%s %s %s%s%s (record %zu of %zu)", about,
		   (unsigned long long)bytes, text_s(bytes), (unsigned long long)row->count, things,
		   text_s(row->count), row->count == 1 ? "is" : "are", kinds[row->flags].text,
		   *label ? ", of " : "", label, x->leaks, x->nr_leaks);
	put_format(x, 4, "leakedbytes", "%llu", (unsigned long long)bytes);
	put_format(x, 4, "leakedblocks", "%llu", (unsigned long long)row->count);
	fputs("  </xwhat>\n", x->out);
	put_stack(x, row->ustack);
	if (r->o->suppressions)
		put_suppression(x, row);
	fputs("</error>\n", x->out);
}

static void each_leak(struct xml *x, void (*fn)(struct xml *x, const struct rrow *row))
{
	const struct report *r = x->v->r;

	for (size_t i = 0; i < r->nr_sections; i++)
		for (size_t k = 0; k < r->sections[i].shown; k++) {
			const struct rrow *row = report_shown(r, &r->sections[i], k);

			if (is_told(r, row))
				fn(x, row);
		}
}

static void count_leak(struct xml *x, const struct rrow *row)
{
	(void)row;
	x->nr_leaks++;
}

/* ---- counts ---- */

static void put_counts(const struct xml *x)
{
	const struct report *r = x->v->r;

	fputs("\n<errorcounts>\n", x->out);
	for (size_t i = 0; i < r->leaks->nr_mismatches; i++)
		fprintf(x->out, "  <pair>\n    <count>%llu</count>\n    <unique>0x%zx</unique>\n"
			"  </pair>\n", (unsigned long long)r->leaks->mismatches[i].m->count, i);
	fputs("</errorcounts>\n\n<suppcounts>\n", x->out);
	for (size_t i = 0; i < suppress_nr(r->o->suppress); i++) {
		const __u64 kept = r->leaks->patterns[i].kept + r->leaks->free_patterns[i];

		if (!kept)
			continue;
		fprintf(x->out, "  <pair>\n    <count>%llu</count>\n", (unsigned long long)kept);
		put_element(x, 4, "name", suppress_pattern(r->o->suppress, i));
		fputs("  </pair>\n", x->out);
	}
	fputs("</suppcounts>\n\n</valgrindoutput>\n", x->out);
}

int render_xml(const struct view *v, FILE *out)
{
	const struct memtap_rec_header *h = &v->r->snap->header;
	struct xml x = { .v = v, .out = out };

	if (!v->r->leaks)
		return -EOPNOTSUPP;
	put_head(&x);
	for (size_t i = 0; i < v->r->leaks->nr_mismatches; i++)
		put_mismatch(&x, &v->r->leaks->mismatches[i]);
	put_status(&x, "FINISHED", h->now_ns - h->start_ns);
	each_leak(&x, count_leak);
	each_leak(&x, put_leak);
	put_counts(&x);
	render_losses(v, "memtap: ", "this file", stderr);
	return 0;
}
