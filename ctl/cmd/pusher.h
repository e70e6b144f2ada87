/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_PUSHER_H
#define _CMD_PUSHER_H

#include "base/opt.h"
#include "push/label.h"
#include "push/push.h"
#include "render/render.h"

/*
 * Makes messages of snapshots: a profile for each program in a cgroup.  A message is about one
 * interval: what was counted or allocated in it, and what was there at its end.
 */
struct pusher_totals;

struct pusher {
	const struct opts *o;
	struct push push;
	struct labels labels;		/* of the host, and those that were given, */
	struct labels dropped;		/* and which are not wanted: by name */
	bool host_given;		/* else a recording has its own */
	bool pyroscope;
	bool states;			/* numbers are what is there, not what happened */
	bool signalled;			/* somebody wants an end */
	struct pusher_totals *totals;	/* of the last snapshot; or NULL */
	size_t nr_totals;
	__u64 before_ns;		/* when that was; 0: none */
	__u64 lost;			/* events, as was said */
	__u64 not_kept;			/* messages that could not be written to the spool */
	/* of the snapshot that messages are being made of */
	const struct snap *snap;
	__u64 duration_ns;
	char *types;			/* JSON, or NULL */
	struct labels of;		/* a group */
	const char *pairs[2 * LABELS_MAX + 1], *comments[8];
	char comment[8][256];
};

/*
 * Writes messages of @s into the spool.  @o: with its title; what else a profile needs is set.
 * @interval: it is one of a session's, and totals of live blocks are made those of the interval,
 * in @s itself.  An exit status; what is lost is said.
 */
int pusher_take(struct pusher *p, struct snap *s, struct sym *sym, const struct render_opts *o,
		bool interval);
void pusher_free(struct pusher *p);

/* For struct push. */
void pusher_say(const char *line, bool loss);

#endif
