// SPDX-License-Identifier: GPL-2.0-or-later
/* Say what follows from a question and its answer: each sentence is true of this case. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "triage/diagnose.h"
#include "triage/int.h"

static void say(struct conclusion *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void why(struct conclusion *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct conclusion *c, const char *fmt, ...)
{
	const size_t used = strlen(c->says);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->says + used, sizeof(c->says) - used, fmt, ap);
	va_end(ap);
}

static void why(struct conclusion *c, const char *fmt, ...)
{
	va_list ap;

	if (c->nr_why == CONCLUSION_WHY)
		return;
	va_start(ap, fmt);
	vsnprintf(c->why[c->nr_why++], sizeof(c->why[0]), fmt, ap);
	va_end(ap);
}

/* --- what it is about ------------------------------------------------------------- */

/* What a finding is about, where something grew; .unnamed: without a name. */
static const struct {
	enum triage_what what;
	const char *named, *unnamed;
} subjects[] = {
	{ FOUND_LEAK, "process ", NULL },
	{ FOUND_OOM_LEAK, "process ", NULL },
	{ FOUND_PROGRAM, "the memory of all processes ", NULL },
	{ FOUND_TMPFS, "the tmpfs ", NULL },
	{ FOUND_SHMEM, NULL, "shared memory" },
	{ FOUND_UNEVICTABLE, NULL, "unevictable memory" },
	{ FOUND_SLAB, "the slab cache ", "unreclaimable slab" },
	{ FOUND_VMALLOC, NULL, "vmalloc memory" },
	{ FOUND_PAGE_TABLES, NULL, "the memory of page tables" },
	{ FOUND_STACKS, NULL, "the memory of kernel stacks" },
	{ FOUND_PERCPU, NULL, "per-CPU memory" },
	{ FOUND_PAGES, NULL, "kernel memory without a counter" },
	{ FOUND_SOCKETS, NULL, "the memory of sockets" },
};

/* It may well be as it should: it is not called a leak.  @who: "process checkout (pid 812)" */
static bool is_growth(const struct triage_finding *f, char *who, size_t len)
{
	size_t i = 0;

	while (i < sizeof(subjects) / sizeof(subjects[0]) && subjects[i].what != f->what)
		i++;
	if (i == sizeof(subjects) / sizeof(subjects[0]))
		return false;
	if (subjects[i].named && *f->name)
		snprintf(who, len, "%s%s", subjects[i].named, f->name);
	else
		snprintf(who, len, "%s", subjects[i].unnamed ? subjects[i].unnamed : "it");
	if (f->what == FOUND_LEAK || f->what == FOUND_OOM_LEAK)
		snprintf(who + strlen(who), len - strlen(who), " (pid %u)", f->pid);
	return true;
}

/* Triage's words, without its forecast, which two readings are too few for. */
static int seen_len(const struct triage_finding *f)
{
	const char *end = strstr(f->seen, "; at this pace ");

	return (int)(end ? (size_t)(end - f->seen) : strlen(f->seen));
}

static void seen(struct conclusion *c, const struct triage_finding *f)
{
	say(c, "%.*s", seen_len(f), f->seen);
}

/* It does not go on growing. */
static bool is_calm(const struct pace *p)
{
	return p->kind == PACE_WAVES || p->kind == PACE_FLAT || p->kind == PACE_ENDED;
}

static void say_pace(struct conclusion *c, const char *who)
{
	const struct pace *p = &c->ask->pace;
	char a[TEXT_LEN], b[TEXT_LEN], d[TEXT_LEN];

	switch (p->kind) {
	case PACE_STEADY:
		c->per_second = (double)p->grew / p->seconds;
		say(c, "%s grows steadily, by %s/s (%s in %.1f s)", who,
		    text_bytes(a, (__s64)c->per_second, false), text_bytes(b, p->grew, false),
		    p->seconds);
		break;
	case PACE_UNEVEN:
	case PACE_SHORT:
		say(c, "%s grew by %s in %.1f s%s", who, text_bytes(a, p->grew, false),
		    p->seconds, p->kind == PACE_UNEVEN ? ", not evenly" : "");
		break;
	case PACE_ENDED:
		say(c, "%s grew by %s in %.1f s, nearly all of it in the first half of that: it "
		    "has stopped growing", who, text_bytes(a, p->grew, false), p->seconds);
		break;
	case PACE_WAVES:
		say(c, "%s rises and falls by up to %s, between %s and %s, within %.1f s: that is "
		    "not the steady growth of a leak", who,
		    text_bytes(d, p->most - p->least, false), text_bytes(a, p->least, false),
		    text_bytes(b, p->most, false), p->seconds);
		break;
	case PACE_FLAT:
		say(c, "%s does not go on growing: %s in %.1f s", who,
		    text_bytes(a, p->grew, true), p->seconds);
		break;
	default:
		seen(c, &c->ask->found);
	}
}

