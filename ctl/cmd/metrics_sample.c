// SPDX-License-Identifier: GPL-2.0-or-later
/* Take samples of the machine and of memtap's sessions, and keep an earlier one for growth. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/metrics_sample.h"
#include "history/past.h"
#include "render/metrics.h"

#define TOP_DEFAULT	20		/* holders of each kind */
#define GROWTH_NS	300000000000ULL	/* growth is that of so long, at least, if it is known */
#define PAST_NS		3600000000000ULL	/* and of the history no older sample is taken */

int metrics_check_dir(const char *cmd, const char *option, const char *dir)
{
	struct stat st;

	if (stat(dir, &st))
		return usage_error(cmd, "--%s %s: %s", option, dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return usage_error(cmd, "--%s %s: not a directory", option, dir);
	if (st.st_mode & 022 || (st.st_uid && st.st_uid != geteuid()))
		return usage_error(cmd, "--%s %s: other users may write there; 'chmod go-w' it, "
				   "or name a directory that is yours alone", option, dir);
	return 0;
}

/*
 * The sample of @h that is GROWTH_NS old, or the oldest one if there is none so old; of this boot,
 * and not older than PAST_NS.  h->nr_samples: none.
 */
static size_t find_past(const struct history *h)
{
	const __u64 now = past_now();
	size_t best = h->nr_samples;
	char boot[40];

	past_boot(boot);
	for (size_t i = 0; *boot && i < h->nr_samples; i++) {
		const struct history_sample *s = &h->samples[i];

		if (strcmp(h->segments[s->segment].boot, boot) || s->real_ns >= now ||
		    now - s->real_ns > PAST_NS)
			continue;
		if (best == h->nr_samples || now - s->real_ns >= GROWTH_NS)
			best = i;
	}
	return best;
}

static bool copy_past(struct history *h, struct machine *m)
{
	const size_t i = find_past(h);
	struct history_cursor *c = i < h->nr_samples ? history_cursor(h) : NULL;
	const bool ok = c && !history_copy(c, i, m);

	history_cursor_free(c);
	return ok;
}

void metrics_sample_init(struct metrics_sample *s, const struct opts *o)
{
	const char *dir = o->dir ? o->dir : HISTORY_DIR;
	char err[HISTORY_ERR];
	struct history *h;

	*s = (struct metrics_sample){ .o = o };
	if (history_open(dir, &h, err))
		return;
	s->has_before = s->past = copy_past(h, &s->before);
	history_close(h);
}

void metrics_sample_free(struct metrics_sample *s)
{
	if (s->has_now)
		machine_free(&s->now);
	if (s->has_before)
		machine_free(&s->before);
	if (s->has_next)
		machine_free(&s->next);
	others_free(&s->others);
	s->has_now = s->has_before = s->has_next = false;
}

/* The sample that was the last one until now: growth may count since then, later. */
static void keep(struct metrics_sample *s)
{
	if (!s->has_now)
		return;
	s->has_now = false;
	if (s->has_next && s->now.ns - s->next.ns >= GROWTH_NS) {
		machine_free(&s->before);
		s->before = s->next;
		s->past = false;
		s->next = s->now;
	} else if (!s->has_before) {
		s->before = s->now;
		s->has_before = true;
	} else if (!s->has_next && (s->past || s->now.ns - s->before.ns >= GROWTH_NS)) {
		s->next = s->now;
		s->has_next = true;
	} else {
		machine_free(&s->now);
	}
}

int metrics_sample_take(struct metrics_sample *s)
{
	const struct machine_at at = machine_here();
	int err;

	keep(s);
	s->began_ns = clock_ns();
	err = machine_read(&at, MACHINE_SLAB, &s->now);
	if (err) {
		machine_free(&s->now);
		return err;
	}
	s->has_now = true;
	others_free(&s->others);
	/* without them the rest is as useful: then nothing is said of sessions */
	s->asked = !others_read(&s->others);
	s->took = (double)(clock_ns() - s->began_ns) / 1e9;
	return 0;
}

bool metrics_sample_write(const struct metrics_sample *s, FILE *out, bool openmetrics)
{
	const struct opts *o = s->o;
	const struct metrics_opts to = {
		.out = out,
		.openmetrics = openmetrics,
		.top = !o->top_given ? TOP_DEFAULT : o->top ? o->top : SIZE_MAX,
		.before = s->has_before ? &s->before : NULL,
		.seconds = s->has_before ? (double)(s->now.ns - s->before.ns) / 1e9 : 0,
		.past = s->past,
		.others = s->asked ? &s->others : NULL,
		.took = s->took,
		.version = cmd_tool_version(),
	};

	return render_metrics(&s->now, &to);
}
