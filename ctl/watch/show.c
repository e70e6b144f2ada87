// SPDX-License-Identifier: GPL-2.0-or-later
/* What a session has counted, shown or kept. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "base/err.h"
#include "render/stat.h"
#include "watch/watch.h"

/* Whatever cannot be written is known before anything is attached. */
int watch_open_out(struct watch *w)
{
	const struct opts *o = w->o;
	const char *bad = NULL;
	int err = 0;

	if (w->q->show == SHOW_FILE) {
		err = out_check(o->out);
		bad = o->out;
	} else if (o->flame) {
		err = out_check(o->flame);
		bad = o->flame;
	}
	if (err)
		return fail(ERR_WRITE, err, "%s", bad);
	if (w->q->show == SHOW_FILE)
		return 0;
	/* somebody may be watching a file that grows by intervals */
	if (o->interval > 0)
		err = out_open_plain(&w->out, o->out);
	else
		err = out_open(&w->out, o->out);
	return err ? fail(ERR_WRITE, err, "%s", o->out) : 0;
}

void watch_free_out(struct watch *w)
{
	out_abort(&w->out);
	snap_free(w->before);
	if (w->now != w->before)
		snap_free(w->now);
	sym_free(w->sym);
}

struct render_opts watch_report_opts(const struct opts *o)
{
	return (struct render_opts) {
		.rows = {
			.by = o->by < 0 ? BY_PROCESS : (enum report_by)o->by,
			.sort = (enum report_sort)(o->sort + 1),
			/* what programs read is whole unless they ask for less */
			.top = o->top_given ? o->top : o->json || o->folded ? 0 : 20,
			.older_ms = o->older,
			.show_allocs = o->show_allocs,
			.no_user = o->kernel && !o->user,
			.no_kernel = o->user && !o->kernel,
			.addresses = o->addresses,
			.progress = !o->quiet && isatty(STDERR_FILENO),
		},
		.format = o->json ? FORMAT_JSON :
			  o->folded ? FORMAT_FOLDED : FORMAT_TABLE,
		.by_given = o->by >= 0,
		.blocks = o->blocks,
		.calls = o->calls,
		.timestamp = o->timestamps,
		.command = command_line,
		.foot = o->verbose ? FOOT_WHOLE : FOOT_FITTING,
	};
}

static struct render_opts report_opts(const struct watch *w, bool final)
{
	struct render_opts r = watch_report_opts(w->o);

	if (w->o->by < 0)
		r.rows.by = w->q->by;
	r.title = w->title;
	/* of intervals the last foot is about all of them */
	if (w->intervals && !w->o->verbose)
		r.foot = final ? FOOT_WHOLE : FOOT_LINE;
	if (w->leaks)
		watch_leaks_opts(w, &r, final);
	return r;
}

/* Lines for the foot; @at ends with NULL. */
struct notes {
	char text[WATCH_NOTES][LEAKS_TEXT];
	const char *at[WATCH_NOTES + 2];
};

static void get_notes(struct watch *w, struct notes *n)
{
	size_t nr = 0, more = 0;

	memset(n, 0, sizeof(*n));
	if (w->note[0])
		n->at[nr++] = w->note;
	if (w->leaks)
		more = leaks_notes(w->leaks, n->text, WATCH_NOTES);
	for (size_t i = 0; i < more; i++)
		n->at[nr++] = n->text[i];
}

int watch_snapshot(struct watch *w)
{
	char why[256];
	int err;

	if (w->before != w->now)
		snap_free(w->before);
	w->before = w->now;
	w->now = NULL;
	if (w->leaks) {		/* nothing is a difference there, and they are large */
		snap_free(w->before);
		w->before = NULL;
	}
	pthread_mutex_lock(&w->reading);
	err = snap_from_fd(w->session.fd, &w->now, why);
	pthread_mutex_unlock(&w->reading);
	if (!err && w->leaks)
		err = leaks_set_kinds(w->leaks, w->now);
	if (err)
		return fail_text("reading the counters: %s", why);
	w->last_ns = watch_clock();
	return 0;
}

static int get_sym(struct watch *w)
{
	static const struct sym_opts defaults;

	if (!w->sym)
		w->sym = sym_new(&defaults);
	return w->sym ? 0 : fail(ERR_PLAIN, ENOMEM, "%s", "symbols");
}

static int output_failed(const struct watch *w, int err)
{
	return fail(ERR_WRITE, err, "%s", w->o->out ? w->o->out : "standard output");
}

static int write_opts(struct watch *w, const struct snap *s, struct render_opts *r)
{
	struct notes notes;
	int err;

	if (get_sym(w))
		return EXIT_FAILURE;
	get_notes(w, &notes);
	r->notes = notes.at;
	pthread_mutex_lock(&w->printing);
	if (w->header_done && r->format == FORMAT_TABLE)
		fputc('\n', w->out.f);
	w->header_done = true;
	err = render_report(s, w->sym, r, w->out.f);
	if (!err && fflush(w->out.f))
		err = -errno;
	pthread_mutex_unlock(&w->printing);
	return err ? output_failed(w, err) : 0;
}

