/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_ACTS_H
#define _CMD_ACTS_H

#include "base/opt.h"
#include "cmd/until.h"
#include "history/act.h"

/* The rules of `memtap history start` and `memtap watch`, between two samples. */
struct acts {
	struct act act;
	struct rules rules;
	struct history_writer *w;	/* where it is told, too; or NULL */
	int wait;			/* an epoll of the triggers; -1: none */
	char dir[512];
	double looks;			/* that may still be made between samples */
	__u64 looked_ns;
};

/*
 * Read the rules: of @o->whens and @o->dos, or of @o->config (/etc/memtap.conf).  0, or an exit
 * status: a sentence was printed.
 */
int acts_load(struct acts *a, const struct opts *o, const char *cmd);
/* @m: the first sample.  A rule that cannot work here is told, and left out; how many were. */
size_t acts_begin(struct acts *a, const char *dir, const struct machine *m);
/* True: look again in a second. */
bool acts_on(struct acts *a, const struct machine *was, const struct machine *m,
	     const struct history_now *now);

enum acts_woken { ACTS_OVER, ACTS_SIGNAL, ACTS_SAMPLE, ACTS_LOOK };

/*
 * Wait until @next_ns (CLOCK_MONOTONIC): SAMPLE.  LOOK: a trigger said that memory is short, or
 * @near and a second has passed: the conditions should be tested.
 */
enum acts_woken acts_wait(struct acts *a, struct until *until, __u64 next_ns, bool near);
void acts_end(struct acts *a);

#endif
