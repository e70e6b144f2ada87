// SPDX-License-Identifier: GPL-2.0-or-later
/* Turn JSON documents into CSV, see base/csv.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/csv.h"
#include "base/ids.h"

#define NAME_LEN	128
#define MAX_DEPTH	32

struct cell {
	__u32 column;
	const char *text;
};

struct csv {
	FILE *out;
	const char *separator;
	char *text;			/* of a document that is not complete */
	size_t len, room, seen;		/* .seen: looked at */
	int depth;
	bool string, escape;
	struct arena arena;		/* of names */
	char **columns;
	size_t nr_columns, room_columns, printed;	/* columns of the last header */
	struct arena values;		/* of the cells of a document */
	struct cell *cells;
	size_t nr_cells, room_cells;
	size_t *rows;			/* where each begins in cells */
	size_t nr_rows, room_rows;
	const char *at;			/* being read */
	bool bad;
};

/* ---- reading ---- */

static void skip_blanks(struct csv *c)
{
	c->at += strspn(c->at, " \n\t\r");
}

static bool take(struct csv *c, char letter)
{
	skip_blanks(c);
	if (*c->at != letter)
		return false;
	c->at++;
	return true;
}

/* A string as it is meant.  What has no place in a line becomes '?'. */
static char *take_string(struct csv *c)
{
	const char *end;
	char *text, *to;

	if (!take(c, '"'))
		goto bad;
	for (end = c->at; *end && *end != '"'; end++)
		if (*end == '\\' && end[1])
			end++;
	text = to = arena_alloc(&c->values, (size_t)(end - c->at) + 1);
	if (!text || !*end)
		goto bad;
	while (c->at < end) {
		if (*c->at == '\\' && c->at[1] == 'u') {
			*to++ = '?';
			c->at += strnlen(c->at, 6);
			continue;
		}
		c->at += *c->at == '\\';
		*to++ = *c->at++;
	}
	c->at = end + 1;
	return text;
bad:
	c->bad = true;
	return NULL;
}

/* A number, true, false; null: "". */
static const char *take_scalar(struct csv *c)
{
	size_t len;
	char *text;

	skip_blanks(c);
	if (*c->at == '"')
		return take_string(c);
	len = strcspn(c->at, ",]} \n\t\r");
	text = arena_alloc(&c->values, len + 1);
	if (!text || !len) {
		c->bad = true;
		return NULL;
	}
	memcpy(text, c->at, len);
	c->at += len;
	return strcmp(text, "null") ? text : "";
}

static void skip_value(struct csv *c, int depth)
{
	skip_blanks(c);
	if (depth > MAX_DEPTH) {
		c->bad = true;
	} else if (*c->at == '{' || *c->at == '[') {
		const bool object = *c->at++ == '{';

		while (!c->bad && !take(c, object ? '}' : ']')) {
			if (object && (!take_string(c) || !take(c, ':')))
				c->bad = true;
			skip_value(c, depth + 1);
			take(c, ',');
		}
	} else {
		take_scalar(c);
	}
}

/* ---- cells ---- */

static __u32 column_of(struct csv *c, const char *name)
{
	char **more;

	for (size_t i = 0; i < c->nr_columns; i++)
		if (!strcmp(c->columns[i], name))
			return (__u32)i;
	more = ids_grow(c->columns, c->nr_columns, &c->room_columns, sizeof(*more));
	if (!more) {
		c->bad = true;
		return 0;
	}
	c->columns = more;
	more[c->nr_columns] = arena_strdup(&c->arena, name);
	c->bad |= !more[c->nr_columns];
	return (__u32)c->nr_columns++;
}

static void add_cell(struct csv *c, const char *name, const char *text)
{
	const __u32 column = column_of(c, name);
	struct cell *more = ids_grow(c->cells, c->nr_cells, &c->room_cells, sizeof(*more));

	if (!more) {
		c->bad = true;
		return;
	}
	c->cells = more;
	more[c->nr_cells++] = (struct cell){ column, text };
}

