// SPDX-License-Identifier: GPL-2.0-or-later
/* Set named marks, and report the blocks that were allocated between two marks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/mark.h"
#include "session/dev.h"

static bool good_name(const char *name, size_t len)
{
	return len && len < MEMTAP_MARK_LEN && !memchr(name, ',', len);
}

int mark_check(const struct opts *o, const char *cmd)
{
	const char *comma = o->between ? strchr(o->between, ',') : NULL, *is;

	for (size_t i = 0; i < o->marks.nr; i++) {
		is = strchr(o->marks.at[i], '=');
		if (!is || !is[1] || !good_name(o->marks.at[i], (size_t)(is - o->marks.at[i])))
			return usage_error(cmd, "'%s': --mark takes NAME=EVENT, as in --mark "
					   "request=u:nginx:ngx_http_create_request; a NAME has "
					   "less than %d letters, and no comma",
					   o->marks.at[i], MEMTAP_MARK_LEN);
	}
	if (o->between && (!comma || comma == o->between || !comma[1] || strchr(comma + 1, ',')))
		return usage_error(cmd, "--between takes two marks or times: --between FROM,UNTIL");
	if (o->between && o->since_mark)
		return usage_error(cmd, "--between and --since-mark exclude each other");
	return 0;
}

/* "14:05:00" or "14:05" of the day on which the recording ended, or of the day before. */
static bool clock_time(const struct snap *s, const char *text, __u64 *ns)
{
	const struct memtap_rec_header *h = &s->header;
	const time_t end = (time_t)(h->real_ns / 1000000000);
	unsigned int hour, minute, second = 0;
	int len = 0, more = 0;
	struct tm tm;
	__s64 before;

	if (sscanf(text, "%2u:%2u%n:%2u%n", &hour, &minute, &len, &second, &more) < 2 ||
	    (text[len] && !more) || (more && text[more]) || hour > 23 || minute > 59 ||
	    second > 59 || !localtime_r(&end, &tm))
		return false;
	before = (__s64)(tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) -
		 (__s64)(hour * 3600 + minute * 60 + second);
	if (before < 0 && (double)-before > (double)(h->now_ns - h->start_ns) / 1e9)
		before += 24 * 3600;
	before = before * 1000000000 + (__s64)(h->real_ns % 1000000000);
	*ns = before > 0 && (__u64)before > h->now_ns ? 0 : h->now_ns - (__u64)before;
	return true;
}

static bool one_time(const struct snap *s, const char *text, size_t len, __u64 *ns)
{
	const struct memtap_rec_header *h = &s->header;
	char word[32], *end;
	double v;

	if (!len || len >= sizeof(word))
		return false;
	snprintf(word, sizeof(word), "%.*s", (int)len, text);
	if (strchr(word, ':'))
		return clock_time(s, word, ns);
	if (word[len - 1] == '%' && strchr("0123456789", word[0])) {
		v = strtod(word, &end) / 100 * ((double)(h->now_ns - h->start_ns) / 1e9);
		if (strcmp(end, "%"))
			return false;
	} else if (!opt_seconds(word, &v)) {
		return false;
	}
	*ns = h->start_ns + (v < 1e9 ? (__u64)(v * 1e9) : (__u64)1e18);
	return true;
}

bool mark_times(const struct snap *s, const char *between, __u64 *from_ns, __u64 *until_ns,
		char why[MARK_WHY])
{
	const char *comma = strchr(between, ',');

	if (!one_time(s, between, (size_t)(comma - between), from_ns) ||
	    !one_time(s, comma + 1, strlen(comma + 1), until_ns)) {
		snprintf(why, MARK_WHY, "--between takes two times, not '%.60s': seconds from the "
			 "start (10s,1m), times of day (14:05:00,14:06:00) or percentages "
			 "(0%%,50%%)", between);
		return false;
	}
	if (*from_ns >= *until_ns) {
		snprintf(why, MARK_WHY, "--between %.60s: the first time is not before the second",
			 between);
		return false;
	}
	return true;
}

static const struct memtap_rec_mark *find(const struct snap *s, const char *name, size_t len)
{
	for (size_t i = 0; i < s->nr_marks; i++)
		if (strlen(s->marks[i].name) == len && !memcmp(s->marks[i].name, name, len))
			return &s->marks[i];
	return NULL;
}

static void say_names(const struct snap *s, char *why, size_t room)
{
	size_t len = strlen(why);

	for (size_t i = 0; i < s->nr_marks && len < room; i++)
		len += (size_t)snprintf(why + len, room - len, "%s%s", i ? ", " : ": ",
					s->marks[i].name);
}

