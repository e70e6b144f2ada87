// SPDX-License-Identifier: GPL-2.0-or-later
/* List processes, threads and descriptors from /proc. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target/cgroup.h"
#include "target/maps.h"
#include "target/procs.h"

/* The directories of @dir whose names are numbers. */
static int each_number(const char *dir, int (*fn)(pid_t id, void *ctx), void *ctx)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	int ret = 0;

	while (d && !ret && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			ret = fn((pid_t)atoi(e->d_name), ctx);
	if (d)
		closedir(d);
	return ret;
}

int procs_each(int (*fn)(pid_t pid, void *ctx), void *ctx)
{
	return each_number("/proc", fn, ctx);
}

int procs_threads(pid_t pid, int (*fn)(pid_t tid, void *ctx), void *ctx)
{
	char dir[32];

	snprintf(dir, sizeof(dir), "/proc/%d/task", pid);
	return each_number(dir, fn, ctx);
}

int procs_fds(pid_t pid, int (*fn)(pid_t fd, void *ctx), void *ctx)
{
	char dir[32];

	snprintf(dir, sizeof(dir), "/proc/%d/fd", pid);
	return each_number(dir, fn, ctx);
}

bool procs_killed(pid_t pid)
{
	static const char *const masks[] = { "\nSigPnd:", "\nShdPnd:" };
	char path[32], *text;
	bool killed = false;
	const char *at;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return false;
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		at = strstr(text, masks[i]);
		killed |= at && strtoull(at + strlen(masks[i]), NULL, 16) >> (SIGKILL - 1) & 1;
	}
	free(text);
	return killed;
}

/* "Name:<TAB>value" */
static long status_value(char *text, const char *name)
{
	const size_t name_len = strlen(name);
	long value = -1;
	char *line, *rest;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (!strncmp(line, name, name_len) && line[name_len] == ':')
			value = atol(line + name_len + 1);
	return value;
}

long procs_status(pid_t pid, pid_t tid, const char *name)
{
	char path[64], *text;
	long value;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return -1;
	value = status_value(text, name);
	free(text);
	return value;
}

bool procs_has_memory(pid_t pid)
{
	return procs_status(pid, pid, "VmSize") >= 0 || maps_thread(pid) != pid;
}

/* ---- names of threads ---- */

struct names {
	pid_t pid;
	const struct memtap_filter_item *items;
	size_t nr;
};

static int has_name(pid_t tid, void *ctx)
{
	const struct names *n = ctx;
	char path[64], *text;
	size_t len;
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", n->pid, tid);
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return 0;
	text[strcspn(text, "\n")] = '\0';
	for (size_t i = 0; i < n->nr; i++)
		found |= n->items[i].kind == MEMTAP_FILTER_COMM &&
			 !strcmp(n->items[i].comm, text);
	free(text);
	return found;
}

/* ---- control groups ---- */

/* Is the directory, or one above it, that of an item? */
static bool is_below(char *dir, size_t mount_len, const struct memtap_filter_item *items,
		     size_t nr, __u32 kind)
{
	struct stat st;

	for (;;) {
		if (!stat(dir, &st))
			for (size_t i = 0; i < nr; i++)
				if (items[i].kind == kind && items[i].value == st.st_ino)
					return true;
		if (strlen(dir) <= mount_len)
			return false;
		*strrchr(dir, '/') = '\0';
	}
}

struct group {
	char dir[4096];			/* where it is mounted, and its path there */
	size_t mount_len;
	bool v2;			/* else v1's memory hierarchy */
};

/* "0::/path" of v2, "4:memory:/path" of v1 */
static bool line_group(const char *line, const char *mountinfo, struct group *g)
{
	const char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

	g->v2 = names && names[1] == ':';
	if (!path || path[1] != '/' || (!g->v2 && strncmp(names, ":memory:", 8)) ||
	    !cgroup_mount(mountinfo, g->v2, g->dir, sizeof(g->dir)))
		return false;
	g->mount_len = strlen(g->dir);
	snprintf(g->dir + g->mount_len, sizeof(g->dir) - g->mount_len, "%s",
		 strcmp(path + 1, "/") ? path + 1 : "");
	return true;
}

/* Calls @fn for each that a process is in, until it returns true; returns that. */
static bool each_group(pid_t pid, bool (*fn)(struct group *g, void *ctx), void *ctx)
{
	char path[32], *text = NULL, *mountinfo = NULL, *line, *rest;
	bool found = false;
	struct group g;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (!maps_slurp(AT_FDCWD, path, &text, &len) &&
	    !maps_slurp(AT_FDCWD, "/proc/self/mountinfo", &mountinfo, &len))
		for (line = strtok_r(text, "\n", &rest); line && !found;
		     line = strtok_r(NULL, "\n", &rest))
			found = line_group(line, mountinfo, &g) && fn(&g, ctx);
	free(text);
	free(mountinfo);
	return found;
}

struct wanted {
	const struct memtap_filter_item *items;
	size_t nr;
};

static bool is_wanted(struct group *g, void *ctx)
{
	const struct wanted *w = ctx;

	return is_below(g->dir, g->mount_len, w->items, w->nr,
			g->v2 ? MEMTAP_FILTER_CGROUP2 : MEMTAP_FILTER_CGROUP1);
}

static bool in_cgroup(pid_t pid, const struct memtap_filter_item *items, size_t nr)
{
	struct wanted w = { items, nr };

	return each_group(pid, is_wanted, &w);
}

static bool take_group(struct group *g, void *ctx)
{
	struct procs_cgroups *c = ctx;
	struct stat st;

	if (!stat(g->dir, &st))
		*(g->v2 ? &c->v2 : &c->v1) = st.st_ino;
	return false;
}

struct procs_cgroups procs_cgroups(pid_t pid)
{
	struct procs_cgroups c = { 0, 0 };

	each_group(pid, take_group, &c);
	return c;
}

/* ---- all of it ---- */

static bool has_pid(pid_t pid, const struct memtap_filter_item *items, size_t nr)
{
	struct stat st;
	char path[64];

	for (size_t i = 0; i < nr; i++) {
		if (items[i].kind == MEMTAP_FILTER_PID && items[i].value == (__u64)pid)
			return true;
		snprintf(path, sizeof(path), "/proc/%d/task/%llu", pid,
			 (unsigned long long)items[i].value);
		if (items[i].kind == MEMTAP_FILTER_TID && !stat(path, &st))
			return true;
	}
	return false;
}

bool procs_passes(pid_t pid, const struct memtap_filter_item *items, size_t nr)
{
	const struct names names = { pid, items, nr };
	bool pids = false, comms = false, cgroups = false;

	for (size_t i = 0; i < nr; i++) {
		pids |= items[i].kind <= MEMTAP_FILTER_TID;
		comms |= items[i].kind == MEMTAP_FILTER_COMM;
		cgroups |= items[i].kind >= MEMTAP_FILTER_CGROUP1;
	}
	return (!pids || has_pid(pid, items, nr)) &&
	       (!comms || procs_threads(pid, has_name, (void *)&names)) &&
	       (!cgroups || in_cgroup(pid, items, nr));
}