/* Of an object in a list, what it is called: its first "name", "mark" or "file". */
static const char *take_name(struct csv *c)
{
	const char *name = NULL, *text;
	const char *key;

	if (!take(c, '{')) {
		skip_value(c, 0);
		return "";
	}
	while (!c->bad && !take(c, '}')) {
		key = take_string(c);
		if (!key || !take(c, ':'))
			break;
		if (!name && (!strcmp(key, "name") || !strcmp(key, "mark") ||
			      !strcmp(key, "file"))) {
			text = take_scalar(c);
			name = text && *text ? text : "[unknown]";
		} else {
			skip_value(c, 0);
		}
		take(c, ',');
	}
	return name ? name : "";
}

static const char *take_list(struct csv *c)
{
	char *text = NULL, *joined;
	const char *one;
	size_t len = 0;
	FILE *f;

	f = open_memstream(&text, &len);
	if (!f) {
		c->bad = true;
		return "";
	}
	take(c, '[');
	for (bool first = true; !c->bad && !take(c, ']'); first = false) {
		skip_blanks(c);
		if (*c->at == '[') {
			skip_value(c, 0);
			one = "";
		} else {
			one = *c->at == '{' ? take_name(c) : take_scalar(c);
		}
		fprintf(f, "%s%s", first ? "" : ";", one ? one : "");
		take(c, ',');
	}
	fclose(f);
	joined = text ? arena_strdup(&c->values, text) : NULL;
	free(text);
	c->bad |= !joined;
	return joined;
}

static void take_row(struct csv *c, const char *prefix, int depth)
{
	char name[NAME_LEN];
	const char *key;

	if (depth > MAX_DEPTH || !take(c, '{')) {
		c->bad = true;
		return;
	}
	while (!c->bad && !take(c, '}')) {
		key = take_string(c);
		if (!key || !take(c, ':')) {
			c->bad = true;
			return;
		}
		snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", key);
		skip_blanks(c);
		if (!strcmp(name, "schema"))
			skip_value(c, 0);
		else if (*c->at == '{')
			take_row(c, name, depth + 1);
		else if (*c->at == '[')
			add_cell(c, name, take_list(c));
		else
			add_cell(c, name, take_scalar(c));
		take(c, ',');
	}
}

static void begin_row(struct csv *c)
{
	size_t *more = ids_grow(c->rows, c->nr_rows, &c->room_rows, sizeof(*more));

	if (!more) {
		c->bad = true;
		return;
	}
	c->rows = more;
	more[c->nr_rows++] = c->nr_cells;
}

/* What the rows of a document have in common: when it was. */
static void take_moment(struct csv *c)
{
	static const char *const names[] = { "real_ns", "time_ns", "interval" };
	const char *const at = c->at, *key;
	bool ours;

	c->at = c->text;
	take(c, '{');
	while (!c->bad && !take(c, '}')) {
		key = take_string(c);
		if (!key || !take(c, ':'))
			break;
		skip_blanks(c);
		ours = false;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			ours |= !strcmp(key, names[i]);
		if (ours && *c->at != '{' && *c->at != '[')
			add_cell(c, key, take_scalar(c));
		else
			skip_value(c, 0);
		take(c, ',');
	}
	c->at = at;
}

/* Where the list of that name begins in a document; NULL: it has none. */
static const char *find_list(struct csv *c, const char *name)
{
	const char *key, *found = NULL;

	c->at = c->text;
	take(c, '{');
	while (!c->bad && !found && !take(c, '}')) {
		key = take_string(c);
		if (!key || !take(c, ':'))
			break;
		skip_blanks(c);
		if (!strcmp(key, name) && *c->at == '[')
			found = c->at;
		skip_value(c, 0);
		take(c, ',');
	}
	return found;
}

static void take_document(struct csv *c)
{
	const char *list = find_list(c, "functions");

	if (!list)
		list = find_list(c, "rows");
	c->at = list ? list : c->text;
	if (!list) {
		begin_row(c);
		take_row(c, "", 0);
		return;
	}
	take(c, '[');
	while (!c->bad && !take(c, ']')) {
		begin_row(c);
		take_moment(c);
		take_row(c, "", 0);
		take(c, ',');
	}
}

