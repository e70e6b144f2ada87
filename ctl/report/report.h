/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _REPORT_H
#define _REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/opt.h"
#include "leaks/leaks.h"
#include "machine/caches.h"
#include "machine/machine.h"
#include "report/cut.h"
#include "report/trend.h"
#include "snap/snap.h"
#include "sym/sym.h"

/*
 * The rows of a report and their order, without their layout (render/).  The stacks of a row are
 * lists of names: equal names are one row, whatever the addresses were.
 */

/* What tells rows apart, beside the event and whose it is. */
enum report_detail {
	DETAIL_LINES,		/* names of functions; with .lines also those of their source */
	DETAIL_NAMES,		/* names alone, for graphs */
	DETAIL_PLACES,		/* for programs: also where in a function, and how its
				 * stack was followed */
};

/* Which rows are shown of a report that has another one to be compared with. */
enum report_changes { CHANGES_ALL, CHANGES_ANY, CHANGES_UP };

struct report_opts {
	enum report_detail detail;
	enum report_by by;
	bool by_given;			/* somebody asked for .by: one group alone is named, too */
	enum report_sort sort;
	unsigned int top;		/* rows shown; 0: all */
	double min_percent;		/* rows that have less of their event are not shown */
	bool no_user, no_kernel;	/* leave these frames out */
	bool lines;			/* DETAIL_LINES: tell lines of a function apart */
	bool addresses;			/* tell frames apart by address */
	bool progress;			/* long work shows progress on stderr */
	const char *sums_only;		/* of this event no rows are shown; or NULL */

	/*
	 * Of sessions that keep live blocks (MEMTAP_CFG_LIVE): rows are stacks
	 * with what they allocated and is not freed.
	 */
	__u32 of;			/* mask of 1 << RLEAKS_*: which are rows; 0: RLEAKS_LIVE */
	__u64 older_ms;			/* only blocks of at least this age; 0: all */
	__u64 from_ns, until_ns;	/* only blocks born from then on, and before; 0: no limit */
	bool show_allocs;		/* list each block, too */
	bool looked;			/* kinds are known of those who go on: what was born
					 * since is in no row */
	const struct leaks_look *looks;	/* how these were read */
	size_t nr_looks;
	__u64 looked_ns;		/* when memory began to be looked at for this snapshot,
					 * by the session's clock; 0: it was not */
	__u64 stale_ns;			/* only blocks that were not used for so long; 0: all */
	bool trends;			/* judge how each row grows */
	bool rolled_up;			/* rows have no stacks, but sums of them */
	bool no_loader;			/* what the dynamic linker maps is not shown */
	bool grew_first;		/* in the order of what rows grew by since .past */
	const struct report_past *past;	/* of the last report, or NULL */
	enum report_changes changes;	/* since .past; of report_make_diff() only UP differs */
	struct report_past *next;	/* filled for the next one, or NULL */
	struct report_past *cohort;	/* for .trends, or NULL */
	const struct machine_room *room;	/* until when rows can grow; NULL: not known */
	struct machine_caches *caches;	/* of the machine that is watched, or NULL */
	__u32 leak_kinds;		/* mask of 1 << LEAK_*, where these are known: which
					 * are rows; 0: all */
	const struct suppress *suppress;	/* or NULL */
	bool suppressions;		/* print one for each row */
	bool kinds;			/* tell what is lost apart, also with DETAIL_NAMES */
	bool spans;			/* of each row what it was in parts of the time; where
					 * these are of live blocks, rows are all of them */
};

/*
 * When a row that grows by so many bytes an hour has filled .room, without what the kernel can take
 * back; 0: never, or not known.
 */
struct rleak;
__u64 report_full_ns(const struct report_opts *o, const struct rleak *l);

struct rframe {
	const char *text;		/* the name, or what stands for it */
	const struct sym_frame *sym;	/* NULL: a mark, such as "[stack not recorded]" */
	bool any_line, any_place;	/* several were merged, which differ in this */
	__u64 ip;
};

/* What rows of live blocks had in a report, for the next one of the same session. */
struct report_past;

struct report_past *report_past_new(void);	/* NULL: no memory */
void report_past_free(struct report_past *p);
/*
 * Who lived at a moment of the session, for report_opts.cohort of a later one: how many of
 * them are left says more of a stack than when those that are left were born.
 */
struct report_past *report_cohort_new(const struct snap *s);	/* NULL: no memory */
/* Of two, the later one first, that which is old enough to tell something; or NULL. */
struct report_past *report_cohort_best(struct report_past *const of[2], const struct snap *now);

