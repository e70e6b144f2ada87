/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SNAP_H
#define _SNAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "uapi/memtap.h"

/* Stands behind the name of an event that counts returns. */
#define SNAP_RETURN	" (return)"

/*
 * A snapshot of a session in memory: the bytes of the device or of a file,
 * decoded, checked, with the counters of all CPUs merged.  Hostile input is
 * expected: every id, length and string is checked here and nowhere else.
 */
struct snap_event {
	__u32 id, unit, way, flags;
	__u64 seen, counted, filtered, own;	/* own: of the filtered */
	__u64 lost[MEMTAP_LOST_SLOTS];
	__u64 part[MEMTAP_PART_SLOTS];
	__u64 left_count;		/* counted, and left out by a filter: see report_select() */
	__s64 left_sum;
	char group[16];
	char name[MEMTAP_NAME_LEN + sizeof(SNAP_RETURN)];
};

struct snap_counter {
	__u32 event, flags, task, kstack, ustack;
	__u64 addr;
	__u64 count;
	__s64 sum;
	__u64 max;
	__u64 *hist;			/* MEMTAP_HIST_BUCKETS, or NULL */
	bool ranged;			/* these are known: */
	__s64 least, greatest;		/* values */
};

struct snap_stack {
	__u32 id, flags, nr, era;
	const __u64 *ip;
};

struct snap_map {
	__u32 space, file, flags, era;
	__u64 start, end, offset;
};

struct snap_file {
	__u32 id, build_id_len, dev_major, dev_minor;
	__u64 inode;
	__u8 build_id[24];
	const char *path;
};

struct snap_ksym {
	__u64 addr, offset;
	const char *name;
};

struct snap_usym {
	__u32 space, flags, line, era;
	__u64 ip, addr, offset;
	const char *name, *object, *file;	/* "": not known */
	const char *linkage;			/* "": as @name, or not known */
	size_t order;				/* of the record */
};

/* What became of a live block at the end, as Memcheck tells it. */
enum leak_kind {
	LEAK_UNKNOWN,			/* not examined */
	LEAK_DEFINITE = MEMTAP_REACH_DEFINITE,
	LEAK_INDIRECT = MEMTAP_REACH_INDIRECT,
	LEAK_POSSIBLE = MEMTAP_REACH_POSSIBLE,
	LEAK_REACHABLE = MEMTAP_REACH_REACHABLE,
	NR_LEAK_KINDS
};

/* Live blocks stay where the stream has them: of one BLOCKS record. */
struct snap_run {
	const struct memtap_block *at;
	__u32 nr;
	__u32 first;			/* number of at[0] among all */
};

/* What stacks had at the peak, of one PEAKS record. */
struct snap_peaks {
	const struct memtap_peak_stack *at;
	__u32 nr;
};

/*
 * What is known of a block since: for snap_set_kinds().  @birth_ns tells it from one that got
 * its address later; 0: there can be none.
 */
struct snap_reach {
	__u64 addr;
	__u32 space;
	__u32 kind;			/* enum leak_kind */
	__u64 birth_ns;
	__u32 held;			/* what it is, and what holds it: number + 1 in a list of
					 * these; 0: not known */
};

/* Of blocks: as of a HELD record. */
struct snap_held {
	char kind[MEMTAP_HELD_NAME], holder[MEMTAP_HELD_NAME];
};

/* What of a mapping is in memory, where somebody looked. */
struct snap_extent {
	size_t number;			/* of the block, as snap_walk.number */
	__u64 resident, swapped;	/* bytes */
};

/* A note of a file: an address space with MEMTAP_SPACE_NOT_FOLLOWED, by its number. */
#define SNAP_NOT_FOLLOWED	"not-followed="

