// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/push/pace.c ctl/push/spool.c -lz -lm */
/*
 * test_fleet [SENDERS [BYTES]]: many senders of `memtap push` and one receiver that is dead for an
 * hour, in simulated time, with the sender's own code (pace.c, spool.c without a disk).  All begin
 * in the same second.  What the receiver has to do each second is compared with what it has to do
 * on a usual day.  docs/fleet.md has the figures of 10 000.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "push/pace.h"
#include "push/spool.h"
#include "tap.h"

#define MINUTES		300
#define DEAD_FROM	60		/* minutes */
#define DEAD_UNTIL	120
#define SECONDS		(MINUTES * 60)
#define MESSAGES	2		/* of a sender, in an interval */
#define ATTEMPT		(PACE_SECOND / 20)	/* that an answer takes */
#define TIMEOUT		(30 * PACE_SECOND)	/* of the dead one */

struct sender {
	struct pace pace;
	struct spool spool;
	unsigned short random[3];
	__u64 free_ns;			/* until then an attempt goes on */
	__u64 sent;
};

struct second {
	__u32 attempts, taken;
	__u64 bytes;
};

/* @most: messages a second that the receiver takes; more get a 429.  0: any number. */
struct world {
	struct sender *senders;
	size_t nr;
	__u64 size;			/* of a message */
	__u32 most;
	bool hangs;			/* dead: it does not answer, instead of refusing */
	struct second *seconds;
	struct event { __u64 at_ns; __u32 sender; bool tick; } *heap;
	size_t events;
	__u64 most_used, dropped, waiting, sent, backlog_end_s;
};

/* ---- events, the next one first ---- */

static void add_event(struct world *w, __u64 at, __u32 sender, bool tick)
{
	size_t i = w->events++;

	for (; i && w->heap[(i - 1) / 2].at_ns > at; i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = (struct event){ at, sender, tick };
}

static struct event next_event(struct world *w)
{
	const struct event first = w->heap[0], last = w->heap[--w->events];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < w->events) {
		if (child + 1 < w->events && w->heap[child + 1].at_ns < w->heap[child].at_ns)
			child++;
		if (w->heap[child].at_ns >= last.at_ns)
			break;
		w->heap[i] = w->heap[child];
		i = child;
	}
	w->heap[i] = last;
	return first;
}

/* ---- what happens ---- */

static bool is_dead(__u64 now)
{
	return now >= DEAD_FROM * PACE_MINUTE && now < DEAD_UNTIL * PACE_MINUTE;
}

static void tick(struct world *w, struct sender *s, __u64 now)
{
	static char body[1 << 20];
	const struct spool_message m = { .name = "a{}", .types = "{}", .body = body,
					 .len = (size_t)w->size };

	for (int i = 0; i < MESSAGES; i++) {
		spool_add(&s->spool, &m, now);
		pace_written(&s->pace, now, w->size);
	}
	if (s->spool.used > w->most_used)
		w->most_used = s->spool.used;
}

/* As the thread of push.c does it. */
static void attempt(struct world *w, struct sender *s, __u64 now)
{
	struct second *at = &w->seconds[now / PACE_SECOND];
	const bool dead = is_dead(now), full = w->most && at->taken >= w->most;

	at->attempts++;
	s->free_ns = now + (dead && w->hangs ? TIMEOUT : ATTEMPT);
	if (!dead || w->hangs)
		pace_spent(&s->pace, s->free_ns, w->size);
	if (dead || full) {
		pace_failed(&s->pace, s->free_ns, !dead ? 30 : 0, erand48(s->random));
		return;
	}
	at->taken++;
	at->bytes += w->size;
	pace_answered(&s->pace);
	spool_remove(&s->spool);
	w->sent++;
	if (s->spool.nr > MESSAGES)
		w->backlog_end_s = now / PACE_SECOND;
}

static void wake(struct world *w, __u32 i, __u64 now)
{
	struct sender *s = &w->senders[i];
	const struct spool_entry *e = spool_first(&s->spool);
	__u64 due;

	if (!e)
		return;
	due = pace_next(&s->pace, e->written_ns);
	if (due < s->free_ns)
		due = s->free_ns;
	if (now >= due) {
		attempt(w, s, now);
		e = spool_first(&s->spool);
		due = e ? pace_next(&s->pace, e->written_ns) : 0;
		if (due < s->free_ns)
			due = s->free_ns;
	}
	if (e && due < SECONDS * PACE_SECOND)
		add_event(w, due, i, false);
}

