// SPDX-License-Identifier: GPL-2.0-or-later
/* List the names that a pattern matches and that cannot be probed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "session/omitted.h"

#define LINE	90			/* characters of names in a line */
#define MOST	100			/* names that are listed for a reason */

void omitted_add(struct omitted *o, const char *name, const char *why)
{
	struct omitted_one *at;

	if (o->nr == o->room) {
		const size_t room = o->room ? 2 * o->room : 64;

		at = reallocarray(o->at, room, sizeof(*at));
		if (!at)
			return;
		o->at = at;
		o->room = room;
	}
	at = &o->at[o->nr];
	at->name = strdup(name);
	snprintf(at->why, sizeof(at->why), "%s", why);
	o->nr += at->name != NULL;
}

static void say_names(const struct omitted *o, const char *why)
{
	char line[LINE + 1] = "";
	size_t used = 0, said = 0;

	for (size_t i = 0; i < o->nr && said < MOST; i++) {
		const struct omitted_one *at = &o->at[i];
		const size_t len = strlen(at->name) + 1;

		if (strcmp(at->why, why))
			continue;
		said++;
		if (used && used + len > LINE) {
			note(" %s", line);
			used = 0;
		}
		used += (size_t)snprintf(line + used, sizeof(line) - used, " %s", at->name);
		if (used > LINE)
			used = LINE;
	}
	if (used)
		note(" %s", line);
}

void omitted_say(const struct omitted *o)
{
	char n[TEXT_LEN], most[TEXT_LEN];

	for (size_t i = 0; i < o->nr; i++) {
		size_t nr = 0, before = 0;

		for (size_t j = 0; j < i; j++)
			before += !strcmp(o->at[j].why, o->at[i].why);
		if (before)
			continue;
		for (size_t j = i; j < o->nr; j++)
			nr += !strcmp(o->at[j].why, o->at[i].why);
		if (nr > MOST)
			note("%s (%s, the first %s):", o->at[i].why, text_count(n, nr),
			     text_count(most, MOST));
		else
			note("%s (%s):", o->at[i].why, text_count(n, nr));
		say_names(o, o->at[i].why);
	}
}

void omitted_free(struct omitted *o)
{
	for (size_t i = 0; i < o->nr; i++)
		free(o->at[i].name);
	free(o->at);
	memset(o, 0, sizeof(*o));
}
