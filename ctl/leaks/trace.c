// SPDX-License-Identifier: GPL-2.0-or-later
/* Single calls, as memleak -t prints them: a tuple of Python for each. */
#include <stdarg.h>

#include "leaks/leaks.h"

/* As in b'...': whatever a name has, it stays on its line. */
static void put_bytes(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len && text[i]; i++) {
		const unsigned char c = text[i];

		if (c == '\'' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c > 0x7e)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
}

static void put_line(FILE *out, const struct memtap_call *c, const char *event,
		     const char *more, const char *fmt, ...)
{
	va_list ap;

	fputs("(b'", out);
	put_bytes(out, c->comm, sizeof(c->comm));
	fprintf(out, "', %d, %u, b'....', %llu.%06llu, b'", c->tid, c->cpu,
		(unsigned long long)(c->ns / 1000000000),
		(unsigned long long)(c->ns % 1000000000 / 1000));
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fputs(", ", out);
	put_bytes(out, event, MEMTAP_NAME_LEN);
	fprintf(out, "%s')\n", more);
}

static const char *what_of_free(__u32 flags)
{
	if (flags & MEMTAP_CALL_MISMATCH)
		return ", which cannot be right";
	return flags & MEMTAP_CALL_UNKNOWN ? ", not known" : "";
}

void leaks_trace_line(FILE *out, const struct memtap_call *c, const char *event)
{
	const bool failed = c->flags & MEMTAP_CALL_FAILED;
	/* realloc(p, 0) hands out nothing and frees; one that failed does not */
	const bool frees = c->old && !(failed && c->size);
	/* of a realloc, the size is of what it hands out */
	const unsigned long long freed = c->addr ? 0 : c->size;

	if (frees)
		put_line(out, c, event, what_of_free(c->flags),
			 "free entered, address = %llx, size = %llu",
			 (unsigned long long)c->old, freed);
	if (c->addr || !frees)
		put_line(out, c, event, c->flags & MEMTAP_CALL_SKIPPED ? ", not kept" : "",
			 "alloc exited, size = %llu, result = %llx",
			 (unsigned long long)c->size, (unsigned long long)c->addr);
}
