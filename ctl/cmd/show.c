// SPDX-License-Identifier: GPL-2.0-or-later
/* Print or save the snapshots of a session. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/out_name.h"
#include "base/text.h"
#include "cmd/file.h"
#include "cmd/mark.h"
#include "cmd/pusher.h"
#include "cmd/show.h"
#include "leaks/leaks.h"
#include "render/accounts.h"
#include "render/dist.h"
#include "render/stat.h"

#define OLDER_MS	500	/* of a process that runs: what is just being used */
#define NOTES		(8 + WATCH_OBJECTS_LINES)
#define CACHES_TOP	20

int show_check(const struct opts *o)
{
	const char *missing = render_missing((enum report_format)o->format);

	if ((o->time_unit >= 0 || o->alloc_fns.nr) && o->format != FORMAT_MASSIF)
		return fail_text("--time-unit and --alloc-fn are for --format massif");
	if (missing)
		return fail_text("%s", missing);
	if ((o->format == FORMAT_PPROF || o->format == FORMAT_PERF_DATA) && !o->out &&
	    isatty(STDOUT_FILENO))
		return fail_text("--format %s is binary: name a file with -o FILE",
				 format_words[o->format]);
	return 0;
}

/* Of a pattern of names, or as it is; NULL: there is none, or no memory. */
static char *file_name(const char *name, bool later, pid_t pid, unsigned int number)
{
	return !name ? NULL : later ? out_name_make(name, pid, number) : strdup(name);
}

static int open_out(struct show *s)
{
	int err;

	/* somebody may be watching a file that grows by intervals */
	if (s->o->interval > 0 && !s->o->out_numbered)
		err = out_open_plain(&s->out, s->path);
	else
		err = out_open(&s->out, s->path);
	if (!err && s->o->csv)
		err = out_csv(&s->out, s->o->csv);
	return err ? fail(ERR_WRITE, err, "%s", s->path) : 0;
}

int show_open(struct show *s, const struct question *q, const struct opts *o, pid_t pid)
{
	const char *bad = NULL;
	int err = 0;

	*s = (struct show){ .q = q, .o = o, .pid = pid ? pid : (pid_t)o->pids.at[0],
			    .runs = s->runs, .last_run = s->last_run };
	pthread_mutex_init(&s->printing, NULL);
	err = show_check(o);
	if (err)
		return err;
	s->file = o->out_numbered;
	s->path = file_name(o->out, o->out_later, s->pid, 1);
	s->flame = file_name(o->flame, o->flame_later, s->pid, 1);
	if ((o->out && !s->path) || (o->flame && !s->flame))
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	if (q->show == SHOW_FILE) {
		err = out_check(s->path);
		bad = s->path;
	} else if (s->flame) {
		err = out_check(s->flame);
		bad = s->flame;
	}
	if (err)
		return fail(ERR_WRITE, err, "%s", bad);
	return q->show == SHOW_FILE || q->show == SHOW_PUSH ? 0 : open_out(s);
}

/* A report that has a file of its own; the first one's is open. */
static int next_file(struct show *s)
{
	int err;

	if (!s->file || !s->header_done)
		return 0;
	err = out_commit(&s->out);
	if (err)
		return show_failed(s, err);
	free(s->path);
	s->file++;
	s->path = file_name(s->o->out, true, s->pid, s->file);
	s->header_done = false;
	s->reports = 0;
	return s->path ? open_out(s) : fail(ERR_PLAIN, ENOMEM, "%s", "a report");
}

void show_free(struct show *s)
{
	out_abort(&s->out);
	free(s->path);
	free(s->flame);
	free(s->ooms.at);
	snap_free(s->before);
	if (s->now != s->before)
		snap_free(s->now);
	save_spans_free(&s->spans);
	save_liveds_free(&s->liveds);
	report_past_free(s->past);
	report_past_free(s->cohorts[0]);
	report_past_free(s->cohorts[1]);
	caches_free(&s->caches);
	machine_caches_free(s->slabs);
	sym_free(s->sym);
}

/* What lives is shown, not what was counted. */
static bool is_live(const struct show *s)
{
	return s->leaks || s->q->ask->objects || s->q->ask->rss;
}

