// SPDX-License-Identifier: GPL-2.0-or-later
/* Format single allocator calls, one per line. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "leaks/leaks.h"

void leaks_trace_head(FILE *out)
{
	fprintf(out, "%-17s %3s %-16s %-7s %-7s %s\n", "TIME(s)", "CPU", "COMM", "PID", "TID",
		"EVENT");
}

/* Whatever a name has, it stays in its column. */
static void put_name(FILE *out, const char *name, size_t len, int width)
{
	char text[MEMTAP_NAME_LEN];

	snprintf(text, sizeof(text), "%.*s", (int)len, name);
	text_put(out, text, NULL);
	for (int n = (int)strlen(text); n < width; n++)
		fputc(' ', out);
}

static const char *outcome_name(__u32 flags)
{
	if (flags & MEMTAP_CALL_MISMATCH)
		return " (invalid or mismatched)";
	if (flags & MEMTAP_CALL_UNKNOWN)
		return " (not known)";
	if (flags & MEMTAP_CALL_FAILED)
		return " (failed)";
	return flags & MEMTAP_CALL_SKIPPED ? " (not kept)" : "";
}

void leaks_trace_line(FILE *out, const struct memtap_call *c, const char *event)
{
	/* of a call that takes back and hands out, the size is of what it hands out */
	const bool hands_out = c->addr || !c->old || (c->flags & MEMTAP_CALL_FAILED);

	fprintf(out, "%10" PRIu64 ".%06" PRIu64 " %3u ", (uint64_t)c->ns / 1000000000,
		(uint64_t)c->ns % 1000000000 / 1000, c->cpu);
	put_name(out, c->comm, sizeof(c->comm), 16);
	fprintf(out, " %-7d %-7d ", c->pid, c->tid);
	put_name(out, event, MEMTAP_NAME_LEN - 1, 0);
	if (c->old)
		fprintf(out, " ptr=0x%" PRIx64, (uint64_t)c->old);
	if (hands_out || c->size)
		fprintf(out, " size=%" PRIu64, (uint64_t)c->size);
	if (hands_out)
		fprintf(out, " ret=0x%" PRIx64, (uint64_t)c->addr);
	fprintf(out, "%s\n", outcome_name(c->flags));
}
