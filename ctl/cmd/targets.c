// SPDX-License-Identifier: GPL-2.0-or-later
/* Select OOM kills, stalls and notices by -p, --comm, --cgroup and --filter. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/path.h"
#include "cmd/targets.h"
#include "machine/container.h"
#include "triage/oom.h"

/* --- names ------------------------------------------------------------------ */

/* As the kernel calls it in its hierarchy, of a path as people type it. */
static const char *path_in_hierarchy(const char *path)
{
	static const char *const mounts[] = {
		"/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified", "/sys/fs/cgroup",
	};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		const size_t len = strlen(mounts[i]);

		if (!strncmp(path, mounts[i], len) && (path[len] == '/' || !path[len]))
			return path + len;
	}
	return path;
}

static bool is_below(const char *path, const char *of)
{
	of = path_in_hierarchy(of);
	while (*of == '/')
		of++;
	while (*path == '/')
		path++;
	return path_is_below(path, of);
}

static bool in_cgroup(const struct memtap_oom_record *r, const char *cgroup)
{
	__u64 inode;

	if (opt_u64(cgroup, &inode))
		return r->victim.cgroup == inode || r->trigger.cgroup == inode ||
		       r->limit_cgroup == inode;
	return is_below(r->victim_path, cgroup) || is_below(r->trigger_path, cgroup) ||
	       (*oom_limit_path(r) && is_below(oom_limit_path(r), cgroup));
}

/* Of one kind any will do; of different kinds, one of each; of the victim or the trigger. */
bool targets_named(const struct opts *o, const struct memtap_oom_record *r)
{
	bool pid = !o->pids.nr, comm = !o->comms.nr, cgroup = !o->cgroups.nr;

	for (size_t i = 0; i < o->pids.nr; i++)
		pid |= (__s32)o->pids.at[i] == r->victim.pid ||
		       (__s32)o->pids.at[i] == r->trigger.pid;
	for (size_t i = 0; i < o->comms.nr; i++)
		comm |= !strncmp(o->comms.at[i], r->victim.comm, MEMTAP_COMM_LEN - 1) ||
			!strncmp(o->comms.at[i], r->trigger.comm, MEMTAP_COMM_LEN - 1);
	for (size_t i = 0; i < o->cgroups.nr; i++)
		cgroup |= in_cgroup(r, o->cgroups.at[i]);
	if (o->containers.nr || o->pods.nr)
		cgroup = (o->cgroups.nr && cgroup) || container_wanted(o, r->victim_path) ||
			 container_wanted(o, r->trigger_path) ||
			 (*oom_limit_path(r) && container_wanted(o, oom_limit_path(r)));
	return pid && comm && cgroup;
}

/* In it, or below: by its path in each hierarchy, or a directory's number. */
static bool path_is_in(const char *path, const char *cgroup)
{
	static const char *const mounts[] = {
		"/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified", "/sys/fs/cgroup",
	};
	char dir[4200], *slash;
	struct stat st;
	__u64 inode;

	if (!opt_u64(cgroup, &inode))
		return is_below(path, cgroup);
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		snprintf(dir, sizeof(dir), "%s%s", mounts[i], path);
		while (strlen(dir) > strlen(mounts[i])) {
			if (!stat(dir, &st) && st.st_ino == inode)
				return true;
			slash = strrchr(dir, '/');
			*slash = '\0';
		}
	}
	return false;
}

/* Of somebody who is gone it is not known. */
static bool process_is_in(__u32 pid, const struct opts *o)
{
	char name[64], line[4096], *path;
	bool in = false;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%u/cgroup", pid);
	f = fopen(name, "re");
	if (!f)
		return false;
	while (!in && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		path = strchr(line, ':');
		path = path ? strchr(path + 1, ':') : NULL;
		for (size_t i = 0; path && i < o->cgroups.nr; i++)
			in |= path_is_in(path + 1, o->cgroups.at[i]);
		in |= path && container_wanted(o, path + 1);
	}
	fclose(f);
	return in;
}

static bool names_process(const struct opts *o, __u32 pid, const char *comm)
{
	bool is_pid = !o->pids.nr, is_comm = !o->comms.nr;

	for (size_t i = 0; i < o->pids.nr; i++)
		is_pid |= o->pids.at[i] == pid;
	for (size_t i = 0; i < o->comms.nr; i++)
		is_comm |= !strncmp(o->comms.at[i], comm, MEMTAP_COMM_LEN - 1);
	return is_pid && is_comm && (!(o->cgroups.nr || o->containers.nr || o->pods.nr) ||
				     process_is_in(pid, o));
}

