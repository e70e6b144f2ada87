// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap push`: send profiles to a receiver, at intervals or of recordings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/file.h"
#include "cmd/pusher.h"
#include "cmd/question.h"
#include "cmd/show.h"
#include "leaks/run.h"

#define INTERVAL	60.0			/* seconds */
#define SPOOL		"/var/lib/memtap/push"
#define SPOOL_BYTES	(64ULL << 20)
#define RATE		(1ULL << 20)		/* bytes a minute */
#define ATTEMPT		30			/* seconds */
#define LINGER_NS	(30 * 1000000000ULL)	/* at the end, unless a signal came */
#define STOP_NS		(2 * 1000000000ULL)	/* then, for what is being sent */
#define FOREVER_NS	(1ULL << 62)

#define BOTH	(MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK)

static const struct question question_push = {
	.title = "events",
	.ask = &(const struct watch_ask){ .stacks = BOTH, .all_events = true },
	.by = BY_PROCESS,
	.show = SHOW_PUSH,
};

/* ---- what was asked for ---- */

/* A recording is named by a path; events have other names. */
static bool is_file(const char *name)
{
	struct stat st;

	if (strstr(name, ".memtap"))
		return true;
	return strpbrk(name, "./") && !stat(name, &st) && S_ISREG(st.st_mode);
}

static int check_labels(const char *name, const struct opts *o, struct pusher *p)
{
	char host[256] = "", why[LABEL_WHY];
	struct label l;

	gethostname(host, sizeof(host) - 1);
	labels_set(&p->labels, "host", host);
	if (o->labels.nr > LABELS_MAX - 8)
		return usage_error(name, "at most %d labels", LABELS_MAX - 8);
	for (size_t i = 0; i < o->labels.nr; i++) {
		if (!label_parse(o->labels.at[i], &l, why))
			return usage_error(name, "--label: %s", why);
		if (!*l.value)
			labels_set(&p->dropped, l.name, "1");
		p->host_given |= !strcmp(l.name, "host");
		labels_set(&p->labels, l.name, l.value);
	}
	return 0;
}

static int check_receiver(const char *name, const struct opts *o)
{
	char line[SEND_LINE], why[SEND_WHY];

	if (!o->to)
		return usage_error(name, "where to? --to URL");
	if (!send_check_url(o->to, why))
		return usage_error(name, "--to %s", why);
	if (o->credentials && send_read_credentials(o->credentials, line, why))
		return usage_error(name, "--credentials %s", why);
	explicit_bzero(line, sizeof(line));
	if (o->cacert && access(o->cacert, R_OK))
		return usage_error(name, "--cacert %s: %s", o->cacert, strerror(errno));
	if (o->max_spool && o->max_spool < SPOOL_LEAST)
		return usage_error(name, "--max-spool is at least 64K");
	if (o->interval > 0 && o->interval < 1)
		return usage_error(name, "an interval is at least 1 second");
	return 0;
}

/* Of a session: what it counts.  An exit status. */
static int choose(const char *name, struct opts *o, struct question *q)
{
	const char *what = o->args.at[0];
	const bool leaks = !strcmp(what, "leaks"), rss = !strcmp(what, "rss");

	*q = question_push;
	if (o->args.nr > 1)
		for (size_t i = 0; i < o->args.nr; i++)
			if (!strcmp(o->args.at[i], "leaks") || !strcmp(o->args.at[i], "rss"))
				return usage_error(name, "%s is a session of its own: push it by "
						   "another `memtap push`, with another --spool",
						   o->args.at[i]);
	if (o->sample_bytes && !leaks)
		return usage_error(name, "--sample-bytes is for `memtap push leaks`");
	if (!leaks && !rss)
		return 0;
	q->ask = leaks ? &watch_ask_leaks : question_rss.ask;
	q->title = leaks ? question_leaks.title : question_rss.title;
	o->args.nr = 0;
	if (!leaks)
		return 0;
	if (!(o->argv || o->pids.nr || o->comms.nr || o->cgroups.nr))
		return usage_error(name, "leaks needs a target: -p PID, --comm NAME, --cgroup PATH "
				   "or -- PROGRAM");
	/* totals are exact, or not there */
	o->allocated = !o->sample_bytes;
	return leaks_check(o, name, false);
}

static void default_spool(const struct opts *o, bool files, char path[64])
{
	const char *what = files ? "files" : o->args.nr ? o->args.at[0] : "events";
	const bool own = !strcmp(what, "leaks") || !strcmp(what, "rss") || files;

	snprintf(path, 64, "%s/%s", SPOOL, own ? what : "events");
}

/* ---- recordings ---- */

