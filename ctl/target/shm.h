/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SHM_H
#define _SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

#include "target/procmaps.h"

/*
 * Existing shared memory: System V segments, files below /dev/shm, memfds; and the processes that
 * use it, by mappings and by descriptors.
 */
enum shm_kind { SHM_SYSV, SHM_POSIX, SHM_MEMFD };

#define SHM_NAME	160

struct shm_holder {
	__s32 pid;
	__u32 maps, fds;
};

struct shm_segment {
	enum shm_kind kind;
	__u64 dev, inode;		/* of SYSV: 0 and its number */
	char name[SHM_NAME];
	__u64 size, used;		/* bytes; used: in memory or swapped out */
	__u64 swapped;
	bool sized;			/* they are known */
	__u32 perms;			/* SYSV: with SHM_DEST, as all that follows */
	__s32 key;
	__u32 attached;
	__s32 creator, last;		/* processes, which may be gone; 0: none */
	struct shm_holder *holders;
	size_t nr_holders;
};

#define SHM_DEST	01000		/* it goes with its last holder */

struct shm {
	struct shm_segment *at;
	size_t nr, room;
	__u64 posix_dev;		/* of /dev/shm; 0: there is none */
	__u32 unread;			/* processes that could not be looked into */
};

/* The text of /proc/sysvipc/shm, which is changed; 0 or -ENOMEM. */
int shm_parse_sysv(struct shm *s, char *text);
/* A mapping, if it is of shared memory: its segment. */
int shm_add_map(struct shm *s, pid_t pid, const struct procmap *m, struct shm_segment **which);
/* A file that a descriptor of @pid is of, by what its link in /proc says. */
int shm_add_fd(struct shm *s, pid_t pid, const char *link, __u64 dev, __u64 inode,
	       struct shm_segment **which);
/* A file below /dev/shm. */
int shm_add_file(struct shm *s, const char *name, __u64 inode, struct shm_segment **which);

/* All of this machine, the largest first; 0 or a negative errno. */
int shm_read(struct shm *s);
void shm_free(struct shm *s);

#endif
