/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_FILE_H
#define _CMD_FILE_H

#include "snap/snap.h"

/* Read a whole file.  An exit status; why is printed. */
int file_read(const char *path, struct snap **s);

/* Values of its notes "key=value": the first from *@at on, which moves behind it; or NULL. */
const char *file_next_note(const struct snap *s, const char *key, size_t *at);
const char *file_note(const struct snap *s, const char *key);	/* the first, or NULL */

#endif
