/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RESIDENT_H
#define _RESIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <linux/types.h>

/*
 * Read the resident size of a process's mappings from /proc/PID/smaps.  The kernel skips untouched
 * memory there, so that reserved address space costs no time.
 */
struct resident_map {
	__u64 start, end, resident, swapped;	/* addresses, bytes */
};

struct resident {
	pid_t pid;
	struct resident_map *maps;	/* ascending */
	size_t nr, room;
};

int resident_read(struct resident *r, pid_t pid);
int resident_parse(struct resident *r, FILE *smaps);
void resident_free(struct resident *r);

/*
 * What of the range is resident, and what is swapped out.  False: not known, as only a part of a
 * large mapping is meant.
 */
bool resident_of(const struct resident *r, __u64 start, __u64 end, __u64 *resident,
		 __u64 *swapped);

#endif