void show_take(struct show *s, struct snap *snap)
{
	if (s->before != s->now)
		snap_free(s->before);
	s->before = s->now;
	s->now = snap;
	/* for which it was counted: taking the probes away takes seconds, too */
	if (snap)
		s->seconds = (double)(snap->header.now_ns - snap->header.start_ns) / 1e9;
	/* nothing is a difference there, and they are large; pages are few rows */
	if (is_live(s) && !s->q->ask->rss) {
		snap_free(s->before);
		s->before = NULL;
	}
}

enum report_by show_by(const struct snap *s)
{
	return s->nr_hosts || s->header.flags & MEMTAP_CFG_CHILDREN ? BY_PROGRAM : BY_PROCESS;
}

/* Which rows are asked for, of blocks. */
static __u32 rows_of(const struct opts *o)
{
	return (o->peak ? 1U << RLEAKS_PEAK : 0) | (o->temporary ? 1U << RLEAKS_TEMPORARY : 0) |
	       (o->allocated ? 1U << RLEAKS_ALLOCATED : 0);
}

struct render_opts show_render_opts(const struct opts *o)
{
	return (struct render_opts) {
		.rows = {
			.by = o->by < 0 ? BY_PROCESS : (enum report_by)o->by,
			.by_given = o->by >= 0,
			.sort = (enum report_sort)(o->sort + 1),
			/* what programs read is whole unless they ask for less */
			.top = o->top_given ? o->top : o->format != FORMAT_TABLE ? 0 : 20,
			.of = rows_of(o),
			.older_ms = o->older,
			.stale_ns = (__u64)(o->stale * 1e9),
			.show_allocs = o->show_allocs,
			.suppressions = o->gen_suppressions,
			.min_percent = o->min_percent,
			.rolled_up = o->no_stacks,
			.no_loader = !o->show_loader,
			.no_user = o->no_stacks || (o->kernel && !o->user),
			.no_kernel = o->no_stacks || (o->user && !o->kernel),
			.lines = o->lines,
			.addresses = o->addresses,
			.progress = !o->quiet && isatty(STDERR_FILENO),
			.changes = o->increased ? CHANGES_UP : o->changed ? CHANGES_ANY :
				   CHANGES_ALL,
		},
		.format = (enum report_format)o->format,
		.blocks = o->blocks,
		.calls = o->calls,
		.timestamp = o->timestamps,
		.quiet = o->quiet,
		.line = o->interval > 0,
		.csv = o->csv,
		.command = o->line,
		.bytes_as_time = o->time_unit == TIME_BYTES,
		.alloc_fns = &o->alloc_fns,
		.foot = o->verbose ? FOOT_WHOLE : FOOT_FITTING,
	};
}

/* Why it is not known what is lost: of a program that ended otherwise, by what. */
static const char *why_no_kinds(struct show *s)
{
	const char *why = s->leaks->no_kinds;

	if (!s->killed || !why || strcmp(why, LEAKS_NO_EXIT))
		return why;
	snprintf(s->why, sizeof(s->why), "it was killed by %s", s->killed);
	return s->why;
}

static bool still_runs(const struct snap *s)
{
	const struct memtap_rec_space *space = leaks_main_space(s);

	return space && !space->end_ns;
}

/* Until when @pid can grow, or the kernel: 0. */
static void take_room(struct show *s, struct render_opts *r, __s32 pid)
{
	const struct machine_at at = machine_here();

	if (machine_room(&at, pid, &s->room))
		r->rows.room = &s->room;
}

