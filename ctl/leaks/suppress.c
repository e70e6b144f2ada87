// SPDX-License-Identifier: GPL-2.0-or-later
/* Suppress known leaks: read files, and match LeakSanitizer's patterns. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaks/suppress_int.h"

#define MAX_FILE	(16 << 20)	/* a list that people wrote is smaller */

struct suppress *suppress_new(void)
{
	return calloc(1, sizeof(struct suppress));
}

void suppress_free(struct suppress *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr; i++) {
		for (size_t k = 0; k < s->at[i].nr_lines; k++)
			free(s->at[i].lines[k].text);
		free(s->at[i].lines);
		free(s->at[i].text);
	}
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

static int add_pattern(struct suppress *s, const char *text, size_t len)
{
	struct suppress_rule *r = suppress_more(s);

	if (!r)
		return -ENOMEM;
	r->text = strndup(text, len);
	if (!r->text) {
		s->nr--;
		return -ENOMEM;
	}
	r->start = *text == '^';
	r->end = len > r->start && text[len - 1] == '$';
	r->body = r->text + r->start;
	r->len = len - r->start - r->end;
	return 0;
}

static int add_line(struct suppress *s, struct suppress_text *t, const char *at, size_t len)
{
	static const char kind[] = "leak:";

	if (memchr(at, 0, len))
		return suppress_bad(t, "it has a zero byte: this is no text");
	if (len == 1 && *at == '{')
		return suppress_add_block(s, t);
	if (len < strlen(kind) || memcmp(at, kind, strlen(kind)))
		return suppress_bad(t, "write leak:PATTERN, Valgrind's { ... }, or # and a "
				    "comment");
	if (len == strlen(kind))
		return suppress_bad(t, "there is no pattern behind leak:");
	return add_pattern(s, at + strlen(kind), len - strlen(kind));
}

int suppress_add(struct suppress *s, const char *text, size_t len, char err[256])
{
	struct suppress_text t = { text, text + len, 0, err };
	const char *at;
	int ret = 0;

	err[0] = 0;
	while (!ret && suppress_line(&t, &at, &len))
		ret = add_line(s, &t, at, len);
	if (ret == -ENOMEM)
		snprintf(err, SUPPRESS_ERR, "no memory");
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
	char *text = NULL, why[SUPPRESS_ERR];
	size_t len = 0;
	int ret = read_file(path, &text, &len);

	if (ret) {
		snprintf(err, SUPPRESS_ERR, "%.180s: %s", path, strerror(-ret));
		return ret;
	}
	ret = suppress_add(s, text, len, why);
	if (ret)
		snprintf(err, SUPPRESS_ERR, "%.150s: %.100s", path, why);
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
static bool matches(const struct suppress_rule *r, const char *name)
{
	const char *part = r->body, *end = r->body + r->len;
	bool tied = r->start;

	for (;;) {
		const char *star = memchr(part, '*', end - part);
		const size_t len = (star ? star : end) - part;
		const size_t left = strlen(name);

		if (!star && r->end)
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

static bool any_matches(const struct suppress_rule *r, const struct suppress_frame *stack,
			size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if ((stack[i].name && matches(r, stack[i].name)) ||
		    (stack[i].file && matches(r, stack[i].file)) ||
		    (stack[i].object && matches(r, stack[i].object)) ||
		    (stack[i].path && matches(r, stack[i].path)))
			return true;
	return false;
}

size_t suppress_skipped(const struct suppress *s, const char **kind)
{
	*kind = s->skipped_kind;
	return s->skipped;
}

bool suppress_has_kinds(const struct suppress *s)
{
	for (size_t i = 0; i < suppress_nr(s); i++)
		if (s->at[i].lines)
			return true;
	return false;
}

int suppress_find(const struct suppress *s, const struct suppress_frame *stack, size_t nr,
		  enum leak_kind kind)
{
	for (size_t i = 0; i < suppress_nr(s); i++) {
		const struct suppress_rule *r = &s->at[i];

		if (r->lines ? suppress_block_matches(r, stack, nr, kind) :
			       kind != SUPPRESS_FREE && any_matches(r, stack, nr))
			return (int)i;
	}
	return -1;
}
