// SPDX-License-Identifier: GPL-2.0-or-later
/* Format the sentences and commands of an OOM diagnosis. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "triage/int.h"
#include "triage/oom_int.h"

void oom_say(struct oom_why *w, const char *fmt, ...)
{
	const size_t at = strlen(w->sentence);
	va_list args;

	va_start(args, fmt);
	vsnprintf(w->sentence + at, sizeof(w->sentence) - at, fmt, args);
	va_end(args);
}

struct oom_size oom_signed_size(__s64 bytes)
{
	struct oom_size s;

	text_bytes(s.text, bytes, false);
	return s;
}

struct oom_size oom_size(__u64 bytes)
{
	return oom_signed_size((__s64)(bytes < 1ULL << 62 ? bytes : 1ULL << 62));
}

unsigned int oom_percent(__u64 part, __u64 whole)
{
	return !whole ? 0 : part >= whole ? 100 :
	       (unsigned int)((double)part * 100 / (double)whole);
}

void oom_advise(struct oom_why *w, const char *tells, const char *command, const char *name)
{
	char quoted[sizeof(w->command)] = "";

	w->tells = tells;
	if (name)
		triage_quote(name, quoted, sizeof(quoted));
	snprintf(w->command, sizeof(w->command), command, quoted);
}
