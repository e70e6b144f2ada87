// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recording in several files.  At each look the file is made as if it ended there, in memory.
 * If it has become larger than --switch-size, the one of the look before is written, and the next
 * file begins there.  What came since that look, if it is too large, too, is divided.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/out_name.h"
#include "base/text.h"
#include "cmd/parts.h"

#define SECOND		1000000000ULL
#define LOOK_NS		SECOND		/* at least, between looks at the size, */
#define LOOK_SHARE	10		/* and so many times what a look takes */

bool parts_apart(const struct question *q, const struct opts *o)
{
	return o->leaks || q->ask->leaks || q->ask->objects || q->ask->rss;
}

int parts_init(struct parts *p, const struct opts *o)
{
	*p = (struct parts){ .o = o, .number = 1, .oldest = 1 };
	/* (the PID of a program is known when it is started) */
	if (o->out_later && o->argv)
		return 0;
	p->base = o->out_later ? out_name_make(o->out, (pid_t)o->pids.at[0], 1) : strdup(o->out);
	return p->base ? 0 : -ENOMEM;
}

/* What was made at the last look. */
static void forget(struct parts *p)
{
	free(p->bytes);
	snap_free(p->until);
	p->bytes = NULL;
	p->until = NULL;
	p->len = 0;
}

static void end_session(struct parts *p)
{
	forget(p);
	snap_free(p->from);
	p->from = NULL;
}

void parts_free(struct parts *p)
{
	end_session(p);
	free(p->base);
	p->base = NULL;
}

int parts_begin(struct parts *p, const struct show *s, __u64 start_ns)
{
	end_session(p);
	if (!p->base)
		p->base = strdup(s->path);
	if (!p->base)
		return -ENOMEM;
	p->full = false;
	p->again = false;
	p->from_kills = start_ns;
	p->time_ns = p->o->switch_time > 0 ? start_ns + (__u64)(p->o->switch_time * 1e9) : 0;
	/* with an interval, at the end of each */
	p->look_ns = p->o->switch_size && !(p->o->interval > 0) ? start_ns + LOOK_NS : 0;
	return 0;
}

__u64 parts_due(const struct parts *p)
{
	return !p->look_ns || (p->time_ns && p->time_ns < p->look_ns) ? p->time_ns : p->look_ns;
}

void parts_path(const struct parts *p, __u32 number, char *path, size_t len)
{
	snprintf(path, len, "%s.%u", p->base, number);
}

static bool too_many(const struct parts *p, __u64 len)
{
	if (!p->o->keep || p->oldest >= p->number)
		return false;
	return p->number - p->oldest >= p->o->keep ||
	       (p->o->switch_size && p->total + len > p->o->keep * p->o->switch_size);
}

void parts_remove(struct parts *p, __u64 len)
{
	char path[PATH_MAX];
	struct stat st;

	for (; too_many(p, len); p->oldest++) {
		parts_path(p, p->oldest, path, sizeof(path));
		if (stat(path, &st) || unlink(path))
			continue;
		p->total -= (__u64)st.st_size < p->total ? (__u64)st.st_size : p->total;
	}
	p->total += len;
}

static int write_file(const char *path, const char *bytes, size_t len)
{
	struct out out;
	int err = out_open_own(&out, path);

	if (err)
		return fail(ERR_WRITE, err, "%s", path);
	fwrite(bytes, 1, len, out.f);
	err = out_commit(&out);
	return err ? fail(ERR_WRITE, err, "%s", path) : 0;
}

/* The next file; an exit status. */
static int write_next(struct parts *p, const char *bytes, size_t len)
{
	char path[PATH_MAX], is[TEXT_LEN], most[TEXT_LEN];
	int ret;

	parts_path(p, p->number, path, sizeof(path));
	parts_remove(p, len);
	ret = write_file(path, bytes, len);
	if (ret)
		return ret;
	p->number++;
	note("written to %s; `memtap report %s` shows it", path, path);
	if (p->o->switch_size && len > p->o->switch_size)
		note("%s has %s, more than --switch-size %s: what it says of events and hooks "
		     "needs so much", path, text_bytes(is, (__s64)len, false),
		     text_bytes(most, (__s64)p->o->switch_size, false));
	return 0;
}

static bool nearly(__u64 used, __u64 size)
{
	return used > size / 4 * 3;
}

/* What is new would soon have no place there. */
static bool tables_full(const struct snap *s)
{
	const struct memtap_rec_memory *m = &s->memory;

	return nearly(m->stacks_used, m->stacks_size) ||
	       nearly(m->counters_used, m->counters_size) ||
	       nearly(m->tasks_used, m->tasks_size) || nearly(m->maps_used, m->maps_size);
}

