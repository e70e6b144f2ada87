// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines of a text with suppressions, and room for what they say. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaks/suppress_int.h"

int suppress_bad(const struct suppress_text *t, const char *why)
{
	snprintf(t->err, SUPPRESS_ERR, "line %zu: %s", t->line, why);
	return -EINVAL;
}

struct suppress_rule *suppress_more(struct suppress *s)
{
	if (s->nr == s->room) {
		const size_t room = s->room ? 2 * s->room : 16;
		struct suppress_rule *r = reallocarray(s->at, room, sizeof(*r));

		if (!r)
			return NULL;
		s->at = r;
		s->room = room;
	}
	memset(&s->at[s->nr], 0, sizeof(s->at[s->nr]));
	return &s->at[s->nr++];
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool suppress_line(struct suppress_text *t, const char **at, size_t *len)
{
	while (t->at < t->end) {
		const char *next = memchr(t->at, '\n', t->end - t->at);

		*at = t->at;
		*len = (next ? next : t->end) - t->at;
		t->at = next ? next + 1 : t->end;
		t->line++;
		while (*len && is_blank(**at))
			(*at)++, (*len)--;
		while (*len && is_blank((*at)[*len - 1]))
			(*len)--;
		if (*len && **at != '#')
			return true;
	}
	return false;
}
