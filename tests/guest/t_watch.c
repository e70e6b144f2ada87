// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * t_watch PID SECONDS ADDRESS...: check whether a thread of PID accesses the eight bytes at these
 * addresses, by hardware breakpoints on data, four addresses at a time, each for its share of the
 * time.  Prints "ADDRESS HITS by FILE+0xOFFSET" for each accessed address (the instruction after
 * the first access), and "watched N".  Threads that start meanwhile are not seen.
 *
 * Emulated breakpoints may report too much.  QEMU 7 treats an unaligned store as an access to all
 * bytes from the beginning of its page.  So its results are reliable for the last eight bytes of a
 * page only.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE	4
#define THREADS	64
#define PAGE	4096

struct watch {
	int fd;
	struct perf_event_mmap_page *ring;	/* one page of it */
};

static bool watch(struct watch *w, pid_t tid, uint64_t addr)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_BREAKPOINT;
	attr.bp_type = HW_BREAKPOINT_RW;
	attr.bp_addr = addr & ~7ULL;
	attr.bp_len = HW_BREAKPOINT_LEN_8;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.wakeup_events = ~0U;
	w->fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, 0);
	if (w->fd < 0)
		return errno == ESRCH;
	w->ring = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	return w->ring != MAP_FAILED;
}

/* How often; *@ip: behind the first that did. */
static uint64_t unwatch(struct watch *w, uint64_t *ip)
{
	const struct {
		struct perf_event_header head;
		uint64_t ip;
	} *first = (const void *)((const char *)w->ring + PAGE);
	uint64_t n = 0;

	if (w->fd < 0)
		return 0;
	if (read(w->fd, &n, sizeof(n)) != sizeof(n))
		n = 0;
	if (n && w->ring->data_head && first->head.type == PERF_RECORD_SAMPLE)
		*ip = first->ip;
	munmap(w->ring, 2 * PAGE);
	close(w->fd);
	return n;
}

/* " by FILE+0xOFFSET", or only the address */
static void say_where(const char *pid, uint64_t ip)
{
	unsigned long start, end, offset;
	char line[512], file[256];
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%s/maps", pid);
	f = fopen(line, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &start, &end, &offset,
			   file) == 4 && ip - start < end - start) {
			printf(" by %s+%#lx", file, (unsigned long)ip - start + offset);
			fclose(f);
			return;
		}
	if (f)
		fclose(f);
	printf(" by %#lx", (unsigned long)ip);
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
	static struct watch watches[AT_ONCE][THREADS];
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
			for (size_t t = 0; t < nr_tids; t++)
				if (!watch(&watches[i - first][t], tids[t],
					   strtoull(argv[3 + i], NULL, 16))) {
					perror("t_watch");
					return 1;
				}
		nanosleep(&ts, NULL);
		for (int i = first; i < last; i++) {
			uint64_t hits = 0, ip = 0;

			for (size_t t = 0; t < nr_tids; t++)
				hits += unwatch(&watches[i - first][t], &ip);
			watched++;
			if (!hits)
				continue;
			printf("%s %llu", argv[3 + i], (unsigned long long)hits);
			say_where(argv[1], ip);
			puts("");
		}
	}
	printf("watched %d\n", watched);
	return 0;
}
