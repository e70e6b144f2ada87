// SPDX-License-Identifier: GPL-2.0-or-later
/* When a message may be sent: spread, back off, and keep to the bytes a minute. */
#include "push/pace.h"

static __u64 part_of(__u64 ns, double random)
{
	return (__u64)((double)ns * random);
}

static void not_before(struct pace *p, __u64 ns)
{
	if (ns > p->not_before_ns)
		p->not_before_ns = ns;
}

void pace_init(struct pace *p, __u64 interval_ns, __u64 bytes, __u64 now_ns, double random)
{
	*p = (struct pace){
		.interval_ns = interval_ns,
		.phase_ns = part_of(interval_ns, random),
		.bytes = bytes,
	};
	p->not_before_ns = now_ns + p->phase_ns;
}

__u64 pace_next(const struct pace *p, __u64 written_ns)
{
	const __u64 due = written_ns ? written_ns + p->phase_ns : 0;

	return due > p->not_before_ns ? due : p->not_before_ns;
}

/* The mean of the last intervals, the later ones first. */
void pace_written(struct pace *p, __u64 now_ns, __u64 bytes)
{
	if (!p->interval_ns)
		return;
	if (!p->window_ns) {
		p->window_ns = now_ns;
	} else if (now_ns - p->window_ns >= p->interval_ns - p->interval_ns / 8) {
		p->usual = p->usual ? (3 * p->usual + p->window) / 4 : p->window;
		p->window = 0;
		p->window_ns = now_ns;
	}
	p->window += bytes;
}

/* Bytes a minute; 0: any number. */
static double rate(const struct pace *p)
{
	const double usual = !p->usual ? 0 : (double)p->usual * PACE_CATCH_UP *
			     ((double)PACE_MINUTE / (double)p->interval_ns);

	return usual > 0 && (!p->bytes || usual < (double)p->bytes) ? usual : (double)p->bytes;
}

void pace_spent(struct pace *p, __u64 now_ns, __u64 bytes)
{
	const double minutes = rate(p) > 0 ? (double)bytes / rate(p) : 0;

	not_before(p, now_ns + (__u64)(minutes * (double)PACE_MINUTE));
}

void pace_answered(struct pace *p)
{
	p->failures = 0;
}

/* Up to this much, by the number of failures. */
static __u64 backoff(unsigned int failures)
{
	__u64 most = PACE_FIRST;

	while (--failures && most < PACE_MOST)
		most *= 2;
	return most < PACE_MOST ? most : PACE_MOST;
}

void pace_failed(struct pace *p, __u64 now_ns, __u64 retry_s, double random)
{
	__u64 wait;

	p->failures++;
	wait = part_of(backoff(p->failures), random);
	if (retry_s) {
		if (retry_s > PACE_RETRY_MOST / PACE_SECOND)
			retry_s = PACE_RETRY_MOST / PACE_SECOND;
		wait = retry_s * PACE_SECOND + part_of(p->interval_ns, random);
	}
	not_before(p, now_ns + (wait > PACE_LEAST ? wait : PACE_LEAST));
}
