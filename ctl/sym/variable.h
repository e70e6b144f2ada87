/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SYM_VARIABLE_H
#define _SYM_VARIABLE_H

#include <stddef.h>
#include <linux/types.h>

/* Where variables are declared in the source, by DWARF. */
struct sym_variable {
	__u64 addr;			/* as the file has it */
	char *source;			/* out: "server.c:41", for free(); NULL: not known */
};

/*
 * Of the file @fd, which stays the caller's; @path is where its debug file is searched from.
 * Takes some seconds at most, and leaves open what it did not find until then.
 */
void sym_variables(int fd, const char *path, struct sym_variable *v, size_t nr);

#endif