void diagnose_add_pace(struct triage_finding *f, const struct pace *p)
{
	const size_t used = strlen(f->seen), room = sizeof(f->seen) - used;
	char a[TEXT_LEN], b[TEXT_LEN];

	if (p->kind == PACE_WAVES)
		snprintf(f->seen + used, room, "; between these two moments it fell as well (%s to "
			 "%s): that is not the steady growth of a leak",
			 text_bytes(a, p->least, false), text_bytes(b, p->most, false));
	else if (p->kind == PACE_ENDED)
		snprintf(f->seen + used, room, "; nearly all of that was in the first half of the "
			 "time");
}

/* --- who does it ---------------------------------------------------------------------- */

static void put_frames(const struct answer_frame *f, size_t nr, char *buf, size_t len)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < nr && used < len; i++) {
		const char *slash = strrchr(f[i].file, '/');

		used += (size_t)snprintf(buf + used, len - used, "%s%.150s", i ?
					 ", called by " : "", *f[i].name ? f[i].name :
					 "a function without a name");
		if (used < len && f[i].line)
			used += (size_t)snprintf(buf + used, len - used, " (%.80s:%u)",
						 slash ? slash + 1 : f[i].file, f[i].line);
		else if (used < len && strcmp(f[i].object, "kernel") != 0 && !i)
			used += (size_t)snprintf(buf + used, len - used, " [%.80s]", f[i].object);
	}
}

/* Where it is: functions of the program, else of the kernel. */
static bool place(const struct answer_row *r, char *buf, size_t len)
{
	if (r->nr_user)
		put_frames(r->user, r->nr_user, buf, len);
	else if (r->nr_kernel)
		put_frames(r->kernel, r->nr_kernel, buf, len);
	else if (*r->first[0].object)
		put_frames(r->first, 1, buf, len);
	else if (*r->first[1].object)
		put_frames(r->first + 1, 1, buf, len);
	else
		buf[0] = '\0';
	return *buf;
}

static const char *amount(const struct answer *a, __u64 n, char buf[TEXT_LEN])
{
	if (!strcmp(a->unit, "bytes"))
		return text_bytes(buf, (__s64)n, false);
	if (!strcmp(a->unit, "ns"))
		return text_ns(buf, (__s64)n);
	return text_count(buf, n);
}

static bool has_blocks(const struct ask *ask)
{
	return strstr(ask->record, " --leaks") != NULL;
}

/* "of the 120 MiB that it allocated in 40 s and did not free", what comes before and behind */
static void say_share(struct conclusion *c, const struct ask *ask)
{
	const struct answer *a = &ask->answer;
	const struct answer_row *r = &a->largest;
	const bool kernel = strstr(ask->record, " -k") != NULL;
	const double percent = (double)a->part * 100 / (double)a->total;
	char who[64] = "", at[1000], all[TEXT_LEN];

	c->percent = (int)percent;
	c->shown = ask;
	if (*r->comm && r->pid && r->pid != ask->found.pid)
		snprintf(who, sizeof(who), "%s (pid %u)", r->comm, r->pid);
	else if (*r->comm && !r->pid)
		snprintf(who, sizeof(who), "%s", r->comm);
	if (has_blocks(ask)) {
		say(c, "%.0f %% of the %s that %s allocated in %.1f s and did not free was "
		    "allocated", percent, amount(a, a->total, all), kernel ? "the kernel" : *who ?
		    "these processes" : "it", ask->seconds);
	} else if (!strcmp(a->unit, "ns")) {
		say(c, "%.0f %% of the waiting that was recorded in %.1f s (%s in sum) was",
		    percent, ask->seconds, amount(a, a->total, all));
	} else if (!strcmp(r->event, "shmem")) {
		say(c, "%.0f %% of the %s%s that shared memory grew by in %.1f s came", percent,
		    amount(a, a->total, all), !strcmp(a->unit, "pages") ? " pages" : "",
		    ask->seconds);
	} else {
		say(c, "%.0f %% of %s events (%s) in %.1f s came", percent,
		    amount(a, a->total, all), r->event, ask->seconds);
		if (!*who)
			say(c, " from it");
	}
	if (*who)
		say(c, " %s %s", strcmp(a->unit, "ns") == 0 || has_blocks(ask) ? "by" : "from",
		    who);
	if (place(r, at, sizeof(at)))
		say(c, " at %s", at);
	else
		say(c, "%s by code of which no stack is known", *who ? "," : "");
	if (*r->path)
		say(c, ", to %s", r->path);
	if (kernel && *r->cache && strcmp(r->cache, ask->found.name) != 0)
		say(c, ", of %s", r->cache);
}

