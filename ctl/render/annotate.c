// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Show source lines with the events that they or their callees caused.  Each stack counts once for
 * a line, however often the line is on it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ids.h"
#include "base/openreg.h"
#include "render/annotate.h"
#include "render/int.h"

#define COLUMNS		6		/* at most: of those that are not 0 */
#define PERCENT_LEAST	1		/* of the first column: sources and functions below it
					 * are not shown, unless all are asked for */
#define SOURCE_MOST	(64 << 20)	/* larger is no source */
#define RULE	"--------------------------------------------------------------------------------"

struct source {
	const char *path;		/* as the compiler wrote it */
	__u64 most;			/* of its lines, in the first column */
};

/* A line, or with a name a function. */
struct place {
	__u32 source, line;
	const char *name;
	__u64 stack;			/* the last one that was added */
	__u64 costs[COLUMNS];
};

struct places {
	struct ids ids;
	struct place *at;
	size_t room;
};

struct notes {
	const struct view *v;
	const struct annotate_opts *o;
	struct column *all;
	const struct column *columns[COLUMNS];
	size_t nr_columns, nr_left_out;
	__u64 sums[COLUMNS];
	struct ids source_ids;
	struct source *sources;
	size_t room_sources;
	struct places lines, functions;
	struct chain chain;
	__u64 stacks;
	FILE *out;
};

/* ---- what costs ---- */

static bool same_source(const void *things, __u32 id, const void *key)
{
	return !strcmp(((const struct source *)things)[id].path, key);
}

static __u32 get_source(struct notes *n, const char *path)
{
	const __u64 hash = ids_hash_string(1, path);
	__u32 id = ids_find(&n->source_ids, hash, same_source, n->sources, path);
	struct source *more;

	if (id != IDS_NONE)
		return id;
	more = ids_grow(n->sources, n->source_ids.nr, &n->room_sources, sizeof(*more));
	if (!more)
		return IDS_NONE;
	n->sources = more;
	id = ids_add(&n->source_ids, hash);
	if (id != IDS_NONE)
		n->sources[id] = (struct source){ .path = path };
	return id;
}

static bool same_place(const void *things, __u32 id, const void *key)
{
	const struct place *a = (const struct place *)things + id, *b = key;

	return a->source == b->source && a->line == b->line &&
	       !a->name == !b->name && (!a->name || !strcmp(a->name, b->name));
}

static int charge(struct notes *n, struct places *p, const struct place *key,
		  const __u64 *costs)
{
	__u64 hash = ids_mix((__u64)key->source << 32 | key->line, 1);
	struct place *more;
	__u32 id;

	if (key->name)
		hash = ids_hash_string(hash, key->name);
	id = ids_find(&p->ids, hash, same_place, p->at, key);
	if (id == IDS_NONE) {
		more = ids_grow(p->at, p->ids.nr, &p->room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->at = more;
		id = ids_add(&p->ids, hash);
		if (id == IDS_NONE)
			return -ENOMEM;
		p->at[id] = *key;
	}
	if (p->at[id].stack == n->stacks)
		return 0;
	p->at[id].stack = n->stacks;
	for (size_t i = 0; i < n->nr_columns; i++)
		p->at[id].costs[i] = render_add(p->at[id].costs[i], costs[i]);
	return 0;
}

static int add_row(struct notes *n, const struct rrow *row)
{
	__u64 costs[COLUMNS];
	int err = render_chain(n->v->r, row, &n->chain);

	n->stacks++;
	for (size_t i = 0; i < n->nr_columns; i++) {
		costs[i] = render_column(n->columns[i], row);
		n->sums[i] = render_add(n->sums[i], costs[i]);
	}
	for (size_t i = 0; !err && i < n->chain.nr; i++) {
		const struct rframe *f = &n->v->r->frames[n->chain.at[i]];
		struct place key = { .line = 0 };

		if (!f->sym || !f->sym->file || !*f->sym->file || f->sym->line <= 0)
			continue;
		key.source = get_source(n, f->sym->file);
		if (key.source == IDS_NONE)
			return -ENOMEM;
		key.name = f->text;
		err = charge(n, &n->functions, &key, costs);
		key.name = NULL;
		key.line = (__u32)f->sym->line;
		if (!err)
			err = charge(n, &n->lines, &key, costs);
	}
	return err;
}

static int add_rows(struct notes *n)
{
	const struct report *r = n->v->r;
	int err = 0;

	for (size_t i = 0; !err && i < r->nr_rows; i++)
		if (!r->rows[i].loader)
			err = add_row(n, &r->rows[i]);
	for (size_t i = 0; i < n->lines.ids.nr; i++) {
		struct source *s = &n->sources[n->lines.at[i].source];

		if (n->lines.at[i].costs[0] > s->most)
			s->most = n->lines.at[i].costs[0];
	}
	return err;
}

/* Columns that have something, as far as there is room beside a text. */
static int choose_columns(struct notes *n)
{
	const struct report *r = n->v->r;
	size_t nr;

	n->all = render_columns(n->v, &nr);
	if (!n->all)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		bool any = false;

		for (size_t k = 0; !any && k < r->nr_rows; k++)
			any = !r->rows[k].loader && render_column(&n->all[i], &r->rows[k]);
		if (any && n->nr_columns < COLUMNS)
			n->columns[n->nr_columns++] = &n->all[i];
		else
			n->nr_left_out += any;
	}
	return 0;
}

