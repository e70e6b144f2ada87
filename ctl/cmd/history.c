// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap history`: record what triage reads, for later. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/oom.h"
#include "cmd/acts.h"
#include "cmd/until.h"
#include "history/past.h"
#include "history/recorded.h"
#include "session/dev.h"

#define INTERVAL	10.0
#define MAX_AGE		(7 * 86400.0)
#define MAX_BYTES	(256ULL << 20)
#define BUDGET_NS	250000000	/* for all processes, and again for all cgroups */
#define SYNC_NS		60000000000ULL
#define RECORDED_ROOM	(64U << 10)
#define SLACK_NS	200000000UL	/* a wakeup may wait for another one of its CPU */

static const char *dir_of(const struct opts *o)
{
	return o->dir ? o->dir : HISTORY_DIR;
}

/* --- start --------------------------------------------------------------------------- */

struct service {
	const struct opts *o;
	struct history_writer *w;
	struct machine_at at;
	struct history_shared shared;
	struct acts acts;
	bool near;			/* a rule may soon act */
	__u64 synced_ns;
	__u64 oom;			/* number of the last record that was taken */
	bool killed;			/* before the last sample */
	bool asked;			/* the module was asked once */
	struct memtap_rec_oom *record;
	struct recorded_look looks[2];	/* the last one, and the next one */
	struct memtap_recorded_row *scratch;
	struct memtap_rec_recorded *recorded;
	int said;			/* the error that was told last; 0: none */
};

/*
 * What is needed once is there from now on: pages stay that were touched, and free ones of the
 * heap are not given back.  Kernels before 4.4 lock all that is mapped.
 */
static void hold_memory(void)
{
	malloc_trim(0);
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) &&
	    mlockall(MCL_CURRENT | MCL_FUTURE))
		note("memory cannot be locked (%s): samples may be late when memory is short",
		     strerror(errno));
}

/* Is it a moment that should be on disk at once? */
static bool is_short(const struct machine *was, const struct machine *is)
{
	const __u64 stalled = is->psi.some_us - was->psi.some_us;

	return machine_available(is) * 20 < is->f.mem[MEM_TOTAL] ||
	       (is->ns > was->ns && stalled * 1000 * 50 > is->ns - was->ns);
}

/* Names of kernel functions, which only this boot knows. */
static void add_names(struct service *s, int fd, const struct memtap_oom_record *r)
{
	struct {
		struct memtap_rec_ksym k;
		char name[MEMTAP_SYMBOL_LEN];
	} rec = { .k.rec.type = MEMTAP_REC_KSYM };
	char text[MEMTAP_SYMBOL_LEN], *plus, *module;

	for (__u32 i = 0; i < r->nr_kstack; i++) {
		const bool call = i || !(r->kflags & MEMTAP_STACK_ENTRY);

		if (dev_symbol(fd, r->kstack[i] - call, text) || !*text)
			continue;
		plus = strchr(text, '+');
		module = strstr(text, " [");
		rec.k.addr = r->kstack[i];
		rec.k.offset = plus ? strtoull(plus + 1, NULL, 16) + call : 0;
		memset(rec.name, 0, sizeof(rec.name));
		snprintf(rec.name, sizeof(rec.name), "%.*s%s",
			 plus ? (int)(plus - text) : 200, text, module ? module : "");
		rec.k.rec.len = (__u32)(sizeof(rec.k) + strlen(rec.name) + 8) & ~7U;
		history_add(s->w, &rec.k.rec);
	}
}

/* The module's records since the last ones; its device is not kept open: it may be unloaded. */
static void add_ooms(struct service *s)
{
	struct memtap_oom_record *r = &s->record->record;
	const char *end;
	__u64 lost;
	int fd;

	if (dev_open(&fd))
		return;
	while (!oom_next(fd, s->oom, r, &lost)) {
		s->oom = r->nr;
		if (lost && s->asked)
			history_note(s->w, "oom-lost=%llu", (unsigned long long)lost);
		add_names(s, fd, r);
		for (end = (const char *)(r + 1); end[-1] == 0; end--)
			;
		s->record->rec.type = MEMTAP_REC_OOM;
		s->record->rec.len = (__u32)(end - (const char *)s->record + 7) & ~7U;
		history_add(s->w, &s->record->rec);
	}
	s->asked = true;
	close(fd);
}

