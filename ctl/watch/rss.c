// SPDX-License-Identifier: GPL-2.0-or-later
/* Read resident pages just before a snapshot, and join them with it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/alloc.h"
#include "base/err.h"
#include "base/ids.h"
#include "base/text.h"
#include "rss/rss.h"
#include "session/dev.h"
#include "target/needed.h"
#include "target/procs.h"
#include "watch/watch.h"

#define HOLD_MS	60000
#define MOST_HEAPS	8		/* processes, whose malloc is asked what it has */
#define HELD_LINES	8		/* processes, of which it is told what pages have */

struct watch_rss {
	struct watch *watch;
	pthread_mutex_t lock;		/* of what was looked at */
	pid_t launched;			/* or 0 */
	__u64 ends;			/* mask of events where it waits for us at its end, */
	bool ended;			/* and it has been looked at there */
	struct rss_env env;
	struct rss_look then, now;
	bool then_known;
	bool since;			/* rows are of what came later alone */
	struct rss_anon anon_then, anon_now;
	struct watch_rss_heap heap;
	struct rss_sums sums;
	__u32 flags;			/* MEMTAP_CFG_FILES, MAPPINGS: of the report */
	const struct opts *retained;	/* --retained, or NULL; what came of it: */
	char held[HELD_LINES][WATCH_OBJECTS_TEXT];
	size_t nr_held;
	__u64 lost;			/* faults that were not counted */
	size_t unread;			/* processes that could not be looked at */
};

static void empty(struct rss_look *l)
{
	for (size_t i = 0; i < l->nr; i++)
		rss_process_free(&l->at[i]);
	l->nr = 0;
}

static void read_comm(const char *proc, char comm[MEMTAP_COMM_LEN])
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/comm", proc);
	f = fopen(path, "re");
	if (f && fgets(comm, MEMTAP_COMM_LEN, f))
		comm[strcspn(comm, "\n")] = '\0';
	if (f)
		fclose(f);
}

static int look_at(struct watch_rss *r, struct rss_look *l, __u32 pid, __u32 space)
{
	struct rss_process *all = ids_grow(l->at, l->nr, &l->room, sizeof(*all)), *p;
	struct procs_cgroups groups;
	char proc[32];
	int err;

	if (!all)
		return -ENOMEM;
	l->at = all;
	p = &all[l->nr];
	snprintf(proc, sizeof(proc), "/proc/%u", pid);
	err = rss_process_read(&r->env, proc, p);
	if (!err && rss_process_parts(&r->env, proc, p)) {
		rss_process_free(p);
		err = -ENOMEM;
	}
	if (err == -ESRCH)
		return 0;
	if (err) {
		r->unread++;
		return err == -ENOMEM ? err : 0;
	}
	p->pid = pid;
	p->space = space;
	read_comm(proc, p->comm);
	groups = procs_cgroups((pid_t)pid);
	p->cgroup1 = groups.v1;
	p->cgroup2 = groups.v2;
	l->nr++;
	return 0;
}

struct then {
	struct watch_rss *r;
	const struct targets *targets;
};

static int look_then(pid_t pid, void *ctx)
{
	const struct then *t = ctx;

	if (!procs_passes(pid, t->targets->items, t->targets->nr_items) || !procs_has_memory(pid))
		return 0;
	return look_at(t->r, &t->r->then, (__u32)pid, 0);
}

static void look(struct watch_rss *r, bool at_end);

/* A thread at its program's end waits until all was looked at. */
static bool look_at_end(void *ctx)
{
	struct watch_rss *r = ctx;
	struct memtap_held h = { 0 };
	bool any = false;

	while (!dev_held(r->watch->session.fd, &h)) {
		any = true;
		pthread_mutex_lock(&r->lock);
		if (h.pid == r->launched && h.event < 64 && r->ends >> h.event & 1) {
			look(r, true);
			r->ended = true;
		}
		pthread_mutex_unlock(&r->lock);
		/* a thread that cannot be seen from here goes on, too */
		h = (struct memtap_held){ .release = h.tid ? (__u32)h.tid : 1,
					  .release_id = h.id };
	}
	return any;
}

