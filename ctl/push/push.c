// SPDX-License-Identifier: GPL-2.0-or-later
/* Send what is in the spool, by a thread. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "push/push.h"

#define SAY_NS		PACE_MINUTE	/* losses are told at most so often */
#define STATE_NS	(60 * PACE_MINUTE)

/* From 0 up to 1; called with the lock. */
static double next_random(struct push *p)
{
	return erand48(p->random);
}

int push_open(struct push *p, const struct push_opts *o, push_say_fn *say, char why[PUSH_WHY])
{
	pthread_condattr_t attr;
	int err;

	memset(p, 0, sizeof(*p));
	p->o = *o;
	p->say = say;
	err = spool_open(&p->spool, o->spool, o->spool_bytes, why);
	if (err)
		return err;
	p->sender = send_new(&p->o.send);
	if (!p->sender) {
		spool_close(&p->spool);
		snprintf(why, PUSH_WHY, "not enough memory");
		return -ENOMEM;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (getrandom(p->random, sizeof(p->random), GRND_NONBLOCK) != sizeof(p->random))
		memcpy(p->random, &(__u64){ clock_ns_of(CLOCK_REALTIME) ^ (__u64)getpid() },
		       sizeof(p->random));
	pace_init(&p->pace, o->interval_ns, o->rate, clock_ns(), next_random(p));
	return 0;
}

/* ---- what is said ---- */

__attribute__((format(printf, 3, 4)))
static void say(const struct push *p, bool loss, const char *format, ...)
{
	char line[SEND_WHY + 256];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	p->say(line, loss);
}

static void say_state(struct push *p, __u64 now)
{
	char bytes[TEXT_LEN];

	if (now - p->said_ns < STATE_NS)
		return;
	p->said_ns = now;
	say(p, false, "%llu messages sent (%s), %zu wait, %llu dropped, %llu refused, %llu "
	    "attempts failed", (unsigned long long)p->counts.sent,
	    text_bytes(bytes, (__s64)p->counts.sent_bytes, false), p->spool.nr,
	    (unsigned long long)p->spool.dropped, (unsigned long long)p->counts.refused,
	    (unsigned long long)p->counts.failed);
}

/* The first ones of a minute, and how many they were afterwards. */
static void say_dropped(struct push *p)
{
	const __u64 nr = p->spool.dropped - p->dropped_said;

	if (!nr || (p->dropped_ns && clock_ns() - p->dropped_ns < SAY_NS))
		return;
	p->dropped_ns = clock_ns();
	p->dropped_said = p->spool.dropped;
	say(p, true, "the spool is full: the oldest %llu message%s %s dropped, unsent", (unsigned
	    long long)nr, text_s(nr), nr == 1 ? "was" : "were");
}

static void say_refused(struct push *p, const struct send_result *r)
{
	const __u64 nr = p->counts.refused - p->refused_said;

	if (p->refused_ns && clock_ns() - p->refused_ns < SAY_NS)
		return;
	p->refused_ns = clock_ns();
	p->refused_said = p->counts.refused;
	say(p, true, "%s refused %llu message%s, which %s dropped: %s", p->o.send.url,
	    (unsigned long long)nr, text_s(nr), nr == 1 ? "is" : "are", r->why);
}

/* ---- the thread ---- */

static void wait_until(struct push *p, __u64 ns)
{
	const struct timespec ts = { (time_t)(ns / PACE_SECOND), (long)(ns % PACE_SECOND) };

	if (ns)
		pthread_cond_timedwait(&p->changed, &p->lock, &ts);
	else
		pthread_cond_wait(&p->changed, &p->lock);
}

/* The message is out of the spool. */
static void done(struct push *p)
{
	pace_answered(&p->pace);
	spool_remove(&p->spool);
}

static void on_result(struct push *p, const struct send_result *r)
{
	const __u64 now = clock_ns();
	const unsigned int failures = p->pace.failures;

	p->spool.busy = false;
	p->counts.sent_bytes += r->bytes;
	pace_spent(&p->pace, now, r->bytes);
	if (r->what == SEND_LATER) {
		if (__atomic_load_n(&p->give_up, __ATOMIC_RELAXED))
			return;
		p->counts.failed++;
		pace_failed(&p->pace, now, r->retry_s, next_random(p));
		if (!failures)
			say(p, false, "%s: %s; trying again, %zu message%s in %s meanwhile",
			    p->o.send.url, r->why, p->spool.nr,
			    p->spool.nr == 1 ? " waits" : "s wait", p->o.spool);
		return;
	}
	done(p);
	if (r->what == SEND_REFUSED) {
		p->counts.refused++;
		say_refused(p, r);
	} else {
		p->counts.sent++;
		if (failures)
			say(p, false, "%s takes messages again; %zu wait", p->o.send.url,
			    p->spool.nr);
	}
}

/* The first message; called with the lock, which is free meanwhile. */
static void send_first(struct push *p)
{
	const struct spool_entry e = *spool_first(&p->spool);
	struct spool_message m;
	struct send_result r;
	int err;

	p->spool.busy = true;
	p->sending = true;
	pthread_mutex_unlock(&p->lock);
	err = spool_read(&p->spool, &e, &m);
	if (!err)
		send_message(p->sender, &m, &p->give_up, &r);
	spool_message_free(&m);
	pthread_mutex_lock(&p->lock);
	p->sending = false;
	if (!err) {
		on_result(p, &r);
	} else if (err == -EBADMSG) {
		p->counts.damaged++;
		say(p, true, "a message in %s is damaged, and dropped", p->o.spool);
		done(p);
	} else {
		p->spool.busy = false;
		p->counts.failed++;
		pace_failed(&p->pace, clock_ns(), 0, next_random(p));
		say(p, false, "%s: cannot be read: %s", p->o.spool, strerror(-err));
	}
}

static void *run(void *ctx)
{
	struct push *p = ctx;
	__u64 due, now;

	pthread_mutex_lock(&p->lock);
	p->said_ns = clock_ns();
	while (!p->stop) {
		const struct spool_entry *e = spool_first(&p->spool);

		now = clock_ns();
		due = e ? pace_next(&p->pace, e->written_ns) : 0;
		if (!e || now < due)
			wait_until(p, due);
		else
			send_first(p);
		say_dropped(p);
		say_state(p, now);
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int push_start(struct push *p)
{
	sigset_t all, before;
	int err;

	/* signals are for the thread that records: it ends everything in order */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&p->thread, NULL, run, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	p->started = !err;
	return -err;
}

/* ---- for who writes ---- */

int push_add(struct push *p, const struct spool_message *m)
{
	int err;

	pthread_mutex_lock(&p->lock);
	err = spool_add(&p->spool, m, clock_ns());
	if (!err)
		pace_written(&p->pace, clock_ns(), m->len);
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return err;
}

bool push_wait(struct push *p, __u64 ns)
{
	const __u64 until = clock_ns() + ns;
	bool empty;

	pthread_mutex_lock(&p->lock);
	while (p->spool.nr && clock_ns() < until)
		wait_until(p, until);
	empty = !p->spool.nr;
	pthread_mutex_unlock(&p->lock);
	return empty;
}

void push_get(struct push *p, struct push_counts *counts)
{
	pthread_mutex_lock(&p->lock);
	*counts = p->counts;
	counts->dropped = p->spool.dropped;
	counts->waiting = p->spool.nr;
	pthread_mutex_unlock(&p->lock);
}

void push_hurry(struct push *p)
{
	pthread_mutex_lock(&p->lock);
	p->pace.phase_ns = 0;
	if (!p->pace.failures)
		p->pace.not_before_ns = 0;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

void push_stop(struct push *p, __u64 ns)
{
	const __u64 until = clock_ns() + ns;

	if (!p->started)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->changed);
	while (p->sending && clock_ns() < until)
		wait_until(p, until);
	__atomic_store_n(&p->give_up, true, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	p->started = false;
}

void push_close(struct push *p)
{
	send_free(p->sender);
	spool_close(&p->spool);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->changed);
}
