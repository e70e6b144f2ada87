// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * t_watch PID SECONDS ADDRESS...: does anybody of this process touch the eight bytes at any of
 * these addresses?  Four of them at a time, by the processor's own breakpoints on data, each for
 * its share of the time.  Prints "ADDRESS HITS" of those that were hit, and "watched N".
 */
#include <dirent.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE	4
#define THREADS	64

static int watch(pid_t tid, uint64_t addr)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_BREAKPOINT;
	attr.bp_type = HW_BREAKPOINT_RW;
	attr.bp_addr = addr & ~7ULL;
	attr.bp_len = HW_BREAKPOINT_LEN_8;
	attr.inherit = 1;
	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, 0);
}

static size_t threads_of(const char *pid, pid_t *tids)
{
	char path[64];
	struct dirent *d;
	size_t nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	dir = opendir(path);
	while (dir && nr < THREADS && (d = readdir(dir)))
		if (*d->d_name != '.')
			tids[nr++] = atoi(d->d_name);
	if (dir)
		closedir(dir);
	return nr;
}

int main(int argc, char **argv)
{
	static int fds[AT_ONCE][THREADS];
	static pid_t tids[THREADS];
	const int nr = argc - 3;
	size_t nr_tids;
	int watched = 0;

	if (nr < 1 || !(nr_tids = threads_of(argv[1], tids))) {
		fputs("t_watch: PID SECONDS ADDRESS...\n", stderr);
		return 2;
	}
	for (int first = 0; first < nr; first += AT_ONCE) {
		const double rounds = (nr + AT_ONCE - 1) / AT_ONCE;
		const double share = atof(argv[2]) / rounds;
		const struct timespec ts = { (time_t)share,
					     (long)((share - (time_t)share) * 1e9) };
		const int last = first + AT_ONCE < nr ? first + AT_ONCE : nr;

		for (int i = first; i < last; i++)
			for (size_t t = 0; t < nr_tids; t++) {
				fds[i - first][t] = watch(tids[t], strtoull(argv[3 + i], NULL, 16));
				if (fds[i - first][t] < 0 && errno != ESRCH) {
					perror("t_watch");
					return 1;
				}
			}
		nanosleep(&ts, NULL);
		for (int i = first; i < last; i++) {
			uint64_t hits = 0, n;

			for (size_t t = 0; t < nr_tids; t++) {
				if (fds[i - first][t] < 0)
					continue;
				if (read(fds[i - first][t], &n, sizeof(n)) == sizeof(n))
					hits += n;
				close(fds[i - first][t]);
			}
			watched++;
			if (hits)
				printf("%s %llu\n", argv[3 + i], (unsigned long long)hits);
		}
	}
	printf("watched %d\n", watched);
	return 0;
}
