/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PUSH_PACE_H
#define _PUSH_PACE_H

#include <stdbool.h>
#include <linux/types.h>

/*
 * When a message may be sent.  Pure: the time and the random number (from 0 up to, not including,
 * 1) are arguments, so that tests and the simulation run the same code without waiting.  All times
 * are nanoseconds of one clock.
 */
#define PACE_SECOND		1000000000ULL
#define PACE_MINUTE		(60 * PACE_SECOND)
#define PACE_FIRST		(2 * PACE_SECOND)	/* most of the first wait; then twice */
#define PACE_MOST		(5 * PACE_MINUTE)	/* at most this */
#define PACE_LEAST		(PACE_SECOND / 2)	/* no wait is shorter */
#define PACE_RETRY_MOST		(60 * PACE_MINUTE)	/* of Retry-After */
#define PACE_CATCH_UP		4	/* a backlog is sent that much faster than it came */

/*
 * @phase_ns: each message waits so long after it was written: the senders of a fleet, whose
 * intervals may begin together, are spread over the interval.
 * @bytes: that may be sent a minute; 0: any number.
 * @usual: bytes that come in an interval; 0: not known yet.  @window: of this one, which began at
 * @window_ns.
 * @failures: attempts without an answer since the last message that was taken.
 * @not_before_ns: nothing is sent before.
 */
struct pace {
	__u64 interval_ns, phase_ns, bytes;
	__u64 usual, window, window_ns;
	unsigned int failures;
	__u64 not_before_ns;
};

/* What is there already, of an earlier run, waits for @random of an interval. */
void pace_init(struct pace *p, __u64 interval_ns, __u64 bytes, __u64 now_ns, double random);

/* When a message that was written at @written_ns (0: by an earlier run) may be sent. */
__u64 pace_next(const struct pace *p, __u64 written_ns);

/* So many bytes are to be sent, which came now. */
void pace_written(struct pace *p, __u64 now_ns, __u64 bytes);
/*
 * So many bytes were sent, taken or not: the next message waits until they fit into the bytes a
 * minute.  So in any minute there are at most so many, and one message.  After an outage all
 * senders of a fleet have a backlog: each sends it PACE_CATCH_UP times as fast as messages come to
 * it, and so the receiver has at most that much more to do than usual.
 */
void pace_spent(struct pace *p, __u64 now_ns, __u64 bytes);
/* The receiver took it, or said that it never will. */
void pace_answered(struct pace *p);
/*
 * It did not: back off, twice as long each time, and a random part of that.  @retry_s: for so many
 * seconds the receiver wants nothing (Retry-After); 0: it did not say.  Those that were told the
 * same come back spread over an interval.
 */
void pace_failed(struct pace *p, __u64 now_ns, __u64 retry_s, double random);

#endif
