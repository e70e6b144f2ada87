// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose and report how a running process was read. */
#include <stdio.h>

#include "base/err.h"
#include "base/text.h"
#include "leaks/leaks.h"

const char *look_way_name(enum look_way way)
{
	static const char *const names[NR_LOOK_WAYS] = {
		[LOOK_CHANGED] = "changed",
		[LOOK_AGAIN] = "again",
		[LOOK_HELD] = "held",
	};

	return names[way];
}

void look_way_text(char *text, size_t len, enum look_way way, __u64 copied, const char *why)
{
	char bytes[TEXT_LEN];

	if (way == LOOK_CHANGED)
		snprintf(text, len, " (the part that changed after %s were copied)",
			 text_bytes(bytes, (__s64)copied, false));
	else if (way == LOOK_AGAIN)
		snprintf(text, len, ", including memory that was copied before: %s", why);
	else
		snprintf(text, len, " and searched during the stop: %s", why);
}

void look_announce(pid_t pid, __u64 ns, __u64 bytes, __u64 copied)
{
	char time[TEXT_LEN], read[TEXT_LEN], before[TEXT_LEN], more[TEXT_LEN + 32] = "";

	if (copied)
		snprintf(more, sizeof(more), " (%s were copied)",
			 text_bytes(before, (__s64)copied, false));
	note("process %d will be stopped for about %s, while %s of its memory are read%s", pid,
	     text_ns(time, (__s64)ns), text_bytes(read, (__s64)bytes, false), more);
}
