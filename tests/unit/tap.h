/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test Anything Protocol, as much of it as one program needs.  The name of a
 * check is the claim that it makes, as a sentence.
 */
#ifndef _TAP_H
#define _TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

static unsigned int tap_run, tap_failed;

__attribute__((format(printf, 2, 0)))
static inline int tap_result(int good, const char *name, va_list ap)
{
	tap_run++;
	tap_failed += !good;
	printf("%sok %u - ", good ? "" : "not ", tap_run);
	vprintf(name, ap);
	printf("\n");
	fflush(stdout);
	return good;
}

__attribute__((format(printf, 5, 6)))
static inline int tap_ok(int good, const char *file, int line,
			 const char *expr, const char *name, ...)
{
	va_list ap;

	va_start(ap, name);
	tap_result(good, name, ap);
	va_end(ap);
	if (!good)
		fprintf(stderr, "# %s:%d: not true: %s\n", file, line, expr);
	return good;
}

__attribute__((format(printf, 6, 7)))
static inline int tap_is(uint64_t got, uint64_t want, const char *file,
			 int line, const char *expr, const char *name, ...)
{
	va_list ap;

	va_start(ap, name);
	tap_result(got == want, name, ap);
	va_end(ap);
	if (got != want)
		fprintf(stderr, "# %s:%d: %s is %" PRIu64 " (0x%" PRIx64 "), "
			"not %" PRIu64 " (0x%" PRIx64 ")\n", file, line, expr,
			got, got, want, want);
	return got == want;
}

/* ok(condition, "sentence"): both may be formats with arguments */
#define ok(cond, ...) \
	tap_ok(!!(cond), __FILE__, __LINE__, #cond, __VA_ARGS__)

/* is(got, want, "sentence"): integers; shows both when they differ */
#define is(got, want, ...) \
	tap_is((uint64_t)(got), (uint64_t)(want), __FILE__, __LINE__, #got, \
	       __VA_ARGS__)

/* Last thing in main(): return tap_done(); */
static inline int tap_done(void)
{
	printf("1..%u\n", tap_run);
	return tap_failed ? 1 : 0;
}

/* A small generator, the same on every machine: tests repeat exactly. */
static inline uint64_t tap_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

#endif
