// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/json.c */
/* What is shown of names that come from programs. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "port/utf8.h"
#include "tap.h"

static void shows(const char *name, const char *want, const char *what)
{
	char text[64];

	snprintf(text, sizeof(text), "%s", name);
	utf8_clean(text);
	ok(!strcmp(text, want), "%s", what);
}

/* No byte of any two acts on a terminal or ends a line. */
static void all_pairs(void)
{
	int bad = 0;

	for (unsigned int n = 0; n < 65536; n++) {
		char text[3] = { (char)(n >> 8), (char)n, 0 };
		size_t len;

		utf8_clean(text);
		len = strlen(text);
		for (size_t i = 0; i < len; i++)
			bad += (unsigned char)text[i] < 0x20 || text[i] == 0x7f;
		/* two bytes above 0x7f: a character that is no C1 control, or nothing */
		bad += ((unsigned char)text[0] & 0x80) &&
		       (len != 2 || (unsigned char)text[0] < 0xc2 ||
			((unsigned char)text[0] == 0xc2 && (unsigned char)text[1] < 0xa0));
	}
	ok(!bad, "all pairs of bytes: nothing acts");
}

/* As escapes: a program that reads JSON gets the name, a terminal nothing that acts. */
static void json_escapes(void)
{
	char *text = NULL;
	size_t len;
	struct json j = { .out = open_memstream(&text, &len) };

	json_str(&j, "n", "a\033\n\x7f\xc2\x9b\xe2\x80\xae\xc3\xa4\xff");
	fclose(j.out);
	ok(strstr(text, "a\\u001b\\u000a\\u007f\\u009b\\u202e\xc3\xa4\\ufffd"),
	   "JSON: what acts is escaped");
	free(text);
}

int main(void)
{
	shows("", "", "an empty name");
	shows("plain name-1", "plain name-1", "a plain name stays");
	shows("a\\n\\x1b", "a\\n\\x1b", "a backslash stays: nothing else is shown as one");
	shows("e\033]0;PWN\007\n\x9bz", "e?]0;PWN???z", "an escape, a bell, a line end, C1");
	shows("\xc2\x9b\x7f\xc2\x85", "???", "C1 controls in UTF-8, DEL");
	shows("\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa7", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa7",
	      "letters and signs of two, three and four bytes stay");
	shows("\xc0\xaf\xe0\x80\xaf\xed\xa0\x80\xf5\x80", "??" "???" "???" "??",
	      "overlong forms, surrogates, what is beyond Unicode");
	shows("x\xe2\x82", "x??", "a character that is cut at the end");
	shows("\xe2\x80\xae" "txt\xe2\x80\xa8\xe2\x81\xa6", "?txt??",
	      "turned writing, line separators");
	all_pairs();
	json_escapes();
	return tap_done();
}
