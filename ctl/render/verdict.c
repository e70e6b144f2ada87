// SPDX-License-Identifier: GPL-2.0-or-later
/* Describe the growth of a row of live blocks. */
#include "render/int.h"

/* The kernel takes it back before memory ends: what grows so does not bring the end nearer. */
static void put_reclaimable(const struct report *r, const struct trend_verdict *v, bool full,
			    FILE *out)
{
	char rate[TEXT_LEN];

	if (!r->o->room || v->reclaimable < 1)
		return;
	if (v->per_hour - v->reclaimable < 1)
		fputs("; the kernel reclaims unused objects of such caches when memory is short, "
		      "so no end is forecast", out);
	else if (full)
		fprintf(out, ", not counting %s an hour that the kernel reclaims when memory is "
			     "short",
			text_bytes(rate, leaks_round(v->reclaimable), false));
}

static void put_rate(const struct report *r, const struct rleak *l, FILE *out)
{
	static const char *const words[] = {
		[RATE_KNOWN] = "", [RATE_ABOUT] = "about ", [RATE_AT_LEAST] = "at least ",
	};
	const struct trend_verdict *v = &l->verdict;
	const __u64 full = report_full_ns(r->o, l);
	char rate[TEXT_LEN], error[TEXT_LEN], lost[TEXT_LEN];

	if (l->rate == RATE_UNKNOWN)
		fputs(": the rate is not known", out);
	else
		fprintf(out, ": %s%s an hour", words[l->rate],
			text_bytes(rate, leaks_round(v->per_hour), true));
	if (v->error > 0)
		fprintf(out, " (+-%s)", text_bytes(error, leaks_round(v->error), false));
	if (l->rate != RATE_KNOWN)
		fprintf(out, ", %s call%s lost", text_count(lost, report_calls_lost(r)),
			report_calls_lost(r) == 1 ? " was" : "s were");
	if (full)
		fprintf(out, ", at this rate it reaches %s in %s", r->o->room->what,
			text_long(rate, full));
	put_reclaimable(r, v, full, out);
}

/* Of those that lived meanwhile, and were old enough then. */
static void put_then(const struct rleak *l, FILE *out)
{
	const struct trend_verdict *v = &l->verdict;
	char n[TEXT_LEN], ago[TEXT_LEN], age[TEXT_LEN];

	if (v->then < 1)
		return;
	fprintf(out, "; of %s that were live %s ago and older than %s then, %.0f %% are left",
		text_count(n, leaks_round(v->then)),
		text_ns(ago, l->trend.then.since_ns + l->trend.held_ns),
		text_ns(age, v->then_age_ns), 100 * v->left / v->then);
}

/* Why it is said to grow. */
static void put_survivors(const struct rleak *l, FILE *out)
{
	const struct trend_verdict *v = &l->verdict;
	char a[TEXT_LEN], b[TEXT_LEN], age[TEXT_LEN];

	if (v->by_size)
		fprintf(out, "; realloc() enlarged blocks by %s in %s, to %s",
			text_bytes(a, leaks_round(l->trend.then.grown), false),
			text_ns(age, l->trend.then.grown_ns),
			text_bytes(b, leaks_round(l->trend.then.grown_to), false));
	if (v->counted < 1)
		return;
	fprintf(out, "; %u of 16 parts of %s have survivors, the older half has %.0f %% as many "
		     "as the newer", v->parts, text_ns(a, l->trend.watched_ns), 100 * v->share);
	if (v->settled_ns)
		fprintf(out, ", not counting those younger than %s, which may be freed soon",
			text_ns(age, v->settled_ns));
	put_then(l, out);
}

/* Which are older than that, of all. */
static void put_older(const struct rleak *l, FILE *out)
{
	const struct trend_verdict *v = &l->verdict;
	char n[TEXT_LEN], all[TEXT_LEN], since[TEXT_LEN], watched[TEXT_LEN];

	text_ns(since, v->since_ns);
	text_ns(watched, l->trend.watched_ns);
	if (v->older < 1 && v->kind == TREND_CHURN)
		fprintf(out, ": none is older than %s; watched for %s", since, watched);
	else if (v->older <= v->all / 10)
		fprintf(out, ": hardly any is older than %s; watched for %s", since, watched);
	else
		fprintf(out, ": %s of %s are older than %s; watched for %s",
			text_count(n, leaks_round(v->older)), text_count(all, leaks_round(v->all)),
			since, watched);
}

