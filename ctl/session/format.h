/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _FORMAT_H
#define _FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "base/constants.h"

struct symbols;

#define FORMAT_FIELDS	64
#define FORMAT_NAME	48

enum format_kind {
	FORMAT_NUMBER,
	FORMAT_POINTER,
	FORMAT_BOOL,
	FORMAT_TEXT,			/* bytes in the record */
	FORMAT_LOC,			/* __data_loc of bytes */
	FORMAT_RELLOC,
	FORMAT_OTHER,			/* arrays and structures */
};

struct format_field {
	char name[FORMAT_NAME];
	char type[FORMAT_NAME];		/* as the kernel writes it, cut */
	enum format_kind kind;
	__u32 offset, size;
	bool is_signed;
	enum constants words;		/* of a built-in event: what it is */
	const struct symbols *symbols;	/* of a tracepoint: how its values are called; or NULL */
};

/* What the record of an event has; of a tracepoint without what all of them have. */
struct format {
	size_t nr;
	struct format_field at[FORMAT_FIELDS];
};

/*
 * Of the text of tracefs' events/SUBSYSTEM/NAME/format.  What cannot be understood is
 * left out: it has no field then.
 */
void format_parse(const char *text, struct format *f);
const struct format_field *format_find(const struct format *f, const char *name, size_t len);

#endif