static const struct memtap_rec_mark *need(const struct snap *s, const char *name, size_t len,
					  char why[MARK_WHY])
{
	const struct memtap_rec_mark *m = find(s, name, len);

	if (m && m->ns) {
		if (m->flags & MEMTAP_MARK_COARSE)
			snprintf(why, MARK_WHY, "the event of mark '%s' occurred so often that "
				 "blocks allocated some milliseconds before it may count as "
				 "allocated after it",
				 m->name);
		return m;
	}
	if (m) {
		snprintf(why, MARK_WHY, "the event of mark '%s' has not occurred", m->name);
		return NULL;
	}
	snprintf(why, MARK_WHY, "there is no mark '%.*s'%s", (int)(len < 64 ? len : 64), name,
		 s->nr_marks ? "; there are" : ", nor any other mark; `memtap mark NAME` sets one "
		 "while the session runs");
	say_names(s, why, MARK_WHY);
	return NULL;
}

bool mark_window(const struct snap *s, const struct opts *o, struct report_opts *r,
		 char why[MARK_WHY])
{
	const char *from = o->between ? o->between : o->since_mark, *until = NULL;
	const struct memtap_rec_mark *m;

	why[0] = 0;
	r->from_ns = r->until_ns = 0;
	for (size_t i = 0; i < s->nr_marks; i++)
		if (s->marks[i].flags & MEMTAP_MARK_DRAIN)
			r->until_ns = s->marks[i].ns;
	if (!from)
		return true;
	until = o->between ? strchr(from, ',') + 1 : NULL;
	/* times, where no mark is called so */
	if (until && !find(s, from, (size_t)(until - 1 - from)) && !find(s, until, strlen(until)) &&
	    mark_times(s, from, &r->from_ns, &r->until_ns, why))
		return true;
	why[0] = '\0';
	m = need(s, from, until ? (size_t)(until - 1 - from) : strlen(from), why);
	r->from_ns = m ? m->ns : ~0ULL;
	if (!m)
		return false;
	m = until ? need(s, until, strlen(until), why) : NULL;
	if (m)
		r->until_ns = m->ns;
	return !until || m;
}

int mark_drain(int dev)
{
	struct memtap_mark arg = { .flags = MEMTAP_MARK_DRAIN, .name = "drain" };

	return dev_mark(dev, &arg);
}

/* ---- memtap mark ---- */

static int tell(const struct memtap_mark *arg, __u32 pid)
{
	char of[64] = "";

	if (pid)
		snprintf(of, sizeof(of), " of process %u", pid);
	if (arg->full)
		note("%u session%s no room for another mark: %d at most", arg->full,
		     arg->full == 1 ? " has" : "s have", MEMTAP_MAX_MARKS);
	if (arg->had)
		note("%u session%s a mark '%s' already, which does not move: use another name",
		     arg->had, arg->had == 1 ? " has" : "s have", arg->name);
	if (arg->marked)
		note("'%s' is marked in %u session%s%s", arg->name, arg->marked,
		     text_s(arg->marked), of);
	else if (!arg->had && !arg->full)
		return fail_text("no session%s records live blocks: start `memtap leaks` first",
				 of);
	return arg->marked ? 0 : EXIT_FAILURE;
}

static int mark(const char *name, __u32 pid)
{
	struct memtap_mark arg = { .flags = MEMTAP_MARK_OTHERS, .pid = pid };
	int fd, err;

	snprintf(arg.name, sizeof(arg.name), "%s", name);
	err = dev_open(&fd);
	if (err)
		return fail(ERR_DEVICE, err, "%s", MEMTAP_DEVICE);
	err = dev_mark(fd, &arg);
	close(fd);
	if (err == -ENOTTY)
		return fail_text("the loaded module does not support marks; load the module of "
			"this version");
	if (err)
		return fail_text("marking: %s", strerror(-err));
	return tell(&arg, pid);
}

int cmd_mark(const struct cmd *cmd, struct opts *o)
{
	const char *name = o->args.nr == 1 ? o->args.at[0] : NULL;
	int ret = 0, one;

	if (!name || !*name)
		return usage_error(cmd->name, "a mark has one name: memtap mark NAME");
	if (!good_name(name, strlen(name)))
		return usage_error(cmd->name, "a mark's name has less than %d letters, and no "
				   "comma", MEMTAP_MARK_LEN);
	if (!o->pids.nr)
		return mark(name, 0);
	for (size_t i = 0; i < o->pids.nr; i++) {
		one = mark(name, o->pids.at[i]);
		ret = ret ? ret : one;
	}
	return ret;
}