#define RSTACK_NONE	0		/* the stack without frames */

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
	const char *host;		/* NULL: not by host */
	__s32 pid, tid;			/* 0: several */
	__u64 cgroup;
	const char *cgroup_path;	/* NULL: not by cgroup, or not known */
	const char *container;		/* its ID, or the UID of a pod; NULL: not by
					 * container, or none */
	const char *container_name;	/* NULL: unknown */
};

#define RLEAK_CACHES	(~0U)

enum rate_kind {
	RATE_KNOWN,
	RATE_ABOUT,			/* few calls were lost, */
	RATE_AT_LEAST,			/* or many, none of which freed */
	RATE_UNKNOWN,
};

/* Of a row of live blocks. */
/* How much of mappings is in memory. */
struct rextent {
	__u64 kept;			/* mappings of which it is known */
	__u64 resident, swapped;
};

struct rleak {
	struct leaks_sum sum;
	struct rextent extent;
	struct trend trend;
	struct trend_verdict verdict;	/* .kind is 0 unless report_opts.trends */
	enum rate_kind rate;		/* of .verdict */
	double before_blocks, before_bytes;	/* in the last report, where that is known */
	__u64 idle_ns;			/* .stale_ns: none was used for so long, at least */
	double used;			/* blocks that were, though older than that: in no row */
	__u64 birth;			/* of the oldest */
	__u32 cache;			/* of the kernel's objects: which; RLEAK_CACHES: several */
	__u32 all, any;			/* MEMTAP_BLOCK_* that all have, or some; RECLAIMABLE
					 * also by their caches */
	__u64 allocs, alloc_bytes;	/* RLEAKS_TOTALS: all that its stack allocated */
	__u32 list;			/* with show_allocs: number of an entry + 1 */
	__u32 held;			/* its largest entry in rleaks.helds: number + 1; or 0 */
	bool gone;			/* nothing of it lives; there was in the last report, or
					 * in a part of the time */
};

struct rrow {
	__u32 event;			/* index in report.events */
	__u32 flags, group, kstack, ustack;	/* flags of blocks: enum leak_kind */
	__u32 kmerged, umerged;		/* the stacks by which rows are told apart */
	__u64 addr;			/* or the number of .file, in no order */
	const char *file;		/* that the events are about, or NULL */
	__u32 allowed;			/* BY_MAPPING: MEMTAP_MAPPING_* there */
	__u64 count;
	__s64 sum;
	__u64 max;
	__u64 *hist;			/* or NULL */
	bool small;			/* less than report_opts.min_percent */
	bool loader;			/* all of it is the dynamic linker's; .no_loader */
	struct rleak *leak;		/* live blocks; or NULL: what was counted */
	__u64 was_count;		/* in report.was */
	__s64 was_sum;
	__u32 series;			/* in report.series, number + 1: what it was in parts
					 * of the time, the last one first; or 0 */
};

/* What a row had in a part of the time. */
struct rseries {
	__u32 span;			/* number in snap->spans; of live blocks, in snap->liveds */
	__u32 next;			/* number + 1 */
	__u64 count;			/* of live blocks: those that were new, and their bytes */
	__s64 sum;
	__u64 freed, freed_bytes;	/* of live blocks: those that had gone */
};

/* By what a row has changed since report.was; where that is more than fits, the most that does. */
static inline __s64 report_change(__s64 is, __s64 was)
{
	if (was > 0 && is < INT64_MIN + was)
		return INT64_MIN;
	if (was < 0 && is > INT64_MAX + was)
		return INT64_MAX;
	return is - was;
}

/* Mappings that cannot be written to are address space: not what memory grows by. */
#define REPORT_NO_GROWTH	(MEMTAP_KEY_READONLY | MEMTAP_KEY_RESERVED)

static inline bool report_is_growth(const struct rrow *row)
{
	return row->leak || !(row->flags & REPORT_NO_GROWTH);
}

static inline __s64 report_growth(const struct rrow *row)
{
	return report_is_growth(row) ? row->sum : 0;
}

/* Of a row of live blocks: those that are of one kind and have one holder. */
struct rheld {
	struct rleak *leak;
	__u32 held;			/* number in snap->helds */
	__u32 next;			/* of the same row, with less bytes: number + 1; or 0 */
	__u64 blocks, bytes;
};