struct snap {
	struct memtap_rec_header header;
	struct memtap_rec_memory memory;
	bool has_tool;			/* a file: names are in ksyms */
	struct snap_event *events;
	struct memtap_rec_hook *hooks;
	struct snap_counter *counters;	/* merged over CPUs, any order */
	struct snap_stack *stacks;	/* sorted by id */
	struct memtap_rec_task *tasks;	/* sorted by id */
	struct snap_map *maps;		/* sorted by (space, start) */
	__u64 *map_ends;		/* the highest end of those up to there, of a space;
					 * or NULL: not known */
	struct snap_file *files;	/* sorted by id */
	struct snap_ksym *ksyms;	/* sorted by addr */
	struct snap_ksym *gones;	/* of modules that went, from the device; the same */
	struct snap_usym *usyms;	/* sorted by (space, era, ip, call, order) */
	const char **notes;		/* "key=value" */
	struct snap_run *runs;		/* see snap_next_block() */
	__u64 *idle_ns;			/* by number of the block: not used for so long, at
					 * least; NULL: not known of any */
	struct snap_extent *extents;	/* ascending; of those where it is known */
	size_t nr_extents;
	__u8 *kinds;			/* enum leak_kind, by number of the block;
					 * NULL: all unknown */
	struct snap_held *helds;	/* in no order; */
	__u32 *held;			/* by number of the block: number + 1; NULL: no block's */
	size_t nr_helds;
	const struct memtap_rec_held **held_recs;	/* what these came from, of a file */
	size_t nr_held_recs;
	struct memtap_rec_heap *heaps;	/* sorted by event */
	struct memtap_rec_space *spaces; /* sorted by id */
	struct memtap_rec_pending *pendings;	/* calls under way, in no order */
	struct memtap_rec_cache *caches; /* sorted by id */
	struct memtap_rec_mismatch *mismatches;	/* each kind and place once */
	const struct memtap_rec_reach **reaches;	/* what @kinds came from */
	const struct memtap_rec_oom **ooms;	/* as they came: oom_clean() makes them fit */
	const struct memtap_rec_span **spans;	/* parts of the time, in its order */
	const struct memtap_rec_lived **liveds;	/* the same, of live blocks */
	size_t nr_caches, nr_gones, nr_ooms, nr_spans, nr_liveds;
	const struct memtap_rec_host **hosts;	/* of recordings that were merged */
	__u32 *task_hosts;		/* by number in @tasks: number in @hosts; NULL: none */
	size_t nr_hosts;
	struct memtap_rec_mark *marks;	/* in their order */
	size_t nr_marks;
	struct snap_peaks *peaks;	/* MEMTAP_CFG_PEAK: stay where the stream has them */
	struct memtap_rec_peak peak;	/* of all */
	size_t nr_peaks;
	size_t nr_pendings, nr_blocks, nr_runs, nr_heaps, nr_spaces, nr_mismatches, nr_reaches;
	size_t nr_events, nr_hooks, nr_counters, nr_stacks, nr_tasks, nr_maps,
	       nr_files, nr_ksyms, nr_usyms, nr_notes;
	bool selected;			/* a filter left out some: see report_select() */
	size_t left_events;		/* events that are not there */
	double left_blocks, left_bytes;	/* live blocks that it left out, as their weights are */
	void *kept_spans, *kept_liveds;	/* what @spans and @liveds point into then; or NULL */
	void *bytes;			/* what all of it points into; NULL: another
					 * snapshot owns it */
	size_t len;
	size_t device_len;		/* of them, without the tool's records */
	__u64 *hists;			/* what the counters' histograms point into */
};

/*
 * Decode @len bytes, which the snapshot then owns (malloc'ed; freed on failure
 * too).  Returns 0 or a negative errno with a sentence in @err: -EBADMSG for
 * what is malformed, -ENODATA for what is cut short.
 */
int snap_decode(void *bytes, size_t len, struct snap **out, char err[256]);

/*
 * Bytes to be decoded later: for who has no time now.  snap_room() has memory for so many ready;
 * @at is malloc'ed, and whose else it is not, to be freed.
 */
struct snap_bytes {
	char *at;
	size_t len, room;
};

int snap_room(struct snap_bytes *b, size_t room);
int snap_read(int fd, struct snap_bytes *b);
/* Read a whole snapshot from the device, or a file, and decode it. */
int snap_from_fd(int fd, struct snap **out, char err[256]);

/* What a part of the time has of one key, as a counter. */
struct snap_counter snap_span_counter(const struct memtap_span_row *r);

/*
 * What happened between two snapshots of one running session: counters and
 * events of @new less those of @old.  @new stays the owner of what it points to
 * and must outlive the result.  A counter's max is 0 unless it rose meanwhile;
 * lost[MEMTAP_LOST_RETURN] can fall (calls that were pending returned) and is
 * to be read as signed.  Of allocators, what they did is subtracted (heaps,
 * mismatches), but what is there is what is there now: blocks and spaces are
 * those of @new.  NULL: no memory.
 */
struct snap *snap_diff(const struct snap *new, const struct snap *old);

