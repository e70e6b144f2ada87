// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap oom --between`: the OOM kills that a history has, also of earlier boots. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "cmd/before.h"
#include "cmd/past.h"
#include "cmd/targets.h"
#include "core/wire.h"
#include "history/past.h"
#include "render/oom.h"
#include "snap/snap.h"
#include "sym/sym.h"

#define ROWS	10

/* A file in memory: the records of the kills, and the names that belong to them. */
struct stream {
	char *at;
	size_t len, room;
	struct wire_sum sum;
	__u64 shown[256];		/* real_ns of those that are in it */
	size_t nr;
};

static int put(struct stream *s, const void *rec, size_t len)
{
	if (s->len + len > s->room) {
		const size_t room = (s->len + len) * 2;
		char *more = realloc(s->at, room);

		if (!more)
			return -ENOMEM;
		s->at = more;
		s->room = room;
	}
	memcpy(s->at + s->len, rec, len);
	s->len += len;
	return 0;
}

static int put_summed(struct stream *s, const struct memtap_rec *rec)
{
	wire_sum_add(&s->sum, rec);
	return put(s, rec, rec->len);
}

static int put_end(struct stream *s)
{
	struct memtap_rec_end end;

	wire_end(&s->sum, &end);
	wire_sum_init(&s->sum);
	return put(s, &end, sizeof(end));
}

/* A service that begins anew has the records that the module still keeps once more. */
static bool is_new(struct stream *s, __u64 real_ns)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->shown[i] == real_ns)
			return false;
	return s->nr < sizeof(s->shown) / sizeof(s->shown[0]);
}

static bool is_name(const struct memtap_rec *rec)
{
	return rec->type == MEMTAP_REC_KSYM || rec->type == MEMTAP_REC_USYM;
}

static int put_kills(struct stream *s, const struct past *p, const struct targets *w)
{
	const __u64 first = p->h->samples[p->first].real_ns, last = p->h->samples[p->last].real_ns;
	struct memtap_oom_record *r = calloc(1, sizeof(*r));
	size_t names = 0;
	int err = r ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < p->h->nr_events; i++) {
		const struct memtap_rec *rec = p->h->events[i].rec;
		size_t len = rec->len - sizeof(*rec);

		if (rec->type != MEMTAP_REC_OOM)
			continue;
		memset(r, 0, sizeof(*r));
		len = len < sizeof(*r) ? len : sizeof(*r);
		memcpy(r, rec + 1, len);
		oom_clean(r, len);
		if (r->real_ns >= first && r->real_ns <= last && match_kill(w, r) &&
		    is_new(s, r->real_ns)) {
			for (; !err && names < i; names++)
				if (is_name(p->h->events[names].rec))
					err = put_summed(s, p->h->events[names].rec);
			if (!err)
				err = put_summed(s, rec);
			s->shown[s->nr++] = r->real_ns;
		}
		names = i + 1;
	}
	free(r);
	return err;
}

static int make_file(struct stream *s, const struct past *p, const struct targets *w)
{
	const struct history_segment *seg = &p->h->segments[p->h->samples[p->last].segment];
	struct memtap_rec_header head = {
		.rec = { MEMTAP_REC_HEADER, sizeof(head) }, .magic = MEMTAP_MAGIC,
		.page_size = seg->page, .real_ns = p->h->samples[p->last].real_ns,
	};
	int err;

	snprintf(head.release, sizeof(head.release), "%.63s", seg->release);
	snprintf(head.host, sizeof(head.host), "%.63s", seg->host);
	wire_sum_init(&s->sum);
	err = put_summed(s, &head.rec);
	if (!err)
		err = put_end(s);
	if (!err)
		err = put_kills(s, p, w);
	return err || !s->nr ? err : put_end(s);
}

static int show_records(const struct past *p, const struct opts *o, const struct targets *w,
			struct stream *s)
{
	struct memtap_oom_record *r = calloc(1, sizeof(*r));
	const struct sym_opts so = { .no_lines = !p->same_boot };
	struct oom_opts oo = { .out = stdout, .rows = ROWS, .line = true };
	struct snap *snap = NULL;
	char err[256];
	int ret = r ? make_file(s, p, w) : -ENOMEM;

	if (!ret && s->nr) {
		ret = snap_decode(s->at, s->len, &snap, err);
		s->at = NULL;
	}
	if (!ret && s->nr) {
		oo.sym = sym_new(&so);
		oo.file = snap;
		for (oo.number = 0; oo.number < snap->nr_ooms; oo.number++) {
			render_oom_of(snap, oo.number, r);
			if (!o->json && oo.number)
				putchar('\n');
			before_show(r, &oo, o);
		}
		sym_free(oo.sym);
		snap_free(snap);
	}
	free(s->at);
	free(r);
	return ret;
}

