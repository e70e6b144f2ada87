// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/resource.h>
#include <unistd.h>

#include "base/limit.h"

#define LEAST		(512UL << 20)

static struct rlimit before, files_before;
static rlim_t most;		/* 0: whatever there is */

static void set_most(rlim_t to)
{
	const struct rlimit own = { .rlim_cur = to, .rlim_max = before.rlim_max };

	setrlimit(RLIMIT_DATA, &own);
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

void limit_restore(void)
{
	if (files_before.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files_before);
	if (before.rlim_max)
		setrlimit(RLIMIT_DATA, &before);
}
