/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CGROUP_H
#define _CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "uapi/memtap.h"

/*
 * A filter item for a cgroup: its directory, its path below the hierarchy's
 * root ("/system.slice/x.service"), or the directory's inode.  v2, else v1's
 * memory hierarchy.  -ENOENT: none; -EMEDIUMTYPE: of another hierarchy.
 */
int cgroup_item(const char *name, struct memtap_filter_item *item);

/*
 * Mount points in the text of /proc/PID/mountinfo.  v2 or v1's memory; false:
 * there is none, or @len is too small.
 */
bool cgroup_mount(const char *mountinfo, bool v2, char *path, size_t len);

/* Where memory is charged: v1's memory hierarchy where it is mounted, else v2. */
bool cgroup_memory_mount(char *path, size_t len);

#endif