/* The rows of one event; those shown are the last ones. */
struct rsection {
	const struct snap_event *event;
	size_t first, nr, shown;
	__u64 count, shown_count;
	__s64 sum, shown_sum;		/* report_growth() of all */
	__s64 read_only, reserved;	/* of those that are no growth */
	size_t nr_loader;		/* rows of the dynamic linker, which are not shown */
	__u64 loader_count;
	__s64 loader_sum;
	bool has_negative;
	size_t nr_same;			/* compared: rows that did not change (or grow), as is
					 * asked, never shown */
	size_t nr_gone, shown_gone;	/* since report_opts.past */
	size_t nr_small;		/* less than report_opts.min_percent: not shown */
	__u64 was_count;		/* of all rows, in report.was */
	__s64 was_sum;
};

/* What stands in the place of an event where rows are live blocks. */
#define RLEAKS_HEAP	0	/* of the kernel: slab */
#define RLEAKS_MAPPINGS	1
#define RLEAKS_PAGES	2	/* of the kernel, like the next ones */
#define RLEAKS_PERCPU	3
#define RLEAKS_VMALLOC	4
#define RLEAKS_PEAK	5	/* of a process's blocks: what lived at the peak, */
#define RLEAKS_ALLOCATED 6	/* all that was allocated, */
#define RLEAKS_TEMPORARY 7	/* and what was freed by the next call of its thread */
#define RLEAKS_EVENTS	8
#define RLEAKS_LIVE	((1U << RLEAKS_PEAK) - 1)	/* those of live blocks */
#define RLEAKS_TOTALS	(1U << RLEAKS_PEAK | 1U << RLEAKS_ALLOCATED | 1U << RLEAKS_TEMPORARY)

/* Pages that others are in who are followed, too: whose. */
enum rowner { ROWNER_NONE, ROWNER_SLAB, ROWNER_VMALLOC, ROWNER_PERCPU, NR_ROWNER };

const char *rowner_name(enum rowner owner);
/* Does it hold what is followed, too, such as a slab?  It is in no row then. */
bool report_is_owned(const struct snap *s, struct sym *sym, const struct memtap_block *b);

/* Each live block, in lists by row. */
struct rblock {
	const struct memtap_block *block;
	__u32 next;			/* number + 1 */
};

struct rmismatch {
	const struct memtap_rec_mismatch *m;
	__u32 group, stack, alloc_stack, free_stack;	/* named */
	/* what was never handed out lies in this block, which lived then and still does;
	 * @alloc_stack is that one's */
	const struct memtap_block *inside;
};

/* Heap blocks of one address space, whatever their age; and what it mapped itself. */
struct rspace {
	const struct memtap_rec_space *space;
	struct leaks_sum kinds[NR_LEAK_KINDS], suppressed, all;
	struct leaks_sum maps[NR_LEAK_KINDS], suppressed_maps;
	struct rextent extents[NR_LEAK_KINDS];	/* of .maps */
	bool examined;			/* some kinds are known */
};

/* Beside the rows. */
struct rleaks {
	struct snap_event events[RLEAKS_EVENTS];
	struct leaks_sum used;		/* not stale */
	struct leaks_sum young, late, outside, suppressed, inner, other_kinds, loader;
	struct leaks_sum dead;		/* of processes that exited, while others are watched */
	__u64 allocs, alloc_bytes, temporary;	/* of all stacks of snap->peaks, */
	__u64 peak_bytes;		/* and what these had at the peak */
	double lost_allocs, lost_frees;	/* calls; of what does both they are frees */
	bool alive;			/* a process that is followed runs */
	struct leaks_sum owned[NR_ROWNER];	/* pages that are others', and in no row */
	struct leaks_sum *patterns;	/* by suppression */
	struct leaks_sum sums[RLEAKS_EVENTS], shown[RLEAKS_EVENTS];	/* of rows */
	struct rspace *spaces;		/* as snap->spaces */
	struct rmismatch *mismatches;	/* those of the program */
	size_t nr_mismatches;
	__u64 own_frees;		/* the others: see leaks_own_free(), */
	__u64 known_frees;		/* and those that are suppressed, */
	__u64 *free_patterns;		/* by suppression */
	struct rblock *list;
	struct rheld *helds;
	size_t nr_helds;
};

/* Events by what became of their user stacks. */
struct rsums {
	bool rows;			/* followed by rows; else by frame pointers */
	__u64 all;			/* that have one that was kept */
	__u64 whole;			/* rows: down to the thread's start; else: to a
					 * function where programs or threads begin */
	__u64 others;			/* rows: 32-bit, by frame pointers after all */
	__u64 cut[NR_CUTS];		/* rows: as in report_cuts */
	const char *most[NR_CUTS];	/* the file where most of these end, or NULL */
	__u64 unnamed;			/* of all: with code of a compiler that has no name */
};