static void leaks_opts(struct show *s, struct render_opts *r, bool final)
{
	struct leaks_run *l = s->leaks;
	const bool at_end = final && s->launched, looked = at_end || leaks_looks(s->o);

	leaks_use_known(l);
	r->rows.suppress = l->suppress;
	r->summary = looked;
	r->rows.trends = !at_end || still_runs(s->now);
	if (looked && !l->nr_reach && !l->nr_live)
		r->no_kinds = l->look_why[0] ? l->look_why : why_no_kinds(s);
	if (r->rows.trends && still_runs(s->now))
		take_room(s, r, leaks_main_space(s->now)->pid);
	r->rows.looked = l->nr_live;
	r->rows.looks = l->looks;
	r->rows.nr_looks = l->nr_looks;
	r->rows.looked_ns = s->looked_ns;
	if (looked && !s->o->show_reachable && !s->o->retained)
		r->rows.leak_kinds = LEAKS_LOST;
	if (!s->o->older_given)
		r->rows.older_ms = at_end ? 0 : OLDER_MS;
	if (!s->o->top_given && r->rows.top)
		r->rows.top = LEAKS_TOP;
}

void show_kernel_opts(struct render_opts *r, const struct opts *o)
{
	r->rows.by = o->by < 0 ? BY_STACK : (enum report_by)o->by;
	r->rows.rolled_up = o->no_stacks ||
			    (r->rows.by != BY_STACK && r->rows.by != BY_NONE &&
			     (r->format == FORMAT_TABLE || r->format == FORMAT_JSON));
	if (!o->top_given && r->rows.top)
		r->rows.top = LEAKS_TOP;
}

static void objects_opts(struct show *s, struct render_opts *r, bool final)
{
	const struct machine_at at = machine_here();

	show_kernel_opts(r, s->o);
	r->rows.trends = true;
	r->rows.looked_ns = s->looked_ns;
	take_room(s, r, 0);
	if (!s->slabs)
		s->slabs = machine_caches_read(&at);
	r->rows.caches = s->slabs;
	if (!s->o->older_given)
		r->rows.older_ms = final ? 0 : OLDER_MS;
}

static struct render_opts render_opts(struct show *s, bool final)
{
	struct render_opts r = show_render_opts(s->o);

	if (s->o->by < 0)
		r.rows.by = s->q->by == BY_PROCESS && s->now ? show_by(s->now) : s->q->by;
	r.rows.sums_only = s->o->all ? NULL : s->q->sums_only;
	r.title = s->title;
	r.program = s->program;
	r.last_ns = s->last_ns;
	/* of intervals the last foot is about all of them */
	if (s->intervals && !s->o->verbose)
		r.foot = final ? FOOT_WHOLE : FOOT_LINE;
	if (s->now)
		r.rows.cohort = report_cohort_best(s->cohorts, s->now);
	if (s->now && is_live(s))
		mark_window(s->now, s->o, &r.rows, s->mark);
	if (s->leaks)
		leaks_opts(s, &r, final);
	if (s->q->ask->objects)
		objects_opts(s, &r, final);
	return r;
}

/* Lines for the foot; @at ends with NULL. */
struct notes {
	char text[NOTES][LEAKS_TEXT], killed[64];
	const char *at[NOTES + 7];
};

#define LEFT_OUT_32	"32-bit processes without ASLR are not probed, since this kernel would " \
			"hang them; with ASLR they are"

static void get_notes(struct show *s, struct notes *n)
{
	size_t nr = 0, more = 0;

	memset(n, 0, sizeof(*n));
	if (s->mark[0])
		n->at[nr++] = s->mark;
	if (s->note[0])
		n->at[nr++] = s->note;
	if (s->shmem[0])
		n->at[nr++] = s->shmem;
	if (s->forks[0])
		n->at[nr++] = s->forks;
	if (s->killed) {
		snprintf(n->killed, sizeof(n->killed), "the program was killed by %s", s->killed);
		n->at[nr++] = n->killed;
	}
	if (s->leaks)
		more = leaks_notes(s->leaks, n->text, NOTES);
	for (size_t i = 0; i < more; i++)
		n->at[nr++] = n->text[i];
	for (size_t i = 0; i < s->nr_objects; i++)
		n->at[nr++] = s->objects[i];
	if (s->now && snap_leaves_out(s->now))
		n->at[nr++] = LEFT_OUT_32;
}

static int get_sym(struct show *s)
{
	const struct sym_opts opts = { .jitmaps = s->jitmaps };

	if (!s->sym)
		s->sym = sym_new(&opts);
	return s->sym ? 0 : fail(ERR_PLAIN, ENOMEM, "%s", "symbols");
}

