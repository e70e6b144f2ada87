/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _AGES_H
#define _AGES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/*
 * When was a page last used?  A method can tell which pages were used since it was last reset.  It
 * is sampled several times, and for each page the last sample that saw it used is stored.  A page
 * that appears later counts as used at that time.
 */
typedef void (*ages_fn)(void *to, __u64 page, const __u64 *present, const __u64 *touched);

#define AGES_REGION	512		/* pages that @page is the first of, bit by bit */

struct ages_way {
	/* Calls @fn for each region that has pages; 0, -ESRCH: it is gone, or another errno. */
	int (*read)(void *ctx, pid_t pid, ages_fn fn, void *to);
	int (*forget)(void *ctx, pid_t pid);
	int (*done)(void *ctx);		/* all were told; may be NULL */
	void *ctx;
};

struct ages;

struct ages *ages_new(const struct ages_way *way);	/* NULL: no memory */
void ages_free(struct ages *a);
/* Watch this process, too, from the next sample on; 0, or -ENOMEM. */
int ages_add(struct ages *a, pid_t pid);
bool ages_has(const struct ages *a, pid_t pid);
size_t ages_processes(const struct ages *a);	/* that are there */
/*
 * Which pages have been used since the last time, at @now; @forget: and from now on anew.  0,
 * or what the way says of all of them.
 */
int ages_sample(struct ages *a, __u64 now, bool forget);
size_t ages_samples(const struct ages *a);
/*
 * For how long none of the bytes from @start to @end has been used, at least, at the last
 * sample: ns.  0: one has, since the last but one, or nothing is known of it.
 */
__u64 ages_idle(const struct ages *a, pid_t pid, __u64 start, __u64 end);

/* ages_way.c: by the accessed bits: clear_refs of /proc, and the module that reads them. */
struct ages_way ages_way_bits(int *dev);
/* Pages that reclaim has looked at since the machine started; it clears the same bits. */
__u64 ages_reclaimed(void);

#endif
