/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PUSH_LABEL_H
#define _PUSH_LABEL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whose a profile is: names and values, as a receiver takes them.  A name is a letter or '_',
 * then letters, digits and '_'; those that begin with "__" are the receiver's.
 */
#define LABEL_NAME	64
#define LABEL_VALUE	512
#define LABELS_MAX	24
#define LABEL_LINE	(LABELS_MAX * (LABEL_NAME + LABEL_VALUE))

struct label {
	char name[LABEL_NAME], value[LABEL_VALUE];
};

struct labels {
	struct label at[LABELS_MAX];
	size_t nr;
};

/*
 * "NAME=VALUE"; an empty VALUE means that there is to be no label of this name.  False, and a
 * sentence in @why: it is none.
 */
#define LABEL_WHY	160
bool label_parse(const char *text, struct label *l, char why[LABEL_WHY]);

/*
 * Adds it, or replaces the one of this name; an empty value removes it.  A value is made fit: one
 * line without ',', '{' and '}', which end it for Pyroscope, and cut at LABEL_VALUE.  What has no
 * place is left out.
 */
void labels_set(struct labels *all, const char *name, const char *value);
const char *labels_get(const struct labels *all, const char *name);	/* "": there is none */

/*
 * What the path of a cgroup says: "cgroup", and "service" (the systemd unit, or the container),
 * "container" and "pod" where there are.  @root: where the host's files are, "" on the host.
 */
void labels_of_cgroup(struct labels *all, const char *root, const char *path);

/*
 * Pyroscope's name of a series, "APP{name=value,...}".  APP is "service", or "program", or
 * "memtap", of which letters, digits, '-', '_' and '.' are kept.
 */
void labels_pyroscope(const struct labels *all, char line[LABEL_LINE]);

#endif
