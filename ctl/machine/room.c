// SPDX-License-Identifier: GPL-2.0-or-later
/* Compute how much more memory a process can use: available memory, and limits of its cgroups. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/words.h"
#include "machine/int.h"

/* Files of a memory cgroup, by version. */
static const struct group_names {
	const char *limit, *used, *inactive;
} names[] = {
	{ "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file" },
	{ "memory.max", "memory.current", "inactive_file" },
};

/* Where the memory controller's hierarchy is mounted: into @dir. */
static bool find_mount(const struct machine_at *at, bool v2, char *dir, size_t len)
{
	char *text, *rest, *line;
	struct machine_mount m;
	bool found = false;
	int err;

	text = machine_file(at, "/proc/self/mountinfo", FILE_LARGE, &err);
	rest = text;
	while (text && !found && (line = machine_line(&rest))) {
		if (!mount_parse(line, &m) || strcmp(m.type, v2 ? "cgroup2" : "cgroup"))
			continue;
		if (!v2 && (!m.super || !has_word(m.super, "memory")))
			continue;
		found = (size_t)snprintf(dir, len, "%s", m.point) < len;
	}
	free(text);
	return found;
}

static bool group_value(const struct machine_at *at, const char *dir, const char *name, __u64 *v)
{
	char path[PATH_MAX], *text;
	int err;
	bool ok;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return false;
	text = machine_file(at, path, FILE_SMALL, &err);
	ok = text && limit_parse(text, v);
	free(text);
	return ok;
}

static void one_group(const struct machine_at *at, const char *dir, bool v2,
		      struct machine_room *room)
{
	char path[PATH_MAX], size[TEXT_LEN], *text;
	__u64 limit, used, cache = 0, left;
	int err;

	if (!group_value(at, dir, names[v2].limit, &limit) || limit == ~0ULL ||
	    !group_value(at, dir, names[v2].used, &used))
		return;
	/* files' pages that nobody uses are given up before anybody is killed */
	if ((size_t)snprintf(path, sizeof(path), "%s/memory.stat", dir) < sizeof(path)) {
		text = machine_file(at, path, FILE_SMALL, &err);
		if (text)
			pairs_value(text, names[v2].inactive, &cache);
		free(text);
	}
	used -= cache < used ? cache : used;
	left = limit > used ? limit - used : 0;
	if (left >= room->bytes)
		return;
	room->bytes = left;
	snprintf(room->what, sizeof(room->what), "the limit of its cgroup (%s)",
		 text_bytes(size, (__s64)limit, false));
}

static void all_groups(const struct machine_at *at, __s32 pid, struct machine_room *room)
{
	char dir[PATH_MAX], group[PATH_MAX / 2], mount[PATH_MAX / 2], *slash;
	bool v2 = false;

	if (!machine_find_group(at, pid, group, sizeof(group), &v2) ||
	    !find_mount(at, v2, mount, sizeof(mount)))
		return;
	for (;;) {
		snprintf(dir, sizeof(dir), "%s%s", mount, group);
		one_group(at, dir, v2, room);
		slash = strrchr(group, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
}

bool machine_room(const struct machine_at *at, __s32 pid, struct machine_room *room)
{
	struct machine m = { 0 };
	char *text;
	int err;

	text = machine_file(at, "/proc/meminfo", FILE_SMALL, &err);
	if (!text)
		return false;
	fields_parse_mem(text, &m.f);
	free(text);
	room->bytes = machine_available(&m);
	snprintf(room->what, sizeof(room->what), "the end of available memory");
	if (pid)
		all_groups(at, pid, room);
	return true;
}

bool machine_cgroup(const struct machine_at *at, __s32 pid, char *path, size_t len)
{
	bool v2;

	return machine_find_group(at, pid, path, len, &v2);
}