/* The file ends where the last look was, and the next one begins there. */
static int complete(struct parts *p)
{
	int ret = write_next(p, p->bytes, p->len);

	if (ret)
		return ret;
	snap_free(p->from);
	p->from = p->until;
	p->from_kills = p->until_kills;
	p->until = NULL;
	forget(p);
	return 0;
}

/* The file as if it ended now; of a share of its counters, or of all (NULL). */
static int make(struct parts *p, struct show *s, struct watch *w, const struct snap_share *share,
		size_t *counters)
{
	struct snap *part;
	int err, ret;

	forget(p);
	err = snap_part(s->now, p->from, share, &part);
	if (err)
		return fail(ERR_PLAIN, -err, "%s", "a part of the recording");
	watch_known(w, part);
	*counters = part->nr_counters;
	ret = show_bytes(s, part, &p->bytes, &p->len);
	snap_free(part);
	return ret;
}

static bool fits(const struct parts *p)
{
	return !p->o->switch_size || p->len <= p->o->switch_size;
}

/*
 * So much came since the last look that no file has room for it: files that divide its counters,
 * and are of the same time.
 */
static int divide(struct parts *p, struct show *s, struct watch *w, struct snap_share share)
{
	/* (each file has what it says of events, too) */
	const size_t files = p->len / p->o->switch_size * 5 / 4 + 2;
	size_t each = share.nr / files ? share.nr / files : 1, nr;
	int ret = 0;

	for (size_t i = 0; !ret && i < share.nr; i += each) {
		const struct snap_share some = {
			share.first + i, each < share.nr - i ? each : share.nr - i
		};

		ret = make(p, s, w, &some, &nr);
		if (!ret && !fits(p) && some.nr > 1)
			ret = divide(p, s, w, some);
		else if (!ret)
			ret = write_next(p, p->bytes, p->len);
		s->ooms.nr = 0;		/* (they are in the first one) */
	}
	return ret;
}

static void take_kills(struct parts *p, struct show *s, struct watch *w, bool end)
{
	p->until_kills = end ? OOM_NOW : s->now->header.now_ns - 2 * OOM_COMPLETE_NS;
	free(s->ooms.at);
	if (oom_since(w->session.fd, p->from_kills, p->until_kills, p->o, &s->ooms))
		note("OOM kills are not recorded: not enough memory");
}

/* What is there since the file's beginning; one that has become too large ends before that. */
static int look(struct parts *p, struct show *s, struct watch *w, bool end)
{
	struct parts before = *p;
	size_t nr;
	int ret;

	p->bytes = NULL;
	p->until = NULL;
	take_kills(p, s, w, end);
	ret = make(p, s, w, NULL, &nr);
	if (!ret && !fits(p) && before.bytes) {
		/* the look before, and what came since then */
		forget(p);
		p->bytes = before.bytes;
		p->len = before.len;
		p->until = before.until;
		p->until_kills = before.until_kills;
		before.bytes = NULL;
		before.until = NULL;
		ret = complete(p);
		save_spans_last(&s->spans);
		if (!ret)
			take_kills(p, s, w, end);
		if (!ret)
			ret = make(p, s, w, NULL, &nr);
	}
	forget(&before);
	if (ret)
		return ret;
	p->until = snap_counts(s->now);
	if (!p->until)
		return fail(ERR_PLAIN, ENOMEM, "%s", "a part of the recording");
	if (fits(p))
		return 0;
	before.until = p->until;
	p->until = NULL;
	if (nr < 2)
		ret = write_next(p, p->bytes, p->len);
	else
		ret = divide(p, s, w, (struct snap_share){ 0, nr });
	save_spans_free(&s->spans);
	snap_free(p->from);
	forget(p);
	p->from = before.until;
	p->from_kills = p->until_kills;
	return ret;
}

int parts_look(struct parts *p, struct show *s, struct watch *w, bool end)
{
	const __u64 start = clock_ns();
	const __u32 number = p->number;
	const bool due = end || (p->time_ns && start >= p->time_ns);
	int ret = look(p, s, w, end);

	if (!ret && due && p->bytes) {
		ret = complete(p);
		save_spans_free(&s->spans);
	}
	if (p->number != number) {
		p->full |= tables_full(s->now);
		if (p->time_ns)
			p->time_ns = clock_ns() + (__u64)(p->o->switch_time * 1e9);
	}
	if (p->look_ns) {
		const __u64 took = (clock_ns() - start) * LOOK_SHARE;

		p->look_ns = clock_ns() + (took > LOOK_NS ? took : LOOK_NS);
	}
	return ret;
}
