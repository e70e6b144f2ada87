// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap ps`: read the memory of processes, of groups of them, or of mappings. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "machine/owners.h"
#include "render/ps.h"
#include "rss/rss.h"

#define TOP_DEFAULT	20
#define BUDGET_NS	8000000000ULL

static __u64 time_of_day(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (__u64)ts.tv_sec * 1000000000 + (__u64)ts.tv_nsec;
}

static enum report_by by_of(const struct opts *o)
{
	return o->by < 0 ? BY_PROCESS : (enum report_by)o->by;
}

static int fail_process(const struct opts *o, const struct machine *m, int err)
{
	const size_t nr = o->map ? 1 : o->pids.nr;

	if (err != -ESRCH)
		return o->map && err == -EACCES ?
		       fail_text("the mappings of process %u cannot be read: permission denied; "
				 "root can read them", o->map) :
		       fail(ERR_PLAIN, err, "memory of processes");
	for (size_t i = 0; i < nr; i++) {
		const __u32 pid = o->map ? o->map : o->pids.at[i];
		size_t at = 0;

		while (at < m->processes.nr && m->processes.at[at].pid != pid)
			at++;
		if (at == m->processes.nr)
			return fail_text("process %u has no memory: there is no such process, or "
					 "it is a thread of the kernel, or it has ended", pid);
	}
	return fail_text("process %u ended meanwhile", o->map);
}

/* Mappings without a name have one by what is in them, where that is certain; or they have none. */
static void name_mappings(struct owners *w, struct machine *m, __u32 pid)
{
	struct rss_process p;
	struct rss_env e;
	char proc[32], text[128];
	int err;

	rss_env_begin(&e);
	snprintf(proc, sizeof(proc), "/proc/%u", pid);
	err = rss_process_read(&e, proc, &p);
	for (size_t i = 0; !err && i < w->nr; i++) {
		struct owner *row = &w->at[i];

		if (!i)
			err = rss_process_parts(&e, proc, &p);
		if (!err && !strcmp(row->name, "[anon]") &&
		    rss_process_name(&p, proc, row->start, row->end, text, sizeof(text)))
			owners_name(m, row, text);
	}
	rss_process_free(&p);
	rss_env_end(&e);
}

static void show_rows(struct owners *w, const struct machine *m, const struct opts *o,
		      bool first, FILE *out)
{
	const bool all = o->json || o->map;
	const struct ps_opts to = {
		.out = out,
		.by = by_of(o),
		.map = o->map,
		.sort = o->sort >= 0 ? o->sort : o->map ? -1 : PS_PSS,
		.top = o->top_given ? o->top : all ? 0 : TOP_DEFAULT,
		.real_ns = o->interval > 0 ? time_of_day() : 0,
		.line = o->interval > 0,
		.root = !geteuid(),
	};

	if (o->args.nr)
		owners_keep(w, o->args.at[0]);
	owners_sort(w, to.sort);
	if (!first && !o->json)
		fputc('\n', out);
	if (o->json)
		render_ps_json(w, m, &to);
	else
		render_ps(w, m, &to);
	fflush(out);
}

/* An exit status. */
static int look(const struct opts *o, bool first, FILE *out)
{
	const struct owners_ask ask = {
		.by = by_of(o), .pids = &o->pids, .users = &o->users, .cgroups = &o->cgroups,
		.map = o->map, .numa = o->numa,
	};
	struct machine_at at = machine_here();
	struct machine m;
	struct owners w;
	int err, ret = 0;

	at.budget_ns = BUDGET_NS;
	at.self = 0;
	err = machine_read(&at, MACHINE_NO_CGROUPS, &m);
	if (err) {
		machine_free(&m);
		return err == -ENOMEM ? fail_text("no memory") :
		       fail_text("/proc/meminfo cannot be read: %s; is /proc mounted?",
				 strerror(-err));
	}
	err = owners_read(&at, &m, &ask, &w);
	if (!err && o->map)
		name_mappings(&w, &m, o->map);
	if (err == -ENOMEM)
		ret = fail_text("no memory");
	else if (w.unknown_user)
		ret = fail_text("--uid %s: /etc/passwd has no user of this name; a UID is taken, "
				"too", w.unknown_user);
	else if (err)
		ret = fail_process(o, &m, err);
	else
		show_rows(&w, &m, o, first, out);
	owners_free(&w);
	machine_free(&m);
	return ret;
}

static int check(const struct cmd *cmd, const struct opts *o)
{
	if (o->args.nr > 1)
		return usage_error(cmd->name, "'%s' is too much: one PATTERN, then [interval "
				   "[count]]", o->args.at[1]);
	if (o->map && (o->pids.nr || o->users.nr || o->cgroups.nr || o->containers.nr ||
		       o->pods.nr || o->by >= 0))
		return usage_error(cmd->name, "--map PID lists the mappings of one process: -p, "
				   "--uid, --cgroup, --container, --pod and --by are not for it");
	if (o->numa && o->by == BY_MAPPING)
		return usage_error(cmd->name, "--numa: not with --by mapping; --map PID --numa has "
				   "the nodes of each mapping");
	if (o->by == BY_MAPPING && o->sort == PS_TABLES)
		return usage_error(cmd->name, "--sort tables: page tables are of processes, not of "
				   "mappings");
	return 0;
}

int cmd_ps(const struct cmd *cmd, struct opts *o)
{
	struct timespec start;
	struct out out;
	int ret, err;

	ret = check(cmd, o);
	if (ret)
		return ret;
	err = out_open(&out, o->out);
	if (!err && o->csv)
		err = out_csv(&out, o->csv);
	if (err)
		return fail(ERR_WRITE, err, "%s", o->out);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (__u32 i = 1; !ret && !ferror(out.f); i++) {
		ret = look(o, i == 1, out.f);
		if (ret || o->interval <= 0 || i == o->count)
			break;
		cmd_sleep_until(&start, o->interval * i);
	}
	if (ret) {
		out_abort(&out);
		return ret;
	}
	err = out_commit(&out);
	return err ? fail(ERR_WRITE, err, "%s", o->out ? o->out : "standard output") : 0;
}