/* --- conditions ------------------------------------------------------------- */

#define NUMBER(_name, type, member)							\
	{ .name = _name, .kind = FORMAT_NUMBER, .offset = offsetof(type, member),	\
	  .size = sizeof(((type *)0)->member) }
#define SIGNED(_name, type, member)							\
	{ .name = _name, .kind = FORMAT_NUMBER, .offset = offsetof(type, member),	\
	  .size = sizeof(((type *)0)->member), .is_signed = true }
#define TEXT(_name, type, member)							\
	{ .name = _name, .kind = FORMAT_TEXT, .offset = offsetof(type, member),		\
	  .size = sizeof(((type *)0)->member) }
#define KILL(what, _name, member)	what(_name, struct memtap_oom_record, member)

static const struct format kill_format = {
	.nr = 18,
	.at = {
		KILL(SIGNED, "pid", victim.pid),
		KILL(TEXT, "comm", victim.comm),
		KILL(NUMBER, "uid", victim.uid),
		KILL(NUMBER, "anon", victim.anon),
		KILL(NUMBER, "file", victim.file),
		KILL(NUMBER, "shmem", victim.shmem),
		KILL(NUMBER, "swap", victim.swap),
		KILL(NUMBER, "page_tables", victim.tables),
		KILL(SIGNED, "adjustment", victim.score_adj),
		KILL(SIGNED, "points", points),
		KILL(NUMBER, "allowed", allowed),
		KILL(NUMBER, "limit", limit),
		KILL(SIGNED, "order", order),
		KILL(NUMBER, "gfp", gfp),
		KILL(NUMBER, "processes", processes),
		KILL(SIGNED, "trigger_pid", trigger.pid),
		KILL(TEXT, "trigger_comm", trigger.comm),
		KILL(TEXT, "cgroup", victim_path),
	},
};

#define NOTICE(what, _name, member)	what(_name, struct notice, member)

static const struct format stall_format = {
	.nr = 4,
	.at = {
		NOTICE(NUMBER, "pid", pid),
		NOTICE(TEXT, "comm", comm),
		NOTICE(NUMBER, "ns", value),
		NOTICE(TEXT, "source", event),
	},
};

static const struct format full_format = {
	.nr = 5,
	.at = {
		NOTICE(NUMBER, "pid", pid),
		NOTICE(TEXT, "comm", comm),
		NOTICE(NUMBER, "events", value),
		NOTICE(TEXT, "source", event),
		NOTICE(TEXT, "reason", reason),
	},
};

int targets_parse_kills(struct targets *w, const char *cmd, const struct opts *o)
{
	char err[ARGS_ERR];

	memset(w, 0, sizeof(*w));
	w->o = o;
	if (o->filter && condition_make(&w->kill, o->filter, &kill_format, "an OOM kill", err))
		return usage_error(cmd, "%s", err);
	return 0;
}

int targets_parse_notices(struct targets *w, const char *cmd, const struct opts *o)
{
	char err[ARGS_ERR], other[ARGS_ERR];

	memset(w, 0, sizeof(*w));
	w->o = o;
	if (!o->filter)
		return 0;
	w->no_kill = condition_make(&w->kill, o->filter, &kill_format, "an OOM kill", err);
	w->no_stall = condition_make(&w->stall, o->filter, &stall_format, "a wait", other);
	w->no_full = condition_make(&w->full, o->filter, &full_format, "a full table", other);
	if (w->no_kill && w->no_stall && w->no_full)
		return usage_error(cmd, "%s", err);
	if (w->no_kill)
		note("left out: OOM kills: they lack the fields of the filter");
	if (w->no_stall)
		note("left out: stalls: they lack the fields of the filter");
	if (w->no_full)
		note("left out: full tables: they lack the fields of the filter");
	return 0;
}

bool match_kill(const struct targets *w, const struct memtap_oom_record *r)
{
	return !w->no_kill && targets_named(w->o, r) &&
	       (!w->o->filter || condition_holds(&w->kill, r, sizeof(*r)));
}

bool match_notice(const struct targets *w, const struct notice *n)
{
	const bool stall = n->kind == MEMTAP_NOTICE_STALL;

	if (stall ? w->no_stall : w->no_full)
		return false;
	return names_process(w->o, n->pid, n->comm) &&
	       (!w->o->filter ||
		condition_holds(stall ? &w->stall : &w->full, n, sizeof(*n)));
}