/* What the module sums up now.  False: it is not known, and the next look will see it, too. */
static bool look_at_module(struct recorded_look *l)
{
	struct memtap_recorded a = {
		.nr = MEMTAP_MAX_RECORDED, .rows_ptr = (__u64)(unsigned long)l->rows,
	};
	int fd, err = dev_open(&fd);

	l->nr = 0;
	l->ns = clock_ns();
	if (err)
		return err == -ENOENT || err == -ENXIO || err == -ENODEV;
	err = dev_recorded(fd, &a);
	close(fd);
	if (err)
		return err == -ENOTTY;
	l->nr = a.nr < MEMTAP_MAX_RECORDED ? a.nr : MEMTAP_MAX_RECORDED;
	l->ns = a.now_ns;
	return true;
}

/* What waited, and what the flight recorder counted, since the last sample. */
static void add_recorded(struct service *s)
{
	struct recorded_look *was = &s->looks[0], *is = &s->looks[1], swap;
	size_t len;

	if (!look_at_module(is))
		return;
	len = recorded_put(was, is, s->scratch, s->recorded, RECORDED_ROOM);
	/* where there is no room now, it is told with the next sample */
	if (len && history_add(s->w, &s->recorded->rec))
		return;
	swap = *was;
	*was = *is;
	*is = swap;
}

static bool take_memory(struct service *s)
{
	const size_t rows = MEMTAP_MAX_RECORDED * sizeof(*s->scratch);

	s->record = calloc(1, sizeof(*s->record));
	s->looks[0].rows = malloc(rows);
	s->looks[1].rows = malloc(rows);
	s->scratch = malloc(rows);
	s->recorded = malloc(RECORDED_ROOM);
	return s->record && s->looks[0].rows && s->looks[1].rows && s->scratch && s->recorded;
}

static void give_memory(struct service *s)
{
	free(s->record);
	free(s->looks[0].rows);
	free(s->looks[1].rows);
	free(s->scratch);
	free(s->recorded);
}

static bool was_killed(const struct machine *was, const struct machine *is)
{
	return !was || is->f.vm[VM_OOM_KILLS] != was->f.vm[VM_OOM_KILLS] ||
	       is->log.nr != was->log.nr;
}

static void say_error(struct service *s, int err)
{
	if (err && err != s->said)
		note("%s: %s: samples are missing until this changes", dir_of(s->o),
		     strerror(-err));
	else if (!err && s->said)
		note("%s: samples are written again", dir_of(s->o));
	s->said = err;
}

static int sample(struct service *s)
{
	const struct machine *last = history_last(s->w);
	struct history_now now;
	struct machine m;
	bool urgent, killed;
	int err = history_sample(&s->at, &m, last, &s->shared);

	if (err) {
		machine_free(&m);
		return err;
	}
	now.real_ns = clock_ns_of(CLOCK_REALTIME);
	now.boot_ns = clock_ns_of(CLOCK_BOOTTIME);
	/* a record is complete a moment after the kill: they are asked for once more */
	killed = was_killed(last, &m);
	if (killed || s->killed)
		add_ooms(s);
	s->killed = killed;
	add_recorded(s);
	urgent = killed || is_short(last, &m);
	if (!last)
		acts_begin(&s->acts, dir_of(s->o), &m);
	s->near = acts_on(&s->acts, last, &m, &now);
	err = history_take(s->w, &m, &now);
	say_error(s, err);
	if (!err && (urgent || now.boot_ns - s->synced_ns >= SYNC_NS)) {
		history_sync(s->w);
		s->synced_ns = now.boot_ns;
	}
	return 0;
}

/* The rules' conditions between two samples. */
static int look(struct service *s)
{
	struct history_now now;
	struct machine m;
	int err = history_sample(&s->at, &m, history_last(s->w), &s->shared);

	if (!err) {
		now.real_ns = clock_ns_of(CLOCK_REALTIME);
		now.boot_ns = clock_ns_of(CLOCK_BOOTTIME);
		s->near = acts_on(&s->acts, history_last(s->w), &m, &now);
	}
	machine_free(&m);
	return err;
}

/* A sample each interval; one that is late does not make the next one late. */
static int record(struct service *s, double interval)
{
	const __u64 step = (__u64)(interval * 1e9);
	__u64 next = clock_ns(), now;
	enum acts_woken woken;
	struct until until;
	int err = sample(s);

	if (err)
		return err;
	/* the log since the boot took more memory than all that follows */
	hold_memory();
	until_begin(&until, 0);
	for (;;) {
		now = clock_ns();
		while (next <= now)
			next += step;
		woken = acts_wait(&s->acts, &until, next, s->near);
		if (woken == ACTS_SIGNAL)
			return 0;
		err = woken == ACTS_LOOK ? look(s) : sample(s);
		if (err)
			say_error(s, err);
	}
}

