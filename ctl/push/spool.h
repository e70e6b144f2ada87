/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PUSH_SPOOL_H
#define _PUSH_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * Messages that wait: files in a directory, oldest first, of at most so many bytes.  A file is
 * there when all of it is written, so that a tool that is killed leaves none that is half; what is
 * damaged otherwise (a crash of the machine) is dropped when it is read.  One tool at a time uses
 * a directory.  The caller locks what several threads use.
 */
#define SPOOL_LEAST	(64 << 10)	/* bytes of all messages: not less */
#define SPOOL_MESSAGE	(32 << 20)	/* of one: no larger one is written or read */

/*
 * @name: Pyroscope's name of the series; @types: JSON about the kinds of numbers; each a line.
 * @from_s, @until_s: the interval, seconds since 1970.
 */
struct spool_message {
	const char *name, *types;
	__u64 from_s, until_s;
	const void *body;
	size_t len;
	void *bytes;			/* what they point into; to be freed, or NULL */
};

/* @bytes: on the disk; @written_ns: when, by the caller's clock; 0: by an earlier run. */
struct spool_entry {
	__u64 number, bytes, written_ns;
};

/* @busy: the first one is being sent: it is not dropped. */
struct spool {
	int dir, lock;			/* -1: nothing is on a disk (the simulation) */
	__u64 most, used;		/* bytes */
	__u64 last;			/* number of the last file */
	struct spool_entry *at;		/* from .first on, .nr of .room, round */
	size_t first, nr, room;
	bool busy;
	__u64 dropped, dropped_bytes;	/* for want of room */
	__u64 damaged;			/* when they were read */
};

/*
 * Opens the directory, which is made if it is not there (and its parent).  @why: a sentence, if
 * 0 is not returned: -EINVAL if the directory will not do, else another negative errno.  @path
 * NULL: none, only the bookkeeping.
 */
#define SPOOL_WHY	256
int spool_open(struct spool *s, const char *path, __u64 most, char why[SPOOL_WHY]);
void spool_close(struct spool *s);

/*
 * Keeps a message; older ones may be dropped, and are counted.  0 or a negative errno: -E2BIG:
 * it is larger than the spool; -EMSGSIZE: than SPOOL_MESSAGE; -EBUSY: the one that is being sent
 * leaves no room for it.  None of these drops anything.
 */
int spool_add(struct spool *s, const struct spool_message *m, __u64 now_ns);
/* The oldest, or NULL; valid until the spool changes. */
const struct spool_entry *spool_first(const struct spool *s);
/* Reads a message.  -EBADMSG: it is damaged. */
int spool_read(const struct spool *s, const struct spool_entry *e, struct spool_message *m);
void spool_message_free(struct spool_message *m);
/* The first one is done with: it is removed. */
void spool_remove(struct spool *s);

/* What a file has, of @len bytes, which @m points into.  0 or -EBADMSG. */
int spool_parse(char *bytes, size_t len, struct spool_message *m);

#endif
