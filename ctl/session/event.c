// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the name of an event. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "session/event.h"
#include "base/opt.h"

static const struct {
	const char *prefix;
	enum event_kind kind;
	bool is_return;
} prefixes[] = {
	{ "t:", EVENT_TRACEPOINT, false },
	{ "k:", EVENT_KERNEL, false },
	{ "kr:", EVENT_KERNEL, true },
	{ "u:", EVENT_USER, false },
	{ "ur:", EVENT_USER, true },
	{ "usdt:", EVENT_USDT, false },
	{ "perf:", EVENT_PERF, false },
};

/* The next colon that is not half of a C++ "::". */
static char *find_colon(char *s)
{
	for (; (s = strchr(s, ':')); s += 2)
		if (s[1] != ':')
			return s;
	return NULL;
}

/* Cuts off "+NUMBER" at the end; C++'s operator+ stays. */
static void take_offset(char *s, struct event_spec *spec)
{
	char *plus = strrchr(s, '+');

	if (!plus || plus == s || !opt_u64(plus + 1, &spec->offset))
		return;
	*plus = '\0';
	spec->has_offset = true;
}

static int parse_two(char *s, const char **first, const char **second)
{
	char *colon = find_colon(s);

	if (!colon || colon == s || !colon[1] || find_colon(colon + 1))
		return -EINVAL;
	*colon = '\0';
	*first = s;
	*second = colon + 1;
	return 0;
}

/* [SUBSYSTEM:]END behind the dots; the subsystem is the begin's, where it is left out. */
static int parse_tracepoint(char *s, struct event_spec *spec)
{
	char *dots = strstr(s, "..");
	int err;

	if (!dots)
		return parse_two(s, &spec->group, &spec->name);
	*dots = '\0';
	err = parse_two(s, &spec->group, &spec->name);
	if (err)
		return err;
	spec->end_group = spec->group;
	spec->end_name = dots + 2;
	if (strchr(dots + 2, ':'))
		err = parse_two(dots + 2, &spec->end_group, &spec->end_name);
	if (!*spec->end_name || strstr(spec->end_name, "..") || strpbrk(spec->name, "*?[") ||
	    strpbrk(spec->end_name, "*?["))
		return -EINVAL;
	return err;
}

static int parse_kernel(char *s, struct event_spec *spec)
{
	take_offset(s, spec);
	spec->name = s;
	if (!*s || strchr(s, ':') || strchr(s, '/'))
		return -EINVAL;
	return spec->is_return && spec->offset ? -EINVAL : 0;
}

/* FILE:PROVIDER:NAME, or with the prefix FILE:NAME */
static int parse_usdt(char *s, struct event_spec *spec)
{
	char *colon = strchr(s, ':');

	if (!colon || colon == s || !colon[1])
		return -EINVAL;
	*colon = '\0';
	spec->file = s;
	spec->name = colon + 1;
	if (!strchr(spec->name, ':'))
		return 0;
	return parse_two(colon + 1, &spec->group, &spec->name);
}

/* SOURCE:LINE; a USDT probe's name is no number. */
static bool take_line(char *s, struct event_spec *spec)
{
	char *colon = strrchr(s, ':');
	__u64 line;

	if (!colon || colon == s || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
	    !opt_u64(colon + 1, &line) || !line || line > INT_MAX)
		return false;
	*colon = '\0';
	spec->source = s;
	spec->line = (int)line;
	return true;
}

static int parse_user(char *s, struct event_spec *spec)
{
	char *colon = strchr(s, ':');

	if (colon && colon != s && !spec->is_return && take_line(colon + 1, spec)) {
		*colon = '\0';
		spec->kind = EVENT_USER;
		spec->file = s;
		return 0;
	}
	if (colon && find_colon(colon + 1) && !spec->is_return) {
		spec->kind = EVENT_USDT;
		return parse_usdt(s, spec);
	}
	spec->file = s;
	if (colon) {
		*colon = '\0';
		spec->name = colon + 1;
		take_offset(colon + 1, spec);
		if (!*spec->name)
			return -EINVAL;
	} else {
		take_offset(s, spec);
		if (!spec->has_offset)
			return -EINVAL;
	}
	if (!*spec->file)
		return -EINVAL;
	return spec->is_return && spec->offset && spec->name ? -EINVAL : 0;
}

/* No prefix: see the table in event.h. */
static int parse_plain(char *s, struct event_spec *spec)
{
	char *colon = strchr(s, ':');

	if (strchr(s, '/') || (!colon && strstr(s, "+0x"))) {
		spec->kind = EVENT_USER;
		return parse_user(s, spec);
	}
	if (!colon) {
		spec->kind = EVENT_BUILTIN;
		spec->name = s;
		return *s ? 0 : -EINVAL;
	}
	if (strstr(s, "..")) {
		spec->kind = EVENT_TRACEPOINT;
		return parse_tracepoint(s, spec);
	}
	if (find_colon(colon + 1) || colon[1] == ':') {
		spec->kind = EVENT_USER;
		return parse_user(s, spec);
	}
	spec->kind = EVENT_TRACEPOINT;
	spec->guessed = true;
	return parse_two(s, &spec->group, &spec->name);
}

static int parse_kind(char *s, struct event_spec *spec)
{
	switch (spec->kind) {
	case EVENT_TRACEPOINT:
		return parse_tracepoint(s, spec);
	case EVENT_KERNEL:
		return parse_kernel(s, spec);
	case EVENT_USDT:
		return parse_usdt(s, spec);
	case EVENT_PERF:
		spec->name = s;
		return *s ? 0 : -EINVAL;
	default:
		return parse_user(s, spec);
	}
}

int event_parse(const char *text, struct event_spec *spec)
{
	const size_t len = strlen(text);

	memset(spec, 0, sizeof(*spec));
	if (len >= sizeof(spec->text))
		return -EINVAL;
	memcpy(spec->text, text, len + 1);
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const size_t n = strlen(prefixes[i].prefix);

		if (strncmp(text, prefixes[i].prefix, n))
			continue;
		spec->kind = prefixes[i].kind;
		spec->is_return = prefixes[i].is_return;
		return parse_kind(spec->text + n, spec);
	}
	return parse_plain(spec->text, spec);
}

void event_reread(struct event_spec *spec)
{
	spec->kind = EVENT_USER;
	spec->guessed = false;
	spec->file = spec->group;
	spec->group = NULL;
	take_offset((char *)spec->name, spec);
}
