// SPDX-License-Identifier: GPL-2.0-or-later
/* Print how many events were seen, counted, filtered and lost.  A report without losses says so. */
#include "core/names.h"
#include "leaks/leaks.h"
#include "render/accounts.h"
#include "render/int.h"

#define COLUMN	10

static bool has_lost(const struct snap_event *e)
{
	const struct account a = account_of(e);

	return !account_whole(&a);
}

static void put_number(FILE *out, __u64 n)
{
	char buf[TEXT_LEN];

	fprintf(out, " %*s", COLUMN, text_signed(buf, (__s64)n));
}

static bool occurred(const struct snap *s, unsigned int reason)
{
	for (size_t i = 0; i < s->nr_events; i++)
		if (s->events[i].lost[reason])
			return true;
	return false;
}

/*
 * Reasons that this tool knows, and those of a newer module that occurred.  With
 * live blocks there are too many events and reasons for columns that say 0.
 */
static bool reason_shown(const struct snap *s, unsigned int reason)
{
	return reason < (leaks_kept(s) ? 0 : MEMTAP_LOST_LIVE) || occurred(s, reason);
}

/* All reasons in one line, in their place. */
static void put_lost_sums(const struct snap *s, FILE *out)
{
	char buf[TEXT_LEN];

	for (unsigned int i = 0; i < MEMTAP_LOST_SLOTS; i++) {
		__u64 sum = 0;

		if (i >= MEMTAP_NR_LOST && !occurred(s, i))
			continue;
		for (size_t e = 0; e < s->nr_events; e++)
			sum += s->events[e].lost[i];
		fprintf(out, "%s%s %s", i ? ", " : "lost: ", text_signed(buf, (__s64)sum),
			lost_name(i));
	}
	fputc('\n', out);
}

static void put_account(const struct snap *s, const struct snap_event *ev, FILE *out)
{
	put_number(out, ev->seen);
	put_number(out, ev->counted);
	put_number(out, ev->filtered);
	for (unsigned int i = 0; i < MEMTAP_LOST_SLOTS; i++)
		if (reason_shown(s, i))
			put_number(out, ev->lost[i]);
	fputs("  ", out);
	text_put(out, ev->name, NULL);
	fputc('\n', out);
}

/* What is resident is no event: the faults are. */
static bool is_resident(const struct snap *s)
{
	return s->header.flags & MEMTAP_CFG_TOUCHED;
}

static bool is_accounted(const struct snap *s, const struct snap_event *e)
{
	return (!leaks_kept(s) && !is_resident(s)) || e->seen || has_lost(e);
}

void render_events(const struct report *r, FILE *out)
{
	const struct snap *s = r->snap;
	const struct account all = account_all(s);
	const char *self = account_self(&all);
	char own[TEXT_LEN];

	fputs("seen = counted + filtered + lost, for these reasons:\n", out);
	fprintf(out, "%*s %*s %*s", COLUMN + 1, "seen", COLUMN, "counted", COLUMN, "filtered");
	for (unsigned int i = 0; i < MEMTAP_LOST_SLOTS; i++)
		if (reason_shown(s, i))
			fprintf(out, " %*s", COLUMN, lost_name(i));
	fputc('\n', out);
	for (size_t e = 0; e < s->nr_events; e++)
		if (is_accounted(s, &s->events[e]))
			put_account(s, &s->events[e], out);
	if (leaks_kept(s))
		put_lost_sums(s, out);
	if (all.own)
		fprintf(out, "%s of the filtered %s memtap's own%s\n", text_count(own, all.own),
			all.own == 1 ? "is" : "are", self);
}

/* ---- what is not whole ---- */

static bool put_event_parts(const struct snap_event *e, const struct rparts *p, FILE *out)
{
	char buf[TEXT_LEN];
	bool named = false;
	__s64 n;

	for (unsigned int i = 0; i < MEMTAP_PART_SLOTS; i++) {
		n = (__s64)p->part[i];
		if (!n)
			continue;
		if (!named)
			text_put(out, e->name, NULL);
		fprintf(out, "%s %s %s", named ? "," : ": counted, but incomplete:",
			text_signed(buf, n), part_name(i));
		named = true;
	}
	if (named)
		fputc('\n', out);
	return named;
}

static void put_parts(const struct report *r, FILE *out)
{
	const bool rows = r->snap->header.flags & MEMTAP_CFG_ROWS && !r->o->no_user;
	bool any = false;

	for (size_t e = 0; e < r->snap->nr_events; e++)
		any |= put_event_parts(&r->snap->events[e], &r->parts[e], out);
	if (any)
		return;
	fputs(rows ? "every counted event has its stack and its task\n" :
	      "every counted event has its complete stack and its task\n", out);
}

/* Rows of this event, all of them: what the counters hold. */
static __u64 rows_count(const struct report *r, const struct snap_event *e)
{
	for (size_t i = 0; i < r->nr_sections; i++)
		if (r->sections[i].event->id == e->id)
			return r->sections[i].count;
	return 0;
}

/* Returns false; without @out it says no more. */
static bool put_warning(FILE *out, const struct snap_event *e, __u64 n,
			const char *what, __u64 m, const char *but)
{
	char a[TEXT_LEN], b[TEXT_LEN];

	if (!out)
		return false;
	fputs("WARNING: ", out);
	text_put(out, e->name, NULL);
	fprintf(out, ": %s %s, but %s %s\n", text_signed(a, n), what,
		text_signed(b, m), but);
	return false;
}

/*
 * Does it add up?  While a session runs, its numbers are of slightly different
 * moments.  Without @out it only answers.
 */
static bool put_checks(const struct report *r, FILE *out)
{
	const struct snap *s = r->snap;
	bool good = true;

	for (size_t i = 0; !s->header.running && i < s->nr_events; i++) {
		const struct snap_event *e = &s->events[i];
		const struct account a = account_of(e);
		const __u64 explained = e->counted + e->filtered + (__u64)account_lost(&a);
		const __u64 rows = rows_count(r, e) + e->left_count;

		if (e->seen != explained)
			good = put_warning(out, e, e->seen, "seen", explained, "explained");
		if (e->counted != rows && !r->leaks && !is_resident(s))
			good = put_warning(out, e, e->counted, "counted", rows, "in the stacks");
	}
	return good;
}

/* ---- all of it ---- */

bool render_events_whole(const struct report *r)
{
	if (!accounts_complete(r->snap) || !put_checks(r, NULL))
		return false;
	for (size_t e = 0; e < r->snap->nr_events; e++)
		for (int i = 0; i < MEMTAP_PART_SLOTS; i++)
			if (r->parts[e].part[i])
				return false;
	return true;
}

void render_warnings(const struct report *r, FILE *out)
{
	put_checks(r, out);
}

void render_parts(const struct report *r, FILE *out)
{
	put_parts(r, out);
	put_checks(r, out);
}

/* Of all events; live blocks come from calls of allocators. */
void render_events_line(const struct report *r, FILE *out)
{
	const struct account all = account_all(r->snap);

	account_put(&all, r->leaks ? "call" : "event", out);
}

void render_parts_line(const struct report *r, FILE *out)
{
	const char *before = "; counted, but incomplete: ";
	char n[TEXT_LEN];

	for (unsigned int i = 0; i < MEMTAP_PART_SLOTS; i++) {
		__u64 sum = 0;

		for (size_t e = 0; e < r->snap->nr_events; e++)
			sum += r->parts[e].part[i];
		if (!sum)
			continue;
		fprintf(out, "%s%s %s", before, text_count(n, sum), part_name(i));
		before = ", ";
	}
}
