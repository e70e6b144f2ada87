/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_H
#define _RENDER_H

/*
 * Between report/report.c, which makes rows of counters, and render_*.c, which write
 * them.  In a row, stacks are named: equal names are one row, whatever the
 * addresses were.
 */
#include "base/arena.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/text.h"
#include "leaks/leaks.h"
#include "report/report.h"

struct rframe {
	const char *text;		/* the name, or what stands for it */
	const struct sym_frame *sym;	/* NULL: a mark, such as "[stack not kept]" */
	__u64 ip;
};

struct rstack {
	const __u32 *frames;		/* innermost first */
	__u32 nr;
	__u32 flags;			/* MEMTAP_STACK_*: of user stacks, and why
					 * it is cut */
};

/* The processes, threads, ... that --by asked for. */
struct rgroup {
	const char *label;		/* "comm [pid]" */
	const char *comm;
	__s32 pid, tid;			/* 0: several */
	__u64 cgroup;
	const char *cgroup_path;	/* NULL: not by cgroup, or not known */
};

/* Of a row of live blocks. */
struct rleak {
	struct leaks_sum sum;
	__u64 birth;			/* of the oldest */
	__u32 list;			/* with --show-allocs: number of an entry + 1 */
};

struct rrow {
	__u32 event;			/* index in report.events */
	__u32 flags, group, kstack, ustack;	/* flags of blocks: enum leak_kind */
	__u64 addr;
	__u64 count;
	__s64 sum;
	__u64 max;
	__u64 *hist;			/* or NULL */
	struct rleak *leak;		/* live blocks; or NULL: what was counted */
};

/* The rows of one event; those shown are the last ones. */
struct rsection {
	const struct snap_event *event;
	size_t first, nr, shown;
	__u64 count, shown_count;
	__s64 sum, shown_sum;
	bool has_negative;
};

/* What stands in the place of an event where rows are live blocks. */
#define RLEAKS_HEAP	0
#define RLEAKS_MAPPINGS	1
#define RLEAKS_EVENTS	2

/* Each live block, in lists by row. */
struct rblock {
	const struct memtap_block *block;
	__u32 next;			/* number + 1 */
};

struct rmismatch {
	const struct memtap_rec_mismatch *m;
	__u32 group, stack, alloc_stack, free_stack;	/* named */
};

/* Heap blocks of one address space, whatever their age. */
struct rspace {
	const struct memtap_rec_space *space;
	struct leaks_sum kinds[NR_LEAK_KINDS], suppressed, all;
	bool examined;			/* some kinds are known */
};

/* Beside the rows: report/leaks.c. */
struct rleaks {
	struct snap_event events[RLEAKS_EVENTS];
	struct leaks_sum young, suppressed, inner, other_kinds;
	struct leaks_sum *patterns;	/* by suppression */
	struct leaks_sum sums[RLEAKS_EVENTS], shown[RLEAKS_EVENTS];	/* of rows */
	struct rspace *spaces;		/* as snap->spaces */
	struct rmismatch *mismatches;	/* those of the program */
	size_t nr_mismatches;
	__u64 own_frees;		/* the others: see leaks_own_free() */
	struct rblock *list;
};

struct report {
	const struct snap *snap;
	const struct snap_event *events;	/* snap->events, or leaks->events */
	size_t nr_events;
	struct rleaks *leaks;		/* or NULL */
	struct sym *sym;
	const struct report_opts *o;
	enum report_by by;
	bool graph;			/* folded or flame: names and weights only */
	bool calls;			/* weights are calls */
	struct arena arena;
	struct rframe *frames;
	struct rstack *stacks;
	struct rgroup *groups;
	struct group_key *group_keys;
	struct rrow *rows;		/* by event, then ascending */
	struct rsection *sections;	/* of events that have rows */
	size_t nr_rows, nr_sections;
	struct ids frame_ids, stack_ids, group_ids, row_ids;
	size_t room_frames, room_stacks, room_groups, room_group_keys, room_rows;
	/* which of all this a stack, a task of the snapshot is */
	struct report_memo *memo;
};

/* report/stack.c */
#define RSTACK_NONE	0		/* no frames */
/* The named stack of a stack's id, for the address space of @task; or -ENOMEM. */
__s64 report_stack(struct report *r, __u32 id, const struct memtap_rec_task *task);
int report_stack_init(struct report *r);
void report_stack_free(struct report *r);

/* report/unwind.c: how user stacks were followed, and where that ended */

