/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _JSON_READ_H
#define _JSON_READ_H

#include <stddef.h>

/*
 * Read JSON from one end to the other: @fn is called for each value that is a text or a number,
 * and at the end of each object.  Keys and texts that are longer than JSON_TEXT are cut.  Other
 * values (true, null) are passed over.
 */
#define JSON_DEEPEST	256
#define JSON_TEXT	4096
#define JSON_KEY	32

enum json_event { JSON_STRING, JSON_NUMBER, JSON_END };

struct json_place {
	size_t depth;			/* objects and arrays that are open */
	/* of each: the key of what is in it just now; "": in an array */
	char keys[JSON_DEEPEST][JSON_KEY];
};

/* @text: of a STRING, without escapes, or a NUMBER as it stands. */
typedef int (*json_fn)(void *ctx, const struct json_place *at, enum json_event event,
		       const char *text);

/* -EINVAL: it is no JSON, or nested too deep; or what @fn returned, if that is not 0. */
int json_read(const char *text, size_t len, json_fn fn, void *ctx);

#endif
