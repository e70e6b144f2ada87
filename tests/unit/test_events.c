// SPDX-License-Identifier: GPL-2.0-or-later
/* Events of several CPUs are merged in the order of time, whatever order they arrive in. */
/* LINK: ctl/session/events.c */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/dev.h"
#include "session/events.h"
#include "tap.h"

/* What the device gives: one answer for each time that it is asked. */
struct answer {
	__u64 ns[8];			/* ends with 0 */
	__u64 safe;
	__u32 more;
	int err;
};

static const struct answer *answers;
static size_t nr_answers;
static _Atomic size_t asked;

int dev_each(int fd, struct memtap_events *e)
{
	char *to = (char *)(unsigned long)e->ones_ptr;
	const struct answer *a;
	const size_t i = asked++;

	(void)fd;
	e->used = 0;
	e->more = 0;
	e->safe_ns = ~0ULL;
	if (i >= nr_answers)
		return 0;
	a = &answers[i];
	for (size_t n = 0; a->ns[n]; n++) {
		struct memtap_one one = { .len = sizeof(one) + 8 * (n & 1), .ns = a->ns[n],
					  .event = (__u16)i };

		memset(to + e->used, 0, one.len);
		memcpy(to + e->used, &one, sizeof(one));
		e->used += one.len;
	}
	e->more = a->more;
	e->safe_ns = a->safe;
	return a->err;
}

static __u64 got[64];
static size_t nr_got, calls;
static int fails;

static int take(void *ctx, const struct memtap_one *const *ones, size_t nr)
{
	(void)ctx;
	calls++;
	for (size_t i = 0; i < nr && nr_got < 64; i++)
		got[nr_got++] = ones[i]->ns;
	return fails;
}

static int read_all(const struct answer *a, size_t nr)
{
	const int fd = open("/dev/zero", O_RDONLY);	/* poll() is ready at once */
	struct events *e;
	int err;

	answers = a;
	nr_answers = nr;
	asked = nr_got = calls = 0;
	e = events_start(fd, take, NULL);
	if (!e)
		return -1;
	for (int i = 0; i < 2000 && asked < nr && !events_error(e); i++)
		usleep(1000);
	err = events_end(e);
	close(fd);
	return err;
}

static bool ascending(size_t nr)
{
	for (size_t i = 1; i < nr_got; i++)
		if (got[i] < got[i - 1])
			return false;
	return nr_got == nr;
}

static void nothing(int sig)
{
	(void)sig;
}

int main(void)
{
	static const struct answer turns[] = {
		{ { 10, 30, 50, 20, 40, 60 }, 35, 0, 0 },	/* two processors */
		{ { 45, 70, 36 }, 55, 0, 0 },
		{ { 56, 80 }, 100, 0, 0 },
	};
	static const struct answer pieces[] = {
		{ { 10, 20, 30 }, 0, 1, 0 },
		{ { 15, 25 }, 28, 0, 0 },
		{ { 29 }, 40, 0, 0 },
	};
	static const struct answer rest[] = { { { 30, 20, 10 }, 5, 0, 0 } };
	static const struct answer broken[] = {
		{ { 10 }, 20, 0, 0 },
		{ { 30 }, 40, 0, -EIO },
	};

	ok(!read_all(turns, 3) && ascending(11), "each waits for what happened before it");
	ok(!read_all(pieces, 3) && ascending(6), "what has no room comes in pieces");
	ok(!read_all(rest, 1) && ascending(3), "at the end the rest is handed on");
	ok(!read_all(NULL, 0) && !calls, "nothing is handed on where there is nothing");
	ok(!read_all(broken, 2) && nr_got == 1, "what could not be read is left out");
	signal(SIGCHLD, nothing);
	fails = ENOSPC;
	ok(read_all(turns, 3) == ENOSPC && calls == 1, "an error of who prints ends it");
	return tap_done();
}
