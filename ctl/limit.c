// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/resource.h>
#include <unistd.h>

#include "limit.h"

#define LEAST		(512UL << 20)

static struct rlimit before;

/*
 * Compressed sections of a file that somebody else made can be a thousand times as
 * large as the file, and libraries unpack them without looking.
 */
void limit_memory(void)
{
	const unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
	const unsigned long pages = (unsigned long)sysconf(_SC_PHYS_PAGES);
	const rlim_t quarter = pages / 4 * page, most = quarter < LEAST ? LEAST : quarter;
	struct rlimit own;

	if (getrlimit(RLIMIT_DATA, &before) || before.rlim_cur <= most)
		return;
	own = (struct rlimit){ .rlim_cur = most, .rlim_max = before.rlim_max };
	setrlimit(RLIMIT_DATA, &own);
}

void limit_restore(void)
{
	if (before.rlim_max)
		setrlimit(RLIMIT_DATA, &before);
}
