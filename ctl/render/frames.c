// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print the frames of a stack in a table, one per line.  Repeated frames of a recursion are
 * printed once, so that the other frames stay on the screen.
 */
#include <string.h>

#include "render/int.h"

#define MAX_PERIOD	16		/* functions that call each other in turn */
#define MIN_TIMES	3		/* less is read faster than a remark about it */

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* For who reads functions, also where it is another line. */
static bool same_function(const struct rframe *a, const struct rframe *b)
{
	if (!a->sym || !b->sym || strcmp(a->text, b->text))
		return false;
	return a->sym->kernel == b->sym->kernel && a->sym->inlined == b->sym->inlined &&
	       !strcmp(a->sym->object, b->sym->object) && same_text(a->sym->file, b->sym->file);
}

static bool same(const struct report *r, __u32 a, __u32 b)
{
	if (a == b)
		return true;
	if (r->o->lines || r->o->addresses)
		return false;
	return same_function(&r->frames[a], &r->frames[b]);
}

/* How often the @period frames at @at come in a row. */
static __u32 times_of(const struct report *r, const struct rstack *st, __u32 at, __u32 period)
{
	__u32 i = at + period;

	while (i < st->nr && same(r, st->frames[i], st->frames[i - period]))
		i++;
	return (i - at) / period;
}

/* The shortest run that begins at @at; 1: none. */
static __u32 find_run(const struct report *r, const struct rstack *st, __u32 at, __u32 *times)
{
	for (__u32 period = 1; period <= MAX_PERIOD && at + 2 * period <= st->nr; period++) {
		*times = times_of(r, st, at, period);
		if (*times >= MIN_TIMES)
			return period;
	}
	*times = 1;
	return 1;
}

/* One frame for all of a run that stand for it: with a line if they have the same. */
static struct rframe frame_of(const struct report *r, const struct rstack *st, __u32 at,
			      __u32 period, __u32 times)
{
	struct rframe f = r->frames[st->frames[at]];

	for (__u32 i = 1; f.sym && i < times; i++) {
		const struct rframe *g = &r->frames[st->frames[at + i * period]];

		f.any_line |= g->any_line || g->sym->line != f.sym->line;
		f.any_place |= g->any_place || g->sym->addr != f.sym->addr;
	}
	return f;
}

void render_frames(const struct report *r, __u32 id, render_frame_fn *put, const char *indent,
		   FILE *out)
{
	const struct rstack *st = &r->stacks[id];
	__u32 period, times;
	char n[TEXT_LEN];

	for (__u32 at = 0; at < st->nr; at += period * times) {
		period = find_run(r, st, at, &times);
		for (__u32 i = 0; i < period; i++) {
			const struct rframe f = frame_of(r, st, at + i, period, times);

			put(r, &f, period == 1 ? times : 1, out);
		}
		if (period > 1)
			fprintf(out, "%s  (the %u above %s times in turn)\n", indent, period,
				text_count(n, times));
	}
}

void render_times(__u32 times, FILE *out)
{
	char n[TEXT_LEN];

	if (times > 1)
		fprintf(out, "  (%s times)", text_count(n, times));
}
