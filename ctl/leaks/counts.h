/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _COUNTS_H
#define _COUNTS_H

/*
 * copy_counts.c: find the populated parts of a large mapping.  pagemap has 8 bytes for each page
 * of address space, also for absent pages.
 */
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

struct counts {
	struct { __u64 start, pages; } *at;	/* by address */
	size_t nr, room;
};

#define COUNTS_UNKNOWN	(~0ULL)

/* Of a process with @bytes of address space to look at; where that is little, nothing is read. */
void counts_read(struct counts *c, pid_t pid, __u64 bytes);
/* Pages of the mapping that begins at @start which are there or swapped out, or COUNTS_UNKNOWN. */
__u64 counts_find(const struct counts *c, __u64 start);
/* What is left of them behind pages that have these states. */
__u64 counts_less(__u64 left, const __u64 *states, size_t nr);
/* The first page of [@page, @end) that is there, or swapped out; @page: nobody knows. */
__u64 counts_next(int pagemap, __u64 page, __u64 end);

#endif
