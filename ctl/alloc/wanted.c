// SPDX-License-Identifier: GPL-2.0-or-later
/* List all function names to look up in a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/int.h"

const char *const alloc_events[ALLOC_EVENTS] = {
	"malloc", "calloc", "realloc", "memalign", "free",
	"new", "new[]", "delete", "delete[]", "unwind",
};

__u32 alloc_event_bit(const char *event)
{
	for (size_t i = 0; i < ALLOC_EVENTS; i++)
		if (!strcmp(alloc_events[i], event))
			return 1u << i;
	return 0;
}

static size_t nr_prefixes(const struct alloc_opts *o)
{
	size_t nr = o->prefix ? 1 : 0;

	for (size_t i = 0; alloc_prefixes[i]; i++)
		nr++;
	return nr;
}

static const char *prefix_nr(const struct alloc_opts *o, size_t i)
{
	if (!o->prefix)
		return alloc_prefixes[i];
	return i ? alloc_prefixes[i - 1] : o->prefix;
}

static void want(struct alloc_wanted *w, const char *name, size_t row)
{
	w->names[w->nr] = name;
	w->rows[w->nr++] = row;
}

static void want_prefixed(struct alloc_wanted *w, const struct alloc_opts *o)
{
	char *text = w->text;

	for (size_t p = 0; p < nr_prefixes(o); p++)
		for (size_t i = 0; i < alloc_nr_names; i++) {
			if (!(alloc_names[i].flags & ALLOC_C))
				continue;
			want(w, text, i);
			text += sprintf(text, "%s%s", prefix_nr(o, p),
					alloc_names[i].name) + 1;
		}
}

void alloc_wanted_free(struct alloc_wanted *w)
{
	if (!w)
		return;
	elfsym_names_free(w->set);
	free(w->names);
	free(w->rows);
	free(w->text);
	free(w);
}

static bool wanted_room(struct alloc_wanted *w, const struct alloc_opts *o)
{
	const size_t room = alloc_nr_names * (nr_prefixes(o) + 1) + 2;
	size_t len = 0;

	for (size_t p = 0; p < nr_prefixes(o); p++)
		for (size_t i = 0; i < alloc_nr_names; i++)
			len += strlen(prefix_nr(o, p)) + strlen(alloc_names[i].name) + 1;
	w->names = calloc(room, sizeof(*w->names));
	w->rows = calloc(room, sizeof(*w->rows));
	w->text = malloc(len);
	return w->names && w->rows && w->text;
}

struct alloc_wanted *alloc_wanted_new(const struct alloc_opts *o)
{
	struct alloc_wanted *w = calloc(1, sizeof(*w));

	if (!w || !wanted_room(w, o))
		goto err;
	for (size_t i = 0; i < alloc_nr_names; i++)
		want(w, alloc_names[i].name, i);
	want_prefixed(w, o);
	want(w, "runtime.text", ROW_GO_FROM);
	want(w, "runtime.etext", ROW_GO_TO);
	w->set = elfsym_names_new(w->names, w->nr);
	if (w->set)
		return w;
err:
	alloc_wanted_free(w);
	return NULL;
}
