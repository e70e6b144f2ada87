/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_FILE_H
#define _CMD_FILE_H

#include "report/select.h"
#include "snap/snap.h"

#define FILE_VALUE	64		/* room for "value=ID NAME" */

/*
 * Read a whole file.  An exit status; why is printed.  Events of which a note says so,
 * "value=ID NAME", are called "EVENT NAME".
 */
int file_read(const char *path, struct snap **s);
/* The same without a word: 0, or a negative errno with a sentence. */
int file_try(const char *path, struct snap **s, char why[256]);

/* The same from a descriptor; @path: for the sentence. */
int file_read_fd(int fd, const char *path, struct snap **s);

/* Values of its notes "key=value": the first from *@at on, which moves behind it; or NULL. */
const char *file_next_note(const struct snap *s, const char *key, size_t *at);
const char *file_note(const struct snap *s, const char *key);	/* the first, or NULL */

/* Leave out what is not wanted: exit status; why is printed. */
int file_select(struct snap *s, struct sym *sym, const struct select *sel, const char *path);
/* What was left out, on standard error, with the file's name. */
void file_left_out(const struct snap *s, const char *path);

#endif
