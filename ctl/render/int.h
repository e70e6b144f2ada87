/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_INT_H
#define _RENDER_INT_H

#include "base/json.h"
#include "base/text.h"
#include "render/render.h"

/* A report that is being rendered. */
struct view {
	const struct report *r;
	const struct render_opts *o;
	bool calls;			/* weights in graphs are calls, or blocks */
};

/* Each takes rows, and prints.  0 or a negative errno. */
int render_table(const struct view *v, FILE *out);
int render_folded(const struct view *v, FILE *out);
int render_flame(const struct view *v, FILE *out);
int render_json(const struct view *v, FILE *out);

/* foot.c: accounts, memory, hooks, notes, as lines of text; one line of it, or all */
void render_foot(const struct view *v, enum render_foot foot, FILE *out);

/*
 * What the foot has, each with the question whether it tells of something that is less
 * than whole.
 */

/* events.c: what became of the events, and whether that adds up */
bool render_events_whole(const struct report *r);
void render_events(const struct report *r, FILE *out);
void render_parts(const struct report *r, FILE *out);	/* and what does not add up */
void render_events_line(const struct report *r, FILE *out);
void render_parts_line(const struct report *r, FILE *out);
void render_warnings(const struct report *r, FILE *out);	/* what does not add up, alone */
/* stacks.c: how far user stacks led */
bool render_stacks_whole(const struct report *r);
void render_stacks(const struct report *r, FILE *out);
void render_stacks_line(const struct report *r, FILE *out);
/* memory.c: what it took, and what had no room */
bool render_memory_whole(const struct report *r);
void render_memory(const struct report *r, FILE *out);
void render_memory_line(const struct report *r, FILE *out);
/* leaks_foot.c: live blocks, and how they explain the growth of processes */
void render_leaks_totals(const struct view *v, FILE *out);
void render_leaks_spaces(const struct report *r, FILE *out);
void render_suppressions(const struct report *r, FILE *out);
/* leaks_calls.c: what allocators did, exactly */
bool render_calls_whole(const struct report *r);
void render_calls(const struct report *r, FILE *out);
void render_calls_warning(const struct report *r, FILE *out);	/* nothing where it adds up */
/* summary.c: as Memcheck prints it */
void render_summary(const struct view *v, FILE *out);

/* leaks.c: live blocks as memleak prints them */
void render_leaks_head(const struct report *r, FILE *out);
void render_leaks(const struct report *r, const struct rsection *s, FILE *out);
void render_mismatches(const struct report *r, FILE *out);

/* leaks_json.c */
void json_leaks(struct json *j, const struct report *r);
void json_leaks_row(struct json *j, const struct report *r, const struct rrow *row);
/* json_stack.c: [FRAME, ...] of a named stack */
void json_stack(struct json *j, const struct report *r, const char *key, __u32 id);

/* frames.c: a stack, one frame a line, what is repeated once; @put says how often */
typedef void render_frame_fn(const struct report *r, const struct rframe *f, __u32 times,
			     FILE *out);
void render_frames(const struct report *r, __u32 id, render_frame_fn *put, const char *indent,
		   FILE *out);
void render_times(__u32 times, FILE *out);	/* "  (120 times)"; nothing for 1 */

/* words.c: what several say in the same way */

/* "comm, 10.250 s until ... on HOST, Linux ...", without a newline */
void render_title(const struct view *v, FILE *out);
/* " (inlined) at file.c:7", or what of it is known */
void render_source(const struct rframe *f, FILE *out);
/* What a row counts for in a graph: bytes, pages, ns or calls; below 0: none. */
__s64 render_weight(const struct view *v, const struct rrow *row);
/* What has no names yet in the report of a running session, as a line; NULL: all has. */
#define RENDER_UNREAD_LEN	160
const char *render_unread(const struct report *r, char buf[RENDER_UNREAD_LEN]);

#endif
