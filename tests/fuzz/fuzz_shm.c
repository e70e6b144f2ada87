// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/target/shm.c ctl/target/procmaps.c */
/* FUZZ: -max_len=4096 */
/* A text of /proc/sysvipc/shm, and behind a 0 one of /proc/PID/maps. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "target/maps.h"
#include "target/shm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

pid_t maps_thread(pid_t pid)
{
	return pid;
}

int maps_slurp(int dir, const char *path, char **text, size_t *len)
{
	return -1;
}

static int see_map(const struct procmap *m, void *ctx)
{
	struct shm_segment *at;

	return shm_add_map(ctx, 10, m, &at);
}

static int see_fd(const struct procmap *m, void *ctx)
{
	struct shm_segment *at;

	return shm_add_fd(ctx, 11, m->path, makedev(m->dev_major, m->dev_minor), m->inode, &at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shm s = { .posix_dev = makedev(0, 0x1a) };
	char *text = malloc(size + 1), *behind, *again;

	memcpy(text, data, size);
	text[size] = '\0';
	behind = text + strlen(text);
	if (behind < text + size)
		behind++;
	again = strdup(behind);
	if (shm_parse_sysv(&s, text) || procmaps_parse(behind, see_map, &s) ||
	    procmaps_parse(again, see_fd, &s))
		abort();
	free(again);
	for (size_t i = 0; i < s.nr; i++) {
		if (strlen(s.at[i].name) >= SHM_NAME || s.at[i].nr_holders > 2)
			abort();
		for (size_t k = 0; k < s.at[i].nr_holders; k++)
			if (!s.at[i].holders[k].maps && !s.at[i].holders[k].fds)
				abort();
	}
	shm_free(&s);
	free(text);
	return 0;
}
