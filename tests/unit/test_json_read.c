// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/json_read.c ctl/base/json.c ctl/base/text.c kmod/core/names.c */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_read.h"
#include "tap.h"

static char seen[8192];

static int see(void *ctx, const struct json_place *at, enum json_event event, const char *text)
{
	size_t len = strlen(seen);

	(void)ctx;
	for (size_t i = 0; i < at->depth; i++)
		len += (size_t)snprintf(seen + len, sizeof(seen) - len, "/%s", at->keys[i]);
	snprintf(seen + len, sizeof(seen) - len, "%s%s ", event == JSON_STRING ? "=" :
		 event == JSON_NUMBER ? "#" : "!", text);
	return !strcmp(text, "stop") ? 7 : 0;
}

static int reads(const char *text)
{
	seen[0] = '\0';
	return json_read(text, strlen(text), see, NULL);
}

static void test_values(void)
{
	ok(!reads("{\"a\": 1, \"b\" : [\"x\", {\"c\": -2.5}, []], \"d\": {}, \"e\": true}") &&
	   !strcmp(seen, "/a#1 /b/=x /b//c#-2.5 /b/! /d! ! "), "values and where they are");
	ok(!reads("[\"\\\"\\\\\\n\\u0041\\u00e9\\u20ac\\ud83d\"]") &&
	   !strcmp(seen, "/=\"\\\nA\xc3\xa9\xe2\x82\xac? "), "escapes");
	is(reads("[1, \"stop\", 2]"), 7, "it stops when it is told to");
	ok(!strcmp(seen, "/#1 /=stop "), "there");
}

static void test_wrong(void)
{
	static const char *const wrong[] = {
		"", "{", "{\"a\"}", "{\"a\":}", "[1,]", "[1 2]", "{\"a\":1,}", "[\"x]", "]", "{]",
		"[1]]", "\"\\q\"", "\"\\u12\"", "\"\\uzzzz\"", "{1:2}", "[\"\\", "nul\x01",
	};
	char deep[600];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ok(reads(wrong[i]) == -EINVAL, "refused: %s", wrong[i]);
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	ok(reads(deep) == -EINVAL, "too deep");
}

/* What the tool writes. */
static void test_written(void)
{
	char *text = NULL, *long_text = malloc(2 * JSON_TEXT);
	struct json j = { 0 };
	size_t len;

	j.out = open_memstream(&text, &len);
	memset(long_text, 'x', 2 * JSON_TEXT - 1);
	long_text[2 * JSON_TEXT - 1] = '\0';
	json_open(&j, NULL, '{');
	json_str(&j, "name", "a\"b\\c\n<\xc3\xa9>");
	json_u64(&j, "n", ~0ULL);
	json_open(&j, "list", '[');
	json_str(&j, NULL, long_text);
	json_close(&j, ']');
	json_close(&j, '}');
	fclose(j.out);
	seen[0] = '\0';
	ok(!json_read(text, len, see, NULL), "what the writer writes is read");
	ok(!strncmp(seen, "/name=a\"b\\c\n<\xc3\xa9> /n#18446744073709551615 /list/=xxx", 50),
	   "as it was");
	is(strlen(strstr(seen, "=xxx") + 1), JSON_TEXT - 1 + 3, "long text is cut");
	free(text);
	free(long_text);
}

int main(void)
{
	test_values();
	test_wrong();
	test_written();
	return tap_done();
}