int show_failed(const struct show *s, int err)
{
	return fail(ERR_WRITE, err, "%s", s->path ? s->path : "standard output");
}

static int write_opts(struct show *s, const struct snap *snap, struct render_opts *r)
{
	const char *unfit = render_unfit(snap, r->format);
	struct notes notes;
	int err;

	if (!unfit && r->bytes_as_time)
		unfit = render_no_bytes(snap);
	if (unfit)
		return fail_text("%s", unfit);
	if (get_sym(s))
		return EXIT_FAILURE;
	get_notes(s, &notes);
	r->notes = notes.at;
	pthread_mutex_lock(&s->printing);
	if (s->header_done && r->format == FORMAT_TABLE && !(r->quiet && r->foot == FOOT_ALONE))
		fputc('\n', s->out.f);
	s->header_done = true;
	r->number = s->reports++;
	r->numbers = &s->numbers;
	err = r->since_last ? render_diff((const struct render_side[]) {
			{ s->before, s->sym, "the last report", s->title },
			{ snap, s->sym, "this one", s->title } }, r, s->out.f) :
		render_report(snap, s->sym, r, s->out.f);
	if (!err && fflush(s->out.f))
		err = -errno;
	s->last_ns = snap->header.now_ns;
	pthread_mutex_unlock(&s->printing);
	r->notes = NULL;		/* (they go with us) */
	return err ? show_failed(s, err) : 0;
}

/* What is resident: what became of it since the last report. */
static bool shows_changes(const struct show *s)
{
	return s->q->ask->rss && s->before && (s->o->format == FORMAT_TABLE ||
	       (s->o->format == FORMAT_JSON && (s->o->changed || s->o->increased)));
}

static int write_report(struct show *s, const struct snap *snap, bool final)
{
	struct render_opts r = render_opts(s, final);
	int ret;

	if (!final && shows_changes(s)) {
		r.since_last = true;
		return write_opts(s, snap, &r);
	}
	if (s->q->ask->rss)
		r.rows.changes = CHANGES_ALL;
	if (final || !is_live(s) || s->q->ask->rss || r.rows.of)
		return write_opts(s, snap, &r);
	/* of an interval: what lives is all there is, what matters is what became more */
	r.rows.grew_first = s->o->sort < 0;
	/* what people read is what changed, and not the same table once more */
	if (!r.rows.changes && r.format == FORMAT_TABLE)
		r.rows.changes = CHANGES_ANY;
	r.rows.past = s->past;
	r.rows.next = report_past_new();
	ret = r.rows.next ? write_opts(s, snap, &r) : fail(ERR_PLAIN, ENOMEM, "%s", "a report");
	report_past_free(s->past);
	s->past = r.rows.next;
	return ret;
}

/* After the last interval: the accounts of all of them. */
static int write_foot(struct show *s)
{
	struct render_opts r = render_opts(s, true);

	if (r.format != FORMAT_TABLE)
		return 0;
	r.foot = FOOT_ALONE;
	return write_opts(s, s->now, &r);
}

static void put_stat_notes(struct show *s)
{
	struct notes notes;

	get_notes(s, &notes);
	for (size_t i = 0; notes.at[i]; i++) {
		fputs("# ", s->out.f);
		text_put(s->out.f, notes.at[i], NULL);
		fputc('\n', s->out.f);
	}
}

static bool has_patterns(const struct plan *p)
{
	for (size_t i = 0; p && i < p->nr; i++)
		if (p->items[i].optional)
			return true;
	return false;
}

static int write_stat(struct show *s, const struct snap *snap, bool final)
{
	const struct stat_opts so = {
		.found = has_patterns(s->plan),
		.seconds = s->seconds,
		.json = s->o->json,
		.timestamp = s->o->timestamps,
		.final = final,
		.verbose = s->o->verbose,
		.quiet = s->o->quiet,
	};

	errno = 0;
	if (s->runs) {
		if (stat_runs_add(s->runs, snap, s->seconds))
			return fail(ERR_PLAIN, ENOMEM, "%s", "the counts of a run");
		if (!s->last_run)
			return 0;
		stat_runs_print(s->out.f, s->runs, so.json);
		if (!so.json)
			put_stat_notes(s);
		return fflush(s->out.f) || ferror(s->out.f) ? show_failed(s, errno ? errno : EIO) :
							      0;
	}
	if (!s->header_done || (final && s->intervals && !so.json)) {
		if (s->header_done)
			fputs("\n# in total\n", s->out.f);
		stat_header(s->out.f, &so);
	}
	s->header_done = true;
	stat_print(s->out.f, snap, &so);
	if (final && !so.json)
		put_stat_notes(s);
	if (fflush(s->out.f) || ferror(s->out.f))
		return show_failed(s, errno ? errno : EIO);
	return 0;
}

