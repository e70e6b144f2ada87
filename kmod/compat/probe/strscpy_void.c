// SPDX-License-Identifier: GPL-2.0-only
/* v4.17, RHEL 7: the result of strscpy() may be ignored */
#include <linux/string.h>
#include "probe.h"

#pragma GCC diagnostic error "-Wunused-result"
void probe(char *to, const char *from);
void probe(char *to, const char *from)
{
	strscpy(to, from, 8);
}