/* ---- how it looks ---- */

static int cmp_functions(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->costs[0] != y->costs[0])
		return x->costs[0] > y->costs[0] ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int cmp_lines(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* A number and its share of the first column's sum. */
static void put_costs(const struct notes *n, const __u64 *costs)
{
	char text[TEXT_LEN];

	for (size_t i = 0; i < n->nr_columns; i++) {
		if (!costs || !costs[i])
			fprintf(n->out, "%15s", ".");
		else
			fprintf(n->out, "%15s", text_count(text, costs[i]));
		if (i)
			continue;
		if (costs && costs[0] && n->sums[0])
			fprintf(n->out, " (%5.1f%%)", 100.0 * costs[0] / n->sums[0]);
		else
			fprintf(n->out, "%9s", "");
	}
	fputs("  ", n->out);
}

static void put_names(const struct notes *n)
{
	for (size_t i = 0; i < n->nr_columns; i++)
		fprintf(n->out, "%15.15s%s", n->columns[i]->name, i ? "" : "         ");
	fputs("\n\n", n->out);
}

static bool is_shown(const struct notes *n, __u64 cost)
{
	return !n->v->o->rows.top || cost >= n->sums[0] / 100 * PERCENT_LEAST;
}

static void put_functions(struct notes *n)
{
	size_t shown = 0;

	qsort(n->functions.at, n->functions.ids.nr, sizeof(*n->functions.at), cmp_functions);
	put_names(n);
	put_costs(n, n->sums);
	fputs("total\n", n->out);
	for (size_t i = 0; i < n->functions.ids.nr; i++) {
		const struct place *f = &n->functions.at[i];

		if (n->v->o->rows.top && shown == n->v->o->rows.top)
			break;
		if (!is_shown(n, f->costs[0]))
			continue;
		shown++;
		put_costs(n, f->costs);
		text_put(n->out, n->sources[f->source].path, NULL);
		fputc(':', n->out);
		text_put(n->out, f->name, NULL);
		fputc('\n', n->out);
	}
	if (shown < n->functions.ids.nr)
		fprintf(n->out, "(%zu more function%s: --top 0 shows all)\n",
			n->functions.ids.nr - shown, text_s(n->functions.ids.nr - shown));
}

/* Recordings may come from anybody, and name anything: no device is opened, no pipe waited for. */
static FILE *open_text(const char *path)
{
	const int fd = open_regular(path);
	struct stat st;
	FILE *f = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_size <= SOURCE_MOST)
		f = fdopen(fd, "r");
	if (!f)
		close(fd);
	return f;
}

