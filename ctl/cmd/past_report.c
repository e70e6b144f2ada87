// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap report --history`: what each process, cgroup or slab cache held over time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/ids.h"
#include "base/text.h"
#include "cmd/past.h"
#include "history/past.h"
#include "triage/triage.h"

#define TOP		20

struct held {
	char name[256];
	__u32 pid;
	__u64 start, first, least, most, last, most_ns;
	size_t seen;			/* the last sample that has it */
};

struct table {
	struct ids ids;
	struct held *at;
	size_t nr, room;
};

static bool same(const void *things, __u32 id, const void *key)
{
	const struct held *h = (const struct held *)things + id;
	const struct machine_holder *now = key;

	return h->pid == now->pid && h->start == now->start &&
	       !strncmp(h->name, now->name, sizeof(h->name) - 1);
}

static int add(struct table *t, const struct machine_holder *now, __u64 real_ns, size_t i)
{
	const __u64 hash = ids_hash_string(ids_mix(now->pid, now->start), now->name);
	__u32 id = ids_find(&t->ids, hash, same, t->at, now);
	struct held *h;

	if (id == IDS_NONE) {
		h = ids_grow(t->at, t->nr, &t->room, sizeof(*h));
		if (!h || ids_add(&t->ids, hash) == IDS_NONE)
			return -ENOMEM;
		t->at = h;
		h = &t->at[t->nr++];
		memset(h, 0, sizeof(*h));
		snprintf(h->name, sizeof(h->name), "%s", now->name);
		h->pid = now->pid;
		h->start = now->start;
		h->first = h->least = now->bytes;
	} else {
		h = &t->at[id];
	}
	if (now->bytes < h->least)
		h->least = now->bytes;
	if (now->bytes > h->most || !h->most_ns) {
		h->most = now->bytes;
		h->most_ns = real_ns;
	}
	h->last = now->bytes;
	h->seen = i;
	return 0;
}

/* By how much it grew at some time. */
static int by_growth(const void *a, const void *b)
{
	const struct held *x = a, *y = b;
	const __u64 grew = x->most - x->first, other = y->most - y->first;

	if (grew != other)
		return grew > other ? -1 : 1;
	return x->most != y->most ? (x->most > y->most ? -1 : 1) : strcmp(x->name, y->name);
}

static void print_rows(struct table *t, const struct opts *o, size_t last)
{
	const size_t top = !o->top_given ? TOP : o->top ? o->top : t->nr;
	char b[4][TEXT_LEN], when[TEXT_LEN];

	if (t->nr)
		qsort(t->at, t->nr, sizeof(*t->at), by_growth);
	printf("%11s %11s %11s %11s  %-19s  %s\n", "FIRST", "LEAST", "MOST", "LAST", "MOST AT",
	       o->by == BY_CGROUP ? "CGROUP" : o->by == BY_CACHE ? "CACHE" : "PROCESS");
	for (size_t i = 0; i < t->nr && i < top; i++) {
		const struct held *h = &t->at[i];

		printf("%11s %11s %11s %11s  %s  ", text_bytes(b[0], (__s64)h->first, false),
		       text_bytes(b[1], (__s64)h->least, false),
		       text_bytes(b[2], (__s64)h->most, false), h->seen == last ?
		       text_bytes(b[3], (__s64)h->last, false) : "gone",
		       text_time(when, h->most_ns));
		text_put(stdout, h->name, NULL);
		if (h->pid)
			printf(" (%u)", h->pid);
		putchar('\n');
	}
	if (t->nr > top)
		printf("%zu more\n", t->nr - top);
}

static void print_event(__u64 real_ns, unsigned int what)
{
	char when[TEXT_LEN];

	if (what & (TRIAGE_KILL | TRIAGE_STALL))
		printf("%s  %s%s%s\n", text_time(when, real_ns), what & TRIAGE_KILL ?
		       "OOM kill" : "", what & TRIAGE_KILL && what & TRIAGE_STALL ? ", " : "",
		       what & TRIAGE_STALL ? "tasks waited for memory" : "");
}

static int read_all(const struct past *p, const struct opts *o, struct table *t)
{
	struct machine before = { 0 };
	const struct machine *m;
	const struct machine_list *l;
	char text[HISTORY_TEXT];
	int err = 0;

	for (size_t i = p->first; !err && i <= p->last; i++) {
		const __u64 real_ns = p->h->samples[i].real_ns;
		const enum history_gap gap = history_gap(p->h, i);

		err = history_read(p->c, i, &m, NULL);
		if (err)
			break;
		l = o->by == BY_CGROUP ? &m->cgroups : o->by == BY_CACHE ? &m->slabs :
		    &m->processes;
		for (size_t k = 0; !err && k < l->nr; k++)
			err = add(t, &l->at[k], real_ns, i);
		if (i > p->first && gap != GAP_NONE)
			puts(history_gap_text(p->h, i, text));
		else if (i > p->first)
			print_event(real_ns, triage_events(&before, m));
		/* what events are seen by, and no more */
		before.ns = m->ns;
		before.f = m->f;
		before.psi = m->psi;
		before.log.nr = m->log.nr;
	}
	return err;
}

int past_report(const struct cmd *cmd, const struct opts *o)
{
	static struct opts range;	/* it is large */
	struct table t = { 0 };
	char a[TEXT_LEN], b[TEXT_LEN];
	struct past p;
	int ret;

	if (o->args.nr)
		return usage_error(cmd->name, "--history needs no FILE, and '%s' is one",
				   o->args.at[0]);
	if (o->by >= 0 && o->by != BY_PROCESS && o->by != BY_CGROUP && o->by != BY_CACHE)
		return usage_error(cmd->name, "--history: --by is process, cgroup or cache");
	if (o->json || o->format > FORMAT_TABLE || o->out)
		return usage_error(cmd->name, "--history is a table on standard output");
	range.between = o->between ? o->between : "-24h,-0s";
	range.dir = o->dir;
	ret = past_open(cmd->name, &range, &p);
	if (ret)
		return ret;
	printf("from %s to %s, %zu samples\n\n", text_time(a, p.h->samples[p.first].real_ns),
	       text_time(b, p.h->samples[p.last].real_ns), p.last - p.first + 1);
	ret = read_all(&p, o, &t);
	if (!ret)
		print_rows(&t, o, p.last);
	free(t.at);
	ids_free(&t.ids);
	past_close(&p);
	return ret ? fail(ERR_PLAIN, ret, "the history") : 0;
}
