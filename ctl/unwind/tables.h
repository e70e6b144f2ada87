/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TABLES_H
#define _TABLES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/ids.h"
#include "snap/snap.h"

/*
 * The unwind tables of a session: find the files that need one, and load tables into the
 * module.  A table that cannot be built is counted, and does not fail the session.
 */
struct tables {
	int dev;			/* the session */
	__u64 budget, bytes;		/* what tables may take there, and do */
	struct tables_key *seen;	/* files looked at before START */
	struct ids seen_ids;
	size_t room_seen;
	struct tables_key *own;		/* files of this process, whose copy a child begins as */
	size_t nr_own;
	pthread_mutex_t lock;		/* of the following: the serving thread adds */
	struct tables_name *names;	/* paths by which files were opened here */
	size_t nr_names, room_names;
	size_t files;			/* that have a table by us now */
	size_t no_room, unreadable, refused;
	bool full;			/* there was no room for the last one */
	char trouble[256];		/* about the first unreadable or refused one */
};

void tables_init(struct tables *t, int dev, __u64 budget);
void tables_free(struct tables *t);

/*
 * Hand in the table of an open file; @path is for messages.  @id becomes the
 * file's in the session's records, if the module took it (0, or -EEXIST: it has
 * one; then 0).
 */
int tables_load(struct tables *t, int fd, const char *path, __u32 *id);

/*
 * The path from our root of a file that was handed in, by its id in the session's records, which
 * have it from the root of its process.  Allocated; NULL: not known.
 */
char *tables_path(struct tables *t, __u32 id);
/* Is the open file one that a child maps only until its execve()? */
bool tables_is_own(const struct tables *t, int fd);
/* A file that is wanted and cannot be opened. */
void tables_not_opened(struct tables *t, const char *path);
void tables_load_vdso(struct tables *t);

/* One sentence about what was not possible, or false: nothing to say. */
bool tables_summary(const struct tables *t, char *text, size_t len);

/* ---- tables_prepare.c: what is known before START ---- */

/* Whose stacks there will be. */
struct tables_target {
	const char *program;		/* that will be executed, or NULL */
	char *const *argv;		/* with these arguments */
	pid_t program_pid;
	const __u32 *pids, *tids;	/* that run */
	size_t nr_pids, nr_tids;
	bool everybody;			/* all that run now, and what will */
};

/* Ends early when Ctrl-C is pending: somebody does not want to wait. */
void tables_prepare(struct tables *t, const struct tables_target *who);

/*
 * Keep which files these brought in, for the next time.  @children: all processes
 * of the session are the program's.
 */
void tables_remember(struct tables *t, const struct snap *s, const struct tables_target *who,
		     bool children);

/* ---- serve.c: files that are mapped while the session runs ---- */
struct serve;

/* For whoever else wants to know what happens; any may be NULL. */
struct serve_hooks {
	void (*on_file)(void *ctx, const char *path, int fd);	/* one was mapped */
	bool (*look)(void *ctx);	/* often: did it have anything to do? */
	void *ctx;
};

/*
 * @rows: tables are wanted.  @hooks may be NULL.  NULL: no memory or no thread;
 * what is mapped later has no table then.
 */
struct serve *serve_start(struct tables *t, bool rows, const struct serve_hooks *hooks);
/*
 * No file is begun any more.  One that is being read may take a while: waits
 * for it only so long that nobody minds.
 */
void serve_stop(struct serve *s);
/* Waits for the last file, and frees; @s may be NULL. */
void serve_end(struct serve *s);

#endif