/* Its blocks are not what it grows by. */
static bool explains_little(const struct ask *ask)
{
	return has_blocks(ask) && ask->grew > 0 && (__s64)ask->answer.total * 2 < ask->grew;
}

/* Of the stack that has most: it goes on. */
static bool blocks_grow(const struct ask *ask)
{
	const char *v = ask->answer.largest.verdict;

	return !*v || !strncmp(v, "growing", 7) || !strcmp(v, "leaking") || !strcmp(v, "lost");
}

static void say_growth_of_blocks(struct conclusion *c, const struct ask *ask)
{
	const struct answer *a = &ask->answer;
	char x[TEXT_LEN], y[TEXT_LEN];

	if (*a->largest.verdict)
		why(c, "the verdict on the blocks of this stack: %s", a->largest.verdict);
	if (explains_little(ask))
		why(c, "what was allocated and not freed meanwhile (%s) is less than half of the "
		    "growth meanwhile (%s)", text_bytes(x, (__s64)a->total, false),
		    text_bytes(y, ask->grew, false));
	why(c, "memory that is freed later than %.1f s after its allocation counts as not freed",
	    ask->seconds);
}

/* --- what is around it ------------------------------------------------------------------ */

static void say_room(struct conclusion *c, const struct machine_at *at)
{
	const struct triage_finding *f = &c->ask->found;
	struct machine_room room;
	char in[TEXT_LEN];
	double seconds;

	if (c->per_second <= 0 || f->what == FOUND_RECLAIMABLE ||
	    !machine_room(at, (__s32)f->pid, &room))
		return;
	seconds = (double)room.bytes / c->per_second;
	if (seconds > 86400 * 30.0)
		return;
	c->full_ns = (__u64)(seconds * 1e9) + 1;
	say(c, ". At this rate it reaches %s in %s", room.what, text_long(in, c->full_ns));
}

static const struct machine_growth *cgroup_of(const struct triage *t, const char *name)
{
	for (size_t i = 0; i < t->now->cgroups.nr; i++)
		if (!strcmp(t->cgroups[i].now->name, name))
			return &t->cgroups[i];
	return NULL;
}

static void say_cgroup(struct conclusion *c, const struct triage *t)
{
	const struct machine_growth *g = cgroup_of(t, c->ask->found.name);
	char a[TEXT_LEN], b[TEXT_LEN], d[TEXT_LEN], l[TEXT_LEN] = "no limit of its own";

	if (!g)
		return;
	if (g->now->size && g->now->size != ~0ULL)
		text_bytes(l, (__s64)g->now->size, false);
	text_bytes(a, (__s64)g->now->bytes, false);
	/* of one without a limit this was not read */
	if (g->now->anon || g->now->file)
		why(c, "it holds %s (limit: %s): %s anonymous, %s page cache", a, l,
		    text_bytes(b, (__s64)g->now->anon, false),
		    text_bytes(d, (__s64)g->now->file, false));
	else
		why(c, "it holds %s (limit: %s)", a, l);
}

