// SPDX-License-Identifier: GPL-2.0-or-later
/* What can be known of a receiver without libcurl: its URL, credentials, and answers. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "push/send.h"

static const char *behind_scheme(const char *url)
{
	return !strncmp(url, "https://", 8) ? url + 8 : !strncmp(url, "http://", 7) ? url + 7 :
									    NULL;
}

static bool is_port(const char *text, size_t len)
{
	unsigned long port = 0;

	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)text[i]) || port > 65535)
			return false;
		port = 10 * port + (unsigned long)(text[i] - '0');
	}
	return len && port && port <= 65535;
}

/* HOST, HOST:PORT, [ADDRESS]:PORT */
static bool is_host(const char *text, size_t len)
{
	const char *end = *text == '[' ? memchr(text, ']', len) : NULL;
	const size_t name = *text == '[' ? (end ? (size_t)(end + 1 - text) : 0) :
			    strcspn(text, ":/?#");

	if (!name || name > len || (*text == '[' && name < 4))
		return false;
	for (size_t i = 0; i < name; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-._~%:[]", text[i]))
			return false;
	return name == len || (text[name] == ':' && is_port(text + name + 1, len - name - 1));
}

bool send_check_url(const char *url, char why[SEND_WHY])
{
	const char *host = behind_scheme(url);
	const size_t len = host ? strcspn(host, "/?#") : 0;
	const char *bad = NULL;

	if (!host)
		bad = "a URL begins with http:// or https://";
	else if (strlen(url) > 2000)
		bad = "a URL has at most 2000 characters";
	else if (memchr(host, '@', len))
		bad = "credentials in a URL are seen by every user; put them into a file for "
		      "--credentials";
	else if (!is_host(host, len))
		bad = "behind http:// there must be a host, or HOST:PORT";
	else if (strchr(host, '#'))
		bad = "a URL to send to has no '#'";
	for (const char *p = url; !bad && *p; p++)
		if (*p <= ' ' || *p >= 0x7f)
			bad = "a URL has no blanks and no other characters than those of ASCII";
	/* (what is wrong with credentials does not show them) */
	if (bad)
		snprintf(why, SEND_WHY, "%.*s%s%s", memchr(host ? host : url, '@', len) ? 0 : 80,
			 url, memchr(host ? host : url, '@', len) ? "" : ": ", bad);
	return !bad;
}

bool send_is_pyroscope(const char *url)
{
	const char *host = behind_scheme(url);
	const size_t len = host ? strcspn(host, "?") : 0;

	return len > 7 && !memcmp(host + len - 7, "/ingest", 7);
}

/* The first line, without blanks at its end. */
static bool read_line(int fd, char *line)
{
	size_t len = 0;
	ssize_t n;

	while (len < SEND_LINE - 1 && (n = read(fd, line + len, SEND_LINE - 1 - len)) > 0)
		len += (size_t)n;
	if (len == SEND_LINE - 1)
		return false;
	line[len] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	len = strlen(line);
	while (len && line[len - 1] == ' ')
		line[--len] = '\0';
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			return false;
	return strncmp(line, "Bearer ", 7) ? strchr(line, ':') && *line != ':' : len > 7;
}

int send_read_credentials(const char *path, char *line, char why[SEND_WHY])
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *bad = NULL;
	struct stat st;

	line[0] = why[0] = '\0';
	if (fd < 0 || fstat(fd, &st)) {
		snprintf(why, SEND_WHY, "%.120s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -EINVAL;
	}
	if (!S_ISREG(st.st_mode))
		bad = "not a file";
	else if (st.st_mode & 077)
		bad = "other users may read it; 'chmod 600' it";
	else if (st.st_uid && st.st_uid != geteuid())
		bad = "it belongs to another user";
	else if (!read_line(fd, line))
		bad = "its first line is neither 'user:password' nor 'Bearer TOKEN'";
	close(fd);
	if (!bad)
		return 0;
	explicit_bzero(line, SEND_LINE);
	snprintf(why, SEND_WHY, "%.120s: %s", path, bad);
	return -EINVAL;
}

enum send_what send_status(long status)
{
	if (status >= 200 && status < 300)
		return SEND_TAKEN;
	/* what is wrong with this message is wrong each time */
	switch (status) {
	case 400: case 406: case 409: case 410: case 411: case 413: case 414: case 415: case 422:
		return SEND_REFUSED;
	default:
		return SEND_LATER;
	}
}