/* The path of a source, as --source-path has it; to be freed.  NULL: it is not there. */
static char *find_source(const struct notes *n, const char *path)
{
	for (size_t i = 0; i <= n->o->paths->nr; i++) {
		const char *from = i < n->o->paths->nr ? n->o->paths->at[i] : "=";
		const char *to = strchr(from, '=');
		const size_t len = to ? (size_t)(to - from) : 0;
		char *found;
		FILE *f;

		if (!to || strncmp(path, from, len))
			continue;
		if (asprintf(&found, "%s%s%s", to + 1, to[1] && path[len] != '/' &&
			     to[strlen(to) - 1] != '/' ? "/" : "", path + len) < 0)
			return NULL;
		f = open_text(found);
		if (f) {
			fclose(f);
			return found;
		}
		free(found);
	}
	return NULL;
}

static void put_line(const struct notes *n, const struct place *line, __u32 nr, const char *text,
		     ssize_t len)
{
	put_costs(n, line ? line->costs : NULL);
	fprintf(n->out, "%6u%s", nr, len > 0 && *text != '\n' ? "  " : "");
	for (ssize_t i = 0; i < len && text[i] != '\n'; i++) {
		const unsigned char c = (unsigned char)text[i];

		fputc(c == '\t' || (c >= ' ' && c != 0x7f) ? c : '?', n->out);
	}
	fputc('\n', n->out);
}

/* Is a line with costs near? @at: the first one that is not passed yet. */
static bool is_near(const struct notes *n, const struct place *lines, size_t nr, size_t at,
		    __u32 line)
{
	const __u32 context = n->o->context;

	return (at < nr && lines[at].line - line <= context) ||
	       (at && line - lines[at - 1].line <= context);
}

static void put_text(const struct notes *n, const struct place *lines, size_t nr, FILE *f)
{
	size_t room = 0, at = 0;
	bool gap = false;
	char *text = NULL;
	__u32 line = 0;
	ssize_t len;

	while ((len = getline(&text, &room, f)) >= 0 && ++line) {
		const bool costs = at < nr && lines[at].line == line;

		if (!costs && at >= nr && line > lines[nr - 1].line + n->o->context)
			break;
		if (!costs && !is_near(n, lines, nr, at, line)) {
			gap = true;
			continue;
		}
		if (gap)
			fprintf(n->out, "-- line %u %s\n", line, &RULE[16]);
		gap = false;
		put_line(n, costs ? &lines[at] : NULL, line, text, len);
		at += costs;
	}
	free(text);
	for (; at < nr; at++)
		put_line(n, &lines[at], lines[at].line, "[after the end of this file]", 28);
}

/* @found: where it is, or NULL. */
static void put_source(const struct notes *n, const struct place *lines, size_t nr,
		       const char *found)
{
	const char *path = n->sources[lines->source].path;
	FILE *f = found ? open_text(found) : NULL;
	struct stat st;

	fprintf(n->out, "\n" RULE "\n-- ");
	text_put(n->out, path, NULL);
	if (found && strcmp(found, path)) {
		fputs(" = ", n->out);
		text_put(n->out, found, NULL);
	}
	fprintf(n->out, "\n" RULE "\n");
	if (!f)
		fputs("source file not found; --source-path FROM=TO replaces a path's beginning\n",
		      n->out);
	else if (!fstat(fileno(f), &st) &&
		 (__u64)st.st_mtime > n->v->r->snap->header.real_ns / 1000000000)
		fputs("this source file is newer than the recording: its lines may differ\n",
		      n->out);
	put_names(n);
	if (f)
		put_text(n, lines, nr, f);
	for (size_t i = 0; !f && i < nr; i++)
		put_line(n, &lines[i], lines[i].line, "", 0);
	if (f)
		fclose(f);
}

