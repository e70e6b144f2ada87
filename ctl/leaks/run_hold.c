// SPDX-License-Identifier: GPL-2.0-or-later
/* Handle threads that the module pauses for the tool: when libraries are mapped, and at exit. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/dev.h"
#include "leaks/leaks.h"
#include "leaks/run.h"
#include "leaks/reach_process.h"

#define POSTPONE_NS	300000000ULL

/* ---- the end of a process ---- */

/* What is not known hides what it points to. */
const char *leaks_why_not(const struct snap *s)
{
	static const struct { unsigned int mib; const char *text; } why[] = {
#define WHY(_mib)	{ _mib, "not all blocks were recorded, see the losses; --max-mem " #_mib \
			  "M makes the tables larger" }
		WHY(8), WHY(16), WHY(32), WHY(64), WHY(128), WHY(256), WHY(512), WHY(1024),
#undef WHY
	};
	const unsigned int mib = leaks_more_mib(s);

	for (size_t i = 0; mib && i < sizeof(why) / sizeof(why[0]); i++)
		if (why[i].mib == mib)
			return why[i].text;
	return mib ? "not all blocks were recorded, see the losses" : NULL;
}

/* Of a process that was looked at before, and went on. */
static void forget(struct leaks_run *r, __u32 space)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->nr_reach; i++)
		if (r->reach[i].space != space)
			r->reach[kept++] = r->reach[i];
	r->nr_reach = kept;
}

/* Takes @found over. */
static void keep(struct leaks_run *r, struct snap_reach *found, size_t nr)
{
	struct snap_reach *more;

	if (nr)
		forget(r, found[0].space);
	if (!r->nr_reach) {
		free(r->reach);
		r->reach = found;
		r->nr_reach = nr;
		r->no_kinds = NULL;
		return;
	}
	more = reallocarray(r->reach, r->nr_reach + nr + 1, sizeof(*more));
	if (more) {
		r->reach = more;
		memcpy(more + r->nr_reach, found, nr * sizeof(*found));
		r->nr_reach += nr;
		r->no_kinds = NULL;
	}
	free(found);
}

struct waiting {
	int dev;
	__u32 id;
};

static size_t read_regs(void *ctx, pid_t tid, __u64 regs[MEMTAP_HELD_REGS])
{
	const struct waiting *w = ctx;
	struct memtap_held h = { .look = tid };

	if (dev_held(w->dev, &h) || h.id != w->id)
		return 0;
	memcpy(regs, h.regs, sizeof(h.regs));
	return h.nr_regs;
}

static void look_at_end(struct leaks_run *r, const struct memtap_held *h)
{
	struct waiting w = { r->dev, h->id };
	const struct reach_regs regs = { .read = read_regs, .ctx = &w,
					 .dies = h->event == MEMTAP_HELD_DEATH };
	struct reach_process *p = NULL;
	struct snap_reach *found;
	struct snap *s;
	const char *why;
	char text[256];
	size_t nr;
	int err;

	pthread_mutex_lock(r->reading);
	err = snap_from_fd(r->dev, &s, text);
	pthread_mutex_unlock(r->reading);
	if (err)
		return;
	if (h->space)
		leaks_see_resident(r, s, h->space, h->tid);
	why = leaks_why_not(s);
	if (why)
		r->no_kinds = why;
	else if (reach_process_new(s, h->space, h->pid, h->tid, &p))
		p = NULL;
	snap_free(s);		/* as large as all that follows */
	if (!p)
		return;
	err = reach_process_scan(p, &regs, &found, &nr);
	if (!err)
		keep(r, found, nr);
	else if (err == -ESRCH && !r->nr_reach)
		r->no_kinds = "the program ended before its memory was read";
	reach_process_free(p);
}

int leaks_set_kinds(struct leaks_run *r, struct snap *s)
{
	int err;

	pthread_mutex_lock(&r->lock);
	err = snap_set_kinds(s, r->live, r->nr_live);
	if (!err)
		err = snap_set_held(s, r->helds, r->nr_helds, r->live, r->nr_live);
	if (!err)
		err = snap_set_kinds(s, r->reach, r->nr_reach);
	pthread_mutex_unlock(&r->lock);
	return err;
}

/* ---- whoever waits ---- */

/* All threads of a process that dies wait, and the first one was looked at for all. */
static bool is_end(struct leaks_run *r, const struct memtap_held *h)
{
	if (h->event != MEMTAP_HELD_DEATH)
		return h->event < 64 && r->exit_events >> h->event & 1;
	if (r->died == h->pid && r->died_space == h->space)
		return false;
	r->died = h->pid;
	r->died_space = h->space;
	return true;
}

static void handle(struct leaks_run *r, const struct memtap_held *h)
{
	bool end;

	if (!h->pid)
		return;
	end = is_end(r, h);
	r->holding = true;
	leaks_take_process(r, h->pid);
	r->holding = false;
	if (end && !r->o->sample_bytes && r->o->sample_rate <= 1 && leaks_all_followed(r->o)) {
		pthread_mutex_lock(&r->lock);
		look_at_end(r, h);
		pthread_mutex_unlock(&r->lock);
	}
}

/* Nobody waited: now it is late.  What was looked at meanwhile is not looked at again. */
static void take_postponed(struct leaks_run *r)
{
	const __u64 now = r->nr_postponed ? clock_ns() : 0;
	size_t kept = 0;

	for (size_t i = 0; i < r->nr_postponed; i++) {
		const struct leaks_postponed p = r->postponed[i];

		if (now - p.since < POSTPONE_NS) {
			r->postponed[kept++] = p;
			continue;
		}
		leaks_take_file(r, p.path, p.fd);
		close(p.fd);
		free(p.path);
	}
	r->nr_postponed = kept;
}

bool leaks_look(void *ctx)
{
	struct leaks_run *r = ctx;
	struct memtap_held h = { 0 };
	bool any = false;

	take_postponed(r);

	while (!dev_held(r->dev, &h)) {
		any = true;
		handle(r, &h);
		/* a thread that cannot be seen from here goes on, too */
		h = (struct memtap_held){ .release = h.tid ? (__u32)h.tid : 1,
					  .release_id = h.id };
	}
	return any;
}

/*
 * Probes that come while nobody is held make the verdict of all who run a weak one: they
 * may have called before.  Who maps a library is held before it is called, and who executes
 * a program before that runs; so until then it is left alone.
 */
static bool postpone(struct leaks_run *r, const char *path, int fd)
{
	struct leaks_postponed p = { .since = clock_ns() };

	const bool execs = !r->o->no_hold && r->features & MEMTAP_FEATURE_EXECS;

	if (r->nr_postponed == LEAKS_POSTPONED ||
	    !(execs || (r->dlopen_events && !leaks_is_static(fd))))
		return false;
	p.path = strdup(path);
	p.fd = p.path ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (p.fd < 0) {
		free(p.path);
		return false;
	}
	r->postponed[r->nr_postponed++] = p;
	return true;
}

void leaks_see_file(void *ctx, const char *path, int fd)
{
	if (!postpone(ctx, path, fd))
		leaks_take_file(ctx, path, fd);
}
