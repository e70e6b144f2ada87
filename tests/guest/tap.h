/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TAP_H
#define _TAP_H

/* TAP for guest tests in C; lib.sh is the same for bash. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned int tap_nr, tap_failed;

static inline __attribute__((format(printf, 2, 3))) bool ok(bool holds, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %u - ", holds ? "" : "not ", ++tap_nr);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	tap_failed += !holds;
	return holds;
}

static inline void skip(const char *name, const char *why)
{
	printf("ok %u - %s # SKIP %s\n", ++tap_nr, name, why);
}

static inline __attribute__((format(printf, 1, 2))) void diag(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static inline void is_u64(unsigned long long got, unsigned long long want, const char *name)
{
	if (!ok(got == want, "%s", name))
		diag("   got %llu\n# wanted %llu", got, want);
}

/* The call's result is -1, and errno is this. */
static inline void fails(long ret, int want, const char *name)
{
	const int err = errno;

	if (!ok(ret == -1 && err == want, "%s", name))
		diag("returned %ld (%s), wanted %s", ret, ret == -1 ? strerror(err) : "success",
		     strerror(want));
}

static inline void works(long ret, const char *name)
{
	const int err = errno;

	if (!ok(ret >= 0, "%s", name))
		diag("%s", strerror(err));
}

static inline void bail_out(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static inline int done_testing(void)
{
	printf("1..%u\n", tap_nr);
	return tap_failed ? 1 : 0;
}

#endif
