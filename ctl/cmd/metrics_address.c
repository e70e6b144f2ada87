// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the address of --listen: a Unix socket, or a port of this machine alone. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "cmd/metrics_address.h"

static bool unix_address(const char *path, struct metrics_address *a, char why[METRICS_WHY])
{
	struct sockaddr_un *un = (struct sockaddr_un *)&a->at;

	if (*path != '/') {
		snprintf(why, METRICS_WHY, "unix: needs an absolute path");
		return false;
	}
	if (strlen(path) >= sizeof(un->sun_path)) {
		snprintf(why, METRICS_WHY, "the path of a socket has at most %zu bytes",
			 sizeof(un->sun_path) - 1);
		return false;
	}
	if (path[strlen(path) - 1] == '/') {
		snprintf(why, METRICS_WHY, "this is the path of a directory");
		return false;
	}
	un->sun_family = AF_UNIX;
	strcpy(un->sun_path, path);
	a->len = sizeof(*un);
	a->path = un->sun_path;
	return true;
}

static bool parse_port(const char *text, in_port_t *port)
{
	__u64 n;

	if (!opt_u64(text, &n) || !n || n > 65535)
		return false;
	*port = htons((in_port_t)n);
	return true;
}

bool metrics_address(const char *text, struct metrics_address *a, char why[METRICS_WHY])
{
	static const char v4[] = "127.0.0.1:", v6[] = "[::1]:";
	struct sockaddr_in *in = (struct sockaddr_in *)&a->at;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a->at;

	memset(a, 0, sizeof(*a));
	if (!strncmp(text, "unix:", 5))
		return unix_address(text + 5, a, why);
	snprintf(why, METRICS_WHY, "PORT is a number from 1 to 65535");
	if (!strncmp(text, v4, sizeof(v4) - 1)) {
		in->sin_family = AF_INET;
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		a->len = sizeof(*in);
		return parse_port(text + sizeof(v4) - 1, &in->sin_port);
	}
	if (!strncmp(text, v6, sizeof(v6) - 1)) {
		in6->sin6_family = AF_INET6;
		in6->sin6_addr = in6addr_loopback;
		a->len = sizeof(*in6);
		return parse_port(text + sizeof(v6) - 1, &in6->sin6_port);
	}
	snprintf(why, METRICS_WHY, "only unix:PATH, 127.0.0.1:PORT and [::1]:PORT, since memtap "
		 "has neither TLS nor passwords; put a proxy in front of one of these");
	return false;
}
