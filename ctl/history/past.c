// SPDX-License-Identifier: GPL-2.0-or-later
/* --at and --between: find the part of the history that is asked for. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/text.h"
#include "history/past.h"

__u64 past_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (__u64)ts.tv_sec * 1000000000 + (__u64)ts.tv_nsec;
}

void past_boot(char boot[40])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f || fscanf(f, "%39s", boot) != 1)
		boot[0] = '\0';
	if (f)
		fclose(f);
}

bool past_asked(const struct opts *o)
{
	return o->at || o->between;
}

static int usage_time(const char *cmd, const char *option, const char *text)
{
	return usage_error(cmd, "--%s: '%.60s' is not a time: 03:12, 03:12:30, '2026-01-31 03:12', "
			   "or -2h for two hours ago", option, text);
}

/* FROM,UNTIL: the samples from the first one to the last one of that time. */
static int find_between(const char *cmd, const struct opts *o, struct past *p)
{
	const char *comma = strchr(o->between, ',');
	const struct history *h = p->h;
	char from[64], a[TEXT_LEN], b[TEXT_LEN];
	__u64 first, last;

	if (!comma || (size_t)(comma - o->between) >= sizeof(from))
		return usage_error(cmd, "--between takes two times: --between FROM,UNTIL");
	snprintf(from, sizeof(from), "%.*s", (int)(comma - o->between), o->between);
	if (!history_when(from, past_now(), &first))
		return usage_time(cmd, "between", from);
	if (!history_when(comma + 1, past_now(), &last))
		return usage_time(cmd, "between", comma + 1);
	if (first >= last)
		return usage_error(cmd, "--between: %s is not before %s", text_time(a, first),
				   text_time(b, last));
	for (p->first = 0; p->first < h->nr_samples; p->first++)
		if (h->samples[p->first].real_ns >= first)
			break;
	for (p->last = h->nr_samples; p->last > p->first; p->last--)
		if (h->samples[p->last - 1].real_ns <= last)
			break;
	if (p->last < p->first + 2)
		return fail_text("the history has %s from %s to %s; memtap history list shows what "
				 "it has", p->last > p->first ? "one sample only" : "nothing",
				 text_time(a, first), text_time(b, last));
	p->last--;
	return 0;
}

static int find_at(const char *cmd, const struct opts *o, struct past *p)
{
	char err[HISTORY_ERR];
	__u64 when;

	if (!history_when(o->at, past_now(), &when))
		return usage_time(cmd, "at", o->at);
	if (history_find(p->h, when, &p->last, err))
		return fail_text("%s; memtap history list shows what it has", err);
	if (*err)
		note("%s", err);
	p->first = p->last - 1;
	return 0;
}

int past_open(const char *cmd, const struct opts *o, struct past *p)
{
	char err[HISTORY_ERR], boot[40];
	int ret;

	memset(p, 0, sizeof(*p));
	if (o->at && o->between)
		return usage_error(cmd, "--at and --between exclude each other");
	if (history_open(o->dir ? o->dir : HISTORY_DIR, &p->h, err))
		return fail_text("%s", err);
	p->c = history_cursor(p->h);
	ret = !p->c ? fail_text("no memory") : o->at ? find_at(cmd, o, p) :
	      o->between ? find_between(cmd, o, p) : 0;
	if (ret) {
		past_close(p);
		return ret;
	}
	past_boot(boot);
	p->same_boot = *boot && !strcmp(boot, p->h->segments[p->h->samples[p->last].segment].boot);
	return 0;
}

void past_close(struct past *p)
{
	history_cursor_free(p->c);
	history_close(p->h);
	memset(p, 0, sizeof(*p));
}

struct machine_at past_at(const struct past *p, size_t i)
{
	struct machine_at at = machine_here();

	at.past_ns = p->h->samples[i].real_ns;
	at.lives = p->same_boot ? machine_has_process : NULL;
	return at;
}
