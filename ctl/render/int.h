/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_INT_H
#define _RENDER_INT_H

#include <stdint.h>

#include "base/json.h"
#include "base/text.h"
#include "render/render.h"

/* A report that is being rendered. */
struct view {
	const struct report *r;
	const struct render_opts *o;
	struct sym *sym;
	bool calls;			/* weights in graphs are calls, or blocks */
	const struct render_side *sides;	/* two that are compared (r->was), or NULL */
	const struct render_profile *profile;	/* pprof: of one group; or NULL */
	__u32 group;			/* the number of that */
};

#define ALLOWED_TEXT	8
/* words.c: what pages of a mapping are, MEMTAP_MAPPING_HUGE and its like; "": nothing else */
const char *pages_text(__u32 allowed);
/* JSON's word for it; NULL: none */
const char *pages_word(__u32 allowed);
/* MEMTAP_MAPPING_* as /proc/PID/maps has them: "rw-p" */
const char *allowed_text(__u32 allowed, char buf[ALLOWED_TEXT]);

/* Each takes rows, and prints.  0 or a negative errno. */
int render_table(const struct view *v, FILE *out);
int render_folded(const struct view *v, FILE *out);
int render_flame(const struct view *v, FILE *out);
int render_json(const struct view *v, FILE *out);
int render_perf_script(const struct view *v, FILE *out);
int render_pprof(const struct view *v, FILE *out);
/* ... the kinds of its numbers: "type", "unit" pairs, NULL-terminated; to be freed, or NULL */
const char **render_pprof_types(const struct view *v);
int render_massif(const struct view *v, FILE *out);
int render_speedscope(const struct view *v, FILE *out);
int render_callgrind(const struct view *v, FILE *out);
int render_xml(const struct view *v, FILE *out);
/* Lines for calls in a file: more are left out, and told.  Tests want less. */
extern __u64 heaptrack_most_calls;
int render_heaptrack(const struct view *v, FILE *out);
int render_perf_data(const struct view *v, FILE *out);

/* functions.c: --by function and dso: a table in place of rows, and the same for JSON */
bool render_has_functions(const struct report *r);
int render_functions(const struct view *v, FILE *out);
int json_functions(struct json *j, const struct view *v);

/* diff.c: two reports in one */
int render_diff_table(const struct view *v, FILE *out);
int render_diff_json(const struct view *v, FILE *out);
void render_diff_footer(const struct view *v, FILE *out);	/* of both */

/* table.c: all of a row but for its numbers: stacks, whose it is, and what it is about */
void render_row_head(const struct report *r, const struct rrow *row, FILE *out);

/* footer.c: accounts, memory, hooks, notes, as lines of text; one line of it, or all */
void render_footer(const struct view *v, enum render_footer foot, FILE *out);

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
/* leaks_footer.c: live blocks, and how they explain the growth of processes */
void render_leaks_totals(const struct view *v, FILE *out);
void render_leaks_spaces(const struct report *r, FILE *out);
/* Some of these mappings is only address space. */
static inline bool render_extent_is_less(const struct rextent *e, const struct leaks_sum *sum)
{
	return e->kept && e->kept == sum->kept && e->resident + e->swapped < sum->kept_bytes;
}
/* Some blocks live that are not kept. */
bool render_some_unsampled(const struct snap *s);
void render_suppressions(const struct report *r, FILE *out);
/* leaks_calls.c: what allocators did, exactly */
bool render_calls_whole(const struct report *r);
void render_calls(const struct report *r, FILE *out);
void render_calls_warning(const struct report *r, FILE *out);	/* nothing where it adds up */
/* summary.c: as Memcheck prints it */
void render_summary(const struct view *v, FILE *out);

/* leaks.c: live blocks as memleak prints them */
void render_leaks(const struct report *r, FILE *out);
/* verdict.c: the line below a row that says what becomes of its blocks */
void render_verdict(const struct report *r, const struct rleak *l, FILE *out);
void render_mismatches(const struct report *r, FILE *out);

/* json.c: module, machine and times; events with their accounts; whose a row is; MEMTAP_KEY_* */
void json_moment(struct json *j, const struct memtap_rec_header *h);
void json_events(struct json *j, const struct snap *s);
void json_group(struct json *j, const struct rgroup *g);
void json_flags(struct json *j, __u32 flags);

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
/* The command that was launched; or what the report is about */
void render_program(const struct view *v, FILE *out);
/* " (inlined) at file.c:7", or what of it is known */
void render_source(const struct rframe *f, FILE *out);
/* What is counted: "call", "event", "block". */
const char *render_thing(const struct snap_event *e);
/* What a row counts for in a graph: bytes, pages, ns or calls; below 0: none. */
__s64 render_weight(const struct view *v, const struct rrow *row);
__s64 render_was_weight(const struct view *v, const struct rrow *row);	/* in r->was */
/* losses.c: what is not in a file without a foot (@where), and what was lost: lines */
void render_losses(const struct view *v, const char *prefix, const char *where, FILE *out);

/*
 * columns.c: what a row counts for, in formats that have several numbers for a stack.
 * What would be below 0 is 0: render_losses() says so.
 */
struct column {
	__u32 event;			/* of rows with another one it is 0 */
	__s32 kind;			/* enum leak_kind of blocks; -1: whatever it is */
	bool value;			/* bytes, pages, ns; else how many */
	const char *unit;		/* "bytes", "pages", "ns"; "count" */
	char name[MEMTAP_NAME_LEN + 32];	/* letters, digits, '_' */
	char about[MEMTAP_NAME_LEN + 64];	/* a line of text */
};

struct column *render_columns(const struct view *v, size_t *nr);	/* NULL: no memory */
/* Is this event one of those that the report is about? */
bool render_event_shown(const struct report *r, const struct snap_event *e);
__u64 render_column(const struct column *c, const struct rrow *row);

/* A file may say anything: what is too much for other programs' numbers stays at that. */
static inline __u64 render_add(__u64 sum, __u64 value)
{
	return value > INT64_MAX - sum ? INT64_MAX : sum + value;
}

/* chain.c: all frames of a row, as numbers in report.frames, the innermost first */
struct chain {
	__u32 *at;
	size_t nr, room;
	__u32 flags;			/* of the user stack */
};

#define RENDER_NO_STACK	"[no stack]"	/* stands for a row without frames */

int render_chain(const struct report *r, const struct rrow *row, struct chain *c);
void render_chain_free(struct chain *c);
/* massif.c: how many of the innermost frames are allocators; not all of them */
size_t render_asked_from(const struct view *v, const struct chain *c);
/* Are there several of whom rows are, and is it to be told? */
bool render_groups_shown(const struct report *r);

/* What has no names yet in the report of a running session, as a line; NULL: all has. */
#define RENDER_UNREAD_LEN	160
const char *render_unread(const struct report *r, char buf[RENDER_UNREAD_LEN]);

#endif