static int start(const struct cmd *cmd, struct opts *o)
{
	char boot[40], err[HISTORY_ERR];
	struct history_opts ho = {
		.dir = dir_of(o),
		.max_bytes = o->max_size ? o->max_size : MAX_BYTES,
		.max_age = o->max_age > 0 ? o->max_age : MAX_AGE,
		.interval = INTERVAL,
		.boot = boot,
		.version = cmd_tool_version(),
		.pin = true,
	};
	struct service s = { .o = o, .at = machine_here() };
	int ret;

	if (o->args.nr > 2)
		return usage_error(cmd->name, "'%s' is too much: history start [interval]",
				   o->args.at[2]);
	if (o->args.nr == 2 && (!opt_seconds(o->args.at[1], &ho.interval) || ho.interval < 0.1 ||
				ho.interval > 86400))
		return usage_error(cmd->name, "'%s' is not an interval: seconds from 0.1 to 86400",
				   o->args.at[1]);
	if (ho.max_bytes < 1 << 20)
		return usage_error(cmd->name, "--max-size: a history needs 1M at least");
	ret = acts_load(&s.acts, o, cmd->name);
	if (ret)
		return ret;
	past_boot(boot);
	if (history_begin(&s.w, &ho, err))
		return fail_text("%s", err);
	s.at.budget_ns = BUDGET_NS;
	s.at.follow = machine_follow();
	if (!take_memory(&s) || !s.at.follow) {
		history_end(s.w);
		machine_follow_end(s.at.follow);
		give_memory(&s);
		return fail_text("no memory");
	}
	s.acts.w = s.w;
	prctl(PR_SET_TIMERSLACK, SLACK_NS);
	ret = record(&s, ho.interval);
	acts_end(&s.acts);
	history_end(s.w);
	machine_follow_end(s.at.follow);
	give_memory(&s);
	return ret ? fail(ERR_PLAIN, ret, "/proc/meminfo") : 0;
}

/* --- list, status ---------------------------------------------------------------------- */

static int list(struct opts *o)
{
	char a[TEXT_LEN], b[TEXT_LEN], text[HISTORY_TEXT], err[HISTORY_ERR];
	struct history *h;
	size_t from = 0;

	if (history_open(dir_of(o), &h, err))
		return fail_text("%s", err);
	for (size_t i = 1; i <= h->nr_samples; i++) {
		if (i < h->nr_samples && history_gap(h, i) == GAP_NONE)
			continue;
		printf("%s  %s  %zu sample%s\n", text_time(a, h->samples[from].real_ns),
		       text_time(b, h->samples[i - 1].real_ns), i - from, text_s(i - from));
		if (i < h->nr_samples)
			printf("    %s\n", history_gap_text(h, i, text));
		from = i;
	}
	history_close(h);
	return 0;
}

static int status(struct opts *o)
{
	char a[TEXT_LEN], b[TEXT_LEN], err[HISTORY_ERR];
	__u64 bytes = 0, damaged = 0;
	struct history *h;

	if (history_open(dir_of(o), &h, err))
		return fail_text("%s", err);
	for (size_t i = 0; i < h->nr_segments; i++) {
		bytes += h->segments[i].bytes;
		damaged += h->segments[i].damaged;
	}
	printf("%s: the service %s; %zu samples from %s to %s, %s in %zu file%s\n", dir_of(o),
	       h->running ? "runs" : "does not run", h->nr_samples,
	       text_time(a, h->samples[0].real_ns),
	       text_time(b, h->samples[h->nr_samples - 1].real_ns), text_bytes(err, (__s64)bytes,
									       false),
	       h->nr_segments, text_s(h->nr_segments));
	if (damaged)
		printf("%llu bytes are damaged and cannot be read; `memtap history list` shows "
		       "what is missing\n", (unsigned long long)damaged);
	history_close(h);
	return 0;
}

int cmd_history(const struct cmd *cmd, struct opts *o)
{
	const char *what = o->args.nr ? o->args.at[0] : "";

	if (!strcmp(what, "start"))
		return start(cmd, o);
	if (o->args.nr > 1)
		return usage_error(cmd->name, "'%s' is too much", o->args.at[1]);
	if (!strcmp(what, "list"))
		return list(o);
	if (!strcmp(what, "status"))
		return status(o);
	return usage_error(cmd->name, "history start, history status, or history list");
}