static int push_file(struct pusher *p, const char *path)
{
	struct render_opts r = show_render_opts(p->o);
	static const struct sym_opts defaults;
	struct snap *s = NULL;
	struct sym *sym = NULL;
	int ret = file_read(path, &s);

	if (!s)
		return ret;
	if (file_note(s, "kind") && !strcmp(file_note(s, "kind"), "history"))
		ret = fail_text("%s is part of a history: it has no profiles", path);
	else
		sym = sym_new(&defaults);
	if (!ret && !sym)
		ret = fail(ERR_PLAIN, ENOMEM, "%s", "symbols");
	p->states = leaks_kept(s) || snap_has_group(s, "rss");
	if (!ret && *s->header.host && !p->host_given)
		labels_set(&p->labels, "host", s->header.host);
	r.title = file_note(s, "title");
	if (!ret)
		ret = pusher_take(p, s, sym, &r, false);
	sym_free(sym);
	snap_free(s);
	return ret;
}

static int push_files(struct pusher *p, const struct opts *o)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < o->args.nr; i++)
		ret = push_file(p, o->args.at[i]);
	push_wait(&p->push, o->duration > 0 ? (__u64)(o->duration * 1e9) : FOREVER_NS);
	return ret;
}

/* ---- all of it ---- */

/* What became of the messages: an exit status. */
static int finish(const struct pusher *p, bool files)
{
	struct push_counts c;
	char bytes[TEXT_LEN];

	push_get((struct push *)&p->push, &c);
	note("%llu message%s sent (%s) to %s; %llu refused, %llu dropped, %llu attempt%s failed",
	     (unsigned long long)c.sent, text_s(c.sent),
	     text_bytes(bytes, (__s64)c.sent_bytes, false), p->push.o.send.url,
	     (unsigned long long)c.refused, (unsigned long long)(c.dropped + c.damaged +
								p->not_kept),
	     (unsigned long long)c.failed, text_s(c.failed));
	if (!c.waiting)
		return files && (c.refused || c.dropped || c.damaged || p->not_kept);
	if (!files) {
		note("%llu message%s in %s: the next `memtap push` with this spool sends %s",
		     (unsigned long long)c.waiting, c.waiting == 1 ? " waits" : "s wait",
		     p->push.o.spool, c.waiting == 1 ? "it" : "them");
		return 0;
	}
	return fail_text("%llu message%s in %s: the next `memtap push` with this spool sends %s",
			 (unsigned long long)c.waiting, c.waiting == 1 ? " waits" : "s wait",
			 p->push.o.spool, c.waiting == 1 ? "it" : "them");
}

static int run(struct pusher *p, struct question *q, struct opts *o, bool files)
{
	int ret, done;

	note("pushing to %s (%s); messages wait in %s", o->to, p->pyroscope ?
	     "Pyroscope's /ingest" : "each a POST of pprof", p->push.o.spool);
	if (push_start(&p->push))
		return fail_text("cannot send: cannot create a thread");
	if (files) {
		ret = push_files(p, o);
	} else {
		q->push = p;
		ret = question_run(q, o, "push");
		if (!ret && !p->signalled) {
			push_hurry(&p->push);
			push_wait(&p->push, LINGER_NS);
		}
	}
	push_stop(&p->push, STOP_NS);
	done = finish(p, files);
	return ret ? ret : done;
}

static int open_push(const struct cmd *cmd, const struct opts *o, struct pusher *p,
		     const char *spool, bool files)
{
	static char agent[64];
	char why[PUSH_WHY];
	const struct push_opts po = {
		.send = { o->to, o->cacert, o->credentials, agent, ATTEMPT },
		.spool = o->spool ? o->spool : spool,
		.spool_bytes = o->max_spool ? o->max_spool : SPOOL_BYTES,
		.rate = o->rate ? o->rate : RATE,
		/* who asks for files waits for them */
		.interval_ns = files ? 0 : (__u64)(o->interval * 1e9),
	};
	int err;

	snprintf(agent, sizeof(agent), "memtap/%s", cmd_tool_version());
	err = push_open(&p->push, &po, pusher_say, why);
	if (err == -EINVAL)
		return usage_error(cmd->name, "--spool %s", why);
	return err ? fail_text("--spool %s", why) : 0;
}

int cmd_push(const struct cmd *cmd, struct opts *o)
{
	struct question q = question_push;
	struct pusher *p;
	char spool[64];
	bool files;
	int ret;

	ret = check_receiver(cmd->name, o);
	if (ret)
		return ret;
	if (!o->args.nr)
		return usage_error(cmd->name, "what? leaks, rss, EVENT..., or files of `memtap "
				   "record`");
	files = is_file(o->args.at[0]);
	if (render_missing(FORMAT_PPROF))
		return fail_text("this memtap was built without protobuf-c, and has no profiles "
				 "to push");
	if (send_missing())
		return fail_text("nothing can be sent: %s", send_missing());
	if (!(o->interval > 0))
		o->interval = INTERVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	p->o = o;
	p->pyroscope = send_is_pyroscope(o->to);
	default_spool(o, files, spool);
	ret = check_labels(cmd->name, o, p);
	if (!ret && !files)
		ret = choose(cmd->name, o, &q);
	p->states = q.ask->leaks || q.ask->rss;
	if (!ret)
		ret = open_push(cmd, o, p, spool, files);
	if (!ret) {
		ret = run(p, &q, o, files);
		push_close(&p->push);
	}
	pusher_free(p);
	free(p);
	return ret;
}