/* Also where nothing was lost. */
static void put_accounts(struct show *s, const struct snap *snap)
{
	const struct account sum = account_all(snap);

	if (s->o->quiet && accounts_complete(snap))
		return;
	fputs("\n# ", s->out.f);
	account_put(&sum, "call", s->out.f);
	fputc('\n', s->out.f);
}

/* What the events' arguments are called. */
static void name_args(const struct show *s, const struct snap *snap,
		      struct dist_event events[MEMTAP_MAX_EVENTS])
{
	for (size_t i = 0; i < s->plan->nr; i++) {
		const struct plan_item *item = &s->plan->items[i];
		const __u32 id = watch_event(snap, item);
		const struct steps *st;
		struct dist_event *e;

		if (id >= MEMTAP_MAX_EVENTS)
			continue;
		st = &item->args->steps;
		e = &events[id];
		if (st->by_slot && st->by_slot <= st->nr_shown) {
			e->shown = &item->args->shown[st->by_slot - 1];
			e->by = e->shown->name;
		}
		e->args = item->args;
		e->log2 = item->args->log2;
		if (st->by_mask)
			e->by = item->args->by_name;
		if (st->value_slot)
			e->value = item->args->shown[st->value_slot - 1].name;
	}
}

/* An address of a program means something in that program alone. */
static bool names_programs(const struct show *s)
{
	for (size_t i = 0; i < s->plan->nr; i++) {
		const struct args *a = s->plan->items[i].args;

		for (__u32 k = 0; a && k < a->nr_by; k++)
			if (a->shown[a->by[k]].show == ARGS_SYM && a->shown[a->by[k]].user)
				return true;
	}
	return false;
}

static struct dist_opts dist_opts(struct show *s, const struct snap *snap, bool final,
				  const struct dist_event events[MEMTAP_MAX_EVENTS])
{
	const enum report_by none = names_programs(s) ? BY_PROCESS : BY_NONE;

	namer_init(&s->namer, s->sym, snap);
	return (struct dist_opts) {
		.namer = s->sym ? &s->namer : NULL,
		.hist = s->q->ask->hist,
		.linear = s->o->linear,
		.joint = s->o->joint,
		.group = s->o->by < 0 ? none : (enum report_by)s->o->by,
		.top = s->o->top_given ? s->o->top : s->o->json ? 0 : 20,
		.json = s->o->json,
		.final = final,
		.quiet = s->o->quiet,
		.seconds = s->seconds,
		.events = events,
	};
}

static void say_left_out(const struct snap *snap)
{
	if (snap_leaves_out(snap))
		note("%s", LEFT_OUT_32);
}

static int write_dist(struct show *s, const struct snap *snap, bool final)
{
	struct dist_event events[MEMTAP_MAX_EVENTS] = { { .by = NULL } };
	struct dist_opts o;
	char now[TEXT_LEN];

	if (get_sym(s))
		return EXIT_FAILURE;
	o = dist_opts(s, snap, final, events);
	name_args(s, snap, events);
	errno = 0;
	if (!o.json && (s->o->timestamps || s->intervals))
		fprintf(s->out.f, "%s%s\n", s->header_done ? "\n" : "",
			text_time(now, snap->header.real_ns));
	s->header_done = true;
	if (dist_print(snap, &o, s->out.f))
		return fail(ERR_PLAIN, ENOMEM, "%s", "the report");
	if (final)
		say_left_out(snap);
	if (fflush(s->out.f) || ferror(s->out.f))
		return show_failed(s, errno ? errno : EIO);
	return 0;
}

