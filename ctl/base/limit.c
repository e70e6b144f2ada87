// SPDX-License-Identifier: GPL-2.0-or-later
/* Limit this process's memory and open files, and set its OOM score. */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limit.h"

#define LEAST		(512UL << 20)

static struct rlimit before, files_before;
static rlim_t most;		/* 0: whatever there is */
static pthread_mutex_t most_lock = PTHREAD_MUTEX_INITIALIZER;
static rlim_t now, reserved;	/* without, and address space that takes no memory */

static void set_limit(void)
{
	const rlim_t room = before.rlim_cur - now;
	const struct rlimit own = { .rlim_cur = now + (reserved < room ? reserved : room),
				    .rlim_max = before.rlim_max };

	setrlimit(RLIMIT_DATA, &own);
}

static void set_most(rlim_t to)
{
	pthread_mutex_lock(&most_lock);
	now = to;
	set_limit();
	pthread_mutex_unlock(&most_lock);
}

void limit_reserve(__s64 bytes)
{
	pthread_mutex_lock(&most_lock);
	reserved += (rlim_t)bytes;
	if (most)
		set_limit();
	pthread_mutex_unlock(&most_lock);
}

/*
 * Compressed sections of a file that somebody else made can be a thousand times as
 * large as the file, and libraries unpack them without looking.
 */
void limit_memory(void)
{
	const unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
	const unsigned long pages = (unsigned long)sysconf(_SC_PHYS_PAGES);
	const rlim_t quarter = pages / 4 * page;

	if (getrlimit(RLIMIT_DATA, &before))
		return;
	most = quarter < LEAST ? LEAST : quarter;
	if (most > before.rlim_cur)
		most = before.rlim_cur;
	set_most(most);
}

void limit_narrow(bool narrow)
{
	if (most)
		set_most(narrow ? most - most / 8 : most);
}

void limit_files(void)
{
	struct rlimit all;

	if (getrlimit(RLIMIT_NOFILE, &files_before))
		return;
	all = files_before;
	all.rlim_cur = all.rlim_max;
	setrlimit(RLIMIT_NOFILE, &all);
}

#define SCORE_ADJ	"/proc/self/oom_score_adj"

static pthread_mutex_t score_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int score_users;
static char score_before[16];	/* "": it was not changed */

/* By system calls alone: also in a child after fork(). */
static void set_score(const char *to)
{
	const int fd = open(SCORE_ADJ, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, to, strlen(to)) < 0)
		score_before[0] = '\0';
	close(fd);
}

static void read_score(void)
{
	const int fd = open(SCORE_ADJ, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, score_before, sizeof(score_before) - 1);

	score_before[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

void limit_oom_first(bool first)
{
	pthread_mutex_lock(&score_lock);
	if (first && !score_users++) {
		read_score();
		if (score_before[0])
			set_score("1000");
	} else if (!first && !--score_users && score_before[0]) {
		set_score(score_before);
		score_before[0] = '\0';
	}
	pthread_mutex_unlock(&score_lock);
}

void limit_restore(void)
{
	if (score_before[0])
		set_score(score_before);
	if (files_before.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files_before);
	if (before.rlim_max)
		setrlimit(RLIMIT_DATA, &before);
}
