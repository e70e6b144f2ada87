// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * t_start MIB TIMES: start a session with MIB of live blocks TIMES times without checking for free
 * memory, and print the result of each START.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "session.h"

int main(int argc, char **argv)
{
	struct memtap_config config = {
		.size = sizeof(config),
		.flags = MEMTAP_CFG_KSTACK | MEMTAP_CFG_OBJECTS,
	};
	int i, fd;

	if (argc != 3)
		return 2;
	config.mem_live = (uint64_t)atol(argv[1]) << 20;
	for (i = 0; i < atoi(argv[2]); i++) {
		fd = session_open();
		config.events = 1ULL << event_id(fd, "kmalloc") | 1ULL << event_id(fd, "kfree");
		if (ioctl(fd, MEMTAP_CONFIGURE, &config))
			printf("configure: %s\n", strerror(errno));
		else if (session_run(fd, MEMTAP_START))
			printf("start: %s\n", strerror(errno));
		else
			printf("started\n");
		close(fd);
	}
	return 0;
}
