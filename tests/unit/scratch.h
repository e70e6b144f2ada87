/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An empty directory to be in, for a test that makes files. */
#ifndef _SCRATCH_H
#define _SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char scratch_dir[] = "/tmp/memtap-unit.XXXXXX";

static inline void scratch_begin(void)
{
	if (!mkdtemp(scratch_dir) || chdir(scratch_dir))
		abort();
}

/* Of the process that began it.  Nonzero: it is not gone. */
static inline int scratch_end(void)
{
	char command[64];

	snprintf(command, sizeof(command), "/bin/rm -r %s", scratch_dir);
	return system(command);
}

#endif
