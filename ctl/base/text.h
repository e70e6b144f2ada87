/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TEXT_H
#define _TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

/* Format numbers for people, into the caller's buffer, which is returned. */
#define TEXT_LEN	48

/*
 * As snprintf() does a number, and many times faster: with @base 10 or 16, in @width characters
 * at least, @pad in front.  How long it is; what does not fit into @len is left out.
 */
int text_number(char *buf, size_t len, __u64 n, unsigned int base, unsigned int width, char pad);

char *text_count(char buf[TEXT_LEN], __u64 n);		/* 1,234,567 */
char *text_signed(char buf[TEXT_LEN], __s64 n);
char *text_bytes(char buf[TEXT_LEN], __s64 n, bool plus);	/* 48.0 KiB */
char *text_ns(char buf[TEXT_LEN], __s64 ns);		/* 1.5 ms */
char *text_long(char buf[TEXT_LEN], __u64 ns);		/* 1.5 s, 34 minutes, 3 hours, 12 days */
/* A value in its unit (MEMTAP_UNIT_*), readable: "48.0 KiB", "12 pages", "3.1 ms" */
char *text_value(char buf[TEXT_LEN], __s64 v, __u32 unit, bool plus);
char *text_time(char buf[TEXT_LEN], __u64 real_ns);	/* 2026-01-31 23:59:59 */
char *text_clock(char buf[TEXT_LEN], __u64 real_ns);	/* 23:59:59 */

/* How many letters are to be changed, added or left out to make one word of the other. */
unsigned int text_distance(const char *a, const char *b);

/* Of several words, the one that @name may be a slip for: at most two letters differ. */
struct text_like {
	const char *name;
	char best[128];
	unsigned int least;
	bool several;
};

void text_like_begin(struct text_like *l, const char *name);
void text_like_add(struct text_like *l, const char *word);
/* NULL: there is none, or there are several. */
const char *text_like_best(const struct text_like *l);

/* What stands behind a noun: "1 event", "2 events". */
static inline const char *text_s(__u64 n)
{
	return n == 1 ? "" : "s";
}

/*
 * Text of others, made harmless for a terminal or a line: control characters
 * and what is not UTF-8 come out as '?'; @also too.
 */
void text_put(FILE *out, const char *text, const char *also);

#endif
