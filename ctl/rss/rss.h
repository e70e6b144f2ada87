/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RSS_H
#define _RSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/types.h>

#include "snap/snap.h"

/*
 * Attribute resident pages to the code that mapped them.  The module stores for each page its last
 * mapper; the kernel tells which pages are resident.  Each resident page is counted by its mapper,
 * or by the reason why the mapper is unknown, so that the rows of a process add up to its RSS.
 */
enum rss_kind { RSS_ANON, RSS_FILE, RSS_SHMEM, RSS_SWAP, NR_RSS };

/* Rows for each, as of an event of this name. */
const char *rss_kind_name(enum rss_kind kind);

struct rss_map {
	__u64 start, end;		/* pages */
	__u32 kind;			/* MEMTAP_FILE_*: what it is, where it is no file */
	__u32 allowed;			/* MEMTAP_MAPPING_* */
	__u32 path;			/* 1 + number in the list of paths, or 0 */
	bool private, shmem, locked, hugetlb, mergeable;
	__u64 rss, swap;		/* bytes, as smaps says */
	__u64 huge, lazy;		/* of @rss */
	size_t first_run, nr_runs;
};

/* Pages side by side that are there alike. */
struct rss_run {
	__u64 page;
	__u32 nr;
	__u8 kind;			/* enum rss_kind */
	__u8 marks;			/* RSS_MARK_* */
};

#define RSS_MARK_SHARED	(1U << 0)	/* anonymous, and another process has it, too */
#define RSS_MARK_HUGE	(1U << 1)	/* in a huge page that is mapped as such */
#define RSS_MARK_LAZY	(1U << 2)	/* given back by MADV_FREE, and still there */
#define RSS_MARK_MERGED	(1U << 3)	/* by KSM: whoever has it, too */

/* What anonymous memory is for, where that is known: parts of mappings. */
enum rss_for {
	RSS_FOR_HEAP,			/* brk() */
	RSS_FOR_ARENA,			/* of malloc() of glibc, not the main one, */
	RSS_FOR_BLOCK,			/* and a block with a mapping of its own */
	RSS_FOR_THREAD,			/* stacks of threads, */
	RSS_FOR_STACK,			/* and of the first one */
	RSS_FOR_FILE,			/* data of files that was written to */
	RSS_FOR_OTHER,
	NR_RSS_FOR
};

struct rss_part {
	__u64 start, end;		/* pages */
	enum rss_for what;
	__u32 tid;			/* of a stack: whose it is; 0: not known */
};

/* What is in pages side by side: see names of a process. */
struct rss_named {
	__u64 start, end;		/* pages */
	__u32 name;
};

struct rss_anon {
	__u64 pages[NR_RSS_FOR], things[NR_RSS_FOR];	/* arenas, blocks, stacks */
};

/* What an address space has at one moment. */
struct rss_process {
	__u32 pid;
	__u32 space;			/* 0: no event of it was seen */
	char comm[MEMTAP_COMM_LEN];	/* then */
	__u64 cgroup1, cgroup2;		/* as of a task's record; 0: not known */
	struct rss_map *maps;
	struct rss_run *runs;
	struct rss_part *parts;		/* sorted */
	char **paths;
	size_t nr_maps, nr_runs, nr_parts, nr_paths;
	size_t room_maps, room_runs, room_parts, room_paths;
	/* anonymous pages of which somebody else knows what is in them: sorted, malloc'ed */
	struct rss_named *named;
	char **names;
	size_t nr_named, nr_names;
	__u64 things[NR_RSS_FOR];
	__u64 rss, swap;		/* bytes, sums of smaps */
	__u64 pss, uss;			/* shared pages divided among those that have them; none */
	__u64 huge, lazy;		/* of @rss: in huge pages; given back by MADV_FREE */
	__u64 hugetlb;			/* bytes that are mapped, and no part of RSS, */
	__u64 hugetlb_there;		/* and resident */
	bool has_hugetlb_there;		/* since v4.4 */
	bool may_be_merged;		/* what is shared: it is not known of which pages */
	__u64 unread;			/* bytes in mappings too large to be looked at */
};

