// SPDX-License-Identifier: GPL-2.0-or-later
/* Make messages of snapshots: a profile for each program in a cgroup. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/pusher.h"
#include "leaks/leaks.h"

#define SECOND	1000000000ULL

void pusher_say(const char *line, bool loss)
{
	if (loss)
		fail_text("%s", line);
	else
		note("%s", line);
}

/* ---- what stacks allocated in an interval ---- */

struct pusher_totals {
	__u32 space, ustack, task;
	__u64 allocs, bytes;
};

static int cmp_totals(const void *a, const void *b)
{
	const struct pusher_totals *x = a, *y = b;

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	if (x->ustack != y->ustack)
		return x->ustack < y->ustack ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

/* What was there before is subtracted; less than that is another one of the same number. */
static void subtract(const struct pusher *p, struct memtap_peak_stack *at,
		     const struct pusher_totals *now)
{
	const struct pusher_totals *was = !p->nr_totals ? NULL :
		bsearch(now, p->totals, p->nr_totals, sizeof(*now), cmp_totals);

	if (!was || was->allocs > at->allocs || was->bytes > at->bytes)
		return;
	at->allocs -= was->allocs;
	at->bytes -= was->bytes;
}

/* The totals of @s are those since the last snapshot afterwards.  0 or -ENOMEM. */
static int make_interval(struct pusher *p, struct snap *s)
{
	struct pusher_totals *all;
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_peaks; i++)
		nr += s->peaks[i].nr;
	all = calloc(nr + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	nr = 0;
	for (size_t i = 0; i < s->nr_peaks; i++)
		for (__u32 k = 0; k < s->peaks[i].nr; k++) {
			/* the snapshot's own bytes, which nobody else reads */
			struct memtap_peak_stack *at = (void *)(uintptr_t)&s->peaks[i].at[k];

			all[nr] = (struct pusher_totals){ at->space, at->ustack, at->task,
							  at->allocs, at->bytes };
			subtract(p, at, &all[nr++]);
		}
	qsort(all, nr, sizeof(*all), cmp_totals);
	free(p->totals);
	p->totals = all;
	p->nr_totals = nr;
	return 0;
}

/* ---- what is said of the session ---- */

/* Events that are in no profile: not calls that have not returned. */
static __u64 lost_of(const struct snap *s)
{
	__u64 lost = 0;

	for (size_t i = 0; i < s->nr_events; i++)
		for (int k = 0; k < MEMTAP_LOST_SLOTS; k++)
			if (k != MEMTAP_LOST_RETURN && k != MEMTAP_LOST_LEFT)
				lost += s->events[i].lost[k];
	return lost;
}

/* @live: losses are those since the session's start. */
static void say_lost(struct pusher *p, const struct snap *s, bool live)
{
	const __u64 lost = lost_of(s), more = live ? lost - p->lost : lost;
	char n[TEXT_LEN];

	if (more && lost >= (live ? p->lost : 0))
		fail_text("%s event%s of the last interval %s lost: the comments of its profiles "
			  "say which", text_count(n, more), text_s(more), more == 1 ? "was" :
			  "were");
	p->lost = live ? lost : 0;
}

/* ---- one message ---- */

static void set_labels(struct pusher *p, const struct rgroup *g)
{
	p->of = p->labels;
	if (g->comm)
		labels_set(&p->of, "program", g->comm);
	if (g->cgroup_path)
		labels_of_cgroup(&p->of, "", g->cgroup_path);
	/* what the user says stands above what was found */
	for (size_t i = 0; i < p->labels.nr; i++)
		labels_set(&p->of, p->labels.at[i].name, p->labels.at[i].value);
	for (size_t i = 0; i < p->dropped.nr; i++)
		labels_set(&p->of, p->dropped.at[i].name, "");
}

static void set_comments(struct pusher *p, bool live)
{
	struct push_counts c;
	size_t nr = 0;

#define COMMENT(...)	(snprintf(p->comment[nr], sizeof(p->comment[nr]), __VA_ARGS__), nr++)
	push_get(&p->push, &c);
	COMMENT("interval: %.3f s", (double)p->duration_ns / 1e9);
	if (live)
		COMMENT("inuse: what is there at the interval's end; alloc: what was allocated in "
			"it; losses and the time above: since the session's start");
	if (live && p->o->sample_bytes)
		COMMENT("sampled, one block per %llu bytes: numbers are estimates; what was "
			"allocated is not counted", (unsigned long long)p->o->sample_bytes);
	if (c.dropped || c.refused || c.damaged || p->not_kept)
		COMMENT("earlier messages that no receiver has: %llu dropped from the spool, %llu "
			"refused, %llu damaged, %llu not written",
			(unsigned long long)c.dropped, (unsigned long long)c.refused,
			(unsigned long long)c.damaged, (unsigned long long)p->not_kept);
#undef COMMENT
	for (size_t i = 0; i < nr; i++)
		p->comments[i] = p->comment[i];
	p->comments[nr] = NULL;
}

static void describe(void *ctx, const struct rgroup *g, struct render_profile *profile)
{
	struct pusher *p = ctx;
	size_t nr = 0;

	set_labels(p, g);
	set_comments(p, leaks_kept(p->snap));
	/* Pyroscope has them in the URL; each sample's would be series of their own */
	for (size_t i = 0; !p->pyroscope && i < p->of.nr; i++) {
		p->pairs[nr++] = p->of.at[i].name;
		p->pairs[nr++] = p->of.at[i].value;
	}
	p->pairs[nr] = NULL;
	*profile = (struct render_profile){
		.labels = p->pairs,
		.comments = p->comments,
		.duration_ns = p->duration_ns,
		.sample_bytes = p->o->sample_bytes,
	};
}

/* What its numbers are: Pyroscope adds them up over time, or takes their mean. */
static void set_types(void *ctx, const char *const *pairs)
{
	struct pusher *p = ctx;
	size_t len;
	FILE *f;

	free(p->types);
	p->types = NULL;
	f = open_memstream(&p->types, &len);
	if (!f)
		return;
	fputc('{', f);
	for (size_t i = 0; pairs[i]; i += 2) {
		const bool state = p->states && strncmp(pairs[i], "alloc_", 6);

		fprintf(f, "%s\"%s\":{\"units\":\"%s\",\"aggregation\":\"%s\","
			"\"cumulative\":false,\"sampled\":false}", i ? "," : "", pairs[i],
			strcmp(pairs[i + 1], "count") ? pairs[i + 1] : "objects",
			state ? "average" : "sum");
	}
	fputc('}', f);
	fclose(f);
}

static const char *why_not_kept(int err)
{
	switch (err) {
	case -E2BIG:
		return "it is larger than all that --max-spool allows";
	case -EMSGSIZE:
		return "a message has at most 32 MiB";
	case -EBUSY:
		return "another one is just being sent, and --max-spool has no room for both";
	default:
		return strerror(-err);
	}
}

static int put(void *ctx, const struct rgroup *g, const void *bytes, size_t len)
{
	struct pusher *p = ctx;
	const __u64 until = p->snap->header.real_ns;
	const __u64 from = until > p->duration_ns ? until - p->duration_ns : 0;
	char name[LABEL_LINE];
	const struct spool_message m = {
		.name = name,
		.types = p->types ? p->types : "{}",
		.from_s = from / SECOND,
		/* less than a second would be nothing */
		.until_s = until / SECOND > from / SECOND ? until / SECOND : from / SECOND + 1,
		.body = bytes,
		.len = len,
	};
	int err;

	labels_pyroscope(&p->of, name);
	err = push_add(&p->push, &m);
	if (err && !p->not_kept++)
		fail_text("%s: a message of %zu bytes (%s) cannot be kept: %s", p->push.o.spool,
			  len, g->label, why_not_kept(err));
	return 0;
}

/* ---- all of a snapshot ---- */

int pusher_take(struct pusher *p, struct snap *s, struct sym *sym, const struct render_opts *o,
		bool interval)
{
	const struct render_profiles to = { describe, put, set_types, p };
	const bool live = leaks_kept(s);
	struct render_opts r = *o;
	__u64 from = s->header.start_ns;
	int err = 0;

	r.format = FORMAT_PPROF;
	r.rows.by = BY_SERVICE;
	r.rows.top = 0;
	r.command = NULL;
	if (interval && p->before_ns)
		from = p->before_ns;
	p->snap = s;
	p->duration_ns = s->header.now_ns > from ? s->header.now_ns - from : 0;
	p->before_ns = s->header.now_ns;
	if (interval)
		say_lost(p, s, live);
	if (interval && live)
		err = make_interval(p, s);
	if (!err)
		err = render_profiles(s, sym, &r, &to);
	free(p->types);
	p->types = NULL;
	return err ? fail(ERR_PLAIN, -err, "%s", "a profile") : 0;
}

void pusher_free(struct pusher *p)
{
	free(p->totals);
	p->totals = NULL;
}
