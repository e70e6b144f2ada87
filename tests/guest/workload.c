// SPDX-License-Identifier: GPL-2.0-or-later
/* The common part of the ground-truth workloads: options, threads, window, report. */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "workload.h"

#define STACK_SIZE	(256 << 10)

struct wl_opts wl_opts = { .threads = 1, .rounds = 1 };

static pthread_barrier_t open_window, close_window;
static struct rusage before, after;

void wl_die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

int __attribute__((weak)) wl_locked(void)
{
	return 0;
}

/* Pages of the stack that later calls will need. */
static WL_FN void touch_stack(void)
{
	volatile char room[64 << 10];
	size_t i;

	for (i = 0; i < sizeof(room); i += 4096)
		room[i] = 0;
}

/* All paths begin here. */
WL_FN void wl_worker(unsigned int thread)
{
	wl_work(thread);
	__asm__ volatile("");	/* no tail call */
}

static void *thread_main(void *arg)
{
	touch_stack();
	pthread_barrier_wait(&open_window);
	/* main() locks everything between the two */
	pthread_barrier_wait(&open_window);
	wl_worker((unsigned int)(uintptr_t)arg);
	pthread_barrier_wait(&close_window);
	pthread_barrier_wait(&close_window);
	return NULL;
}

static void start_threads(pthread_t *ids)
{
	pthread_attr_t attr;
	unsigned int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_barrier_init(&open_window, NULL, wl_opts.threads);
	pthread_barrier_init(&close_window, NULL, wl_opts.threads);
	for (i = 1; i < wl_opts.threads; i++)
		if (pthread_create(&ids[i], &attr, thread_main, (void *)(uintptr_t)i))
			wl_die("pthread_create");
}

/* The test sees that it stopped, and says when it goes on. */
static void wait_for_go(void)
{
	if (wl_opts.stops)
		raise(SIGSTOP);
}

static void write_truth(void)
{
	FILE *out = stdout;
	char comm[17] = "";
	size_t i;

	if (wl_opts.expect)
		out = fopen(wl_opts.expect, "we");
	if (!out)
		wl_die(wl_opts.expect);
	prctl(PR_GET_NAME, comm);
	for (i = 0; i < wl_nr_lines; i++)
		if (wl_lines[i].count)
			fprintf(out, "%s\t%s;%s\t%lu\t%lld\n", wl_lines[i].event, comm,
				wl_lines[i].stack, wl_lines[i].count, wl_lines[i].sum);
	fprintf(out, "rusage\t%s\t%ld\t%ld\n", comm, after.ru_minflt - before.ru_minflt,
		after.ru_majflt - before.ru_majflt);
	if (out != stdout && fclose(out))
		wl_die(wl_opts.expect);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "t:n:e:sf:c:")) != -1) {
		switch (c) {
		case 't':
			wl_opts.threads = atoi(optarg);
			break;
		case 'n':
			wl_opts.rounds = strtoul(optarg, NULL, 0);
			break;
		case 'e':
			wl_opts.expect = optarg;
			break;
		case 's':
			wl_opts.stops = true;
			break;
		case 'f':
			wl_opts.file = optarg;
			break;
		case 'c':
			wl_opts.name = optarg;
			break;
		default:
			exit(2);
		}
	}
	if (!wl_opts.threads || wl_opts.threads > WL_MAX_THREADS) {
		fprintf(stderr, "%s: 1 to %d threads\n", argv[0], WL_MAX_THREADS);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	pthread_t ids[WL_MAX_THREADS];
	unsigned int i;

	parse(argc, argv);
	if (wl_opts.name)
		prctl(PR_SET_NAME, wl_opts.name);
	/* a huge page would be one fault for 512 pages */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	touch_stack();
	if (wl_prepare())
		wl_die("prepare");
	start_threads(ids);
	pthread_barrier_wait(&open_window);
	if (mlockall(MCL_CURRENT) || wl_locked())
		wl_die("mlockall");
	getrusage(RUSAGE_SELF, &after);	/* its first call resolves the symbol */
	wait_for_go();

	getrusage(RUSAGE_SELF, &before);
	pthread_barrier_wait(&open_window);
	wl_worker(0);
	pthread_barrier_wait(&close_window);
	getrusage(RUSAGE_SELF, &after);

	wait_for_go();
	pthread_barrier_wait(&close_window);
	for (i = 1; i < wl_opts.threads; i++)
		pthread_join(ids[i], NULL);
	write_truth();
	return 0;
}
