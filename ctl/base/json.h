/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _JSON_H
#define _JSON_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

/* A writer that cannot produce malformed output. */
struct json {
	FILE *out;
	int depth;
	bool comma;
	bool html;		/* inside <script>: escape what could end it */
	bool line;		/* all on one */
};

/* What documents look like is told in docs/json.md; it has this number. */
#define JSON_SCHEMA	2

/* Begin an object that is a document of its own, "report", "counts", ... */
void json_document(struct json *j, const char *what);

void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
void json_str(struct json *j, const char *key, const char *value);
void json_u64(struct json *j, const char *key, __u64 value);
void json_s64(struct json *j, const char *key, __s64 value);
void json_seconds(struct json *j, const char *key, double value);	/* 1.250 */
void json_hex(struct json *j, const char *key, __u64 value);	/* "0x1f" */
void json_bool(struct json *j, const char *key, bool value);

#endif
