// SPDX-License-Identifier: GPL-2.0-or-later
/* Run a session for one process in `memtap top`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "leaks/leaks.h"
#include "render/live.h"
#include "render/save.h"
#include "top/view.h"
#include "watch/watch.h"

#define ROWS_SHOWN	50		/* stacks; a recording has all */

static const struct watch_ask ask_faults = {
	.events = { "fault" },
	.stacks = MEMTAP_CFG_USTACK,
};

static const struct watch_ask ask_growth = {
	.events = { "brk", "mmap", "mremap" },
	.stacks = MEMTAP_CFG_USTACK,
};

struct top_view {
	enum top_what what;
	struct opts o;
	struct targets targets;
	struct plan plan;
	struct watch watch;
	bool started;
	struct snap *now;		/* or NULL */
	struct report_past *past;
	struct sym *sym;
};

static const struct watch_ask *ask_of(enum top_what what)
{
	return what == TOP_LEAKS ? &watch_ask_leaks : what == TOP_GROWTH ? &ask_growth :
	       &ask_faults;
}

static int start(struct top_view *v)
{
	const struct watch_ask *ask = ask_of(v->what);
	int ret = watch_begin_leaks(&v->watch, ask, &v->o, "top");

	if (!ret)
		ret = watch_start(&v->watch, ask, &v->o, &v->targets, &v->plan, "top");
	if (ret)
		return ret;
	v->started = true;
	watch_serve(&v->watch);
	watch_jitmaps(&v->watch, &v->targets, &v->o);
	return 0;
}

struct top_view *view_open(enum top_what what, __u32 pid)
{
	struct top_view *v = calloc(1, sizeof(*v));

	if (!v) {
		fail(ERR_PLAIN, ENOMEM, "%s", "a session");
		return NULL;
	}
	v->what = what;
	opt_init(&v->o);
	v->o.pids.nr = 1;
	v->o.pids.at[0] = pid;
	v->o.line = what == TOP_LEAKS ? "memtap top: l" : what == TOP_GROWTH ? "memtap top: g" :
		    "memtap top: f";
	watch_init(&v->watch);
	targets_init(&v->targets, &v->o);
	if (start(v)) {
		view_close(v);
		return NULL;
	}
	return v;
}

static struct render_opts how(const struct top_view *v)
{
	if (v->watch.leaks)
		leaks_use_known(v->watch.leaks);
	return (struct render_opts){
		.rows = {
			.by = BY_NONE,
			.top = ROWS_SHOWN,
			.no_loader = true,
			.older_ms = v->watch.leaks ? LEAKS_OLDER_MS : 0,
			.suppress = v->watch.leaks ? v->watch.leaks->suppress : NULL,
			.past = v->past,
		},
	};
}

static int make_lines(struct top_view *v, FILE *out)
{
	const struct sym_opts so = { .jitmaps = v->watch.jitmaps };
	struct render_opts o = how(v);
	int err;

	if (!v->sym)
		v->sym = sym_new(&so);
	if (!v->sym)
		return -ENOMEM;
	if (v->watch.leaks)
		o.rows.next = report_past_new();
	err = render_live(v->now, v->sym, &o, out);
	if (o.rows.next) {
		report_past_free(v->past);
		v->past = o.rows.next;
	}
	return err;
}

char *view_lines(struct top_view *v, bool *ended)
{
	struct snap *now = NULL;
	char *text = NULL;
	size_t len;
	FILE *out;
	int err;

	*ended = targets_gone(&v->targets);
	if (*ended && v->now)
		return NULL;	/* what is shown stays */
	if (watch_snapshot(&v->watch, &now))
		return NULL;
	snap_free(v->now);
	v->now = now;
	out = open_memstream(&text, &len);
	err = out ? make_lines(v, out) : -errno;
	if (out)
		fclose(out);
	if (!err)
		return text;
	free(text);
	fail(ERR_PLAIN, err, "%s", "the stacks");
	return NULL;
}

int view_write(struct top_view *v, const char *name, const char *path)
{
	char title[160], command[64];
	const char *const notes[] = { title, command, NULL };
	const struct save_more more = { .notes = notes };
	int err;

	if (!v->now || !v->sym)
		return fail_text("no stacks to write yet");
	snprintf(title, sizeof(title), "title=%s: %s [%u]", v->what == TOP_LEAKS ?
		 "allocated and not freed" : v->what == TOP_GROWTH ? "growth" : "page faults", name,
		 v->o.pids.at[0]);
	snprintf(command, sizeof(command), "command=%s", v->o.line);
	err = save_snap(v->now, v->sym, &more, path);
	if (err)
		return fail(ERR_WRITE, err, "%s", path);
	note("written to %s; `memtap report %s` shows it", path, path);
	return 0;
}

/* In the order in which what was begun is ended by the watching commands. */
void view_close(struct top_view *v)
{
	if (!v)
		return;
	if (v->started)
		watch_stop(&v->watch);
	watch_close(&v->watch, &v->targets, v->now);
	watch_end_leaks(&v->watch, v->now);
	plan_free(&v->plan);
	snap_free(v->now);
	report_past_free(v->past);
	sym_free(v->sym);
	jitmaps_free(v->watch.jitmaps);
	watch_name_end(&v->watch);
	watch_files_end(&v->watch);
	targets_free(&v->targets);
	opt_free(&v->o);
	free(v);
}