#define SCREEN		20	/* lines between two headers */

/* What came after the last interval is not worth a row of its own: it is in the total. */
static bool is_rest(const struct show *s)
{
	return s->q->show == SHOW_BESIDE && s->before &&
	       (double)(s->now->header.now_ns - s->before->header.now_ns) <
	       s->o->interval * 1e9 / 10;
}

static int write_beside(struct show *s, const struct snap *snap, bool final)
{
	const struct matrix_opts o = {
		.by = s->o->by < 0 ? s->q->by : (enum report_by)s->o->by,
		.top = s->o->top_given ? s->o->top : s->o->json ? 0 : 20,
		.json = s->o->json,
		.quiet = s->o->quiet,
		.final = final,
		.header = final || s->lines++ % SCREEN == 0,
		.seconds = s->seconds,
		.plan = s->plan,
	};

	if (get_sym(s))
		return EXIT_FAILURE;
	errno = 0;
	if (!o.json && final)
		fprintf(s->out.f, "%sin total\n", s->header_done ? "\n" : "");
	else if (!o.json && o.by != BY_NONE && s->header_done)
		fputc('\n', s->out.f);
	s->header_done = true;
	if (matrix_print(s->q->columns, &o, snap, s->sym, s->out.f))
		return fail(ERR_PLAIN, ENOMEM, "%s", "the report");
	if (final && !o.json)
		put_stat_notes(s);
	if (fflush(s->out.f) || ferror(s->out.f))
		return show_failed(s, errno ? errno : EIO);
	return 0;
}

static int write_caches(struct show *s, const struct snap *snap, bool final)
{
	struct machine_at at = machine_here();
	struct machine m;
	struct caches_opts o = {
		.seconds = s->seconds,
		.top = s->o->top_given ? s->o->top : CACHES_TOP,
		.pages = !strcmp(s->q->ask->events[0], "pages"),
		.json = s->o->json,
		.timestamp = s->o->timestamps,
		.final = final,
		.waste = s->o->waste,
	};
	int err;

	at.budget_ns = 1;	/* processes and cgroups are not asked about here */
	if (!machine_read(&at, MACHINE_SLAB, &m))
		o.m = &m;
	if (o.m && o.pages && final)
		machine_read_types(&at, &m);
	err = caches_print(&s->caches, snap, &o, s->out.f);
	machine_free(&m);
	if (err)
		return fail(ERR_PLAIN, -err, "%s", "the table");
	if (final && !o.json)
		put_accounts(s, snap);
	errno = 0;
	if (fflush(s->out.f) || ferror(s->out.f))
		return show_failed(s, errno ? errno : EIO);
	return 0;
}

static int write_push(struct show *s, struct snap *snap)
{
	struct render_opts r = show_render_opts(s->o);

	r.title = s->title;
	return get_sym(s) ? EXIT_FAILURE : pusher_take(s->q->push, snap, s->sym, &r, true);
}

static int show(struct show *s, const struct snap *snap, bool final)
{
	if (s->q->show == SHOW_CACHES)
		return write_caches(s, snap, final);
	if (s->q->show == SHOW_BESIDE)
		return write_beside(s, snap, final);
	if (s->q->show == SHOW_DIST)
		return write_dist(s, snap, final);
	return s->q->show == SHOW_STAT ? write_stat(s, snap, final) :
					 write_report(s, snap, final);
}

/* What happened since the last snapshot. */
static int show_difference(struct show *s)
{
	struct snap *diff;
	int ret = next_file(s);

	if (ret)
		return ret;
	/* what lives is what lives now */
	if (!s->before || is_live(s) || s->o->cumulative ||
	    1U << s->o->format & FORMATS_WHOLE)
		return s->q->show == SHOW_PUSH ? write_push(s, s->now) : show(s, s->now, false);
	diff = snap_diff(s->now, s->before);
	if (!diff)
		return fail(ERR_PLAIN, ENOMEM, "%s", "the difference");
	ret = s->q->show == SHOW_PUSH ? write_push(s, diff) : show(s, diff, false);
	snap_free(diff);
	return ret;
}

