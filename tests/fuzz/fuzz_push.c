// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/push/spool.c ctl/push/label.c ctl/push/send_check.c */
/* LINK: ctl/base/text.c ctl/machine/container.c ctl/machine/text.c ctl/base/json_read.c -lz */
/* FUZZ: -max_len=2048 */
/* Hostile files of a spool, labels, URLs, paths of cgroups, and answers' numbers. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "push/label.h"
#include "push/send.h"
#include "push/spool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void is_true(bool what)
{
	if (!what)
		abort();
}

/* What is accepted has its parts within the bytes. */
static void spool(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1);
	struct spool_message m;

	memcpy(copy, data, size);
	if (!spool_parse(copy, size, &m)) {
		is_true((const char *)m.body + m.len == copy + size);
		is_true(strlen(m.name) + strlen(m.types) + m.len < size);
	}
	free(copy);
}

/* A name of Pyroscope has one pair of braces, and as many commas as there are labels, less one. */
static void line(const struct labels *l)
{
	char text[LABEL_LINE];
	size_t commas = 0, open = 0, end = 0;

	labels_pyroscope(l, text);
	for (const char *p = text; *p; p++) {
		commas += *p == ',';
		open += *p == '{';
		end += *p == '}';
		is_true((unsigned char)*p >= ' ' && *p != 0x7f);
	}
	is_true(open == 1 && end == 1 && text[strlen(text) - 1] == '}');
	is_true(commas + 1 == l->nr || !l->nr);
}

static void text(const char *s)
{
	char why[SEND_WHY];
	struct labels l = { .nr = 0 };
	struct label one;

	if (label_parse(s, &one, why)) {
		labels_set(&l, one.name, one.value);
		is_true(!*one.value || !strcmp(labels_get(&l, one.name), one.value) ||
			strlen(one.value) != strlen(labels_get(&l, one.name)) ||
			strchr(labels_get(&l, one.name), '?'));
	}
	labels_of_cgroup(&l, "/nowhere", s);
	labels_set(&l, "program", s);
	line(&l);
	if (send_check_url(s, why))
		is_true(!strpbrk(s, " \n\t@#") || strpbrk(s + 8, "/?"));
	send_is_pyroscope(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1);

	memcpy(s, data, size);
	s[size] = '\0';
	text(s);
	free(s);
	spool(data, size);
	return 0;
}
