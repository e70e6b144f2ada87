// SPDX-License-Identifier: GPL-2.0-or-later
/* Helpers of the readers of a machine's description. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "machine/host_int.h"

void host_gap(struct host *h, const char *fmt, ...)
{
	va_list ap;

	if (h->nr_gaps == MACHINE_GAPS)
		return;
	va_start(ap, fmt);
	vsnprintf(h->gaps[h->nr_gaps++].text, sizeof(h->gaps[0].text), fmt, ap);
	va_end(ap);
}

enum host_answer host_there(const struct machine_at *at, const char *fmt, ...)
{
	char path[PATH_MAX];
	struct stat st;
	va_list ap;
	int n;

	n = snprintf(path, sizeof(path), "%s", at->root);
	va_start(ap, fmt);
	vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, ap);
	va_end(ap);
	if (!stat(path, &st))
		return HOST_YES;
	return errno == ENOENT || errno == ENOTDIR ? HOST_NO : HOST_UNKNOWN;
}

bool host_lockdown(const struct machine_at *at, char *word, size_t len)
{
	char *text, *open, *end;
	bool told = false;
	int err;

	text = machine_file(at, "/sys/kernel/security/lockdown", FILE_SMALL, &err);
	if (!text)
		return false;
	open = strchr(text, '[');
	end = open ? strchr(open, ']') : NULL;
	if (end) {
		*end = '\0';
		snprintf(word, len, "%s", open + 1);
		told = true;
	}
	free(text);
	return told;
}
