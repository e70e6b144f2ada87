// SPDX-License-Identifier: GPL-2.0-or-later
/* Memtap's own accounts as metrics, and the live blocks that its sessions keep. */
#include <stdio.h>
#include <stdlib.h>

#include "render/metrics_int.h"

static __u64 lost(const struct memtap_other *s)
{
	__u64 sum = 0;

	for (size_t i = 0; i < MEMTAP_LOST_SLOTS; i++)
		sum += s->lost[i];
	return sum;
}

/* What a family has of a session. */
static __u64 value_of(const struct memtap_other *s, size_t family)
{
	const __u64 values[] = { s->seen, s->counted, s->filtered, lost(s), s->memory };

	return values[family];
}

/*
 * A session's number is never used again while the module is loaded: its counters only rise, and
 * end with it.  The newest sessions are listed.
 */
static void each(struct page *p, const struct others *o, size_t skipped)
{
	static const struct metric families[] = {
		{ "session_events_seen", NULL, COUNTER,
		  "Events that happened to each session of memtap, by its number: counted, "
		  "filtered or lost." },
		{ "session_events_counted", NULL, COUNTER,
		  "Events that each session counted." },
		{ "session_events_filtered", NULL, COUNTER,
		  "Events that each session left out as its filter says." },
		{ "session_events_lost", NULL, COUNTER,
		  "Events that each session could not count; memtap names the reasons in its "
		  "reports." },
		{ "session_memory_bytes", "bytes", GAUGE,
		  "Kernel memory of each session's tables." },
	};
	char number[16];

	for (size_t f = 0; f < DIM(families); f++) {
		metrics_head(p, &families[f]);
		for (size_t i = skipped; i < o->nr; i++) {
			if (o->at[i].flags & (MEMTAP_OTHER_HIDDEN | MEMTAP_OTHER_BUSY) &&
			    families[f].type == COUNTER)
				continue;
			snprintf(number, sizeof(number), "%u", o->at[i].nr);
			metrics_sample(p, "session", number, value_of(&o->at[i], f));
		}
	}
}

static bool live(struct page *p, const struct others *o)
{
	static const struct metric sampling = {
		"live_sampling_sessions", NULL, GAUGE,
		"Sessions that keep a sample of live blocks: above 0, memtap_live_* are estimates.",
	};
	struct machine_list l = { .has = true, .nr = o->nr_rows };
	bool ok;

	if (!o->following)
		return true;
	l.at = calloc(o->nr_rows + 1, sizeof(*l.at));
	if (!l.at)
		return false;
	for (size_t i = 0; i < o->nr_rows; i++) {
		l.at[i].name = *o->rows[i].comm ? o->rows[i].comm : "(ending)";
		l.at[i].bytes = o->rows[i].bytes;
		l.at[i].objects = o->rows[i].blocks;
	}
	metrics_one(p, &sampling, o->sampling);
	ok = metrics_live(p, &l);
	free(l.at);
	return ok;
}

bool metrics_sessions(struct page *p, const struct others *o)
{
	static const struct metric loaded = {
		"module_loaded", NULL, GAUGE, "1 if memtap's module is loaded, else 0.",
	}, sessions = {
		"sessions", NULL, GAUGE,
		"Sessions of memtap that are open, without the one that reads this.",
	}, unread = {
		"sessions_unread", NULL, GAUGE,
		"Sessions whose accounts could not be read: busy just then, or not permitted.",
	}, left_out = {
		"sessions_left_out", NULL, GAUGE, "Number of older sessions that are not listed.",
	};
	const size_t skipped = o->nr > p->o->top ? o->nr - p->o->top : 0;

	metrics_one(p, &loaded, o->loaded);
	if (!o->loaded)
		return true;
	metrics_one(p, &sessions, o->nr);
	metrics_one(p, &unread, o->unread);
	metrics_one(p, &left_out, skipped);
	each(p, o, skipped);
	return live(p, o);
}
