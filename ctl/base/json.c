// SPDX-License-Identifier: GPL-2.0-or-later
/* Write JSON as a stream: nothing is buffered, so that a million rows need no memory. */
#include <string.h>

#include "base/json.h"
#include "port/utf8.h"

/* How many bytes from @p on stand for themselves: nearly all there are. */
static size_t plain(const struct json *j, const char *p)
{
	const char *end = p;

	for (; *end >= 0x20 && *end < 0x7f && *end != '"' && *end != '\\'; end++)
		if (j->html && (*end == '<' || *end == '>' || *end == '&'))
			break;
	return end - p;
}

/* What plain() stopped at. */
static size_t put_char(struct json *j, const char *p)
{
	__u32 c;
	int len = utf8_char(p, &c);

	if (len < 1 || (j->html && c != '\n' && utf8_hides(c))) {
		fputs("\\ufffd", j->out);
		return len < 1 ? 1 : len;
	}
	if (c == '"' || c == '\\')
		fprintf(j->out, "\\%c", (char)c);
	else if (c < 0x80 || utf8_hides(c))
		fprintf(j->out, "\\u%04x", c);
	else
		fwrite(p, 1, len, j->out);
	return len;
}

static void put_string(struct json *j, const char *p)
{
	size_t len;

	fputc('"', j->out);
	for (; *p; p += len) {
		len = plain(j, p);
		if (len)
			fwrite(p, 1, len, j->out);
		else
			len = put_char(j, p);
	}
	fputc('"', j->out);
}

static void key(struct json *j, const char *name)
{
	if (j->comma)
		fputc(',', j->out);
	if (!j->html && !j->line && j->depth && j->depth < 3) {
		fputc('\n', j->out);
		for (int i = 0; i < j->depth; i++)
			fputc(' ', j->out);
	}
	if (name) {
		put_string(j, name);
		fputc(':', j->out);
	}
	j->comma = true;
}

void json_open(struct json *j, const char *name, char bracket)
{
	key(j, name);
	fputc(bracket, j->out);
	j->depth++;
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	fputc(bracket, j->out);
	j->depth--;
	j->comma = true;
}

void json_str(struct json *j, const char *name, const char *value)
{
	key(j, name);
	if (value)
		put_string(j, value);
	else
		fputs("null", j->out);
}

void json_u64(struct json *j, const char *name, __u64 value)
{
	key(j, name);
	fprintf(j->out, "%llu", (unsigned long long)value);
}

void json_s64(struct json *j, const char *name, __s64 value)
{
	key(j, name);
	fprintf(j->out, "%lld", (long long)value);
}

void json_seconds(struct json *j, const char *name, double value)
{
	key(j, name);
	fprintf(j->out, "%.3f", value);
}

void json_hex(struct json *j, const char *name, __u64 value)
{
	key(j, name);
	fprintf(j->out, "\"0x%llx\"", (unsigned long long)value);
}

void json_bool(struct json *j, const char *name, bool value)
{
	key(j, name);
	fputs(value ? "true" : "false", j->out);
}

void json_document(struct json *j, const char *what)
{
	json_open(j, NULL, '{');
	json_u64(j, "schema", JSON_SCHEMA);
	json_str(j, "document", what);
}
