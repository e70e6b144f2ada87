// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_load_tail SECONDS FILE: how long its own page faults and calls of malloc() take,
 * while others make noise.  Stops itself at first; then, until SIGTERM, for each slice of
 * so many seconds a line goes to FILE:
 *
 *	SLICE fault COUNT P50 P99 P999 MAX malloc COUNT P50 P99 P999 MAX
 *
 * in ns, upper ends of buckets of 1/16 octave.  It runs before all others (SCHED_FIFO):
 * what it waits for is what happens to it, and not its turn.
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096
#define PAGES		64
#define FINE		4		/* bits of a value that are told apart */
#define BUCKETS		(64 << FINE)
#define PAUSE_US	5000

struct hist {
	uint64_t nr, at[BUCKETS];
};

static volatile sig_atomic_t ends;

static void on_term(int sig __attribute__((unused)))
{
	ends = 1;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static unsigned int bucket(uint64_t ns)
{
	const int top = ns >> FINE ? 63 - __builtin_clzll(ns) : FINE;

	return ((top - FINE) << FINE) + (ns >> (top - FINE));
}

/* One more than the largest value in it. */
static uint64_t bucket_end(unsigned int i)
{
	const unsigned int octave = i >> FINE;

	if (octave < 2)
		return i + 1;
	return (uint64_t)((1 << FINE) + (i & ((1 << FINE) - 1)) + 1) << (octave - 1);
}

static void put(struct hist *h, uint64_t ns)
{
	h->nr++;
	h->at[bucket(ns)]++;
}

/* So that at most one in @of is above. */
static uint64_t quantile(const struct hist *h, uint64_t of)
{
	uint64_t above = h->nr / of, sum = 0;
	int i;

	for (i = BUCKETS - 1; i >= 0; i--) {
		sum += h->at[i];
		if (sum > above)
			return bucket_end(i);
	}
	return 0;
}

static void write_hist(FILE *f, const char *what, const struct hist *h)
{
	fprintf(f, " %s %llu %llu %llu %llu %llu", what, (unsigned long long)h->nr,
		(unsigned long long)quantile(h, 2), (unsigned long long)quantile(h, 100),
		(unsigned long long)quantile(h, 1000),
		(unsigned long long)quantile(h, UINT64_MAX));
}

__attribute__((noipa)) static void measure_faults(struct hist *h, char *pages)
{
	uint64_t from;
	int i;

	for (i = 0; i < PAGES; i++) {
		from = now();
		*(volatile char *)(pages + i * PAGE) = 1;
		put(h, now() - from);
	}
	if (madvise(pages, PAGES * PAGE, MADV_DONTNEED))
		_exit(1);
}

__attribute__((noipa)) static void measure_mallocs(struct hist *h)
{
	void *at[PAGES];
	uint64_t from;
	int i;

	for (i = 0; i < PAGES; i++) {
		from = now();
		at[i] = malloc(100 + 16 * i);
		put(h, now() - from);
	}
	for (i = 0; i < PAGES; i++)
		free(at[i]);
}

int main(int argc, char **argv)
{
	static struct hist of_faults, of_mallocs;
	const struct sched_param before_all = { .sched_priority = 10 };
	char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t until, length;
	FILE *f;
	int nr;

	if (argc != 3 || pages == MAP_FAILED)
		return 2;
	signal(SIGTERM, on_term);
	f = fopen(argv[2], "w");
	if (!f || sched_setscheduler(0, SCHED_FIFO, &before_all))
		return 2;
	madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	length = strtoull(argv[1], NULL, 10) * 1000000000ULL;
	raise(SIGSTOP);		/* until all is in place */
	for (nr = 0, until = now() + length; !ends; nr++, until += length) {
		memset(&of_faults, 0, sizeof(of_faults));
		memset(&of_mallocs, 0, sizeof(of_mallocs));
		while (!ends && now() < until) {
			measure_faults(&of_faults, pages);
			measure_mallocs(&of_mallocs);
			usleep(PAUSE_US);
		}
		if (ends)
			break;		/* not a whole one */
		fprintf(f, "%d", nr);
		write_hist(f, "fault", &of_faults);
		write_hist(f, "malloc", &of_mallocs);
		fputc('\n', f);
		fflush(f);
	}
	return fclose(f) ? 1 : 0;
}