static int hold_at_end(const char *path, int fd, void *ctx)
{
	static const char *const functions[] = { "_exit", "_Exit" };
	struct watch_rss *r = ctx;
	__u64 last = 0;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		struct memtap_attach a = {
			.kind = MEMTAP_ATTACH_UPROBE,
			.flags = MEMTAP_ATTACH_HOLD | MEMTAP_ATTACH_ENTRY,
			.fd = fd,
			.hold_ms = HOLD_MS,
		};

		if (alloc_hold_place(fd, functions[i], &a.offset) || a.offset == last)
			continue;
		last = a.offset;
		snprintf(a.name, sizeof(a.name), "%.60s:%s", strrchr(path, '/') ?
			 strrchr(path, '/') + 1 : path, functions[i]);
		if (!dev_attach(r->watch->session.fd, &a) && a.event < 64)
			r->ends |= 1ULL << a.event;
	}
	return 0;
}

int watch_rss_attach(struct watch *w, const struct targets *targets)
{
	struct watch_rss *r = calloc(1, sizeof(*r));

	if (!r)
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	w->rss = r;
	r->watch = w;
	r->launched = targets->target.pid;
	if (r->launched && (w->session.info.features & MEMTAP_FEATURE_ONLY_COUNT))
		note("the program is not paused at its end, and most of its memory is freed by "
		     "then: that needs " SESSION_MISSING);
	pthread_mutex_init(&r->lock, NULL);
	if (r->launched)
		needed_walk_command(targets_program(targets), targets->argv, hold_at_end, r);
	return 0;
}

struct serve_hooks watch_rss_hooks(struct watch *w)
{
	return (struct serve_hooks){ NULL, look_at_end, w->rss };
}

int watch_rss_begin(struct watch *w, const struct targets *targets, const struct opts *o)
{
	struct watch_rss *r = w->rss;
	struct then then = { r, targets };

	rss_env_begin(&r->env);
	r->since = o->since;
	r->retained = o->retained ? o : NULL;
	if (o->by == BY_FILE || o->retained)
		r->flags = MEMTAP_CFG_FILES;
	else if (o->by == BY_MAPPING)
		r->flags = MEMTAP_CFG_FILES | MEMTAP_CFG_MAPPINGS;
	/* of everybody that would take long; who was there before, is known nevertheless */
	r->then_known = targets->nr_items;
	if (!targets->nr_items || targets->target.pid)
		return 0;
	if (procs_each(look_then, &then))
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	for (size_t i = 0; i < r->then.nr; i++)
		rss_process_for(&r->then.at[i], &r->anon_then);
	return 0;
}

static bool has_task(const struct snap *s, __u32 pid)
{
	for (size_t i = 0; i < s->nr_tasks; i++)
		if ((__u32)s->tasks[i].pid == pid)
			return true;
	return false;
}

/* The address spaces that are there now, also of those that did nothing since. */
static int look_now(struct watch_rss *r, const struct snap *s)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->nr_tasks; i++) {
		const struct memtap_rec_task *t = &s->tasks[i];

		if (t->id == t->space && !(t->flags & (MEMTAP_TASK_EXITED | MEMTAP_TASK_KTHREAD)))
			err = look_at(r, &r->now, (__u32)t->pid, t->id);
	}
	for (size_t i = 0; !err && i < r->then.nr; i++)
		if (!has_task(s, r->then.at[i].pid))
			err = look_at(r, &r->now, r->then.at[i].pid, 0);
	return err;
}

/* At its end a process waits in a probe, and cannot be stopped. */
static void look_into_pages(struct watch_rss *r, bool at_end)
{
	r->nr_held = 0;
	for (size_t i = 0; r->retained && i < r->now.nr && r->nr_held < HELD_LINES; i++)
		if (at_end)
			snprintf(r->held[r->nr_held++], WATCH_OBJECTS_TEXT, "what pages of process "
				 "%u have is not known at its end", r->now.at[i].pid);
		else
			watch_rss_held(&r->now.at[i], r->retained, r->env.page,
				       r->held[r->nr_held++], WATCH_OBJECTS_TEXT);
}

static void look(struct watch_rss *r, bool at_end)
{
	struct snap *s;
	char why[256];
	int err;

	watch_stale_look(r->watch);
	empty(&r->now);
	r->unread = 0;
	pthread_mutex_lock(&r->watch->reading);
	err = snap_from_fd(r->watch->session.fd, &s, why);
	pthread_mutex_unlock(&r->watch->reading);
	if (err)
		return;
	if (look_now(r, s))
		note("the resident pages of some processes are not known: not enough memory");
	r->anon_now = (struct rss_anon){ 0 };
	for (size_t i = 0; i < r->now.nr; i++)
		rss_process_for(&r->now.at[i], &r->anon_now);
	r->heap = (struct watch_rss_heap){ 0 };
	for (size_t i = 0; r->now.nr <= MOST_HEAPS && i < r->now.nr; i++)
		watch_rss_heap(&r->heap, &r->now.at[i], r->env.page);
	look_into_pages(r, at_end);
	snap_free(s);
}