/* Why a stack may end early. */
struct rcut {
	__u32 flag;			/* MEMTAP_STACK_* */
	__u32 part;			/* MEMTAP_PART_* */
	const char *mark;		/* stands where the missing frames would */
	const char *words;		/* "12 <words>" */
};

#define NR_CUTS	7
extern const struct rcut report_cuts[NR_CUTS];
#define STACK_CUTS	(MEMTAP_STACK_DEPTH | MEMTAP_STACK_FAULT | MEMTAP_STACK_CHAIN | \
			 MEMTAP_STACK_TRAMPOLINE | MEMTAP_STACK_NOMAP | \
			 MEMTAP_STACK_NOTABLE | MEMTAP_STACK_NOROW)
/* The mark and the name in JSON of a stack with these flags and this reason. */
const char *report_cut_mark(const struct rcut *c, __u32 flags);
const char *report_cut_name(const struct rcut *c, __u32 flags);

/* Events by what became of their user stacks. */
struct rsums {
	bool rows;			/* followed by rows; else by frame pointers */
	__u64 all;			/* that have one that was kept */
	__u64 whole;			/* rows: down to the thread's start; else: to a
					 * function where programs or threads begin */
	__u64 others;			/* rows: 32-bit, by frame pointers after all */
	__u64 cut[NR_CUTS];		/* rows: as in report_cuts */
	const char *most[NR_CUTS];	/* the file where most of these end, or NULL */
};

/* False: the report has no user stacks. */
bool report_sums(const struct report *r, struct rsums *s);
/* How many were cut for the reason MEMTAP_STACK_*. */
__u64 report_sums_cut(const struct rsums *s, __u32 flag);
/* Of an event's MEMTAP_PART_*: what the sums tell already. */
__u64 report_sums_part(const struct report *r, __u32 event, __u32 part);
void render_sums(const struct report *r, FILE *out);

/* report/report.c: the row of that key, new or not; NULL: no memory */
struct rrow *report_row(struct report *r, const struct rrow *key);
void report_progress(const struct report *r, size_t done, size_t all);

/* report/leaks.c */
int report_leaks_init(struct report *r);
int report_leaks(struct report *r);	/* rows of live blocks, and the sums */
void report_leaks_shown(struct report *r);	/* once sections are made */
void report_leaks_free(struct report *r);

/* report/group.c */
__s64 report_group(struct report *r, __u32 task_id);
void *report_grow(void *p, size_t nr, size_t *room, size_t size);

int render_table(const struct report *r, FILE *out);
/* "comm, 10.250 s until ... on HOST, Linux ...", without a newline */
void render_title(const struct report *r, FILE *out);
/* " (inlined) at file.c:7", or what of it is known */
void render_source(const struct rframe *f, FILE *out);
int render_folded(const struct report *r, FILE *out);
int render_flame(const struct report *r, FILE *out);
int render_json(const struct report *r, FILE *out);

/* leaks.c: as memleak prints it */
void render_leaks_head(const struct report *r, FILE *out);
void render_leaks(const struct report *r, const struct rsection *s, FILE *out);
void render_mismatches(const struct report *r, FILE *out);
/* leaks_foot.c: totals, and how they explain the growth of processes */
void render_leaks_totals(const struct report *r, FILE *out);
void render_leaks_checks(const struct report *r, FILE *out);
void render_leaks_spaces(const struct report *r, FILE *out);
void render_suppressions(const struct report *r, FILE *out);
/* summary.c: as Memcheck prints it */
void render_summary(const struct report *r, FILE *out);
/* foot.c: accounts, memory, hooks, notes, as lines of text */
void render_foot(const struct report *r, FILE *out);
/* What has no names yet in the report of a running session, as a line; NULL: all has. */
#define RENDER_UNREAD_LEN	160
const char *render_unread(const struct report *r, char buf[RENDER_UNREAD_LEN]);
/* One line if something is missing or does not add up; for output without foot. */
void render_losses(const struct report *r, FILE *out);

/* What a row counts for in a graph: bytes, pages, ns or calls; below 0: none. */
__s64 render_weight(const struct report *r, const struct rrow *row);
const char *render_unit(__u32 unit);	/* "bytes", ...; "" for none */

/* [FRAME, ...] of a named stack: json.c */
void json_stack(struct json *j, const struct report *r, const char *key, __u32 id);
/* leaks_json.c */
void json_leaks(struct json *j, const struct report *r);
void json_leaks_row(struct json *j, const struct report *r, const struct rrow *row);

#endif