static void run(struct world *w)
{
	char why[SPOOL_WHY];
	uint64_t seed = 1;

	w->senders = calloc(w->nr, sizeof(*w->senders));
	w->seconds = calloc(SECONDS + 1, sizeof(*w->seconds));
	w->heap = calloc(3 * w->nr + 16, sizeof(*w->heap));
	for (size_t i = 0; i < w->nr; i++) {
		struct sender *s = &w->senders[i];

		memcpy(s->random, &(uint64_t){ tap_random(&seed) }, sizeof(s->random));
		spool_open(&s->spool, NULL, 64 << 20, why);
		pace_init(&s->pace, PACE_MINUTE, 1 << 20, 0, erand48(s->random));
		add_event(w, PACE_MINUTE, (__u32)i, true);
	}
	while (w->events) {
		const struct event e = next_event(w);
		struct sender *s = &w->senders[e.sender];
		const bool was_empty = !s->spool.nr;

		if (!e.tick) {
			wake(w, e.sender, e.at_ns);
			continue;
		}
		tick(w, s, e.at_ns);
		if (e.at_ns + PACE_MINUTE < SECONDS * PACE_SECOND)
			add_event(w, e.at_ns + PACE_MINUTE, e.sender, true);
		/* (else an attempt is due already) */
		if (was_empty)
			wake(w, e.sender, e.at_ns);
	}
	for (size_t i = 0; i < w->nr; i++) {
		w->dropped += w->senders[i].spool.dropped;
		w->waiting += w->senders[i].spool.nr;
	}
}

static void clear(struct world *w)
{
	for (size_t i = 0; i < w->nr; i++)
		spool_close(&w->senders[i].spool);
	free(w->senders);
	free(w->seconds);
	free(w->heap);
}

struct load {
	double mean, most, bytes;	/* attempts a second; most bytes in one */
	unsigned int most_at;		/* second */
};

static struct load load(const struct world *w, unsigned int from, unsigned int until)
{
	struct load l = { 0 };

	for (unsigned int i = from * 60; i < until * 60; i++) {
		l.mean += w->seconds[i].attempts;
		if (w->seconds[i].attempts > l.most) {
			l.most = w->seconds[i].attempts;
			l.most_at = i;
		}
		if ((double)w->seconds[i].bytes > l.bytes)
			l.bytes = (double)w->seconds[i].bytes;
	}
	l.mean /= (until - from) * 60;
	return l;
}

static void print(const char *what, const struct load *l)
{
	printf("# %s: %.0f attempts a second, at most %.0f (%.1f MB), at %u:%02u:%02u\n", what,
	       l->mean, l->most, l->bytes / 1e6, l->most_at / 3600, l->most_at / 60 % 60,
	       l->most_at % 60);
}

static void scene(const char *name, size_t nr, __u64 size, __u32 most, bool hangs)
{
	struct world w = { .nr = nr, .size = size, .most = most, .hangs = hangs };
	const double usual = (double)nr * MESSAGES / 60;
	/* of a number that chance makes: more than this never comes */
	const double high = usual + 6 * sqrt(usual);
	struct load before, dead, after;
	double expected;

	run(&w);
	before = load(&w, 2, DEAD_FROM);
	dead = load(&w, DEAD_FROM, DEAD_UNTIL);
	after = load(&w, DEAD_UNTIL, MINUTES);
	printf("# %s: %zu senders, %d messages of %llu bytes a minute each\n", name, nr, MESSAGES,
	       (unsigned long long)size);
	print("before", &before);
	print("dead", &dead);
	print("after", &after);
	printf("# a spool had at most %llu bytes; the backlog was sent %llu minutes after\n",
	       (unsigned long long)w.most_used, (unsigned long long)
	       (w.backlog_end_s - DEAD_UNTIL * 60) / 60);
	ok(before.most <= 2 * high, "%s: those that begin at once do not send at once: %.0f of "
	   "%.0f", name, before.most, usual);
	ok(dead.mean <= usual, "%s: nobody hammers a dead receiver: %.1f a second", name,
	   dead.mean);
	ok(after.most <= (PACE_CATCH_UP + 1) * high, "%s: the backlog comes at most %d times as "
	   "fast: %.0f", name, PACE_CATCH_UP + 1, after.most);
	ok(w.most_used <= 64 << 20, "%s: no spool is larger than it may be", name);
	expected = (double)nr * MESSAGES * (MINUTES - 1);
	ok(!w.dropped && (double)(w.sent + w.waiting) == expected, "%s: no message is lost",
	   name);
	ok(w.waiting <= nr * MESSAGES, "%s: at the end at most the last interval waits",
	   name);
	clear(&w);
}

/* A spool that is too small for an hour: the oldest go, and that is all. */
static void bounded(void)
{
	struct spool s;
	char why[SPOOL_WHY], body[60000] = "";
	const struct spool_message m = { .name = "a", .types = "{}", .body = body, .len = 60000 };

	spool_open(&s, NULL, 1 << 20, why);
	for (int i = 0; i < 1000000; i++)
		spool_add(&s, &m, (__u64)i + 1);
	ok(s.used <= 1 << 20 && s.nr == 17 && s.room <= 64 && s.dropped == 1000000 - 17,
	   "a million messages, which nobody takes: %zu are kept", s.nr);
	is(spool_first(&s)->written_ns, 1000000 - 16, "the last ones");
	spool_close(&s);
}

int main(int argc, char **argv)
{
	const size_t nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	const __u64 size = argc > 2 ? strtoul(argv[2], NULL, 10) : 15000;
	const __u32 usual = (__u32)(nr * MESSAGES / 60);

	scene("refused", nr, size, 0, false);
	scene("hanging", nr, size, 0, true);
	/* twice as much as usual is all that it can do */
	scene("overloaded", nr, size, 2 * usual, false);
	bounded();
	return tap_done();
}