void watch_rss_look(struct watch *w)
{
	struct watch_rss *r = w->rss;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	/* at its end there was more than now */
	if (!r->ended)
		look(r, false);
	pthread_mutex_unlock(&r->lock);
}

static bool is_stale(void *ctx, __u32 pid, __u64 page)
{
	return watch_stale_is(ctx, (pid_t)pid, page);
}

int watch_rss_join(struct watch *w, struct snap **s)
{
	struct watch_rss *r = w->rss;
	char why[256] = "no memory";
	void *bytes;
	size_t len;
	int err;

	if (!r)
		return 0;
	r->lost = 0;
	for (size_t i = 0; i < (*s)->nr_events; i++)
		for (int k = 0; k < MEMTAP_LOST_SLOTS; k++)
			r->lost += (*s)->events[i].lost[k];
	pthread_mutex_lock(&r->lock);
	err = rss_join(*s, &(struct rss_ask){
		.now = &r->now, .then = r->then_known ? &r->then : NULL, .flags = r->flags,
		.since = r->since, .is_stale = w->stale ? is_stale : NULL, .ctx = w,
	}, &r->sums, &bytes, &len);
	pthread_mutex_unlock(&r->lock);
	snap_free(*s);
	*s = NULL;
	if (!err)
		err = snap_decode(bytes, len, s, why);
	return err ? fail_text("resident pages cannot be reported: %s", why) : 0;
}

/* ---- the foot ---- */

struct lines {
	char (*at)[WATCH_OBJECTS_TEXT];
	size_t nr;
};

static char *next(struct lines *l)
{
	return l->at[l->nr < WATCH_OBJECTS_LINES - 1 ? l->nr++ : l->nr];
}

static __s64 bytes_of(const struct watch_rss *r, __u64 pages)
{
	return (__s64)(pages * r->env.page);
}

static const char *why_no_mapper(const struct watch_rss *r)
{
	if (!r->launched)
		return ", or none of them had a fault";
	return r->ends ? ", the program did not end by exit()" :
	       ", and no function _exit was found to pause the program at its end";
}

static void put_rss(const struct watch_rss *r, struct lines *l)
{
	const struct rss_sums *s = &r->sums;
	const __u64 rows = s->pages[RSS_ANON] + s->pages[RSS_FILE] + s->pages[RSS_SHMEM];
	char a[TEXT_LEN], b[TEXT_LEN], c[TEXT_LEN], more[80] = "";
	__s64 rest;

	if (!s->processes && !r->then_known) {
		snprintf(next(l), WATCH_OBJECTS_TEXT, "no running process had a page fault: for "
			 "the whole machine, rss examines only processes with page faults; memtap "
			 "top shows all");
		return;
	}
	if (!s->processes) {
		snprintf(next(l), WATCH_OBJECTS_TEXT, "no process was left to examine%s: with an "
			 "interval (memtap rss ... 1), or -d, the report comes before the end",
			 why_no_mapper(r));
		return;
	}
	if (r->ended)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "examined when the program was about to end");
	rest = (__s64)s->rss - bytes_of(r, rows + s->left_out + s->used);
	text_bytes(c, rest < 0 ? -rest : rest, false);
	if (rest)
		snprintf(more, sizeof(more), ", and %s %s", c,
			 rest < 0 ? "went meanwhile" : "in no row");
	snprintf(next(l), WATCH_OBJECTS_TEXT, "RSS of %zu process%s%s: %s as the kernel says; "
		 "%s in rows%s%s", s->processes, s->processes == 1 ? "" : "es",
		 r->then_known ? "" : " that had page faults",
		 text_bytes(a, (__s64)s->rss, false), text_bytes(b, bytes_of(r, rows), false),
		 s->share ? " (estimated)" : "", more);
	if (r->watch->stale)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "%s were used or mapped meanwhile, and are "
			 "not shown (--stale)",
			 text_bytes(a, bytes_of(r, s->used), false));
	if (s->left_out)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "%s were mapped before, and are not shown "
			 "(--since)",
			 text_bytes(a, bytes_of(r, s->left_out), false));
}

