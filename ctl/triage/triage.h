/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TRIAGE_H
#define _TRIAGE_H

#include "machine/machine.h"

/*
 * Find what stands out between two moments of a machine, and which command tells more.  Nothing is
 * printed here.
 */

enum triage_level { LEVEL_OK, LEVEL_WATCH, LEVEL_BAD };

/* The lines of the USE method: utilisation, saturation, errors. */
enum triage_line {
	LINE_MEMORY, LINE_SWAP, LINE_SWAPPING, LINE_FAULTS, LINE_RECLAIM, LINE_STALLS,
	LINE_FRAGMENTS, LINE_KILLS, LINE_FAILURES,
	NR_TRIAGE_LINES
};

/* What was found; triage/advice.c has a command for each. */
enum triage_what {
	FOUND_OOM_CGROUP,	/* killed at a cgroup's limit: name */
	FOUND_OOM_LEAK,		/* killed, and this process grows: pid */
	FOUND_OOM_PROGRAM,	/* killed, and it runs again: name */
	FOUND_OOM,
	FOUND_LEAK,		/* a process grows: pid */
	FOUND_LEAK_TOUCHED,	/* the same, and its blocks explain little of that: diagnose */
	FOUND_PROGRAM,		/* many processes of a program, more and more: name */
	FOUND_TMPFS,		/* name: the mount */
	FOUND_SHMEM,		/* shared memory that is in no mount; pid, if one grew */
	FOUND_KERNEL,		/* the kernel's own memory grows */
	FOUND_KERNEL_HOLDS,	/* it holds much, and does not grow now */
	FOUND_SLAB,		/* name: the cache; here and below: of the census */
	FOUND_VMALLOC,		/* name: the caller */
	FOUND_SITE,		/* name: the function in which memory is allocated */
	FOUND_PAGE_TABLES,	/* pid */
	FOUND_STACKS,		/* too many threads */
	FOUND_PERCPU,
	FOUND_PAGES,		/* unaccounted: taken from the page allocator itself */
	FOUND_SOCKETS,
	FOUND_SWAPPING,		/* pid, if one causes most of it */
	FOUND_THRASHING,	/* pages of files are read again and again */
	FOUND_FRAGMENTED,
	FOUND_LIMIT,		/* name: a cgroup that meets its limit */
	FOUND_LIMIT_FILES,	/* the same, and most that it holds is page cache */
	FOUND_HIGH,		/* name: a cgroup that is slowed down above memory.high */
	FOUND_RECLAIM,		/* somebody waits for reclaim */
	FOUND_RECLAIM_CGROUP,	/* the same, within a cgroup's limit */
	FOUND_WAITS,		/* somebody waits for memory (PSI), it is not known for what */
	FOUND_RECLAIMABLE,	/* name: a cache that grows, and that the kernel can shrink */
	FOUND_UNEVICTABLE,	/* pages of files that cannot be reclaimed: ramfs */
	FOUND_COMMIT,		/* little is left to be promised; pid: who has most of it */
	FOUND_ZOMBIES,		/* pid: whose they are */
	FOUND_DEAD_CGROUPS,	/* removed, and still charged; name: below which cgroup, or "" */
	FOUND_HUGE,		/* memory is short, and much is set aside for huge pages, unused */
	FOUND_UNDEAD,		/* pid: it was killed, and holds its memory still */
	FOUND_HOLDS_PROCESS,	/* nothing grows, and little is left; name: who holds most of it */
	FOUND_HOLDS_SHARED,	/* the same: tmpfs, deleted files */
	FOUND_HOLDS,		/* the same: what no command of ours tells more about */
	FOUND_NOTHING,
	FOUND_NO_KERNEL,	/* the census': it does not grow */
	NR_TRIAGE_WHAT
};

struct triage_finding {
	enum triage_what what;
	int score;		/* urgency, 0 to 100 */
	__s64 grew;		/* bytes; decides between equals */
	__u32 pid;		/* 0: none */
	char name[1024];
	char seen[1400];	/* what was seen: half a sentence */
	char command[1400];	/* to be run next, as it is typed */
	const char *tells;	/* what it shows: the other half */
};

#define TRIAGE_FINDINGS	16

struct triage {
	const struct machine *before, *now;
	double seconds;			/* between them */
	bool past;			/* it is over: nothing is forecast */
	struct machine_growth *processes, *programs, *cgroups, *slabs, *callers, *sites,
		*tmpfs, *nodes, *deleted;
	struct machine_list was_programs, is_programs;
	struct machine_account was, is;
	enum triage_level level[NR_TRIAGE_LINES];
	__u64 new_kills;
	__s64 kernel_grew;		/* what cannot be reclaimed of the kernel's own */
	struct triage_finding found[TRIAGE_FINDINGS];	/* the most urgent first; never none */
	size_t nr_found;
};

/*
 * Both are to live as long as @t.  @census: what of the kernel's memory grows is looked for,
 * and nothing else.  @at: where to look whether a command can be run here.  -ENOMEM.
 */
int triage_look(struct triage *t, const struct machine_at *at, const struct machine *before,
		const struct machine *now, bool census);
void triage_free(struct triage *t);

/* A second; 0 where the kernel does not count it, or counts anew. */
double triage_rate(const struct triage *t, enum machine_vm vm);
__u64 triage_delta(const struct triage *t, enum machine_vm vm);
__s64 triage_mem_grew(const struct triage *t, enum machine_mem mem);
/* Bytes from which on something that grew is worth a word. */
__s64 triage_floor(const struct triage *t);

/* Of the time, in percent, that somebody waited; negative: not known. */
double triage_some(const struct triage *t);
double triage_full(const struct triage *t);

/* Free memory of which no block has this order or more, in percent; the worst zone. */
#define TRIAGE_ORDER	3
double triage_unusable(const struct machine *m);

/* The command and the reason of a finding that has all else. */
void triage_advise(struct triage_finding *f, const struct machine_at *at);

/* What happened from one moment to the next, for people who look for the moments that matter. */
#define TRIAGE_KILL	(1U << 0)	/* for lack of memory */
#define TRIAGE_STALL	(1U << 1)	/* tasks waited for memory a tenth of the time */
#define TRIAGE_GROWTH	(1U << 2)	/* processes and shared memory: a hundredth of all memory */
unsigned int triage_events(const struct machine *before, const struct machine *now);

/* One of the table, for tests: the command of a line, or NULL behind the last one. */
const char *triage_advice(size_t nr);

#endif
