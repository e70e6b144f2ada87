// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse lines of /proc/PID/maps. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/maps.h"
#include "target/procmaps.h"

static bool parse_line(const char *line, struct procmap *m)
{
	uint64_t start, end, offset, inode;
	char prot[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &start, &end, prot, &offset, &m->dev_major, &m->dev_minor, &inode,
		   &at) < 7)
		return false;
	m->start = start;
	m->end = end;
	m->offset = offset;
	m->inode = inode;
	m->readable = prot[0] == 'r';
	m->writable = prot[1] == 'w';
	m->executable = prot[2] == 'x';
	m->shared = prot[3] == 's';
	m->path = at ? line + at : "";
	return start < end;
}

int procmaps_parse(char *text, int (*fn)(const struct procmap *m, void *ctx), void *ctx)
{
	struct procmap m;
	char *line, *rest;
	int ret = 0;

	for (line = strtok_r(text, "\n", &rest); line && !ret;
	     line = strtok_r(NULL, "\n", &rest))
		if (parse_line(line, &m))
			ret = fn(&m, ctx);
	return ret;
}

int procmaps_read(pid_t pid, int (*fn)(const struct procmap *m, void *ctx), void *ctx)
{
	char path[32], *text;
	size_t len;
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/maps", maps_thread(pid));
	ret = maps_slurp(AT_FDCWD, path, &text, &len);
	if (ret)
		return ret;
	ret = procmaps_parse(text, fn, ctx);
	free(text);
	return ret;
}

__u64 procmaps_status(pid_t pid, const char *key)
{
	char path[32], *text, *rest;
	const size_t len = strlen(key);
	__u64 n = 0;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (maps_slurp(AT_FDCWD, path, &text, &size))
		return 0;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (!strncmp(line, key, len) && line[len] == ':')
			n = strtoull(line + len + 1, NULL, 10);
	free(text);
	return n;
}

__u64 procmaps_stack_pointer(char *text)
{
	char *last = strrchr(text, ' '), *before;

	if (!last)
		return 0;
	*last = '\0';
	before = strrchr(text, ' ');
	return before ? strtoull(before, NULL, 16) : 0;
}

#define START_BRK	47		/* field of /proc/PID/stat; the name may hold anything */

__u64 procmaps_parse_brk(const char *text)
{
	const char *p = strrchr(text, ')');

	for (int field = 2; p && field < START_BRK; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}

__u64 procmaps_brk(pid_t pid)
{
	char path[32], *text;
	__u64 start;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return 0;
	start = procmaps_parse_brk(text);
	free(text);
	return start;
}