/* "64 arenas of malloc 650.0 MiB (+640.0 MiB)" */
static size_t put_anon(const struct watch_rss *r, enum rss_for what, char *to, size_t room)
{
	static const char *const names[NR_RSS_FOR] = {
		[RSS_FOR_HEAP] = "heap", [RSS_FOR_ARENA] = "arena", [RSS_FOR_BLOCK] = "large block",
		[RSS_FOR_THREAD] = "stack", [RSS_FOR_STACK] = "main stack",
		[RSS_FOR_FILE] = "data of files", [RSS_FOR_OTHER] = "other mappings",
	};
	const __s64 now = bytes_of(r, r->anon_now.pages[what]);
	const __s64 grew = now - bytes_of(r, r->anon_then.pages[what]);
	const __u64 nr = r->anon_now.things[what];
	char a[TEXT_LEN], b[TEXT_LEN], count[32] = "", more[TEXT_LEN + 8] = "";

	if (!now && !grew)
		return 0;
	if (nr)
		snprintf(count, sizeof(count), "%llu ", (unsigned long long)nr);
	if (r->then.nr && grew)
		snprintf(more, sizeof(more), " (%s%s)", grew < 0 ? "-" : "+",
			 text_bytes(b, grew < 0 ? -grew : grew, false));
	return (size_t)snprintf(to, room, "%s%s%s %s%s", count, names[what],
				nr > 1 ? "s" : "", text_bytes(a, now, false), more);
}

static void put_kinds(const struct watch_rss *r, struct lines *l)
{
	char *line = next(l);
	size_t len = (size_t)snprintf(line, WATCH_OBJECTS_TEXT, "anonymous memory%s: ",
				      r->then.nr ? ", and what it grew by" : ""), at = len, more;

	for (int i = 0; i < NR_RSS_FOR; i++) {
		char one[128] = "";

		more = put_anon(r, (enum rss_for)i, one, sizeof(one));
		if (more)
			len += (size_t)snprintf(line + len, WATCH_OBJECTS_TEXT - len, "%s%s",
						len > at ? ", " : "", one);
	}
	if (len == at)
		l->nr--;
}

static void put_heap(const struct watch_rss *r, struct lines *l)
{
	const struct watch_rss_heap *h = &r->heap;
	char used[TEXT_LEN], unused[TEXT_LEN], size[TEXT_LEN], more[TEXT_LEN + 48] = "";
	char about[TEXT_LEN + 64] = "";

	if (h->unknown)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "malloc's free memory is not known for %zu "
			 "process%s (%s); memtap heap PID stops a process to look",
			 h->unknown, h->unknown == 1 ? "" : "es", h->why);
	if (!h->arenas)
		return;
	if (h->with_free > 1)
		snprintf(more, sizeof(more), " in %zu of them, at most %s in one", h->with_free,
			 text_bytes(size, (__s64)h->most, false));
	if (h->changed)
		snprintf(about, sizeof(about), "; it was in use meanwhile: %s in neither",
			 text_bytes(size, (__s64)h->missing, false));
	snprintf(next(l), WATCH_OBJECTS_TEXT, "malloc (glibc), %zu arena%s: %s%s in use%s, %s "
					      "free and not returned to the kernel%s%s", h->arenas,
					      text_s(h->arenas), h->changed ? "about " : "",
		 text_bytes(used, (__s64)h->used, false),
		 h->unmapped ? " beside blocks with mappings of their own" : "",
		 text_bytes(unused, (__s64)h->free, false), more, about);
}

static void put_unseen(const struct watch_rss *r, struct lines *l)
{
	char n[TEXT_LEN];

	snprintf(next(l), WATCH_OBJECTS_TEXT, "[came without a fault]: %s: mapped by the kernel on "
		 "its own (execve, mlockall, khugepaged, reads and writes by others)%s%s",
		 text_bytes(n, bytes_of(r, r->sums.unseen), false),
		 r->sums.orphans ? ", or by fork() from a process that was not followed" : "",
		 r->lost ? ", or by faults that were lost" : "");
}

