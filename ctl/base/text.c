// SPDX-License-Identifier: GPL-2.0-or-later
/* Format numbers and names for people. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "port/utf8.h"
#include "uapi/memtap.h"

static char *with_commas(char *buf, const char *sign, __u64 n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *p = stpcpy(buf, sign);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = 0;
	return buf;
}

int text_number(char *buf, size_t len, __u64 n, unsigned int base, unsigned int width, char pad)
{
	char digits[64];
	size_t nr = 0, at = 0;

	do {
		digits[nr++] = "0123456789abcdef"[n % base];
		n /= base;
	} while (n);
	while (nr < width && nr < sizeof(digits))
		digits[nr++] = pad;
	while (at < nr && at + 1 < len) {
		buf[at] = digits[nr - 1 - at];
		at++;
	}
	if (len)
		buf[at] = '\0';
	return (int)nr;
}

char *text_count(char buf[TEXT_LEN], __u64 n)
{
	return with_commas(buf, "", n);
}

static __u64 magnitude(__s64 n)
{
	return n < 0 ? -(__u64)n : (__u64)n;
}

char *text_signed(char buf[TEXT_LEN], __s64 n)
{
	return with_commas(buf, n < 0 ? "-" : "", magnitude(n));
}

/* The largest unit of which there is at least one; one decimal above the first. */
static char *scaled(char *buf, const char *sign, __u64 n, __u64 step,
		    const char *const *units, int nr)
{
	double v = n;
	int i = 0;

	while (v >= step && i + 1 < nr) {
		v /= step;
		i++;
	}
	if (i && v >= step - 0.05 && i + 1 < nr) {	/* not "1024.0 KiB" */
		v /= step;
		i++;
	}
	if (i)
		snprintf(buf, TEXT_LEN, "%s%.1f %s", sign, v, units[i]);
	else
		snprintf(buf, TEXT_LEN, "%s%llu %s", sign, (unsigned long long)n, units[0]);
	return buf;
}

char *text_bytes(char buf[TEXT_LEN], __s64 n, bool plus)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };

	return scaled(buf, n < 0 ? "-" : plus && n ? "+" : "", magnitude(n), 1024, units, 7);
}

char *text_ns(char buf[TEXT_LEN], __s64 ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	return scaled(buf, ns < 0 ? "-" : "", magnitude(ns), 1000, units, 4);
}

char *text_long(char buf[TEXT_LEN], __u64 ns)
{
	const unsigned long long minutes = ns / (60 * 1000000000ULL);

	if (minutes < 2)
		return text_ns(buf, (__s64)ns);
	if (minutes < 2 * 60)
		snprintf(buf, TEXT_LEN, "%llu minutes", minutes);
	else if (minutes < 2 * 24 * 60)
		snprintf(buf, TEXT_LEN, "%llu hours", minutes / 60);
	else
		snprintf(buf, TEXT_LEN, "%llu days", minutes / (24 * 60));
	return buf;
}

char *text_value(char buf[TEXT_LEN], __s64 v, __u32 unit, bool plus)
{
	switch (unit) {
	case MEMTAP_UNIT_BYTES:
		return text_bytes(buf, v, plus);
	case MEMTAP_UNIT_NS:
		return text_ns(buf, v);
	case MEMTAP_UNIT_PAGES:
		text_signed(buf, v);
		strcat(buf, v == 1 ? " page" : " pages");
		return buf;
	}
	return text_signed(buf, v);
}

char *text_time(char buf[TEXT_LEN], __u64 real_ns)
{
	time_t t = real_ns / 1000000000ULL;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, TEXT_LEN, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buf, TEXT_LEN, "at an unknown time");
	return buf;
}

char *text_clock(char buf[TEXT_LEN], __u64 real_ns)
{
	text_time(buf, real_ns);
	if (strlen(buf) == 19)
		memmove(buf, buf + 11, 9);
	return buf;
}

/* Bytes at the start that need no thought: most names are nothing else. */
static size_t plain_length(const char *text, const char *also)
{
	size_t n = 0;

	while (text[n] >= 0x20 && text[n] < 0x7f && !(also && strchr(also, text[n])))
		n++;
	return n;
}

void text_put(FILE *out, const char *text, const char *also)
{
	size_t plain;
	int shown, len;

	for (;;) {
		plain = plain_length(text, also);
		fwrite(text, 1, plain, out);
		text += plain;
		if (!*text)
			return;
		len = utf8_shown(text, &shown);
		if (shown && len > 1)
			fwrite(text, 1, (size_t)len, out);
		else
			fputc('?', out);
		text += len;
	}
}

#define MOST_LETTERS	32

unsigned int text_distance(const char *a, const char *b)
{
	const size_t len_a = strlen(a), len_b = strlen(b);
	unsigned int row[MOST_LETTERS + 1], left, above;

	if (len_a > MOST_LETTERS || len_b > MOST_LETTERS)
		return MOST_LETTERS;
	for (size_t j = 0; j <= len_b; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; i <= len_a; i++) {
		above = row[0];
		left = row[0] = (unsigned int)i;
		for (size_t j = 1; j <= len_b; j++) {
			unsigned int least = above + (a[i - 1] != b[j - 1]);

			above = row[j];
			if (left + 1 < least)
				least = left + 1;
			if (above + 1 < least)
				least = above + 1;
			left = row[j] = least;
		}
	}
	return row[len_b];
}

#define MOST_SLIPS	2

void text_like_begin(struct text_like *l, const char *name)
{
	*l = (struct text_like){ .name = name, .least = MOST_SLIPS + 1 };
}

void text_like_add(struct text_like *l, const char *word)
{
	const unsigned int d = text_distance(l->name, word);

	/* of a short word half would be another one */
	if (d > l->least || 2 * d > strlen(word) || strlen(word) >= sizeof(l->best))
		return;
	if (d == l->least) {
		l->several |= d <= MOST_SLIPS && strcmp(l->best, word);
		return;
	}
	l->least = d;
	l->several = false;
	strcpy(l->best, word);
}

const char *text_like_best(const struct text_like *l)
{
	return l->least <= MOST_SLIPS && !l->several ? l->best : NULL;
}
