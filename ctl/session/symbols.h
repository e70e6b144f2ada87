/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SYMBOLS_H
#define _SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define SYMBOLS_MAX	128
#define SYMBOLS_NAME	40

/* What the kernel calls the values, or the bits, of a tracepoint's field. */
struct symbols {
	bool flags;			/* of bits: several may hold */
	size_t nr;
	struct {
		__u64 value;
		char name[SYMBOLS_NAME];
	} at[SYMBOLS_MAX];
};

/*
 * From the "print fmt" of a tracepoint's format in tracefs: values differ between kernels.
 * What cannot be computed there has no name.  False: @field has none at all.
 */
bool symbols_parse(const char *format, const char *field, struct symbols *s);

/* The same, of which there is one for all who ask, and as long as the program; or NULL. */
const struct symbols *symbols_of(const char *format, const char *field);

/* The value of the name, or false. */
bool symbols_value(const struct symbols *s, const char *name, size_t len, __u64 *v);

/* "GFP_KERNEL|__GFP_ZERO": what has no name comes as a number.  As snprintf(). */
int symbols_text(const struct symbols *s, __u64 value, char *buf, size_t len);

#endif