/* Of an event: what is not whole in what was counted, but for what rsums tells. */
struct rparts {
	__u64 part[MEMTAP_PART_SLOTS];	/* MEMTAP_PART_* */
};

/* What mappings grew by in all, where all calls that can do so were counted. */
struct rmapped {
	bool known;
	__s64 write, read_only, reserved;
	__s64 by_mmap, by_mremap, by_mprotect, by_munmap;	/* of .write */
};

/* What renderers take, and print. */
struct report {
	const struct snap *snap;
	const struct snap *was;		/* compared with this one; or NULL */
	const struct report_opts *o;
	const struct snap_event *events;	/* snap->events, or leaks->events */
	size_t nr_events;
	struct rleaks *leaks;		/* or NULL */
	struct rframe *frames;
	struct rstack *stacks;
	struct rgroup *groups;
	struct rrow *rows;		/* by event, then ascending */
	struct rseries *series;		/* of all rows; report_opts.spans */
	struct rsection *sections;	/* of events that have rows */
	size_t nr_groups, nr_rows, nr_sections, nr_series;
	const struct rrow **merged;	/* of the kernel's live blocks: the rows shown of all
					 * sections, in one order, as they are printed; or NULL */
	size_t nr_merged;
	struct rsums *sums;		/* NULL: there are no user stacks */
	struct rmapped mapped;
	struct rparts *parts;		/* by number in snap->events */
	const char *const *notes;	/* what could not be named, and why; ends with NULL */
};

/*
 * Rows of @snap, which must live as long as they do; so must @sym and @o.  NULL: no
 * memory.
 */
struct report *report_make(const struct snap *snap, struct sym *sym,
			   const struct report_opts *o);
/*
 * The same, compared with @was: rows of both, told apart by the same names, with what each
 * had then.  Everything else is about @now.  @was_sym is not @sym, and must live as long.
 */
struct report *report_make_diff(const struct snap *was, struct sym *was_sym,
				const struct snap *now, struct sym *sym,
				const struct report_opts *o);
void report_free(struct report *r);

/*
 * What stands for the name of a frame that has none.  Where the kernel keeps is a secret, and
 * reports go to files that others may read: only who asks for addresses gets them.
 */
const char *report_no_name(const struct sym_frame *f, char buf[512]);

/*
 * The row of a section that is shown as number @i: ascending, the last one above the prompt;
 * where growth is the order, the first one is what grew most.
 */
static inline const struct rrow *report_shown(const struct report *r, const struct rsection *s,
					      size_t i)
{
	const size_t last = s->first + s->nr - 1;

	return &r->rows[r->o->grew_first ? last - i : last + 1 - s->shown + i];
}

/* RLEAKS_PEAK: is each process shown at its own peak? */
bool report_own_peaks(const struct report_opts *o);

/* Rows are of these. */
static inline __u32 report_of(const struct report_opts *o)
{
	return o->of ? o->of : RLEAKS_LIVE;
}

/* Calls of allocators that were lost: what is said of rows is not of all blocks. */
__u64 report_calls_lost(const struct report *r);

/* All that it has was allocated a moment ago, or is freed sooner or later. */
bool report_is_freed_again(const struct rrow *row);

/* Of a row that is compared: by what it changed, in the event's unit or as --sort has it. */
__s64 report_row_change(const struct report *r, const struct rrow *row);

/* Are rows of this event not shown? */
static inline bool report_sums_only(const struct report *r, const struct snap_event *e)
{
	return !r->leaks && r->o->sums_only && !strcmp(e->name, r->o->sums_only);
}

/* Rows of this event are resident (or swapped) pages, not what happened: see ctl/rss/join.c. */
static inline bool report_is_pages(const struct snap_event *e)
{
	return !strcmp(e->group, "rss");
}

/* Is the report about what is resident? */
static inline bool report_is_rss(const struct report *r)
{
	for (size_t i = 0; i < r->nr_events; i++)
		if (report_is_pages(&r->events[i]))
			return true;
	return false;
}

/* By what a row grew since the last report: bytes, blocks. */
__s64 report_grew_bytes(const struct rrow *row);
__s64 report_grew_blocks(const struct rrow *row);

/* How many were cut for the reason MEMTAP_STACK_*. */
__u64 report_sums_cut(const struct rsums *s, __u32 flag);

#endif
