/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RULES_H
#define _RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "machine/machine.h"

/*
 * Rules: when a condition holds on what the history samples, one action of a fixed list begins.
 * A rule is a line of words:
 *
 *	available < 5% for 20s do faults 30s most 4/h 20/d
 *
 * Its condition is one of
 *
 *	available < VALUE			MemAvailable; of MemTotal, or bytes
 *	pressure some|full [in CGROUP] > PERCENT	time that was lost to it, PSI
 *	swap-in > BYTES/s
 *	cgroup PATTERN > PERCENT		of its limit
 *	process PATTERN grows > BYTES/s		RSS and swap of one, by its name
 *	cgroup PATTERN grows > BYTES/s
 *	cache PATTERN grows > BYTES/s		a slab cache
 *	oom-kill
 *	allocation-failure			in the kernel's log
 *
 * "for TIME": a level must hold in each sample for so long; growth is measured over it.
 */
#define RULES_MOST	32
#define RULES_ERR	400
#define RULE_NAME	32
#define RULE_TEXT	256

enum rule_what {
	RULE_AVAILABLE, RULE_PRESSURE, RULE_SWAP_IN, RULE_CGROUP, RULE_PROCESS_GROWS,
	RULE_CGROUP_GROWS, RULE_CACHE_GROWS, RULE_OOM, RULE_FAILURE
};

enum rule_action {
	ACT_FAULTS, ACT_RSS, ACT_LEAKS, ACT_LEAKS_K, ACT_RECLAIM, ACT_SWAP, ACT_HEAP, ACT_TRIAGE,
	ACT_DIAGNOSE, ACT_RUN, NR_RULE_ACTIONS
};

/* Of whom a condition was true. */
struct rule_hit {
	__u64 key;			/* tells it from others of its kind; 0: the machine */
	__u64 start;			/* of a process: tells it from others of its PID */
	__u32 pid;			/* of a process */
	double value;			/* in the unit of the condition: percent, bytes, bytes/s */
	double seconds;			/* that it was measured over, or has held; 0: one sample */
	char name[256];			/* of the process, cgroup or cache; "" */
};

struct rule_base;

struct rule {
	char name[RULE_NAME], text[RULE_TEXT];
	enum rule_what what;
	bool full, percent;		/* of RULE_PRESSURE; of the value */
	char pattern[RULE_TEXT];	/* "": the machine */
	double value, hold;		/* hold: seconds; 0: one sample */
	enum rule_action action;
	double seconds;			/* of the action */
	char program[RULE_TEXT];
	unsigned int per_hour, per_day;

	/* state */
	int fd;				/* a trigger of PSI; -1: none */
	bool fired, tripped;		/* it was acted on and still holds; the fd said so */
	__u64 since_ns, since_key;	/* it holds since then; 0: it does not */
	struct rule_base *base;		/* of growth */
	__u64 hours[256];		/* CLOCK_BOOTTIME of actions within a day, a ring */
	size_t nr_hours;
	__u64 left_out;			/* times that it was true and nothing began */
};

struct rules {
	struct rule at[RULES_MOST];
	size_t nr;
};

/*
 * A rule more, @text as above, or with @action if that is not part of it (NULL).  False: a
 * sentence is in @err.
 */
bool rules_add(struct rules *r, const char *name, const char *text, const char *action,
	       char err[RULES_ERR]);
/* Lines RULE_NAME="..." of a file; others belong to somebody else.  False: with a sentence. */
bool rules_load(struct rules *r, const char *path, char err[RULES_ERR]);

/*
 * Can each work here?  @m: a sample of this machine; @module: the module is loaded.  Opens
 * triggers of PSI.  A rule that cannot is left out, and @refuse is called with a sentence.  False:
 * there was one.
 */
bool rules_begin(struct rules *r, const struct machine *m, bool module,
		 void (*refuse)(void *ctx, const char *why), void *ctx);
void rules_end(struct rules *r);

/*
 * Is the condition of @r true now?  @was: the sample before, or NULL.  To be called once for each
 * sample.  True once: not again until it was false in between.  *near: it may soon be.
 */
bool rule_holds(struct rule *r, const struct machine *was, const struct machine *m,
		struct rule_hit *hit, bool *near);

/* May it act at @boot_ns (CLOCK_BOOTTIME), by its limits?  rule_acted() counts. */
bool rule_may(const struct rule *r, __u64 boot_ns);
void rule_acted(struct rule *r, __u64 boot_ns);

/* "available 412.0 MiB, 3.9 % of memory, for 20 s"; "process web (812) grew 3.1 MiB/s in 60 s" */
void rule_hit_text(const struct rule *r, const struct rule_hit *hit, const struct machine *m,
		   char *buf, size_t len);

extern const char *const rule_actions[NR_RULE_ACTIONS];

#endif
