/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _EVENT_H
#define _EVENT_H

#include <stdbool.h>
#include <linux/types.h>

/*
 * What a person writes for an event:
 *
 *	fault			built in: a name or a group
 *	[t:]SUBSYSTEM:NAME	a tracepoint
 *	k:FUNC[+OFF] kr:FUNC	a kernel function, or its return
 *	[u:]FILE:SYMBOL[+OFF]	a user function; ur: its return
 *	[u:]FILE+OFF		an instruction, by its offset in the file
 *	[u:]FILE:SOURCE:LINE	code of a source line
 *	[usdt:]FILE:PROVIDER:NAME, usdt:FILE:NAME
 *	perf:NAME[,period=N|,freq=N]	a counter of perf, see counter.h
 *
 * Without a prefix, what has a / is a FILE; "a:b" is a tracepoint if there is
 * one, else a function of the library a.
 */
enum event_kind {
	EVENT_BUILTIN,
	EVENT_TRACEPOINT,
	EVENT_KERNEL,
	EVENT_USER,
	EVENT_USDT,
	EVENT_PERF,
};

struct event_spec {
	enum event_kind kind;
	bool is_return;
	bool guessed;		/* a tracepoint that may be FILE:SYMBOL */
	bool has_offset;
	__u64 offset;
	const char *file;	/* USER, USDT */
	const char *group;	/* subsystem, provider; NULL: any */
	const char *name;	/* NULL: USER by offset in the file */
	const char *source;	/* USER by line: the source file; else NULL */
	int line;
	const char *end_group, *end_name;	/* TRACEPOINT: where it begins a pair, or NULL */
	char text[512];		/* what the pointers point into */
};

/* Returns 0 or -EINVAL.  Wildcards (*, ?) are left for whoever looks up. */
int event_parse(const char *text, struct event_spec *spec);

/* Read a guessed tracepoint as FILE:SYMBOL instead. */
void event_reread(struct event_spec *spec);

#endif