/*
 * The same with bytes of its own, as if a session had begun when @old was taken: to be saved, and
 * to outlive both.  It has the stacks, tasks and mappings of what happened in between, alone.  Of
 * sessions that keep no live blocks.  Parts that follow one another add up to the whole.  @old
 * NULL: from the session's start.  @share NULL: all of it; else these of its counters alone, so
 * that several shares have all.  0 or a negative errno.
 */
struct snap_share {
	size_t first, nr;
};

int snap_part(const struct snap *new, const struct snap *old, const struct snap_share *share,
	      struct snap **out);

/*
 * What was counted up to @s, as the old one of the two functions above, and for nothing else: it
 * may outlive @s.  NULL: no memory.
 */
struct snap *snap_counts(const struct snap *s);

void snap_free(struct snap *s);

const struct snap_event *snap_event(const struct snap *s, __u32 id);
/* Does @h, which is attached, leave out 32-bit processes without ASLR?  Does one of all? */
bool snap_hook_leaves_out(const struct memtap_rec_hook *h);
bool snap_leaves_out(const struct snap *s);
/* The built-in event of this name; NULL: it is none of the session's. */
const struct snap_event *snap_builtin(const struct snap *s, const char *name);

/* Is an event of this group recorded? */
static inline bool snap_has_group(const struct snap *s, const char *group)
{
	for (size_t i = 0; i < s->nr_events; i++)
		if (!strcmp(s->events[i].group, group))
			return true;
	return false;
}

const struct snap_stack *snap_stack(const struct snap *s, __u32 id);
const struct memtap_rec_task *snap_task(const struct snap *s, __u32 id);

/*
 * The control group that a task's memory is charged to, an inode, or 0: where the memory
 * controller is one of v1, all are in v2's tree as well, mostly in its root.
 */
static inline __u64 snap_cgroup(const struct memtap_rec_task *t)
{
	return t->cgroup1 ? t->cgroup1 : t->cgroup2;
}

const struct snap_file *snap_file(const struct snap *s, __u32 id);
/* What @addr of a stack of that era was in, or NULL. */
const struct snap_map *snap_map(const struct snap *s, __u32 space, __u32 era, __u64 addr);
/*
 * Processes with user stacks of which the module has not read the mappings yet, as it does
 * a moment after their first event: nothing of them has a name.  0 after STOP, which waits
 * for it; SNAP_UNREAD_MAX: or more.
 */
#define SNAP_UNREAD_MAX	1000
size_t snap_unread(const struct snap *s);
/* A task's mappings were read, or will not be: what can be named in its stacks is named. */
bool snap_mapped(const struct snap *s, __u32 task_id);
const struct memtap_rec_heap *snap_heap(const struct snap *s, __u32 event);
const struct memtap_rec_space *snap_space(const struct snap *s, __u32 id);
/* Of the block of this number, or NULL. */
const struct snap_extent *snap_extent(const struct snap *s, size_t number);
const struct memtap_rec_cache *snap_cache(const struct snap *s, __u32 id);

/* The machine whose task this is, where recordings were merged; else NULL. */
const struct memtap_rec_host *snap_host(const struct snap *s, const struct memtap_rec_task *t);

/*
 * All live blocks, in no order:
 *	struct snap_walk w = { .snap = s };
 *	while (snap_next_block(&w))
 *		... w.block, w.kind, w.number ...
 */
struct snap_walk {
	const struct snap *snap;
	size_t run;
	__u32 next;			/* in it */
	const struct memtap_block *block;
	enum leak_kind kind;
	__u32 held;			/* number + 1 in snap->helds; 0: not known */
	size_t number;
};

bool snap_next_block(struct snap_walk *w);

/*
 * These blocks (no allocator's mappings) are of these kinds; what does not name a live block
 * is ignored.  Sorts @r.  0 or -ENOMEM.
 */
int snap_set_kinds(struct snap *s, struct snap_reach *r, size_t nr);
/* The same, of those with .held, which is in @of; kinds stay as they are. */
int snap_set_held(struct snap *s, const struct snap_held *of, size_t nr_of, struct snap_reach *r,
		  size_t nr);

/*
 * The names that a file brings for a user address: how many, the innermost first.  @era
 * is that of the mapping which it is in.
 */
size_t snap_usyms(const struct snap *s, __u32 space, __u32 era, __u64 ip, bool call,
		  const struct snap_usym **first);

#endif