/* Of a recording: a part of the time. */
static int add_span(struct show *s)
{
	const int err = leaks_kept(s->now) ? save_liveds_add(&s->liveds, s->now) :
					     save_spans_add(&s->spans, s->now, s->before);

	if (err)
		return fail(ERR_PLAIN, ENOMEM, "%s", "a part of the recording");
	return 0;
}

int show_interval(struct show *s)
{
	s->intervals++;
	return s->q->show == SHOW_FILE ? add_span(s) : show_difference(s);
}

static int write_flame(struct show *s)
{
	struct dist_event events[MEMTAP_MAX_EVENTS] = { { .by = NULL } };
	struct render_opts r = render_opts(s, true);
	struct dist_opts d;
	struct notes notes;
	struct out out;
	int err;

	if (get_sym(s))
		return EXIT_FAILURE;
	d = dist_opts(s, s->now, true, events);
	get_notes(s, &notes);
	r.format = FORMAT_FLAME;
	r.notes = notes.at;
	err = out_open(&out, s->flame);
	if (err)
		return fail(ERR_WRITE, err, "%s", s->flame);
	name_args(s, s->now, events);
	if (s->q->show == SHOW_DIST)
		err = dist_flame(s->now, &d, s->title, s->o->line, out.f);
	else
		err = render_report(s->now, s->sym, &r, out.f);
	if (err)
		out_abort(&out);
	else
		err = out_commit(&out);
	if (err)
		return fail(ERR_WRITE, err, "%s", s->flame);
	note("flame graph written to %s", s->flame);
	return 0;
}

/* Of what an event's sums are, where no unit says it: one may be there twice. */
static size_t name_values(const struct show *s, char (*text)[FILE_VALUE], const char **all)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->plan->nr; i++) {
		const struct plan_item *item = &s->plan->items[i];
		const __u32 id = item->args ? watch_event(s->now, item) : MEMTAP_MAX_EVENTS;
		const __u32 slot = item->args ? item->args->steps.value_slot : 0;

		if (id >= MEMTAP_MAX_EVENTS || !slot ||
		    item->attach.value_unit == MEMTAP_UNIT_NS)
			continue;
		snprintf(text[nr], FILE_VALUE, "value=%u %s", id, item->args->shown[slot - 1].name);
		all[nr] = text[nr];
		nr++;
	}
	return nr;
}

static void free_spans(struct save_spans *spans)
{
	if (spans)
		save_spans_free(spans);
	free(spans);
}

/* @snap: what is shown, or a part of it.  0 or a negative errno. */
static int write_saved(struct show *s, const struct snap *snap, FILE *f)
{
	char title[300], command[1024], program[sizeof(s->program) + 16];
	char feet[NOTES + 6][LEAKS_TEXT + 8], why[300];
	char values[MEMTAP_MAX_EVENTS][FILE_VALUE];
	const char *all[NOTES + 11 + MEMTAP_MAX_EVENTS] = { title, command };
	struct save_more more = { all, s->ooms.at, s->ooms.nr, &s->spans, &s->liveds };
	struct save_spans *spans = snap == s->now ? NULL : calloc(1, sizeof(*spans));
	struct render_opts r = render_opts(s, true);
	struct notes notes;
	char *known = NULL;
	size_t nr = 2;
	int err = 0;

	if (spans) {
		err = save_spans_of(&s->spans, snap, spans);
		more.spans = spans;
	}
	if (err || get_sym(s) || (snap != s->now && !spans)) {
		free_spans(spans);
		return -ENOMEM;
	}
	snprintf(title, sizeof(title), "title=%s", s->title);
	snprintf(command, sizeof(command), "command=%s", s->o->line);
	snprintf(program, sizeof(program), "program=%s", s->program);
	if (*s->program && !s->o->no_args)
		all[nr++] = program;
	get_notes(s, &notes);
	for (size_t i = 0; notes.at[i]; i++) {
		snprintf(feet[i], sizeof(feet[i]), "foot=%s", notes.at[i]);
		all[nr++] = feet[i];
	}
	if (r.summary) {
		snprintf(why, sizeof(why), "summary=%s", r.no_kinds ? r.no_kinds : "");
		all[nr++] = why;
	}
	nr += name_values(s, values, all + nr);
	if (s->leaks && s->leaks->known && asprintf(&known, "suppressions=%s", s->leaks->known) > 0)
		all[nr++] = known;
	err = save_stream(snap, s->sym, &more, f);
	free(known);
	free_spans(spans);
	return err;
}

