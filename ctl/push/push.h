/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PUSH_H
#define _PUSH_H

#include <pthread.h>

#include "push/pace.h"
#include "push/send.h"
#include "push/spool.h"

/*
 * A thread that sends what is in the spool, as pace.h says.  Whoever writes into the spool never
 * waits for the network.
 */
struct push_opts {
	struct send_opts send;
	const char *spool;		/* directory */
	__u64 spool_bytes, rate;	/* rate: bytes a minute */
	__u64 interval_ns;		/* the first messages are spread over so long; 0: at once */
};

struct push_counts {
	__u64 sent, sent_bytes, failed;	/* messages; bytes of all attempts; attempts */
	__u64 refused, damaged, dropped, waiting;	/* messages */
};

/* Lines for people; @loss: also for those who want to be told nothing else. */
typedef void push_say_fn(const char *line, bool loss);

struct push {
	struct push_opts o;
	push_say_fn *say;
	struct spool spool;
	struct pace pace;
	struct sender *sender;
	pthread_t thread;
	bool started;
	bool give_up;			/* the attempt that is going on */
	pthread_mutex_t lock;		/* of all that follows, and of the spool */
	pthread_cond_t changed;
	bool stop, sending;
	struct push_counts counts;
	__u64 dropped_said, refused_said;	/* of these, how many were said, and when */
	__u64 dropped_ns, refused_ns, said_ns;
	unsigned short random[3];	/* state of erand48() */
};

/*
 * Opens the spool.  @why: a sentence, if 0 is not returned (-EINVAL: the directory will not do).
 * @p must not move afterwards.
 */
#define PUSH_WHY	(SPOOL_WHY + 64)
int push_open(struct push *p, const struct push_opts *o, push_say_fn *say, char why[PUSH_WHY]);
int push_start(struct push *p);		/* 0 or a negative errno */
/* Into the spool, at once.  0 or a negative errno. */
int push_add(struct push *p, const struct spool_message *m);
/* Waits until all is sent, for at most @ns; true: it is. */
bool push_wait(struct push *p, __u64 ns);
void push_get(struct push *p, struct push_counts *counts);
/* What waits is due now, unless the receiver does not answer. */
void push_hurry(struct push *p);
/*
 * Ends the thread: what is being sent may take @ns more, and stays in the spool if it takes
 * longer.
 */
void push_stop(struct push *p, __u64 ns);
void push_close(struct push *p);	/* after that */

#endif
