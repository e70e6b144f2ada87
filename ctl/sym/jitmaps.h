/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _JITMAPS_H
#define _JITMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "uapi/memtap.h"

/*
 * Read the names that JIT compilers write to /tmp/perf-PID.map, for the targets.  A thread looks
 * for these files and keeps them open.  It reads each one when its process ends or calls execve(),
 * or when the session ends, whichever is first.  Later the file may be gone, with its container.
 */
struct jitmaps;

/* Whom to look after: @items as a session's filter has them; @children: more than these. */
struct jitmaps *jitmaps_start(const struct memtap_filter_item *items, size_t nr, bool children);

/*
 * The watching ends: all is read.  With @ask, JVMs are asked first for the names of what
 * they compiled.  A sentence on what did not work, or NULL.
 */
const char *jitmaps_stop(struct jitmaps *j, bool ask);
void jitmaps_free(struct jitmaps *j);

/* The text for @task, malloc'ed, or NULL.  @last: it is the last program of its process. */
char *jitmaps_text(struct jitmaps *j, const struct memtap_rec_task *task, bool last,
		   size_t *len);
/* A sentence on why there is none; false: nothing to say. */
bool jitmaps_why(struct jitmaps *j, const struct memtap_rec_task *task, char *why, size_t len);

/* All of an open file, up to a limit; malloc'ed, or NULL. */
char *jitmaps_slurp(int fd, size_t *len);

/* What /proc/PID/status says of a process. */
struct jvm_process {
	pid_t pid;
	pid_t ns_pid;			/* in its own PID namespace */
	uid_t uid;			/* effective, as are */
	gid_t gid;
	bool quits;			/* SIGQUIT would end it */
};

bool jvm_parse_status(const char *text, struct jvm_process *p);

/* jvm.c: does it run a JVM? */
bool jvm_is(pid_t pid);
/*
 * Ask that JVM to write its perf-PID.map, as `jcmd PID Compiler.perfmap` does.  False, and
 * a sentence in @why: it does not.  Waits for some seconds at most.
 */
bool jvm_ask(const struct jvm_process *p, char *why, size_t len);
/* What a JVM answered: 0 and text is a success.  Sets a reason. */
bool jvm_answer(const char *text, char *why, size_t len);

#endif