/* Pages of files that are there because nothing else needs the memory. */
static bool is_cache(const struct triage *t)
{
	const __u64 total = t->now->f.mem[MEM_TOTAL];

	return (__u64)t->is.bytes[KIND_FILE] * 5 >= total &&
	       machine_available(t->now) * 5 >= total &&
	       t->now->f.mem[MEM_FREE] * 2 < machine_available(t->now);
}

static void say_cache(struct conclusion *c, const struct triage *t)
{
	const __s64 grew = t->is.bytes[KIND_FILE] - t->was.bytes[KIND_FILE];
	char a[TEXT_LEN], b[TEXT_LEN], d[TEXT_LEN], e[TEXT_LEN];

	say(c, ". Little memory is free (%s) because page cache of files takes %s%s%s: not a "
	    "leak, since the kernel reclaims it when memory is needed (available: %s). Nothing "
	    "to do", text_bytes(a, (__s64)t->now->f.mem[MEM_FREE], false),
	    text_bytes(b, t->is.bytes[KIND_FILE], false), grew >= triage_floor(t) ? ", now " : "",
	    grew >= triage_floor(t) ? text_bytes(d, grew, true) : "",
	    text_bytes(e, (__s64)machine_available(t->now), false));
}

/* Nothing of what is in scope; the machine may have troubles of its own. */
static void say_nothing_here(struct conclusion *c, const struct triage *t,
			     const struct diagnose_scope *s)
{
	char floor[TEXT_LEN];

	if (s->pid && !t->now->processes.nr) {
		say(c, "process %u has ended, or has no memory of its own", s->pid);
		return;
	}
	if (s->pid)
		say(c, "process %u", s->pid);
	else
		say(c, "the cgroup %s", s->cgroup);
	say(c, " does not grow fast, and nothing else was found about it, in %.1f s", t->seconds);
	for (size_t i = 0; i < t->nr_found; i++)
		if (t->found[i].what != FOUND_NOTHING)
			why(c, "of the whole machine: %.*s", seen_len(&t->found[i]),
			    t->found[i].seen);
	why(c, "what grows by less than %s in that time is not noticed",
	    text_bytes(floor, triage_floor(t), false));
	c->sure = t->now->nr_gaps || t->seconds < 30 ? SURE_MEDIUM : SURE_HIGH;
}

static void say_nothing(struct conclusion *c, const struct triage *t)
{
	char floor[TEXT_LEN];

	say(c, "%snothing grows fast, waits or fails in %.1f s", t->level[LINE_MEMORY] ?
	    "little memory is left, but " : "", t->seconds);
	if (is_cache(t))
		say_cache(c, t);
	why(c, "what grows by less than %s in that time is not noticed",
	    text_bytes(floor, triage_floor(t), false));
	c->sure = t->now->nr_gaps || t->seconds < 30 ? SURE_MEDIUM : SURE_HIGH;
	snprintf(c->next, sizeof(c->next), "memtap diagnose -d 10m");
}

static void say_kinds(struct conclusion *c, const struct ask *ask)
{
	char a[TEXT_LEN], b[TEXT_LEN];

	if (ask->has_kinds)
		why(c, "its malloc heap (brk) changed by %s meanwhile, its other private mappings "
		    "by %s", text_bytes(a, ask->heap_grew, true),
		    text_bytes(b, ask->anon_grew, true));
}

/* --- what is not known ------------------------------------------------------------------- */

static void say_missing(struct conclusion *c, const struct ask *ask)
{
	const struct answer *a = &ask->answer;
	char n[TEXT_LEN], all[TEXT_LEN];

	switch (ask->end) {
	case ASK_NO_MODULE:
		why(c, "the code behind it is not known: %s", ask->error);
		why(c, "with the module, %s shows %s", ask->found.command, ask->found.tells);
		break;
	case ASK_FAILED:
		why(c, "the code behind it is not known: %s", ask->error);
		break;
	case ASK_NO_TIME:
		why(c, "the code behind it was not looked for: no time was left");
		break;
	case ASK_DEAR:
		why(c, "the recording ended after %.1f s: it took %.0f %% of a CPU, and 5 %% are "
		    "allowed; --deep records longer", ask->seconds, ask->cpu);
		break;
	case ASK_STOPPED:
		if (ask->seconds > 0)
			why(c, "the recording was interrupted after %.1f s", ask->seconds);
		else
			why(c, "the code behind it was not looked for: interrupted");
		break;
	default:
		break;
	}
	if (ask->answer.has && a->lost)
		why(c, "%s events were lost, %s counted: shares are of those that were counted",
		    text_count(n, a->lost), text_count(all, a->events));
	if (ask->answer.has && !a->total)
		why(c, "in %.1f s nothing of the kind was recorded (%s)", ask->seconds,
		    ask->record);
}

