// SPDX-License-Identifier: GPL-2.0-or-later
/* Decide whether output has colours. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

/* https://no-color.org: any value but none at all */
bool cmd_wants_color(const struct opts *o)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !o->json && isatty(STDOUT_FILENO) && !(no && *no) &&
	       term && strcmp(term, "dumb") != 0;
}
