/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _WL_LEAK_COUNT_H
#define _WL_LEAK_COUNT_H

#include <stdint.h>

struct books {
	uint64_t allocs;	/* as Memcheck counts them: realloc() is one of each */
	uint64_t frees;
	uint64_t bytes;		/* asked for, in all */
	uint64_t live_blocks;
	uint64_t live_bytes;
};

#endif