/* Does @want name it: whole, or its last parts? */
static bool is_named(const char *path, const char *want)
{
	const size_t len = strlen(path), n = strlen(want);

	return len >= n && !strcmp(path + len - n, want) &&
	       (len == n || path[len - n - 1] == '/');
}

struct part {
	const struct place *lines;
	size_t nr;
	__u64 most;
	char *found;			/* where the source is, or NULL */
};

static int cmp_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (!x->found != !y->found)	/* what can be read first */
		return x->found ? -1 : 1;
	if (x->most != y->most)
		return x->most > y->most ? -1 : 1;
	return x->lines < y->lines ? -1 : x->lines > y->lines;
}

static int put_sources(struct notes *n)
{
	struct part *parts = calloc(n->source_ids.nr + 1, sizeof(*parts));
	size_t nr = 0, shown = 0;

	if (!parts)
		return -ENOMEM;
	qsort(n->lines.at, n->lines.ids.nr, sizeof(*n->lines.at), cmp_lines);
	for (size_t i = 0; i < n->lines.ids.nr; i++) {
		const struct place *p = &n->lines.at[i];

		if (!nr || parts[nr - 1].lines->source != p->source)
			parts[nr++] = (struct part){ p, 0, n->sources[p->source].most,
						     find_source(n, n->sources[p->source].path) };
		parts[nr - 1].nr++;
	}
	qsort(parts, nr, sizeof(*parts), cmp_parts);
	for (size_t i = 0; i < nr; i++) {
		const char *path = n->sources[parts[i].lines->source].path;

		if (n->o->source ? !is_named(path, n->o->source) : !is_shown(n, parts[i].most))
			continue;
		shown++;
		put_source(n, parts[i].lines, parts[i].nr, parts[i].found);
	}
	if (!n->o->source && shown < nr)
		fprintf(n->out, "\n(%zu more file%s without a line of %u %%: --top 0 shows all)\n",
			nr - shown, text_s(nr - shown), PERCENT_LEAST);
	for (size_t i = 0; i < nr; i++)
		free(parts[i].found);
	free(parts);
	return 0;
}

/* Is there what is asked for? */
static int look_for(const struct notes *n)
{
	bool any = !n->o->source;

	if (!n->lines.ids.nr)
		return -ENODATA;
	for (size_t i = 0; !any && i < n->source_ids.nr; i++)
		any = is_named(n->sources[i].path, n->o->source);
	return any ? 0 : -ENOENT;
}

static int put_all(struct notes *n)
{
	int err = look_for(n);

	if (err)
		return err;
	render_title(n->v, n->out);
	fputc('\n', n->out);
	if (!n->o->source) {
		fputc('\n', n->out);
		put_functions(n);
	}
	err = put_sources(n);
	if (err)
		return err;
	fputc('\n', n->out);
	if (n->nr_left_out)
		fprintf(n->out, "%zu more column%s not shown (too many events)\n",
			n->nr_left_out, text_s(n->nr_left_out));
	render_footer(n->v, n->v->o->foot, n->out);
	return 0;
}

int render_annotate(const struct snap *snap, struct sym *sym, const struct render_opts *o,
		    const struct annotate_opts *a, FILE *out)
{
	struct report_opts rows = o->rows;
	struct view v = { .o = o };
	struct notes n = { .v = &v, .o = a, .out = out };
	struct report *r;
	int err = -ENOMEM;

	rows.detail = DETAIL_PLACES;
	rows.top = 0;
	r = report_make(snap, sym, &rows);
	v.r = r;
	if (r)
		err = choose_columns(&n);
	if (!err)
		err = add_rows(&n);
	if (!err)
		err = put_all(&n);
	render_chain_free(&n.chain);
	ids_free(&n.source_ids);
	ids_free(&n.lines.ids);
	ids_free(&n.functions.ids);
	free(n.sources);
	free(n.lines.at);
	free(n.functions.at);
	free(n.all);
	report_free(r);
	return err;
}