static int write_report(struct watch *w, const struct snap *s, bool final)
{
	struct render_opts r = report_opts(w, final);

	return write_opts(w, s, &r);
}

/* After the last interval: the accounts of all of them. */
static int write_foot(struct watch *w)
{
	struct render_opts r = report_opts(w, true);

	if (r.format != FORMAT_TABLE)
		return 0;
	r.foot = FOOT_ALONE;
	return write_opts(w, w->now, &r);
}

static int write_stat(struct watch *w, const struct snap *s, bool final)
{
	const struct stat_opts so = {
		.seconds = (double)(w->last_ns - w->start_ns) / 1e9,
		.json = w->o->json,
		.timestamp = w->o->timestamps,
		.final = final,
		.verbose = w->o->verbose,
	};

	errno = 0;
	if (!w->header_done || (final && w->intervals && !so.json)) {
		if (w->header_done)
			fputs("\n# in total\n", w->out.f);
		stat_header(w->out.f, &so);
	}
	w->header_done = true;
	stat_print(w->out.f, s, &so);
	if (final && w->note[0] && !so.json)
		fprintf(w->out.f, "# %s\n", w->note);
	if (fflush(w->out.f) || ferror(w->out.f))
		return output_failed(w, errno ? errno : EIO);
	return 0;
}

static int show(struct watch *w, const struct snap *s, bool final)
{
	return w->q->show == SHOW_STAT ? write_stat(w, s, final) :
					 write_report(w, s, final);
}

/* What happened since the last snapshot. */
static int show_difference(struct watch *w)
{
	struct snap *diff;
	int ret;

	/* what lives is what lives now */
	if (!w->before || w->leaks)
		return show(w, w->now, false);
	diff = snap_diff(w->now, w->before);
	if (!diff)
		return fail(ERR_PLAIN, ENOMEM, "%s", "the difference");
	ret = show(w, diff, false);
	snap_free(diff);
	return ret;
}

int watch_interval(struct watch *w)
{
	int ret = watch_snapshot(w);

	if (ret)
		return ret;
	w->intervals++;
	return w->q->show == SHOW_FILE ? 0 : show_difference(w);
}

static int write_flame(struct watch *w)
{
	struct render_opts r = report_opts(w, true);
	struct notes notes;
	struct out out;
	int err;

	if (get_sym(w))
		return EXIT_FAILURE;
	get_notes(w, &notes);
	r.format = FORMAT_FLAME;
	r.notes = notes.at;
	err = out_open(&out, w->o->flame);
	if (err)
		return fail(ERR_WRITE, err, "%s", w->o->flame);
	err = render_report(w->now, w->sym, &r, out.f);
	if (err)
		out_abort(&out);
	else
		err = out_commit(&out);
	if (err)
		return fail(ERR_WRITE, err, "%s", w->o->flame);
	note("flame graph written to %s", w->o->flame);
	return 0;
}

static int save(struct watch *w)
{
	char title[300], command[1024], feet[WATCH_NOTES + 1][LEAKS_TEXT + 8], why[300];
	const char *all[WATCH_NOTES + 5] = { title, command };
	struct render_opts r = report_opts(w, true);
	struct notes notes;
	size_t nr = 2;
	int err;

	if (get_sym(w))
		return EXIT_FAILURE;
	snprintf(title, sizeof(title), "title=%s", w->title);
	snprintf(command, sizeof(command), "command=%s", command_line);
	get_notes(w, &notes);
	for (size_t i = 0; notes.at[i]; i++) {
		snprintf(feet[i], sizeof(feet[i]), "foot=%s", notes.at[i]);
		all[nr++] = feet[i];
	}
	if (r.summary) {
		snprintf(why, sizeof(why), "summary=%s", r.no_kinds ? r.no_kinds : "");
		all[nr++] = why;
	}
	err = snap_save(w->now, w->sym, all, w->o->out);
	if (err)
		return fail(ERR_WRITE, err, "%s", w->o->out);
	note("written to %s; `memtap report %s` shows it", w->o->out, w->o->out);
	return 0;
}

/* Has nobody taken the last lines of the trace? */
int watch_trace_status(const struct watch *w)
{
	const int err = leaks_trace_error(w->trace);

	return err ? output_failed(w, err) : 0;
}

/* The session has stopped: nothing changes any more. */
int watch_final(struct watch *w, bool last_interval)
{
	int ret = watch_snapshot(w), err;

	if (ret)
		return ret;
	watch_reconcile(w, w->now);
	if (w->q->show == SHOW_FILE)
		return save(w);
	if (w->q->show == SHOW_STAT) {
		if (w->intervals && !last_interval)
			ret = show_difference(w);
		if (!ret)
			ret = write_stat(w, w->now, true);
	} else if (!w->intervals || (w->leaks && !last_interval)) {
		ret = write_report(w, w->now, true);
	} else {
		if (!last_interval)
			ret = show_difference(w);
		if (!ret)
			ret = write_foot(w);
	}
	if (!ret) {
		err = out_commit(&w->out);
		if (err)
			ret = output_failed(w, err);
	}
	if (!ret && w->o->flame)
		ret = write_flame(w);
	return ret;
}
