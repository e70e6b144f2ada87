/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SMAPS_H
#define _SMAPS_H

#include "base/opt.h"
#include "machine/machine.h"

/* Lines of /proc/PID/smaps, smaps_rollup and numa_maps. */

/* "00400000-0040b000 r-xp 00000000 fe:00 12 /bin/x": the head of a mapping. */
struct smaps_head {
	__u64 start, end, offset, inode;
	__u32 dev_major, dev_minor;
	char perms[5];
	const char *path;		/* in the line; "" : none */
};

bool smaps_parse_head(const char *line, struct smaps_head *h);
/* "Pss:  12 kB": added to v[], and noted in has[]; false: it is another line. */
bool smaps_parse_value(const char *line, __u64 v[NR_PS_SUMS], bool has[NR_PS_SUMS]);
/* The text behind "VmFlags:", or NULL. */
const char *smaps_parse_flags(const char *line);
/* Its length without the blanks behind it. */
size_t smaps_flags_len(const char *flags);
/* A line of numa_maps: bytes of each node, added; those of higher ones to the last. */
void smaps_parse_nodes(char *line, __u64 *nodes, __u32 nr);

/*
 * Each line of a file of a process without its end, until @end (CLOCK_MONOTONIC), or @see
 * returns other than 0.  0, what @see returned, or an errno: -ETIME: there was no time left.
 */
int smaps_each_line(const struct machine_at *at, __u32 pid, const char *name, __u64 end,
		    int (*see)(void *ctx, char *line), void *ctx);

#endif
