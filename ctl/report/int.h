/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _REPORT_INT_H
#define _REPORT_INT_H

#include "base/arena.h"
#include "base/ids.h"
#include "report/report.h"

struct group_key;
struct memo;

/* By id of a stack: that of its functions + 1, or 0. */
struct merged {
	__u32 *at;
	size_t nr;
};

/* A report, and what is needed while it is made. */
struct maker {
	struct report r;		/* first: what others have is this */
	struct sym *sym;
	struct arena arena;
	struct ids frame_ids, stack_ids, group_ids, row_ids, held_ids;
	size_t room_frames, room_stacks, room_groups, room_group_keys, room_rows, room_series,
	       room_helds;
	struct group_key *group_keys;
	unsigned char *reclaimable;	/* by number in snap->caches: 1 + is it? 0: not asked */
	__u32 *cache_groups;		/* the same: 1 + its group; NULL: labels are names alone */
	const char **programs;		/* names, by number in snap->tasks; or NULL */
	struct memo *memo;		/* which named stack is a stack of the snapshot */
	struct merged merged;
	const char **files;		/* names, each once; of rows: number + 1 */
	bool comparing;			/* two snapshots: numbers of one mean nothing in the
					 * other */
	const __u32 *event_of;		/* by number in snap->events: in r.events; or NULL:
					 * the same */
	size_t nr_files, room_files;
};

/* stack.c: the named stack of a stack's id, for the address space of @task; or -ENOMEM. */
__s64 report_stack(struct maker *m, __u32 id, const struct memtap_rec_task *task);
int report_stack_init(struct maker *m);
void report_stack_free(struct maker *m);
/* Another snapshot: names stay, the numbers of its stacks are others. */
void report_stack_forget(struct maker *m);
/* The number of a frame, of a stack of such; or -ENOMEM. */
__s64 report_frame(struct maker *m, const struct rframe *f);
__s64 report_stack_of(struct maker *m, const __u32 *frames, __u32 nr, __u32 flags);

/* merge.c: what tells rows apart in place of the named stack @id; or -ENOMEM */
__s64 report_merged(struct maker *m, __u32 id);
/* A row that shows @shown is of @id as well; both have the same report_merged(). */
int report_blend(struct maker *m, __u32 *shown, __u32 id);
void report_merge_free(struct maker *m);

/* group.c: whose events of this task are; or -ENOMEM */
__s64 report_group(struct maker *m, __u32 task_id);
__s64 report_group_named(struct maker *m, const char *label);

/* row.c: the row of that key, new or not; NULL: no memory */
struct rrow *report_row(struct maker *m, const struct rrow *key);
struct rrow *report_find_row(struct maker *m, const struct rrow *key);	/* NULL: none */
void report_progress(const struct maker *m, size_t done, size_t all);
/* What a row had in a part of the time, which is not before the last one's; NULL: no memory. */
struct rseries *report_series(struct maker *m, struct rrow *row, __u32 span);

/* past.c: what there was in the last report; -ENOMEM */
int report_past_add(struct report_past *p, const struct memtap_block *b, __u32 kind,
		    double weight);
int report_past_compare(struct maker *m);

/* of a cohort: what of it @s still has; what that says of a block of a row */
struct cohort_block {
	const struct memtap_block *block;
	double weight;
	bool sampled;
	__u64 end_ns;			/* growth was watched until then */
};

void report_cohort_count(struct report_past *p, const struct snap *s);
void report_cohort_add(const struct report_past *p, const struct cohort_block *c,
		       struct trend *t);
/* Of what was watched from @begin_ns to @end_ns, it is of a moment meanwhile. */
bool report_cohort_within(const struct report_past *p, __u64 begin_ns, __u64 end_ns);
/* Frees of what was not known, since then. */
__u64 report_cohort_unknown(const struct report_past *p, const struct memtap_rec_space *space);

/* block.c: what the row of a live block is told apart by; -ENOMEM. */
int report_block_key(struct maker *m, const struct memtap_block *b, struct rrow *key);
/* its event, RLEAKS_*; and what such is called: leaks.c */
__u32 report_block_event(const struct snap *s, const struct memtap_block *b);
const char *report_leaks_event(const struct snap *s, __u32 event);
/* pages.c: who is in it, of a block of the kernel's pages */
enum rowner report_owner(const struct maker *m, const struct memtap_block *b);

/* live_series.c: parts of the time, with rows of who is gone; -ENOMEM */
struct leaks_known;
int report_lived(struct maker *m, struct leaks_known *known);

/* peak.c: rows of what snap->peaks has; -ENOMEM */
int report_peaks(struct maker *m, struct leaks_known *known);

/* held.c: this block is one of the row's, and it is known what holds it; -ENOMEM */
int report_held_add(struct maker *m, struct rleak *leak, const struct snap_walk *w);
/* When all were added. */
void report_held_link(struct maker *m);

/* leaks.c */
int report_leaks_init(struct maker *m);
int report_leaks(struct maker *m);	/* rows of live blocks, and the sums */
void report_leaks_shown(struct maker *m);	/* once sections are made */
void report_leaks_free(struct maker *m);

/* diff.c: rows of @was come first, and then become what the others are compared with */
int report_diff_begin(struct maker *m, const struct snap *was, const struct snap *now);
void report_diff_turn(struct maker *m, const struct snap *now, struct sym *sym);

/* order.c: rows into sections, each in its order */
int report_order(struct maker *m);

/* mapped.c: what mappings grew by; once sections are made */
void report_mapped(struct report *r);

/* sums.c: what became of user stacks; once rows are made */
int report_sums(struct maker *m);

#endif
