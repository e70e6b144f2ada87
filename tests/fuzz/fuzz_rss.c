// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/rss/process.c ctl/base/ids.c */
/* FUZZ: -max_len=2048 */
/* /proc/PID/smaps: names in it are other people's. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rss/rss.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rss_env e = { .kpageflags = -1, .page = 4096 };
	struct rss_process p = { 0 };
	FILE *f = size ? fmemopen((void *)data, size, "r") : NULL;

	if (!f)
		return 0;
	rss_process_maps(&e, "/nowhere", f, &p);
	for (size_t i = 0; i < p.nr_maps; i++)
		if (p.maps[i].path > p.nr_paths ||
		    (p.maps[i].path && strlen(p.paths[p.maps[i].path - 1]) > size))
			abort();
	rss_process_free(&p);
	fclose(f);
	return 0;
}
