/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_PARTS_H
#define _CMD_PARTS_H

#include "cmd/show.h"
#include "watch/watch.h"

/*
 * A recording in several files, FILE.1, FILE.2, ...  One session goes on; each file has what was
 * counted between two snapshots, so that nothing is lost between files.  Where the session's
 * tables are nearly full when a file ends, another session with empty ones is needed.
 */
struct parts {
	const struct opts *o;
	char *base;			/* FILE; NULL: not known yet */
	__u32 number;			/* of the file that is being filled */
	__u32 oldest;			/* that was not removed */
	__u64 total;			/* bytes of those from there on */
	__u64 time_ns, look_ns;		/* when this file ends, and when its size is looked at */
	struct snap *from;		/* where it begins; NULL: with the session */
	__u64 from_kills;		/* the same, of OOM kills */
	/* what it would have been at the last look */
	char *bytes;			/* NULL: there was none */
	size_t len;
	struct snap *until;
	__u64 until_kills;
	bool full;			/* the tables */
	bool again;			/* for that the session ended: begin another one */
	__u32 intervals;		/* of all sessions */
};

/* Is it about live blocks or pages?  Then each file is a session of its own. */
bool parts_apart(const struct question *q, const struct opts *o);

/* 0 or -ENOMEM. */
int parts_init(struct parts *p, const struct opts *o);
void parts_free(struct parts *p);
/* A session begins, which would write to s->path.  0 or -ENOMEM. */
int parts_begin(struct parts *p, const struct show *s, __u64 start_ns);
/* When it is to be looked at again; 0: never. */
__u64 parts_due(const struct parts *p);

/*
 * A snapshot was taken (s->now): complete the file if it is time, or if it would become too
 * large.  @end: the last one of this session.  An exit status.
 */
int parts_look(struct parts *p, struct show *s, struct watch *w, bool end);

/* The name of file @number. */
void parts_path(const struct parts *p, __u32 number, char *path, size_t len);
/* Before a file of @len bytes is written: those that are too many are removed. */
void parts_remove(struct parts *p, __u64 len);

#endif
