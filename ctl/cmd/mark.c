// SPDX-License-Identifier: GPL-2.0-or-later
/* Set named marks, and report the blocks that were allocated between two marks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
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
		return usage_error(cmd, "--between takes two marks: --between FROM,UNTIL");
	if (o->between && o->since_mark)
		return usage_error(cmd, "--between and --since-mark exclude each other");
	return 0;
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
