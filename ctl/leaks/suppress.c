// SPDX-License-Identifier: GPL-2.0-or-later
/* Suppress known leaks: match patterns against the names in a stack. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaks/suppress.h"

#define ERR_LEN		256
#define MAX_FILE	(16 << 20)	/* a list that people wrote is smaller */

struct pattern {
	char *text;		/* as it was written */
	const char *body;	/* of it, without '^' and '$' */
	size_t len;
	bool start, end;	/* anchored */
};

struct suppress {
	struct pattern *at;
	size_t nr, room;
};

struct suppress *suppress_new(void)
{
	return calloc(1, sizeof(struct suppress));
}

void suppress_free(struct suppress *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr; i++)
		free(s->at[i].text);
	free(s->at);
	free(s);
}

size_t suppress_nr(const struct suppress *s)
{
	return s ? s->nr : 0;
}

const char *suppress_pattern(const struct suppress *s, size_t i)
{
	return s->at[i].text;
}

/* ---- lines ---- */

static int bad(char *err, size_t line, const char *why)
{
	snprintf(err, ERR_LEN, "line %zu: %s", line, why);
	return -EINVAL;
}

static int add_pattern(struct suppress *s, const char *text, size_t len)
{
	struct pattern *p;

	if (s->nr == s->room) {
		size_t room = s->room ? 2 * s->room : 16;

		p = reallocarray(s->at, room, sizeof(*p));
		if (!p)
			return -ENOMEM;
		s->at = p;
		s->room = room;
	}
	p = &s->at[s->nr];
	p->text = strndup(text, len);
	if (!p->text)
		return -ENOMEM;
	p->start = *text == '^';
	p->end = len > p->start && text[len - 1] == '$';
	p->body = p->text + p->start;
	p->len = len - p->start - p->end;
	s->nr++;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int add_line(struct suppress *s, const char *at, size_t len, size_t line, char *err)
{
	static const char kind[] = "leak:";
	int ret;

	while (len && is_blank(*at))
		at++, len--;
	while (len && is_blank(at[len - 1]))
		len--;
	if (!len || *at == '#')
		return 0;
	if (memchr(at, 0, len))
		return bad(err, line, "it has a zero byte: this is no text");
	if (len < strlen(kind) || memcmp(at, kind, strlen(kind)))
		return bad(err, line, "write leak:PATTERN, or # and a comment");
	at += strlen(kind);
	len -= strlen(kind);
	if (!len)
		return bad(err, line, "there is no pattern behind leak:");
	ret = add_pattern(s, at, len);
	return ret ? snprintf(err, ERR_LEN, "no memory"), ret : 0;
}

int suppress_add(struct suppress *s, const char *text, size_t len, char err[256])
{
	const char *end = text + len, *next;
	int ret = 0;

	err[0] = 0;
	for (size_t line = 1; !ret && text < end; line++, text = next + 1) {
		next = memchr(text, '\n', end - text);
		if (!next)
			next = end;
		ret = add_line(s, text, next - text, line, err);
	}
	return ret;
}

static int read_file(const char *path, char **text, size_t *len)
{
	FILE *f = fopen(path, "re");
	int err = 0;

	if (!f)
		return -errno;
	*text = malloc(MAX_FILE);
	*len = *text ? fread(*text, 1, MAX_FILE, f) : 0;
	if (!*text)
		err = -ENOMEM;
	else if (ferror(f))
		err = errno ? -errno : -EIO;
	else if (*len == MAX_FILE)
		err = -EFBIG;
	fclose(f);
	if (err)
		free(*text);
	return err;
}

int suppress_add_file(struct suppress *s, const char *path, char err[256])
{
	char *text = NULL, why[ERR_LEN];
	size_t len = 0;
	int ret = read_file(path, &text, &len);

	if (ret) {
		snprintf(err, ERR_LEN, "%.180s: %s", path, strerror(-ret));
		return ret;
	}
	ret = suppress_add(s, text, len, why);
	if (ret)
		snprintf(err, ERR_LEN, "%.150s: %.100s", path, why);
	free(text);
	return ret;
}

/* ---- names ---- */

/* Where the part @len of a pattern, which has no '*', is in @name. */
static const char *find_part(const char *name, const char *part, size_t len)
{
	return len ? memmem(name, strlen(name), part, len) : name;
}

/*
 * Parts between '*' in their order, each as early as it can be; the last one, if
 * its end is tied, where the name ends.
 */
static bool matches(const struct pattern *p, const char *name)
{
	const char *part = p->body, *end = p->body + p->len;
	bool tied = p->start;

	for (;;) {
		const char *star = memchr(part, '*', end - part);
		const size_t len = (star ? star : end) - part;
		const size_t left = strlen(name);

		if (!star && p->end)
			return len <= left && (!tied || len == left) &&
			       !memcmp(name + left - len, part, len);
		if (tied && (len > left || memcmp(name, part, len)))
			return false;
		name = tied ? name : find_part(name, part, len);
		if (!name || !star)
			return name;
		name += len;
		part = star + 1;
		tied = false;
	}
}

int suppress_find(const struct suppress *s, const char *name)
{
	for (size_t i = 0; name && i < suppress_nr(s); i++)
		if (matches(&s->at[i], name))
			return i;
	return -1;
}