static bool is_shared(const struct answer *a)
{
	return a->has && a->total > 0;
}

static enum sure how_sure(const struct conclusion *c, const struct ask *ask, const struct ask *more)
{
	const struct answer *a = more && is_shared(&more->answer) ? &more->answer : &ask->answer;
	const bool waves = c->growth && is_calm(&ask->pace);
	enum sure sure = SURE_HIGH;

	if (ask->gone && !is_shared(a))
		return SURE_LOW;
	if (waves)
		return ask->pace.seconds < 30 || ask->pace.nr < 8 ? SURE_MEDIUM : SURE_HIGH;
	if (!is_shared(a))
		return ask->end == ASK_NONE ? SURE_MEDIUM : SURE_LOW;
	if (c->percent < 50 || a->lost * 10 > a->events || ask->end == ASK_DEAR ||
	    ask->end == ASK_STOPPED)
		sure = SURE_MEDIUM;
	if (c->percent < 20 || a->lost > a->events || (!more && explains_little(ask)))
		return SURE_LOW;
	if (c->growth && (ask->pace.kind != PACE_STEADY || !blocks_grow(ask)))
		sure = SURE_MEDIUM;
	if (more)
		sure = SURE_MEDIUM;
	return sure;
}

static bool was_killed(const struct triage *t, __u32 pid)
{
	const struct machine_log *log = &t->now->log;

	for (__u64 i = 0; i < log->nr && i < MACHINE_KILLS; i++)
		if (log->kills[i].pid == pid && log->kills[i].at >= t->before->uptime)
			return true;
	return false;
}

void diagnose_judge(const struct ask *ask, const struct ask *follow, const struct triage *t,
		    const struct machine_at *at, const struct diagnose_scope *scope,
		    struct conclusion *c)
{
	const struct triage_finding *f = &ask->found;
	const struct ask *best = follow && is_shared(&follow->answer) ? follow : ask;
	char who[1100];
	bool calm;			/* who falls again is not accused */

	memset(c, 0, sizeof(*c));
	c->ask = ask;
	c->growth = is_growth(f, who, sizeof(who));
	calm = c->calm = c->growth && is_calm(&ask->pace);
	c->percent = -1;
	if (f->what == FOUND_NOTHING && (scope->pid || scope->cgroup)) {
		say_nothing_here(c, t, scope);
		return;
	}
	if (f->what == FOUND_NOTHING) {
		say_nothing(c, t);
		return;
	}
	if (c->growth)
		say_pace(c, who);
	else
		seen(c, f);
	if (!calm && is_shared(&best->answer)) {
		say(c, ". ");
		say_share(c, best);
	}
	if (ask->gone)
		say(c, ". Process %u %s meanwhile", f->pid, was_killed(t, f->pid) ?
		    "was killed for lack of memory" : "ended");
	else if (!calm)
		say_room(c, at);
	if (c->growth && ask->pace.kind != PACE_NONE)
		why(c, "in the first look %.*s", seen_len(f), f->seen);
	if (!c->growth && *f->name && f->what != FOUND_DEAD_CGROUPS)
		say_cgroup(c, t);
	if (!calm && is_shared(&ask->answer) && has_blocks(ask))
		say_growth_of_blocks(c, ask);
	if (!calm)
		say_kinds(c, ask);
	say_missing(c, ask);
	c->sure = how_sure(c, ask, follow);
	if (!calm && !ask->gone)
		snprintf(c->next, sizeof(c->next), "%s", f->command);
}

void diagnose_order(struct conclusion *c, size_t nr)
{
	struct conclusion first;

	for (size_t i = 1; i < nr; i++)
		for (size_t k = i; k > 0 && c[k - 1].calm && !c[k].calm; k--) {
			first = c[k];
			c[k] = c[k - 1];
			c[k - 1] = first;
		}
}
