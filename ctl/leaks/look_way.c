// SPDX-License-Identifier: GPL-2.0-or-later
/* How a process was read that went on. */
#include <stdio.h>

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
		snprintf(text, len, " that had changed since %s were copied",
			 text_bytes(bytes, (__s64)copied, false));
	else if (way == LOOK_AGAIN)
		snprintf(text, len, ", what had been copied again, too: %s", why);
	else
		snprintf(text, len, " and searched meanwhile: %s", why);
}
