// SPDX-License-Identifier: GPL-2.0-or-later
/* Report OOM kills, and the affected programs. */
#include <stdio.h>
#include <string.h>

#include "triage/int.h"

/* Kills are told for so long, in seconds. */
#define KILL_OLD	3600

static const struct machine_growth *cgroup_with_kills(const struct triage *t)
{
	const struct machine_growth *best = NULL;

	/* counts of v2 have those below in them: the longest path is who it was */
	for (size_t i = 0; i < t->now->cgroups.nr; i++) {
		const struct machine_growth *g = &t->cgroups[i];

		if (g->before && g->now->oom_kills > g->before->oom_kills &&
		    (!best || strlen(g->now->name) > strlen(best->now->name)))
			best = g;
	}
	return best;
}

static bool is_there(const struct triage *t, const char *comm)
{
	for (size_t i = 0; i < t->is_programs.nr; i++)
		if (!strcmp(t->is_programs.at[i].name, comm))
			return true;
	return false;
}

static bool has_cgroup(const struct triage *t, const char *path)
{
	for (size_t i = 0; i < t->now->cgroups.nr; i++)
		if (!strcmp(t->now->cgroups.at[i].name, path))
			return true;
	return false;
}

static const struct machine_kill *last_kill(const struct machine_log *log)
{
	return !log->nr ? NULL :
	       &log->kills[(log->nr < MACHINE_KILLS ? log->nr : MACHINE_KILLS) - 1];
}

static void count_kills(struct triage *t)
{
	const struct machine_log *was = &t->before->log, *is = &t->now->log;

	/* where the kernel does not count (before v4.13) its log does */
	t->new_kills = t->now->f.has_vm[VM_OOM_KILLS] ? triage_delta(t, VM_OOM_KILLS) :
		       is->nr > was->nr ? is->nr - was->nr : 0;
}

static const char *words_for(const struct machine_kill *k, const char *cgroup, bool memcg)
{
	if (memcg)
		return cgroup || *k->cgroup ? " in cgroup " : " in a cgroup that the log does not "
			"name";
	return k->what == SHORT_CPUSET ? " on the nodes of a cpuset" :
	       k->what == SHORT_POLICY ? " on the nodes of a memory policy" : "";
}

void find_kills(struct triage *t)
{
	const struct machine_kill *k = last_kill(&t->now->log);
	const struct machine_growth *group = cgroup_with_kills(t), *grows = largest_process(t);
	const double ago = k && t->now->uptime > k->at ? t->now->uptime - k->at : 0;
	const bool memcg = group || (k && k->what == SHORT_CGROUP);
	const char *cgroup = group ? group->now->name : k && has_cgroup(t, k->cgroup) ?
			     k->cgroup : NULL;
	struct triage_finding *f;

	count_kills(t);
	t->level[LINE_KILLS] = t->new_kills || (k && ago < KILL_FRESH) ? LEVEL_BAD :
			       k || t->now->f.vm[VM_OOM_KILLS] ? LEVEL_WATCH : LEVEL_OK;
	if (!t->new_kills && (!k || ago > KILL_OLD))
		return;
	f = found_new(t, FOUND_OOM, t->new_kills ? 100 : ago < KILL_FRESH ? 88 : 48);
	if (memcg && cgroup) {
		f->what = FOUND_OOM_CGROUP;
		snprintf(f->name, sizeof(f->name), "%s", cgroup);
	} else if (grows && (!k || k->what == SHORT_MACHINE || k->what == SHORT_NODES ||
			     k->what == SHORT_UNKNOWN) &&
		   !memcg) {
		f->what = FOUND_OOM_LEAK;
		f->pid = grows->now->pid;
		snprintf(f->name, sizeof(f->name), "%s", grows->now->name);
	} else if (k && is_there(t, k->comm)) {
		f->what = FOUND_OOM_PROGRAM;
		snprintf(f->name, sizeof(f->name), "%s", k->comm);
	}
	if (k)
		found_seen(f, "process %s (%u) was killed %.0f s ago for lack of memory%s%s%s",
			   k->comm, k->pid, ago, words_for(k, cgroup, memcg), memcg ?
			   cgroup ? cgroup : k->cgroup : "", f->what == FOUND_OOM_LEAK ?
			   "; another process grows now" : "");
	else
		found_seen(f, "%llu process%s killed for lack of memory%s%s",
			   (unsigned long long)t->new_kills,
			   t->new_kills == 1 ? " was" : "es were", cgroup ? " in cgroup " : "",
			   cgroup ? cgroup : "");
}
