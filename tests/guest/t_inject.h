/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _T_INJECT_H
#define _T_INJECT_H

/*
 * Faults on purpose (Documentation/fault-injection: fail-nth): the kernel lets a
 * task's n-th allocation, or copy from or to user memory, fail.
 */
#include <ctype.h>
#include <dirent.h>
#include <sched.h>

#include "t_device.h"

#define MAX_WORKERS	64

static int own_nth = -1, workers[MAX_WORKERS], nr_workers;

/* Each kind of fault that the kernel knows, wherever it may strike, but silently. */
static inline bool faults_ready(bool verbose)
{
	static const char *const kinds[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
	static const char *const settings[][2] = {
		{ "ignore-gfp-wait", "N" }, { "ignore-gfp-highmem", "N" }, { "min-order", "0" },
		{ "probability", "0" }, { "times", "-1" }, { "task-filter", "N" },
	};
	char path[128];
	unsigned int i, j, there = 0;

	own_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (own_nth < 0)
		return false;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		snprintf(path, sizeof(path), DEBUGFS "%s/verbose", kinds[i]);
		there += put_text(path, verbose ? "2" : "0");
		for (j = 0; j < sizeof(settings) / sizeof(settings[0]); j++) {
			snprintf(path, sizeof(path), DEBUGFS "%s/%s", kinds[i], settings[j][0]);
			put_text(path, settings[j][1]);
		}
	}
	/* without the copies half of it would be missing */
	return there == sizeof(kinds) / sizeof(kinds[0]);
}

static inline bool nth_put(int fd, unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	return pwrite(fd, text, len, 0) == len;
}

/* Did it strike?  Reading copies, too, and may be what is struck. */
static inline bool nth_struck(int fd)
{
	char text[16] = "";
	bool struck = pread(fd, text, sizeof(text) - 1, 0) > 0 && !strtoul(text, NULL, 10);

	nth_put(fd, 0);
	nth_put(fd, 0);
	return struck;
}

/*
 * May this kernel thread do works of ours?  Those of this CPU ("kworker/0:1", not
 * "kworker/0:1H"), and those of no CPU ("kworker/u4:1").
 */
static inline bool is_worker(const char *name)
{
	int cpu, nr, len = 0;

	if (sscanf(name, "kworker/u%d:%d", &cpu, &nr) == 2)
		return true;
	return sscanf(name, "kworker/%d:%d%n", &cpu, &nr, &len) == 2 && !cpu &&
	       name[len] != 'H';
}

static inline void find_workers(void)
{
	DIR *proc = opendir("/proc");
	char path[64], name[64];
	struct dirent *d;
	ssize_t n;
	int fd;

	while ((d = readdir(proc)) && nr_workers < MAX_WORKERS) {
		if (!isdigit(d->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/comm", d->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? 0 : read(fd, name, sizeof(name) - 1);
		if (fd >= 0)
			close(fd);
		name[n > 0 ? n : 0] = 0;
		if (!is_worker(name))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/task/%.16s/fail-nth", d->d_name,
			 d->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			workers[nr_workers++] = fd;
	}
	closedir(proc);
}

static inline void arm(bool in_workers, unsigned int n)
{
	int i;

	if (!in_workers) {
		nth_put(own_nth, n);
		return;
	}
	find_workers();
	for (i = 0; i < nr_workers; i++)
		nth_put(workers[i], n);
}

static inline bool disarm(bool in_workers)
{
	bool struck = false;
	int i;

	if (!in_workers)
		return nth_struck(own_nth);
	for (i = 0; i < nr_workers; i++) {
		struck |= nth_struck(workers[i]);
		close(workers[i]);
	}
	nr_workers = 0;
	return struck;
}

#endif
