/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TREND_H
#define _TREND_H

#include <stdbool.h>
#include <linux/types.h>

/*
 * Leak, cache, or start-up?  When the blocks of a row that live now were born tells much
 * of that: the time since the watching began is cut into sixteen parts, and of each so
 * many survive.  Where blocks are handed out again and again and never freed, every part has
 * survivors, the old ones as many as the new ones.  A cache of fixed size and an arena have
 * no new ones, what is freed after a while has no old ones.
 */
#define TREND_PARTS	16

enum trend_kind {
	TREND_NONE,		/* nothing was asked, or there is nothing to judge */
	TREND_EARLY,		/* it was not watched for long enough, or there are too few */
	TREND_START,		/* born when the watching began, and none since */
	TREND_FILLED,		/* none is born any more */
	TREND_BOUNDED,		/* what is older than some time is freed */
	TREND_CHURN,		/* only the youngest live */
	TREND_SHRINKING,	/* of the older ones fewer and fewer are left */
	TREND_GROWING,		/* nothing of it is freed */
	TREND_CACHE,		/* the same, and the program can reach it */
	TREND_LOST,		/* it cannot */
	TREND_LEAKING,		/* it cannot, and becomes more */
	NR_TREND
};

struct trend {
	double blocks[TREND_PARTS], bytes[TREND_PARTS];	/* survivors, estimated with samples */
	double squares;		/* sum of (bytes of a block)^2 * weight, parts 1 and later */
	__u64 watched_ns;	/* the longest of its processes */
	double then, left;	/* blocks that lived at a moment meanwhile, and are left of them */
	__u64 then_ns;		/* when that was; 0: nobody looked */
	double unknown;		/* frees of blocks that were there before, in its processes: what
				 * replaces those does not make it grow */
	double grown;		/* blocks that all of them became more by, where that is known */
	double reclaimable;	/* bytes of parts that count for a rate, which the kernel can take
				 * back */
};

struct trend_verdict {
	enum trend_kind kind;
	double per_hour, error;	/* growth in bytes, +- in 95 of 100 cases; 0: no such */
	double reclaimable;	/* of per_hour: of what the kernel can take back */
	unsigned int parts;	/* with survivors */
	double share;		/* the older half's survivors by the newer half's, blocks */
	__u64 since_ns;		/* FILLED: age of the youngest, about; BOUNDED, CHURN: of the
				 * oldest that counts */
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

/* "growing" ...; NULL: none */
const char *trend_name(enum trend_kind kind);

#endif