/* A kill that the kernel's log tells, without a record of the module. */
static void show_logged(const struct machine_kill *k, __u64 real_ns, const struct opts *o)
{
	char when[TEXT_LEN], size[TEXT_LEN];
	FILE *out = o->json ? stderr : stdout;

	fprintf(out, "%s  ", text_time(when, real_ns));
	text_put(out, k->comm, NULL);
	fprintf(out, " (%u) was killed for lack of memory; it held %s%s", k->pid,
		text_bytes(size, (__s64)k->rss, false), *k->cgroup ? "; limit of " : "");
	text_put(out, k->cgroup, NULL);
	fputs("; the module has no record of it\n", out);
}

static bool has_record(const struct stream *s, __u64 real_ns)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->shown[i] + 5000000000ULL > real_ns && s->shown[i] < real_ns + 5000000000ULL)
			return true;
	return false;
}

static bool is_named(const struct opts *o, const struct machine_kill *k)
{
	bool named = !o->pids.nr && !o->comms.nr;

	for (size_t i = 0; i < o->pids.nr; i++)
		named |= o->pids.at[i] == k->pid;
	for (size_t i = 0; i < o->comms.nr; i++)
		named |= !strcmp(o->comms.at[i], k->comm);
	return named && !o->cgroups.nr && !o->filter;
}

static int show_log(const struct past *p, const struct opts *o, const struct stream *s, size_t *nr)
{
	const struct machine *m;
	__u64 was = 0;
	int err = 0;

	for (size_t i = p->first; !err && i <= p->last; i++) {
		const bool begins = i == p->first || history_gap(p->h, i) == GAP_BOOT;

		err = history_read(p->c, i, &m, NULL);
		for (__u64 k = m->log.nr > MACHINE_KILLS ? m->log.nr - MACHINE_KILLS : 0;
		     !err && !begins && k < m->log.nr; k++) {
			const struct machine_kill *kill =
				&m->log.kills[k - (m->log.nr > MACHINE_KILLS ?
						   m->log.nr - MACHINE_KILLS : 0)];
			const double ago = m->uptime > kill->at ? m->uptime - kill->at : 0;
			const __u64 real_ns = p->h->samples[i].real_ns - (__u64)(ago * 1e9);

			if (k < was || has_record(s, real_ns) || !is_named(o, kill))
				continue;
			show_logged(kill, real_ns, o);
			++*nr;
		}
		if (!err)
			was = m->log.nr;
	}
	return err;
}

/* The sum of notes "key=number" of the time. */
static __u64 noted(const struct past *p, const char *key)
{
	const size_t len = strlen(key);
	__u64 sum = 0;

	for (size_t i = 0; i < p->h->nr_events; i++) {
		const struct history_event *e = &p->h->events[i];

		if (e->note && e->sample > p->first && e->sample <= p->last &&
		    !strncmp(e->note, key, len))
			sum += strtoull(e->note + len, NULL, 10);
	}
	return sum;
}

static void say_lost(const struct past *p)
{
	const __u64 lost = noted(p, "oom-lost="), dropped = noted(p, "dropped=");

	if (lost)
		note("%llu record%s of OOM kills had been overwritten in the module before the "
		     "history could have %s", (unsigned long long)lost, text_s(lost),
		     lost == 1 ? "it" : "them");
	if (dropped)
		note("%llu record%s had no room in a sample of the history, OOM kills perhaps",
		     (unsigned long long)dropped, text_s(dropped));
}

int past_oom(const struct cmd *cmd, const struct opts *o)
{
	struct stream s = { 0 };
	struct targets w;
	struct past p;
	size_t logged = 0;
	int ret;

	if (o->last || o->duration > 0)
		return usage_error(cmd->name, "--last and -d are not for --at and --between: these "
				   "show what the history has");
	ret = targets_parse_kills(&w, cmd->name, o);
	if (!ret)
		ret = past_open(cmd->name, o, &p);
	if (ret)
		return ret;
	ret = show_records(&p, o, &w, &s);
	if (!ret)
		ret = show_log(&p, o, &s, &logged);
	if (!ret)
		say_lost(&p);
	if (!ret && !s.nr && !logged)
		note("the history has no OOM kill of that time%s", o->pids.nr || o->comms.nr ||
		     o->cgroups.nr || o->filter ? " that matches" : "");
	past_close(&p);
	return ret ? fail(ERR_PLAIN, ret, "the history") : 0;
}
