/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_METRICS_ADDRESS_H
#define _CMD_METRICS_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Where --listen listens. */
struct metrics_address {
	struct sockaddr_storage at;
	socklen_t len;
	const char *path;		/* of a Unix socket; or NULL */
};

#define METRICS_WHY	160

/*
 * unix:PATH, 127.0.0.1:PORT or [::1]:PORT; false: it is none of these, and @why is half a
 * sentence about it.
 */
bool metrics_address(const char *text, struct metrics_address *a, char why[METRICS_WHY]);

#endif