/*
 * process.c: of the process whose directory in /proc is @proc; -ESRCH: it is not there (any
 * more), or another errno.
 */
struct rss_env {
	__u64 zero_pfn;			/* of the page of zeros, 0: not known */
	int kpageflags;			/* or -1 */
	unsigned int page;		/* bytes */
};

void rss_env_begin(struct rss_env *e);
void rss_env_end(struct rss_env *e);
int rss_process_read(const struct rss_env *e, const char *proc, struct rss_process *p);
void rss_process_free(struct rss_process *p);
/* Its part: mappings alone, as @smaps has them. */
int rss_process_maps(const struct rss_env *e, const char *proc, FILE *smaps,
		     struct rss_process *p);
/* What this page was, and its number; NULL: not there. */
const struct rss_run *rss_process_run(const struct rss_process *p, __u64 page);

/*
 * parts.c: what its mappings are for, of one that was read.  Where that cannot be known it has
 * none; 0, or -ENOMEM.
 */
int rss_process_parts(const struct rss_env *e, const char *proc, struct rss_process *p);
/* Which part this page is in, or NULL; *end: as far as that holds, if it is less. */
const struct rss_part *rss_process_part(const struct rss_process *p, __u64 page, __u64 *end);
/* What is in this page, or NULL; *end as above. */
const struct rss_named *rss_process_named(const struct rss_process *p, __u64 page, __u64 *end);
/*
 * names.c: what is between two addresses, of a mapping without a name: "[malloc arena]".  False:
 * that is not known.
 */
bool rss_process_name(const struct rss_process *p, const char *proc, __u64 start, __u64 end,
		      char *text, size_t len);
/* Adds its anonymous pages that are there. */
void rss_process_for(const struct rss_process *p, struct rss_anon *to);

/* All processes of a session, at one moment. */
struct rss_look {
	struct rss_process *at;
	size_t nr, room;
};

/* What became of the pages: for the foot. */
struct rss_sums {
	__u64 pages[NR_RSS];		/* in rows */
	__u64 before, unseen;		/* of them, without a stack */
	__u64 used;			/* resident, and not stale: in none */
	__u64 left_out;			/* resident, of those that were there before: in none */
	__u64 shared;			/* anonymous ones that others have, too, */
	__u64 merged;			/* and those that KSM has merged */
	__u64 inherited;		/* whose stack is a parent's */
	__u64 inherited_before;		/* of @before: a parent had them */
	__u64 not_kept;			/* a parent's, of a region that was not kept of it */
	bool orphans;			/* of @unseen: some may be a parent's that is not known */
	__u64 rss, swap, pss, uss, huge, lazy;	/* as smaps says, bytes */
	__u64 hugetlb, hugetlb_there, unread;
	bool has_hugetlb_there, may_be_merged;
	__u64 refused, skipped, moved, unmoved;
	__u32 share;			/* rows are of 1 in 1 << share regions, scaled up */
	size_t processes;
};

/*
 * join.c: @snap, of a session with MEMTAP_CFG_TOUCHED, with what is there in the place of its
 * counters: bytes for snap_decode(), malloc'ed.  0, or -errno.
 */
struct rss_ask {
	const struct rss_look *now;
	const struct rss_look *then;	/* what was there when the session started, of all that
					 * were there; NULL: that was not looked at */
	__u32 flags;			/* MEMTAP_CFG_FILES, MAPPINGS: what is told apart */
	bool since;			/* without what was there before */
	bool (*is_stale)(void *ctx, __u32 pid, __u64 page);	/* of such pages alone; or NULL */
	void *ctx;
};

int rss_join(const struct snap *snap, const struct rss_ask *ask, struct rss_sums *sums,
	     void **bytes, size_t *len);

#endif
