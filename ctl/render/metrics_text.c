// SPDX-License-Identifier: GPL-2.0-or-later
/* Write families of metrics and their samples: OpenMetrics, or the older text format. */
#include <stdlib.h>
#include <string.h>

#include "render/metrics_int.h"

/*
 * OpenMetrics names a family without "_total" and has a UNIT line; the older format names
 * what stands before the samples.
 */
void metrics_head(struct page *p, const struct metric *m)
{
	const char *total = m->type == COUNTER && !p->o->openmetrics ? "_total" : "";

	p->now = m;
	fprintf(p->out, "# HELP memtap_%s%s %s\n", m->name, total, m->help);
	fprintf(p->out, "# TYPE memtap_%s%s %s\n", m->name, total,
		m->type == COUNTER ? "counter" : "gauge");
	if (m->unit && p->o->openmetrics)
		fprintf(p->out, "# UNIT memtap_%s %s\n", m->name, m->unit);
}

/* How long the UTF-8 character at @s is; 0: it is none. */
static int utf8_len(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	const int len = *u < 0x80 ? 1 : *u >> 5 == 6 ? 2 : *u >> 4 == 14 ? 3 :
			*u >> 3 == 30 ? 4 : 0;

	for (int i = 1; i < len; i++)
		if (u[i] >> 6 != 2)
			return 0;
	if (len == 2 && *u < 0xc2)
		return 0;
	if (len == 3 && ((*u == 0xe0 && u[1] < 0xa0) || (*u == 0xed && u[1] > 0x9f)))
		return 0;
	if (len == 4 && ((*u == 0xf0 && u[1] < 0x90) || *u > 0xf4 ||
			 (*u == 0xf4 && u[1] > 0x8f)))
		return 0;
	return len;
}

/* A label's value: quotes, backslashes and ends of lines are escaped. */
static void label(FILE *out, const char *s)
{
	while (*s) {
		const int len = utf8_len(s);

		if (!len)
			fputc('?', out);
		else if (*s == '\n')
			fputs("\\n", out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (len == 1 && ((unsigned char)*s < 0x20 || *s == 0x7f))
			fputc('?', out);
		else
			fwrite(s, 1, (size_t)len, out);
		s += len ? len : 1;
	}
}

/* @value is escaped, or needs not to be. */
static void begin_sample(struct page *p, const char *key, const char *value)
{
	fprintf(p->out, "memtap_%s%s", p->now->name, p->now->type == COUNTER ? "_total" : "");
	if (key)
		fprintf(p->out, "{%s=\"%s\"}", key, value);
}

void metrics_sample(struct page *p, const char *key, const char *value, __u64 n)
{
	begin_sample(p, key, value);
	fprintf(p->out, " %llu\n", (unsigned long long)n);
}

void metrics_signed(struct page *p, const char *key, const char *value, __s64 n)
{
	begin_sample(p, key, value);
	fprintf(p->out, " %lld\n", (long long)n);
}

/* Microseconds as seconds. */
void metrics_us(struct page *p, const char *key, const char *value, __u64 us)
{
	begin_sample(p, key, value);
	fprintf(p->out, " %llu.%06llu\n", (unsigned long long)(us / 1000000),
		(unsigned long long)(us % 1000000));
}

void metrics_seconds(struct page *p, double seconds)
{
	begin_sample(p, NULL, NULL);
	fprintf(p->out, " %.3f\n", seconds);
}

void metrics_one(struct page *p, const struct metric *m, __u64 n)
{
	metrics_head(p, m);
	metrics_sample(p, NULL, NULL, n);
}

char *metrics_label(const char *name)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	label(f, name);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}