static int save(struct show *s)
{
	struct out out;
	int err = out_open_own(&out, s->path);

	if (err)
		return fail(ERR_WRITE, err, "%s", s->path);
	err = write_saved(s, s->now, out.f);
	if (err)
		out_abort(&out);
	else
		err = out_commit(&out);
	if (err)
		return fail(ERR_WRITE, err, "%s", s->path);
	note("written to %s; `memtap report %s` shows it", s->path, s->path);
	return 0;
}

int show_span(struct show *s)
{
	return s->o->interval > 0 ? add_span(s) : 0;
}

int show_bytes(struct show *s, const struct snap *part, char **bytes, size_t *len)
{
	FILE *f = open_memstream(bytes, len);
	int err = f ? write_saved(s, part, f) : -ENOMEM;

	if (f && fclose(f) && !err)
		err = -ENOMEM;
	if (!err)
		return 0;
	free(f ? *bytes : NULL);
	*bytes = NULL;
	return fail(ERR_PLAIN, -err, "%s", "a part of the recording");
}

/* What happened and was not printed; all that was is there already. */
static int end_each(struct show *s)
{
	char lost[512] = "", n[TEXT_LEN], own[ACCOUNT_LEN];
	FILE *f;
	int err;

	for (size_t i = 0; i < s->now->nr_events; i++) {
		const struct account a = account_of(&s->now->events[i]);

		if (account_whole(&a))
			continue;
		f = fmemopen(lost, sizeof(lost) - 1, "w");
		if (!f)
			continue;
		account_put_lost(&a, f);
		fclose(f);
		/* (those of other processes are filtered) */
		note("%s: %s event%s not filtered; lost: %s", s->now->events[i].name,
		     text_count(n, a.seen - a.filtered),
		     a.seen - a.filtered == 1 ? " was" : "s were", lost);
	}
	if (account_left_out(s->now, own, sizeof(own)))
		note("%s", own);
	say_left_out(s->now);
	for (size_t i = 0; i < s->nr_objects; i++)
		note("%s", s->objects[i]);
	err = out_commit(&s->out);
	return err ? show_failed(s, err) : 0;
}

/* Has the last report only what changed? */
static bool is_partial(const struct show *s)
{
	return s->past && s->intervals > 1 && s->o->format == FORMAT_TABLE;
}

int show_final(struct show *s, bool last_interval)
{
	int ret = 0, err;

	if (s->q->show == SHOW_EACH)
		return end_each(s);
	if (s->q->show == SHOW_PUSH)
		return last_interval ? 0 : show_difference(s);

	if (s->q->show == SHOW_FILE) {
		/* also what came while it ended */
		if (s->intervals)
			ret = add_span(s);
		return ret ? ret : save(s);
	}
	if (s->q->show == SHOW_DIST) {
		if (s->intervals && !last_interval)
			ret = show_difference(s);
		else if (!s->intervals)
			ret = write_dist(s, s->now, true);
	} else if (s->q->show == SHOW_STAT || s->q->show == SHOW_BESIDE ||
		   s->q->show == SHOW_CACHES) {
		if (s->intervals && !last_interval && !is_rest(s))
			ret = show_difference(s);
		if (!ret)
			ret = show(s, s->now, true);
	} else if (!s->intervals || (is_live(s) && !last_interval) || is_partial(s)) {
		ret = next_file(s);
		if (!ret)
			ret = write_report(s, s->now, true);
	} else {
		if (!last_interval)
			ret = show_difference(s);
		if (!ret)
			ret = write_foot(s);
	}
	if (!ret) {
		err = out_commit(&s->out);
		if (err)
			ret = show_failed(s, err);
	}
	if (!ret && s->flame)
		ret = write_flame(s);
	return ret;
}
