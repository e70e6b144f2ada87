// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read soft-dirty bits; see dirty.h.  A test on one of our own pages checks whether they work on
 * this kernel: another thread writes to it all the time.  A kernel that does not flush the TLBs of
 * other CPUs would show the page as clean.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "leaks/dirty.h"
#include "target/maps.h"

#define PAGE		4096UL
#define TRIED_PAGES	4
#define TRIES		3
#define LONGEST_NS	2000000000ULL	/* until a thread of ours has written */

/* ---- does this kernel have them? ---- */

/* Of our own pages: the first one is written to all the time, the second one once. */
struct trial {
	unsigned char *pages;
	int pagemap, clear;
	volatile unsigned long *count;
	int over;
};

static void *write_on(void *arg)
{
	struct trial *t = arg;

	while (!shared_get(&t->over)) {
		++*t->count;
		sched_yield();
	}
	return NULL;
}

static bool is_dirty(const struct trial *t, size_t page)
{
	const unsigned long at = (unsigned long)t->pages / PAGE + page;
	__u64 entry;

	return pread(t->pagemap, &entry, sizeof(entry), (off_t)(at * sizeof(entry))) !=
	       sizeof(entry) || entry & DIRTY_BIT;
}

static bool goes_on(const struct trial *t)
{
	const unsigned long from = *t->count;
	const __u64 until = clock_ns() + LONGEST_NS;

	/* twice: the first one may have begun before */
	while (*t->count < from + 2) {
		if (clock_ns() > until)
			return false;
		sched_yield();
	}
	return true;
}

/* Page 0 is written to by somebody else, 1 by us, 2 not, 3 is given back. */
static bool try_once(const struct trial *t)
{
	memset(t->pages + PAGE, 1, 3 * PAGE);
	if (!goes_on(t) || dirty_clear(t->clear))
		return false;
	if (!goes_on(t))
		return false;
	t->pages[PAGE]++;
	madvise(t->pages + 3 * PAGE, PAGE, MADV_DONTNEED);
	t->pages[3 * PAGE] = 1;
	return is_dirty(t, 0) && is_dirty(t, 1) && !is_dirty(t, 2) && is_dirty(t, 3);
}

static bool try_all(struct trial *t)
{
	pthread_t thread;
	bool good = true;

	if (t->pagemap < 0 || t->clear < 0 || thread_start(&thread, write_on, t))
		return false;
	for (int i = 0; i < TRIES && good; i++)
		good = try_once(t);
	shared_set(&t->over, 1);
	pthread_join(thread, NULL);
	return good;
}

static bool works;

static void try_it(void)
{
	struct trial t = { .over = 0 };
	void *pages = mmap(NULL, TRIED_PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return;
	/* (a huge page is one) */
	madvise(pages, TRIED_PAGES * PAGE, MADV_NOHUGEPAGE);
	t.pages = pages;
	t.count = pages;
	t.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	t.clear = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	works = try_all(&t);
	if (t.pagemap >= 0)
		close(t.pagemap);
	if (t.clear >= 0)
		close(t.clear);
	munmap(pages, TRIED_PAGES * PAGE);
}

/* ---- of this process? ---- */

/* The kernel forgets the bit where it finds pages that are the same (ksm). */
static bool merges_pages(void)
{
	char *text;
	bool merges;
	size_t len;

	if (maps_slurp(AT_FDCWD, "/sys/kernel/mm/ksm/run", &text, &len))
		return false;
	merges = text[0] == '1';
	free(text);
	return merges;
}

/* What is pinned the kernel, or a device, writes to without anybody's page table. */
static bool has_pinned(pid_t pid)
{
	char path[32], *text;
	const char *line;
	bool pinned;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return false;
	line = strstr(text, "\nVmPin:");
	pinned = line && strtoull(line + strlen("\nVmPin:"), NULL, 10);
	free(text);
	return pinned;
}

const char *dirty_why_not(pid_t pid)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, try_it);
	if (!works)
		return "soft-dirty bits do not work on this kernel";
	if (merges_pages())
		return "this kernel merges pages (ksm)";
	if (has_pinned(pid))
		return "some of its pages are pinned";
	return NULL;
}

int dirty_open(pid_t pid)
{
	char path[32];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/clear_refs", pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* who clears them meanwhile takes away what we will ask for */
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	close(fd);
	return err;
}

int dirty_clear(int fd)
{
	return pwrite(fd, "4", 1, 0) == 1 ? 0 : errno ? -errno : -EIO;
}
