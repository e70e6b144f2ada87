// SPDX-License-Identifier: GPL-2.0-or-later
/* Read JSON; see json_read.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"

struct reader {
	const char *at, *end;
	json_fn fn;
	void *ctx;
	struct json_place place;
	bool is_array[JSON_DEEPEST];
	char text[JSON_TEXT];
};

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
		r->at++;
}

static bool take(struct reader *r, char c)
{
	skip_blanks(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static void put(char *to, size_t room, size_t *len, char c)
{
	if (*len + 1 < room)
		to[(*len)++] = c;
}

/* A character's number as UTF-8; halves of pairs are '?'. */
static void put_code(char *to, size_t room, size_t *len, unsigned long code)
{
	if (code >= 0xd800 && code < 0xe000) {
		put(to, room, len, '?');
	} else if (code < 0x80) {
		put(to, room, len, code ? (char)code : '?');
	} else if (code < 0x800) {
		put(to, room, len, (char)(0xc0 | code >> 6));
		put(to, room, len, (char)(0x80 | (code & 0x3f)));
	} else {
		put(to, room, len, (char)(0xe0 | code >> 12));
		put(to, room, len, (char)(0x80 | (code >> 6 & 0x3f)));
		put(to, room, len, (char)(0x80 | (code & 0x3f)));
	}
}

static bool take_escape(struct reader *r, char *to, size_t room, size_t *len)
{
	static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *found;
	char hex[5] = "", *end;
	unsigned long code;

	if (r->at == r->end)
		return false;
	if (*r->at == 'u' && r->end - r->at > 4) {
		memcpy(hex, r->at + 1, 4);
		code = strtoul(hex, &end, 16);
		if (end != hex + 4)
			return false;
		put_code(to, room, len, code);
		r->at += 5;
		return true;
	}
	found = *r->at ? strchr(letters, *r->at++) : NULL;
	if (!found)
		return false;
	put(to, room, len, means[found - letters]);
	return true;
}

/* Behind the first '"'. */
static bool take_string(struct reader *r, char *to, size_t room)
{
	size_t len = 0;

	while (r->at < r->end && *r->at != '"') {
		if (*r->at != '\\') {
			put(to, room, &len, *r->at++);
			continue;
		}
		r->at++;
		if (!take_escape(r, to, room, &len))
			return false;
	}
	to[len] = '\0';
	return r->at++ < r->end;
}

static int take_word(struct reader *r)
{
	static const char letters[] = "+-.0123456789abcdefghijklmnopqrstuvwxyzE";
	size_t len = 0;
	bool number;

	while (r->at < r->end && *r->at && strchr(letters, *r->at))
		put(r->text, sizeof(r->text), &len, *r->at++);
	r->text[len] = '\0';
	if (!len)
		return -EINVAL;
	number = r->text[0] == '-' || (r->text[0] >= '0' && r->text[0] <= '9');
	return number ? r->fn(r->ctx, &r->place, JSON_NUMBER, r->text) : 0;
}

static int open_one(struct reader *r, bool array)
{
	if (r->place.depth == JSON_DEEPEST)
		return -EINVAL;
	r->is_array[r->place.depth] = array;
	r->place.keys[r->place.depth++][0] = '\0';
	return 0;
}

/* "key": of an object's next value */
static bool take_key(struct reader *r)
{
	return take(r, '"') && take_string(r, r->place.keys[r->place.depth - 1], JSON_KEY) &&
	       take(r, ':');
}

/* What has ended: the one that is open may go on with a comma, or end, too.  *@more: a value. */
static int go_on(struct reader *r, bool *more)
{
	bool array;
	int err;

	*more = false;
	while (r->place.depth) {
		array = r->is_array[r->place.depth - 1];
		if (take(r, ',')) {
			*more = true;
			return array || take_key(r) ? 0 : -EINVAL;
		}
		if (!take(r, array ? ']' : '}'))
			return -EINVAL;
		r->place.depth--;
		err = array ? 0 : r->fn(r->ctx, &r->place, JSON_END, "");
		if (err)
			return err;
	}
	return 0;
}

/* One that is no array or object; or the beginning of one.  *@begun: that has something in it. */
static int take_value(struct reader *r, bool *begun)
{
	int err;

	*begun = false;
	if (take(r, '{') || take(r, '[')) {
		const bool array = r->at[-1] == '[';

		err = open_one(r, array);
		skip_blanks(r);
		if (err || (r->at < r->end && *r->at == (array ? ']' : '}')))
			return err;
		*begun = true;
		return array || take_key(r) ? 0 : -EINVAL;
	}
	if (!take(r, '"'))
		return take_word(r);
	if (!take_string(r, r->text, sizeof(r->text)))
		return -EINVAL;
	return r->fn(r->ctx, &r->place, JSON_STRING, r->text);
}

int json_read(const char *text, size_t len, json_fn fn, void *ctx)
{
	struct reader *r = calloc(1, sizeof(*r));
	bool more = true;
	int err = r ? 0 : -ENOMEM;

	if (r) {
		r->at = text;
		r->end = text + len;
		r->fn = fn;
		r->ctx = ctx;
	}
	while (!err && more) {
		err = take_value(r, &more);
		if (!err && !more)
			err = go_on(r, &more);
	}
	if (!err) {
		skip_blanks(r);
		err = r->at == r->end ? 0 : -EINVAL;
	}
	free(r);
	return err;
}
