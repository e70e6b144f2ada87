/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TREND_H
#define _TREND_H

#include <stdbool.h>
#include <linux/types.h>

/*
 * Tell leaks, caches and start-up allocations apart by the allocation times of live blocks.  The
 * time of the recording is divided into sixteen parts, and each part has a number of surviving
 * blocks.  If a program allocates repeatedly and never frees, every part has survivors, as many in
 * old parts as in new ones.  A cache of fixed size and an arena have no new survivors.  Blocks
 * that are freed after a while have no old survivors.
 */
#define TREND_PARTS	16

enum trend_kind {
	TREND_NONE,		/* nothing was asked, or there is nothing to judge */
	TREND_EARLY,		/* it was not watched for long enough, or there are too few */
	TREND_START,		/* born when the watching began, and none since, or few */
	TREND_FILLED,		/* none is born any more */
	TREND_BOUNDED,		/* what is older than some time is freed */
	TREND_CHURN,		/* only the youngest live */
	TREND_SHRINKING,	/* of the older ones fewer are left, and of all, too */
	TREND_TURNOVER,		/* of the older ones fewer are left */
	TREND_REPLACING,	/* it grows, or each new one is for one from before */
	TREND_GROWING,		/* nothing of it is freed, or not of what has reached some age */
	TREND_CACHE,		/* the same, and the program can reach it */
	TREND_LOST,		/* it cannot */
	TREND_LEAKING,		/* it cannot, and becomes more */
	NR_TREND
};

/*
 * Of the same stack, what lived at a moment meanwhile, by birth: the time from the beginning of
 * the session until that moment in as many parts.
 */
struct trend_then {
	__u64 span_ns;		/* until that moment; 0: nobody looked */
	__u64 since_ns;		/* from it until growth ended to be watched */
	double blocks[TREND_PARTS], left[TREND_PARTS];	/* of these, how many are left */
	double all;		/* of any age */
	double grown;		/* bytes that those that are left became larger by, at least */
	double grown_to;	/* what they take now, */
	__u64 grown_ns;		/* after so long */
	double born;		/* blocks that live and were born since */
};

struct trend {
	double blocks[TREND_PARTS], bytes[TREND_PARTS];	/* survivors, estimated with samples */
	double squares[TREND_PARTS];	/* sum of (bytes of a block)^2 * weight */
	double reclaimable[TREND_PARTS];	/* bytes that the kernel can take back */
	__u64 watched_ns;	/* the longest of its processes */
	__u64 held_ns;		/* the longest time from the end of that until now */
	struct trend_then then;
	double unknown;		/* frees of blocks that were there before, in its processes, since
				 * .then, if somebody looked: what replaces those does not make
				 * it grow */
	double grown;		/* blocks that all of them became more by, where that is known */
};

struct trend_verdict {
	enum trend_kind kind;
	double per_hour, error;	/* growth in bytes, +- in 95 of 100 cases; 0: no such */
	double reclaimable;	/* of per_hour: of what the kernel can take back */
	double counted;		/* blocks that per_hour is of */
	unsigned int parts;	/* with survivors */
	double share;		/* of the parts that count, the older half's survivors by the
				 * newer half's, blocks */
	__u64 since_ns;		/* FILLED: age of the youngest, about; BOUNDED, CHURN, START: of
				 * the oldest that counts */
	__u64 settled_ns;	/* growth is of blocks that have reached this age; 0: of all but
				 * the newest part */
	double all, older;	/* blocks; and those older than since_ns */
	double start;		/* of the first part */
	double then, left;	/* those that lived at .then and had reached the age where blocks
				 * stay, and of these are left */
	__u64 then_age_ns;	/* that age */
	bool by_size;		/* it grows, too, because blocks became larger */
};

/*
 * Until when growth was watched of what began at @begin_ns: programs wait while their memory
 * is looked at, and what is born since is in no row.  @looked_ns: when that began; 0: nobody
 * did.  @now_ns: of the snapshot.
 */
__u64 trend_end(__u64 begin_ns, __u64 looked_ns, __u64 now_ns);

/* A block that stands for @weight; watched for @watched_ns, @age_ns old. */
void trend_add(struct trend *t, __u64 watched_ns, __u64 age_ns, __u64 bytes, double weight);

/* The same block, once it was added, is of what the kernel can take back. */
void trend_add_reclaimable(struct trend *t, __u64 watched_ns, __u64 age_ns, __u64 bytes,
			   double weight);

enum trend_reach { TREND_REACH_UNKNOWN, TREND_REACHED, TREND_NOT_REACHED };

struct trend_verdict trend_judge(const struct trend *t, enum trend_reach reach);

/* GROWING, CACHE and LEAKING: there is a rate. */
bool trend_grows(enum trend_kind kind);

/* "growing" ...; NULL: none */
const char *trend_name(enum trend_kind kind);

#endif