static void put_sources(const struct watch_rss *r, struct lines *l)
{
	const struct rss_sums *s = &r->sums;
	char n[TEXT_LEN], m[TEXT_LEN];

	if (s->unseen)
		put_unseen(r, l);
	if (s->inherited)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "%s were inherited by fork(), and have the "
			 "parent's stacks",
			 text_bytes(n, bytes_of(r, s->inherited), false));
	if (s->inherited_before)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "%s were inherited by fork(), and the parent "
			 "had them before memtap",
			 text_bytes(n, bytes_of(r, s->inherited_before), false));
	if (s->not_kept)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "%s were inherited by fork(), and the "
			 "parent's regions were not recorded",
			 text_bytes(n, bytes_of(r, s->not_kept), false));
	if (s->shared)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "%s of %s anonymous memory are shared with "
			 "other processes since a fork()%s, and counted for each",
			 text_bytes(n, bytes_of(r, s->shared), false),
			 text_bytes(m, bytes_of(r, s->pages[RSS_ANON]), false),
			 s->may_be_merged ? ", or were merged by KSM" : "");
	if (s->merged)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "%s of %s anonymous memory are merged by "
			 "KSM, and counted for each mapping",
			 text_bytes(n, bytes_of(r, s->merged), false),
			 text_bytes(m, bytes_of(r, s->pages[RSS_ANON]), false));
}

/* What a sum of RSS hides: who else has these pages, and what pages they are. */
static void put_pages(const struct watch_rss *r, struct lines *l)
{
	const struct rss_sums *s = &r->sums;
	char a[TEXT_LEN], b[TEXT_LEN];

	if (!s->processes)
		return;
	if (s->pss)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "PSS %s: each shared page divided by how "
			 "many processes have it; USS %s: pages that no other process has",
			 text_bytes(a, (__s64)s->pss, false), text_bytes(b, (__s64)s->uss, false));
	if (s->huge)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "%s of RSS are huge pages, which are "
			 "resident even if only part of them is used%s",
			 text_bytes(a, (__s64)s->huge, false),
			 r->flags & MEMTAP_CFG_MAPPINGS ? "" : "; --by mapping shows which");
	if (s->lazy)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "%s of RSS were freed with MADV_FREE: the "
			 "kernel reclaims them when memory is short%s",
			 text_bytes(a, (__s64)s->lazy, false),
			 r->flags & MEMTAP_CFG_MAPPINGS ? "" : "; --by mapping shows which");
}

static void put_rest(const struct watch_rss *r, struct lines *l)
{
	const struct rss_sums *s = &r->sums;
	char n[TEXT_LEN], m[TEXT_LEN];

	if (s->hugetlb && s->has_hugetlb_there)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "mappings of hugetlbfs, %s, of which %s are "
			 "resident, are not part of RSS, and are not shown",
			 text_bytes(n, (__s64)s->hugetlb, false),
			 text_bytes(m, (__s64)s->hugetlb_there, false));
	else if (s->hugetlb)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "mappings of hugetlbfs, %s, are not part of "
			 "RSS, and are not shown",
			 text_bytes(n, (__s64)s->hugetlb, false));
	if (s->unread)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "%s are in mappings of more than 64 GiB, "
			 "which are not examined, and are not shown",
			 text_bytes(n, (__s64)s->unread, false));
	if (s->share)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "the table of pages was full: 1 of %u "
			 "regions of 2 MiB was recorded, and sizes are scaled up by that factor "
			 "(--max-mem makes room)", 1U << s->share);
	if (s->refused)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "%llu pages had no room in the table, and "
			 "may have the wrong stack",
			 (unsigned long long)s->refused);
	if (s->unmoved)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "%llu pages were moved by mremap(), too many "
			 "at once: their stacks are not known",
			 (unsigned long long)s->unmoved);
	if (r->unread)
		snprintf(next(l), WATCH_OBJECTS_TEXT, "%zu processes could not be examined",
			 r->unread);
}

size_t watch_rss_footer(const struct watch *w, char (*lines)[WATCH_OBJECTS_TEXT])
{
	struct lines l = { lines, 0 };

	put_rss(w->rss, &l);
	l.nr += watch_stale_footer(w, lines + l.nr);
	put_pages(w->rss, &l);
	put_kinds(w->rss, &l);
	put_heap(w->rss, &l);
	put_sources(w->rss, &l);
	put_rest(w->rss, &l);
	for (size_t i = 0; i < w->rss->nr_held; i++)
		snprintf(next(&l), WATCH_OBJECTS_TEXT, "%s", w->rss->held[i]);
	return l.nr;
}

void watch_rss_end(struct watch *w)
{
	struct watch_rss *r = w->rss;

	if (!r)
		return;
	empty(&r->then);
	empty(&r->now);
	free(r->then.at);
	free(r->now.at);
	rss_env_end(&r->env);
	pthread_mutex_destroy(&r->lock);
	free(r);
	w->rss = NULL;
}