/* ---- writing ---- */

static void put_text(const struct csv *c, const char *text)
{
	if (!strstr(text, c->separator) && !strpbrk(text, "\"\n\r")) {
		fputs(text, c->out);
		return;
	}
	fputc('"', c->out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', c->out);
		fputc(*text, c->out);
	}
	fputc('"', c->out);
}

/* Again where there are columns which the last one does not have. */
static void put_header(struct csv *c)
{
	if (c->printed == c->nr_columns)
		return;
	if (c->printed)
		fputc('\n', c->out);
	for (size_t i = 0; i < c->nr_columns; i++) {
		fputs(i ? c->separator : "", c->out);
		put_text(c, c->columns[i]);
	}
	fputc('\n', c->out);
	c->printed = c->nr_columns;
}

static int put_rows(struct csv *c)
{
	const char **line = calloc(c->nr_columns + 1, sizeof(*line));

	if (!line)
		return -ENOMEM;
	put_header(c);
	for (size_t i = 0; i < c->nr_rows; i++) {
		const size_t end = i + 1 < c->nr_rows ? c->rows[i + 1] : c->nr_cells;

		memset(line, 0, c->nr_columns * sizeof(*line));
		for (size_t k = c->rows[i]; k < end; k++)
			line[c->cells[k].column] = c->cells[k].text;
		for (size_t k = 0; k < c->nr_columns; k++) {
			fputs(k ? c->separator : "", c->out);
			put_text(c, line[k] ? line[k] : "");
		}
		fputc('\n', c->out);
	}
	free(line);
	return 0;
}

static int put_document(struct csv *c)
{
	int err;

	c->nr_cells = c->nr_rows = 0;
	c->bad = false;
	take_document(c);
	err = c->bad ? -EIO : put_rows(c);
	arena_free(&c->values);
	memset(&c->values, 0, sizeof(c->values));
	if (!err && fflush(c->out))
		err = -errno;
	return err;
}

/* ---- the stream ---- */

/* Up to the end of a document: true. */
static bool find_end(struct csv *c)
{
	while (c->seen < c->len) {
		const char letter = c->text[c->seen++];

		if (c->escape)
			c->escape = false;
		else if (c->string && letter == '\\')
			c->escape = true;
		else if (letter == '"')
			c->string = !c->string;
		else if (!c->string && (letter == '{' || letter == '['))
			c->depth++;
		else if (!c->string && (letter == '}' || letter == ']') && !--c->depth)
			return true;
	}
	return false;
}

static ssize_t write_some(void *cookie, const char *buf, size_t len)
{
	struct csv *c = cookie;
	char *more, saved;
	int err = 0;

	if (c->len + len + 2 > c->room) {
		more = realloc(c->text, 2 * (c->len + len) + 4096);
		if (!more) {
			errno = ENOMEM;
			return 0;
		}
		c->text = more;
		c->room = 2 * (c->len + len) + 4096;
	}
	memcpy(c->text + c->len, buf, len);
	c->len += len;
	while (!err && find_end(c)) {
		saved = c->text[c->seen];
		c->text[c->seen] = '\0';
		err = put_document(c);
		c->text[c->seen] = saved;
		c->len -= c->seen;
		memmove(c->text, c->text + c->seen, c->len);
		c->seen = 0;
	}
	if (!err)
		return (ssize_t)len;
	errno = -err;
	return 0;
}

static int close_it(void *cookie)
{
	struct csv *c = cookie;

	free(c->text);
	free(c->columns);
	free(c->cells);
	free(c->rows);
	arena_free(&c->arena);
	arena_free(&c->values);
	free(c);
	return 0;
}

FILE *csv_open(FILE *out, const char *separator)
{
	const cookie_io_functions_t calls = { .write = write_some, .close = close_it };
	struct csv *c = calloc(1, sizeof(*c));
	FILE *f;

	if (!c)
		return NULL;
	c->out = out;
	c->separator = separator;
	f = fopencookie(c, "w", calls);
	if (!f)
		free(c);
	return f;
}