static void put_start(const struct rleak *l, FILE *out)
{
	const struct trend_verdict *v = &l->verdict;
	char n[TEXT_LEN], all[TEXT_LEN], since[TEXT_LEN], watched[TEXT_LEN];

	text_ns(watched, l->trend.watched_ns);
	if (!v->since_ns) {
		fprintf(out, ": all were allocated in the first eighth of %s", watched);
		return;
	}
	fprintf(out, ": %s of %s were allocated in the first sixteenth of %s, ",
		text_count(n, leaks_round(v->start)), text_count(all, leaks_round(v->all)),
		watched);
	if (v->older <= v->start)
		fprintf(out, "none of the others is older than %s", text_ns(since, v->since_ns));
	else
		fprintf(out, "%s of the others are older than %s",
			text_count(n, leaks_round(v->older - v->start)),
			text_ns(since, v->since_ns));
}

static void put_ends(const struct rleak *l, FILE *out)
{
	char watched[TEXT_LEN], was[TEXT_LEN], now[TEXT_LEN], ago[TEXT_LEN];

	fprintf(out, ": the older half of %s has %.0f %% as many survivors as the newer",
		text_ns(watched, l->trend.watched_ns), 100 * l->verdict.share);
	put_then(l, out);
	if (l->trend.then.all >= 1)
		fprintf(out, "; %s were live %s ago, %s are now",
			text_count(was, leaks_round(l->trend.then.all)),
			text_ns(ago, l->trend.then.since_ns + l->trend.held_ns),
			text_count(now, leaks_round(l->verdict.all)));
}

static void put_replacing(const struct rleak *l, FILE *out)
{
	char n[TEXT_LEN], rate[TEXT_LEN], in[TEXT_LEN];

	if (l->rate == RATE_KNOWN)
		fprintf(out, ": at most %s an hour",
			text_bytes(rate, leaks_round(l->verdict.per_hour), true));
	fprintf(out, "%s%s that existed before recording were freed in %s, and new ones may "
		     "replace them", l->rate == RATE_KNOWN ? "; " : ": ",
		text_count(n, leaks_round(l->trend.unknown)),
		text_ns(in, l->trend.then.span_ns ? l->trend.then.since_ns :
			l->trend.watched_ns));
}

/* --stale: are they ever used again? */
static void put_idle(const struct rleak *l, FILE *out)
{
	char idle[TEXT_LEN], n[TEXT_LEN];

	if (!l->idle_ns)
		return;
	fprintf(out, "; not used for %s", text_long(idle, l->idle_ns));
	if (l->used > 0)
		fprintf(out, ", %s other%s %s", text_count(n, leaks_round(l->used)),
			text_s(leaks_round(l->used)), l->used > 1 ? "were" : "was");
	else
		fputs(", like all others of that age", out);
}

void render_verdict(const struct report *r, const struct rleak *l, FILE *out)
{
	const struct trend_verdict *v = &l->verdict;
	char since[TEXT_LEN], watched[TEXT_LEN];

	if (v->kind == TREND_NONE)
		return;
	fprintf(out, "\t\t-- %s", trend_name(v->kind));
	switch (v->kind) {
	case TREND_GROWING:
	case TREND_CACHE:
	case TREND_LEAKING:
		put_rate(r, l, out);
		put_survivors(l, out);
		break;
	case TREND_SHRINKING:
	case TREND_TURNOVER:
		put_ends(l, out);
		break;
	case TREND_REPLACING:
		put_replacing(l, out);
		break;
	case TREND_START:
		put_start(l, out);
		break;
	case TREND_FILLED:
		fprintf(out, ": none is younger than %s; watched for %s",
			text_ns(since, v->since_ns), text_ns(watched, l->trend.watched_ns));
		break;
	case TREND_BOUNDED:
	case TREND_CHURN:
		put_older(l, out);
		break;
	default:
		break;
	}
	put_idle(l, out);
	fputc('\n', out);
}
