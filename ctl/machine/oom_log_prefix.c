// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Take the prefix off a line of a saved kernel log: of dmesg (seconds, -T, ISO), /dev/kmsg,
 * pstore, journalctl, syslog, a serial console with or without the caller, and what other
 * programs put before that.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "machine/oom_log_int.h"

#define FAR	120		/* a foreign prefix is no longer */

static void keep(char when[40], const char *from, size_t len)
{
	while (len && *from == ' ') {
		from++;
		len--;
	}
	if (len > 39)
		len = 39;
	memcpy(when, from, len);
	when[len] = '\0';
}

static size_t digits(const char *p)
{
	size_t n = 0;

	while (isdigit((unsigned char)p[n]))
		n++;
	return n;
}

/* "[  123.456789]": its length with the bracket; 0: something else. */
static size_t seconds(const char *p)
{
	size_t n = 1, d;

	if (*p != '[')
		return 0;
	n += strspn(p + n, " ");
	d = digits(p + n);
	if (!d || p[n + d] != '.')
		return 0;
	n += d + 1;
	d = digits(p + n);
	return d && p[n + d] == ']' ? n + d + 1 : 0;
}

/* "[T123]", "[    C0]": the caller */
static size_t caller(const char *p)
{
	size_t n = 1, d;

	if (*p != '[')
		return 0;
	n += strspn(p + n, " ");
	if (p[n] != 'T' && p[n] != 'C')
		return 0;
	d = digits(p + n + 1);
	return d && p[n + 1 + d] == ']' ? n + d + 2 : 0;
}

/* "[Sun Nov 29 07:45:44 2026]" */
static size_t date_in_brackets(const char *p)
{
	const char *end = *p == '[' ? strchr(p, ']') : NULL;
	const size_t len = end ? (size_t)(end - p) : 0;

	return len >= 20 && len < 40 && isalpha((unsigned char)p[1]) &&
	       memchr(p, ':', len) && isdigit((unsigned char)end[-1]) ? len + 1 : 0;
}

/* "Nov 29 07:45:44", "2026-11-29T07:45:44+0000", "2026-11-29 07:45:44"; with fractions */
static size_t date(const char *p)
{
	unsigned int day, hour, minute, second, year;
	char month[4];
	int n = 0;

	if (sscanf(p, "%3[A-Za-z] %2u %2u:%2u:%2u%n", month, &day, &hour, &minute, &second,
		   &n) == 5)
		return (size_t)n + strcspn(p + n, " \t");
	if (sscanf(p, "%4u-%2u-%2u%*1[T ]%2u:%2u:%2u%n", &year, &day, &day, &hour, &minute, &second,
		   &n) == 6 && n >= 19)
		return (size_t)n + strcspn(p + n, " \t");
	return 0;
}

/* "HOST kernel: " and "HOST TAG: ": -1 for another program's, 0: it is neither */
static int tag(const char *p, size_t *len)
{
	const size_t host = strcspn(p, " ");
	const char *name = p[host] ? p + host + 1 : NULL;
	const char *end = name ? strstr(name, ": ") : NULL;
	size_t n;

	if (!host || host > 64 || p[host - 1] == ':' || !end ||
	    memchr(name, ' ', (size_t)(end - name)))
		return 0;
	n = strcspn(name, "[:");
	*len = (size_t)(end - p) + 2;
	return n == 6 && !memcmp(name, "kernel", 6) ? 1 : -1;
}

/* "4,1234,5678901,-;" of /dev/kmsg */
static size_t kmsg(const char *p, char when[40])
{
	unsigned long long us;
	unsigned int prio, nr;
	const char *end;
	int n = 0;

	if (sscanf(p, "%u,%u,%llu,%n", &prio, &nr, &us, &n) != 3 || !n)
		return 0;
	end = strchr(p + n, ';');
	if (!end || end - (p + n) > 40)
		return 0;
	snprintf(when, 40, "%llu.%06llu", us / 1000000, us % 1000000);
	return (size_t)(end - p) + 1;
}

/* "<4>" */
static size_t level(const char *p)
{
	const size_t d = *p == '<' ? digits(p + 1) : 0;

	return d && d < 4 && p[1 + d] == '>' ? d + 2 : 0;
}

/* What is known of the beginning: its length, 0: nothing. */
static size_t one(const char *p, char when[40])
{
	size_t n = kmsg(p, when);

	if (n)
		return n;
	n = level(p);
	if (n)
		return n;
	n = seconds(p);
	if (n || (n = date_in_brackets(p))) {
		/* a date says more than seconds since the boot */
		if (!*when || !isdigit((unsigned char)p[1 + strspn(p + 1, " ")]))
			keep(when, p + 1, n - 2);
		return n;
	}
	n = caller(p);
	if (n)
		return n;
	n = date(p);
	if (n)
		keep(when, p, n);
	return n;
}

/* Behind a prefix that is not known: "tty1| [ 12.345678] text" */
static char *behind_foreign(char *p, char when[40])
{
	for (char *at = p; (at = strchr(at, '[')) && at - p < FAR; at++) {
		const size_t n = seconds(at), by = n ? caller(at + n) : 0;

		if (n && at[n + by] == ' ') {
			keep(when, at + 1, n - 2);
			return at + n + by + 1;
		}
	}
	return p;
}

char *oom_log_text(char *line, char when[40])
{
	char *p = line;
	bool known = false;
	size_t n, len = strlen(line);

	while (len && (line[len - 1] == '\r' || line[len - 1] == '\n' || line[len - 1] == ' '))
		line[--len] = '\0';
	for (int i = 0; i < 8; i++) {
		/* one blank ends a prefix: the text may begin with more */
		n = one(p, when);
		if (!n)
			break;
		known = true;
		p += n;
		if (*p == ' ')
			p++;
		switch (tag(p, &n)) {
		case -1:
			/* "Out of memory: " looks like it, but for what stands before it */
			if (!seconds(line) && !level(line) && date(line))
				return NULL;
			break;
		case 1:
			p += n;
			break;
		}
	}
	if (!strncmp(p, "kernel: ", 8)) {
		p += 8;
		known = true;
	}
	return known ? p : behind_foreign(p, when);
}
