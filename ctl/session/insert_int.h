/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _INSERT_INT_H
#define _INSERT_INT_H

/* An implementation of session/insert.h. */
struct inserter {
	int (*file)(const char *path, const char *params);
	int (*by_name)(const char *name, const char *params);
	int (*remove)(const char *name);
};

extern const struct inserter insert_plain;
/* By libkmod; NULL: it is not here. */
const struct inserter *insert_kmod(void);

#endif
